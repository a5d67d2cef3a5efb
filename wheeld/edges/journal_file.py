"""The journal on disk: SQLite, WAL, synchronous=FULL; one file, one writer, one transaction a step.

Blocking code for one thread: the daemon reaches it through `journal.Journal`, the command line directly. FULL,
because with NORMAL a power cut takes back rows that were already published. After a failure the journal answers
every call with the same error: what is in memory may no longer be what is on disk, so the daemon has to halt.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import msgspec

from wheeld.core.messages import reply_payload
from wheeld.core.step import RETAINED, Evidence, Message, Reply, Step
from wheeld.edges.journal_rows import (
    CommandRecord,
    JournalError,
    Receipt,
    StoredCommand,
    StoredEvidence,
    StoredMessage,
    explain,
)
from wheeld.ports import OwedMessage

SCHEMA_VERSION = 1
APPLICATION_ID = 0x77686C31
"""Marks the file as ours ("whl1"), so that another program's database is refused rather than written to."""

REPEAT_WINDOW_S = 600
"""A command that comes again within this time, with the same id, is the same one delivered twice (MQTT QoS 1 may).
Later a sender that counts from 1 after each restart may use the id anew."""

UNFINISHED = "the daemon stopped before it was decided; nothing was done, send it again if it still holds"

_SCHEMA = """
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
"""

_SEQ_MAX = 2**63 - 1  # the largest integer that SQLite holds


class JournalFile:
    """One open journal. `read_only` reads beside a running daemon; otherwise the file is locked for this process."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._failure: JournalError | None = None
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

    # --- writing -----------------------------------------------------------------------------------------------

    def append(self, step: Step, at_utc_us: int) -> None:
        """Store all of `step` in one transaction: after this returns, a power cut takes nothing of it back."""
        with self._transaction():
            for message in step.messages:
                self._insert(message, at_utc_us)
            for evidence in step.evidence:
                self._insert_evidence(evidence, step, at_utc_us)
            for reply in step.replies:
                self._decide(reply, at_utc_us)
            if step.memory is not None:
                self._keep("memory", step.memory)

    def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """The broker has `ids`. With `await_settlement` sequenced ones stay owed until the settlement core's ack."""
        with self._transaction():
            settled = self._settled() if await_settlement else _SEQ_MAX
            self._db.executemany(
                "UPDATE messages SET state = CASE WHEN seq > ? THEN 1 ELSE 2 END WHERE id = ?",
                [(settled, message_id) for message_id in ids],
            )

    def settle(self, seq: int) -> int:
        """Close every sequenced message up to `seq` that the broker has; returns how many. Older acks do nothing.

        One that is owed to the broker again (after `reopen_retained`) closes when the broker has it.
        """
        with self._transaction():
            self._keep("settled", max(seq, self._settled()))
            closed = self._db.execute("UPDATE messages SET state = 2 WHERE state = 1 AND seq <= ?", (seq,))
            return closed.rowcount

    def reopen(self, from_seq: int) -> int:
        """Owe every sequenced message from `from_seq` again; returns the id of the first, 0 when there is none."""
        with self._transaction():
            self._keep("settled", min(from_seq - 1, self._settled()))
            self._db.execute("UPDATE messages SET state = 0 WHERE seq >= ?", (from_seq,))
            return self._int("SELECT coalesce(min(id), 0) FROM messages WHERE seq >= ?", from_seq)

    def reopen_retained(self) -> None:
        """Owe the newest message of each retained topic again."""
        with self._transaction():
            self._db.execute(
                "UPDATE messages SET state = 0 WHERE id IN"
                " (SELECT max(id) FROM messages WHERE retained = 1 GROUP BY topic)"
            )

    # --- commands ----------------------------------------------------------------------------------------------

    def receive(self, command: CommandRecord, at_utc_us: int) -> Receipt:
        """Note a command before anything is done about it. One that was answered already gets the same answer again."""
        with self._transaction():
            earlier = self._db.execute(
                "SELECT name, by, reason, details, done, why FROM commands"
                " WHERE id = ? AND received_utc_us > ? ORDER BY row DESC LIMIT 1",
                (command.id, at_utc_us - REPEAT_WINDOW_S * 1_000_000),
            ).fetchone()
            if earlier is None:
                self._insert_command(command, at_utc_us)
                return Receipt.NEW
            if earlier[:4] != (command.name, command.by, command.reason, command.details):
                return Receipt.CONFLICT
            if earlier[4] is None:
                return Receipt.PENDING
            self._insert_reply(command, None, at_utc_us, done=bool(earlier[4]), why=earlier[5])
            return Receipt.REPEATED

    def answer(self, reply: Reply, at_utc_us: int) -> None:
        """Note what became of a received command and owe its answer, in one transaction."""
        with self._transaction():
            self._decide(reply, at_utc_us)

    def refuse(self, command: CommandRecord, why: str, at_utc_us: int) -> None:
        """Note a command that never got further than the door, and owe its answer."""
        with self._transaction():
            row = self._insert_command(command, at_utc_us)
            self._close_command(row, at_utc_us, done=False, why=why)
            self._insert_reply(command, None, at_utc_us, done=False, why=why)

    def answer_unfinished(self, at_utc_us: int) -> int:
        """Refuse what a previous run received and never decided; returns how many there were."""
        with self._transaction():
            rows = self._db.execute("SELECT id, name, by FROM commands WHERE done IS NULL ORDER BY row").fetchall()
            for command_id, name, by in rows:
                self._decide(Reply(0, command_id, name, by, done=False, why=UNFINISHED), at_utc_us)
            return len(rows)

    # --- reading -----------------------------------------------------------------------------------------------

    def memory(self) -> bytes | None:
        """What the core asked to be given back after a restart, as last stored."""
        with self._guard():
            row = self._db.execute("SELECT value FROM kept WHERE name = 'memory'").fetchone()
        return None if row is None else bytes(row[0])

    def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """Up to `limit` messages not yet settled with an id above `after_id`, in publication order."""
        with self._guard():
            rows = self._db.execute(
                "SELECT id, topic, payload, seq, retained AND id = (SELECT max(id) FROM messages AS newer"
                " WHERE newer.topic = messages.topic AND newer.retained = 1), response_topic, correlation"
                " FROM messages WHERE state < 2 AND id > ? ORDER BY id LIMIT ?",
                (after_id, limit),
            ).fetchall()
        return [
            OwedMessage(id=i, topic=topic, payload=payload, seq=seq, retain=bool(r), response_topic=to, correlation=c)
            for i, topic, payload, seq, r, to, c in rows
        ]

    def depth(self) -> int:
        """How many messages are owed."""
        with self._guard():
            return self._int("SELECT count(*) FROM messages WHERE state < 2")

    def last_seq(self) -> int:
        """The highest sequence number stored, 0 when none is."""
        with self._guard():
            return self._int("SELECT coalesce(max(seq), 0) FROM messages")

    def message(self, seq: int) -> StoredMessage | None:
        """The message with this sequence number."""
        found = self.messages(seq, 1)
        return found[0] if found and found[0].seq == seq else None

    def messages(self, from_seq: int, limit: int) -> list[StoredMessage]:
        """Up to `limit` sequenced messages from `from_seq` on, by sequence number."""
        return self._messages("seq >= ? ORDER BY seq", from_seq, limit)

    def records(self, after_id: int, limit: int) -> list[StoredMessage]:
        """Up to `limit` messages of every topic with an id above `after_id`, in publication order."""
        return self._messages("id > ? ORDER BY id", after_id, limit)

    def last_id(self) -> int:
        """The id of the newest message that was ever stored, even if someone has removed it since."""
        with self._guard():
            return self._int("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages'")

    def commands(self, after_row: int, limit: int) -> list[StoredCommand]:
        """Up to `limit` commands from the log after row `after_row`, oldest first."""
        rows = self._rows("* FROM commands WHERE row > ? ORDER BY row LIMIT ?", after_row, limit)
        return [msgspec.convert(row, StoredCommand, strict=False) for row in rows]

    def coups(self) -> list[int]:
        """The coups that evidence is stored for, in order."""
        with self._guard():
            return [row[0] for row in self._db.execute("SELECT coup FROM evidence ORDER BY coup")]

    def evidence(self, coup: int) -> StoredEvidence | None:
        """What was observed for one coup; raises JournalError when the stored log is damaged."""
        with self._guard():
            row = self._db.execute("SELECT * FROM evidence WHERE coup = ?", (coup,)).fetchone()
        if row is None:
            return None
        number, verdict, seq, at_utc_us, packed = row
        try:
            log = zlib.decompress(packed)
        except zlib.error as error:
            raise JournalError("corrupt", self.path, f"evidence of coup {coup} is damaged ({error})") from error
        return StoredEvidence(coup=number, verdict=verdict, seq=seq, at_utc_us=at_utc_us, log=log)

    # --- inside ------------------------------------------------------------------------------------------------

    def _rows(self, query: str, *values: object) -> list[dict[str, object]]:
        with self._guard():
            cursor = self._db.execute(f"SELECT {query}", values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _messages(self, condition: str, start: int, limit: int) -> list[StoredMessage]:
        rows = self._rows(f"* FROM messages WHERE {condition} LIMIT ?", start, limit)
        return [msgspec.convert(row, StoredMessage, strict=False) for row in rows]

    def _int(self, query: str, *values: object) -> int:
        return cast("int", self._db.execute(query, values).fetchone()[0])

    def _keep(self, name: str, value: bytes | int) -> None:
        self._db.execute(
            "INSERT INTO kept VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (name, value)
        )

    def _settled(self) -> int:
        return self._int("SELECT coalesce(max(value), 0) FROM kept WHERE name = 'settled'")

    def _insert(self, message: Message, at_utc_us: int) -> None:
        if message.seq is not None and self._is_stored(message.seq, message):
            return
        self._db.execute(
            "INSERT INTO messages (topic, seq, retained, payload, t_us, at_utc_us, state) VALUES (?, ?, ?, ?, ?, ?, 0)",
            (message.topic, message.seq, message.topic in RETAINED, message.payload, message.t_us, at_utc_us),
        )

    def _is_stored(self, seq: int, message: Message) -> bool:
        """The feed promises one payload a number and no gap; a program that breaks either must not write on."""
        last_seq = self._int("SELECT coalesce(max(seq), 0) FROM messages")
        if seq == last_seq + 1:
            return False
        stored = self._db.execute("SELECT topic, payload FROM messages WHERE seq = ?", (seq,)).fetchone()
        if stored == (message.topic, message.payload):
            return True
        problem = f"seq {seq} after {last_seq}" if stored is None else f"seq {seq} is stored with other bytes"
        raise JournalError("conflict", self.path, f"{problem}: refused; this is a fault in the program, report it")

    def _insert_evidence(self, evidence: Evidence, step: Step, at_utc_us: int) -> None:
        """Beside the verdict of the same step, or, when it comes later, the latest verdict of its kind."""
        seqs = [message.seq for message in step.messages if message.topic == evidence.verdict]
        seq = seqs[-1] if seqs else self._int("SELECT max(seq) FROM messages WHERE topic = ?", evidence.verdict)
        self._db.execute(
            "INSERT INTO evidence VALUES (?, ?, ?, ?, ?)",
            (evidence.coup, evidence.verdict, seq, at_utc_us, zlib.compress(evidence.log)),
        )

    def _insert_command(self, command: CommandRecord, at_utc_us: int) -> int:
        columns = (*CommandRecord.__struct_fields__, "received_utc_us")
        inserted = self._db.execute(
            f"INSERT INTO commands ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",  # noqa: S608
            (*msgspec.structs.astuple(command), at_utc_us),
        )
        return cast("int", inserted.lastrowid)

    def _decide(self, reply: Reply, at_utc_us: int) -> None:
        found = self._rows(
            "row, response_topic, correlation FROM commands WHERE id = ? AND done IS NULL ORDER BY row DESC LIMIT 1",
            reply.id,
        )
        command = CommandRecord(id=reply.id, name=reply.name, by=reply.by)
        if found:
            row = cast("int", found[0].pop("row"))
            command = msgspec.structs.replace(command, **found[0])
        else:
            row = self._insert_command(command, at_utc_us)
        self._close_command(row, at_utc_us, done=reply.done, why=reply.why)
        if reply.id is not None:
            self._insert_reply(command, reply.t_us, at_utc_us, done=reply.done, why=reply.why)

    def _close_command(self, row: int, at_utc_us: int, *, done: bool, why: str) -> None:
        self._db.execute(
            "UPDATE commands SET done = ?, why = ?, answered_utc_us = ? WHERE row = ?", (done, why, at_utc_us, row)
        )

    def _insert_reply(self, command: CommandRecord, t_us: int | None, at_utc_us: int, *, done: bool, why: str) -> None:
        payload = reply_payload(Reply(t_us or 0, command.id, command.name, command.by, done, why))
        self._db.execute(
            "INSERT INTO messages (topic, retained, payload, t_us, at_utc_us, state, response_topic, correlation)"
            " VALUES ('reply', 0, ?, ?, ?, 0, ?, ?)",
            (payload, t_us, at_utc_us, command.response_topic, command.correlation),
        )

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
            db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
        try:
            with self._guard():
                self._prepare(db, read_only=read_only)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection, *, read_only: bool) -> None:
        db.execute("PRAGMA cell_size_check = ON")
        owner, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
        if owner != APPLICATION_ID and not (empty and not read_only):
            raise JournalError("foreign", self.path, "this file is not a wheeld journal; set another journal.path")
        if version > SCHEMA_VERSION:
            why = f"written by a newer wheeld (schema {version}, this one knows {SCHEMA_VERSION}); install that version"
            raise JournalError("newer", self.path, why)
        if read_only:
            return
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        if empty:
            marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
            db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} {marks} COMMIT;")

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

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._guard():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                # SQLite has already rolled back after some failures (disk full among them).
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
