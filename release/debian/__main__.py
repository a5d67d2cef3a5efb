"""`python -m release.debian`: makes the Debian packages; `release/deb` runs it on an export of the commit."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from hw_sim.cli import parser as simulator_parser
from release.debian.fetch import fetch, unpack
from release.debian.package import (
    PYTHON,
    Build,
    control,
    control_simulator,
    debian_version,
    lay_out,
    lay_out_simulator,
    pack,
)
from wheeld.cli.parser import parser as wheeld_parser

MACHINES = {"amd64": ("x86_64", "wheel"), "arm64": ("aarch64", "wheel-rpi-lgpio")}
"""Debian's name of each architecture, with the index's and the lock: with pins where a computer may have them. Not
armhf: the index has no compiled cffi and msgspec for it (docs/install.md)."""


def main() -> None:
    """Make them; print the files."""
    ask = argparse.ArgumentParser(prog="python -m release.debian", description=__doc__)
    ask.add_argument("--architecture", choices=MACHINES, required=True)
    ask.add_argument("--wheel", type=Path, required=True, help="the wheel file of wheeld")
    ask.add_argument("--simulator", type=Path, required=True, help="the wheel file of wheeld-sim")
    ask.add_argument("--epoch", type=int, required=True, help="the time of every file: that of the commit")
    ask.add_argument("--version", help="for dpkg (default: the wheel file's)")
    ask.add_argument("--maintainer", required=True, help="who makes the packages: NAME <ADDRESS>")
    ask.add_argument("--out", type=Path, required=True, help="the directory to write to")
    options = ask.parse_args()
    tree = Path(__file__).parents[2]
    version = options.version or debian_version(options.wheel.name.split("-")[1])
    build = Build(tree, version, options.epoch, options.maintainer)
    with tempfile.TemporaryDirectory() as work:
        for made in _make(build, options, Path(work)):
            sys.stdout.write(f"{made}\n")


def _make(build: Build, options: argparse.Namespace, work: Path) -> list[Path]:
    root, simulator = work / "wheeld", work / "wheeld-sim"
    machine, lock = MACHINES[options.architecture]
    python = ".".join(map(str, PYTHON))
    files = fetch(build.tree / f"release/locks/{lock}.txt", machine, python, work)
    fetched = unpack(files, root / "usr/lib/wheeld")
    unpack([options.wheel], root / "usr/lib/wheeld")
    lay_out(root, build, wheeld_parser(), fetched)
    unpack([options.simulator], simulator / "usr/lib/wheeld-sim")
    lay_out_simulator(simulator, build, simulator_parser())
    return [
        pack(root, control(build, options.architecture, fetched), build, options.out),
        pack(simulator, control_simulator(build), build, options.out),
    ]


if __name__ == "__main__":
    main()
