"""Which program runs, and by which configuration: their digests, as each power-up stores them in the journal."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec


class DaemonIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """`program`: the digest of its files (`wheeld.service.program`), None where they could not be read; `as_released`:
    whether the release's manifest has the same, None without one. `configuration`: SHA-256 of its file, None where
    there is no file. Both digests are in hexadecimal. `test`: whether it runs a bench table."""

    version: str
    program: str | None
    as_released: bool | None = None
    configuration: str | None
    test: bool = False


def digest_of_file(path: Path) -> str:
    """What `sha256sum` prints of it; raises OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
