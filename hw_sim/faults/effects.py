"""What faults have to work on, and what they leave behind: lies, told later all at once."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from hw_sim.evening import Evening
from hw_sim.events import BallPass, ClockReading, RotorEdge, SensorState, Sighting, SimEvent
from hw_sim.world import T_US, us

Event = TypeVar("Event", bound=SimEvent)


@dataclass(frozen=True)
class Strike:
    """One place where the sensors lied: which fault, from when to when (µs, the log's time), and in words what."""

    fault: str
    from_us: int
    to_us: int
    what: str


@dataclass(frozen=True)
class Window:
    """A span of time, µs, both ends in it."""

    from_us: int
    to_us: int

    def cut(self, events: list[Event]) -> list[Event]:
        """Take the part of `events`, which are in order, that lies in this window, out of them."""
        here = slice(
            bisect_left(events, self.from_us, key=T_US),
            bisect_right(events, self.to_us, key=T_US),
        )
        part = events[here]
        del events[here]
        return part

    def put(self, events: list[Event], part: list[Event]) -> None:
        """Put `part` where it was cut out of `events`."""
        place = bisect_left(events, self.from_us, key=T_US)
        events[place:place] = part


@dataclass(frozen=True)
class Slip:
    """From `from_us` until `to_us` the encoder tells every sector `by` too high."""

    from_us: int
    to_us: int
    by: int


@dataclass(frozen=True)
class CleanReadings:
    """A clean evening. No fault sees what another did to it: each draws as if it were alone.

    `passes` are the ball's, run by run, and then the pulses that belong to what was played.
    """

    evening: Evening
    edges: list[RotorEdge]
    passes: list[BallPass]
    sightings: list[Sighting]
    end_us: int

    @staticmethod
    def of(evening: Evening) -> CleanReadings:
        """What the sensors of that evening truly saw."""
        world, end_s = evening.world, evening.end_s
        passes = [*world.passes(), *(event for event in world.direct_events if isinstance(event, BallPass))]
        return CleanReadings(evening, world.edges(0.0, end_s), passes, world.lying(0.0, end_s), us(end_s))

    def random_times_us(self, rng: random.Random, per_h: float) -> Iterator[int]:
        """Times (µs) at which something strikes that comes `per_h` times an hour."""
        t_us = rng.expovariate(per_h) * 3.6e9
        while t_us < self.end_us:
            yield round(t_us)
            t_us += rng.expovariate(per_h) * 3.6e9


@dataclass
class Effects:
    """All that the faults of one evening do.

    `false_passes` and `false_sightings` are seen though nothing was there, `missed` not though it was; a sensor in `silent` says
    nothing in those windows, no sensor does while the link is `down`. `self_tests` are self-tests.
    """

    false_passes: list[BallPass] = field(default_factory=list)
    false_sightings: list[Sighting] = field(default_factory=list)
    missed: set[BallPass] = field(default_factory=set)
    silent: list[tuple[str, Window]] = field(default_factory=list)
    self_tests: list[SensorState] = field(default_factory=list)
    lost_edges: list[int] = field(default_factory=list)
    offsets_us: list[int] = field(default_factory=list)
    slips: list[Slip] = field(default_factory=list)
    down: list[Window] = field(default_factory=list)
    repeated: list[Window] = field(default_factory=list)
    late: list[tuple[Window, int]] = field(default_factory=list)
    readings: list[ClockReading] = field(default_factory=list)
    scale: float = 1.0
    strikes: list[Strike] = field(default_factory=list)

    def note(self, fault: str, window: Window, what: str) -> None:
        """Note where the sensors lied."""
        self.strikes.append(Strike(fault, window.from_us, window.to_us, what))


Fault: TypeAlias = Callable[[CleanReadings, random.Random, float, Effects], None]
"""A fault: from the clean scene, its own luck and its rate to lies."""


def self_test_report(rng: random.Random, sensor: str, window: Window, effects: Effects) -> str:
    """Half the time the sensor's self-test finds the fault, up to `SELF_TEST_DELAY_US_MAX` late, and says when it is over. Returns
    how that went, in words."""
    found_us = window.from_us + rng.randint(0, SELF_TEST_DELAY_US_MAX)
    if rng.random() < 0.5 or found_us >= window.to_us:
        return "silently"
    effects.self_tests += [SensorState(found_us, sensor, ok=False), SensorState(window.to_us, sensor, ok=True)]
    return "and its self-test says so"


SELF_TEST_DELAY_US_MAX = 2_000_000
"""A self-test that runs every second or two."""
