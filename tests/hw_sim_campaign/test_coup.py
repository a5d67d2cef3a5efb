"""One coup alone, and its picture."""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from hw_sim.campaign import coup_command
from hw_sim.campaign.drawing import draw
from hw_sim.campaign.evening_run import CampaignPlan
from hw_sim.campaign.timeline import Interval, LogTimeline, ReadPocket, RotorCurve, ShownVerdict, read_timeline
from hw_sim.cli import main
from tests.hw_sim.log_reader import Log
from tests.hw_sim_campaign.messages import state, void
from tests.hw_sim_campaign.stand_in import stand_in

COUP = "short/5/2"
TIMELINE = LogTimeline(
    beams=2,
    readers=1,
    passes=[(1.0, 0), (2.0, 1), (3.0, 0)],
    rotor_rpm=[(0.5, 12.0), (5.0, 11.0)],
    read_pockets=[ReadPocket(6.0, 0, 17), ReadPocket(7.0, 0, None)],
    notes=[(0.1, "chef: open")],
    facts=[(1.5, "launched")],
    states=[Interval(0.0, 1.5, "faites_vos_jeux"), Interval(1.5, 9.0, "ball_running")],
    verdicts=[ShownVerdict(8.0, 7.5, "17", void=False)],
    end_s=9.0,
    true_passes=[(1.001, 0), (2.5, 1)],
    strikes=[Interval(2.0, 2.0, "stray")],
    truth=[(7.0, "rests in 17")],
)


@pytest.fixture(autouse=True)
def _short_evenings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An evening is drawn whole for each of its coups."""
    monkeypatch.setattr(coup_command, "CampaignPlan", partial(CampaignPlan, evening_coups=3))


def test_a_coup_is_played_printed_written_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, svg = tmp_path / "coup.jsonl.gz", tmp_path / "coup.svg"
    assert main(["coup", COUP, "--log", str(log), "--svg", str(svg)]) == 0
    out = capsys.readouterr().out
    assert "right: truth " in out
    ET.fromstring(svg.read_text())
    assert json.loads(gzip.decompress(log.read_bytes()).splitlines()[0])["kind"] == "wheel"
    drawn = tmp_path / "drawn.svg"
    assert main(["draw", str(log), "--svg", str(drawn)]) == 0
    ET.fromstring(drawn.read_text())


def test_faults_can_be_left_out_of_a_coup(capsys: pytest.CaptureFixture[str]) -> None:
    main(["coup", COUP])
    assert "jitter" in capsys.readouterr().out
    main(["coup", COUP, "--without", "jitter"])
    assert "jitter" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["7", "7/0", "7/0/x", "7/x/0", "7/0/999999", "/"])
def test_what_names_no_coup_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coup", name]) == 2
    assert capsys.readouterr().err.startswith("hw-sim coup: ")


def test_a_coup_that_disagrees_exits_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coup", COUP, "--wheeld", str(stand_in(tmp_path, "sys.stdin.read()"))]) == 1
    assert "missed: truth " in capsys.readouterr().out


def test_the_picture_is_the_same_each_time_and_well_formed() -> None:
    text = draw(TIMELINE, "a <coup>", "x")
    assert draw(TIMELINE, "a <coup>", "x") == text
    assert draw(TIMELINE, "a <coup>", "y") != text, "two pictures on one page need other ids"
    ET.fromstring(text)
    assert "Date" not in text
    assert "date" not in text


def test_the_picture_shows_every_kind_of_thing() -> None:
    text = draw(TIMELINE, "a coup", "x")
    for label in (
        "launched",
        "ball_running",
        "verdict: 17",
        "rests in 17",
        "its evidence",
        "chef: open",
        "stray",
        "beam 1",
        "beam 2",
        "reader 1",
    ):
        assert f">{label}<" in text, label
    assert ">pulse without a ball<" in text
    assert ">ball without a pulse<" in text


def test_a_log_without_a_truth_has_no_strays() -> None:
    text = draw(replace(TIMELINE, true_passes=None, strikes=[]), "a log", "x")
    assert "without" not in text
    assert ">faults<" not in text


def test_a_timeline_has_the_pockets_that_another_reader_of_logs_finds(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert main(["record", "--scenario", "valid", "rotor_idle_stop", "--out", str(path)]) == 0
    lines = path.read_bytes().splitlines()
    read, other = read_timeline(lines, []), Log(lines)
    expected = [other.pocket(line)[0] for line in other.of("pocket")]
    assert [read_pockets.number for read_pockets in read.read_pockets] == expected
    assert len(read.passes) == len(other.of("ball"))
    assert (read.beams, read.readers) == (len(other.header["beams_deg"]), len(other.header["readers_deg"]))


def test_a_sensor_is_counted_from_one() -> None:
    header = b'{"rotor_ticks":37,"beams_deg":[0,90],"readers_deg":[0]}'
    lines = [
        b'{"t":%d,"kind":"sensor","sensor":"%s","ok":false}' % each for each in ((1, b"beam/1"), (2, b"rotor/place"))
    ]
    assert [text for _, text in read_timeline([header, *lines], []).notes] == ["beam 2 fails", "rotor/place fails"]


def test_the_rotor_has_a_signed_speed() -> None:
    edges = [{"t": 100_000 * k, "tick": -k % 37, "direction": "ccw"} for k in range(30)]
    speeds = [rpm for _, rpm in RotorCurve(37, edges).speeds()]
    assert speeds
    assert speeds == [pytest.approx(-600 / 37)] * len(speeds)


def test_an_edge_is_where_the_format_puts_it_and_between_edges_the_rotor_turns_evenly() -> None:
    clockwise = RotorCurve(37, [{"t": 100 * k, "tick": 5 + k, "direction": "cw"} for k in range(3)])
    assert [clockwise.angle(t) for t in (0, 50, 100)] == pytest.approx([5 / 37, 5.5 / 37, 6 / 37])
    other = RotorCurve(37, [{"t": 100 * k, "tick": 5 - k, "direction": "ccw"} for k in range(3)])
    assert [other.angle(t) for t in (0, 50, 100)] == pytest.approx([6 / 37, 5.5 / 37, 5 / 37])
    assert RotorCurve(37, []).angle(0) is None


def test_states_last_until_the_next_and_verdicts_have_their_evidence() -> None:
    header = b'{"rotor_ticks":37,"beams_deg":[0,90],"readers_deg":[0]}'
    end = b'{"t":30000000,"kind":"end"}'
    verdicts = void("chef", 11_000_000, rule="N7", words="rien va", at="2026-11-20T18:00:11.000000Z",
                evidence_at="2026-11-20T18:00:10.500000Z")  # fmt: skip
    read = read_timeline(
        [header, end], [state("ball_running", 0), verdicts, state("rien_va", 11_000_000), state("rien_va", 12_000_000)]
    )
    assert read.states == [Interval(0.0, 11.0, "ball_running"), Interval(11.0, 30.0, "rien_va")]
    assert read.verdicts == [ShownVerdict(11.0, 10.5, "rien va: chef, N7", void=True)]


def test_what_is_no_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("no log\n")
    assert main(["draw", str(path), "--svg", str(tmp_path / "no.svg")]) == 65
    assert "not a header" in capsys.readouterr().err
    silent = stand_in(tmp_path, "sys.stdin.read()")
    assert main(["draw", str(path), "--svg", str(tmp_path / "no.svg"), "--wheeld", str(silent)]) == 65
    assert "not an observation log" in capsys.readouterr().err
    assert main(["draw", str(tmp_path / "none"), "--svg", str(tmp_path / "no.svg")]) == 73


GOOD = gzip.compress(b"log", mtime=0)  # the time in it would be part of the name of a test


@pytest.mark.parametrize("bad", [b"\x1f\x8bno", GOOD[:-6], GOOD[:-8] + bytes(8)])
def test_a_damaged_compressed_log_is_named(tmp_path: Path, bad: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coup.jsonl.gz"
    path.write_bytes(bad)
    assert main(["draw", str(path), "--svg", str(tmp_path / "no.svg")]) == 65
    assert f"{path}: damaged, or not copied completely (" in capsys.readouterr().err


def test_the_error_without_matplotlib_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["coup", COUP, "--svg", str(tmp_path / "x.svg")]) == 69
    assert "pip install './hw_sim[campaign]'" in capsys.readouterr().err
