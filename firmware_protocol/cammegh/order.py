"""Decide whether a status line follows from the line before it (docs/wheels.md 1.2, 1.8)."""

from __future__ import annotations

from enum import Enum, unique

from firmware_protocol.cammegh.status import Product, StateCode, Status, spin_after


@unique
class LinePlace(Enum):
    """How a line relates to the lines before it."""

    FIRST = "first"
    """No line was read before it."""
    NEXT = "next"
    """It follows from the line before."""
    HELD = "held"
    """It does not follow. A line has no checksum, so a second line must show the same before it is used."""
    JUMP = "jump"
    """It confirms a held line: the wheel continued, or was switched off, while its lines were not read."""


class LineOrder:
    """Compares spin number and last number of each line with the line before."""

    def __init__(self, product: Product) -> None:
        self.last: Status | None = None
        """The latest line that was used."""
        self.gap = False
        """Lines may be missing since `last`."""
        self.result_spin: int | None = None
        """The spin number of the latest game with a line in state 5."""
        self.number_reported: int | None = None
        """The latest number that was reported. A line with this number follows even if the line before was damaged."""
        self.lone_lines = 0
        """Lines that no second line confirmed."""
        self._product = product
        self._held: Status | None = None

    @property
    def holds_a_line(self) -> bool:
        """Whether the latest line waits for a second one."""
        return self._held is not None

    def place(self, status: Status) -> LinePlace:
        """Return how `status` relates to the lines before it. Keep it back if it cannot come directly after them."""
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
        """Note that this line does not follow from the lines before it."""
        self.gap, self.number_reported = True, None
        self.result_spin = status.spin if status.state is StateCode.WINNING_NUMBER else None

    def _follows(self, last: Status, status: Status) -> bool:
        """Whether `status` follows. The next spin number follows a result, or a game that was read and had none."""
        if status.spin != last.spin:
            was_heard = self.result_spin == last.spin or not self.gap
            if status.spin != spin_after(self._product, last.spin) or not was_heard:
                return False
        is_reported = status.number is not None and status.number == self.number_reported
        return status.number == last.number or is_reported or status.state is StateCode.WINNING_NUMBER

    def _drop_held(self) -> None:
        self.lone_lines += self._held is not None
        self._held = None
