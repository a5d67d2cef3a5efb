"""Convert status lines and bare numbers to events about each run of the ball.

A **run** begins with the first line in state 3. If no such line was read, it begins with the first line in state 4, or
in state 7 of a SlingShot 2. It ends with a number, with lines that disagree about the number, or with a state that has
no number.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, unique
from typing import TypeAlias

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.run import BareNumbers, HeadRun, NumberDisagreement
from firmware_protocol.cammegh.status import BareNumber, Flag, Flags, Product, StateCode, Status, spin_after

# These classes decide whether a status line follows from the line before it (docs/wheels.md 1.2, 1.8).


@unique
class LinePlace(Enum):
    """How a line relates to the lines before it."""

    FIRST = "first"
    """No line was read before this line."""
    NEXT = "next"
    """This line follows from the line before it."""
    HELD = "held"
    """This line does not follow from the line before it. A line has no checksum, so this line waits until a second line
    shows the same."""
    JUMP = "jump"
    """This line confirms a held line: the wheel continued, or was switched off, while its lines were not read."""


class LineOrder:
    """Compares spin number and last number of each line with those of the line before."""

    def __init__(self, product: Product) -> None:
        self.last: Status | None = None
        """The latest line that was used."""
        self.gap = False
        """Lines may be missing since `last`."""
        self.result_spin: int | None = None
        """The spin number of the latest game with a line in state 5."""
        self.number_reported: int | None = None
        """The latest number that was reported. A line with this number is used at once, even if the line before was
        damaged."""
        self.lone_lines = 0
        """How many lines were not confirmed by a second line."""
        self._product = product
        self._held: Status | None = None

    @property
    def holds_a_line(self) -> bool:
        """Whether the latest line waits for a second one."""
        return self._held is not None

    def place(self, status: Status) -> LinePlace:
        """Return how `status` relates to the lines before it. Hold `status` if it cannot come directly after these
        lines."""
        last, held = self.last, self._held
        if last is None:
            return LinePlace.FIRST
        if self._follows(last, status):
            self._drop_held()
            return LinePlace.NEXT
        if held and (held.spin, held.number) == (status.spin, status.number):
            self._held = None
            return LinePlace.JUMP
        self._drop_held()
        self._held = status
        return LinePlace.HELD

    def used(self, status: Status) -> None:
        """Store the line that was used. The next line is compared with it."""
        self.last, self.gap = status, False

    def jumped(self, status: Status) -> None:
        """Remember that this line does not follow from the lines before it."""
        self.gap, self.number_reported = True, None
        self.result_spin = status.spin if status.state is StateCode.WINNING_NUMBER else None

    def _follows(self, last: Status, status: Status) -> bool:
        """Whether `status` follows from `last`. The next spin number may come only after a result, or after a game
        without a result whose lines were all read."""
        if status.spin != last.spin:
            was_heard = self.result_spin == last.spin or not self.gap
            if status.spin != spin_after(self._product, last.spin) or not was_heard:
                return False
        is_reported = status.number is not None and status.number == self.number_reported
        return status.number == last.number or is_reported or status.state is StateCode.WINNING_NUMBER

    def _drop_held(self) -> None:
        self.lone_lines += self._held is not None
        self._held = None


# Bit 4 of the warnings means a failed sensor. The first line with this bit reports the fault. The second line in a row
# without the bit ends it.

LINES_MENDED = 2
"""A fault of the sensors is over after this many lines without bit 4. A line has no checksum (docs/wheels.md 1.1), so
one line may be damaged."""


class SensorFaults:
    """Whether the wheel's sensors work, by the warning bits of each line."""

    def __init__(self) -> None:
        self._is_faulty = False
        self._good_lines = 0

    def line(self, flags: Flags, host_ns: int) -> Iterator[e.Event]:
        """Report a fault of the sensors, or its end, from the bits of one line."""
        if Flag.SENSOR_FAULT in flags:
            self._good_lines = 0
            if not self._is_faulty:
                self._is_faulty = True
                yield e.SensorFault(host_ns)
            return
        self._good_lines += 1
        if self._is_faulty and self._good_lines == LINES_MENDED:
            self._is_faulty = False
            yield e.SensorMended(host_ns)


# This class reads the rotor's speed from a field of a status line (docs/wheels.md 1.8). The field has three digits of
# 0.1 rpm and shows `000` both for a rotor that stands still and for a rotor that turns faster than 99.9 rpm. The speed
# in the line before shows which is true. A rotor exceeds 99.9 rpm only after speeds near 99.9 rpm, because no recorded
# rotor gained more than ten rpm between two lines. A hand can stop a rotor of any usual speed between two lines.

SLOW_DECIRPM_MAX = 400
"""A `000` after this speed or less: the rotor stands still. Wheels turn at 10 to 30 rpm (21.9 in the handbook); a
Mercury warns outside this range. The fastest recorded runaway takes three seconds, six lines, from 40 to 99.9 rpm."""


class SpeedField:
    """Reads the speed field, line by line."""

    def __init__(self) -> None:
        self._is_slow = False

    def interrupted(self) -> None:
        """Forget the previous speed, because lines may be missing here."""
        self._is_slow = False

    def read(self, decirpm: int) -> float | None:
        """Return the speed in rpm. None for a `000` that may also mean a speed above 99.9 rpm."""
        if decirpm:
            self._is_slow = decirpm <= SLOW_DECIRPM_MAX
            return decirpm / 10
        return 0.0 if self._is_slow else None


_RUNNING = frozenset({StateCode.BALL_IN_RIM, StateCode.NO_MORE_BETS, StateCode.BALL_OFF_TRACK})
_BEFORE_LAUNCH = frozenset({StateCode.START, StateCode.PLACE_BETS})
_NO_FLAGS: Flags = frozenset()
Events: TypeAlias = Iterator[e.Event]


class Game:
    """The games of one wheel. `bare_number`: the port sends bare numbers. `automatic`: the wheel sends lines without
    polls."""

    def __init__(self, product: Product, *, bare_number: bool, automatic: bool) -> None:
        self._automatic = automatic
        self._order = LineOrder(product)
        self._bare = BareNumbers(expected=bare_number)
        self._speed = SpeedField()
        self._faults = SensorFaults()
        self._run: HeadRun | None = None
        self._laps_before: list[int] = []
        """The values of the lap counter in the latest two lines without a running ball."""
        self._laps_unproven = 0

    @property
    def counters(self) -> dict[str, int]:
        """The counts of lines that no second line confirmed, of bare numbers that belong to no run, and of runs whose
        lap count is impossible for a ball."""
        return {
            "lone_spin": self._order.lone_lines,
            "stray_bare": self._bare.stray,
            "laps_unproven": self._laps_unproven,
        }

    @property
    def holds_a_line(self) -> bool:
        """Whether the latest line is not used yet, because it waits for a second one."""
        return self._order.holds_a_line

    def interrupted(self) -> None:
        """Remember that lines may be missing here. A run in progress was then not read completely."""
        self._order.gap = True
        self._speed.interrupted()
        if self._run:
            self._run.interrupted()

    def bare(self, line: BareNumber, host_ns: int) -> Events:
        """Process a bare number."""
        if not self._bare.expected:
            self._bare.stray += 1
            return
        self._bare.add(line.number)
        last = self._order.last
        if last and last.state is StateCode.WINNING_NUMBER:
            yield from self._settle(last, line.number, host_ns)

    def status(self, status: Status, host_ns: int) -> Events:
        """Process a status line."""
        last = self._order.last
        order = self._order.place(status)
        if order is LinePlace.HELD:
            return
        if last is None:
            yield e.Connected(host_ns, status.state, status.spin, status.number)
        elif order is LinePlace.JUMP:
            yield from self._jump(last, status, host_ns)
        yield from self._warned(last, status, host_ns)
        if last is not None:
            if self._run and (status.state, status.spin) != (last.state, last.spin):
                yield from self._end(self._run, last, status, host_ns)
            if status.state is not last.state:
                yield e.GameState(host_ns, status.state, status.spin)
        if status.state in _RUNNING:
            yield from self._running(last, status, host_ns)
        yield e.RotorSpeed(host_ns, self._speed.read(status.rotor_decirpm), status.rotor)
        self._order.used(status)
        if status.state in _RUNNING or status.extended is None:
            self._laps_before = []
        else:
            self._laps_before = [*self._laps_before[-1:], status.extended.laps]
        if status.state is StateCode.WINNING_NUMBER:
            yield from self._result(last, status, host_ns)
        else:
            self._bare.other_line()

    def _jump(self, last: Status, status: Status, host_ns: int) -> Events:
        """Process a line that does not follow from earlier lines. A run in progress ends without a number."""
        if status.number is None:
            yield e.WheelRestarted(host_ns, last.spin, status.spin)
        elif status.spin == last.spin:
            yield e.NumberDisagrees(host_ns, status.spin, last.number, status.number)
        else:
            yield e.UnobservedCoup(host_ns, last.spin, status.spin, last.number, status.number)
        self._order.jumped(status)
        self._run = None
        self._bare.waiting.clear()
        self._speed.interrupted()

    # --- warnings ----------------------------------------------------------------------------------------------------

    def _warned(self, last: Status | None, status: Status, host_ns: int) -> Events:
        before = last.flags if last else _NO_FLAGS
        if status.flags != before or (status.flags and self._order.gap):  # after a gap the warnings are reported again
            yield e.Warned(host_ns, status.flags)
        if Flag.VOID_GAME in status.flags and self._run:
            yield from self._void(self._run, "void_game", status, host_ns)
        elif Flag.VOID_GAME in status.flags - before and status.state is StateCode.PLACE_BETS:
            yield e.WheelVoid(host_ns, status.spin, "void_game", status.flags)
        yield from self._faults.line(status.flags, host_ns)

    def _void(self, run: HeadRun, why: e.VoidReason, status: Status, host_ns: int) -> Events:
        if not run.is_void and not run.number.is_settled:
            run.is_void = True
            yield e.WheelVoid(host_ns, run.spin, why, status.flags)

    # --- the run of the ball -----------------------------------------------------------------------------------------

    def _running(self, last: Status | None, status: Status, host_ns: int) -> Events:
        run = self._run
        if run is None:
            from_launch = not self._order.gap and last is not None and last.state in _BEFORE_LAUNCH
            before = min(self._laps_before, default=0)
            run = HeadRun(status, from_launch=from_launch, laps_before=before, automatic=self._automatic)
            self._run = run
            yield e.BallSeen(host_ns, run.spin)
        was_broken = run.count.broken
        yield from run.line(status, host_ns)
        self._laps_unproven += run.count.broken and not was_broken
        for why in run.warnings.line(status, host_ns):
            yield from self._void(run, why, status, host_ns)
        yield from run.enter(status.state, host_ns)

    def _end(self, run: HeadRun, last: Status, status: Status, host_ns: int) -> Events:
        """End the run, unless it continues with this line."""
        if last.state is StateCode.WINNING_NUMBER:
            if not run.number.is_settled:
                bare = min(self._bare.waiting, default=None)
                yield e.NumberDisagrees(host_ns, run.spin, bare, last.number)
            yield from self._disagreed(run, run.number.correct(status.number), host_ns)
        elif status.spin == last.spin and (status.state in _RUNNING or status.state is StateCode.WINNING_NUMBER):
            return
        else:
            yield from self._void(run, "no_number", status, host_ns)
        self._run = None
        self._bare.waiting.clear()

    # --- the number --------------------------------------------------------------------------------------------------

    def _result(self, last: Status | None, status: Status, host_ns: int) -> Events:
        """Process a line in state 5."""
        is_known, self._order.result_spin = self._order.result_spin == status.spin, status.spin
        if self._run:
            self._run.number.called()
        elif last is not None and not is_known:
            yield e.UnobservedCoup(host_ns, status.spin, status.spin, last.number, status.number)
        yield from self._settle(status, status.number, host_ns)

    def _settle(self, status: Status, shown: int | None, host_ns: int) -> Events:
        """Report the number if lines now agree on it. `shown`: the number in this line, which may be a bare number."""
        run = self._run
        if run is None or run.number.is_settled:
            self._bare.drop()
        if run is None:
            return
        if run.number.is_settled:
            yield from self._disagreed(run, run.number.correct(shown), host_ns)
            return
        found = run.number.settle(status.number, self._bare)
        if isinstance(found, int):
            self._order.number_reported = found
            yield e.Number(host_ns, found, run.spin, run.whole)
        else:
            yield from self._disagreed(run, found, host_ns)

    def _disagreed(self, run: HeadRun, found: NumberDisagreement | None, host_ns: int) -> Events:
        if found:
            yield e.NumberDisagrees(host_ns, run.spin, found.bare, found.status)
