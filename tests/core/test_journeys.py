"""How much of the core there is to read, and how many of its files one verdict crosses: who asks why a coup was decided
so reads them all."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType

import pytest

from tests.core.evening import Evening
from wheeld.core import table as table_module
from wheeld.core.table import Table

FILES_MAX = {"result": 18, "void": 20}
CHANGES_MAX = {"result": 112, "void": 200}
"""From one file to another, by calls and returns. Of the result of a
recorded evening they are 110."""
LINES_MAX = 9_280
"""With the state of a table by its feed, which a restored journal needs: 96 lines."""
CORE = Path(table_module.__file__).parent


class Journeys:
    """The files of the core, in the order in which each call of `Table.apply` comes through them."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._frames: list[str] = []
        self.of_topic: dict[str, list[str]] = {}

    def look(self, frame: FrameType, event: str, given: object) -> None:
        name, is_apply = frame.f_code.co_filename, frame.f_code is Table.apply.__code__
        if event not in ("call", "return") or "wheeld/core/" not in name:
            return
        if event == "call":
            if is_apply:
                self.files, self._frames = [], []
            self._frames.append(name)
            self.files.append(name)
        elif self._frames:
            self._frames.pop()
            self.files += self._frames[-1:]
            for message in getattr(given, "messages", ()) if is_apply else ():
                self.of_topic.setdefault(message.topic, self.files)


def played() -> dict[str, list[str]]:
    """Of a coup that is valid, and of one that the chef declares void."""
    evening, journeys = Evening().open(), Journeys()
    sys.setprofile(journeys.look)
    try:
        evening.coup(17)
        evening.say("operations_done")
        evening.run()
        evening.say("rien_va", by="chef", reason="late bet")
        evening.wait(2)
    finally:
        sys.setprofile(None)
    return journeys.of_topic


@pytest.mark.parametrize("topic", ["result", "void"])
def test_a_verdict_crosses_few_files(topic: str) -> None:
    files = played()[topic]
    changes = sum(one != other for one, other in pairwise(files))
    assert len(set(files)) <= FILES_MAX[topic], sorted(set(files))
    assert changes <= CHANGES_MAX[topic]
    assert len(set(files)) > FILES_MAX[topic] - 4, "then lower the limit"


def test_the_core_stays_small_enough_to_be_read() -> None:
    assert sum(len(path.read_text().splitlines()) for path in CORE.rglob("*.py")) <= LINES_MAX
