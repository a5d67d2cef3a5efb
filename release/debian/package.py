"""Lays out the files of the Debian packages, and writes what dpkg needs to know about them. The differences between
releases of Debian are in `RELEASES`, and in the lists of the packages that each release has."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from os import environ
from pathlib import Path
from typing import NamedTuple

from release.debian.fetch import Fetched, Part, Target, copy
from release.debian.manual import completion, man_page

FILES = Path(__file__).parent / "files"
SCRIPTS = ("preinst", "postinst", "prerm", "postrm")
WHEELD = "controller of a real roulette wheel: sensors to verdicts"
HOUSE = "every record of many roulette wheels in PostgreSQL, checked"
PACKAGES = {"wheeld": "wheeld", "hw-sim": "wheeld-sim"} | {name: name for name in ("wheeld-house", "wheeld-report")}
"""The package of each command."""
HOUSE_UNITS = ("wheeld-house-collect.service", "wheeld-house-page.service", "wheeld-house-stamp.service")


class OwnPackage(NamedTuple):
    """A package beside `wheeld` that has only Python files of our own inside. `about`: its description in one line."""

    name: str
    about: str
    needs: tuple[str, ...] = ()
    suggests: str = ""
    units: tuple[str, ...] = ()


SIMULATOR = OwnPackage(
    "wheeld-sim",
    "simulated roulette wheel for wheeld",
    suggests="python3-rich, python3-matplotlib",
    units=("wheeld-sim@.service",),
)
REPORT = OwnPackage(
    "wheeld-report",
    "health of roulette wheels, from the journals of wheeld",
    needs=("python3-matplotlib", "python3-numpy", "python3-scipy"),
)


class Release(NamedTuple):
    """A release of Debian, and the Raspberry Pi OS that is made from it. `glibc_minor`: the x of its glibc 2.x. `pins`:
    the lock for pins on a Raspberry Pi, and the extra with which the lock was made. `recommends`: of `wheeld`."""

    number: int
    python: str
    glibc_minor: int
    pins: tuple[str, str] | None
    recommends: tuple[str, ...]

    @property
    def ships(self) -> dict[str, str]:
        """The packages for a wheel that this release has in a good version: versions by the index's names."""
        lines = (Path(__file__).parent / f"debian-{self.number}.txt").read_text(encoding="utf-8").splitlines()
        pinned = (line.partition("==") for line in lines if not line.startswith("#"))
        return {name: version for name, _, version in pinned}

    def target(self, machine: str) -> Target:
        """Return a computer with this release. `machine`: the index's name for its processor."""
        return Target(machine, self.python, self.glibc_minor, self.ships)


RELEASES = {
    "bookworm": Release(12, "3.11", 36, ("wheel-rpi-lgpio", "rpi-lgpio"), ("openssl",)),
    # The index has no compiled lgpio for Python 3.13, but Raspberry Pi OS has lgpio and RPi.GPIO.
    "trixie": Release(13, "3.13", 41, None, ("openssl", "python3-rpi-lgpio")),
}
"""The releases by name. They recommend openssl because it makes keys."""
DEBIAN_NAMES = {"attrs": "attr", "pyserial": "serial"}
"""Names in Debian, after python3-, that differ from the index's names."""


class Build(NamedTuple):
    """What is packed: the source tree, for which release of Debian, with which version for dpkg. `epoch`: the time of
    every file, in seconds of UTC. `maintainer`: who makes the package."""

    tree: Path
    release: str
    version: str
    epoch: int
    maintainer: str

    @property
    def date(self) -> datetime:
        """The time of every file, as a date."""
        return datetime.fromtimestamp(self.epoch, UTC)


def debian_version(version: str, release: str) -> str:
    """Return dpkg's version for Python's version. A pre-release sorts before its release, and the package for a newer
    Debian is an upgrade."""
    return re.sub(r"(?<=\d)\.?(a|b|rc|dev)(?=\d)", r"~\1", version) + f"+deb{RELEASES[release].number}"


def lay_out(root: Path, build: Build, parser: argparse.ArgumentParser, fetched: Fetched) -> None:
    """Lay out all files of `wheeld`, except the Python files, which are below `root` already."""
    systemd = build.tree / "systemd"
    _units(root, build, "wheeld", ("wheeld@.service", "wheeld-page@.service", "wheeld-backup@.service"))
    copy(systemd / "wheeld-backup@.timer", root / "usr/lib/systemd/system/wheeld-backup@.timer")
    copy(systemd / "udev/70-wheeld.rules", root / "usr/lib/udev/rules.d/70-wheeld.rules")
    for kind in ("sysusers.d", "tmpfiles.d", "modules-load.d"):
        copy(systemd / kind / "wheeld.conf", root / "usr/lib" / kind / "wheeld.conf")
    dropped = "mosquitto.service.d/wheeld.conf"
    copy(systemd / dropped, root / "usr/lib/systemd/system" / dropped)
    copy(FILES / "example.toml", root / "etc/wheeld/example.toml")
    _program(root, build, parser, WHEELD)
    documents = root / "usr/share/doc/wheeld"
    for name in ("wheeld.conf", "wheeld.acl", "bridge.conf"):
        copy(systemd / "mosquitto" / name, documents / "examples/mosquitto" / name)
    for name in ("wheeld-alerts.yml", "wheeld-dashboard.json"):
        copy(build.tree / "docs/metrics" / name, documents / "examples/metrics" / name)
    for page in (build.tree / "docs").glob("*.md"):
        copy(page, documents / "docs" / page.name)
    _packed(documents / "CHANGELOG.md.gz", (build.tree / "CHANGELOG.md").read_text(encoding="utf-8"))
    _write(documents / "copyright", _copyright(fetched.parts))


def lay_out_own(root: Path, build: Build, parser: argparse.ArgumentParser, package: OwnPackage) -> None:
    """Lay out all files of `package`, except the Python files."""
    for unit in package.units:
        copy(build.tree / "systemd" / unit, root / "usr/lib/systemd/system" / unit)
    _program(root, build, parser, package.about)
    _write(root / "usr/share/doc" / package.name / "copyright", _copyright([]))


def lay_out_house(root: Path, build: Build, parser: argparse.ArgumentParser, fetched: Fetched) -> None:
    """Lay out all files of `wheeld-house`, except the Python files."""
    _units(root, build, "wheeld-house", HOUSE_UNITS)
    copy(build.tree / "systemd/wheeld-house-stamp.timer", root / "usr/lib/systemd/system/wheeld-house-stamp.timer")
    copy(build.tree / "systemd/sysusers.d/wheeld-house.conf", root / "usr/lib/sysusers.d/wheeld-house.conf")
    _program(root, build, parser, HOUSE)
    _write(root / "usr/share/doc/wheeld-house/copyright", _copyright(fetched.parts, "/usr/lib/wheeld-house"))


def _units(root: Path, build: Build, command: str, names: Sequence[str]) -> None:
    """Lay out units, with the path of the package's command and the name of its manual page."""
    for name in names:
        unit = (build.tree / "systemd" / name).read_text(encoding="utf-8")
        unit = unit.replace("/opt/wheeld/bin/", "/usr/bin/").replace(
            "[Unit]\n", f"[Unit]\nDocumentation=man:{command}(1)\n"
        )
        _write(root / "usr/lib/systemd/system" / name, unit)


def _program(root: Path, build: Build, parser: argparse.ArgumentParser, about: str) -> None:
    command, package = parser.prog, PACKAGES[parser.prog]
    copy(FILES / command, root / "usr/bin" / command, 0o755)
    more = (FILES / f"{command}.1.end").read_text(encoding="utf-8") if package == "wheeld" else ""
    page = man_page(parser, about=about, version=build.version, date=f"{build.date:%Y-%m-%d}", more=more)
    _packed(root / f"usr/share/man/man1/{command}.1.gz", page)
    _write(root / f"usr/share/bash-completion/completions/{command}", completion(parser))
    _packed(root / f"usr/share/doc/{package}/changelog.gz", _changelog(package, build))
    if (overrides := FILES / f"{package}.lintian-overrides").exists():
        copy(overrides, root / "usr/share/lintian/overrides" / package)


def _changelog(package: str, build: Build) -> str:
    what = "CHANGELOG.md.gz in /usr/share/doc/wheeld says what changed."
    date = f"{build.date:%a, %d %b %Y %H:%M:%S} +0000"
    head = f"{package} ({build.version}) {build.release}; urgency=medium"
    return f"{head}\n\n  * {what}\n\n -- {build.maintainer}  {date}\n"


def _copyright(parts: list[Part], where: str = "/usr/lib/wheeld") -> str:
    own = (FILES / "copyright").read_text(encoding="utf-8")
    texts = [own]
    for part in parts:
        told = part.metadata["License-Expression"] or part.metadata["License"] or ""
        # Some packages have the whole text of the licence there.
        called = told if told and "\n" not in told else "see below"
        home = part.metadata["Home-page"] or next(iter(part.metadata.get_all("Project-URL", [])), "").split(", ")[-1]
        about = f"{part.called}, in {where}\n{home}\nLicence: {called}\n"
        licences = [f"--- {name}\n\n{_licence(text)}\n" for name, text in sorted(part.licences.items())]
        texts.append("\n".join([f"{'=' * 80}\n{about}", *licences]))
    return "\n".join(texts)


def _licence(text: str) -> str:
    """Return a licence's text, or where every Debian has this text."""
    is_apache = "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    return "The Apache License, version 2.0: see /usr/share/common-licenses/Apache-2.0." if is_apache else text.strip()


def control(build: Build, architecture: str, fetched: Fetched) -> dict[str, str]:
    """Return the fields of `wheeld`, without its size. If nothing inside is compiled, it is for any architecture."""
    release = RELEASES[build.release]
    needs = [*_python(build), "systemd", *_packages(fetched)]
    return {
        "Package": "wheeld",
        "Version": build.version,
        "Architecture": architecture if fetched.glibc_minor else "all",
        "Depends": ", ".join(needs),
        "Recommends": ", ".join(release.recommends),
        "Suggests": "mosquitto, wheeld-report, wheeld-sim",
        **_same(build),
        "Description": _description(WHEELD, FILES / "wheeld.description"),
    }


def control_own(build: Build, package: OwnPackage) -> dict[str, str]:
    """Return the fields of `package`, without its size."""
    return {
        "Package": package.name,
        "Version": build.version,
        "Architecture": "all",
        "Depends": ", ".join(("python3", f"wheeld (= {build.version})", *package.needs)),
        **({"Suggests": package.suggests} if package.suggests else {}),
        **_same(build),
        "Description": _description(package.about, FILES / f"{package.name}.description"),
    }


def control_house(build: Build, architecture: str, fetched: Fetched) -> dict[str, str]:
    """Return the fields of `wheeld-house`, without its size. It only recommends PostgreSQL, because the database may be
    on another computer."""
    needs = [*_python(build), f"wheeld (= {build.version})", "libpq5", "systemd", *_packages(fetched)]
    return {
        "Package": "wheeld-house",
        "Version": build.version,
        "Architecture": architecture if fetched.glibc_minor else "all",
        "Depends": ", ".join(needs),
        "Recommends": "mosquitto, postgresql",
        **_same(build),
        "Description": _description(HOUSE, FILES / "wheeld-house.description"),
    }


def _python(build: Build) -> list[str]:
    """Return the dependency on this release's Python only: compiled files need it, and no other was tested."""
    major, minor = map(int, RELEASES[build.release].python.split("."))
    return [f"python3 (>= {major}.{minor})", f"python3 (<< {major}.{minor + 1})"]


def _packages(fetched: Fetched) -> list[str]:
    of_debian = sorted(fetched.of_debian.items())
    needs = [f"python3-{DEBIAN_NAMES.get(name, name)} (>= {version})" for name, version in of_debian]
    return [*needs, f"libc6 (>= 2.{fetched.glibc_minor})", "libgcc-s1"] if fetched.glibc_minor else needs


def _same(build: Build) -> dict[str, str]:
    return {"Section": "misc", "Priority": "optional", "Maintainer": build.maintainer}


def _description(about: str, more: Path) -> str:
    lines = more.read_text(encoding="utf-8").splitlines()
    return "\n".join([about, *(f" {line or '.'}" for line in lines)])


def pack(root: Path, fields: Mapping[str, str], build: Build, out: Path) -> Path:
    """Make the package of what is below `root`, and return its path. The same tree gives the same bytes."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent == root / "usr/bin" else 0o644)
    root.chmod(0o755)
    size_kib = sum(-(-path.stat().st_size // 1024) for path in files)
    told = {**fields, "Installed-Size": str(size_kib)}
    said = {name: value for name, value in told.items() if name != "Description"}
    lines = [*(f"{name}: {value}" for name, value in said.items()), f"Description: {told['Description']}"]
    control = root / "DEBIAN"
    _write(control / "control", "\n".join(lines) + "\n")
    names = [path.relative_to(root).as_posix() for path in files]
    digests = {name: hashlib.md5((root / name).read_bytes(), usedforsecurity=False).hexdigest() for name in names}
    lasting = [f"{digest}  {name}\n" for name, digest in digests.items() if not name.startswith("etc/")]
    _write(control / "md5sums", "".join(lasting))
    if settings := [f"/{name}\n" for name in names if name.startswith("etc/")]:
        _write(control / "conffiles", "".join(settings))
    for script in SCRIPTS:
        source = FILES / f"{fields['Package']}.{script}"
        if source.exists():
            text = source.read_text(encoding="utf-8").replace("@VERSION@", build.version)
            _write(control / script, text)
            (control / script).chmod(0o755)
    out.mkdir(parents=True, exist_ok=True)
    made = out / f"{fields['Package']}_{build.version}_{fields['Architecture']}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(made)]
    dated = {**environ, "SOURCE_DATE_EPOCH": str(build.epoch)}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dated)  # noqa: S603
    return made


def _packed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
