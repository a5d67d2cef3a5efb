"""Sensors and buttons on pins of the daemon's own computer: turns events at the wheel into edges."""

from __future__ import annotations

from collections.abc import Callable

from hw_sim.events import BallPass, ForeignObject, RotorEdge, Sighting, SimEvent, TableCommand
from hw_sim.pins import SimPins
from hw_sim.wheel import WheelLayout
from hw_sim.whole.timeline import Timeline
from hw_sim.wired import PERIOD, PRESS_S
from hw_sim.world import World
from wheeld.ports import Edge, Taken

A, B, Z = ENCODER = (2, 3, 4)
BEAMS, READERS, OBJECT = 5, 20, 16
"""The pins of the first beam, of the first reader and of the object sensor. The other beams and readers follow."""
BUTTONS = {"rien_va": 13, "tout_va": 14, "operations_done": 15, "rien_ne_va_plus": 17, "open": 18, "resume": 19}
INDEX_TICK = 5
BEAM_S, READER_S = 0.008, 0.040
"""How long the ball blocks a beam and a reader."""
INDEX_S, STANDING_S = 0.004, 0.05
"""The time between two looks at the mark when it is near: while the rotor turns, and while it stands still."""
LAG_NS = 30_000_000
"""The delay of every edge. The ball blocks a sensor before the time of the event, but no edge can be in the past."""


class HousePins(SimPins):
    """Pins whose time is the computer's clock."""

    def __init__(self, clock_ns: Callable[[], int]) -> None:
        super().__init__(now_ns=clock_ns())
        self._clock_ns = clock_ns

    def take(self) -> Taken:
        """Return the edges up to now."""
        self.advance(max(self.now_ns, self._clock_ns()))
        return super().take()


class SimWires:
    """The wires of one wheel. `clock_ns` is the clock of the computer at their end."""

    is_blind = False
    has_power = True

    def __init__(
        self, layout: WheelLayout, clock_ns: Callable[[], int], world: Callable[[], World], timeline: Timeline
    ) -> None:
        self._ticks, self._world, self._timeline = layout.rotor_ticks, world, timeline
        self._watches_index = False
        self._clock_ns = clock_ns
        self._levels = dict.fromkeys(ENCODER, False)
        self._pins: HousePins | None = None

    def open(self) -> HousePins:
        """Return pins for the daemon, with their present levels."""
        now_ns = self._clock_ns()
        self._pins = HousePins(self._clock_ns)
        self._pins.play([Edge(pin, level, now_ns) for pin, level in self._levels.items()])
        self._pins.advance(now_ns)
        return self._pins

    def close(self) -> None:
        """Drop the pins, because the daemon has ended. Further edges are lost."""
        self._pins = None

    def feed(self, event: SimEvent) -> None:
        """Turn an event that happens at the wheel now into edges."""
        at_ns = self._clock_ns() + LAG_NS
        match event:
            case RotorEdge():
                # A and B change at the border of two ticks. Z is high from the middle of the marked tick to the middle
                # of the next tick.
                place = event.tick % PERIOD
                self._level(A, at_ns, level=place in (1, 2))
                self._level(B, at_ns, level=place in (2, 3))
                if not self._watches_index and INDEX_TICK <= event.tick <= INDEX_TICK + 1:
                    self._watch_index()
            case BallPass(beam=beam):
                self._blocked(BEAMS + beam, at_ns - round(BEAM_S * 5e8), BEAM_S)
            case Sighting(reader=reader):
                self._blocked(READERS + reader, at_ns - round(READER_S * 5e8), READER_S)
            case ForeignObject(present=present):
                self._level(OBJECT, at_ns, level=not present)
            case TableCommand(name=name) if name in BUTTONS:
                self._blocked(BUTTONS[name], at_ns, PRESS_S)

    def _watch_index(self) -> None:
        """Look at the encoder's mark often while it is near, because a hand may stop or turn the rotor between two
        edges. The mark is on the encoder's disc and slips with the disc."""
        world, now_s = self._world(), self._timeline.now_us / 1e6
        rotor, slipped = world.rotor, world.slipped_by(now_s)
        past = (rotor.angle_at(now_s) * self._ticks + slipped - INDEX_TICK) % self._ticks
        self._level(Z, self._clock_ns() + LAG_NS, level=0.5 <= past < 1.5)
        self._watches_index = past < 2 or past > self._ticks - 1
        if self._watches_index:
            self._timeline.after_s(INDEX_S if rotor.speed_at(now_s) else STANDING_S, self._watch_index)

    def _blocked(self, pin: int, from_ns: int, for_s: float) -> None:
        self._level(pin, from_ns, level=False)
        self._level(pin, from_ns + round(for_s * 1e9), level=True)

    def _level(self, pin: int, at_ns: int, *, level: bool) -> None:
        if self._levels.get(pin) is level:
            return
        self._levels[pin] = level
        if self._pins is not None:
            self._pins.play([Edge(pin, level, max(at_ns, self._pins.now_ns))])
