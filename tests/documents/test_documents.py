"""Whatever documents, comments and docstrings refer to is there, and a reader of the repository can open it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents.tree import Tree

ROOT = Path(__file__).parents[2]
TREE = Tree(ROOT)
OF_CHECKS = (Path(__file__).with_name("test_tree.py"), Path(__file__).with_name("tree.py"))
"""They hold wrong examples, and the patterns themselves."""

EXCEPTIONS = {
    "RPi.GPIO": "a library's module",
}
"""Words in backticks that look like symbols of ours and are none, and whose they are."""


def _id(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", TREE.documents, ids=_id)
def test_links_of_a_page(page: Path) -> None:
    assert TREE.dead_links(page) == []


@pytest.mark.parametrize("page", TREE.documents, ids=_id)
def test_paths_of_a_page(page: Path) -> None:
    assert TREE.dead_paths(page) == []


@pytest.mark.parametrize("page", TREE.documents, ids=_id)
def test_symbols_of_a_page(page: Path) -> None:
    assert [word for word in TREE.dead_symbols(page) if word not in EXCEPTIONS] == []


def test_every_exception_is_still_needed() -> None:
    dead = {word for page in TREE.documents for word in TREE.dead_symbols(page)}
    assert [word for word in EXCEPTIONS if word not in dead] == []


def test_the_rulebook_has_every_rule_and_an_anchor_for_each() -> None:
    rules = [*(f"R{n}" for n in (1, 2, 3, "3b", 4)), *(f"N{n}" for n in range(1, 9)), *(f"A{n}" for n in range(1, 10))]
    assert TREE.rules == {rule: rule.lower() for rule in rules}


def _complaints(check: Callable[[Path], list[str]], files: list[Path]) -> list[str]:
    return [f"{_id(path)}: {what}" for path in files if path not in OF_CHECKS for what in check(path)]


def test_pages_that_source_names_exist() -> None:
    assert _complaints(TREE.dead_pages, TREE.sources) == []


def test_source_names_a_page_by_its_path_where_it_first_mentions_it() -> None:
    assert _complaints(TREE.vague_mentions, TREE.sources) == []


def test_rules_that_are_cited_exist() -> None:
    assert _complaints(TREE.unknown_rules, [*TREE.sources, *TREE.documents]) == []


def test_sections_that_are_cited_exist() -> None:
    assert _complaints(TREE.unknown_sections, [*TREE.sources, *TREE.documents]) == []


def test_the_glossary_has_each_word_once() -> None:
    rows = re.findall(r"^\| (.+?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    words = [row for row in rows if row not in ("French", "word", "verb")]
    assert len(words) > 90
    assert sorted(words) == sorted(set(words))


def test_there_is_something_to_check() -> None:
    pages = {_id(page) for page in TREE.documents}
    assert pages >= {"README.md", "CHANGELOG.md", "docs/rulebook.md", "wheeld/THREATS.md", "firmware_protocol/gpio.md"}
    assert len(TREE.sources) > 200
