"""What the doctor found is an event record of the wheel's journal: whole, signed, bounded, and never in another's."""

from __future__ import annotations

import getpass
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

import wheeld
from tests.broker.feed import Feed
from tests.config.test_config import GOOD
from tests.doctor.alignment import layout, spun
from tests.doctor.test_bench import FakeBench
from tests.journal.journals import NOW, open_reader, open_writer, write_keys
from wheeld.cli import doctor as cli_doctor
from wheeld.cli.main import main
from wheeld.core.catalogue import Text
from wheeld.core.observations import Observation
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.daemon.identity import digest_of_file
from wheeld.doctor.findings import Finding
from wheeld.doctor.geometry import Geometry, Learned
from wheeld.doctor.record import found_record
from wheeld.doctor.signals import Signals
from wheeld.exits import Exit
from wheeld.journal.opening import Owner
from wheeld.journal.seal import FileSigner

OWNER = Owner("campione", "campione-03")
DETAILS_BYTES_MAX = 100_000
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[Observation]:
    """The doctor hears spins of a wheel whose beam 2 stands elsewhere than in the file."""
    seen, _ = spun(layout((0.0, 95.0, 180.0, 270.0)), 1)

    class Bench(FakeBench):
        pass

    Bench.seen = seen
    monkeypatch.setattr(cli_doctor, "Bench", Bench)
    monkeypatch.setattr(cli_doctor, "log_to_stderr", lambda _: None)
    return seen


def wheel(directory: Path, *, key: Path | None = None) -> Path:
    """The configuration of a wheel with that key."""
    signing = "" if key is None else f'signing_key_file = "{key}"\n'
    path = directory / "wheel.toml"
    path.write_text(GOOD.replace("[journal]\n", f"[journal]\n{signing}"))
    return path


def doctor(path: Path, *options: str) -> int:
    return main(["doctor", "-c", str(path), "--seconds", "1", *options])


def shown(journal: Path, capsys: Captured) -> list[dict[str, Any]]:
    """The event records of a journal."""
    capsys.readouterr()
    assert main(["journal", "show", str(journal), "--topic", "event", "--jsonl"]) == Exit.OK
    return [json.loads(line)["payload"] for line in capsys.readouterr().out.splitlines()]


def test_what_was_found_is_stored_signed_and_shown(tmp_path: Path, moved: list[Observation], capsys: Captured) -> None:
    private, public = write_keys(tmp_path)
    path, journal = wheel(tmp_path, key=private), tmp_path / "journal.sqlite"
    with closing(open_writer(journal, owner=OWNER, signer=FileSigner(private))) as daemons:
        assert daemons.seal(by="the daemon", why="it stops", at_utc_us=NOW) is not None
    assert doctor(path, "--learn", "--by", "Rossi") == Exit.OK
    assert f"{journal}: what was found is stored, by Rossi" in capsys.readouterr().out
    assert main(["journal", "verify", str(journal), "--public-key", str(public)]) == Exit.OK
    auditor = Path(wheeld.__file__).with_name("auditor.py")
    audit = subprocess.run([sys.executable, auditor, journal, public], capture_output=True, text=True, check=False)
    assert audit.returncode == 0, audit.stdout + audit.stderr

    (event,) = shown(journal, capsys)
    assert (event["event"], event["by"], event["why"]) == ("doctor", "Rossi", None)
    details = event["details"]
    assert (details["rewritten"], details["configuration"]) == (True, digest_of_file(path))
    assert "beams_deg = [0, 95" in path.read_text().replace("94.9", "95").replace("95.1", "95")
    assert (details["rotor_ticks"], details["spins"], details["number"], details["readers"]) == (148, 3, None, [])
    assert [(beam["index"], round(beam["deg"] / 5) * 5) for beam in details["beams"]] == [
        (0, 0),
        (1, 95),
        (2, 180),
        (3, 270),
    ]
    slowest, fastest = details["rotor_rpm"]
    assert 5 < slowest <= fastest < 60
    slowest, fastest = details["ball_rev_s"]
    assert 0.3 < slowest < fastest < 4
    first = details["findings"][0]
    assert (first["level"], first["code"]) == ("wrong", "place_wrong")
    assert first["what"].startswith("beam 2 is at 9")
    assert {each["level"] for each in details["findings"][1:]} == {"ok"}
    assert main(["journal", "show", str(journal)]) == Exit.OK
    assert "doctor by Rossi (seconds " in (line := capsys.readouterr().out)
    assert "findings level wrong code place_wrong what beam 2 is at 9" in line


def test_without_a_name_it_is_the_login_and_nothing_is_said_to_be_rewritten(
    tmp_path: Path, moved: list[Observation], capsys: Captured
) -> None:
    path, journal = wheel(tmp_path), tmp_path / "journal.sqlite"
    open_writer(journal, owner=OWNER).close()
    assert doctor(path) == Exit.BAD_DATA
    (event,) = shown(journal, capsys)
    assert (event["by"], event["details"]["rewritten"]) == (getpass.getuser(), False)


def test_a_bench_tables_record_is_stored_in_its_own_journal_only(
    tmp_path: Path, moved: list[Observation], capsys: Captured
) -> None:
    path, journal = wheel(tmp_path), tmp_path / "journal.sqlite"
    path.write_text(path.read_text().replace("[table]\n", "[table]\ntest = true\n"))
    with closing(open_writer(journal, owner=msgspec.structs.replace(OWNER, test=True))) as daemons:
        daemons.append(Feed(test=True).step("table"), NOW)
    assert doctor(path) == Exit.BAD_DATA
    assert f"{journal}: what was found is stored" in capsys.readouterr().out
    assert len(shown(journal, capsys)) == 1
    wheel(tmp_path)
    assert doctor(path) == Exit.BAD_DATA
    assert "it is the journal of a bench table, but [table] has no test = true" in capsys.readouterr().err
    assert len(shown(journal, capsys)) == 1


def test_a_journal_is_the_daemons_to_begin(tmp_path: Path, moved: list[Observation], capsys: Captured) -> None:
    path = wheel(tmp_path)
    assert doctor(path) == Exit.BAD_DATA
    assert "not stored: there is no journal" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("owner", "theirs", "ours", "why"),
    [
        (Owner("campione", "campione-04"), None, None, "it is the journal of campione/campione-04"),
        (OWNER, 7, None, "but no key is given: name that key in journal.signing_key_file"),
        (OWNER, None, 7, "it was begun without a key"),
        (OWNER, 7, 8, "but the given key is"),
    ],
)
def test_a_journal_of_another_gets_nothing(
    tmp_path: Path,
    moved: list[Observation],
    capsys: Captured,
    owner: Owner,
    theirs: int | None,
    ours: int | None,
    why: str,
) -> None:
    keys = {seed: write_keys(tmp_path, str(seed), seed)[0] for seed in (7, 8)}
    journal = tmp_path / "journal.sqlite"
    open_writer(journal, owner=owner, signer=None if theirs is None else FileSigner(keys[theirs])).close()
    assert doctor(wheel(tmp_path, key=None if ours is None else keys[ours])) == Exit.BAD_DATA
    said = capsys.readouterr()
    assert "wrong  beam 2 is at 9" in said.out, "the technician reads it all the same"
    assert "what was found is not stored\n" in said.err
    assert why in said.err
    assert shown(journal, capsys) == []


def test_beside_a_daemon_it_names_the_unit_to_stop(tmp_path: Path, moved: list[Observation], capsys: Captured) -> None:
    journal = tmp_path / "journal.sqlite"
    with closing(open_writer(journal, owner=OWNER)) as daemons:
        assert doctor(wheel(tmp_path)) == Exit.NOT_OPENED
        said = capsys.readouterr()
        assert "`systemctl stop wheeld@wheel`" in said.err
        assert "beam" not in said.out, "it did not take from the daemon what the sensors say"
        daemons.reopen_retained()  # it goes on: nobody has touched its file
    assert shown(journal, capsys) == []
    assert doctor(wheel(tmp_path)) == Exit.BAD_DATA


def test_a_daemon_that_starts_meanwhile_keeps_its_journal(
    tmp_path: Path, moved: list[Observation], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(cli_doctor, "is_open", lambda _: False)
    journal = tmp_path / "journal.sqlite"
    with closing(open_writer(journal, owner=OWNER)):
        assert doctor(wheel(tmp_path)) == Exit.NOT_OPENED
    said = capsys.readouterr()
    assert "wrong  beam 2 is at 9" in said.out
    assert "another wheeld has it open, and each wheel has one daemon" in said.err
    assert shown(journal, capsys) == []


def test_a_file_that_cannot_be_written_keeps_nothing_out_of_the_journal(
    tmp_path: Path, moved: list[Observation], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(cli_doctor, "replace_file", full)
    journal = tmp_path / "journal.sqlite"
    open_writer(journal, owner=OWNER).close()
    assert doctor(wheel(tmp_path), "--learn") == Exit.IO_FAILED
    (event,) = shown(journal, capsys)
    assert event["details"]["rewritten"] is False
    assert event["details"]["findings"][0]["code"] == "place_wrong"


def test_nonsense_of_a_board_fills_no_journal() -> None:
    found = [Finding("ok", "line_good", Text("x" * 10_000))] * 5_000 + [
        Finding("wrong", "beam_dead", Text("é" * 10_000))
    ]
    angles = [Learned(n, 0.123456789, 0.1, 9) for n in range(5_000)]
    record = found_record(
        found,
        Geometry(angles, angles),
        Signals(148, SINGLE_ZERO),
        by="b" * 1_000,
        configuration="0" * 64,
        rewritten=False,
    )
    details: Any = record.details
    assert len(msgspec.json.encode(record)) < DETAILS_BYTES_MAX
    assert (details["findings"][0]["code"], details["findings_left_out"]) == ("beam_dead", 4_801)


@pytest.mark.parametrize("name", ["", "x" * 65, "two\nlines"])
def test_a_name_is_one_that_people_can_read(name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "-c", "wheel.toml", "--by", name])
    assert ended.value.code == Exit.USAGE


def test_the_record_of_a_wheel_that_was_not_heard_says_so(tmp_path: Path) -> None:
    record = found_record(
        [], Geometry([], []), Signals(0, SINGLE_ZERO), by="Rossi", configuration="0" * 64, rewritten=False
    )
    details = record.details
    assert (details["rotor_rpm"], details["ball_rev_s"], details["beams"], details["findings"]) == (None, None, [], [])
    with closing(open_writer(tmp_path / "j")) as journal:
        journal.note(record, 1)
    with closing(open_reader(tmp_path / "j")) as reader:
        assert reader.last_event("doctor") is not None
