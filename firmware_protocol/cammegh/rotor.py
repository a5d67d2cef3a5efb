"""The rotor's speed from the speed field of a status line (docs/wheels.md 1.8).

The field has three digits of 0.1 rpm and shows `000` both for a rotor that stands and for one above 99.9 rpm. The speed
before it shows which is true. The field overflows only after speeds near 99.9 rpm, because no recorded rotor gained
more than ten rpm between two lines. A hand can stop a rotor of any usual speed between two lines.
"""

from __future__ import annotations

SLOW_DECIRPM_MAX = 400
"""A `000` after this speed or less means that the rotor stands. Wheels turn at 10 to 30 rpm (21.9 in the handbook); a
Mercury warns outside this range. The fastest recorded runaway takes three seconds, six lines, from 40 to 99.9 rpm."""


class SpeedField:
    """Reads the speed field, line by line."""

    def __init__(self) -> None:
        self._is_slow = False

    def interrupted(self) -> None:
        """Forget the previous speed, because lines may be missing here."""
        self._is_slow = False

    def read(self, decirpm: int) -> float | None:
        """Return the speed in rpm. None for a `000` that may also mean a speed above 99.9 rpm."""
        if decirpm:
            self._is_slow = decirpm <= SLOW_DECIRPM_MAX
            return decirpm / 10
        return 0.0 if self._is_slow else None
