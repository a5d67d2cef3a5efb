"""The number of one run. Two lines must agree on it, and two other lines can take it back (docs/wheels.md 1.5).

The two lines are the bare number and `*X;5`, or two `*X;5` in a row on a port without bare numbers.
"""

from __future__ import annotations

import msgspec

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
        """The number was reported, or it was reported that there is none."""
        self._before = before
        self._reported: int | None = None
        self._lines = 0
        self._shown: int | None = None
        self._shown_after: int | None = None

    def called(self) -> None:
        """Count a line in state 5."""
        self._lines += 1

    def settle(self, shown: int | None, bare: BareNumbers) -> int | NumberDisagreement | None:
        """Return the number if two lines now agree on it, once for each run. `shown`: the number of the status line."""
        if bare.waiting - {shown}:
            self.is_settled = True
            return NumberDisagreement(min(bare.waiting - {shown}), shown)
        if shown is None or not self._agrees(shown, bare):
            return None
        self.is_settled, self._reported = True, shown
        bare.waiting.clear()
        return shown

    def correct(self, shown: int | None) -> NumberDisagreement | None:
        """Take back the reported number if two lines in a row, bare or not, show another one. Once for each run."""
        before, self._shown_after = self._shown_after, shown
        if None in (self._reported, shown) or shown == self._reported or shown != before:
            return None
        reported, self._reported = self._reported, None
        return NumberDisagreement(reported, shown)

    def _agrees(self, number: int, bare: BareNumbers) -> bool:
        """Return whether another line shows `number` too.

        Before state 5 every line shows the number of the previous game, and one damaged digit changes state 4 to
        state 5. So if the number is the same as before, two lines in state 5 are always needed.
        """
        is_second = self._lines >= 2
        before, self._shown = self._shown, number
        if bare.expected:
            return bool(bare.waiting) and (is_second or number != self._before)
        return is_second and before == number
