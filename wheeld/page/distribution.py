"""The distribution of a figure: a count for each range."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import accumulate


class Distribution:
    """Counts of figures in the ranges between ascending `bounds`. Each bound belongs to the range below it.

    `total` is the sum of all figures.
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.total = 0.0
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)

    def add(self, figure: float) -> None:
        """Count one more figure."""
        self._counts[bisect_left(self._bounds, figure)] += 1
        self.total += figure

    @property
    def at_most(self) -> list[tuple[float, int]]:
        """The number of figures up to each bound. The last bound is infinite."""
        return list(zip((*self._bounds, math.inf), accumulate(self._counts), strict=True))
