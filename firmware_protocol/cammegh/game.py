"""From status lines and bare numbers to what they prove of each run of the ball. The rules stand in the package's page.

A **run** begins with the first line in state 3 (or 4, when no 3 was heard) and ends with a number, with a disagreement
about it, or with a state that has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.laps import LINE_NS
from firmware_protocol.cammegh.rotor import RotorWatch
from firmware_protocol.cammegh.run import Run
from firmware_protocol.cammegh.status import BareNumber, Flag, Flags, Product, State, Status, spin_after

BALL_LOST_NS = 5_000_000_000
"""Guide 4.1: in state 4 a ball not detected is ignored for 5 s, or 10 messages. Single lines of it are common (1.8)."""
LAUNCH_FAILED_NS = 3_000_000_000
"""Guide 4.1: a failed launch may be ignored for the first 3 s of state 3."""
BARE_LINES_MAX = 2
"""The bare number comes just before the first `*X;5` (1.5); a poll may have been under way."""

COUNTERS = ("lone_spin", "stray_bare", "laps_unproven")
"""Lines that one other line did not bear out; bare numbers that belong to no run; runs whose lap count did what no ball
can do."""
_RUNNING = frozenset({State.BALL_IN_RIM, State.NO_MORE_BETS, State.BALL_OFF_TRACK})
_BEFORE_LAUNCH = frozenset({State.START, State.PLACE_BETS})
_NO_FLAGS: Flags = frozenset()
Told: TypeAlias = Iterator[e.Event]


class Spell:
    """How long something has stood in every line, in the wheel's time."""

    def __init__(self, *, automatic: bool) -> None:
        self._automatic = automatic
        self._lines = 0
        self._since_ns = 0

    def age_ns(self, host_ns: int, *, holds: bool) -> int:
        """Its age with this line; 0 when it does not hold.

        Lines that come by themselves are counted, because a host that was held up reads many at once; answers to polls
        are dated, because those come when we ask.
        """
        if not holds:
            self._lines = 0
            return 0
        if not self._lines:
            self._since_ns = host_ns
        self._lines += 1
        return self._lines * LINE_NS if self._automatic else host_ns - self._since_ns


class Game:
    """The machine. `bare_number`: this port gives it. `automatic`: lines come by themselves, every 500 ms."""

    def __init__(self, product: Product, *, bare_number: bool, automatic: bool) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(COUNTERS, 0))
        self._product = product
        self._expects_bare = bare_number
        self._last: Status | None = None
        self._held: Status | None = None
        self._gap = False
        self._result_spin: int | None = None
        self._told_number: int | None = None
        self._counted_before: list[int] = []
        self._run: Run | None = None
        self._bare: set[int] = set()
        self._bare_lines = 0
        self._rotor = RotorWatch()
        self._faulty = False
        self._lines_without_fault = 0
        self._automatic = automatic
        self._ball_lost = self._in_rim = Spell(automatic=automatic)

    def interrupted(self) -> None:
        """Lines may be missing here: what runs was not heard whole."""
        self._gap = True
        self._rotor.interrupted()
        if self._run:
            self._run.interrupted()

    def bare(self, line: BareNumber, host_ns: int) -> Told:
        """The bare number has come."""
        if not self._expects_bare:
            self.counts["stray_bare"] += 1
            return
        self._bare.add(line.number)
        self._bare_lines = 0
        if self._last and self._last.state is State.WINNING_NUMBER:
            yield from self._settle(self._last, host_ns, line.number)

    def status(self, status: Status, host_ns: int) -> Told:
        """A status line has come."""
        last = self._last
        if last is None:
            yield e.Connected(host_ns, self._product, status.state, status.spin, status.number)
        elif not self._follows(last, status):
            if not self._is_second(status):
                return
            yield from self._jump(last, status, host_ns)
        self._drop_held()
        yield from self._warn(status, host_ns)
        if last is not None and (status.state, status.spin) != (last.state, last.spin):
            yield from self._leave(last, status, host_ns)
        if last is not None and status.state is not last.state:
            yield e.GameState(host_ns, status.state, last.state, status.spin)
        if status.state in _RUNNING:
            yield from self._running(status, host_ns)
        yield from self._rotor.see(status, host_ns, running=status.state in _RUNNING)
        self._last, self._gap = status, False
        self._note_count(status)
        if status.state is State.WINNING_NUMBER:
            yield from self._result(last, status, host_ns)
        else:
            self._age_bare()

    @property
    def holds_a_line(self) -> bool:
        """Whether the latest line waits for another to bear it out: it was read, and not yet heard."""
        return self._held is not None

    def _note_count(self, status: Status) -> None:
        """What the lap counter shows in the latest two lines while no ball runs."""
        if status.state in _RUNNING or status.extended is None:
            self._counted_before = []
        else:
            self._counted_before = [*self._counted_before[-1:], status.extended.laps]

    # Does this line follow from the one before?

    def _follows(self, last: Status, status: Status) -> bool:
        """The next spin number follows a result, or a game that was heard to end without one."""
        if status.spin != last.spin:
            heard = self._result_spin == last.spin or not self._gap
            if status.spin != spin_after(self._product, last.spin) or not heard:
                return False
        is_told = status.number is not None and status.number == self._told_number  # the last line may be damaged
        return status.number == last.number or is_told or status.state is State.WINNING_NUMBER

    def _is_second(self, status: Status) -> bool:
        """Whether the line before it said so too; else it is held."""
        held = self._held
        if held and (held.spin, held.number) == (status.spin, status.number):
            return True
        self._drop_held()
        self._held = status
        return False

    def _drop_held(self) -> None:
        self.counts["lone_spin"] += self._held is not None
        self._held = None

    def _jump(self, last: Status, status: Status, host_ns: int) -> Told:
        """Two lines say it: this does not continue what was heard. What ran is over, without a number."""
        self._held = None
        if status.number is None:
            yield e.WheelRestarted(host_ns, last.spin, status.spin)
        elif status.spin == last.spin:
            yield e.NumberDisagrees(host_ns, status.spin, last.number, status.number)
        else:
            yield e.UnobservedCoup(host_ns, last.spin, status.spin, last.number, status.number)
        self._run, self._gap, self._told_number = None, True, None
        self._bare.clear()
        self._result_spin = status.spin if status.state is State.WINNING_NUMBER else None
        self._rotor.interrupted()

    # Warnings

    def _warn(self, status: Status, host_ns: int) -> Told:
        before = self._last.flags if self._last else _NO_FLAGS
        if status.flags != before or (status.flags and self._gap):  # who did not hear us before does not know them
            yield e.Warned(host_ns, status.flags, status.state, status.spin)
        risen = status.flags - before
        if status.state is State.PLACE_BETS and Flag.LAUNCH_FAILED in risen:
            yield e.LaunchFailed(host_ns, status.spin, status.flags)
        if Flag.VOID_GAME in status.flags and self._run:
            yield from self._void(self._run, "void_game", status, host_ns)
        elif Flag.VOID_GAME in risen and status.state is State.PLACE_BETS:
            yield e.WheelVoid(host_ns, status.spin, "void_game", status.flags, status.state)
        yield from self._faults(status, host_ns)

    def _faults(self, status: Status, host_ns: int) -> Told:
        if Flag.SENSOR_FAULT in status.flags:
            self._lines_without_fault = 0
            if not self._faulty:
                self._faulty = True
                yield e.SensorFault(host_ns, status.state, status.spin)
            return
        self._lines_without_fault += 1
        if self._faulty and self._lines_without_fault == 2:
            self._faulty = False
            yield e.SensorMended(host_ns, status.state, status.spin)

    def _void(self, run: Run, why: e.VoidReason, status: Status, host_ns: int) -> Told:
        if not run.void and not run.settled:
            run.void = True
            yield e.WheelVoid(host_ns, run.spin, why, status.flags, status.state)

    # The run

    def _running(self, status: Status, host_ns: int) -> Told:
        run = self._run
        if run is None:
            from_launch = not self._gap and self._last is not None and self._last.state in _BEFORE_LAUNCH
            run = self._run = Run(status.spin, status.number, from_launch=from_launch)
            run.count.stood_at = min(self._counted_before, default=0)
            self._rotor.run_begins()
            self._ball_lost, self._in_rim = Spell(automatic=self._automatic), Spell(automatic=self._automatic)
            ball = status.extended.ball if status.extended else None
            yield e.BallSeen(host_ns, status.spin, ball, status.rotor, from_launch)
        broken = run.count.broken
        yield from run.see(status, host_ns)
        self.counts["laps_unproven"] += run.count.broken - broken
        yield from self._exceptions(run, status, host_ns)
        if not run.enters(status.state):
            return
        if status.state is State.NO_MORE_BETS:
            yield e.BallLeaving(host_ns, run.spin, run.count.laps, self._opposite(run))
        elif status.state is State.BALL_OFF_TRACK:
            yield e.BallOffTrack(host_ns, run.spin)

    def _opposite(self, run: Run) -> bool | None:
        """On a SlingShot 2 state 4 itself says it (1.3)."""
        return not run.same_direction if self._product is Product.SLINGSHOT_2 else run.opposite

    def _exceptions(self, run: Run, status: Status, host_ns: int) -> Told:
        """Guide 4.1, SlingShot 2 alone: the Mercury has neither of these flags."""
        in_rim_ns = self._in_rim.age_ns(host_ns, holds=status.state is State.BALL_IN_RIM)
        lost = status.state is State.NO_MORE_BETS and Flag.BALL_NOT_DETECTED in status.flags
        lost_ns = self._ball_lost.age_ns(host_ns, holds=lost)
        late = in_rim_ns > LAUNCH_FAILED_NS or status.state is not State.BALL_IN_RIM
        if Flag.LAUNCH_FAILED in status.flags and late:
            yield from self._void(run, "launch_failed", status, host_ns)
        if lost_ns >= BALL_LOST_NS:
            yield from self._void(run, "ball_not_detected", status, host_ns)

    def _leave(self, last: Status, status: Status, host_ns: int) -> Told:
        """The state or the spin number has changed: is the run over?"""
        run = self._run
        if run is None:
            return
        goes_on = status.spin == last.spin and (status.state in _RUNNING or status.state is State.WINNING_NUMBER)
        if last.state is State.WINNING_NUMBER:
            if not run.settled:
                yield e.NumberDisagrees(host_ns, run.spin, min(self._bare, default=None), last.number)
            yield from self._corrected(run, status.number, host_ns)
        elif goes_on:
            return
        else:
            yield from self._void(run, "no_number", status, host_ns)
        self._run = None
        self._bare.clear()

    # The number

    def _age_bare(self) -> None:
        """A status line after the bare number that isn't `*X;5`."""
        self._bare_lines += 1
        if self._bare and self._bare_lines > BARE_LINES_MAX:
            self._drop_bare()

    def _drop_bare(self) -> None:
        self.counts["stray_bare"] += len(self._bare)
        self._bare.clear()

    def _result(self, last: Status | None, status: Status, host_ns: int) -> Told:
        known, self._result_spin = self._result_spin == status.spin, status.spin
        if self._run is not None:
            self._run.called_lines += 1
        if last is not None and self._run is None and not known:
            yield e.UnobservedCoup(host_ns, status.spin, status.spin, last.number, status.number)
        yield from self._settle(status, host_ns, status.number)

    def _settle(self, status: Status, host_ns: int, said: int | None) -> Told:
        """Is there a number now? Once a run. `said`: what this line says, which may also be the bare one."""
        run = self._run
        if run is None:
            self._drop_bare()
        elif run.settled:
            self._drop_bare()
            yield from self._corrected(run, said, host_ns)
        elif self._expects_bare and self._bare and self._bare != {status.number}:
            run.settled = True
            yield e.NumberDisagrees(host_ns, run.spin, min(self._bare - {status.number}), status.number)
        elif status.number is not None and self._is_borne_out(run, status.number):
            run.settled, run.number = True, status.number
            self._told_number = status.number
            self._bare.clear()
            yield self._number(run, status.number, status, host_ns)

    def _corrected(self, run: Run, said: int | None, host_ns: int) -> Told:
        """Two lines in a row, bare or not, that say another number than the one that was told: once a run."""
        before, run.other_number = run.other_number, said
        if run.number is None or said is None or said == run.number or said != before:
            return
        yield e.NumberDisagrees(host_ns, run.spin, run.number, said)
        run.number = None

    def _is_borne_out(self, run: Run, number: int) -> bool:
        """By the bare number, or, on a port without, by the line before. That of the game before stands in every line:
        of it two lines in state 5 are wanted in any case, for one wrong digit makes a 4 a 5."""
        twice = run.called_lines >= 2
        before, run.waiting_number = run.waiting_number, number
        if self._expects_bare:
            return bool(self._bare) and (twice or number != run.number_before)
        return twice and before == number

    def _number(self, run: Run, number: int, status: Status, host_ns: int) -> e.Number:
        pocket = status.extended.pocket if status.extended else None
        return e.Number(host_ns, number, run.spin, run.count.laps, run.ball, status.rotor, pocket, run.whole)
