"""Writes and reads the sections of a `wheeld` configuration that describe a simulated wheel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from firmware_protocol.messages import Layout as BoardLayout
from hw_sim.board import BoardSetup
from hw_sim.events import Direction
from hw_sim.exits import BadDataError
from hw_sim.panel import BrokerAddress
from hw_sim.wheel import HOUSES, POCKETS, WheelLayout, printed
from hw_sim.words import Language

SILENCE_S = (0.2, 1.0)
"""The smallest `silence_s_max` that a configuration may have, and the default."""
OUTAGE_S = 3.5
"""A silence of this many simulated seconds must count as a fault. An outage in a scenario takes at least 4 seconds."""


def sections(
    layout: WheelLayout,
    *,
    site: str,
    table: str,
    last_number: int | None,
    port: Path,
    speed: float,
    language: Language = "en",
) -> str:
    """Return `[table]`, `[wheel]` and `[sensors]` in TOML, for a board at `port` that plays at `speed` × real time."""
    label = None if last_number is None else printed(last_number)
    values: dict[str, dict[str, object]] = {
        "table": {
            "site": site,
            "id": table,
            "house": layout.house,
            "game": layout.game,
            # The number is written as a text if its label is not simply its digits: "00".
            "last_number": last_number if last_number is None or label == str(last_number) else label,
            "language": language,
        },
        "wheel": {
            "rotor_ticks": layout.rotor_ticks,
            "beams_deg": list(layout.beams_deg),
            "readers_deg": list(layout.readers_deg),
            "rotor_direction": layout.rotor_direction,
        },
        "sensors": {
            "port": str(port),
            "silence_s_max": silence_s(speed),
            "max_drift_ppm": None if speed == 1 else 1_000_000,
        },
    }
    lines: list[str] = []
    for name, keys in values.items():
        # Texts, numbers and lists of numbers have the same form in JSON and TOML.
        lines += [
            f"[{name}]",
            *(f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None),
            "",
        ]
    return "\n".join(lines)


_Angle: TypeAlias = Annotated[float, Meta(ge=0, lt=360)]


class _Table(msgspec.Struct):
    site: str
    id: str
    house: str
    game: str


class _Wheel(msgspec.Struct):
    rotor_ticks: Annotated[int, Meta(ge=len(POCKETS), le=4096)]
    beams_deg: Annotated[tuple[_Angle, ...], Meta(min_length=2, max_length=32)]
    readers_deg: Annotated[tuple[_Angle, ...], Meta(min_length=1, max_length=16)]
    rotor_direction: Direction | None = None


class _Mqtt(msgspec.Struct):
    host: str
    port: int = 1883
    ca_file: str | None = None
    cert_file: str | None = None
    password_file: str | None = None


class _Configuration(msgspec.Struct):
    """The keys of a `wheeld` configuration that matter here. The daemon checks all keys."""

    table: _Table
    wheel: _Wheel
    mqtt: _Mqtt | None = None


def layout_of(path: Path) -> WheelLayout:
    """Return the wheel that the configuration at `path` describes. Other sections and keys are ignored.

    Raises BadDataError.
    """
    told = _read(path)
    table, wheel = told.table, told.wheel
    if (table.house, table.game) not in HOUSES:
        known = ", ".join("/".join(each) for each in HOUSES)
        raise BadDataError(f"{path}: no regulation for {table.house}/{table.game}; known: {known}")
    if (table.game == "fair") != (wheel.rotor_direction is not None):
        raise BadDataError(f"{path}: a fair wheel needs rotor_direction, and no other wheel may have it")
    return WheelLayout(table.house, table.game, **msgspec.structs.asdict(wheel))


def broker_of(path: Path, credentials: Path | None) -> BrokerAddress | None:
    """Return the broker of the configuration at `path`, with the chef's certificate and key from the folder
    `credentials`. None if the configuration names no broker, or if the broker asks for a login and the two files are
    missing or are not PEM files. Raises BadDataError."""
    told = _read(path)
    table, mqtt = told.table, told.mqtt
    if mqtt is None:
        return None
    files = [] if credentials is None else [credentials / name for name in ("chef-certificate", "chef-key")]
    # A systemd unit must give a credential some content, even if there is no key.
    are_pem = all(file.is_file() and file.read_bytes().startswith(b"-----BEGIN") for file in files)
    certificate, key = files if files and are_pem else (None, None)
    if certificate is None and (mqtt.cert_file or mqtt.password_file):
        return None
    root = f"wheel/v1/{table.site}/{table.id}/"
    ca_file = None if mqtt.ca_file is None else path.parent / mqtt.ca_file
    return BrokerAddress(root, table.id, mqtt.host, mqtt.port, ca_file, certificate, key)


def _read(path: Path) -> _Configuration:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_Configuration)
    except OSError as error:
        raise BadDataError(f"cannot read {path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise BadDataError(f"{path}: not a configuration of a wheel that can be simulated: {wrong}") from wrong


def silence_s(speed: float) -> float:
    """Return `silence_s_max`, in real seconds. At a higher speed it is smaller, because outages are shorter."""
    least, most = SILENCE_S
    return round(min(most, max(least, OUTAGE_S / speed)), 3)


def board_setup(layout: WheelLayout) -> BoardSetup:
    """Return the setup of the wheel's board."""
    return BoardSetup(
        BoardLayout(
            beams=len(layout.beams_deg),
            readers=len(layout.readers_deg),
            rotor_ticks=layout.rotor_ticks,
            object_sensor=True,
        )
    )
