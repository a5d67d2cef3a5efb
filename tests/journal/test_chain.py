"""The canonical bytes of a record: the same from the values that are stored and from what SQLite gives back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.journal.journals import NOW, open_writer
from wheeld.journal.chain import FIRST_HEAD, RecordKind, Value, canonical, digest_of, follow
from wheeld.journal.verify import verify
from wheeld.ports import CommandRecord

KIND = RecordKind("thing", "things", ("id", "number", "text", "raw"))

INTEGERS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.booleans()
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]))


@given(st.integers(1, 2**63 - 1), INTEGERS, TEXTS, st.none() | st.binary())
def test_what_sqlite_gives_back_has_the_same_digest(
    key: int, number: int | None, text: str | None, raw: bytes | None
) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, number INTEGER, text TEXT, raw BLOB) STRICT")
        values: tuple[Value, ...] = (key, number, text, raw)
        db.execute(KIND.insertion, values)
        stored = db.execute(f"SELECT {KIND.canonical_columns} FROM {KIND.table}").fetchone()
        again = db.execute("SELECT * FROM things").fetchone()
    assert canonical(stored) == canonical(values) == canonical(again)


@given(*[st.lists(TEXTS | INTEGERS | st.binary(), max_size=3)] * 2)
def test_other_columns_have_other_bytes(one: list[Value], other: list[Value]) -> None:
    """But for a number, text and bytes that are written alike: a column has one type."""
    if canonical(one) == canonical(other):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert (a is None) is (b is None)
            assert canonical([a]) == canonical([b])


def test_the_chain_is_what_its_description_says() -> None:
    """Worked out by hand, for people who write another verifier."""
    assert canonical([12, None, "Zoé", b"\x00\xff"]) == b"2:12-4:Zo\xc3\xa92:\x00\xff"
    digest = digest_of([12, None, "Zoé", b"\x00\xff"])
    assert digest.hex() == "4a7df2d794277aadd081b11eb33803d4e3c5b4fc157aa7dc0b1c02cdfcd1f69f"
    first = follow(0, FIRST_HEAD, "command", 12, digest)
    assert (first.n, first.kind, first.ref, first.head.hex()) == (
        1,
        "command",
        12,
        "7a152ce3fecc6bdf989852c3da3f053cdc993b4461556904a2045d973f1beb98",
    )


def test_any_text_in_a_command_verifies(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "wheel.journal")) as journal:
        for n, text in enumerate(("", "\0", "a\0b", "\ufffe", "'; DROP TABLE chain", "é" * 500, "\U0001f3b2")):
            journal.refuse(CommandRecord(id=text + str(n), name=text, by=text, reason=text, details=text), text, NOW)
        assert verify(journal.reader).faults == []
