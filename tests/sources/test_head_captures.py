"""The lines of a real SlingShot 2 to a table: what it cannot prove is a result only when the chef confirms it."""

from __future__ import annotations

import pytest

from firmware_protocol.cammegh.session import Setup
from firmware_protocol.cammegh.status import Product
from tests.cammegh.bench import CAPTURES, SLINGSHOT
from tests.cammegh.test_captures import section
from tests.core import head_evening
from tests.sources.head_table import HeadTable, Lines, Played, cammegh
from wheeld.core.setting import TableSetting

pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="no captures of real wheels here")
NUMBERS = [27, 16, 6, 3, 10, 0]


def recorded() -> list[bytes]:
    """The lines of the dump."""
    return (CAPTURES / "cammegh-ss2_ss2_protocol.log").read_bytes().splitlines(keepends=True)


def adjudicated(setting: TableSetting, *, confirms: bool = False) -> Played:
    return HeadTable(Lines(recorded()), cammegh(SLINGSHOT), setting, confirms=confirms).play()


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


def cut_after_each_number(lines: list[bytes]) -> list[bytes]:
    """The cable fails a second after each number, for eight seconds."""
    numbers = [
        at for at, line in enumerate(lines) if line.startswith(b"*X;5") and not lines[at - 1].startswith(b"*X;5")
    ]
    lost = {at for number in numbers for at in range(number + 2, number + 18)}
    return [b"" if at in lost else line for at, line in enumerate(lines)]


@pytest.mark.parametrize("answers_after_us", [0, 3_000_000, 9_000_000])
def test_a_cable_that_fails_a_second_after_a_number_takes_none_from_the_chef(answers_after_us: int) -> None:
    """N8: the number is out, and goes on awaiting him."""
    table = HeadTable(
        Lines(cut_after_each_number(recorded())),
        cammegh(SLINGSHOT),
        head_evening.CHEF,
        confirms=True,
        answers_after_us=answers_after_us,
    )
    outcome = table.play()
    assert "head" in {sensor for one in outcome.of("table") for sensor in one["failing"]}
    assert_all_that_awaited_him_are_results(outcome)


def assert_all_that_awaited_him_are_results(outcome: Played) -> None:
    """But for the last, for the dump may end before he answers."""
    awaited = sorted({one["coup"] for one in outcome.of("table") if one["state"] == "awaiting_chef"})
    confirmed = [one["coup"] for one in outcome.of("result")]
    assert len(awaited) >= 3
    assert confirmed in (awaited, awaited[:-1])
    assert outcome.of("void") == []
    assert outcome.results[0] == NUMBERS[0]


@pytest.mark.parametrize("answers_after_us", [12_000_000, 20_000_000, 45_000_000])
def test_a_chef_who_answers_after_the_next_launch_or_its_number_loses_none(answers_after_us: int) -> None:
    """The wheel fires by itself. What it fires meanwhile counts for nothing, and a notice says why."""
    table = HeadTable(
        Lines(recorded()), cammegh(SLINGSHOT), head_evening.CHEF, confirms=True, answers_after_us=answers_after_us
    )
    outcome = table.play()
    assert_all_that_awaited_him_are_results(outcome)
    assert len(outcome.results) < len(NUMBERS)
    assert any(one["notice"] == "launch_too_early" for one in outcome.of("notice"))


def test_the_misfire_of_a_real_wheel_is_one_notice_and_voids_nothing() -> None:
    """Flag 2 in state 2, then flag 8, then the launch, under the same game number."""
    lines = [line.encode() + b"\r\n" for _, line in section("A1")]
    setup = Setup(Product.SLINGSHOT_2, bare_number=False)
    outcome = HeadTable(Lines(lines), cammegh(setup), head_evening.CHEF, confirms=True).play()
    notices = [one for one in outcome.of("notice") if one["notice"] == "launch_awaited"]
    assert len(notices) == 1
    assert notices[0]["text"].startswith("the wheel reports that its launch failed; ")
    assert (outcome.results, outcome.of("void")) == ([15], [])


def test_the_wheel_that_was_switched_off_at_the_end_suspends_the_open_table() -> None:
    """State 6, after the last game of the dump."""
    outcome = adjudicated(head_evening.CHEF, confirms=True)
    assert "wheel_stopped" in [one["notice"] for one in outcome.of("notice")]
    last = outcome.of("table")[-1]
    assert (last["state"], last["bets"], last["waiting_codes"]) == ("suspended", "closed", ["start_wheel", "resume"])
    assert outcome.results == NUMBERS
