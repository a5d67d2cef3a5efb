"""The rotor's speed by the speed field of a status line (docs/wheels.md 1.8).

The field has three digits of 0.1 rpm and shows `000` both for a rotor that stands and for one above 99.9 rpm. The speed
before it decides which. The field wraps only after speeds near 99.9 rpm, because no recorded rotor gained more than ten
rpm from line to line. A hand stops a rotor of any usual speed within one line.
"""

from __future__ import annotations

SLOW_DECIRPM_MAX = 400
"""A `000` after this or less is a rotor that stands. Wheels turn at 10 to 30 rpm, the handbook's at 21.9, and a Mercury
warns outside that; from 40 rpm the fastest runaway on record takes three seconds, six lines, to 99.9 rpm."""


class SpeedField:
    """Reads the speed field, line by line."""

    def __init__(self) -> None:
        self._is_slow = False

    def interrupted(self) -> None:
        """Lines may be missing here: what came before explains nothing."""
        self._is_slow = False

    def read(self, decirpm: int) -> float | None:
        """The speed in rpm, None for a `000` that may also be a rotor above 99.9 rpm."""
        if decirpm:
            self._is_slow = decirpm <= SLOW_DECIRPM_MAX
            return decirpm / 10
        return 0.0 if self._is_slow else None
