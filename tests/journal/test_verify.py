"""What `verify` finds in a journal that someone has touched."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from tests.journal.journals import bind_anew, chain_anew, edit, open_reader, open_writer, opened
from wheeld.core.step import CoupLog
from wheeld.journal.verify import verify
from wheeld.journal.walk import FAULTS_MAX

NOW = 1_700_000_000_000_000


def filled(path: Path) -> None:
    journal, feed = open_writer(path), Feed()
    for coup in range(1, 6):
        journal.append(feed.step("notice", "result", "table", evidence=CoupLog(coup, "result", b"log")), NOW)
    journal.close()


def test_an_untouched_journal_verifies(path: Path) -> None:
    filled(path)
    journal = open_reader(path)
    report = verify(journal)
    assert (report.messages, report.sequenced, report.last_seq, report.coups, report.faults) == (15, 10, 10, 5, [])
    assert (report.records, report.head) == journal.database.tip()
    assert (report.records, report.pruned, report.sealed) == (21, 0, None)
    assert report.last_hash.encode() in journal.messages(10, 1)[0].payload
    journal.close()


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (
            ["UPDATE messages SET payload = cast(replace(payload, '\"n\":2', '\"n\":3') AS BLOB) WHERE id = 5"],
            ["record 7 (message 5): edited", "seq 3 (record 7 (message 5)): its bytes"],
        ),
        (
            ["UPDATE messages SET payload = cast('nothing' AS BLOB) WHERE id = 5"],
            ["record 7 (message 5): edited", "seq 3 (record 7 (message 5)): its payload is not a message of the feed"],
        ),
        (
            ['UPDATE messages SET payload = cast(\'{"seq":3,"hash":"0"}\' AS BLOB) WHERE id = 5'],
            ["record 7 (message 5): edited", "seq 3 (record 7 (message 5)): it carries no hash", "seq 4 (record 8"],
        ),
        (
            ["DELETE FROM messages WHERE id = 5"],
            ["record 7 (message 5): removed", "seq 4 (record 8 (message 6)): it f"],
        ),
        (["DELETE FROM messages WHERE id = 4"], ["record 6 (message 4): removed"]),
        (
            ["DELETE FROM chain WHERE n = 7"],
            ["record 7: removed, the next one is record 8", "seq 4", "seq 4", "message 5: in"],
        ),
        (
            [
                "DELETE FROM messages WHERE id > 12",
                "DELETE FROM chain WHERE n > 17",
                "DELETE FROM evidence WHERE coup = 5",
            ],
            ["message 13 to 15: cut off at the end"],
        ),
        (
            [
                "UPDATE messages SET seq = -1 WHERE id = 5",
                "UPDATE messages SET seq = 3, id = 100 WHERE id = 6",
                "UPDATE messages SET seq = 4, id = 6 WHERE id = 5",
                "UPDATE messages SET id = 5 WHERE id = 100",
            ],
            ["record 7 (message 5): edited", "seq 3 (record 7 (message 5)): its payload says seq 4"],
        ),
        (
            ["UPDATE chain SET ref = 3 WHERE n = 7"],
            ["record 7: its link does not follow", "record 7 (message 3): edited"],
        ),
        (["UPDATE chain SET kind = 'letter' WHERE n = 7"], ["record 7: its link", "record 7 (letter 5): no such kind"]),
        (["UPDATE logs SET packed = x'00' WHERE coup = 3"], ["record 13 (evidence 3): its log was edited"]),
        (["DELETE FROM logs WHERE coup = 3"], ["record 13 (evidence 3): its log was removed"]),
        (["UPDATE evidence SET seq = 2 WHERE coup = 3"], ["record 13 (evidence 3): edited"]),
        (["INSERT INTO commands VALUES (7, '', '', '', '', '', '', x'', 0)"], ["command 7: in no record"]),
        (["UPDATE messages SET topic = CAST(x'ff' AS TEXT) WHERE id = 1"], ["record 2 (message 1): edited"]),
        (["DELETE FROM origins"], ["record 1 (origin 1): removed"]),
    ],
)
def test_what_verify_finds(path: Path, statements: list[str], expected: list[str]) -> None:
    filled(path)
    edit(path, *statements)
    journal = open_reader(path)
    faults = verify(journal).faults
    assert len(faults) >= len(expected), faults
    assert all(fault.startswith(start) for fault, start in zip(faults, expected, strict=False)), faults
    journal.close()


def test_a_flood_of_faults_is_cut(path: Path) -> None:
    journal, feed = open_writer(path), Feed()
    for _ in range(FAULTS_MAX + 5):
        journal.append(feed.step("result"), NOW)
    journal.close()
    edit(path, "UPDATE messages SET payload = x'7b7d'")
    reader = open_reader(path)
    faults = verify(reader).faults
    assert len(faults) == FAULTS_MAX + 1
    assert faults[-1] == "and more"
    reader.close()


def test_a_row_in_no_record_is_found_where_there_are_as_many_links(path: Path) -> None:
    filled(path)
    with opened(path) as db:
        db.execute(
            "UPDATE chain SET ref = 1 WHERE kind = 'message' AND ref = 4"
        )  # one notice in two links, one in none
        chain_anew(db)
        bind_anew(db)
    with closing(open_reader(path)) as reader:
        assert verify(reader).faults == ["message 4: in no record: inserted, or its record was cut off"]
