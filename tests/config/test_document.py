"""docs/configuration.md says what the declarations of the keys say, and what the program accepts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.config.test_config import GOOD
from wheeld.config import document as page
from wheeld.config.problems import ConfigError
from wheeld.config.reading import expected, notes, parse
from wheeld.config.sections import SECTIONS
from wheeld.core.catalogue import Catalogue, Text, forms_of

ENGLISH = Catalogue("en")
ROOT = Path(__file__).parents[2]
GPIO = GOOD.replace('[sensors]\nport = "/dev/ttyACM0"\n', '[gpio]\nprovider = "rpi-lgpio"\n')
HEAD = GOOD.partition("[wheel]")[0] + '[head]\nproduct = "mercury-360"\nport = "/dev/ttyUSB0"\n'
HEAD += GOOD.partition("/dev/ttyACM0")[2].partition("\n")[2]
KEYS = [(section, key) for section in SECTIONS for key in page.described(section)]
RANGE = re.compile(r"(?:^|[ ,])([\d.]+) to ([\d.]+)$")
RANGED = [(section, key.name, *found.groups()) for section, key in KEYS if (found := RANGE.search(key.accepted))]


def told(section: str, name: str, value: str) -> list[str]:
    """What is said of this key, in a file that has its section."""
    text = {"gpio": GPIO, "head": HEAD}.get(section, GOOD)
    if f"[{section}]\n" not in text:
        text += f"[{section}]\n"
    text = re.sub(rf"^{name} = .+\n", "", text, flags=re.MULTILINE)
    try:
        parse(text.replace(f"[{section}]\n", f"[{section}]\n{name} = {value}\n"), credentials=Path("/run").joinpath)
    except ConfigError as wrong:
        return [ENGLISH.say_text(problem.what) for problem in wrong.problems if problem.key == f"{section}.{name}"]
    return []


def test_the_page_is_current() -> None:
    written = (ROOT / "docs" / "configuration.md").read_text()
    assert written == page.document(), "run: python -m wheeld.config.document > docs/configuration.md"


def test_every_key_is_on_the_page_once() -> None:
    sections = page.document().split("\n## `[")[1:]
    assert [text.partition("]")[0] for text in sections] == list(SECTIONS)
    for text, keys in zip(sections, SECTIONS.values(), strict=True):
        assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == list(keys)


@pytest.mark.parametrize(("section", "key"), KEYS, ids=[f"{section}.{key.name}" for section, key in KEYS])
def test_every_key_is_described(section: str, key: page.Described) -> None:
    assert key.meaning
    assert key.accepted
    assert key.default
    assert "|" not in "".join(key)
    kind = SECTIONS[section][key.name].kind
    example = tomllib.loads(f"x = {key.example}")["x"]
    msgspec.convert(example, kind, dec_hook=lambda wanted, value: wanted(value))
    assert not [what for what in told(section, key.name, key.example) if "expected" in what]


def beyond(text: str, step: int) -> str:
    """The next value that is out of the range at this end."""
    return str(int(text) + step) if text.isdecimal() else str(float(text) + step * 0.001)


@pytest.mark.parametrize(("section", "name", "least", "most"), RANGED, ids=str)
def test_a_range_is_what_the_program_accepts(section: str, name: str, least: str, most: str) -> None:
    said_of_range = [f"expected {key.accepted}" for at, key in KEYS if (at, key.name) == (section, name)]
    said_of_range += ["is not within", "is not on the wheel"]

    def refused(value: str) -> bool:
        return any(said in what for what in told(section, name, value) for said in said_of_range)

    assert not refused(least)
    assert not refused(most)
    assert refused(beyond(least, -1))
    assert refused(beyond(most, 1))


def test_every_limit_of_a_declaration_stands_in_its_words() -> None:
    """A limit that is changed, and not in the words, is found."""
    for keys in SECTIONS.values():
        for name, key in keys.items():
            limits: list[Any] = [limit for note in notes(key.kind) for limit in (note.ge, note.le) if limit is not None]
            words = ENGLISH.say_text(expected(key.kind))
            if not words.startswith(("a list", "the GPIO numbers")):
                assert all(f"{limit:g}" in words or str(limit) in words or limit == 0 for limit in limits), name


def texts_in(text: Text) -> Iterator[str]:
    """The English texts of the code that a text is made of."""
    yield text.english
    for part in text.parts.values():
        if isinstance(part, Text):
            yield from texts_in(part)


@pytest.mark.parametrize(("section", "key"), KEYS, ids=[f"{section}.{key.name}" for section, key in KEYS])
def test_what_a_key_accepts_is_in_the_catalogues(section: str, key: page.Described) -> None:
    """A declaration is no literal where it is said, and the tool finds only those that are marked."""
    accepted = expected(SECTIONS[section][key.name].kind)
    assert {*texts_in(accepted)} <= forms_of("fr").keys()


def test_there_is_something_to_check() -> None:
    assert len(KEYS) > 60
    assert len(RANGED) > 25
