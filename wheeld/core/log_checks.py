"""What an observation log may hold: each check raises ValueError and says what is wrong."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec

from wheeld.core.instants import ClockState, from_text
from wheeld.core.messages.chain import GENESIS
from wheeld.core.observations import (
    DOOR,
    BallPass,
    ClockReading,
    Command,
    CommandName,
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadReport,
    HeadRotor,
    HeadWarning,
    Hearing,
    Level,
    Observation,
    Rotor,
    SensorState,
    Sighting,
    Standstill,
)
from wheeld.core.setting import TableSetting
from wheeld.core.table_state import TableState

T_US_MAX = 10 * 366 * 86_400_000_000
"""Ten years on one sensing clock: more is no sensing time, and dates made of it would leave the calendar."""
UTC_US_MAX = from_text("3000-01-01T00:00:00Z")
RATE_PPB_MAX = 100_000_000_000
"""No sensing clock runs a hundred times too fast. Even with such a clock, ten years stay in the calendar."""
SPIN_MAX, HEAD_LAPS_MAX, HEAD_RPM_MAX = 999, 255, 99.9
"""The largest values that the fields of a head's line can hold (docs/wheels.md 1.2, 1.6)."""
SEQ_MAX = 2**53
"""JSON readers agree on whole numbers up to here."""


def check_snapshot(snapshot: dict[str, Any], setting: TableSetting, now_us: int) -> None:
    """ValueError for a snapshot if its next message could not go on with a feed, or would have no date in the
    calendar."""
    table_state = msgspec.convert(snapshot["table_state"], TableState)
    clock = msgspec.convert(snapshot["clock"], ClockState)
    _check_range("snapshot's seq", table_state.seq, SEQ_MAX)
    if not re.fullmatch("[0-9a-f]{64}", table_state.prev) or (table_state.seq == 0) != (table_state.prev == GENESIS):
        message = f"the snapshot's prev {table_state.prev[:64]!r} is not the hash of seq {table_state.seq}"
        raise ValueError(message)
    for numbers in (table_state.numbers, [table_state.last_number or 0]):
        for number in numbers:
            _check_range("snapshot's number", number, len(setting.profile.pockets.order))
    _check_range("snapshot's now_us", now_us, T_US_MAX)
    _check_clock(clock.utc_us, clock.error_us, clock.rate_ppb)


def check_line(seen: Observation, setting: TableSetting, *, last_us: int) -> None:
    """ValueError when a line is about a sensor that the header does not have, or goes back in time."""
    if seen.t_us < last_us and not isinstance(seen, Command):
        message = f"t {seen.t_us} is older than the line before it ({last_us}): lines stand in time order"
        raise ValueError(message)
    if seen.t_us > T_US_MAX:
        message = f"t {seen.t_us} is more than ten years: microseconds since the header are meant"
        raise ValueError(message)
    match seen:
        case Rotor():
            _check_index("tick", seen.tick, setting.rotor_ticks)
        case BallPass():
            _check_index("beam", seen.beam, len(setting.beams_deg))
        case Sighting():
            _check_index("reader", seen.reader, len(setting.readers_deg))
        case ClockReading():
            _check_clock(seen.utc_us, seen.error_us, seen.rate_ppb)
        case SensorState() | Level():
            _check_sensor(seen, setting)
        case Command() | Standstill() | Hearing():
            _check_span(seen)
        case HeadGame() | HeadBall() | HeadRotor() | HeadNumber() | HeadWarning() | HeadJump():
            _check_head(seen, setting)


def _check_span(seen: Command | Standstill | Hearing) -> None:
    """ValueError when nobody can have said that, or its end is none."""
    if isinstance(seen, Hearing):
        _check_range("since", seen.since_us or 0, seen.t_us + 1)
        return
    if isinstance(seen, Command) and seen.case is not None and seen.name != "rien_va":
        message = f"case {seen.case.value!r} in {seen.name}: only rien_va names a case"
        raise ValueError(message)
    if isinstance(seen, Standstill):
        _check_range("slept", seen.slept_us, T_US_MAX)
    name, end_us = ("until", seen.until_us) if isinstance(seen, Command) else ("to", seen.to_us)
    if end_us is not None and not seen.t_us <= end_us <= T_US_MAX:
        message = f"{name} {end_us} does not come after t {seen.t_us}, within ten years"
        raise ValueError(message)


def _check_head(seen: HeadReport, setting: TableSetting) -> None:
    """ValueError when no head can have reported that."""
    if setting.head is None:
        message = "a head's report, and the header names no head"
        raise ValueError(message)
    match seen:
        case HeadGame():
            _check_range("spin", seen.spin, SPIN_MAX + 1)
        case HeadBall(laps=int()):
            _check_range("laps", seen.laps or 0, HEAD_LAPS_MAX + 1)
        case HeadRotor(rpm=float()) if not 0 <= (seen.rpm or 0) <= HEAD_RPM_MAX:
            message = f"rpm {seen.rpm} is not within 0…{HEAD_RPM_MAX:g}"
            raise ValueError(message)
        case HeadNumber():
            _check_range("spin", seen.spin, SPIN_MAX + 1)
            _check_range("number", seen.number or 0, len(setting.profile.pockets.order))
        case HeadJump():
            _check_range("from_spin", seen.from_spin, SPIN_MAX + 1)
            _check_range("to_spin", seen.to_spin, SPIN_MAX + 1)


def _check_index(name: str, value: int, most: int) -> None:
    if not 0 <= value < most:
        message = f"{name} {value}: the header has 0…{most - 1}"
        raise ValueError(message)


def _check_sensor(seen: SensorState | Level, setting: TableSetting) -> None:
    """ValueError unless the header has that sensor and, of a level, unless such a sensor has one."""
    sensor = seen.sensor
    kind, _, name = sensor.partition("/")
    is_level = isinstance(seen, Level)
    if is_level and (sensor == DOOR or (kind == "button" and name in get_args(CommandName))):
        return
    if is_level and kind not in ("object", "beam", "reader"):
        message = f"level of {sensor!r}: object, beam/N, reader/N, button/NAME and door have one"
        raise ValueError(message)
    if sensor not in setting.sensors:
        message = f"sensor {sensor!r}: the header has {', '.join(setting.sensors)}"
        raise ValueError(message)


def check_calendar(name: str, utc_us: int) -> int:
    """`utc_us` itself; ValueError unless it lies in the calendar."""
    if not 0 <= utc_us < UTC_US_MAX:
        message = f"{name} {utc_us} is not between the years 1970 and 3000, in microseconds"
        raise ValueError(message)
    return utc_us


def _check_clock(utc_us: int, error_us: int, rate_ppb: int) -> None:
    """ValueError for a clock reading that would lead to dates beyond the calendar."""
    check_calendar("utc_us", utc_us)
    _check_range("error_us", error_us, UTC_US_MAX)
    _check_range("rate_ppb", abs(rate_ppb), RATE_PPB_MAX + 1)


def _check_range(name: str, value: int, most: int) -> None:
    if not 0 <= value < most:
        message = f"{name} {value} is not within 0…{most - 1}"
        raise ValueError(message)
