"""docs/rulebook.md 6: a wheel that has the command to launch and does not launch voids nothing; a notice reports it."""

from __future__ import annotations

import pytest

from tests.core.evening import Evening
from tests.core.head_evening import CHEF, COMBINED, HeadEvening
from wheeld.core.replay import replay


def awaited(evening: Evening) -> list[int]:
    """When it was reported."""
    notices = [one for one in evening.published if one.topic == "notice"]
    return [one.payload["t_us"] for one in notices if one.payload["notice"] == "launch_awaited"]


def test_no_ball_within_a_minute_of_rien_ne_va_plus_is_reported_once() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    said_us = evening.now_us
    evening.wait(200)
    assert awaited(evening) == [said_us + 60_000_000]
    notice = evening.of("notice")[-1]
    assert notice["text"].endswith("rulebook 6: it voids nothing; the table waits for the launch")
    assert (evening.state, evening.verdicts()) == ("rien_ne_va_plus", [])
    assert "launch" in evening.last("table").payload["waiting_for"]
    evening.run()
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize("name", ["rien_va", "suspend", "close"])
def test_nothing_is_awaited_any_more_after_the_coup_ended_otherwise(name: str) -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    evening.wait(5)
    assert evening.say(name).done  # type: ignore[arg-type]
    evening.wait(100)
    assert awaited(evening) == []


def test_a_ball_that_runs_is_awaited_no_more() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    evening.wait(5)
    evening.run()
    evening.fall(9)
    evening.wait(100)
    assert awaited(evening) == []


def test_it_is_reported_anew_in_the_next_game() -> None:
    evening = Evening().open()
    for _ in range(2):
        evening.say("rien_ne_va_plus")
        evening.wait(70)
        evening.run()
        evening.fall(9)
        evening.say("operations_done")
    assert len(awaited(evening)) == 2


def test_after_a_restart_the_minute_begins_anew() -> None:
    evening = Evening().open()
    evening.wait(1000)
    evening.say("rien_ne_va_plus")
    again = Evening(memory=evening.memory)
    again.wait(100)
    assert awaited(again) == [60_000_000]


def test_the_log_of_its_coup_replays_to_the_same_notice() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    evening.wait(70)
    evening.run()
    evening.fall(9)
    (log,) = evening.evidence
    assert sum(b"launch_awaited" in line for line in replay(log.log.splitlines())) == 1


# --- a head that says so ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [CHEF, COMBINED])
@pytest.mark.parametrize("closed", [False, True])
def test_a_misfire_is_reported_once_while_its_flag_stands(setting: object, *, closed: bool) -> None:
    evening = HeadEvening(setting).ready()  # type: ignore[arg-type]
    if closed:
        evening.say("rien_ne_va_plus")
    for _ in range(3):
        evening.warns("launch_failed")
        evening.lines(2)
    assert len(awaited(evening)) == 1
    assert evening.of("notice")[-1]["text"].startswith("the wheel reports that its launch failed; ")
    evening.warns()
    evening.warns("launch_failed")
    assert len(awaited(evening)) == 2
    assert evening.verdicts() == []


def test_a_misfire_while_a_ball_runs_or_no_launch_is_awaited_is_none() -> None:
    evening = HeadEvening(CHEF)
    evening.warns("launch_failed")
    evening.warns()
    evening.ready()
    evening.report_phase("running")
    evening.warns("launch_failed")
    assert awaited(evening) == []
