"""A wheel that a technician aligns: free spins over beams that stand where the simulator put them."""

from __future__ import annotations

import msgspec

from hw_sim.evening import repeatable
from hw_sim.stage import Stage
from hw_sim.wheel import Layout
from wheeld.core.observations import Observation

TICKS = 148


def layout(beams_deg: tuple[float, ...], readers_deg: tuple[float, ...] = (30.0, 150.0, 270.0)) -> Layout:
    return Layout("campione", "roulette", "french", TICKS, beams_deg, readers_deg)


def spun(wheel: Layout, seed: int, *, spins: int = 3) -> tuple[list[Observation], int]:
    """What the sensors say of free spins, the ball read in its pocket after each; and the last pocket's number."""
    stage = Stage(wheel, repeatable(f"alignment {seed}"), 17)
    number = 17
    for _ in range(spins):
        stage.ready()
        stage.launch(seconds=10)
        number = stage.fall()
        stage.see(6)
        stage.result(number)
    events = stage.world.events(stage.now_s)
    return [msgspec.json.decode(msgspec.json.encode(event), type=Observation) for event in events], number
