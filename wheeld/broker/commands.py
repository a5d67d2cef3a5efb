"""Takes commands and acknowledgements from the broker. Each command is stored before it is done, and answered once.

A command comes on `cmd/{user}/{name}`. The broker's access list lets each user publish below its own name only, and
there only the commands of its role. This module decides whether a message is a command, whether that role may give it,
whether it is still valid, and whether it is new. The core decides whether it is lawful now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Protocol

import msgspec

from wheeld.broker.budget import SparingLog
from wheeld.broker.lanes import COMMAND_BYTES_MAX, Acks, Inbox, Incoming
from wheeld.broker.outbox import Outbox, ResendError
from wheeld.broker.payloads import COMMANDS, UNREADABLE, CommandPayload, InspectPayload, ResendPayload, ResumePayload
from wheeld.broker.refusals import RefusedError, quoted, wrong_payload
from wheeld.broker.roles import TableAccess, may_answer_on
from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.instants import to_text, to_utc_us
from wheeld.core.law.waiting import when_said
from wheeld.core.observations import Command
from wheeld.core.pockets import number_of
from wheeld.core.step import Reply
from wheeld.ports import CommandRecord, EventRecord, HostClock, Publication, Receipt

ACK_GAP_S = 0.02
"""The shortest time between two acks that the outbox gets. Of the acks in between, only the highest counts."""

TOPIC_CHARACTERS_MAX = 256
"""How much of a response topic is logged. The topic may be 65,535 bytes long."""

CORRELATION_BYTES_MAX = 128
"""The longest correlation data of MQTT 5 that are used. A UUID has 16 bytes, and each answer is stored with its
correlation."""

SAID_OFF_US_MAX = 3_600_000_000
"""If the date of a command is more than an hour before or after now, a clock is wrong, and the date is not used. The
law decides whether a date within the hour counts (`wheeld/core/law/waiting.py`)."""


class _Identified(msgspec.Struct):
    id: str


class CommandLog(Protocol):
    """The durable log of commands and their answers. Every call may raise the journal's error."""

    async def receive(self, command: CommandRecord, at_utc_us: int) -> Receipt:
        """Store a command before anything is done about it. An answered command gets the same answer again."""
        ...

    async def answer(self, reply: Reply, at_utc_us: int) -> None:
        """Store the result of a received command, and owe its answer, in one transaction."""
        ...

    async def refuse(self, command: CommandRecord, why: str, at_utc_us: int) -> None:
        """Store a command that the intake refuses, and owe its answer, in one transaction."""
        ...

    async def note(self, happened: EventRecord, at_utc_us: int) -> None:
        """Store an event record."""
        ...


class SealedHead(Protocol):
    """What a seal covers: the journal up to record `n`, whose head is `head`."""

    @property
    def n(self) -> int:
        """The number of the last record that the seal covers."""
        ...

    @property
    def head(self) -> bytes:
        """The head of record `n`."""
        ...


class Seal(Protocol):
    """Seals the journal."""

    def __call__(self, *, by: str, why: str, user: str | None = None) -> Awaitable[SealedHead | None]:
        """Seal everything stored so far. Returns None without a key."""
        ...


class KnownProgram(Protocol):
    """The daemon's information about its own files."""

    @property
    def version(self) -> str:
        """The version of the release."""
        ...

    @property
    def digest(self) -> str | None:
        """The digest of all files. None until they have been read."""
        ...

    @property
    def as_released(self) -> bool | None:
        """Whether the manifest of the release has this digest. None if there is no manifest."""
        ...


class Listener(Protocol):
    """The table, as the receiver of what people say."""

    def say(self, command: Command, *, came_ns: int | None, said_utc_us: int | None) -> Awaitable[None]:
        """Give a command (its `t_us` is 0) its time, apply it, and store the step. The step's reply is the answer.
        `came_ns`: when it came, in host time, or None for now. `said_utc_us`: when it was said, if the command says
        so."""
        ...

    def standing_still(self) -> tuple[int, int] | None:
        """Return the period, in UTC, from which words of people may still come: it began with a standstill, or with a
        failure of the network, and ends now. None if there is no such period."""
        ...


class Network(Protocol):
    """The connection to the broker, as far as the intake uses it."""

    @property
    def access(self) -> TableAccess:
        """Which users may send commands, and in which role."""
        ...

    @property
    def sparing_log(self) -> SparingLog:
        """The log of mistakes by senders of commands."""
        ...

    async def answer(self, publication: Publication) -> None:
        """Publish an answer that is not stored, if there is a connection now."""
        ...


class CommandIntake:
    """Takes what comes from the broker. Valid new commands go to the `table`, answers to `journal`.

    Commands that are not for the table (`resend`, `seal`, `program`, `inspect`) are done here. They are answered in the
    language of `catalogue`. `test`: whether this is a bench table.
    """

    def __init__(  # noqa: PLR0913  one argument for each object that commands use
        self,
        *,
        journal: CommandLog,
        outbox: Outbox,
        seal: Seal,
        program: KnownProgram,
        table: Listener,
        catalogue: Catalogue,
        network: Network,
        clock: HostClock,
        test: bool = False,
    ) -> None:
        self.counters = {"commands": 0, "refused": 0, "repeated": 0, "over_budget": 0, "unknown_topics": 0}
        self._journal = journal
        self._outbox = outbox
        self._seal = seal
        self._program = program
        self._table = table
        self._catalogue = catalogue
        self._network, self._access, self._log = network, network.access, network.sparing_log
        self._root = self._access.root
        self._clock = clock
        self._test = test

    async def run(self, inbox: Inbox) -> None:
        """Handle what arrives. Ends when it is cancelled, or with the journal's error in an exception group."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._run_commands(inbox), name="commands-handle")
            group.create_task(self._run_acks(inbox.acks), name="commands-acks")

    async def _run_commands(self, inbox: Inbox) -> None:
        while True:
            await self.handle(await inbox.get())
            inbox.task_done()

    async def _run_acks(self, acks: Acks) -> None:
        while True:
            await self._outbox.acknowledge(await acks.get())
            await self._clock.sleep(ACK_GAP_S)

    async def handle(self, incoming: Incoming) -> None:
        """Handle one command from the broker. Raises only the journal's error."""
        kind, _, rest = incoming.leaf.partition("/")
        user, _, name = rest.partition("/")
        # An empty retained message is not a command: in MQTT it clears the retained message of its topic.
        if kind != "cmd" or not name or (incoming.retained and not incoming.payload):
            self.counters["unknown_topics"] += 1
        elif incoming.is_over_budget:
            # Answer a command that is over its budget, but store nothing: a flood must not fill the disk, and the
            # sender may use the same id again.
            self.counters["over_budget"] += 1
            record = self._record(user, name, incoming)
            why = self._catalogue.say(
                "too many commands of this kind came at once, and this one was not done; send it again if it is "
                "still wanted"
            )
            reply = Reply(0, record.id, record.name, "", done=False, why=why, user=record.user, test=self._test)
            for topic in filter(None, (self._root + "reply", record.response_topic)):
                publication = Publication(topic=topic, payload=reply.payload, qos=0, correlation=record.correlation)
                await self._network.answer(publication)
        else:
            await self._command(user, name, incoming)

    async def _command(self, user: str, name: str, incoming: Incoming) -> None:
        self.counters["commands"] += 1
        now_utc_us = self._clock.utc_us()
        record = self._record(user, name, incoming)
        try:
            payload = _decode(name, incoming)
            fields = msgspec.to_builtins(payload)
            shown = {
                key: value
                for key, value in fields.items()
                if key not in {"id", "by", "reason"} and value not in (None, [])
            }
            record = msgspec.structs.replace(
                record, id=payload.id, by=payload.by, reason=payload.reason, details=msgspec.json.encode(shown).decode()
            )
            self._access.check_sender(user, name)
            if isinstance(payload, ResumePayload) and (payload.without or payload.number is not None):
                # With these members the sender confirms what no sensor sees, so he must be allowed to resume play.
                self._access.check_sender(user, "resume")
            self._check_expiry(user, name, payload, incoming.came_utc_us or now_utc_us)
            receipt = await self._journal.receive(record, now_utc_us)
            if receipt is Receipt.CONFLICT:
                raise RefusedError("another command came with this id a moment ago: the sender must choose a new id")
        except RefusedError as refusal:
            self.counters["refused"] += 1
            why, detail = str(refusal), refusal.detail
            who = {"user": record.user, "by": record.by}
            self._log.warning("command.refused", name=record.name, id=record.id, **who, why=why, detail=detail)
            await self._journal.refuse(record, refusal.said(self._catalogue), now_utc_us)
            return
        if receipt is not Receipt.NEW:
            self.counters["repeated"] += 1
        elif isinstance(payload, ResendPayload):
            # The answer means that all messages have been sent again, so it is stored only after that. If the daemon
            # stops earlier, its next start answers that the command was not done.
            try:
                await self._outbox.resend(payload.from_seq, partial(self._answer_resend, user, payload))
            except ResendError as error:
                why = self._catalogue.say_text(error.text)
                await self._answer_resend(user, payload, error.last_seq, refused=why)
        elif name == "seal":
            await self._seal_journal(user, payload, now_utc_us)
        elif name == "program":
            await self._say_program(user, payload, now_utc_us)
        elif isinstance(payload, InspectPayload):
            await self._note_inspection(user, payload, now_utc_us)
        else:
            said_utc_us = self._said_utc_us(payload, now_utc_us)
            await self._table.say(
                _observation(user, self._access.users[user].name, name, payload),
                came_ns=incoming.came_ns,
                said_utc_us=said_utc_us,
            )

    def _check_expiry(self, user: str, name: str, payload: CommandPayload, came_utc_us: int) -> None:
        """Raise RefusedError if the command had expired when it came. After a standstill, the earliest time at which it
        may have been said counts instead. Also raise RefusedError if the command must have an expiry date and has
        none."""
        if payload.expires_at is None:
            if user in self._access.must_expire:
                raise RefusedError(
                    'the command has no "expires_at", which each command of "{user}" must have: its sender has to '
                    "say until when it is wanted",
                    user=user,
                )
            return
        expires, still = payload.expires_at, self._table.standing_still()
        if still is None:
            if to_utc_us(expires) <= came_utc_us:
                raise RefusedError(
                    "the command expired at {at}; send it again if it is still wanted", at=expires.isoformat()
                )
            return
        said_utc_us = None if payload.at is None else to_utc_us(payload.at)
        if to_utc_us(expires) <= when_said(name, *still, said_utc_us)[0]:
            since, until = map(to_text, still)
            raise RefusedError(
                "the command expired at {at}: from {since} to {until} the wheel could hear nobody; send it again if "
                "it is still wanted",
                at=expires.isoformat(),
                since=since,
                until=until,
            )

    def _said_utc_us(self, payload: CommandPayload, now_utc_us: int) -> int | None:
        """Return the time at which the command was said, by its sender's clock. None if the command does not contain
        this time, or if that clock is wrong."""
        if payload.at is None:
            return None
        said_utc_us = to_utc_us(payload.at)
        if abs(now_utc_us - said_utc_us) > SAID_OFF_US_MAX:
            then = "the time of its arrival counts; set the clock of its sender"
            self._log.warning("command.date_not_used", id=payload.id, at=payload.at.isoformat(), then=then)
            return None
        return said_utc_us

    async def _answer_resend(self, user: str, payload: ResendPayload, last_seq: int, *, refused: str = "") -> None:
        why = refused or self._catalogue.say(
            "messages {first} to {last} are sent again", first=payload.from_seq, last=last_seq
        )
        reply = Reply(0, payload.id, "resend", payload.by, done=not refused, why=why, last_seq=last_seq, user=user)
        await self._journal.answer(reply, self._clock.utc_us())

    async def _seal_journal(self, user: str, payload: CommandPayload, now_utc_us: int) -> None:
        sealed = await self._seal(by=payload.by, why=payload.reason, user=user)
        if sealed is None:
            why = self._catalogue.say("the journal has no signing key: a technician has to configure one")
        else:
            head = f"{sealed.n}:{sealed.head.hex()}"
            why = self._catalogue.say("the journal is sealed; the head of its chain is {head}", head=head)
        reply = Reply(0, payload.id, "seal", payload.by, done=sealed is not None, why=why, user=user)
        await self._journal.answer(reply, now_utc_us)

    async def _say_program(self, user: str, payload: CommandPayload, now_utc_us: int) -> None:
        program = self._program
        if program.digest is None:
            text = translatable("the files of the program could not be read: see the log")
        elif program.as_released is None:
            text = translatable("version {version}, program {digest}; the program has no manifest of a release")
        elif program.as_released:
            text = translatable(
                "version {version}, program {digest}: this is the program in the manifest of its release"
            )
        else:
            text = translatable(
                "version {version}, program {digest}: this is NOT the program in the manifest of its release"
            )
        why = self._catalogue.say(text, version=program.version, digest=program.digest or "")
        reply = Reply(0, payload.id, "program", payload.by, done=program.digest is not None, why=why, user=user)
        await self._journal.answer(reply, now_utc_us)

    async def _note_inspection(self, user: str, payload: InspectPayload, now_utc_us: int) -> None:
        """Store an inspection as an event record too, and answer the command."""
        parts = {"level": payload.level, "ball": payload.ball, "balance": payload.balance}
        details: dict[str, object] = {"user": user, **{name: what for name, what in parts.items() if what is not None}}
        inspection = EventRecord(event="inspection", by=payload.by, why=payload.reason, details=details)
        await self._journal.note(inspection, now_utc_us)
        why = self._catalogue.say("the inspection is in the journal")
        reply = Reply(0, payload.id, "inspect", payload.by, done=True, why=why, user=user)
        await self._journal.answer(reply, now_utc_us)

    def _record(self, user: str, name: str, incoming: Incoming) -> CommandRecord:
        """Return what can be stored of a command before its payload is validated."""
        try:
            command_id: str | None = msgspec.json.decode(incoming.payload[:COMMAND_BYTES_MAX], type=_Identified).id
        except UNREADABLE:
            command_id = None
        correlation, topic = incoming.correlation, incoming.response_topic
        if correlation is not None and len(correlation) > CORRELATION_BYTES_MAX:
            then = f"answered without it: more than {CORRELATION_BYTES_MAX} bytes"
            self._log.warning("correlation.ignored", size=len(correlation), then=then)
            correlation = None
        # Only topics below `reply/` are allowed. Otherwise a sender could make us publish in a table's feed.
        if not topic or topic == self._access.root + "reply":
            topic = None
        elif not may_answer_on(topic, self._access.root):
            self._log.warning("response_topic.ignored", topic=topic[:TOPIC_CHARACTERS_MAX], then="answered on reply")
            topic = None
        return CommandRecord(
            id=None if command_id is None else quoted(command_id),
            name=quoted(name),
            user=quoted(user),
            response_topic=topic,
            correlation=correlation,
        )


def _decode(name: str, incoming: Incoming) -> CommandPayload:
    """Return the command's payload. Raises RefusedError with what is wrong and who has to correct it."""
    if incoming.retained:
        raise RefusedError(
            "the command was sent with retain, but it counts only at the present moment: send it without retain"
        )
    kind = COMMANDS.get(name)
    if kind is None:
        raise RefusedError("there is no such command; the commands are {names}", names=", ".join(sorted(COMMANDS)))
    if len(incoming.payload) > COMMAND_BYTES_MAX:
        raise RefusedError(
            "the command has {size} bytes, but only {most} are allowed: its sender has to correct it",
            size=len(incoming.payload),
            most=COMMAND_BYTES_MAX,
        )
    try:
        return msgspec.json.decode(incoming.payload, type=kind)
    except UNREADABLE as error:
        raise wrong_payload(error) from error


_OBSERVED = frozenset(Command.__struct_fields__)


def _observation(user: str, role: str, name: str, payload: CommandPayload) -> Command:
    """Return the command of `user`, with the role of the user and each member of the payload that the table uses."""
    members = {key: value for key, value in msgspec.structs.asdict(payload).items() if key in _OBSERVED}
    if members.get("number") is not None:
        members["number"] = number_of(members["number"])
    return msgspec.convert({"t": 0, "kind": "command", "name": name, "user": user, "role": role, **members}, Command)
