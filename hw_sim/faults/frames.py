"""Faults of board, cable and clocks: resets; lost, repeated and late frames; clocks that drift or step."""

from __future__ import annotations

import random

from hw_sim.events import ClockReading
from hw_sim.faults.effects import CleanReadings, Effects, Window

FRAME_US = (20_000, 60_000)
"""The time that one to three frames cover at 115200 baud."""
RESET_US = (300_000, 2_000_000)
"""The time for the watchdog, the start, and the exchange of messages until the host uses the board again."""
STARTED_UTC_US = 1_795_197_600_000_000
"""The time `STARTED` in the headers of the logs."""
READING_ERROR_US = 2_000
"""The uncertainty of a reading over a serial line: half of the time for a request and its reply."""
STEPS_S = (0.2, 3_600.0)
"""The smallest and the largest step of UTC. NTP corrects smaller errors slowly. The largest step is an hour: somebody
sets summer time by hand."""


def reset(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """The board resets: nothing is observed. The host reports this from the time of the last frame that it received."""
    for window in _down(clean, rng, rate, RESET_US):
        effects.down.append(window)
        effects.note("reset", window, "the board resets, and the link reports that nothing is observed")


def lost_frame(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """Some frames never arrive. The numbers of the next frames show this."""
    for window in _down(clean, rng, rate, FRAME_US):
        effects.down.append(window)
        effects.note("lost_frame", window, "frames are lost, and the link reports that nothing is observed")


def _down(clean: CleanReadings, rng: random.Random, rate: float, span_us: tuple[int, int]) -> list[Window]:
    """Return windows in which the link goes down, without those that begin or end while it is already down."""
    is_silent = clean.evening.world.is_silent
    windows = _windows(clean, rng, rate, span_us)
    return [w for w in windows if not is_silent("link", w.from_us) and not is_silent("link", w.to_us)]


def repeated_frame(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """The log contains the lines of a frame twice."""
    for window in _windows(clean, rng, rate, FRAME_US):
        effects.repeated.append(window)
        effects.note("repeated_frame", window, "every event is reported twice")


def late_frame(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """All observations of a frame have the time of the last observation in it."""
    for window in _windows(clean, rng, rate, FRAME_US):
        effects.late.append((window, rng.getrandbits(32)))
        effects.note("late_frame", window, "every event has the time of the frame")


def drift(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """The sensing clock is fast or slow, by the same factor for the whole evening."""
    effects.scale = 1 + rng.uniform(-rate, rate) / 1e6
    effects.note("drift", Window(0, clean.end_us), f"the sensing clock is off by {(effects.scale - 1) * 1e6:+.1f} ppm")


def clock_step(clean: CleanReadings, rng: random.Random, rate: float, effects: Effects) -> None:
    """The host's UTC is set. This does not affect the sensing clock."""
    for t_us in clean.random_times_us(rng, rate):
        if not effects.readings:
            effects.readings.append(ClockReading(0, STARTED_UTC_US, READING_ERROR_US))
        ahead_us = effects.readings[-1].utc_us - effects.readings[-1].t_us
        step_us = round(rng.choice((-1, 1)) * rng.uniform(*STEPS_S) * 1e6)
        effects.readings.append(ClockReading(t_us, t_us + ahead_us + step_us, READING_ERROR_US))
        effects.note("clock_step", Window(t_us, t_us), f"UTC steps by {step_us / 1e6:+.1f} s")


def _windows(clean: CleanReadings, rng: random.Random, rate: float, span_us: tuple[int, int]) -> list[Window]:
    return [Window(t_us, t_us + rng.randint(*span_us)) for t_us in clean.random_times_us(rng, rate)]
