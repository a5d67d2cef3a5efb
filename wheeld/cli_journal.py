"""`wheeld journal`: verify, show and export what the daemon has stored, beside a running one too."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from wheeld.cli_words import describe
from wheeld.core.instants import to_text
from wheeld.edges.journal_file import JournalFile
from wheeld.edges.journal_rows import StoredMessage
from wheeld.edges.journal_verify import verify as verify_journal
from wheeld.exits import Exit

PAGE = 1000
"""Rows read at a time."""


class _OfCoup(msgspec.Struct):
    coup: int | None = None


def verify(asked: argparse.Namespace) -> Exit:
    """Print what was checked, or each fault; raises JournalError, OSError."""
    with closing(_open(asked.file)) as journal:
        report = verify_journal(journal)
    for fault in report.faults:
        sys.stdout.write(f"fault: {fault}\n")
    finding = "NOT as they were written" if report.faults else "all as they were written"
    sys.stdout.write(
        f"{report.messages} messages, {report.sequenced} of them in the chain up to seq {report.last_seq}, "
        f"evidence of {report.coups} coups: {finding}\n"
    )
    sys.stdout.write(f"hash of seq {report.last_seq}: {report.last_hash}\n")
    return Exit.BAD_DATA if report.faults else Exit.OK


def show(asked: argparse.Namespace) -> Exit:
    """Print the stored messages, oldest first; raises JournalError, OSError."""
    with closing(_open(asked.file)) as journal:
        for message in _records(journal):
            if _is_wanted(message, asked):
                _print(message, as_json=asked.jsonl)
    return Exit.OK


def export(asked: argparse.Namespace) -> Exit:
    """Write the observation log of one coup; raises JournalError, OSError."""
    with closing(_open(asked.file)) as journal:
        evidence = journal.evidence(asked.coup)
        coups = journal.coups()
    if evidence is None:
        known = f"it has coups {coups[0]} to {coups[-1]}" if coups else "it has none yet"
        sys.stderr.write(f"wheeld: {asked.file}: no evidence of coup {asked.coup}; {known}\n")
        return Exit.NO_INPUT
    if asked.output:
        asked.output.write_bytes(evidence.log)
    else:
        sys.stdout.buffer.write(evidence.log)
        sys.stdout.buffer.flush()
    return Exit.OK


def _open(path: Path) -> JournalFile:
    """OSError for what is no readable file, before SQLite has its own words for it."""
    path.open("rb").close()
    return JournalFile(path, read_only=True)


def _records(journal: JournalFile) -> Iterator[StoredMessage]:
    last_id = 0
    while page := journal.records(last_id, PAGE):
        yield from page
        last_id = page[-1].id


def _is_wanted(message: StoredMessage, asked: argparse.Namespace) -> bool:
    if asked.from_seq is not None and (message.seq is None or message.seq < asked.from_seq):
        return False
    if asked.topic and message.topic not in asked.topic:
        return False
    return asked.coup is None or _coup(message.payload) == asked.coup


def _coup(payload: bytes) -> int | None:
    try:
        return msgspec.json.decode(payload, type=_OfCoup).coup
    except msgspec.MsgspecError:
        return None


def _print(message: StoredMessage, *, as_json: bool) -> None:
    if as_json:
        # The payload goes out byte for byte: whoever checks the chain needs exactly what was published.
        told: dict[str, Any] = {"t": message.t_us, "topic": message.topic, "payload": msgspec.Raw(message.payload)}
        sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
        return
    seq = "" if message.seq is None else str(message.seq)
    sys.stdout.write(f"{to_text(message.at_utc_us)} {seq:>7}  {describe(message.topic, message.payload)}\n")
