"""The disk of a part of the house, which can be full or slow: a library in C between the program and its files."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCE = Path(__file__).with_name("disk.c")
_CONTROL = struct.Struct("4i")


@cache
def _library() -> bytes:
    compiler = shutil.which("cc")
    assert compiler is not None, "these tests need a C compiler: apt-get install gcc libc6-dev"
    with TemporaryDirectory() as folder:
        made = Path(folder, "disk.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", made, SOURCE], check=True)
        return made.read_bytes()


class Disk:
    """Start the program with `environment`. What it writes then goes to this disk."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the program may enter and read it. It keeps the library."""
        self.folder = folder
        library, self._control = folder / "disk.so", folder / "disk"
        library.write_bytes(_library())
        self._control.write_bytes(_CONTROL.pack(0, 0, 0, 0))
        self._control.chmod(0o666)
        self.environment: Mapping[str, str] = {"LD_PRELOAD": str(library), "WHEELD_HOUSE_DISK": str(self._control)}

    def fill(self) -> None:
        """From now on nothing new fits on it. What is written over fits."""
        self._set(full=True, slow_us=0)

    def slow(self, seconds: float) -> None:
        """From now on each call that writes takes so long."""
        self._set(full=False, slow_us=round(seconds * 1e6))

    def mend(self) -> None:
        """End both."""
        self._set(full=False, slow_us=0)

    @property
    def failed(self) -> tuple[int, int]:
        """How many calls found it full, and how many had to wait."""
        _, _, refused, delayed = _CONTROL.unpack(self._control.read_bytes())
        return refused, delayed

    def _set(self, *, full: bool, slow_us: int) -> None:
        # In place: the programs have mapped the file, and count in the rest of it.
        with self._control.open("r+b") as file:
            file.write(struct.pack("2i", full, slow_us))
