"""Is the journal what the daemon wrote? The chain over the feed, the row numbers, the evidence.

The chain proves every sequenced message against an edit, a removal or a move. The row numbers tell of removals at
the end and of messages outside the chain, to an editor who did not mind them; only a signature would stop one who does.
"""

from __future__ import annotations

import msgspec

from wheeld.core.seal import GENESIS, SealError, verify_link
from wheeld.edges.journal_file import JournalFile
from wheeld.edges.journal_rows import JournalError, StoredMessage

PAGE = 1000
"""Messages read at a time: a journal of years is checked in a few megabytes of memory."""

FAULTS_MAX = 20
"""Further faults mostly follow from the first; the report says that there are more."""


class Verification(msgspec.Struct, kw_only=True):
    """What was found; the journal is whole when `faults` is empty. After a broken link the chain goes on from there."""

    messages: int = 0
    sequenced: int = 0
    last_seq: int = 0
    last_hash: str = GENESIS
    coups: int = 0
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


def verify(journal: JournalFile) -> Verification:
    """Check everything in the journal; raises JournalError only when it cannot be read."""
    report = Verification()
    last_id = 0
    while page := journal.records(last_id, PAGE):
        for message in page:
            if message.id != last_id + 1:
                report.blame(f"row {last_id + 1}: missing, the next one is row {message.id}")
            last_id = message.id
            report.messages += 1
            if message.seq is not None:
                _check_link(message, report)
    newest = journal.last_id()
    if newest != last_id:
        report.blame(f"rows {last_id + 1} to {newest}: missing at the end")
    _check_evidence(journal, report)
    return report


def _check_link(message: StoredMessage, report: Verification) -> None:
    where = f"seq {message.seq} (row {message.id})"
    if message.seq != report.last_seq + 1:
        report.blame(f"{where}: it follows seq {report.last_seq}")
    try:
        link = msgspec.json.decode(message.payload, type=_Link)
        if link.seq != message.seq:
            report.blame(f"{where}: its payload says seq {link.seq}")
        report.last_hash = verify_link(message.payload, report.last_hash)
    except msgspec.MsgspecError as error:
        report.blame(f"{where}: its payload is not a sealed message ({error})")
    except SealError as error:
        report.blame(f"{where}: {error}")
        report.last_hash = link.hash
    report.sequenced += 1
    report.last_seq = message.seq or 0


def _check_evidence(journal: JournalFile, report: Verification) -> None:
    for coup in journal.coups():
        report.coups += 1
        try:
            evidence = journal.evidence(coup)
        except JournalError as error:
            report.blame(str(error))
            continue
        verdict = journal.message(evidence.seq) if evidence and evidence.seq is not None else None
        if evidence and (verdict is None or verdict.topic != evidence.verdict):
            report.blame(f"evidence of coup {coup}: its {evidence.verdict} (seq {evidence.seq}) is not there")
