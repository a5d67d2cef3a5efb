"""Which sensors round the wheel missed a ball that went past all of them.

A ball that goes round passes the sensors in the order of their angles. If a sensor is skipped, and the time fits the
longer way, the sensor missed the ball. A report that is too early or too late for any way is a stray pulse, and
ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

TOLERANCE = 0.35
"""How much the ball's way between two reports may differ from the predicted way, as a part of it. From one pass to the
next a ball loses up to a quarter of its speed."""
LAPS_MOST = 3
"""The most laps between two reports. A longer way without reports is no row of misses: the ball was not observed."""
STRAYS_MOST = 2
"""After this many reports in a row that fit no way, the report before them was the stray one. The next begins anew."""


def hops(
    reports: Sequence[tuple[int, int]], angles_deg: Sequence[float], *, forward: bool, speed_deg_s: float | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how often each sensor reported, and how often it missed.

    `reports`: (time in µs, sensor), in order. `forward`: whether the ball goes clockwise, in the direction of growing
    angles. `speed_deg_s`: its speed, if that is known and constant. Otherwise the speed is computed from the reports.
    """
    way = _Way(angles_deg, forward=forward)
    seen, missed = [0] * len(angles_deg), [0] * len(angles_deg)
    last: tuple[int, int] | None = None
    speed, strays = speed_deg_s, 0
    for t_us, sensor in reports:
        if last is None or strays == STRAYS_MOST:
            seen[sensor] += 1
            last, speed, strays = (t_us, sensor), speed_deg_s, 0
            continue
        seconds = (t_us - last[0]) / 1e6
        gone_deg = way.gone_deg(last[1], sensor, None if speed is None else speed * seconds)
        if gone_deg is None or seconds <= 0:
            strays += 1
            continue
        for skipped in way.skipped(last[1], sensor, gone_deg):
            missed[skipped] += 1
        seen[sensor] += 1
        speed = gone_deg / seconds if speed_deg_s is None else speed_deg_s
        last, strays = (t_us, sensor), 0
    return tuple(seen), tuple(missed)


class _Way:
    def __init__(self, angles_deg: Sequence[float], *, forward: bool) -> None:
        self._angles_deg, self._sign = angles_deg, 1 if forward else -1
        self._order = sorted(range(len(angles_deg)), key=lambda sensor: self._sign * angles_deg[sensor])
        self._places = {sensor: at for at, sensor in enumerate(self._order)}

    def gone_deg(self, start: int, end: int, foretold_deg: float | None) -> float | None:
        """Return how far the ball went. None if no number of laps fits. Without `foretold_deg`: the shortest way."""
        least_deg = (self._angles_deg[end] - self._angles_deg[start]) * self._sign % 360 or 360.0
        if foretold_deg is None:
            return least_deg
        laps = round(min(LAPS_MOST, max(0.0, (foretold_deg - least_deg) / 360)))
        gone_deg = least_deg + 360 * laps
        return gone_deg if abs(gone_deg - foretold_deg) <= TOLERANCE * gone_deg else None

    def skipped(self, start: int, end: int, gone_deg: float) -> Iterator[int]:
        """Return the sensors between the two, in order, each as often as it was passed."""
        at, count = self._places[start], len(self._order)
        step = (self._places[end] - at) % count or count
        passed = step + count * (math.ceil(gone_deg / 360) - 1)
        return (self._order[(at + each) % count] for each in range(1, passed))
