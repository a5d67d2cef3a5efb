"""The threat model names tests, files and settings: they are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from msgspec import structs

from wheeld.config.sections import Config

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "wheeld" / "THREATS.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what |")]
WORDS_MAX = 1850
"""One page, in small print."""


def named(page: str) -> Iterator[tuple[str, str]]:
    """Each file that is named, with the test in it or nothing; `::test` alone is of the file before."""
    file = ""
    for path, test in re.findall(r"`((?:tests|systemd|wheeld|firmware_protocol)/[^`:]+)?(?:::(\w+))?`", page):
        file = path or file
        if path or test:
            yield file, test


def missing(page: str) -> list[str]:
    """What is named and not there."""
    gone = []
    for file, test in named(page):
        path = ROOT / file
        if not path.exists() or (test and f"def {test}(" not in path.read_text()):
            gone.append(f"{file}::{test}")
    return gone


def test_what_is_named_is_there() -> None:
    assert len(list(named(PAGE))) > 30
    assert missing(PAGE) == []


def test_the_search_misses_what_is_not_there() -> None:
    assert missing("`tests/security/test_threats.py::test_nothing`, `::test_what_is_named_is_there`") == [
        "tests/security/test_threats.py::test_nothing"
    ]
    assert missing("`systemd/nothing.conf`") == ["systemd/nothing.conf::"]


def test_every_line_has_what_backs_it() -> None:
    assert len(ROWS) > 25
    assert [row for row in ROWS if "`" not in row.rstrip("| ").rpartition(" | ")[2]] == []


def test_settings_are_known() -> None:
    sections = [kind for section in structs.fields(Config) for kind in (section.type, *get_args(section.type))]
    known = {name for section in sections for name in getattr(section, "__struct_fields__", ())}
    assert {"board_serial", "config_hash", "ca_file", "cert_file"} <= known & set(re.findall(r"\w+", PAGE))
    broker = (ROOT / "systemd" / "mosquitto" / "wheeld.conf").read_text()
    for setting in ("require_certificate", "use_identity_as_username", "use_username_as_clientid", "crlfile"):
        assert setting in PAGE
        assert setting in broker


def test_it_is_one_page() -> None:
    assert len(PAGE.split()) <= WORDS_MAX
