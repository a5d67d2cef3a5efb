"""What an observation log may hold: each check raises CheckError, which says what is wrong."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec

from wheeld.core.catalogue import Part, Text
from wheeld.core.instants import ClockState, from_text
from wheeld.core.messages.chain import GENESIS
from wheeld.core.observations import (
    DOOR,
    SENSOR_KINDS,
    ClockReading,
    Command,
    CommandName,
    HeadReport,
    HeadRotor,
    Heard,
    Level,
    Observation,
    Rotor,
    Sensed,
    SensorState,
    Standstill,
)
from wheeld.core.setting import TableSetting
from wheeld.core.table_state import TableState
from wheeld.core.text_error import TextError

T_US_MAX = 10 * 366 * 86_400_000_000
"""Ten years on one sensing clock: more is no sensing time, and dates made of it would leave the calendar."""
UTC_US_MAX = from_text("3000-01-01T00:00:00Z")
RATE_PPB_MAX = 100_000_000_000
"""No sensing clock runs a hundred times too fast. Even with such a clock, ten years stay in the calendar."""
SPIN_MAX, HEAD_LAPS_MAX, HEAD_RPM_MAX = 999, 255, 99.9
"""The largest values that a head's report can hold; one whose games have higher numbers counts them anew."""
SEQ_MAX = 2**53
"""JSON readers agree on whole numbers up to here."""


class CheckError(TextError, ValueError):
    """No log can hold that. Names of members and their values stand as in the log."""


def check_snapshot(snapshot: dict[str, Any], setting: TableSetting, now_us: int) -> None:
    """CheckError for a snapshot if its next message could not go on with a feed, or would have no date in the
    calendar."""
    table_state = msgspec.convert(snapshot["table_state"], TableState)
    clock = msgspec.convert(snapshot["clock"], ClockState)
    _check_range(Text("snapshot's {key}", {"key": "seq"}), table_state.seq, SEQ_MAX)
    if not re.fullmatch("[0-9a-f]{64}", table_state.prev) or (table_state.seq == 0) != (table_state.prev == GENESIS):
        chained: dict[str, Part] = {"prev": repr(table_state.prev[:64]), "seq": table_state.seq}
        raise CheckError(Text("the snapshot's prev {prev} is not the hash of seq {seq}", chained))
    for numbers in (table_state.numbers, [table_state.last_number or 0]):
        for number in numbers:
            _check_range(Text("snapshot's {key}", {"key": "number"}), number, setting.profile.pockets.count)
    _check_range(Text("snapshot's {key}", {"key": "now_us"}), now_us, T_US_MAX)
    _check_clock(clock.utc_us, clock.error_us, clock.rate_ppb)


def check_line(seen: Observation, setting: TableSetting, *, last_us: int) -> None:
    """CheckError when a line is about a sensor that the header does not have, or goes back in time."""
    if seen.t_us < last_us and not isinstance(seen, Command):
        raise CheckError(
            Text(
                "t {t} is older than the line before it ({before}): lines stand in time order",
                {"t": seen.t_us, "before": last_us},
            )
        )
    if seen.t_us > T_US_MAX:
        raise CheckError(
            Text("t {t} is more than ten years: microseconds since the header are meant", {"t": seen.t_us})
        )
    match seen:
        case Rotor():
            if not 0 <= seen.tick < setting.rotor_ticks:
                limits: dict[str, Part] = {"name": "tick", "value": seen.tick, "most": setting.rotor_ticks - 1}
                raise CheckError(Text("{name} {value}: the header has 0…{most}", limits))
        case ClockReading():
            _check_clock(seen.utc_us, seen.error_us, seen.rate_ppb)
        case Sensed() | SensorState() | Level():
            _check_sensor(seen, setting)
        case Command() | Standstill() | Heard():
            _check_span(seen)
        case _ if isinstance(seen, HeadReport):
            _check_head(seen, setting)


def _check_span(seen: Command | Standstill | Heard) -> None:
    """CheckError when nobody can have said that, or its end is none."""
    if isinstance(seen, Heard):
        _check_range("until", seen.until_us or 0, T_US_MAX + 1)
        return
    if isinstance(seen, Command) and seen.case is not None and seen.name != "rien_va":
        named = {"case": repr(seen.case.value), "command": seen.name}
        raise CheckError(Text("case {case} in {command}: only rien_va names a case", named))
    if isinstance(seen, Standstill):
        _check_range("slept", seen.slept_us, T_US_MAX)
    name, end_us = ("until", seen.until_us) if isinstance(seen, Command) else ("to", seen.to_us)
    if end_us is not None and not seen.t_us <= end_us <= T_US_MAX:
        times: dict[str, Part] = {"name": name, "end": end_us, "t": seen.t_us}
        raise CheckError(Text("{name} {end} does not come after t {t}, within ten years", times))


def _check_head(seen: HeadReport, setting: TableSetting) -> None:
    """CheckError when no head can have reported that."""
    if setting.head is None:
        raise CheckError(Text("a head's report, and the header names no head"))
    limits = {"spin": SPIN_MAX + 1, "laps": HEAD_LAPS_MAX + 1, "number": setting.profile.pockets.count}
    for name, most in (limits | dict.fromkeys(("from_spin", "to_spin"), SPIN_MAX + 1)).items():
        _check_range(name, getattr(seen, name, 0) or 0, most)
    if isinstance(seen, HeadRotor) and not 0 <= (seen.rpm or 0) <= HEAD_RPM_MAX:
        beyond = {"name": "rpm", "value": str(seen.rpm), "most": f"{HEAD_RPM_MAX:g}"}
        raise CheckError(Text("{name} {value} is not within 0…{most}", beyond))


def _check_sensor(seen: Sensed | SensorState | Level, setting: TableSetting) -> None:
    """CheckError unless the header has that sensor and, of a level, unless such a sensor has one."""
    sensor = seen.sensor
    kind, _, name = sensor.partition("/")
    is_level = isinstance(seen, Level)
    if is_level and (sensor == DOOR or (kind == "button" and name in get_args(CommandName))):
        return
    if is_level and not (kind in SENSOR_KINDS and SENSOR_KINDS[kind].has_level):
        levelled = {"sensor": repr(sensor), "levelled": "object, beam/N, reader/N, button/NAME", "last": "door"}
        raise CheckError(Text("level of {sensor}: {levelled} and {last} have one", levelled))
    if sensor not in setting.sensors:
        known = {"sensor": repr(sensor), "names": ", ".join(setting.sensors)}
        raise CheckError(Text("sensor {sensor}: the header has {names}", known))


def check_calendar(name: str, utc_us: int) -> int:
    """`utc_us` itself; CheckError unless it lies in the calendar."""
    if not 0 <= utc_us < UTC_US_MAX:
        dated: dict[str, Part] = {"name": name, "value": utc_us}
        raise CheckError(Text("{name} {value} is not between the years 1970 and 3000, in microseconds", dated))
    return utc_us


def _check_clock(utc_us: int, error_us: int, rate_ppb: int) -> None:
    """CheckError for a clock reading that would lead to dates beyond the calendar."""
    check_calendar("utc_us", utc_us)
    _check_range("error_us", error_us, UTC_US_MAX)
    _check_range("rate_ppb", abs(rate_ppb), RATE_PPB_MAX + 1)


def _check_range(name: Part, value: int, most: int) -> None:
    if not 0 <= value < most:
        limits: dict[str, Part] = {"name": name, "value": value, "most": most - 1}
        raise CheckError(Text("{name} {value} is not within 0…{most}", limits))
