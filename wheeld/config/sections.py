"""The configuration: its sections, and the field that each key of the file sets.

A section is a structure, and each of its fields is a key. The type of the field defines what is accepted. `Meta` in the
type says in words what the key means (`title`) and what is expected (`description`), and gives an example. `left_out`
says what happens if the key is left out, where the default does not show it. docs/configuration.md is made from these.
Two sections are different: the keys of `[table]` and `[wheel]` are fields of the core's `TableSetting`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import NODEFAULT, Meta, structs

from wheeld.broker.payloads import Display
from wheeld.broker.settings import MqttSettings
from wheeld.config.unknown import UnknownError, without
from wheeld.core.houses import PROFILES
from wheeld.core.observations import Source
from wheeld.core.setting import SENSORS_OF, Part, TableSetting, config_keys
from wheeld.journal.setting import JournalSetting
from wheeld.monitor.setting import MonitorSetting
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.head.setting import HeadSetting

S = TypeVar("S", bound=msgspec.Struct)


class LogSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[log]`: how much is logged on standard error."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(title="what is less severe than this level is not logged", examples=["debug"]),
    ] = "info"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file, validated. `file`: its name, for messages. `table`: the values of `[table]` and `[wheel]`, and
    what follows from them."""

    file: str = ""
    table: TableSetting
    sensors: BoardSetting | None = None
    gpio: GpioSetting | None = None
    head: HeadSetting | None = None
    journal: JournalSetting
    mqtt: MqttSettings
    monitor: MonitorSetting | None = None
    display: Display | None = None
    log: LogSection = LogSection()


class Key(NamedTuple):
    """One key of a section: the field that it sets, the type that is accepted, and the value if the key is left out."""

    field: str
    kind: Any
    required: bool
    default: Any = NODEFAULT


Keys: TypeAlias = dict[str, Key]


def _table_sections() -> dict[str, Keys]:
    sections: dict[str, Keys] = {}
    places = config_keys()
    for field in structs.fields(TableSetting):
        if (place := places.get(field.name)) is not None:
            required = field.required and place.default is NODEFAULT
            key = Key(field.name, field.type, required, place.default)
            sections.setdefault(place.section, {})[place.name] = key
    return sections


_PARTS = {field.name: field for field in structs.fields(Config) if field.name not in ("file", "table")}
"""The sections that have their own structure."""
_KINDS: dict[str, type[msgspec.Struct]] = {
    # The type of a section that may be left out is a union with None.
    name: next((part for part in get_args(field.type) if part is not type(None)), field.type)
    for name, field in _PARTS.items()
}
SECTIONS: dict[str, Keys] = {
    **_table_sections(),
    **{
        name: {field.name: Key(field.name, field.type, field.required) for field in structs.fields(kind)}
        for name, kind in _KINDS.items()
    },
}
"""Every section and its keys, in the order in which they are shown to people."""
OPTIONAL = frozenset(name for name, field in _PARTS.items() if not field.required)
"""Sections that may be left out. If another section is left out, its required keys are missing."""


def default_of(section: str, key: Key) -> Any:
    """Return the value for a key that is left out. NODEFAULT: it is required, or its value follows from other keys."""
    if key.default is not NODEFAULT:
        return key.default
    kind = _KINDS.get(section, TableSetting)
    field = next(field for field in structs.fields(kind) if field.name == key.field)
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


class Values(NamedTuple):
    """The values of one section, by field. `unknown`: the fields whose keys are wrong, or are required and missing."""

    known: dict[str, Any]
    unknown: set[str]


def config_of(sections: Mapping[str, Values]) -> Config:
    """Return the configuration of these sections. Reading an unknown value of it raises UnknownError."""
    table, wheel = sections["table"], sections["wheel"]
    told = Values({**table.known, **wheel.known}, table.unknown | wheel.unknown)
    client_id = f"wheeld-{told.known.get('site')}-{told.known.get('table')}"
    mqtt = Values({"client_id": client_id, **sections["mqtt"].known}, sections["mqtt"].unknown)
    given = {**sections, "mqtt": mqtt}
    parts: dict[str, Any] = {name: _structure(kind, given[name]) for name, kind in _KINDS.items() if name in given}

    # The core's setting has the values of the file, and those that follow from them.
    known, head = _structure(TableSetting, Values({**told.known, "wheel": None}, told.unknown)), parts.get("head")
    follows: dict[str, Callable[[], object]] = {
        "wheel": lambda: _wheel(known),
        # `min_laps` is 0 for an unknown game, because the core refuses such a game.
        "min_laps": lambda: profile.min_laps if (profile := PROFILES.get((known.house, known.game))) else 0,
        "object_sensor": lambda: "sensors" in parts or ("gpio" in parts and parts["gpio"].object_pin is not None),
        "head": lambda: None if head is None else head.product,
        **{part: partial(_source, known, part, head) for part in SENSORS_OF},
    }
    values = Values({**told.known, "levels": True}, {*told.unknown})  # each source with an object sensor reports levels
    for field in follows.keys() - told.unknown:
        try:
            if told.known.get(field) is None:
                values.known[field] = follows[field]()
        except UnknownError:
            values.unknown.add(field)
    return Config(table=_structure(TableSetting, values), **parts)


def _structure(kind: type[S], values: Values) -> S:
    return without(kind(**{**values.known, **dict.fromkeys(values.unknown)}), values.unknown)


def _wheel(table: TableSetting) -> str:
    """Return the kind of wheel of the game. For an unknown game it is Fair if the rotor has one direction only."""
    profile = PROFILES.get((table.house, table.game))
    return profile.wheel if profile else "fair" if table.rotor_direction else "french"


def _source(table: TableSetting, part: Part, head: HeadSetting | None) -> Source:
    """Return what reports this part: the head, if there is one and the wheel has no sensors for the part."""
    return "sensors" if head is None or getattr(table, SENSORS_OF[part]) else "head"
