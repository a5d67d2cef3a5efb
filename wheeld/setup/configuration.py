"""Makes the configuration of a wheel from the answers and the paths of its files."""

from __future__ import annotations

from typing import Any

from wheeld.config.instance import StoredCredentials
from wheeld.config.paths import CREDENTIAL
from wheeld.config.problems import ConfigError, located
from wheeld.config.reading import notes, parse
from wheeld.config.sections import SECTIONS, Config
from wheeld.config.validation import problems_here
from wheeld.setup.answers import Answers, SetupSection, problems_in, text_of
from wheeld.setup.places import BrokerPlaces, Places

SIMULATED = {"silence_s_max": 0.7, "max_drift_ppm": 1_000_000}
"""For a simulated board that runs five times faster than real time, as in `systemd/wheeld-sim@.service`. A silence of
3.5 simulated seconds is a fault. A large drift is accepted, because its clock is faster than ours."""
BROKER_PORT = 8883
ORDER = (*SECTIONS,)
HEAD = """\
# The wheel {name}, written by `wheeld setup`. `man wheeld` names the commands.
# `wheeld check-config {name}` says what this file means, or what is wrong in it.
# After a change: `systemctl reload wheeld@{name}`

"""


def complete(answers: Answers, setup: SetupSection, places: Places) -> dict[str, dict[str, Any]]:
    """Return every key of the wheel's file. Raises ConfigError if an answer is wrong."""
    values = {section: dict(keys) for section, keys in answers.configuration.items()}
    if setup.sensors == "simulated":
        values["table"]["test"] = True
        values["sensors"] = {"port": str(places.line), **SIMULATED, **values.get("sensors", {})}
    elif setup.sensors == "head" and not values.get("wheel"):
        values.pop("wheel", None)
    journal = {"path": str(places.journal), "signing_key_file": f"{CREDENTIAL}signing-key"}
    values["journal"] = {**journal, **values.get("journal", {})}
    # The files of `[mqtt]` are made by setup, or are copies of the files that a person named.
    given = values.get("mqtt", {})
    files = {"cert_file": str(places.certificate), "key_file": f"{CREDENTIAL}mqtt-key"}
    if setup.broker == "house":
        files["ca_file"] = str(BrokerPlaces(places.computer).authority)
        values["mqtt"] = {"host": "localhost", "port": BROKER_PORT, **given, **files}
    else:
        files |= {"ca_file": str(places.broker_authority), "password_file": f"{CREDENTIAL}mqtt-password"}
        values["mqtt"] = {name: files.get(name, value) for name, value in given.items()}
    values["monitor"] = {"socket": str(places.monitor), **values.get("monitor", {})}
    ordered = {name: values[name] for name in (*ORDER, *(values.keys() - {*ORDER})) if values.get(name)}
    if wrong := problems_in(ordered):
        answers.refuse(wrong)
    return ordered


def file_of(name: str, configuration: dict[str, dict[str, Any]]) -> bytes:
    """The text of the file, with a short comment for each key."""
    comments = {
        f"{section}.{key}": next((note.title for note in notes(SECTIONS[section][key].kind) if note.title), "")
        for section, keys in configuration.items()
        for key in keys
    }
    return (HEAD.format(name=name) + text_of(configuration, comments)).encode()


def checked(places: Places) -> Config:
    """Return the existing configuration after the checks of `wheeld check-config`. Raises ConfigError, OSError."""
    path = places.configuration
    text = path.read_text(encoding="utf-8")
    credentials = StoredCredentials(places.name, places.computer.root).file
    config = parse(text, name=str(path), directory=path.parent, credentials=credentials)
    if problems := problems_here(config):
        raise ConfigError(str(path), located(problems, text))
    return config
