"""The readers of the pockets: dead ones, and those that the bouncing ball fools."""

from __future__ import annotations

import random

from hw_sim.events import Sighting
from hw_sim.faults.beams import STUCK_S
from hw_sim.faults.effects import Lies, Scene, Window, mending
from hw_sim.wheel import POCKETS, pocket_index
from hw_sim.world import us

POCKETS_AFTER_S = 0.8
"""From the track down to the ring of pockets no ball is quicker; before, there is nothing for a reader to see."""
VIEW_POCKETS = 0.5
"""A reader looks at one pocket: half of one to either side of it."""


def dead_reader(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """A reader sees nothing for a while."""
    for t_us in scene.strikes(rng, rate):
        reader = _any_reader(scene, rng)
        window = Window(t_us, t_us + round(rng.uniform(*STUCK_S) * 1e6))
        lies.silent.append((f"reader/{reader}", window))
        lies.harm("dead_reader", window, f"reader {reader} is dead, {mending(rng, f'reader/{reader}', window, lies)}")


def bounce(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """The ball is seen once or twice before it rests, in whatever pocket passes below it but the one it will rest in.

    Seen there, it is no lie: the number is only out a sighting sooner than the truth of a scenario says, which was
    made with readers that don't see it.
    """
    for fall in scene.night.world.falls:
        if rng.random() < rate:
            for _ in range(rng.randint(1, 2)):
                t_s = rng.uniform(min(fall.left_s + POCKETS_AFTER_S, fall.rest_s), fall.rest_s)
                reader = _any_reader(scene, rng)
                if abs(_off_pockets(scene, t_s, fall.number, reader)) > 1:
                    _caught(us(t_s), reader, "bounce", lies)


def touch(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """The ball is seen in a pocket that it leaves for another, if that stands before a reader then."""
    for fall in scene.night.world.falls:
        for t_s, number in (touch for touch in fall.touches if touch[1] != fall.number):
            for reader in range(len(scene.night.world.layout.readers_deg)):
                if abs(_off_pockets(scene, t_s, number, reader)) < VIEW_POCKETS and rng.random() < rate:
                    _caught(us(t_s), reader, "touch", lies)


def _off_pockets(scene: Scene, t_s: float, number: int, reader: int) -> float:
    """How far, in pockets, the centre of that number's pocket is from the reader then."""
    world = scene.night.world
    place = world.rotor.angle_at(t_s) + pocket_index(number) / len(POCKETS)
    return ((place - world.layout.readers_deg[reader] / 360 + 0.5) % 1.0 - 0.5) * len(POCKETS)


def _caught(t_us: int, reader: int, fault: str, lies: Lies) -> None:
    lies.catches.append(Sighting(t_us, reader))
    lies.harm(fault, Window(t_us, t_us), f"reader {reader} catches the ball before it rests")


def _any_reader(scene: Scene, rng: random.Random) -> int:
    return rng.randrange(len(scene.night.world.layout.readers_deg))
