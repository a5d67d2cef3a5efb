"""The beams of the track: passes missed, doubled, from nowhere; beams stuck and chattering."""

from __future__ import annotations

import random

from hw_sim.events import BallPass
from hw_sim.faults.effects import Lies, Scene, Window, mending

DOUBLE_US = (500, 15_000)
"""The ball shades a beam for 5 to 40 ms (20 mm at 0.5 to 4 m/s); a second pulse falls within that."""
STUCK_S = (5.0, 60.0)
"""A sleeve is taken away, a cable pressed on; a stuck beam of hours would be switched off by people."""
CHATTER_S = (0.5, 5.0)
"""A loose contact while something shakes it."""
CHATTER_GAP_US = (3_000, 50_000)
"""Shorter ones the board's own filter takes for one pulse."""


def missed(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """A beam doesn't see a pass."""
    for seen in scene.passes:
        if rng.random() < rate:
            lies.missed.add(seen)
            lies.harm("missed", Window(seen.t_us, seen.t_us), f"beam {seen.beam} misses a pass")


def doubled(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """A beam pulses once more while the ball still shades it."""
    for seen in scene.passes:
        if rng.random() < rate:
            again = BallPass(seen.t_us + rng.randint(*DOUBLE_US), seen.beam)
            lies.pulses.append(again)
            lies.harm("doubled", Window(seen.t_us, again.t_us), f"beam {seen.beam} pulses twice on one pass")


def stray(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """A beam pulses for nothing."""
    for t_us in scene.strikes(rng, rate):
        beam = _any_beam(scene, rng)
        lies.pulses.append(BallPass(t_us, beam))
        lies.harm("stray", Window(t_us, t_us), f"beam {beam} pulses for nothing")


def stuck_on(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """Something covers a beam: one edge, then nothing."""
    for t_us in scene.strikes(rng, rate):
        beam, window = _stuck(scene, rng, t_us, lies, "stuck_on", "is covered")
        lies.pulses.append(BallPass(window.from_us - 1, beam))


def stuck_off(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """A beam sees no pass for a while."""
    for t_us in scene.strikes(rng, rate):
        _stuck(scene, rng, t_us, lies, "stuck_off", "sees nothing")


def _stuck(scene: Scene, rng: random.Random, t_us: int, lies: Lies, fault: str, what: str) -> tuple[int, Window]:
    beam = _any_beam(scene, rng)
    window = Window(t_us + 1, t_us + round(rng.uniform(*STUCK_S) * 1e6))
    lies.silent.append((f"beam/{beam}", window))
    lies.harm(fault, window, f"beam {beam} {what}, {mending(rng, f'beam/{beam}', window, lies)}")
    return beam, window


def chatter(scene: Scene, rng: random.Random, rate: float, lies: Lies) -> None:
    """A beam pulses without end for some seconds."""
    for start_us in scene.strikes(rng, rate):
        beam, t_us = _any_beam(scene, rng), start_us
        window = Window(start_us, start_us + round(rng.uniform(*CHATTER_S) * 1e6))
        while t_us <= window.to_us:
            lies.pulses.append(BallPass(t_us, beam))
            t_us += rng.randint(*CHATTER_GAP_US)
        lies.harm("chatter", window, f"beam {beam} chatters")


def _any_beam(scene: Scene, rng: random.Random) -> int:
    return rng.randrange(len(scene.night.world.layout.beams_deg))
