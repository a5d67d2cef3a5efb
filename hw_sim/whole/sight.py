"""How the wheel's sensors report what happens: correctly, late or not at all. If the encoder's disc has slipped, they
report another rotor angle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from hw_sim.events import BallPass, RotorEdge, Sighting, SimEvent
from hw_sim.whole.timeline import Timeline

LATE_US = 30_000


class SimSight:
    """The sensors of one wheel. They call `report` with what they see. A sensor with a count in `blind` or `late` is
    blind or late. The count is that of the active causes. `slipped`: by how many ticks the encoder's disc is ahead."""

    def __init__(self, timeline: Timeline, rotor_ticks: int, report: Callable[[SimEvent], None]) -> None:
        self._timeline, self._ticks, self._report = timeline, rotor_ticks, report
        self.blind: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.slipped = 0

    def see(self, event: SimEvent) -> None:
        """Report an event that happens at the wheel now, as the sensors see it."""
        match event:
            case RotorEdge(tick=tick):
                event = msgspec.structs.replace(event, tick=(tick + self.slipped) % self._ticks)
            case BallPass(beam=beam):
                self._seen_by(f"beam/{beam}", event)
                return
            case Sighting(reader=reader):
                self._seen_by(f"reader/{reader}", event)
                return
        self._report(event)

    def _seen_by(self, sensor: str, event: SimEvent) -> None:
        if self.blind[sensor]:
            return
        if not self.late[sensor]:
            self._report(event)
            return
        late = msgspec.structs.replace(event, t_us=event.t_us + LATE_US)
        self._timeline.at(late.t_us, lambda: self._report(late))
