"""Fetches the Python packages that a Debian package must contain, and unpacks them: only files that a lock names.

The target may be another kind of computer than this one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from email.message import Message
from email.parser import HeaderParser
from os import environ
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SOURCE_ONLY = {"cobs": "src/cobs"}
"""Packages of which the index has no compiled file for Linux, and the directory of the Python files in their source.
Their compiled part is left out, so that all computers run the same. cobs works without it: 2 µs a frame, not 0.1."""
MANUALS = ("data", "share", "man")
_PLATFORM = re.compile(r"manylinux_2_(\d+)_")


class Target(NamedTuple):
    """The computer for which the files are: the index's name for its processor, its Python (such as 3.11), and the x of
    its glibc 2.x. `ships`: the packages that its Debian has in a good version, versions by name."""

    machine: str
    python: str
    glibc_minor: int
    ships: Mapping[str, str]


class Part(NamedTuple):
    """A Python package inside the Debian package: its metadata, and its licences by file name."""

    metadata: Message
    licences: dict[str, str]

    @property
    def called(self) -> str:
        """The name and the version."""
        return f"{self.metadata['Name']} {self.metadata['Version']}"


class Fetched(NamedTuple):
    """What was unpacked. `glibc_minor`: the x of the oldest glibc 2.x with which all of it runs, 0 if nothing is
    compiled. `of_debian`: the packages that the target's Debian has instead, versions by name."""

    parts: list[Part]
    glibc_minor: int
    of_debian: dict[str, str]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what was unpacked, by name."""
        return {canonicalize_name(part.metadata["Name"]): part.metadata["Version"] for part in self.parts}


def fetch(lock: Path, asked: Iterable[Requirement], target: Target, work: Path, to: Path) -> Fetched:
    """Unpack below `to` the packages that are `asked` for and all that these need, unless the target's Debian has them.
    pip refuses each file whose hash is not in the lock. Raises ValueError if Debian's version does not fit."""
    entries = {entry.partition("==")[0]: entry for entry in _entries(lock.read_text(encoding="utf-8"))}
    environment = {name: str(value) for name, value in default_environment().items()}
    environment["python_version"], environment["python_full_version"] = target.python, f"{target.python}.0"
    parts, minors, of_debian = dict[str, Part](), [0], dict[str, str]()
    wanted = list(asked)
    while wanted:
        names = set[str]()
        for requirement in wanted:
            name = canonicalize_name(requirement.name)
            if requirement.marker is not None and not requirement.marker.evaluate({**environment, "extra": ""}):
                continue
            if name not in target.ships:
                names.add(name)
            elif target.ships[name] not in requirement.specifier:
                raise ValueError(f"{requirement} is asked for, and this Debian has {name} {target.ships[name]}")
            else:
                of_debian[name] = target.ships[name]
        wanted = []
        for file in _download([entries[name] for name in sorted(names - parts.keys())], lock, target, work):
            part = unpack(file, to)
            parts[canonicalize_name(part.metadata["Name"])] = part
            minors += [min(map(int, found)) for found in [_PLATFORM.findall(file.name)] if found]
            wanted += map(Requirement, part.metadata.get_all("Requires-Dist", []))
    return Fetched([parts[name] for name in sorted(parts)], max(minors), of_debian)


def _entries(lock: str) -> Iterator[str]:
    """Yield each requirement of a lock with its hashes, and without its marker, because pip would check the marker for
    this computer instead of the target."""
    lines = [line for line in lock.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for entry in re.split(r"\n(?=\S)", "\n".join(lines)):
        yield re.sub(r" ; [^\\\n]+", " ", f"{entry}\n", count=1)


def _download(entries: list[str], lock: Path, target: Target, work: Path) -> list[Path]:
    """Return the files of these entries of the lock."""
    if not entries:
        return []
    files = work / f"files-{len(list(work.iterdir()))}"
    files.mkdir()
    of_source = [entry for entry in entries if entry.partition("==")[0] in SOURCE_ONLY]
    if of_wheels := [entry for entry in entries if entry not in of_source]:
        (work / "wheels.txt").write_text("".join(of_wheels), encoding="utf-8")
        minors = range(target.glibc_minor, 4, -1)
        platforms = [*(f"manylinux_2_{minor}_{target.machine}" for minor in minors), f"manylinux2014_{target.machine}"]
        _pip("download", "--only-binary=:all:", "--implementation=cp", f"--python-version={target.python}",
             *(word for name in platforms for word in ("--platform", name)),
             "--no-deps", "--require-hashes", "-d", str(files), "-r", str(work / "wheels.txt"))  # fmt: skip
    if of_source:
        # To learn a source's metadata, pip runs a build tool. We install this tool from its own lock.
        (work / "sources.txt").write_text("".join(of_source), encoding="utf-8")
        tools = work / "tools"
        build = lock.with_name("build.txt")
        _pip("install", "--only-binary=:all:", "--require-hashes", "--target", str(tools), "-r", str(build))
        _pip("download", "--no-binary=:all:", "--no-build-isolation", "--no-deps", "--require-hashes",
             "-d", str(files), "-r", str(work / "sources.txt"), path=tools)  # fmt: skip
    return sorted(files.iterdir())


def _pip(*arguments: str, path: Path | None = None) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "-q", "--disable-pip-version-check", *arguments[1:]]
    more = {} if path is None else {"PYTHONPATH": str(path)}
    subprocess.run(command, check=True, env={**environ, **more})  # noqa: S603


def unpack(file: Path, to: Path) -> Part:
    """Unpack a wheel file or a source archive. Leave out its commands, its manual pages and pip's own files."""
    return _wheel(file, to) if file.suffix == ".whl" else _source(file, to)


def _wheel(file: Path, to: Path) -> Part:
    with zipfile.ZipFile(file) as archive:
        licences, metadata = {}, ""
        for info in archive.infolist():
            path = PurePosixPath(info.filename)
            if info.is_dir():
                continue
            is_data = path.parts[0].endswith(".data")
            if path.is_absolute() or ".." in path.parts or (is_data and path.parts[1:4] != MANUALS):
                raise ValueError(f"{file.name} has {path}, which does not belong below a directory of packages")
            if is_data:
                continue
            if path.parts[0].endswith(".dist-info"):
                if _is_licence(path):
                    licences[path.name] = archive.read(info).decode("utf-8")
                    continue
                if path.name in ("RECORD", "entry_points.txt"):
                    continue
                if path.name == "METADATA":
                    metadata = archive.read(info).decode("utf-8")
            _write(to / path, archive.read(info))
    return Part(HeaderParser().parsestr(metadata), licences)


def _source(file: Path, to: Path) -> Part:
    top = file.name.removesuffix(".tar.gz")
    name, _, _ = top.rpartition("-")
    inside = f"{top}/{SOURCE_ONLY[name]}/"
    licences, metadata = {}, ""
    with tarfile.open(file) as archive:
        for member in archive.getmembers():
            path, read = PurePosixPath(member.name), archive.extractfile(member) if member.isfile() else None
            if read is None:
                continue
            if member.name == f"{top}/PKG-INFO":
                metadata = read.read().decode("utf-8")
            elif len(path.parts) == 2 and _is_licence(path):
                licences[path.name] = read.read().decode("utf-8")
            elif (
                member.name.startswith(inside) and path.suffix in (".py", ".pyi", ".typed") and "test" not in path.name
            ):
                _write(to / PurePosixPath(SOURCE_ONLY[name]).name / member.name.removeprefix(inside), read.read())
    _write(to / f"{top}.dist-info" / "METADATA", metadata.encode())
    return Part(HeaderParser().parsestr(metadata), licences)


def _is_licence(path: PurePosixPath) -> bool:
    return "licenses" in path.parts or path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))


def _write(path: Path, content: bytes) -> None:
    if path.exists():
        raise ValueError(f"two parts have {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy(source: Path, to: Path, mode: int = 0o644) -> None:
    """Copy one file, and make its directories."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)
