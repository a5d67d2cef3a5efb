"""What SQLite passes over in silence when the disk fails, the journal does not."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.broker.feed import Feed
from tests.journal.journals import open_writer
from wheeld.journal import database as journal_database
from wheeld.journal.rows import JournalError

NOW = 1_700_000_000_000_000


def connecting(monkeypatch: pytest.MonkeyPatch, statement: str, answer: Callable[[sqlite3.Connection], Any]) -> None:
    """From now on `statement` is answered so."""

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> Any:
            return answer(self) if statement in sql else super().execute(sql, *parameters)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, **more, factory=Connection))


def test_a_file_system_without_wal_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite only answers in which mode it is: in another one a power cut takes back what was confirmed."""
    connecting(monkeypatch, "journal_mode", lambda db: sqlite3.Connection.execute(db, "PRAGMA journal_mode = DELETE"))
    with pytest.raises(JournalError, match="cannot keep a write-ahead log") as caught:
        open_writer(path)
    assert caught.value.fault == "io"
    monkeypatch.undo()
    open_writer(path).close()


def test_a_file_of_another_user_is_said_with_the_command_that_cures_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Restored by root, for example."""

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(JournalError, match="it or a file beside it belongs to another user") as caught:
        open_writer(path)
    assert f"`chown wheeld: {path}*`" in str(caught.value)


def test_a_checkpoint_that_fails_halts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(db: sqlite3.Connection) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    open_writer(path).close()
    with closing(open_writer(path)) as journal:
        pages = path.stat().st_size
        feed = Feed()
        for _ in range(journal_database.CHECKPOINT_LATEST):
            journal.append(feed.step("result"), NOW)
        assert path.stat().st_size > pages, "no checkpoint was made"
    connecting(monkeypatch, "wal_checkpoint", fail)
    with pytest.raises(JournalError, match="disk I/O error"):
        open_writer(path)


def test_no_verdict_waits_for_a_checkpoint_that_can_be_made_later(path: Path) -> None:
    """It is made when a message was sent: nobody waits for this note."""
    open_writer(path).close()
    feed, pages = Feed(), path.stat().st_size
    with closing(open_writer(path)) as journal:
        for _ in range(journal_database.CHECKPOINT_EVERY):
            journal.append(feed.step("result"), NOW)
            assert path.stat().st_size == pages
        journal.mark_sent([1], await_settlement=False)
        assert path.stat().st_size > pages, "no checkpoint was made"


def test_the_error_of_a_checkpoint_is_the_step_s(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step is stored, but the call failed: it is owed at the next start."""
    feed = Feed()
    open_writer(path).close()
    monkeypatch.setattr(journal_database, "CHECKPOINT_LATEST", 2)
    with closing(open_writer(path)) as journal:

        def fail() -> None:
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(journal.database, "_checkpoint", fail)
        journal.append(feed.step("result"), NOW)
        with pytest.raises(JournalError, match="disk I/O error") as caught:
            journal.append(feed.step("result"), NOW)
        with pytest.raises(JournalError) as again:
            journal.reader.last_seq()
        assert again.value is caught.value
    with closing(open_writer(path)) as journal:
        assert [message.seq for message in journal.reader.owed(0, 9)] == [1, 2]


def test_the_directory_has_to_be_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(JournalError, match="its directory cannot be written to disk: Input/output error") as caught:
        open_writer(path)
    assert caught.value.fault == "io"
    monkeypatch.undo()
    open_writer(path).close()
