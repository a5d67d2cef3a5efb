"""A simulated table for a live run. It is played part by part on one time axis, and the live run need not have an
end."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from hw_sim.evening import drawable
from hw_sim.events import End, SimEvent
from hw_sim.scenarios import Scenario
from hw_sim.scenarios.registry import Play
from hw_sim.table import SimTable
from hw_sim.wheel import WheelLayout
from hw_sim.world import us

QUICK_PAUSE_FACTOR = 0.35
"""The factor of people's pauses if a viewer waits for the next coup."""


class LiveTable:
    """One table with its wheel and its people, over many scenarios. Each method returns the events of one part."""

    def __init__(self, layout: WheelLayout, rng: random.Random, last_number: int | None) -> None:
        self.table = SimTable(layout, rng, last_number)
        self._played_s = 0.0
        self._forget_s = 0.0

    def play(self, play: Play) -> list[SimEvent]:
        """Play one part. Returns its events, with an `End` after them."""
        start_s = self._played_s
        play(self.table)
        self._played_s = self.table.now_s
        events = self.table.world.between(start_s, self._played_s)
        self.table.world.forget(self._forget_s)
        # The world keeps this part, because the next scenario may need the last encoder edge before its own start.
        self._forget_s = start_s
        return [*events, End(us(self._played_s))]

    def wait(self, seconds: float) -> list[SimEvent]:
        """Let `seconds` pass in which people do nothing."""
        return self.play(lambda table: table.wait(seconds, seconds))

    def command(self, name: str, **more: Any) -> list[SimEvent]:
        """Give a command, as in `SimTable.command`, with a short pause before and after it."""

        def give(table: SimTable) -> None:
            table.wait(0.2, 0.6)
            table.command(name, **more)
            table.wait(0.1, 0.2)

        return self.play(give)


def draw_scenarios(layout: WheelLayout, rng: random.Random, first: Sequence[Scenario] = ()) -> Iterator[Scenario]:
    """Yield `first`, and then without end scenarios that the wheel can play, drawn by their weights."""
    yield from first
    here = drawable(layout)
    while True:
        yield from rng.choices(here, [scenario.weight for scenario in here])
