"""What voids at once, in each running state; what is owed or noticed, in each of the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.evening import Evening
from wheeld.core.observations import BallPass, CommandName, TimePassed

STATES = [
    "closed",
    "faites_vos_jeux",
    "bets closed early",
    "ball_running",
    "rien_ne_va_plus",
    "ball_on_obstacle",
    "operations",
    "rien_va",
    "rien_va, operations owed",
    "suspended",
]
RUNNING = ["ball_running", "rien_ne_va_plus", "ball_on_obstacle"]
NO_COUP = [state for state in STATES if state not in RUNNING]


def stand(state: str) -> Evening:
    """A table in `state`."""
    evening = Evening()
    evening.wait(2)
    if state == "closed":
        return evening
    evening.say("open")
    match state:
        case "bets closed early":
            evening.say("rien_ne_va_plus")
        case "ball_running" | "rien_ne_va_plus":
            evening.launch(laps=12)
            evening.wait(2)
            if state == "rien_ne_va_plus":
                evening.say(state)
        case "ball_on_obstacle":
            evening.run()
            evening.wait(20)
        case "operations":
            evening.coup(8)
        case "rien_va":
            evening.void_by_chef()
        case "rien_va, operations owed":
            evening.coup(8)
            evening.launch(laps=5)
            evening.wait(1.5)
            evening._planned.clear()
            evening.put_back()
        case "suspended":
            evening.say("suspend")
    assert evening.state in (state, "rien_ne_va_plus", "rien_va")
    return evening


def reverse(evening: Evening) -> None:
    evening.turn(10, "cw" if evening.way == "ccw" else "ccw")
    evening.wait(1)


def stop(evening: Evening) -> None:
    evening.turn(0)
    evening.wait(2)


def drop(evening: Evening) -> None:
    evening.drop()


def fail(evening: Evening) -> None:
    evening.sensor("object", ok=False)


def say(name: CommandName) -> Callable[[Evening], None]:
    def give_command(evening: Evening) -> None:
        assert evening.say(name, by="direction").done

    return give_command


@pytest.mark.parametrize("state", RUNNING)
@pytest.mark.parametrize(
    ("happens", "causes", "after"),
    [
        (drop, {"foreign_object"}, "rien_va"),
        (fail, {"breakdown"}, "suspended"),
        (say("rien_va"), {"chef"}, "rien_va"),
        (say("suspend"), {"breakdown"}, "suspended"),
        (say("close"), {"breakdown"}, "closed"),
        (stop, {"rotor_stopped_running", "rotor_stopped_before_drop"}, "rien_va"),
        (reverse, {"rotor_stopped_running", "rotor_stopped_before_drop"}, "rien_va"),
    ],
    ids=["object", "sensor", "chef", "suspend", "close", "stop", "reverse"],
)
def test_every_running_state_is_voided_once_and_left(
    state: str, happens: Callable[[Evening], None], causes: set[str], after: str
) -> None:
    evening = stand(state)
    assert evening.verdicts() == []
    happens(evening)
    ((topic, cause),) = evening.verdicts()
    assert topic == "void"
    assert cause in causes
    if len(causes) > 1:
        assert cause == ("rotor_stopped_before_drop" if state == "ball_on_obstacle" else "rotor_stopped_running")
    assert evening.state == after
    evening._planned.clear()
    evening.turn(20)
    evening.fall(30)
    evening.wait(5)
    assert len(evening.verdicts()) == 1


@pytest.mark.parametrize("state", NO_COUP)
@pytest.mark.parametrize("happens", [drop, stop, reverse], ids=["object", "stop", "reverse"])
def test_where_no_coup_runs_neither_object_nor_rotor_voids(state: str, happens: Callable[[Evening], None]) -> None:
    """N4 is armed from launch to drop only (A7); an object between coups only makes the next one wait (N6)."""
    evening = stand(state)
    verdicts, before = evening.verdicts(), evening.state
    happens(evening)
    assert evening.verdicts() == verdicts
    assert evening.state == before
    assert ("foreign_object" in evening.notices()) == (happens is drop)


@pytest.mark.parametrize("state", [state for state in NO_COUP if state != "suspended"])
def test_a_sensor_fault_suspends_any_table_without_a_void(state: str) -> None:
    evening = stand(state)
    verdicts, before = evening.verdicts(), evening.state
    fail(evening)
    assert evening.verdicts() == verdicts
    assert evening.state == "suspended"
    evening.sensor("object", ok=True)
    assert evening.say("resume").done
    assert evening.state == before


@pytest.mark.parametrize("state", STATES)
def test_the_boulers_change_is_recorded_and_noticed_when_due_in_every_state(state: str) -> None:
    evening = stand(state)
    before = (evening.state, evening.verdicts())
    assert evening.say("bouler", who="Bianchi").done
    assert (evening.state, evening.verdicts()) == before
    assert evening.of("table")[-1]["bouler"] == "Bianchi"
    evening.observe(TimePassed(evening.now_us + 1_800_000_001))
    due = [] if state == "closed" else ["bouler_change_due"]
    assert [notice for notice in evening.notices() if notice.startswith("bouler")] == ["bouler", *due]


@pytest.mark.parametrize("state", STATES)
def test_la_derniere_may_be_announced_wherever_a_table_is_open(state: str) -> None:
    evening = stand(state)
    before = (evening.state, evening.verdicts())
    assert evening.say("last_coup", reason="the hour").done == (state != "closed")
    assert (evening.state, evening.verdicts()) == before
    which = {"closed": None, "faites_vos_jeux": "this", "bets closed early": "this", "suspended": "this"}
    assert evening.of("table")[-1]["last_coup"] == evening.of("board")[-1]["last_coup"] == which.get(state, "next")
    if state != "closed":
        (notice,) = [notice for notice in evening.of("notice") if notice["notice"] == "last_coup"]
        assert (notice["by"], notice["reason"]) == ("chef", "the hour")


@pytest.mark.parametrize("state", RUNNING)
def test_la_derniere_announced_while_the_ball_runs_is_the_coup_after(state: str) -> None:
    evening = stand(state)
    evening.say("last_coup")
    if evening._planned:
        evening.until(max(seen.t_us for seen in evening._planned))
    evening.fall(30)
    assert evening.verdicts() == [("result", 30)]
    assert evening.of("board")[-1]["last_coup"] == "next"
    assert evening.say("operations_done").done
    assert (evening.state, evening.of("board")[-1]["last_coup"]) == ("faites_vos_jeux", "this")
    evening.coup(4)
    assert evening.of("board")[-1]["last_coup"] == "played"
    assert evening.say("operations_done").done
    assert evening.state == "closed"


@pytest.mark.parametrize("state", STATES)
def test_la_derniere_can_be_taken_back_wherever_it_stands(state: str) -> None:
    evening = stand(state)
    before = (evening.state, evening.verdicts())
    evening.say("last_coup")
    assert evening.say("last_coup_off").done
    assert (evening.state, evening.verdicts()) == before
    assert evening.of("table")[-1]["last_coup"] is None
    assert evening.of("board")[-1]["last_coup"] is None
    assert ("last_coup_off" in evening.notices()) == (state != "closed")
    count = len(evening.published)
    assert "so already" in evening.say("last_coup_off").why
    assert evening.published[count:] == []


@pytest.mark.parametrize(
    ("state", "cause", "after"),
    [
        ("operations", "early_launch", "rien_va"),
        ("rien_va", "early_launch", "rien_va"),
        ("rien_va, operations owed", "early_launch", "rien_va"),
        ("faites_vos_jeux", "foreign_object", "rien_va"),
        ("bets closed early", "foreign_object", "rien_va"),
        ("closed", None, "closed"),
        ("suspended", None, "suspended"),
    ],
)
def test_a_launch_over_an_object_is_void_for_the_first_reason_that_stands(
    state: str, cause: str | None, after: str
) -> None:
    evening = stand(state)
    before = evening.verdicts()
    evening.drop()
    evening.launch()
    evening.wait(1.5)
    assert evening.verdicts()[len(before) :] == ([] if cause is None else [("void", cause)])
    assert evening.state == after


@pytest.mark.parametrize("state", ["faites_vos_jeux", "bets closed early"])
def test_same_direction_and_short_runs_are_void_also_after_rien_ne_va_plus(state: str) -> None:
    evening = stand(state)
    evening.launch(evening.way)
    evening.wait(1)
    assert evening.verdicts() == [("void", "same_direction")]

    evening = stand(state)
    evening.run(laps=2, rev_s=0.9)
    evening.wait(3)
    assert evening.verdicts() == [("void", "too_few_laps")]


@pytest.mark.parametrize("state", ["closed", "suspended", "operations", "rien_va", "rien_va, operations owed"])
def test_a_ball_moved_by_hand_never_voids_where_no_coup_can_run(state: str) -> None:
    evening = stand(state)
    evening.wait(4)
    before = (evening.state, evening.verdicts())
    evening.lying = None
    evening.wait(4)
    evening.lying = 30
    evening.wait(5)
    assert (evening.state, evening.verdicts()) == before


@pytest.mark.parametrize("sightings", [1, 3])
def test_a_bounce_in_the_old_pocket_does_not_hide_a_weak_push(sightings: int) -> None:
    """One sighting where the ball lay may be the bounce of a ball that ran; several are a ball that did not."""
    evening = stand("faites_vos_jeux")
    evening.lying = None
    evening.plan(BallPass(evening.now_us + 300_000, 2))
    evening.wait(1)
    evening.lying = 17
    evening.wait(sightings)  # three readers, 20 turns a minute: one sighting a second
    evening.lying = 9
    evening.wait(8)
    moved = sightings > 1
    assert evening.verdicts() == ([] if moved else [("void", "too_few_laps")])
    assert ("unobserved_coup" in evening.notices()) == moved
