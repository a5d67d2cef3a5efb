"""Writes the journal: each step of the adjudicator, each command and each debt, in one transaction with its links.

The calls block. So the daemon makes them on a separate thread (`journal.Journal`). The command line makes them
directly.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from firmware_protocol.host import Position
from wheeld.core.catalogue import Catalogue, Language, translatable
from wheeld.core.messages.chain import GENESIS, SEQ_MAX, ChainError, unsigned, verify_link
from wheeld.core.step import RETAINED, Message, Reply, Step
from wheeld.journal.chain import (
    ADOPTION,
    ANSWER,
    COMMAND,
    EVENT,
    EVIDENCE,
    MESSAGE,
    PRUNING,
    SEAL,
    SENDER,
    Value,
    seal_bytes,
)
from wheeld.journal.database import Database
from wheeld.journal.elsewhere import refuse_behind, refuse_other_mode
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError, Mode, Signer, StoredAdoption, StoredEvent, StoredSeal
from wheeld.journal.seal import check_by, is_signed, sign_message
from wheeld.journal.tree import FeedTree
from wheeld.journal.verify import Patrol, verify_event
from wheeld.ports import CommandRecord, EventName, EventRecord, OwedMessage, Receipt

REPEAT_WINDOW_S = 600
"""If a command with the same id comes again within this time, it is the same command: at QoS 1, MQTT may deliver it
twice. After this time, a sender that counts from 1 after each restart may use the id again. A record that is
dated up to this much later counts, too, because the host's date may have been set back."""

UNFINISHED = translatable(
    "the daemon stopped before it decided this command; nothing was done; send the command again if it is still wanted"
)

ADOPTED_AT_ONCE = 1_000_000
"""How far an adoption may go beyond the journal's last number without `far`: at least four months of play. A busy table
plays a coup a minute and gives five to ten numbers for each, so at most 7,200 numbers in twelve hours. Anyone who may
publish `ack` could name any number, and a jump can never be undone."""

ADOPTED_SEQ_MAX = SEQ_MAX // 2
"""The last number that an adoption may reach, so that half of the numbers of a feed are left to continue with."""

MESSAGES_AT_ONCE = 250
"""How many messages are read at once to add them to the feed's tree: less than 1 MB of memory."""

PRUNED_AT_ONCE = 50
"""How many logs one transaction of `prune` removes. So the transaction takes no longer than the storing of a few
verdicts."""

_WINDOW_US = REPEAT_WINDOW_S * 1_000_000
_RECENT = "abs(received_utc_us - ?) < ?"

_INTEGER_MAX = 2**63 - 1  # The largest integer that SQLite holds.


class _Last(Mode):
    """What is read of the last message of the feed: `test`, and `prev`, with which the message's hash is checked."""

    prev: str = ""


class JournalWriter:
    """Writes the journal in `database`. `reader` reads it. Every call may raise `JournalError`.

    With a `signer` the journal can be sealed, and the messages of the feed are stored signed. `test`: the journal is of
    a bench table, and each stored reply is marked as a test.
    """

    def __init__(self, database: Database, *, signer: Signer | None = None, test: bool = False) -> None:
        self.database = database
        self.reader = JournalReader(database)
        self.signer = signer
        self.test = test
        self._check = None if signer is None else check_by(signer.public_key)
        self._trusted_from = 0
        self._recent_from: int | None = None
        self._sealed_n: int | None = None
        """The number of the last record that the last seal covers. None until it is looked up, which may take long."""
        self._patrol: Patrol | None = None

    def trust_from(self, message_id: int | None) -> None:
        """Remember that the stored messages from `message_id` on are verified. None: no stored message is verified."""
        self._trusted_from = self.reader.last_id() + 1 if message_id is None else message_id

    def close(self) -> None:
        """Close the file and let another process open it."""
        self.database.close()

    def stored_test(self) -> bool | None:
        """Return whether the stored feed is of a bench table, as its last message says. None if there is no message."""
        stored = self.reader.last_of_feed()
        if stored is None:
            return None
        seq, payload = stored
        self._refuse_unsigned(seq, payload)
        try:
            last = msgspec.json.decode(payload, type=_Last)
            verify_link(payload, last.prev)
        except (msgspec.MsgspecError, UnicodeDecodeError, ChainError) as error:
            raise JournalError("edited", self.database.path, f"seq {seq}: {error}") from error
        return last.test

    # --- messages and debts --------------------------------------------------------------------------------------

    def append(self, step: Step, at_utc_us: int, position: Position | None = None) -> None:
        """Store all of `step` in one transaction. After this returns, a power cut cannot undo any of it.

        `position` is how far the board's events had come.
        """
        with self.database.transaction():
            for message in step.messages:
                self._insert(message, at_utc_us)
            seqs = {kind: [m.seq for m in step.messages if m.topic == kind] for kind in ("result", "void")}
            for evidence in step.coup_logs:
                # The evidence belongs to the next verdict of its kind in this step, or else to the last stored one.
                of_kind, latest = seqs[evidence.verdict], "SELECT max(seq) FROM messages WHERE topic = ?"
                seq = of_kind.pop(0) if of_kind else self.database.integer(latest, evidence.verdict)
                packed = zlib.compress(evidence.log)
                self.database.record(
                    EVIDENCE,
                    coup=evidence.coup,
                    verdict=evidence.verdict,
                    seq=seq,
                    at_utc_us=at_utc_us,
                    digest=hashlib.sha256(evidence.log).digest(),
                    packed_digest=hashlib.sha256(packed).digest(),
                )
                self.database.execute(
                    "INSERT INTO logs VALUES (?, ?, ?, ?)", evidence.coup, at_utc_us, len(packed), packed
                )
            for reply in step.replies:
                self._decide(reply, at_utc_us)
            if step.memory is not None:
                self._keep("memory", zlib.compress(step.memory))  # uncompressed, it is most of what a step stores
            if position is not None:
                self._keep("position", msgspec.json.encode(position))

    def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """See `Store.owed`. If there is a key, every returned message of the feed is signed with it."""
        return self._signed(self.reader.owed(after_id, limit))

    def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        """See `Store.again`."""
        return self._signed(self.reader.again(from_seq, limit))

    def mark_sent(self, ids: Sequence[int], *, await_settlement: bool) -> None:
        """See `Store.mark_sent`. If a power cut undoes this, the messages are published again."""
        with self.database.transaction(waits=True):
            settled = self.reader.settled() if await_settlement else _INTEGER_MAX
            self.database.execute_each(
                "DELETE FROM debts WHERE id = ? AND coalesce(seq, 0) <= ?",
                [(message_id, settled) for message_id in ids],
            )
            self.database.execute_each(
                "UPDATE debts SET confirmed = 1 WHERE id = ?", [(message_id,) for message_id in ids]
            )

    def settle(self, seq: int) -> int:
        """See `Store.settle`. If a power cut undoes this, the messages are published and acknowledged again."""
        with self.database.transaction(waits=True):
            if seq > self.reader.settled():  # a repeated ack causes no write
                self._keep("settled", b"%d" % seq)
            return self.database.execute("DELETE FROM debts WHERE seq <= ? AND confirmed = 1", seq)

    def reopen_retained(self) -> None:
        """See `Store.reopen_retained`."""
        with self.database.transaction():
            self.database.execute(
                "INSERT OR REPLACE INTO debts SELECT id, seq, 0 FROM messages"
                " WHERE id IN (SELECT max(id) FROM messages WHERE retained = 1 GROUP BY topic)"
            )

    # --- what others have ----------------------------------------------------------------------------------------

    def begin_run(self) -> None:
        """Remember that messages stored from now on have not been compared with what others have."""
        if self.reader.unmet_from() is None:
            with self.database.transaction():
                self._keep("unmet_from", b"%d" % (self.reader.last_seq() + 1))

    def compare(self, retained: Mapping[str, bytes], *, settlement_ack: bool) -> None:
        """Raise JournalError if others have messages that this journal does not have. Otherwise note the comparison."""
        refuse_other_mode(self.reader, retained, test=self.test)
        restored_to = self.reader.restored_to(self.last_event("restored"))
        refuse_behind(self.reader, retained, settlement_ack=settlement_ack, restored_to=restored_to)
        if self.reader.unmet_from() is not None:
            with self.database.transaction():
                self.database.execute("DELETE FROM kept WHERE name = 'unmet_from'")

    def adopt(
        self, after_seq: int, last_hash: str, *, by: str, why: str, at_utc_us: int, far: bool = False
    ) -> StoredAdoption:
        """Continue after `after_seq`, which others have. `last_hash` is the hash of that message if it is known. `far`
        allows more than `ADOPTED_AT_ONCE` numbers beyond the journal's last.

        Numbers that this journal has given since it was last compared stay unpublished: others may have used them.
        """
        last_seq = self.reader.last_seq()
        if after_seq > ADOPTED_SEQ_MAX:
            why = (
                f"seq {after_seq} is too large for a wheel: too few numbers would be left after it. Ask again who "
                "gave you this number"
            )
            raise JournalError("conflict", self.database.path, f"{why}. Nothing was adopted")
        if after_seq - last_seq > ADOPTED_AT_ONCE and not far:
            why = (
                f"seq {after_seq} is more than {ADOPTED_AT_ONCE} numbers beyond the journal's last, {last_seq}: "
                "months of play. Nothing was adopted. The numbers between would be lost for ever, so ask the "
                f"settlement system which message it has last. If its last one is seq {after_seq}, give the command "
                "again with --far"
            )
            raise JournalError("conflict", self.database.path, why)
        first = self.reader.unmet_from() or last_seq + 1
        if first > max(after_seq, last_seq):
            raise JournalError(
                "conflict", self.database.path, f"it has every number up to {last_seq}: there is nothing to adopt"
            )
        adoption = StoredAdoption(
            first_seq=first,
            last_seq=max(after_seq, last_seq),
            hash=last_hash if after_seq >= last_seq else GENESIS,
            at_utc_us=at_utc_us,
            by=by,
            why=why,
        )
        with self.database.transaction():
            self.database.record(ADOPTION, **msgspec.structs.asdict(adoption))
            self.database.execute("DELETE FROM debts WHERE seq >= ?", first)
            self.database.execute("DELETE FROM kept WHERE name = 'unmet_from'")
        return adoption

    # --- sealing and retention -----------------------------------------------------------------------------------

    def seal(self, *, by: str, why: str, at_utc_us: int) -> StoredSeal | None:
        """Sign the head of everything stored so far. Returns None if there is no key, or nothing to seal."""
        with self.database.transaction():
            n, head = self.database.tip()
            if self.signer is None or n == 0:
                return None
            columns: dict[str, Value] = {
                "n": n,
                "head": head,
                "at_utc_us": at_utc_us,
                "by": by,
                "why": why,
                "key_id": self.signer.key_id,
            }
            columns["signature"] = self.signer.sign(seal_bytes(columns.values()))
            self.database.record(SEAL, **columns)
        self._sealed_n = n
        return msgspec.convert(columns, StoredSeal)

    def checkpoint(self) -> str | None:
        """Add the messages since the last checkpoint to the tree of the feed, and return its new checkpoint. None
        without a key."""
        with self.database.transaction():
            tree, adoption, origin = self.reader.tree(), self.reader.adoption(), self.reader.origin()
            if self.signer is None or origin is None:
                return None
            if adoption is not None and adoption.last_seq >= tree.first_seq:
                tree = FeedTree(first_seq=adoption.last_seq + 1)
            while page := self.again(tree.first_seq + tree.size, MESSAGES_AT_ONCE):
                for message in page:
                    tree.add(message.payload)
            self._keep("tree", msgspec.json.encode(tree))
            return tree.checkpoint(origin.site, origin.table_id, self.signer)

    def unsealed(self) -> int:
        """Return how many records come after the last seal. 0 if there is no key to seal with."""
        if self.signer is None:
            return 0
        if self._sealed_n is None:
            self._sealed_n = self.reader.last_sealed() or 0
        return self.database.tip()[0] - self._sealed_n

    def prune(self, now_utc_us: int, *, max_age_s: float | None = None, max_bytes: int | None = None) -> int:
        """Remove the oldest evidence: older than `max_age_s`, or beyond `max_bytes` on disk. Returns how many logs were
        removed.

        This is one short transaction: call it again until it returns 0. The digest of each log stays, and each removal
        is a record. Evidence of a verdict that is still owed stays. The file does not shrink, but its space is used
        again. Give `max_age_s` only while the host's date is trusted: a wrong year would remove everything.
        """
        with self.database.transaction():
            coups, why = [], "age"
            if max_age_s is not None:
                before_utc_us = now_utc_us - round(max_age_s * 1_000_000)
                coups = [coup for coup, _ in self._oldest("at_utc_us < ?", before_utc_us)]
            if not coups and max_bytes is not None:
                excess = self.database.integer("SELECT coalesce(sum(bytes), 0) FROM logs") - max_bytes
                why = "size"
                for coup, size in self._oldest("? > 0", excess):
                    if excess <= 0:
                        break
                    coups.append(coup)
                    excess -= size
            for coup in coups:
                self.database.record(PRUNING, coup=coup, at_utc_us=now_utc_us, why=why)
                self.database.execute("DELETE FROM logs WHERE coup = ?", coup)
            return len(coups)

    def _oldest(self, condition: str, value: int) -> list[tuple[Any, ...]]:
        """Return the oldest logs that may be removed, (coup, bytes), at most as many as one transaction removes."""
        query = (
            f"SELECT coup, bytes FROM logs WHERE {condition} AND coup NOT IN"  # noqa: S608
            " (SELECT coup FROM debts JOIN evidence ON evidence.seq = debts.seq) ORDER BY at_utc_us, coup LIMIT ?"
        )
        return self.database.rows(query, value, PRUNED_AT_ONCE)

    def patrol(self) -> bool:
        """Check a few more records. Returns False when all were checked. The next call then begins with the first one.

        Raises JournalError at the first fault.
        """
        if self._patrol is None:
            self._patrol = Patrol(self.reader)
        goes_on = self._patrol.step()
        if not goes_on:
            self._patrol = None
        return goes_on

    # --- what happens to the device -----------------------------------------------------------------------------

    def note(self, happened: EventRecord, at_utc_us: int) -> None:
        """Store an event record. Retention never removes event records."""
        with self.database.transaction():
            self.database.record(
                EVENT,
                event=happened.event,
                by=happened.by,
                why=happened.why,
                details=msgspec.json.encode(happened.details).decode(),
                at_utc_us=at_utc_us,
            )

    def last_event(self, *names: EventName) -> StoredEvent | None:
        """Return the newest event record with one of these names, verified. None if there is none."""
        found = self.reader.last_event(*names)
        if found is not None:
            verify_event(self.reader, found.row)
        return found

    # --- commands ----------------------------------------------------------------------------------------------

    def receive(self, command: CommandRecord, at_utc_us: int) -> Receipt:
        """See `CommandLog.receive`."""
        with self.database.transaction():
            # `_recent_from`: the first row in which an earlier delivery of this command may be. It only moves forward,
            # so each row is passed once, and weeks of commands with one id do not slow the next command.
            if self._recent_from is None:
                before = f"SELECT row FROM commands WHERE NOT {_RECENT} ORDER BY row DESC LIMIT 1"  # noqa: S608
                found = self.database.row(before, at_utc_us, _WINDOW_US)
                self._recent_from = 0 if found is None else int(found[0]) + 1
            query = f"SELECT row FROM commands WHERE row >= ? AND {_RECENT} ORDER BY row LIMIT 1"  # noqa: S608
            found = self.database.row(query, self._recent_from, at_utc_us, _WINDOW_US)
            last = "SELECT coalesce(max(row), 0) FROM commands"
            self._recent_from = self.database.integer(last) + 1 if found is None else int(found[0])
            earlier = self.database.row(
                "SELECT name, by, reason, details, done, why FROM commands"
                " LEFT JOIN senders USING (row) LEFT JOIN answers USING (row)"
                " WHERE id = ? AND row >= ? AND user IS ? AND abs(received_utc_us - ?) < ? ORDER BY row DESC LIMIT 1",
                command.id,
                self._recent_from,
                command.user,
                at_utc_us,
                _WINDOW_US,
            )
            if earlier is None:
                self._insert_command(command, at_utc_us)
                return Receipt.NEW
            *asked, done, why = earlier
            if asked != [command.name, command.by, command.reason, command.details]:
                return Receipt.CONFLICT
            if done is None:
                return Receipt.PENDING
            self._insert_reply(command, None, at_utc_us, done=bool(done), why=why)
            return Receipt.REPEATED

    def answer(self, reply: Reply, at_utc_us: int) -> None:
        """See `CommandLog.answer`."""
        with self.database.transaction():
            self._decide(reply, at_utc_us)

    def refuse(self, command: CommandRecord, why: str, at_utc_us: int) -> None:
        """See `CommandLog.refuse`."""
        with self.database.transaction():
            row = self._insert_command(command, at_utc_us)
            self.database.record(ANSWER, row=row, answered_utc_us=at_utc_us, done=False, why=why)
            self._insert_reply(command, None, at_utc_us, done=False, why=why)

    def answer_unfinished(self, at_utc_us: int, language: Language = "en") -> int:
        """Refuse the commands that a previous run received and did not decide. Returns how many there were."""
        why = Catalogue(language).say(UNFINISHED)
        with self.database.transaction():
            rows = self.database.rows(
                "SELECT id, name, user, by FROM commands LEFT JOIN senders USING (row)"
                " WHERE row NOT IN (SELECT row FROM answers) ORDER BY row"
            )
            for command_id, name, user, by in rows:
                self._decide(Reply(0, command_id, name, by, done=False, why=why, user=user), at_utc_us)
            return len(rows)

    # --- what the writer itself calls --------------------------------------------------------------------------

    def _signed(self, messages: list[OwedMessage]) -> list[OwedMessage]:
        """Return the messages. Raises JournalError if a message that must be signed is not signed."""
        for message in messages:
            if message.seq is not None and message.id < self._trusted_from:
                self._refuse_unsigned(message.seq, message.payload)
        return messages

    def _refuse_unsigned(self, seq: int, payload: bytes) -> None:
        if self._check is None:
            return
        try:
            is_ours = is_signed(payload, self._check)
        except ChainError:
            is_ours = False
        if not is_ours:
            raise JournalError("edited", self.database.path, f"seq {seq}: not signed by this journal's key")

    def _keep(self, name: str, value: bytes) -> None:
        self.database.execute(
            "INSERT INTO kept VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", name, value
        )

    def _insert(self, message: Message, at_utc_us: int) -> None:
        payload, seq = message.payload, message.seq
        if seq is not None:
            # Each number of the feed has one payload, and there is no gap. A program that breaks this rule must write
            # no more.
            last_seq = self.reader.last_seq()
            if seq != last_seq + 1:
                stored = self.database.row("SELECT topic, payload FROM messages WHERE seq = ?", seq)
                if stored is not None and (stored[0], unsigned(stored[1])) == (message.topic, payload):
                    return
                problem = f"seq {seq} after {last_seq}" if stored is None else f"seq {seq} is stored with other bytes"
                why = f"{problem}: refused; this is a fault in the program, report it"
                raise JournalError("conflict", self.database.path, why)
            if self.signer is not None:
                payload = sign_message(payload, self.signer)
        self._insert_message(
            topic=message.topic,
            seq=seq,
            retained=message.retained or message.topic in RETAINED,
            payload=payload,
            t_us=message.t_us,
            at_utc_us=at_utc_us,
        )

    def _insert_message(self, **columns: Value) -> None:
        message_id = self.database.record(MESSAGE, **columns)
        self.database.execute("INSERT INTO debts VALUES (?, ?, 0)", message_id, columns.get("seq"))

    def _insert_command(self, command: CommandRecord, at_utc_us: int) -> int:
        columns = msgspec.structs.asdict(command)
        user = columns.pop("user")
        row = self.database.record(COMMAND, **columns, received_utc_us=at_utc_us)
        if user is not None:
            self.database.record(SENDER, row=row, user=user)
        return row

    def _decide(self, reply: Reply, at_utc_us: int) -> None:
        found = self.database.named_rows(
            "SELECT row, response_topic, correlation FROM commands LEFT JOIN senders USING (row)"
            " WHERE id = ? AND user IS ? AND row NOT IN (SELECT row FROM answers) ORDER BY row DESC LIMIT 1",
            reply.id,
            reply.user,
        )
        command = CommandRecord(id=reply.id, name=reply.name, user=reply.user, by=reply.by)
        if found:
            row = cast("int", found[0].pop("row"))
            command = msgspec.structs.replace(command, **found[0])
        else:
            row = self._insert_command(command, at_utc_us)
        self.database.record(ANSWER, row=row, answered_utc_us=at_utc_us, done=reply.done, why=reply.why)
        if reply.id is not None:
            self._insert_reply(command, reply.t_us, at_utc_us, done=reply.done, why=reply.why, last_seq=reply.last_seq)

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
        reply = Reply(t_us or 0, command.id, command.name, command.by, done, why, last_seq, command.user, self.test)
        self._insert_message(
            topic="reply",
            retained=False,
            payload=reply.payload,
            t_us=t_us,
            at_utc_us=at_utc_us,
            response_topic=command.response_topic,
            correlation=command.correlation,
        )
