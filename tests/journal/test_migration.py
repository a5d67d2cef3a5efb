"""A journal of schema 1 becomes one of schema 2, whole, or stays as it was."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from wheeld.cli.main import main
from wheeld.core.step import CoupLog, Reply
from wheeld.exits import Exit
from wheeld.journal import chain as journal_chain
from wheeld.journal import schema as journal_schema
from wheeld.journal.rows import CommandRecord, JournalError, Receipt, State
from wheeld.journal.verify import verify
from wheeld.journal.writer import JournalFile

NOW = 1_700_000_000_000_000

# As version 0.1.0 made it.
SCHEMA_1 = """
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    seq INTEGER UNIQUE,
    retained INTEGER NOT NULL,
    payload BLOB NOT NULL,
    t_us INTEGER,
    at_utc_us INTEGER NOT NULL,
    state INTEGER NOT NULL,
    response_topic TEXT,
    correlation BLOB
) STRICT;
CREATE INDEX messages_owed ON messages (id) WHERE state < 2;
CREATE INDEX messages_retained ON messages (topic, id) WHERE retained = 1;
CREATE TABLE evidence (
    coup INTEGER PRIMARY KEY,
    verdict TEXT NOT NULL,
    seq INTEGER,
    at_utc_us INTEGER NOT NULL,
    log BLOB NOT NULL
) STRICT;
CREATE TABLE commands (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT,
    name TEXT NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL,
    details TEXT NOT NULL,
    response_topic TEXT,
    correlation BLOB,
    received_utc_us INTEGER NOT NULL,
    answered_utc_us INTEGER,
    done INTEGER,
    why TEXT
) STRICT;
CREATE INDEX commands_id ON commands (id, row);
CREATE TABLE kept (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
PRAGMA application_id = 2003332145;
PRAGMA user_version = 1;
"""

COUPS = 30


def write_version_1(path: Path) -> Feed:
    """Coups with evidence and commands; the last ones are owed, or wait for the settlement core."""
    feed = Feed()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SCHEMA_1)
        for coup in range(1, COUPS + 1):
            state = 2 if coup < COUPS - 1 else coup - COUPS + 1
            for message in feed.step("notice", "result", "table").messages:
                row = (message.topic, message.seq, message.topic == "table", message.payload, message.t_us, NOW, state)
                db.execute(
                    "INSERT INTO messages (topic, seq, retained, payload, t_us, at_utc_us, state)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
            log = zlib.compress(b"log %d" % coup)
            db.execute("INSERT INTO evidence VALUES (?, 'result', ?, ?, ?)", (coup, 2 * coup - 1, NOW, log))
            answer = (None, None, None) if coup == COUPS else (NOW + 1, 1, "")
            db.execute(
                "INSERT INTO commands VALUES (NULL, ?, 'open', 'Anna', 'time', '', 'desk', x'00ff', ?, ?, ?, ?)",
                (f"c{coup}", NOW, *answer),
            )
        db.execute("INSERT INTO kept VALUES ('memory', x'6d'), ('settled', 57)")
    return feed


def test_everything_is_there_and_chained(tmp_path: Path) -> None:
    path = tmp_path / "wheel.journal"
    feed = write_version_1(path)
    with closing(JournalFile(path)) as journal:
        report = verify(journal)
        assert report.faults == []
        assert (report.records, report.messages, report.sequenced, report.coups) == (6 * COUPS - 1, 90, 60, COUPS)
        assert journal.memory() == b"m"
        states = [record.state for record in journal.records(0, 1000)]
        assert states == [State.SETTLED] * 84 + [State.OWED] * 3 + [State.CONFIRMED] * 3
        assert [message.id for message in journal.owed(0, 100)] == list(range(85, 91))
        assert journal.settle(60) == 2
        evidence = journal.evidence(7)
        assert evidence is not None
        assert (evidence.log, evidence.seq) == (b"log 7", 13)
        assert [row.done for row in journal.commands(0, 100)] == [True] * (COUPS - 1) + [None]
        # … and life goes on.
        assert (
            journal.receive(CommandRecord(id="c3", name="open", by="Anna", reason="time"), NOW + 2) is Receipt.REPEATED
        )
        journal.append(feed.step("result", evidence=CoupLog(COUPS + 1, "result", b"log")), NOW)
        journal.answer(Reply(0, f"c{COUPS}", "open", "Anna", done=True), NOW)
        assert verify(journal).faults == []


def schema(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {"".join(row[0].split()) for row in db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}


def test_the_tables_are_those_of_a_new_journal(tmp_path: Path) -> None:
    write_version_1(tmp_path / "old")
    JournalFile(tmp_path / "old").close()
    JournalFile(tmp_path / "new").close()
    assert schema(tmp_path / "old") == schema(tmp_path / "new")


@pytest.mark.parametrize("step", range(0, 200, 7))
def test_what_fails_on_the_way_leaves_the_old_journal(
    tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails at the n-th record that is chained; the next start migrates."""
    path = tmp_path / "wheel.journal"
    write_version_1(path)
    before, follow, count = schema(path), journal_chain.follow, 0

    def failing(*arguments: object) -> object:
        nonlocal count
        count += 1
        if count > step:
            raise sqlite3.OperationalError("disk I/O error")
        return follow(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(journal_schema, "follow", failing)
    if step < 6 * COUPS - 1:
        with pytest.raises(JournalError, match="disk I/O error"):
            JournalFile(path)
        assert schema(path) == before
    monkeypatch.undo()
    with closing(JournalFile(path)) as journal:
        assert verify(journal).faults == []


def test_damaged_evidence_is_not_sworn_to(tmp_path: Path) -> None:
    path = tmp_path / "wheel.journal"
    write_version_1(path)
    before = schema(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE evidence SET log = x'00' WHERE coup = 9")
    with pytest.raises(JournalError, match="evidence in it is damaged") as caught:
        JournalFile(path)
    assert caught.value.fault == "corrupt"
    assert schema(path) == before


@pytest.mark.parametrize(
    "migrating", [lambda path: main(["journal", "migrate", str(path)]), lambda path: JournalFile(path).close()]
)
def test_a_reader_says_what_to_do_with_an_old_journal(
    tmp_path: Path, migrating: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.journal"
    write_version_1(path)
    assert main(["journal", "verify", str(path)]) == Exit.BAD_DATA
    assert "wheeld journal migrate" in capsys.readouterr().err
    migrating(path)
    assert main(["journal", "verify", str(path)]) == Exit.OK
