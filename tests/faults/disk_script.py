"""The calls on a journal in an evening, in order: all that the daemon and the outbox make."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.broker.feed import Feed
from tests.core.evening import FRENCH, START_UTC_US, Evening
from tests.journal.journals import write_keys
from tests.journal.old_journal import COUPS, NOW, SETTLED, from_0, log_of, write_version_0
from wheeld.core.observations import Command, Observation
from wheeld.core.step import CoupLog, Message, Reply, Step
from wheeld.journal import schema
from wheeld.journal.seal import FileSigner
from wheeld.journal.writer import JournalWriter
from wheeld.ports import CommandRecord

JOURNAL = "wheel.journal"
PROCESS_CALLS = {"open", "publish", "close", "exit"}
"""Operations of a process; every other operation is one call (`perform`)."""
WAITING = {"publish", "acknowledge"}
"""Operations that are on disk with the next other one: what is lost of them is published again."""
DAY_US = 86_400_000_000

# Here and not in a fixture: the processes that perform a script have only what they import.
schema.MIGRATIONS[0] = from_0


class Op(NamedTuple):
    """One call on the journal, and one transaction: a method of `JournalWriter`, or one of these:

    `open`; `publish` (what is owed is published, then `mark_sent`); `acknowledge` (`settle` up to the last message);
    `close`; `exit` (the process ends and closes nothing).
    """

    call: str
    arguments: tuple[object, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that it stores, without answers to commands."""
        return () if self.step is None else self.step.messages

    @property
    def step(self) -> Step | None:
        """The step that it appends, None for other calls."""
        step = self.arguments[0] if self.arguments else None
        return step if isinstance(step, Step) else None


@dataclass
class Script:
    """Operations, and the file that was there before the first one (None: no file)."""

    name: str
    ops: list[Op] = field(default_factory=list)
    file: bytes | None = None
    messages: list[Message] = field(default_factory=list)
    settled_id: int = 0
    checkpoint_every: int | None = None

    def durable(self, k: int) -> int:
        """The last operation up to `k` that does not wait for a later one to be on disk; 0 when all wait."""
        return next((at for at in range(k, 0, -1) if self.ops[at].call not in WAITING), 0)

    def sessions(self) -> Iterator[range]:
        """The operations of each process."""
        start = 0
        for k, op in enumerate(self.ops):
            if op.call in {"close", "exit"}:
                yield range(start, k + 1)
                start = k + 1


class _RecordedEvening(Evening):
    """An evening that records the calls on the journal which the daemon would make."""

    def __init__(self, *, day: int, memory: bytes | None = None, last_number: int | None = None) -> None:
        self.ops: list[Op] = []
        self._start_utc_us = START_UTC_US + day * DAY_US
        super().__init__(FRENCH, memory=memory, started_utc_us=self._start_utc_us)
        self.lying = self.table.header().number_before if last_number is None else last_number

    @property
    def utc_us(self) -> int:
        return self._start_utc_us + getattr(self, "now_us", 0)

    def record(self, call: str, *arguments: object) -> None:
        self.ops.append(Op(call, arguments))

    def publish(self) -> None:
        self.record("publish")

    def observe(self, seen: Observation) -> Step:
        if isinstance(seen, Command):
            self.record(
                "receive", CommandRecord(id=seen.id, name=seen.name, by=seen.by, reason=seen.reason), self.utc_us
            )
        return super().observe(seen)

    def _keep(self, t_us: int, step: Step) -> None:
        super()._keep(t_us, step)
        if step:
            self.record("append", step, self.utc_us)


def _opened(at_utc_us: int) -> list[Op]:
    return [Op("open"), Op("answer_unfinished", (at_utc_us,)), Op("reopen_retained"), Op("publish")]


def _served(ops: list[Op], every: int) -> Iterator[Op]:
    """The operations with those of the outbox between them."""
    for k, op in enumerate(ops):
        yield op
        if k % every == every - 1:
            yield Op("publish")
        if k % (3 * every) == 3 * every - 1:
            yield Op("acknowledge")


def _coups(evening: _RecordedEvening, numbers: tuple[int, ...]) -> None:
    for k, number in enumerate(numbers):
        evening.coup(number)
        evening.say("operations_done")
        if k % 3 == 1:
            evening.void_by_chef()
            evening.say("tout_va")


def evening(name: str, *, first: tuple[int, ...], second: tuple[int, ...], checkpoint_every: int | None) -> Script:
    """A new journal; the process ends without closing after the `first` coups; a day with pruning; a third start."""
    one = _RecordedEvening(day=0)
    one.open()
    _coups(one, first)
    one.record("seal", "shift change", one.utc_us)
    one.record("receive", CommandRecord(id="left", name="close", by="chef", reason="undecided"), one.utc_us)
    two = _RecordedEvening(day=1, memory=one.memory)
    two.wait(2)
    two.record("refuse", CommandRecord(id=None, name="dance", by="nobody"), "no such command", two.utc_us)
    two.say("tout_va")
    _coups(two, second)
    two.publish()
    two.record("acknowledge")
    two.record("prune", two.utc_us, DAY_US / 2e6)
    two.record("prune", two.utc_us, None, 1)
    two.record("reopen_retained")
    two.record("seal", "end of the day", two.utc_us)
    third = START_UTC_US + 2 * DAY_US
    ops = [*_opened(START_UTC_US), *_served(one.ops, 5), Op("exit")]
    ops += [*_opened(START_UTC_US + DAY_US), *_served(two.ops, 4), Op("close")]
    ops += [*_opened(third), Op("acknowledge"), Op("seal", ("morning", third)), Op("close")]
    return Script(name, ops, checkpoint_every=checkpoint_every)


def migration() -> Script:
    """A journal of an earlier schema is brought up to date and used."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, JOURNAL)
        feed = write_version_0(path, FileSigner(write_keys(path.parent)[0]))
        file = path.read_bytes()
    replayed = Feed()
    old = [message for _ in range(COUPS) for message in replayed.step("notice", "result", "table").messages]
    assert replayed.seq == feed.seq
    ops = _opened(NOW + 1)
    for coup in range(COUPS + 1, COUPS + 7):
        step = feed.step("notice", "result", "table", evidence=CoupLog(coup, "result", log_of(coup)))
        ops += [Op("append", (step, NOW + coup)), Op("publish")]
    ops += [Op("answer", (Reply(0, None, "rien_va", "button", done=True), NOW + 40)), Op("acknowledge")]
    ops += [Op("prune", (NOW + 50, None, 1)), Op("seal", ("migrated", NOW + 51)), Op("close")]
    return Script("migration", ops, file, old, SETTLED)


def perform(journal: JournalWriter, op: Op) -> None:
    """One operation, if it is none of `PROCESS_CALLS`."""
    match op:
        case Op("acknowledge"):
            journal.settle(journal.reader.last_seq())
        case Op("seal", (str(why), int(at_utc_us))):
            journal.seal(by="Zoé", why=why, at_utc_us=at_utc_us)
        case Op("prune", (int(now), *rules)):
            journal.prune(now, max_age_s=rules[0], max_bytes=rules[1] if len(rules) > 1 else None)  # type: ignore[arg-type]
        case _:
            getattr(journal, op.call)(*op.arguments)
