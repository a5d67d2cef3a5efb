"""Sensors that report more often than a ball, or a coin, can: they fail, and what they report counts for nothing.

A loose wire, or a beam aimed at the edge of something, gives hundreds of pulses a second. All times are the sensing
clock's.
"""

from __future__ import annotations

from collections import deque

PULSES = 30
WITHIN_US = 1_000_000
"""The fastest ball passes a beam three times a second, and each pass may pulse twice; a hand that plays over a beam
makes ten. Thirty in a second are neither."""
QUIET_US = 5_000_000
"""Without so many in any second, for so long, the sensor works again: a loose wire pauses for a second or two."""


class ChatterGuard:
    """Knows how often each sensor reports, by name."""

    def __init__(self) -> None:
        self._recent: dict[str, deque[int]] = {}
        self._dense_us: dict[str, int] = {}

    @property
    def chattering(self) -> tuple[str, ...]:
        """The sensors that report too often, by name."""
        return tuple(self._dense_us)

    def counts(self, sensor: str, t_us: int) -> bool:
        """Whether what `sensor` reports at `t_us` counts."""
        recent = self._recent.setdefault(sensor, deque(maxlen=PULSES))
        recent.append(t_us)
        if len(recent) == PULSES and t_us - recent[0] < WITHIN_US:
            self._dense_us[sensor] = t_us
        return sensor not in self._dense_us

    def quiet(self, t_us: int) -> list[str]:
        """The sensors that chattered, and have not for long enough at `t_us`."""
        quiet = [sensor for sensor, dense_us in self._dense_us.items() if t_us - dense_us >= QUIET_US]
        for sensor in quiet:
            del self._dense_us[sensor]
        return quiet
