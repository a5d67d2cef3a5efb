"""A wheel that is connected by wires: turns its events into levels of GPIO lines.

The levels of the encoder's lines follow from the rotor's motion. The ball blocks a beam or a reader while it passes.
Contacts bounce. Commands without a button have no line: `commands_without_button` returns them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from hw_sim.events import BallPass, SensorState, Sighting, SimEvent, Switched, TableCommand
from hw_sim.rotor import tick_entered
from hw_sim.wheel import RADIUS_M
from hw_sim.world import World
from wheeld.ports import Edge

BALL_M = 0.020
"""The diameter of a ball. Real balls have 18 or 21 mm."""
POCKET_RADIUS_M = 0.25
"""The distance from the rotor's axis to a ball in a pocket."""
STRAY_S = 0.004
BLOCKED_S = (0.002, 0.4)
"""The shortest and the longest time for which the ball blocks a sensor. While the rotor stands still, the longest time
is used."""
BOUNCE_S = (0.0, 0.0007, 0.0015, 0.0021, 0.0026)
"""The times at which a bouncing contact closes, opens, closes, and so on. After the last time it stays closed."""
PRESS_S = 0.15
PERIOD = 4


@dataclass(frozen=True)
class Wires:
    """The numbers of the lines. `steps_a_tick`: 1 for a quadrature encoder, 4 for slots. An active sensor or button
    pulls its line low. The door's contact pulls its line low while the door is closed."""

    a: int
    b: int
    z: int
    steps_a_tick: int = 1
    index_tick: int = 0
    beams: tuple[int, ...] = ()
    readers: tuple[int, ...] = ()
    switches: dict[str, int] = field(default_factory=dict)
    buttons: dict[str, int] = field(default_factory=dict)

    @property
    def pins(self) -> list[int]:
        """The numbers of all lines."""
        contacts = (*self.switches.values(), *self.buttons.values())
        return [self.a, self.b, self.z, *self.beams, *self.readers, *contacts]

    @property
    def door_pin(self) -> int | None:
        """The line of the door. Unlike the other lines it is high when active, which means that the door is open."""
        return self.switches.get("door")


@dataclass(frozen=True)
class Change:
    """The line `pin` becomes active or inactive at `t_s`."""

    t_s: float
    pin: int
    active: bool


def levels(world: World, wires: Wires) -> dict[int, bool]:
    """Return the level of each line at time 0, when nothing is blocked or pressed."""
    turn = world.layout.rotor_ticks * wires.steps_a_tick
    angle = world.rotor.angle_at(0.0)
    a, b = _phase(math.floor(angle * turn))
    mark = _index(wires)
    z = (angle * turn - mark) % turn < 1
    idle = dict.fromkeys(wires.pins, True)
    door = {} if wires.door_pin is None else {wires.door_pin: False}
    return {**idle, **door, wires.a: a, wires.b: b, wires.z: z}


def edges(world: World, events: Iterable[SimEvent], end_s: float, wires: Wires) -> list[Edge]:
    """Return every change of a line from time 0 to `end_s`, in order."""
    changes: list[Change] = []
    turn = world.layout.rotor_ticks * wires.steps_a_tick
    for t_s, border, clockwise in world.rotor.crossings(0.0, 1 / turn, 0.0, end_s):
        a, b = _phase(tick_entered(border, turn, clockwise=clockwise))
        changes += [Change(t_s, wires.a, a), Change(t_s, wires.b, b)]
    for side in (0, 1):
        for t_s, _, clockwise in world.rotor.crossings((_index(wires) + side) / turn, 1.0, 0.0, end_s):
            changes.append(Change(t_s, wires.z, clockwise is (side == 0)))
    for event in events:
        changes += _of(event, world, wires)
    changes.sort(key=lambda change: change.t_s)
    encoder = {wires.a, wires.b, wires.z}
    blocked: dict[int, int] = {}
    now = levels(world, wires)
    found: list[Edge] = []
    for change in changes:
        if change.t_s >= end_s:
            break
        level = change.active
        if change.pin not in encoder:  # two things in front of a sensor block it until both are gone
            blocked[change.pin] = max(0, blocked.get(change.pin, 0) + (1 if change.active else -1))
            level = bool(blocked[change.pin]) is (change.pin == wires.door_pin)
        if now[change.pin] is not level:
            now[change.pin] = level
            found.append(Edge(change.pin, level, round(change.t_s * 1e9)))
    return found


def commands_without_button(events: Iterable[SimEvent], wires: Wires) -> list[TableCommand]:
    """Return the commands that have no button."""
    return [event for event in events if isinstance(event, TableCommand) and event.name not in wires.buttons]


def _index(wires: Wires) -> float:
    """Return the place at which Z begins, in steps. This place is in the middle of a step."""
    return wires.index_tick * wires.steps_a_tick + (wires.steps_a_tick > 1) + 0.5


def _phase(step: int) -> tuple[bool, bool]:
    place = step % PERIOD
    return place in (1, 2), place in (2, 3)


def _of(event: SimEvent, world: World, wires: Wires) -> Iterator[Change]:
    t_s = event.t_us / 1e6
    match event:
        case BallPass(beam=beam):
            # A ball blocks the beam while it passes. Without a ball, this is a stray pulse of STRAY_S.
            run = next((run for run in world.runs if run.t_s <= t_s <= run.end_s), None)
            width_s = STRAY_S
            if run is not None:
                width_s = _width_s(math.sqrt(run.speed_squared(run.laps_at(t_s))), RADIUS_M)
            yield from _blocked(wires.beams[beam], t_s, width_s)
        case Sighting(reader=reader):
            speed = abs(world.rotor.speed_at(t_s))
            yield from _blocked(wires.readers[reader], t_s, _width_s(speed, POCKET_RADIUS_M))
        case Switched() if (pin := wires.switches.get(event.switch)) is not None:
            yield from _moved(pin, t_s, active=event.stands) if event.bounces else [Change(t_s, pin, event.stands)]
        case SensorState(sensor=sensor, ok=ok) if "/" in sensor:
            kind, _, number = sensor.partition("/")
            yield Change(t_s, (wires.beams if kind == "beam" else wires.readers)[int(number)], not ok)
        case TableCommand(name=name) if name in wires.buttons:
            yield from _moved(wires.buttons[name], t_s, active=True)
            yield from _moved(wires.buttons[name], t_s + PRESS_S, active=False)


def _blocked(pin: int, middle_s: float, width_s: float) -> Iterator[Change]:
    yield Change(middle_s - width_s / 2, pin, active=True)
    yield Change(middle_s + width_s / 2, pin, active=False)


def _moved(pin: int, t_s: float, *, active: bool) -> Iterator[Change]:
    """Yield the changes of a contact that moves and bounces."""
    for number, bounce_s in zip(count(), BOUNCE_S, strict=False):
        yield Change(t_s + bounce_s, pin, active=(number % 2 == 0) is active)


def _width_s(rev_s: float, radius_m: float) -> float:
    least, most = BLOCKED_S
    return most if not rev_s else min(most, max(least, BALL_M / (math.tau * radius_m * rev_s)))
