"""`wheeld check-config`: what a configuration means, a line a fact."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from wheeld.config import Config, load
from wheeld.exits import Exit


def check(asked: argparse.Namespace) -> Exit:
    """Judge the file and print what it means; raises ConfigError or OSError."""
    config = load(asked.file)
    for line in facts(config):
        sys.stdout.write(line + "\n")
    return Exit.OK


def facts(config: Config) -> Iterator[str]:
    """What the configuration comes to, in sentences."""
    yield from _table(config)
    yield from _wheel(config)
    yield from _sensors(config)
    yield f"journal: {config.journal.path}"
    yield from _mqtt(config)
    yield f"log: {config.log.level} and above, JSON lines on standard error"


def _table(config: Config) -> Iterator[str]:
    table, profile = config.table, config.setting().profile
    yield f"table: {table.id} of {table.site}, {table.house}/{table.game}, announced in {_LANGUAGES[profile.language]}"
    yield f"a coup needs {table.min_laps} proven laps; its number is called after {_times(table.sightings_to_call)}"
    if table.auto_rien_ne_va_plus_rev_s is None:
        yield "rien ne va plus: said by the chef"
    else:
        yield f"rien ne va plus: by itself when the ball is down to {table.auto_rien_ne_va_plus_rev_s:g} laps a second"
    if table.last_number is not None:
        yield f"last number: {table.last_number}, for a journal that is still empty"


def _wheel(config: Config) -> Iterator[str]:
    wheel = config.wheel
    kind = config.setting().wheel
    way = "either way" if wheel.rotor_direction is None else f"{wheel.rotor_direction} only"
    yield f"wheel: {kind}, the rotor turns {way}; its encoder has {wheel.rotor_ticks} ticks"
    yield f"beams: {_angles(wheel.beams_deg)}"
    yield f"readers: {_angles(wheel.readers_deg)}"


def _sensors(config: Config) -> Iterator[str]:
    sensors = config.sensors
    yield f"sensor board: {sensors.port} at {sensors.baud} baud; a fault when silent for {sensors.silence_s_max:g} s"
    pins = {"serial number": sensors.board_serial, "configuration hash": sensors.config_hash}
    told = [f"{name} {value}" for name, value in pins.items() if value is not None]
    yield f"only the board with {' and '.join(told)}" if told else "any board with that layout of sensors is accepted"
    yield f"its clock may drift {sensors.max_drift_ppm} ppm from the host's"


def _mqtt(config: Config) -> Iterator[str]:
    mqtt, table = config.mqtt, config.table
    secured = "with TLS" if mqtt.ca_file or mqtt.cert_file else "without TLS"
    who = f"as {mqtt.username}" if mqtt.username else "anonymously"
    yield f"broker: {mqtt.host}:{mqtt.port} {who}, {secured}, MQTT {mqtt.protocol}"
    yield f"topics: wheel/v1/{table.site}/{table.id}/…"
    confirmed = "the settlement core acknowledges it" if mqtt.settlement_ack else "the broker has confirmed it"
    yield f"a message is owed until {confirmed}"


def _angles(angles_deg: tuple[float, ...]) -> str:
    return f"{len(angles_deg)} at {', '.join(f'{angle:g}°' for angle in angles_deg)}"


def _times(count: int) -> str:
    return "one sighting" if count == 1 else f"{count} sightings in the same pocket"


_LANGUAGES = {"fr": "French", "it": "Italian"}
