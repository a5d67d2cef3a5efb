"""What the simulated wheel does to its sensors, one structure an event; `t_us` is the sensor board's clock.

The physics writes these, the simulated board sends them, the log writes them down as they are: they follow the
observation log, format 1, and are the simulator's own on purpose: it shares no types with the program under test.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Direction: TypeAlias = Literal["cw", "ccw"]


class _Event(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True, gc=False):
    """An evening has hundreds of thousands of these: structures that write themselves as a line of the log."""

    t_us: int = msgspec.field(name="t")


class RotorEdge(_Event, frozen=True, tag="rotor"):
    """The rotor entered encoder sector `tick` (absolute, 0…ticks-1) turning `direction`, seen from above."""

    tick: int
    direction: Direction


class BallPass(_Event, frozen=True, tag="ball"):
    """Something crossed beam number `beam` of the ball track."""

    beam: int


class Sighting(_Event, frozen=True, tag="pocket"):
    """The ball, lying in a pocket, passed under reader number `reader`."""

    reader: int


class ForeignObject(_Event, frozen=True, tag="object"):
    """The cylinder's object sensor sees a body that is not the ball (`present`), or no longer does."""

    present: bool


class SensorState(_Event, frozen=True, tag="sensor"):
    """`sensor` (`beam/N`, `reader/N`, `rotor`, `object`, `link`) works from now on, or does not.

    `link` is the cable between board and host: silent from `ok=False` to `ok=True`.
    """

    sensor: str
    ok: bool


class TableCommand(_Event, frozen=True, tag="command"):
    """Someone at the table gives command `name`; on the board it is a button, which knows neither `by` nor `reason`.

    `bouler` (with `who`) has no button: such a command reaches the daemon over MQTT only.
    """

    name: str
    by: str
    reason: str = ""
    who: str | None = None


class ClockReading(_Event, frozen=True, tag="clock"):
    """The host believes that it is `utc_us` (µs since 1970), give or take `error_us`; only in logs, no board says
    it."""

    utc_us: int
    error_us: int


class End(_Event, frozen=True, tag="end"):
    """Nothing more happens; time ran to here."""


SimEvent: TypeAlias = RotorEdge | BallPass | Sighting | ForeignObject | SensorState | TableCommand | ClockReading | End
