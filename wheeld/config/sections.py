"""The configuration: its sections, and where each key of the file goes.

A section is a structure, and each of its fields a key: the type says what is accepted, a `description` in the type what
is expected in words. `[table]` and `[wheel]` are the two exceptions: their keys are the fields of the core's
`TableSetting`, which say themselves where they stand in the file.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import NODEFAULT, structs

from wheeld.broker.settings import MqttSettings
from wheeld.core.houses import PROFILES
from wheeld.core.setting import SENSORS_OF, TableSetting, config_keys
from wheeld.journal.setting import JournalSetting
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.head.setting import HeadSetting


class LogSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[log]`: how much is logged on standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file, validated. `table` is `[table]` and `[wheel]`, and what follows from them."""

    table: TableSetting
    sensors: BoardSetting | None = None
    gpio: GpioSetting | None = None
    head: HeadSetting | None = None
    journal: JournalSetting
    mqtt: MqttSettings
    log: LogSection = LogSection()


class Key(NamedTuple):
    """One key of a section: the field that it sets, what is accepted, and what counts where it is left out."""

    field: str
    kind: Any
    required: bool
    default: Any = NODEFAULT


Keys: TypeAlias = dict[str, Key]


def _struct_of(field: structs.FieldInfo) -> type[msgspec.Struct]:
    """The section's structure, whether or not the section may be left out."""
    kind: type[msgspec.Struct] = next((part for part in get_args(field.type) if part is not type(None)), field.type)
    return kind


def _table_sections() -> dict[str, Keys]:
    sections: dict[str, Keys] = {}
    places = config_keys()
    for field in structs.fields(TableSetting):
        if (place := places.get(field.name)) is not None:
            required = field.required and place.default is NODEFAULT
            key = Key(field.name, field.type, required, place.default)
            sections.setdefault(place.section, {})[place.name] = key
    return sections


_PARTS = {field.name: field for field in structs.fields(Config) if field.name != "table"}
"""The sections that are structures of their own."""
_KINDS = {name: _struct_of(field) for name, field in _PARTS.items()}
SECTIONS: dict[str, Keys] = {
    **_table_sections(),
    **{
        name: {field.name: Key(field.name, field.type, field.required) for field in structs.fields(kind)}
        for name, kind in _KINDS.items()
    },
}
"""Every section and its keys, in the order in which people are shown them."""
OPTIONAL = frozenset(name for name, field in _PARTS.items() if not field.required)
"""Sections that may be left out; of the others the required keys are missing then."""


def config_of(values: dict[str, dict[str, Any]]) -> Config:
    """The configuration of these values, by section and field; every required one is there and of its type."""
    parts: dict[str, Any] = {name: kind(**values[name]) for name, kind in _KINDS.items() if name in values}
    given = {**values["table"], **values["wheel"]}
    if given["object_sensor"] is None:
        pins = parts.get("gpio")
        given["object_sensor"] = "sensors" in parts or (pins is not None and pins.object_pin is not None)
    table = _table_setting(given, parts.get("head"))
    if parts["mqtt"].client_id is None:
        parts["mqtt"] = structs.replace(parts["mqtt"], client_id=f"wheeld-{table.site}-{table.table}")
    return Config(table=table, **parts)


def _table_setting(given: dict[str, Any], head: HeadSetting | None) -> TableSetting:
    """What the core needs. The wheel is the game's; of a game that nobody knows, what its rotor suggests.

    Where the file does not say it, what has sensors is reported by them, and the rest by the head, if there is one.
    Every source of this program tells levels.
    """
    profile = PROFILES.get((given["house"], given["game"]))
    wheel = profile.wheel if profile else "fair" if given.get("rotor_direction") else "french"
    if given["min_laps"] is None:
        given["min_laps"] = profile.min_laps if profile else 0  # a game that nobody knows is refused
    sources: dict[str, Any] = {
        part: "sensors" if given[sensors] or head is None else "head"
        for part, sensors in SENSORS_OF.items()
        if part not in given
    }
    product = None if head is None else head.product
    return TableSetting(wheel=wheel, head=product, levels=True, **given, **sources)
