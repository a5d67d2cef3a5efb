"""The number of one run: two lines must agree on it, and two others can take it back (docs/wheels.md 1.5).

The two are the bare number and `*X;5`, or on a port without bare numbers two `*X;5` in a row.
"""

from __future__ import annotations

import msgspec

BARE_LINES_MAX = 2
"""The bare number comes just before the first `*X;5` (1.5); the answer to a poll may come between them."""


class NumberDisagreement(msgspec.Struct, frozen=True):
    """What the two lines show instead of one number; `bare` None: no bare number came."""

    bare: int | None
    status: int | None


class BareNumbers:
    """The bare numbers that wait for their status line. `expected`: this port gives them."""

    def __init__(self, *, expected: bool) -> None:
        self.expected = expected
        self.stray = 0
        """Those that belong to no run."""
        self.waiting: set[int] = set()
        self._lines_since = 0

    def add(self, number: int) -> None:
        """One has come."""
        self.waiting.add(number)
        self._lines_since = 0

    def other_line(self) -> None:
        """A status line has come that is not `*X;5`."""
        self._lines_since += 1
        if self._lines_since > BARE_LINES_MAX:
            self.drop()

    def drop(self) -> None:
        """They belong to no run."""
        self.stray += len(self.waiting)
        self.waiting.clear()


class RunNumber:
    """Of one run. `before`: the number of the game before, which each line shows until state 5."""

    def __init__(self, before: int | None) -> None:
        self.is_settled = False
        """A number, or that there is none, was reported."""
        self._before = before
        self._reported: int | None = None
        self._lines = 0
        self._shown: int | None = None
        self._shown_after: int | None = None

    def called(self) -> None:
        """A line in state 5 has come."""
        self._lines += 1

    def settle(self, shown: int | None, bare: BareNumbers) -> int | NumberDisagreement | None:
        """The number, when two lines now agree on it; `shown` by the status line. Once a run."""
        if bare.waiting - {shown}:
            self.is_settled = True
            return NumberDisagreement(min(bare.waiting - {shown}), shown)
        if shown is None or not self._agrees(shown, bare):
            return None
        self.is_settled, self._reported = True, shown
        bare.waiting.clear()
        return shown

    def correct(self, shown: int | None) -> NumberDisagreement | None:
        """Take back the reported number when two lines in a row, bare or not, show another one; once a run."""
        before, self._shown_after = self._shown_after, shown
        if None in (self._reported, shown) or shown == self._reported or shown != before:
            return None
        reported, self._reported = self._reported, None
        return NumberDisagreement(reported, shown)

    def _agrees(self, number: int, bare: BareNumbers) -> bool:
        """Whether another line shows `number` too.

        The number of the game before stands in every line, and one wrong digit makes a 4 a 5: for it two lines in
        state 5 are needed in any case.
        """
        is_second = self._lines >= 2
        before, self._shown = self._shown, number
        if bare.expected:
            return bool(bare.waiting) and (is_second or number != self._before)
        return is_second and before == number
