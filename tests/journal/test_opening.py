"""Whose journal it is: another table's, or one of another key, is refused before anything is stored."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tests.broker.feed import Feed
from tests.journal.journals import NOW, OWNER, RawSigner, open_reader, open_writer
from wheeld.journal import verify
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.rows import JournalError, Signer
from wheeld.ports import CommandRecord, EventRecord

BENCH = msgspec.structs.replace(OWNER, test=True)
ONE, OTHER = RawSigner(bytes([1]) * 32), RawSigner(bytes([2]) * 32)


def records(path: Path) -> int:
    with closing(open_reader(path)) as journal:
        return journal.database.tip()[0]


@pytest.mark.parametrize("owner", [Owner("testsite", "table-2"), Owner("elsewhere", "table-1")])
def test_another_tables_journal_is_refused(path: Path, owner: Owner) -> None:
    open_writer(path, signer=ONE).close()
    why = f"it is the journal of {OWNER}, but this is {owner}: correct journal.path, or site and id"
    with pytest.raises(JournalError, match=why) as caught:
        open_to_write(path, owner=owner, signer=ONE)
    assert caught.value.fault == "owner"
    assert records(path) == 1


@pytest.mark.parametrize(
    ("begun", "now", "why"),
    [
        (ONE, OTHER, f"begun with key {ONE.key_id}, but the given key is {OTHER.key_id}: use key {ONE.key_id}"),
        (ONE, None, f"begun with key {ONE.key_id}, but no key is given: name that key in journal.signing_key_file"),
        (None, ONE, "begun without a key, but journal.signing_key_file names one: remove that setting"),
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


@pytest.mark.parametrize("signer", [ONE, None])
@pytest.mark.parametrize(
    ("begun", "now", "why"),
    [
        (BENCH, OWNER, "it is the journal of a bench table, but \\[table\\] has no test = true"),
        (OWNER, BENCH, "it is the journal of a live table, but \\[table\\] has test = true"),
    ],
)
def test_a_bench_tables_journal_never_becomes_a_live_one_nor_the_other_way_round(
    path: Path, begun: Owner, now: Owner, why: str, signer: Signer | None
) -> None:
    with closing(open_writer(path, owner=begun, signer=signer)) as journal:
        feed = Feed(test=begun.test)
        journal.append(feed.step("table", "result"), NOW)
        journal.append(feed.step("notice", "board"), NOW)
        journal.seal(by="Anna", why="close", at_utc_us=NOW)
    stored = records(path)
    with pytest.raises(JournalError, match=why) as caught:
        open_to_write(path, owner=now, signer=signer)
    assert caught.value.fault == "owner"
    assert records(path) == stored
    open_writer(path, owner=begun, signer=signer).close()
    open_to_write(path, signer=signer).close()  # the command line seals either


@pytest.mark.parametrize("signer", [ONE, None])
def test_a_message_that_lost_its_mark_is_noticed_at_the_start(
    path: Path, signer: Signer | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the last seal, or without a key before the last records, where a start does not verify every record."""
    monkeypatch.setattr(verify, "UNSEALED_MAX", 1)
    with closing(open_writer(path, owner=BENCH, signer=signer)) as journal:
        journal.append(Feed(test=True).step("table"), NOW)
        journal.note(EventRecord(event="stop"), NOW)
        journal.seal(by="Anna", why="close", at_utc_us=NOW)
        journal.mark_sent([1], await_settlement=False)
        journal.database._db.execute(
            "UPDATE messages SET payload = CAST(replace(payload, '\"test\":true,', '') AS BLOB)"
        )
    with pytest.raises(JournalError, match="seq 1: its bytes do not have its hash: it was edited"):
        open_writer(path, owner=OWNER, signer=signer)


def test_the_answers_in_a_bench_tables_journal_are_marked(path: Path) -> None:
    asked = CommandRecord(id="c1", name="open", by="Anna", reason="time")
    with closing(open_writer(path, owner=BENCH)) as journal:
        journal.receive(asked, NOW)
        journal.answer_unfinished(NOW)
        journal.receive(asked, NOW)  # a repeat gets its answer again
        journal.refuse(msgspec.structs.replace(asked, id="c2"), "no", NOW)
        answers = [msgspec.json.decode(message.payload) for message in journal.owed(0, 10)]
    assert [answer["test"] for answer in answers] == [True] * 3
