"""What the journal holds and how it fails, told to the rest of the daemon."""

from __future__ import annotations

import sqlite3
from enum import Enum, IntEnum
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from wheeld.errors import WheeldError

Fault: TypeAlias = Literal["full", "io", "corrupt", "locked", "foreign", "newer", "older", "conflict"]


class JournalError(WheeldError):
    """The journal cannot keep its promise; the daemon must halt and not try again.

    `fault` is the kind: `full` (disk), `io`, `corrupt`, `locked` (another daemon), `foreign` (not a journal),
    `newer` or `older` (written by another version), `conflict` (the program asked for what contradicts the stored).
    """

    def __init__(self, fault: Fault, path: Path, why: str) -> None:
        super().__init__(f"journal {path}: {why}")
        self.fault = fault
        self.path = path


class State(IntEnum):
    """How far a message has come. Everything below `SETTLED` is owed."""

    OWED = 0
    CONFIRMED = 1
    SETTLED = 2


class Receipt(Enum):
    """What a received command is: the first of its id, one that was delivered again, or another under a used id."""

    NEW = "new"
    PENDING = "pending"
    REPEATED = "repeated"
    CONFLICT = "conflict"


class CommandRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One command as received: who, why, and where its answer goes. `details` is what it asks beyond its name."""

    id: str | None
    name: str
    by: str = ""
    reason: str = ""
    details: str = ""
    response_topic: str | None = None
    correlation: bytes | None = None


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the feed, as stored; `t_us` is None for replies that the daemon's edge gave."""

    id: int
    topic: str
    seq: int | None
    retained: bool
    payload: bytes
    t_us: int | None
    at_utc_us: int
    state: State


class StoredCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the command log; `done` is None while it is undecided."""

    row: int
    id: str | None
    name: str
    by: str
    reason: str
    details: str
    received_utc_us: int
    answered_utc_us: int | None
    done: bool | None
    why: str | None


class StoredEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The observation log of one coup, uncompressed, beside its verdict and the verdict's `seq`.

    `digest` is the SHA-256 of the log when it was stored; it remains when retention takes the log.
    """

    coup: int
    verdict: str
    seq: int | None
    at_utc_us: int
    digest: bytes
    log: bytes


class StoredPruning(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence that retention took: of which coup, when, and by which rule (`age`, `size`)."""

    coup: int
    at_utc_us: int
    why: str


class StoredSeal(msgspec.Struct, frozen=True, kw_only=True):
    """A signed head: up to record `n` the journal was so when `by` sealed it. `key_id` tells which key signed."""

    n: int
    head: bytes
    at_utc_us: int
    by: str
    why: str
    key_id: str
    signature: bytes


class Signer(Protocol):
    """A private key that can seal the journal."""

    @property
    def key_id(self) -> str:
        """Which key it is: 16 hexadecimal digits of the SHA-256 of its public key."""
        ...

    def sign(self, told: bytes) -> bytes:
        """The signature of these bytes."""
        ...


_FAULTS: dict[int, tuple[Fault, str]] = {
    sqlite3.SQLITE_FULL: ("full", "the disk is full; free space, then start again"),
    sqlite3.SQLITE_IOERR: ("io", "the disk failed; check it, then start again"),
    sqlite3.SQLITE_READONLY: ("io", "the file or its disk is read-only; check it, then start again"),
    sqlite3.SQLITE_CANTOPEN: ("io", "the file cannot be opened; check the path and its permissions"),
    sqlite3.SQLITE_BUSY: ("locked", "another program is writing to it; stop that program"),
    # A read that fails is for SQLite the same as what it cannot understand.
    sqlite3.SQLITE_CORRUPT: (
        "corrupt",
        "the file is damaged, or the disk fails to read it; check it, keep the file for examination, start a new one",
    ),
    sqlite3.SQLITE_NOTADB: ("foreign", "this file is not a database; set another journal.path"),
    sqlite3.SQLITE_CONSTRAINT: ("conflict", "something is stored twice; this is a fault in the program, report it"),
}


def explain(error: sqlite3.Error, path: Path) -> JournalError:
    """The journal's error for one of SQLite's.

    Errors name their primary code in the low byte; what is not in the table is told as SQLite tells it.
    """
    code = getattr(error, "sqlite_errorcode", -1) & 0xFF
    fault, why = _FAULTS.get(code, ("io", "it cannot be used"))
    return JournalError(fault, path, f"{why} (SQLite: {error})")
