"""Lines of a SlingShot 2 that misfires or stops, written by hand after real ones (docs/wheels.md 1.8), to a table."""

from __future__ import annotations

import pytest

from tests.cammegh.bench import SLINGSHOT
from tests.core.head_evening import CHEF
from tests.sources.head_table import HeadTable, Lines, Played, cammegh


def lines(state: int, spin: int, number: str, flags: int, rotor: str, count: int) -> list[bytes]:
    """The same status line so many times; the last digit of `rotor` is its direction."""
    return [f"*X;{state};{spin:03d};{number};{flags};{rotor}\r\n".encode()] * count


def run_to(number: str, spin: int = 7) -> list[bytes]:
    """A run and its number, from a wheel that waited in state 2 with 24 as its last number."""
    return [
        *lines(3, spin, "24", 0, "178;1", 5),
        *lines(4, spin, "24", 0, "181;1", 40),
        f"{number}\r\n".encode(),
        *lines(5, spin, number, 0, "181;1", 7),
    ]


def waits(count: int, flags: int = 0) -> list[bytes]:
    return lines(2, 7, "24", flags, "162;1", count)


def played(*parts: list[bytes]) -> Played:
    wheel = Lines([line for part in parts for line in part])
    return HeadTable(wheel, cammegh(SLINGSHOT), CHEF, confirms=True).play()


def kinds(outcome: Played) -> list[str]:
    """Of the notices; people who press a button again and again are told each time that it is refused."""
    return [one["notice"] for one in outcome.of("notice") if one["notice"] != "refused"]


@pytest.mark.parametrize("count", [12, 51, 59, 137, 455])
def test_a_misfire_of_any_length_is_one_notice_and_the_coup_stands(count: int) -> None:
    """6 to 227 s: as many lines as real wheels sent."""
    outcome = played(waits(4), waits(12, flags=2), waits(count, flags=8), run_to("15"))
    assert (kinds(outcome), outcome.results, outcome.of("void")) == (["launch_awaited"], [15], [])
    assert {table["state"] for table in outcome.of("table")} >= {"faites_vos_jeux", "ball_running"}


def test_two_misfires_with_a_try_between_are_two_notices() -> None:
    outcome = played(waits(4), waits(12, flags=8), waits(20), waits(12, flags=8), run_to("15"))
    assert (kinds(outcome), outcome.results) == (["launch_awaited"] * 2, [15])


def test_a_wheel_that_gives_up_and_is_started_again_leads_on() -> None:
    """2 to 6 stands eight times in one real log: a person starts the wheel and resumes play."""
    stopped = lines(6, 7, "24", 0, "000;1", 20)
    started = lines(1, 7, "24", 0, "150;1", 6)
    outcome = played(waits(4), waits(60, flags=8), stopped, started, waits(10), run_to("15"))
    assert (kinds(outcome), outcome.of("void")) == (["launch_awaited", "wheel_stopped"], [])
    assert outcome.results == [15]
    states = [(table["state"], table["waiting_codes"][0]) for table in outcome.of("table")]
    assert ("suspended", "start_wheel") in states


def test_a_fault_after_which_the_wheel_stops_is_a_fault_first() -> None:
    """Flag 4 in state 4 for 30 s, then state 6 with the flag still standing."""
    running = [*lines(3, 7, "24", 0, "178;1", 5), *lines(4, 7, "24", 0, "181;1", 10)]
    broken = [*lines(4, 7, "24", 4, "181;1", 60), *lines(6, 7, "24", 4, "000;1", 10)]
    mended = [*lines(6, 7, "24", 0, "000;1", 6), *lines(1, 7, "24", 0, "150;1", 6), *waits(10), *run_to("15")]
    outcome = played(waits(4), running, broken, mended)
    assert [one["cause"] for one in outcome.of("void")] == ["breakdown"]
    waited = [table["waiting_codes"] for table in outcome.of("table") if table["state"] == "suspended"]
    assert waited[0] == ["repair", "ball_at_rest", "resume"]
    assert ["repair", "start_wheel", "resume"] in waited
    assert ["start_wheel", "resume"] in waited
    assert outcome.results == [15]
