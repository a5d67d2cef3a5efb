"""A fault gets the clean readings of an evening, and adds to the effects. All effects are applied later."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from hw_sim.evening import Evening
from hw_sim.events import BallPass, ClockReading, RotorEdge, SensorState, Sighting, SimEvent
from hw_sim.world import T_US, us

SELF_TEST_DELAY_US_MAX = 2_000_000
"""How late a self-test may report a fault. A self-test runs every one or two seconds."""

Event = TypeVar("Event", bound=SimEvent)


@dataclass(frozen=True)
class Strike:
    """One strike of a fault: its kind, its start and its end (µs, the log's time), and a description."""

    fault: str
    from_us: int
    to_us: int
    what: str


@dataclass(frozen=True)
class Window:
    """A span of time in µs, which includes both ends."""

    from_us: int
    to_us: int

    def covers(self, t_us: int) -> bool:
        """Whether the window includes that time."""
        return self.from_us <= t_us <= self.to_us

    def cut(self, events: list[Event]) -> list[Event]:
        """Remove the events of this window from `events`, which are in time order, and return them."""
        here = slice(bisect_left(events, self.from_us, key=T_US), bisect_right(events, self.to_us, key=T_US))
        part = events[here]
        del events[here]
        return part

    def put(self, events: list[Event], part: list[Event]) -> None:
        """Insert `part` where `cut` removed it from `events`."""
        place = bisect_left(events, self.from_us, key=T_US)
        events[place:place] = part


@dataclass(frozen=True)
class CleanReadings:
    """What the sensors of an evening see without faults. Each fault gets these readings unchanged, so faults are
    independent.

    `passes`: first the passes of the ball, run by run, then the stray pulses that scenarios contain.
    """

    evening: Evening
    edges: list[RotorEdge]
    passes: list[BallPass]
    sightings: list[Sighting]
    end_us: int

    @staticmethod
    def of(evening: Evening) -> CleanReadings:
        """Return the readings of `evening`."""
        world, end_s = evening.world, evening.end_s
        passes = [*world.passes(), *(event for event in world.direct_events if isinstance(event, BallPass))]
        return CleanReadings(evening, world.edges(0.0, end_s), passes, world.lying(0.0, end_s), us(end_s))

    def random_times_us(self, rng: random.Random, per_h: float) -> Iterator[int]:
        """Yield random times in µs, on average `per_h` in an hour."""
        t_us = rng.expovariate(per_h) * 3.6e9
        while t_us < self.end_us:
            yield round(t_us)
            t_us += rng.expovariate(per_h) * 3.6e9


@dataclass
class Effects:
    """What all faults of one evening do.

    `false_passes` and `false_sightings` are reported although no ball was there. `missed` passes are not reported. A
    sensor in `silent` reports nothing in its window. A sensor in `delayed` reports the given number of µs late. In a
    window of `down`, no sensor reports. `self_tests` are reports of self-tests. `lost_edges` are indices of edges. In a
    window of `slips`, the encoder reports every sector too high by the given number. `offsets_us` are added to the
    times of the edges in order, again and again. `repeated` and `late` are windows of frames. Each of `late` has a seed
    for the order of its events. `readings` are the host's readings of UTC. All times are multiplied by `scale`.
    """

    false_passes: list[BallPass] = field(default_factory=list)
    false_sightings: list[Sighting] = field(default_factory=list)
    missed: set[BallPass] = field(default_factory=set)
    silent: list[tuple[str, Window]] = field(default_factory=list)
    delayed: list[tuple[str, Window, int]] = field(default_factory=list)
    self_tests: list[SensorState] = field(default_factory=list)
    lost_edges: list[int] = field(default_factory=list)
    offsets_us: list[int] = field(default_factory=list)
    slips: list[tuple[Window, int]] = field(default_factory=list)
    down: list[Window] = field(default_factory=list)
    repeated: list[Window] = field(default_factory=list)
    late: list[tuple[Window, int]] = field(default_factory=list)
    readings: list[ClockReading] = field(default_factory=list)
    scale: float = 1.0
    strikes: list[Strike] = field(default_factory=list)

    def note(self, fault: str, window: Window, what: str) -> None:
        """Add a strike."""
        self.strikes.append(Strike(fault, window.from_us, window.to_us, what))


Fault: TypeAlias = Callable[[CleanReadings, random.Random, float, Effects], None]
"""A fault gets the clean readings, its own random numbers and its rate, and adds to the effects."""


def self_test_report(rng: random.Random, sensor: str, window: Window, effects: Effects) -> str:
    """In half of the cases let the sensor's self-test report the fault, up to `SELF_TEST_DELAY_US_MAX` late, and the
    end of the fault. Returns a description of the case."""
    found_us = window.from_us + rng.randint(0, SELF_TEST_DELAY_US_MAX)
    if rng.random() < 0.5 or found_us >= window.to_us:
        return "and nothing reports it"
    effects.self_tests += [SensorState(found_us, sensor, ok=False), SensorState(window.to_us, sensor, ok=True)]
    return "and its self-test reports it"
