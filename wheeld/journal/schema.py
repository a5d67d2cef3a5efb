"""The journal's tables, and how a file of an earlier version becomes one of this version.

`messages`, `evidence`, `commands`, `answers`, `prunings` and `heads` are written once and never changed: each row is
a record with a link in `chain`. The rest is no record: `debts` (what the broker or the settlement core does not have
yet), `logs` (the evidence itself, until retention takes it) and `kept` (what a restart needs).
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib

from wheeld.journal.chain import ANSWER, COMMAND, EVIDENCE, FIRST_HEAD, MESSAGE, digest_of, follow

SCHEMA_VERSION = 2
APPLICATION_ID = 0x77686C31
"""Marks the file as ours ("whl1"), so that another program's database is refused rather than written to."""

_MESSAGES = """
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
"""
_COMMANDS = """
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
CREATE TABLE kept (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
"""
_SINCE_2 = """
CREATE TABLE debts (id INTEGER PRIMARY KEY, seq INTEGER, confirmed INTEGER NOT NULL) STRICT;
CREATE INDEX debts_seq ON debts (seq) WHERE seq IS NOT NULL;
CREATE TABLE evidence (
    coup INTEGER PRIMARY KEY,
    verdict TEXT NOT NULL,
    seq INTEGER,
    at_utc_us INTEGER NOT NULL,
    digest BLOB NOT NULL
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
CREATE TABLE chain (
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    ref INTEGER NOT NULL,
    digest BLOB NOT NULL,
    head BLOB NOT NULL
) STRICT;
"""


def create(db: sqlite3.Connection) -> None:
    """The tables of a new journal, and what marks it as one."""
    _run(db, _MESSAGES + _COMMANDS + _SINCE_2)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a journal of an earlier `version` to this one, inside the caller's transaction.

    Raises zlib.error when an old log is damaged: what cannot be read cannot be sworn to.
    """
    if version == 1:
        _from_1(db)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _from_1(db: sqlite3.Connection) -> None:
    """Version 1 kept debts and answers in the records themselves, and chained only the feed.

    What was not chained when it was written is chained now, kind after kind: from here on it cannot be changed unseen.
    """
    _run(db, "DROP INDEX messages_owed; ALTER TABLE evidence RENAME TO old_evidence;" + _SINCE_2)
    db.execute("INSERT INTO debts SELECT id, seq, state FROM messages WHERE state < 2")
    db.execute("INSERT INTO answers SELECT row, answered_utc_us, done, why FROM commands WHERE done IS NOT NULL")
    for column in ("done", "why", "answered_utc_us"):
        db.execute(f"ALTER TABLE commands DROP COLUMN {column}")
    db.execute("ALTER TABLE messages DROP COLUMN state")
    for coup, verdict, seq, at_utc_us, packed in db.execute("SELECT * FROM old_evidence ORDER BY coup"):
        digest = hashlib.sha256(zlib.decompress(packed)).digest()
        db.execute("INSERT INTO evidence VALUES (?, ?, ?, ?, ?)", (coup, verdict, seq, at_utc_us, digest))
        db.execute("INSERT INTO logs VALUES (?, ?, ?, ?)", (coup, at_utc_us, len(packed), packed))
    db.execute("DROP TABLE old_evidence")
    _chain_everything(db)


def _chain_everything(db: sqlite3.Connection) -> None:
    n, head = 0, FIRST_HEAD
    for kind in (MESSAGE, COMMAND, ANSWER, EVIDENCE):
        for record in db.execute(f"SELECT {', '.join(kind.columns)} FROM {kind.table} ORDER BY {kind.key}"):  # noqa: S608
            link = follow(n, head, kind.name, record[0], digest_of(record))
            db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", link)
            n, head = link.n, link.head


def _run(db: sqlite3.Connection, statements: str) -> None:
    """Several statements inside the caller's transaction: `executescript` would end it."""
    for statement in statements.split(";"):
        db.execute(statement)
