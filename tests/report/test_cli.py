"""`wheeld-report`: its page, its JSON, what it says on a terminal, and what it needs."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.report.played import Fault, play, write_journal
from wheeld.exits import Exit
from wheeld_report.cli import main

MISSES = Fault(blind_beam=0.2)


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("journals")
    paths = {name: directory / f"{name}.sqlite" for name in ("fine", "misses", "bench")}
    write_journal(paths["fine"], list(play(1, 80))[:60])
    write_journal(paths["misses"], list(play(1, 80, MISSES))[:60], table="campione-04")
    write_journal(paths["bench"], list(play(1, 10)), test=True)
    return paths


def test_a_page_is_written_and_the_terminal_says_what_was_found(
    journals: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    files = [str(path) for path in journals.values()]
    assert main([*files, "-o", str(out), "--language", "en"]) == Exit.OK
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("campione/campione-03: nothing was found, but ")
    assert said[1] == "campione/campione-04: findings: 1"
    assert said[2].startswith("  beam 2 missed the ball ")
    assert said[2].endswith("Clean this sensor, check its aim and its cable, and run wheeld doctor.")
    assert said[3].startswith("campione/campione-03, BENCH TABLE: a test: nothing was found, but ")
    page = out.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<section>") == 3


def test_json_goes_to_standard_output_and_holds_the_figures(
    journals: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(journals["misses"]), "--json", "--language", "fr"]) == Exit.OK
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["table"], found["verdict"], found["test"]) == (
        "report/1",
        "campione-04",
        "found",
        False,
    )
    assert found["coups"] + found["voids_count"] == 60
    assert sum(found["numbers"]["counts"]) == found["coups"]
    (finding,) = found["findings"]
    assert (finding["code"], finding["found"]) == ("sensor_misses", True)
    assert finding["said"].startswith("le faisceau 2 : la bille manquée ")


def test_a_journal_that_was_edited_is_said_to_be_so(
    journals: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited, out = tmp_path / "edited.sqlite", tmp_path / "report.html"
    edited.write_bytes(journals["fine"].read_bytes())
    with closing(sqlite3.connect(edited)) as database, database:
        database.execute("UPDATE messages SET at_utc_us = at_utc_us + 1 WHERE id = 9")
    assert main([str(journals["misses"]), str(edited), "-o", str(out), "--language", "en"]) == Exit.BAD_DATA
    said = capsys.readouterr()
    assert f"{edited}: the journal is NOT as it was written, do not rely on what it says: record" in said.err
    assert str(journals["misses"]) not in said.err
    assert out.exists()


def test_a_time_without_coups_is_said(journals: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(journals["fine"]), "--until", "2020-01-01"]) == Exit.NO_INPUT
    assert capsys.readouterr().err == "wheeld-report: there is no coup in that time in these journals\n"


def test_dates_are_utc_unless_they_say_otherwise(journals: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    half = ["--since", "2027-01-15T08:30:00"]
    assert main([str(journals["fine"]), "--json", *half]) == Exit.OK
    (found,) = json.loads(capsys.readouterr().out)
    assert found["coups"] + found["voids_count"] == 30
    assert main([str(journals["fine"]), "--json", "--since", "2027-01-15T09:30:00+01:00"]) == Exit.OK
    assert json.loads(capsys.readouterr().out) == [found]
    with pytest.raises(SystemExit):
        main([str(journals["fine"]), "--since", "yesterday"])
    assert "'yesterday' is not a date like 2026-11-20" in capsys.readouterr().err


def test_its_command_line_is_read_without_its_libraries() -> None:
    """Where the packages are built, nobody draws."""
    without = (
        "import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'numpy', 'scipy'))); import wheeld_report.cli"
    )
    subprocess.run([sys.executable, "-c", f"{without}; wheeld_report.cli.parser()"], check=True, timeout=60)


def test_what_is_no_journal_is_no_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.sqlite")]) == Exit.NO_INPUT
    assert "none.sqlite" in capsys.readouterr().err
