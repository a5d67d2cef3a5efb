"""Fetches what a lock names, for another computer too, and unpacks it: only files whose hashes the lock has."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from os import environ
from pathlib import Path, PurePosixPath
from typing import NamedTuple

GLIBC_MINOR_MAX = 36
"""Debian 12 has glibc 2.36."""
SOURCE_ONLY = {"cobs": "src/cobs"}
"""Packages of which the index has no file for Linux, and where Python's part stands in their source. Their compiled
part is left out, on every kind of computer, so that all run the same. cobs works without it: 2 µs a frame, not 0.1."""
_PLATFORM = re.compile(r"manylinux_2_(\d+)_")


class Part(NamedTuple):
    """Something that the package has inside: its metadata, and its licences by file name."""

    metadata: Message
    licences: dict[str, str]

    @property
    def called(self) -> str:
        """Name and version."""
        return f"{self.metadata['Name']} {self.metadata['Version']}"


class Fetched(NamedTuple):
    """What was unpacked; `glibc_minor`: the oldest glibc 2.x that all of it runs with."""

    parts: list[Part]
    glibc_minor: int


def fetch(lock: Path, machine: str, python: str, work: Path) -> list[Path]:
    """Download every file of the lock for that kind of computer. pip refuses each whose hash is another."""
    entries = list(_entries(lock.read_text(encoding="utf-8")))
    files = work / "files"
    of_source = [entry for entry in entries if entry.partition("==")[0] in SOURCE_ONLY]
    (work / "wheels.txt").write_text("".join(entry for entry in entries if entry not in of_source), encoding="utf-8")
    (work / "sources.txt").write_text("".join(of_source), encoding="utf-8")
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC_MINOR_MAX, 4, -1)]
    given = [word for name in (*platforms, f"manylinux2014_{machine}") for word in ("--platform", name)]
    _pip("download", "--only-binary=:all:", "--implementation=cp", f"--python-version={python}", *given,
         "--no-deps", "--require-hashes", "-d", str(files), "-r", str(work / "wheels.txt"))  # fmt: skip
    # pip asks a source for its metadata: that runs a build tool, ours from its own lock.
    tools = work / "tools"
    build = lock.with_name("build.txt")
    _pip("install", "--only-binary=:all:", "--require-hashes", "--target", str(tools), "-r", str(build))
    _pip("download", "--no-binary=:all:", "--no-build-isolation", "--no-deps", "--require-hashes",
         "-d", str(files), "-r", str(work / "sources.txt"), path=tools)  # fmt: skip
    return sorted(files.iterdir())


def _entries(lock: str) -> Iterator[str]:
    """Each requirement with its hashes."""
    lines = [line for line in lock.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    yield from (f"{entry}\n" for entry in re.split(r"\n(?=\S)", "\n".join(lines)))


def _pip(*arguments: str, path: Path | None = None) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "-q", "--disable-pip-version-check", *arguments[1:]]
    more = {} if path is None else {"PYTHONPATH": str(path)}
    subprocess.run(command, check=True, env={**environ, **more})  # noqa: S603


def unpack(files: list[Path], to: Path) -> Fetched:
    """Unpack wheels and sources side by side. Their commands, and pip's notes on them, are left out."""
    parts = [_wheel(file, to) if file.suffix == ".whl" else _source(file, to) for file in files]
    minors = [min(map(int, found), default=0) for found in (_PLATFORM.findall(file.name) for file in files)]
    return Fetched(sorted(parts, key=lambda part: part.called.lower()), max(minors, default=0))


def _wheel(file: Path, to: Path) -> Part:
    with zipfile.ZipFile(file) as archive:
        licences, metadata = {}, ""
        for info in archive.infolist():
            path = PurePosixPath(info.filename)
            if info.is_dir():
                continue
            if path.is_absolute() or ".." in path.parts or path.parts[0].endswith(".data"):
                raise ValueError(f"{file.name} has {path}, which does not belong below a directory of packages")
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
    """One file, with its directories."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)
