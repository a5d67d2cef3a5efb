"""A computer to be set up: a directory with what Debian and the packages have put there, and no systemd."""

from __future__ import annotations

import datetime
import os
import stat
from pathlib import Path

from wheeld.cli.parser import parser
from wheeld.cli.setup import given
from wheeld.setup.answers import Answers
from wheeld.setup.computer import Computer
from wheeld.setup.plan import plan_of
from wheeld.setup.questions import Here, take_defaults
from wheeld.setup.steps import SetupStep, carry_out

NOW = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
AUTHORITY = Path("etc/mosquitto/certs/house-ca.crt")
HERE = Here(("wheel-pc",), ("/dev/wheeld/0042",), "/" / AUTHORITY, lambda answers: ())
DIRECTORIES = ("etc/mosquitto/conf.d", "etc/mosquitto/certs", "etc/systemd/system", "var/lib", "usr/sbin")
SIMULATED = ("bench-01", "--simulated", "--house-broker")
REAL = ("--site", "campione", "--house", "campione", "--game", "roulette", "--board", "/dev/wheeld/0042", "--ticks",
        "148", "--beams", "4", "--readers", "30,150,270")  # fmt: skip
PARSER = parser()
"""It takes longer to make than a plan."""


class BareComputer(Computer):
    """Notes who would own each file, and the commands that would be run."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.owners: dict[str, str] = {}
        self.commands: list[str] = []
        self.broker_started_s: float | None = None
        self.is_root = True
        for directory in DIRECTORIES:
            (root / directory).mkdir(parents=True, exist_ok=True)
        (root / "usr/sbin/mosquitto").touch()
        (root / "etc/systemd/system/wheeld-sim@.service").touch()

    def is_ours(self) -> bool:
        return self.is_root

    def started_s(self, unit: str) -> float | None:
        assert unit == "mosquitto.service"
        return self.broker_started_s

    def own(self, path: Path, owner: str, group: str) -> None:
        if group == "mosquitto" and os.geteuid() == 0:  # what a real broker reads
            super().own(path, owner, group)
        name = path.name.removeprefix(".").removesuffix(".new")
        self.owners[str(path.with_name(name).relative_to(self.root))] = f"{owner}:{group}"

    def has_access(self, path: Path, *, mode: int, owner: str, group: str) -> bool:
        name = str(path.relative_to(self.root))
        return (self.mode(name), self.owners.get(name)) == (f"{mode:04o}", f"{owner}:{group}")

    def run(self, *command: str) -> None:
        """As systemd does it, as far as it matters here."""
        self.commands.append(" ".join(command))
        wants = self.at("etc/systemd/system/multi-user.target.wants")
        if "enable" in command:
            wants.mkdir(exist_ok=True)
            (wants / command[-1]).touch()
        if "restart" in command:
            self.broker_started_s = 1e12

    def tree(self) -> dict[str, bytes]:
        """Every file with its content."""
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}

    def mode(self, path: str) -> str:
        return f"{stat.S_IMODE((self.root / path).stat().st_mode):04o}"


def answers_of(*words: str, here: Here = HERE) -> Answers:
    """The answers of a command line; what it leaves out has its default."""
    answers = given(PARSER.parse_args(["setup", *words]))
    take_defaults(answers, here)
    return answers


def planned(computer: Computer, *words: str, now: datetime.datetime = NOW) -> list[SetupStep]:
    return plan_of(answers_of(*words, here=HERE._replace(authority=computer.root / AUTHORITY)), computer, now)


def set_up(computer: Computer, *words: str, now: datetime.datetime = NOW) -> list[SetupStep]:
    """Carry the plan of this command line out; returns it."""
    plan = planned(computer, *words, now=now)
    carry_out(plan, computer)
    return plan


def actions(plan: list[SetupStep]) -> dict[str, str]:
    """What becomes of each step, by what it is."""
    return {step.what: str(step.action) for step in plan}
