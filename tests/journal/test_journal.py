"""The journal on a real file: what it keeps, what it refuses, how it fails, and what `verify` finds."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from firmware_protocol.host import Position
from tests.broker.feed import Feed
from tests.journal.journals import OWNER, edit, open_reader, open_writer
from wheeld.core.catalogue import Catalogue
from wheeld.core.step import CoupLog, Message, Reply, Step
from wheeld.journal.database import LATER_MAX
from wheeld.journal.journal import Journal
from wheeld.journal.rows import REPLACE, Fault, JournalError, SendState
from wheeld.journal.schema import VERSION
from wheeld.journal.verify import verify
from wheeld.journal.writer import REPEAT_WINDOW_S, UNFINISHED, JournalWriter
from wheeld.ports import CommandRecord, Receipt

NOW = 1_700_000_000_000_000


@pytest.fixture
def journal(path: Path) -> Iterator[JournalWriter]:
    file = open_writer(path)
    yield file
    file.close()


def command(command_id: str | None = "c1", name: str = "open", **more: object) -> CommandRecord:
    return msgspec.convert({"id": command_id, "name": name, "by": "chef", "reason": "time", **more}, CommandRecord)


def replies(journal: JournalWriter) -> list[dict[str, object]]:
    return [msgspec.json.decode(record.payload) for record in journal.reader.records(0, 100) if record.topic == "reply"]


# --- keeping -----------------------------------------------------------------------------------------------------


def test_a_step_is_kept_whole_across_a_reopening(path: Path) -> None:
    feed = Feed()
    log = b'{"kind":"wheel"}\n' * 1000
    step = feed.step("notice", "result", "table", evidence=CoupLog(7, "result", log), memory=b"state")
    first = open_writer(path)
    first.append(step, NOW)
    first.close()
    again = open_writer(path)
    rows = again.reader.records(0, 10)
    assert [(row.id, row.topic, row.seq, row.retained, row.state) for row in rows] == [
        (1, "notice", None, False, SendState.OWED),
        (2, "result", 1, False, SendState.OWED),
        (3, "table", 2, True, SendState.OWED),
    ]
    assert [row.payload for row in rows] == [message.payload for message in step.messages]
    assert {row.at_utc_us for row in rows} == {NOW}
    assert again.reader.memory() == b"state"
    evidence = again.reader.evidence(7)
    assert evidence is not None
    assert (evidence.verdict, evidence.seq, evidence.log) == ("result", 1, log)
    assert again.reader.coups() == [7]
    again.close()


def test_evidence_is_compressed_on_disk(path: Path, journal: JournalWriter) -> None:
    log = b'{"t":1,"kind":"rotor","tick":57,"direction":"cw"}\n' * 20_000
    journal.append(Feed().step("void", evidence=CoupLog(1, "void", log)), NOW)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT length(packed) FROM logs").fetchone()[0] < len(log) // 20


def test_two_verdicts_stored_together_have_each_its_own_evidence(journal: JournalWriter) -> None:
    """Events that waited in a board while no host read them may be decided in one step."""
    step = Feed().step("void", "table", "result", "void", evidence=CoupLog(1, "void", b"a"))
    more = (CoupLog(2, "result", b"b"), CoupLog(3, "void", b"c"))
    journal.append(msgspec.structs.replace(step, coup_logs=(*step.coup_logs, *more)), NOW)
    kept = [journal.reader.evidence(coup) for coup in (1, 2, 3)]
    assert [(one.verdict, one.seq, one.log) for one in kept if one] == [
        ("void", 1, b"a"),
        ("result", 3, b"b"),
        ("void", 4, b"c"),
    ]


def test_how_far_the_sensors_events_had_come_is_stored_with_what_followed(path: Path, journal: JournalWriter) -> None:
    assert journal.reader.position() is None
    journal.append(Feed().step("table"), NOW, Position(3, 14))
    journal.append(Step(memory=b"state"), NOW)
    assert journal.reader.position() == Position(3, 14)


def test_evidence_that_comes_after_its_verdict_finds_it(journal: JournalWriter) -> None:
    feed = Feed()
    journal.append(feed.step("void", "table"), NOW)
    journal.append(Step(coup_logs=(CoupLog(3, "void", b"x"),)), NOW)
    evidence = journal.reader.evidence(3)
    assert evidence is not None
    assert evidence.seq == 1


def test_an_empty_journal_has_nothing(journal: JournalWriter) -> None:
    assert journal.reader.memory() is None
    assert journal.reader.evidence(1) is None
    assert journal.reader.message(1) is None
    assert (journal.reader.last_seq(), journal.reader.depth(), journal.reader.last_id()) == (0, 0, 0)
    assert journal.reader.owed(0, 10) == []


def test_memory_is_the_latest(journal: JournalWriter) -> None:
    for blob in (b"one", b"two"):
        journal.append(Step(memory=blob), NOW)
    journal.append(Step(), NOW)
    assert journal.reader.memory() == b"two"


def test_memory_is_packed_on_disk(journal: JournalWriter) -> None:
    memory = b'{"numbers":[%b]}' % b",".join([b"17"] * 500)
    journal.append(Step(memory=memory), NOW)
    assert journal.reader.memory() == memory
    assert journal.database.integer("SELECT length(value) FROM kept WHERE name = 'memory'") < 100
    journal.database.execute("UPDATE kept SET value = x'00' WHERE name = 'memory'")
    with pytest.raises(JournalError, match="the memory is damaged"):
        journal.reader.memory()


def test_messages_by_sequence(journal: JournalWriter) -> None:
    journal.append(Feed().step("result", "notice", "table", "board", "void"), NOW)
    assert [message.seq for message in journal.reader.messages(2, 10)] == [2, 3]
    one = journal.reader.message(3)
    assert one is not None
    assert one.topic == "void"
    assert journal.reader.message(4) is None


def test_the_process_killed_in_the_middle_loses_nothing_that_was_appended(path: Path) -> None:
    """The child says each seq after its append returned; SIGKILL then takes back none of them."""
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from tests.broker.feed import Feed
        from tests.journal.journals import open_writer
        journal, feed = open_writer(Path({str(path)!r})), Feed()
        while True:
            journal.append(feed.step("result", "table", memory=b"%d" % (feed.seq + 2)), 1)
            print(feed.seq, flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    appended = [int(child.stdout.readline()) for _ in range(20)]
    child.send_signal(signal.SIGKILL)
    appended += [int(line) for line in child.stdout if line.endswith("\n")]
    child.wait()
    child.stdout.close()
    journal = open_writer(path)
    assert journal.reader.last_seq() >= appended[-1]
    assert journal.reader.memory() == b"%d" % journal.reader.last_seq()
    assert verify(journal.reader).faults == []
    journal.close()


def test_full_synchronous_and_wal(path: Path, journal: JournalWriter) -> None:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert journal.database._db.execute("PRAGMA synchronous").fetchone()[0] == 2


# --- refusing ----------------------------------------------------------------------------------------------------


def test_the_same_message_again_is_stored_once(journal: JournalWriter) -> None:
    step = Feed().step("result", "table")
    journal.append(step, NOW)
    journal.append(step, NOW)
    assert len(journal.reader.records(0, 10)) == 2


@pytest.mark.parametrize("seq", [1, 4])
def test_a_number_used_twice_or_left_out_is_refused_for_ever(journal: JournalWriter, seq: int) -> None:
    journal.append(Feed().step("result", "table"), NOW)
    wrong = Step(messages=(Message(0, "notice", b"{}"), Message(0, "table", b'{"other":1}', seq)), memory=b"new")
    with pytest.raises(JournalError, match=f"seq {seq}") as caught:
        journal.append(wrong, NOW)
    assert caught.value.fault == "conflict"
    with pytest.raises(JournalError) as again:
        journal.reader.depth()
    assert again.value is caught.value


def test_a_refused_step_leaves_nothing(path: Path) -> None:
    journal = open_writer(path)
    journal.append(Feed().step("result"), NOW)
    with pytest.raises(JournalError):
        journal.append(Step(messages=(Message(0, "notice", b"{}"), Message(0, "table", b"{}", 9)), memory=b"x"), NOW)
    journal.close()
    again = open_writer(path)
    assert (again.reader.last_id(), again.reader.memory()) == (1, None)
    again.close()


def test_a_step_whose_place_in_the_events_cannot_be_stored_leaves_nothing(journal: JournalWriter) -> None:
    """Else a restart would know what the sensors had shown, and read it once more."""
    step = msgspec.structs.replace(Feed().step("result"), memory=b"x")
    with pytest.raises(TypeError):
        journal.append(step, NOW, object())  # type: ignore[arg-type]
    assert (journal.reader.last_id(), journal.reader.memory(), journal.reader.position()) == (0, None, None)


def test_the_chain_goes_on_after_a_step_that_the_program_broke(journal: JournalWriter) -> None:
    feed = Feed()
    journal.append(feed.step("result"), NOW)
    with pytest.raises(TypeError):
        journal.append(Feed().step("notice", "notice", evidence=CoupLog(1, "result", "text")), NOW)  # type: ignore[arg-type]
    journal.append(feed.step("table", evidence=CoupLog(1, "result", b"log")), NOW)
    assert verify(journal.reader).faults == []
    assert journal.database.tip()[0] == 4


def test_evidence_of_one_coup_twice_is_refused(journal: JournalWriter) -> None:
    feed = Feed()
    journal.append(feed.step("void", evidence=CoupLog(1, "void", b"a")), NOW)
    with pytest.raises(JournalError, match="stored twice") as caught:
        journal.append(feed.step("void", evidence=CoupLog(1, "void", b"b")), NOW)
    assert caught.value.fault == "conflict"


def test_two_daemons_cannot_have_one_journal(path: Path, journal: JournalWriter) -> None:
    with pytest.raises(JournalError, match=str(path)) as caught:
        open_writer(path)
    assert caught.value.fault == "locked"
    journal.close()
    open_writer(path).close()


def test_a_reader_beside_the_daemon(path: Path, journal: JournalWriter) -> None:
    reader = open_reader(path)
    journal.append(Feed().step("result"), NOW)
    assert reader.last_seq() == 1
    with pytest.raises(JournalError, match="read-only") as caught:
        JournalWriter(reader.database).append(Step(memory=b"x"), NOW)
    assert caught.value.fault == "io"
    reader.close()
    with pytest.raises(JournalError) as missing:
        open_reader(path.with_name("none"))
    assert missing.value.fault == "io"


def test_a_newer_schema_is_refused(path: Path) -> None:
    open_writer(path).close()
    edit(path, f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(JournalError, match=f"schema {VERSION + 1}, this one knows {VERSION}") as caught:
        open_writer(path)
    assert caught.value.fault == "newer"
    edit(path, f"PRAGMA user_version = {VERSION}")
    open_writer(path).close()


def test_other_files_are_refused(path: Path) -> None:
    edit(path, "CREATE TABLE diary (day TEXT)")
    with pytest.raises(JournalError, match="not a wheeld journal") as other:
        open_writer(path)
    path.write_bytes(b"my letters " * 1000)
    with pytest.raises(JournalError, match="not a database") as letters:
        open_writer(path)
    assert (other.value.fault, letters.value.fault) == ("foreign", "foreign")
    assert path.read_bytes() == b"my letters " * 1000


def test_a_full_disk_is_named_as_the_one_that_is_full() -> None:
    """A backup is on another disk than the journal."""
    assert "`du -xh /dev/shm | sort" in str(JournalError("full", Path("/dev/shm/none/copy.part"), "the disk is full"))


@pytest.mark.parametrize("fault", REPLACE)
def test_what_is_printed_about_a_journal_that_must_be_replaced_works_as_typed(path: Path, fault: Fault) -> None:
    path.write_bytes(b"my letters")
    move_away, put_in_its_place = re.findall("`([^`]+)`", str(JournalError(fault, path, "it is wrong")))
    subprocess.run(["sh", "-c", move_away], check=True)
    assert (path.parent / "damaged" / path.name).read_bytes() == b"my letters"
    open_writer(path).close()
    assert put_in_its_place == f"cp BACKUP {path} && chown wheeld: {path}"


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="No such file or directory") as caught:
        open_writer(tmp_path / "none" / "journal")
    assert caught.value.fault == "io"


# --- failing -----------------------------------------------------------------------------------------------------


def test_disk_full_halts_and_keeps_what_was_appended(path: Path) -> None:
    journal, feed = open_writer(path), Feed()
    pages = journal.database._db.execute("PRAGMA page_count").fetchone()[0]
    journal.database._db.execute(f"PRAGMA max_page_count = {pages + 20}")
    appended = 0

    def fill() -> None:
        nonlocal appended
        while True:
            log = random.Random(appended).randbytes(5_000)
            journal.append(feed.step("result", evidence=CoupLog(appended, "result", log)), NOW)
            appended += 1

    with pytest.raises(JournalError, match="disk is full") as caught:
        fill()
    assert caught.value.fault == "full"
    calls: list[Callable[[], object]] = [
        journal.reader.memory,
        journal.reader.depth,
        lambda: journal.append(Step(memory=b"x"), NOW),
        lambda: journal.reader.owed(0, 1),
    ]
    for call in calls:
        with pytest.raises(JournalError) as again:
            call()
        assert again.value is caught.value
    journal.close()
    reopened = open_writer(path)
    assert appended > 0
    assert (reopened.reader.last_seq(), reopened.reader.coups()) == (appended, list(range(appended)))
    reopened.close()


def test_a_failing_disk(path: Path) -> None:
    """A limit on the size of files makes the kernel refuse the write: an I/O error, not SQLite's own idea of full."""
    program = textwrap.dedent(
        f"""
        import resource, signal
        from pathlib import Path
        from tests.broker.feed import Feed
        from wheeld.core.step import CoupLog
        from tests.journal.journals import open_writer
        from wheeld.journal.rows import JournalError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        journal, feed = open_writer(Path({str(path)!r})), Feed()
        journal.append(feed.step("result"), 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            for coup in range(1000):
                journal.append(feed.step("result", "table", "board", evidence=CoupLog(coup, "result", b"x" * 100)), 1)
        except JournalError as error:
            print(error.fault, feed.seq, error)
        """
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60).stdout
    fault, seq, why = out.split(" ", 2)
    assert fault in {"io", "full"}, out
    assert str(path) in why
    journal = open_writer(path)
    assert journal.reader.last_seq() == int(seq) - 2
    assert verify(journal.reader).faults == []
    journal.close()


def test_a_damaged_file_is_reported(path: Path) -> None:
    journal, feed = open_writer(path), Feed()
    for _ in range(200):
        journal.append(feed.step("result", "table"), NOW)
    journal.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    with pytest.raises(JournalError, match="damaged") as caught:
        open_writer(path).reader.records(0, 1000)
    assert caught.value.fault == "corrupt"


# --- what is owed ------------------------------------------------------------------------------------------------


def test_owed_in_order_until_sent(journal: JournalWriter) -> None:
    feed = Feed()
    journal.append(feed.step("result", "table", "board", "notice"), NOW)
    journal.append(feed.step("table"), NOW)
    assert [(m.id, m.topic, m.seq, m.retain) for m in journal.reader.owed(0, 10)] == [
        (1, "result", 1, False),
        (2, "table", 2, False),  # an older state must not be retained
        (3, "board", None, True),
        (4, "notice", None, False),
        (5, "table", 3, True),
    ]
    assert [m.id for m in journal.reader.owed(2, 2)] == [3, 4]
    journal.mark_sent([1, 2, 3], await_settlement=False)
    assert [m.id for m in journal.reader.owed(0, 10)] == [4, 5]
    assert journal.reader.depth() == 2


def test_sequenced_ones_wait_for_settlement(journal: JournalWriter) -> None:
    journal.append(Feed().step("result", "notice", "table", "void"), NOW)
    journal.mark_sent([1, 2, 3], await_settlement=True)
    assert [m.id for m in journal.reader.owed(0, 10)] == [1, 3, 4]
    assert journal.settle(1) == 1
    assert journal.settle(1) == 0
    assert journal.settle(3) == 1  # 3 is not at the broker yet
    assert [m.id for m in journal.reader.owed(0, 10)] == [4]
    assert journal.settle(2) == 0
    journal.mark_sent([4], await_settlement=True)
    assert journal.reader.depth() == 0


def owed_on_disk(path: Path) -> list[int]:
    with closing(open_reader(path)) as file:
        return [message.id for message in file.owed(0, 100)]


def test_what_was_sent_is_on_disk_with_the_next_step(journal: JournalWriter, path: Path) -> None:
    feed = Feed()
    journal.append(feed.step("result", "table", "void"), NOW)
    journal.mark_sent([1, 2, 3], await_settlement=True)
    assert journal.settle(2) == 2
    assert (journal.reader.depth(), owed_on_disk(path)) == (1, [1, 2, 3])
    journal.append(feed.step("table"), NOW)
    assert [m.id for m in journal.reader.owed(0, 10)] == owed_on_disk(path) == [3, 4]
    with closing(open_reader(path)) as file:
        assert (file.settled(), verify(file).faults) == (2, [])


def test_what_was_sent_waits_for_few_others_and_for_no_restart(journal: JournalWriter, path: Path) -> None:
    feed = Feed()
    for _ in range(LATER_MAX + 2):
        journal.append(feed.step("notice"), NOW)
    for sent in range(1, LATER_MAX + 1):
        assert owed_on_disk(path)[0] == 1
        journal.mark_sent([sent], await_settlement=False)
    assert owed_on_disk(path)[0] == LATER_MAX + 1
    journal.mark_sent([LATER_MAX + 1], await_settlement=False)
    journal.close()
    assert owed_on_disk(path)[0] == LATER_MAX + 2


def test_a_step_that_fails_takes_back_what_waited(journal: JournalWriter, path: Path) -> None:
    feed = Feed()
    journal.append(feed.step("result"), NOW)
    journal.mark_sent([1], await_settlement=False)
    feed.step("table")
    with pytest.raises(JournalError, match="seq 3 after 1"):
        journal.append(feed.step("table"), NOW)
    journal.close()
    assert owed_on_disk(path) == [1], "it is published again"
    with closing(open_reader(path)) as file:
        assert verify(file).faults == []


def test_retained_ones_are_owed_again_and_settle_without_another_ack(journal: JournalWriter) -> None:
    journal.append(Feed().step("table", "board", "table", "result"), NOW)
    journal.mark_sent([1, 2, 3, 4], await_settlement=True)
    journal.settle(3)
    assert journal.reader.depth() == 0
    journal.reopen_retained()
    assert [(m.topic, m.seq, m.retain) for m in journal.reader.owed(0, 9)] == [
        ("board", None, True),
        ("table", 2, True),
    ]
    journal.mark_sent([2, 3], await_settlement=True)
    assert journal.reader.depth() == 0


def test_what_is_read_again_is_not_owed_again(journal: JournalWriter) -> None:
    journal.append(Feed().step("result", "table", "notice", "table", "result"), NOW)
    journal.mark_sent([1, 2, 3, 4, 5], await_settlement=False)
    assert [(m.topic, m.seq, m.retain) for m in journal.again(2, 2)] == [("table", 2, False), ("table", 3, True)]
    assert [m.seq for m in journal.again(1, 9)] == [1, 2, 3, 4]
    assert journal.again(5, 9) == []
    assert journal.reader.depth() == 0


# --- commands ----------------------------------------------------------------------------------------------------


def test_a_command_and_its_answer_are_in_the_log(journal: JournalWriter) -> None:
    asked = command(user="chef-3", response_topic="desk/7", correlation=b"\x00\x01", details='{"coup":4}')
    assert journal.receive(asked, NOW) is Receipt.NEW
    (undecided,) = journal.reader.commands(0, 10)
    assert (undecided.done, undecided.answered_utc_us) == (None, None)
    reply_to_it = Reply(5, "c1", "open", "Anna", done=False, why="A1: it is open", user="chef-3")
    journal.append(Step(replies=(reply_to_it,)), NOW + 1)
    (row,) = journal.reader.commands(0, 10)
    assert (row.name, row.user, row.by, row.reason, row.details, row.done, row.why, row.answered_utc_us) == (
        "open",
        "chef-3",
        "chef",
        "time",
        '{"coup":4}',
        False,
        "A1: it is open",
        NOW + 1,
    )
    (reply,) = journal.reader.owed(0, 10)
    assert (reply.topic, reply.seq, reply.retain) == ("reply", None, False)
    assert (reply.response_topic, reply.correlation) == ("desk/7", b"\x00\x01")
    assert msgspec.json.decode(reply.payload) == {
        "schema": "reply/1",
        "id": "c1",
        "name": "open",
        "by": "Anna",
        "user": "chef-3",
        "done": False,
        "why": "A1: it is open",
    }


def test_a_button_is_logged_and_not_answered(journal: JournalWriter) -> None:
    journal.append(Step(replies=(Reply(5, None, "rien_va", "button", done=True),)), NOW)
    (row,) = journal.reader.commands(0, 10)
    assert (row.id, row.user, row.by, row.done) == (None, None, "button", True)
    assert replies(journal) == []


def test_the_same_delivery_again_is_not_new(journal: JournalWriter) -> None:
    assert journal.receive(command(), NOW) is Receipt.NEW
    assert journal.receive(command(), NOW + 1) is Receipt.PENDING
    assert replies(journal) == []
    journal.answer(Reply(0, "c1", "open", "chef", done=True), NOW + 2)
    assert journal.receive(command(), NOW + 3) is Receipt.REPEATED
    assert [reply["done"] for reply in replies(journal)] == [True, True]
    assert journal.receive(command(name="close"), NOW + 4) is Receipt.CONFLICT
    later = NOW + REPEAT_WINDOW_S * 1_000_000
    assert journal.receive(command(), later) is Receipt.NEW
    assert len(journal.reader.commands(0, 10)) == 2


def test_an_id_is_its_user_s_own(journal: JournalWriter) -> None:
    """Nobody can have another's command taken for a repeat, or refused, by using its id first."""
    assert journal.receive(command(user="bouler-3", name="last_coup"), NOW) is Receipt.NEW
    assert journal.receive(command(user="chef-3"), NOW + 1) is Receipt.NEW
    journal.answer(Reply(0, "c1", "open", "chef", done=True, user="chef-3"), NOW + 2)
    journal.refuse(command(user="display-3"), "no right", NOW + 3)
    assert journal.receive(command(user="chef-3"), NOW + 4) is Receipt.REPEATED
    assert journal.receive(command(user="bouler-3", name="last_coup"), NOW + 5) is Receipt.PENDING
    assert [(row.user, row.done) for row in journal.reader.commands(0, 10)] == [
        ("bouler-3", None),
        ("chef-3", True),
        ("display-3", False),
    ]
    assert [reply["user"] for reply in replies(journal)] == ["chef-3", "display-3", "chef-3"]


def test_an_answer_that_another_has_sent_to_a_panel_is_known_by_its_user(journal: JournalWriter) -> None:
    """He chose all the rest as the panel does: the id, the person, the response topic, the correlation data."""
    for user in ("chef-3", "bouler-3"):
        asked = command(user=user, response_topic="reply/campione/campione-03/panel", correlation=b"1")
        assert journal.receive(asked, NOW) is Receipt.NEW
        journal.answer(Reply(0, "c1", "open", "chef", done=user == "chef-3", why="no right", user=user), NOW)
    owed = journal.reader.owed(0, 10)
    assert len({(one.response_topic, one.correlation) for one in owed}) == 1
    alike = [(reply["id"], reply["by"], reply["name"], reply["user"]) for reply in replies(journal)]
    assert alike == [("c1", "chef", "open", "chef-3"), ("c1", "chef", "open", "bouler-3")]


def test_where_the_date_was_set_back_an_id_used_before_is_new(journal: JournalWriter) -> None:
    """Else a command would be answered "done" by what became of one that nobody remembers."""
    assert journal.receive(command(), NOW + 3600_000_000) is Receipt.NEW
    assert journal.receive(command(), NOW) is Receipt.NEW


@pytest.mark.parametrize("is_first", [True, False])
def test_weeks_of_an_id_that_can_be_guessed_cost_the_next_command_nothing(tmp_path: Path, *, is_first: bool) -> None:
    """Each look at the log passes the rows of the last ten minutes, and each row that grows old once."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    day_us, old = 86_400_000_000, 20_000
    with closing(open_writer(tmp_path / "j")) as journal:
        db = journal.database._db
        if not is_first:
            assert journal.receive(command(user="chef-3"), NOW) is Receipt.NEW
        statement = (
            "INSERT INTO commands (id, name, by, reason, details, received_utc_us) VALUES ('c1', '', '', '', '', ?)"
        )
        db.execute("BEGIN")
        db.executemany(statement, [(NOW + 1 + n,) for n in range(old)])
        db.execute("COMMIT")
        assert journal.receive(command(user="chef-3"), NOW + day_us) is Receipt.NEW  # passes them once
        db.set_progress_handler(count, 1)
        assert journal.receive(command(user="chef-3"), NOW + day_us + 1) is Receipt.PENDING
        assert journal.receive(command(user="chef-4"), NOW + day_us + 2) is Receipt.NEW
        assert journal.receive(command(user="chef-3"), NOW + day_us + REPEAT_WINDOW_S * 1_000_000) is Receipt.NEW
        assert journal.receive(command(user="chef-4"), NOW + day_us + REPEAT_WINDOW_S * 1_000_000) is Receipt.PENDING
        assert steps < old / 4


def test_a_refusal_of_the_intake_is_stored(journal: JournalWriter) -> None:
    journal.refuse(command(None, "dance"), "no such command", NOW)
    (row,) = journal.reader.commands(0, 10)
    assert (row.name, row.done, row.why) == ("dance", False, "no such command")
    assert replies(journal)[0]["id"] is None


# --- for the event loop ------------------------------------------------------------------------------------------


async def test_the_facade_keeps_the_order_of_the_calls(path: Path) -> None:
    journal = await Journal.open(path, OWNER, at_utc_us=NOW)
    feed = Feed()
    await asyncio.gather(*(journal.append(feed.step("result", memory=b"%d" % i), NOW) for i in range(50)))
    assert await journal.last_seq() == await journal.depth() == 50
    assert await journal.memory() == b"49"
    await journal.mark_sent([1, 2], await_settlement=True)
    assert await journal.settle(1) == 1
    assert [message.seq for message in await journal.again(50, 9)] == [50]
    assert journal.has_news()
    await journal.reopen_retained()
    assert len(await journal.owed(0, 100)) == 49
    await journal.close()


async def test_an_append_whose_caller_goes_away_is_done_all_the_same(path: Path) -> None:
    journal = await Journal.open(path, OWNER, at_utc_us=NOW)
    appending = asyncio.create_task(journal.append(Feed().step("result"), NOW))
    await asyncio.sleep(0)
    appending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await appending
    assert await journal.last_seq() == 1
    await journal.close()


async def test_news_wakes_once(path: Path) -> None:
    journal = await Journal.open(path, OWNER, at_utc_us=NOW)
    await journal.wait_news()
    waiting = asyncio.create_task(journal.wait_news())
    await journal.depth()
    assert not waiting.done()
    await journal.append(Feed().step("result"), NOW)
    await waiting
    await journal.close()


async def test_commands_that_a_crash_left_undecided_are_refused_at_the_next_start(path: Path) -> None:
    journal = await Journal.open(path, OWNER, at_utc_us=NOW)
    assert await journal.receive(command("c1", response_topic="desk"), NOW) is Receipt.NEW
    assert await journal.receive(command("c2"), NOW) is Receipt.NEW
    await journal.answer(Reply(0, "c2", "open", "chef", done=True), NOW)
    await journal.refuse(command("c3"), "no", NOW)
    await journal.close()
    again = await Journal.open(path, OWNER, at_utc_us=NOW + 5, language="it")
    answers = [(m.response_topic, msgspec.json.decode(m.payload)) for m in await again.owed(0, 10)]
    assert [(reply["id"], reply["why"]) for _, reply in answers] == [
        ("c2", ""),
        ("c3", "no"),
        ("c1", Catalogue("it").say(UNFINISHED)),
    ]
    assert answers[-1][0] == "desk"
    await again.close()


@pytest.mark.parametrize("damage", ["DROP TABLE commands", "PRAGMA user_version = 9"])
async def test_opening_fails_clean(path: Path, damage: str) -> None:
    open_writer(path).close()
    edit(path, damage)
    with pytest.raises(JournalError):
        await Journal.open(path, OWNER, at_utc_us=NOW)
    open_writer(path.with_name("other")).close()
    path.with_name("other").rename(path)
    await (await Journal.open(path, OWNER, at_utc_us=NOW)).close()
