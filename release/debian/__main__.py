"""`python -m release.debian`: makes the Debian packages. `release/deb` runs it on an export of the commit."""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement

from hw_sim.cli import parser as simulator_parser
from release.debian.fetch import fetch, unpack
from release.debian.package import (
    RELEASES,
    REPORT,
    SIMULATOR,
    Build,
    control,
    control_house,
    control_own,
    debian_version,
    lay_out,
    lay_out_house,
    lay_out_own,
    pack,
)
from wheeld.cli.parser import parser as wheeld_parser
from wheeld_house.cli import parser as house_parser
from wheeld_report.cli import parser as report_parser

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""Debian's name for each architecture, with the package index's name. armhf is not here, because the index has no
compiled cffi and msgspec for it (docs/install.md)."""
WITH_PINS = "arm64"
"""The architecture of computers that may have pins."""
EXTRAS: tuple[str, ...] = ("page", "sign")
"""The extras of the program that the package has on any computer."""

HOUSE_EXTRAS = ("page",)
OWN = ("wheeld", "wheeld-sim")


def main() -> None:
    """Make the packages that the command line asks for, and print their files."""
    ask = argparse.ArgumentParser(prog="python -m release.debian", description=__doc__)
    ask.add_argument("--release", choices=RELEASES, required=True, help="of Debian")
    ask.add_argument("--architecture", choices=MACHINES, required=True)
    ask.add_argument("--wheel", type=Path, required=True, help="the wheel file of wheeld")
    ask.add_argument("--simulator", type=Path, required=True, help="the wheel file of wheeld-sim")
    ask.add_argument("--report", type=Path, required=True, help="the wheel file of wheeld-report")
    ask.add_argument("--house", type=Path, required=True, help="the wheel file of wheeld-house")
    ask.add_argument("--epoch", type=int, required=True, help="the time of every file: that of the commit")
    ask.add_argument("--version", help="instead of the wheel file's")
    ask.add_argument("--maintainer", required=True, help="who makes the packages: NAME <ADDRESS>")
    ask.add_argument("--out", type=Path, required=True, help="the directory to write to")
    options = ask.parse_args()
    tree = Path(__file__).parents[2]
    version = debian_version(options.version or options.wheel.name.split("-")[1], options.release)
    build = Build(tree, options.release, version, options.epoch, options.maintainer)
    with tempfile.TemporaryDirectory() as work:
        for made in _make(build, options, Path(work)):
            sys.stdout.write(f"{made}\n")


def _make(build: Build, options: argparse.Namespace, work: Path) -> list[Path]:
    root, simulator = work / "wheeld", work / "wheeld-sim"
    release = RELEASES[options.release]
    lock, extras = "wheel", EXTRAS
    if release.pins is not None and options.architecture == WITH_PINS:
        lock, extras = release.pins[0], (*EXTRAS, release.pins[1])
    target, downloads = release.target(MACHINES[options.architecture]), work / "downloads"
    downloads.mkdir()
    inside = root / "usr/lib/wheeld"
    asked = _asked(build.tree / "pyproject.toml", extras)
    fetched = fetch(build.tree / f"release/locks/{lock}.txt", asked, target, downloads, inside)
    unpack(options.wheel, inside)
    lay_out(root, build, wheeld_parser(), fetched)
    unpack(options.simulator, simulator / "usr/lib/wheeld-sim")
    lay_out_own(simulator, build, simulator_parser(), SIMULATOR)
    report = work / "wheeld-report"
    unpack(options.report, report / "usr/lib/wheeld-report")
    lay_out_own(report, build, report_parser(), REPORT)
    house, more = work / "wheeld-house", work / "more"
    more.mkdir()
    asked = _asked(build.tree / "house/pyproject.toml", HOUSE_EXTRAS)
    # The house's package depends on `wheeld`, so it need not have what is in that package.
    inside = house / "usr/lib/wheeld-house"
    there = target._replace(ships={**target.ships, **fetched.versions})
    of_house = fetch(build.tree / "release/locks/house.txt", asked, there, more, inside)
    of_debian = {name: version for name, version in of_house.of_debian.items() if name not in fetched.versions}
    of_house = of_house._replace(of_debian=of_debian)
    unpack(options.house, inside)
    lay_out_house(house, build, house_parser(), of_house)
    return [
        pack(root, control(build, options.architecture, fetched), build, options.out),
        pack(house, control_house(build, options.architecture, of_house), build, options.out),
        pack(simulator, control_own(build, SIMULATOR), build, options.out),
        pack(report, control_own(build, REPORT), build, options.out),
    ]


def _asked(project: Path, extras: Sequence[str]) -> list[Requirement]:
    """Return the packages that a project needs with these extras, without our own packages."""
    told = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    lines = [*told["dependencies"], *(line for name in extras for line in told["optional-dependencies"][name])]
    return [each for each in map(Requirement, lines) if each.name not in OWN]


if __name__ == "__main__":
    main()
