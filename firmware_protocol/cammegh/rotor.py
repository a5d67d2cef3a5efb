"""What the speed field of a status line proves of the rotor (wheels.md 1.8).

The field has three digits of 0.1 rpm and shows `000` both for a rotor that stands and for one above 99.9 rpm. Which it
is, only the readings before can tell: the field wraps after readings near 99.9 rpm, since no rotor that was seen gained
more than ten rpm from line to line, while a hand stops a rotor of any usual speed within one.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware_protocol.cammegh.events import Event, RotorSpeed, RotorStopped
from firmware_protocol.cammegh.status import Direction, Status

SLOW_DECIRPM_MAX = 400
"""A `000` after this or less is a rotor that stands. Wheels turn at 10 to 30 rpm, the handbook's at 21.9, and a Mercury
warns outside that; from 40 rpm the fastest runaway on record takes three seconds, six lines, to 99.9 rpm."""


class RotorWatch:
    """Follows the speed field, line by line."""

    def __init__(self) -> None:
        self._slow = False
        self._standing_lines = 0
        self._run_rotor: Direction | None = None
        self._reversed_lines = 0
        self._told_stopped = False

    def run_begins(self) -> None:
        """The ball runs from here on: a stop counts, and so does another direction than that of the next line."""
        self._run_rotor, self._reversed_lines, self._standing_lines = None, 0, 0
        self._told_stopped = False

    def interrupted(self) -> None:
        """Lines may be missing here: nothing follows from what came before."""
        self._slow = False
        self._standing_lines = 0

    def see(self, status: Status, host_ns: int, *, running: bool) -> Iterator[Event]:
        """What this line tells; `running`: the ball is on its way."""
        standing = status.rotor_decirpm == 0 and self._slow
        if status.rotor_decirpm:
            self._slow = status.rotor_decirpm <= SLOW_DECIRPM_MAX
        rpm = status.rotor_decirpm / 10 if status.rotor_decirpm or standing else None
        yield RotorSpeed(host_ns, rpm, status.rotor)
        if running:
            yield from self._stopped(status, host_ns, standing=standing)

    def _stopped(self, status: Status, host_ns: int, *, standing: bool) -> Iterator[Event]:
        self._run_rotor = self._run_rotor or status.rotor
        self._standing_lines = self._standing_lines + 1 if standing else 0
        self._reversed_lines = self._reversed_lines + 1 if status.rotor != self._run_rotor else 0
        if self._told_stopped or max(self._standing_lines, self._reversed_lines) < 2:
            return
        self._told_stopped = True
        yield RotorStopped(host_ns, status.spin, "slowed" if self._standing_lines >= 2 else "reversed")
