"""docs/rulebook.md 6: a failing sensor that the rest can do without may be left out by `resume`."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, START_UTC_US, Evening
from tests.core.head_evening import COMBINED, HeadEvening
from wheeld.core.instants import to_text
from wheeld.core.observations import BallPass, Observation, Sighting
from wheeld.core.setting import TableSetting
from wheeld.core.step import Step
from wheeld.core.tracking.sight import sensor_of
from wheeld.replay import replay

THREE_BEAMS = msgspec.structs.replace(FRENCH, beams_deg=(0, 120, 240))
ONE_READER = msgspec.structs.replace(FRENCH, readers_deg=(30,))
WHY = "the technician comes tomorrow"


class Blind(Evening):
    """A wheel some of whose sensors are dead: they see nothing."""

    dead: tuple[str, ...] = ()

    def observe(self, seen: Observation) -> Step:
        return Step() if sensor_of(seen) in self.dead else super().observe(seen)

    def fall(self, number: int) -> None:
        """One reader that is left needs up to three turns, 9 s, for three sightings."""
        super().fall(number)
        self.wait(5)


def suspended(*failing: str, setting: TableSetting = FRENCH) -> Blind:
    """A table that is suspended because these sensors fail."""
    evening = Blind(setting)
    evening.open()
    for sensor in failing:
        evening.sensor(sensor, ok=False)
    evening.dead = failing
    assert evening.state == "suspended"
    return evening


def resumed(*failing: str, setting: TableSetting = FRENCH) -> Blind:
    evening = suspended(*failing, setting=setting)
    assert evening.say("resume", by="Rossi", reason=WHY, without=failing).done
    assert evening.state == "faites_vos_jeux"
    return evening


# --- what may be left out ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failing", [("beam/2",), ("reader/1",), ("reader/0", "reader/2"), ("object",), ("beam/0", "object")]
)
def test_the_evening_goes_on_without_a_sensor_that_the_rest_can_do_without(failing: tuple[str, ...]) -> None:
    evening = resumed(*failing)
    table = evening.last("table").payload
    assert table["without"] == list(failing)
    result = evening.coup(8)
    assert (result["number"], result["without"]) == (8, list(failing))
    assert evening.say("operations_done").done
    assert evening.coup(30)["number"] == 30


def test_which_sensors_fail_is_published_in_codes_that_resume_takes() -> None:
    evening = suspended("beam/2", "reader/1")
    assert evening.last("table").payload["failing"] == ["beam/2", "reader/1"]
    assert evening.say("resume", reason=WHY, without=tuple(evening.last("table").payload["failing"])).done
    assert evening.last("table").payload["failing"] == []


def test_who_left_it_out_and_why_is_published() -> None:
    evening = resumed("beam/2")
    notice = evening.of("notice")[-1]
    assert (notice["notice"], notice["by"], notice["reason"]) == ("sensors_left_out", "Rossi", WHY)
    assert notice["figures"] == {"without": "beam/2", "used_again": ""}
    assert notice["text"] == "play goes on without these sensors, and what only they could prove is not proven: beam 3"


NOTHING_ELSE = "nothing else reports what this sensor reports: "


@pytest.mark.parametrize(
    ("setting", "failing", "without", "why"),
    [
        (FRENCH, ("beam/2",), (), "these fail, and play can go on without them: beam 3"),
        (FRENCH, ("beam/2", "reader/1"), ("beam/2",), "these fail, and play can go on without them: reader 2"),
        (FRENCH, ("beam/2", "beam/3"), ("beam/2", "beam/3"), "2 beams would remain, but the table needs 3 to go on"),
        (FRENCH, ("beam/2", "beam/3"), ("beam/2",), "2 beams would remain, but the table needs 3 to go on"),
        (FRENCH, ("beam/2",), ("beam/2", "beam/1"), "only sensors that fail may be left out; these work: beam 2"),
        (FRENCH, ("object",), ("object", "beam/9"), "this table has no such sensor: beam/9"),
        (FRENCH, ("rotor",), ("rotor",), NOTHING_ELSE + "the rotor's sensor"),
        (FRENCH, ("rotor", "object"), ("object",), NOTHING_ELSE + "the rotor's sensor"),
        (FRENCH, ("link",), ("link",), NOTHING_ELSE + "the line to the sensors"),
        (THREE_BEAMS, ("beam/0",), ("beam/0",), "2 beams would remain, but the table needs 3 to go on"),
        (ONE_READER, ("reader/0",), ("reader/0",), "the table cannot go on without any of these: reader 1"),
    ],
)
def test_a_resume_that_leaves_too_little_is_refused_in_words(
    setting: TableSetting, failing: tuple[str, ...], without: tuple[str, ...], why: str
) -> None:
    evening = suspended(*failing, setting=setting)
    refused = evening.say("resume", reason=WHY, without=without)
    assert not refused.done
    assert why in refused.why
    assert "a sensor fails, or a needed sensor is left out: no coup could be observed fully" in refused.why
    assert (evening.state, evening.last("table").payload["without"]) == ("suspended", [])


def test_a_head_without_readers_does_without_a_beam_too() -> None:
    evening = HeadEvening(COMBINED).ready()
    evening.sensor("beam/1", ok=False)
    assert not evening.say("resume", without=("head",)).done
    assert evening.say("resume", without=("beam/1",)).done
    evening._planned = []
    evening.plan(*(seen for seen in evening.launch(laps=8) if seen.beam != 1))
    assert evening.last("table").payload["without"] == ["beam/1"]


def test_a_table_that_is_closed_with_a_failing_sensor_opens_without_it() -> None:
    evening = Evening()
    evening.wait(2)
    evening.sensor("beam/1", ok=False)
    evening.say("close")
    assert evening.last("table").payload["waiting_for"] == "repair beam 2, then opening of the table"
    refused = evening.say("open")
    assert not refused.done
    assert "these fail, and play can go on without them: beam 2" in refused.why
    assert evening.say("open", reason=WHY, without=("beam/1",)).done
    table = evening.last("table").payload
    assert (table["state"], table["without"]) == ("faites_vos_jeux", ["beam/1"])


# --- what it means to be left out -------------------------------------------------------------------------------------


def test_what_a_left_out_sensor_reports_counts_for_nothing() -> None:
    """A beam that flickers, a reader that sees a glint everywhere."""
    evening = resumed("beam/2", "reader/1")
    evening.dead = ()
    strays = [BallPass(evening.now_us + k * 130_000, 2) for k in range(1, 160)]
    evening.plan(*strays, *(Sighting(stray.t_us + 1, 1) for stray in strays))
    assert evening.coup(8)["number"] == 8
    assert [*evening.table.counters.values()] == [0, 0, 0, 0]


def test_a_launch_counts_from_its_first_pass_though_another_beam_misses_the_ball_beside_a_left_out_one() -> None:
    """Of a reading that is not sure yet one beam may miss the ball; one that is left out is none that missed it."""
    evening = resumed("beam/2")
    passes = [seen for seen in evening.launch(laps=10) if seen.beam != 2]
    assert [seen.beam for seen in passes[:4]] == [1, 3, 0, 1]
    evening._planned.remove(passes[1])
    evening.until(passes[-1].t_us)
    evening.fall(9)
    assert evening.of("result")[0]["launched_at"] == to_text(START_UTC_US + passes[0].t_us)


@pytest.mark.parametrize("beam", range(4))
def test_the_ball_is_followed_past_the_place_of_a_left_out_beam(beam: int) -> None:
    """No pass of it is awaited: one more beam may miss the ball, as at a table that never had it."""
    evening = resumed(f"beam/{beam}")
    passes = [seen for seen in evening.launch(laps=10) if seen.beam != beam]
    evening._planned.remove(passes[9])
    evening.until(passes[-1].t_us)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


def test_fewer_laps_are_proven_without_a_beam() -> None:
    whole = Evening().open()
    assert resumed("beam/1").coup(8)["laps"] < whole.coup(8)["laps"]


def test_readers_that_are_left_wait_for_the_ball_as_long_as_their_widest_gap_asks() -> None:
    """N5: readers at 30 and 150 degrees leave a gap of 240."""
    due_us = []
    for evening in (Evening().open(), resumed("reader/2")):
        evening.run()
        evening.wait(2.5)
        fall_us = evening.observer.pocket.fall_due_us(evening.observer.run.last_us or 0)
        due_us.append(fall_us - evening.now_us)
    assert due_us[1] - due_us[0] == pytest.approx(1.5 * 1e6, rel=0.01)


def test_a_fault_of_a_left_out_sensor_stops_nothing() -> None:
    evening = resumed("beam/2")
    evening.sensor("beam/2", ok=True)
    evening.launch()
    evening.wait(1)
    evening.sensor("beam/2", ok=False)
    assert (evening.state, evening.verdicts()) == ("ball_running", [])


def test_another_sensor_that_fails_suspends_the_table_again() -> None:
    evening = resumed("beam/2")
    evening.sensor("reader/0", ok=False)
    assert evening.last("table").payload["waiting_for"].startswith("repair reader 1,")
    assert evening.say("resume", without=("reader/0",)).done
    assert evening.last("table").payload["without"] == ["beam/2", "reader/0"]


# --- until it works again, and a person says so -----------------------------------------------------------------------


def test_it_is_used_again_when_it_works_and_a_person_resumes() -> None:
    evening = resumed("beam/2")
    evening.sensor("beam/2", ok=True)
    assert evening.notices()[-1] == "sensor_works_again"
    assert evening.last("table").payload["without"] == ["beam/2"]
    evening.dead = ()
    evening.say("suspend")
    assert evening.say("resume", by="button").done
    assert evening.last("table").payload["without"] == []
    notice = evening.of("notice")[-1]
    assert (notice["text"], notice["figures"]) == (
        "every sensor is used again",
        {"without": "", "used_again": "beam/2"},
    )
    assert evening.coup(8)["without"] == []


def test_a_button_leaves_out_what_was_left_out_and_still_fails() -> None:
    evening = resumed("beam/2")
    evening.say("suspend")
    assert evening.say("resume", by="button").done
    assert evening.last("table").payload["without"] == ["beam/2"]


def test_opening_the_table_uses_it_again_too() -> None:
    evening = resumed("beam/2")
    evening.say("close")
    evening.sensor("beam/2", ok=True)
    evening.say("open")
    assert evening.last("table").payload["without"] == []


# --- the object sensor, by the chef's eyes ----------------------------------------------------------------------------


@pytest.mark.parametrize("stuck", [True, False])
def test_without_the_object_sensor_the_chefs_word_serves(*, stuck: bool) -> None:
    """N6: stuck it reports an object for ever, or its self-test fails."""
    evening = Evening().open()
    evening.coup(8)
    if stuck:
        evening.drop()
        assert not evening.say("operations_done").done
        evening.say("suspend")
    else:
        evening.sensor("object", ok=False)
    assert evening.say("resume", by="Rossi", reason="I see that it is clear", without=("object",)).done
    (word,) = [notice for notice in evening.of("notice") if notice["notice"] == "chefs_word"]
    assert (word["by"], word["reason"]) == ("Rossi", "I see that it is clear")
    assert word["text"] == "no sensor sees whether the cylinder is clear: the person's word counts"
    assert "foreign object" not in evening.last("table").payload["waiting_for"]
    evening.drop(present=False)
    evening.drop()
    assert evening.say("operations_done").done
    assert evening.coup(30)["without"] == ["object"]
    assert evening.notices().count("chefs_word") == 1


def test_a_stuck_object_sensor_counts_again_once_it_shows_a_clear_cylinder() -> None:
    evening = Evening().open()
    evening.drop()
    evening.say("suspend")
    evening.say("resume", without=("object",))
    evening.say("suspend")
    assert evening.say("resume").done
    assert evening.last("table").payload["without"] == ["object"]
    evening.drop(present=False)
    evening.say("suspend")
    assert evening.say("resume").done
    assert evening.last("table").payload["without"] == []
    evening.drop()
    assert "foreign object" in evening.last("table").payload["waiting_for"]


# --- a restart, and a replay ------------------------------------------------------------------------------------------


def test_it_outlasts_a_restart() -> None:
    evening = resumed("beam/2")
    again = Blind(memory=evening.memory)
    again.dead = ("beam/2",)
    again.sensor("beam/2", ok=False)
    assert again.state == "faites_vos_jeux"
    assert again.coup(8)["without"] == ["beam/2"]


@pytest.mark.parametrize("beams_deg", [(0, 90), (0, 90, 180)])
def test_after_a_restart_with_another_wheel_the_rest_must_do_without_it_still(beams_deg: tuple[float, ...]) -> None:
    evening = resumed("beam/1")
    setting = msgspec.structs.replace(FRENCH, beams_deg=beams_deg)
    again = Evening(setting, memory=evening.memory)
    assert again.observer.left_out == ()
    assert again.last("table").payload["without"] == []


def test_its_stored_coup_replays_to_the_same_bytes() -> None:
    evening = resumed("beam/2", "object")
    evening.coup(8)
    published = [message.payload for message in evening.published if message.payload.get("coup") == 1]
    (log,) = evening.evidence
    replayed = [msgspec.json.decode(line)["payload"] for line in replay(log.log.splitlines())]
    assert replayed[-1] == published[-1]
    assert next(payload for payload in replayed if payload["schema"] == "result/1")["without"] == ["beam/2", "object"]
