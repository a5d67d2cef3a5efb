"""The journal's tables, and how a file of an earlier version becomes one of this version.

The rows of `origins`, `adoptions`, `messages`, `evidence`, `commands`, `senders`, `answers`, `prunings`, `heads` and
`events` are written once and never changed. Each is a record with a link in `chain`. The other tables contain no
records. The one row of `tail` binds `debts` (what the broker or the settlement core does not have yet) and `kept` (what
a restart reads) to the chain. `logs` contains the observation logs until retention removes them. The digests of the
logs are in `evidence`.

The shape of the file is verified too. Any table, column, index, view or trigger that is not listed below is a fault.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from typing import TypeAlias

VERSION = 2
"""The version of the tables, stored in each journal as `user_version`. Each change of the tables raises it by one."""

APPLICATION_ID = 0x77686C31
"""Marks the file as ours ("whl1"). So a database of another program is refused, and nothing is written to it."""

Migration: TypeAlias = Callable[[sqlite3.Connection], None]

TABLES = """
CREATE TABLE origins (
    row INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    table_id TEXT NOT NULL,
    public_key BLOB,
    at_utc_us INTEGER NOT NULL
) STRICT;
CREATE TABLE adoptions (
    row INTEGER PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at_utc_us INTEGER NOT NULL,
    by TEXT NOT NULL,
    why TEXT NOT NULL
) STRICT;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    seq INTEGER UNIQUE,
    retained INTEGER NOT NULL,
    payload BLOB NOT NULL,
    t_us INTEGER,
    at_utc_us INTEGER NOT NULL,
    response_topic TEXT,
    correlation BLOB
) STRICT;
CREATE INDEX messages_retained ON messages (topic, id) WHERE retained = 1;
CREATE TABLE commands (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT,
    name TEXT NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL,
    details TEXT NOT NULL,
    response_topic TEXT,
    correlation BLOB,
    received_utc_us INTEGER NOT NULL
) STRICT;
CREATE INDEX commands_id ON commands (id, row);
CREATE TABLE senders (row INTEGER PRIMARY KEY, user TEXT NOT NULL) STRICT;
CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE debts (id INTEGER PRIMARY KEY, seq INTEGER, confirmed INTEGER NOT NULL) STRICT;
CREATE INDEX debts_seq ON debts (seq) WHERE seq IS NOT NULL;
CREATE TABLE evidence (
    coup INTEGER PRIMARY KEY,
    verdict TEXT NOT NULL,
    seq INTEGER,
    at_utc_us INTEGER NOT NULL,
    digest BLOB NOT NULL,
    packed_digest BLOB NOT NULL
) STRICT;
CREATE TABLE logs (
    coup INTEGER PRIMARY KEY,
    at_utc_us INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;
CREATE INDEX logs_age ON logs (at_utc_us, coup, bytes);
CREATE TABLE answers (
    row INTEGER PRIMARY KEY,
    answered_utc_us INTEGER NOT NULL,
    done INTEGER NOT NULL,
    why TEXT NOT NULL
) STRICT;
CREATE TABLE prunings (coup INTEGER PRIMARY KEY, at_utc_us INTEGER NOT NULL, why TEXT NOT NULL) STRICT;
CREATE TABLE heads (
    n INTEGER PRIMARY KEY,
    head BLOB NOT NULL,
    at_utc_us INTEGER NOT NULL,
    by TEXT NOT NULL,
    why TEXT NOT NULL,
    key_id TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT;
CREATE TABLE events (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    event TEXT NOT NULL,
    by TEXT,
    why TEXT,
    details TEXT NOT NULL,
    at_utc_us INTEGER NOT NULL
) STRICT;
CREATE TABLE chain (
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    ref INTEGER NOT NULL,
    digest BLOB NOT NULL,
    head BLOB NOT NULL
) STRICT;
CREATE TABLE tail (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    n INTEGER NOT NULL,
    head BLOB NOT NULL,
    kept BLOB NOT NULL,
    debts BLOB NOT NULL,
    signature BLOB
) STRICT;
"""

NAMES = tuple(re.findall(r"CREATE TABLE (\w+)", TABLES))


def create(db: sqlite3.Connection) -> None:
    """Make the tables of a new journal, and mark the file as a journal."""
    # `executescript` would end the caller's transaction.
    for statement in TABLES.split(";"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _from_1(db: sqlite3.Connection) -> None:
    """Add what schema 1 did not store: the names of those who sent commands, and what happened to the device."""
    db.execute(_statement("senders"))
    db.execute(_statement("events"))


MIGRATIONS: dict[int, Migration] = {1: _from_1}
"""For each earlier version, the step to the next one. A step runs inside a transaction and must not end it. Existing
records must stay as they are, because their digests are signed. So a new property of a record becomes a record in
another table."""


def _statement(table: str) -> str:
    """Return the statement that makes one of the tables."""
    return next(text for text in TABLES.split(";") if f"CREATE TABLE {table} " in text)


def missing_step(version: int) -> int | None:
    """Return the first version from `version` on that has no step to the next one. None if no step is missing."""
    return next((step for step in range(version, VERSION) if step not in MIGRATIONS), None)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a journal of an earlier `version` to this one, step by step, inside the caller's transaction."""
    for step in range(version, VERSION):
        MIGRATIONS[step](db)
    db.execute(f"PRAGMA user_version = {VERSION}")


def misfit(db: sqlite3.Connection) -> str | None:
    """Return the first table, column, index, view or trigger that only the file has, or else one that only this schema
    has, and what is wrong with it. None if the file's shape is right."""
    found, meant = _shape(db), _meant()
    if planted := found - meant:
        kind, name, *_ = min(planted, key=repr)
        is_changed = any(thing[:2] == (kind, name) for thing in meant)
        return f"{kind} {name}: {'changed' if is_changed else 'planted'}, not by wheeld"
    if missing := meant - found:
        kind, name, *_ = min(missing, key=repr)
        return f"{kind} {name}: removed"
    return None


def _shape(db: sqlite3.Connection) -> set[tuple[str | None, ...]]:
    return set(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))


@cache
def _meant() -> set[tuple[str | None, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        create(db)
        return _shape(db)
