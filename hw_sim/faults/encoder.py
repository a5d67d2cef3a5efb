"""Faults of the rotor's encoder: lost, early and late edges, and a disc that slips."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from functools import lru_cache

from hw_sim.faults.effects import CleanReadings, Effects, Window
from hw_sim.faults.rates import JITTER_US_MAX

SLIP_SECTORS = (2, 40)
"""A disc slips by few sectors if its key has play, and by many if a screw is loose."""
OFFSETS = 8_191
"""How many offsets are drawn for each sigma. The offsets are then repeated, and each evening begins at a drawn place
among them. The number is a prime, so that it is not a multiple of the rotor's ticks."""


def lost_tick(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """Single edges are missing."""
    place = _skipped(rng, rate)
    while place < len(clean.edges):
        effects.lost_edges.append(place)
        t_us = clean.edges[place].t_us
        effects.note("lost_tick", Window(t_us, t_us), "an edge of the encoder is lost")
        place += 1 + _skipped(rng, rate)


def _skipped(rng: random.Random, rate: float) -> int:
    """Return how many edges arrive before one is lost. This is a draw from the geometric distribution, so the edges
    that arrive need no draws."""
    return int(math.log(1 - rng.random()) / math.log1p(-rate)) if rate < 1 else 0


def jitter(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """Every edge comes a little early or late."""
    ring = _offsets_us(rate)
    start = rng.randrange(OFFSETS)
    effects.offsets_us = ring[start:] + ring[:start]
    effects.note("jitter", Window(0, clean.end_us), f"the encoder's edges jitter by {rate:g} µs")


@lru_cache(maxsize=64)
def _offsets_us(sigma_us: float) -> list[int]:
    rng = random.Random(OFFSETS)  # noqa: S311  nothing here is secret
    return [round(max(-JITTER_US_MAX, min(JITTER_US_MAX, rng.gauss(0, sigma_us)))) for _ in range(OFFSETS)]


def slip(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """After a slip all sectors are wrong by the same number, until a person corrects this. Here a person does so at the
    end of the scenario."""
    ends_us = [round(mark.end_s * 1e6) for mark in clean.evening.marks] + [clean.end_us]
    for t_us in clean.random_times_us(rng, rate):
        window = Window(t_us, ends_us[min(bisect_right(ends_us, t_us), len(ends_us) - 1)])
        by = rng.choice((-1, 1)) * rng.randint(*SLIP_SECTORS)
        effects.slips.append((window, by))
        effects.note("slip", window, f"the encoder has slipped by {by:+d} sectors")
