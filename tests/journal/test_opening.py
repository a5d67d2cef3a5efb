"""Whose journal it is: another table's, or one of another key, is refused before anything is stored."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.broker.feed import Feed
from tests.journal.journals import NOW, OWNER, RawSigner, open_reader, open_writer
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.rows import JournalError, Signer

ONE, OTHER = RawSigner(bytes([1]) * 32), RawSigner(bytes([2]) * 32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wheel.journal"


def records(path: Path) -> int:
    with closing(open_reader(path)) as journal:
        return journal.database.tip()[0]


@pytest.mark.parametrize("owner", [Owner("testsite", "table-2"), Owner("elsewhere", "table-1")])
def test_another_tables_journal_is_refused(path: Path, owner: Owner) -> None:
    open_writer(path, signer=ONE).close()
    why = f"it is the journal of {OWNER}, and this is {owner}: set journal.path, or site and id"
    with pytest.raises(JournalError, match=why) as caught:
        open_to_write(path, owner=owner, signer=ONE)
    assert caught.value.fault == "owner"
    assert records(path) == 1


@pytest.mark.parametrize(
    ("begun", "now", "why"),
    [
        (ONE, OTHER, f"begun with key {ONE.key_id}, and this is key {OTHER.key_id}: use the first one"),
        (ONE, None, f"begun with key {ONE.key_id}, and there is none: name it in journal.signing_key_file"),
        (None, ONE, "begun without a key, and journal.signing_key_file names one: take it out"),
    ],
)
def test_another_key_is_refused(path: Path, begun: Signer | None, now: Signer | None, why: str) -> None:
    with closing(open_writer(path, signer=begun)) as journal:
        journal.append(Feed().step("result"), NOW)
    with pytest.raises(JournalError, match=why) as caught:
        open_to_write(path, owner=OWNER, signer=now)
    assert caught.value.fault == "owner"
    assert records(path) == 2


def test_a_command_line_begins_no_journal(path: Path) -> None:
    with pytest.raises(JournalError, match="only the daemon begins a journal"):
        open_to_write(path)


def test_an_old_message_without_its_signature_is_not_sent_again(path: Path) -> None:
    """The patrol has not come to it yet, and somebody asks for it."""
    with closing(open_writer(path, signer=ONE)) as journal:
        feed = Feed()
        for _ in range(3):
            journal.append(feed.step("result"), NOW)
        journal.seal(by="Anna", why="close", at_utc_us=NOW)
        journal.append(feed.step("result"), NOW)
        journal.mark_sent(range(1, 5), await_settlement=False)
    with closing(open_writer(path, signer=ONE)) as journal:
        assert [message.seq for message in journal.again(1, 10)] == [1, 2, 3, 4]
        journal.database._db.execute(
            "UPDATE messages SET payload = CAST(replace(payload, 'n', 'm') AS BLOB) WHERE seq = 2"
        )
        with pytest.raises(JournalError, match="seq 2: not signed by this journal's key"):
            journal.again(1, 10)
