"""Rules about several values of a configuration together.

Only the core validates what concerns the law, by the `RULES` of a `TableSetting`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import structs

from wheeld.broker.roles import BY_NAME, users_at
from wheeld.broker.settings import TLS_PORT, MqttSettings
from wheeld.broker.tls import TlsFiles, TlsFilesError, own_certificate
from wheeld.config.paths import SECRETS, setup_again, trouble
from wheeld.config.problems import Problem
from wheeld.config.sections import Config
from wheeld.config.unknown import judged, without
from wheeld.config.validate_gpio import gpio_rules
from wheeld.config.validate_head import head_rules
from wheeld.core.catalogue import Part, Text
from wheeld.core.setting import RULES, SENSORS_OF, config_keys
from wheeld.monitor.setting import PATH_BYTES_MAX


def problems_of(config: Config) -> list[Problem]:
    """Return everything that is wrong with a configuration, as far as its values are known."""
    places = {field: f"{key.section}.{key.name}" for field, key in config_keys().items()} | {"head": "head.product"}
    of_table = [wrong for rule in RULES for wrong in judged(rule(config.table))]
    table = [Problem(places[field], what) for field, what in of_table]
    # The table's values decide which sources are required, so wrong values are left out first. If `beams_deg` is given
    # with `ball = "head"`, either of the two may be wrong: both are left out.
    wrong = {field for field, _ in of_table}
    wrong |= {
        part for part, sensors in SENSORS_OF.items() if sensors in wrong and getattr(config.table, part) == "head"
    }
    rest = structs.replace(config, table=without(config.table, wrong))
    return [*table, *(problem for rule in _rules(rest) for problem in judged(rule))]


def problems_here(config: Config) -> list[Problem]:
    """Return the problems that a valid configuration would have at a start on this computer."""
    problems = []
    directory = config.journal.path.parent
    if not directory.is_dir():
        places = {"directory": str(directory), "file": "/var/lib/wheeld/NAME.sqlite"}
        what = Text(
            "the directory {directory} does not exist, and the daemon makes only the file: make it, or write {file}",
            places,
        )
        problems.append(Problem("journal.path", what))
    # Both checks read the certificate, and what is wrong with it must be reported only once.
    if of_name := [*_name_at_broker(config)]:
        return [*problems, *of_name]
    # Now report what OpenSSL finds wrong with the files together, such as a key that belongs to another certificate.
    files = TlsFiles(config.mqtt.ca_file, config.mqtt.cert_file, config.mqtt.key_file)
    try:
        if files.named:
            files.context()
    except TlsFilesError as wrong:
        what = Text("{wrong}; name the files that the house's authority issued", {"wrong": wrong.text})
        problems.append(Problem(f"mqtt.{wrong.key}", what))
    return problems


def wrong_port(key: str, port: str) -> Iterator[Text]:
    """Yield a sentence if this computer has no such port. This is not an error: it may be an office computer, or the
    device is connected later."""
    named: dict[str, Part] = {"line": port, "key": key}
    if "://" not in port and not Path(port).exists():
        yield Text("this computer has no {line}: connect the device, or correct {key}", named)
    elif "://" not in port and not Path(port).is_char_device():
        yield Text("{line} is not a serial port: correct {key}", named)


def _name_at_broker(config: Config) -> Iterator[Problem]:
    """Yield a problem if our certificate has expired, or if it does not name this wheel and there is no username."""
    mqtt, table = config.mqtt, config.table.table
    if mqtt.cert_file is None:
        return
    try:
        own = own_certificate(mqtt.cert_file)
    except TlsFilesError as wrong:
        yield Problem("mqtt.cert_file", wrong.text)
        return
    if own is not None and own.ends <= datetime.now(UTC):
        ended: dict[str, Part] = {"at": f"{own.ends:%Y-%m-%d %H:%M} UTC", "setup": setup_again(config.file)}
        yield Problem(
            "mqtt.cert_file",
            Text(
                "expired at {at}: have a new certificate issued, or let `{setup}` make one; if this computer's clock "
                "is wrong, correct it (`timedatectl`)",
                ended,
            ),
        )
        return
    if own is None or mqtt.username is not None:
        return
    name = own.name
    known = users_at(table, mqtt.users)
    right: dict[str, Part] = {"user": BY_NAME["wheel"].user(table), "name": repr(name)}
    if not name:
        yield Problem(
            "mqtt.cert_file",
            Text(
                "has no common name, so the broker does not know who this wheel is; expected {user}, or a name with "
                "the role wheel in users",
                right,
            ),
        )
    elif name not in known or known[name].name != "wheel":
        yield Problem(
            "mqtt.cert_file",
            Text(
                "has the common name {name}, which is not this wheel's in the broker's access list; expected {user}, "
                "or a name with the role wheel in users",
                right,
            ),
        )


def _rules(config: Config) -> Iterator[Iterator[Problem]]:
    """Yield all rules. Each is judged alone. If a rule needs a key that is wrong, the other rules are still judged."""
    yield _lines(config)
    yield _use_of_board(config)
    yield _something_sees(config)
    yield _object_sensor(config)
    if config.head is not None:
        yield from (_in("head", rule) for rule in head_rules(config.head))
    if config.gpio is not None:
        rules = gpio_rules(config.gpio, config.table, has_board=config.sensors is not None)
        yield from (_in("gpio", rule) for rule in rules)
    # Files must exist, and other users must not be able to read those with secrets.
    for section in Config.__struct_fields__:
        values = getattr(config, section)
        for key in getattr(values, "__struct_fields__", ()):
            if key.endswith("_file"):
                yield _file(values, section, key)
    yield _socket_name(config)
    yield _host(config.mqtt)
    yield _password(config.mqtt)
    yield _certificate(config.mqtt)
    yield _port(config.mqtt)
    yield _users(config)


def _in(section: str, rule: Iterator[tuple[str, Text]]) -> Iterator[Problem]:
    for key, what in rule:
        yield Problem(f"{section}.{key}", what)


def _lines(config: Config) -> Iterator[Problem]:
    if config.head is not None and config.sensors is not None and config.head.port == config.sensors.port:
        what = Text("is also the port of the board, in [sensors]; name the line of the head")
        yield Problem("head.port", what)


def _use_of_board(config: Config) -> Iterator[Problem]:
    if config.sensors is not None and all(getattr(config.table, part) == "head" for part in SENSORS_OF):
        what = Text("is a board that nothing needs: [head] reports rotor and ball; remove [sensors]")
        yield Problem("sensors.port", what)


def _something_sees(config: Config) -> Iterator[Problem]:
    """Yield a problem if a part is not reported by a head, and there is neither a board nor pins."""
    if config.gpio is not None or config.sensors is not None:
        return
    if by_sensors := [part for part in SENSORS_OF if getattr(config.table, part) == "sensors"]:
        what = Text(
            "is missing; give it, because sensors report {parts}, and there is no [gpio]; or describe the wheel's "
            "head in [head]",
            {"parts": ", ".join(by_sensors)},
        )
        yield Problem("sensors.port", what)


def _object_sensor(config: Config) -> Iterator[Problem]:
    has_pin = config.gpio is not None and config.gpio.object_pin is not None
    if config.table.object_sensor and config.sensors is None and not has_pin:
        yield Problem(
            "wheel.object_sensor",
            Text("is true, but there is neither a board nor gpio.object_pin: set gpio.object_pin, or write false here"),
        )
    if has_pin and not config.table.object_sensor:
        yield Problem(
            "wheel.object_sensor", Text("is false, but gpio.object_pin is an object sensor: leave this key out")
        )


def _file(values: msgspec.Struct, section: str, key: str) -> Iterator[Problem]:
    path = getattr(values, key)
    if path is not None and (why := trouble(path, secret=key.endswith(SECRETS))):
        yield Problem(f"{section}.{key}", why)


def _socket_name(config: Config) -> Iterator[Problem]:
    if config.monitor is not None and len(bytes(config.monitor.socket)) > PATH_BYTES_MAX:
        what = Text(
            "is longer than the {most} bytes that Linux allows for a socket; choose a shorter path",
            {"most": PATH_BYTES_MAX},
        )
        yield Problem("monitor.socket", what)


def _host(mqtt: MqttSettings) -> Iterator[Problem]:
    if set(mqtt.host) & set("@/ "):
        what = Text("is more than the name or the address of a host: user and password have their own keys")
        yield Problem("mqtt.host", what)


def _password(mqtt: MqttSettings) -> Iterator[Problem]:
    if mqtt.password_file is not None and mqtt.username is None:
        yield Problem("mqtt.username", Text("is missing; give it, because password_file is given"))


def _certificate(mqtt: MqttSettings) -> Iterator[Problem]:
    if (mqtt.cert_file is None) != (mqtt.key_file is None):
        missing = "cert_file" if mqtt.cert_file is None else "key_file"
        yield Problem(f"mqtt.{missing}", Text("is missing; give cert_file and key_file together"))


def _port(mqtt: MqttSettings) -> Iterator[Problem]:
    if mqtt.port == TLS_PORT and not TlsFiles(mqtt.ca_file, mqtt.cert_file, mqtt.key_file).named:
        what = Text(
            "is missing; on port {port} brokers use TLS, and only ca_file or cert_file turns TLS on",
            {"port": TLS_PORT},
        )
        yield Problem("mqtt.ca_file", what)


def _users(config: Config) -> Iterator[Problem]:
    """Yield the problems of names of users. A name that already has a role must not get another one: the access list
    and the wheel would differ. With a mistyped name in `expiry_required`, a user's commands would not have to
    expire."""
    known = users_at(config.table.table, {})
    for user in config.mqtt.users:
        if user in known:
            what = Text(
                "gives a role to {user}, who already is the {role} of this table; remove {user} from `users`",
                {"user": user, "role": known[user].name},
            )
            yield Problem("mqtt.users", what)
    commanding = {user for user, role in users_at(config.table.table, config.mqtt.users).items() if role.commands}
    for user in config.mqtt.expiry_required:
        if user not in commanding:
            what = Text("names {user}, who gives no command at this table; correct the name", {"user": user})
            yield Problem("mqtt.expiry_required", what)
