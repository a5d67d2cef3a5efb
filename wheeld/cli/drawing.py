"""Draws a coup's observations as text on one time axis: one row for each sensor, and one row for people's commands.

A laboratory sees this drawing on a terminal at the wheel. `hw-sim draw` makes a picture of the same observations, on
another computer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec

from wheeld.core.catalogue import Catalogue
from wheeld.core.names import sensor_text
from wheeld.core.observations import (
    Command,
    ForeignObject,
    HeadReport,
    Observation,
    Rotor,
    Sensed,
    SensorState,
    Sighting,
)

WIDTH = 80
"""Columns of the time axis. With the names before it, a line fits on an ordinary terminal."""

NAME_WIDTH = 10
MANY = "+"
"""The sign that is drawn for several signs in one column."""

STEADY = ("rotor",)
"""Rows in which several equal signs in one column are drawn as one."""

_decoder: msgspec.json.Decoder[Observation] = msgspec.json.Decoder(Observation)


def read(log: bytes) -> list[Observation]:
    """Return the observations of a log in the order of their times. Lines of unknown kinds are left out."""
    known: list[Observation] = []
    for line in log.splitlines()[1:]:
        with suppress(msgspec.ValidationError):  # a later version may have written this line
            known.append(_decoder.decode(line))
    return sorted(known, key=lambda seen: seen.t_us)


def draw(observations: Iterable[Observation], from_us: int, to_us: int) -> Iterator[str]:
    """Yield one line for each sensor that reported something between the two times, and an axis in seconds."""
    rows: dict[str, dict[int, str]] = {}
    for seen in observations:
        mark = _mark(seen)
        if mark is None or not from_us <= seen.t_us <= to_us:
            continue
        name, sign = mark
        row = rows.setdefault(name, {})
        column = (seen.t_us - from_us) * (WIDTH - 1) // max(1, to_us - from_us)
        is_alone = column not in row or (name in STEADY and row[column] == sign)
        row[column] = sign if is_alone else MANY
    for name in sorted(rows, key=_place):
        yield f"{name:<{NAME_WIDTH}} {''.join(rows[name].get(column, ' ') for column in range(WIDTH))}".rstrip()
    yield f"{'seconds':<{NAME_WIDTH}} 0{f'{(to_us - from_us) / 1e6:.1f}':.>{WIDTH - 1}}"


def _mark(seen: Observation) -> tuple[str, str] | None:
    """Return the row and the sign of an observation; None if it is not drawn."""
    match seen:
        case Rotor(direction=direction):
            return "rotor", ">" if direction == "cw" else "<"
        case Sensed(stands=stands):
            kind, _, number = seen.sensor.partition("/")
            sign = ("o" if isinstance(seen, Sighting) else "|") if stands is None else "-#"[stands]
            return f"{kind} {int(number) + 1}" if number else kind, sign
        case SensorState(ok=ok):
            return "sensors", "v" if ok else "!"
        case Command():
            return "words", "*"
        case _ if isinstance(seen, HeadReport):
            return "head", "h"
        case _:
            return None


def _place(name: str) -> tuple[int, int]:
    """Return the place of a row. Rows are in the order in which the ball passes their sensors."""
    kind, _, number = name.partition(" ")
    order = {"rotor": 0, "beam": 1, "head": 2, "reader": 3, "sensors": 5, "words": 6}
    return order.get(kind, 4), int(number or 0)


def said(observations: Iterable[Observation]) -> Iterator[tuple[int, str]]:
    """Yield the commands, the faults and repairs of sensors, and foreign objects, each with its sensing time."""
    for seen in observations:
        match seen:
            case Command():
                yield seen.t_us, f"{seen.by}: {seen.name}{f' ({seen.reason})' if seen.reason else ''}"
            case SensorState(sensor=sensor, ok=ok):
                yield seen.t_us, f"{Catalogue('en').say_text(sensor_text(sensor))} {'works' if ok else 'fails'}"
            case ForeignObject(present=present):
                yield seen.t_us, "a foreign object is in the cylinder" if present else "the cylinder is clear"
            case _:
                pass
