"""Journals with everything in them, and what someone with the file in hand and no key can do to them."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ed25519

from tests.broker.feed import Feed
from wheeld.core.step import CoupLog, Reply
from wheeld.journal.chain import FIRST_HEAD, KINDS, canonical, debt_sum, debt_term, digest_of, follow, tail_bytes
from wheeld.journal.database import Database
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import Signer, StoredSeal
from wheeld.journal.seal import FileSigner, key_id
from wheeld.journal.writer import JournalWriter
from wheeld.ports import CommandRecord, EventRecord

NOW = 1_700_000_000_000_000
OWNER = Owner("testsite", "table-1")
DAY_US = 86_400_000_000


class RawSigner:
    """A private key from its 32 bytes."""

    def __init__(self, raw: bytes) -> None:
        self._key = ed25519.Ed25519PrivateKey.from_private_bytes(raw)
        self.public_key = self._key.public_key().public_bytes_raw()
        self.key_id = key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)


def open_writer(path: Path, *, signer: Signer | None = None, owner: Owner = OWNER) -> JournalWriter:
    """The journal in this file, new or not, to be written."""
    return open_to_write(path, owner=owner, signer=signer, at_utc_us=NOW)


def open_reader(path: Path) -> JournalReader:
    """The journal in this file, to be read beside whatever writes it."""
    return JournalReader(Database(path, read_only=True))


def write_keys(directory: Path, name: str = "wheel", seed: int = 7) -> tuple[Path, Path]:
    """A private and a public key file, 32 bytes in base64 each."""
    raw = bytes([seed]) * 32
    public = ed25519.Ed25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()
    private_file, public_file = directory / f"{name}.key", directory / f"{name}.pub"
    private_file.write_text(base64.b64encode(raw).decode() + "\n")
    private_file.chmod(0o600)  # a daemon refuses a key that others may read
    public_file.write_text(base64.b64encode(public).decode() + "\n")
    return private_file, public_file


def write_journal(path: Path, key: Path) -> list[StoredSeal]:
    """Nine coups with evidence (two pruned), commands, events, three seals, and some records after the last one."""
    feed, seals = Feed(), []
    with closing(open_writer(path, signer=FileSigner(key))) as journal:
        for coup in range(1, 10):
            at_utc_us = NOW + coup * DAY_US
            asked = CommandRecord(id=f"c{coup}", name="open", by="Zoé", reason="time", response_topic="desk")
            journal.receive(asked, at_utc_us)
            journal.append(feed.step("notice", "table"), at_utc_us)
            journal.answer(Reply(coup, f"c{coup}", "open", "Zoé", done=True), at_utc_us)
            log = b'{"t":%d}\n' % coup * 20
            journal.append(feed.step("result", "board", evidence=CoupLog(coup, "result", log)), at_utc_us)
            journal.note(EventRecord(event="inspection", by="Zoé", why="weekly", details={"level": "ok"}), at_utc_us)
            if coup % 3 == 2:
                sealed = journal.seal(by="Zoé", why="shift change", at_utc_us=at_utc_us)
                assert sealed is not None
                seals.append(sealed)
            if coup == 4:
                journal.mark_sent([message.id for message in journal.reader.owed(0, 100)], await_settlement=False)
                assert journal.prune(at_utc_us, max_age_s=1.5 * 86_400) == 2
    return seals


def edit(path: Path, *statements: str) -> None:
    """What someone with sqlite3 and no good intention would do."""
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as anybody's SQLite opens it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        yield db
        db.execute("COMMIT")


def bind_anew(db: sqlite3.Connection, signer: Signer | None = None) -> None:
    """The tail as if what is stored now had been left so; without a `signer` its signature stays what it was."""
    n, head = db.execute("SELECT n, head FROM chain ORDER BY n DESC LIMIT 1").fetchone()
    kept = canonical(value for row in db.execute("SELECT name, value FROM kept ORDER BY name") for value in row)
    debts = debt_sum(sum(map(debt_term, db.execute("SELECT * FROM debts"))))
    columns = (n, head, hashlib.sha256(kept).digest(), debts)
    db.execute("UPDATE tail SET n = ?, head = ?, kept = ?, debts = ?", columns)
    if signer is not None:
        db.execute("UPDATE tail SET signature = ?", (signer.sign(tail_bytes(*columns)),))


def chain_anew(db: sqlite3.Connection) -> None:
    """Digests, numbers and heads of all links as if what is stored now had always been so; signatures stay."""
    links = db.execute("SELECT kind, ref FROM chain ORDER BY n").fetchall()
    db.execute("DELETE FROM chain")
    n, head = 0, FIRST_HEAD
    for name, ref in links:
        kind = KINDS[name]
        query = f"SELECT {', '.join(kind.columns)} FROM {kind.table} WHERE {kind.key} = ?"
        link = follow(n, head, name, ref, digest_of(db.execute(query, (ref,)).fetchone()))
        db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", link)
        n, head = link.n, link.head
