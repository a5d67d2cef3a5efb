"""The daemon's connection to the broker: it connects, connects again when a session ends, and logs each change once.

What must survive is in the journal, so nothing is kept here between one session and the next.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import aiomqtt
import msgspec
import structlog
from paho.mqtt.reasoncodes import ReasonCode

from wheeld.broker.budget import SparingLog
from wheeld.broker.lanes import Inbox, Incoming
from wheeld.broker.mqtt_client import (
    PACKET_BYTES_MAX,
    MqttClient,
    forget_session,
    new_client,
    opened,
    tls_files,
    unless_gone,
)
from wheeld.broker.mqtt_session import End, EndKind, MqttSession
from wheeld.broker.packets import Published, answer_to
from wheeld.broker.roles import TableAccess
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import Stamp, TlsFilesError, fault
from wheeld.ports import ConnectionLostError, HostClock, Publication, PublishError

RETRY_FIRST_S = 0.5
RETRY_MAX_S = 30.0
"""Ceiling of the doubling wait between attempts: a broker that is back is found within half a minute."""

STABLE_S = 10.0
"""A session that lasted less doubles the wait too: two daemons with one client id would otherwise end each other's
session again and again."""

BRIEF_MAX = 3
"""After so many sessions in a row that ended at once the log asks a person to look."""
THROWN_OUT = (
    "connections end as soon as they are made: give every client its own client_id, or look why the broker fails"
)

FILES_CHECK_S = 10.0
"""How soon a renewed certificate is used. Renewal comes days before the old one ends; a person may wait no longer."""

SESSION_S = 60
"""For so long the broker keeps commands (QoS 1) for a daemon whose connection has failed. A network or a standstill is
over by then, or people have said it again: what is older would act on another coup."""

HEAR_S_MAX = 5.0
"""For so long at most a table that stood still waits for what was said meanwhile. A lost connection is made again
within a second or two; a broker that can't be reached must not keep the number back."""

RETAINED = ("table", "notice", "ack")
"""What the broker keeps of what this table has published, and what the settlement core has stored of it."""

Compare: TypeAlias = Callable[[Mapping[str, bytes]], Awaitable[None]]
"""Compares what the broker retains, by the topics in `RETAINED`, with what is stored here; raises when others know of
more."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this computer: a password sent to them crosses no network."""


class ConnectionState(Enum):
    """Whether there is a session, and if not, why."""

    NEW = "new"
    """No attempt has ended yet."""
    CONNECTED = "connected"
    """There is a session; it may be used."""
    CLOSING = "closing"
    """The session is over, and its socket is being closed."""
    UNREACHABLE = "unreachable"
    """The last attempt failed, or the last session ended; the next attempt follows."""


class _Status(msgspec.Struct, frozen=True):
    """The state; with it the session while there is one, and while there is none the reason."""

    state: ConnectionState
    session: MqttSession | None = None
    why: str = ""


class Outage(NamedTuple):
    """The broker is not reached: at which `address`, since when on the host's monotonic clock, and why."""

    address: str
    since_ns: int
    why: str


class _Retries:
    """Counts attempts that led to nothing, and how long to wait after them."""

    def __init__(self, rng: random.Random) -> None:
        self.brief = 0
        """Sessions in a row that ended at once."""
        self._failures = 0
        self._rng = rng

    def note(self, *, connected: bool, stable: bool) -> None:
        """An attempt is over: did it lead to a session, and did it last?"""
        self._failures = 0 if stable else self._failures + 1
        self.brief = self.brief + 1 if connected and not stable else 0

    def wait_s(self) -> float:
        """The wait before the next attempt."""
        longest: float = min(RETRY_MAX_S, RETRY_FIRST_S * 2 ** min(self._failures, 16))
        return longest * self._rng.uniform(0.5, 1.0)


class MqttConnection:
    """The `Publisher` of the daemon. `run` keeps it connected; what arrives is put on `inbox`. `access`: the table, and
    who may send commands to it."""

    def __init__(
        self,
        settings: MqttSettings,
        *,
        access: TableAccess,
        online: bytes,
        offline: bytes,
        clock: HostClock,
        rng: random.Random,
        compare: Compare | None = None,
    ) -> None:
        self.sparing_log = SparingLog(clock)
        """For what clients of the broker cause; all that handle it share this one."""
        self.inbox = Inbox(clock, self.sparing_log, access.users)
        self.counters = {"connections": 0, "failures": 0, "timeouts": 0, "received": 0, "foreign": 0, "oversized": 0}
        self._settings = settings
        self.access, self._root = access, access.root
        self._root_bytes, self._ack_topic = self._root.encode(), f"{self._root}ack".encode()
        self._online = online
        self._offline = offline
        self._compare = compare
        """What is still to be compared before anything is published; None when that is done."""
        self._clock = clock
        self._retries = _Retries(rng)
        self._files = tls_files(settings)
        self._status = _Status(ConnectionState.NEW)
        self._up = asyncio.Event()
        self._ended_ns: int | None = None
        """When the last session ended, host time; None before."""
        self._away_ns: int | None = None
        """Since when the broker is not reached, host time; None while it is, and before the first attempt has ended."""
        self._heard_ns = 0
        self._log = structlog.get_logger("mqtt")

    @property
    def is_connected(self) -> bool:
        """Whether there is a session now."""
        return self._status.session is not None

    @property
    def outage(self) -> Outage | None:
        """That the broker is not reached; None while it is, and before the first attempt has ended."""
        if self._away_ns is None:
            return None
        return Outage(f"{self._settings.host}:{self._settings.port}", self._away_ns, self._status.why)

    async def run(self) -> None:
        """Connect, and connect again; ends only by cancellation, after having published `offline`, or by the error of
        `compare`."""
        settings = self._settings
        if settings.password_file is not None and not self._files.named and settings.host not in LOOPBACK:
            self._log.warning(
                "password.in_clear", host=settings.host, then="anyone on the network can read it: give ca_file"
            )
        while True:
            connections = self.counters["connections"]
            started_ns = self._clock.monotonic_ns()
            end = await self._attempt()
            if end.kind is EndKind.RENEWED:
                self._log.info("tls.renewed", then="connecting with the new files at once")
                continue
            self._enter(_Status(ConnectionState.UNREACHABLE, why=end.why))
            self.counters["failures"] += 1
            self._retries.note(
                connected=self.counters["connections"] > connections,
                stable=self._clock.monotonic_ns() - started_ns > STABLE_S * 1e9,
            )
            if (times := self._retries.brief) == BRIEF_MAX:
                self._log.error("broker.throws_us_out", client_id=settings.client_id, times=times, why=THROWN_OUT)
            await self._clock.sleep(self._retries.wait_s())

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        while (session := self._status.session) is None:
            await self._up.wait()
        return session.number

    async def lost(self, session: int) -> None:
        """Return when connection `session` is over."""
        live = self._status.session
        if live is not None and live.number == session:
            await asyncio.wait({live.over})

    @property
    def heard_ns(self) -> int:
        """When the broker was last heard, host time; 0 before the first connection."""
        session = self._status.session
        return self._heard_ns if session is None else session.client.heard_ns

    def ask(self) -> None:
        """Ask the broker for a sign, which moves `heard_ns`; without a connection this does nothing."""
        if self._status.session is not None:
            self._status.session.client.ask()

    async def hear(self, since_ns: int) -> bool:
        """Return when every word that the broker had for us has been handled, at most `HEAR_S_MAX` later (then False);
        at once where there was no connection after `since_ns`, host time."""
        hearing = asyncio.create_task(self._hear(since_ns), name="mqtt-hear")
        waiting = asyncio.create_task(self._clock.sleep(HEAR_S_MAX), name="mqtt-hear-limit")
        try:
            await asyncio.wait({hearing, waiting}, return_when=asyncio.FIRST_COMPLETED)
            return hearing.done()
        finally:
            hearing.cancel()
            waiting.cancel()

    async def _hear(self, since_ns: int) -> None:
        if not self.is_connected and (self._ended_ns is None or self._ended_ns < since_ns):
            return
        while True:
            await self.connected()
            session = self._status.session
            assert session is not None, "there is a connection"
            try:
                await session.catch_up(self._online)
            except ConnectionLostError:
                continue
            await self.inbox.join()
            return

    async def answer(self, publication: Publication) -> None:
        """Publish an answer that nobody has stored, if there is a connection now."""
        if (live := self._status.session) is not None:
            with suppress(PublishError):
                await live.publish(publication)

    async def publish(self, publication: Publication, *, session: int) -> None:
        """Return when the broker has it (QoS 1: confirmed); raises ConnectionLostError or PublishRefusedError."""
        live = self._status.session
        if live is None or live.number != session:
            raise ConnectionLostError("not connected")
        await live.publish(publication)

    # --- one connection ----------------------------------------------------------------------------------------

    async def _attempt(self) -> End:
        """One attempt to connect, and the whole session if it succeeds; returns why it is over."""
        files = self._files.stamp()
        will = aiomqtt.Will(self._root + "availability", self._offline, qos=1, retain=True)
        try:
            if self._compare is not None:
                await self._compare(await self._retained(will))
                self._compare = None
            resumes = self._keeps_session()
            if not resumes and self._settings.protocol == "3.1.1":
                await forget_session(self._settings)
            client = await new_client(self._settings, will, listener=self, session_s=SESSION_S, resumes=resumes)
            async with opened(client):
                number = self.counters["connections"] + 1
                is_mqtt_5 = self._settings.protocol == "5"
                session = MqttSession(number, client, root=self._root, is_mqtt_5=is_mqtt_5, counters=self.counters)
                await unless_gone(session.greet(self._online), client)
                self.counters["connections"] = number
                return await self._serve(session, files)
        except (aiomqtt.MqttError, OSError, TlsFilesError) as error:
            return End(EndKind.LOST, fault(error) or str(error))

    async def _retained(self, will: aiomqtt.Will) -> dict[str, bytes]:
        """What the broker retains of this table, over a connection of its own. Raises what `_attempt` takes."""
        found = _Retained(self._root)
        async with opened(await new_client(self._settings, will, listener=found, session_s=0, resumes=False)) as client:
            await unless_gone(self._ask_retained(client), client)
        return found.payloads

    async def _ask_retained(self, client: MqttClient) -> None:
        granted = await client.subscribe([(self._root + leaf, 1) for leaf in RETAINED])
        for leaf, code in zip(RETAINED, granted, strict=True):
            if isinstance(code, ReasonCode) and code.is_failure:
                why = "the broker's access list does not let us compare with it what we published: allow it"
                self._log.error("subscription.refused", topic=self._root + leaf, answer=str(code), why=why)
        # What is retained comes before the confirmation of anything that is published behind the subscription.
        await client.publish(self._root + "availability", self._offline, qos=1, retain=True)

    def _keeps_session(self) -> bool:
        """Whether the broker may have kept commands for us that are to be heard. What another run of the daemon was
        told, or this one more than a minute ago, is of the past."""
        ended_ns = self._ended_ns
        return ended_ns is not None and self._clock.monotonic_ns() - ended_ns < SESSION_S * 1e9

    async def _serve(self, session: MqttSession, files: Stamp) -> End:
        """Let the session be used until it is over; returns why."""
        self._enter(_Status(ConnectionState.CONNECTED, session))
        attending = asyncio.create_task(session.attend(), name="mqtt-attend")
        renewing = asyncio.create_task(self._watch_files(session, files), name="mqtt-files")
        try:
            ends: set[asyncio.Future[Any]] = {session.over, attending}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await session.farewell(self._offline)
            raise
        finally:
            attending.cancel()
            renewing.cancel()
            self._heard_ns = session.client.heard_ns
            self._enter(_Status(ConnectionState.CLOSING))
            session.end(EndKind.STOPPED, "the daemon is stopping")
        return session.over.result()

    async def _watch_files(self, session: MqttSession, used: Stamp) -> None:
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
                session.end(EndKind.RENEWED, "its TLS files were renewed")
                return

    # --- what arrives --------------------------------------------------------------------------------------------

    def skipped(self, topic: bytes) -> None:
        """Count and log a publication that was too large to be read."""
        self.counters["oversized"] += 1
        why = "no command or ack is so large"
        self.sparing_log.error(
            "message.oversized", topic=topic[:64].decode(errors="replace"), limit=PACKET_BYTES_MAX, why=why
        )

    def take(self, publication: Published) -> None:
        """Put an ack among the acks, and a command, while there is room for it, in the inbox."""
        self.counters["received"] += 1
        if publication.topic == self._ack_topic:
            self.inbox.acks.put(publication.payload)
            return
        try:
            leaf = publication.topic.removeprefix(self._root_bytes).decode()
        except UnicodeDecodeError:
            self.counters["foreign"] += 1
            return
        if not self.inbox.has_room(leaf):
            return
        response_topic, correlation = answer_to(publication.properties)
        self.inbox.put(
            Incoming(
                leaf=leaf,
                payload=publication.payload,
                retained=publication.retained,
                response_topic=response_topic,
                correlation=correlation,
                came_ns=self._clock.monotonic_ns(),
                came_utc_us=self._clock.utc_us(),
            )
        )

    # --- the state -----------------------------------------------------------------------------------------------

    def _enter(self, status: _Status) -> None:
        """Change the state, and log it where it is news."""
        before, self._status = self._status, status
        where = {"host": self._settings.host, "port": self._settings.port}
        # CLOSING, then CONNECTED: a session with renewed files, which is logged as `tls.renewed`.
        if status.state is ConnectionState.CONNECTED and before.state is not ConnectionState.CLOSING:
            self._log.info("broker.connected", **where)
        if status.state is ConnectionState.UNREACHABLE and status != before:
            then = "messages wait in the journal; trying again"
            self._log.warning("broker.unreachable", why=status.why, **where, then=then)
        if status.state is ConnectionState.UNREACHABLE and self._away_ns is None:
            self._away_ns = self._clock.monotonic_ns() if self._ended_ns is None else self._ended_ns
        elif status.state is ConnectionState.CONNECTED:
            self._away_ns = None
        if before.session is not None and status.session is None:
            self._ended_ns = self._clock.monotonic_ns()
        if status.session is None:
            self._up.clear()
        else:
            self._up.set()


class _Retained:
    """Keeps what the broker retains of this table: the last payload of each topic in `RETAINED`, by leaf."""

    def __init__(self, root: str) -> None:
        self.payloads: dict[str, bytes] = {}
        self._leaves = {f"{root}{leaf}".encode(): leaf for leaf in RETAINED}

    def skipped(self, _topic: bytes) -> None:
        """It is not ours: nothing of ours is so large."""

    def take(self, publication: Published) -> None:
        """Keep it, if it is one of them."""
        if publication.topic in self._leaves:
            self.payloads[self._leaves[publication.topic]] = publication.payload
