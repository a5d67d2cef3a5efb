"""The journal's records as structures, and its errors."""

from __future__ import annotations

import os
import shlex
import sqlite3
from enum import IntEnum
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from wheeld.errors import WheeldError

Fault: TypeAlias = Literal[
    "full", "io", "corrupt", "locked", "foreign", "newer", "older", "conflict", "edited", "owner", "replaced", "behind"
]

SPACE_MIN_BYTES = 262_144
"""A disk with less free space counts as full. A write-ahead log, its index and a few steps of the table need this
space."""

REPLACE: dict[Fault, str] = {
    "corrupt": "",
    "foreign": "",
    "edited": "somebody changed the file; ",
    "replaced": "somebody changed the file; ",
}
"""The faults after which a wheel needs another file, each with what people should know of the present one."""


class JournalError(WheeldError):
    """The journal cannot be used any more. The daemon must halt and not try again.

    `fault` is the kind: `full` (disk), `io`, `corrupt`, `locked` (by another daemon), `foreign` (not a journal),
    `newer` or `older` (written by another version), `conflict` (the program asked to store a contradiction), `edited`
    (not as it was written), `owner` (of another table, or of another key), `replaced` (the file was exchanged, cut or
    written to while it was open), `behind` (others have messages of this table that the journal does not have).
    """

    def __init__(self, fault: Fault, path: Path, why: str) -> None:
        if (known := REPLACE.get(fault)) is not None:
            file, kept = shlex.quote(str(path)), shlex.quote(str(path.with_name("damaged")))
            why += (
                f"; {known}if a wheel writes it: stop the wheel, move the file away and keep it (`mkdir -p {kept} && "
                f"mv --backup=numbered {file}* {kept}`), put the last backup in its place (`cp BACKUP {file} && chown "
                f"wheeld: {file}`; without one, the wheel begins a new journal), start the wheel"
            )
        if fault == "full":
            disk = next(each for each in path.resolve().parents if each.is_mount())
            why += f"; free space: `du -xh {shlex.quote(str(disk))} | sort -h | tail` says what takes it"
        super().__init__(f"journal {path}: {why}")
        self.fault = fault
        self.path = path


class SendState(IntEnum):
    """How far a message has come. A message below `SETTLED` is owed."""

    OWED = 0
    """Stored. The broker does not have it yet, or has to get it again."""
    CONFIRMED = 1
    """The broker has it. The settlement core has not acknowledged it yet."""
    SETTLED = 2
    """All receivers that need it have it."""


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message, as stored. `t_us` is None for replies that did not come from the core."""

    id: int
    topic: str
    seq: int | None
    retained: bool
    payload: bytes
    t_us: int | None
    at_utc_us: int
    state: SendState


class StoredCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the command log. `done` is None while the command is undecided. `user` and `by` are as in
    `CommandRecord`. `user` is also None in rows that schema 1 stored."""

    row: int
    id: str | None
    name: str
    user: str | None
    by: str
    reason: str
    details: str
    received_utc_us: int
    answered_utc_us: int | None
    done: bool | None
    why: str | None


class StoredEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The observation log of one coup, uncompressed, with its verdict and the verdict's `seq`.

    `digest` is the SHA-256 of the log when it was stored. It remains when retention removes the log.
    """

    coup: int
    verdict: str
    seq: int | None
    at_utc_us: int
    digest: bytes
    log: bytes


class StoredPruning(msgspec.Struct, frozen=True, kw_only=True):
    """A removal of evidence by retention: of which coup, when, and by which limit (`age`, `size`)."""

    coup: int
    at_utc_us: int
    why: str


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to the device, as stored. `details` is JSON. A later version may have other events."""

    row: int
    event: str
    by: str | None
    why: str | None
    details: str
    at_utc_us: int


class StoredSeal(msgspec.Struct, frozen=True, kw_only=True):
    """A signed head: what the journal contained up to record `n` when `by` sealed it. `key_id` is the key that signed
    it."""

    n: int
    head: bytes
    at_utc_us: int
    by: str
    why: str
    key_id: str
    signature: bytes


class StoredOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The first record: whose journal it is. `public_key` has 32 bytes (Ed25519), or is None if nothing is signed."""

    site: str
    table_id: str
    public_key: bytes | None


class StoredAdoption(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of the feed that this journal does not have, from `first_seq` to `last_seq`, as `by` gave them. `hash` is
    the hash of the message `last_seq`."""

    first_seq: int
    last_seq: int
    hash: str
    at_utc_us: int
    by: str
    why: str


class Restoration(msgspec.Struct, frozen=True, kw_only=True):
    """The details of an event `restored`: the journal begins with the messages of the feed up to `last_seq`, which the
    house had. `hash` is the hash of message `last_seq`. `note` says what is lost."""

    last_seq: int
    hash: str
    note: str


class StoredTail(msgspec.Struct, frozen=True, kw_only=True):
    """The state after the last transaction: number and head of the last link, the digest of what a restart reads, the
    sum over the debts, and the signature of all these. `signature` is None in a journal without a key."""

    n: int
    head: bytes
    kept: bytes
    debts: bytes
    signature: bytes | None


class Mode(msgspec.Struct):
    """The member of a message that says whether its table is a bench table."""

    test: bool = False


class Signer(Protocol):
    """A private key that can seal the journal."""

    @property
    def public_key(self) -> bytes:
        """The 32 bytes of its public key."""
        ...

    @property
    def key_id(self) -> str:
        """Which key it is: 16 hexadecimal digits of the SHA-256 of its public key."""
        ...

    def sign(self, data: bytes) -> bytes:
        """Return the signature of these bytes."""
        ...


_FAULTS: dict[int, tuple[Fault, str]] = {
    sqlite3.SQLITE_FULL: ("full", "the disk is full"),
    sqlite3.SQLITE_IOERR: ("io", "the disk failed; check it, then start again"),
    sqlite3.SQLITE_READONLY: ("io", "the file or its disk is read-only; check it, then start again"),
    sqlite3.SQLITE_CANTOPEN: ("io", "the file cannot be opened; check the path and its permissions"),
    sqlite3.SQLITE_BUSY: ("locked", "another program is writing to it; stop that program"),
    # SQLite reports a failed read in the same way as a damaged page.
    sqlite3.SQLITE_CORRUPT: (
        "corrupt",
        "the file is damaged, or the disk fails to read it, which `journalctl -k` says",
    ),
    sqlite3.SQLITE_NOTADB: ("foreign", "this file is not a database, and so not a journal"),
    sqlite3.SQLITE_CONSTRAINT: ("conflict", "something is stored twice; this is a fault in the program, report it"),
}


def explain(error: sqlite3.Error, path: Path) -> JournalError:
    """Return the journal's error for one of SQLite's errors.

    The low byte of an error's code is its primary code. A code that is not in `_FAULTS` counts as `io`.
    """
    code = getattr(error, "sqlite_errorcode", -1) & 0xFF
    fault, why = _FAULTS.get(code, ("io", "it cannot be used"))
    if fault == "io" and is_full(path):
        fault, why = _FAULTS[sqlite3.SQLITE_FULL]
    return JournalError(fault, path, f"{why} (SQLite: {error})")


def is_full(path: Path) -> bool:
    """Return whether no space is left on the journal's disk. SQLite does not say so when it cannot make its files."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < SPACE_MIN_BYTES
