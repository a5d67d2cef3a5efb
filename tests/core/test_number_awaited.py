"""A number that awaits the chef goes on awaiting him, whatever happens meanwhile (docs/rulebook.md N8, R3b, section 6).

Three tables: a SlingShot 2 alone, the same beside beams, and readers of our own. Everything that can happen while the
number awaits the chef happens at each; then he confirms it, gives another, or says rien va, before a restart or after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec
import pytest

from tests.core.evening import FALL_S, FRENCH, START_UTC_US, Evening
from tests.core.head_evening import CHEF, COMBINED, HeadEvening
from wheeld.core.observations import PLACE
from wheeld.replay import replay

NUMBER, OTHER = 9, 33
BOTH = msgspec.structs.replace(COMBINED, unproven="chef")
READERS = msgspec.structs.replace(FRENCH, unproven="chef")
SHORT_LAPS = 3.2
"""As many passes as less than three proven laps: the chef answers for them."""
Happens: TypeAlias = Callable[[Evening], None]


def head_alone() -> Evening:
    evening = HeadEvening(CHEF).ready()
    evening.game(NUMBER, None)
    return evening


def head_beside_beams() -> Evening:
    evening = HeadEvening(BOTH).ready()
    passes = evening.launch(laps=SHORT_LAPS, rev_s=0.9)
    evening.until(passes[4].t_us)
    evening.report_phase("running")
    evening.until(passes[-1].t_us)
    evening.wait(FALL_S)
    evening.falls(NUMBER)
    return evening


def laps_by_readers() -> Evening:
    """R2: the readers have proven the pocket."""
    evening = Evening(READERS).open()
    evening.run(laps=SHORT_LAPS, rev_s=0.9)
    evening.fall(NUMBER)
    return evening


def rest_by_readers() -> Evening:
    """R3: a hand stopped the rotor after one sighting, and lets it go."""
    evening = Evening(READERS).open()
    evening.run()
    evening.wait(FALL_S)
    evening.lying = NUMBER
    while "number_seen" not in evening.notices():
        evening.wait(0.05)
    evening.turn(0)
    evening.wait(8)
    return evening


HEADS = (head_alone, head_beside_beams)
TABLES = (*HEADS, laps_by_readers, rest_by_readers)


def is_head(evening: Evening) -> bool:
    return evening.setting.head is not None


def restart(evening: Evening) -> Evening:
    """The daemon, again, from what it stored; the wheel has gone on."""
    later_us = START_UTC_US + evening.now_us
    kind = HeadEvening if isinstance(evening, HeadEvening) else Evening
    after = kind(evening.setting, memory=evening.memory, started_utc_us=later_us)
    after.lying, after.published = evening.lying, [*evening.published, *after.published]
    if not is_head(after):
        after.turn(20)
    return after


# --- what can happen --------------------------------------------------------------------------------------------------


def nothing(evening: Evening) -> None:
    evening.wait(120)


def a_fault_of_the_line(evening: Evening) -> None:
    evening.wait(1)
    evening.sensor("head" if is_head(evening) else "link", ok=False)


def a_fault_of_the_board(evening: Evening) -> None:
    """A reset: the line is lost, and comes back."""
    evening.sensor("link", ok=False)
    evening.wait(2)
    evening.sensor("link", ok=True)


def a_fault_of_a_sensor(evening: Evening) -> None:
    evening.sensor("head/sensors" if is_head(evening) else "rotor", ok=False)


def a_fault_of_a_reader(evening: Evening) -> None:
    evening.sensor("head/sensors" if is_head(evening) else "reader/0", ok=False)


def an_object(evening: Evening) -> None:
    evening.drop()
    evening.wait(1)
    evening.drop(present=False)


def a_rotor_that_stops(evening: Evening) -> None:
    if isinstance(evening, HeadEvening):
        for evening.rpm in (5.0, 0.0, 0.0, 0.0):
            evening.line()
        return
    evening.turn(0)
    evening.wait(5)


def the_ball_lies_there_still(evening: Evening) -> None:
    if not is_head(evening):
        evening.turn(20)
        evening.lying = NUMBER
    evening.wait(0.5)


def a_launch(evening: Evening) -> None:
    """10.5 s after the number at the fastest."""
    evening.wait(10.5)
    if not isinstance(evening, HeadEvening):
        evening.turn(20)
        evening.launch()
        evening.wait(6)
        return
    evening.spin += 1
    evening.report_phase("ready")
    if evening.setting.ball == "sensors":
        evening.launches_past_beams()
    else:
        evening.report_phase("running", 4)


def a_launch_that_nobody_saw_begin(evening: Evening) -> None:
    if not isinstance(evening, HeadEvening):
        a_launch(evening)
        return
    evening.report_phase("running", 4)


def a_launch_and_its_number(evening: Evening) -> None:
    a_launch(evening)
    if isinstance(evening, HeadEvening):
        evening.falls(OTHER)
    else:
        evening.until(max(seen.t_us for seen in evening._planned))
        evening.fall(OTHER)
    evening.wait(3)


def a_launch_that_comes_to_nothing(evening: Evening) -> None:
    """The wheel ends its next game without a number."""
    a_launch(evening)
    if isinstance(evening, HeadEvening):
        evening.warns("no_number", void=True)
        evening.report_phase("ready", 2)
    evening._planned.clear()
    evening.wait(3)


def a_game_that_nobody_received(evening: Evening) -> None:
    if isinstance(evening, HeadEvening):
        evening.jump(14)
        evening.number(OTHER)
    evening.wait(1)


def a_wheel_that_declares_its_game_void(evening: Evening) -> None:
    if is_head(evening):
        evening.warns("void_game", void=True)  # type: ignore[attr-defined]
    evening.wait(1)


def a_suspension(evening: Evening) -> None:
    assert evening.say("suspend", by="direction", reason="a quarrel").done
    assert evening.state == "suspended"
    assert evening.of("table")[-1]["waiting_codes"] == ["resume", "confirm"]
    refused = evening.say("confirm", coup=1, reason="seen by all")
    assert not refused.done
    assert refused.why.endswith("the number still awaits the chef: resume play or open the table before he answers")
    assert not evening.say("rien_va").done
    evening.wait(5)
    assert evening.say("resume").done


def a_suspension_and_a_fault(evening: Evening) -> None:
    assert evening.say("suspend").done
    a_fault_of_the_line(evening)
    evening.wait(5)
    assert evening.of("table")[-1]["waiting_codes"] == ["resume", "confirm"]
    assert evening.say("resume").done


def a_suspension_and_a_launch(evening: Evening) -> None:
    assert evening.say("suspend").done
    a_launch_and_its_number(evening)
    assert evening.say("resume").done


def an_end_of_play(evening: Evening) -> None:
    assert evening.say("close", by="direction", reason="four o'clock").done
    assert evening.state == "closed"
    assert evening.of("table")[-1]["waiting_codes"] == ["open", "confirm"]
    assert not evening.say("confirm", coup=1, reason="seen by all").done
    evening.wait(5)
    assert evening.say("open").done


def a_fault_at_a_closed_table(evening: Evening) -> None:
    assert evening.say("close").done
    a_fault_of_the_line(evening)
    evening.wait(5)
    assert evening.state == "suspended"
    assert evening.say("resume").done
    assert evening.state == "closed"
    assert evening.say("open").done


def an_end_of_a_suspended_play(evening: Evening) -> None:
    assert evening.say("suspend").done
    assert evening.say("close").done
    assert evening.say("open").done


FAILS = (
    a_fault_of_the_line,
    a_fault_of_a_sensor,
    a_fault_of_a_reader,
    a_suspension_and_a_fault,
    a_fault_at_a_closed_table,
)
"""What still fails when he answers."""
HAPPENINGS = (
    nothing,
    *FAILS,
    a_fault_of_the_board,
    an_object,
    a_rotor_that_stops,
    the_ball_lies_there_still,
    a_launch,
    a_launch_that_nobody_saw_begin,
    a_launch_and_its_number,
    a_launch_that_comes_to_nothing,
    a_game_that_nobody_received,
    a_wheel_that_declares_its_game_void,
    a_suspension,
    a_suspension_and_a_launch,
    an_end_of_play,
    an_end_of_a_suspended_play,
)


@pytest.mark.parametrize("happens", HAPPENINGS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("word", "restarted"),
    [("confirm", None), ("confirm", "before"), ("confirm", "after"), ("another", None), ("rien_va", None)],
)
def test_nothing_takes_it_from_him(
    table: Callable[[], Evening], happens: Happens, restarted: str | None, word: str
) -> None:
    evening = table()
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    if restarted == "before":
        evening = restart(evening)
    happens(evening)
    faulty = evening.observer.faults
    if restarted == "after":
        evening, faulty = restart(evening), ()
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert evening.of("table")[-1]["waiting_codes"] == ["confirm"]
    assert evening.of("board")[-1]["state"] == "awaiting_chef"
    verdict: tuple[str, object]
    match word:
        case "confirm":
            assert evening.say("confirm", coup=1, reason="seen by all").done
            verdict, after = ("result", NUMBER), "operations"
        case "another":
            assert evening.say("confirm", coup=1, reason="seen by all", number=OTHER).done
            verdict, after = ("result", OTHER), "operations"
            if PLACE in evening.observer.faults:  # readers see the ball lie elsewhere
                faulty = (*faulty, PLACE)
        case _:
            assert evening.say("rien_va").done
            verdict, after = ("void", "chef"), "rien_va"
    assert evening.verdicts() == [verdict]
    assert evening.state == ("suspended" if faulty else after)
    if not faulty:
        return
    for sensor in faulty:
        if sensor != PLACE:
            evening.sensor(sensor, ok=True)
    if PLACE in faulty:
        evening.turn(20)
        evening.wait(6)
    assert evening.say("resume", number=NUMBER if PLACE in faulty else None).done
    assert (evening.verdicts(), evening.state) == ([verdict], after)


@pytest.mark.parametrize("table", [laps_by_readers, rest_by_readers])
def test_a_ball_that_is_seen_in_another_pocket_leaves_it_to_him_which_number_counts(
    table: Callable[[], Evening],
) -> None:
    """R3b: a hand moved it, whichever rule he answers for."""
    evening = table()
    evening.lying = OTHER
    evening.turn(20)
    evening.wait(8)
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    assert evening.of("table")[-1]["waiting_for"].startswith("the number by the chef")
    assert not evening.say("confirm", coup=1, reason="seen by all").done
    assert evening.say("confirm", coup=1, reason="seen by all", number=NUMBER).done
    (result,) = evening.of("result")
    assert (result["number"], "R3" in result["unproven"]) == (NUMBER, True)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("happens", [a_fault_of_the_line, a_launch_and_its_number, a_suspension, an_end_of_play])
def test_the_log_of_its_coup_replays_to_the_same_bytes(table: Callable[[], Evening], happens: Happens) -> None:
    evening = table()
    happens(evening)
    assert evening.say("confirm", coup=1, reason="seen by all").done
    (log,) = evening.evidence
    result = evening.last("result").bytes
    assert sum(result in line for line in replay(log.log.splitlines())) == 1


@pytest.mark.parametrize("table", TABLES)
def test_la_derniere_is_announced_while_it_awaits_him_for_the_coup_to_come(table: Callable[[], Evening]) -> None:
    evening = table()
    assert evening.say("suspend").done
    assert evening.say("last_coup").done
    assert evening.of("table")[-1]["last_coup"] == "next"
    assert evening.say("resume").done
    assert evening.say("confirm", coup=1, reason="seen by all").done
    assert evening.say("operations_done").done
    assert evening.of("table")[-1]["last_coup"] == "this"
