"""One client of the MQTT library, made from the settings: opened once, closed once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiomqtt
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import DisconnectFlags
from paho.mqtt.enums import LogLevel
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from wheeld.broker.packets import PUBACK, PUBLISH, Packet, PacketError, Published, Splitter, confirmations, published
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import TlsFiles

PACKET_BYTES_MAX = 16_384
"""Twice a command of the largest size with its topics. A broker of MQTT 5 is given this limit and keeps larger packets
to itself; from any other they are skipped and counted here."""

CHUNK_BYTES = 65_536
"""Read at once: some hundred packets, which take a few ms. Then the rest of the daemon has its turn."""

UNCONFIRMED_MAX = 10_000
"""Publications that a broker of MQTT 5 may send before we confirm them: a second of a flood, so that a short stall of
ours makes the broker drop nothing. mosquitto's own limit is 20, and then each 20 wait for a round trip; in MQTT 3.1.1
only the broker can set it (`systemd/mosquitto/wheeld.conf`)."""

UNSENT_MAX = 100
"""Packets that wait to be sent. More wait only when the broker does not read; then we don't read either, for what we
read we would have to confirm."""

READ_AGAIN_S = 0.05
"""How soon after that we try again."""

PASSWORD_BYTES_MAX = 4096
"""A long token fits. MQTT ends at 65,535 bytes, with an error that would end the daemon."""


AnyClient = TypeVar("AnyClient", bound=aiomqtt.Client)


class Listener(Protocol):
    """Who gets what the broker sends."""

    def skipped(self, topic: bytes) -> None:
        """A publication on this topic was too large, and was not read."""
        ...

    def take(self, publication: Published) -> None:
        """Take a publication: it has been dealt with then."""
        ...


class Nobody:
    """Listens to nothing."""

    def skipped(self, _topic: bytes) -> None:
        """It is not wanted."""

    def take(self, publication: Published) -> None:
        """Nor is this."""


class MqttClient(aiomqtt.Client):
    """aiomqtt's client, whose publications go to `listener` and whose reading is bounded.

    The library would decode all that it can read and keep it in a queue without end. Here the stream is split into
    packets first: those of the broker itself go to the library, publications to the listener. Nothing is kept but the
    rest of a packet.

    Two facts that aiomqtt drops are kept. It ignores the reason in a PUBACK, so that a publication that the broker
    refused looks stored. And where a broker leaves before it has answered the connection, as with TLS 1.3 to refuse a
    certificate, aiomqtt waits until its time limit and reports only that.
    """

    refusal: str | None = None
    heard_ns = 0
    """When the broker last answered something, host time. A publication is no answer: it may have waited long."""

    def __init__(self, *arguments: Any, listener: Listener, is_mqtt_5: bool, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._listener, self._is_mqtt_5 = listener, is_mqtt_5
        self._splitter = Splitter(PACKET_BYTES_MAX)
        self._packet = b""
        """What the library has yet to read of the packet that it was handed; at the end of the stream, `_broken`."""
        self._broken: OSError | None = None
        self._fault = "the broker closed the connection before it answered"
        self._client.on_log = self._note
        self._receive = self._client._sock_recv
        self._client._sock_recv = self._give  # type: ignore[method-assign]

    @property
    def gone(self) -> asyncio.Future[None]:
        """Done when the connection has ended."""
        future: asyncio.Future[None] = self._disconnected
        return future

    def ask(self) -> None:
        """Ask the broker for a sign; its answer moves `heard_ns`. What it sent before comes before its answer."""
        self._client._send_pingreq()

    # --- reading -----------------------------------------------------------------------------------------------

    def _on_socket_open(self, _client: PahoClient, _userdata: Any, sock: Any) -> None:
        def watch() -> None:
            self._watch(sock)
            self._misc_task = self._loop.create_task(self._misc_loop())

        self._loop.call_soon_threadsafe(watch)  # the library connects on a thread of its own

    def _watch(self, sock: Any) -> None:
        is_open: bool = self._client.socket() is sock
        if is_open and sock.fileno() >= 0:
            self._loop.add_reader(sock.fileno(), self._read, sock)

    def _read(self, sock: Any) -> None:
        """Read what is there, as the event loop found that something is."""
        if len(self._client._out_packet) > UNSENT_MAX:
            self._loop.remove_reader(sock.fileno())
            self._loop.call_later(READ_AGAIN_S, self._watch, sock)
            return
        try:
            self._read_chunk()
            # TLS keeps what it has decrypted: the event loop sees nothing of that.
            while self._client.socket() is not None and getattr(sock, "pending", int)():
                self._read_chunk()
        except Exception as error:  # noqa: BLE001  a fault in what was read ends this connection, not the daemon
            if not self.gone.done():
                self.gone.set_exception(error)

    def _read_chunk(self) -> None:
        try:
            chunk = self._receive(CHUNK_BYTES)
            if not chunk:
                raise ConnectionError("the broker closed the connection")
            self._hand_out(chunk)
        except BlockingIOError:
            return
        except PacketError as wrong:
            self._break(ConnectionError(str(wrong)))
        except OSError as error:
            self._break(error)

    def _hand_out(self, chunk: bytes) -> None:
        """Give the library what it has to see, and confirm the rest; in the order in which they came."""
        dealt_with: list[bytes] = []
        try:
            for packet in self._splitter.split(chunk):
                if packet.data[0] & 0xF0 == PUBLISH:
                    dealt_with.append(self._dealt_with(packet))
                    continue
                self.heard_ns = time.monotonic_ns()
                self._confirm(dealt_with)
                self._packet = packet.data
                self._client.loop_read()
                if self._client.socket() is None:
                    return
        finally:
            self._confirm(dealt_with)

    def _dealt_with(self, packet: Packet) -> bytes:
        """Give a publication to the listener; its packet identifier."""
        found = published(packet, is_mqtt_5=self._is_mqtt_5)
        if packet.is_whole:
            self._listener.take(found)
        else:
            self._listener.skipped(found.topic)
        return found.mid

    def _confirm(self, mids: list[bytes]) -> None:
        if (acks := confirmations([mid for mid in mids if mid])) and self._client.socket() is not None:
            self._client._packet_queue(PUBACK, acks, 0, 0)
        mids.clear()

    def _give(self, bufsize: int) -> bytes:
        """As the socket would: bytes of the packet that was handed over, its end, or that there is nothing yet."""
        if not self._packet:
            raise self._broken or BlockingIOError
        given, self._packet = self._packet[:bufsize], self._packet[bufsize:]
        return given

    def _break(self, error: OSError) -> None:
        """Let the library find that the connection has failed: it cleans up, and reports it."""
        self._packet, self._broken = b"", error
        self._client.loop_read()

    # --- what the library reports ------------------------------------------------------------------------------

    def _note(self, _client: PahoClient, _userdata: Any, level: int, text: str) -> None:
        """paho reports what happened on the socket, such as a TLS alert, only in its log."""
        if level == LogLevel.MQTT_LOG_ERR:
            self._fault = text

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
    async with opened(await new_client(settings, None, listener=Nobody(), session_s=0, resumes=False)):
        pass


async def new_client(
    settings: MqttSettings, will: aiomqtt.Will | None, *, listener: Listener, session_s: int, resumes: bool
) -> MqttClient:
    """A client for one connection, which gives `listener` what comes. The broker keeps its session for `session_s`
    after its end (in MQTT 3.1.1 for as long as it likes; 0: it ends at once); `resumes`: go on with the session of the
    connection before. Raises OSError, MqttError, TlsFilesError for files that cannot be used."""
    # The files are read each time, so that a changed password or certificate needs no restart.
    files = tls_files(settings)
    tls = await asyncio.to_thread(files.context) if files.named else None
    clean: dict[str, Any] = {"clean_session": session_s == 0}
    is_mqtt_5 = settings.protocol == "5"
    if is_mqtt_5:
        limits = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        limits.MaximumPacketSize = PACKET_BYTES_MAX
        limits.ReceiveMaximum = UNCONFIRMED_MAX
        limits.SessionExpiryInterval = session_s
        clean = {"clean_start": not resumes, "properties": limits}
    return MqttClient(
        settings.host,
        settings.port,
        identifier=settings.client_id,
        username=settings.username,
        password=read_password(settings.password_file),
        protocol=aiomqtt.ProtocolVersion.V5 if is_mqtt_5 else aiomqtt.ProtocolVersion.V311,
        will=will,
        keepalive=settings.keepalive_s,
        timeout=settings.publish_timeout_s,
        tls_context=tls,
        listener=listener,
        is_mqtt_5=is_mqtt_5,
        **clean,
    )


@asynccontextmanager
async def opened(client: AnyClient) -> AsyncIterator[AnyClient]:
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


def read_password(path: Path | None) -> str | None:
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
