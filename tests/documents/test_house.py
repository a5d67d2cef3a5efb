"""docs/house.md: its commands are such that the program takes, and its limits are those of the unit."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import wheeld.cli.parser

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "house.md").read_text()
INSTALLED = re.findall(r"^ {4}(install .+)$", PAGE, re.MULTILINE)
UNIT = (ROOT / "systemd" / "wheeld@.service").read_text()


def test_the_command_is_one_that_the_program_takes() -> None:
    (line,) = re.findall(r"^ {4}wheeld (.+)$", PAGE, re.MULTILINE)
    given = wheeld.cli.parser.parser().parse_args(shlex.split(line))
    assert len(given.tables) == 3


def test_the_list_is_given_to_the_broker_as_by_hand() -> None:
    """A broker's tests do it so, too."""
    for text in ((ROOT / "docs" / "by-hand.md").read_text(), wheeld.cli.parser._ACL_EXAMPLES):
        assert re.findall(r"^ +(install .+wheeld\.acl)$", text, re.MULTILINE) == INSTALLED


def test_the_limit_of_memory_is_the_unit_s_and_more_than_a_wheel_needs() -> None:
    (limit,) = re.findall(r"^MemoryMax=(\d+)M$", UNIT, re.MULTILINE)
    assert f"`MemoryMax={limit}M`" in PAGE
    (measured,) = re.findall(r"\| (\d+) MB, \d+ % of a core", PAGE)
    assert 4 * int(measured) < int(limit)
    assert 3 * int(limit) <= 0.75 * 1024


def test_the_unit_names_files_by_the_wheel() -> None:
    for name in ("/etc/wheeld/%i.toml", "wheeld.%i."):
        assert name in UNIT
        assert name.replace("%i", "campione-03") in PAGE
