"""docs/operations.md has a row for every notice and every exit code, and what it names is there."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from itertools import chain
from pathlib import Path

import pytest

import wheeld.cli.parser
from wheeld.core.law.table import LATE, LAW
from wheeld.exits import Exit

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("operations", "troubleshooting")}
NOTICES = PAGES["operations"].split("## Every notice")[1].split("## Every exit code")[0]
CODES = PAGES["operations"].split("## Every exit code")[1]
UNIT = (ROOT / "systemd" / "wheeld@.service").read_text()
PLACES = {"remark": 0, "notice": 1, "_notify": 2}
"""Which argument of these methods is the kind of the notice."""


def remarked() -> set[str]:
    """The kinds that no row of the law publishes, but code."""
    calls = [
        node
        for code in (path.read_text() for path in (ROOT / "wheeld").rglob("*.py"))
        if any(f".{method}(" in code for method in PLACES)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PLACES
    ]
    given = [call.args[PLACES[call.func.attr]] for call in calls if isinstance(call.func, ast.Attribute)]
    return {kind.value for kind in given if isinstance(kind, ast.Constant) and isinstance(kind.value, str)}


def test_every_notice_has_a_row() -> None:
    of_code = remarked()
    kinds = {row.notice for row in (*chain(*LAW.values()), *LATE.values()) if row.notice} | of_code
    assert of_code >= {"sealed", "utc_stepped", "low_margin", "refused", "chefs_word", "sensors_left_out"}
    rows = re.findall(r"^\| `(\w+)` \| .+ \| .+ \|$", NOTICES, re.MULTILINE)
    assert sorted(rows) == sorted(kinds)


def test_every_exit_code_has_a_row_that_agrees_with_the_unit() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| .+ \|$", CODES, re.MULTILINE)
    assert [int(code) for code, _ in rows] == [code.value for code in Exit]
    (kept_down,) = re.findall(r"^RestartPreventExitStatus=(.+)$", UNIT, re.MULTILINE)
    no = {code for code, again in rows if again == "no"}
    assert no == {"0", *kept_down.split()}
    assert {code for code, again in rows if again == "yes"} == {str(Exit.IO_FAILED.value)}


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text_are_there(page: str) -> None:
    parser = wheeld.cli.parser.parser()
    for words in re.findall(r"`wheeld (journal \w+|[\w-]+)[^`]*`", PAGES[page]):
        with pytest.raises(SystemExit) as end:
            parser.parse_args([*words.split(), "--help"])
        assert end.value.code == 0, words


@pytest.mark.parametrize("page", PAGES)
def test_the_names_of_log_lines_are_there(page: str) -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "wheeld").rglob("*.py"))
    named = set(
        re.findall(r"`((?:tls|broker|subscription|publication|link|board|watchdog|journal)\.\w+)`", PAGES[page])
    )
    assert [name for name in sorted(named) if f'"{name}"' not in source] == []
    assert named


def test_a_port_of_the_pages_that_stays_taken_is_not_tried_for_ever() -> None:
    """The unit's own code for a port is no code that keeps it down, for a port may become free."""
    unit = (ROOT / "systemd" / "wheeld-page@.service").read_text()
    keys = dict(re.findall(r"^(\w+)=(.+)$", unit, re.MULTILINE))
    assert str(Exit.IO_FAILED.value) not in keys["RestartPreventExitStatus"].split()
    tried_s = int(keys["StartLimitBurst"]) * int(keys["RestartSec"])
    assert 60 < tried_s < int(keys["StartLimitIntervalSec"]) / 2, "at its limit also where each start takes as long"
    assert "its unit tries for two minutes" in CODES


def test_the_daily_backup_gives_the_command_that_the_page_gives(tmp_path: Path) -> None:
    unit = (ROOT / "systemd" / "wheeld-backup@.service").read_text()
    (line,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    for escape, meant in {"%i": "campione-03", "%%": "%", "$$": "$", "/opt/wheeld/bin/wheeld": "echo"}.items():
        line = line.replace(escape, meant)
    printed = subprocess.run(shlex.split(line), capture_output=True, text=True, check=True).stdout.split()
    assert wheeld.cli.parser.parser().parse_args(printed).file == "campione-03"
    assert re.fullmatch(r"/mnt/backup/campione-03-\d{4}-\d\d-\d\d\.sqlite", printed[-1])
    (named,) = re.findall(r"`(/mnt/backup/campione-03-\d.+?)`", PAGES["operations"])
    assert len(named) == len(printed[-1])


def test_the_pause_before_another_try_is_as_written() -> None:
    pause = int(re.findall(r"exec sleep (\d+)", UNIT)[0]) + int(re.findall(r"^RestartSec=(\d+)", UNIT, re.MULTILINE)[0])
    assert f"about every {pause} s" in PAGES["operations"]
