"""The only place where observations and commands reach the table. They are applied in the order of their times, and
what follows is stored before the next ones are applied.

A command gets the host's estimate of the sensing clock at its arrival. It waits until the sensors have reported up to
that time. So what the sensors saw before the command is decided first. Sensors report every 0.1 s. If their link is
down, commands do not wait for them.

After a standstill of the daemon (`wheeld/service/standstill.py`), both observations and commands wait to be read, and
chance decides which are read first. So no observation is applied before all commands from the time of the standstill
have been received. The table then gets the standstill as an observation.

A command that is given while the network is cut arrives later. A command that has arrived may still wait to be stored,
because the disk is slow or other commands are before it. So the table is told the time up to which all commands have
been received (`Heard`), and everything that must wait for commands waits in the table.

What follows from an observation is stored before anything else happens, so the outbox never publishes what is not on
disk. The position in the board's events is stored with it. Then the event is acknowledged to the board. If the daemon
is killed before that, the event is not applied again, because its position is stored.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, NoReturn

import msgspec
import structlog

from firmware_protocol.host import Position
from wheeld.core.catalogue import translatable
from wheeld.core.instants import to_text
from wheeld.core.law.waiting import when_said
from wheeld.core.observations import Command, Heard, Level, Observation, SensorState, Standstill, StoodStill
from wheeld.core.step import Step, joined
from wheeld.core.table import NOTHING, Table
from wheeld.ports import HostClock, read_together
from wheeld.service.standstill import BeatGap, LoopBeats, Moment
from wheeld.sources.sensing import Batch, Sensing

QUEUE_MAX = 64
"""The most batches in the queue, each of up to 28 events: some seconds of a busy wheel. More events wait in the kernel
and in the board's ring buffer."""
SLOW_STORE_NS = 1_000_000_000
"""Storing a step takes milliseconds. If it took longer than this, the disk stood still."""
STEP_US_NOTICED = 1_000_000
"""Smaller steps of the host's clock are not reported. They do not mislead people who compare dates."""

OF_SENSORS = frozenset({SensorState, Level})
"""Kinds of observations that people see even if nothing follows from them."""

STEPPED = translatable(
    "the clock of this computer was corrected by {seconds} s; the order of events and all durations are right, but "
    "earlier dates may be wrong by the same time"
)


async def _nobody_speaks(since_ns: int) -> None:
    """Return at once: without connections there is no command to wait for."""


def _all_heard() -> None:
    """Return None: no command is on its way."""


class Ears(NamedTuple):
    """Which commands are still on their way. All times are host times.

    After a standstill that began at `since_ns`, `hear(since_ns)` returns when all commands from the standstill are in
    the queue, or when the wait takes too long. In the second case the network counts as cut. `cut_ns()` returns since
    when the network has been cut, or None. `came_ns()` returns when the oldest command arrived that is not in the queue
    yet, or None.
    """

    hear: Callable[[int], Awaitable[None]] = _nobody_speaks
    cut_ns: Callable[[], int | None] = _all_heard
    came_ns: Callable[[], int | None] = _all_heard


NO_EARS = Ears()
"""The ears of a table without connections."""


class TableLoop:
    """Applies observations and commands to `table`.

    `store` stores a step with the UTC and the position in the board's events. `on_change` is called after a change that
    people can see. `asleep_ns` returns how long the host has been suspended so far.
    """

    def __init__(
        self,
        table: Table,
        sensing: Sensing,
        *,
        clock: HostClock,
        store: Callable[[Step, int, Position | None], Awaitable[None]],
        on_change: Callable[[], None],
        ears: Ears = NO_EARS,
        asleep_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        self._table = table
        self._sensing = sensing
        self._clock = clock
        self._store = store
        self._on_change = on_change
        self._ears = ears
        self._asleep_ns = asleep_ns
        self._position: Position | None = None
        self._due_later: list[Command | Standstill | Heard] = []
        self._batches: asyncio.Queue[Batch] = asyncio.Queue(QUEUE_MAX)
        # When the queue is full, one waiting task could overtake another. The lock keeps their order.
        self._in_turn = asyncio.Lock()
        self._news = asyncio.Event()
        self._newest_us = 0
        self._pulse = LoopBeats()
        self._stood: BeatGap | None = None
        self._slow: Moment | None = None
        self._stepped_us = 0
        self.clock_set_s = 0.0
        """By how many seconds the host's clock was set since the start, in total."""
        self._heard_ns: int | None = None
        """The host time up to which all commands have been received, as the table was told last. None: no command is on
        its way."""
        self.counters = {"standstills": 0, "standstill_ms": 0, "slow_stores": 0, "utc_steps": 0}
        self._log = structlog.get_logger("table")

    async def put(self, batch: Batch) -> None:
        """Add a batch to the queue. Waits while the queue is full."""
        self._look()
        self._newest_us = max(self._newest_us, batch.last_us)
        async with self._in_turn:
            await self._batches.put(batch)
        self._news.set()

    async def say(self, command: Command, *, came_ns: int | None, said_utc_us: int | None = None) -> None:
        """Add a command that arrived at `came_ns`, host time (None: now). `said_utc_us`: when it was given, by its
        sender's clock."""
        self._look()
        now_ns = self._clock.monotonic_ns()
        came_us = self._at_us(now_ns, now_ns if came_ns is None else came_ns)
        stood, cut_ns = self._stood, self._ears.cut_ns()
        is_of_standstill = stood is not None and stood.since.t_us <= came_us
        said_us = None
        # Observations from a standstill may have only the time at which they were read. Then the order of command and
        # observations is unknown, even if the command has a date.
        if said_utc_us is not None and (self._sensing.keeps_times or not is_of_standstill):
            said_us = self._at_us(now_ns, now_ns - (self._utc_us_at(now_ns) - said_utc_us) * 1_000)
        since_us: list[int] = []
        if command.id is not None:  # a button's command has no id, and needs no network
            since_us += [] if stood is None else [stood.since.t_us]
            since_us += [] if cut_ns is None else [self._at_us(now_ns, cut_ns)]
        since = min((us for us in since_us if us <= came_us), default=None)
        t_us, until_us = when_said(command.name, since, came_us, said_us)
        self._keep(msgspec.structs.replace(command, t_us=t_us, until_us=until_us if until_us > t_us else None))
        self._news.set()

    def standing_still(self) -> tuple[int, int] | None:
        """Return the period, in UTC, in which no command could be received because the daemon stood still or the
        network was cut. Return None if there is none, or if the table knows of it already."""
        self._look()
        begins = [] if self._stood is None else [self._stood.since.utc_us]
        cut_ns = self._ears.cut_ns()
        begins += [] if cut_ns is None else [self._utc_us_at(cut_ns)]
        return (min(begins), self._clock.utc_us()) if begins else None

    async def run(self) -> NoReturn:
        """Apply what is in the queue, and store what follows, until cancelled. Raises the store's error."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._has_work():
                await self._turn()

    async def beat(self) -> NoReturn:
        """Give the event loop's beats until cancelled. Without beats no standstill is noticed."""
        self._pulse.beat(self._moment())
        while True:
            await self._clock.sleep(max(0.0, self._pulse.wait_s(self._clock.monotonic_ns())))
            self._look()

    # --- one turn of the loop -----------------------------------------------------------------------------------------

    def _has_work(self) -> bool:
        is_due = bool(self._due_later) and self._due_later[0].t_us <= self._reported_us(self._table.now_us)
        return bool(self._behind()) or self._stepped_us != 0 or is_due or not self._batches.empty()

    async def _turn(self) -> None:
        self._look()
        if self._stepped_us:
            # Tell people who read dates that the host's clock was set.
            seconds, self._stepped_us = round(self._stepped_us / 1e6, 1), 0
            self.clock_set_s += seconds
            text = self._table.setting.catalogue.say(STEPPED, seconds=seconds)
            step = self._table.remark("utc_stepped", text, {"seconds": seconds})
            await self._store(step, self._clock.utc_us(), self._position)
            self._on_change()
        if self._behind():
            # First receive all commands from the standstill, then tell the table when the standstill began and ended.
            await self._ears.hear(min(begin.host_ns for begin in self._behind()))
            gap, slow = self._stood, self._slow
            self._stood = self._slow = None
            until = self._moment()
            if gap is None:
                assert slow is not None, "one of the two stood still"
                self._keep(self._standstill(BeatGap(slow, until), "journal"))
            else:
                still = self._standstill(BeatGap(gap.since, until), "machine")
                self._keep(still)
                self._keep_heard(still.to_us, still.t_us)
        if self._batches.empty():
            self._keep_heard(self._table.now_us, self._table.now_us)
            await self._apply(self._due(self._reported_us(self._table.now_us)))
            return
        batch = self._batches.get_nowait()
        self._position = batch.position or self._position
        self._keep_heard(batch.last_us, self._table.now_us)
        await self._apply(self._merged(batch))
        if batch.position is not None:
            self._sensing.acknowledge(batch.position)

    def _keep_heard(self, reported_us: int, from_us: int) -> None:
        """Tell the table, at `from_us` or later, the time up to which all commands have been received, if that has
        changed. A time up to which the sensors have not reported yet is told as None, because nothing waits for it."""
        now_ns = self._clock.monotonic_ns()
        ends_ns = (self._ears.cut_ns(), self._ears.came_ns())
        heard_ns = min((end_ns for end_ns in ends_ns if end_ns is not None), default=None)
        heard_us = None if heard_ns is None else self._at_us(now_ns, heard_ns)
        if heard_us is not None and heard_us >= reported_us:
            heard_ns = heard_us = None
        if heard_ns != self._heard_ns:
            self._heard_ns = heard_ns
            # For the table the last `Heard` counts. So the new `Heard` must not be dated before one that still waits.
            told_us = (one.t_us for one in self._due_later if isinstance(one, Heard))
            self._keep(Heard(max((from_us, *told_us)), heard_us))

    def _merged(self, batch: Batch) -> list[Observation]:
        """Return the batch merged with what was kept: each kept item before the first observation that is later."""
        if not self._due_later:
            return batch.observations
        merged: list[Observation] = []
        for observation in batch.observations:
            merged += self._due(observation.t_us - 1)
            merged.append(observation)
        return merged + self._due(self._reported_us(batch.last_us))

    def _reported_us(self, newest_us: int) -> int:
        """Return the time up to which the sensors have reported: that of the newest observation, or the present while
        their link is down."""
        silent_us = 0 if self._sensing.is_up else self._sensing.now_us(self._clock.monotonic_ns())
        return max(newest_us, silent_us)

    def _keep(self, kept: Command | Standstill | Heard) -> None:
        """Keep an item until the sensors have reported up to its time. At equal times commands come last."""
        insort(self._due_later, kept, key=lambda one: (one.t_us, isinstance(one, Command)))

    def _due(self, until_us: int) -> list[Command | Standstill | Heard]:
        """Remove and return what was kept up to that time, in order."""
        due: list[Command | Standstill | Heard] = []
        while self._due_later and self._due_later[0].t_us <= until_us:
            due.append(self._due_later.pop(0))
        return due

    async def _apply(self, observations: Sequence[Observation]) -> None:
        steps = [self._table.apply(observation) for observation in observations]
        step = joined([one for one in steps if one is not NOTHING])
        if step:
            began = self._moment()
            await self._store(step, self._clock.utc_us(), self._position)
            if self._clock.monotonic_ns() - began.host_ns > SLOW_STORE_NS:
                self._slow = began
        if step.messages or not OF_SENSORS.isdisjoint(map(type, observations)):
            self._on_change()

    # --- standstills --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Give a beat if one is due. A late beat shows a standstill, which began at the previous beat. Standstills in a
        row are joined."""
        if not self._pulse.is_due(self._clock.monotonic_ns()):
            return
        gap = self._pulse.beat(self._moment())
        assert gap is not None, "a beat is due only after the first beat"
        if gap.stepped_us:
            self.counters["utc_steps"] += 1
            self._log.warning("clock.stepped", seconds=gap.stepped_us / 1e6, then="dates in UTC before that were wrong")
            if abs(gap.stepped_us) >= STEP_US_NOTICED:
                self._stepped_us = gap.stepped_us
                self._news.set()
        if gap.is_late:
            # What was observed after the last beat was observed before the standstill, so the standstill began later.
            since = msgspec.structs.replace(gap.since, t_us=max(gap.since.t_us, self._newest_us))
            self._stood = BeatGap(since if self._stood is None else self._stood.since, gap.until)
            self._news.set()

    def _behind(self) -> list[Moment]:
        """Return the beginning of each standstill that the table does not know yet."""
        return [began for began in (self._stood and self._stood.since, self._slow) if isinstance(began, Moment)]

    def _standstill(self, gap: BeatGap, what: StoodStill) -> Standstill:
        """Count and log a standstill, and return it as an observation."""
        self.counters["slow_stores" if what == "journal" else "standstills"] += 1
        self.counters["standstill_ms"] += gap.real_us // 1_000
        self._log.warning(
            "machine.stood_still",
            what=what,
            seconds=gap.real_us / 1e6,
            slept_s=gap.slept_us / 1e6,
            since=to_text(gap.since.utc_us),
            until=to_text(gap.until.utc_us),
        )
        slept_us = gap.slept_us if what == "machine" else 0
        return Standstill(gap.since.t_us, max(gap.since.t_us, gap.until.t_us), what, slept_us)

    def _moment(self) -> Moment:
        host_ns, (asleep_ns, utc_us), _ = read_together(
            self._clock.monotonic_ns, lambda: (self._asleep_ns(), self._clock.utc_us())
        )
        return Moment(host_ns, asleep_ns, utc_us, self._sensing.now_us(host_ns))

    def _utc_us_at(self, then_ns: int) -> int:
        """Return UTC at a past host time, computed from the clock as it is set now."""
        host_ns, utc_us, _ = read_together(self._clock.monotonic_ns, self._clock.utc_us)
        return utc_us - (host_ns - then_ns) // 1_000

    def _at_us(self, now_ns: int, host_ns: int) -> int:
        """Return the sensing clock at a past host time. It is counted back from the present: `now_us` would be wrong,
        because it never returns less than the time of the newest observation."""
        passed_us, at = (now_ns - host_ns) // 1_000, self._sensing.clock_now(now_ns)
        rate_ppb = 0 if at is None else at.rate_ppb
        return self._sensing.now_us(now_ns) - passed_us * 1_000_000_000 // (1_000_000_000 + rate_ppb)
