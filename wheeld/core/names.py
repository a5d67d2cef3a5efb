"""Names for people, in place of the names in messages and logs."""

from __future__ import annotations

from collections.abc import Iterable

from wheeld.core.catalogue import Catalogue, Text, translatable
from wheeld.core.observations import CommandName, kind_of

COMMAND_NAMES: dict[CommandName, str] = {
    "open": translatable("faites vos jeux"),
    "operations_done": translatable("operations done"),
    "rien_ne_va_plus": translatable("rien ne va plus"),
    "rien_va": "{void}",
    "confirm": translatable("confirmation"),
    "tout_va": "{tout_va}",
    "last_coup": translatable("la dernière"),
    "last_coup_off": translatable("la dernière taken back"),
    "close": translatable("closing of the table"),
    "suspend": translatable("suspension of play"),
    "resume": translatable("resumption of play"),
    "bouler": translatable("change of bouler"),
    "acknowledge": translatable("acknowledgement"),
    "late_bet": translatable("late bet"),
    "ruling": translatable("ruling of the direction"),
}


def command_name(name: CommandName, catalogue: Catalogue) -> str:
    """Return what people call a command."""
    return catalogue.say(COMMAND_NAMES[name])


def sensor_text(sensor: str) -> Text:
    """Return what people call a sensor. People count beams and readers from 1: "beam/2" is beam 3."""
    kind, index = kind_of(sensor), sensor.partition("/")[2]
    return Text(kind.numbered_text, {"number": int(index) + 1}) if index.isdecimal() else Text(kind.text)


def sensor_texts(sensors: Iterable[str]) -> tuple[Text, ...]:
    """Return what people call several sensors."""
    return tuple(map(sensor_text, sensors))
