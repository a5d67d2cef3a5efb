"""Faults of the pocket readers: dead readers, and readers that see the ball before it rests."""

from __future__ import annotations

import random

from hw_sim.events import Sighting, called
from hw_sim.faults.beams import stuck_us
from hw_sim.faults.effects import CleanReadings, Effects, Window, self_test_report
from hw_sim.world import us

POCKETS_AFTER_S = 0.8
"""The shortest time in which a ball gets from the track to the ring of pockets. No reader can see it earlier."""
VIEW_POCKETS = 0.5
"""How far a reader sees to each side, in pockets: it sees one pocket."""


def dead_reader(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A reader sees nothing for a while."""
    for t_us in clean.random_times_us(rng, rate):
        sensor = f"reader/{_any_reader(clean, rng)}"
        window = Window(t_us, t_us + stuck_us(rng))
        effects.silent.append((sensor, window))
        report = self_test_report(rng, sensor, window, effects)
        effects.note("dead_reader", window, f"{called(sensor)} is dead, {report}")


def dead_readers(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """No reader sees anything for a while, and no self-test reports it."""
    for t_us in clean.random_times_us(rng, rate):
        window = Window(t_us, t_us + stuck_us(rng))
        for reader in range(len(clean.evening.world.layout.readers_deg)):
            effects.silent.append((f"reader/{reader}", window))
        effects.note("dead_readers", window, "all readers are dead, and nothing reports it")


def bounce(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A reader sees the ball once or twice before it rests, but never in the pocket in which it will rest, and never
    twice in one pocket. A ball that readers see twice in one pocket lies there.

    A sighting in the last pocket would not be a fault. It would only prove the number one sighting sooner than the
    scenario's truth says, because that truth is for readers that do not see the ball before it rests.
    """
    count = len(clean.evening.world.layout.pockets)
    for fall in clean.evening.world.falls:
        seen_at: list[float] = []
        if rng.random() < rate:
            for _ in range(rng.randint(1, 2)):
                t_s = rng.uniform(min(fall.left_s + POCKETS_AFTER_S, fall.rest_s), fall.rest_s)
                reader = _any_reader(clean, rng)
                rests_at = _off_pockets(clean, t_s, fall.number, reader)
                if all(1 < (rests_at - before) % count < count - 1 for before in (0.0, *seen_at)):
                    _false_sighting(us(t_s), reader, "bounce", effects)
                    seen_at.append(rests_at)


def touch(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A reader sees the ball in a pocket that the ball leaves again, if this pocket is at the reader at that time."""
    for fall in clean.evening.world.falls:
        for t_s, number in (touch for touch in fall.touches if touch[1] != fall.number):
            for reader in range(len(clean.evening.world.layout.readers_deg)):
                if abs(_off_pockets(clean, t_s, number, reader)) < VIEW_POCKETS and rng.random() < rate:
                    _false_sighting(us(t_s), reader, "touch", effects)


def _off_pockets(clean: CleanReadings, t_s: float, number: int, reader: int) -> float:
    """Return how far the pocket of `number` is from the reader at `t_s`, in pockets."""
    world = clean.evening.world
    place = world.rotor.angle_at(t_s) + world.layout.behind(number)
    return ((place - world.layout.readers_deg[reader] / 360 + 0.5) % 1.0 - 0.5) * len(world.layout.pockets)


def _false_sighting(t_us: int, reader: int, fault: str, effects: Effects) -> None:
    effects.false_sightings.append(Sighting(t_us, reader))
    effects.note(fault, Window(t_us, t_us), f"{called(f'reader/{reader}')} sees the ball before it rests")


def _any_reader(clean: CleanReadings, rng: random.Random) -> int:
    return rng.randrange(len(clean.evening.world.layout.readers_deg))
