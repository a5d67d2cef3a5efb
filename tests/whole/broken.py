"""`python -m tests.whole.broken EVENINGS SEED [NAME…]`: breaks the program on purpose, one way after the other, and
says in which evening the house finds it, with what. The plans that failed once come first.

A number before what is broken: the item of issue 12 whose mend is taken back. Lost edges of an encoder and hands at
beams (8, 9, 11) are not in the fault model; campaigns try them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeVar
from unittest import mock

import firmware_protocol.host
import hw_sim.configuration
import wheeld.broker.mqtt
import wheeld.core.law.breakdown
import wheeld.core.law.needs
import wheeld.core.law.table
import wheeld.daemon.table_loop
import wheeld.service.host_clock
import wheeld.sources.board.hearing
import wheeld.sources.line_state
from firmware_protocol.cammegh.status import StateCode as HeadState
from firmware_protocol.host import SyncSample
from hw_sim.whole.plan import EveningPlan
from tests.whole.__main__ import one, say
from tests.whole.evening import FOUND, plan_of
from wheeld.broker.lanes import Inbox
from wheeld.broker.mqtt import MqttConnection
from wheeld.broker.outbox import Outbox
from wheeld.core.facts import Fact, State
from wheeld.core.law.table import LAW
from wheeld.core.law.waiting import Happening, Wait, Waitlist, WaitOf, when_said
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.beams import BallTracker
from wheeld.daemon.table_loop import TableLoop
from wheeld.journal.database import Database
from wheeld.ports import OwedMessage, PublishError
from wheeld.service.standstill import BeatGap
from wheeld.sources.board.board import Board
from wheeld.sources.clock import BoardClock
from wheeld.sources.head.cammegh import PHASES
from wheeld.sources.sensing import Batch

T = TypeVar("T")


@contextmanager
def forgetful_outbox() -> Iterator[None]:
    """What the broker has not confirmed counts as sent."""
    publish = Outbox._publish

    async def careless(outbox: Outbox, message: OwedMessage, session: int) -> None:
        try:
            await publish(outbox, message, session)
        except PublishError:
            await outbox._store.mark_sent([message.id], await_settlement=False)
            raise

    with mock.patch.object(Outbox, "_publish", careless):
        yield


@contextmanager
def lazy_journal() -> Iterator[None]:
    """Commits do not wait for the disk."""
    use_wal = Database._use_wal

    def lazy(database: Database) -> None:
        use_wal(database)
        database._db.execute("PRAGMA synchronous = NORMAL")

    with mock.patch.object(Database, "_use_wal", lazy):
        yield


@contextmanager
def no_position() -> Iterator[None]:
    """How far the board's events were applied is not stored."""
    apply = TableLoop._apply

    async def forgetting(loop: TableLoop, observations: Sequence[Any]) -> None:
        loop._position = None
        await apply(loop, observations)

    with mock.patch.object(TableLoop, "_apply", forgetting):
        yield


def late_words() -> AbstractContextManager[object]:
    """A command counts from five seconds after it came."""

    def late(name: str, since_us: int | None, came_us: int, _: int | None) -> tuple[int, int]:
        return when_said(name, since_us, came_us + 5_000_000, None)

    return mock.patch.object(wheeld.daemon.table_loop, "when_said", late)


def patient_link() -> AbstractContextManager[object]:
    """A line may be silent for 20 s."""
    return mock.patch.object(hw_sim.configuration, "silence_s", return_value=20.0)


def deaf_to_sessions() -> AbstractContextManager[object]:
    """The broker keeps no command for a daemon whose connection has failed."""
    return mock.patch.object(wheeld.broker.mqtt, "SESSION_S", 0)


# --- mends taken back ------------------------------------------------------------------------------------------------


@contextmanager
def levels_remembered() -> Iterator[None]:
    """1: a board does not tell how its object sensor stands, and what stood before a gap stands after it."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(TableSetting, "tells_object", property(lambda _: False)))
        stack.enter_context(mock.patch.object(Board, "_object_level", return_value=()))
        yield


@contextmanager
def levels_told_once() -> Iterator[None]:
    """1: after a silent line in which no event was lost they are not told again."""

    def report(board: Board, now_us: int) -> Iterator[Any]:
        yield from board._line.report(board._newest_us, now_us)

    with mock.patch.object(Board, "_line_state", report):
        yield


def words_dated_by_arrival() -> AbstractContextManager[object]:
    """2: a daemon that stood still does not know it."""
    return mock.patch.object(BeatGap, "is_late", property(lambda _: False))


@contextmanager
def words_not_awaited() -> Iterator[None]:
    """2: after a standstill what sensors kept is decided before the broker was asked."""

    async def at_once(*_: object) -> None: ...

    with mock.patch.object(MqttConnection, "hear", at_once):
        yield


@contextmanager
def clock_may_run_back() -> Iterator[None]:
    """3: a clock that ran back gives samples that are left out, and nothing else."""
    add = BoardClock.add

    def lenient(clock: BoardClock, sample: SyncSample) -> str:
        verdict = add(clock, sample)
        return "refused" if verdict == "back" else verdict

    with mock.patch.object(BoardClock, "add", lenient):
        yield


@contextmanager
def hasty_line() -> Iterator[None]:
    """3: a line is good again with the first report, and every change is told."""
    with ExitStack() as stack:
        for name in ("GOOD_US", "GOOD_US_MAX", "RETELL_US"):
            stack.enter_context(mock.patch.object(wheeld.sources.line_state, name, 0))
        yield


def deaf_board_untold() -> AbstractContextManager[object]:
    """4: a board that answers nothing is no fault."""
    return mock.patch.object(wheeld.sources.board.hearing, "DEAF_NS", 10**15)


def slow_replay() -> AbstractContextManager[object]:
    """5: what is missing is asked for every 250 ms."""
    slow = firmware_protocol.host.REPLAY_RETRY_NS_MAX
    return mock.patch.object(firmware_protocol.host, "REPLAY_RETRY_NS_MIN", slow)


def stopped_wheel_untold() -> AbstractContextManager[object]:
    """6: state 6 of a head is like any other in which no ball runs."""
    return mock.patch.dict(PHASES, {HeadState.TABLE_CLOSED: "ready"})


@contextmanager
def number_lost() -> Iterator[None]:
    """7: a fault, or a restart, voids a number that awaits the chef."""
    lost = {(State.AWAITING_CHEF, fact): LAW[State.BALL_RUNNING, fact] for fact in (Fact.SENSOR_FAULT, Fact.RESTARTED)}
    with mock.patch.object(wheeld.core.law.table, "LAW", {**LAW, **lost}):
        yield


@contextmanager
def resume_in_a_run() -> Iterator[None]:
    """10: every word may open the bets while a ball runs."""
    with mock.patch.object(wheeld.core.law.needs, "must_rest_first", return_value=False):
        yield


def standstill_untold() -> AbstractContextManager[object]:
    """10: a standstill leaves a counter, and no notice."""
    return mock.patch.object(wheeld.core.law.breakdown, "NOTICED_US", 10**15)


@contextmanager
def overtaking_facts() -> Iterator[None]:
    """Of two facts of the same moment that wait, the later one is decided first."""

    in_order = Waitlist._in_order

    def newest_first(waitlist: Waitlist, wait_of: WaitOf) -> Iterator[tuple[Happening, Wait]]:
        backwards = [*in_order(waitlist, wait_of)][::-1]
        yield from sorted(backwards, key=lambda one: one[1].counts_us)

    with mock.patch.object(Waitlist, "_in_order", newest_first):
        yield


def words_overtaken() -> AbstractContextManager[object]:
    """A number does not wait for a word that a slow disk is still storing."""
    return mock.patch.object(Inbox, "came_ns", None)


@contextmanager
def interruptions_slept() -> Iterator[None]:
    """Two clocks are read once, whatever comes between them."""

    def once(host_ns: Callable[[], int], read: Callable[[], T]) -> tuple[int, T, int]:
        return host_ns(), read(), 0

    with ExitStack() as stack:
        for module in (wheeld.service.host_clock, wheeld.daemon.table_loop):
            stack.enter_context(mock.patch.object(module, "read_together", once))
        yield


def overtaking_batches() -> AbstractContextManager[object]:
    """At a full queue one task may go before another that waited longer."""

    async def put(loop: TableLoop, batch: Batch) -> None:
        loop._look()
        loop._newest_us = max(loop._newest_us, batch.last_us)
        await loop._batches.put(batch)
        loop._news.set()

    return mock.patch.object(TableLoop, "put", put)


def absent_heard() -> AbstractContextManager[object]:
    """A coup of the board's memory counts, though nobody was there to hear people."""
    return mock.patch.object(Board, "_kept", return_value=())


def runs_from_the_dark() -> AbstractContextManager[object]:
    """A ball that may have run before anybody watched was launched when it was first seen."""
    return mock.patch.object(BallTracker, "unmet_us_max", property(lambda _: -(10**15)))


NEEDS: dict[str, set[str]] = {
    "forgetful_outbox": {"broker_restarted", "broker_forgot", "network_cut", "all_power"},
    "no_position": {"daemon_killed", "daemon_stopped", "host_power", "all_power"},
    "deaf_to_sessions": {"broker_restarted", "network_cut", "stall", "rien_va_in_a_stall", "all_power"},
    "clock_may_run_back": {"board_clock_back"},
    "hasty_line": {"loose_contact", "noise", "damage", "cable_cut", "board_mute", "board_clock_back"},
    "resume_in_a_run": {"impatience"},
    "deaf_board_untold": {"board_deaf"},
    "interruptions_slept": {"busy"},
    "words_overtaken": {"disk_slow"},
    "slow_replay": {"noise", "damage"},
    "stopped_wheel_untold": {"wheel_stops", "wheel_misfires"},
}
"""Faults of which an evening must have one, or it cannot find this: drawn evenings without them are passed over."""
BROKEN: dict[str, Callable[[], AbstractContextManager[object]]] = {
    each.__name__: each
    for each in (
        forgetful_outbox,
        lazy_journal,
        no_position,
        late_words,
        patient_link,
        deaf_to_sessions,
        levels_remembered,
        levels_told_once,
        words_dated_by_arrival,
        words_not_awaited,
        clock_may_run_back,
        hasty_line,
        deaf_board_untold,
        slow_replay,
        stopped_wheel_untold,
        number_lost,
        resume_in_a_run,
        standstill_untold,
        overtaking_facts,
        words_overtaken,
        interruptions_slept,
        overtaking_batches,
        absent_heard,
        runs_from_the_dark,
    )
}


def plans(name: str, evenings: int, seed: str) -> Iterator[tuple[str, EveningPlan]]:
    """Those that failed once, then of so many drawn ones those that can find what is broken, by their number."""
    yield from ((f"kept {number}", plan) for number, plan in enumerate(FOUND, 1))
    for index in range(evenings):
        plan = plan_of(seed, index)
        if name not in NEEDS or NEEDS[name] & {fault.kind for fault in plan.faults}:
            yield str(index + 1), plan


def main() -> int:
    evenings, seed, names = int(sys.argv[1]), sys.argv[2], sys.argv[3:] or list(BROKEN)
    for name in names:
        with BROKEN[name]():
            found = next(
                ((which, why[0]) for which, plan in plans(name, evenings, seed) if (why := one(plan).problems)), None
            )
        if found is None:
            say(f"{name:24} not in {evenings} evenings")
        else:
            say(f"{name:24} {found[0]:>8}  {found[1][:120]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
