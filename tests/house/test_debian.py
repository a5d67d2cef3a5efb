"""The Debian package `wheeld-house`: what is in it, and what it says of itself. `release/deb` makes it whole."""

from __future__ import annotations

import re
import subprocess
import tomllib
from email.message import Message
from pathlib import Path

from packaging.requirements import Requirement

from release.debian.fetch import Fetched, Part
from release.debian.manual import commands, man_page
from release.debian.package import FILES, HOUSE_UNITS, Build, control_house, lay_out_house, pack
from tests.house.house import ROOT
from tests.packaging.test_package import asked, needs_dpkg
from tests.test_supply import problems, unbounded
from wheeld_house.cli import parser

BUILD = Build(ROOT, "bookworm", "0.9+deb12", 1_700_000_000, "The makers <makers@casino.example>")
PROJECT = tomllib.loads((ROOT / "house" / "pyproject.toml").read_text())["project"]


def fetched() -> Fetched:
    metadata = Message()
    metadata["Name"], metadata["Version"], metadata["License-Expression"] = "psycopg", "3.3", "LGPL-3.0-only"
    return Fetched([Part(metadata, {"LICENSE": "may be copied"})], 17, {"pyserial": "3.5"})


@needs_dpkg
def test_the_package_has_its_files_and_says_what_it_needs(tmp_path: Path) -> None:
    lay_out_house(tmp_path / "root", BUILD, parser(), fetched())
    made = pack(tmp_path / "root", control_house(BUILD, "amd64", fetched()), BUILD, tmp_path / "packages")
    listed = asked("dpkg-deb", "--contents", made)
    files = {line.split()[5].removeprefix("."): line.split()[0] for line in listed.splitlines()}
    for path in (
        "/usr/lib/sysusers.d/wheeld-house.conf",
        "/usr/lib/systemd/system/wheeld-house-collect.service",
        "/usr/lib/systemd/system/wheeld-house-page.service",
        "/usr/lib/systemd/system/wheeld-house-stamp.timer",
        "/usr/share/bash-completion/completions/wheeld-house",
        "/usr/share/doc/wheeld-house/copyright",
        "/usr/share/man/man1/wheeld-house.1.gz",
    ):
        assert files[path] == "-rw-r--r--"
    assert files["/usr/bin/wheeld-house"] == "-rwxr-xr-x"
    needs = "python3 (>= 3.11), python3 (<< 3.12), wheeld (= 0.9+deb12), libpq5, systemd, "
    needs += "python3-serial (>= 3.5), libc6 (>= 2.17), libgcc-s1"
    assert asked("dpkg-deb", "--field", made, "Depends", "Recommends", "Architecture") == (
        f"Depends: {needs}\nRecommends: mosquitto, postgresql\nArchitecture: amd64\n"
    )
    asked("dpkg-deb", "--extract", made, tmp_path / "out")
    for unit in HOUSE_UNITS:
        text = (tmp_path / "out/usr/lib/systemd/system" / unit).read_text()
        takes = r"(collect|page) /etc/wheeld-house/\w+\.toml|stamp [$].*"
        assert re.search(rf"^ExecStart=/usr/bin/wheeld-house ({takes})$", text, re.MULTILINE)
        assert "\nDocumentation=man:wheeld-house(1)\n" in text
    assert (
        "psycopg 3.3, in /usr/lib/wheeld-house" in (tmp_path / "out/usr/share/doc/wheeld-house/copyright").read_text()
    )


def test_the_units_run_commands_that_the_program_takes() -> None:
    for unit in HOUSE_UNITS:
        text = (ROOT / "systemd" / unit).read_text()
        (words,) = re.findall(r"^ExecStart=/opt/wheeld/bin/wheeld-house (.+)$", text, re.MULTILINE)
        given = parser().parse_args(words.split())
        assert given.command == "stamp" or given.settings.is_absolute()
        (user,) = re.findall(r"^User=(.+)$", text, re.MULTILINE)
        assert re.search(rf"^u {user} - ", (ROOT / "systemd/sysusers.d/wheeld-house.conf").read_text(), re.MULTILINE)


def test_the_manual_page_has_every_command() -> None:
    text = man_page(parser(), about="a test", version="1", date="2026-11-28").replace("\\-", "-")
    assert all(" ".join(each.words[1:]) in text for each in commands(parser()))


def test_its_lock_is_what_the_project_asks_for_and_the_wheels_versions() -> None:
    lines = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["page"]]
    requirements = [each for each in map(Requirement, lines) if each.name != "wheeld"]
    house, wheel = ((ROOT / f"release/locks/{name}.txt").read_text() for name in ("house", "wheel"))
    assert problems(house, requirements) == []
    assert unbounded(PROJECT) == []
    pinned = [dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", lock, re.MULTILINE)) for lock in (house, wheel)]
    assert {name: version for name, version in pinned[0].items() if pinned[1].get(name, version) != version} == {}
    assert "psycopg-binary" not in pinned[0], "libpq is Debian's"


def test_a_purge_names_all_that_setup_made() -> None:
    said = (FILES / "wheeld-house.postrm").read_text()
    subprocess.run(["sh", "-n", FILES / "wheeld-house.postrm"], check=True)
    for path in ("/etc/wheeld-house", "/etc/mosquitto/wheeld.acl", "/etc/mosquitto/conf.d/wheeld.conf", "dropdb house"):
        assert path in said
