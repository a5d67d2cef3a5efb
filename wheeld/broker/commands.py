"""Takes commands and acknowledgements from the broker. Each command is stored before it is done, and answered once.

The broker's access list decides who may publish to `cmd/{name}`. This module decides whether a message is a command,
whether it is still valid, and whether it is new. The core decides whether it is lawful now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec
import structlog

from wheeld.broker.mqtt import Incoming
from wheeld.broker.outbox import Outbox, ResendError
from wheeld.broker.payloads import COMMANDS, UNREADABLE, AckPayload, CommandPayload, InspectPayload, ResendPayload
from wheeld.broker.refusals import RefusedError, quoted, wrong_payload
from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.instants import to_text, to_utc_us
from wheeld.core.law.standstill import counts_from
from wheeld.core.observations import Command
from wheeld.core.step import Reply
from wheeld.ports import CommandRecord, EventRecord, Receipt

COMMAND_BYTES_MAX = 4096
"""Three times a reason of 500 characters and everything else; anything longer is neither a command nor an ack."""

TOPIC_CHARACTERS_MAX = 256
"""Of a response topic: ours have about 60 characters, and each answer is stored with it."""

CORRELATION_BYTES_MAX = 128
"""Of an MQTT 5 correlation: a UUID has 16, and each answer is stored with it."""

SAID_OFF_US_MAX = 3_600_000_000
"""No command is an hour old, and none comes from the future: then one of the two clocks is wrong. Whether an earlier
date counts is the law's (`wheeld/core/law/standstill.py`)."""


class _Identified(msgspec.Struct):
    id: str


class CommandLog(Protocol):
    """The durable log of commands and their answers. Every call raises the journal's error."""

    async def receive(self, command: CommandRecord, at_utc_us: int) -> Receipt:
        """Store a command before anything is done about it; one answered already is answered again in the same way."""
        ...

    async def answer(self, reply: Reply, at_utc_us: int) -> None:
        """Store the result of a received command and owe its answer, in one transaction."""
        ...

    async def refuse(self, command: CommandRecord, why: str, at_utc_us: int) -> None:
        """Store a command that the intake refuses and owe its answer, in one transaction."""
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
        """The head of that record."""
        ...


class Seal(Protocol):
    """Seals the journal."""

    def __call__(self, *, by: str, why: str) -> Awaitable[SealedHead | None]:
        """Seal everything stored so far; None without a key."""
        ...


class Listener(Protocol):
    """The table, as far as people speak to it."""

    def say(self, command: Command, *, came_ns: int | None, said_utc_us: int | None) -> Awaitable[None]:
        """Give a command (its `t_us` is 0) its time, have it applied and the step stored: the step's reply is the
        answer. `came_ns`: when it came, host time, None: now. `said_utc_us`: when it was said, if its sender says so.
        """
        ...

    def standing_still(self) -> tuple[int, int] | None:
        """From when to when, in UTC, the daemon stood still, as long as it hears what was said in that time; else
        None."""
        ...


class CommandIntake:
    """Takes what the broker brings: valid new commands go to the `table`, answers to `journal`.

    Commands about the journal (`resend`, `seal`, `inspect`) are done here, and answered in the language of `catalogue`.
    """

    def __init__(
        self,
        *,
        journal: CommandLog,
        outbox: Outbox,
        seal: Seal,
        table: Listener,
        catalogue: Catalogue,
        root: str,
        utc_us: Callable[[], int],
    ) -> None:
        self.counters = {"commands": 0, "refused": 0, "repeated": 0, "acks_malformed": 0, "unknown_topics": 0}
        self._journal = journal
        self._outbox = outbox
        self._seal = seal
        self._table = table
        self._catalogue = catalogue
        self._root = root
        self._utc_us = utc_us
        self._log = structlog.get_logger("commands")

    async def run(self, inbox: asyncio.Queue[Incoming]) -> None:
        """Handle what arrives, in order; ends by cancellation or the journal's error."""
        while True:
            await self.handle(await inbox.get())
            inbox.task_done()

    async def handle(self, incoming: Incoming) -> None:
        """Handle one message from the broker, an ack or a command. Raises only the journal's error."""
        kind, _, name = incoming.leaf.partition("/")
        if kind == "ack":
            await self._acknowledge(incoming.payload)
        elif kind == "cmd" and name and not (incoming.retained and not incoming.payload):
            # MQTT clears a retained message by an empty retained payload: that is no command.
            await self._command(name, incoming)
        else:
            self.counters["unknown_topics"] += 1

    async def _acknowledge(self, payload: bytes) -> None:
        try:
            ack = msgspec.json.decode(_short(payload), type=AckPayload)
        except (*UNREADABLE, RefusedError) as error:
            self.counters["acks_malformed"] += 1
            self._log.error("ack.malformed", why=str(error), then="ignored; its sender has to correct it")
            return
        await self._outbox.acknowledge(ack.seq)

    async def _command(self, name: str, incoming: Incoming) -> None:
        self.counters["commands"] += 1
        now_utc_us = self._utc_us()
        record = self._record(name, incoming)
        try:
            payload = _decode(name, incoming)
            self._check_expiry(name, payload, incoming.came_utc_us or now_utc_us)
            record = msgspec.structs.replace(
                record, id=payload.id, by=payload.by, reason=payload.reason, details=_details(payload)
            )
            is_new = await self._note(record, now_utc_us)
        except RefusedError as refusal:
            self.counters["refused"] += 1
            why, detail = str(refusal), refusal.detail
            self._log.warning("command.refused", name=record.name, id=record.id, by=record.by, why=why, detail=detail)
            await self._journal.refuse(record, refusal.said(self._catalogue), now_utc_us)
            return
        if not is_new:
            self.counters["repeated"] += 1
        elif isinstance(payload, ResendPayload):
            await self._resend(payload, now_utc_us)
        elif name == "seal":
            await self._seal_journal(payload, now_utc_us)
        elif isinstance(payload, InspectPayload):
            await self._note_inspection(payload, now_utc_us)
        else:
            said_utc_us = self._said_utc_us(payload, now_utc_us)
            await self._table.say(_observation(name, payload), came_ns=incoming.came_ns, said_utc_us=said_utc_us)

    def _check_expiry(self, name: str, payload: CommandPayload, came_utc_us: int) -> None:
        """Raise RefusedError when it had expired at the moment from which it counts."""
        if payload.expires_at is None:
            return
        expires, still = payload.expires_at, self._table.standing_still()
        if still is None:
            if to_utc_us(expires) <= came_utc_us:
                raise RefusedError("it expired at {at}; send it again if it is still wanted", at=expires.isoformat())
            return
        said_utc_us = None if payload.at is None else to_utc_us(payload.at)
        if to_utc_us(expires) <= counts_from(name, *still, said_utc_us):
            since, until = map(to_text, still)
            raise RefusedError(
                "it expired at {at}, while nobody could be heard from {since} to {until}; send it again if it is "
                "still wanted",
                at=expires.isoformat(),
                since=since,
                until=until,
            )

    def _said_utc_us(self, payload: CommandPayload, now_utc_us: int) -> int | None:
        """When it was said, by its sender; None when he does not say so, or his clock is wrong."""
        if payload.at is None:
            return None
        said_utc_us = to_utc_us(payload.at)
        if abs(now_utc_us - said_utc_us) > SAID_OFF_US_MAX:
            then = "it counts from when it came; set the clock of its sender"
            self._log.warning("command.date_not_used", id=payload.id, at=payload.at.isoformat(), then=then)
            return None
        return said_utc_us

    async def _note(self, record: CommandRecord, now_utc_us: int) -> bool:
        receipt = await self._journal.receive(record, now_utc_us)
        if receipt is Receipt.CONFLICT:
            raise RefusedError("another command came with this id a moment ago: the sender must choose a new one")
        return receipt is Receipt.NEW

    async def _resend(self, payload: ResendPayload, now_utc_us: int) -> None:
        try:
            last_seq = await self._outbox.resend(payload.from_seq)
            done, text = True, translatable("messages {first} to {last} are sent again")
        except ResendError as error:
            last_seq, done = error.last_seq, False
            text = translatable("there is no message {first}: the last one is {last}")
        why = self._catalogue.say(text, first=payload.from_seq, last=last_seq)
        reply = Reply(0, payload.id, "resend", payload.by, done=done, why=why, last_seq=last_seq)
        await self._journal.answer(reply, now_utc_us)

    async def _seal_journal(self, payload: CommandPayload, now_utc_us: int) -> None:
        sealed = await self._seal(by=payload.by, why=payload.reason)
        done = sealed is not None
        if sealed is None:
            why = self._catalogue.say("the journal has no signing key: a technician has to configure one")
        else:
            head = f"{sealed.n}:{sealed.head.hex()}"
            why = self._catalogue.say("sealed; the head of its chain is {head}", head=head)
        await self._journal.answer(Reply(0, payload.id, "seal", payload.by, done=done, why=why), now_utc_us)

    async def _note_inspection(self, payload: InspectPayload, now_utc_us: int) -> None:
        """Stored apart from the commands, as what happens to the device is."""
        parts = {"level": payload.level, "ball": payload.ball, "balance": payload.balance}
        found: dict[str, object] = {name: what for name, what in parts.items() if what is not None}
        inspection = EventRecord(event="inspection", by=payload.by, why=payload.reason, details=found)
        await self._journal.note(inspection, now_utc_us)
        why = self._catalogue.say("the inspection is in the journal")
        await self._journal.answer(Reply(0, payload.id, "inspect", payload.by, done=True, why=why), now_utc_us)

    def _record(self, name: str, incoming: Incoming) -> CommandRecord:
        """What can be stored of a command before its payload is validated."""
        try:
            command_id: str | None = msgspec.json.decode(incoming.payload[:COMMAND_BYTES_MAX], type=_Identified).id
        except UNREADABLE:
            command_id = None
        return CommandRecord(
            id=None if command_id is None else quoted(command_id),
            name=quoted(name),
            response_topic=self._response_topic(incoming),
            correlation=self._correlation(incoming),
        )

    def _correlation(self, incoming: Incoming) -> bytes | None:
        if incoming.correlation is not None and len(incoming.correlation) > CORRELATION_BYTES_MAX:
            then = f"answered without it: more than {CORRELATION_BYTES_MAX} bytes"
            self._log.warning("correlation.ignored", size=len(incoming.correlation), then=then)
            return None
        return incoming.correlation

    def _response_topic(self, incoming: Incoming) -> str | None:
        """The topic on which the sender wants a copy of its answer; None when it may have none."""
        topic = incoming.response_topic
        # Never below `wheel/`: a sender could make us publish in a table's feed.
        if topic is None or topic == self._root + "reply":
            return None
        if topic.startswith(("wheel/", "$")) or set(topic) & set("+#\0") or len(topic) > TOPIC_CHARACTERS_MAX:
            self._log.warning("response_topic.ignored", topic=topic[:TOPIC_CHARACTERS_MAX], then="answered on reply")
            return None
        return topic or None


def _short(payload: bytes) -> bytes:
    """The payload; raises RefusedError when it is too long."""
    if len(payload) > COMMAND_BYTES_MAX:
        raise RefusedError(
            "it has {size} bytes, and {most} are allowed: its sender has to correct it",
            size=len(payload),
            most=COMMAND_BYTES_MAX,
        )
    return payload


def _decode(name: str, incoming: Incoming) -> CommandPayload:
    """The command's payload; raises RefusedError with what is wrong and who has to correct it."""
    if incoming.retained:
        raise RefusedError("it came retained, and a command acts on the present only: send it without retain")
    kind = COMMANDS.get(name)
    if kind is None:
        raise RefusedError("there is no such command; its sender may use {names}", names=", ".join(sorted(COMMANDS)))
    try:
        return msgspec.json.decode(_short(incoming.payload), type=kind)
    except UNREADABLE as error:
        raise wrong_payload(error) from error


_OBSERVED = frozenset(Command.__struct_fields__)


def _details(payload: CommandPayload) -> str:
    """What the command asks beyond id, by and reason, for the log of commands."""
    fields = msgspec.to_builtins(payload)
    shown = {
        key: value for key, value in fields.items() if key not in {"id", "by", "reason"} and value not in (None, [])
    }
    return msgspec.json.encode(shown).decode()


def _observation(name: str, payload: CommandPayload) -> Command:
    """The command with each member of the payload that the table knows."""
    members = {key: value for key, value in msgspec.structs.asdict(payload).items() if key in _OBSERVED}
    return msgspec.convert({"t": 0, "kind": "command", "name": name, **members}, Command)
