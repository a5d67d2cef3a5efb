"""Warnings of a SlingShot 2 that void a game when they last too long (its guide, 4.1).

A Mercury 360 has neither of these bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh.events import VoidReason
from firmware_protocol.cammegh.laps import LINE_NS
from firmware_protocol.cammegh.status import Flag, StateCode, Status

BALL_LOST_NS = 5_000_000_000
"""In state 4 a ball not detected is ignored for 5 s, or 10 messages. Single lines of it are common (1.8)."""
LAUNCH_FAILED_NS = 3_000_000_000
"""A failed launch may be ignored for the first 3 s of state 3."""


class Spell:
    """How long a condition has held in every line, in the wheel's time."""

    def __init__(self, *, automatic: bool) -> None:
        self._automatic = automatic
        self._lines = 0
        self._since_ns = 0

    def lasted_ns(self, host_ns: int, *, holds: bool) -> int:
        """How long it has held with this line; 0 when it does not hold.

        Lines that come by themselves are counted, because a host that was held up reads many at once. Answers to polls
        are dated, because they come when the host asks.
        """
        if not holds:
            self._lines = 0
            return 0
        if not self._lines:
            self._since_ns = host_ns
        self._lines += 1
        return self._lines * LINE_NS if self._automatic else host_ns - self._since_ns


class VoidWarnings:
    """Those of one run. `automatic`: lines come by themselves, every 500 ms."""

    def __init__(self, *, automatic: bool) -> None:
        self._ball_lost = Spell(automatic=automatic)
        self._in_rim = Spell(automatic=automatic)

    def line(self, status: Status, host_ns: int) -> Iterator[VoidReason]:
        """Why the game is void by this line."""
        in_rim_ns = self._in_rim.lasted_ns(host_ns, holds=status.state is StateCode.BALL_IN_RIM)
        is_lost = status.state is StateCode.NO_MORE_BETS and Flag.BALL_NOT_DETECTED in status.flags
        lost_ns = self._ball_lost.lasted_ns(host_ns, holds=is_lost)
        is_late = in_rim_ns > LAUNCH_FAILED_NS or status.state is not StateCode.BALL_IN_RIM
        if Flag.LAUNCH_FAILED in status.flags and is_late:
            yield "launch_failed"
        if lost_ns >= BALL_LOST_NS:
            yield "ball_not_detected"
