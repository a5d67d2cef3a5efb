"""Performs a script on a real journal, above the shim, and marks in its log what was confirmed and published.

Each session is a separate process, forked from this one. Some flavours of the journal are broken on purpose: they show
that the checks can fail.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from firmware_protocol.host import Position
from tests.faults.disk_check import Reference, content_of
from tests.faults.disk_script import JOURNAL, Op, Script, perform
from tests.faults.disk_shim import Plan, Shim
from tests.journal.journals import NOW, OWNER, open_writer, write_keys
from wheeld.broker.outbox import BATCH_MAX
from wheeld.core.step import Step
from wheeld.journal import database as journal_database
from wheeld.journal.chain import MESSAGE, Value
from wheeld.journal.database import Database
from wheeld.journal.opening import make_ready
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import FileSigner
from wheeld.journal.writer import JournalWriter

SOUND = "sound"
CONFIRMS_EARLY = "confirmed before the commit"
NORMAL, OFF, ROLLBACK = "synchronous=NORMAL", "synchronous=OFF", "no WAL"
SPLIT = "message and debt in two transactions"
TRIES_AGAIN, SYNCS_AGAIN, AUTO_CHECKPOINT = "tries again", "syncs again and halts", "checkpoints left to SQLite"


class NormalDatabase(Database):
    """Broken on purpose: SQLite's own default for WAL on many systems."""

    synchronous = "NORMAL"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._db.execute(f"PRAGMA synchronous = {self.synchronous}")


class OffDatabase(NormalDatabase):
    """Broken on purpose: it never waits for the disk."""

    synchronous = "OFF"


class RollbackDatabase(Database):
    """Broken on purpose: it uses a rollback journal, as SQLite does by itself where no WAL is possible."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._db.execute("PRAGMA journal_mode = DELETE")

    def _checkpoint(self) -> None:
        pass


class AutoCheckpointDatabase(Database):
    """Broken on purpose: it leaves the checkpoints to SQLite, which hides their failures."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._db.execute("PRAGMA wal_autocheckpoint = 30")

    def _checkpoint(self) -> None:
        pass


class SplitJournal(JournalWriter):
    """Broken on purpose: a message in one transaction, its debt in the next."""

    def _insert_message(self, **columns: Value) -> None:
        message_id = self.database.record(MESSAGE, **columns)
        self.database.execute("COMMIT")
        self.database.execute("BEGIN IMMEDIATE")
        self.database.execute("INSERT INTO debts VALUES (?, ?, 0)", message_id, columns.get("seq"))


class RetryingJournal(JournalWriter):
    """Broken on purpose: it tries again after a failure."""

    def append(self, step: Step, at_utc_us: int, position: Position | None = None) -> None:
        try:
            super().append(step, at_utc_us, position)
        except JournalError:
            self.database._failure = None
            self.database._data_version = self.database.integer("PRAGMA data_version")
            self.database._tip = None
            if self.database.bound is not None:
                self.database.bound.forget()
            super().append(step, at_utc_us, position)


class SyncingJournal(JournalWriter):
    """Broken on purpose: it makes a checkpoint after a failure, before it halts."""

    def append(self, step: Step, at_utc_us: int, position: Position | None = None) -> None:
        try:
            super().append(step, at_utc_us, position)
        except JournalError:
            self.database._checkpoint()
            raise


FLAVOURS: dict[str, tuple[type[Database], type[JournalWriter]]] = {
    SOUND: (Database, JournalWriter),
    CONFIRMS_EARLY: (Database, JournalWriter),
    NORMAL: (NormalDatabase, JournalWriter),
    OFF: (OffDatabase, JournalWriter),
    ROLLBACK: (RollbackDatabase, JournalWriter),
    SPLIT: (Database, SplitJournal),
    TRIES_AGAIN: (Database, RetryingJournal),
    SYNCS_AGAIN: (Database, SyncingJournal),
    AUTO_CHECKPOINT: (AutoCheckpointDatabase, JournalWriter),
}


class Run(NamedTuple):
    """One performance of a script. `directory` is empty, or gone."""

    script: Script
    directory: Path
    log: Path
    key: Path
    plan: Plan = Plan()
    flavour: str = SOUND
    with_data: bool = False


class _Session:
    """One process, from the opening of the journal to its end."""

    def __init__(self, run: Run, shim: Shim) -> None:
        self._run, self._shim = run, shim
        self._journal: JournalWriter | None = None

    def perform(self, ops: range) -> bool:
        """Perform `ops`, until the end or an error of the journal. Returns whether it came to the end."""
        for k in ops:
            op = self._run.script.ops[k]
            if self._run.flavour == CONFIRMS_EARLY:
                self._shim.mark(confirmed=k)
            try:
                self._do(op)
            except JournalError as error:
                self._halt(k, error)
                return False
            self._shim.mark(confirmed=k)
        return True

    def _do(self, op: Op) -> None:
        if op.call == "open":
            self._journal = self._open()
            return
        assert self._journal is not None
        if op.call == "exit":
            self._journal.database.write_out()  # what a process leaves that ends anywhere, kills and power cuts show
            os._exit(0)
        if op.call == "publish":
            self._publish(self._journal)
        elif op.call == "close":
            self._shim.mark(closing=True)
            self._journal.close()
        else:
            perform(self._journal, op)

    def _open(self) -> JournalWriter:
        path = self._run.directory / JOURNAL
        database, writer = FLAVOURS[self._run.flavour]
        journal = writer(database(path), signer=FileSigner(self._run.key))
        try:
            make_ready(journal, owner=OWNER, at_utc_us=NOW)
        except JournalError:
            journal.close()
            raise
        return journal

    def _publish(self, journal: JournalWriter) -> None:
        ids = [message.id for message in journal.reader.owed(0, BATCH_MAX)]
        self._shim.mark(published=ids)
        journal.mark_sent(ids, await_settlement=True)

    def _halt(self, k: int, error: JournalError) -> None:
        """Do what the daemon does: only close. Until then every call has to give the same error."""
        self._shim.mark(halted=error.fault, op=k, opening=self._journal is None, why=str(error))
        if (journal := self._journal) is not None:
            calls: list[Callable[[], object]] = [
                journal.reader.last_seq,
                journal.reader.memory,
                lambda: journal.reader.owed(0, 1),
                lambda: journal.append(Step(memory=b"x"), 0),
                lambda: journal.mark_sent([1], await_settlement=False),
                lambda: journal.settle(1),
                lambda: journal.prune(0, max_bytes=1),
            ]
            for number, call in enumerate(calls):
                try:
                    call()
                except JournalError as again:
                    if again is error:
                        continue
                self._shim.mark(wrong=f"call {number} after the failure does not give the same error")
            self._shim.mark(closing=True)
            journal.close()


def _child(run: Run, shim: Shim, ops: range) -> None:
    """Run in the forked process, and end it."""
    code = 2
    try:
        code = 0 if _Session(run, shim).perform(ops) else 1
    except BaseException:  # noqa: BLE001  any error must be in the log
        shim.mark(wrong=traceback.format_exc(limit=-4))
    finally:
        os._exit(code)


def write(run: Run, shim: Shim) -> None:
    """Perform the script, until its end, a halt, or the kill; the log shows which."""
    run.directory.mkdir(parents=True, exist_ok=True)
    if run.script.file is not None:
        (run.directory / JOURNAL).write_bytes(run.script.file)
    shim.begin(run.directory, run.log, run.plan, with_data=run.with_data)
    if run.script.checkpoint_every is not None:
        journal_database.CHECKPOINT_EVERY = run.script.checkpoint_every
    for ops in run.script.sessions():
        if (child := os.fork()) == 0:
            _child(run, shim, ops)
        _, status = os.waitpid(child, 0)
        if status != 0:
            break
    shim.end()


def reference(script: Script, directory: Path) -> Reference:
    """What the journal holds after each operation when nothing fails, without the shim; every session closes."""
    directory.mkdir(parents=True)
    key, public = write_keys(directory)
    path = directory / JOURNAL
    if script.file is not None:
        path.write_bytes(script.file)
    contents: list[bytes] = []
    journal = open_writer(path, signer=FileSigner(key))
    for op in script.ops:
        if op.call in {"open", "close", "exit"}:
            journal.close()
            journal = open_writer(path, signer=FileSigner(key))
        elif op.call == "publish":
            journal.mark_sent([message.id for message in journal.reader.owed(0, BATCH_MAX)], await_settlement=True)
        else:
            perform(journal, op)
        journal.database.write_out()
        contents.append(content_of(journal))
    journal.close()
    return Reference(script, contents, key, public)
