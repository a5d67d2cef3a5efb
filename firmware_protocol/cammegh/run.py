"""One run of the ball: the facts that two lines in a row show."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.events import VoidReason
from firmware_protocol.cammegh.status import Direction, Flag, StateCode, Status

# These classes find the number of one run. Two lines must agree on the number, and two later lines can take it back
# (docs/wheels.md 1.5). The two lines are the bare number and `*X;5`, or two `*X;5` in a row on a port without bare
# numbers.

BARE_LINES_MAX = 2
"""The bare number comes just before the first `*X;5` (1.5), but the answer to a poll may come between them."""


class NumberDisagreement(msgspec.Struct, frozen=True):
    """The two different numbers that lines show. `bare` is None if no bare number came."""

    bare: int | None
    status: int | None


class BareNumbers:
    """The bare numbers that wait for their status line. `expected`: the port sends bare numbers."""

    def __init__(self, *, expected: bool) -> None:
        self.expected = expected
        self.stray = 0
        """How many bare numbers belonged to no run."""
        self.waiting: set[int] = set()
        self._lines_since = 0

    def add(self, number: int) -> None:
        """Add a bare number that has come."""
        self.waiting.add(number)
        self._lines_since = 0

    def other_line(self) -> None:
        """Count a status line that is not `*X;5`."""
        self._lines_since += 1
        if self._lines_since > BARE_LINES_MAX:
            self.drop()

    def drop(self) -> None:
        """Drop the waiting numbers, and count them as numbers of no run."""
        self.stray += len(self.waiting)
        self.waiting.clear()


class RunNumber:
    """The number of one run. `before`: the number of the previous game, which each line shows until state 5."""

    def __init__(self, before: int | None) -> None:
        self.is_settled = False
        """The number was reported, or it was reported that there is no number."""
        self._before = before
        self._reported: int | None = None
        self._lines = 0
        self._shown: int | None = None
        self._shown_after: int | None = None

    def called(self) -> None:
        """Count a line in state 5, which gives the number."""
        self._lines += 1

    def settle(self, shown: int | None, bare: BareNumbers) -> int | NumberDisagreement | None:
        """Return the number if two lines now agree on it, or the two numbers if they disagree. Each run gives only one
        of the two, and only once. `shown`: the number of the status line."""
        if bare.waiting - {shown}:
            self.is_settled = True
            return NumberDisagreement(min(bare.waiting - {shown}), shown)
        if shown is None:
            return None
        # Does another line show the number, too? Before state 5 every line shows the number of the previous game, and
        # one damaged digit changes state 4 to state 5. So if the number is the same as before, two lines in state 5 are
        # always needed.
        is_second = self._lines >= 2
        before, self._shown = self._shown, shown
        agrees = bool(bare.waiting) and (is_second or shown != self._before)
        if not (agrees if bare.expected else is_second and before == shown):
            return None
        self.is_settled, self._reported = True, shown
        bare.waiting.clear()
        return shown

    def correct(self, shown: int | None) -> NumberDisagreement | None:
        """Take back the reported number if two lines in a row, bare or not, show another number. This happens at most
        once in a run."""
        before, self._shown_after = self._shown_after, shown
        if None in (self._reported, shown) or shown == self._reported or shown != before:
            return None
        reported, self._reported = self._reported, None
        return NumberDisagreement(reported, shown)


# A SlingShot 2 has two warnings that make a game void if they last too long (4.1 of its guide). A Mercury 360 has
# neither of these warnings.

BALL_LOST_NS = 5_000_000_000
"""In state 4 "ball not detected" is ignored for 5 s, or 10 lines. Single lines with this warning are common (1.8)."""
LAUNCH_FAILED_NS = 3_000_000_000
"""The warning of a failed launch may be ignored for the first 3 s of state 3."""


class Spell:
    """Measures for how long all lines have shown a condition."""

    def __init__(self, *, automatic: bool) -> None:
        self._automatic = automatic
        self._lines = 0
        self._since_ns = 0

    def lasted_ns(self, host_ns: int, *, holds: bool) -> int:
        """Return how long the condition has lasted, this line included. 0 if the condition does not hold now.

        Lines that the wheel sends by itself are counted, because a host that was delayed reads many at once. For
        answers to polls the time is measured, because they come when the host asks.
        """
        if not holds:
            self._lines = 0
            return 0
        if not self._lines:
            self._since_ns = host_ns
        self._lines += 1
        return self._lines * LINE_NS if self._automatic else host_ns - self._since_ns


class VoidWarnings:
    """The warnings of one run. `automatic`: the wheel sends lines by itself, every 500 ms."""

    def __init__(self, *, automatic: bool) -> None:
        self._ball_lost = Spell(automatic=automatic)
        self._in_rim = Spell(automatic=automatic)

    def line(self, status: Status, host_ns: int) -> Iterator[VoidReason]:
        """Yield each reason for which this line makes the game void."""
        in_rim_ns = self._in_rim.lasted_ns(host_ns, holds=status.state is StateCode.BALL_IN_RIM)
        is_lost = status.state is StateCode.NO_MORE_BETS and Flag.BALL_NOT_DETECTED in status.flags
        lost_ns = self._ball_lost.lasted_ns(host_ns, holds=is_lost)
        is_late = in_rim_ns > LAUNCH_FAILED_NS or status.state is not StateCode.BALL_IN_RIM
        if Flag.LAUNCH_FAILED in status.flags and is_late:
            yield "launch_failed"
        if lost_ns >= BALL_LOST_NS:
            yield "ball_not_detected"


# This class takes the laps of one run from the count in extended lines (docs/wheels.md 1.6, field 8). The count is used
# only while it is possible for a ball: it begins with the run and grows no faster than a ball runs. A count that had a
# value before the launch and continues from this value counts something else. A count that never grows proves only the
# one revolution with which a run begins. If two lines show a smaller count than before, the count has begun again with
# another launch.

LINE_NS = 500_000_000
"""The time between automatic lines (1.2). For each line the ball ran this long, even if the host reads many lines at
once."""
FIRST_LAPS_MAX = 3
"""The most laps in the first line of a run: the one revolution of state 3 (1.3), and the laps until this line was
sent."""
LAPS_PER_S_MAX = 3
"""Even after a hard launch, a lap of the ball takes more than a third of a second."""
FIRST_LAPS_PROVEN = 1
"""The laps that a count proves although it does not grow, because state 3 means one revolution (1.3)."""
LINES_AGREE = 2
"""Two lines must agree, because a line has no checksum (1.1)."""
LEAPS_MAX = 1
"""A single line whose count is too high is damaged and proves nothing. After two such lines in a row, the field does
not count laps."""


class LapCount:
    """The laps of one run, line by line. `shown_before`: the count in the lines before the launch, 0 if they had
    none."""

    def __init__(self, shown_before: int) -> None:
        self.laps: int | None = None
        """The highest count that two good lines in a row showed. None before that, and if the count is broken."""
        self.broken = False
        """The count was impossible for a ball, so it proves nothing about this run."""
        self._shown_before = shown_before
        self._first: int | None = None
        self._falls = 0
        self._before: int | None = None
        self._most: int | None = None
        self._most_ns = 0
        self._lines_since_most = 0
        self._leaps = 0

    def interrupted(self) -> None:
        """Forget the laps, because lines may be missing and the laps may be of an earlier launch. A Mercury continues
        to count, so later lines show the laps again."""
        self.laps = self._before = None

    def line_without_count(self) -> None:
        """Process a line without a count. The next line then has no earlier count to agree with."""
        self._before = None

    def count(self, laps: int, host_ns: int) -> int | None:
        """Process the count of a line. Return the laps that two lines now agree on, if these are more than before."""
        if self.broken:
            return None
        self._lines_since_most += 1
        possible: float = FIRST_LAPS_MAX
        if self._most is not None:
            # The count may have begun anywhere in a lap, so one more lap is possible.
            ran_ns = max(host_ns - self._most_ns, self._lines_since_most * LINE_NS)
            possible = self._most + LAPS_PER_S_MAX * ran_ns / 1e9 + 1
        if laps > possible:
            self._leaps += 1
            if self._most is None or self._leaps > LEAPS_MAX:
                self._break()
            return None
        self._leaps = 0
        is_first = self._first is None
        if is_first:
            self._first = laps
        # One line with fewer laps than are proven is damaged. Two such lines in a row belong to another run. A line
        # with 0 laps means that the run has ended. The proven laps of the run still count (1.6).
        self._falls = self._falls + 1 if self.laps is not None and 0 < laps < self.laps else 0
        goes_on_from_before = is_first and 0 < self._shown_before <= laps
        if goes_on_from_before or self._falls >= LINES_AGREE:
            self._break()
            return None
        if self._most is None or laps >= self._most:
            self._most, self._most_ns, self._lines_since_most = laps, host_ns, 0
        before, self._before = self._before, laps
        proven = 0 if before is None else min(before, laps)
        if self._most == self._first:
            proven = min(proven, FIRST_LAPS_PROVEN)
        if self.laps is not None and proven <= self.laps:
            return None
        self.laps = proven
        return proven or None

    def _break(self) -> None:
        self.broken, self.laps = True, None


_ON_TRACK = frozenset({StateCode.BALL_IN_RIM, StateCode.NO_MORE_BETS})
"""The states in which the lap count and the direction are valid (1.6). In state 5 the count is back at 0."""


class HeadRun:
    """One run, which begins with a line in state 3, 4 or 7. `from_launch`: the line before showed that no ball ran.
    `laps_before`: the lap counter before the run."""

    def __init__(self, first: Status, *, from_launch: bool, laps_before: int, automatic: bool) -> None:
        self.spin = first.spin
        self.number = RunNumber(first.number)
        self.warnings = VoidWarnings(automatic=automatic)
        self.count = LapCount(laps_before)
        self.is_void = False
        """`WheelVoid` was reported."""
        self._from_launch = from_launch
        self._states: set[StateCode] = set()
        self._ball: Direction | None = None
        self._directions_before: tuple[Direction, Direction] | None = None

    @property
    def whole(self) -> bool:
        """Whether all lines of the run were read, from before the launch through states 3 and 4, without a silence."""
        return self._from_launch and self._states >= _ON_TRACK

    def interrupted(self) -> None:
        """Forget the laps and directions, because lines may be missing here.

        The ball may have been launched again with the same spin number, so what earlier lines showed may belong to
        another run. A Mercury continues to count, so its next lines prove the laps of the current run.
        """
        self._from_launch = False
        self.count.interrupted()
        self._ball = self._directions_before = None

    def line(self, status: Status, host_ns: int) -> Iterator[e.Event]:
        """Report what a line shows about the running ball, together with the line before it."""
        if status.state in _ON_TRACK and status.extended:
            reported = self.count.laps
            if laps := self.count.count(status.extended.laps, host_ns):
                yield e.Laps(host_ns, self.spin, laps)
            elif reported and self.count.broken:
                yield e.Laps(host_ns, self.spin, 0)
            before, self._directions_before = self._directions_before, (status.extended.ball, status.rotor)
            if self._ball != status.extended.ball and before == (status.extended.ball, status.rotor):
                self._ball = status.extended.ball
                yield e.BallDirection(host_ns, self.spin, status.extended.ball, status.rotor)
        else:
            self._directions_before = None
            self.count.line_without_count()

    def enter(self, state: StateCode, host_ns: int) -> Iterator[e.Event]:
        """Note the state of the line, and report the first line in which the ball is off the track."""
        if state is StateCode.BALL_OFF_TRACK and state not in self._states:
            yield e.BallOffTrack(host_ns, self.spin)
        self._states.add(state)
