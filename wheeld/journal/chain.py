"""The chain of hashes over every record of the journal: what a record is, its canonical bytes, and how links are made.

A record is one row of one of the tables below, written once. Each record has a link. A link has a number `n` (1, 2, 3,
…), the record's kind and key, the record's digest, and `head`, which depends on all records up to this one:

    digest = SHA-256(columns in the order below, each as a netstring: <bytes>:<the value as text or bytes>, NULL as -)
    head   = SHA-256(head of n-1, then "<n> <kind> <key> " in ASCII, then digest); the head of 0 is 32 zero bytes

The digest is stored apart from the head. So the chain can still be followed if a record was removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

Value: TypeAlias = int | str | bytes | None

FIRST_HEAD = bytes(32)
"""The head of a chain that has no link yet."""

SEAL_MARK = b"wheeld journal head 1\n"
"""The signed bytes of a seal begin with this. So nothing else that is signed with the key can pass as a seal."""

TAIL_MARK = b"wheeld journal tail 1\n"
"""The signed bytes of the tail begin with this."""

SUM_BYTES = 256
"""The size of the sum over the debts. Nobody must be able to find another set of debts with the same sum: with 2,048
bits, this takes about 2^90 steps (Wagner's generalised birthday attack)."""


@dataclass(frozen=True)
class RecordKind:
    """One kind of record: its table, and the columns that the digest covers. The first column is the key."""

    name: str
    table: str
    columns: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name of the table's INTEGER PRIMARY KEY. A link stores the key's value as `ref`."""
        return self.columns[0]

    @cached_property
    def insertion(self) -> str:
        """The statement that stores a record of this kind."""
        return f"INSERT INTO {self.table} ({', '.join(self.columns)}) VALUES ({', '.join('?' * len(self.columns))})"  # noqa: S608

    @cached_property
    def canonical_columns(self) -> str:
        """The columns for a SELECT that returns each of them as bytes, even damaged text, so that `canonical` can take
        them."""
        return ", ".join(f"CAST({self.table}.{column} AS BLOB)" for column in self.columns)


ORIGIN = RecordKind("origin", "origins", ("row", "site", "table_id", "public_key", "at_utc_us"))
ADOPTION = RecordKind("adoption", "adoptions", ("row", "first_seq", "last_seq", "hash", "at_utc_us", "by", "why"))
MESSAGE = RecordKind(
    "message",
    "messages",
    ("id", "topic", "seq", "retained", "payload", "t_us", "at_utc_us", "response_topic", "correlation"),
)
EVIDENCE = RecordKind("evidence", "evidence", ("coup", "verdict", "seq", "at_utc_us", "digest", "packed_digest"))
COMMAND = RecordKind(
    "command",
    "commands",
    ("row", "id", "name", "by", "reason", "details", "response_topic", "correlation", "received_utc_us"),
)
SENDER = RecordKind("sender", "senders", ("row", "user"))
ANSWER = RecordKind("answer", "answers", ("row", "answered_utc_us", "done", "why"))
PRUNING = RecordKind("pruning", "prunings", ("coup", "at_utc_us", "why"))
SEAL = RecordKind("seal", "heads", ("n", "head", "at_utc_us", "by", "why", "key_id", "signature"))
EVENT = RecordKind("event", "events", ("row", "event", "by", "why", "details", "at_utc_us"))
KINDS = {
    kind.name: kind for kind in (ORIGIN, ADOPTION, MESSAGE, EVIDENCE, COMMAND, SENDER, ANSWER, PRUNING, SEAL, EVENT)
}


class Link(NamedTuple):
    """One link of the chain, with the kind and the key of its record."""

    n: int
    kind: str
    ref: int
    digest: bytes
    head: bytes

    def __str__(self) -> str:
        return f"record {self.n} ({self.kind} {self.ref})"


def canonical(values: Iterable[Value]) -> bytes:
    """Return a record's columns as bytes, in the form that the digest and the signature cover."""
    raws: list[bytes] = []
    for value in values:
        if value is None:
            raws.append(b"-")
            continue
        raw = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else b"%d" % value
        raws.append(b"%d:%b" % (len(raw), raw))
    return b"".join(raws)


def follow(n: int, head: bytes, kind: str, ref: int, digest: bytes) -> Link:
    """Return the link that follows link number `n`, whose head is `head`."""
    return Link(n + 1, kind, ref, digest, head_of(n + 1, head, kind, ref, digest))


def head_of(n: int, before: bytes, kind: str, ref: int, digest: bytes) -> bytes:
    """Return the head of link number `n`. `before`: the head of the link before it."""
    return hashlib.sha256(b"%b%d %b %d %b" % (before, n, kind.encode(), ref, digest)).digest()


def digest_of(values: Sequence[Value]) -> bytes:
    """Return the digest of a record."""
    return hashlib.sha256(canonical(values)).digest()


def seal_bytes(columns: Iterable[Value]) -> bytes:
    """Return what the signature of a seal covers: the seal's other columns (n, head, at_utc_us, by, why, key_id)."""
    return SEAL_MARK + canonical(columns)


def tail_bytes(n: int, head: bytes, kept: bytes, debts: bytes) -> bytes:
    """Return what the signature of the tail covers: the tail's other columns."""
    return TAIL_MARK + canonical((n, head, kept, debts))


def debt_term(debt: Sequence[Value]) -> int:
    """Return the number that one debt (id, seq, confirmed) adds to the sum over all debts."""
    return int.from_bytes(hashlib.shake_256(canonical(debt)).digest(SUM_BYTES), "big")


def debt_sum(total: int) -> bytes:
    """Return the sum over the debts as the tail stores it."""
    return (total % (1 << 8 * SUM_BYTES)).to_bytes(SUM_BYTES, "big")
