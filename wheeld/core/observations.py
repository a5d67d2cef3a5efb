"""What a sensor saw: the observation log, format 1, and the same things in memory.

One structure a line kind; `t_us` is always the sensing clock, integer microseconds since the log's header.
Angles are degrees clockwise seen from above. Three kinds are this program's own and mean nothing to others, who skip
them as unknown: `time` (nothing more will come that is older), `clock` (what the sensing clock reads in UTC) and
`restart`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

Direction: TypeAlias = Literal["cw", "ccw"]
CommandName: TypeAlias = Literal[
    "open",
    "operations_done",
    "rien_ne_va_plus",
    "rien_va",
    "tout_va",
    "last_coup",
    "close",
    "suspend",
    "resume",
    "bouler",
]

LINE_BYTES_MAX = 65_536
"""A header with a whole snapshot is about 8 kB; anything near this is not a line of ours."""


class _Line(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True, forbid_unknown_fields=True):
    t_us: int = msgspec.field(name="t")


class Rotor(_Line, frozen=True, tag="rotor"):
    """An encoder edge: the rotor has just entered sector `tick` (absolute, 0…ticks-1) turning `direction`."""

    tick: int
    direction: Direction


class BallPass(_Line, frozen=True, tag="ball"):
    """Something crossed beam number `beam` of the track."""

    beam: int


class Sighting(_Line, frozen=True, tag="pocket"):
    """The ball, lying in a pocket, passed under reader number `reader`."""

    reader: int


class ForeignObject(_Line, frozen=True, tag="object"):
    """The cylinder's object sensor sees a body that is not the ball, or no longer does."""

    present: bool


class SensorState(_Line, frozen=True, tag="sensor"):
    """Self-test: `sensor` (`beam/N`, `reader/N`, `rotor`, `object`, `link`) works, or does not."""

    sensor: str
    ok: bool


class Command(_Line, frozen=True, tag="command"):
    """What a person or the table system asked for; `coup`, when given, must be the current one."""

    name: CommandName
    by: str
    reason: str = ""
    who: str | None = None
    id: str | None = None
    coup: int | None = None


class ClockReading(_Line, frozen=True, tag="clock"):
    """At sensing time `t_us` it was `utc_us` (µs since 1970), give or take `error_us`; a second of the sensing clock
    is `1 + rate_ppb / 1e9` real ones."""

    utc_us: int
    error_us: int
    rate_ppb: int = 0


class TimePassed(_Line, frozen=True, tag="time"):
    """Every observation older than `t_us` has been told; absences up to here are real."""


class Restarted(_Line, frozen=True, tag="restart"):
    """The controller began anew here: nothing was observed from its last message until now."""


class End(_Line, frozen=True, tag="end"):
    """Nothing more; time ran to here."""


Observation: TypeAlias = (
    Rotor | BallPass | Sighting | ForeignObject | SensorState | Command | ClockReading | TimePassed | Restarted | End
)


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="wheel", omit_defaults=True):
    """First line of a log: the wheel, its sensors, and what the table knew when the log begins.

    `snapshot` is only in evidence that a daemon stored: the whole state of the adjudicator just before the first
    line, so that replaying the evidence gives the bytes that were published.
    """

    format: Literal[1]
    table: str
    house: str
    game: str
    wheel: Literal["french", "fair"]
    rotor_ticks: int
    beams_deg: tuple[float, ...]
    readers_deg: tuple[float, ...]
    min_laps: int
    started: str
    last_number: int | None = None
    rotor_direction: Direction | None = None
    site: str = ""
    sightings_to_call: int = 3
    auto_rien_ne_va_plus_rev_s: float | None = None
    boot_id: str = ""
    snapshot: dict[str, Any] | None = None
