"""`wheeld journal show --last`: the last coups as a laboratory asks to see them, each with its evidence drawn."""

from __future__ import annotations

import re
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from hw_sim.evening import script
from tests.core.evening import Evening
from tests.core.head_evening import CHEF, HeadEvening
from tests.journal.journals import NOW, open_writer
from wheeld.cli.drawing import MANY, NAME_WIDTH, WIDTH, draw, read, said
from wheeld.cli.main import main
from wheeld.core.observations import BallPass, ForeignObject, Observation, Rotor, SensorState
from wheeld.core.setting import Header, TableSetting, from_header
from wheeld.core.step import Step
from wheeld.core.table import Table
from wheeld.exits import Exit

Captured = pytest.CaptureFixture[str]
NAMES = ["same_direction", "valid", "foreign_object"]


class StoredEvening(Evening):
    """An evening whose steps are kept."""

    def __init__(self, *setting: TableSetting) -> None:
        self.steps: list[Step] = []
        super().__init__(*setting)

    def _keep(self, t_us: int, step: Step) -> None:
        super()._keep(t_us, step)
        self.steps.append(step)


class StoredHeadEvening(StoredEvening, HeadEvening):
    """The same at a wheel with a head."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of three coups."""
    evening, path = script(NAMES, seed=3), tmp_path_factory.mktemp("recall") / "journal.sqlite"
    setting = from_header(msgspec.convert(evening.header, Header))
    table, opening = Table.start(setting, boot_id="b", started_utc_us=NOW)
    with closing(open_writer(path)) as file:
        file.append(opening, NOW)
        for event in evening.events():
            seen = msgspec.convert(msgspec.to_builtins(event), Observation)
            if step := table.apply(seen):
                file.append(step, NOW + table.now_us)
    return path


def shown(path: Path, capsys: Captured, count: int, code: Exit = Exit.OK) -> list[str]:
    """The coups, each a text of many lines."""
    assert main(["journal", "show", str(path), "--last", str(count)]) == code
    return capsys.readouterr().out.split("\n\n")[:-1]


def row(coup: str, name: str) -> str:
    """The marks of one sensor."""
    return next(line for line in coup.splitlines() if line.startswith(f"  {name:<{NAME_WIDTH}} "))[NAME_WIDTH + 3 :]


def test_each_of_the_last_coups_is_shown_with_its_evidence(stored: Path, capsys: Captured) -> None:
    same_way, valid, foreign = shown(stored, capsys, 10)
    assert "N1; R1" in same_way
    assert "the ball turns with the rotor → rien_va" in same_way
    assert "Six, noir, pair et manque" in valid
    assert "laps 10.5, laps_needed 3, ball_direction ccw, rotor_direction cw" in valid
    assert [row(valid, f"beam {n}").count("|") for n in (1, 2, 3, 4)] == [11, 11, 11, 12]
    assert [row(valid, f"reader {n}").count("o") for n in (1, 2, 3)] == [1, 1, 1]
    assert set(row(valid, "rotor")) == {">"}
    assert re.search(r"^ +[0-9.]+ s  chef: rien_ne_va_plus$", valid, re.MULTILINE)
    assert row(foreign, "object").strip() == "#"
    assert all(coup.endswith("  replayed: the same verdict") for coup in (same_way, valid, foreign))


def test_what_happened_stands_in_the_order_of_its_time(stored: Path, capsys: Captured) -> None:
    for coup in shown(stored, capsys, 3):
        times = [float(found) for found in re.findall(r"^ +([0-9.]+) s  ", coup, re.MULTILINE)]
        assert times == sorted(times)
        assert times[0] == pytest.approx(1.0), "a second before the launch"


def test_late_bets_and_rulings_stand_beneath_their_coup(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "journal.sqlite"
    evening = StoredEvening()
    evening.open()
    for number, accepted in ((17, True), (4, False)):
        passes = evening.launch()
        evening.until(passes[13].t_us)
        assert evening.say("late_bet", accepted=accepted, by="Rossi", reason=f"100 on {number}").done
        evening.until(passes[-1].t_us)
        evening.fall(number)
        evening.say("operations_done")
    evening.say("ruling", about=1, ruled_as="number", number=36, by="Bianchi", reason="seen by the camera")
    with closing(open_writer(path)) as file:
        for step in evening.steps:
            file.append(step, NOW)
        first, second = (coup.splitlines() for coup in shown(path, capsys, 2))
        assert first[1].endswith("late bet accepted: 100 on 17 (Rossi)")
        assert first[2].endswith("1 · the number is 36: seen by the camera (Bianchi)")
        assert second[1].endswith("late bet refused: 100 on 4 (Rossi)")
        assert shown(path, capsys, 1) == ["\n".join(second)]
        assert [sum("Rossi)" in line or "Bianchi)" in line for line in coup) for coup in (first, second)] == [2, 1]
        file.database.execute("UPDATE messages SET payload = x'7b' WHERE topic = 'ruling'")
    assert main(["journal", "show", str(path), "--last", "2"]) == Exit.BAD_DATA
    assert first[1] in capsys.readouterr().out, "what can be read is shown"


def test_only_as_many_as_are_asked_for(stored: Path, capsys: Captured) -> None:
    (only,) = shown(stored, capsys, 1)
    assert "N6" in only


def test_the_last_coups_stand_alone(stored: Path, capsys: Captured) -> None:
    for more in (["--coup", "1"], ["--jsonl"], ["--topic", "void"], ["--from-seq", "1"]):
        assert main(["journal", "show", str(stored), "--last", "2", *more]) == Exit.USAGE
    assert "--last shows each coup whole" in capsys.readouterr().err


def test_evidence_that_is_gone_is_said_to_be(stored: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "pruned"
    path.write_bytes(stored.read_bytes())
    with closing(open_writer(path)) as file:
        file.mark_sent([message.id for message in file.owed(0, 1000)], await_settlement=False)
        assert file.prune(NOW + 10**9, max_age_s=0) == 3
    first, *_ = shown(path, capsys, 3)
    assert first.splitlines()[-1].startswith("  its observations are not stored; they were removed at ")
    assert "N1; R1" in first


def test_a_verdict_that_the_evidence_does_not_lead_to_is_named(stored: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "edited"
    path.write_bytes(stored.read_bytes())
    with closing(open_writer(path)) as file:
        # A verdict, and a log, that somebody changed.
        other = """CAST(replace(CAST(payload AS TEXT), '"laps":10.5', '"laps":9.5') AS BLOB)"""
        file.database.execute(f"UPDATE messages SET payload = {other} WHERE topic = 'result'")
        file.database.execute("UPDATE logs SET packed = ? WHERE coup = 3", zlib.compress(b"nonsense"))
        _, valid, foreign = shown(path, capsys, 3, Exit.BAD_DATA)
    assert "came to rest in a pocket, its run proven → operations" in valid
    assert valid.endswith("  replayed: NOT the same verdict")
    assert "its observations cannot be replayed: line 1: not a header" in foreign


def test_a_heads_coup_is_drawn_too(tmp_path: Path, capsys: Captured) -> None:
    evening = StoredHeadEvening(CHEF)
    evening.ready()
    evening.game(32, None)
    evening.confirm(by="Rossi")
    with closing(open_writer(tmp_path / "head")) as file:
        for step in evening.steps:
            file.append(step, NOW)
    (coup,) = shown(tmp_path / "head", capsys, 10)
    assert "people: confirmed_by Rossi" in coup
    assert "h" in row(coup, "head")


def test_marks_that_fall_together() -> None:
    passes = [BallPass(t, 0) for t in (0, 1, 5_000_000, 10_000_000)]
    turning: list[Observation] = [Rotor(1, 0, "cw"), Rotor(2, 1, "cw"), Rotor(5_000_000, 2, "ccw")]
    others: list[Observation] = [ForeignObject(10_000_001, present=True), SensorState(0, "rotor", ok=False)]
    lines = list(draw([*passes, *turning, *others], 0, 10_000_000))
    assert [line.split()[0] for line in lines] == ["rotor", "beam", "sensors", "seconds"]
    rotor, beam, sensors, seconds = (line[NAME_WIDTH + 1 :] for line in lines)
    assert rotor.split() == [">", "<"]
    assert beam.split() == [MANY, "|", "|"]
    assert sensors == "!"
    assert len(beam) == len(seconds) == WIDTH
    assert seconds.endswith("10.0")


def test_a_sensor_that_fails_is_counted_from_one_as_its_row_is() -> None:
    seen: list[Observation] = [BallPass(0, 2), SensorState(5, "beam/2", ok=False)]
    assert next(draw(seen, 0, 10)).startswith("beam 3 ")
    assert list(said(seen)) == [(5, "beam 3 fails")]


def test_lines_of_a_later_version_are_passed_over() -> None:
    log = b'{"kind":"wheel"}\n{"t":5,"kind":"ball","beam":0}\n{"t":1,"kind":"smell"}\n{"t":2,"kind":"ball","beam":1}\n'
    assert read(log) == [BallPass(2, 1), BallPass(5, 0)]
