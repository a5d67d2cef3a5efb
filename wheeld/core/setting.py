"""One table's wheel, sensors and limits: what the configuration, or a log's header, tells the core."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from wheeld.core.houses import PROFILES, Profile
from wheeld.core.observations import Direction, Header, HeadProduct, Source, Unproven

BEAMS_MAX = 32
READERS_MAX = 16
ROTOR_TICKS_MIN, ROTOR_TICKS_MAX = 37, 4096
"""Fewer ticks than pockets can't place a ball in one; more than 4096 would pass 1,000 edges/s at 15 rpm."""
MIRROR_DEG = 20.0
"""Two beams this near to opposite see the same times whichever way the ball runs: Art. 10 can't be proven."""
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Head(msgspec.Struct, frozen=True):
    """What a commercial wheel head says of a run beyond its number: `name` for people, what of Art. 10 its own lines
    cannot prove, and `opposite_by_state`, whether its state "no more bets" means that the ball runs against the rotor.
    """

    name: str
    lacks: tuple[str, ...]
    opposite_by_state: bool


HEADS: dict[HeadProduct, Head] = {
    "mercury-360": Head("Mercury 360", (), opposite_by_state=False),
    "slingshot-2": Head("SlingShot 2", ("R2",), opposite_by_state=True),
}
"""Cammegh's (wheels.md 1.3, 1.6, 1.7): the Mercury's extended lines carry laps and the ball's direction, no line of a
SlingShot 2 does."""


class TableSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the core needs to know of a table. Angles: degrees clockwise from the bowl's mark.

    `head`: the commercial wheel head, if there is one; `rotor`, `ball` and `pocket` say whether it tells of them, or
    sensors of our own. `unproven`: what becomes of a coup of which these cannot prove all that Art. 10 asks.
    `last_number` counts only at a journal's very first start. `auto_rien_ne_va_plus_rev_s`: ball speed, laps per
    second, at which "rien ne va plus" says itself (A1); None leaves it to the chef.
    """

    site: str
    table: str
    house: str
    game: str
    wheel: Literal["french", "fair"]
    rotor_ticks: int = 0
    beams_deg: tuple[float, ...] = ()
    readers_deg: tuple[float, ...] = ()
    head: HeadProduct | None = None
    rotor: Source = "sensors"
    ball: Source = "sensors"
    pocket: Source = "sensors"
    unproven: Unproven | None = None
    rotor_direction: Direction | None = None
    min_laps: int = 3
    sightings_to_call: int = 3
    last_number: int | None = None
    auto_rien_ne_va_plus_rev_s: float | None = None

    @property
    def profile(self) -> Profile:
        """The house's game; KeyError unless `check()` is empty."""
        return PROFILES[self.house, self.game]

    @property
    def lacks(self) -> tuple[str, ...]:
        """The rulebook's rows of Art. 10 (R1, R2) that nothing here can ever prove."""
        return HEADS[self.head].lacks if self.ball == "head" and self.head is not None else ()

    def check(self) -> list[tuple[str, str]]:
        """What is wrong, as (key, problem) pairs; empty when this table can be adjudicated."""
        return [*_names(self), *_wheel(self), *_sources(self), *_sensors(self), *_limits(self), *_policy(self)]


def header_of(
    setting: TableSetting, *, started: str, last_number: int | None, boot_id: str, snapshot: dict[str, Any]
) -> Header:
    """The first line of a log of this table that goes on from `snapshot`."""
    return Header(
        format=1,
        table=setting.table,
        house=setting.house,
        game=setting.game,
        wheel=setting.wheel,
        rotor_ticks=setting.rotor_ticks,
        beams_deg=setting.beams_deg,
        readers_deg=setting.readers_deg,
        min_laps=setting.min_laps,
        started=started,
        last_number=last_number,
        rotor_direction=setting.rotor_direction,
        site=setting.site,
        sightings_to_call=setting.sightings_to_call,
        auto_rien_ne_va_plus_rev_s=setting.auto_rien_ne_va_plus_rev_s,
        head=setting.head,
        rotor=setting.rotor,
        ball=setting.ball,
        pocket=setting.pocket,
        unproven=setting.unproven,
        boot_id=boot_id,
        snapshot=snapshot,
    )


def from_header(header: Header) -> TableSetting:
    """The setting that a log's first line describes."""
    return TableSetting(
        site=header.site or "log",
        table=header.table,
        house=header.house,
        game=header.game,
        wheel=header.wheel,
        rotor_ticks=header.rotor_ticks,
        beams_deg=header.beams_deg,
        readers_deg=header.readers_deg,
        rotor_direction=header.rotor_direction,
        min_laps=header.min_laps,
        sightings_to_call=header.sightings_to_call,
        last_number=header.last_number,
        auto_rien_ne_va_plus_rev_s=header.auto_rien_ne_va_plus_rev_s,
        head=header.head,
        rotor=header.rotor,
        ball=header.ball,
        pocket=header.pocket,
        unproven=header.unproven,
    )


def _names(setting: TableSetting) -> Iterator[tuple[str, str]]:
    for key, value in (("site", setting.site), ("table", setting.table)):
        if not _SLUG.fullmatch(value):
            yield key, f"{value!r} goes into MQTT topics: lower-case letters, digits, - and _ only, 64 at most"
    if (setting.house, setting.game) not in PROFILES:
        known = ", ".join(f"{house}/{game}" for house, game in PROFILES)
        yield "game", f"no regulation for {setting.house}/{setting.game}; known: {known}"


def _wheel(setting: TableSetting) -> Iterator[tuple[str, str]]:
    profile = PROFILES.get((setting.house, setting.game))
    if profile is not None and profile.wheel != setting.wheel:
        yield "wheel", f"{setting.house}/{setting.game} is played on a {profile.wheel} wheel, not a {setting.wheel} one"
    if setting.wheel == "fair" and setting.rotor_direction is None:
        yield "rotor_direction", 'a fair wheel turns one way only (A7): say "cw" or "ccw"'
    if setting.wheel == "french" and setting.rotor_direction is not None:
        yield "rotor_direction", "a french rotor may turn either way (A7): leave it out"


def _sources(setting: TableSetting) -> Iterator[tuple[str, str]]:
    """Each of rotor, ball and pocket by one source, and no sensor that nobody listens to."""
    by_head = {"rotor": setting.rotor, "ball": setting.ball, "pocket": setting.pocket}
    given = {"rotor": setting.rotor_ticks, "ball": setting.beams_deg, "pocket": setting.readers_deg}
    for key, source in by_head.items():
        if source == "head" and setting.head is None:
            yield key, 'is "head", and the wheel has none: describe it in a section [head], or leave this out'
        elif source == "head" and given[key]:
            yield _KEY_OF[key], f'{key} = "head" leaves them without use: take them out, or say {key} = "sensors"'
    if setting.head is not None and setting.pocket == "sensors":
        yield "pocket", 'is "sensors", and a head is there to give the number: say "head", or take the head away'


_KEY_OF = {"rotor": "rotor_ticks", "ball": "beams_deg", "pocket": "readers_deg"}


def _sensors(setting: TableSetting) -> Iterator[tuple[str, str]]:
    """The sensors of our own, where they are to tell something."""
    if setting.rotor == "sensors" and setting.rotor_ticks == 0:
        yield "rotor_ticks", "is missing: how many ticks has the rotor's encoder?"
    elif setting.rotor == "sensors" and not ROTOR_TICKS_MIN <= setting.rotor_ticks <= ROTOR_TICKS_MAX:
        yield "rotor_ticks", f"{setting.rotor_ticks} is not within {ROTOR_TICKS_MIN}…{ROTOR_TICKS_MAX}"
    if setting.ball == "sensors":
        yield from _beams(setting.beams_deg)
    if setting.pocket == "sensors" and setting.head is None:
        yield from _readers(setting.readers_deg)


def _policy(setting: TableSetting) -> Iterator[tuple[str, str]]:
    if setting.lacks and setting.unproven is None:
        yield (
            "unproven",
            (
                f"is missing: nothing here proves {' and '.join(setting.lacks)} (Art. 10). Add beams, or say what "
                'becomes of such a coup: "void", or "chef" where he confirms each'
            ),
        )
    if setting.unproven is not None and not setting.lacks:
        yield "unproven", f'is "{setting.unproven}", and these sensors prove all of Art. 10: leave it out'


def _angles(key: str, angles_deg: tuple[float, ...], most: int) -> Iterator[tuple[str, str]]:
    if not 1 <= len(angles_deg) <= most:
        yield key, f"{len(angles_deg)} given, 1…{most} needed"
    if any(not 0 <= angle < 360 for angle in angles_deg):
        yield key, "angles are degrees from 0 up to, not including, 360"
    if len(set(angles_deg)) < len(angles_deg):
        yield key, "two of them stand at the same angle"


def _beams(beams_deg: tuple[float, ...]) -> Iterator[tuple[str, str]]:
    yield from _angles("beams_deg", beams_deg, BEAMS_MAX)
    if len(beams_deg) == 1:
        yield "beams_deg", "one beam can't tell which way the ball runs, so no coup could ever be proven (Art. 10)"
    if len(beams_deg) == 2 and abs(abs(beams_deg[0] - beams_deg[1]) - 180) < MIRROR_DEG:
        yield (
            "beams_deg",
            (
                f"two beams within {MIRROR_DEG:g}° of opposite can't tell which way the ball runs (Art. 10): "
                "move one, or add a third"
            ),
        )


def _readers(readers_deg: tuple[float, ...]) -> Iterator[tuple[str, str]]:
    yield from _angles("readers_deg", readers_deg, READERS_MAX)


def _limits(setting: TableSetting) -> Iterator[tuple[str, str]]:
    if not 1 <= setting.min_laps <= 20:
        yield "min_laps", f"{setting.min_laps} is not within 1…20 (Art. 10 asks 3, other jurisdictions 4)"
    if not 1 <= setting.sightings_to_call <= 20:
        yield "sightings_to_call", f"{setting.sightings_to_call} is not within 1…20 (R3: 3 by default)"
    if setting.last_number is not None and not 0 <= setting.last_number <= 36:
        yield "last_number", f"{setting.last_number} is not on the wheel (0…36)"
    speed = setting.auto_rien_ne_va_plus_rev_s
    if speed is not None and not 0.3 <= speed <= 3:
        yield "auto_rien_ne_va_plus_rev_s", f"{speed} is not within 0.3…3 laps per second"
    if speed is not None and setting.ball == "head":
        yield "auto_rien_ne_va_plus_rev_s", "needs beams: a head does not tell how fast the ball runs"
