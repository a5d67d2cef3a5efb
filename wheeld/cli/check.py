"""`wheeld check-config`: what a configuration means, a line a fact."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from wheeld.broker.settings import MqttSettings
from wheeld.broker.tls import common_name
from wheeld.config.instance import wheel_of
from wheeld.config.problems import ConfigError, located
from wheeld.config.reading import load
from wheeld.config.sections import Config
from wheeld.config.validation import problems_here
from wheeld.core.catalogue import LANGUAGE_NAMES, Catalogue
from wheeld.core.setting import HEADS, rows_of
from wheeld.core.tracking.passes import certain_laps
from wheeld.core.tracking.provable import provable
from wheeld.exits import Exit
from wheeld.journal.seal import FileSigner
from wheeld.journal.setting import JournalSetting
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.head.setting import HeadSetting


def check(options: argparse.Namespace) -> Exit:
    """Validate the configuration and print what it means; raises ConfigError, KeyFileError or OSError."""
    wheel = wheel_of(options.wheel)
    config = load(*wheel)
    if problems := problems_here(config):
        raise ConfigError(str(wheel.config), located(problems, wheel.config.read_text(encoding="utf-8")))
    for line in facts(config):
        sys.stdout.write(line + "\n")
    return Exit.OK


def facts(config: Config) -> Iterator[str]:
    """What the configuration comes to, in sentences."""
    yield from _table(config)
    yield from _wheel(config)
    yield from _sensors(config)
    yield from _provable(config)
    yield from _journal(config.journal)
    yield from _mqtt(config)
    yield f"log: {config.log.level} and above, JSON lines on standard error"


def _table(config: Config) -> Iterator[str]:
    table = config.table
    profile = table.profile
    yield f"table: {table.table} of {table.site}, {table.house}/{table.game}"
    if table.test:
        yield "a BENCH TABLE: every message is marked as a test, and a feed refuses it unless it asks for tests"
    yield f"messages in {LANGUAGE_NAMES[table.table_language]}, numbers announced in {profile.announcements.language}"
    yield f'a void coup is declared with "{table.words}"'
    yield from rows_of(table)
    by_head = table.pocket == "head"
    yield f"its number is called {'by the head' if by_head else f'after {_times(table.sightings_to_call)}'}"
    if table.auto_rien_ne_va_plus_rev_s is None:
        yield "rien ne va plus: announced by the chef"


def _wheel(config: Config) -> Iterator[str]:
    wheel = setting = config.table
    way = "either way" if wheel.rotor_direction is None else f"{wheel.rotor_direction} only"
    encoder = f"; its encoder has {wheel.rotor_ticks} ticks" if setting.rotor == "sensors" else ""
    yield f"wheel: {setting.wheel}, the rotor turns {way}{encoder}"
    if setting.ball == "sensors":
        yield f"beams: {_angles(wheel.beams_deg)}"
        which = "one pulse was a stray" if setting.strays == 1 else f"{setting.strays} pulses were strays"
        certain = certain_laps(wheel.beams_deg, setting.min_laps, setting.strays)
        yield f"a lap is proven if it is whichever {which}: a run is certain to be valid from {certain:.2f} laps on"
    if setting.pocket == "sensors":
        yield f"readers: {_angles(wheel.readers_deg)}"
    by_head = [key for key in ("rotor", "ball", "pocket") if getattr(setting, key) == "head"]
    if by_head:
        yield f"the head reports the {', '.join(by_head)}"


def _sensors(config: Config) -> Iterator[str]:
    if config.sensors is not None:
        yield from _board(config.sensors)
    if config.gpio is not None:
        yield from _gpio(config.gpio)
    if config.head is not None:
        yield from _head(config.head)
    yield f"the cabinet's door: {_door(config)}"


def _door(config: Config) -> str:
    """What tells whether it is open."""
    if config.sensors is not None:
        return "told by the sensor board, if it has a door switch"
    if config.gpio is not None and config.gpio.door_pin is not None:
        return f"told by the switch at pin {config.gpio.door_pin}"
    return "no switch tells whether it is open"


def _head(head: HeadSetting) -> Iterator[str]:
    name = HEADS[head.product].name
    yield f"wheel head: {name}, {head.port} at {head.baud} baud; a fault when silent for {head.silence_s_max:g} s"
    lines = "asked for each status line" if head.poll else "sends its status lines by itself"
    number = "also on a line of its own" if head.bare_number else "in its status lines only"
    yield f"it {'is ' if head.poll else ''}{lines}, and the number {number}"


def _provable(config: Config) -> Iterator[str]:
    """Row by row of docs/rulebook.md, with the house's article, what proves it."""
    setting, english = config.table, Catalogue("en")
    for row in provable(setting):
        yield f"{setting.profile.cited((row.row,), row.what, english)}: {row.by or 'nothing here proves it'}"
    if setting.confirm_numbers:
        yield f"each number: {_BY_CHEF}"
    if setting.unproven is not None and setting.lacks:
        yield f"a coup that lacks only {' and '.join(setting.lacks)}: {_UNPROVEN[setting.unproven]}"
    elif setting.unproven is not None:
        yield f"a coup whose laps are suggested and not proven: {_SUGGESTED[setting.unproven]}"


_BY_CHEF = "waits for the chef to confirm it, or to declare it null"
_UNPROVEN = {"void": "void, as a breakdown", "chef": _BY_CHEF}
_SUGGESTED = {"void": "void, as too few laps", "chef": _BY_CHEF}


def _board(sensors: BoardSetting) -> Iterator[str]:
    yield f"sensor board: {sensors.port} at {sensors.baud} baud; a fault when silent for {sensors.silence_s_max:g} s"
    pins = {"serial number": sensors.board_serial, "configuration hash": sensors.config_hash}
    fixed = [f"{name} {value}" for name, value in pins.items() if value is not None]
    yield f"only the board with {' and '.join(fixed)}" if fixed else "any board with that layout of sensors is accepted"
    yield f"its clock may drift {sensors.max_drift_ppm} ppm from the host's"


def _gpio(gpio: GpioSetting) -> Iterator[str]:
    chip = "the Pi's own" if gpio.chip is None else f"/dev/gpiochip{gpio.chip}"
    yield f"GPIO: through {gpio.provider}, the chip is {chip}"
    if gpio.encoder is not None:
        yield f"encoder: {gpio.encoder} at pins {gpio.encoder_pins}, its index in tick {gpio.index_tick}"
    pins = ", ".join(f"{key} {pin}" for key, pin in gpio.used() if key != "encoder_pins")
    yield f"pins: {pins}" if pins else "no other pins"


def _journal(journal: JournalSetting) -> Iterator[str]:
    yield f"journal: {journal.path}"
    if journal.signing_key_file is not None:
        key_id = FileSigner(journal.signing_key_file).key_id
        yield f"sealed at each change of shift, and its feed signed, by key {key_id}"
    days = "" if journal.evidence_age_days is None else f"for {journal.evidence_age_days:g} days and "
    yield f"evidence is kept {days}up to {journal.evidence_bytes_max:,} bytes"


def _mqtt(config: Config) -> Iterator[str]:
    mqtt, table = config.mqtt, config.table
    secured = "with TLS" if mqtt.ca_file or mqtt.cert_file else "without TLS"
    yield f"broker: {mqtt.host}:{mqtt.port} {_who(mqtt)}, {secured}, MQTT {mqtt.protocol}"
    yield f"topics: wheel/v1/{table.site}/{table.table}/…"
    for user, role in mqtt.users.items():
        yield f"{user} at the broker: {role}"
    confirmed = "the settlement core acknowledges it" if mqtt.settlement_ack else "the broker has confirmed it"
    yield f"a message is owed until {confirmed}"


def _who(mqtt: MqttSettings) -> str:
    """Under which name the broker knows us."""
    as_user = f"as {mqtt.username}" if mqtt.username else ""
    if mqtt.cert_file is None:
        return as_user or "anonymously"
    name = common_name(mqtt.cert_file)
    whose = "its own certificate" if name is None else f"the certificate of {name or 'nobody'}"
    return f"{as_user} with {whose}".strip()


def _angles(angles_deg: tuple[float, ...]) -> str:
    return f"{len(angles_deg)} at {', '.join(f'{angle:g}°' for angle in angles_deg)}"


def _times(count: int) -> str:
    return "one sighting" if count == 1 else f"{count} sightings in the same pocket"
