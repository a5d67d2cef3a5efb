"""What the lap count of extended lines proves of one run (wheels.md 1.6, field 8).

A count is believed only while it does what a ball can do: it begins with the run, and grows no faster than a ball runs.
One that stood at a figure before the launch and goes on from there counts something else; one that never grows proves
the one revolution that a run begins with; one that two lines have smaller than before began anew, with another launch.
"""

from __future__ import annotations

LINE_NS = 500_000_000
"""Between lines that come by themselves (1.2): so much the ball ran at least per line, though many be read at once."""
FIRST_LAPS_MAX = 3
"""In the first line of a run: the one revolution that state 3 means (1.3), and what a ball runs until it is told."""
LAPS_PER_S_MAX = 3
"""A hard throw: a ball's first laps take more than a third of a second."""
FIRST_LAPS_PROVEN = 1
"""By a count that is there and does not grow: state 3 is one revolution (1.3)."""
LINES_AGREE = 2
"""A line has no checksum (1.1)."""
LEAPS_MAX = 1
"""A single line that leaps ahead is a damaged one and no witness; two in a row are a count that does not count."""


class LapCount:
    """Told every extended line of a run in states 3 and 4."""

    def __init__(self) -> None:
        self.laps: int | None = None
        """The most that two believed lines in a row counted; None when none counted, or when the count is broken."""
        self.broken = False
        """The count did what no ball can do: it proves nothing of this run."""
        self.stood_at = 0
        """What two lines before the launch showed, where they did."""
        self._first: int | None = None
        self._falls = 0
        self._before: int | None = None
        self._most: int | None = None
        self._most_ns = 0
        self._lines = 0
        self._leaps = 0

    def interrupted(self) -> None:
        """Lines may be missing here: what two lines bore out may be another launch's. A Mercury counts on."""
        self.laps = self._before = None

    def unheard(self) -> None:
        """A line that shows no count: the next bears out none before it."""
        self._before = None

    def more(self, laps: int, host_ns: int) -> int | None:
        """The laps now borne out by two lines, when this line made them more."""
        if self.broken or not self._believes(laps, host_ns):
            return None
        before, self._before = self._before, laps
        proven = 0 if before is None else min(before, laps)
        if self._most == self._first:
            proven = min(proven, FIRST_LAPS_PROVEN)
        if self.laps is not None and proven <= self.laps:
            return None
        self.laps = proven
        return proven or None

    def _believes(self, laps: int, host_ns: int) -> bool:
        self._lines += 1
        if laps > self._possible(host_ns):
            self._leaps += 1
            if self._most is None or self._leaps > LEAPS_MAX:
                self._break()
            return False
        self._leaps = 0
        if self._goes_on_from_before(laps) or self._has_begun_anew(laps):
            self._break()
            return False
        if self._most is None or laps >= self._most:
            self._most, self._most_ns, self._lines = laps, host_ns, 0
        return True

    def _break(self) -> None:
        self.broken, self.laps = True, None

    def _goes_on_from_before(self, laps: int) -> bool:
        """Whether the run's first line has what stood there before the launch, or more."""
        is_first, self._first = self._first is None, laps if self._first is None else self._first
        return is_first and 0 < self.stood_at <= laps

    def _has_begun_anew(self, laps: int) -> bool:
        """Whether two lines in a row have less than two lines proved before. One is a damaged one; and at 0 it has
        ended, and what it counted stays (1.6)."""
        self._falls = self._falls + 1 if self.laps is not None and 0 < laps < self.laps else 0
        return self._falls >= LINES_AGREE

    def _possible(self, host_ns: int) -> float:
        """The most a ball can have run by now, one lap more for where in a lap the count began."""
        if self._most is None:
            return FIRST_LAPS_MAX
        ran_ns = max(host_ns - self._most_ns, self._lines * LINE_NS)
        return self._most + LAPS_PER_S_MAX * ran_ns / 1e9 + 1
