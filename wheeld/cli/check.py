"""`wheeld check-config`: prints what a configuration means, one sentence in each line."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from pwd import getpwnam

from wheeld.broker.tls import is_from, own_certificate
from wheeld.cli.failure import fail, warn
from wheeld.cli.provable import certain_laps, provable
from wheeld.cli.rights import rights_of
from wheeld.config.instance import wheel_of
from wheeld.config.paths import setup_again
from wheeld.config.reading import load_here
from wheeld.config.sections import Config
from wheeld.config.validation import wrong_port
from wheeld.core.catalogue import LANGUAGE_NAMES, Language, Part, Text, translatable
from wheeld.core.heads import HEADS
from wheeld.core.setting import Part as WheelPart
from wheeld.core.setting import TableSetting, rows_of
from wheeld.exits import Exit
from wheeld.journal.seal import FileSigner
from wheeld.journal.setting import JournalSetting
from wheeld.sources.gpio import provider
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.head.reader import reader_of

USER = "wheeld"
"""The user of a wheel's unit."""


def check(options: argparse.Namespace) -> Exit:
    """Validate the configuration and print what it means. Raises ConfigError, KeyFileError or OSError."""
    wheel = wheel_of(options.wheel)
    config = load_here(*wheel)
    for line in facts(config, options.language):
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    found = [*to_look_at(config)]
    for text in found:
        warn(config.table.catalogue_in(options.language).say_text(text))
    closed = _closed(wheel.config, config) if wheel.is_instance and os.geteuid() == 0 else None
    return fail(closed, Exit.BAD_CONFIG, options) if closed else Exit.LOOK if found else Exit.OK


def _closed(file: Path, config: Config) -> Text | None:
    """Return which file of the wheel the unit's user cannot read or write, and how to change that. None if he may use
    all of them. A reload calls this as root, because a daemon that cannot read its files again ends. Raises OSError."""
    journal = config.journal.path
    # The lock, and files of SQLite, are beside the journal. systemd makes the directory, and gives it to the user.
    written = [path for path in (journal.parent, *sorted(journal.parent.glob(f"{journal.name}*"))) if path.exists()]
    read = [path for path in (file, config.mqtt.ca_file) if path is not None]
    try:
        user = getpwnam(USER)
    except KeyError:
        return None  # this computer has no units of wheels
    with rights_of(user.pw_uid, os.getgrouplist(USER, user.pw_gid)):
        unread = [path for path in read if not os.access(path, os.R_OK, effective_ids=True)]
        shut = [path.parent for path in unread if not os.access(path.parent, os.X_OK, effective_ids=True)]
        unwritten = [path for path in written if not os.access(path, os.W_OK, effective_ids=True)]
    for path in (*shut, *unread):
        named = shlex.quote(str(path))
        command = f"chgrp {USER} {named} && chmod g+{'rx' if path in shut else 'r'} {named}"
        closed: dict[str, Part] = {"user": USER, "file": str(path), "command": command}
        return Text("the unit's user, {user}, may not read {file}; as root: `{command}`", closed)
    if unwritten:
        if os.statvfs(unwritten[0]).f_flag & os.ST_RDONLY:
            return Text(
                "{file} is on a file system that is read-only: Linux makes a failing disk read-only, and "
                "`journalctl -k` says why; repair the disk",
                {"file": str(unwritten[0])},
            )
        command = shlex.join(["chown", f"{USER}:", *map(str, unwritten)])
        closed = {"user": USER, "file": str(unwritten[0]), "command": command}
        return Text("the unit's user, {user}, may not write {file}; as root: `{command}`", closed)
    return None


def to_look_at(config: Config) -> Iterator[Text]:
    """Yield what is not wrong in the file, but keeps the wheel of this computer from playing now. It may be an office
    computer, its clock may be set later, and a device may be connected later."""
    if config.sensors is not None:
        yield from wrong_port("sensors.port", config.sensors.port)
    if config.head is not None:
        yield from wrong_port("head.port", config.head.port)
    if config.gpio is not None:
        try:
            provider.choose(config.gpio.provider, provider.installed(), provider.this_machine())
        except provider.ProviderError as wrong:
            yield Text("this computer cannot read pins: {why}", {"why": wrong.text})
    mqtt = config.mqtt
    if mqtt.cert_file is None or (own := own_certificate(mqtt.cert_file)) is None:
        return
    if own.begins > datetime.now(UTC):
        begins: dict[str, Part] = {
            "certificate": str(mqtt.cert_file),
            "at": f"{own.begins:%Y-%m-%d %H:%M} UTC",
            "setup": setup_again(config.file),
        }
        yield Text(
            "{certificate} is valid only from {at}: correct this computer's clock (`timedatectl`), or let `{setup}` "
            "make one",
            begins,
        )
    if mqtt.ca_file and not is_from(mqtt.cert_file, mqtt.ca_file):
        files: dict[str, Part] = {
            "certificate": str(mqtt.cert_file),
            "authorities": str(mqtt.ca_file),
            "setup": setup_again(config.file),
        }
        yield Text(
            "{certificate} is not from an authority in {authorities}: if the broker does not know its authority "
            "either, have a new certificate issued; for a broker on this computer `{setup}` says how",
            files,
        )


def facts(config: Config, language: Language) -> Iterator[str]:
    """Yield what the configuration means, in sentences."""
    catalogue = config.table.catalogue_in(language)
    yield from map(catalogue.say_text, (*_table(config.table), *_sensors(config)))
    for row in provable(config.table):
        asked = config.table.profile.cited((row.row,), catalogue.say_text(row.what), catalogue)
        by = catalogue.say_text(row.by or Text("nothing at this table proves this"))
        yield catalogue.say("{first}: {second}", first=asked, second=by)
    yield from map(catalogue.say_text, (*_unproven(config.table), *_journal(config.journal), *_mqtt(config)))
    display = config.display
    if display is not None and (told := [text for text in (display.name, *display.limits) if text]):
        yield catalogue.say("players read: {texts}", texts=" · ".join(told))
    yield catalogue.say("log: {level} and above, JSON lines on standard error", level=config.log.level)


WAYS = {
    None: translatable("either way"),
    "cw": translatable("clockwise only"),
    "ccw": translatable("counter-clockwise only"),
}
PARTS: dict[WheelPart, str] = {
    "rotor": translatable("the rotor"),
    "ball": translatable("the ball"),
    "pocket": translatable("the pocket"),
}


def _table(table: TableSetting) -> Iterator[Text]:
    place = {"table": table.table, "site": table.site, "house": table.house, "game": table.game}
    yield Text("table: {table} of {site}, {house}/{game}", place)
    if table.test:
        yield Text(
            "a BENCH TABLE: every message is marked as a test, and programs accept it only if they ask for tests"
        )
    said, announced = LANGUAGE_NAMES[table.table_language], table.profile.announcements.language
    languages = {"language": Text(said), "announced": Text(announced)}
    yield Text("messages in {language}, numbers announced in {announced}", languages)
    yield Text('a void coup is declared with "{words}"', {"words": table.words})
    yield from rows_of(table)
    if table.pocket == "head":
        yield Text("the head reports the number")
    elif table.sightings_to_call == 1:
        yield Text("the number is proven after one sighting")
    else:
        yield Text(
            "the number is proven after {count} sightings in the same pocket", {"count": table.sightings_to_call}
        )
    if table.auto_rien_ne_va_plus_rev_s is None:
        yield Text("rien ne va plus: announced by the chef")
    kind: dict[str, Part] = {"wheel": table.wheel, "way": Text(WAYS[table.rotor_direction]), "ticks": table.rotor_ticks}
    if table.rotor == "sensors":
        yield Text("wheel: {wheel}, the rotor turns {way}; its encoder has {ticks} ticks", kind)
    else:
        yield Text("wheel: {wheel}, the rotor turns {way}", kind)
    if table.ball == "sensors":
        yield Text("beams: {count} at {angles}", _angles(table.beams_deg))
        laps: dict[str, Part] = {
            "laps": round(certain_laps(table.beams_deg, table.min_laps, table.strays), 2),
            "strays": table.strays,
        }
        if table.strays == 1:
            yield Text(
                "any one pulse may be a stray, so a lap is proven only if it is proven without that pulse, too: a run "
                "of {laps} laps or more is certainly valid",
                laps,
            )
        else:
            yield Text(
                "any {strays} pulses may be strays, so a lap is proven only if it is proven without them, too: a run "
                "of {laps} laps or more is certainly valid",
                laps,
            )
    if table.pocket == "sensors":
        yield Text("readers: {count} at {angles}", _angles(table.readers_deg))
    if by_head := tuple(Text(PARTS[part]) for part in PARTS if getattr(table, part) == "head"):
        yield Text("the head reports {parts}", {"parts": by_head})


def _sensors(config: Config) -> Iterator[Text]:
    sensors, gpio, head = config.sensors, config.gpio, config.head
    if sensors is not None:
        board: dict[str, Part] = {"line": sensors.port, "baud": sensors.baud, "seconds": sensors.silence_s_max}
        yield Text("sensor board: {line} at {baud} baud; silence for {seconds} s is a fault", board)
        pins = (
            Text("serial number {value}", {"value": sensors.board_serial}) if sensors.board_serial else None,
            Text("configuration hash {value}", {"value": sensors.config_hash}) if sensors.config_hash else None,
        )
        if fixed := tuple(filter(None, pins)):
            yield Text("only the board with {pins} is accepted", {"pins": fixed})
        else:
            yield Text("any board with this layout of sensors is accepted")
        drift: dict[str, Part] = {"drift": sensors.max_drift_ppm}
        yield Text("the board's clock may drift from the host's clock by up to {drift} ppm; more is a trouble", drift)
    if gpio is not None:
        yield from _gpio(gpio)
    if head is not None:
        at: dict[str, Part] = {
            "head": HEADS[head.product].name,
            "line": head.port,
            "baud": head.baud,
            "seconds": head.silence_s_max,
        }
        yield Text("wheel head: {head}, {line} at {baud} baud; silence for {seconds} s is a fault", at)
        yield from reader_of(head.product).facts(head)
    if sensors is not None:
        yield Text("the cabinet's door: reported by the sensor board, if it has a door switch")
    elif gpio is not None and gpio.door_pin is not None:
        yield Text("the cabinet's door: reported by the switch at pin {pin}", {"pin": gpio.door_pin})
    else:
        yield Text("the cabinet's door: no switch reports whether it is open")


def _unproven(setting: TableSetting) -> Iterator[Text]:
    """Yield what happens to numbers and coups that are not proven, or that a person must confirm."""
    if setting.confirm_numbers:
        yield Text("each number waits for the chef to confirm it, or to declare it void")
    if setting.lacks:
        lacking = {"rules": " + ".join(setting.lacks)}
        if setting.unproven == "void":
            yield Text("a coup for which only {rules} is not proven is void, with the cause breakdown", lacking)
        else:
            yield Text(
                "a coup for which only {rules} is not proven waits for the chef to confirm it, or to declare it void",
                lacking,
            )
    elif setting.ball == "head":
        return
    elif "R2" in setting.confirmable:
        yield Text(
            "if the sensors suggest enough laps and do not prove them, the coup waits for the chef to confirm it, "
            "or to declare it void"
        )
    else:
        yield Text(
            "if the sensors suggest enough laps and do not prove them, the coup is void, because of too few laps"
        )


def _gpio(gpio: GpioSetting) -> Iterator[Text]:
    through = gpio.provider or Text("the installed package")
    if gpio.chip is None:
        yield Text("GPIO: through {provider}, the chip is the Pi's own", {"provider": through})
    else:
        at: dict[str, Part] = {"provider": through, "chip": f"/dev/gpiochip{gpio.chip}"}
        yield Text("GPIO: through {provider}, the chip is {chip}", at)
    with suppress(provider.ProviderError):
        machine = provider.this_machine()
        chosen = provider.choose(gpio.provider, provider.installed(), machine)
        here: dict[str, Part] = {"package": provider.PACKAGES[chosen], "machine": machine.told}
        yield Text("this computer would read pins through {package}: it is installed and works with {machine}", here)
    if gpio.encoder is not None:
        pins: dict[str, Part] = {"encoder": gpio.encoder, "pins": str(gpio.encoder_pins), "tick": gpio.index_tick}
        yield Text("encoder: {encoder} at pins {pins}, its index in tick {tick}", pins)
    if used := ", ".join(f"{key} {pin}" for key, pin in gpio.used() if key != "encoder_pins"):
        yield Text("pins: {pins}", {"pins": used})
    else:
        yield Text("no other pins are used")


def _journal(journal: JournalSetting) -> Iterator[Text]:
    yield Text("journal: {file}", {"file": str(journal.path)})
    if journal.signing_key_file is not None:
        key_id = FileSigner(journal.signing_key_file).key_id
        yield Text(
            "the journal is sealed at each change of shift, and the feed is signed, with key {key}", {"key": key_id}
        )
    # Groups of three digits with spaces are understood in every language.
    kept = {"bytes": f"{journal.evidence_bytes_max:,}".replace(",", " ")}
    if journal.evidence_age_days is None:
        yield Text("evidence is kept up to {bytes} bytes", kept)
    else:
        yield Text(
            "evidence is kept for {days} days and up to {bytes} bytes", {**kept, "days": journal.evidence_age_days}
        )


def _mqtt(config: Config) -> Iterator[Text]:
    mqtt, table = config.mqtt, config.table
    secured = Text("with TLS") if mqtt.ca_file or mqtt.cert_file else Text("without TLS")
    # Say the name and the certificate with which the daemon logs in.
    who = Text("as {user}", {"user": mqtt.username}) if mqtt.username else Text("anonymously")
    own = None if mqtt.cert_file is None else own_certificate(mqtt.cert_file)
    if mqtt.cert_file is not None:
        if own is None:
            certificate = Text("with its own certificate")
        else:
            certificate = Text("with the certificate of {name}", {"name": own.name or Text("nobody")})
        both: dict[str, Part] = {"user": mqtt.username or "", "certificate": certificate}
        who = Text("as {user} {certificate}", both) if mqtt.username else certificate
    at: dict[str, Part] = {
        "address": f"{mqtt.host}:{mqtt.port}",
        "who": who,
        "secured": secured,
    }
    yield Text("broker: {address} {who}, {secured}", at)
    if mqtt.password_file is not None:
        password: dict[str, Part] = {
            "file": str(mqtt.password_file),
            "restart": f"systemctl restart wheeld@{Path(config.file).stem}",
        }
        yield Text("the password at the broker is in {file}; after a change of it: `{restart}`", password)
    yield Text("topics: {topics}", {"topics": f"wheel/v1/{table.site}/{table.table}/…"})
    for user, role in mqtt.users.items():
        yield Text("{user} at the broker: {role}", {"user": user, "role": role})
    if mqtt.settlement_ack:
        yield Text("a message is owed until the settlement core acknowledges it")
    else:
        yield Text("a message is owed until the broker has confirmed it")


def _angles(angles_deg: tuple[float, ...]) -> dict[str, Part]:
    degrees = [Text("{angle}°", {"angle": float(angle)}) for angle in angles_deg]
    return {"count": len(angles_deg), "angles": tuple(degrees)}
