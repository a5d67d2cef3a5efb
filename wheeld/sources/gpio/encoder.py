"""The rotor's encoder on three lines: A and B a quarter of a period apart, Z once a turn. No I/O.

If the rotor turns clockwise, A changes before B: the levels (A, B) are 00, 10, 11, 01, in this order. One such change
is a step, and four steps are a period. A *quadrature* encoder has a tick for each step. *Slots* (a ring of slots with
two beams a quarter of a pitch apart) have a tick for each period, because slots and bars may have different widths.

Z shows the position of the rotor. Of its two edges, the one at the lower angle counts: it rises if the rotor turns
clockwise, and falls if the rotor turns back. A and B show the step within a period, so this edge of Z may come up to a
step early or late.

An unknown position is not reported, so there are no reports before the first Z. There are four faults:

- An edge repeats the level of its line: an edge was lost.
- Two passes of Z are not a whole turn apart: steps were lost.
- The rotor turns by more than a turn without Z: Z was lost.
- Z passes while all steps go forward and back again: A or B is dead.

After a fault `rotor` is reported as not working, and no edge is reported until Z has shown the position again. After a
turn of wrong length two passes of Z must agree, because each of the two passes before may have been wrong.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from wheeld.core.observations import Rotor, SensorState

Line: TypeAlias = Literal["a", "b", "z"]
Kind: TypeAlias = Literal["quadrature", "slots"]
Seen: TypeAlias = Rotor | SensorState

PERIOD = 4
"""The number of steps in a period."""
PHASES = {(False, False): 0, (True, False): 1, (True, True): 2, (False, True): 3}
STEPS_A_TICK: dict[Kind, int] = {"quadrature": 1, "slots": PERIOD}
INDEX_STEPS_MAX = 2
"""How wide Z may be. A second edge of Z in the same direction within this distance belongs to the same pass: Z bounced,
or a hand turned the rotor back by less than a step, which A and B do not show."""
LATE_INDEX_STEPS = 2 * PERIOD
"""How far the rotor may turn beyond a turn before Z counts as missed. Z may be a step late, and the rotor may turn
back."""
RATTLE_STEPS = 2 * PERIOD
"""A rotor that has made so many steps forward and back at one border stands still and shakes. Z does not pass then. But
if the border is at Z, one edge of Z may come when the rotor turns away."""


class Encoder:
    """One encoder with `ticks` sectors in a turn, from the daemon's start on. Z is in sector `index_tick`."""

    def __init__(self, kind: Kind, ticks: int, index_tick: int = 0) -> None:
        self._per_tick = STEPS_A_TICK[kind]
        self.ticks = ticks
        """The number of ticks in a turn."""
        self._turn = ticks * self._per_tick
        self._index = index_tick * self._per_tick + (kind == "slots")
        self._levels: dict[Line, bool] = {}
        self._without_edge: set[Line] = set()
        """The lines that have had no edge since their level was read at the start."""
        self._phase: int | None = None
        self._count = 0
        """The steps so far, clockwise positive. Modulo `PERIOD` this is always the phase."""
        self._offset: int | None = None
        """The count at the beginning of sector 0, a whole number of periods. None if unknown."""
        self._known = False
        self._clockwise: bool | None = None
        self._place = self._rattled = 0
        """`_rattled`: how many steps in a row have stayed within one step of the count `_place`."""
        self._rattled_index = 0
        """How many edges of Z came during these steps, after the first `RATTLE_STEPS`."""
        self._since_index = 0
        self._index_way: bool | None = None
        self.ok = True
        """Whether the sensor `rotor` works, as last reported."""
        self.violations = 0
        """How many faults there were."""

    @property
    def travel_ticks(self) -> float:
        """How far the rotor has turned, in ticks, clockwise positive. Only the difference of two values has a meaning.
        Z is not needed."""
        return self._count / self._per_tick

    def edge(self, line: Line, t_us: int, *, level: bool) -> list[Seen]:
        """Process an edge: `line` changed to `level` at `t_us`."""
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
        """Set the `level` of `line` before any edge. If an edge came after edges were requested and before the level
        was read, the level contains it, and it is not counted again."""
        self._levels[line] = level
        self._without_edge.add(line)
        if "a" in self._levels and "b" in self._levels:
            self._phase = self._count = PHASES[self._levels["a"], self._levels["b"]]

    def forget(self, t_us: int) -> list[Seen]:
        """Forget the position, because edges were lost at about `t_us`. Only the next Z shows the position again."""
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
