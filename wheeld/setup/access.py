"""Makes the broker's access list for all tables of a computer, and finds rights that would be lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.broker.acl import access_list, same_names
from wheeld.broker.roles import RoleName, TableAccess
from wheeld.config.instance import configurations
from wheeld.core.catalogue import Text
from wheeld.core.setting import NAME_PATTERN
from wheeld.setup.computer import SetupError
from wheeld.setup.places import Places

_Name: TypeAlias = Annotated[str, Meta(pattern=rf"^{NAME_PATTERN}\Z")]


class _Table(msgspec.Struct):
    site: _Name
    id: _Name


class _Mqtt(msgspec.Struct):
    users: dict[str, RoleName] = {}


class _Device(msgspec.Struct, frozen=True):
    port: str | None = None


class _Configuration(msgspec.Struct):
    """The part of a configuration that is needed here. The daemon checks the whole file."""

    table: _Table
    mqtt: _Mqtt
    sensors: _Device = _Device()
    head: _Device = _Device()


class ConfiguredWheel(NamedTuple):
    """A wheel of this computer: its table, and the ports of its devices."""

    table: TableAccess
    ports: tuple[str | None, ...]


def configured(places: Places) -> dict[Path, ConfiguredWheel]:
    """Return the wheel of each configuration. Raises SetupError if a file has no table: the access list would lack the
    users of its wheel."""
    found = {}
    for path in configurations(places.configurations):
        try:
            told = msgspec.toml.decode(places.computer.read(path) or b"", type=_Configuration)
        except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
            named = {"file": str(path), "reason": str(wrong)}
            raise SetupError(
                Text(
                    "{file} does not name its table ({reason}), and the broker's access list needs every table: "
                    "correct the file or move it away",
                    named,
                )
            ) from None
        table = TableAccess.of(told.table.site, told.table.id, told.mqtt.users)
        found[path] = ConfiguredWheel(table, (told.sensors.port, told.head.port))
    return found


def list_for(tables: list[TableAccess], before: str) -> str:
    """Return the list for these tables, and for the tables of the list `before` that have no configuration here: a
    wheel on another computer may use this broker. Raises SetupError if two tables have the same name."""
    known = {(each.site, each.table) for each in tables}
    listed = re.findall(rf"^# --- ({NAME_PATTERN})/({NAME_PATTERN})$", before, re.MULTILINE)
    elsewhere = [TableAccess.of(*each) for each in listed if each not in known]
    every = sorted([*tables, *elsewhere], key=lambda each: (each.site, each.table))
    if same := ", ".join(same_names(every)):
        raise SetupError(
            Text(
                "two tables have the name {name}, so their users would have the same names: give this table another id",
                {"name": same},
            )
        )
    return access_list(every)


def lost(before: str, after: str) -> list[str]:
    """Return the rights of the list `before` that `after` lacks, one line for each. A person added them by hand."""
    return sorted(_rights(before) - _rights(after))


def _rights(text: str) -> set[str]:
    """Return each line that is not a comment, with the user that it applies to."""
    user, found = "everybody", set()
    for line in (line.strip() for line in text.splitlines()):
        if line.startswith("user "):
            user = line.removeprefix("user ")
        elif line and not line.startswith("#"):
            found.add(f"{user}: {line}")
    return found
