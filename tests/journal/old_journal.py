"""A journal of a version that never was: version 0, without a chain, and the step that makes version 1 of it.

Nothing older than version 1 was ever released, so the tests of migrations make their own past.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.broker.feed import Feed
from tests.journal.journals import RawSigner, bind_anew, open_writer
from wheeld.core.step import CoupLog
from wheeld.journal import schema
from wheeld.journal.chain import ANSWER, COMMAND, EVIDENCE, FIRST_HEAD, MESSAGE, ORIGIN, digest_of, follow
from wheeld.journal.rows import Signer
from wheeld.ports import CommandRecord

NOW = 1_700_000_000_000_000
COUPS = 30
SIGNER = RawSigner(bytes([7]) * 32)
"""The key of `write_keys`."""
RECORDS = 6 * COUPS
"""The origin; three messages, a command, its answer and evidence for each coup; the last command is not answered."""
SETTLED = 3 * (COUPS - 2)
"""Messages up to this id are settled, those after it are owed."""


def write_version_0(path: Path, signer: Signer | None = None) -> Feed:
    """Coups with evidence and commands, in a file as a wheeld with schema 0 would have left it."""
    feed = Feed()
    with closing(open_writer(path, signer=signer)) as journal:
        for coup in range(1, COUPS + 1):
            journal.receive(CommandRecord(id=f"c{coup}", name="open", by="Anna", reason="time"), NOW)
            journal.append(feed.step("notice", "result", "table", evidence=CoupLog(coup, "result", log_of(coup))), NOW)
        journal.append(feed.step(memory=b"m"), NOW)
        journal.mark_sent(range(1, SETTLED + 1), await_settlement=False)
    with closing(sqlite3.connect(path)) as db, db:
        answers = [(row, NOW + 1, 1, "") for row in range(1, COUPS)]
        db.executemany("INSERT INTO answers VALUES (?, ?, ?, ?)", answers)
        db.execute("DROP TABLE chain")
        for table in ("senders", "events"):
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA user_version = 0")
    return feed


def log_of(coup: int) -> bytes:
    """The observations of one coup."""
    return b"log %d" % coup


def from_0(db: sqlite3.Connection) -> None:
    """Make the chain over all records, kind after kind, and bind it: with the key, where the journal has one."""
    db.execute(next(statement for statement in schema.TABLES.split(";") if "TABLE chain" in statement))
    n, head = 0, FIRST_HEAD
    for kind in (ORIGIN, MESSAGE, COMMAND, ANSWER, EVIDENCE):
        for record in db.execute(f"SELECT {', '.join(kind.columns)} FROM {kind.table} ORDER BY {kind.key}"):
            link = follow(n, head, kind.name, record[0], digest_of(record))
            db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", link)
            n, head = link.n, link.head
    (key,) = db.execute("SELECT public_key FROM origins").fetchone()
    bind_anew(db, None if key is None else SIGNER)
