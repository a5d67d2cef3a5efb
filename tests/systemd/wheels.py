"""Wheels in the machine: each is one instance of the unit, with or without a simulated board."""

from __future__ import annotations

import json

from tests import smallest_wheel
from tests.smallest_wheel import table
from tests.systemd.machine import Machine

QUICK = """\
[Service]
WatchdogSec=4
RestartSec=1
"""

NO_BOARD = table("test", "w") + smallest_wheel.WHEEL + smallest_wheel.NO_BOARD


class Wheel:
    """One instance of the unit in the machine."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name, self.unit = machine, name, f"wheeld@{name}.service"

    def show(self, name: str) -> str:
        """A property of the unit."""
        return self.machine.ask("systemctl", "show", "--value", "--property", name, self.unit)

    def drop_in(self, text: str) -> None:
        """Add settings of this test to the unit."""
        self.machine.write(f"/etc/systemd/system/{self.unit}.d/test.conf", text)
        self.machine.run("systemctl", "daemon-reload")

    def systemctl(self, verb: str, *, check: bool = True) -> int:
        """Returns systemctl's exit code; `start` returns when the wheel has sent READY."""
        return self.machine.run("systemctl", verb, self.unit, check=check).returncode

    def log(self) -> list[dict[str, str]]:
        """All lines in journald about the unit, its own and systemd's."""
        self.machine.run("journalctl", "--sync")  # what was written is there, though journald may be busy
        lines = self.machine.ask("journalctl", "--unit", self.unit, "--output", "json", "--all").splitlines()
        return [json.loads(line) for line in lines]

    def events(self) -> list[dict[str, object]]:
        """What the daemon logged, decoded, each with its PRIORITY."""
        lines = [line for line in self.log() if line["MESSAGE"].startswith("{")]
        return [{**json.loads(line["MESSAGE"]), "PRIORITY": line["PRIORITY"]} for line in lines]

    def count(self, event: str) -> int:
        """How often `event` was logged."""
        return sum(each["event"] == event for each in self.events())

    def seqs(self, journal: str = "") -> list[int]:
        """Every `seq` in its journal, which must verify."""
        path = journal or f"/var/lib/wheeld/{self.name}.sqlite"
        journal_command = "runuser -u wheeld -- /opt/wheeld/bin/wheeld journal"
        printed = self.machine.shell(f"{journal_command} verify {path} >&2; {journal_command} show {path} --jsonl")
        payloads = [json.loads(line)["payload"] for line in printed.splitlines()]
        return [payload["seq"] for payload in payloads if "seq" in payload]


def board(machine: Machine, name: str) -> str:
    """Run a simulated board on a pty, from every boot on. Returns the configuration that it prints."""
    machine.service(
        f"board-{name}",
        f"/opt/wheeld/bin/hw-sim run --pty /run/board-{name}/line --seed 3 --speed 10 --quick",
        f"User=wheeld\nRuntimeDirectory=board-{name}\nEnvironment=PYTHONUNBUFFERED=1",
    )

    def printed() -> str:
        return machine.ask("journalctl", "--unit", f"board-{name}", "--output", "cat")

    machine.until(lambda: "max_drift_ppm" in printed(), "the configuration of the board")
    return printed()[printed().index("[table]") :]


def wheel(machine: Machine, name: str, *, sensors: str = "", journal: str = "", mqtt: str = "", key: str = "") -> Wheel:
    """An instance with its configuration; `key` is its signing key. A test that needs a broker starts mosquitto."""
    sensors = sensors or NO_BOARD
    journal = journal or f"/var/lib/wheeld/{name}.sqlite"
    signs = f'signing_key_file = "{key}"\n' if key else ""
    text = f'{sensors}\n[journal]\npath = "{journal}"\n{signs}[mqtt]\nhost = "127.0.0.1"\nport = 1883\n{mqtt}'
    machine.write(f"/etc/wheeld/{name}.toml", text)
    machine.shell(f"chgrp wheeld /etc/wheeld/{name}.toml && chmod 640 /etc/wheeld/{name}.toml")
    made = Wheel(machine, name)
    made.drop_in(QUICK)
    return made
