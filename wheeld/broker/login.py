"""Logs in to the broker that the settings name: with TLS files, a password, and the properties of the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import mqtt5

from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import TlsFiles
from wheeld.mqtt.client import MqttClient, Take, connected
from wheeld.mqtt.session import MqttError

PACKET_BYTES_MAX = 16_384
"""The largest packet that we accept: twice the size of the largest command with its topics. The broker learns this
limit from us, and the protocol forbids it to send a larger packet."""

UNCONFIRMED_MAX = 10_000
"""How many publications the broker may send before we confirm them: one second of a flood. So the broker drops nothing
if we are busy for a moment. With mosquitto's default of 20, it would wait for us after each 20."""

PASSWORD_BYTES_MAX = 4096
"""The longest password that we accept. A long token fits. MQTT itself allows 65,535 bytes."""


def tls_files(settings: MqttSettings) -> TlsFiles:
    """Return the TLS files that are configured."""
    return TlsFiles(ca_file=settings.ca_file, cert_file=settings.cert_file, key_file=settings.key_file)


@asynccontextmanager
async def opened(
    settings: MqttSettings, *, take: Take, will: mqtt5.Will | None = None, session_s: int = 0, resumes: bool = False
) -> AsyncIterator[MqttClient]:
    """Keep a connection open until the block ends. `take` gets each publication. The broker keeps the session for
    `session_s` after the connection ends. `resumes`: continue the session of the last connection. Raises OSError,
    MqttError, and TlsFilesError if the files cannot be used."""
    # The files are read each time, so that a changed password or certificate needs no restart.
    files = tls_files(settings)
    connect = mqtt5.ConnectPacket(
        settings.client_id or "",
        username=settings.username,
        password=read_password(settings.password_file),
        clean_start=not resumes,
        will=will,
        keep_alive=settings.keepalive_s,
        session_expiry_interval=session_s,
        receive_max=UNCONFIRMED_MAX,
        max_packet_size=PACKET_BYTES_MAX,
    )
    tls = await asyncio.to_thread(files.context) if files.named else None
    timeout_s = settings.publish_timeout_s
    async with connected(settings.host, settings.port, connect, take=take, timeout_s=timeout_s, tls=tls) as client:
        yield client


def read_password(path: Path | None) -> bytes | None:
    """Return the password in the file. Raises OSError, or MqttError for a wrong length. No error contains it."""
    if path is None:
        return None
    with path.open("rb") as file:
        password = file.read(PASSWORD_BYTES_MAX + 1).rstrip(b"\r\n")
    if not 0 < len(password) <= PASSWORD_BYTES_MAX:
        raise MqttError(f"password_file {path} must hold 1 to {PASSWORD_BYTES_MAX} bytes")
    return password
