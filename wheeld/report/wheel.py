"""What journals hold of one wheel, as far as a report needs it."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from wheeld.core.pockets import PocketLayout


class LoggedSighting(msgspec.Struct, frozen=True):
    """A reader saw the ball in its pocket, on the sensing clock."""

    t_us: int
    reader: int


class DatedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One coup, valid or void. `at_utc_us`: when its verdict was stored; `margin`, `margin_of`: as in messages."""

    at_utc_us: int
    margin: float | None = None
    margin_of: str | None = None


class ValidCoup(DatedVerdict, frozen=True, kw_only=True):
    """One valid coup. What no sensor reported is None.

    `coup`: its number in the count of coups. `is_chefs_word`: sensors did not prove the number. `pocket`: its place on
    the rotor, clockwise from zero. `ball_s`: from the launch to the last pass. `rest_s`: from the first sighting of the
    ball at rest until the result was stored, also None where a person had to answer for the number. `launched_us`,
    `left_us`: the same run on the sensing clock.
    """

    coup: int
    pocket: int
    laps: float | None = None
    rotor_rpm: float | None = None
    ball_direction: str | None = None
    bouler: str | None = None
    ball_s: float | None = None
    rest_s: float | None = None
    launched_us: int = 0
    left_us: int | None = None
    sightings: tuple[LoggedSighting, ...] = ()
    is_chefs_word: bool = False


class VoidCoup(DatedVerdict, frozen=True, kw_only=True):
    """One void coup."""

    cause: str


class Decision(msgspec.Struct, frozen=True):
    """What a person decided of `coup`: the direction's ruling ("stands", "void", "number" with its `label`, "other"),
    or what the chef said of a late bet ("accepted", "refused")."""

    at_utc_us: int
    coup: int
    decided: Literal["stands", "void", "number", "other", "accepted", "refused"]
    label: str | None
    by: str
    reason: str


class SensorPlaces(msgspec.Struct, frozen=True):
    """Where the sensors stand, in degrees, and how many sectors the encoder has."""

    beams_deg: tuple[float, ...] = ()
    readers_deg: tuple[float, ...] = ()
    rotor_ticks: int = 0


class LoggedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the log of one coup says of the run on the track.

    `last_beam`: the last that the ball passed. `last_lap_s`: the time of its last lap. `slowing`: the part of its speed
    that the rotor loses in a second. `passes`: (time in µs, beam), in order.
    """

    at_utc_us: int
    ball_direction: str
    last_beam: int
    last_lap_s: float | None
    slowing: float | None
    passes: tuple[tuple[int, int], ...]


class WheelRecord(msgspec.Struct, kw_only=True):
    """Everything of one table and its wheel with these `pockets`; times of `coups`, `voids`, `decisions` and
    `runs` do not fall.

    `runs` are of `layout`, the last one that the journals know; `coups` may be more than `runs`, which are sampled.
    `unobserved_utc_us`: when a ball was found elsewhere though no coup was observed. `unreadable`: messages of another
    version that say nothing to this one.
    """

    site: str
    table: str
    test: bool
    pockets: PocketLayout
    journals: list[str] = []
    coups: list[ValidCoup] = []
    voids: list[VoidCoup] = []
    decisions: list[Decision] = []
    unobserved_utc_us: set[int] = set()
    notices: Counter[str] = msgspec.field(default_factory=Counter)
    layout: SensorPlaces = SensorPlaces()
    runs: list[LoggedRun] = []
    unreadable: int = 0

    @property
    def verdicts(self) -> list[DatedVerdict]:
        """Of all coups, those of each kind in the order of their times."""
        return [*self.coups, *self.voids]
