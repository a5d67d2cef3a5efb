"""Compares the journal with what others have: the messages that the broker retains, and the settlement core's ack.

An older copy of the whole file is valid too. Only newer messages elsewhere show that it is old. From such a copy the
daemon would give its next messages numbers that earlier messages already have. So it compares the journal before it
publishes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec
import structlog

from wheeld.core.messages.chain import SEQ_MAX
from wheeld.journal.reader import JournalReader
from wheeld.journal.rows import JournalError, Mode

T = TypeVar("T")


Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=SEQ_MAX - 1)]
"""A number that SQLite takes. A query for a number above 2^63 - 1 would end the daemon, again at each start."""


class BehindError(JournalError):
    """The broker retains a message of this table that the journal does not have. `after` names the last message that is
    known there, in the form of `wheeld journal adopt --after`."""

    def __init__(self, path: Path, why: str, after: str) -> None:
        super().__init__("behind", path, why)
        self.after = after


class _Numbered(msgspec.Struct):
    seq: Whole
    hash: str


class _Figures(msgspec.Struct):
    n: Whole
    head: str
    seq: Whole


class _Notice(msgspec.Struct):
    notice: str


class _Sealed(msgspec.Struct):
    figures: _Figures


class _Ack(msgspec.Struct):
    seq: Whole


def refuse_other_mode(journal: JournalReader, retained: Mapping[str, bytes], *, test: bool) -> None:
    """Raise JournalError if the broker retains a message of a bench table and this table is live, or the reverse. The
    numbers of a bench table and of a live table are not related."""
    for leaf in ("table", "notice"):
        found = _read(retained, leaf, Mode)
        if found is None or found.test is test:
            continue
        theirs, ours = ("live", "bench") if test else ("bench", "live")
        raise JournalError(
            "behind",
            journal.database.path,
            f"the broker retains `{leaf}` of a {theirs} table of this name, but this is a {ours} table. Nothing was "
            "published. Give the bench table its own site or id in [table], or its own broker. To clear its old "
            "messages at this broker, publish an empty retained message on each of its topics",
        )


def refuse_behind(
    journal: JournalReader, retained: Mapping[str, bytes], *, settlement_ack: bool, restored_to: int = 0
) -> None:
    """Raise BehindError if the broker retains a `table`, or a `notice` of a seal, that this journal does not have.
    Raise JournalError if the settlement core has acknowledged (`ack`) more than this journal has. `restored_to`: the
    last number that the house gave back after a loss. The seals up to this number are lost."""
    table = _read(retained, "table", _Numbered)
    if table is not None and journal.adoption_of(table.seq) is None:
        stored = journal.message(table.seq)
        if stored is None or stored.payload != retained["table"]:
            _refuse(journal, f"the broker retains `table` with seq {table.seq}", table.seq, table.hash)
    notice = _read(retained, "notice", _Notice)
    is_seal = notice is not None and notice.notice == "sealed"
    sealed = _read(retained, "notice", _Sealed) if is_seal else None
    if sealed is not None and sealed.figures.seq > restored_to:
        n, seq, adoption = sealed.figures.n, sealed.figures.seq, journal.adoption()
        if adoption is None or seq > adoption.last_seq:  # a seal from before the adoption may be in the lost journal
            link = next(iter(journal.links(n - 1, 1)), None)
            if link is None or (link.n, link.head.hex()) != (n, sealed.figures.head):
                _refuse(journal, f"the broker retains the notice of a seal of record {n}, at seq {seq}", seq)
    ack = _read(retained, "ack", _Ack) if settlement_ack else None
    if ack is not None and ack.seq > journal.last_seq():
        # The text names no command to adopt, because no message of the wheel itself proves this number. Anyone who
        # may publish `ack` could have chosen it, and adopted numbers are never used again.
        raise JournalError(
            "behind",
            journal.database.path,
            f"the settlement core has acknowledged seq {ack.seq}, but this journal, which ends at seq "
            f"{journal.last_seq()}, does not have it. No message of the wheel itself at the broker is newer than the "
            "journal, so THE ACK MAY BE FALSE. Nothing was published. Ask the settlement system which message it has "
            "last, and look in the broker's log who publishes `ack`. If the ack is false, revoke that certificate, "
            "publish an empty retained message on the topic `ack`, and start again. If the settlement system does "
            "have the message, an older copy of the journal was restored, or another file is in its place: put the "
            "newest file back (/usr/share/doc/wheeld/docs/journal.md)",
        )


def _read(retained: Mapping[str, bytes], leaf: str, to: type[T]) -> T | None:
    """Return the message on `leaf`, or None. A message that cannot be read is logged and not compared."""
    payload = retained.get(leaf)
    try:
        return None if not payload else msgspec.json.decode(payload, type=to)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # The payload is not logged: somebody else chose it, and it may have any length.
        structlog.get_logger("journal").warning("retained.unreadable", topic=leaf, why=str(error))
        return None


def _refuse(journal: JournalReader, what: str, seq: int, last_hash: str = "") -> None:
    raise BehindError(
        journal.database.path,
        f"{what}, but this journal, which ends at seq {journal.last_seq()}, does not have it: an older copy was "
        "restored, another file is in its place, or another computer runs this table with this key. Nothing more "
        "was published. FIRST LOOK FOR THE OTHER COMPUTER (`journalctl --unit=mosquitto` at the broker says from "
        "where this table connects) and stop its wheeld: if it continues to run, the command makes two wheels. Then "
        "put the newest file back. Only if that file is lost, continue after it with the command beside this text",
        f"{seq}:{last_hash}" if last_hash else str(seq),
    )
