"""`hw-sim record` and `hw-sim scenarios`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from hw_sim.cli import main
from hw_sim.scenarios import SCENARIOS


def test_record_writes_the_log_and_its_truth_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "evening.jsonl.gz"
    assert main(["record", "--out", str(out), "--seed", "7"]) == 0
    first = out.read_bytes()
    assert main(["record", "--out", str(out), "--seed", "7"]) == 0
    assert out.read_bytes() == first
    assert first[4:8] == bytes(4), "a time of day in the gzip header"
    header = json.loads(gzip.decompress(first).split(b"\n")[0])
    assert (header["kind"], header["format"], header["table"]) == ("wheel", 1, "sim-7")
    truth = json.loads((tmp_path / "evening.truth.json").read_text())
    assert {o["kind"] for o in truth} <= {"result", "void"}
    assert len(truth) >= 5


def test_record_plays_named_scenarios_in_order(tmp_path: Path) -> None:
    out, truth = tmp_path / "two.jsonl", tmp_path / "elsewhere.json"
    assert main(["record", "--out", str(out), "--scenario", "chef_void", "valid", "--truth", str(truth)]) == 0
    assert [o["scenario"] for o in json.loads(truth.read_text())] == ["chef_void", "valid"]
    commands = [json.loads(line) for line in out.read_text().splitlines() if '"rien_va"' in line]
    assert commands[0]["reason"] == "late bet disputed"
    assert "who" not in commands[0]


def test_an_unknown_scenario_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "--out", str(tmp_path / "x"), "--scenario", "vald"]) == 2
    assert "did you mean 'valid'?" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_error_of_a_file_that_cannot_be_written_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "--out", str(tmp_path / "no" / "x.jsonl"), "--scenario", "valid"]) == 73
    assert "x.jsonl: No such file or directory" in capsys.readouterr().err


def test_scenarios_are_listed_with_a_sentence_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out] == sorted(SCENARIOS)
    assert all(line.endswith(".") for line in out)
