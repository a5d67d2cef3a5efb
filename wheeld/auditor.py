"""Verify a wheel's journal without the program that wrote it: python auditor.py JOURNAL PUBLIC_KEY [N:HEAD]

It uses the standard library, and `cryptography` to check signatures. Read it whole: nothing else has to be trusted.
The journal is opened for reading only, beside a running daemon too (on a medium that cannot be written, copy it first).
PUBLIC_KEY is the house's Ed25519 key, PEM or 32 bytes in base64. N:HEAD is a record's number and head as noted
elsewhere when it was sealed: without it nothing shows that a journal was cut back to an earlier seal.

Every record of the journal is a row that never changes. Link n of table `chain` has the row's kind and key, and

    digest = SHA-256(its columns, each as <length>:<text or bytes>, NULL as -)
    head   = SHA-256(head of link n-1, "<n> <kind> <key> ", digest)

and each row of `heads` is an Ed25519 signature of a head, and itself a record. The log of a coup may be gone if its
removal is a record; its SHA-256 is in the evidence. The feed's payloads have a chain of their own (prev, hash)
and, where a key was configured, a signature of their hash as hexadecimal digits.
Exit code: 0 whole, 1 a fault, which is named; 2 cannot be read.
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

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KINDS = {
    "message": ("messages", "id topic seq retained payload t_us at_utc_us response_topic correlation"),
    "evidence": ("evidence", "coup verdict seq at_utc_us digest"),
    "command": ("commands", "row id name by reason details response_topic correlation received_utc_us"),
    "answer": ("answers", "row answered_utc_us done why"),
    "pruning": ("prunings", "coup at_utc_us why"),
    "seal": ("heads", "n head at_utc_us by why key_id signature"),
}


UNREADABLE = (OSError, ValueError, sqlite3.Error, TypeError, LookupError, ArithmeticError)
"""The errors for a file that is damaged or is no journal: a value of another type, missing, or out of bounds."""


class Fault(Exception):  # noqa: N818
    """The first thing that is not as it was written."""


def main(journal: str, public_key: str, noted: str = "") -> str:
    """Verify the journal; returns what was verified. Raises Fault."""
    lines = Path(public_key).read_text().splitlines()
    raw = base64.b64decode("".join(line for line in lines if "-" not in line))[-32:]  # PEM has a prefix before them
    address = Path(journal).absolute().as_uri() + "?mode=ro"
    with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as db:
        db.execute("BEGIN")  # one state of it, whatever is written meanwhile
        return Auditor(db, raw, noted).run()


class Auditor:
    """Follows the chain from its first link; `n` and `head` are those of the last good link."""

    def __init__(self, db: sqlite3.Connection, key: bytes, noted: str) -> None:
        self.db, self.key = db, key
        self.key_id = hashlib.sha256(key).hexdigest()[:16].encode()
        self.noted_n, self.noted_head = int(noted.partition(":")[0] or 0), noted.partition(":")[2]
        self.n, self.head, self.seq, self.hash, self.sealed = 0, bytes(32), 0, "0" * 64, ""

    def run(self) -> str:
        """Check the whole journal."""
        for n, kind, ref, digest, head in self.db.execute("SELECT n, kind, ref, digest, head FROM chain ORDER BY n"):
            if n != self.n + 1:
                raise Fault(f"record {self.n + 1}: removed, the next one is record {n}")
            if head != hashlib.sha256(self.head + f"{n} {kind} {ref} ".encode() + digest).digest():
                raise Fault(f"record {n}: its link does not follow the one before: edited, moved or inserted")
            if n == self.noted_n and head.hex() != self.noted_head:
                raise Fault(f"record {n}: its head is not the one that was noted: changed here or before")
            self.check_record(f"record {n} ({kind} {ref})", kind, ref, digest)
            self.n, self.head = n, head
        self.check_end()
        return f"{self.n} records as they were written, {self.sealed}\nhead of record {self.n}: {self.head.hex()}"

    def check_record(self, where: str, kind: str, ref: int, digest: bytes) -> None:
        """Check one row against its link."""
        if kind not in KINDS:
            raise Fault(f"{where}: no such kind")
        table, columns = KINDS[kind][0], KINDS[kind][1].split()
        select = ", ".join(f"CAST({column} AS BLOB)" for column in columns)
        row = self.db.execute(f"SELECT {select} FROM {table} WHERE {columns[0]} = ?", (ref,)).fetchone()  # noqa: S608
        if row is None:
            raise Fault(f"{where}: removed")
        if hashlib.sha256(canonical(row)).digest() != digest:
            raise Fault(f"{where}: edited")
        if kind == "message" and row[2] is not None:
            self.check_feed(f"seq {int(row[2])} ({where})", int(row[2]), row[4])
        elif kind == "evidence":
            self.check_log(where, ref, row[4])
        elif kind == "seal":
            self.check_seal(where, ref, row)

    def check_seal(self, where: str, ref: int, row: tuple[bytes, ...]) -> None:
        """Check a signed head: it is of the record before it, and signed by the key."""
        changed = f"a record up to {ref} is not the one that was stored"
        if (ref, row[1]) != (self.n, self.head):
            raise Fault(f"{where}: not what was sealed: {changed}")
        if row[5] != self.key_id:
            raise Fault(f"{where}: sealed by another key, {row[5].decode()}")
        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(row[6], b"wheeld journal head 1\n" + canonical(row[:6]))
        except InvalidSignature:
            raise Fault(f"{where}: the signature is false: {changed}") from None
        at = datetime.fromtimestamp(int(row[2]) // 1_000_000, UTC).isoformat()
        self.sealed = f"sealed up to record {ref}, {at} by {row[3].decode()}, {row[4].decode()}"

    def check_log(self, where: str, coup: int, digest: bytes) -> None:
        """Check a coup's observations, or the record of their removal."""
        log = self.db.execute("SELECT packed FROM logs WHERE coup = ?", (coup,)).fetchone()
        if log is None:
            if self.db.execute("SELECT 1 FROM prunings WHERE coup = ?", (coup,)).fetchone() is None:
                raise Fault(f"{where}: its log was removed")
            return
        try:
            intact = hashlib.sha256(zlib.decompress(log[0])).digest() == digest
        except zlib.error:
            raise Fault(f"{where}: its log is damaged") from None
        if not intact:
            raise Fault(f"{where}: its log was edited")

    def check_feed(self, where: str, seq: int, payload: bytes) -> None:
        """Check a published message: its number, its hash over its own bytes, and the hash of the message before."""
        closed, _, signature = payload.removesuffix(b'"}').partition(b'","signature":"')
        body = closed[: -len(b',"hash":"' + bytes(64))]
        digest = hashlib.sha256(body).hexdigest()
        if seq != self.seq + 1 or not body.endswith(b',"prev":"%b"' % self.hash.encode()):
            raise Fault(f"{where}: it does not follow seq {self.seq}")
        if closed != body + b',"hash":"%b' % digest.encode() or json.loads(payload)["seq"] != seq:
            raise Fault(f"{where}: its bytes do not have its number and hash: it was edited")
        try:
            if signature:
                Ed25519PublicKey.from_public_bytes(self.key).verify(base64.b64decode(signature), digest.encode())
        except InvalidSignature:
            raise Fault(f"{where}: its signature is not by this key") from None
        self.seq, self.hash = seq, digest

    def check_end(self) -> None:
        """Check for rows that no link holds, for keys that were given and are gone, and for at least one seal."""
        for kind, (table, columns) in KINDS.items():
            key = columns.split()[0]
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
        if self.noted_n > self.n:
            raise Fault(f"records {self.n + 1} to {self.noted_n}: cut off at the end")
        if not self.sealed:
            raise Fault("no sealed head: nothing proves that the chain was not written anew")


def canonical(row: tuple[bytes | None, ...]) -> bytes:
    """A row's columns as the digest covers them."""
    return b"".join(b"-" if value is None else b"%d:%b" % (len(value), value) for value in row)


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))  # noqa: T201
    except Fault as fault:
        sys.exit(f"fault: {fault}")
    except UNREADABLE as error:
        print(f"cannot be read: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
