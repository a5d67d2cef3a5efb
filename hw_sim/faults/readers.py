"""The readers of the pockets: dead ones, and those that the bouncing ball fools."""

from __future__ import annotations

import random

from hw_sim.events import Sighting
from hw_sim.faults.beams import STUCK_S
from hw_sim.faults.effects import CleanReadings, Effects, Window, self_test_report
from hw_sim.wheel import POCKETS, pocket_index
from hw_sim.world import us

POCKETS_AFTER_S = 0.8
"""From the track down to the ring of pockets no ball is quicker; before, there is nothing for a reader to see."""
VIEW_POCKETS = 0.5
"""A reader looks at one pocket: half of one to either side of it."""


def dead_reader(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A reader sees nothing for a while."""
    for t_us in clean.random_times_us(rng, rate):
        reader = _any_reader(clean, rng)
        window = Window(t_us, t_us + round(rng.uniform(*STUCK_S) * 1e6))
        effects.silent.append((f"reader/{reader}", window))
        effects.note(
            "dead_reader",
            window,
            f"reader {reader} is dead, {self_test_report(rng, f'reader/{reader}', window, effects)}",
        )


def bounce(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """The ball is seen once or twice before it rests, in whatever pocket passes below it but the one it will rest in.

    Seen there, it is no lie: the number is only out a sighting sooner than the truth of a scenario says, which was
    made with readers that don't see it.
    """
    for fall in clean.evening.world.falls:
        if rng.random() < rate:
            for _ in range(rng.randint(1, 2)):
                t_s = rng.uniform(min(fall.left_s + POCKETS_AFTER_S, fall.rest_s), fall.rest_s)
                reader = _any_reader(clean, rng)
                if abs(_off_pockets(clean, t_s, fall.number, reader)) > 1:
                    _false_sighting(us(t_s), reader, "bounce", effects)


def touch(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """The ball is seen in a pocket that it leaves for another, if that stands before a reader then."""
    for fall in clean.evening.world.falls:
        for t_s, number in (touch for touch in fall.touches if touch[1] != fall.number):
            for reader in range(len(clean.evening.world.layout.readers_deg)):
                if abs(_off_pockets(clean, t_s, number, reader)) < VIEW_POCKETS and rng.random() < rate:
                    _false_sighting(us(t_s), reader, "touch", effects)


def _off_pockets(clean: CleanReadings, t_s: float, number: int, reader: int) -> float:
    """How far, in pockets, the centre of that number's pocket is from the reader then."""
    world = clean.evening.world
    place = world.rotor.angle_at(t_s) + pocket_index(number) / len(POCKETS)
    return ((place - world.layout.readers_deg[reader] / 360 + 0.5) % 1.0 - 0.5) * len(POCKETS)


def _false_sighting(t_us: int, reader: int, fault: str, effects: Effects) -> None:
    effects.false_sightings.append(Sighting(t_us, reader))
    effects.note(fault, Window(t_us, t_us), f"reader {reader} catches the ball before it rests")


def _any_reader(clean: CleanReadings, rng: random.Random) -> int:
    return rng.randrange(len(clean.evening.world.layout.readers_deg))
