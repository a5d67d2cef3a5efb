"""What keeps a computer from having such a wheel. Each problem has the key of the answer that meets it, so a person
who is asked hears of it at the question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from wheeld.config.problems import Problem
from wheeld.core.catalogue import Text
from wheeld.setup.access import configured
from wheeld.setup.answers import Answers
from wheeld.setup.broker import hosts_known
from wheeld.setup.computer import Computer, SetupError
from wheeld.setup.places import BrokerPlaces, Places

PORTS = ("sensors.port", "head.port")
SIMULATOR = "wheeld-sim@.service"


def refuse(answers: Answers, computer: Computer) -> None:
    """Raise SetupError for the first problem. Raises what `problems` raises."""
    for problem in problems(answers, computer):
        raise SetupError(problem.what)


def problems(answers: Answers, computer: Computer) -> Iterator[Problem]:
    """Yield the problems that the answers given so far meet. Raises SetupError, OSError."""
    wrong = {problem.key for problem in answers.problems()}

    def get(key: str) -> Any:
        """An answer that is wrong in itself meets nothing."""
        return None if key in wrong else answers.get(key)

    if get("setup.sensors") == "simulated" and not computer.has_unit(SIMULATOR):
        missing = Text("the simulator is not installed: {command}", {"command": "apt install ./wheeld-sim_*.deb"})
        yield Problem("setup.sensors", missing)
    places = Places(computer, get("setup.name") or "")
    if places.name:
        ports = {key: port for key in PORTS if (port := get(key)) is not None}
        yield from _other_wheel(places, (get("table.site"), get("table.id")), ports)
    if get("setup.broker") == "house":
        yield from _no_broker(BrokerPlaces(computer), get("setup.broker_names") or ())
    elif get("setup.broker") == "existing":
        for name in places.copies:
            given = get(f"mqtt.{name}")
            with suppress(PermissionError):  # the plan says that only root can see it
                if given is not None and not computer.read(places.source(name, given)):
                    what = Text(
                        "{file} does not exist or is empty: name the file that you have from the broker's owner",
                        {"file": given},
                    )
                    yield Problem(f"mqtt.{name}", what)


def _other_wheel(places: Places, table: tuple[str | None, str | None], ports: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem if another wheel has the table, the name or a port: a wheel has one table, and a table has one
    wheel. `ports`: the port of each key."""
    for path, known in configured(places).items():
        its_table = (known.table.site, known.table.table)
        if path == places.configuration:
            if None not in table and its_table != table:
                of_another = {"file": str(path), "table": "/".join(its_table)}
                what = Text("{file} belongs to the table {table}: give this wheel another name", of_another)
                yield Problem("table.id", what)
            continue
        if its_table == table:
            what = Text(
                "{file} is already the wheel of this table: use its name, or give the table another id",
                {"file": str(path)},
            )
            yield Problem("table.id", what)
        for key, port in ports.items():
            if port in known.ports:
                named = {"line": port, "file": str(path)}
                yield Problem(
                    key, Text("{line} is the port of {file}: name the port of this wheel's own device", named)
                )


def _no_broker(broker: BrokerPlaces, hosts: tuple[str, ...]) -> Iterator[Problem]:
    """Yield why this computer can have no broker of its own, or none with these names."""
    if not broker.program.exists():
        what = Text("mosquitto is not installed: apt install mosquitto, or name another broker with --broker")
        yield Problem("setup.broker", what)
    if broker.key_of_house.exists():
        what = Text(
            "wheeld-house setup has made the broker of this computer for the house, so no wheel may use it: set "
            "the wheel up on another computer, or name another broker with --broker"
        )
        yield Problem("setup.broker", what)
    known = hosts_known(broker.computer)
    if known and not set(hosts) <= set(known):
        named = {
            "names": ", ".join(known),
            "certificate": str(broker.certificate),
            "authority": str(broker.authority),
            "directory": str(broker.house),
        }
        what = Text(
            "the certificate of the broker here is for {names}, and its authority allows no other name: leave "
            "--broker-name out. For other names, move {certificate}, {authority} and {directory} away: setup then "
            "makes a new authority, and each device needs new files",
            named,
        )
        yield Problem("setup.broker_names", what)
