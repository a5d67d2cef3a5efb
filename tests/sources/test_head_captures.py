"""The lines of a real SlingShot 2 to a table: what it cannot prove is a result only when the chef confirms it."""

from __future__ import annotations

from collections import deque
from typing import cast

import pytest

from hw_sim.cammegh.head import LINE_US, SimHead
from tests.cammegh.bench import CAPTURES, SLINGSHOT
from tests.core import head_evening
from tests.sources.head_table import HeadTable, Played
from wheeld.core.setting import TableSetting

pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="no captures of real wheels here")
NUMBERS = [27, 16, 6, 3, 10, 0]


class Recorded:
    """In a simulated head's place: the lines of the dump, each at its time; it takes no commands."""

    def __init__(self) -> None:
        lines = (CAPTURES / "cammegh-ss2_ss2_protocol.log").read_bytes().splitlines(keepends=True)
        self._lines = deque(lines)
        self.wants_us = LINE_US

    @property
    def over(self) -> bool:
        return not self._lines

    def advance(self, now_us: int) -> None:
        """Time comes to it from outside."""

    def data_to_send(self) -> bytes:
        self.wants_us += LINE_US
        return self._lines.popleft()

    def receive(self, data: bytes) -> None:
        """Nobody was there to answer."""


def adjudicated(setting: TableSetting, *, confirms: bool = False) -> Played:
    return HeadTable(cast("SimHead", Recorded()), SLINGSHOT, setting, confirms=confirms).play()


def test_its_six_games_are_no_results_where_what_is_unproven_is_void() -> None:
    outcome = adjudicated(head_evening.SLINGSHOT)
    assert outcome.results == []
    assert outcome.causes == {"breakdown"}
    assert len(outcome.of("void")) == len(NUMBERS)


def test_the_chef_may_confirm_them_and_each_result_records_it() -> None:
    outcome = adjudicated(head_evening.CHEF, confirms=True)
    assert outcome.results == NUMBERS
    assert outcome.of("void") == []
    for result in outcome.of("result"):
        assert (result["confirmed_by"], result["unproven"], result["laps"]) == ("chef", ["R2"], None)


def test_without_his_confirmation_none_is_a_result() -> None:
    assert adjudicated(head_evening.CHEF).results == []
