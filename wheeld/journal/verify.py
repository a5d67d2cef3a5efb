"""Verifies that the journal is what the daemon wrote: the chain over every record, the seals, the evidence, the feed.

The chain shows that a record was edited, removed, inserted or moved. If someone writes the whole chain anew after a
change, the next seal shows it, because only the key can make one. A change after the last seal, and a journal cut back
to an earlier seal, are shown only by a head that was noted elsewhere (`noted`).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping

import msgspec

from wheeld.core.messages.chain import GENESIS, ChainError, signature, verify_link
from wheeld.journal.chain import (
    EVIDENCE,
    FIRST_HEAD,
    KINDS,
    MESSAGE,
    PRUNING,
    SEAL,
    Link,
    digest_of,
    follow,
    seal_bytes,
)
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import Check, is_signed

PAGE = 1000
"""Links read at a time: a journal of years is verified in a few megabytes of memory."""

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


def verify(
    journal: JournalReader, keys: Mapping[str, Check] | None = None, noted: tuple[int, bytes] | None = None
) -> Verification:
    """Check everything in the journal; raises JournalError only when it cannot be read.

    With `keys` (by key id) every seal and every signature of a message must be by one of them, and there must be a
    seal. `noted` is a record's number and its head as someone noted them. After a broken link the check goes on.
    """
    walk = _Walk(journal, keys, noted)
    while page := journal.links(walk.report.records, PAGE):
        for link in page:
            _refuse_damage(journal, link, walk.report.records)
            walk.take(link)
    walk.end()
    return walk.report


def _refuse_damage(journal: JournalReader, link: Link, after_n: int) -> None:
    """Raises JournalError for a link that no statement can have stored: only damage to the file makes one."""
    # Links out of their order could make the walk endless.
    kinds = tuple(type(value) for value in link)
    if kinds != (int, str, int, bytes, bytes) or link.n <= after_n:
        raise JournalError(
            "corrupt", journal.database.path, f"the file is damaged where record {after_n + 1} should be"
        )


class _Walk:
    """The walk from the first link to the last."""

    def __init__(
        self, journal: JournalReader, keys: Mapping[str, Check] | None, noted: tuple[int, bytes] | None
    ) -> None:
        self.report = Verification()
        self._journal = journal
        self._keys = keys
        self._noted = noted

    def take(self, link: Link) -> None:
        """Check one link, and the record that it holds."""
        report = self.report
        if link.n != report.records + 1:
            report.blame(f"record {report.records + 1}: removed, the next one is record {link.n}")
        elif link != follow(report.records, report.head, link.kind, link.ref, link.digest):
            report.blame(f"record {link.n}: its link does not follow the one before: edited, moved or inserted")
        if self._noted and self._noted[0] == link.n and self._noted[1] != link.head:
            report.blame(f"record {link.n}: its head is not the one that was noted: changed here or before")
        self._check_record(link)
        report.records, report.head = link.n, link.head

    def end(self) -> None:
        """The checks that need all links."""
        for kind in KINDS.values():
            if (ref := self._journal.unlinked(kind.name)) is not None:
                self.report.blame(f"{kind.name} {ref}: in no record: inserted, or its record was cut off")
            rows, links = self._journal.counts(kind.name)
            if rows != links:
                self.report.blame(f"{kind.name}: {rows} rows for {links} records")
            if cut := self._journal.cut_off(kind.name):
                self.report.blame(f"{kind.name} {cut[0]} to {cut[1]}: cut off at the end")
        if self._noted and self._noted[0] > self.report.records:
            self.report.blame(f"records {self.report.records + 1} to {self._noted[0]}: cut off at the end")
        if self._keys is not None and self.report.sealed is None:
            self.report.blame("no sealed head: nothing proves that the chain was not written anew")

    def _check_record(self, link: Link) -> None:
        where = f"record {link.n} ({link.kind} {link.ref})"
        if link.kind not in KINDS:
            self.report.blame(f"{where}: no such kind")
            return
        columns = self._journal.record(link.kind, link.ref)
        if columns is None:
            self.report.blame(f"{where}: removed")
            return
        if digest_of(columns) != link.digest:
            self.report.blame(f"{where}: edited")
        if link.kind == MESSAGE.name:
            self._check_message(where, columns)
        elif link.kind == EVIDENCE.name:
            self._check_log(where, link.ref, columns[-1])
        elif link.kind == SEAL.name:
            self._check_seal(where, link.ref, columns)

    def _check_log(self, where: str, coup: int, digest: bytes | None) -> None:
        self.report.coups += 1
        packed = self._journal.packed_log(coup)
        if packed is None:
            if self._journal.record(PRUNING.name, coup) is None:
                self.report.blame(f"{where}: its log was removed")
            self.report.pruned += 1
            return
        try:
            is_intact = hashlib.sha256(zlib.decompress(packed)).digest() == digest
        except zlib.error:
            self.report.blame(f"{where}: its log is damaged")
            return
        if not is_intact:
            self.report.blame(f"{where}: its log was edited")

    def _check_seal(self, where: str, n: int, columns: tuple[bytes | None, ...]) -> None:
        _, head, at_utc_us, by, why, key_id, signature = (column or b"" for column in columns)
        changed = f"a record up to {n} is not the one that was stored"
        check = None if self._keys is None else self._keys.get(key_id.decode(errors="replace"))
        if (n, head) != (self.report.records, self.report.head):
            self.report.blame(f"{where}: not what was sealed: {changed}")
        elif self._keys is not None and check is None:
            self.report.blame(f"{where}: sealed by another key, {key_id.decode(errors='replace')}")
        elif check is not None and not check(signature, seal_bytes(columns[:-1])):
            self.report.blame(f"{where}: the signature is false: {changed}")
        elif not (at_utc_us.isdigit() and int(at_utc_us) < UTC_US_MAX):
            self.report.blame(f"{where}: the date of its seal is no date: edited")
        else:
            texts = (text.decode(errors="replace") for text in (by, why, key_id))
            self.report.sealed = Sealed(n, int(at_utc_us), *texts)

    def _check_message(self, where: str, columns: tuple[bytes | None, ...]) -> None:
        self.report.messages += 1
        seq, payload = columns[2], columns[4] or b""
        if seq is not None:
            self._check_feed(f"seq {seq.decode(errors='replace')} ({where})", seq, payload)

    def _check_feed(self, where: str, seq: bytes, payload: bytes) -> None:
        """The checks that a subscriber makes: numbers without a gap, and each `prev` the hash of the message before."""
        report = self.report
        if seq != b"%d" % (report.last_seq + 1):
            report.blame(f"{where}: it follows seq {report.last_seq}")
        try:
            link = msgspec.json.decode(payload, type=_Link)
            if seq != b"%d" % link.seq:
                report.blame(f"{where}: its payload says seq {link.seq}")
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
        """Check the signature, if there is one: a message stored while no key was configured has only its link."""
        if signature(payload) is None:
            return
        self.report.signed += 1
        if self._keys is not None and not any(is_signed(payload, check) for check in self._keys.values()):
            self.report.blame(f"{where}: its signature is by none of the keys given")
