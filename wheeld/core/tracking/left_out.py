"""Sensors that are left out: play goes on without one that fails, if the rest can do without it (docs/rulebook.md 6).

A person leaves a sensor out. From then on what it reports counts for nothing, and the setting in effect is that of a
table which never had it: fewer beams prove fewer laps, fewer readers see the ball less often. Whether the rest can do
without it is decided by the checks of the configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from wheeld.core.catalogue import Text
from wheeld.core.names import sensor_text, sensor_texts
from wheeld.core.observations import BallPass, Observation, Sighting
from wheeld.core.setting import TableSetting

OBJECT = "object"
BEAMS_LEFT_MIN = 3
"""One beam of four or more may be left out (docs/rulebook.md 6): with two, a single missed pass hides half a run."""


def numbers_of(kind: str, sensors: Collection[str]) -> frozenset[int]:
    """The numbers of those sensors that are of `kind`, "beam" or "reader"."""
    return frozenset(int(sensor.partition("/")[2]) for sensor in sensors if sensor.startswith(f"{kind}/"))


def sensor_of(seen: Observation) -> str:
    """The name of the beam or reader that reported this; empty for everything else."""
    match seen:
        case BallPass():
            return f"beam/{seen.beam}"
        case Sighting():
            return f"reader/{seen.reader}"
    return ""


def without(setting: TableSetting, sensors: Collection[str]) -> TableSetting:
    """The setting of a table that never had these sensors."""
    beams, readers = numbers_of("beam", sensors), numbers_of("reader", sensors)
    return msgspec.structs.replace(
        setting,
        beams_deg=tuple(deg for number, deg in enumerate(setting.beams_deg) if number not in beams),
        readers_deg=tuple(deg for number, deg in enumerate(setting.readers_deg) if number not in readers),
    )


def objection(setting: TableSetting, sensors: Sequence[str]) -> Text | None:
    """Why the rest cannot do without these sensors of the table; None if it can."""
    for sensor in sensors:
        if sensor != OBJECT and not sensor.startswith(("beam/", "reader/")):
            return Text("nothing else reports what this sensor reports: {sensor}", {"sensor": sensor_text(sensor)})
    rest = without(setting, sensors)
    if len(rest.beams_deg) < min(BEAMS_LEFT_MIN, len(setting.beams_deg)):
        return Text(
            "{left} beams would be left, and {needed} are needed to go on without the others",
            {"left": len(rest.beams_deg), "needed": BEAMS_LEFT_MIN},
        )
    if rest.check():
        return Text("the table cannot go on without all of these: {sensors}", {"sensors": sensor_texts(sensors)})
    return None


def still_left_out(setting: TableSetting, sensors: Sequence[str]) -> list[str]:
    """Which of the sensors that were left out before a restart still are. The configuration may be another one now:
    if it cannot do without them, all of them are used again."""
    known = [sensor for sensor in sensors if sensor in setting.sensors]
    return [] if objection(setting, known) else known
