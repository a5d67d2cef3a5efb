"""`wheeld journal restore`: a journal from the house's records, and everything that is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from tests.journal.journals import NOW, RawSigner, open_reader, write_keys
from tests.live.bench import write_config
from wheeld import auditor
from wheeld.cli.main import main
from wheeld.core.messages.chain import GENESIS, close_with_hash, signature, unsigned, verify_link
from wheeld.core.step import SEQUENCED, Message, Step
from wheeld.core.table import Table
from wheeld.exits import Exit
from wheeld.journal.elsewhere import BehindError
from wheeld.journal.opening import Owner, open_to_write
from wheeld.journal.rows import JournalError, Signer, StoredSeal
from wheeld.journal.seal import FileSigner, check_by, sign_message
from wheeld.journal.tree import FeedTree
from wheeld.journal.verify import verify
from wheeld.journal.writer import JournalWriter

Captured: TypeAlias = pytest.CaptureFixture[str]
SETTING = msgspec.structs.replace(FRENCH, site="live", table="wheel-1")
OWNER = Owner("live", "wheel-1")
WHY = "the card broke"
WHEELD = 12_345
"""The user of the service."""


class Lost(NamedTuple):
    """A wheel that has played, and lost its journal. `lines`: what its house has. `seal`: the last of its journal."""

    folder: Path
    config: Path
    journal: Path
    key: Path
    lines: list[bytes]
    seal: StoredSeal

    @property
    def signer(self) -> FileSigner:
        return FileSigner(self.key)

    @property
    def messages(self) -> list[bytes]:
        return self.lines[:-1]

    def write(self, lines: list[bytes]) -> Path:
        """Write the file of the house."""
        file = self.folder / "records.jsonl"
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        return file

    def restore(self, lines: list[bytes]) -> int:
        file = str(self.write(lines))
        words = ["journal", "restore", str(self.config), "--from-house", file, "--by", "Anna", "--why", WHY]
        return main(words)

    def opened(self) -> JournalWriter:
        return open_to_write(self.journal, owner=OWNER, signer=self.signer, at_utc_us=NOW)


def key_file(folder: Path, seed: int, name: str = "wheel") -> Path:
    """A private key, with its public key beside it."""
    return write_keys(folder, name, seed)[0]


def play(journal: JournalWriter, evening: Evening) -> None:
    """Store what the evening has published and is not stored yet."""
    for one in evening.published:
        if one.topic in SEQUENCED and one.payload["seq"] > journal.reader.last_seq():
            message = Message(one.t_us, one.topic, one.bytes, one.payload["seq"])  # type: ignore[arg-type]
            journal.append(Step(messages=(message,)), NOW)


def lines_of(journal: JournalWriter) -> list[bytes]:
    """What a house has of it."""
    checkpoint = journal.checkpoint()
    assert checkpoint is not None
    messages = [message.payload for message in journal.again(1, 1_000_000)]
    return [*messages, json.dumps({"checkpoint": checkpoint + "— witness AAAA\n"}).encode()]


@pytest.fixture
def lost(tmp_path: Path) -> Lost:
    return lost_wheel(tmp_path)


def lost_wheel(folder: Path) -> Lost:
    key = key_file(folder, 7)
    config, path = write_config(folder, 1, signing_key=key), folder / "journal.sqlite"
    evening = Evening(SETTING)
    evening.open()
    evening.coup(8)
    evening.say("operations_done")
    evening.coup(30)
    with closing(open_to_write(path, owner=OWNER, signer=FileSigner(key), at_utc_us=NOW)) as journal:
        play(journal, evening)
        lines = lines_of(journal)
        seal = journal.seal(by="wheeld", why="the daemon stops", at_utc_us=NOW)
        assert seal is not None
    for file in folder.glob("journal.sqlite*"):
        file.unlink()
    return Lost(folder, config, path, key, lines, seal)


def body(payload: bytes) -> dict[str, object]:
    found = msgspec.json.decode(payload)
    assert isinstance(found, dict)
    return found


def table_and_seal(lost: Lost) -> dict[str, bytes]:
    """What the broker retains of the lost journal."""
    figures = {"n": lost.seal.n, "head": lost.seal.head.hex(), "seq": len(lost.messages)}
    return {
        "table": [line for line in lost.messages if body(line)["schema"] == "table/1"][-1],
        "notice": json.dumps({"notice": "sealed", "figures": figures}).encode(),
    }


def test_it_has_the_records_byte_for_byte_says_so_and_is_whole(lost: Lost, capsys: Captured) -> None:
    assert lost.restore(lost.lines) == Exit.OK
    count = len(lost.messages)
    said = capsys.readouterr().out
    assert f"{count} messages up to seq {count}, each signed with this wheel's key" in said
    assert "what only the earlier journal had (evidence, commands, event records) is lost" in said
    with closing(open_reader(lost.journal)) as reader:
        report = verify(reader, {lost.signer.key_id: check_by(lost.signer.public_key)}, each_signature=True)
        assert (report.faults, report.last_seq, report.signatures, report.coups) == ([], count, count, 0)
        stored = reader.messages(1, 1_000)
        assert [message.payload for message in stored] == lost.messages
        assert [message.retained for message in stored] == [message.topic == "table" for message in stored]
        assert (reader.depth(), reader.tree().size) == (0, count)
        event = reader.last_event("restored")
        assert event is not None
        assert (event.by, event.why, body(event.details.encode())["last_seq"]) == ("Anna", WHY, count)
    assert main(["journal", "verify", str(lost.journal)]) == Exit.OK
    assert f"restored from the house up to seq {count}: " in capsys.readouterr().out
    assert main(["journal", "show", str(lost.journal), "--topic", "event"]) == Exit.OK
    assert f"restored by Anna: {WHY} (last_seq {count}, hash" in capsys.readouterr().out
    assert not list(lost.folder.glob("*.part*"))


def test_an_auditor_finds_it_whole(lost: Lost) -> None:
    assert lost.restore(lost.lines) == Exit.OK
    words = [auditor.__file__, str(lost.journal), str(lost.key.with_suffix(".pub"))]
    done = subprocess.run([sys.executable, *words], capture_output=True, check=False)
    assert done.returncode == 0, done


def test_the_wheel_goes_on_behind_them_with_the_next_number_and_the_next_coup(lost: Lost) -> None:
    assert lost.restore(lost.lines) == Exit.OK
    with closing(lost.opened()) as journal:
        journal.compare(table_and_seal(lost), settlement_ack=False)
        memory = journal.reader.memory()
        assert memory is not None
        evening = Evening(SETTING, memory=memory)
        evening.lying = 30
        evening.wait(5)
        evening.say("operations_done")
        verdict = evening.coup(11)
        assert verdict["coup"] == 3
        play(journal, evening)
        feed = [message.payload for message in journal.again(1, 1_000)]
        assert feed[: len(lost.messages)] == lost.messages
        assert len(feed) > len(lost.messages) + 3
        prev = GENESIS
        for payload in feed:
            prev = verify_link(payload, prev)
        assert journal.checkpoint() == checkpoint_of(feed, lost.signer)
    with closing(open_reader(lost.journal)) as reader:
        assert verify(reader, each_signature=True).faults == []


def checkpoint_of(feed: list[bytes], signer: Signer) -> str:
    """The checkpoint of a feed, computed from its first message on."""
    tree = FeedTree()
    for payload in feed:
        tree.add(payload)
    return tree.checkpoint(OWNER.site, OWNER.table, signer)


# --- what is refused --------------------------------------------------------------------------------------------------

OTHER = RawSigner(bytes([9]) * 32)
Spoil: TypeAlias = Callable[[Lost], list[bytes]]


def anew(lost: Lost, at: int, signer: RawSigner | FileSigner | None, **changed: object) -> list[bytes]:
    """From the message at `at` on, all written anew, with its hashes, and signed by `signer`."""
    lines = lost.messages[:at]
    prev = GENESIS if at == 0 else str(body(lines[-1])["hash"])
    for line in lost.messages[at:]:
        members = body(line)
        for name in ("hash", "signature", "prev"):
            members.pop(name, None)
        payload, prev = close_with_hash(msgspec.json.encode(members | changed | {"prev": prev}))
        lines.append(payload if signer is None else sign_message(payload, signer))
    return lines


def respelled(line: bytes) -> bytes:
    """The same signature, with another last letter: four bits of it mean nothing."""
    in_base64 = signature(line)
    assert in_base64 is not None
    return line.replace(in_base64, in_base64[:-3] + bytes([in_base64[-3] + 1]) + b"==")


SPOILT: dict[str, tuple[Spoil, str]] = {
    "empty": (lambda lost: [], "it has no record"),
    "no records": (lambda lost: [b"hello"], "line 1 is not a record"),
    "forged": (lambda lost: anew(lost, 5, OTHER), "seq 6: it is not signed with this wheel's key: it is forged"),
    "all forged": (lambda lost: anew(lost, 0, OTHER), "seq 1: it is not signed with this wheel's key"),
    "unsigned": (lambda lost: anew(lost, 5, None), "seq 6: it is not signed with this wheel's key"),
    "edited": (
        lambda lost: [*lost.lines[:4], lost.lines[4].replace(b'"coup":', b'"coup": '), *lost.lines[5:]],
        "seq 5: its bytes do not have its hash",
    ),
    "respelled": (
        lambda lost: [*lost.messages[:-1], respelled(lost.messages[-1])],
        "it is not signed with this wheel's key",
    ),
    "cut at the start": (lambda lost: lost.lines[1:], "seq 2: it follows seq 0: records are missing"),
    "cut in the middle": (lambda lost: [*lost.lines[:3], *lost.lines[4:]], "seq 5: it follows seq 3"),
    "cut at the end": (lambda lost: [*lost.messages[:-2], lost.lines[-1]], "the checkpoint at its end is not of these"),
    "moved": (lambda lost: [*lost.lines[:3], lost.lines[4], lost.lines[3], *lost.lines[5:]], "seq 5: it follows seq 3"),
    "doubled": (lambda lost: [*lost.lines[:3], *lost.lines[2:]], "seq 3: it follows seq 3"),
    "two histories": (
        lambda lost: [*lost.messages[:5], *anew(lost, 4, lost.signer, house="x")[5:]],
        "seq 6: its prev is not the hash",
    ),
    "another wheel's": (
        lambda lost: anew(lost, 0, lost.signer, table="wheel-2"),
        "seq 1: it is of live/wheel-2, but this wheel is live/wheel-1",
    ),
    "a bench table's": (lambda lost: anew(lost, 0, lost.signer, test=True), "seq 1: a bench table and a live table"),
    "a notice": (lambda lost: anew(lost, 0, lost.signer, schema="notice/1"), "notice/1 is not a message of a feed"),
    "a checkpoint of another history": (
        lambda lost: [*anew(lost, 5, lost.signer, house="x"), lost.lines[-1]],
        "the checkpoint at its end is not of these records",
    ),
    "a forged checkpoint": (
        lambda lost: [*lost.messages, json.dumps({"checkpoint": checkpoint_of(lost.messages, OTHER)}).encode()],
        "the checkpoint at its end is not of these records",
    ),
    "behind the checkpoint": (lambda lost: [*lost.lines, lost.lines[0]], "follows its checkpoint"),
    "a gap that fits nowhere": (
        lambda lost: anew(lost, 3, lost.signer, gap={"first_seq": 9, "last_seq": 9, "by": "x", "why": "x"}),
        "seq 4: the numbers that it reports as lost do not lie between seq 3 and this one",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_anything_else_is_refused_and_leaves_no_journal(lost: Lost, name: str, capsys: Captured) -> None:
    spoil, why = SPOILT[name]
    lines = spoil(lost)
    assert lines != lost.lines
    assert lost.restore(lines) == Exit.BAD_DATA
    said = capsys.readouterr().err
    assert why in said, said
    assert said.endswith("No journal was made\n")
    assert not list(lost.folder.glob("journal.sqlite*"))


def test_a_journal_that_is_there_is_kept(lost: Lost, capsys: Captured) -> None:
    assert lost.restore(lost.lines) == Exit.OK
    before = lost.journal.read_bytes()
    assert lost.restore(lost.lines) == Exit.BAD_DATA
    assert "exists already" in capsys.readouterr().err
    assert lost.journal.read_bytes() == before


@pytest.mark.parametrize("name", ["journal.sqlite-wal", "journal.sqlite-shm"])
def test_what_another_journal_left_beside_it_is_refused(lost: Lost, name: str, capsys: Captured) -> None:
    (lost.folder / name).write_bytes(b"x")
    assert lost.restore(lost.lines) == Exit.BAD_DATA
    assert f"{name}: exists already" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be led elsewhere")
@pytest.mark.parametrize("name", ["journal.part", "journal.part-wal", "journal.part.lock"])
def test_root_follows_no_link_of_the_service_whose_the_journal_is(name: str) -> None:
    with tempfile.TemporaryDirectory() as top:  # which others may enter, as pytest's own folders not
        folder, state, victim = Path(top), Path(top, "state"), Path(top, "victim")
        folder.chmod(0o755)
        state.mkdir()
        os.chown(state, WHEELD, WHEELD)
        victim.write_text("not his")
        (state / name).symlink_to(victim)
        wheel = lost_wheel(folder)
        config = write_config(folder, 1, journal="state/journal", signing_key=wheel.key)
        file = str(wheel.write(wheel.lines))
        assert main(["journal", "restore", str(config), "--from-house", file]) == Exit.OK
        assert {each.stat().st_uid for each in state.iterdir()} == {WHEELD}
        assert victim.read_text() == "not his"


# --- the guard against an older state ---------------------------------------------------------------------------------


def test_an_older_state_is_refused_by_what_the_broker_keeps(lost: Lost) -> None:
    assert lost.restore(lost.messages[:-4]) == Exit.OK
    last = len(lost.messages)
    retained = table_and_seal(lost)
    with closing(lost.opened()) as journal:
        with pytest.raises(BehindError, match=rf"ends at seq {last - 4}, does not have it: an older copy was"):
            journal.compare(retained, settlement_ack=False)
        with pytest.raises(BehindError, match="the broker retains the notice of a seal"):
            journal.compare({"notice": retained["notice"]}, settlement_ack=False)
        with pytest.raises(JournalError, match=f"the settlement core has acknowledged seq {last}"):
            journal.compare({"ack": b'{"seq":%d}' % last}, settlement_ack=True)


def test_what_the_house_did_not_have_is_adopted_and_nothing_of_what_it_had(lost: Lost) -> None:
    assert lost.restore(lost.messages[:-4]) == Exit.OK
    last = len(lost.messages)
    words = ["--after", f"{last}:{body(lost.messages[-1])['hash']}", "--why", WHY, "--by", "Anna"]
    assert main(["journal", "adopt", str(lost.config), *words]) == Exit.OK
    with closing(lost.opened()) as journal:
        journal.compare(table_and_seal(lost), settlement_ack=False)
        adoption = journal.reader.adoption()
        assert adoption is not None
        assert (adoption.first_seq, adoption.last_seq) == (last - 3, last)


def test_a_seal_of_after_the_restore_still_shows_an_older_copy(lost: Lost) -> None:
    assert lost.restore(lost.lines) == Exit.OK
    copy = lost.journal.read_bytes()
    with closing(lost.opened()) as journal:
        memory = journal.reader.memory()
        _, opening = Table.start(SETTING, boot_id="x" * 32, started_utc_us=NOW, memory=memory)
        journal.append(opening, NOW)
        seal = journal.seal(by="wheeld", why="the daemon starts", at_utc_us=NOW)
        assert seal is not None
        figures = {"n": seal.n, "head": seal.head.hex(), "seq": journal.reader.last_seq()}
    lost.journal.write_bytes(copy)
    notice = json.dumps({"notice": "sealed", "figures": figures}).encode()
    with closing(lost.opened()) as journal, pytest.raises(BehindError, match="the notice of a seal"):
        journal.compare({"notice": notice}, settlement_ack=False)


# --- gaps, a new key, no key ------------------------------------------------------------------------------------------


def gone_on(lost: Lost, first_seq: int, signer: FileSigner) -> list[bytes]:
    """A journal whose feed lost the numbers from `first_seq` on, and went on behind all; the messages since then."""
    path = lost.folder / "after"
    last = len(lost.messages)
    with closing(open_to_write(path, owner=OWNER, signer=signer, at_utc_us=NOW)) as journal:
        journal.adopt(last, str(body(lost.messages[-1])["hash"]), by="Anna", why=WHY, at_utc_us=NOW)
        gap = {"first_seq": first_seq, "last_seq": last, "by": "Anna", "why": WHY}
        members = body(lost.messages[-1]) | {"seq": last + 1, "gap": gap}
        for name in ("hash", "signature", "prev"):
            members.pop(name)
        members["prev"] = body(lost.messages[-1])["hash"]
        payload, _ = close_with_hash(msgspec.json.encode(members))
        journal.append(Step(messages=(Message(1, "table", payload, last + 1),)), NOW)
        return lines_of(journal)


@pytest.mark.parametrize("first_seq", [4, 11])
def test_numbers_that_are_lost_are_adopted_again(lost: Lost, first_seq: int) -> None:
    """The house may still have some of them (those from 4 on): the wheel had not."""
    after, last = gone_on(lost, first_seq, lost.signer), len(lost.messages)
    had = lost.messages[: first_seq - 1] if first_seq == 11 else lost.messages
    assert lost.restore([*had, *after]) == Exit.OK
    with closing(open_reader(lost.journal)) as reader:
        assert verify(reader, each_signature=True).faults == []
        adoption = reader.adoption()
        assert adoption is not None
        assert (adoption.first_seq, adoption.last_seq, adoption.by) == (first_seq, last, "Anna")
        assert [message.seq for message in reader.messages(1, 1_000)] == [*range(1, first_seq), last + 1]
        assert reader.gap_due() is None


def test_a_journal_of_a_new_key_has_only_what_that_key_signed(lost: Lost, capsys: Captured) -> None:
    new = FileSigner(key_file(lost.folder, 8, "new"))
    lines = [*lost.messages, *gone_on(lost, 1, new)]
    assert lost.restore(lines) == Exit.BAD_DATA
    assert "or the wheel has a new key. A new key begins a new journal" in capsys.readouterr().err
    lost.key.write_bytes((lost.folder / "new.key").read_bytes())
    assert lost.restore(lines) == Exit.OK
    with closing(open_reader(lost.journal)) as reader:
        assert verify(reader, each_signature=True).faults == []
        assert [message.seq for message in reader.messages(1, 1_000)] == [len(lost.messages) + 1]


def test_a_wheel_without_a_key_takes_unsigned_records_only_and_says_what_that_proves(
    lost: Lost, capsys: Captured
) -> None:
    write_config(lost.folder, 1)
    assert lost.restore(lost.messages) == Exit.BAD_DATA
    assert "it is signed, and this wheel's configuration names no key" in capsys.readouterr().err
    assert lost.restore([unsigned(line) for line in lost.messages]) == Exit.OK
    assert "NOT SIGNED: anyone could have written them" in capsys.readouterr().out
