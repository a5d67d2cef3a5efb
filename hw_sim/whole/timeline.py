"""Virtual time: what happens, in the order of its times."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

Act: TypeAlias = Callable[[], object]


class Timeline:
    """Everything that is going to happen. What has the same time happens in the order in which it was planned."""

    def __init__(self) -> None:
        self.now_us = 0
        self._due: list[tuple[int, int, Act]] = []
        self._count = 0

    def at(self, t_us: int, act: Act) -> None:
        """Do it at that time, or at once when that is past."""
        self._count += 1
        heapq.heappush(self._due, (max(t_us, self.now_us), self._count, act))

    def after_s(self, seconds: float, act: Act) -> None:
        """Do it so much later."""
        self.at(self.now_us + round(seconds * 1e6), act)

    def step(self) -> None:
        """Let the next thing happen."""
        self.now_us, _, act = heapq.heappop(self._due)
        act()

    def pass_to(self, t_us: int | None, *, woken: Callable[[], object]) -> None:
        """Let time pass to `t_us` (None: without end), or to where `woken` says that somebody has something to do."""
        while not woken():
            if t_us is not None and (not self._due or self._due[0][0] > t_us):
                self.now_us = max(self.now_us, t_us)
                return
            self.step()
