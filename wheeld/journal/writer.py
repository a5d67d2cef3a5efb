"""Writing the journal: each step of the adjudicator, each command, each debt, in one transaction with its links.

Blocking code for one thread: the daemon reaches it through `journal.Journal`, the command line directly.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import msgspec

from wheeld.core.messages.chain import unsigned
from wheeld.core.messages.payloads import reply_payload
from wheeld.core.step import RETAINED, CoupLog, Message, Reply, Step
from wheeld.journal.chain import ANSWER, COMMAND, EVIDENCE, MESSAGE, PRUNING, SEAL, Value, seal_bytes
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import CommandRecord, JournalError, Receipt, Signer, StoredSeal
from wheeld.journal.seal import sign_message

REPEAT_WINDOW_S = 600
"""A command that comes again within this time, with the same id, is the same one delivered twice (MQTT QoS 1 may).
Later a sender that counts from 1 after each restart may use the id anew; nor earlier, where the date was set back."""

UNFINISHED = "the daemon stopped before it was decided; nothing was done, send it again if it still holds"

PRUNED_AT_ONCE = 50
"""Logs that one transaction of `prune` removes: nothing waits for the disk longer than for a few verdicts."""

_SEQ_MAX = 2**63 - 1  # the largest integer that SQLite holds


class JournalFile(JournalReader):
    """One open journal. `read_only` reads beside a running daemon; otherwise the file is locked for this process.

    With a `signer` it can be sealed, and the messages of the feed are stored signed.
    """

    def __init__(self, path: Path, *, read_only: bool = False, signer: Signer | None = None) -> None:
        self._signer = signer
        super().__init__(path, read_only=read_only)

    # --- writing -----------------------------------------------------------------------------------------------

    def append(self, step: Step, at_utc_us: int, seen_to: bytes | None = None) -> None:
        """Store all of `step` in one transaction: after this returns, a power cut takes nothing of it back.

        `seen_to` says, in its owner's words, up to where the sensors' events have led to what is stored.
        """
        with self._transaction():
            for message in step.messages:
                self._insert(message, at_utc_us)
            seqs = {kind: [m.seq for m in step.messages if m.topic == kind] for kind in ("result", "void")}
            for evidence in step.coup_logs:
                self._insert_evidence(evidence, seqs[evidence.verdict], at_utc_us)
            for reply in step.replies:
                self._decide(reply, at_utc_us)
            if step.memory is not None:
                self._keep("memory", step.memory)
            if seen_to is not None:
                self._keep("seen_to", seen_to)

    def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """The broker has `ids`. With `await_settlement` sequenced ones stay owed until the settlement core's ack."""
        with self._transaction():
            settled = self._settled() if await_settlement else _SEQ_MAX
            self._db.executemany(
                "DELETE FROM debts WHERE id = ? AND coalesce(seq, 0) <= ?",
                [(message_id, settled) for message_id in ids],
            )
            self._db.executemany("UPDATE debts SET confirmed = 1 WHERE id = ?", [(message_id,) for message_id in ids])

    def settle(self, seq: int) -> int:
        """Close every sequenced message up to `seq` that the broker has; returns how many. Older acks do nothing.

        One that is owed to the broker again (after `reopen_retained`) closes when the broker has it.
        """
        with self._transaction():
            self._keep("settled", max(seq, self._settled()))
            return self._db.execute("DELETE FROM debts WHERE seq <= ? AND confirmed = 1", (seq,)).rowcount

    def reopen(self, from_seq: int) -> int:
        """Owe every sequenced message from `from_seq` again; returns the id of the first, 0 when there is none."""
        with self._transaction():
            self._keep("settled", min(from_seq - 1, self._settled()))
            self._owe("seq >= ?", from_seq)
            return self._int("SELECT coalesce(min(id), 0) FROM messages WHERE seq >= ?", from_seq)

    def reopen_retained(self) -> None:
        """Owe the newest message of each retained topic again."""
        with self._transaction():
            self._owe("id IN (SELECT max(id) FROM messages WHERE retained = 1 GROUP BY topic)")

    # --- sealing and retention -----------------------------------------------------------------------------------

    def seal(self, *, by: str, why: str, at_utc_us: int) -> StoredSeal | None:
        """Sign the head of everything stored so far; None when there is no key, or nothing to seal."""
        with self._transaction():
            n, head = self.tip()
            if self._signer is None or n == 0:
                return None
            told: dict[str, Value] = {
                "n": n,
                "head": head,
                "at_utc_us": at_utc_us,
                "by": by,
                "why": why,
                "key_id": self._signer.key_id,
            }
            told["signature"] = self._signer.sign(seal_bytes(told.values()))
            self._record(SEAL, **told)
        return msgspec.convert(told, StoredSeal)

    def prune(self, now_utc_us: int, *, max_age_s: float | None = None, max_bytes: int | None = None) -> int:
        """Remove the oldest evidence: older than `max_age_s`, or beyond `max_bytes` on disk; returns how many logs.

        One short transaction: call again until it returns 0. Its digest stays, and the removal is a record itself.
        Evidence of a verdict that is still owed stays. The file does not shrink; its space is used again. Only to be
        called while the host's clock is trusted, or a wrong year would remove everything.
        """
        with self._transaction():
            victims = [] if max_age_s is None else self._beyond_age(now_utc_us - round(max_age_s * 1_000_000))
            why = "age"
            if not victims and max_bytes is not None:
                victims, why = self._beyond_size(max_bytes), "size"
            for coup in victims:
                self._record(PRUNING, coup=coup, at_utc_us=now_utc_us, why=why)
                self._db.execute("DELETE FROM logs WHERE coup = ?", (coup,))
            return len(victims)

    # --- commands ----------------------------------------------------------------------------------------------

    def receive(self, command: CommandRecord, at_utc_us: int) -> Receipt:
        """Note a command before anything is done about it. One that was answered already gets the same answer again."""
        with self._transaction():
            earlier = self._db.execute(
                "SELECT name, by, reason, details, done, why FROM commands LEFT JOIN answers USING (row)"
                " WHERE id = ? AND abs(received_utc_us - ?) < ? ORDER BY row DESC LIMIT 1",
                (command.id, at_utc_us, REPEAT_WINDOW_S * 1_000_000),
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
            rows = self._db.execute(
                "SELECT id, name, by FROM commands WHERE row NOT IN (SELECT row FROM answers) ORDER BY row"
            ).fetchall()
            for command_id, name, by in rows:
                self._decide(Reply(0, command_id, name, by, done=False, why=UNFINISHED), at_utc_us)
            return len(rows)

    # --- inside ------------------------------------------------------------------------------------------------

    def _keep(self, name: str, value: bytes | int) -> None:
        self._db.execute(
            "INSERT INTO kept VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (name, value)
        )

    def _settled(self) -> int:
        return self._int("SELECT coalesce(max(value), 0) FROM kept WHERE name = 'settled'")

    def _owe(self, condition: str, *values: object) -> None:
        self._db.execute(f"INSERT OR REPLACE INTO debts SELECT id, seq, 0 FROM messages WHERE {condition}", values)  # noqa: S608

    def _beyond_age(self, before_utc_us: int) -> list[int]:
        """Coups of the oldest logs stored before then."""
        return [coup for coup, _ in self._oldest("at_utc_us < ?", before_utc_us)]

    def _beyond_size(self, max_bytes: int) -> list[int]:
        """Coups of the oldest logs that have to go for the rest to fit."""
        excess = self._int("SELECT coalesce(sum(bytes), 0) FROM logs") - max_bytes
        victims = []
        for coup, size in self._oldest("? > 0", excess):
            if excess <= 0:
                break
            victims.append(coup)
            excess -= size
        return victims

    def _oldest(self, condition: str, value: int) -> list[tuple[int, int]]:
        """The oldest logs that may go, (coup, bytes), as many as one transaction removes."""
        query = (
            f"SELECT coup, bytes FROM logs WHERE {condition} AND coup NOT IN"  # noqa: S608
            " (SELECT coup FROM debts JOIN evidence ON evidence.seq = debts.seq) ORDER BY at_utc_us, coup LIMIT ?"
        )
        return self._db.execute(query, (value, PRUNED_AT_ONCE)).fetchall()

    def _insert(self, message: Message, at_utc_us: int) -> None:
        payload = message.payload
        if message.seq is not None:
            if self._is_stored(message.seq, message):
                return
            if self._signer is not None:
                payload = sign_message(payload, self._signer)
        self._insert_message(
            topic=message.topic,
            seq=message.seq,
            retained=message.topic in RETAINED,
            payload=payload,
            t_us=message.t_us,
            at_utc_us=at_utc_us,
        )

    def _insert_message(self, **columns: Value) -> None:
        """Store a message, owed from now on."""
        message_id = self._record(MESSAGE, **columns)
        self._db.execute("INSERT INTO debts VALUES (?, ?, 0)", (message_id, columns.get("seq")))

    def _is_stored(self, seq: int, message: Message) -> bool:
        """The feed promises one payload a number and no gap; a program that breaks either must not write on."""
        last_seq = self._int("SELECT coalesce(max(seq), 0) FROM messages")
        if seq == last_seq + 1:
            return False
        stored = self._db.execute("SELECT topic, payload FROM messages WHERE seq = ?", (seq,)).fetchone()
        if stored is not None and (stored[0], unsigned(stored[1])) == (message.topic, message.payload):
            return True
        problem = f"seq {seq} after {last_seq}" if stored is None else f"seq {seq} is stored with other bytes"
        raise JournalError("conflict", self.path, f"{problem}: refused; this is a fault in the program, report it")

    def _insert_evidence(self, evidence: CoupLog, seqs: list[int | None], at_utc_us: int) -> None:
        """Beside the next verdict of its kind in the same step, or, when it comes later, the latest of its kind."""
        latest = "SELECT max(seq) FROM messages WHERE topic = ?"
        seq = seqs.pop(0) if seqs else self._int(latest, evidence.verdict)
        packed = zlib.compress(evidence.log)
        self._record(
            EVIDENCE,
            coup=evidence.coup,
            verdict=evidence.verdict,
            seq=seq,
            at_utc_us=at_utc_us,
            digest=hashlib.sha256(evidence.log).digest(),
        )
        self._db.execute("INSERT INTO logs VALUES (?, ?, ?, ?)", (evidence.coup, at_utc_us, len(packed), packed))

    def _insert_command(self, command: CommandRecord, at_utc_us: int) -> int:
        return self._record(COMMAND, **msgspec.structs.asdict(command), received_utc_us=at_utc_us)

    def _decide(self, reply: Reply, at_utc_us: int) -> None:
        found = self._rows(
            "row, response_topic, correlation FROM commands WHERE id = ? AND row NOT IN (SELECT row FROM answers)"
            " ORDER BY row DESC LIMIT 1",
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
            self._insert_reply(command, reply.t_us, at_utc_us, done=reply.done, why=reply.why, last_seq=reply.last_seq)

    def _close_command(self, row: int, at_utc_us: int, *, done: bool, why: str) -> None:
        self._record(ANSWER, row=row, answered_utc_us=at_utc_us, done=done, why=why)

    def _insert_reply(
        self,
        command: CommandRecord,
        t_us: int | None,
        at_utc_us: int,
        *,
        done: bool,
        why: str,
        last_seq: int | None = None,
    ) -> None:
        payload = reply_payload(Reply(t_us or 0, command.id, command.name, command.by, done, why, last_seq))
        self._insert_message(
            topic="reply",
            retained=False,
            payload=payload,
            t_us=t_us,
            at_utc_us=at_utc_us,
            response_topic=command.response_topic,
            correlation=command.correlation,
        )
