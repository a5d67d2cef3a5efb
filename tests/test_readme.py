"""The examples of the README, and of the pages in docs/, are what the programs take and give."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import hw_sim.cli
import wheeld.cli.parser
from hw_sim.faults import KINDS
from wheeld.cli.provable import certain_laps
from wheeld.config.reading import parse

ROOT = Path(__file__).parents[1]
PAGES = {page.name: page.read_text() for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
COMMANDS = [
    pytest.param(line, id=f"{name} {line}")
    for name, text in PAGES.items()
    for line in re.findall(r"^ {4,}(?:\.venv/bin/|/opt/wheeld/bin/)?((?:wheeld|hw-sim) .+)$", text, re.MULTILINE)
]
MESSAGES = re.findall(r"```json\n(.+?)```", PAGES["README.md"], re.DOTALL)
TARGETS = re.findall(r"(?:^ {4}|`)make ([a-z-]+)", "\n".join(PAGES.values()), re.MULTILINE)


def test_the_configuration_is_good(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.+?)```", PAGES["by-hand.md"], re.DOTALL)
    for key in ("password_file", "ca_file", "signing_key_file"):  # stand on a wheel's computer only
        (tmp_path / key).write_text("secret")
        (tmp_path / key).chmod(0o600)
        text = re.sub(rf'\b{key} = ".+?"', f'{key} = "{tmp_path / key}"', text)
    parsed = parse(text)
    assert parsed.table.check() == []
    assert parsed.table.last_number == 17


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_line_is_one_that_the_programs_take(line: str) -> None:
    for command in line.split(" | "):
        program, *arguments = shlex.split(command)
        parser = {"wheeld": wheeld.cli.parser.parser, "hw-sim": hw_sim.cli.parser}[program]()
        parser.parse_args(arguments)  # exits, and fails the test, on anything unknown


@pytest.mark.parametrize("text", MESSAGES)
def test_every_message_has_only_members_of_its_schema(text: str) -> None:
    message = json.loads(text)
    topic, _ = message["schema"].split("/")
    schema = json.loads((ROOT / "wheeld" / "schemas" / f"{topic}.schema.json").read_text())
    definition = schema["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
    assert set(message) <= set(definition["properties"])


def test_the_make_targets_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert set(TARGETS) >= {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in TARGETS)


@pytest.mark.parametrize(("given", "expected"), [(["SEED=7"], "--seed 7"), (["COUPS=5"], "")])
def test_a_demo_takes_the_seed_that_is_given(given: list[str], expected: str) -> None:
    """A seed of the environment counts too; that of a campaign, the commit, does not."""
    environment = {name: value for name, value in os.environ.items() if name != "SEED"}
    command = ["make", "--dry-run", "--always-make", "demo"]
    for call, more in (([*command, *given], {}), (command, dict(each.split("=") for each in given))):
        shown = subprocess.run(call, cwd=ROOT, env=environment | more, capture_output=True, text=True, check=True)
        (line,) = [line for line in shown.stdout.splitlines() if "hw-sim demo" in line]
        assert "".join(re.findall(r"--seed .+", line)) == expected


@pytest.mark.parametrize("beams_deg", [(0, 90), (0, 90, 180, 270), tuple(range(0, 360, 45))])
def test_how_short_a_run_each_layout_proves_is_as_written(beams_deg: tuple[float, ...]) -> None:
    (sentence,) = re.findall(r"More beams prove more.+?void\.", PAGES["by-hand.md"], re.DOTALL)
    rounded_up = f"{certain_laps(beams_deg, 3, 2 if len(beams_deg) > 3 else 1) + 0.049:.1f}"
    assert rounded_up in re.findall(r"\d\.\d", sentence)


def test_the_simulator_has_as_many_kinds_of_fault_as_written() -> None:
    assert f"and {len(KINDS)} kinds of fault" in PAGES["trials.md"]


def test_there_is_something_to_check() -> None:
    assert len(COMMANDS) >= 20
    assert len(MESSAGES) == 2


def test_the_readme_is_short() -> None:
    assert PAGES["README.md"].count("\n") <= 120
