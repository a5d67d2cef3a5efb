"""What the values of a configuration must mean together.

What they mean for the law is validated in one place only, the core's `TableSetting.check`.
"""

from __future__ import annotations

from msgspec import structs

from wheeld.broker.roles import users_at
from wheeld.broker.settings import MqttSettings
from wheeld.config.paths import SECRETS, trouble
from wheeld.config.problems import Problem
from wheeld.config.sections import Config
from wheeld.config.validate_gpio import gpio_problems
from wheeld.config.validate_head import head_problems
from wheeld.core.setting import config_keys


def problems_of(config: Config) -> list[Problem]:
    """Everything that is wrong with a configuration whose values are of the right types."""
    table = _table(config)
    # What must see the wheel follows from the table, so a wrong table has no sources to validate.
    return [*table, *([] if table else _sources(config)), *_files(config), *_broker(config.mqtt), *_users(config)]


def _table(config: Config) -> list[Problem]:
    """The core's own validation of the table, in the file's keys; what is derived has none."""
    keys = config_keys()
    places = {field: f"{key.section}.{key.name}" for field, key in keys.items()}
    return [Problem(places[field], what) for field, what in config.table.check()]


def _sources(config: Config) -> list[Problem]:
    """Something must see the wheel: a head, and for what it does not report a board or pins, one of them."""
    gpio, table = config.gpio, config.table
    of_head = () if config.head is None else head_problems(config.head)
    problems = [Problem(f"head.{key}", what) for key, what in of_head]
    if config.head is not None and config.sensors is not None and config.head.port == config.sensors.port:
        problems.append(Problem("head.port", "is the board's port too, in [sensors]; a line has one device at its end"))
    by_head = tuple(key for key in ("rotor", "ball") if getattr(table, key) == "head")
    if len(by_head) == 2 and config.sensors is not None:
        problems.append(Problem("sensors.port", "is a board without use: [head] reports rotor and ball"))
    by_sensors = [key for key in ("rotor", "ball", "pocket") if getattr(table, key) == "sensors"]
    if by_sensors and gpio is None and config.sensors is None:
        what = (
            f"is missing; expected since sensors report {', '.join(by_sensors)}, and nothing in [gpio] sees the wheel"
        )
        problems.append(Problem("sensors.port", f"{what} either; or describe the wheel's head in [head]"))
    has_pin = gpio is not None and gpio.object_pin is not None
    if table.object_sensor and config.sensors is None and not has_pin:
        problems.append(Problem("wheel.object_sensor", "is true, and neither a board nor gpio.object_pin is there"))
    if has_pin and not table.object_sensor:
        problems.append(Problem("wheel.object_sensor", "is false, and gpio.object_pin is one: leave it out"))
    if gpio is None:
        return problems
    found = gpio_problems(gpio, table, has_board=config.sensors is not None)
    return [*problems, *(Problem(f"gpio.{key}", what) for key, what in found)]


def _files(config: Config) -> list[Problem]:
    """Files must exist, and those that hold secrets must be closed to others."""
    problems: list[Problem] = []
    for section in structs.fields(Config):
        values = getattr(config, section.name)
        for key, path in ({} if values is None else structs.asdict(values)).items():
            if key.endswith("_file") and path is not None and (why := trouble(path, secret=key.endswith(SECRETS))):
                problems.append(Problem(f"{section.name}.{key}", why))
    return problems


def _broker(mqtt: MqttSettings) -> list[Problem]:
    """Keys that need each other, and a host without anything else."""
    problems: list[Problem] = []
    if set(mqtt.host) & set("@/ "):
        what = "is more than the name or the address of a host: user and password have keys of their own"
        problems.append(Problem("mqtt.host", what))
    if mqtt.password_file is not None and mqtt.username is None:
        problems.append(Problem("mqtt.username", "is missing; expected since password_file is given"))
    if (mqtt.cert_file is None) != (mqtt.key_file is None):
        missing = "cert_file" if mqtt.cert_file is None else "key_file"
        problems.append(Problem(f"mqtt.{missing}", "is missing; cert_file and key_file go together"))
    return problems


def _users(config: Config) -> list[Problem]:
    """A name that has its role already must not get another: the access list and the wheel would differ on it."""
    known = users_at(config.table.table, {})
    return [
        Problem("mqtt.users", f"gives {user} a role, which is the {known[user].name} of this table already")
        for user in config.mqtt.users
        if user in known
    ]
