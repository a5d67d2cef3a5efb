"""The digests of the running program and of its configuration. Each power-up stores them in the journal."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec


class DaemonIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Which program and which configuration run. Digests are in hexadecimal.

    `program`: the digest of the program's files (`wheeld.service.program`), None if they cannot be read. `as_released`:
    whether the release's manifest has the same digest, None without a manifest. `configuration`: SHA-256 of the
    configuration's file, None without a file. `test`: whether the table is a bench table.
    """

    version: str
    program: str | None
    as_released: bool | None = None
    configuration: str | None
    test: bool = False


def digest_of_file(path: Path) -> str:
    """Return the digest that `sha256sum` prints for the file. Raises OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
