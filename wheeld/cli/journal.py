"""`wheeld journal`: verifies, shows, exports and copies a journal, also while its daemon runs. While no daemon runs,
also seals, restores or migrates it, and adopts numbers."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from wheeld.broker.payloads import UNREADABLE
from wheeld.cli.failure import fail
from wheeld.cli.person import user
from wheeld.cli.recall import recalled
from wheeld.cli.rights import rights_of
from wheeld.config.instance import wheel_of
from wheeld.config.reading import load
from wheeld.core.catalogue import Text
from wheeld.core.instants import to_text
from wheeld.core.messages.chain import GENESIS
from wheeld.exits import Exit
from wheeld.journal import schema
from wheeld.journal.database import Database
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.reader import PAGE, JournalReader
from wheeld.journal.restore import RestoreError
from wheeld.journal.restore import restore as restore_journal
from wheeld.journal.rows import JournalError, StoredEvent, StoredMessage
from wheeld.journal.seal import FileSigner, KeyFileError, public_key
from wheeld.journal.verify import verify as verify_journal
from wheeld.screen.describe import describe
from wheeld.screen.terminal import printable, printable_bytes
from wheeld.service.host_clock import SystemClock

EVENT_TOPIC = "event"
"""The topic with which event records are shown among the messages. They are never published."""


class _OfCoup(msgspec.Struct):
    """The coups of a message. `coup` is the present coup, `about` is the coup that a ruling decides."""

    coup: int | None = None
    about: int | None = None


def verify(options: argparse.Namespace) -> Exit:
    """Print what was checked, and each fault, beginning with the first record that was changed.

    Raises JournalError, OSError.
    """
    try:
        keys = dict(public_key(path) for path in options.public_key) or None
    except KeyFileError as wrong:
        return fail(str(wrong), Exit.BAD_DATA, options)
    with closing(_open(options.file)) as journal:
        report = verify_journal(journal, keys, options.head, each_signature=options.each_signature)
        restored = journal.last_event("restored")
        restored_to = journal.restored_to(restored)
    for fault in report.faults:
        _say(f"fault: {fault}")
    if report.faults:
        _say("what to do after a fault: /usr/share/doc/wheeld/docs/journal.md")
    finding = "NOT as they were written" if report.faults else "all as they were written"
    signed = f" ({report.signed} signed)" if report.signed else ""
    tests = f" ({report.tests} of a BENCH TABLE)" if report.tests else ""
    pruned = f" ({report.pruned} of them pruned, their digests are kept)" if report.pruned else ""
    _say(
        f"{report.messages} messages, {report.sequenced} of them in the feed up to seq {report.last_seq}"
        f"{signed}{tests}, evidence of {report.coups} coups{pruned}: {finding}"
    )
    if not report.is_keyed:
        checked = (
            "none, because this journal has no key: anyone who could write the file could have written all of it again"
        )
    elif not report.is_end_checked:
        checked = "none, because the Python package cryptography is missing: pip install 'wheeld[sign]'"
    elif report.signatures == report.signed:
        checked = f"of the end, of each seal, and of each of the {report.signed} messages"
    else:
        checked = (
            "of the end, which covers every record, and of each seal; to check also those of the "
            f"{report.signed} messages, give --each-signature"
        )
    _say(f"signatures checked: {checked}")
    _say(f"hash of seq {report.last_seq}: {report.last_hash}; {_noted(report.records, report.head)}")
    if sealed := report.sealed:
        trust = "; whether that is a key of the house was not checked (give --public-key)" if keys is None else ""
        who = f"by {sealed.by}, {sealed.why}, key {sealed.key_id}"
        _say(f"sealed up to record {sealed.n}: {to_text(sealed.at_utc_us)} {who}{trust}")
    if restored is not None:
        who = f"{to_text(restored.at_utc_us)} by {restored.by}, {restored.why}"
        _say(f"restored from the house up to seq {restored_to}: {who}; what only the earlier journal had is lost")
    return Exit.BAD_DATA if report.faults else Exit.OK


def seal(options: argparse.Namespace) -> Exit:
    """Sign the head of a journal that no daemon has open, and print this head. Raises JournalError, OSError."""
    if options.key is None:
        return fail(
            Text("there is no key to seal with: name a wheel that has a key, or give --key"), Exit.USAGE, options
        )
    try:
        signer = FileSigner(options.key)
    except KeyFileError as wrong:
        return fail(str(wrong), Exit.BAD_DATA, options)
    _require(options.file)
    with _as_owner_of(options.file), closing(open_to_write(options.file, signer=signer)) as journal:
        sealed = journal.seal(by=options.by or user(), why=options.why, at_utc_us=SystemClock().utc_us())
    if sealed is None:
        why = Text("{file}: this journal is still empty, so there is nothing to seal", {"file": str(options.file)})
        return fail(why, Exit.BAD_DATA, options)
    sys.stdout.write(f"sealed by key {sealed.key_id}: {_noted(sealed.n, sealed.head)}\n")
    return Exit.OK


def migrate(options: argparse.Namespace) -> Exit:
    """Bring a journal that no daemon has open to this version's schema. Raises JournalError, OSError."""
    _require(options.file)
    with _as_owner_of(options.file):
        Database(options.file).close()
    sys.stdout.write(f"{options.file}: schema {schema.VERSION}\n")
    return Exit.OK


def adopt(options: argparse.Namespace) -> Exit:
    """Continue the feed after numbers that other systems have and this journal lacks. Raises JournalError, OSError."""
    try:
        signer = None if options.key is None else FileSigner(options.key)
    except KeyFileError as wrong:
        return fail(str(wrong), Exit.BAD_DATA, options)
    _require(options.file)
    seq, last_hash = options.after
    with _as_owner_of(options.file), closing(open_to_write(options.file, signer=signer)) as journal:
        utc_us = SystemClock().utc_us()
        by = options.by or user()
        adoption = journal.adopt(seq, last_hash, by=by, why=options.why, at_utc_us=utc_us, far=options.far)
        here = journal.reader.messages(adoption.first_seq, 1)
    first, last = adoption.first_seq, adoption.last_seq
    sys.stdout.write(f"the next message is seq {last + 1}; it says that {first} to {last} are not in this journal\n")
    sys.stdout.write(f"the next coup is number {last + 1}: no lost coup has a number as high as this\n")
    if here:
        what = f"the messages that this journal stored from seq {first} on were never published, and will not be"
        show = shlex.join(["wheeld", "journal", "show", str(options.file), "--from-seq", str(first)])
        sys.stdout.write(f"{what}: settle them by hand: {show}\n")
    return Exit.OK


def backup(options: argparse.Namespace) -> Exit:
    """Copy a journal, also while its daemon runs, and verify the copy. Raises JournalError, OSError."""
    part = options.to.with_name(options.to.name + ".part")
    if options.to.exists():
        why = Text("{file}: exists already; give each backup a name of its own", {"file": str(options.to)})
        return fail(why, Exit.BAD_DATA, options)
    with closing(_open(options.file)) as journal, _as_owner_of(part):
        try:
            _remove(part)
            journal.database.copy_to(part)
            with closing(_open(part)) as copy:
                report = verify_journal(copy)
            if report.faults:
                why = Text(
                    "{file}: the copy is damaged, and the journal may be too: {fault}",
                    {"file": str(options.to), "fault": str(report.faults[0])},
                )
                return fail(why, Exit.BAD_DATA, options)
            part.rename(options.to)
        finally:
            _remove(part)  # an unfinished copy, and what SQLite kept beside it while it was verified
    sys.stdout.write(f"{options.to}: {report.records} records, verified; {_noted(report.records, report.head)}\n")
    return Exit.OK


def restore(options: argparse.Namespace) -> Exit:
    """Make a journal, for a wheel that has none, from the records of its house. Raises JournalError, OSError."""
    config = load(*wheel_of(options.wheel))
    table, key, path = config.table, config.journal.signing_key_file, config.journal.path
    signer = None if key is None else FileSigner(key)
    part = path.with_name(path.name + ".part")
    for there in (path, *_beside(path)):
        if there.exists():
            why = Text(
                "{file}: exists already; stop the wheel, and move the file away and keep it", {"file": str(there)}
            )
            return fail(why, Exit.BAD_DATA, options)
    with options.from_house.open("rb") as records, _as_owner_of(part):
        try:
            _remove(part)
            owner = Owner(table.site, table.table, test=table.test)
            utc_us = SystemClock().utc_us()
            with closing(open_to_write(part, owner=owner, signer=signer, at_utc_us=utc_us)) as journal:
                by = options.by or user()
                last_seq = restore_journal(journal, records, owner, by=by, why=options.why, at_utc_us=utc_us)
            with closing(_open(part)) as made:
                report = verify_journal(made)
            if report.faults:
                return fail(f"{part}: {report.faults[0]}", Exit.BAD_DATA, options)
            part.rename(path)
        except RestoreError as wrong:
            return fail(f"{options.from_house}: {wrong}. No journal was made", Exit.BAD_DATA, options)
        finally:
            _remove(part)
    signed = "each signed with this wheel's key" if signer else "NOT SIGNED: anyone could have written them"
    sys.stdout.write(f"{path}: {report.sequenced} messages up to seq {last_seq}, {signed}\n")
    lost = "what only the earlier journal had (evidence, commands, event records) is lost"
    sys.stdout.write(f"{lost}; the event record `restored` says so\n")
    return Exit.OK


def known_message(text: str) -> tuple[int, str]:
    """Read `SEQ:HASH` or `SEQ` from the command line. Raises ArgumentTypeError."""
    found = re.fullmatch("([1-9][0-9]{0,14})(?::([0-9a-f]{64}))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not SEQ or SEQ:HASH, like the one in the daemon's log")
    return int(found[1]), found[2] or GENESIS


def noted_head(text: str) -> tuple[int, bytes]:
    """Read `N:HEX` from the command line. Raises ArgumentTypeError."""
    found = re.fullmatch("([0-9]{1,15}):((?:[0-9a-f]{2})+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not N:HEX, like the head that `wheeld journal verify` and `backup` print"
        )
    return int(found[1]), bytes.fromhex(found[2])


def show(options: argparse.Namespace) -> Exit:
    """Print the stored messages and event records, oldest first. Raises JournalError, OSError."""
    if options.last is not None:
        if options.jsonl or options.topic or options.coup is not None or options.from_seq is not None:
            return fail(Text("--last shows each coup whole: leave the other options out"), Exit.USAGE, options)
        with _reading(options.file) as journal:
            for line in recalled(journal, options.last, options.language):
                _say(line)
            return judge(journal, options.file, options)
    is_found = False
    with _reading(options.file) as journal:
        # Event records belong to no coup and not to the feed.
        is_of_feed = options.from_seq is not None or options.coup is not None
        wants_events = not is_of_feed and (not options.topic or EVENT_TOPIC in options.topic)
        events: list[tuple[int, StoredEvent]] = []  # each with the id of the last message before it
        places = journal.places_of_events() if wants_events else {}
        while wants_events and (found := journal.events(events[-1][1].row if events else 0, PAGE)):
            events += ((places.get(event.row, 0), event) for event in found)
        for message in journal.all_records():
            while events and events[0][0] < message.id:
                _print_event(events.pop(0)[1], options)
            if _is_wanted(message, options):
                is_found = True
                head = f"{to_text(message.at_utc_us)} {'' if message.seq is None else message.seq:>7}"
                _print_line(message.t_us, message.topic, message.payload, head, options)
        for _, event in events:
            _print_event(event, options)
        coups = journal.coups()
        judged = judge(journal, options.file, options)
    if options.coup is not None and not is_found:
        why = Text("there is no such message about coup {coup}", {"coup": options.coup})
        return judged or fail(_of_file(options, why, _known(coups)), Exit.NO_INPUT, options)
    return judged


def _known(coups: list[int]) -> Text:
    if not coups:
        return Text("the journal has no coup yet")
    return Text("the journal has coups {first} to {last}", {"first": coups[0], "last": coups[-1]})


def _of_file(options: argparse.Namespace, what: Text, hint: Text) -> Text:
    """Return what is wrong with the journal's file, and a hint."""
    told = Text("{first}; {second}", {"first": what, "second": hint})
    return Text("{first}: {second}", {"first": str(options.file), "second": told})


def export(options: argparse.Namespace) -> Exit:
    """Write the observation log of one coup. Raises JournalError, OSError."""
    with _reading(options.file) as journal:
        evidence = journal.evidence(options.coup)
        coups, pruning = journal.coups(), journal.pruning(options.coup)
        judged = judge(journal, options.file, options)
    if evidence is None:
        if pruning is not None:
            removal = {"at": to_text(pruning.at_utc_us), "why": pruning.why}
            hint = Text("the evidence was removed at {at}, to stay within the limit of {why}", removal)
        else:
            hint = _known(coups)
        why = Text("there is no evidence of coup {coup}", {"coup": options.coup})
        return judged or fail(_of_file(options, why, hint), Exit.NO_INPUT, options)
    if options.output:
        with _as_owner_of(options.output):
            options.output.write_bytes(evidence.log)
    else:
        sys.stdout.buffer.write(b"\n".join(map(printable_bytes, evidence.log.split(b"\n"))))
        sys.stdout.buffer.flush()
    return judged


def judge(journal: JournalReader, file: Path, options: argparse.Namespace) -> Exit:
    """Verify the journal in `file`. If it has a fault, print that its contents are not reliable."""
    faults = verify_journal(journal).faults
    if not faults:
        return Exit.OK
    why = Text(
        "{file}: the journal is NOT as it was written, do not rely on what it says: {fault}",
        {"file": str(file), "fault": faults[0]},
    )
    return fail(why, Exit.BAD_DATA, options)


def _say(line: str) -> None:
    """Print a line. A forged journal may have put any characters in it."""
    sys.stdout.write(f"{printable(line)}\n")


def _open(path: Path) -> JournalReader:
    _require(path)
    with _as_owner_of(path):  # the files that SQLite makes beside the journal get its owner
        return JournalReader(Database(path, read_only=True))


@contextmanager
def _as_owner_of(path: Path) -> Iterator[None]:
    """Give root only the rights of the directory's owner for the block. Then a link that the owner made cannot lead
    root to other files. The owner also owns new files, so that the daemon can use them."""
    owner = path.parent.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        yield
        return
    with rights_of(owner.st_uid, [owner.st_gid]):
        yield


@contextmanager
def _reading(path: Path) -> Iterator[JournalReader]:
    """Open a journal for the block. A value of a wrong type, which only damage causes, raises JournalError too."""
    with closing(_open(path)) as journal:
        try:
            yield journal
        except (msgspec.MsgspecError, LookupError, TypeError, ArithmeticError) as wrong:
            raise JournalError("corrupt", path, f"a record is damaged ({wrong})") from wrong


def _beside(path: Path) -> list[Path]:
    """Return the files that SQLite keeps beside a journal. Such files of another journal would damage a new one."""
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]


def _remove(part: Path) -> None:
    for file in (part, *_beside(part), *(part.with_name(part.name + suffix) for suffix in (".lock", "-journal"))):
        file.unlink(missing_ok=True)


def _require(path: Path) -> None:
    """Raise OSError if the file cannot be read. SQLite would report it less clearly, or make a new file."""
    path.open("rb").close()


def _noted(n: int, head: bytes) -> str:
    """Return the head in the form of `--head`. People should note it in a place that is closed to those who can change
    the journal."""
    return f"head of record {n}: {n}:{head.hex()}"


def _is_wanted(message: StoredMessage, options: argparse.Namespace) -> bool:
    if options.from_seq is not None and (message.seq is None or message.seq < options.from_seq):
        return False
    if options.topic and message.topic not in options.topic:
        return False
    if options.coup is None:
        return True
    try:
        of = msgspec.json.decode(message.payload, type=_OfCoup)
    except UNREADABLE:
        return False
    return options.coup in (of.coup, of.about)


def _print_event(event: StoredEvent, options: argparse.Namespace) -> None:
    payload = {"event": event.event, "at": to_text(event.at_utc_us), "by": event.by, "why": event.why}
    encoded = msgspec.json.encode(payload | {"details": msgspec.Raw(event.details.encode())})
    _print_line(None, EVENT_TOPIC, encoded, f"{payload['at']} {'':>7}", options)


def _print_line(t_us: int | None, topic: str, payload: bytes, head: str, options: argparse.Namespace) -> None:
    if options.jsonl:
        # Write the payload byte for byte, because a check of the chain needs exactly what was published.
        line: dict[str, Any] = {"t": t_us, "topic": printable(topic), "payload": msgspec.Raw(printable_bytes(payload))}
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    else:
        _say(f"{head}  {describe(topic, payload, options.language)}")
