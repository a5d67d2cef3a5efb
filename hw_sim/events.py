"""What the simulated wheel does to its sensors, one dataclass an event; `t_us` is the sensor board's clock.

The physics writes these, the simulated board sends them. They follow the observation log, format 1, and are the
simulator's own on purpose: it shares no types with the program under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["cw", "ccw"]


@dataclass(frozen=True, slots=True)
class RotorEdge:
    """The rotor entered encoder sector `tick` (absolute, 0…ticks-1) turning `direction`, seen from above."""

    t_us: int
    tick: int
    direction: Direction


@dataclass(frozen=True, slots=True)
class BallPass:
    """Something crossed beam number `beam` of the ball track."""

    t_us: int
    beam: int


@dataclass(frozen=True, slots=True)
class Sighting:
    """The ball, lying in a pocket, passed under reader number `reader`."""

    t_us: int
    reader: int


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """The cylinder's object sensor sees a body that is not the ball (`present`), or no longer does."""

    t_us: int
    present: bool


@dataclass(frozen=True, slots=True)
class SensorState:
    """`sensor` (`beam/N`, `reader/N`, `rotor`, `object`, `link`) works from now on, or does not.

    `link` is the cable between board and host: silent from `ok=False` to `ok=True`.
    """

    t_us: int
    sensor: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Person:
    """Someone at the table gives command `name`; on the board it is a button, which knows neither `by` nor `reason`.

    `bouler` (with `who`) has no button: such a command reaches the daemon over MQTT only.
    """

    t_us: int
    name: str
    by: str
    reason: str = ""
    who: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    """Nothing more happens; time ran to here."""

    t_us: int


SimEvent: TypeAlias = RotorEdge | BallPass | Sighting | ForeignObject | SensorState | Person | End
