"""Which program runs, and by which configuration: their digests, as each power-up stores them in the journal."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import msgspec

import firmware_protocol
import wheeld

PACKAGES = (wheeld, firmware_protocol)
"""What decides about a coup. The version of everything else is the operating system's to know."""

COMPILED = "__pycache__"
"""Python makes these files itself, at different times on different computers."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """SHA-256 of the program and of the configuration file, in hexadecimal; `configuration` is None where there is no
    file."""

    version: str
    program: str
    configuration: str | None


def digest_of_file(path: Path) -> str:
    """What `sha256sum` prints of it; raises OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def program_digest() -> str:
    """SHA-256 over every file of the program: its path, its size and its bytes, in the order of the paths."""
    whole = hashlib.sha256()
    for package in PACKAGES:
        (root,) = package.__path__
        for path in sorted(Path(root).rglob("*")):
            if path.is_file() and COMPILED not in path.parts:
                content = path.read_bytes()
                name = f"{package.__name__}/{path.relative_to(root).as_posix()}"
                whole.update(f"{name} {len(content)}\n".encode() + content)
    return whole.hexdigest()
