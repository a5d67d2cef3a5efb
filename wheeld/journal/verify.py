"""Verifies that the journal is what the daemon wrote: the chain over every record, the seals, the evidence, the feed,
and the tail, which binds what a restart reads and what is owed.

The chain shows if a record was edited, removed, inserted or moved. If somebody changes a record and writes the whole
chain again, seals and tail show it, because only the key can make them. If somebody puts an older copy of the whole
file in its place, only two things show it: a head that was noted elsewhere (`noted`), and the broker
(`wheeld/journal/elsewhere.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from wheeld.journal.chain import EVENT, EVIDENCE, FIRST_HEAD, KINDS, PRUNING, digest_of
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import Check, key_id
from wheeld.journal.tail import tail_faults
from wheeld.journal.walk import FAULTS_MAX, Verification, Walk

PAGE = 250
"""How many links, with their records, are read at a time. So even for a journal of years a few megabytes are enough."""

UNSEALED_MAX = 2_000
"""How many records a start verifies if there is no seal: half an evening, read in a fraction of a second. If there is a
key, each start makes a seal."""

PATROL_LINKS = 50
"""How many links a patrol checks at a time. Meanwhile a verdict waits, for about 10 ms if each record has a
signature."""


def verify(
    journal: JournalReader,
    keys: Mapping[str, Check] | None = None,
    noted: tuple[int, bytes] | None = None,
    *,
    each_signature: bool = False,
) -> Verification:
    """Check everything in the journal. Raises JournalError only if it cannot be read.

    With `keys` (by key id), the journal must have been begun with one of these keys and must have a seal. `noted`: the
    number and the head of a record that somebody noted earlier. After a broken link the check continues.

    Each record is compared with the chain, and the end of the chain with the tail, which is signed. Only the holder of
    the key could make this signature. So the holder wrote every record. The messages have signatures of their own. To
    check each of them takes five to ten times as long, and shows only whether the holder of the key signed wrongly. So
    they are checked only with `each_signature`, or after any fault, to find the wrong message.
    """
    with journal.database.snapshot():
        report = _verified(journal, keys, noted, each_signature=each_signature)
        if report.faults and not each_signature:
            report = _verified(journal, keys, noted, each_signature=True)
    return report


def _verified(
    journal: JournalReader, keys: Mapping[str, Check] | None, noted: tuple[int, bytes] | None, *, each_signature: bool
) -> Verification:
    walk = Walk(journal, each_signature=each_signature)
    report = walk.report
    for fault in journal.database.damage(FAULTS_MAX):
        report.blame(f"file: damaged or edited ({fault})")
    _refuse_foreign_counter(journal, report)
    if keys is not None and (walk.key is None or key_id(walk.key) not in keys):
        report.blame("record 1: the journal was begun with none of the keys given")
    while walk.go(PAGE):
        pass
    if noted is not None:
        n, head = noted
        link = next((link for link in journal.links(n - 1, 1) if link.n == n), None)
        if n > report.records:
            report.blame(f"records {report.records + 1} to {n}: cut off at the end")
        elif link is None or link.head != head:
            report.blame(f"record {n}: its head is not the noted one: this or an earlier record was changed")
    _compare_rows(journal, walk)
    if keys is not None and report.sealed is None:
        report.blame("no sealed head: nothing proves that the chain was not rewritten")
    for fault in tail_faults(journal, walk.check, is_keyed=walk.key is not None):
        report.blame(fault)
    return report


def verify_end(journal: JournalReader) -> Walk:
    """Check the tail, and what was stored since the last seal. A restart has no time for more.

    A `Patrol` checks the older records while the daemon runs. Raises JournalError at a fault.
    """
    # The check begins after the last sealed record, if there is a seal.
    n = journal.last_sealed()
    if n is None:
        n = max(0, journal.database.tip()[0] - UNSEALED_MAX)
    link = next(iter(journal.links(n - 1, 1)), None)
    after_n, head = (0, FIRST_HEAD) if n < 1 or link is None or link.n != n else (n, link.head)
    walk = Walk(journal, after_n=after_n, head=head)
    while walk.go(PAGE):
        pass
    _refuse_foreign_counter(journal, walk.report)
    for kind in KINDS:
        _compare_counter(journal, walk.report, kind)
    for fault in tail_faults(journal, walk.check, is_keyed=walk.key is not None):
        walk.report.blame(fault)
    _refuse(journal, walk.report)
    return walk


def verify_event(journal: JournalReader, row: int) -> None:
    """Check one event record of an open journal: its row, its link, and all records from there to the seal over it.

    The patrol checks this record too, but only within hours, and a start uses the record at once. Raises JournalError
    at a fault. If a later event record was removed or renamed, this one seems to be the newest. Only the patrol finds
    that.
    """
    link, columns = journal.link_of(EVENT.name, row), journal.record(EVENT.name, row)
    if link is None or columns is None or digest_of(columns) != link.digest:
        where = "in no record: inserted" if link is None else "edited"
        raise JournalError("edited", journal.database.path, f"event {row}: {where}")
    seal_n = journal.sealed_from(link.n)
    if seal_n is None:
        # No seal covers this record. With a key, the opening of the journal verified all such records. Without a key,
        # nothing protects them.
        return
    before = next(iter(journal.links(link.n - 2, 1)), None)
    head = FIRST_HEAD if before is None or link.n == 1 else before.head
    walk = Walk(journal, after_n=link.n - 1, head=head)
    # A seal comes after the records that it covers. If it is missing, the loop ends at the last link.
    while walk.report.records <= seal_n and walk.go(min(PAGE, seal_n + 1 - walk.report.records)):
        pass
    if walk.report.sealed is None:
        walk.report.blame(f"record {link.n} ({EVENT.name} {row}): no seal covers it")
    _refuse(journal, walk.report)


class Patrol:
    """Checks a whole journal that is in use, a few links at a time. Raises JournalError at the first fault."""

    def __init__(self, journal: JournalReader) -> None:
        self._journal = journal
        self._walk = Walk(journal)

    def step(self) -> bool:
        """Check a few more links. Returns False at the end of the chain."""
        goes_on = self._walk.go(PATROL_LINKS)
        if not goes_on:
            # Only compare how many rows and records there are: that is fast enough for a running daemon.
            for kind in KINDS:
                rows, records = self._journal.count(kind), self._walk.counts[kind]
                if rows != records:
                    self._walk.report.blame(f"{kind}: {rows} rows for {records} records")
            # Count both now: retention may have removed logs during the walk.
            logs = self._journal.count_logs()
            coups = self._journal.count(EVIDENCE.name) - self._journal.count(PRUNING.name)
            if logs != coups:
                self._walk.report.blame(f"log: {logs} rows, but {coups} coups have a log")
        _refuse(self._journal, self._walk.report)
        return goes_on


def _refuse(journal: JournalReader, report: Verification) -> None:
    if report.faults:
        raise JournalError("edited", journal.database.path, str(report.faults[0]))


def _compare_rows(journal: JournalReader, walk: Walk) -> None:
    """Check that each row has one link, that no row was cut off at the end, and that each log belongs to evidence."""
    report = walk.report
    for kind in KINDS:
        rows, links = journal.count(kind), walk.counts[kind]
        # If there are as many rows as links, and no two links are of the same row, then each row has a link. No search
        # is needed.
        is_searched = bool(report.faults) or rows != links or kind in walk.unordered
        if is_searched and (ref := journal.unlinked(kind)) is not None:
            report.blame(f"{kind} {ref}: in no record: inserted, or its record was cut off")
        if rows != links:
            report.blame(f"{kind}: {rows} rows for {links} records")
        _compare_counter(journal, report, kind)
    if (coup := journal.foreign_log()) is not None:
        report.blame(f"log {coup}: no evidence belongs to it: inserted")


def _refuse_foreign_counter(journal: JournalReader, report: Verification) -> None:
    if (name := journal.foreign_counter()) is not None:
        report.blame(f"counter {name}: planted or edited")


def _compare_counter(journal: JournalReader, report: Verification, kind: str) -> None:
    """Check that the last key that SQLite gave is the key of the last row."""
    if cut := journal.cut_off(kind):
        last, given = cut
        what = f"{last + 1} to {given}: cut off at the end" if given > last else f"{last}: its counter was edited"
        report.blame(f"{kind} {what}")
