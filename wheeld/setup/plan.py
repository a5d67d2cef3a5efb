"""The plan for a wheel: its files, the files of the house's broker if it is wanted, and the commands after them."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from wheeld.certificates import new_signing_key, public_half
from wheeld.core.catalogue import Text, translatable
from wheeld.setup import steps
from wheeld.setup.answers import Answers
from wheeld.setup.broker import broker_steps
from wheeld.setup.computer import Computer, SetupError
from wheeld.setup.configuration import complete, file_of
from wheeld.setup.places import Places
from wheeld.setup.problems import SIMULATOR, refuse
from wheeld.setup.steps import Put, SetupStep, looked

_GIVEN = {
    "ca_file": translatable("the certificate of the broker's authority, from {file}"),
    "cert_file": translatable("the wheel's certificate for the broker, from {file}"),
    "key_file": translatable("the key of this certificate, from {file}"),
    "password_file": translatable("the wheel's password at the broker, from {file}"),
}
"""The files that a person gives, each with a description."""


def plan_of(answers: Answers, computer: Computer, now: datetime.datetime) -> list[SetupStep]:
    """Return the steps. Reads files and writes nothing. Raises ConfigError, SetupError, OSError."""
    setup = answers.setup()
    places = Places(computer, setup.name)
    values = complete(answers, setup, places)
    refuse(answers, computer)
    table = (values["table"]["site"], values["table"]["id"])
    plan = [*_wheel(places, values)]
    if setup.broker == "house":
        plan += broker_steps(places, *table, values.get("mqtt", {}).get("users", {}), setup.broker_names, now)
    else:
        # What a person named is copied to places where the wheel can read it.
        for name, (_, copy) in places.copies.items():
            if (given := answers.get(f"mqtt.{name}")) is not None:
                target = Put(copy, 0o600 if copy.parent == places.secrets else 0o644, bytes)
                plan.append(looked(partial(_copy, places, name, target, places.source(name, given)), copy))
    if setup.sensors == "simulated":
        unit = SIMULATOR.replace("@", f"@{setup.name}")
        if computer.is_enabled(unit):
            plan.append(SetupStep(action=steps.Action.STAYS, what=unit, why=Text("the simulated board")))
        else:
            starts = Text("starts the simulated board, now and at each boot")
            plan.append(steps.command(("systemctl", "enable", "--now", unit), starts))
    return plan


def _wheel(places: Places, values: dict[str, Any]) -> Iterator[SetupStep]:
    computer, key = places.computer, places.secret("signing-key")
    yield looked(
        lambda: steps.directory(computer, places.configurations, 0o750, "root:wheeld", Text("configurations")),
        places.configurations,
    )
    yield looked(lambda: steps.directory(computer, places.secrets, 0o700, "root", Text("secrets")), places.secrets)
    yield looked(lambda: steps.directory(computer, places.state, 0o750, "wheeld", Text("journals")), places.state)
    yield looked(lambda: _configuration(places, values), places.configuration)
    yield looked(
        lambda: steps.secret(computer, Put(key, 0o600, new_signing_key), Text("the key that signs feed and journal")),
        key,
    )
    yield looked(lambda: _public_key(places, key), places.public_key)


def _configuration(places: Places, values: dict[str, Any]) -> SetupStep:
    """Return the step for the configuration. A file with the same values stays: people write comments, and the comments
    of setup are others in another version."""
    text, found = file_of(places.name, values), places.computer.read(places.configuration)
    if found is not None and tomllib.loads(found.decode()) == tomllib.loads(text.decode()):
        text = found
    put = Put(places.configuration, 0o640, lambda: text, "wheeld")
    otherwise = Text("setup leaves it as it is: correct it by hand, or move it away and set up again")
    return steps.text(places.computer, put, Text("the configuration"), otherwise)


def _public_key(places: Places, key: Path) -> SetupStep:
    """Return the step for the public half of the key that exists or will be made."""
    computer = places.computer
    put = Put(places.public_key, 0o644, lambda: public_half(key.read_bytes()))
    why = Text("the public key: give it to everybody who receives the feed")
    files = {"key": str(key), "file": str(put.path)}
    if computer.read(key) is None and computer.read(put.path) is not None:
        raise SetupError(
            Text("{file} exists, but its key {key} does not: restore the key, or move the file away", files)
        )
    try:
        return steps.text(computer, put, why, Text("move it away if {key} is the right key", files))
    except ValueError:
        raise SetupError(
            Text("{key} contains no key that setup can read: restore it, or move it away", files)
        ) from None


def _copy(places: Places, name: str, target: Put, given: Path) -> SetupStep:
    content = places.computer.read(given) or b""
    put = target._replace(make=lambda: content)
    about, otherwise = Text(_GIVEN[name], {"file": str(given)}), Text("move the file away, and setup makes the new one")
    return steps.text(places.computer, put, about, otherwise)
