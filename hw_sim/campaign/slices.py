"""Makes logs of parts of an evening, from one mark to another, as if the table had opened at the first mark."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from hw_sim import log
from hw_sim.campaign.comparison import MarkSpan
from hw_sim.evening import Evening
from hw_sim.events import (
    BallPass,
    ClockReading,
    End,
    RotorEdge,
    SensorState,
    Sighting,
    SimEvent,
    Switched,
    TableCommand,
)
from hw_sim.faults import FaultyEvening, Strike
from hw_sim.world import T_US, us

WATCHED_US = 3_000_000
"""How long before its first mark a log shows the rotor. Otherwise the first launch would count as unseen
(docs/rulebook.md 7). In this time sensors see any ball that runs."""
MET_US = 30_000_000
"""How long before its first mark a log shows the sightings of the lying ball: two turns of the slowest rotor. Readers
that did not see the ball where it lay prove nothing when the rotor stops before the ball falls (docs/rulebook.md,
N5)."""


@dataclass(frozen=True)
class Slice:
    """The marks of `evening` from `first` to `last`, both included, with the events of `faulty`."""

    evening: Evening
    faulty: FaultyEvening
    first: int
    last: int

    def spans(self) -> list[MarkSpan]:
        """Return the marks and their true outcomes, on the clock of the log."""
        return [
            MarkSpan(
                index,
                self._log_us(us(mark.start_s)),
                tuple(self.faulty.truth[mark.first : mark.first + mark.count]),
            )
            for index, mark in enumerate(self.evening.marks[self.first : self.last + 1], start=self.first)
        ]

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the slice's log. From the evening's first mark on, the log is complete. From a later mark
        on, it starts with the earlier clock readings, the last rotor edges and sightings of the lying ball, the present
        states (failed sensors, an object in the cylinder), and the command "open"."""
        return log.lines(self.header, self.events())

    @property
    def header(self) -> dict[str, Any]:
        """The content of the log's first line."""
        return {**self.evening.header, "last_number": self.evening.marks[self.first].last_number}

    def events(self) -> Iterator[SimEvent]:
        """Yield the events of the log, with `End` last."""
        events, start_us, end_us = self.faulty.events, self.start_us, self.end_us
        start = bisect_left(events, start_us, key=T_US)
        if self.first:
            watched = self._watched(start)
            yield from (event for event in events[:watched] if isinstance(event, ClockReading))
            seen = RotorEdge | Sighting | ClockReading
            yield from (event for event in events[watched:start] if isinstance(event, seen))
            # Begin with the states that the earlier events left: failed sensors, an object in the cylinder.
            failed = {event.sensor: event for event in events[:start] if isinstance(event, SensorState)}
            switched = {event.switch: event for event in events[:start] if isinstance(event, Switched)}
            unusual = (
                *(each for each in failed.values() if not each.ok),
                *(each for each in switched.values() if each.stands),
            )
            yield from (msgspec.structs.replace(each, t_us=start_us) for each in unusual)
            yield TableCommand(start_us, "open", "chef")
        before = self.evening.marks[self.first].first
        for event in events[start : min(bisect_left(events, end_us, key=T_US), len(events) - 1)]:
            if isinstance(event, TableCommand) and event.coup is not None:
                # This log counts its coups from its own start.
                yield msgspec.structs.replace(event, coup=event.coup - before)
            else:
                yield event
        yield End(end_us)

    def _watched(self, start: int) -> int:
        """Return the index of the event from which the log shows the rotor's edges and the sightings of the lying ball.
        From this event to WATCHED_US before the start, no ball runs, no sensor fails, and nobody names the ball's
        pocket."""
        events = self.faulty.events
        lying = bisect_left(events, self.start_us - MET_US, key=T_US)
        for index in range(lying, start):
            match events[index]:
                case BallPass() | SensorState() | TableCommand(name="resume"):
                    lying = index + 1
        return min(lying, bisect_left(events, self.start_us - WATCHED_US, key=T_US))

    def strikes(self) -> list[Strike]:
        """Return the strikes of faults that are in this slice, or partly in it."""
        return [one for one in self.faulty.strikes if one.from_us < self.end_us and one.to_us >= self.start_us]

    @property
    def start_us(self) -> int:
        """The start of the slice on the clock of the log."""
        return self._log_us(us(self.evening.marks[self.first].start_s)) if self.first else 0

    @property
    def end_us(self) -> int:
        """The end of the slice on the clock of the log. After an evening's last mark, the last seconds are included."""
        if self.last + 1 >= len(self.evening.marks):
            return self.faulty.events[-1].t_us
        return self._log_us(us(self.evening.marks[self.last].end_s))

    def _log_us(self, world_us: int) -> int:
        return round(world_us * self.faulty.scale)
