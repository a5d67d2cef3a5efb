"""The shim below SQLite, from Python: built with the machine's C compiler, given a plan, and its log read back."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from tests.faults.conftest import FORM

NO_COMPILER = "no C compiler for the shim below SQLite: apt-get install gcc libc6-dev"
SOURCE = Path(__file__).with_name("disk_shim.c")
_RECORD = struct.Struct("8s40sqqqq")


class Mode(IntEnum):
    """What happens at call number `Plan.at`; the order is that of disk_shim.c."""

    WATCH = 0
    FAIL = 1
    SHORT = 2
    SHORT_THEN_FULL = 3
    KILL_BEFORE = 4
    KILL_AFTER = 5
    READ_ONLY = 6


class Plan(NamedTuple):
    """One fault. `error` is the errno of `Mode.FAIL`."""

    mode: Mode = Mode.WATCH
    at: int = 0
    error: int = 0

    def __str__(self) -> str:
        what = os.strerror(self.error) if self.mode is Mode.FAIL else self.mode.name.lower()
        return f"{what} at call {self.at}"


class Call(NamedTuple):
    """One file call, or a mark of the program (kind `mark`), as recorded; `result` is negative when it failed.

    Kinds: create and open, read, write, sync, cut (ftruncate, to size `offset`), unlink, rename, close. The name "." is
    the directory itself.
    """

    kind: str
    name: str
    n: int
    offset: int
    result: int
    data: bytes

    def mark_values(self) -> dict[str, object]:
        """The values of a mark."""
        mark: dict[str, object] = msgspec.json.decode(self.data)
        return mark


def build(directory: Path) -> Path:
    """The shim, compiled into `directory`. Without a C compiler a test of the short form is skipped, others fail."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        (pytest.skip if FORM == "short" else pytest.fail)(NO_COMPILER)
    shim = directory / "disk_shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", shim, SOURCE], check=True)
    return shim


def read_log(path: Path) -> list[Call]:
    """All records, in order."""
    return list(_calls(path.read_bytes()))


def _calls(raw: bytes) -> Iterator[Call]:
    at = 0
    while at < len(raw):
        kind, name, n, offset, result, length = _RECORD.unpack_from(raw, at)
        at += _RECORD.size
        yield Call(_text(kind), _text(name), n, offset, result, raw[at : at + length])
        at += length


def _text(raw: bytes) -> str:
    return raw.rstrip(b"\0").decode()


class Shim:
    """The shim in this process, which was started with it in LD_PRELOAD."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)

    def begin(self, directory: Path, log: Path, plan: Plan, *, with_data: bool) -> None:
        """Watch `directory` from now on, in children too; calls count from 1."""
        paths = (os.fsencode(directory), os.fsencode(log))
        fault = (int(plan.mode), ctypes.c_long(plan.at), plan.error)
        if self._library.disk_begin(*paths, *fault, int(with_data)) != 0:
            raise OSError(f"cannot record to {log}")

    def end(self) -> None:
        """Stop watching."""
        self._library.disk_end()

    def mark(self, **values: object) -> None:
        """Record a mark between the calls."""
        data = msgspec.json.encode(values)
        self._library.disk_mark(data, ctypes.c_size_t(len(data)))
