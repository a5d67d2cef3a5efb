"""The daemon's connection to the broker. It connects, connects again when a session ends, and logs each change once.

Everything that must survive is in the journal, so nothing is kept here between one session and the next.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, Literal, NamedTuple, TypeAlias

import mqtt5
import msgspec
import structlog

from wheeld.broker.budget import SparingLog
from wheeld.broker.lanes import Inbox, Incoming
from wheeld.broker.login import opened, tls_files
from wheeld.broker.payloads import UNREADABLE
from wheeld.broker.roles import TableAccess
from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import Stamp, TlsFilesError, fault
from wheeld.errors import WheeldError
from wheeld.mqtt.client import MqttClient, NoAnswerError
from wheeld.mqtt.session import BrokenProtocolError, MqttError, PublicationRefusedError, Unread
from wheeld.ports import ConnectionLostError, HostClock, Publication, PublishError, PublishRefusedError

RETRY_FIRST_S = 0.5
RETRY_MAX_S = 30.0
"""The longest wait between attempts. The wait doubles each time. A broker that is back is found within 30 s."""

STABLE_S = 10.0
"""After a session shorter than this, the wait doubles as after a failed attempt. Otherwise two daemons with one client
id would end each other's session again and again, without a pause."""

BRIEF_MAX = 3
"""After this many sessions in a row that ended at once, the log asks a person to look."""
THROWN_OUT = (
    "each connection ends as soon as it is made: give every client its own client_id, or find out why the broker fails"
)

FILES_CHECK_S = 10.0
"""How soon a renewed certificate is used. The old one is valid for some days more, but a person may be waiting."""

SESSION_S = 60
"""How long the broker keeps commands (QoS 1) for a daemon whose connection has failed. After this time a network
failure or a standstill is over, or people have repeated their command. An older command could act on a later coup."""

HEAR_S_MAX = 5.0
"""The longest time that a table waits, after a standstill, for what was said during it. If the connection was lost, the
daemon connects again within two seconds. A broker that cannot be reached must not delay the number."""

REFUSED_RETRY_S = 10.0
"""After this time, a request that the broker refused is made again: its access list may have changed."""

FAREWELL_S = 1.0
"""How long a stopping daemon waits for the broker to take its `offline`."""

TAKEOVER_S = 3.0
"""How long the daemon waits for another daemon of its table to say `online`. A running daemon says it within a second,
even if it must connect again."""

READ_ONCE = ("table", "notice")
"""The topics on which the daemon reads only what the broker retains when it has connected."""
RETAINED = (*READ_ONCE, "availability", "ack")
"""The topics on which the daemon reads what the broker retains. As long as it is connected it hears `availability`,
which shows another run of this table's daemon, and `ack`, which shows what the settlement core has stored."""
COMMANDS = "cmd/+/+"

UNHEARD = "the broker confirms it, but does not send the message that it retains there"
"""The reason for a refusal that the broker does not report: mosquitto confirms a subscription that its access list
forbids, and then sends nothing."""

Compare: TypeAlias = Callable[[Mapping[str, bytes]], Awaitable[None]]
"""Compares what the broker retains on the topics in `RETAINED` with the journal. Raises an error if others have newer
messages."""

TWO = (
    "another computer runs this table with this key: it is online at the broker. Nothing more was published here. "
    "Find the other computer (`journalctl --unit=mosquitto` at the broker says from where this table connects), stop "
    "its wheeld, and have a new key and a new certificate issued"
)

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this computer. A password sent to them crosses no network."""


class TwoComputersError(WheeldError):
    """Another computer runs this table, and only one of the two may continue. Otherwise two messages could have the
    same number."""

    def __init__(self) -> None:
        super().__init__(TWO)


class _Said(msgspec.Struct):
    """The members of `availability` that show which daemon is at the broker."""

    state: str = ""
    boot_id: str = ""


class Outage(NamedTuple):
    """The broker at `address` cannot be reached, for the reason `why`. `since_ns`: since when, in host time."""

    address: str
    since_ns: int
    why: str


class _Other(Enum):
    """What is known of another computer that may run this table."""

    UNASKED = "we have not asked"
    ASKED = "we said `offline`, so another running daemon says `online` again"
    UNKNOWN = "the broker did not let us ask"


class Refusal(NamedTuple):
    """The broker refuses us a topic below the root, for the reason `why`. `since_ns`: since when, in host time."""

    since_ns: int
    why: str


Refused: TypeAlias = tuple[Literal["subscription", "publication"], str]
"""What is refused: a subscription or a publication, and its topic below the root."""


class _Retries:
    """Counts failed attempts, and sets how long to wait after them."""

    def __init__(self, rng: random.Random) -> None:
        self.brief = 0
        """How many sessions in a row ended at once."""
        self._failures = 0
        self._rng = rng

    def note(self, *, connected: bool, stable: bool) -> None:
        """Remember that an attempt is over: whether it led to a session, and whether it lasted for more than
        `STABLE_S`."""
        self._failures = 0 if stable else self._failures + 1
        self.brief = self.brief + 1 if connected and not stable else 0

    def wait_s(self) -> float:
        """Return the wait before the next attempt."""
        longest: float = min(RETRY_MAX_S, RETRY_FIRST_S * 2 ** min(self._failures, 16))
        return longest * self._rng.uniform(0.5, 1.0)


class MqttConnection:
    """The `Publisher` of the daemon. `run` keeps it connected. What arrives is put in `inbox`. `access`: the table, and
    which users may send commands to it."""

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
        """The log of what broker clients do wrong. All parts of the program that refuse something share it."""
        self.inbox = Inbox(clock, self.sparing_log, access.users)
        self.counters = {"connections": 0, "failures": 0, "timeouts": 0, "received": 0, "unread": 0}
        self.outage: Outage | None = None
        """The present outage. None while the broker is reached, and before the first attempt has ended."""
        self.refusals: dict[Refused, Refusal] = {}
        """What the broker refuses now."""
        self.not_renewed = ""
        """Why the connection does not use the changed TLS files. Empty if no file has changed, or if there is no
        connection."""
        self._refused = asyncio.Event()
        self._settings = settings
        self.access, self._root = access, access.root
        self._availability = access.root + "availability"
        self._online, self._offline = online, offline
        self._boot_id = msgspec.json.decode(online, type=_Said).boot_id
        self._compare = compare
        self._is_new = True
        """True until the first session of this run of the daemon is used. Commands that come before that are too
        old."""
        self._other = _Other.UNASKED
        self._clock = clock
        self._retries = _Retries(rng)
        self._files = tls_files(settings)
        self._client: MqttClient | None = None
        """The connection that may be used. Its number is the counter `connections`. None while there is none."""
        self._up = asyncio.Event()
        self._told: str | None = None
        """What the log last reported of the connection: why there is no connection, or an empty text if there is one.
        None if it has reported nothing yet."""
        self._ended_ns: int | None = None
        """When the last session ended, in host time. None before that."""
        self._resumes = False
        """Whether the next connection may continue the last session. False if what the broker may have kept for us
        cannot be read."""
        self._heard_ns = 0
        self._said = asyncio.Event()
        """Set when a message on one of the topics of `RETAINED` comes."""
        self._retained: dict[str, bytes] = {}
        """What came last in this session on each of the topics of `RETAINED`."""
        self._log = structlog.get_logger("mqtt")

    @property
    def is_connected(self) -> bool:
        """Whether there is a session now."""
        return self._client is not None

    async def run(self) -> None:
        """Connect, and connect again after each end. Ends only with the error of `compare`, with TwoComputersError, or
        when it is cancelled. If it is cancelled during a session, it first publishes `offline`."""
        settings = self._settings
        if settings.password_file is not None and not self._files.named and settings.host not in LOOPBACK:
            self._log.warning(
                "password.in_clear",
                host=settings.host,
                then="anyone on the network can read the password: give ca_file",
            )
        while True:
            connections, started_ns = self.counters["connections"], self._clock.monotonic_ns()
            why = await self._attempt()
            if why is None:
                continue
            if self.outage is not None:
                since_ns = self.outage.since_ns
            else:
                since_ns = self._clock.monotonic_ns() if self._ended_ns is None else self._ended_ns
            self.outage = Outage(f"{settings.host}:{settings.port}", since_ns, why)
            if why != self._told:
                then = "messages wait in the journal; the wheel tries again"
                self._log.warning("broker.unreachable", why=why, host=settings.host, port=settings.port, then=then)
            self._told = why
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
        while self._live(self.counters["connections"]) is None:
            self._up.clear()
            await self._up.wait()
        return self.counters["connections"]

    async def lost(self, session: int) -> None:
        """Return when connection `session` is over."""
        if (client := self._live(session)) is not None:
            await asyncio.wait({client.gone})

    @property
    def heard_ns(self) -> int:
        """When the broker last answered, in host time. 0 before the first connection."""
        return self._heard_ns if self._client is None else self._client.heard_ns

    def ask(self) -> None:
        """Send the broker a ping. Its answer updates `heard_ns`. Without a connection this does nothing."""
        if self._client is not None:
            self._client.ask()

    async def hear(self, since_ns: int) -> bool:
        """Return True when every word that the broker had for us has been handled, or False after `HEAR_S_MAX`. Return
        True at once if there was no connection after `since_ns`, host time."""
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
        # Before the broker confirms this message, it sends everything that it has for us. So after the confirmation
        # nothing is missing.
        asking = Publication(topic=self._availability, payload=self._online, retain=True)
        while True:
            with suppress(ConnectionLostError):
                with suppress(PublishRefusedError):
                    await self.publish(asking, session=await self.connected())
                await self.inbox.join()
                return

    async def answer(self, publication: Publication) -> None:
        """Publish an answer that is not stored, if there is a connection now."""
        with suppress(PublishError):
            await self.publish(publication, session=self.counters["connections"])

    async def publish(self, publication: Publication, *, session: int) -> None:
        """Publish a message. Returns when the broker has it (QoS 1: has confirmed it). Raises ConnectionLostError or
        PublishRefusedError."""
        if (client := self._live(session)) is None:
            raise ConnectionLostError("not connected")
        try:
            await client.publish(
                publication.topic,
                publication.payload,
                qos=publication.qos,
                retain=publication.retain,
                correlation=publication.correlation,
            )
        except PublicationRefusedError as refused:
            self._note_answer("publication", publication.topic, str(refused))
            raise PublishRefusedError(f"the broker refuses {publication.topic}: {refused}") from None
        except MqttError as error:
            self.counters["timeouts"] += isinstance(error, NoAnswerError)
            raise ConnectionLostError(str(error)) from error
        if publication.qos:
            self._note_answer("publication", publication.topic, None)

    def _live(self, session: int) -> MqttClient | None:
        """Return the connection with that number if it may be used. After its end, a connection stays in `_client` for
        a moment."""
        client = self._client
        is_over = client is None or client.gone.done() or session != self.counters["connections"]
        return None if is_over else client

    # --- one connection ----------------------------------------------------------------------------------------

    async def _attempt(self) -> str | None:
        """Try to connect, and run the whole session if that succeeds. Returns why the attempt is over, or None if the
        next attempt is due at once."""
        files, ended_ns = self._files.stamp(), self._ended_ns
        # A new run of the daemon asks for a session only to find out whether there was one. Later, continue the session
        # if it ended less than a minute ago. What the broker has kept for longer is too old.
        is_kept = self._resumes and ended_ns is not None and self._clock.monotonic_ns() - ended_ns < SESSION_S * 1e9
        will = mqtt5.Will(self._availability, payload=self._offline, qos=mqtt5.QoS.AT_LEAST_ONCE, retain=True)
        try:
            async with opened(
                self._settings, take=self.take, will=will, session_s=SESSION_S, resumes=self._is_new or is_kept
            ) as client:
                try:
                    return await self._use(client, files)
                except asyncio.CancelledError:
                    # Let the broker forget the session. Otherwise the next run of the daemon would wait until this run
                    # comes back.
                    await client.close(forget=True)
                    raise
        except (MqttError, OSError, TlsFilesError) as error:
            self._resumes = not isinstance(error, BrokenProtocolError)
            return fault(error) or str(error)

    async def _use(self, client: MqttClient, files: Stamp) -> str | None:
        """Run the whole session. Raises the error that ended it. Returns None if the next attempt is due at once."""
        if not await self._may_go_on(client):
            return None
        self._is_new, self._other = False, _Other.UNASKED
        await self._greet(client)
        # The session is used until it ends, or until the TLS files have been renewed.
        self.counters["connections"] += 1
        self._client, self._resumes, self.outage = client, True, None
        self._up.set()
        if self._told != "":
            self._log.info("broker.connected", host=self._settings.host, port=self._settings.port)
        self._told = ""
        asking = asyncio.create_task(self._ask_again(client), name="mqtt-refused")
        another = asyncio.create_task(self._hear_another(client), name="mqtt-another")
        ends: set[asyncio.Future[Any]] = {client.gone, another}
        if self._files.named:
            ends.add(asyncio.create_task(self._watch_files(files), name="mqtt-files"))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # After an orderly disconnection the broker does not publish the last will, so publish `offline` here.
            with suppress(MqttError):
                await client.publish(self._availability, self._offline, retain=True, timeout_s=FAREWELL_S)
            raise
        finally:
            for task in (asking, *(ends - {client.gone})):
                task.cancel()
            self.not_renewed = ""
            self._heard_ns = client.heard_ns
            self._client, self._ended_ns = None, self._clock.monotonic_ns()
        if client.gone.done():
            raise client.gone.result()
        if self._other_says("online"):
            raise TwoComputersError
        return None

    async def _may_go_on(self, client: MqttClient) -> bool:
        """Return whether nothing shows another run of this table's daemon, or newer messages than the journal has. If
        false, the next attempt looks again. Raises TwoComputersError, MqttError, or the error of `compare`."""
        self._retained.clear()
        await self._subscribe(client, RETAINED)
        # The broker sends all retained messages before it answers a later request. So when `unsubscribe` returns, all
        # of these messages have come.
        await client.unsubscribe(*(self._root + leaf for leaf in READ_ONCE))
        if self._other is _Other.ASKED and self._other_says("online"):
            raise TwoComputersError
        if not self._is_new:
            # Do not compare `ack` while the daemon runs: anyone who may publish `ack` could stop a wheel during play.
            self._retained.pop("ack", None)
        if self._compare is not None:
            await self._compare(self._retained)
        is_doubtful = self._other_says("online") or (self._is_new and client.has_session)
        if is_doubtful and self._other is not _Other.UNKNOWN:
            await self._yield_to_another(client)
            return False
        return True

    async def _greet(self, client: MqttClient) -> None:
        """Subscribe, then publish `online`: a user that reads it may send commands. The broker retains `online`, and
        sends it to us if its access list lets us read it."""
        await self._subscribe(client, (COMMANDS,))
        try:
            await client.publish(self._availability, self._online, retain=True)
        except PublicationRefusedError as refused:
            self._note_answer("publication", self._availability, str(refused))
            return
        self._note_answer("publication", self._availability, None)
        if "availability" not in self._retained:
            await self._subscribe(client, ("availability",))
            await client.unsubscribe(*(self._root + leaf for leaf in READ_ONCE))
        heard = "availability" in self._retained
        self._note_answer("subscription", self._availability, None if heard else UNHEARD)

    async def _hear_another(self, client: MqttClient) -> None:
        """Answer `online` when another run of the table's daemon says `offline`: it asks whether we are there. It did
        not end our connection if its client id differs from ours. Returns when another run says `online`, or when the
        connection has ended."""
        with suppress(MqttError):
            while not self._other_says("online"):
                if self._other_says("offline"):
                    with suppress(PublicationRefusedError):
                        await client.publish(self._availability, self._online, retain=True)
                self._said.clear()
                await self._said.wait()

    async def _ask_again(self, client: MqttClient) -> None:
        """Ask again for what was refused: the access list may have changed. The outbox itself repeats what it owes."""
        while True:
            while not self.refusals:
                self._refused.clear()
                await self._refused.wait()
            await self._clock.sleep(REFUSED_RETRY_S)
            leaves = tuple(leaf for kind, leaf in self.refusals if kind == "subscription")
            with suppress(MqttError):
                if leaves:
                    await self._subscribe(client, leaves)
                if "availability" in {leaf for _, leaf in self.refusals}:
                    await self._greet(client)

    def _note_answer(self, kind: Literal["subscription", "publication"], topic: str, why: str | None) -> None:
        """Note the broker's answer. `why` is None if the topic is allowed. Topics that a sender chose are left out."""
        if not topic.startswith(self._root):
            return
        what: Refused = kind, topic.removeprefix(self._root)
        if why is None:
            self.refusals.pop(what, None)
        elif what not in self.refusals:
            self.refusals[what] = Refusal(self._clock.monotonic_ns(), why)
            self._refused.set()
            then = "the wheel tries again until it is allowed; check whether this certificate or user is for this table"
            self._log.error("broker.refuses", kind=kind, topic=topic, answer=why, then=then)

    async def _yield_to_another(self, client: MqttClient) -> None:
        """Find out whether another computer runs this table. Another run of the table's daemon is online, or had a
        session a moment ago. Perhaps it was killed, or the broker has not noticed yet that its connection failed, or it
        is on another computer. Only in the last case it publishes `online` after our `offline`, at once or when it has
        connected again. The next connection finds that. Raises MqttError if our connection ends meanwhile."""
        self._other = _Other.UNKNOWN
        with suppress(PublicationRefusedError):
            await client.publish(self._availability, self._offline, retain=True)
            self._other = _Other.ASKED
        waiting = asyncio.create_task(self._clock.sleep(TAKEOVER_S), name="mqtt-takeover")
        try:
            ends: set[asyncio.Future[Any]] = {client.gone, waiting}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if client.gone.done():
            raise client.gone.result()
        self._is_new = False

    def _other_says(self, state: Literal["online", "offline"]) -> bool:
        """Return whether the latest message on `availability` has this state, and is from another run of this table's
        daemon."""
        try:
            said = msgspec.json.decode(self._retained.get("availability") or b"{}", type=_Said)
        except UNREADABLE:
            return False
        return said.state == state and said.boot_id != self._boot_id

    async def _subscribe(self, client: MqttClient, leaves: tuple[str, ...]) -> None:
        topics = [self._root + leaf for leaf in leaves]
        refused = await client.subscribe(*topics)
        for topic in topics:
            # For `availability`, only a message shows that we may read it: `_greet` notes this.
            if topic in refused or topic != self._availability:
                self._note_answer("subscription", topic, refused.get(topic))

    async def _watch_files(self, used: Stamp) -> None:
        """Return when the TLS files have changed and can be used. A half-finished renewal must not end a connection."""
        refused = used
        while True:
            await self._clock.sleep(FILES_CHECK_S)
            found = self._files.stamp()
            if found == used:  # the earlier files are back
                refused, self.not_renewed = used, ""
            if found == refused:
                continue
            try:
                await asyncio.to_thread(self._files.check_renewed, self._clock.utc_us())
            except TlsFilesError as wrong:
                refused, self.not_renewed = found, str(wrong)
                then = "the connection with the earlier files stays until the new files are right"
                self._log.error("tls.not_renewed", why=str(wrong), then=then)
            else:
                self._log.info("tls.renewed", then="connecting with the new files at once")
                return

    # --- what arrives --------------------------------------------------------------------------------------------

    def take(self, publication: mqtt5.PublishPacket | Unread) -> None:
        """Take a publication: keep what came on the topics of `RETAINED`, put an ack among the acks, and a command in
        the inbox if there is room for it."""
        self.counters["received"] += 1
        leaf = publication.topic.removeprefix(self._root)
        if isinstance(publication, Unread):
            self.counters["unread"] += 1
            why = "the message breaks the rules of MQTT, but the broker passed it on"
            self.sparing_log.error("message.unread", topic=leaf[:64], why=why)
            return
        if leaf in RETAINED:
            self._retained[leaf] = publication.payload
            self._said.set()
        if leaf == "ack":
            self.inbox.acks.put(publication.payload)
        elif leaf not in RETAINED and not self._is_new and self.inbox.has_room(leaf):
            self.inbox.put(
                Incoming(
                    leaf=leaf,
                    payload=publication.payload,
                    retained=publication.retain,
                    response_topic=publication.response_topic,
                    correlation=publication.correlation_data,
                    came_ns=self._clock.monotonic_ns(),
                    came_utc_us=self._clock.utc_us(),
                )
            )
