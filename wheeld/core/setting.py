"""One table's wheel, sensors and limits: what the configuration, or a log's header, tells the core."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from wheeld.core.houses import PROFILES, Profile
from wheeld.core.observations import Direction, Header

BEAMS_MAX = 32
READERS_MAX = 16
ROTOR_TICKS_MIN, ROTOR_TICKS_MAX = 37, 4096
"""Fewer ticks than pockets can't place a ball in one; more than 4096 would pass 1,000 edges/s at 15 rpm."""
MIRROR_DEG = 20.0
"""Two beams this near to opposite see the same times whichever way the ball runs: Art. 10 can't be proven."""
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class TableSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the core needs to know of a table. Angles: degrees clockwise from the bowl's mark.

    `last_number` counts only at a journal's very first start. `auto_rien_ne_va_plus_rev_s`: ball speed, laps per
    second, at which "rien ne va plus" says itself (A1); None leaves it to the chef.
    """

    site: str
    table: str
    house: str
    game: str
    wheel: Literal["french", "fair"]
    rotor_ticks: int
    beams_deg: tuple[float, ...]
    readers_deg: tuple[float, ...]
    rotor_direction: Direction | None = None
    min_laps: int = 3
    sightings_to_call: int = 3
    last_number: int | None = None
    auto_rien_ne_va_plus_rev_s: float | None = None

    @property
    def profile(self) -> Profile:
        """The house's game; KeyError unless `check()` is empty."""
        return PROFILES[self.house, self.game]

    def check(self) -> list[tuple[str, str]]:
        """What is wrong, as (key, problem) pairs; empty when this table can be adjudicated."""
        return [*_names(self), *_wheel(self), *_beams(self.beams_deg), *_readers(self.readers_deg), *_limits(self)]


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
    if not ROTOR_TICKS_MIN <= setting.rotor_ticks <= ROTOR_TICKS_MAX:
        yield "rotor_ticks", f"{setting.rotor_ticks} is not within {ROTOR_TICKS_MIN}…{ROTOR_TICKS_MAX}"


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
