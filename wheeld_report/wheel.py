"""What journals contain about one wheel, as far as a report needs it."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from wheeld.core.pockets import PocketLayout


class LoggedSighting(msgspec.Struct, frozen=True):
    """One sighting of the ball by a reader. `t_us`: its time on the sensing clock."""

    t_us: int
    reader: int


class DatedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One coup, valid or void. `at_utc_us`: when its verdict was stored. `margin`, `margin_of`: as in messages."""

    at_utc_us: int
    margin: float | None = None
    margin_of: str | None = None


class ValidCoup(DatedVerdict, frozen=True, kw_only=True):
    """One valid coup. Values that no sensor reported are None.

    `coup`: the number of the coup. `is_chefs_word`: the sensors did not prove the number. `pocket`: the place of the
    pocket on the rotor, clockwise from zero. `ball_s`: the time from the launch to the last pass. `rest_s`: the time
    from the first sighting of the ball at rest until the result was stored. It is also None if a person confirmed the
    number. `launched_us`, `left_us`: the launch and the last pass, on the sensing clock.
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
    """What a person decided about `coup`: the direction's ruling ("stands", "void", "number" with its `label`,
    "other"), or the chef's answer to a late bet ("accepted", "refused")."""

    at_utc_us: int
    coup: int
    decided: Literal["stands", "void", "number", "other", "accepted", "refused"]
    label: str | None
    by: str
    reason: str


class SensorPlaces(msgspec.Struct, frozen=True):
    """The angles of the sensors, in degrees, and the number of the encoder's sectors."""

    beams_deg: tuple[float, ...] = ()
    readers_deg: tuple[float, ...] = ()
    rotor_ticks: int = 0


class LoggedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run on the track, from the log of one coup.

    `last_beam`: the last beam that the ball passed. `last_lap_s`: the time of the ball's last lap. `slowing`: the share
    of its speed that the rotor loses in a second. `passes`: (time in µs, beam), in order.
    """

    at_utc_us: int
    ball_direction: str
    last_beam: int
    last_lap_s: float | None
    slowing: float | None
    passes: tuple[tuple[int, int], ...]


class WheelRecord(msgspec.Struct, kw_only=True):
    """All data of one table and its wheel with these `pockets`. `coups`, `voids`, `decisions` and `runs` are sorted by
    time.

    `layout`: the newest places of the sensors in the journals. `runs`: a sample of the runs with this layout.
    `unobserved_utc_us`: when a ball was found in another pocket although no coup was observed. `unreadable`: how many
    messages this version cannot read, because another version wrote them.
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
        """The verdicts of all coups: the valid ones, then the void ones, each sorted by time."""
        return [*self.coups, *self.voids]
