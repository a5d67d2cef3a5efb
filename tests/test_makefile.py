"""What the Makefile says and does where a Debian package is missing, and while it sets up its virtual environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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
    for name in ("sh", "env", "mkdir", "touch", "cp"):
        (programs / name).symlink_to(str(shutil.which(name)))
    _program(programs, "id", "echo 1000")
    _program(programs, "apt-get", f'echo "$@" >> {tmp_path}/apt; [ "$(id -u)" = 0 ]')
    return programs


def make(machine: Path, target: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """`make` of the target on that machine."""
    venv = machine.parent / ".venv"
    goal = f"{venv}/complete" if target == "python" else target
    return subprocess.run(
        [str(shutil.which("make")), "-s", f"VENV={venv}", "PYTHON=python3", goal],
        cwd=ROOT,
        env={"PATH": str(machine), "HOME": os.environ.get("HOME", "/")},
        stdout=stdout,
        stderr=subprocess.PIPE,
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
    _program(machine, "python3", '[ "$1" = -m ] && mkdir "$4"')
    ended = make(machine, target)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"missing here: {PACKAGES[target]}; apt-get installs it" in ended.stdout
    update, install = (machine.parent / "apt").read_text().splitlines()
    assert update.endswith("update")
    assert install.endswith(f" {PACKAGES[target]}")


@pytest.fixture
def pip(machine: Path) -> Path:
    """A Python whose pip notes its options; they stand in the file that is returned. `fails` beside it: it ends so."""
    noted, inner = machine.parent / "pip", machine.parent / "inner"
    noted.touch()
    inner.write_text(f'#!/bin/sh\necho "$@" >> {noted}; [ ! -e {noted.with_name("fails")} ]\n')
    inner.chmod(0o755)
    _program(machine, "python3", f'[ "$1" = -c ] || {{ mkdir -p "$4/bin" && cp {inner} "$4/bin/python"; }}')
    return noted


def test_each_long_step_is_told_before_it_and_a_second_run_is_silent(machine: Path, pip: Path) -> None:
    demo = f"{machine.parent}/.venv/demo.stamp"
    first, second = make(machine, demo), make(machine, demo)
    venv, installed = first.stdout.splitlines()
    assert venv.startswith(f"makes {machine.parent}/.venv, a virtual environment")
    assert "what 'demo' needs, 10 MB to download: a minute" in installed
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    (options,) = pip.read_text().splitlines()
    assert options.startswith("-m pip install -q "), "nobody watches"


def test_who_watches_sees_pip_s_progress(machine: Path, pip: Path) -> None:
    ours, theirs = os.openpty()
    try:
        make(machine, f"{machine.parent}/.venv/demo.stamp", stdout=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert pip.read_text().startswith("-m pip install --disable")


def test_an_installation_that_failed_is_done_again(machine: Path, pip: Path) -> None:
    demo, fails = f"{machine.parent}/.venv/demo.stamp", pip.with_name("fails")
    fails.touch()
    assert make(machine, demo).returncode != 0
    fails.unlink()
    again = make(machine, demo)
    assert (again.returncode, len(again.stdout.splitlines())) == (0, 1)
    assert len(pip.read_text().splitlines()) == 2


def test_a_virtual_environment_that_was_broken_off_is_made_anew(tmp_path: Path) -> None:
    """As one is that ended while it got its pip; an old stamp beside it counts no more."""
    venv = tmp_path / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (venv / "demo.stamp").touch()
    made = ["make", "-s", f"VENV={venv}", f"PYTHON={sys.executable}", f"{venv}/complete"]
    subprocess.run(made, cwd=ROOT, check=True, capture_output=True)
    subprocess.run([venv / "bin" / "python", "-m", "pip", "--version"], check=True, capture_output=True)
    assert not (venv / "demo.stamp").exists()


def test_every_stamp_has_its_size() -> None:
    text = (ROOT / "Makefile").read_text()
    sizes = re.findall(r"(\w+):\d+", text.partition("SIZES  := ")[2].partition("\n")[0])
    assert set(sizes) == set(re.findall(r"\$\(VENV\)/(\w+)\.stamp", text))
