"""Where promtool comes from, on machines that have it, can get it, or cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("get_promtool")
PROGRAMS = ("bash", "sh", "env", "mkdir", "dirname", "sed", "cp", "ln", "rm", "mv", "chmod", "mktemp", "id")
APT = """\
echo "apt-get $*" >> "$NOTES"
case "$*" in
*update) [ "$(id -u)" = 0 ] && : > "$LISTS" ;;
*download*) echo > "prometheus_${*##*=}_amd64.deb" ;;
esac
"""
APT_CACHE = """\
[ ! -e "$LISTS" ] || echo "Version: 2.42"
"""
DPKG_DEB = """\
mkdir -p "$3/usr/bin" && echo of Debian > "$3/usr/bin/promtool" && chmod 755 "$3/usr/bin/promtool"
"""


class Machine:
    """One with programs of its own; `apt` notes how it was called."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.programs = directory / "bin"
        self.programs.mkdir()
        for name in PROGRAMS:
            (self.programs / name).symlink_to(str(shutil.which(name)))
        self.file = directory / "tree" / "promtool"

    def program(self, name: str, script: str) -> None:
        (self.programs / name).unlink(missing_ok=True)
        (self.programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.programs / name).chmod(0o755)

    def debian(self, *, lists: bool, user: int = 0) -> None:
        self.program("apt-get", APT)
        self.program("apt-cache", APT_CACHE)
        self.program("dpkg", "echo amd64")
        self.program("dpkg-deb", DPKG_DEB)
        self.program("id", f"echo {user}")
        if lists:
            (self.directory / "lists").touch()

    def run(self, cache: str = "cache") -> subprocess.CompletedProcess[str]:
        places = {"NOTES": self.directory / "notes", "LISTS": self.directory / "lists", "HOME": self.directory}
        environment = {name: str(path) for name, path in places.items()}
        environment |= {"PATH": str(self.programs), "WHEELD_CACHE": str(self.directory / cache) if cache else ""}
        command = [str(self.programs / "bash"), str(SCRIPT), str(self.file)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    @property
    def asked(self) -> list[str]:
        notes = self.directory / "notes"
        return notes.read_text().splitlines() if notes.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_one_that_is_installed_serves(machine: Machine) -> None:
    machine.program("promtool", "echo mine")
    assert machine.run().returncode == 0
    assert subprocess.run([machine.file], capture_output=True, text=True, check=True).stdout == "mine\n"


@pytest.mark.parametrize("cache", ["cache", ""])
def test_debian_gives_it_and_installs_nothing(machine: Machine, cache: str) -> None:
    machine.debian(lists=True, user=1000)
    done = machine.run(cache)
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.file.read_text() == "of Debian\n"
    assert machine.asked == ["apt-get -qq -o APT::Sandbox::User=root download prometheus=2.42"]
    assert (machine.directory / "cache" / "promtool-2.42-amd64").exists() is bool(cache)


def test_it_is_kept_for_other_checkouts_and_older_ones_are_not(machine: Machine) -> None:
    machine.debian(lists=True)
    (machine.directory / "cache").mkdir()
    (machine.directory / "cache" / "promtool-2.40-amd64").touch()
    assert machine.run().returncode == 0
    machine.file.unlink()
    assert machine.run().returncode == 0
    assert len(machine.asked) == 1
    assert machine.file.read_text() == "of Debian\n"
    assert [path.name for path in (machine.directory / "cache").iterdir()] == ["promtool-2.42-amd64"]


def test_a_machine_that_knows_no_packages_yet_asks_for_them(machine: Machine) -> None:
    machine.debian(lists=False)
    assert machine.run().returncode == 0
    assert [call.split()[2] for call in machine.asked] == ["update", "-o"]


@pytest.mark.parametrize("kind", ["no Debian", "not root"])
def test_where_it_cannot_be_had_it_says_what_to_install(machine: Machine, kind: str) -> None:
    if kind == "not root":
        machine.debian(lists=False, user=1000)
    done = machine.run()
    assert done.returncode == 1
    assert done.stderr == (
        "test-metrics: promtool is missing: install Debian's package prometheus, or promtool of another source\n"
    )
    assert machine.asked == []
    assert not machine.file.exists()
