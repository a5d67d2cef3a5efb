"""JSON in documents: each block is a message, whole or said to be cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.documents.tree import Tree

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "wheeld" / "schemas"
WHOLE = {"schema": "availability/1", "state": "online", "version": "0.1.0", "boot_id": "7"}


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Each block of JSON, with the paragraph before it."""
    for found in re.finditer(r"^```json\n(.+?)^```", text, re.DOTALL | re.MULTILINE):
        yield text[: found.start()].rstrip().rpartition("\n\n")[2], found[1]


def wrong(before: str, block: str) -> str:
    """What is wrong with a block; empty when nothing is."""
    try:
        message: dict[str, Any] = json.loads(block)
    except ValueError as error:
        return f"is no JSON: {error}"
    schema = SCHEMAS / f"{str(message.get('schema')).partition('/')[0]}.schema.json"
    if not schema.exists():
        return f"has no known schema: {message.get('schema')}"
    missing = [
        error.message for error in jsonschema.Draft202012Validator(json.loads(schema.read_text())).iter_errors(message)
    ]
    is_cut = re.search(r"\bcut\b", before) is not None
    if is_cut and not missing:
        return "is whole, and said to be cut"
    return "" if is_cut else "; ".join(missing)


BLOCKS = [
    pytest.param(before, block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in Tree(ROOT).documents
    for number, (before, block) in enumerate(blocks(page.read_text()), start=1)
]


@pytest.mark.parametrize(("before", "block"), BLOCKS)
def test_a_block_of_json_is_whole_or_said_to_be_cut(before: str, block: str) -> None:
    assert wrong(before, block) == ""


def test_wrong_blocks_are_found() -> None:
    page = 'An ack, cut\nhere:\n\n```json\n{"seq": 1\n```\n\nAn answer:\n\n```json\n{"schema": "reply/1"}\n```\n'
    (cut, broken), (of_answer, part) = blocks(page)
    assert (cut, of_answer) == ("An ack, cut\nhere:", "An answer:")
    assert wrong(cut, broken).startswith("is no JSON")
    assert "is a required property" in wrong(of_answer, part)
    assert wrong(cut, part) == ""
    assert wrong("", '{"schema": "none/1"}') == "has no known schema: none/1"
    assert wrong("cut", json.dumps(WHOLE)) == "is whole, and said to be cut"
    assert wrong("", json.dumps(WHOLE)) == ""


def test_there_is_something_to_check() -> None:
    assert len(BLOCKS) >= 2
