"""A night that is played part by part on one axis of time, for whoever watches it live: it need never end."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from hw_sim.evening import drawable
from hw_sim.events import End, SimEvent
from hw_sim.scenarios import Scenario
from hw_sim.scenarios.registry import Play
from hw_sim.table import SimTable
from hw_sim.wheel import Layout
from hw_sim.world import us

QUICK_PAUSE_FACTOR = 0.35
"""The part of their time that people take who know that someone waits to see the next coup."""


class LiveTable:
    """One wheel, its rotor and its people, from one scenario to the next."""

    def __init__(self, layout: Layout, rng: random.Random, last_number: int | None) -> None:
        self.table = SimTable(layout, rng, last_number)
        self._played_s = 0.0
        self._forget_s = 0.0

    def play(self, play: Play) -> list[SimEvent]:
        """Perform it and tell what happened; the `End` behind says up to when, so that nobody runs ahead of it."""
        start_s = self._played_s
        play(self.table)
        self._played_s = self.table.now_s
        seen = self.table.world.between(start_s, self._played_s)
        self.table.world.forget(self._forget_s)
        self._forget_s = start_s  # one part is kept: a scenario may ask for the rotor's last tick before its own
        return [*seen, End(us(self._played_s))]

    def wait(self, seconds: float) -> list[SimEvent]:
        """Nobody does anything for so long."""

        def idle(table: SimTable) -> None:
            table.wait(seconds, seconds)

        return self.play(idle)

    def command(self, name: str, **more: str) -> list[SimEvent]:
        """Someone gives a command, as in `Stage.command`, and looks up."""

        def give(table: SimTable) -> None:
            table.wait(0.2, 0.6)
            table.command(name, **more)
            table.wait(0.1, 0.2)

        return self.play(give)


def draw_scenarios(layout: Layout, rng: random.Random, first: Sequence[Scenario] = ()) -> Iterator[Scenario]:
    """`first`, then without end whatever luck and the scenarios' weights give at that wheel."""
    yield from first
    here = drawable(layout)
    while True:
        yield from rng.choices(here, [scenario.weight for scenario in here])
