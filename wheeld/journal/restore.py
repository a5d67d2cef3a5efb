"""Makes the lost journal of a wheel again from the records of the feed that its house has, as they were published.

The file of the house (`wheeld-house records`) has one message on each line, in the order of `seq`. Its last line is the
newest checkpoint, if there is one. The file is not trusted: if the wheel has a key, every message and the checkpoint
must have its signature, and each message must have the hash of the message before.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO

import msgspec

from wheeld.core.instants import from_text
from wheeld.core.law.published import PublishedState
from wheeld.core.messages.chain import GENESIS, SEQ_MAX, verify_closed
from wheeld.core.messages.payloads import FeedGap
from wheeld.core.step import RETAINED, SEQUENCED
from wheeld.errors import WheeldError
from wheeld.journal.chain import ADOPTION, MESSAGE
from wheeld.journal.opening import Owner
from wheeld.journal.rows import Restoration
from wheeld.journal.seal import check_by, is_signed
from wheeld.journal.tree import FeedTree
from wheeld.journal.writer import JournalWriter
from wheeld.ports import EventRecord

RECORDS_AT_ONCE = 1_000
"""How many records one transaction stores: about 2 MB."""

LOST = (
    "what only the earlier journal had is lost: evidence, commands and answers, notices, and event records before this"
)


class RestoreError(WheeldError, ValueError):
    """The file is not what this wheel published, so no journal is made from it. The text names the message and the
    fault."""


class _Place(msgspec.Struct):
    """The place in the feed of the message on a line. A line with a `checkpoint` is not a message."""

    seq: int | None = None
    gap: FeedGap | None = None
    checkpoint: str | None = None


class _Message(msgspec.Struct):
    schema: str
    site: str
    table: str
    at: str
    t_us: int
    seq: int
    prev: str
    test: bool = False
    gap: FeedGap | None = None


class _Records:
    """The records in a file that belong in the journal. A message may report earlier messages as lost. The lost
    messages do not belong in the journal: the wheel no longer had them, and another key may have signed them."""

    def __init__(self, file: BinaryIO, owner: Owner, journal: JournalWriter) -> None:
        self._file, self._owner, self._signer = file, owner, journal.signer
        self._check = None if journal.signer is None else check_by(journal.signer.public_key)
        self._gaps: list[FeedGap] = []
        self._noted: str | None = None
        self._is_noted_proven = False
        self.tree, self.seq, self.hash = FeedTree(), 0, GENESIS
        self.table = PublishedState()

    def verified(self) -> Iterator[tuple[bytes, _Message]]:
        """Yield each record after it was checked. Raises RestoreError at the first wrong record."""
        # First find the checkpoint, and the numbers that are reported as lost.
        for number, line in enumerate(self._file, 1):
            if self._noted is not None:
                raise RestoreError("something follows its checkpoint, which must be its last line")
            place = _read(number, line, _Place)
            self._noted = place.checkpoint
            if place.gap is not None:
                self._gaps.append(place.gap)
        self._file.seek(0)
        for number, line in enumerate(self._file, 1):
            place, payload = _read(number, line, _Place), line.removesuffix(b"\n")
            if place.checkpoint is not None or any(
                gap.first_seq <= (place.seq or 0) <= gap.last_seq for gap in self._gaps
            ):
                continue
            message = _read(number, line, _Message)
            try:
                self._take(payload, message)
            except (msgspec.MsgspecError, ValueError) as wrong:
                raise RestoreError(f"seq {message.seq}: {wrong}") from wrong
            yield payload, message
        if self.seq == 0:
            raise RestoreError("it has no record")
        if self._noted is not None and not self._is_noted_proven:
            raise RestoreError(
                "the checkpoint at its end is not of these records: some were cut off at the end, or it is another "
                "wheel's or another key's"
            )

    def _take(self, payload: bytes, message: _Message) -> None:
        """Take this record, if it follows the last one and the wheel published it. Raises msgspec.MsgspecError,
        ValueError."""
        topic, gap = message.schema.removesuffix("/1"), message.gap
        if topic not in SEQUENCED or not 0 < message.seq < SEQ_MAX:
            raise ValueError(f"{message.schema} is not a message of a feed")
        if (message.site, message.table) != (self._owner.site, self._owner.table):
            raise ValueError(f"it is of {message.site}/{message.table}, but this wheel is {self._owner}")
        if message.test is not self._owner.test:
            raise ValueError("a bench table and a live table never share a journal")
        if gap is not None:
            if not 0 < gap.first_seq <= self.seq + 1 <= gap.last_seq == message.seq - 1:
                raise ValueError(f"the numbers that it reports as lost do not lie between seq {self.seq} and this one")
            self.seq, self.hash = gap.last_seq, message.prev
            self.tree = FeedTree(first_seq=message.seq)
        if message.seq != self.seq + 1:
            raise ValueError(f"it follows seq {self.seq}: records are missing, doubled or moved")
        self.hash, in_base64 = verify_closed(payload, self.hash)
        if self._check is None and in_base64 is not None:
            raise ValueError(
                "it is signed, and this wheel's configuration names no key: give it the wheel's own (signing_key_file)"
            )
        # Several texts in base64 mean the same signature, but a wheel writes only one of them.
        if self._check is not None and (
            in_base64 is None
            or base64.b64encode(base64.b64decode(in_base64)) != in_base64
            or not is_signed(payload, self._check)
        ):
            raise ValueError(
                "it is not signed with this wheel's key: it is forged, or the wheel has a new key. A new key begins a "
                "new journal (/usr/share/doc/wheeld/docs/journal.md)"
            )
        self.seq = message.seq
        self.table.take(topic, payload, from_text(message.at))
        self.tree.add(payload)
        # A key always makes the same signature of a text. So if the tree is the same, our checkpoint is the same text
        # as the house's.
        if (
            self._noted is not None
            and self._signer is not None
            and f"/{self.tree.first_seq}\n{self.tree.size}\n" in self._noted
        ):
            ours = self.tree.checkpoint(self._owner.site, self._owner.table, self._signer)
            self._is_noted_proven = self._noted.startswith(ours)


def restore(journal: JournalWriter, file: BinaryIO, owner: Owner, *, by: str, why: str, at_utc_us: int) -> int:
    """Fill the new journal of `owner` with the records in `file`, and seal it. Returns the number of the last message.
    `by` and `why`: who restores it, and why. Raises RestoreError, JournalError; then the journal must not be used."""
    database, records = journal.database, _Records(file, owner, journal)
    verified = records.verified()
    while page := list(islice(verified, RECORDS_AT_ONCE)):
        with database.transaction():
            for payload, message in page:
                # The message was published, so it is not owed. A receiver that does not have it asks for it (`resend`).
                topic, said_utc_us = message.schema.removesuffix("/1"), from_text(message.at)
                if message.gap is not None:
                    adoption = msgspec.structs.asdict(message.gap)
                    database.record(ADOPTION, **adoption, hash=message.prev, at_utc_us=said_utc_us)
                database.record(
                    MESSAGE,
                    topic=topic,
                    seq=message.seq,
                    retained=topic in RETAINED,
                    payload=payload,
                    t_us=message.t_us,
                    at_utc_us=said_utc_us,
                )
    restoration = Restoration(last_seq=records.seq, hash=records.hash, note=LOST)
    journal.note(EventRecord(event="restored", by=by, why=why, details=msgspec.structs.asdict(restoration)), at_utc_us)
    with database.transaction():
        memory = zlib.compress(msgspec.json.encode(records.table.state))
        database.execute("INSERT INTO kept VALUES ('memory', ?)", memory)
        # All stored messages were published before. So they need not be compared with what others have.
        database.execute("DELETE FROM kept WHERE name = 'unmet_from'")
    journal.checkpoint()
    journal.seal(by=by, why=why, at_utc_us=at_utc_us)
    return records.seq


def _read(number: int, line: bytes, to: type[Any]) -> Any:
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(line, type=to)
    raise RestoreError(
        f"line {number} is not a record: the file is another one, or it was cut or changed on its way from the house"
    )
