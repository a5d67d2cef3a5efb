"""Which sensors round the wheel something did not report that went round past all of them.

What goes round meets the sensors in the order of their angles. Where one is skipped, and the time says that the way was
that long, it missed. What comes too soon or too late for any way is a stray pulse and counts for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

TOLERANCE = 0.35
"""Of the way that the speed before foretells: a ball loses up to a quarter of its speed from one pass to the next."""
LAPS_MOST = 3
"""A longer way without any report is no row of misses: nobody looked."""
STRAYS_MOST = 2
"""After so many reports in a row that fit no way it is the report before them that was stray: it begins anew."""


def hops(
    reports: Sequence[tuple[int, int]], angles_deg: Sequence[float], *, forward: bool, speed_deg_s: float | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How often each sensor reported, and how often it missed.

    `reports`: (time in µs, sensor), in order. `forward`: it goes clockwise, as the angles grow. `speed_deg_s`: how fast
    it goes, where that is known and stays; else it follows from the reports.
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
    """The way round past the sensors."""

    def __init__(self, angles_deg: Sequence[float], *, forward: bool) -> None:
        self._angles_deg, self._sign = angles_deg, 1 if forward else -1
        self._order = sorted(range(len(angles_deg)), key=lambda sensor: self._sign * angles_deg[sensor])
        self._places = {sensor: at for at, sensor in enumerate(self._order)}

    def gone_deg(self, start: int, end: int, foretold_deg: float | None) -> float | None:
        """How far it went from one sensor to another; None when no number of laps fits what was foretold. Where nothing
        was, it was the shortest way."""
        least_deg = (self._angles_deg[end] - self._angles_deg[start]) * self._sign % 360 or 360.0
        if foretold_deg is None:
            return least_deg
        laps = round(min(LAPS_MOST, max(0.0, (foretold_deg - least_deg) / 360)))
        gone_deg = least_deg + 360 * laps
        return gone_deg if abs(gone_deg - foretold_deg) <= TOLERANCE * gone_deg else None

    def skipped(self, start: int, end: int, gone_deg: float) -> Iterator[int]:
        """The sensors between the two, in order, each as often as it was passed."""
        at, count = self._places[start], len(self._order)
        step = (self._places[end] - at) % count or count
        passed = step + count * (math.ceil(gone_deg / 360) - 1)
        return (self._order[(at + each) % count] for each in range(1, passed))
