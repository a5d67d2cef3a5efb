"""The rotor's encoder on three lines: A and B a quarter of a period apart, Z once a turn.

Pure. Turning clockwise, A goes before B: (A, B) runs 00, 10, 11, 01. One such change is a step, four are a period.
A *quadrature* encoder has a tick for each step; *slots* (a ring of slots that two beams look through, a quarter of a
pitch apart) have one for each period, because slots need not be as wide as the bars between them.

Z says where on the rotor that is: its edge on the side of the low angles, the one that rises turning clockwise and
falls turning back. A and B say which step of a period it is, so that edge may come up to a step early or late.

What is not known is not reported: before the first Z nothing is. There are four faults. An edge that repeats a level:
an edge was lost. Two passes of Z with anything but a whole turn between them: steps were lost. More than a turn without
Z: Z was lost. A pass of Z while A and B only go to and fro: A or B is dead. Then `rotor` is reported as not working,
and nothing else until Z has shown again where the rotor stands. After a wrong turn that takes two passes that agree,
because either of them may have been the wrong one.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from wheeld.core.observations import Rotor, SensorState

Line: TypeAlias = Literal["a", "b", "z"]
Kind: TypeAlias = Literal["quadrature", "slots"]
Seen: TypeAlias = Rotor | SensorState

PERIOD = 4
"""Steps of a period."""
PHASES = {(False, False): 0, (True, False): 1, (True, True): 2, (False, True): 3}
STEPS_A_TICK: dict[Kind, int] = {"quadrature": 1, "slots": PERIOD}
INDEX_STEPS_MAX = 2
"""How wide Z may be. The same way and no farther on than this, an edge of Z is one of the same pass: either of its
edges bounces, or a hand turns back within a step, which A and B do not show. Wider, its other edge is another place."""
LATE_INDEX_STEPS = 2 * PERIOD
"""How much more than a turn may go by before Z is missed: its edge may be a step late, and the rotor may turn back."""

RATTLE_STEPS = 2 * PERIOD
"""A rotor that stands rattles at one border for as long as it likes, but no Z goes by it; beside Z, one of its edges
may come when the rotor leaves."""


class Encoder:
    """One encoder of `ticks` a turn, from the daemon's start on. Z stands in sector `index_tick`."""

    def __init__(self, kind: Kind, ticks: int, index_tick: int = 0) -> None:
        self._per_tick = STEPS_A_TICK[kind]
        self.ticks = ticks
        """A turn."""
        self._turn = ticks * self._per_tick
        self._index = index_tick * self._per_tick + (kind == "slots")
        self._levels: dict[Line, bool] = {}
        self._without_edge: set[Line] = set()
        """Lines whose level was read at the start and that have had no edge yet."""
        self._phase: int | None = None
        self._count = 0
        """Steps, clockwise positive; its remainder by `PERIOD` is always the phase."""
        self._offset: int | None = None
        """What to subtract from the count to get steps from sector 0 on; a whole number of periods. None: unknown."""
        self._known = False
        self._clockwise: bool | None = None
        self._place = self._rattled = 0
        """A count, and how many steps have led no farther from it than one."""
        self._rattled_index = 0
        """How many edges of Z have come among them."""
        self._since_index = 0
        self._index_way: bool | None = None
        self.ok = True
        """What was last reported of the sensor `rotor`."""
        self.violations = 0
        """Lost edges and passes of Z in the wrong place, so far."""

    @property
    def travel_ticks(self) -> float:
        """How far the rotor has turned, in ticks, clockwise positive: differences of it, whether Z was seen or not."""
        return self._count / self._per_tick

    def edge(self, line: Line, t_us: int, *, level: bool) -> list[Seen]:
        """`line` went to `level` at `t_us`."""
        before = self._levels.get(line)
        self._levels[line] = level
        is_first = line in self._without_edge
        self._without_edge.discard(line)
        if line == "z":
            return [] if before is level else self._index_edge(t_us, rises=level)
        if before is level:
            return [] if is_first else self.forget(t_us)
        if "a" not in self._levels or "b" not in self._levels:
            return []
        return self._stepped(PHASES[self._levels["a"], self._levels["b"]], t_us)

    def stand(self, line: Line, *, level: bool) -> None:
        """Before any edge, `line` is at `level`. An edge that came between asking for edges and reading the level is in
        both: it is nothing new, and has been counted."""
        self._levels[line] = level
        self._without_edge.add(line)
        if "a" in self._levels and "b" in self._levels:
            self._phase = self._count = PHASES[self._levels["a"], self._levels["b"]]

    def forget(self, t_us: int) -> list[Seen]:
        """Edges were lost about `t_us`: only the next Z shows where the rotor stands."""
        self._phase = self._offset = self._clockwise = None
        return self._doubt(t_us)

    def _stepped(self, phase: int, t_us: int) -> list[Seen]:
        if self._phase is None:
            self._phase = phase
            self._count += (phase - self._count) % PERIOD
            self._since_index = 0
            return []
        before, self._clockwise = self._count, (phase - self._phase) % PERIOD == 1
        way = 1 if self._clockwise else -1
        self._phase = phase
        self._count += way
        self._since_index += way
        self._rattled += 1
        if abs(self._count - self._place) > 1:
            self._place, self._rattled, self._rattled_index = self._count, 0, 0
        if abs(self._since_index) > self._turn + LATE_INDEX_STEPS:
            self._since_index, self._offset = 0, None
            return self._doubt(t_us)
        if not self._known or self._offset is None:
            return []
        border = (self._count if self._clockwise else before) - self._offset
        if border % self._per_tick:
            return []
        sector = border // self._per_tick - (not self._clockwise)
        return [Rotor(t_us=t_us, tick=sector % self.ticks, direction="cw" if self._clockwise else "ccw")]

    def _index_edge(self, t_us: int, *, rises: bool) -> list[Seen]:
        self._rattled_index += self._rattled >= RATTLE_STEPS
        if self._rattled_index > 1:
            return self._doubt(t_us)
        if self._phase is None or self._clockwise is not rises:
            return []
        way, turned = self._clockwise, self._since_index
        again = self._index_way is way and abs(turned) <= LATE_INDEX_STEPS
        if again and self._offset is not None and abs(turned) <= INDEX_STEPS_MAX:
            return []
        self._since_index, self._index_way = 0, way
        offset = (self._count - self._index + 1) // PERIOD * PERIOD
        out_of_phase = self._count - self._index - offset == 2
        before, self._offset = self._offset, offset
        agrees = before is None or (not again and (offset - before) % self._turn == 0)
        if out_of_phase or not agrees:
            return self._doubt(t_us)
        self._known = True
        if self.ok:
            return []
        self.ok = True
        return [SensorState(t_us=t_us, sensor="rotor", ok=True)]

    def _doubt(self, t_us: int) -> list[Seen]:
        self._known = False
        self.violations += 1
        if not self.ok:
            return []
        self.ok = False
        return [SensorState(t_us=t_us, sensor="rotor", ok=False)]
