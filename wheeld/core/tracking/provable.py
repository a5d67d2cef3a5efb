"""What a table's set of sensors can prove, row by row of docs/rulebook.md, before anything is played."""

from __future__ import annotations

import msgspec

from wheeld.core.setting import HEADS, TableSetting

ENCODER, BEAMS, READERS = "the encoder", "the beams", "the readers and the encoder"


class Provable(msgspec.Struct, frozen=True):
    """One row of the rulebook (R1…, N1…, A…, a digit for a section of it), what it asks, and what here proves it; `by`
    None when nothing does."""

    row: str
    what: str
    by: str | None


def provable(setting: TableSetting) -> tuple[Provable, ...]:
    """Every row that a sensor could prove, in the rulebook's order. Of a setting without problems."""
    return (*_valid(setting), *_void(setting), *_around(setting))


def _valid(setting: TableSetting) -> tuple[Provable, ...]:
    return (
        Provable("R1", "the ball runs against the rotor", _directions(setting)),
        Provable("R2", f"the ball runs at least {setting.min_laps} full laps", _laps(setting)),
        Provable("R3", "the number is where the ball comes to rest", _pocket(setting)),
        Provable("R4", "the number is announced with its chances", "follows from the number"),
    )


def _void(setting: TableSetting) -> tuple[Provable, ...]:
    stop = "the encoder, 1.5 s after its last edge" if setting.rotor == "sensors" else f"{_head(setting)}, within 2 s"
    drop = f"{stop}; and {BEAMS}" if setting.ball == "sensors" else None
    watched = setting.object_sensor and "sensors" in (setting.rotor, setting.ball, setting.pocket)
    return (
        Provable("N1", "the ball turns with the rotor", _directions(setting)),
        Provable("N2", "launched too early", f"{_launch(setting)}, with what people said"),
        Provable("N3", "fewer laps", _few_laps(setting)),
        Provable("N4", "the rotor stops while the ball runs", stop),
        Provable("N5", "the rotor stops, the ball on an obstacle", drop or f"{stop}, reported as N4"),
        Provable("N6", "a foreign object", "an object sensor, if one is fitted" if watched else None),
        Provable("N7", "the chef declares it null", "his word"),
        Provable("N8", "breakdown of what observes it", _faults(setting)),
    )


def _around(setting: TableSetting) -> tuple[Provable, ...]:
    slowed = setting.auto_rien_ne_va_plus_rev_s is not None
    rotor = ENCODER if setting.rotor == "sensors" else _head(setting)
    return (
        Provable("A1", "the launch starts the coup", _launch(setting)),
        Provable("A1", "rien ne va plus", f"{BEAMS}, or the chef's word" if slowed else "the chef's word"),
        Provable("A7", "which way the rotor turns", rotor),
        Provable(
            "3",
            "after a void the ball lies in the pocket of the last number",
            None if setting.pocket == "head" else READERS,
        ),
    )


def _head(setting: TableSetting) -> str:
    assert setting.head is not None, "check() asks for one"
    return f"the {HEADS[setting.head].name}"


def _directions(setting: TableSetting) -> str:
    rotor = ENCODER if setting.rotor == "sensors" else _head(setting)
    if setting.ball == "sensors":
        return f"{BEAMS} and {rotor}"
    assert setting.head is not None, "check() asks for one"
    if HEADS[setting.head].opposite_by_state:
        return f"{_head(setting)}'s own conclusion (its state 4, its warning 2)"
    return _head(setting) if setting.rotor == "head" else f"{_head(setting)} and {rotor}"


def _laps(setting: TableSetting) -> str | None:
    if "R2" in setting.lacks:
        return None
    return BEAMS if setting.ball == "sensors" else f"{_head(setting)}'s own count"


def _few_laps(setting: TableSetting) -> str | None:
    """N3: to be published before the ball can reach a pocket."""
    if setting.ball == "sensors":
        return f"{BEAMS}, as the ball leaves the track"
    laps = _laps(setting)
    return None if laps is None else f"{laps}; said with the number, before it is paid"


def _launch(setting: TableSetting) -> str:
    if setting.ball == "sensors":
        return BEAMS
    return f"{_head(setting)}, up to 2 s after it (one lap, and the next line)"


def _pocket(setting: TableSetting) -> str:
    return READERS if setting.pocket == "sensors" else _head(setting)


def _faults(setting: TableSetting) -> str:
    watched = "self-tests and time-outs"
    return watched if setting.head is None else f"{watched}, {_head(setting)}'s warnings and its count of games"
