"""The laps of one run, from the count in extended lines (docs/wheels.md 1.6, field 8).

The count is used only while it is possible for a ball: it begins with the run and grows no faster than a ball runs. A
count that had a value before the launch and continues from it counts something else. A count that never grows proves
only the one revolution with which a run begins. If two lines show a smaller count than before, the count has begun
again with another launch.
"""

from __future__ import annotations

LINE_NS = 500_000_000
"""The time between automatic lines (1.2). The ball ran this long for each line, even if many lines are read at once."""
FIRST_LAPS_MAX = 3
"""The limit in the first line of a run: the one revolution of state 3 (1.3), and the laps before this line was sent."""
LAPS_PER_S_MAX = 3
"""Even after a hard launch, a lap of the ball takes more than a third of a second."""
FIRST_LAPS_PROVEN = 1
"""The laps that a count proves although it does not grow, because state 3 means one revolution (1.3)."""
LINES_AGREE = 2
"""Two lines must agree, because a line has no checksum (1.1)."""
LEAPS_MAX = 1
"""A single line with too high a count is damaged and proves nothing. After two in a row the count is not of laps."""


class LapCount:
    """The laps of one run, line by line. `shown_before`: the count in the lines before the launch, 0 if they had
    none."""

    def __init__(self, shown_before: int) -> None:
        self.laps: int | None = None
        """The highest count that two good lines in a row showed. None if there is none, or if the count is broken."""
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
        """Forget the laps, which may be of an earlier launch: lines may be missing. A Mercury continues to count."""
        self.laps = self._before = None

    def line_without_count(self) -> None:
        """Process a line without a count. The next line then has no earlier count to agree with."""
        self._before = None

    def count(self, laps: int, host_ns: int) -> int | None:
        """Process the count of a line. Return the laps that two lines now agree on, if these are more than before."""
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
        # One line with fewer laps than proven is damaged. Two belong to another run. 0 means that the run has ended,
        # and its laps remain (1.6).
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

    def _laps_possible(self, host_ns: int) -> float:
        """Return the most laps possible by now, plus one, because the count may have begun anywhere in a lap."""
        if self._most is None:
            return FIRST_LAPS_MAX
        ran_ns = max(host_ns - self._most_ns, self._lines_since_most * LINE_NS)
        return self._most + LAPS_PER_S_MAX * ran_ns / 1e9 + 1
