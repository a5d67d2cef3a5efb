"""The walk along the chain: each link against the one before, each record against its link, and what a record says.

It needs nothing but what it has passed, so it may begin behind a seal, and may be made a few links at a time.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter

import msgspec

from wheeld.core.messages.chain import GENESIS, ChainError, hash_of, signature, verify_link
from wheeld.journal.chain import (
    ADOPTION,
    EVIDENCE,
    FIRST_HEAD,
    KINDS,
    MESSAGE,
    ORIGIN,
    PRUNING,
    SEAL,
    Link,
    digest_of,
    follow,
    seal_bytes,
)
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError, StoredOrigin
from wheeld.journal.seal import Check, is_signed, key_id

UTC_US_MAX = 253_402_300_800_000_000
"""The year 10,000, in which the calendar ends."""

FAULTS_MAX = 20
"""Further faults mostly follow from the first; the report says that there are more."""


class Sealed(msgspec.Struct, frozen=True):
    """The last good seal: up to record `n` the journal is what it was when `by` sealed it."""

    n: int
    at_utc_us: int
    by: str
    why: str
    key_id: str


class Verification(msgspec.Struct, kw_only=True):
    """What was found; the journal is whole when `faults` is empty."""

    records: int = 0
    head: bytes = FIRST_HEAD
    messages: int = 0
    sequenced: int = 0
    signed: int = 0
    tests: int = 0
    """Messages of the feed that are a bench table's."""
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


class _Link(msgspec.Struct):
    seq: int
    hash: str
    test: bool = False


class Walk:
    """Takes link after link. `origin` is whose journal it is, `check` checks its key's signatures, where that can be.

    It begins after record `after_n`, whose head is `head`: 0 for all of it.
    """

    def __init__(
        self,
        journal: JournalReader,
        origin: StoredOrigin | None,
        check: Check | None,
        *,
        after_n: int = 0,
        head: bytes = FIRST_HEAD,
    ) -> None:
        self.report = Verification(records=after_n, head=head)
        self.counts: Counter[str] = Counter()
        self.first_id: int | None = None
        """The first message that it has passed; None before."""
        self._journal = journal
        self._key = None if origin is None else origin.public_key
        self._check = check
        self._is_in_feed = after_n == 0

    @property
    def is_keyed(self) -> bool:
        """Whether the journal was begun with a key."""
        return self._key is not None

    def go(self, limit: int) -> bool:
        """Take up to `limit` links; returns whether there were any. Raises JournalError for a damaged file."""
        links = self._journal.links(self.report.records, limit)
        for link in links:
            self._refuse_damage(link)
            self._take(link)
        return bool(links)

    def _refuse_damage(self, link: Link) -> None:
        """Raises JournalError for a link that no statement can have stored: only damage to the file makes one."""
        # Links out of their order could make the walk endless.
        kinds, after_n = tuple(type(value) for value in link), self.report.records
        if kinds != (int, str, int, bytes, bytes) or link.n <= after_n:
            why = f"the file is damaged where record {after_n + 1} should be"
            raise JournalError("corrupt", self._journal.database.path, why)

    def _take(self, link: Link) -> None:
        """Check one link, and the record that it holds."""
        report = self.report
        if link.n != report.records + 1:
            report.blame(f"record {report.records + 1}: removed, the next one is record {link.n}")
        elif link != follow(report.records, report.head, link.kind, link.ref, link.digest):
            report.blame(f"record {link.n}: its link does not follow the one before: edited, moved or inserted")
        self._check_record(link)
        report.records, report.head = link.n, link.head

    def _check_record(self, link: Link) -> None:
        where = f"record {link.n} ({link.kind} {link.ref})"
        if link.kind not in KINDS:
            self.report.blame(f"{where}: no such kind")
            return
        self.counts[link.kind] += 1
        columns = self._journal.record(link.kind, link.ref)
        if columns is None:
            self.report.blame(f"{where}: removed")
            return
        if digest_of(columns) != link.digest:
            self.report.blame(f"{where}: edited")
        if (link.kind == ORIGIN.name) is not (link.n == 1):
            self.report.blame(f"{where}: a journal begins with its origin, and has one")
        if link.kind == MESSAGE.name:
            self._check_message(where, link.ref, columns)
        elif link.kind == EVIDENCE.name:
            self._check_log(where, link.ref, columns)
        elif link.kind == SEAL.name:
            self._check_seal(where, link.ref, columns)
        elif link.kind == ADOPTION.name:
            self._check_adoption(where, columns)

    # --- evidence ----------------------------------------------------------------------------------------------

    def _check_log(self, where: str, coup: int, columns: tuple[bytes | None, ...]) -> None:
        self.report.coups += 1
        at_utc_us, digest, packed_digest = columns[3:]
        stored = self._journal.packed_log(coup)
        is_pruned = self._journal.record(PRUNING.name, coup) is not None
        if stored is None:
            if not is_pruned:
                self.report.blame(f"{where}: its log was removed")
            self.report.pruned += 1
            return
        told = (b"%a" % stored[0], stored[1])
        # Also what stands behind the log in the same bytes, or is the same log packed in another way, is not ours.
        if is_pruned or told != (at_utc_us, len(stored[2])) or hashlib.sha256(stored[2]).digest() != packed_digest:
            self.report.blame(f"{where}: its log was edited")
        elif not _holds(stored[2], digest):
            self.report.blame(f"{where}: its log is not the one of its digest")

    # --- seals ---------------------------------------------------------------------------------------------------

    def _check_seal(self, where: str, n: int, columns: tuple[bytes | None, ...]) -> None:
        _, head, at_utc_us, by, why, sealer, signed = (column or b"" for column in columns)
        changed = f"a record up to {n} is not the one that was stored"
        if (n, head) != (self.report.records, self.report.head):
            self.report.blame(f"{where}: not what was sealed: {changed}")
        elif self._key is None or sealer != key_id(self._key).encode():
            self.report.blame(f"{where}: sealed by another key, {sealer.decode(errors='replace')}")
        elif self._check is not None and not self._check(signed, seal_bytes(columns[:-1])):
            self.report.blame(f"{where}: the signature is false: {changed}")
        elif not (at_utc_us.isdigit() and int(at_utc_us) < UTC_US_MAX):
            self.report.blame(f"{where}: the date of its seal is no date: edited")
        else:
            texts = (text.decode(errors="replace") for text in (by, why, sealer))
            self.report.sealed = Sealed(n, int(at_utc_us), *texts)

    # --- the feed ------------------------------------------------------------------------------------------------

    def _check_adoption(self, where: str, columns: tuple[bytes | None, ...]) -> None:
        """Numbers that another journal gave: the feed goes on behind them."""
        first, last, digest = (column or b"" for column in columns[1:4])
        report = self.report
        if not (first.isdigit() and last.isdigit()):
            report.blame(f"{where}: its numbers are no numbers")
            return
        if not self._is_in_feed:
            self._enter_feed(int(first))
        # Messages that were given numbers of it before are there, and were never published.
        if not 1 <= int(first) <= report.last_seq + 1 or int(last) < max(int(first), report.last_seq):
            report.blame(f"{where}: its numbers do not follow seq {report.last_seq}")
            return
        report.last_seq, report.last_hash = int(last), digest.decode(errors="replace")

    def _check_message(self, where: str, ref: int, columns: tuple[bytes | None, ...]) -> None:
        self.report.messages += 1
        self.first_id = ref if self.first_id is None else self.first_id
        seq, payload = columns[2], columns[4] or b""
        if seq is None:
            return
        if not self._is_in_feed:
            self._enter_feed(int(seq) if seq.isdigit() else 1)
        self._check_feed(f"seq {seq.decode(errors='replace')} ({where})", seq, payload)

    def _enter_feed(self, seq: int) -> None:
        """The walk began in the middle: take what stands before `seq`, which the next message has to follow."""
        self._is_in_feed = True
        before = self._journal.message(seq - 1)
        adopted = self._journal.adoption_to(seq - 1)
        if before is not None:
            self._check_signature(f"seq {seq - 1}", before.payload)
            self.report.last_seq, self.report.last_hash = seq - 1, hash_of(before.payload).decode()
        elif adopted is not None:
            self.report.last_seq, self.report.last_hash = seq - 1, adopted.hash

    def _check_feed(self, where: str, seq: bytes, payload: bytes) -> None:
        """The checks that a subscriber makes: numbers without a gap, and each `prev` the hash of the message before."""
        report = self.report
        if seq != b"%d" % (report.last_seq + 1):
            report.blame(f"{where}: it follows seq {report.last_seq}")
        try:
            link = msgspec.json.decode(payload, type=_Link)
            if seq != b"%d" % link.seq:
                report.blame(f"{where}: its payload says seq {link.seq}")
            report.tests += link.test
            report.last_hash = verify_link(payload, report.last_hash)
            self._check_signature(where, payload)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            report.blame(f"{where}: its payload is no message of the feed ({error})")
        except ChainError as error:
            report.blame(f"{where}: {error}")
            report.last_hash = link.hash
        report.sequenced += 1
        report.last_seq = int(seq) if seq.isdigit() else report.last_seq + 1

    def _check_signature(self, where: str, payload: bytes) -> None:
        """In a journal with a key every message of the feed is signed, in one without none is. Raises ChainError."""
        has_one = signature(payload) is not None
        self.report.signed += has_one
        if has_one and not self.is_keyed:
            self.report.blame(f"{where}: signed, and this journal has no key")
        elif self.is_keyed and not has_one:
            self.report.blame(f"{where}: its signature is missing")
        elif self._check is not None and not is_signed(payload, self._check):
            self.report.blame(f"{where}: its signature is not by this journal's key")


def _holds(packed: bytes, digest: bytes | None) -> bool:
    try:
        return hashlib.sha256(zlib.decompress(packed)).digest() == digest
    except zlib.error:
        return False
