"""Verify a wheel's journal without the program that wrote it: python3 auditor.py JOURNAL PUBLIC_KEY [N:HEAD]

It uses the standard library, and `cryptography` to check signatures. Read this whole file: you need not trust any other
file. It only reads the journal, also while a daemon uses it. If its medium cannot be written, copy the journal first.
PUBLIC_KEY is the house's Ed25519 key, as PEM or as 32 bytes in base64. N:HEAD is a record's number and head, which
somebody noted elsewhere when the journal was sealed. Only these show whether it was cut back to an earlier seal.

Every record of the journal is a row that never changes. Link n of table `chain` has the row's kind and key, and

    digest = SHA-256(the row's columns, each as <length>:<text or bytes>, NULL as -)
    head   = SHA-256(head of link n-1, "<n> <kind> <key> ", digest)

The first record names the journal's owner: site, table, public key. Each row of `heads` is an Ed25519 signature of a
head, and is also a record. A coup's log may be missing if a record says that it was removed. The SHA-256 of the log is
in the coup's evidence. The feed's messages have a chain of their own (prev, hash), and each a signature of its hash, as
hexadecimal digits. An adoption is a record of feed numbers that this journal lacks. The row of `tail` was signed at the
last change. Its signature covers the last head, what a restart reads (`kept`), and what is owed (`debts`). The exit
code is 0 if the journal is whole, 1 if it has a fault, 2 if it cannot be read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
import sys
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError as missing:
    print("nothing was checked: apt install python3-cryptography", file=sys.stderr)  # noqa: T201
    raise SystemExit(2) from missing

KINDS = {
    "origin": ("origins", "row site table_id public_key at_utc_us"),
    "adoption": ("adoptions", "row first_seq last_seq hash at_utc_us by why"),
    "message": ("messages", "id topic seq retained payload t_us at_utc_us response_topic correlation"),
    "evidence": ("evidence", "coup verdict seq at_utc_us digest packed_digest"),
    "command": ("commands", "row id name by reason details response_topic correlation received_utc_us"),
    "sender": ("senders", "row user"),
    "answer": ("answers", "row answered_utc_us done why"),
    "pruning": ("prunings", "coup at_utc_us why"),
    "seal": ("heads", "n head at_utc_us by why key_id signature"),
    "event": ("events", "row event by why details at_utc_us"),
}
SCHEMA = "688cc58621a9e70dd0dba77260384a38a678ea09e6971954f1e97a3f6bd66336"
"""The SHA-256 of all rows of `sqlite_schema`: a journal has only these tables, indexes, views and triggers."""

MARKS = [0x77686C31, 2]
KEPT = "SELECT name, value FROM kept ORDER BY name"
FOREIGN_COUNTER = (
    "SELECT quote(name) FROM sqlite_sequence GROUP BY name HAVING count(*) > 1 OR name IS NULL"
    " OR name NOT IN ('messages', 'commands', 'events') OR typeof(min(seq)) <> 'integer'"
)
DEBTS = "SELECT CAST(id AS BLOB), CAST(seq AS BLOB), CAST(confirmed AS BLOB) FROM debts"

UNREADABLE = (OSError, ValueError, sqlite3.Error, zlib.error, TypeError, LookupError, ArithmeticError)
"""The errors of a damaged file, or of one that is not a journal: a value is missing, too large, or of a wrong type."""


class Fault(Exception):  # noqa: N818
    """The first difference between the journal and what was written."""


def main(journal: str, public_key: str, noted: str = "") -> str:
    """Verify the journal, and return what was verified. Raises Fault, or one of `UNREADABLE`."""
    lines = Path(public_key).read_text().splitlines()
    raw = base64.b64decode("".join(line for line in lines if "-" not in line))[-32:]  # in PEM, the key comes last
    with closing(sqlite3.connect(Path(journal).absolute().as_uri() + "?mode=ro", uri=True, isolation_level=None)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        size = Path(journal).stat().st_size
        db.execute("BEGIN")  # all reads see one state of the journal, whatever is written meanwhile
        check_file(db, size)
        return Auditor(db, raw, noted).run()


class Auditor:
    """Follows the chain from its first link. `n` and `head` belong to the last good link."""

    def __init__(self, db: sqlite3.Connection, key: bytes, noted: str) -> None:
        self.db, self.key, self.key_id = db, key, hashlib.sha256(key).hexdigest()[:16].encode()
        self.noted_n, self.noted_head = int(noted.partition(":")[0] or 0), noted.partition(":")[2]
        self.n, self.head, self.seq, self.hash, self.sealed, self.tests = 0, bytes(32), 0, "0" * 64, "", 0

    def run(self) -> str:
        """Check the whole journal, and return what was checked. This and every other check raises Fault."""
        if self.db.execute("SELECT public_key FROM origins ORDER BY row").fetchone() != (self.key,):
            raise Fault("record 1: the journal was begun with none of the keys given")
        for n, kind, ref, digest, head in self.db.execute("SELECT n, kind, ref, digest, head FROM chain ORDER BY n"):
            if n != self.n + 1:
                raise Fault(f"record {self.n + 1}: removed, the next one is record {n}")
            if head != hashlib.sha256(self.head + f"{n} {kind} {ref} ".encode() + digest).digest():
                raise Fault(f"record {n}: its link does not follow the one before: edited, moved or inserted")
            self.check_record(f"record {n} ({kind} {ref})", kind, ref, digest)
            self.n, self.head = n, head
        self.check_end()
        written = f"as they were written{f', {self.tests} messages of a BENCH TABLE' if self.tests else ''}"
        return f"{self.n} records {written}, {self.sealed}\nhead of record {self.n}: {self.head.hex()}"

    def check_record(self, where: str, kind: str, ref: int, digest: bytes) -> None:
        """Compare one row with its link in the chain."""
        if kind not in KINDS:
            raise Fault(f"{where}: no such kind")
        table, columns = KINDS[kind][0], KINDS[kind][1].split()
        select = ", ".join(f"CAST({column} AS BLOB)" for column in columns)
        row = self.db.execute(f"SELECT {select} FROM {table} WHERE {columns[0]} = ?", (ref,)).fetchone()  # noqa: S608
        if row is None:
            raise Fault(f"{where}: removed")
        if hashlib.sha256(canonical(row)).digest() != digest:
            raise Fault(f"{where}: edited")
        if (kind == "origin") is not (self.n == 0):
            raise Fault(f"{where}: a journal begins with its origin, and has only one")
        if kind == "message" and row[2] is not None:
            self.check_feed(f"seq {int(row[2])} ({where})", int(row[2]), row[4])
        elif kind == "evidence":
            self.check_log(where, ref, row)
        elif kind == "seal":
            self.check_seal(where, ref, row)
        elif kind == "adoption":
            # An adoption may begin with numbers that stored messages have already: these messages were never published.
            if not 1 <= int(row[1]) <= self.seq + 1 or int(row[2]) < max(int(row[1]), self.seq):
                raise Fault(f"{where}: its numbers do not follow seq {self.seq}")
            self.seq, self.hash = int(row[2]), row[3].decode()

    def check_seal(self, where: str, ref: int, row: tuple[bytes, ...]) -> None:
        """Check a seal: its head must be the head of the record before it, and the key must have signed it."""
        changed = f"a record up to {ref} is not the one that was stored"
        if (ref, row[1]) != (self.n, self.head):
            raise Fault(f"{where}: not what was sealed: {changed}")
        if row[5] != self.key_id:
            raise Fault(f"{where}: sealed by another key, {row[5].decode()}")
        if not self.is_signed(row[6], b"wheeld journal head 1\n" + canonical(row[:6])):
            raise Fault(f"{where}: the signature is false: {changed}")
        at = datetime.fromtimestamp(int(row[2]) // 1_000_000, UTC).isoformat()
        self.sealed = printable(f"sealed up to record {ref}, {at} by {row[3].decode()}, {row[4].decode()}")

    def check_log(self, where: str, coup: int, row: tuple[bytes, ...]) -> None:
        """Check a coup's observations, or the record of their removal."""
        log = self.db.execute("SELECT at_utc_us, bytes, packed FROM logs WHERE coup = ?", (coup,)).fetchone()
        pruned = self.db.execute("SELECT 1 FROM prunings WHERE coup = ?", (coup,)).fetchone() is not None
        if log is None and pruned:
            return
        if log is None or pruned or log[:2] != (int(row[3]), len(log[2])) or hashlib.sha256(log[2]).digest() != row[5]:
            raise Fault(f"{where}: its log was {'removed' if log is None else 'edited'}")
        if hashlib.sha256(zlib.decompress(log[2])).digest() != row[4]:
            raise Fault(f"{where}: its log does not have its digest")

    def check_feed(self, where: str, seq: int, payload: bytes) -> None:
        """Check a message of the feed: its number, its hash, the hash of the message before it, and its signature."""
        closed, _, signature = payload.removesuffix(b'"}').partition(b'","signature":"')
        body = closed[: -len(b',"hash":"' + bytes(64))]
        digest = hashlib.sha256(body).hexdigest()
        if seq != self.seq + 1 or not body.endswith(b',"prev":"%b"' % self.hash.encode()):
            raise Fault(f"{where}: it does not follow seq {self.seq}")
        if closed != body + b',"hash":"%b' % digest.encode() or (said := json.loads(payload))["seq"] != seq:
            raise Fault(f"{where}: its bytes do not have its number and hash: it was edited")
        if not signature:
            raise Fault(f"{where}: its signature is missing")
        if not self.is_signed(base64.b64decode(signature), digest.encode()):
            raise Fault(f"{where}: its signature is not by this journal's key")
        self.seq, self.hash, self.tests = seq, digest, self.tests + (said.get("test") is True)

    def check_end(self) -> None:
        """Check what needs all links: that each row has a record, the noted head, the seals, the tail."""
        noted = self.db.execute("SELECT head FROM chain WHERE n = ?", (self.noted_n,)).fetchone()
        if self.noted_n > self.n:
            raise Fault(f"records {self.n + 1} to {self.noted_n}: cut off at the end")
        if self.noted_n and (noted is None or noted[0].hex() != self.noted_head):
            raise Fault(f"record {self.noted_n}: its head is not the noted one: this or an earlier record was changed")
        for kind, (table, columns) in KINDS.items():
            self.check_rows(kind, table, columns.split()[0])
        foreign = self.db.execute("SELECT min(coup) FROM logs WHERE coup NOT IN (SELECT coup FROM evidence)").fetchone()
        if foreign[0] is not None:
            raise Fault(f"log {foreign[0]}: no evidence belongs to it: inserted")
        if not self.sealed:
            raise Fault("no sealed head: nothing proves that the chain was not rewritten")
        self.check_tail()

    def check_rows(self, kind: str, table: str, key: str) -> None:
        """Check that each row of a table has one record, and that the last rows were not cut off."""
        query = f"SELECT min({key}) FROM {table} WHERE {key} NOT IN (SELECT ref FROM chain WHERE kind = ?)"  # noqa: S608
        if (ref := self.db.execute(query, (kind,)).fetchone()[0]) is not None:
            raise Fault(f"{kind} {ref}: in no record: inserted, or its record was cut off")
        count, last = self.db.execute(f"SELECT count(*), coalesce(max({key}), 0) FROM {table}").fetchone()  # noqa: S608
        links = self.db.execute("SELECT count(*) FROM chain WHERE kind = ?", (kind,)).fetchone()[0]
        if count != links:
            raise Fault(f"{kind}: {count} rows for {links} records")
        given = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        if given and given[0] > last:
            raise Fault(f"{kind} {last + 1} to {given[0]}: cut off at the end")
        if given and given[0] < last:
            raise Fault(f"{kind} {last}: its counter was edited")

    def check_tail(self) -> None:
        """Check that nothing was added, cut off or edited without the key after the last change."""
        if (tail := self.db.execute("SELECT n, head, kept, debts, signature FROM tail").fetchone()) is None:
            raise Fault("tail: removed, nothing shows how the journal was left")
        n, head, kept, debts, signature = tail
        if self.n > n:
            raise Fault(f"records {n + 1} to {self.n}: added by somebody else after the last one that was written")
        if self.n < n:
            raise Fault(f"records {self.n + 1} to {n}: cut off at the end")
        if self.head != head:
            raise Fault(f"record {n}: its head is not the one written last: this or an earlier record was changed")
        values = b"".join(canonical((name.encode(), value)) for name, value in self.db.execute(KEPT))
        if hashlib.sha256(values).digest() != kept:
            raise Fault("kept: what a restart reads (memory, position, settled) was edited")
        total = sum(int.from_bytes(hashlib.shake_256(canonical(debt)).digest(256)) for debt in self.db.execute(DEBTS))
        if (total % (1 << 2048)).to_bytes(256) != debts:
            raise Fault("debts: what is owed was edited")
        if not signature:
            raise Fault("tail: unsigned, and this journal has a key")
        if not self.is_signed(signature, b"wheeld journal tail 1\n" + canonical((b"%d" % n, head, kept, debts))):
            raise Fault("tail: the signature is false: the end of the journal was written without the key")

    def is_signed(self, signature: bytes, data: bytes) -> bool:
        """Return whether the key made this signature of `data`."""
        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(signature, data)
        except InvalidSignature:
            return False
        return True


def check_file(db: sqlite3.Connection, size: int) -> None:
    """Check the file itself: it has only what a journal has, and no page, row or index is damaged."""
    rows = sorted(repr(row) for row in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))
    if hashlib.sha256("\n".join(rows).encode()).hexdigest() != SCHEMA:
        raise Fault("the tables are not those of a journal: something was planted, changed or removed")
    if [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")] != MARKS:
        raise Fault("its marks (application_id, user_version) are not those of a journal of this version")
    pages = db.execute("PRAGMA page_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0]
    if size > pages:
        raise Fault(f"file: {size - pages} bytes behind its last page")
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise Fault(f"file: damaged or edited ({found})")
    if (counter := db.execute(FOREIGN_COUNTER).fetchone()) is not None:
        raise Fault(f"counter {counter[0]}: planted or edited")


def canonical(row: tuple[bytes | None, ...]) -> bytes:
    """Return a row's columns as the bytes of which the digest is made."""
    return b"".join(b"-" if value is None else b"%d:%b" % (len(value), value) for value in row)


def printable(text: object) -> str:
    """Return the text on one line, without characters that control a terminal. A forged journal may contain any."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in str(text))


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))  # noqa: T201
    except Fault as fault:
        sys.exit(f"fault: {printable(fault)}")
    except UNREADABLE as error:
        print(f"cannot be read: {printable(error)}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
