"""The journal's file as an SQLite database: WAL, synchronous=FULL. One file, one writer, one transaction for each step.

After a failure, every call raises the same error. The daemon may then know something that is not on disk, so it has to
halt.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, cast

from wheeld.journal import schema
from wheeld.journal.chain import FIRST_HEAD, RecordKind, Value, digest_of, follow
from wheeld.journal.rows import JournalError, explain, is_full
from wheeld.journal.watch import SUFFIXES, FileWatch

CHECKPOINT_EVERY, CHECKPOINT_LATEST = 100, 200
"""A checkpoint of the WAL takes much longer than a transaction. After `CHECKPOINT_EVERY` transactions it is made by the
next one that waits, because no verdict waits for this one; after `CHECKPOINT_LATEST` by any. A transaction writes about
twenty pages, so the WAL stays at 1 to 2 MB."""

PAGE_BYTES = 512
"""The size of a page. A commit writes every changed page whole: ten pages or more, most of them with a few changed
bytes. With SQLite's default of 4,096 bytes, a coup wrote twice as much. SQLite has no pages below 512 bytes."""

LATER_MAX = 16
"""At most this many transactions wait to be written together with a later one. If a power cut loses them, their batches
of messages are published again: a thousand messages in all."""


FILE_MODE = 0o640
"""The mode of the journal, its backups and its lock. Apart from the daemon, only auditors in the service's group may
read them, whatever umask the daemon was started with. SQLite gives its files beside the journal (-wal, -shm) the same
mode."""


class Bound(Protocol):
    """Data that changes with every transaction and has to be stored in the same transaction."""

    def begin(self) -> None:
        """Prepare for a transaction that begins."""
        ...

    def write(self) -> None:
        """Store the data. This is called last in each transaction."""
        ...

    def forget(self) -> None:
        """Drop what was noted during a transaction, because it was rolled back."""
        ...


def how_to_read(path: Path) -> str:
    """Return the parameters with which SQLite can read a journal. If there is no -wal, SQLite makes a -shm beside the
    journal. On a read-only file system it cannot, so it is told that nothing changes the file."""
    with suppress(OSError):
        if os.statvfs(path).f_flag & os.ST_RDONLY and not path.with_name(f"{path.name}-wal").exists():
            return "mode=ro&immutable=1"
    return "mode=ro"


class Database:
    """One open journal file. With `read_only`, a daemon may write the file meanwhile. Otherwise this process locks the
    file.

    Every call may raise `JournalError`. Opening raises it too if the file does not have exactly this version's shape.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._failure: JournalError | None = None
        self._tip: tuple[int, bytes] | None = None
        self._watch: FileWatch | None = None
        self.bound: Bound | None = None
        self._since_checkpoint = self._waiting = 0
        self._lock_fd = -1 if read_only else self._take_lock()
        try:
            if not read_only:
                self._close_to_others(path)
            with self._guard():
                how = how_to_read(path) if read_only else "mode=rwc"
                self._db = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
            try:
                with self._guard():
                    self._prepare(read_only=read_only)
            except BaseException:
                self._db.close()
                raise
            self._watch = None if read_only else FileWatch(path)
            self._data_version = self.integer("PRAGMA data_version")
        except BaseException:
            self._release_lock()
            raise

    def close(self) -> None:
        """Close the file and let another process open it. A second call does nothing."""
        with suppress(JournalError):  # only transactions that wait can be lost
            self.write_out()
        self._db.close()
        self._release_lock()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever stored in the file."""
        # All tables are checked: a journal whose chain somebody emptied must not pass as a new one.
        names = (*schema.NAMES, "sqlite_sequence")
        return not any(self.integer(f"SELECT EXISTS (SELECT 1 FROM {name})") for name in names)  # noqa: S608

    # --- reading -----------------------------------------------------------------------------------------------

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._guard():
            return self._db.execute(query, values).fetchall()

    def row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of a query. None if there is none."""
        with self._guard():
            return cast("tuple[Any, ...] | None", self._db.execute(query, values).fetchone())

    def named_rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Return all rows of a query, each with its columns by name."""
        with self._guard():
            cursor = self._db.execute(query, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def integer(self, query: str, *values: object) -> int:
        """Return the one number that a query gives."""
        with self._guard():
            return cast("int", self._db.execute(query, values).fetchone()[0])

    def damage(self, most: int) -> list[str]:
        """Return the faults, at most `most`, that SQLite finds in the file's pages, rows and indexes."""
        found = [str(row[0]) for row in self.rows(f"PRAGMA integrity_check({most})")]
        return [] if found == ["ok"] else found

    def tip(self) -> tuple[int, bytes]:
        """Return the number and the head of the last link. Without any link: 0 and the first head."""
        if self._tip is not None:
            return self._tip
        last = self.row("SELECT n, head FROM chain ORDER BY n DESC LIMIT 1")
        return (0, FIRST_HEAD) if last is None else (last[0], last[1])

    # --- writing, inside `transaction` ---------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, waits: bool = False) -> Iterator[None]:
        """Run the block in one transaction. At its end all is on disk. If the block raises an error, nothing is stored.

        A transaction that `waits` may be lost in a power cut. It is put on disk with the next transaction that does not
        wait, or after `LATER_MAX` waiting ones, or when the file is closed. This connection sees its changes at once.
        """
        with self._guard():
            if not self._waiting:
                self._db.execute("BEGIN IMMEDIATE")
            try:
                self.look()
                if self.bound is not None:
                    self.bound.begin()
                yield
                self._waiting += 1
                if not waits or self._waiting >= LATER_MAX or self._since_checkpoint >= CHECKPOINT_EVERY:
                    self.write_out(nobody_waits=waits)
            except BaseException:
                self._waiting = 0
                self._tip = None  # The links made since BEGIN are gone.
                if self.bound is not None:
                    self.bound.forget()
                # After some failures, such as a full disk, SQLite has already rolled back.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def write_out(self, *, nobody_waits: bool = False) -> None:
        """Put waiting transactions on disk. `nobody_waits`: a checkpoint that is due may be made now."""
        if not self._waiting:
            return
        with self._guard():
            if self.bound is not None:
                self.bound.write()
            self._db.execute("COMMIT")
            self._waiting = 0
            self._since_checkpoint += 1
            if self._since_checkpoint >= (CHECKPOINT_EVERY if nobody_waits else CHECKPOINT_LATEST):
                self._checkpoint()

    def look(self) -> None:
        """Raise JournalError if somebody else deleted, exchanged, cut or wrote to the files after they were opened."""
        with self._guard():
            if self._watch is None:
                return
            what = self._watch.look()
            if what is None and self.integer("PRAGMA data_version") != self._data_version:
                what = "another program wrote to it"
            if what is not None:
                why = f"{what} while this wheeld had it open: find out who did it"
                raise JournalError("replaced", self.path, why)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let the block read one state of the file, whatever is written meanwhile."""
        self.write_out()
        self.rows("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def copy_to(self, path: Path) -> None:
        """Copy what is stored now to a new file, whatever is written meanwhile. On return the copy is on disk."""
        self.write_out()
        with self._guard():
            self._close_to_others(path)
            try:
                with closing(sqlite3.connect(path)) as copy:
                    self._db.backup(copy)
            except sqlite3.Error as error:
                raise explain(error, path) from error

    def tell(self, name: str, told: Callable[..., None]) -> None:
        """Let SQL statements of this connection call `told` as the function `name`."""
        with self._guard():
            self._db.create_function(name, -1, told)

    def execute(self, statement: str, *values: object) -> int:
        """Run one statement. Returns how many rows it changed."""
        with self._guard():
            return self._db.execute(statement, values).rowcount

    def execute_each(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run the same statement once for each of `rows`."""
        with self._guard():
            self._db.executemany(statement, rows)

    def record(self, kind: RecordKind, **columns: Value) -> int:
        """Store one record and its link. Returns the record's key, which SQLite chooses if none is given."""
        values = [columns.pop(name, None) for name in kind.columns]
        assert not columns, f"{kind.table} has no such columns: {columns}"
        with self._guard():
            ref = cast("int", self._db.execute(kind.insertion, values).lastrowid)
            n, head = self.tip()
            link = follow(n, head, kind.name, ref, digest_of((ref, *values[1:])))
            self._db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?)", link)
        self._tip = link.n, link.head
        return ref

    # --- opening -----------------------------------------------------------------------------------------------

    def _take_lock(self) -> int:
        """Lock a file beside the journal. With SQLite's own locks, `wheeld journal` could not read the journal."""
        path = self.path.with_name(self.path.name + ".lock")
        try:
            lock_fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        except OSError as error:
            why = f"cannot create its lock {path}: {_told(error, self.path)}"
            raise JournalError("full" if is_full(path) else "io", self.path, why) from error
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock_fd)
            why = "another wheeld has it open, and each wheel has one daemon: stop the other one first"
            raise JournalError("locked", self.path, why) from error
        return lock_fd

    def _release_lock(self) -> None:
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def _close_to_others(self, path: Path) -> None:
        """Make the file if it does not exist. Set its mode, and the mode of the files beside it, before writing."""
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
            for suffix in SUFFIXES:
                with suppress(FileNotFoundError):
                    path.with_name(path.name + suffix).chmod(FILE_MODE)
        except OSError as error:
            why = f"cannot be made, or its permissions cannot be set: {_told(error, path)}"
            raise JournalError("full" if is_full(path) else "io", path, why) from error

    def _prepare(self, *, read_only: bool) -> None:
        self._db.execute("PRAGMA cell_size_check = ON")
        # Nothing in the file's schema may call functions. A view or a default that somebody planted could do that.
        self._db.execute("PRAGMA trusted_schema = OFF")
        owner, version = (self.integer(f"PRAGMA {name}") for name in ("application_id", "user_version"))
        is_empty = self.integer("SELECT count(*) FROM sqlite_schema") == 0
        if owner != schema.APPLICATION_ID and not (is_empty and not read_only):
            raise JournalError("foreign", self.path, "this file is not a wheeld journal; name another one")
        if version > schema.VERSION:
            why = f"written by a newer wheeld (schema {version}, this one knows {schema.VERSION}); install that version"
            raise JournalError("newer", self.path, why)
        if read_only:
            if version < schema.VERSION:
                why = f"written by an older wheeld (schema {version}, this one reads {schema.VERSION})"
                then = "the daemon brings it up to date when it starts, and so does `wheeld journal migrate`"
                raise JournalError("older", self.path, f"{why}; {then}")
            self._refuse_misfit()
            return
        if is_empty:
            self._db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        self._use_wal()
        if is_empty:
            with self.transaction():
                schema.create(self._db)
        elif version < schema.VERSION:
            if (missing := schema.missing_step(version)) is not None:
                why = f"schema {version} is too old: this wheeld has no step from schema {missing} to the next one"
                raise JournalError("older", self.path, f"{why}; keep the file for examination and start a new one")
            with self.transaction():
                schema.migrate(self._db, version)
        self._refuse_misfit()
        self._checkpoint()
        self._sync_directory()

    def _use_wal(self) -> None:
        # If SQLite cannot keep a WAL, it continues without one, and then a power cut may undo commits. Only the answer
        # of SQLite shows this.
        if self._db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            why = (
                "SQLite cannot keep a write-ahead log there: the disk is full, has failed, or is on a network; "
                "correct this"
            )
            raise JournalError("full" if is_full(self.path) else "io", self.path, why)
        # With `synchronous = NORMAL`, a power cut could undo rows that were already published.
        self._db.execute("PRAGMA synchronous = FULL")
        # SQLite hides the errors of its own checkpoints, and it tries a failed fsync again. So SQLite makes none:
        # `_checkpoint` makes them.
        self._db.execute("PRAGMA wal_autocheckpoint = 0")

    def _checkpoint(self) -> None:
        self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._since_checkpoint = 0

    def _sync_directory(self) -> None:
        """Put the WAL's name on disk too. SQLite does this as well, but does not check whether it worked."""
        try:
            directory = os.open(self.path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            why = f"its directory cannot be written to disk: {error.strerror}; check the disk"
            raise JournalError("io", self.path, why) from error

    def _refuse_misfit(self) -> None:
        # Read the size of the file first, because a daemon that writes meanwhile adds pages.
        size, what = self.path.stat().st_size, schema.misfit(self._db)
        more = size - self.integer("PRAGMA page_count") * self.integer("PRAGMA page_size")
        if what is None and more > 0:
            what = f"file: {more} bytes behind its last page"
        if what is not None:
            raise JournalError("edited", self.path, what)

    # --- failing -----------------------------------------------------------------------------------------------

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """If something failed before, raise that error again. Turn SQLite's errors into JournalErrors, and remember the
        first one."""
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
            why = "the file is damaged, and so is SQLite's message about it; keep the file for examination"
            self._failure = JournalError("corrupt", self.path, why)
            raise self._failure from error


def _told(error: OSError, path: Path) -> str:
    """Return the system's message about a file. If the file or its directory belongs to another user, or the disk is
    read-only, also say what to do."""
    if isinstance(error, PermissionError):
        what, owned = "it or a file beside it", f"{shlex.quote(str(path))}*"
        if not os.access(path.parent, os.W_OK, effective_ids=True):
            what, owned = "its directory", shlex.quote(str(path.parent))
        return f"{error.strerror}: {what} belongs to another user; as root: `chown wheeld: {owned}`"
    if error.errno == errno.EROFS:
        return (
            f"{error.strerror}: Linux makes a failing disk read-only, and `journalctl -k` says why; repair the disk, "
            "then start"
        )
    return str(error.strerror)
