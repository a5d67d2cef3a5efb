"""What happened at the wheel, and what its sensors make of it.

The stage writes here where the ball ran and lay, how the rotor moved and who said what; `World.events` works out
every crossing exactly and puts all in time order. In this world sensors tell the truth; `noise` spoils it afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hw_sim.events import BallPass, End, RotorEdge, Sighting, SimEvent
from hw_sim.rotor import Rotor, tick_entered
from hw_sim.wheel import POCKETS, BallRun, Fall, Layout, pocket_index

MARGIN_S = 1e-3
"""More than rounding to a microsecond can move an event across the border of a part."""


def us(t_s: float) -> int:
    """Seconds to the integer microseconds of the log."""
    return round(t_s * 1_000_000)


@dataclass
class Stay:
    """The ball lies in the pocket of `number` from `from_s` until `to_s`."""

    number: int
    from_s: float
    to_s: float = math.inf


@dataclass(frozen=True)
class Outage:
    """`sensor` reports nothing from `from_s` to `to_s`; `link` silences all of them."""

    sensor: str
    from_s: float
    to_s: float


@dataclass
class World:
    """One evening at one wheel.

    `told` holds the events that need no physics: people, objects, self-tests, strays.
    """

    layout: Layout
    rotor: Rotor
    runs: list[BallRun] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    falls: list[Fall] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    told: list[SimEvent] = field(default_factory=list)

    def sightings(self, stay: Stay, t_from: float, t_to: float) -> list[tuple[float, int]]:
        """(time in s, reader) whenever the ball of that stay passes a reader between the two times, in order."""
        behind = pocket_index(stay.number) / len(POCKETS)
        start, end = max(t_from, stay.from_s), min(t_to, stay.to_s)
        return sorted(
            (t_s, reader)
            for reader, degrees in enumerate(self.layout.readers_deg)
            for t_s, _, _ in self.rotor.crossings(degrees / 360 - behind, 1.0, start, end)
        )

    def last_tick_s(self, t_s: float) -> float:
        """Time of the rotor's last encoder edge up to `t_s`."""
        return max(t for t, _, _ in self.rotor.crossings(0.0, 1 / self.layout.rotor_ticks, 0.0, t_s))

    def events(self, end_s: float) -> list[SimEvent]:
        """Everything from time 0 to `end_s`, in order. At the same microsecond the rotor speaks before the readers."""
        seen = self._seen(0.0, end_s)
        seen.append(End(us(end_s)))
        return seen

    def between(self, start_s: float, end_s: float) -> list[SimEvent]:
        """What happened from `start_s` on and before `end_s`, in order: the parts of an evening that has no end."""
        start_us, end_us = us(start_s), us(end_s)
        return [event for event in self._seen(start_s - MARGIN_S, end_s) if start_us <= event.t_us < end_us]

    def forget(self, before_s: float) -> None:
        """Drop what was over by then, but the latest run and stay, which scenarios go on from."""
        self.rotor.forget(before_s)
        self.told = [event for event in self.told if event.t_us >= us(before_s)]
        self.runs = [*(run for run in self.runs[:-1] if run.end_s >= before_s), *self.runs[-1:]]
        self.stays = [*(stay for stay in self.stays[:-1] if stay.to_s >= before_s), *self.stays[-1:]]
        self.falls = [fall for fall in self.falls if fall.rest_s >= before_s]
        self.outages = [outage for outage in self.outages if outage.to_s >= before_s]

    def _seen(self, start_s: float, end_s: float) -> list[SimEvent]:
        seen: list[SimEvent] = list(self.told)
        seen.extend(self._heard("rotor", self._ticks(start_s, end_s)))
        seen.extend(self._passes())
        seen.extend(self._lying(start_s, end_s))
        seen.sort(key=_t_us)
        return seen

    def _ticks(self, start_s: float, end_s: float) -> Iterator[tuple[float, SimEvent]]:
        ticks = self.layout.rotor_ticks
        for t_s, k, clockwise in self.rotor.crossings(0.0, 1 / ticks, start_s, end_s):
            tick = tick_entered(k, ticks, clockwise=clockwise)
            yield t_s, RotorEdge(us(t_s), tick, "cw" if clockwise else "ccw")

    def _passes(self) -> Iterator[SimEvent]:
        for run in self.runs:
            for t_s, beam in run.passes(self.layout.beams_deg):
                yield from self._heard(f"beam/{beam}", [(t_s, BallPass(us(t_s), beam))])

    def _lying(self, start_s: float, end_s: float) -> Iterator[SimEvent]:
        for stay in self.stays:
            for t_s, reader in self.sightings(stay, start_s, end_s):
                yield from self._heard(f"reader/{reader}", [(t_s, Sighting(us(t_s), reader))])

    def _heard(self, sensor: str, events: Iterable[tuple[float, SimEvent]]) -> Iterator[SimEvent]:
        silent = [(o.from_s, o.to_s) for o in self.outages if o.sensor in {sensor, "link"}]
        for t_s, event in events:
            if not any(start <= t_s <= end for start, end in silent):
                yield event


def _t_us(event: SimEvent) -> int:
    return event.t_us
