"""What has to be true of a journal that was opened again after the power, the disk or the process failed.

Two things are checked. Its content is exactly that after the last confirmed operation, or after the one that was under
way, or after an earlier one where all since then may wait for a later one. And, independently of that, every message of
a confirmed operation is there with its bytes, in order, and nothing is marked sent that was not published.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from tests.faults.disk_script import JOURNAL, PROCESS_CALLS, Script, perform
from tests.faults.disk_shim import Call
from tests.journal.journals import open_writer
from wheeld import auditor
from wheeld.core.messages.chain import ChainError, unsigned
from wheeld.core.step import Message
from wheeld.journal.rows import JournalError, StoredMessage
from wheeld.journal.seal import FileSigner, public_key
from wheeld.journal.verify import verify
from wheeld.journal.writer import JournalWriter

ALL = 1_000_000  # more than any script stores
LOST = "lost"
"""The first word of a problem when something confirmed is not there."""


@dataclass
class Reference:
    """What the journal has to hold: the content after each operation of a script, and the keys."""

    script: Script
    contents: list[bytes]
    key: Path
    public: Path
    sound: set[bytes] = field(default_factory=set)
    """Contents that the verifier and the auditor have found whole; each is verified once."""

    @cached_property
    def messages(self) -> list[list[Message]]:
        """All messages stored up to each operation, without answers to commands."""
        stored, found = list(self.script.messages), []
        for op in self.script.ops:
            stored = [*stored, *op.messages]
            found.append(stored)
        return found

    @cached_property
    def memories(self) -> list[bytes | None]:
        """The stored memory after each operation."""
        last: bytes | None = b"m" if self.script.file else None
        found = []
        for op in self.script.ops:
            last = last if op.step is None or op.step.memory is None else op.step.memory
            found.append(last)
        return found


@dataclass
class Progress:
    """The marks of a log up to some moment: the last confirmed operation (-1: none), and what was published."""

    confirmed: int = -1
    published: set[int] = field(default_factory=set)

    def take(self, call: Call) -> None:
        """Read one mark."""
        mark = call.mark_values()
        if isinstance(k := mark.get("confirmed"), int):
            self.confirmed = k
        if isinstance(ids := mark.get("published"), list):
            self.published |= set(ids)


def content_of(journal: JournalWriter) -> bytes:
    """A digest of everything that the journal holds, row by row."""
    digest = hashlib.sha256()
    db = journal.database._db
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    for table in tables:
        digest.update(table.encode())
        for row in db.execute(f"SELECT * FROM {table} ORDER BY 1"):
            digest.update(repr(row).encode())
    return digest.digest()


def check(directory: Path, reference: Reference, progress: Progress) -> list[str]:
    """Open the journal in `directory` as the daemon does. Returns what is wrong with it; empty when nothing is."""
    path = directory / JOURNAL
    try:
        journal = open_writer(path, signer=FileSigner(reference.key))
    except JournalError as error:
        return [f"{LOST}: cannot be opened ({error})"]
    try:
        content = content_of(journal)
        wrong = [*_wrong(journal, content, reference, progress), *_broken(journal, content, reference)]
        return wrong or _wrong_next(journal, content, reference, progress)
    except (JournalError, sqlite3.Error, msgspec.MsgspecError, ChainError) as error:
        return [f"{LOST}: cannot be read ({error})"]
    finally:
        journal.close()


def _wrong(journal: JournalWriter, content: bytes, reference: Reference, progress: Progress) -> list[str]:
    last, coming = max(progress.confirmed, 0), min(progress.confirmed + 1, len(reference.contents) - 1)
    wrong = []
    durable = reference.script.durable(last)
    if content not in {*reference.contents[durable : last + 1], reference.contents[coming]}:
        what = LOST if content in reference.contents[:last] else "half"
        wrong.append(f"{what}: neither the content after operation {progress.confirmed} nor after the next")
    records = journal.reader.records(0, ALL)
    first = -1 if progress.confirmed < 0 else last
    wrong += _wrong_messages(records, reference, first, coming)
    owed = {message.id for message in journal.reader.owed(0, ALL)}
    unsent = {record.id for record in records} - owed - progress.published - set(range(reference.script.settled_id + 1))
    if unsent:
        wrong.append(f"{LOST}: never published and not owed: {sorted(unsent)}")
    if (
        journal.reader.memory() not in {reference.memories[last], reference.memories[coming]}
        and progress.confirmed >= 0
    ):
        wrong.append(f"{LOST}: the memory is an older one")
    return wrong


def _wrong_messages(records: Sequence[StoredMessage], reference: Reference, last: int, coming: int) -> list[str]:
    """Every message of the confirmed operations is there; of the operation under way all or none."""
    stored = [(r.topic, r.seq, unsigned(r.payload) if r.seq else r.payload) for r in records if r.topic != "reply"]
    before = reference.messages[last] if last >= 0 else reference.script.messages
    confirmed, possible = ([(m.topic, m.seq, m.payload) for m in some] for some in (before, reference.messages[coming]))
    wrong = []
    if stored not in (confirmed, possible):
        missing = [seq or topic for topic, seq, payload in confirmed if (topic, seq, payload) not in stored]
        wrong.append(f"{LOST}: {missing}" if missing else "half: messages that are not those of whole operations")
    seqs = [seq for _, seq, _ in stored if seq is not None]
    if seqs != list(range(1, len(seqs) + 1)):
        wrong.append(f"half: gaps or doubles in seq: {seqs}")
    return wrong


def _broken(journal: JournalWriter, content: bytes, reference: Reference) -> list[str]:
    """What SQLite, the verifier and the auditor find in the file."""
    wrong = [f"half: {row[0]}" for row in journal.database._db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    if wrong or content in reference.sound:
        return wrong
    key_id, is_by = public_key(reference.public)
    sealed = journal.database._db.execute("SELECT count(*) FROM heads").fetchone()[0] > 0
    wrong += [
        f"half: {fault}"
        for fault in verify(journal.reader, {key_id: is_by} if sealed else None, each_signature=True).faults
    ]
    try:
        auditor.main(str(journal.database.path), str(reference.public))
    except auditor.Fault as fault:
        if sealed or "no sealed head" not in str(fault):
            wrong.append(f"half: {fault}")
    if not wrong:
        reference.sound.add(content)
    return wrong


def _wrong_next(journal: JournalWriter, content: bytes, reference: Reference, progress: Progress) -> list[str]:
    """The next operation leaves the same content as without the failure."""
    k = max(progress.confirmed, 0)
    if progress.confirmed >= 0 and k + 1 < len(reference.contents) and content == reference.contents[k + 1]:
        k += 1
    if k + 1 == len(reference.contents) or (op := reference.script.ops[k + 1]).call in PROCESS_CALLS:
        return []
    if content not in reference.contents[k : k + 2]:  # some that waited are lost
        return []
    perform(journal, op)
    journal.database.write_out()
    return [] if content_of(journal) == reference.contents[k + 1] else [f"half: operation {k + 1} differs"]
