"""Faults of the beams: missed and double passes, pulses without a ball, beams that are stuck or chatter."""

from __future__ import annotations

import random

from hw_sim.events import BallPass, called
from hw_sim.faults.effects import CleanReadings, Effects, Window, self_test_report

DOUBLE_US = (500, 15_000)
"""The ball covers a beam for 5 to 40 ms (20 mm at 0.5 to 4 m/s). A second pulse comes within that time."""
STUCK_S = (5.0, 60.0)
"""The time until a sleeve is removed or a plug pressed in. People would switch off a beam that is stuck for hours."""
UNNOTICED, UNNOTICED_S = 0.1, (200.0, 300.0)
"""The share of these faults that nobody notices, and how long they last: eight coups of a campaign."""
LATE_US = (5_000, 40_000)
"""The delay of a filter that waits too long. The longest delay is the time in which a slow ball passes a beam."""
CHATTER_S = (0.5, 5.0)
"""How long something shakes a loose contact."""
CHATTER_GAP_US = (3_000, 50_000)
"""The time between two pulses. The board's filter joins pulses with a shorter time between them."""


def missed(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A beam does not see a pass."""
    for seen in clean.passes:
        if rng.random() < rate:
            effects.missed.add(seen)
            effects.note("missed", Window(seen.t_us, seen.t_us), f"{called(seen.seen_by)} misses a pass")


def doubled(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A beam pulses once more while the ball still covers it."""
    for seen in clean.passes:
        if rng.random() < rate:
            again = BallPass(seen.t_us + rng.randint(*DOUBLE_US), seen.beam)
            effects.false_passes.append(again)
            effects.note("doubled", Window(seen.t_us, again.t_us), f"{called(seen.seen_by)} pulses twice on one pass")


def stray(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A beam pulses without a ball."""
    for t_us in clean.random_times_us(rng, rate):
        beam = _any_beam(clean, rng)
        effects.false_passes.append(BallPass(t_us, beam))
        effects.note("stray", Window(t_us, t_us), f"{called(f'beam/{beam}')} pulses without a ball")


def stuck_on(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """Something covers a beam: one pulse, then nothing."""
    for t_us in clean.random_times_us(rng, rate):
        beam, window = _stuck(clean, rng, t_us, effects, "stuck_on", "is covered")
        effects.false_passes.append(BallPass(window.from_us - 1, beam))


def stuck_off(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A beam sees no pass for a while."""
    for t_us in clean.random_times_us(rng, rate):
        _stuck(clean, rng, t_us, effects, "stuck_off", "sees nothing")


def _stuck(
    clean: CleanReadings, rng: random.Random, t_us: int, effects: Effects, fault: str, what: str
) -> tuple[int, Window]:
    beam = _any_beam(clean, rng)
    sensor, window = f"beam/{beam}", Window(t_us + 1, t_us + stuck_us(rng))
    effects.silent.append((sensor, window))
    effects.note(fault, window, f"{called(sensor)} {what}, {self_test_report(rng, sensor, window, effects)}")
    return beam, window


def stuck_us(rng: random.Random) -> int:
    """Return how long people need to find a sensor that sees nothing, in µs."""
    return round(rng.uniform(*(UNNOTICED_S if rng.random() < UNNOTICED else STUCK_S)) * 1e6)


def late_sensor(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A beam or a reader reports everything a little late."""
    for t_us in clean.random_times_us(rng, rate):
        layout = clean.evening.world.layout
        kind, count = rng.choice((("beam", len(layout.beams_deg)), ("reader", len(layout.readers_deg))))
        sensor, by_us = f"{kind}/{rng.randrange(count)}", rng.randint(*LATE_US)
        window = Window(t_us, t_us + stuck_us(rng))
        effects.delayed.append((sensor, window, by_us))
        effects.note("late_sensor", window, f"{called(sensor)} is {by_us} µs late")


def chatter(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """A beam pulses again and again for some seconds."""
    for start_us in clean.random_times_us(rng, rate):
        beam, t_us = _any_beam(clean, rng), start_us
        window = Window(start_us, start_us + round(rng.uniform(*CHATTER_S) * 1e6))
        while t_us <= window.to_us:
            effects.false_passes.append(BallPass(t_us, beam))
            t_us += rng.randint(*CHATTER_GAP_US)
        effects.note("chatter", window, f"{called(f'beam/{beam}')} chatters")


def _any_beam(clean: CleanReadings, rng: random.Random) -> int:
    return rng.randrange(len(clean.evening.world.layout.beams_deg))
