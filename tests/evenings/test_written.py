"""The four written evenings: the machine says at each step what the script has, at every kind of wheel."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.evenings import head, page, script
from tests.evenings.players import Player, setting_of
from tests.evenings.sources import BehindSource, OnBoard, OnPins
from tests.evenings.wheels import Wheel
from wheeld.core.facts import Cause
from wheeld.core.houses import PROFILES
from wheeld.core.setting import TableSetting

COUPS = 12
NAMES = script.names()
ALL = [script.read(name) for name in NAMES]
by_name = pytest.mark.parametrize("written", ALL, ids=NAMES)


def test_there_is_an_evening_for_each_french_table() -> None:
    assert {(written.house, written.game) for written in ALL} == {*PROFILES} - {("south-dakota", "american")}


@by_name
def test_the_table_says_what_is_written(written: script.Script) -> None:
    said = Player(Wheel(setting_of(written))).play(written)
    assert differences(written, said) == []


@pytest.mark.parametrize("kind", [OnBoard, OnPins])
@by_name
def test_the_daemon_says_the_same_behind_a_board_and_behind_pins(
    written: script.Script, kind: Callable[[TableSetting], BehindSource]
) -> None:
    with closing(kind(setting_of(written))) as wheel:
        assert differences(written, Player(wheel).play(written)) == []


@pytest.mark.parametrize(
    ("name", "first", "last"), [(name, *coups) for name, rows in head.COUPS.items() for coups in rows]
)
def test_a_head_gives_the_coups_that_it_can_show_the_same_verdicts(name: str, first: int, last: int) -> None:
    part = head.excerpt(script.read(name), first, last)
    said = Player(head.HeadWheel(setting_of(part))).play(part)
    assert verdicts(said) == verdicts([step.said for step in part.steps])
    assert len(verdicts(said)) == last - first + 1


@by_name
def test_a_script_is_kept_as_it_is_written(written: script.Script) -> None:
    assert script.path_of(written.name).read_text() == written.text


@by_name
def test_the_page_is_the_script(written: script.Script) -> None:
    assert page.path_of(written.name).read_text() == page.page(written)


@by_name
def test_each_scene_is_one_coup_with_one_verdict(written: script.Script) -> None:
    titles = [scene.title.partition(":")[0] for scene in written.scenes]
    assert titles == ["The table opens", *(f"Coup {number}" for number in range(1, COUPS + 1))]
    for scene in written.scenes[1:]:
        verdicts = [line for step in scene.steps for line in step.said if re.match("(result|void):", line)]
        assert len(verdicts) == 1
        assert verdicts[0].split(",")[0].partition(": ")[2].capitalize() == scene.title.partition(":")[0]


def test_every_cause_of_a_void_occurs_and_whatever_else_people_do() -> None:
    lines = [line for written in ALL for step in written.steps for line in step.said]
    assert {cause.value for cause in Cause} == {line.split(", ")[1] for line in lines if line.startswith("void:")}
    for what in (
        "table: ball_on_obstacle, bets locked",
        "table: awaiting_chef, bets closed",
        "reply: rien_va refused",
        "notice: operations_unfinished",
        "notice: tout_va_owed",
        "notice: foreign_object",
        "notice: bouler_early",
        "notice: last_coup_off",
        "notice: sensors_left_out",
        "notice: launch_while_closed",
        "reply: suspend done",
        "reply: open done: règles 6",
        "  confirmed by",
    ):
        assert [line for line in lines if line.startswith(what)], what


def test_a_line_that_means_nothing_is_named() -> None:
    with pytest.raises(script.ScriptError, match=r"x\.txt, line 1: 'table nowhere' stands where it means nothing"):
        script.parse("x", "table nowhere")
    written = script.parse("x", "## Coup 1\nball flies away")
    with pytest.raises(script.ScriptError, match="'ball flies away' is no step"):
        Player(Wheel(setting_of(ALL[0]))).play(written)


def differences(written: script.Script, said: list[list[str]]) -> list[str]:
    """Each step at which something else is said, for people."""
    return [
        f"{step.what}\n  written: {step.said}\n  said:    {lines}"
        for step, lines in zip(written.steps, said, strict=True)
        if step.said != lines
    ]


def verdicts(said: list[list[str]]) -> list[str]:
    """Each verdict, without the coup's number: cause, rule, article and words, or number and announcement."""
    lines = [line for lines in said for line in lines if re.match("(result|void):", line)]
    return [re.sub(r"coup \d+, ", "", line) for line in lines]
