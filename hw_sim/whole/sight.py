"""The sensors of the wheel. They report each event correctly, late or not at all. If the encoder's disc has slipped,
the encoder reports another angle of the rotor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from hw_sim.events import BallPass, RotorEdge, Sighting, SimEvent
from hw_sim.whole.timeline import Timeline

LATE_US = 30_000


class SimSight:
    """The sensors of one wheel. They call `report` with what they see. `blind` and `late` count for each sensor the
    faults that now make it blind or late. `slipped`: by how many ticks the encoder's disc is ahead."""

    def __init__(self, timeline: Timeline, rotor_ticks: int, report: Callable[[SimEvent], None]) -> None:
        self._timeline, self._ticks, self._report = timeline, rotor_ticks, report
        self.blind: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.slipped = 0

    def see(self, event: SimEvent) -> None:
        """Report an event that happens at the wheel now, as the sensors see it."""
        if isinstance(event, RotorEdge):
            event = msgspec.structs.replace(event, tick=(event.tick + self.slipped) % self._ticks)
        elif isinstance(event, BallPass | Sighting):
            if self.blind[event.seen_by]:
                return
            if self.late[event.seen_by]:
                late = msgspec.structs.replace(event, t_us=event.t_us + LATE_US)
                self._timeline.at(late.t_us, lambda: self._report(late))
                return
        self._report(event)
