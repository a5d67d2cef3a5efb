"""Reads an open journal: messages, debts, commands, evidence, and the chain over them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from firmware_protocol.host import Position
from wheeld.journal.chain import EVIDENCE, KINDS, PRUNING, Link
from wheeld.journal.database import Database
from wheeld.journal.rows import (
    JournalError,
    Restoration,
    StoredAdoption,
    StoredCommand,
    StoredEvent,
    StoredEvidence,
    StoredMessage,
    StoredOrigin,
    StoredPruning,
    StoredTail,
)
from wheeld.journal.tree import FeedTree
from wheeld.ports import EventName, OwedMessage

T = TypeVar("T")

PAGE = 1000
"""How many rows a loop over all rows reads at a time."""

_PACKED = "ifnull(CAST(packed AS BLOB), x'')"
"""The log as bytes. If damage to the file has changed its type, it is read as a damaged log."""

_MESSAGE = "messages.*, CASE WHEN debts.id IS NULL THEN 2 ELSE confirmed END AS state"

_TO_PUBLISH = (
    "SELECT messages.id, topic, payload, messages.seq, retained AND messages.id = (SELECT max(id)"
    " FROM messages AS newer WHERE newer.topic = messages.topic AND newer.retained = 1),"
    " response_topic, correlation FROM messages"
)
_NOT_ADOPTED = "NOT EXISTS (SELECT 1 FROM adoptions WHERE seq BETWEEN first_seq AND last_seq)"
"""Others have different messages with the adopted numbers. So our messages with these numbers are never sent again."""

_NEWEST_ANSWERS = (
    "debts.id IN (SELECT id FROM debts WHERE id > ? ORDER BY id DESC LIMIT 64) AND topic = 'reply'"
    " AND json_extract(CAST(payload AS TEXT), '$.name') IS NOT 'resend' ORDER BY debts.id"
)
"""The answer to a recent command is among the last debts, because a batch is published faster than people can send
commands. A search without a limit would read a backlog of days for each batch. The answer to `resend` means that all
requested messages have come, so it never comes before them."""


class JournalReader:
    """Reads the journal in `database`. Every call may raise `JournalError`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    # --- whose journal it is -------------------------------------------------------------------------------------

    def origin(self) -> StoredOrigin | None:
        """Return whose journal it is, as its first record says. None if the journal was not begun."""
        rows = self.database.named_rows("SELECT site, table_id, public_key FROM origins ORDER BY row LIMIT 1")
        return self._converted(rows, StoredOrigin)

    def adoption(self) -> StoredAdoption | None:
        """Return the last adoption. None if there is none."""
        rows = self.database.named_rows("SELECT * FROM adoptions ORDER BY row DESC LIMIT 1")
        return self._converted(rows, StoredAdoption)

    def adoption_of(self, seq: int) -> StoredAdoption | None:
        """Return the adoption that contains `seq`. None if there is none."""
        rows = self.database.named_rows("SELECT * FROM adoptions WHERE ? BETWEEN first_seq AND last_seq", seq)
        return self._converted(rows, StoredAdoption)

    def gap_due(self) -> StoredAdoption | None:
        """Return the last adoption if no message follows it: the next message must report the gap. Otherwise None."""
        adoption = self.adoption()
        last = self.database.integer("SELECT coalesce(max(seq), 0) FROM messages")
        if adoption is None or last > adoption.last_seq:
            return None
        while (before := self.adoption_to(adoption.first_seq - 1)) is not None:  # somebody adopted twice before a start
            adoption = msgspec.structs.replace(adoption, first_seq=before.first_seq)
        return adoption

    def adoption_to(self, seq: int) -> StoredAdoption | None:
        """Return the adoption whose last number is `seq`. None if there is none."""
        rows = self.database.named_rows("SELECT * FROM adoptions WHERE last_seq = ?", seq)
        return self._converted(rows, StoredAdoption)

    # --- what a restart reads ------------------------------------------------------------------------------------

    def memory(self) -> bytes | None:
        """Return the last stored memory, which the core needs after a restart. Raises JournalError if it is damaged."""
        stored = self._kept("memory")
        if stored is None or stored.startswith(b"{"):  # this is JSON, which an earlier version did not compress
            return stored
        try:
            return zlib.decompress(stored)
        except zlib.error as error:
            raise JournalError("corrupt", self.database.path, f"the memory is damaged ({error})") from error

    def position(self) -> Position | None:
        """Return how far the board's events had come when something was last stored. Raises errors of msgspec."""
        stored = self._kept("position")
        return None if stored is None else msgspec.json.decode(stored, type=Position)

    def settled(self) -> int:
        """Return the number up to which the settlement core has acknowledged every message."""
        return int(self._kept("settled") or b"0")

    def kept(self) -> list[tuple[str, bytes]]:
        """Return everything that a restart reads, by name."""
        return [(name, value) for name, value in self.database.rows("SELECT name, value FROM kept ORDER BY name")]

    def debts(self) -> Iterator[tuple[int, int | None, int]]:
        """Yield each debt as it is stored: id, seq, and whether the broker has confirmed the message."""
        last_id = -(2**63)
        while page := self.database.rows("SELECT * FROM debts WHERE id > ? ORDER BY id LIMIT 1000", last_id):
            yield from page
            last_id = page[-1][0]

    def tail(self) -> StoredTail | None:
        """Return the tail that the last transaction wrote. None if there is none."""
        rows = self.database.named_rows("SELECT n, head, kept, debts, signature FROM tail WHERE one = 1")
        return self._converted(rows, StoredTail)

    def unmet_from(self) -> int | None:
        """Return the first number that must still be compared with what others have. None if there is none."""
        kept = self._kept("unmet_from")
        return None if kept is None else int(kept)

    def tree(self) -> FeedTree:
        """Return the feed's tree at its last checkpoint. Without a checkpoint, return a tree without leaves."""
        stored = self._kept("tree")
        try:
            return FeedTree() if stored is None else msgspec.json.decode(stored, type=FeedTree)
        except msgspec.MsgspecError as error:
            raise JournalError("edited", self.database.path, f"the tree of the feed: {error}") from error

    def _kept(self, name: str) -> bytes | None:
        row = self.database.row("SELECT value FROM kept WHERE name = ?", name)
        return None if row is None else bytes(row[0])

    # --- messages ----------------------------------------------------------------------------------------------

    def owed(self, after_id: int, limit: int) -> list[OwedMessage]:
        """See `Store.owed`. The newest answers come first only if `limit` messages or more are owed."""
        in_order = self._owed("debts.id > ? ORDER BY debts.id LIMIT ?", after_id, limit)
        if len(in_order) < limit:
            return in_order
        answers = self._owed(_NEWEST_ANSWERS, in_order[-1].id)
        return [*(msgspec.structs.replace(answer, ahead=True) for answer in answers), *in_order]

    def again(self, from_seq: int, limit: int) -> list[OwedMessage]:
        """See `Store.again`."""
        condition = f"seq >= ? AND {_NOT_ADOPTED} ORDER BY seq LIMIT ?"
        return _to_publish(self.database.rows(f"{_TO_PUBLISH} WHERE {condition}", from_seq, limit))

    def depth(self) -> int:
        """See `Store.depth`."""
        return self.database.integer("SELECT count(*) FROM debts")

    def last_seq(self) -> int:
        """See `Store.last_seq`. Adopted numbers count too."""
        return self.database.integer(
            "SELECT max(coalesce((SELECT max(seq) FROM messages), 0),"
            " coalesce((SELECT max(last_seq) FROM adoptions), 0))"
        )

    def last_of_feed(self) -> tuple[int, bytes] | None:
        """Return the number and the payload of the last stored message of the feed. None if there is none."""
        query = "SELECT seq, CAST(payload AS BLOB) FROM messages WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1"
        row = self.database.row(query)
        return None if row is None else (int(row[0]), bytes(row[1]))

    def message(self, seq: int) -> StoredMessage | None:
        """Return the message with this sequence number. None if there is none."""
        found = self.messages(seq, 1)
        return found[0] if found and found[0].seq == seq else None

    def messages(self, from_seq: int, limit: int) -> list[StoredMessage]:
        """Return up to `limit` sequenced messages from `from_seq` on, in the order of their numbers."""
        return self._messages("messages.seq >= ? ORDER BY messages.seq", from_seq, limit)

    def last_verdicts(self, limit: int) -> list[StoredMessage]:
        """Return the last `limit` verdicts, oldest first."""
        newest = "SELECT seq FROM messages WHERE topic IN ('result', 'void') ORDER BY seq DESC LIMIT ?"
        (first,) = self.database.rows(f"SELECT coalesce(min(seq), 0) FROM ({newest})", limit)[0]  # noqa: S608
        return self._messages("messages.seq >= ? AND topic IN ('result', 'void') ORDER BY messages.seq", first, limit)

    def records(self, after_id: int, limit: int) -> list[StoredMessage]:
        """Return up to `limit` messages of all topics with an id above `after_id`, in publication order."""
        return self._messages("messages.id > ? ORDER BY messages.id", after_id, limit)

    def all_records(self) -> Iterator[StoredMessage]:
        """Yield every message, in publication order."""
        last_id = 0
        while page := self.records(last_id, PAGE):
            yield from page
            if page[-1].id <= last_id:
                raise JournalError("corrupt", self.database.path, f"messages after {last_id} are out of their order")
            last_id = page[-1].id

    def last_id(self) -> int:
        """Return the id of the newest message that was ever stored, even if somebody has removed it since."""
        return self.database.integer("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages'")

    # --- commands and evidence ---------------------------------------------------------------------------------

    def commands(self, after_row: int, limit: int) -> list[StoredCommand]:
        """Return up to `limit` commands of the log after row `after_row`, oldest first."""
        rows = self.database.named_rows(
            "SELECT * FROM commands LEFT JOIN senders USING (row) LEFT JOIN answers USING (row)"
            " WHERE row > ? ORDER BY row LIMIT ?",
            after_row,
            limit,
        )
        return [msgspec.convert(row, StoredCommand, strict=False) for row in rows]

    def coups(self) -> list[int]:
        """Return the coups whose evidence is stored, in order. Evidence that retention has removed is left out."""
        return [row[0] for row in self.database.rows("SELECT coup FROM logs ORDER BY coup")]

    def evidence(self, coup: int) -> StoredEvidence | None:
        """Return the evidence of one coup. None if it is not stored. Raises JournalError if the log is damaged."""
        row = self.database.row(
            f"SELECT coup, verdict, seq, evidence.at_utc_us, digest, {_PACKED} FROM evidence JOIN logs USING (coup)"  # noqa: S608
            " WHERE coup = ?",
            coup,
        )
        if row is None:
            return None
        number, verdict, seq, at_utc_us, digest, packed = row
        try:
            log = zlib.decompress(packed)
        except zlib.error as error:
            why = f"evidence of coup {coup} is damaged ({error})"
            raise JournalError("corrupt", self.database.path, why) from error
        return StoredEvidence(coup=number, verdict=verdict, seq=seq, at_utc_us=at_utc_us, digest=digest, log=log)

    def pruning(self, coup: int) -> StoredPruning | None:
        """Return when and why the evidence of one coup was removed. None if it was not removed."""
        rows = self.database.named_rows("SELECT * FROM prunings WHERE coup = ?", coup)
        return msgspec.convert(rows[0], StoredPruning) if rows else None

    # --- what happened to the device -----------------------------------------------------------------------------

    def events(self, after_row: int, limit: int) -> list[StoredEvent]:
        """Return up to `limit` event records after row `after_row`, oldest first."""
        rows = self.database.named_rows("SELECT * FROM events WHERE row > ? ORDER BY row LIMIT ?", after_row, limit)
        return [msgspec.convert(row, StoredEvent) for row in rows]

    def places_of_events(self) -> dict[int, int]:
        """Return, by the row of each event record, the id of the last message before it in the chain, or 0."""
        places: dict[int, int] = {}
        before = "SELECT ref FROM chain WHERE n < ? AND kind = 'message' ORDER BY n DESC LIMIT 1"
        for n, row in self.database.rows("SELECT n, ref FROM chain WHERE kind = 'event'"):
            message = self.database.row(before, n)
            places[row] = 0 if message is None else message[0]
        return places

    def last_event(self, *names: EventName) -> StoredEvent | None:
        """Return the newest event record with one of these names. None if there is none."""
        marks = ", ".join("?" * len(names))
        rows = self.database.named_rows(
            f"SELECT * FROM events WHERE event IN ({marks}) ORDER BY row DESC LIMIT 1",  # noqa: S608
            *names,
        )
        return self._converted(rows, StoredEvent)

    def restored_to(self, restored: StoredEvent | None) -> int:
        """Return the last number of the feed that the house gave back, as the event `restored` says, or else 0."""
        try:
            return 0 if restored is None else msgspec.json.decode(restored.details, type=Restoration).last_seq
        except msgspec.MsgspecError as error:
            raise JournalError("edited", self.database.path, f"its event `restored`: {error}") from error

    # --- the chain ---------------------------------------------------------------------------------------------

    def links(self, after_n: int, limit: int) -> list[Link]:
        """Return up to `limit` links of the chain after number `after_n`, in order."""
        rows = self.database.rows("SELECT * FROM chain WHERE n > ? ORDER BY n LIMIT ?", after_n, limit)
        return [Link._make(row) for row in rows]

    def link_before_first(self) -> int | None:
        """Return the number of a link that comes before link 1, where no walk would find it. None if there is none."""
        row = self.database.row("SELECT min(n) FROM chain WHERE n < 1")
        return None if row is None else row[0]

    def link_of(self, kind: str, ref: int) -> Link | None:
        """Return the link of this record. None if there is none. The keys of this kind must grow along the chain.

        The link is found by a binary search, so that a chain of years is not read for an old record.
        """
        low, high = 1, self.database.tip()[0] + 1
        query = "SELECT * FROM chain WHERE n >= ? AND n < ? AND kind = ? ORDER BY n LIMIT 1"
        while low < high:
            middle = (low + high) // 2
            row = self.database.row(query, middle, high, kind)
            link = None if row is None else Link(*row)
            if link is not None and link.ref == ref:
                return link
            if link is None or link.ref > ref:
                high = middle
            else:
                low = link.n + 1
        return None

    def record(self, kind: str, ref: int) -> tuple[bytes | None, ...] | None:
        """Return the columns of one record, as `canonical` takes them. None if the record is missing."""
        chosen = KINDS[kind]
        query = f"SELECT {chosen.canonical_columns} FROM {chosen.table} WHERE {chosen.key} = ?"  # noqa: S608
        return self.database.row(query, ref)

    def linked(self, kind: str, first_n: int, last_n: int) -> dict[int, tuple[bytes | None, ...]]:
        """Return, by key, the columns of all records of this kind in the links from `first_n` to `last_n`."""
        of = KINDS[kind]
        return self._of_links(of.key, of.canonical_columns, of.table, kind, first_n, last_n)

    def packed_logs(self, first_n: int, last_n: int) -> dict[int, tuple[int, int, bytes]]:
        """Return, by coup, the logs of the evidence in the links from `first_n` to `last_n`, as the logs are on disk:
        when each log was stored, its size, and its bytes (zlib)."""
        return self._of_links("coup", f"at_utc_us, bytes, {_PACKED}", "logs", EVIDENCE.name, first_n, last_n)

    def pruned(self, first_n: int, last_n: int) -> dict[int, tuple[bytes | None, ...]]:
        """Return, by coup, the removals of the evidence in the links from `first_n` to `last_n`."""
        return self._of_links(PRUNING.key, PRUNING.canonical_columns, PRUNING.table, EVIDENCE.name, first_n, last_n)

    def _of_links(
        self, key: str, columns: str, table: str, kind: str, first_n: int, last_n: int
    ) -> dict[int, tuple[Any, ...]]:
        rows = self.database.rows(
            f"SELECT {table}.{key}, {columns} FROM chain CROSS JOIN {table} ON {table}.{key} = ref"  # noqa: S608
            " WHERE chain.n BETWEEN ? AND ? AND kind = ?",
            first_n,
            last_n,
            kind,
        )
        return {row[0]: row[1:] for row in rows}

    def unlinked(self, kind: str) -> int | None:
        """Return the key of the first record of this kind that is in no link. None if there is none."""
        table, key = KINDS[kind].table, KINDS[kind].key
        query = f"SELECT min({key}) FROM {table} WHERE {key} NOT IN (SELECT ref FROM chain WHERE kind = ?)"  # noqa: S608
        ((found,),) = self.database.rows(query, kind)
        return None if found is None else int(found)

    def count(self, kind: str) -> int:
        """Return how many records of this kind are stored."""
        return self.database.integer(f"SELECT count(*) FROM {KINDS[kind].table}")  # noqa: S608

    def count_logs(self) -> int:
        """Return how many coups have a stored log."""
        return self.database.integer("SELECT count(*) FROM logs")

    def foreign_log(self) -> int | None:
        """Return the first coup that has a log and no evidence record. None if there is none."""
        ((found,),) = self.database.rows("SELECT min(coup) FROM logs WHERE coup NOT IN (SELECT coup FROM evidence)")
        return None if found is None else int(found)

    def last_sealed(self) -> int | None:
        """Return the number of the last record that the last seal covers. None without a seal."""
        row = self.database.row("SELECT ref FROM chain WHERE kind = 'seal' ORDER BY n DESC LIMIT 1")
        return None if row is None else int(row[0])

    def sealed_from(self, n: int) -> int | None:
        """Find the first seal over record `n`. Return the last record that it covers. None if there is no such seal."""
        row = self.database.row("SELECT min(n) FROM heads WHERE n >= ?", n)
        return None if row is None or row[0] is None else int(row[0])

    def cut_off(self, kind: str) -> tuple[int, int] | None:
        """Return the last stored key of this kind, and the last key that SQLite gave. None if they are the same."""
        table, key = KINDS[kind].table, KINDS[kind].key
        query = f"SELECT (SELECT coalesce(max({key}), 0) FROM {table}), seq FROM sqlite_sequence WHERE name = ?"  # noqa: S608
        query += " AND typeof(seq) = 'integer'"  # `foreign_counter` reports a counter of another type
        row = self.database.row(query, table)
        return None if row is None or row[1] == row[0] else (row[0], row[1])

    def foreign_counter(self) -> str | None:
        """Return the name of a counter that SQLite did not make: it is for another table, or a second counter for one
        table, or not a number. None if there is none."""
        row = self.database.row(
            "SELECT quote(name) FROM sqlite_sequence GROUP BY name HAVING count(*) > 1 OR name IS NULL"
            " OR name NOT IN ('messages', 'commands', 'events') OR typeof(min(seq)) <> 'integer'"
        )
        return None if row is None else str(row[0])

    # --- what the reader itself calls --------------------------------------------------------------------------

    def _converted(self, rows: list[dict[str, Any]], to: type[T]) -> T | None:
        """Return the first row as a structure, or None. Raises JournalError at a value of a wrong type."""
        try:
            return msgspec.convert(rows[0], to) if rows else None
        except msgspec.ValidationError as error:
            raise JournalError("corrupt", self.database.path, f"a row is damaged ({error})") from error

    def _owed(self, condition: str, *values: object) -> list[OwedMessage]:
        return _to_publish(self.database.rows(f"{_TO_PUBLISH} JOIN debts USING (id) WHERE {condition}", *values))

    def _messages(self, condition: str, start: int, limit: int) -> list[StoredMessage]:
        rows = self.database.named_rows(
            f"SELECT {_MESSAGE} FROM messages LEFT JOIN debts USING (id) WHERE {condition} LIMIT ?",  # noqa: S608
            start,
            limit,
        )
        return [msgspec.convert(row, StoredMessage, strict=False) for row in rows]


def _to_publish(rows: list[tuple[Any, ...]]) -> list[OwedMessage]:
    return [
        OwedMessage(id=i, topic=topic, payload=payload, seq=seq, retain=bool(r), response_topic=to, correlation=c)
        for i, topic, payload, seq, r, to, c in rows
    ]
