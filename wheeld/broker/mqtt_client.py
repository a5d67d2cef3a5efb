"""One client of the MQTT library, made from the settings: opened once, closed once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiomqtt
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import DisconnectFlags, MQTTMessage
from paho.mqtt.enums import LogLevel
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import TlsFiles

PACKET_BYTES_MAX = 16_384
"""Twice a command of the largest size with its topics. A broker of MQTT 5 is given this limit and keeps larger packets
to itself; from any other they are dropped and counted here, or a full inbox could hold a gigabyte."""

PASSWORD_BYTES_MAX = 4096
"""A long token fits. MQTT ends at 65,535 bytes, with an error that would end the daemon."""


class MqttClient(aiomqtt.Client):
    """aiomqtt's client, with two facts that aiomqtt drops.

    It ignores the reason in a PUBACK, so that a publication that the broker refused looks stored. And where a broker
    leaves before it has answered the connection, as with TLS 1.3 to refuse a certificate, aiomqtt waits until its time
    limit and reports only that.
    """

    refusal: str | None = None
    arrived = 0
    """How many messages have come."""
    heard_ns = 0
    """When the broker was last heard, host time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._fault = "the broker closed the connection before it answered"
        self._client.on_log = self._note

    @property
    def gone(self) -> asyncio.Future[None]:
        """Done when the connection has ended."""
        future: asyncio.Future[None] = self._disconnected
        return future

    def left(self) -> Iterator[aiomqtt.Message]:
        """What came before the connection ended, and was not read of `messages`: the broker has our word for it."""
        while not self._queue.empty():
            yield self._queue.get_nowait()

    def _on_message(self, client: PahoClient, userdata: Any, message: MQTTMessage) -> None:
        self.arrived += 1
        super()._on_message(client, userdata, message)

    def ask(self) -> None:
        """Ask the broker for a sign; its answer moves `heard_ns`. What it sent before comes before its answer."""
        self._client._send_pingreq()

    def _note(self, _client: PahoClient, _userdata: Any, level: int, text: str) -> None:
        """paho reports what happened on the socket, a TLS alert or an answer to a ping, only in its log."""
        if level == LogLevel.MQTT_LOG_ERR:
            self._fault = text
        elif text.startswith("Received "):
            self.heard_ns = time.monotonic_ns()

    def _on_disconnect(
        self,
        client: PahoClient,
        userdata: Any,
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():
            self._connected.set_exception(aiomqtt.MqttError(self._fault))
            return
        super()._on_disconnect(client, userdata, flags, reason_code, properties)
        if self.gone.done():
            # Read here, or the garbage collector prints it between the lines of our log.
            self.gone.exception()

    def _on_publish(
        self, client: PahoClient, userdata: Any, mid: int, reason_code: ReasonCode, properties: Properties
    ) -> None:
        if reason_code.is_failure:
            self.refusal = str(reason_code)
        super()._on_publish(client, userdata, mid, reason_code, properties)


def tls_files(settings: MqttSettings) -> TlsFiles:
    """The files of TLS that are configured."""
    return TlsFiles(ca_file=settings.ca_file, cert_file=settings.cert_file, key_file=settings.key_file)


async def forget_session(settings: MqttSettings) -> None:
    """Have a broker of MQTT 3.1.1 forget what it kept: there a session that begins anew can't also be one that is kept.
    Raises what `new_client` and `opened` do."""
    async with opened(await new_client(settings, None, session_s=0, resumes=False)):
        pass


async def new_client(settings: MqttSettings, will: aiomqtt.Will | None, *, session_s: int, resumes: bool) -> MqttClient:
    """A client for one connection, whose session the broker keeps for `session_s` after its end (in MQTT 3.1.1 for as
    long as it likes; 0: it ends at once); `resumes`: go on with the session of the connection before. Raises OSError,
    MqttError, TlsFilesError for files that cannot be used."""
    # The files are read each time, so that a changed password or certificate needs no restart.
    files = tls_files(settings)
    tls = await asyncio.to_thread(files.context) if files.named else None
    clean: dict[str, Any] = {"clean_session": session_s == 0}
    is_mqtt_5 = settings.protocol == "5"
    if is_mqtt_5:
        limits = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        limits.MaximumPacketSize = PACKET_BYTES_MAX
        limits.SessionExpiryInterval = session_s
        clean = {"clean_start": not resumes, "properties": limits}
    return MqttClient(
        settings.host,
        settings.port,
        identifier=settings.client_id,
        username=settings.username,
        password=_read_password(settings.password_file),
        protocol=aiomqtt.ProtocolVersion.V5 if is_mqtt_5 else aiomqtt.ProtocolVersion.V311,
        will=will,
        keepalive=settings.keepalive_s,
        timeout=settings.publish_timeout_s,
        tls_context=tls,
        **clean,
    )


@asynccontextmanager
async def opened(client: MqttClient) -> AsyncIterator[MqttClient]:
    """The client, connected until this is left. Raises MqttError."""
    entering = asyncio.ensure_future(client.__aenter__())
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        # aiomqtt cannot take back half a connection: wait until it is a whole one or has failed, then leave.
        with suppress(aiomqtt.MqttError):
            await entering
            await client.__aexit__(None, None, None)
        raise
    try:
        yield client
    finally:
        with suppress(aiomqtt.MqttError):
            await client.__aexit__(None, None, None)


async def unless_gone(work: Coroutine[Any, Any, None], client: MqttClient) -> None:
    """Do `work`, but not beyond the end of the connection. Raises MqttError."""
    # In a task of its own: aiomqtt waits by `asyncio.wait_for`, which does not end with the connection, and before
    # Python 3.12 can lose a cancellation.
    task = asyncio.create_task(work, name="mqtt-greet")
    try:
        await asyncio.wait({task, client.gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise aiomqtt.MqttError("the broker closed the connection before it answered what we sent first")
        task.result()
    finally:
        task.cancel()


def _read_password(path: Path | None) -> str | None:
    """The password in the file; raises OSError, MqttError when it can be none. No error repeats what the file holds."""
    if path is None:
        return None
    with path.open("rb") as file:
        raw = file.read(PASSWORD_BYTES_MAX + 1).rstrip(b"\r\n")
    try:
        password = raw.decode()
    except UnicodeDecodeError:
        raise aiomqtt.MqttError(f"password_file {path} is not UTF-8 text") from None
    if not 0 < len(raw) <= PASSWORD_BYTES_MAX:
        raise aiomqtt.MqttError(f"password_file {path} holds not 1 to {PASSWORD_BYTES_MAX} bytes")
    return password
