"""`wheeld report`: its page, its JSON, what it says on a terminal, and what it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.played import Fault, play, write_journal
from wheeld.cli.main import main
from wheeld.exits import Exit

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
    assert main(["report", *files, "-o", str(out), "--language", "en"]) == Exit.OK
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
    assert main(["report", str(journals["misses"]), "--json", "--language", "fr"]) == Exit.OK
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


def test_a_time_without_coups_is_said(journals: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(journals["fine"]), "--until", "2020-01-01"]) == Exit.NO_INPUT
    assert capsys.readouterr().err == "wheeld: there is no coup in that time in these journals\n"


def test_dates_are_utc_unless_they_say_otherwise(journals: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    half = ["--since", "2027-01-15T08:30:00"]
    assert main(["report", str(journals["fine"]), "--json", *half]) == Exit.OK
    (found,) = json.loads(capsys.readouterr().out)
    assert found["coups"] + found["voids_count"] == 30
    assert main(["report", str(journals["fine"]), "--json", "--since", "2027-01-15T09:30:00+01:00"]) == Exit.OK
    assert json.loads(capsys.readouterr().out) == [found]
    with pytest.raises(SystemExit):
        main(["report", str(journals["fine"]), "--since", "yesterday"])
    assert "'yesterday' is not a date like 2026-11-20" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("library", "at", "how"),
    [
        ("scipy", "/opt/x/site-packages", "pip install 'wheeld[report]'"),
        ("matplotlib", "/usr/lib/wheeld", "apt install python3-matplotlib python3-scipy"),
    ],
)
def test_without_its_libraries_it_says_what_to_install(
    journals: dict[str, Path], library: str, at: str, how: str
) -> None:
    """Who has the Debian package is not sent to pip."""
    # in a process of its own: modules that are imported twice in one process are two, and other tests would patch one
    without = (
        f"import pathlib, sys; sys.modules[{library!r}] = None; from wheeld.cli import main, report; "
        f"report.installed_at = lambda: pathlib.Path({at!r}); sys.exit(main.main(sys.argv[1:]))"
    )
    run = [sys.executable, "-c", without, "report", str(journals["fine"])]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=60)
    said = f"wheeld: report needs {library}, which is not installed: {how}\n"
    assert (done.returncode, done.stderr) == (Exit.NOT_INSTALLED, said)


def test_what_is_no_journal_is_no_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path / "none.sqlite")]) == Exit.NO_INPUT
    assert "none.sqlite" in capsys.readouterr().err
