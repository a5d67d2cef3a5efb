"""How the object sensor stands (docs/rulebook.md 7): told, not remembered. Unknown is neither yes nor no."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, START_UTC_US, Evening
from tests.core.table_in_state import table_in
from wheeld.core.observations import CommandName, Level, Restarted
from wheeld.replay import check_line, replay

TELLING = msgspec.structs.replace(FRENCH, levels=True)
LATER_UTC_US = START_UTC_US + 3_600_000_000
NO_COUP = [
    "closed",
    "faites_vos_jeux",
    "bets closed before the launch",
    "operations",
    "rien_va",
    "rien_va, operations owed",
    "suspended",
]


WATCHED_S = 2.0
"""After a gap a launch counts when the wheel was watched for longer than a ball that runs could hide."""


def told(evening: Evening, *, present: bool) -> Evening:
    """The object sensor tells how it stands."""
    evening.observe(Level(evening.now_us, "object", present))
    return evening


def again(before: Evening) -> Evening:
    """The daemon starts again; a sighting or two of the lying ball are over."""
    after = Evening(TELLING, memory=before.memory, started_utc_us=LATER_UTC_US)
    after.lying = before.lying
    return after


def codes(evening: Evening) -> list[str]:
    codes: list[str] = evening.last("table").payload["waiting_codes"]
    return codes


@pytest.mark.parametrize("state", NO_COUP)
def test_after_a_restart_it_is_unknown_until_it_is_told(state: str) -> None:
    after = again(table_in(state))
    assert "object_level" in codes(after)
    assert "report of the object sensor, whether the cylinder is clear" in after.last("table").payload["waiting_for"]
    told(after, present=False)
    assert "object_level" not in codes(after)


@pytest.mark.parametrize("state", NO_COUP)
def test_an_object_that_came_while_nobody_looked_is_there(state: str) -> None:
    after = told(again(table_in(state)), present=True)
    assert "object_level" not in codes(after)
    if state in ("closed", "suspended"):
        after.say("open" if state == "closed" else "resume")
    assert "clear_object" in codes(after)
    after.drop(present=False)
    assert "clear_object" not in codes(after)


@pytest.mark.parametrize("clear_first", [True, False])
def test_a_launch_over_an_object_that_came_while_nobody_looked_is_void(*, clear_first: bool) -> None:
    after = told(again(table_in("faites_vos_jeux")), present=True)
    if clear_first:
        after.drop(present=False)
        assert after.coup(8)["number"] == 8
        return
    after.run()
    after.fall(8)
    assert after.verdicts() == [("void", "foreign_object")]


def test_an_object_that_was_taken_out_while_nobody_looked_is_gone() -> None:
    before = table_in("operations")
    before.drop()
    assert not before.say("operations_done").done
    after = told(again(before), present=False)
    assert after.say("operations_done").done
    assert after.coup(30)["number"] == 30


# --- a launch while it is unknown -------------------------------------------------------------------------------------


def test_a_launch_meets_what_is_told_first_after_it() -> None:
    """Its changes would have been told: so it has stood since the gap."""
    clear, there = again(table_in("faites_vos_jeux")), again(table_in("faites_vos_jeux"))
    for evening in (clear, there):
        evening.run()
        assert evening.verdicts() == []
        told(evening, present=evening is there)
        evening.fall(8)
    assert clear.verdicts() == [("result", 8)]
    assert there.verdicts() == [("void", "foreign_object")]


def test_a_coup_of_which_it_is_never_told_is_no_result_and_the_table_names_the_way_on() -> None:
    evening = again(table_in("faites_vos_jeux"))
    evening.run()
    evening.fall(8)
    assert evening.verdicts() == [("void", "breakdown")]
    assert codes(evening) == ["object_level", "resume"]
    told(evening, present=False)
    assert codes(evening) == ["resume"]
    assert evening.say("resume", by="direction").done
    evening.put_back()
    assert evening.say("tout_va").done
    assert evening.coup(30)["number"] == 30


def test_the_first_word_of_a_change_tells_it_too() -> None:
    evening = again(table_in("faites_vos_jeux"))
    evening.run()
    evening.drop(present=False)  # so it was in before
    evening.fall(8)
    assert evening.verdicts() == [("void", "foreign_object")]
    evening = again(table_in("faites_vos_jeux"))
    evening.drop()  # so it was clear before
    assert codes(evening) == ["clear_object", "launch"]


# --- what people say meanwhile ----------------------------------------------------------------------------------------

WORDS: list[tuple[str, CommandName]] = [
    ("closed", "open"),
    ("suspended", "resume"),
    ("operations", "operations_done"),
    ("rien_va", "tout_va"),
]


@pytest.mark.parametrize(("state", "word"), WORDS)
def test_a_word_waits_for_it(state: str, word: CommandName) -> None:
    evening = again(table_in(state))
    evening.wait(1)
    evening.put_back()
    said = len(evening.replies)
    evening.ask(word)
    evening.wait(1)
    assert len(evening.replies) == said
    told(evening, present=False)
    assert [reply.done for reply in evening.replies[said:]] == [True]
    assert evening.state == "faites_vos_jeux"


@pytest.mark.parametrize(("state", "word"), WORDS)
def test_a_word_is_refused_when_nothing_is_told(state: str, word: CommandName) -> None:
    evening = again(table_in(state))
    evening.put_back()
    before = evening.state
    reply = evening.say(word)
    assert (reply.done, evening.state) == (False, before)
    assert "the object sensor has not reported yet whether the cylinder is clear" in reply.why


def test_the_direction_need_not_wait() -> None:
    evening = again(table_in("suspended"))
    evening.ask("resume")
    assert evening.say("close", by="direction").done
    assert evening.state == "closed"


# --- a gap in play ----------------------------------------------------------------------------------------------------


def test_after_a_lost_line_it_is_unknown_until_it_is_told() -> None:
    evening = told(Evening(TELLING), present=False).open()
    evening.sensor("link", ok=False)
    assert codes(evening) == ["repair", "resume"]
    evening.sensor("link", ok=True)
    assert codes(evening) == ["object_level", "resume"]
    told(evening, present=True)
    assert evening.say("resume").done
    assert codes(evening) == ["clear_object", "launch"]
    evening.drop(present=False)
    evening.wait(WATCHED_S)
    assert evening.coup(8)["number"] == 8


@pytest.mark.parametrize("name", ["link", "object"])
def test_a_fault_in_a_coup_still_voids_it_as_a_breakdown(name: str) -> None:
    evening = told(Evening(TELLING), present=False).open()
    evening.launch()
    evening.wait(2)
    evening.sensor(name, ok=False)
    assert evening.verdicts() == [("void", "breakdown")]


def test_an_object_sensor_that_fails_is_unknown_and_the_chefs_word_serves() -> None:
    evening = told(Evening(TELLING), present=False).open()
    evening.sensor("object", ok=False)
    refused = evening.say("resume")
    assert not refused.done
    assert "the object sensor has not reported" not in refused.why  # it fails, which is said
    assert evening.say("resume", by="Rossi", reason="I see that it is clear", without=("object",)).done
    assert evening.notices().count("chefs_word") == 1
    evening.sensor("link", ok=False)
    evening.sensor("link", ok=True)
    assert evening.say("resume", by="Rossi").done  # still left out: he looks
    evening.wait(WATCHED_S)
    assert evening.coup(8)["without"] == ["object"]
    evening.sensor("object", ok=True)
    evening.say("suspend")
    told(evening, present=False)
    assert evening.say("resume").done
    assert evening.last("table").payload["without"] == []


def test_a_sensor_that_works_again_tells_before_it_counts() -> None:
    evening = told(Evening(TELLING), present=False).open()
    evening.sensor("object", ok=False)
    evening.sensor("object", ok=True)
    assert codes(evening) == ["object_level", "resume"]
    assert not evening.say("resume").done
    told(evening, present=False)
    assert evening.say("resume").done


# --- who tells --------------------------------------------------------------------------------------------------------


def test_a_table_without_an_object_sensor_has_the_chefs_word_only() -> None:
    setting = msgspec.structs.replace(TELLING, object_sensor=False)
    evening = Evening(setting).open()
    evening.sensor("link", ok=False)
    evening.sensor("link", ok=True)
    assert codes(evening) == ["resume"]
    assert evening.say("resume").done
    evening.wait(WATCHED_S)
    assert evening.coup(8)["number"] == 8


def test_levels_of_other_sensors_decide_nothing() -> None:
    evening = told(Evening(TELLING), present=False).open()
    published = len(evening.published)
    for sensor in ("beam/2", "reader/0", "button/rien_va"):
        for active in (True, False):
            evening.observe(Level(evening.now_us, sensor, active))
    assert len(evening.published) == published
    assert evening.coup(8)["number"] == 8


@pytest.mark.parametrize("sensor", ["object", "beam/3", "reader/2", "button/rien_va"])
def test_a_log_has_levels_of_what_there_is(sensor: str) -> None:
    check_line(Level(0, sensor, active=True), FRENCH, last_us=0)


@pytest.mark.parametrize("sensor", ["beam/4", "reader/3", "button/bell", "rotor", "link", "door/1"])
def test_a_log_has_no_other_levels(sensor: str) -> None:
    with pytest.raises(ValueError, match=r"sensor|level"):
        check_line(Level(0, sensor, active=True), FRENCH, last_us=0)


def test_a_level_that_comes_late_holds_from_now() -> None:
    evening = again(table_in("operations"))
    evening.wait(1)
    evening.observe(Level(evening.now_us - 500_000, "object", active=True))
    assert "clear_object" in codes(evening)


def test_a_restart_line_in_a_log_makes_it_unknown() -> None:
    evening = told(Evening(TELLING), present=False).open()
    evening.observe(Restarted(evening.now_us))
    assert codes(evening) == ["object_level", "launch"]


def test_the_evidence_of_such_a_coup_replays_to_the_same_bytes() -> None:
    evening = again(table_in("faites_vos_jeux"))
    evening.run()
    told(evening, present=True)
    evening.fall(8)
    (log,) = evening.evidence
    replayed = [msgspec.json.decode(line)["payload"] for line in replay(log.log.splitlines())]
    published = [message.payload for message in evening.published]
    assert [payload for payload in replayed if payload["schema"] == "void/1"] == [
        payload for payload in published if payload["schema"] == "void/1"
    ]
