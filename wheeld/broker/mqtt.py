"""The connection to the broker: it comes and goes, this keeps asking for it, and says so once a change.

One aiomqtt client is used for one connection, always with a clean session: what must survive is in the journal,
and commands that wait in a broker while the daemon is away would act on a coup that nobody meant.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiomqtt
import msgspec
import structlog
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from wheeld.broker.mqtt_client import MqttClient
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import Stamp, TlsFiles, TlsFilesError, fault
from wheeld.ports import ConnectionLostError, HostClock, Publication, PublishRefusedError

RETRY_FIRST_S = 0.5
RETRY_MAX_S = 30.0
"""Ceiling of the doubling wait between attempts: a broker that is back is found within half a minute."""

STABLE_S = 10.0
"""One that lasted less doubles the wait too: two daemons with one client id would otherwise chase each other off."""

BRIEF_MAX = 3
"""Connections in a row that ended as soon as they stood; somebody has to look then."""
THROWN_OUT = "connections end as soon as they stand: give every client its own client_id, or the broker keeps falling"
INBOX_MAX = 1000
"""Commands and acks not yet looked at. People send a few a minute; a thousand is a sender out of order, the rest is
dropped and counted."""

PACKET_BYTES_MAX = 16_384
"""A command of the largest size with its topics fits twice over. An MQTT 5 broker is told, and keeps larger packets to
itself; of any other they are dropped and counted here, or a full inbox could hold a gigabyte."""

PASSWORD_BYTES_MAX = 4096
"""A long token fits. MQTT ends at 65,535, with an error that would end the daemon."""

FILES_CHECK_S = 10.0
"""How soon a renewed certificate is used. Renewal comes days before the old one ends; a person may wait no longer."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Hosts between which and us nobody listens."""
RENEWED = "its TLS files were renewed"
FAREWELL_S = 1.0
"""How long a stopping daemon waits for the broker to take its `offline`."""


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """One message from the broker; `leaf` is the topic below the root: `ack` or `cmd/{name}`."""

    leaf: str
    payload: bytes
    retained: bool = False
    response_topic: str | None = None
    correlation: bytes | None = None


class _Session:
    """One connection: its number, and the future that ends when it is over (its result says why)."""

    def __init__(self, number: int, client: MqttClient) -> None:
        self.number = number
        self.client = client
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        # One QoS 1 publication at a time: order on the wire, and a refusal belongs to the one that waits.
        self.turn = asyncio.Lock()

    def end(self, why: str) -> None:
        if not self.over.done():
            self.over.set_result(why)


class MqttConnection:
    """The `Publisher` of the daemon. `run` keeps it connected; what arrives is put on `inbox`."""

    def __init__(
        self,
        settings: MqttSettings,
        *,
        root: str,
        online: bytes,
        offline: bytes,
        clock: HostClock,
        rng: random.Random,
    ) -> None:
        self.inbox: asyncio.Queue[Incoming] = asyncio.Queue(INBOX_MAX)
        self.counters = {"connections": 0, "failures": 0, "timeouts": 0, "received": 0, "dropped": 0, "oversized": 0}
        self._settings = settings
        self._root = root
        self._online = online
        self._offline = offline
        self._clock = clock
        self._rng = rng
        self._files = TlsFiles(ca_file=settings.ca_file, cert_file=settings.cert_file, key_file=settings.key_file)
        self._session: _Session | None = None
        self._up = asyncio.Event()
        self._told: str | None = ""
        self._log = structlog.get_logger("mqtt")

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._session is not None

    async def run(self) -> None:
        """Connect, and connect again, for ever; ends only by cancellation, after having said `offline`."""
        settings = self._settings
        if settings.password_file is not None and not self._files.named and settings.host not in LOOPBACK:
            self._log.warning("password.in_clear", host=settings.host, then="whoever listens has it: give ca_file")
        failures = brief = 0
        while True:
            connections = self.counters["connections"]
            started_ns = self._clock.monotonic_ns()
            try:
                why = await self._connect_once()
            except (aiomqtt.MqttError, OSError, TlsFilesError) as error:
                why = fault(error) or str(error)
            if why == RENEWED:
                self._log.info("tls.renewed", then="connecting with the new files at once")
                continue
            self._tell(why)
            self.counters["failures"] += 1
            stable = self._clock.monotonic_ns() - started_ns > STABLE_S * 1e9
            failures = 0 if stable else failures + 1
            brief = brief + 1 if self.counters["connections"] > connections and not stable else 0
            if brief == BRIEF_MAX:
                self._log.error("broker.throws_us_out", client_id=settings.client_id, times=brief, why=THROWN_OUT)
            wait_s = min(RETRY_MAX_S, RETRY_FIRST_S * 2 ** min(failures, 16))
            await self._clock.sleep(wait_s * self._rng.uniform(0.5, 1.0))

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        while self._session is None:
            await self._up.wait()
        return self._session.number

    async def lost(self, session: int) -> None:
        """Return when connection `session` is over."""
        live = self._session
        if live is not None and live.number == session:
            await asyncio.wait({live.over})

    async def publish(self, publication: Publication, *, session: int) -> None:
        """Return when the broker has it (QoS 1: confirmed); raises ConnectionLostError or PublishRefusedError."""
        live = self._session
        if live is None or live.number != session:
            raise ConnectionLostError("not connected")
        if publication.qos == 0:
            await self._send(live, publication)
            return
        async with live.turn:
            live.client.refusal = None
            await self._send(live, publication)
            if live.client.refusal is not None:
                raise PublishRefusedError(f"the broker refuses {publication.topic}: {live.client.refusal}")

    # --- one connection ----------------------------------------------------------------------------------------

    async def _connect_once(self) -> str:
        """One whole connection; returns why it ended."""
        files = self._files.stamp()
        async with self._open(await self._client()) as client:
            await _unless_gone(self._greet(client), client)
            session = self._begin(client)
            receiving = asyncio.create_task(self._receive(session), name="mqtt-receive")
            renewing = asyncio.create_task(self._watch_files(session, files), name="mqtt-files")
            try:
                ends: set[asyncio.Future[Any]] = {session.over, receiving}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                await self._farewell(client)
                raise
            finally:
                receiving.cancel()
                renewing.cancel()
                self._session = None
                self._up.clear()
                session.end("the daemon is stopping")
            if receiving.done():
                receiving.result()
            return session.over.result()

    @asynccontextmanager
    async def _open(self, client: MqttClient) -> AsyncIterator[MqttClient]:
        entering = asyncio.ensure_future(client.__aenter__())
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:
            # aiomqtt cannot take back half a connection: let it become a whole one or fail, then leave.
            with suppress(aiomqtt.MqttError):
                await entering
                await client.__aexit__(None, None, None)
            raise
        try:
            yield client
        finally:
            with suppress(aiomqtt.MqttError):
                await client.__aexit__(None, None, None)

    async def _client(self) -> MqttClient:
        """Its files are read anew each time, so that a changed password or certificate needs no restart."""
        settings = self._settings
        tls = await asyncio.to_thread(self._files.context) if self._files.named else None
        newest = settings.protocol == "5"
        clean: dict[str, Any] = {"clean_session": True}
        if newest:
            limits = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            limits.MaximumPacketSize = PACKET_BYTES_MAX
            clean = {"clean_start": True, "properties": limits}
        return MqttClient(
            settings.host,
            settings.port,
            identifier=settings.client_id,
            username=settings.username,
            password=_read_password(settings.password_file),
            protocol=aiomqtt.ProtocolVersion.V5 if newest else aiomqtt.ProtocolVersion.V311,
            will=aiomqtt.Will(self._root + "availability", self._offline, qos=1, retain=True),
            keepalive=settings.keepalive_s,
            timeout=settings.publish_timeout_s,
            tls_context=tls,
            **clean,
        )

    async def _greet(self, client: MqttClient) -> None:
        """Online means that commands are heard, so subscribe first."""
        await self._subscribe(client)
        topic = self._root + "availability"
        await client.publish(topic, self._online, qos=1, retain=True)
        if client.refusal is not None:
            why = "the broker's access list keeps us from being seen: is this certificate or user for this table?"
            self._log.error("availability.refused", topic=topic, answer=client.refusal, why=why)

    async def _subscribe(self, client: MqttClient) -> None:
        leaves = ("ack", "cmd/+")
        if self._settings.protocol == "5":
            # Retain as published: a retained command is then known as one even while we are connected.
            options = SubscribeOptions(qos=1, retainAsPublished=True)
            granted = await client.subscribe([(self._root + leaf, options) for leaf in leaves])
        else:
            granted = await client.subscribe([(self._root + leaf, 1) for leaf in leaves])
        for leaf, code in zip(leaves, granted, strict=True):
            if isinstance(code, ReasonCode) and code.is_failure:
                why = "the broker's access list keeps it from us; allow it and restart the connection"
                self._log.error("subscription.refused", topic=self._root + leaf, answer=str(code), why=why)

    def _begin(self, client: MqttClient) -> _Session:
        self.counters["connections"] += 1
        session = _Session(self.counters["connections"], client)
        self._tell(None)
        self._session = session
        self._up.set()
        return session

    async def _receive(self, session: _Session) -> None:
        try:
            async for message in session.client.messages:
                self.counters["received"] += 1
                self._accept(message)
        except aiomqtt.MqttError as error:
            session.end(f"{error}: {error.__cause__}")

    async def _watch_files(self, session: _Session, used: Stamp) -> None:
        """End `session` when the TLS files have changed and can be used: half a renewal must not end a connection."""
        refused = used
        while self._files.named:
            await self._clock.sleep(FILES_CHECK_S)
            found = self._files.stamp()
            if found in (used, refused):
                continue
            try:
                await asyncio.to_thread(self._files.context)
            except TlsFilesError as wrong:
                refused = found
                then = "the connection made with the former files stays until they are right"
                self._log.error("tls.not_renewed", why=str(wrong), then=then)
            else:
                session.end(RENEWED)
                return

    def _accept(self, message: aiomqtt.Message) -> None:
        if len(message.payload) > PACKET_BYTES_MAX:
            self.counters["oversized"] += 1
            self._log.error(
                "message.oversized", topic=message.topic.value, limit=PACKET_BYTES_MAX, why="nothing we hear"
            )
            return
        properties = message.properties
        incoming = Incoming(
            leaf=message.topic.value.removeprefix(self._root),
            payload=message.payload,
            retained=message.retain,
            response_topic=getattr(properties, "ResponseTopic", None),
            correlation=getattr(properties, "CorrelationData", None),
        )
        try:
            self.inbox.put_nowait(incoming)
        except asyncio.QueueFull:
            self.counters["dropped"] += 1
            self._log.error("inbox.full", topic=message.topic.value, limit=INBOX_MAX, why="its sender floods us")

    async def _send(self, session: _Session, publication: Publication) -> None:
        sending = asyncio.create_task(self._hand_over(session.client, publication), name="mqtt-publish")
        try:
            ends: set[asyncio.Future[Any]] = {sending, session.over}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                raise ConnectionLostError(f"the connection ended before the broker confirmed: {session.over.result()}")
            sending.result()
        except (aiomqtt.MqttError, OSError, ValueError) as error:
            # A broker that takes and does not confirm is no broker: a new connection, and everything owed again. The
            # library also lets through what the event loop says of a socket that has just been closed.
            self.counters["timeouts"] += 1
            session.end(f"no confirmation of a publication: {error}")
            raise ConnectionLostError(str(error)) from error
        finally:
            sending.cancel()

    async def _hand_over(self, client: MqttClient, publication: Publication) -> None:
        properties = None
        if publication.correlation is not None and self._settings.protocol == "5":
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.CorrelationData = publication.correlation
        await client.publish(
            publication.topic,
            publication.payload,
            qos=publication.qos,
            retain=publication.retain,
            properties=properties,
        )

    async def _farewell(self, client: MqttClient) -> None:
        """An orderly disconnection cancels the last will, so say it ourselves."""
        with suppress(aiomqtt.MqttError):
            topic = self._root + "availability"
            await client.publish(topic, self._offline, qos=1, retain=True, timeout=FAREWELL_S)

    def _tell(self, why: str | None) -> None:
        """Once a change: `why` there is no connection, None when there is one."""
        if why == self._told:
            return
        self._told = why
        where = {"host": self._settings.host, "port": self._settings.port}
        if why is None:
            self._log.info("broker.connected", **where)
        else:
            self._log.warning("broker.unreachable", why=why, **where, then="messages wait in the journal; trying again")


async def _unless_gone(work: Coroutine[Any, Any, None], client: MqttClient) -> None:
    """aiomqtt waits by `asyncio.wait_for`, which does not end with the connection, and before Python 3.12 can lose a
    cancellation: so in a task of its own. Raises MqttError."""
    task = asyncio.create_task(work, name="mqtt-greet")
    try:
        await asyncio.wait({task, client.gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise aiomqtt.MqttError("the broker closed the connection before it answered what we sent first")
        task.result()
    finally:
        task.cancel()


def _read_password(path: Path | None) -> str | None:
    """What the file holds; raises OSError, or MqttError when that can be no password. Never tells what it holds."""
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
