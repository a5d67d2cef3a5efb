"""Journals are read as they were written: those of `played`, and that of an evening which a real table played."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec.structs import astuple

from hw_sim import log as sim_log
from hw_sim.evening import Evening, script
from hw_sim.wheel import POCKETS
from tests.core import evening as core
from tests.journal.journals import open_writer, opened
from tests.report.played import COUP_S, LAYOUT, START_UTC_US, Fault, Played, play, wheel_of, write_journal
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.step import Message, Step, Topic
from wheeld.core.table import Table
from wheeld.journal.opening import Owner
from wheeld.journal.rows import JournalError
from wheeld_report import reading
from wheeld_report.reading import wheels
from wheeld_report.sensors import hops
from wheeld_report.wheel import WheelRecord

COUPS = 120


@pytest.fixture(scope="module")
def played() -> list[Played]:
    return list(play(5, COUPS, Fault(blind_beam=0.05, more_voids=5)))


@pytest.fixture(scope="module")
def journal(played: list[Played], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "wheel.sqlite"
    write_journal(path, played)
    return path


def test_every_coup_is_read_as_it_was_played(played: list[Played], journal: Path) -> None:
    (read,), made = wheels([journal]), wheel_of(played)
    assert (read.site, read.table, read.test, read.layout) == ("campione", "campione-03", False, LAYOUT)
    assert [void.cause for void in read.voids] == [void.cause for void in made.voids]
    assert len(read.coups) == len(made.coups) > 100
    for one, other in zip(read.coups, made.coups, strict=True):
        for name in ("coup", "pocket", "laps", "ball_direction", "bouler", "margin", "margin_of"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.rotor_rpm == pytest.approx(other.rotor_rpm, abs=0.01)
        assert one.ball_s == pytest.approx(other.ball_s, abs=1e-5)
        assert one.rest_s == pytest.approx(other.rest_s, abs=1e-5)
    assert read.notices == {"number_seen": 2 * len(played)}
    assert read.unreadable == 0


def test_what_people_decided_is_read_once_from_two_journals(tmp_path: Path) -> None:
    evening = core.Evening(core.FRENCH).open()
    evening.launch()
    evening.wait(1.5)
    evening.say("late_bet", accepted=True, by="Rossi", reason="100 on 17")
    evening.say("rien_va")
    evening.say("ruling", about=1, ruled_as="number", number=0, by="Bianchi", reason="seen by the camera")
    with closing(open_writer(tmp_path / "one")) as journal:
        journal.append(Step(messages=tuple(map(_message, evening.published))), START_UTC_US)
    shutil.copy(tmp_path / "one", tmp_path / "two")
    (read,) = wheels([tmp_path / "one", tmp_path / "two"])
    assert {astuple(each) for each in read.decisions} == {
        (START_UTC_US, 1, "accepted", None, "Rossi", "100 on 17"),
        (START_UTC_US, 1, "number", "0", "Bianchi", "seen by the camera"),
    }


def _message(published: core.PublishedMessage) -> Message:
    (topic,) = (each for each in get_args(Topic) if each == published.topic)
    return Message(published.t_us, topic, published.bytes, published.payload.get("seq"))


def test_every_log_tells_its_run(played: list[Played], journal: Path) -> None:
    (read,), made = wheels([journal]), wheel_of(played)
    assert len(read.runs) == len(made.runs) == len(made.coups)
    for one, other in zip(read.runs, made.runs, strict=True):
        assert one.last_beam == other.last_beam
        assert [beam for _, beam in one.passes] == [beam for _, beam in other.passes]
        assert one.last_lap_s == pytest.approx(other.last_lap_s, abs=1e-5)
        assert one.slowing == pytest.approx(other.slowing, rel=0.05)


def test_logs_are_sampled_evenly(played: list[Played], journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LOGS_MAX", 10)
    (read,) = wheels([journal])
    times = [run.at_utc_us for run in read.runs]
    steps = [(after - before) / 1e6 / COUP_S for before, after in pairwise(times)]
    assert len(times) == 10
    assert max(steps) < 2 * min(steps)


def test_a_copy_beside_its_original_counts_once(journal: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(journal.read_bytes())
    (one,), (both,) = wheels([journal]), wheels([journal, copy])
    assert (len(both.coups), len(both.voids), both.notices) == (len(one.coups), len(one.voids), one.notices)
    assert both.journals == [str(journal), str(copy)]


def test_each_table_is_a_wheel_and_a_bench_table_one_of_its_own(played: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.sqlite" for name in ("bench", "other", "live")]
    write_journal(paths[0], played[:10], test=True)
    write_journal(paths[1], played[:20], table="campione-04")
    write_journal(paths[2], played[:30])
    found = [(wheel.table, wheel.test, len(wheel.verdicts)) for wheel in wheels(paths)]
    assert found == [("campione-03", False, 30), ("campione-04", False, 20), ("campione-03", True, 10)]


def test_a_time_can_be_chosen(played: list[Played], journal: Path) -> None:
    middle = START_UTC_US + round(60 * COUP_S * 1e6)
    (early,), (late,) = wheels([journal], range(middle)), wheels([journal], range(middle, 2**63))
    assert (len(early.verdicts), len(late.verdicts)) == (60, len(played) - 60)
    assert max(one.at_utc_us for one in early.verdicts) < middle <= min(one.at_utc_us for one in late.verdicts)
    assert wheels([journal], range(1)) == []


def test_a_message_of_another_version_is_counted_and_left_out(journal: Path, tmp_path: Path) -> None:
    path = tmp_path / "changed.sqlite"
    path.write_bytes(journal.read_bytes())
    with opened(path) as db:
        ((first,),) = db.execute("SELECT min(id) FROM messages WHERE topic = 'result'")
        db.execute("UPDATE messages SET payload = ? WHERE id = ?", (b'{"schema":"result/9"}', first))
    (whole,), (changed,) = wheels([journal]), wheels([path])
    assert (len(changed.coups), changed.unreadable) == (len(whole.coups) - 1, 1)


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        wheels([tmp_path / "none.sqlite"])
    (tmp_path / "text").write_text("no journal" * 1000)
    with pytest.raises(JournalError):
        wheels([tmp_path / "text"])


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evening, WheelRecord]:
    """An evening of the simulator, played by a table to a journal as a daemon keeps it, and what is read of that."""
    drawn = script(["valid"] * 12 + ["too_few_laps", "chef_void", "rotor_stops_running"], seed=11)
    return drawn, _read_of(drawn, tmp_path_factory.mktemp("evening"))


def _read_of(drawn: Evening, directory: Path) -> WheelRecord:
    sim_log.write(directory / "evening.jsonl", drawn.header, drawn.events())
    first, *rest = (directory / "evening.jsonl").read_bytes().splitlines()
    setting = from_header(msgspec.json.decode(first, type=Header))
    table, opening = Table.start(setting, boot_id="b", started_utc_us=START_UTC_US)
    path = directory / "evening.sqlite"
    with closing(open_writer(path, owner=Owner(setting.site, setting.table))) as writer:
        writer.append(opening, START_UTC_US)
        for line in rest:
            if step := table.apply(msgspec.json.decode(line, type=Observation)):
                writer.append(step, START_UTC_US + table.now_us)
    (read,) = wheels([path])
    return read


def test_a_number_that_is_the_chefs_word_is_read_as_that(tmp_path: Path) -> None:
    drawn = script(["valid"] * 3 + ["disc_slips_before_the_answer"] + ["valid"] * 3, seed=11)
    read = _read_of(drawn, tmp_path)
    assert [coup.is_chefs_word for coup in read.coups].count(True) == 1
    assert len(read.unobserved_utc_us) == read.notices["unobserved_coup"]


def test_an_evening_of_a_real_table_is_read_with_its_truth(evening: tuple[Evening, WheelRecord]) -> None:
    drawn, read = evening
    results = [outcome for outcome in drawn.truth if outcome["kind"] == "result"]
    assert [POCKETS[coup.pocket] for coup in read.coups] == [outcome["number"] for outcome in results]
    assert Counter(void.cause for void in read.voids) == Counter(
        outcome["cause"] for outcome in drawn.truth if outcome["kind"] == "void"
    )
    for coup, outcome in zip(read.coups, results, strict=True):
        assert coup.laps is not None
        assert outcome["laps"] - 1 < coup.laps <= outcome["laps"]
        assert coup.rest_s is not None
        assert 0 < coup.rest_s < 10


def test_the_runs_of_a_real_table_are_those_of_the_simulated_ball(evening: tuple[Evening, WheelRecord]) -> None:
    drawn, read = evening
    beams = drawn.header["beams_deg"]
    assert len(read.runs) == len(read.coups)
    for run, coup in zip(read.runs, read.coups, strict=True):
        left_s = (coup.left_us or 0) / 1e6
        (true,) = [each for each in drawn.world.runs if each.t_s < left_s <= each.end_s]
        last = [beam for t_s, beam in true.passes(tuple(beams)) if t_s <= true.end_s][-1]
        assert run.last_beam == last
        assert hops(run.passes, beams, forward=run.ball_direction == "cw")[1] == (0,) * len(beams)
        assert run.slowing is not None
        assert 0.0005 < run.slowing < 0.004  # BEARING_PER_S, of the speed at release
