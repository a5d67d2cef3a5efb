"""The laps of one run by the count in extended lines (docs/wheels.md 1.6, field 8).

The count is used only while it does what a ball can do: it begins with the run and grows no faster than a ball runs.
A count that stood at a figure before the launch and goes on from there counts something else. A count that never grows
proves the one revolution with which a run begins. A count that two lines show smaller than before began again, with
another launch.
"""

from __future__ import annotations

LINE_NS = 500_000_000
"""Between lines that come by themselves (1.2): the ball ran at least so long per line, though many be read at once."""
FIRST_LAPS_MAX = 3
"""In the first line of a run: the one revolution that state 3 means (1.3), and what a ball runs until then."""
LAPS_PER_S_MAX = 3
"""A hard throw: a ball's first laps take more than a third of a second."""
FIRST_LAPS_PROVEN = 1
"""By a count that is there and does not grow: state 3 is one revolution (1.3)."""
LINES_AGREE = 2
"""A line has no checksum (1.1)."""
LEAPS_MAX = 1
"""A single line that leaps ahead is damaged and proves nothing; two in a row are a count that does not count laps."""


class LapCount:
    """The laps of one run, line by line. `shown_before`: what the lines before the launch showed, 0 where they showed
    none."""

    def __init__(self, shown_before: int) -> None:
        self.laps: int | None = None
        """The most that two good lines in a row counted; None when none did, or when the count is broken."""
        self.broken = False
        """The count did what no ball can do: it proves nothing of this run."""
        self._shown_before = shown_before
        self._first: int | None = None
        self._falls = 0
        self._before: int | None = None
        self._most: int | None = None
        self._most_ns = 0
        self._lines_since_most = 0
        self._leaps = 0

    def interrupted(self) -> None:
        """Lines may be missing here: what two lines showed may be another launch's. A Mercury counts on."""
        self.laps = self._before = None

    def line_without_count(self) -> None:
        """A line shows no count: the next one has none before it to agree with."""
        self._before = None

    def count(self, laps: int, host_ns: int) -> int | None:
        """Take in what a line shows. Returns the laps that two lines now agree on, when these are more than before."""
        if self.broken:
            return None
        self._lines_since_most += 1
        if laps > self._laps_possible(host_ns):
            self._leaps += 1
            if self._most is None or self._leaps > LEAPS_MAX:
                self._break()
            return None
        self._leaps = 0
        is_first = self._first is None
        if is_first:
            self._first = laps
        self._falls = self._falls + 1 if self._is_less_than_proven(laps) else 0
        if (is_first and self._goes_on_from_before(laps)) or self._falls >= LINES_AGREE:
            self._break()
            return None
        if self._most is None or laps >= self._most:
            self._most, self._most_ns, self._lines_since_most = laps, host_ns, 0
        return self._agreed(laps)

    def _break(self) -> None:
        self.broken, self.laps = True, None

    def _laps_possible(self, host_ns: int) -> float:
        """The most a ball can have run by now, one lap more because the count may have begun anywhere in a lap."""
        if self._most is None:
            return FIRST_LAPS_MAX
        ran_ns = max(host_ns - self._most_ns, self._lines_since_most * LINE_NS)
        return self._most + LAPS_PER_S_MAX * ran_ns / 1e9 + 1

    def _goes_on_from_before(self, laps: int) -> bool:
        """Whether the run's first line shows what stood there before the launch, or more."""
        return 0 < self._shown_before <= laps

    def _is_less_than_proven(self, laps: int) -> bool:
        """One such line is damaged, two are another run. At 0 the run has ended, and what it counted stays (1.6)."""
        return self.laps is not None and 0 < laps < self.laps

    def _agreed(self, laps: int) -> int | None:
        before, self._before = self._before, laps
        proven = 0 if before is None else min(before, laps)
        if self._most == self._first:
            proven = min(proven, FIRST_LAPS_PROVEN)
        if self.laps is not None and proven <= self.laps:
            return None
        self.laps = proven
        return proven or None
