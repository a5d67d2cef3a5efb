"""Makes the configuration of a wheel from the answers and the paths of its files."""

from __future__ import annotations

from typing import Any

from wheeld.config.instance import StoredCredentials
from wheeld.config.paths import CREDENTIAL
from wheeld.config.reading import load_here, notes
from wheeld.config.sections import SECTIONS, Config
from wheeld.setup.answers import Answers, SetupSection, problems_in, text_of
from wheeld.setup.places import BrokerPlaces, Places

SIMULATED = {"silence_s_max": 0.7, "max_drift_ppm": 1_000_000}
"""The limits for a simulated board that runs five times faster than real time, as in `systemd/wheeld-sim@.service`. A
silence of 3.5 simulated seconds is a fault. A large drift is accepted, because the board's clock is faster than
ours."""
BROKER_PORT = 8883
HEAD = """\
# The wheel {name}, written by `wheeld setup`. `man wheeld` names the commands.
# `wheeld check-config {name}` says what this file means, or what is wrong in it.
# After a change: `systemctl reload wheeld@{name}`

"""


def complete(answers: Answers, setup: SetupSection, places: Places) -> dict[str, dict[str, Any]]:
    """Return every section of the wheel's file with its keys. Raises ConfigError if an answer is wrong."""
    values = {section: dict(keys) for section, keys in answers.configuration.items()}
    if setup.sensors == "simulated":
        values["table"]["test"] = True
        values["sensors"] = {"port": str(places.line), **SIMULATED, **values.get("sensors", {})}
    elif setup.sensors == "head" and not values.get("wheel"):
        values.pop("wheel", None)
    journal = {"path": str(places.journal), "signing_key_file": f"{CREDENTIAL}signing-key"}
    values["journal"] = {**journal, **values.get("journal", {})}
    # Setup makes the files of `[mqtt]`, or copies those that a person named.
    given = values.get("mqtt", {})
    files = {name: said for name, (said, _) in places.copies.items()}
    if setup.broker == "house":
        made = {name: files[name] for name in ("cert_file", "key_file")}
        made["ca_file"] = str(BrokerPlaces(places.computer).authority)
        values["mqtt"] = {"host": "localhost", "port": BROKER_PORT, **given, **made}
    else:
        values["mqtt"] = {name: files.get(name, value) for name, value in given.items()}
    values["monitor"] = {"socket": str(places.monitor), **values.get("monitor", {})}
    ordered = {name: values[name] for name in (*SECTIONS, *(values.keys() - SECTIONS.keys())) if values.get(name)}
    if wrong := problems_in(ordered):
        answers.refuse(wrong)
    return ordered


def file_of(name: str, configuration: dict[str, dict[str, Any]]) -> bytes:
    """Return the text of the file, with a short comment for each key."""
    comments = {
        f"{section}.{key}": next((note.title for note in notes(SECTIONS[section][key].kind) if note.title), "")
        for section, keys in configuration.items()
        for key in keys
    }
    return (HEAD.format(name=name) + text_of(configuration, comments)).encode()


def checked(places: Places) -> Config:
    """Return the existing configuration after the checks of `wheeld check-config`. Raises ConfigError, OSError."""
    return load_here(places.configuration, StoredCredentials(places.name, places.computer.root).file)
