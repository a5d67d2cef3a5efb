"""Virtual time: runs planned acts in the order of their times."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

Act: TypeAlias = Callable[[], object]


class Timeline:
    """All planned acts. Acts with the same time run in the order in which they were planned."""

    def __init__(self) -> None:
        self.now_us = 0
        self._due: list[tuple[int, int, Act]] = []
        self._count = 0

    def at(self, t_us: int, act: Act) -> None:
        """Plan `act` for `t_us`, or for now if that time is past."""
        self._count += 1
        heapq.heappush(self._due, (max(t_us, self.now_us), self._count, act))

    def after_s(self, seconds: float, act: Act) -> None:
        """Plan `act` for `seconds` from now."""
        self.at(self.now_us + round(seconds * 1e6), act)

    def step(self) -> None:
        """Run the next act."""
        self.now_us, _, act = heapq.heappop(self._due)
        act()

    def pass_to(self, t_us: int | None, *, woken: Callable[[], object]) -> None:
        """Let time pass until `t_us` (None: no limit), or until `woken` returns true because there is work to do."""
        while not woken():
            if t_us is not None and (not self._due or self._due[0][0] > t_us):
                self.now_us = max(self.now_us, t_us)
                return
            self.step()
