"""The pages of the two wheels: each example is run, each event and setting they name is there."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

import pytest

import firmware_protocol
from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import Product
from tests.cammegh.bench import Desk

FOLDER = Path(firmware_protocol.__file__).parent
PAGES = {
    path.stem: path.read_text(encoding="utf-8") for path in (FOLDER / f"{product.value}.md" for product in Product)
}
EXAMPLES = [
    (Product(product), lines.splitlines(), events.splitlines())
    for page in PAGES.values()
    for product, lines, events in re.findall(r"```lines (\S+)\n(.+?)\n```\n\n```events\n(.+?)\n```", page, re.DOTALL)
]
RULES = [f"R{number}" for number in range(1, 5)] + [f"N{number}" for number in range(1, 9)]


def in_words(event: e.Event) -> str:
    fields = [f"{name}={_word(getattr(event, name))}" for name in event.__struct_fields__ if name != "host_ns"]
    return f"{type(event).__name__}({', '.join(fields)})"


def _word(value: object) -> str:
    if isinstance(value, frozenset):
        return f"[{', '.join(sorted(flag.value for flag in value))}]"
    return str(value.value) if isinstance(value, Enum) else repr(value)


@pytest.mark.parametrize(("product", "lines", "events"), EXAMPLES)
def test_each_example_gives_what_is_printed_below_it(product: Product, lines: list[str], events: list[str]) -> None:
    assert [in_words(one) for one in Desk(Setup(product)).hear(*lines)] == events


@pytest.mark.parametrize("page", PAGES)
def test_every_rule_has_its_row_and_every_event_named_is_one(page: str) -> None:
    text = PAGES[page]
    assert re.findall(r"^\| ([RN]\d) ", text, re.MULTILINE) == RULES
    named = set(re.findall(r"`([A-Z][a-z]+[A-Z]?[A-Za-z]*)[`.]", text))
    assert named
    assert [name for name in named if not hasattr(e, name)] == []


def test_there_is_something_to_run() -> None:
    assert len(EXAMPLES) == sum(page.count("```lines") for page in PAGES.values()) == 5
