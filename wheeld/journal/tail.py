"""The tail: one row that binds the data outside the chain to the head of the chain. Each transaction writes it again,
and signs it if there is a key. Then nobody without the key can add a record, or change what a restart reads or what is
owed, not even between two seals.

The tail contains the digest of what a restart reads. The debts may be a year of messages, so the tail contains a sum
with one term for each debt. To add or remove a term takes the same short time, however many debts there are. SQLite
itself reports each changed debt, through temporary triggers of this connection. So no statement can change a debt
without the sum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from wheeld.journal.chain import Value, canonical, debt_sum, debt_term, tail_bytes
from wheeld.journal.database import Database
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import Signer
from wheeld.journal.seal import Check

_OLD, _NEW = (
    f"SELECT debt_changed({sign}, {row}.id, {row}.seq, {row}.confirmed);" for sign, row in ((-1, "old"), (1, "new"))
)
_WATCH: Final = (
    "PRAGMA temp_store = MEMORY",
    "PRAGMA recursive_triggers = ON",  # otherwise `debt_goes` does not see a row that REPLACE removes
    f"CREATE TEMP TRIGGER debt_comes AFTER INSERT ON main.debts BEGIN {_NEW} END",
    f"CREATE TEMP TRIGGER debt_goes AFTER DELETE ON main.debts BEGIN {_OLD} END",
    f"CREATE TEMP TRIGGER debt_moves AFTER UPDATE ON main.debts BEGIN {_OLD} {_NEW} END",
    *(
        f"CREATE TEMP TRIGGER kept_{event.lower()} AFTER {event} ON main.kept BEGIN SELECT kept_changed(); END"
        for event in ("INSERT", "UPDATE", "DELETE")
    ),
)


class Tail:
    """Writes the tail of an open `database` with each transaction. The stored tail must have been verified before."""

    def __init__(self, database: Database, signer: Signer | None) -> None:
        self._database = database
        self._reader = JournalReader(database)
        self._signer = signer
        self._tip: tuple[int, bytes] | None = None
        self._kept: bytes | None = None
        self._sum: int | None = None
        self._is_changed = False
        database.tell("debt_changed", self._debt_changed)
        database.tell("kept_changed", self._kept_changed)
        for statement in _WATCH:
            database.execute(statement)
        database.bound = self

    def begin(self) -> None:
        """Read the stored sum over the debts, unless it is known already."""
        if self._sum is None:
            stored = self._reader.tail()
            self._sum = 0 if stored is None else int.from_bytes(stored.debts, "big")

    def write(self) -> None:
        """Store the tail if anything that it binds has changed."""
        tip = self._database.tip()
        if not self._is_changed and tip == self._tip:
            return
        if self._kept is None:
            self._kept = kept_digest(self._reader)
        columns = (*tip, self._kept, debt_sum(self._sum or 0))
        signature = None if self._signer is None else self._signer.sign(tail_bytes(*columns))
        self._database.execute("INSERT OR REPLACE INTO tail VALUES (1, ?, ?, ?, ?, ?)", *columns, signature)
        self._tip, self._is_changed = tip, False

    def forget(self) -> None:
        """Drop what was noted during a transaction, because it was rolled back."""
        self._tip = self._kept = self._sum = None
        self._is_changed = False

    def _debt_changed(self, sign: int, *debt: Value) -> None:
        assert self._sum is not None, "debts change only in transactions"
        self._sum += sign * debt_term(debt)
        self._is_changed = True

    def _kept_changed(self) -> None:
        self._kept = None
        self._is_changed = True


def kept_digest(reader: JournalReader) -> bytes:
    """Return the digest of all that a restart reads (the table `kept`)."""
    return hashlib.sha256(canonical(value for row in reader.kept() for value in row)).digest()


def tail_faults(reader: JournalReader, check: Check | None, *, is_keyed: bool) -> Iterator[str]:
    """Yield what is wrong with the tail, the worst fault first. `is_keyed`: whether the journal was begun with a key.
    `check` checks signatures of that key. It is None without a key, or without the library for it."""
    stored = reader.tail()
    if stored is None:
        yield "tail: removed, nothing shows how the journal was left"
        return
    n, head = reader.database.tip()
    if n > stored.n:
        yield f"records {stored.n + 1} to {n}: added by somebody else after the last one that was written"
    elif n < stored.n:
        yield f"records {n + 1} to {stored.n}: cut off at the end"
    elif head != stored.head:
        yield f"record {n}: its head is not the one written last: this or an earlier record was changed"
    if kept_digest(reader) != stored.kept:
        yield "kept: what a restart reads (memory, position, settled) was edited"
    if debt_sum(sum(map(debt_term, reader.debts()))) != stored.debts:
        yield "debts: what is owed was edited"
    if (stored.signature is not None) is not is_keyed:
        yield "tail: unsigned, and this journal has a key" if is_keyed else "tail: signed, and this journal has no key"
    elif check is not None and not check(
        stored.signature or b"", tail_bytes(stored.n, stored.head, stored.kept, stored.debts)
    ):
        yield "tail: the signature is false: the end of the journal was written without the key"
