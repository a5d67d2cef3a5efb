"""The journal's file as SQLite: WAL, synchronous=FULL; one file, one writer, one transaction a step.

FULL, because with NORMAL a power cut takes back rows that were already published. After a failure the journal answers
every call with the same error: what is in memory may no longer be what is on disk, so the daemon has to halt.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from wheeld.journal.chain import FIRST_HEAD, Kind, Value, digest_of, follow
from wheeld.journal.rows import JournalError, explain
from wheeld.journal.schema import APPLICATION_ID, SCHEMA_VERSION, create, migrate

CHECKPOINT_EVERY = 100
"""Transactions between two checkpoints: some ten pages each, so that the WAL stays at the 4 MB of SQLite's default."""


class Database:
    """One open journal file. `read_only` reads beside a running daemon; otherwise it is locked for this process."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._failure: JournalError | None = None
        self._tip: tuple[int, bytes] | None = None
        self._since_checkpoint = 0
        self._lock_fd = -1 if read_only else self._take_lock()
        try:
            self._db = self._connect(read_only=read_only)
        except BaseException:
            self._release_lock()
            raise

    def close(self) -> None:
        """Close the file and let another process open it; harmless twice."""
        self._db.close()
        self._release_lock()

    def tip(self) -> tuple[int, bytes]:
        """Number and head of the last link; 0 and the first head while there is none."""
        with self._guard():
            last = self._db.execute("SELECT n, head FROM chain ORDER BY n DESC LIMIT 1").fetchone()
        return (0, FIRST_HEAD) if last is None else (last[0], last[1])

    def _record(self, kind: Kind, **columns: Value) -> int:
        """Store one record and its link; returns its key, which SQLite chooses when it is not given."""
        values = [columns.pop(name, None) for name in kind.columns]
        assert not columns, f"{kind.table} has no such columns: {columns}"
        ref = cast("int", self._db.execute(kind.insertion, values).lastrowid)
        n, head = self._tip or self.tip()
        link = follow(n, head, kind.name, ref, digest_of((ref, *values[1:])))
        self._db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", link)
        self._tip = link.n, link.head
        return ref

    def _rows(self, query: str, *values: object) -> list[dict[str, object]]:
        with self._guard():
            cursor = self._db.execute(f"SELECT {query}", values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _int(self, query: str, *values: object) -> int:
        return cast("int", self._db.execute(query, values).fetchone()[0])

    # --- opening and failing -----------------------------------------------------------------------------------

    def _take_lock(self) -> int:
        """A lock file beside the journal: SQLite's own locks would shut out `wheeld journal` too."""
        path = self.path.with_name(self.path.name + ".lock")
        try:
            lock_fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        except OSError as error:
            raise JournalError("io", self.path, f"cannot create its lock {path}: {error.strerror}") from error
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock_fd)
            why = "another wheeld has it open; one daemon a wheel, stop the other or set another journal.path"
            raise JournalError("locked", self.path, why) from error
        return lock_fd

    def _release_lock(self) -> None:
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def _connect(self, *, read_only: bool) -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc"
        with self._guard():
            self._db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
        try:
            with self._guard():
                self._prepare(read_only=read_only)
        except BaseException:
            self._db.close()
            raise
        return self._db

    def _prepare(self, *, read_only: bool) -> None:
        db = self._db
        db.execute("PRAGMA cell_size_check = ON")
        owner, version = (self._int(f"PRAGMA {name}") for name in ("application_id", "user_version"))
        is_empty = self._int("SELECT count(*) FROM sqlite_schema") == 0
        if owner != APPLICATION_ID and not (is_empty and not read_only):
            raise JournalError("foreign", self.path, "this file is not a wheeld journal; set another journal.path")
        if version > SCHEMA_VERSION:
            why = f"written by a newer wheeld (schema {version}, this one knows {SCHEMA_VERSION}); install that version"
            raise JournalError("newer", self.path, why)
        if read_only:
            self._refuse_older(version)
            return
        self._use_wal()
        if is_empty:
            with self._transaction():
                create(db)
        elif version < SCHEMA_VERSION:
            self._migrate(version)
        self._checkpoint()
        self._sync_directory()

    def _use_wal(self) -> None:
        db = self._db
        # Only the answer says that it could not: SQLite would go on in a mode where a power cut takes rows back.
        if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            why = "no write-ahead log can be kept there: the disk is full, failed, or is on a network; see to it"
            raise JournalError("io", self.path, why)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA wal_autocheckpoint = 0")  # its errors are told to nobody, and the failed fsync tried again

    def _checkpoint(self) -> None:
        self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._since_checkpoint = 0

    def _sync_directory(self) -> None:
        """The WAL's name has to be on disk too. SQLite sees to that, but does not look whether it worked."""
        try:
            directory = os.open(self.path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            why = f"its directory is not kept: {error.strerror}; check the disk"
            raise JournalError("io", self.path, why) from error

    def _refuse_older(self, version: int) -> None:
        if version < SCHEMA_VERSION:
            why = f"written by an older wheeld (schema {version}, this one reads {SCHEMA_VERSION}); the daemon brings"
            raise JournalError("older", self.path, f"{why} it up to date when it starts, or `wheeld journal migrate`")

    def _migrate(self, version: int) -> None:
        with self._transaction():
            try:
                migrate(self._db, version)
            except zlib.error as error:
                why = f"evidence in it is damaged ({error}); keep it as it is for examination and start a new one"
                raise JournalError("corrupt", self.path, why) from error

    @contextmanager
    def _guard(self) -> Iterator[None]:
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except JournalError as error:
            self._failure = error
            raise
        except sqlite3.Error as error:
            self._failure = explain(error, self.path)
            raise self._failure from error
        except UnicodeDecodeError as error:
            why = "the file is damaged, so that even what SQLite says of it cannot be read; keep it for examination"
            self._failure = JournalError("corrupt", self.path, why)
            raise self._failure from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._guard():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._tip = None  # what was linked since BEGIN is gone
                # SQLite has already rolled back after some failures (disk full among them).
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
            self._since_checkpoint += 1
            if self._since_checkpoint >= CHECKPOINT_EVERY:
                self._checkpoint()
