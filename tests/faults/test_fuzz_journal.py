"""Damaged journals: `wheeld journal` and the auditor report it, or no record has changed."""

from __future__ import annotations

import random
import signal
import sqlite3
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.faults.fuzz_mutate import kept
from tests.journal.journals import write_journal, write_keys
from wheeld import auditor
from wheeld.cli.main import main
from wheeld.exits import Exit
from wheeld.journal.chain import KINDS

WITHIN_S = 10
"""No damage may make the reading of a small file slow or endless."""
PAGE_BYTES = 4096
TABLES = {
    kind.table: f"SELECT {kind.canonical_columns} FROM {kind.table} ORDER BY {kind.key}" for kind in KINDS.values()
}
TABLES["logs"] = "SELECT coup, CAST(packed AS BLOB) FROM logs ORDER BY coup"
TABLES["chain"] = "SELECT n, CAST(kind AS BLOB), ref, CAST(digest AS BLOB), CAST(head AS BLOB) FROM chain ORDER BY n"
Content = dict[str, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    """A sealed journal of every kind of record, as bytes, and the key that it is verified with."""
    directory = tmp_path_factory.mktemp("house")
    private, public = write_keys(directory)
    write_journal(directory / "whole", private)
    return (directory / "whole").read_bytes(), public


def test_a_damaged_journal_is_found_or_its_records_are_whole(
    house: tuple[bytes, Path],
    tmp_path: Path,
    how_many: Callable[[str], int],
    seed: str,
    counted: Callable[[str], None],
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    whole, public = house
    path = tmp_path / "journal"
    path.write_bytes(whole)
    records = _content(path)
    outcomes: Counter[str] = Counter()
    for draw in _draws(seed, how_many("damaged journals")):
        name, damaged = _damage(random.Random(draw), whole)
        path.write_bytes(damaged)
        try:
            with _within():
                outcomes[f"{name}: {_outcome(path, public, records)}"] += 1
        except BaseException as error:
            error.add_note(f"{draw}: {name}")
            raise
        printed = capsysbinary.readouterr()
        assert b"Traceback" not in printed.err + printed.out
    counted(f"{outcomes.total():,} damaged journals: {dict(sorted(outcomes.items()))}, 0 passed with another content")
    assert any("found" in outcome for outcome in outcomes)
    assert any("harmless" in outcome for outcome in outcomes)


def _draws(seed: str, count: int) -> Iterator[str]:
    """The seeds that once found a defect, then `count` new ones. The journal has the same bytes in every run."""
    yield from kept("journal")["found"].decode().split()
    for number in range(count):
        yield f"journal {seed}/{number}"


def _outcome(path: Path, public: Path, records: Content) -> str:
    """If one of the two reports it whole, its records are whole. Both commands end with a message and an exit code."""
    code = main(["journal", "verify", str(path), "--public-key", str(public)])
    assert code in (Exit.OK, Exit.BAD_DATA, Exit.IO_FAILED), code
    audited = _audited(path, public)
    if code == Exit.OK or audited == "whole":
        assert _content(path) == records, f"verify {code}, auditor {audited}: another content passed"
    for part in (["show"], ["show", "--jsonl"], ["export", "--coup", "7"]):
        code_of_part = main(["journal", part[0], str(path), *part[1:]])
        assert code_of_part in (Exit.OK, Exit.BAD_DATA, Exit.IO_FAILED, Exit.NO_INPUT), (part, code_of_part)
    return f"{'harmless' if code == Exit.OK else 'found'}, by the auditor {audited}"


def _audited(path: Path, public: Path) -> str:
    """What the auditor reports; its command ends with 0 for whole, 1 for a fault, 2 for a file that it cannot read."""
    try:
        auditor.main(str(path), str(public))
    except (auditor.Fault, *auditor.UNREADABLE):
        return "found"
    return "whole"


def _content(path: Path) -> Content:
    """Every record, log and link, as SQLite reads them."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return {table: db.execute(query).fetchall() for table, query in TABLES.items()}


def _damage(rng: random.Random, whole: bytes) -> tuple[str, bytes]:
    """One kind of damage by a disk or by a person; returns its name and the damaged file."""
    data = bytearray(whole)
    way = rng.choice(("bit", "bit", "bit", "bytes", "page lost", "page of another", "cut", "header"))
    pages = len(data) // PAGE_BYTES
    if way == "bit":
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == "bytes":
        at, size = rng.randrange(len(data)), rng.choice((2, 8, 64))
        data[at : at + size] = rng.randbytes(size)[: len(data) - at]
    elif way == "page lost":
        at = rng.randrange(pages) * PAGE_BYTES
        data[at : at + PAGE_BYTES] = bytes(PAGE_BYTES)
    elif way == "page of another":
        here, there = (rng.randrange(pages) * PAGE_BYTES for _ in range(2))
        data[here : here + PAGE_BYTES] = whole[there : there + PAGE_BYTES]
    elif way == "cut":
        del data[rng.randrange(len(data)) :]
    else:
        # Page headers and cell pointers: few bytes, on which SQLite depends.
        data[rng.randrange(pages) * PAGE_BYTES + rng.randrange(100)] = rng.randrange(256)
    return way, bytes(data)


@contextmanager
def _within() -> Iterator[None]:
    def late(*_: int | types.FrameType | None) -> None:
        raise TimeoutError(f"not done within {WITHIN_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(WITHIN_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
