"""What can be asked of an open journal: messages, debts, commands, evidence, and the chain over them."""

from __future__ import annotations

import zlib

import msgspec

from wheeld.journal.chain import KINDS, Link
from wheeld.journal.database import Database
from wheeld.journal.rows import (
    JournalError,
    StoredCommand,
    StoredEvidence,
    StoredMessage,
    StoredPruning,
)
from wheeld.ports import OwedMessage

_PACKED = "ifnull(CAST(packed AS BLOB), x'')"
"""A log of another kind than was stored, as damage to the file may make it, is a damaged log."""
_MESSAGE = "messages.*, CASE WHEN debts.id IS NULL THEN 2 ELSE confirmed END AS state"

_OWED = (
    "SELECT debts.id, topic, payload, messages.seq, retained AND debts.id = (SELECT max(id)"
    " FROM messages AS newer WHERE newer.topic = messages.topic AND newer.retained = 1),"
    " response_topic, correlation FROM debts JOIN messages ON messages.id = debts.id"
)
_NEWEST_ANSWERS = (
    "debts.id IN (SELECT id FROM debts WHERE id > ? ORDER BY id DESC LIMIT 64) AND topic = 'reply'"
    " AND json_extract(CAST(payload AS TEXT), '$.name') IS NOT 'resend' ORDER BY debts.id"
)
"""Whoever commanded just now finds its answer among the last debts: a batch goes out faster than people can command,
and to look further would read a backlog of days for each batch. The answer to `resend` means that all it brings has
come, so it keeps its turn."""


class JournalReader(Database):
    """An open journal, for whoever asks. Every call raises `JournalError`."""

    def memory(self) -> bytes | None:
        """What the core asked to be given back after a restart, as last stored."""
        return self._kept("memory")

    def seen_to(self) -> bytes | None:
        """Up to where the sensors' events have led to what is stored, as last told."""
        return self._kept("seen_to")

    def _kept(self, name: str) -> bytes | None:
        with self._guard():
            row = self._db.execute("SELECT value FROM kept WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    # --- messages ----------------------------------------------------------------------------------------------

    def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """Up to `limit` messages not yet settled with an id above `after_id`, in publication order.

        Before them, where there are more, come the newest answers from behind them, marked `ahead`: somebody waits.
        """
        with self._guard():
            turn = self._owed("debts.id > ? ORDER BY debts.id LIMIT ?", after_id, limit)
            if len(turn) < limit:
                return turn
            answers = self._owed(_NEWEST_ANSWERS, turn[-1].id)
        return [*(msgspec.structs.replace(answer, ahead=True) for answer in answers), *turn]

    def depth(self) -> int:
        """How many messages are owed."""
        with self._guard():
            return self._int("SELECT count(*) FROM debts")

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
        return self._messages("messages.seq >= ? ORDER BY messages.seq", from_seq, limit)

    def records(self, after_id: int, limit: int) -> list[StoredMessage]:
        """Up to `limit` messages of every topic with an id above `after_id`, in publication order."""
        return self._messages("messages.id > ? ORDER BY messages.id", after_id, limit)

    def last_id(self) -> int:
        """The id of the newest message that was ever stored, even if someone has removed it since."""
        with self._guard():
            return self._int("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages'")

    # --- commands and evidence ---------------------------------------------------------------------------------

    def commands(self, after_row: int, limit: int) -> list[StoredCommand]:
        """Up to `limit` commands from the log after row `after_row`, oldest first."""
        rows = self._rows(
            "* FROM commands LEFT JOIN answers USING (row) WHERE row > ? ORDER BY row LIMIT ?", after_row, limit
        )
        return [msgspec.convert(row, StoredCommand, strict=False) for row in rows]

    def coups(self) -> list[int]:
        """The coups whose evidence is stored, in order; what retention took is not among them."""
        with self._guard():
            return [row[0] for row in self._db.execute("SELECT coup FROM logs ORDER BY coup")]

    def evidence(self, coup: int) -> StoredEvidence | None:
        """What was observed for one coup; raises JournalError when the stored log is damaged."""
        with self._guard():
            row = self._db.execute(
                f"SELECT coup, verdict, seq, evidence.at_utc_us, digest, {_PACKED} FROM evidence JOIN logs USING (coup)"  # noqa: S608
                " WHERE coup = ?",
                (coup,),
            ).fetchone()
        if row is None:
            return None
        number, verdict, seq, at_utc_us, digest, packed = row
        try:
            log = zlib.decompress(packed)
        except zlib.error as error:
            raise JournalError("corrupt", self.path, f"evidence of coup {coup} is damaged ({error})") from error
        return StoredEvidence(coup=number, verdict=verdict, seq=seq, at_utc_us=at_utc_us, digest=digest, log=log)

    def packed_log(self, coup: int) -> bytes | None:
        """The log of one coup as it is on disk (zlib), None when it is not there."""
        with self._guard():
            found = self._db.execute(f"SELECT {_PACKED} FROM logs WHERE coup = ?", (coup,)).fetchone()  # noqa: S608
        return None if found is None else bytes(found[0])

    def pruning(self, coup: int) -> StoredPruning | None:
        """When and why the evidence of one coup was removed, None when it was not."""
        rows = self._rows("* FROM prunings WHERE coup = ?", coup)
        return msgspec.convert(rows[0], StoredPruning) if rows else None

    # --- the chain ---------------------------------------------------------------------------------------------

    def links(self, after_n: int, limit: int) -> list[Link]:
        """Up to `limit` links of the chain after number `after_n`, in order."""
        with self._guard():
            rows = self._db.execute("SELECT * FROM chain WHERE n > ? ORDER BY n LIMIT ?", (after_n, limit))
            return [Link(*row) for row in rows]

    def record(self, kind: str, ref: int) -> tuple[bytes | None, ...] | None:
        """The columns of one record, as `canonical` takes them; None when it is not there."""
        chosen = KINDS[kind]
        query = f"SELECT {chosen.canonical_columns} FROM {chosen.table} WHERE {chosen.key} = ?"  # noqa: S608
        with self._guard():
            found = self._db.execute(query, (ref,)).fetchone()
        return None if found is None else tuple(found)

    def unlinked(self, kind: str) -> int | None:
        """The first record of this kind that no link holds."""
        table, key = KINDS[kind].table, KINDS[kind].key
        query = f"SELECT min({key}) FROM {table} WHERE {key} NOT IN (SELECT ref FROM chain WHERE kind = ?)"  # noqa: S608
        with self._guard():
            found: int | None = self._db.execute(query, (kind,)).fetchone()[0]
        return found

    def counts(self, kind: str) -> tuple[int, int]:
        """How many records of this kind there are, and how many links hold one: a doubled key shows here."""
        query = f"SELECT (SELECT count(*) FROM {KINDS[kind].table}), count(*) FROM chain WHERE kind = ?"  # noqa: S608
        with self._guard():
            rows, links = self._db.execute(query, (kind,)).fetchone()
        return rows, links

    def cut_off(self, kind: str) -> tuple[int, int] | None:
        """The first and last key that SQLite has given to records of this kind which are no longer at the end."""
        table, key = KINDS[kind].table, KINDS[kind].key
        query = f"SELECT (SELECT coalesce(max({key}), 0) FROM {table}), seq FROM sqlite_sequence WHERE name = ?"  # noqa: S608
        with self._guard():
            row = self._db.execute(query, (table,)).fetchone()
        return None if row is None or row[1] <= row[0] else (row[0] + 1, row[1])

    # --- inside ------------------------------------------------------------------------------------------------

    def _owed(self, condition: str, *values: object) -> list[OwedMessage]:
        rows = self._db.execute(f"{_OWED} WHERE {condition}", values).fetchall()
        return [
            OwedMessage(id=i, topic=topic, payload=payload, seq=seq, retain=bool(r), response_topic=to, correlation=c)
            for i, topic, payload, seq, r, to, c in rows
        ]

    def _messages(self, condition: str, start: int, limit: int) -> list[StoredMessage]:
        rows = self._rows(
            f"{_MESSAGE} FROM messages LEFT JOIN debts USING (id) WHERE {condition} LIMIT ?", start, limit
        )
        return [msgspec.convert(row, StoredMessage, strict=False) for row in rows]
