"""A journal of an earlier schema becomes one of this schema, whole, or stays as it was."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.journal.journals import open_reader, open_writer
from tests.journal.old_journal import COUPS, NOW, RECORDS, SETTLED, from_0, log_of, write_version_0
from wheeld.cli.main import main
from wheeld.core.step import CoupLog, Reply
from wheeld.exits import Exit
from wheeld.journal import schema
from wheeld.journal.rows import JournalError, SendState
from wheeld.journal.verify import verify
from wheeld.ports import CommandRecord, Receipt


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(schema.MIGRATIONS, 0, from_0)


def test_everything_is_there_and_chained(tmp_path: Path) -> None:
    path = tmp_path / "wheel.journal"
    feed = write_version_0(path)
    with closing(open_writer(path)) as journal:
        reader = journal.reader
        report = verify(reader)
        assert report.faults == []
        assert (report.records, report.messages, report.sequenced, report.coups) == (RECORDS, 90, 60, COUPS)
        assert reader.memory() == b"m"
        states = [record.state for record in reader.records(0, 1000)]
        assert states == [SendState.SETTLED] * SETTLED + [SendState.OWED] * 6
        assert [message.id for message in reader.owed(0, 100)] == list(range(SETTLED + 1, 91))
        evidence = reader.evidence(7)
        assert evidence is not None
        assert (evidence.log, evidence.seq) == (log_of(7), 13)
        assert [row.done for row in reader.commands(0, 100)] == [True] * (COUPS - 1) + [None]
        # The migrated journal can be used as any other.
        asked = CommandRecord(id="c3", name="open", by="Anna", reason="time")
        assert journal.receive(asked, NOW + 2) is Receipt.REPEATED
        journal.append(feed.step("result", evidence=CoupLog(COUPS + 1, "result", b"log")), NOW)
        journal.answer(Reply(0, f"c{COUPS}", "open", "Anna", done=True), NOW)
        assert verify(reader).faults == []


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {"".join(row[0].split()) for row in db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_the_tables_are_those_of_a_new_journal(tmp_path: Path) -> None:
    write_version_0(tmp_path / "old")
    open_writer(tmp_path / "old").close()
    open_writer(tmp_path / "new").close()
    assert tables(tmp_path / "old") == tables(tmp_path / "new")
    assert version(tmp_path / "old") == version(tmp_path / "new") == schema.VERSION


def test_steps_are_done_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wheel.journal"
    write_version_0(path)
    monkeypatch.setattr(schema, "VERSION", 4)

    done = []

    def from_version(step: int, db: sqlite3.Connection) -> None:
        done.append((step, db.in_transaction))

    for step in (2, 3):
        monkeypatch.setitem(schema.MIGRATIONS, step, partial(from_version, step))
    open_writer(path).close()
    assert version(path) == 4
    assert done == [(2, True), (3, True)]


@pytest.mark.parametrize("step", [0, RECORDS // 2, RECORDS])
def test_what_fails_on_the_way_leaves_the_old_journal(
    tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fails after the n-th record is chained; the next start migrates."""
    path = tmp_path / "wheel.journal"
    write_version_0(path)
    before = tables(path)

    def failing(db: sqlite3.Connection) -> None:
        from_0(db)
        db.execute("DELETE FROM chain WHERE n > ?", (step,))
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setitem(schema.MIGRATIONS, 0, failing)
    with pytest.raises(JournalError, match="disk I/O error"):
        open_writer(path)
    assert (tables(path), version(path)) == (before, 0)
    monkeypatch.setitem(schema.MIGRATIONS, 0, from_0)
    with closing(open_writer(path)) as journal:
        assert verify(journal.reader).faults == []


@pytest.mark.parametrize("damaged", [0, -1, -(2**31)])
def test_a_version_without_a_step_is_refused_and_stays(
    tmp_path: Path, damaged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wheel.journal"
    write_version_0(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA user_version = {damaged}")
    before = tables(path)
    monkeypatch.delitem(schema.MIGRATIONS, 0)
    with pytest.raises(JournalError, match=f"schema {damaged} is too old") as caught:
        open_writer(path)
    assert caught.value.fault == "older"
    assert (tables(path), version(path)) == (before, damaged)


@pytest.mark.parametrize(
    "migrating", [lambda path: main(["journal", "migrate", str(path)]), lambda path: open_writer(path).close()]
)
def test_a_reader_says_what_to_do_with_an_old_journal(
    tmp_path: Path, migrating: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wheel.journal"
    write_version_0(path)
    with pytest.raises(JournalError, match="older") as caught:
        open_reader(path)
    assert caught.value.fault == "older"
    assert main(["journal", "verify", str(path)]) == Exit.BAD_DATA
    assert "wheeld journal migrate" in capsys.readouterr().err
    migrating(path)
    assert main(["journal", "verify", str(path)]) == Exit.OK
