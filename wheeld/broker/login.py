"""Logs in to the broker of the settings: the files of TLS, the password, and what a connection tells the broker."""

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
"""Twice a command of the largest size with its topics. The broker is given this limit and keeps larger packets to
itself; one that sends such a packet all the same has broken the protocol."""

UNCONFIRMED_MAX = 10_000
"""Publications that the broker may send before we confirm them: a second of a flood, so that a short stall of ours
makes the broker drop nothing. mosquitto's own limit is 20, and then each 20 wait for a round trip."""

PASSWORD_BYTES_MAX = 4096
"""A long token fits. MQTT ends at 65,535 bytes."""


def tls_files(settings: MqttSettings) -> TlsFiles:
    """The files of TLS that are configured."""
    return TlsFiles(ca_file=settings.ca_file, cert_file=settings.cert_file, key_file=settings.key_file)


@asynccontextmanager
async def opened(
    settings: MqttSettings, *, take: Take, will: mqtt5.Will | None = None, session_s: int = 0, resumes: bool = False
) -> AsyncIterator[MqttClient]:
    """A connection until this is left; `take` gets what comes. The broker keeps the session for `session_s` after its
    end; `resumes`: go on with the session of the connection before. Raises OSError, MqttError, and TlsFilesError for
    files that cannot be used."""
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
    """The password in the file; raises OSError, MqttError when it can be none. No error repeats what the file holds."""
    if path is None:
        return None
    with path.open("rb") as file:
        password = file.read(PASSWORD_BYTES_MAX + 1).rstrip(b"\r\n")
    if not 0 < len(password) <= PASSWORD_BYTES_MAX:
        raise MqttError(f"password_file {path} holds not 1 to {PASSWORD_BYTES_MAX} bytes")
    return password
