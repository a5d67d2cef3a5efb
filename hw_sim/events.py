"""The events at the simulated wheel, one structure for each kind. `t_us` is the time on the sensor board's clock.

The physics makes the events, the simulated board sends them, and a log contains them without change. They have the form
of the observation log, format 1 (docs/observation-log.md). They share no types with the program under test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, TypeAlias

import msgspec

from firmware_protocol import messages

Direction: TypeAlias = Literal["cw", "ccw"]


class _Event(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True, gc=False):
    """The base of all events. An evening has hundreds of thousands of events, so msgspec makes the lines of a log from
    them directly."""

    t_us: int = msgspec.field(name="t")


def called(sensor: str) -> str:
    """Return the name that people use for a sensor. They count from 1, so "beam/2" is beam 3."""
    kind, _, number = sensor.partition("/")
    return f"{kind} {int(number) + 1}" if number.isdecimal() else sensor


class Sensed(_Event, frozen=True):
    """What a sensor of the wheel sees. A board sends it as a message of type `sent`, which has the same members."""

    sent: ClassVar[Callable[..., messages.Event]]

    @property
    def message(self) -> messages.Event:
        """The board's message about this event."""
        return self.sent(*msgspec.structs.astuple(self)[1:])


class Switched(Sensed, frozen=True):
    """A switch has a new level: the first member of the event. `bounces`: whether the contact of the switch bounces."""

    switch: ClassVar[str]
    bounces: ClassVar[bool] = False

    @property
    def stands(self) -> bool:
        """Whether the new level is on."""
        return bool(msgspec.structs.astuple(self)[1])

    @property
    def message(self) -> messages.Event:
        """The board's message about this event."""
        return self.sent(self.stands)


class RotorEdge(Sensed, frozen=True, tag="rotor"):
    """The rotor entered encoder sector `tick` (absolute, 0…ticks-1), and turns in `direction`, seen from above."""

    tick: int
    direction: Direction
    sent: ClassVar[Callable[..., messages.Event]] = messages.RotorEdge


class BallPass(Sensed, frozen=True, tag="ball"):
    """Something crossed beam number `beam` of the ball track."""

    beam: int
    sent: ClassVar[Callable[..., messages.Event]] = messages.BallPass

    @property
    def seen_by(self) -> str:
        """The name of the beam."""
        return f"beam/{self.beam}"


class Sighting(Sensed, frozen=True, tag="pocket"):
    """The ball lay in a pocket and passed under reader number `reader`."""

    reader: int
    sent: ClassVar[Callable[..., messages.Event]] = messages.PocketSighting

    @property
    def seen_by(self) -> str:
        """The name of the reader."""
        return f"reader/{self.reader}"


class ForeignObject(Switched, frozen=True, tag="object"):
    """The cylinder's object sensor begins to see a body that is not the ball (`present`), or stops seeing it."""

    present: bool
    switch: ClassVar[str] = "object"
    sent: ClassVar[Callable[..., messages.Event]] = messages.ObjectSeen


class Door(Switched, frozen=True, tag="level"):
    """The cabinet's door was opened (`active`), or closed. In a log it is the level of the sensor `door`."""

    active: bool
    sensor: Literal["door"]
    switch: ClassVar[str] = "door"
    bounces: ClassVar[bool] = True
    sent: ClassVar[Callable[..., messages.Event]] = messages.DoorMoved


class SensorState(_Event, frozen=True, tag="sensor"):
    """`sensor` (`beam/N`, `reader/N`, `rotor`, `object`, `link`) works from now on (`ok`), or has failed.

    `link` is the cable between board and host. It is silent from `ok=False` to `ok=True`.
    """

    sensor: str
    ok: bool


class TableCommand(_Event, frozen=True, tag="command"):
    """A person at the table gives the command `name`. On the board it is a button, without `by` and `reason`.

    `bouler` (with `who`) and `confirm` (with `coup` and perhaps `number`) have no button. They reach the daemon only
    over MQTT. `coup` is the number of the coup in this evening, counted from 1.
    """

    name: str
    by: str
    reason: str = ""
    who: str | None = None
    coup: int | None = None
    number: int | None = None


class ClockReading(_Event, frozen=True, tag="clock"):
    """The host's clock reads `utc_us` (µs since 1970), with an uncertainty of `error_us`. Only logs have such events:
    no board sends them."""

    utc_us: int
    error_us: int


class End(_Event, frozen=True, tag="end"):
    """All events up to this time have come."""


SimEvent: TypeAlias = (
    RotorEdge | BallPass | Sighting | ForeignObject | Door | SensorState | TableCommand | ClockReading | End
)
