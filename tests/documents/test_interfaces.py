"""docs/interfaces.md and docs/observation-log.md say what the schemas and the structures say, member by member."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from wheeld.core.facts import Trouble
from wheeld.core.law.table import LAW
from wheeld.core.observations import Observation
from wheeld.core.setting import Header

ROOT = Path(__file__).parents[2]
INTERFACES = (ROOT / "docs" / "interfaces.md").read_text()
LOG = (ROOT / "docs" / "observation-log.md").read_text().split("## Decided")[0]
PARAGRAPHS = dict(re.findall(r"^\*\*`(\w+)`:\*\*(.+?)(?=\n\n)", INTERFACES, re.DOTALL | re.MULTILINE))
COMMON = set(re.findall(r"`(\w+)`", re.findall(r"\*\*Common to.+?\n\n", INTERFACES, re.DOTALL)[0]))
NOTICES = {row.notice for rows in LAW.values() for row in rows if row.notice}
KINDS = {str(kind.__struct_config__.tag): kind for kind in get_args(Observation)}


def schema(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((ROOT / "wheeld" / "schemas" / f"{name}.schema.json").read_text())
    return parsed


def members(name: str) -> tuple[set[str], set[str]]:
    """The members of a payload, and every member or value that its schema knows at any depth."""
    whole = schema(name)
    own = set(whole["$defs"][whole["$ref"].rsplit("/", 1)[1]]["properties"])
    deep = {name for part in whole["$defs"].values() for name in part.get("properties", {})}
    return own, deep | set(re.findall(r'"(\w+)"', json.dumps(whole)))


def backticks(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


@pytest.mark.parametrize("topic", ["result", "void", "ruling", "table", "notice", "board"])
def test_a_paragraph_names_the_members_of_its_topic(topic: str) -> None:
    own, known = members(topic)
    named = backticks(PARAGRAPHS[topic]) - (NOTICES if topic == "notice" else set())
    assert own - COMMON - named == set()
    assert named - known - {"chefs_word", "low_margin", "refused", "sealed", "sensors_left_out", "utc_stepped"} == set()


def test_the_common_members_are_common() -> None:
    sequenced = {"seq", "prev", "hash", "signature"}
    topics = {topic: members(topic)[0] for topic in ("result", "void", "ruling", "table", "notice", "board")}
    everywhere = set.intersection(*topics.values())
    assert everywhere | sequenced == COMMON - (set(topics) - {"table"})
    assert all(sequenced <= topics[topic] for topic in ("result", "void", "ruling", "table"))


@pytest.mark.parametrize(
    "name",
    [
        "health",
        "availability",
        "reply",
        "ack",
        "command",
        "command-bouler",
        "command-resend",
        "command-resume",
        "command-rien_va",
    ],
)
def test_the_other_payloads_are_named(name: str) -> None:
    assert members(name)[0] <= backticks(INTERFACES.split("## Members")[1].split("## `prev`")[0])


def test_every_notice_of_the_law_is_named() -> None:
    assert backticks(PARAGRAPHS["notice"]) >= NOTICES


def test_the_lines_of_a_log() -> None:
    examples = [json.loads(line) for line in re.findall(r"^\| `(\{.+?\})` \|", LOG, re.MULTILINE)]
    for example in examples:
        assert msgspec.convert(example, Observation).t_us == 0
    own = re.findall(r"^\| `(\w+)` \| (–|`.+?`) \|", LOG.split("program's own")[1], re.MULTILINE)
    for kind, named in own:
        assert backticks(named) == {field.encode_name for field in msgspec.structs.fields(KINDS[kind])} - {"t"}
    assert {*(example["kind"] for example in examples), *(kind for kind, _ in own)} == set(KINDS)


def test_the_header_of_a_log() -> None:
    (example,) = re.findall(r'^    (\{"kind":"wheel".+?\})$', LOG, re.DOTALL | re.MULTILINE)
    msgspec.json.decode(example.encode(), type=Header)
    rows = backticks("".join(re.findall(r"^\| (`.+?`) \|", LOG.split("## Lines")[0], re.MULTILINE)))
    named = {*json.loads(example), *rows, "rotor_direction"} - {"kind"}
    assert named == {field.encode_name for field in msgspec.structs.fields(Header)}


def test_every_trouble_is_named() -> None:
    """In the table of the troubles, once."""
    table = re.findall(r"^\| (`.+?) \|", INTERFACES.split("## Troubles")[1].split("## Roles")[0], re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", "".join(table))) == sorted(trouble.value for trouble in Trouble)
