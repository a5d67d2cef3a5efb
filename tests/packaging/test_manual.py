"""The manual page and the completion say what the command line takes."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hw_sim.cli
import wheeld.cli.parser
import wheeld_report.cli
from release.debian.manual import commands, completion, man_page

PARSERS = [wheeld.cli.parser.parser, hw_sim.cli.parser, wheeld_report.cli.parser]


def page(parser: argparse.ArgumentParser) -> str:
    return man_page(
        parser, about="a test", version="1.2", date="2026-01-31", more=".SH FILES\n.TP\nnone\nThere are none."
    )


def plain(roff: str) -> str:
    """Without its escapes."""
    text = re.sub(r"\\f[A-Z]|\\&", "", roff)
    return text.replace("\\-", "-").replace("\\(dq", '"').replace("\\e", "\\")


@pytest.mark.parametrize("parser", PARSERS)
def test_the_page_has_every_command_and_every_option(parser: Callable[[], argparse.ArgumentParser]) -> None:
    text = plain(page(parser()))
    for command in commands(parser()):
        assert " ".join(command.words) in text
        for action in command.parser._actions:
            is_hidden = action.help == argparse.SUPPRESS
            assert is_hidden or all(option in text for option in action.option_strings), action


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff on this host")
@pytest.mark.parametrize("parser", PARSERS)
def test_groff_finds_no_fault_in_the_page(parser: Callable[[], argparse.ArgumentParser]) -> None:
    command = ["groff", "-man", "-Tutf8", "-wall", "-z"]
    done = subprocess.run(command, input=page(parser()), capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""


@pytest.mark.parametrize("parser", PARSERS)
def test_no_heading_of_the_page_is_empty(parser: Callable[[], argparse.ArgumentParser]) -> None:
    text = page(parser())
    assert re.findall(r"^\.SH .*\n(?=\.SH )", text, re.MULTILINE) == []
    assert "exit codes:" not in text, "they are under their own heading"


def test_what_roff_would_read_as_its_own_is_text() -> None:
    parser = argparse.ArgumentParser(prog="x", description=".so \\n and 'x' 5 % of it -- \"all\"")
    parser.add_argument("--far", type=int, default=5, help=".5 of 100%% (default: %(default)s)")
    text = page(parser)
    assert "\\&.so \\en and 'x' 5 % of it \\-\\- \\(dqall\\(dq" in text
    assert "\\&.5 of 100% (default: 5)" in text


def completed(script: Path, *words: str) -> set[str]:
    """What bash offers for the last of `words`, in the directory of the script."""
    name = words[0].replace("-", "_")
    line = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _{name}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    command = ["bash", "-euc", line, "bash", *words]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wheeld ch", {"check-config"}),
        ("wheeld --ver", {"--version", "--verify"}),
        ("wheeld journal mi", {"migrate"}),
        ("wheeld journal verify --p", {"--public-key"}),
        ("wheeld journal verify ev", {"evening.toml"}),
        ("wheeld journal seal --why ", set()),
        ("wheeld run -c ", {"-h", "--help", "evening.toml", "wheeld.bash"}),
        ("wheeld check-config ", {"-h", "--help", "--language", "evening.toml", "wheeld.bash"}),
        ("wheeld doctor --ball ", {"cw", "ccw"}),
        ("wheeld run ev", {"evening.toml"}),
    ],
)
def test_bash_completes(tmp_path: Path, line: str, offered: set[str]) -> None:
    script = tmp_path / "wheeld.bash"
    script.write_text(completion(wheeld.cli.parser.parser()))
    (tmp_path / "evening.toml").touch()
    assert completed(script, *line.split(" ")) == offered


def test_bash_completes_the_simulator_too(tmp_path: Path) -> None:
    script = tmp_path / "hw-sim.bash"
    script.write_text(completion(hw_sim.cli.parser()))
    assert completed(script, "hw-sim", "rec") == {"record"}
