"""Sensors that lie at ordinary rates, laid over a clean evening afterwards; the truth of the coups stays what it was.

The fault model:

- A beam misses a pass now and then: three in a thousand. Never in the first lap of a run, and never in a run of fewer
  than six laps: what the passes still prove there is a question of margin, not of noise, and the truth would be wrong.
- A beam pulses twice on one pass, the second time while the ball still shades it: up to 15 ms later.
- A beam pulses for nothing (a sleeve, a flash): on average once in ten minutes, at any time but one: while a hand
  carries the ball from pocket to pocket. By the rulebook a ball seen on the track and then lying in another pocket was
  launched, and no sensor could tell.
- The encoder's edges come early or late by a fraction of a millisecond, and one in a thousand not at all.
- A ball that bounces is caught by a reader in a pocket that it leaves again: in a quarter of the falls, once or twice,
  well before it comes to rest.
- A silent link carries no noise either. People, objects and self-tests are told as they are.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from hw_sim.evening import Evening
from hw_sim.events import BallPass, End, RotorEdge, Sighting, SimEvent
from hw_sim.wheel import BallRun
from hw_sim.world import us


@dataclass(frozen=True)
class Rates:
    """How often each fault comes: parts of the passes, edges and falls; strays per second; jitter in µs (sigma)."""

    missed: float = 0.003
    doubled: float = 0.005
    stray_per_s: float = 1 / 600
    lost_ticks: float = 0.001
    jitter_us: float = 60.0
    bounces: float = 0.25


DOUBLE_US = (500, 15_000)
"""The ball shades a beam for 5 to 40 ms (20 mm at 0.5 to 4 m/s); a second pulse falls within that."""
JITTER_US_MAX = 250
"""Less than a tenth of the shortest sector (592 ticks at 20 rpm: 5 ms): edges keep their order."""
LAPS_SURE = 6.0
"""Runs shorter than this keep all their passes."""


def spoil(night: Evening, rng: random.Random, rates: Rates | None = None) -> list[SimEvent]:
    """The evening's events as worse sensors would tell them, in order, `End` last."""
    rates = rates or Rates()
    protected = _protected(night)
    *clean, end = night.events()
    spoilt = [false for event in clean for false in _lie(event, rng, rates, protected)]
    extra = [*_strays(night, rng, rates), *_bounces(night, rng, rates)]
    down = [(us(o.from_s), us(o.to_s)) for o in night.world.outages if o.sensor == "link"]
    spoilt += [event for event in extra if not any(a <= event.t_us <= b for a, b in down)]
    return [*sorted((event for event in spoilt if 0 <= event.t_us < end.t_us), key=_t_us), End(end.t_us)]


def _protected(night: Evening) -> set[int]:
    """Times of the passes that no beam may miss."""
    beams = night.world.layout.beams_deg
    return {us(t_s) for run in night.world.runs for t_s in _decisive(run, beams)}


def _decisive(run: BallRun, beams: tuple[float, ...]) -> list[float]:
    times = [t_s for t_s, _ in run.passes(beams)]
    return times if run.laps < LAPS_SURE else times[: len(beams) + 1]


def _lie(event: SimEvent, rng: random.Random, rates: Rates, protected: set[int]) -> Iterator[SimEvent]:
    if isinstance(event, RotorEdge):
        if rng.random() >= rates.lost_ticks:
            off_us = max(-JITTER_US_MAX, min(JITTER_US_MAX, rng.gauss(0, rates.jitter_us)))
            yield RotorEdge(event.t_us + round(off_us), event.tick, event.direction)
        return
    if isinstance(event, BallPass) and event.t_us not in protected and rng.random() < rates.missed:
        return
    yield event
    if isinstance(event, BallPass) and rng.random() < rates.doubled:
        yield BallPass(event.t_us + rng.randint(*DOUBLE_US), event.beam)


def _strays(night: Evening, rng: random.Random, rates: Rates) -> Iterator[SimEvent]:
    if not rates.stray_per_s:
        return
    carried = _carried(night)
    t_s = rng.expovariate(rates.stray_per_s)
    while t_s < night.end_s:
        beam = rng.randrange(len(night.world.layout.beams_deg))
        if not any(start <= t_s <= end for start, end in carried):
            yield BallPass(us(t_s), beam)
        t_s += rng.expovariate(rates.stray_per_s)


def _carried(night: Evening) -> list[tuple[float, float]]:
    """When a hand carries the ball from one pocket to another, from the last sighting to the first."""
    world, ways = night.world, []
    for before, after in itertools.pairwise(world.stays):
        if not any(before.to_s <= run.t_s <= after.from_s for run in world.runs):
            seen = [t_s for t_s, _ in world.sightings(before, 0.0, before.to_s)]
            seen_then = [t_s for t_s, _ in world.sightings(after, 0.0, night.end_s)]
            ways.append((seen[-1] if seen else before.from_s, seen_then[0] if seen_then else night.end_s))
    return ways


def _bounces(night: Evening, rng: random.Random, rates: Rates) -> Iterator[SimEvent]:
    for fall in night.world.falls:
        if rng.random() < rates.bounces:
            for _ in range(rng.randint(1, 2)):
                t_s = rng.uniform(fall.left_s + 0.8, fall.rest_s - 0.5)
                yield Sighting(us(t_s), rng.randrange(len(night.world.layout.readers_deg)))


def _t_us(event: SimEvent) -> int:
    return event.t_us
