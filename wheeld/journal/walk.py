"""The walk along the chain. It checks each link against the link before, and each record against its link and the rules
of its kind.

Of the links before, it needs only the last one. So it may begin after a seal, and may take a few links at a time.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple, TypeAlias

import msgspec

from wheeld.core.messages.chain import GENESIS, ChainError, hash_of, signature, verify_closed
from wheeld.journal.chain import (
    ADOPTION,
    EVIDENCE,
    FIRST_HEAD,
    KINDS,
    MESSAGE,
    ORIGIN,
    SEAL,
    Link,
    digest_of,
    head_of,
    seal_bytes,
)
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import Check, KeyFileError, check_by, is_signed, key_id

Record: TypeAlias = tuple[bytes | None, ...]
"""The columns of one record, as they are stored."""

_TYPES: Final = (int, str, int, bytes, bytes)
"""The types of a link's columns."""

UTC_US_MAX = 253_402_300_800_000_000
"""The year 10,000, at which the calendar of Python ends."""

FAULTS_MAX = 20
"""How many faults are reported. Further faults mostly follow from the first. The report says if there are more."""


class Sealed(msgspec.Struct, frozen=True):
    """The last good seal. Up to record `n` the journal is what it was when `by` sealed it."""

    n: int
    at_utc_us: int
    by: str
    why: str
    key_id: str


class Verification(msgspec.Struct, kw_only=True):
    """What a verification found. The journal is unchanged if `faults` is empty."""

    records: int = 0
    head: bytes = FIRST_HEAD
    messages: int = 0
    sequenced: int = 0
    signed: int = 0
    """How many messages of the feed have a signature."""
    is_keyed: bool = False
    """Whether the journal was begun with a key."""
    signatures: int = 0
    """How many signatures of messages were checked."""
    is_end_checked: bool = False
    """Whether the signatures of the tail and the seals were checked."""
    tests: int = 0
    """How many messages of the feed are of a bench table."""
    last_seq: int = 0
    last_hash: str = GENESIS
    coups: int = 0
    pruned: int = 0
    sealed: Sealed | None = None
    faults: list[str] = msgspec.field(default_factory=list)

    def blame(self, fault: str) -> None:
        """Note a fault."""
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(fault)
        elif len(self.faults) == FAULTS_MAX:
            self.faults.append("and more")


class _Told(msgspec.Struct):
    """The members of a message of the feed that are compared with the record."""

    seq: int
    hash: str
    test: bool = False


_TOLD: Final = msgspec.json.Decoder(_Told)


class _InFeed(NamedTuple):
    """Where in the feed a fault is. Its text is made only for the few messages that have a fault."""

    seq: bytes
    link: Link | None = None

    def __str__(self) -> str:
        where = "" if self.link is None else f" ({self.link})"
        return f"seq {self.seq.decode(errors='replace')}{where}"


class Walk:
    """Checks link after link.

    The walk begins after record `after_n`, whose head is `head`. With 0, it checks all records. It always checks the
    seals, but the signature of each message only with `each_signature`.
    """

    def __init__(
        self, journal: JournalReader, *, after_n: int = 0, head: bytes = FIRST_HEAD, each_signature: bool = True
    ) -> None:
        origin = journal.origin()
        self.key = None if origin is None else origin.public_key
        """The public key with which the journal was begun."""
        self.check: Check | None = None
        """Checks signatures of this key. None without a key, or without the library: then no signature is verified."""
        if self.key is not None:
            with suppress(KeyFileError):
                self.check = check_by(self.key)
        is_keyed, is_end_checked = self.key is not None, self.check is not None
        self.report = Verification(records=after_n, head=head, is_keyed=is_keyed, is_end_checked=is_end_checked)
        self.counts: Counter[str] = Counter()
        self.last_refs: dict[str, int] = {}
        """The last key of each kind that the walk has passed."""
        self.unordered: set[str] = set()
        """The kinds whose keys do not grow along the chain. Two links may be of the same record only for these
        kinds."""
        self.first_id: int | None = None
        """The id of the first message that the walk has passed. None before that."""
        self._journal = journal
        self._check_message_by = self.check if each_signature else None
        self._is_in_feed = after_n == 0
        self._logs: Mapping[int, tuple[int, int, bytes]] = {}
        self._pruned: Mapping[int, Record] = {}
        if (n := journal.link_before_first()) is not None:
            self.report.blame(f"record {n}: inserted, the first record is 1")

    def go(self, limit: int) -> bool:
        """Check up to `limit` more links. Returns whether there were any. Raises JournalError for a damaged file."""
        links = self._journal.links(self.report.records, limit)
        # A value of a wrong type in a link is damage to the file: no statement could store it. Links in a wrong order
        # could make the walk endless.
        after_n = self.report.records
        for link in links:
            if tuple(map(type, link)) != _TYPES or link.n <= after_n:
                why = f"the file is damaged where record {after_n + 1} should be"
                raise JournalError("corrupt", self._journal.database.path, why)
            after_n = link.n
        if links:
            span = links[0].n, links[-1].n
            kinds = {link.kind for link in links}
            records = {kind: self._journal.linked(kind, *span) for kind in kinds & KINDS.keys()}
            if EVIDENCE.name in kinds:
                self._logs, self._pruned = self._journal.packed_logs(*span), self._journal.pruned(*span)
            for link in links:
                rows = records.get(link.kind)
                report, (n, kind, ref, digest, head) = self.report, link
                if n != report.records + 1:
                    report.blame(f"record {report.records + 1}: removed, the next one is record {n}")
                elif head != head_of(n, report.head, kind, ref, digest):
                    report.blame(f"record {n}: its link does not follow the one before: edited, moved or inserted")
                if rows is None:
                    report.blame(f"{link}: no such kind")
                else:
                    self.counts[kind] += 1
                    if ref <= self.last_refs.get(kind, ref - 1):
                        self.unordered.add(kind)
                    self.last_refs[kind] = ref
                    self._check_record(link, rows.get(ref))
                report.records, report.head = n, head
        return bool(links)

    def _check_record(self, link: Link, columns: Record | None) -> None:
        if columns is None:
            self.report.blame(f"{link}: removed")
            return
        kind = link.kind
        if digest_of(columns) != link.digest:
            self.report.blame(f"{link}: edited")
        if (kind == ORIGIN.name) is not (link.n == 1):
            self.report.blame(f"{link}: a journal begins with its origin, and has only one")
        if kind == MESSAGE.name:
            self._check_message(link, columns)
        elif kind == EVIDENCE.name:
            self._check_log(link, columns)
        elif kind == SEAL.name:
            self._check_seal(link, columns)
        elif kind == ADOPTION.name:
            self._check_adoption(link, columns)

    # --- evidence ----------------------------------------------------------------------------------------------

    def _check_log(self, where: Link, columns: Record) -> None:
        self.report.coups += 1
        at_utc_us, digest, packed_digest = columns[3:]
        stored = self._logs.get(where.ref)
        is_pruned = where.ref in self._pruned
        if stored is None:
            if not is_pruned:
                self.report.blame(f"{where}: its log was removed")
            self.report.pruned += 1
            return
        told = (b"%a" % stored[0], stored[1])
        # Extra bytes after the log, or the same log compressed in another way, count as an edit too.
        if is_pruned or told != (at_utc_us, len(stored[2])) or hashlib.sha256(stored[2]).digest() != packed_digest:
            self.report.blame(f"{where}: its log was edited")
            return
        try:
            is_whole = hashlib.sha256(zlib.decompress(stored[2])).digest() == digest
        except zlib.error:
            is_whole = False
        if not is_whole:
            self.report.blame(f"{where}: its log does not have its digest")

    # --- seals ---------------------------------------------------------------------------------------------------

    def _check_seal(self, where: Link, columns: Record) -> None:
        n = where.ref
        _, head, at_utc_us, by, why, sealer, signed = (column or b"" for column in columns)
        changed = f"a record up to {n} is not the one that was stored"
        if (n, head) != (self.report.records, self.report.head):
            self.report.blame(f"{where}: not what was sealed: {changed}")
        elif self.key is None or sealer != key_id(self.key).encode():
            self.report.blame(f"{where}: sealed by another key, {sealer.decode(errors='replace')}")
        elif self.check is not None and not self.check(signed, seal_bytes(columns[:-1])):
            self.report.blame(f"{where}: the signature is false: {changed}")
        elif not (at_utc_us.isdigit() and int(at_utc_us) < UTC_US_MAX):
            self.report.blame(f"{where}: the date of its seal is not a date: edited")
        else:
            texts = (text.decode(errors="replace") for text in (by, why, sealer))
            self.report.sealed = Sealed(n, int(at_utc_us), *texts)

    # --- the feed ------------------------------------------------------------------------------------------------

    def _check_adoption(self, where: Link, columns: Record) -> None:
        """Check the numbers of an adoption, which another journal gave. The feed continues after them."""
        first, last, digest = (column or b"" for column in columns[1:4])
        report = self.report
        if not (first.isdigit() and last.isdigit()):
            report.blame(f"{where}: its numbers are not numbers")
            return
        if not self._is_in_feed:
            self._enter_feed(int(first))
        # An adoption may begin with numbers that stored messages have already: these messages were never published.
        if not 1 <= int(first) <= report.last_seq + 1 or int(last) < max(int(first), report.last_seq):
            report.blame(f"{where}: its numbers do not follow seq {report.last_seq}")
            return
        report.last_seq, report.last_hash = int(last), digest.decode(errors="replace")

    def _check_message(self, link: Link, columns: Record) -> None:
        self.report.messages += 1
        self.first_id = link.ref if self.first_id is None else self.first_id
        seq, payload = columns[2], columns[4] or b""
        if seq is None:
            return
        if not self._is_in_feed:
            self._enter_feed(int(seq) if seq.isdigit() else 1)
        # Check what a subscriber checks: numbers without a gap, and in each `prev` the hash of the message before.
        where = _InFeed(seq, link)
        report = self.report
        if seq != b"%d" % (report.last_seq + 1):
            report.blame(f"{where}: it follows seq {report.last_seq}")
        try:
            told = _TOLD.decode(payload)
            if seq != b"%d" % told.seq:
                report.blame(f"{where}: its payload says seq {told.seq}")
            report.tests += told.test
            report.last_hash, in_base64 = verify_closed(payload, report.last_hash)
            self._check_signature(where, payload, in_base64)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            report.blame(f"{where}: its payload is not a message of the feed ({error})")
        except ChainError as error:
            report.blame(f"{where}: {error}")
            report.last_hash = told.hash
        report.sequenced += 1
        report.last_seq = int(seq) if seq.isdigit() else report.last_seq + 1

    def _enter_feed(self, seq: int) -> None:
        """Start in the middle of the feed: note the message before `seq`, because message `seq` has to follow it."""
        self._is_in_feed = True
        before = self._journal.message(seq - 1)
        adopted = self._journal.adoption_to(seq - 1)
        if adopted is not None:  # if this journal has a message `seq - 1` too, that message was never published
            self.report.last_seq, self.report.last_hash = seq - 1, adopted.hash
        elif before is not None:
            self._check_signature(_InFeed(b"%d" % (seq - 1)), before.payload, signature(before.payload))
            self.report.last_seq, self.report.last_hash = seq - 1, hash_of(before.payload).decode()

    def _check_signature(self, where: _InFeed, payload: bytes, in_base64: bytes | None) -> None:
        """Check that a message of the feed is signed if the journal has a key, and only then. Raises ChainError."""
        has_one = in_base64 is not None
        self.report.signed += has_one
        if has_one and self.key is None:
            self.report.blame(f"{where}: signed, and this journal has no key")
        elif self.key is not None and not has_one:
            self.report.blame(f"{where}: its signature is missing")
        elif self._check_message_by is not None:
            self.report.signatures += 1
            if not is_signed(payload, self._check_message_by):
                self.report.blame(f"{where}: its signature is not by this journal's key")
