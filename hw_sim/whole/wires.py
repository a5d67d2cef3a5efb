"""Sensors and buttons on pins of the daemon's own computer, as events happen at the wheel."""

from __future__ import annotations

from collections.abc import Callable

from hw_sim.events import BallPass, ForeignObject, RotorEdge, Sighting, SimEvent, TableCommand
from hw_sim.pins import SimPins
from hw_sim.rotor import Rotor
from hw_sim.wheel import Layout
from hw_sim.wired import PERIOD, PRESS_S
from wheeld.ports import Edge, Taken

A, B, Z = ENCODER = (2, 3, 4)
BEAMS, READERS, OBJECT = 5, 20, 16
"""The pin of the first beam and of the first reader; the others follow."""
BUTTONS = {"rien_va": 13, "tout_va": 14, "operations_done": 15, "rien_ne_va_plus": 17, "open": 18, "resume": 19}
INDEX_TICK = 5
BEAM_S, READER_S = 0.008, 0.040
"""How long the ball blocks a beam and a reader."""
SLOWEST_S, STEP_S = 2.0, 0.001
"""A rotor that takes longer for half a tick stands; and how finely the time of an index is known."""
LAG_NS = 30_000_000
"""Everything is wired so much later than it happens, for a ball blocks a sensor before its middle passes it."""


class HousePins(SimPins):
    """Pins on the computer's clock."""

    def __init__(self, clock_ns: Callable[[], int]) -> None:
        super().__init__(now_ns=clock_ns())
        self._clock_ns = clock_ns

    def take(self) -> Taken:
        """The edges up to now."""
        self.advance(max(self.now_ns, self._clock_ns()))
        return super().take()


class SimWires:
    """The wires of one wheel; `clock_ns` is the clock of the computer that they lead to."""

    is_blind = False
    has_power = True

    def __init__(self, layout: Layout, clock_ns: Callable[[], int], rotor: Callable[[], Rotor]) -> None:
        self._ticks, self._rotor = layout.rotor_ticks, rotor
        self._clock_ns = clock_ns
        self._levels = dict.fromkeys(ENCODER, False)
        self._pins: HousePins | None = None
        self._index_owed: bool | None = None
        """The level of Z once the rotor has turned by half a tick, where it stood still before that."""

    def open(self) -> HousePins:
        """The daemon takes the pins, which have the levels that they have."""
        now_ns = self._clock_ns()
        self._pins = HousePins(self._clock_ns)
        self._pins.play([Edge(pin, level, now_ns) for pin, level in self._levels.items()])
        self._pins.advance(now_ns)
        return self._pins

    def close(self) -> None:
        """The daemon has ended: edges come to nobody."""
        self._pins = None

    def feed(self, event: SimEvent) -> None:
        """Something happens at the wheel now."""
        at_ns = self._clock_ns() + LAG_NS
        match event:
            case RotorEdge():
                self._encoder(at_ns, event)
            case BallPass(beam=beam):
                self._blocked(BEAMS + beam, at_ns - round(BEAM_S * 5e8), BEAM_S)
            case Sighting(reader=reader):
                self._blocked(READERS + reader, at_ns - round(READER_S * 5e8), READER_S)
            case ForeignObject(present=present):
                self._level(OBJECT, at_ns, level=not present)
            case TableCommand(name=name) if name in BUTTONS:
                self._blocked(BUTTONS[name], at_ns, PRESS_S)

    def _encoder(self, at_ns: int, edge: RotorEdge) -> None:
        """A and B at the border of two ticks; Z from the middle of the marked tick to the middle of the next."""
        tick, is_clockwise = edge.tick, edge.direction == "cw"
        if self._index_owed is not None and tick not in (INDEX_TICK, INDEX_TICK + 1):
            self._level(Z, at_ns, level=self._index_owed)
        self._index_owed = None
        place = tick % PERIOD
        self._level(A, at_ns, level=place in (1, 2))
        self._level(B, at_ns, level=place in (2, 3))
        if tick not in (INDEX_TICK, INDEX_TICK + 1):
            return
        level = (tick == INDEX_TICK) is is_clockwise
        if (half_s := self._half_tick_s(edge.t_us / 1e6)) is None:
            self._index_owed = level
        else:
            self._level(Z, at_ns + round(half_s * 1e9), level=level)

    def _half_tick_s(self, t_s: float) -> float | None:
        """How long the rotor takes from `t_s` for half a tick; None when it stops before."""
        rotor, way = self._rotor(), 0.5 / self._ticks
        start = rotor.angle_at(t_s)

        def has_turned(seconds: float) -> bool:
            return abs(rotor.angle_at(t_s + seconds) - start) >= way

        steps = range(round(SLOWEST_S / STEP_S))
        return next((step * STEP_S for step in steps if has_turned(step * STEP_S)), None)

    def _blocked(self, pin: int, from_ns: int, for_s: float) -> None:
        self._level(pin, from_ns, level=False)
        self._level(pin, from_ns + round(for_s * 1e9), level=True)

    def _level(self, pin: int, at_ns: int, *, level: bool) -> None:
        self._levels[pin] = level
        if self._pins is not None:
            self._pins.play([Edge(pin, level, max(at_ns, self._pins.now_ns))])
