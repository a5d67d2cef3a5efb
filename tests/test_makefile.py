"""What the Makefile says and does where a Debian package is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {"python": "python3-venv", "cc": "gcc libc6-dev", "chromium": "chromium"}


def _program(directory: Path, name: str, script: str) -> None:
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The programs of a machine without Python and compiler; `apt-get` notes how it is called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "env"):
        (programs / name).symlink_to(str(shutil.which(name)))
    _program(programs, "id", "echo 1000")
    _program(programs, "apt-get", f'echo "$@" >> {tmp_path}/apt; [ "$(id -u)" = 0 ]')
    return programs


def make(machine: Path, target: str) -> subprocess.CompletedProcess[str]:
    """`make` of the target on that machine."""
    venv = machine.parent / ".venv"
    goal = f"{venv}/bin/python" if target == "python" else target
    return subprocess.run(
        [str(shutil.which("make")), "-s", f"VENV={venv}", "PYTHON=python3", goal],
        cwd=ROOT,
        env={"PATH": str(machine), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("target", PACKAGES)
def test_without_root_or_sudo_it_says_what_to_install_and_tries_nothing(machine: Path, target: str) -> None:
    ended = make(machine, target)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("make: ***")]
    assert said == [f"install {PACKAGES[target]}: apt-get install {PACKAGES[target]}, as root"]
    assert ended.returncode != 0
    assert not (machine.parent / "apt").exists()


def test_where_sudo_refuses_it_says_so_too(machine: Path) -> None:
    _program(machine, "sudo", 'echo "sudo: a password is required" >&2; exit 1')
    ended = make(machine, "cc")
    assert "install gcc libc6-dev: apt-get install gcc libc6-dev, as root" in ended.stderr
    assert ended.returncode != 0


@pytest.mark.parametrize("target", PACKAGES)
def test_root_installs_it(machine: Path, target: str) -> None:
    _program(machine, "id", "echo 0")
    _program(machine, "python3", '[ "$1" = -m ]')
    ended = make(machine, target)
    assert (ended.returncode, ended.stderr) == (0, "")
    update, install = (machine.parent / "apt").read_text().splitlines()
    assert update.endswith("update")
    assert install.endswith(f" {PACKAGES[target]}")
