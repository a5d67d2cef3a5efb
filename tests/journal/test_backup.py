"""`wheeld journal backup` and `adopt`, and what the feed of an adopted journal is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
import structlog.testing

from tests.broker.feed import Feed
from tests.journal.journals import NOW, OWNER, open_reader, open_writer, write_keys
from tests.mount_namespace import mounted
from tests.security.forger.house import FINDERS, House, build
from wheeld.cli.main import main
from wheeld.core.messages.chain import GENESIS, close_with_hash
from wheeld.core.step import Message, Step, Topic
from wheeld.exits import Exit
from wheeld.journal.elsewhere import BehindError
from wheeld.journal.opening import open_to_write
from wheeld.journal.rows import JournalError
from wheeld.journal.seal import FileSigner
from wheeld.journal.verify import verify
from wheeld.journal.writer import ADOPTED_AT_ONCE, ADOPTED_SEQ_MAX, JournalWriter
from wheeld.ports import EventRecord

Captured = pytest.CaptureFixture[str]
HASH = "ab" * 32


@pytest.fixture
def house(tmp_path: Path) -> House:
    return build(tmp_path)


def append_table(journal: JournalWriter, prev: str, seq: int) -> None:
    """A message of the feed with this number."""
    body = {"schema": "table/1", "seq": seq, "n": seq, "prev": prev}
    journal.append(Step(messages=(Message(1, "table", close_with_hash(msgspec.json.encode(body))[0], seq),)), NOW)


def test_a_backup_is_made_beside_the_daemon_and_verified(tmp_path: Path, capsys: Captured) -> None:
    path, copy = tmp_path / "wheel.journal", tmp_path / "copy"
    with closing(open_writer(path)) as journal:
        journal.append(Feed().step("result", "table"), NOW)
        assert main(["journal", "backup", str(path), str(copy)]) == Exit.OK
        assert "3 records, verified; head of record 3: 3:" in capsys.readouterr().out
        assert list(tmp_path.glob("copy?*")) == []
        journal.append(Step(memory=b"m"), NOW)
    with closing(open_reader(copy)) as reader:
        assert (reader.last_seq(), verify(reader).faults) == (2, [])
    assert main(["journal", "backup", str(path), str(copy)]) == Exit.BAD_DATA
    assert "exists already" in capsys.readouterr().err


def test_a_journal_that_was_closed_is_read_and_backed_up_on_a_read_only_disk(tmp_path: Path) -> None:
    """Linux makes a failing disk read-only, and a backup is the first that is made then."""
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    disk.mkdir()
    path = disk / "wheel.journal"
    with closing(open_writer(path)) as journal:
        journal.append(Feed().step("result", "table"), NOW)
    wheeld = [sys.executable, "-m", "wheeld", "journal"]
    with mounted(f"mount --bind '{disk}' '{disk}' && mount -o remount,ro,bind '{disk}'") as prefix:
        if prefix is None:
            pytest.skip("no mount namespaces here")
        for words in (["verify", path], ["backup", path, copy], ["show", path]):
            subprocess.run([*prefix, *wheeld, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    assert main(["journal", "verify", str(copy)]) == Exit.OK


def test_a_copy_that_is_not_whole_is_no_backup(house: House, tmp_path: Path, capsys: Captured) -> None:
    with closing(open_writer(house.journal, signer=house.signer)) as journal:
        journal.database._db.execute("UPDATE answers SET why = 'other' WHERE row = 1")
    assert main(["journal", "backup", str(house.journal), str(tmp_path / "copy")]) == Exit.BAD_DATA
    assert "the copy is damaged, and the journal may be too: record" in capsys.readouterr().err
    assert list(tmp_path.glob("copy*")) == [], "unfinished copies of each day would fill the disk"


def test_an_adopted_copy_goes_on_behind_what_others_have(house: House, capsys: Captured) -> None:
    shutil.copy(house.older, house.journal)
    last = msgspec.json.decode(house.retained["table"])
    with closing(open_to_write(house.journal, owner=OWNER, signer=house.signer)) as journal:
        fork = journal.reader.last_seq() + 1
        before = journal.reader.message(fork - 1)
        assert before is not None
        append_table(
            journal, msgspec.json.decode(before.payload)["hash"], fork
        )  # what the daemon says when it starts, before it meets the broker
        with pytest.raises(BehindError) as behind:
            journal.compare(house.retained, settlement_ack=True)
        assert behind.value.after == f"{last['seq']}:{last['hash']}"
        assert "FIRST LOOK FOR THE OTHER COMPUTER" in str(behind.value), "the command beside it would make two wheels"
    key = str(house.directory / "wheel.key")
    adopt = ["journal", "adopt", str(house.journal), "--key", key, "--by", "Zoé", "--why", "the card broke", "--after"]
    assert main([*adopt, f"{last['seq']}:{last['hash']}"]) == Exit.OK
    output = capsys.readouterr().out
    assert f"the next message is seq {last['seq'] + 1}" in output
    assert f"the next coup is number {last['seq'] + 1}:" in output, "the coups' numbers jump too"
    assert f"--from-seq {fork}" in output
    with closing(open_to_write(house.journal, owner=OWNER, signer=house.signer)) as journal:
        gap = journal.reader.gap_due()
        assert gap is not None
        assert (gap.first_seq, gap.last_seq, gap.hash, gap.by) == (fork, last["seq"], last["hash"], "Zoé")
        append_table(journal, gap.hash, gap.last_seq + 1)
        assert journal.reader.gap_due() is None
        journal.compare(house.retained, settlement_ack=True)
        assert [one.seq for one in journal.again(fork, 99)] == [gap.last_seq + 1]
        journal.seal(by="Zoé", why="restored", at_utc_us=NOW)
    house.noted = (0, b"")
    assert [found(house) for found in FINDERS.values()] == [""] * 3


@pytest.mark.parametrize("after", [2, 3], ids=["fewer", "as many"])
def test_a_later_start_trusts_an_adoption_of_no_more_numbers_than_the_copy_has(after: int, tmp_path: Path) -> None:
    """The copy lacked little, and its own start gave as many numbers. They are stored, and were never published."""
    path, (private, _) = tmp_path / "j", write_keys(tmp_path)
    signer = FileSigner(private)
    with closing(open_writer(path, signer=signer)) as journal:
        append_table(journal, GENESIS, 1)
        journal.compare({}, settlement_ack=False)
    with closing(open_writer(path, signer=signer)) as journal:
        for seq in (2, 3):
            _, hashed = journal.reader.last_of_feed() or (0, b"")
            append_table(journal, msgspec.json.decode(hashed)["hash"], seq)
        journal.adopt(after, HASH, by="Zoé", why="lost", at_utc_us=NOW)
    with closing(open_writer(path, signer=signer)) as journal:
        journal.note(EventRecord(event="power_up"), NOW)
        gap = journal.reader.gap_due()
        assert gap is not None
        append_table(journal, gap.hash, gap.last_seq + 1)
        journal.seal(by="wheeld", why="the daemon starts", at_utc_us=NOW)
    with closing(open_writer(path, signer=signer)) as journal:
        assert journal.last_event("power_up") is not None


def test_two_adoptions_are_told_as_one_gap(tmp_path: Path) -> None:
    with closing(open_writer(tmp_path / "j")) as journal:
        append_table(journal, GENESIS, 1)
        journal.compare({}, settlement_ack=False)
        for after in (5, 9):
            journal.adopt(after, HASH, by="Zoé", why="lost", at_utc_us=NOW)
        gap = journal.reader.gap_due()
        assert gap is not None
        assert (gap.first_seq, gap.last_seq) == (2, 9)
        assert verify(journal.reader).faults == []


def test_there_must_be_something_to_adopt(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "j"
    with closing(open_writer(path)) as journal:
        append_table(journal, GENESIS, 1)
        journal.compare({}, settlement_ack=False)
    assert main(["journal", "adopt", str(path), "--after", "1", "--why", "x"]) == Exit.BAD_DATA
    assert "there is nothing to adopt" in capsys.readouterr().err
    private, _ = write_keys(tmp_path)
    assert main(["journal", "adopt", str(path), "--after", "9", "--why", "x", "--key", str(private)]) == Exit.BAD_DATA
    assert "it was begun without a key" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["journal", "adopt", str(path), "--after", "0:x", "--why", "x"])
    assert "'0:x' is not SEQ or SEQ:HASH" in capsys.readouterr().err


def test_an_ack_alone_gives_no_command_to_copy(house: House) -> None:
    """Whoever holds the settlement certificate chose its number; `table` and `notice` are the wheel's own."""
    retained = house.retained | {"ack": b'{"seq":9007199254740991}'}
    with closing(open_to_write(house.journal, owner=OWNER, signer=house.signer)) as journal:
        with pytest.raises(JournalError, match="THE ACK MAY BE FALSE") as caught:
            journal.compare(retained, settlement_ack=True)
        assert caught.value.fault == "behind"
        assert "who publishes `ack`" in str(caught.value)
        assert "publish an empty retained message" in str(caught.value)
        assert not isinstance(caught.value, BehindError)
    shutil.copy(house.older, house.journal)
    with (
        closing(open_to_write(house.journal, owner=OWNER, signer=house.signer)) as journal,
        pytest.raises(BehindError),
    ):
        journal.compare(retained, settlement_ack=True)


def test_a_far_jump_is_adopted_only_by_who_is_sure(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "j"
    with closing(open_writer(path)) as journal:
        append_table(journal, GENESIS, 1)
        journal.compare({}, settlement_ack=False)
    adopt = ["journal", "adopt", str(path), "--why", "x", "--after"]
    assert main([*adopt, str(ADOPTED_AT_ONCE + 2)]) == Exit.BAD_DATA
    assert "more than 1000000 numbers beyond the journal's last, 1: months of play." in capsys.readouterr().err
    with closing(open_writer(path)) as journal:
        assert journal.reader.last_seq() == 1
        with pytest.raises(JournalError, match="is too large for a wheel"):
            journal.adopt(ADOPTED_SEQ_MAX + 1, HASH, by="Zoé", why="lost", at_utc_us=NOW, far=True)
    assert main([*adopt, str(ADOPTED_AT_ONCE + 1)]) == Exit.OK
    assert main([*adopt, str(2 * ADOPTED_AT_ONCE + 2), "--far"]) == Exit.OK
    with closing(open_writer(path)) as journal:
        assert journal.reader.last_seq() == 2 * ADOPTED_AT_ONCE + 2
        assert verify(journal.reader).faults == []


@pytest.mark.parametrize(
    ("retained", "known"),
    [
        ({"table": b"garbage", "notice": b"[1]", "ack": b""}, None),
        ({"notice": b'{"notice":"bouler","figures":{"who":"Anna"}}'}, None),
        ({"ack": b'{"seq":1}'}, None),
        (dict.fromkeys(("table", "notice", "ack"), b'{"x":' + b"[" * 16_000 + b"]" * 16_000 + b"}"), None),
        ({"ack": b'{"seq":2}'}, "acknowledged seq 2"),
        ({"table": b'{"seq":1,"hash":"other"}'}, "`table` with seq 1"),
        ({"notice": b'{"notice":"sealed","figures":{"n":99,"head":"00","seq":1}}'}, "a seal of record 99, at seq 1"),
    ],
)
def test_what_others_have(tmp_path: Path, retained: dict[str, bytes], known: str | None) -> None:
    with closing(open_writer(tmp_path / "j")) as journal:
        append_table(journal, GENESIS, 1)
        journal.compare({**retained, "ack": b""}, settlement_ack=False) if "ack" in retained else None
        if known is None:
            journal.compare(retained, settlement_ack=True)
        else:
            with pytest.raises(JournalError, match=known) as caught:
                journal.compare(retained, settlement_ack=True)
            assert caught.value.fault == "behind"


@pytest.mark.parametrize("number", [-1, 2**53, 2**63, 10**22])
@pytest.mark.parametrize(
    ("leaf", "payload"),
    [
        ("table", '{"seq":%d,"hash":"other"}'),
        ("ack", '{"seq":%d}'),
        ("notice", '{"notice":"sealed","figures":{"n":%d,"head":"00","seq":1}}'),
        ("notice", '{"notice":"sealed","figures":{"n":1,"head":"00","seq":%d}}'),
    ],
)
def test_a_number_that_no_wheel_gives_is_not_compared_and_logged(
    tmp_path: Path, leaf: str, payload: str, number: int
) -> None:
    with closing(open_writer(tmp_path / "j")) as journal, structlog.testing.capture_logs() as logs:
        append_table(journal, GENESIS, 1)
        journal.compare({leaf: (payload % number).encode()}, settlement_ack=True)
        assert journal.reader.last_seq() == 1, "the journal can still be used"
    assert [(line["event"], line["topic"]) for line in logs] == [("retained.unreadable", leaf)]


@pytest.mark.parametrize("leaf", ["table", "notice"])
@pytest.mark.parametrize("test", [True, False])
def test_a_bench_table_and_a_live_one_of_one_name_do_not_meet(tmp_path: Path, leaf: Topic, *, test: bool) -> None:
    """The second finds what the first left at the broker, and publishes nothing."""
    owner = msgspec.structs.replace(OWNER, test=test)
    (others,) = Feed(test=not test).step(leaf).messages
    (own,) = Feed(test=test).step("table").messages
    ours, theirs = ("bench", "live") if test else ("live", "bench")
    with closing(open_writer(tmp_path / "j", owner=owner)) as journal:
        journal.append(Step(messages=(own,)), NOW)
        why = f"retains `{leaf}` of a {theirs} table of this name, but this is a {ours} table"
        with pytest.raises(JournalError, match=why) as caught:
            journal.compare({leaf: others.payload}, settlement_ack=False)
        assert caught.value.fault == "behind"
        journal.compare({"table": own.payload}, settlement_ack=False)
