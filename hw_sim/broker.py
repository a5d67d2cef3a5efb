"""A broker for the demo on a free loopback port: mosquitto where it is installed, else amqtt, a Python package."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from hw_sim.child import Child, DemoError, child, free_port, listens

Wanted = Literal["auto", "mosquitto", "python"]
SYSTEM_PROGRAMS = ("/usr/sbin", "/usr/local/sbin")
"""Debian installs mosquitto in a directory that is not in a user's PATH."""


class Broker(NamedTuple):
    """A running broker. `protocol`: the newest MQTT version that it supports."""

    process: Child
    port: int
    protocol: Literal["5", "3.1.1"]


class Kind(NamedTuple):
    """A broker program: its name, its command up to the configuration file, and the text of that file."""

    name: str
    command: list[str]
    configuration: str
    protocol: Literal["5", "3.1.1"]


def choose(wanted: Wanted, port: int, *, path: str | None = None) -> Kind:
    """The broker to start. `path`: as in PATH; by default PATH and the system's directories. Raises DemoError."""
    where = os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_PROGRAMS]) if path is None else path
    program = shutil.which("mosquitto", path=where)
    if program is not None and wanted != "python":
        return Kind("mosquitto", [program, "-c"], _for_mosquitto(port), "5")
    if wanted == "mosquitto":
        raise DemoError("mosquitto is not installed: apt-get install mosquitto, or leave --broker out")
    if find_spec("amqtt") is None:
        raise DemoError("there is no broker: pip install './hw_sim[demo]' (amqtt), or apt-get install mosquitto")
    return Kind("amqtt", [sys.executable, "-m", "amqtt.scripts.broker_script", "-c"], _for_amqtt(port), "3.1.1")


def _for_mosquitto(port: int) -> str:
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "persistence false", "log_dest stderr"]
    if os.geteuid() == 0:
        lines.append("user root")  # else it changes to a user that may not exist, or may not read this file
    return "\n".join(lines) + "\n"


def _for_amqtt(port: int) -> str:
    configuration = {  # JSON is YAML too
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    return json.dumps(configuration) + "\n"


@asynccontextmanager
async def broker(wanted: Wanted, directory: Path) -> AsyncIterator[Broker]:
    """A broker until this is left; its files are in `directory`. Raises DemoError."""
    port = free_port()
    kind = choose(wanted, port)
    configuration = directory / "broker.conf"
    configuration.write_text(kind.configuration, encoding="utf-8")
    async with child(kind.name, [*kind.command, str(configuration)], directory / "broker.log") as process:
        await listens(process, port)
        yield Broker(process, port, kind.protocol)
