"""What `verify` finds in a journal that someone has touched."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.edges.feed import Feed
from wheeld.core.step import Evidence
from wheeld.edges.journal_file import JournalFile
from wheeld.edges.journal_verify import FAULTS_MAX, verify

NOW = 1_700_000_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wheel.journal"


def edit(path: Path, *statements: str) -> None:
    """What someone with sqlite3 and no good intention would do."""
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def filled(path: Path) -> None:
    journal, feed = JournalFile(path), Feed()
    for coup in range(1, 6):
        journal.append(feed.step("notice", "result", "table", evidence=Evidence(coup, "result", b"log")), NOW)
    journal.close()


def test_an_untouched_journal_verifies(path: Path) -> None:
    filled(path)
    journal = JournalFile(path, read_only=True)
    report = verify(journal)
    assert (report.messages, report.sequenced, report.last_seq, report.coups, report.faults) == (15, 10, 10, 5, [])
    assert report.last_hash.encode() in journal.messages(10, 1)[0].payload
    journal.close()


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (
            ["UPDATE messages SET payload = cast(replace(payload, '\"n\":2', '\"n\":3') AS BLOB) WHERE id = 5"],
            "seq 3 (row 5): its bytes",
        ),
        (
            ["UPDATE messages SET payload = cast('nothing' AS BLOB) WHERE id = 5"],
            "seq 3 (row 5): its payload is not a sealed",
        ),
        (
            ['UPDATE messages SET payload = cast(\'{"seq":3,"hash":"0"}\' AS BLOB) WHERE id = 5'],
            "seq 3 (row 5): it carries no hash",
        ),
        (["DELETE FROM messages WHERE id = 5"], "row 5: missing"),
        (["DELETE FROM messages WHERE id = 5"], "seq 4 (row 6): it follows seq 2"),
        (["DELETE FROM messages WHERE id = 4"], "row 4: missing"),
        (["DELETE FROM messages WHERE id > 12"], "rows 13 to 15: missing at the end"),
        (["DELETE FROM messages WHERE id = 2"], "seq 2 (row 3): its prev"),
        (
            [
                "UPDATE messages SET id = -1 WHERE id = 5",
                "UPDATE messages SET id = 5 WHERE id = 6",
                "UPDATE messages SET id = 6 WHERE id = -1",
            ],
            "seq 4 (row 5): it follows seq 2",
        ),
        (
            [
                "UPDATE messages SET seq = -1 WHERE id = 5",
                "UPDATE messages SET seq = 3, id = 100 WHERE id = 6",
                "UPDATE messages SET seq = 4, id = 6 WHERE id = 5",
                "UPDATE messages SET id = 5 WHERE id = 100",
            ],
            "its payload says seq 3",
        ),
        (["UPDATE evidence SET log = x'00' WHERE coup = 3"], "evidence of coup 3 is damaged"),
        (["UPDATE evidence SET seq = 2 WHERE coup = 3"], "evidence of coup 3: its result (seq 2) is not there"),
        (["UPDATE evidence SET seq = NULL WHERE coup = 3"], "evidence of coup 3: its result (seq None) is not there"),
    ],
)
def test_what_verify_finds(path: Path, statements: list[str], told: str) -> None:
    filled(path)
    edit(path, *statements)
    journal = JournalFile(path, read_only=True)
    faults = verify(journal).faults
    assert any(told in fault for fault in faults), faults
    journal.close()


def test_a_flood_of_faults_is_cut(path: Path) -> None:
    journal, feed = JournalFile(path), Feed()
    for _ in range(FAULTS_MAX + 5):
        journal.append(feed.step("result"), NOW)
    journal.close()
    edit(path, "UPDATE messages SET payload = x'7b7d'")
    reader = JournalFile(path, read_only=True)
    faults = verify(reader).faults
    assert len(faults) == FAULTS_MAX + 1
    assert faults[-1] == "and more"
    reader.close()
