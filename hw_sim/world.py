"""What happens at the wheel, and what faultless sensors report of it.

`table.SimTable` writes the ball's runs and rests, the rotor's motion and the commands of people into a `World`.
`World.events` computes exactly when sensors see ball and rotor, and sorts the events by time. `faults` adds faults.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from operator import attrgetter

from hw_sim.events import BallPass, End, RotorEdge, Sighting, SimEvent
from hw_sim.rotor import SimRotor, tick_entered
from hw_sim.wheel import BallRun, Fall, WheelLayout

LOOK_BACK_S = 1.0
MARGIN_S = 1e-3
"""Rounding to a microsecond changes the time of an event by less than this."""

T_US = attrgetter("t_us")
"""The key by which a log is sorted. Events of the same microsecond keep their order."""


def us(t_s: float) -> int:
    """Convert seconds to the integer microseconds of the log."""
    return round(t_s * 1_000_000)


@dataclass
class Stay:
    """The ball lies in the pocket of `number` from `from_s` until `to_s`."""

    number: int
    from_s: float
    to_s: float = math.inf


@dataclass(frozen=True)
class SensorOutage:
    """`sensor` reports nothing from `from_s` to `to_s`. If it is `link`, no sensor reports anything."""

    sensor: str
    from_s: float
    to_s: float = math.inf

    def covers(self, t_us: int) -> bool:
        """Whether the outage includes that time."""
        return us(self.from_s) <= t_us and (self.to_s == math.inf or t_us <= us(self.to_s))


@dataclass
class Slipped:
    """The encoder's disc is `by` sectors ahead of its right place, from `from_s` until a person sets it back."""

    by: int
    from_s: float
    to_s: float = math.inf


@dataclass
class World:
    """One evening at one wheel.

    `direct_events` contains the events that need no physics: commands, objects, self-tests, stray pulses.
    """

    layout: WheelLayout
    rotor: SimRotor
    runs: list[BallRun] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    falls: list[Fall] = field(default_factory=list)
    outages: list[SensorOutage] = field(default_factory=list)
    slipped: list[Slipped] = field(default_factory=list)
    direct_events: list[SimEvent] = field(default_factory=list)

    def sightings(self, stay: Stay, t_from: float, t_to: float) -> list[tuple[float, int]]:
        """Return (time in s, reader) each time the lying ball passes a reader between the two times, in order."""
        behind = self.layout.behind(stay.number)
        start, end = max(t_from, stay.from_s), min(t_to, stay.to_s)
        return sorted(
            (t_s, reader)
            for reader, degrees in enumerate(self.layout.readers_deg)
            for t_s, _, _ in self.rotor.crossings(degrees / 360 - behind, 1.0, start, end)
        )

    def last_tick_s(self, t_s: float) -> float:
        """Return the time in s of the last encoder edge up to `t_s`."""
        back_s = LOOK_BACK_S
        while True:  # look at a short time first, because an evening has hundreds of thousands of edges
            edges = self.rotor.crossings(0.0, 1 / self.layout.rotor_ticks, max(0.0, t_s - back_s), t_s)
            latest = max((t for t, _, _ in edges), default=None)
            if latest is not None:
                return latest
            back_s *= 8

    def events(self, end_s: float) -> list[SimEvent]:
        """Return all events from time 0 to `end_s`, in order. At the same microsecond, edges come before sightings."""
        return [*self._seen(0.0, end_s), End(us(end_s))]

    def between(self, start_s: float, end_s: float) -> list[SimEvent]:
        """Return the events from `start_s` on and before `end_s`, in order. The evening need not have an end."""
        start_us, end_us = us(start_s), us(end_s)
        return [event for event in self._seen(start_s - MARGIN_S, end_s) if start_us <= event.t_us < end_us]

    def forget(self, before_s: float) -> None:
        """Delete all that ended before `before_s`, except the latest run and stay, which the next scenario needs."""
        self.rotor.forget(before_s)
        self.direct_events = [event for event in self.direct_events if event.t_us >= us(before_s)]
        self.runs = [*(run for run in self.runs[:-1] if run.end_s >= before_s), *self.runs[-1:]]
        self.stays = [*(stay for stay in self.stays[:-1] if stay.to_s >= before_s), *self.stays[-1:]]
        self.falls = [fall for fall in self.falls if fall.rest_s >= before_s]
        self.outages = [outage for outage in self.outages if outage.to_s >= before_s]
        self.slipped = [slipped for slipped in self.slipped if slipped.to_s >= before_s]

    def edges(self, start_s: float, end_s: float) -> list[RotorEdge]:
        """Return the encoder's edges between the two times, in order."""
        ticks = self.layout.rotor_ticks
        seen = [
            RotorEdge(round(t_s * 1_000_000), tick_entered(k, ticks, clockwise=clockwise), "cw" if clockwise else "ccw")
            for t_s, k, clockwise in self.rotor.crossings(0.0, 1 / ticks, start_s, end_s)
        ]
        for slipped in self.slipped:
            here = slice(*(bisect_left(seen, t_s * 1e6, key=T_US) for t_s in (slipped.from_s, slipped.to_s)))
            seen[here] = [RotorEdge(e.t_us, (e.tick + slipped.by) % ticks, e.direction) for e in seen[here]]
        for outage in self.outages:
            if outage.sensor in {"rotor", "link"}:
                first = bisect_left(seen, us(outage.from_s), key=T_US)
                del seen[first : bisect_right(seen, us(outage.to_s), key=T_US)]
        return seen

    def slipped_by(self, t_s: float) -> int:
        """Return how many sectors the encoder's disc is ahead of its right place at `t_s`."""
        return sum(slipped.by for slipped in self.slipped if slipped.from_s <= t_s < slipped.to_s)

    def passes(self) -> list[BallPass]:
        """Return the ball's passes at all beams, run by run."""
        seen = [BallPass(us(t_s), beam) for run in self.runs for t_s, beam in run.passes(self.layout.beams_deg)]
        return [event for event in seen if not self.is_silent(event.seen_by, event.t_us)]

    def lying(self, start_s: float, end_s: float) -> list[Sighting]:
        """Return the readers' sightings of the lying ball between the two times, pocket by pocket."""
        seen = [
            Sighting(us(t_s), reader) for stay in self.stays for t_s, reader in self.sightings(stay, start_s, end_s)
        ]
        return [event for event in seen if not self.is_silent(event.seen_by, event.t_us)]

    def is_silent(self, sensor: str, t_us: int) -> bool:
        """Whether `sensor`, or the link behind it, reports nothing at that time."""
        return any(outage.covers(t_us) for outage in self.outages if outage.sensor in {sensor, "link"})

    def _seen(self, start_s: float, end_s: float) -> list[SimEvent]:
        seen = [*self.direct_events, *self.edges(start_s, end_s), *self.passes(), *self.lying(start_s, end_s)]
        seen.sort(key=T_US)
        return seen
