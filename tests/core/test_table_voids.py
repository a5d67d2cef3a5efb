"""Each void cause N1–N8: its name, article, evidence, and by when docs/rulebook.md wants it published."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening, PublishedMessage, Way
from wheeld.core.facts import Case, Cause
from wheeld.core.observations import BallPass, Command

FAIR = msgspec.structs.replace(
    FRENCH, house="venezia", game="fair", wheel="fair", rotor_direction="cw", table="venezia-01"
)
HEARTBEAT_US = 100_000


def only_void(evening: Evening, cause: str) -> PublishedMessage:
    """The evening's single verdict; what every void message contains."""
    assert evening.verdicts() == [("void", cause)]
    void = evening.last("void")
    # Art. 15 lets the direction suspend play; no article says that such a coup is void
    assert void.payload["article"] == (None if cause == "breakdown" else "Art. 11")
    assert void.payload["rule"] == {each.value: each.rule for each in Cause}[cause]
    assert void.payload["laps_needed"] == evening.setting.min_laps
    assert void.payload["words"] == evening.setting.words
    assert void.payload["evidence_at"] <= void.payload["at"]
    assert void.payload["why"]
    return void


def later(evening: Evening, number: int = 9) -> None:
    """Whatever the ball does later, the coup stays void."""
    before = evening.verdicts()
    evening.until(max([evening.now_us, *(seen.t_us for seen in evening._planned)]))
    evening.turn(20, evening.way)
    evening.fall(number)
    evening.wait(10)
    assert evening.verdicts() == before


# --- what every void carries, by house ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"game": "fair", "wheel": "fair", "rotor_direction": "ccw"},
        {"house": "venezia", "game": "roulette-francese"},
        {"house": "venezia", "game": "fair", "wheel": "fair", "rotor_direction": "ccw"},
    ],
)
def test_where_no_article_is_numbered_a_void_carries_the_rule_and_the_custom(changes: dict[str, str]) -> None:
    """docs/rulebook.md 5: only Campione's roulette regulation numbers articles."""
    evening = Evening(msgspec.structs.replace(FRENCH, **changes)).open()
    evening.run("ccw")
    void = evening.last("void").payload
    assert (void["cause"], void["rule"], void["article"]) == ("same_direction", "N1", None)
    assert void["why"].startswith("N1; R1: the ball must run against the rotor; by custom, ")
    assert (void["house"], void["game"]) == (evening.setting.house, evening.setting.game)
    last_void = evening.of("board")[-1]["last_void"]
    assert (last_void["rule"], last_void["article"]) == ("N1", None)
    assert all("Art." not in str(message.payload) for message in evening.published)
    assert all("Art." not in reply.why for reply in evening.replies)


def test_the_house_chooses_the_words_of_a_void() -> None:
    """C11 has "rien va" and "nulla vale", and with each the words after which the game goes on."""
    evening = Evening(msgspec.structs.replace(FRENCH, void_words="nulla vale")).open()
    evening.void_by_chef()
    assert evening.last("void").payload["words"] == "nulla vale"
    assert evening.of("board")[-1]["last_void"]["words"] == "nulla vale"
    assert evening.of("table")[-1]["waiting_for"] == '"tutto vale", when you see the ball in its pocket'


# --- N1 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["cw", "ccw"])
@pytest.mark.parametrize("beams_deg", [(0, 100), (0, 90, 180, 270), tuple(45 * n for n in range(8))])
@pytest.mark.parametrize("rev_s", [0.8, 1.8, 2.4])
def test_n1_same_direction_is_published_by_the_pass_that_completes_the_first_lap(
    way: Way, beams_deg: tuple[float, ...], rev_s: float
) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, beams_deg=beams_deg), way=way).open()
    passes = evening.launch(way, rev_s=rev_s, laps=6)
    evening.until(passes[-1].t_us)
    void = only_void(evening, "same_direction")
    # Three passes of a ball slower than any launch that was ever recorded may be a stray's and two of another ball.
    is_slow_past_two = rev_s < 1 and len(beams_deg) == 2
    assert void.t_us <= passes[len(beams_deg) + is_slow_past_two].t_us
    assert void.payload["evidence"]["ball_direction"] == void.payload["evidence"]["rotor_direction"] == way
    assert evening.state == "rien_va"
    later(evening)


def test_n1_an_opposite_ball_is_void_for_no_direction() -> None:
    for way in ("cw", "ccw"):
        evening = Evening(way=way).open()
        evening.coup(9)
        assert evening.verdicts() == [("result", 9)]


# --- N2 -----------------------------------------------------------------------------------------------------------


def test_n2_a_launch_before_operations_are_done_is_void_and_both_are_owed() -> None:
    evening = Evening().open()
    evening.coup(22)
    passes = evening.launch(laps=6)
    evening.until(passes[5].t_us)
    assert evening.verdicts() == [("result", 22), ("void", "early_launch")]
    assert evening.last("void").payload["coup"] == 2
    assert evening.state == "rien_va"
    evening._planned.clear()
    evening.put_back()
    assert evening.say("tout_va").done
    assert evening.state == "operations"
    assert evening.say("operations_done").done
    assert evening.state == "faites_vos_jeux"


def test_n2_operations_may_be_done_before_tout_va() -> None:
    evening = Evening().open()
    evening.coup(22)
    evening.launch(laps=6)
    evening.wait(1.5)
    evening._planned.clear()
    assert evening.say("operations_done").done
    assert evening.state == "rien_va"
    evening.put_back()
    assert evening.say("tout_va").done
    assert evening.state == "faites_vos_jeux"


def test_n2_a_launch_before_tout_va_is_another_void() -> None:
    evening = Evening().open()
    evening.void_by_chef()
    passes = evening.launch(laps=6)
    evening.until(passes[5].t_us)
    assert evening.verdicts() == [("void", "chef"), ("void", "early_launch")]
    assert [void["coup"] for void in evening.of("void")] == [1, 2]
    assert evening.state == "rien_va"


def test_n2_a_launch_again_while_both_are_owed_leaves_both_owed() -> None:
    evening = Evening().open()
    evening.coup(22)
    for _ in range(2):
        evening.launch(laps=6)
        evening.wait(1.5)
        evening._planned.clear()
        evening.put_back()
    assert evening.verdicts()[1:] == [("void", "early_launch")] * 2
    assert evening.say("tout_va").done
    assert evening.state == "operations"


def test_n2_a_push_too_weak_to_be_followed_is_early_too() -> None:
    """Rulebook 6: seen on the track and then in another pocket it was launched, however few its passes."""
    evening = Evening().open()
    evening.coup(22)
    evening.lying = None
    evening.plan(BallPass(evening.now_us + 500_000, 1))
    evening.wait(4)
    evening.lying = 9
    evening.wait(6)
    assert evening.verdicts() == [("result", 22), ("void", "early_launch")]


# --- N3 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("laps", [1.3, 2.0, 2.4])
@pytest.mark.parametrize("rev_s", [0.65, 0.9])
def test_n3_too_few_laps_is_published_before_any_reader_sees_the_ball_in_a_pocket(laps: float, rev_s: float) -> None:
    evening = Evening().open()
    passes = evening.launch(laps=laps, rev_s=rev_s)
    evening.until(passes[-1].t_us)
    evening.wait(3)
    void = only_void(evening, "too_few_laps")
    assert void.payload["evidence"]["laps_proven"] == pytest.approx((len(passes) - 3) / 4)
    assert void.payload["evidence_at"] == f"2026-11-20T18:00:{passes[-1].t_us / 1e6:09.6f}Z"
    assert evening.state == "rien_va"
    later(evening)


def test_n3_a_run_of_exactly_the_laps_asked_for_stands() -> None:
    evening = Evening().open()
    passes = evening.launch(laps=3.75, rev_s=0.9)
    passes, extra = passes[:15], passes[15:]
    for one in extra:
        evening._planned.remove(one)
    evening.until(passes[-1].t_us)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]
    assert evening.of("result")[0]["laps"] == 3


def test_n3_one_pass_short_of_it_is_void_where_a_house_says_so() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, unproven="void")).open()
    passes = evening.launch(laps=3.75, rev_s=0.9)
    for one in passes[14:]:
        evening._planned.remove(one)
    evening.until(passes[13].t_us)
    evening.fall(9)
    void = only_void(evening, "too_few_laps")
    assert void.payload["evidence"]["laps_proven"] == 2.75


def test_n3_another_jurisdiction_asks_four() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, min_laps=4)).open()
    evening.run(laps=3.4)
    evening.fall(9)
    assert only_void(evening, "too_few_laps").payload["laps_needed"] == 4


@pytest.mark.parametrize("count", [1, 2])
def test_n3_a_ball_seen_on_the_track_and_then_in_another_pocket_was_launched(count: int) -> None:
    evening = Evening().open()
    passes = evening.launch(rev_s=0.6, laps=3)
    for one in passes[count:]:
        evening._planned.remove(one)
    evening.until(passes[count - 1].t_us)
    evening.fall(9)
    evening.wait(6)
    void = only_void(evening, "too_few_laps")
    assert void.payload["evidence"]["laps_proven"] == 0
    assert evening.state == "rien_va"


@pytest.mark.parametrize("count", [1, 2])
def test_n3_while_the_ball_stays_in_its_pocket_pulses_are_strays(count: int) -> None:
    evening = Evening().open()
    evening.plan(*(BallPass(evening.now_us + 400_000 * (n + 1), n) for n in range(count)))
    evening.wait(30)
    assert evening.verdicts() == []
    assert evening.state == "faites_vos_jeux"


# --- N4 -----------------------------------------------------------------------------------------------------------


def test_n4_a_rotor_that_stops_while_the_ball_runs_is_void_within_two_seconds() -> None:
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    evening.turn(0)
    stopped_us = evening.now_us
    evening.wait(2.5)
    void = only_void(evening, "rotor_stopped_running")
    assert void.t_us - stopped_us <= 2_000_000
    last_tick_us = void.payload["evidence"]["last_tick_us"]
    assert stopped_us - 25_000 < last_tick_us <= stopped_us
    later(evening)


@pytest.mark.parametrize("rotor_ticks", [37, 148, 592])
@pytest.mark.parametrize("rpm", [5.0, 20.0, 35.0])
@pytest.mark.parametrize("stands_s", [0.8, 1.2])
def test_n4_a_short_stop_is_found_by_any_encoder(rotor_ticks: int, rpm: float, stands_s: float) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, rotor_ticks=rotor_ticks), rpm=rpm).open()
    evening.launch()
    evening.wait(3)
    evening.turn(0)
    evening.wait(stands_s)
    evening.turn(rpm)
    evening.wait(2)
    only_void(evening, "rotor_stopped_running")


def by_hand(evening: Evening, rpm: float) -> None:
    """A hand brakes the rotor or pushes it, as hard as hands do: by 0.6 turns a second in each second."""
    while evening.turn_rpm != rpm:
        step = max(-1.8, min(1.8, rpm - evening.turn_rpm))
        evening.turn(abs(evening.turn_rpm + step), evening.way)
        evening.wait(0.05)


@pytest.mark.parametrize("rotor_ticks", [37, 148, 592])
@pytest.mark.parametrize("slowest_rpm", [2.5, 5.0])
def test_n4_a_hand_that_only_slows_the_rotor_stops_nothing(rotor_ticks: int, slowest_rpm: float) -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, rotor_ticks=rotor_ticks)).open()
    passes = evening.launch()
    evening.wait(3)
    by_hand(evening, -slowest_rpm)
    evening.wait(2)
    by_hand(evening, -20)
    evening.until(passes[-1].t_us)
    evening.fall(9)
    evening.wait(6)
    assert evening.verdicts() == [("result", 9)]


def test_n4_a_rotor_turned_back_by_hand_during_the_run_had_stopped() -> None:
    evening = Evening(way="ccw").open()
    evening.launch()
    evening.wait(2)
    evening.turn(10, "cw")
    evening.wait(1)
    void = only_void(evening, "rotor_stopped_running")
    assert void.t_us - (evening.now_us - 1_000_000) <= 2_000_000


def test_n4_between_coups_the_bouler_stops_and_reverses_as_he_likes() -> None:
    evening = Evening(way="ccw").open()
    for way in ("cw", "ccw"):
        evening.turn(0)
        evening.wait(5)
        evening.turn(15, way)
        evening.wait(5)
    assert evening.verdicts() == []
    evening.coup(7)
    evening.turn(0)
    evening.wait(5)
    assert evening.verdicts() == [("result", 7)]


def test_n4_a_rotor_started_just_after_the_launch_has_not_stopped() -> None:
    """A bouler may spin both at once: the silence counts from the launch."""
    evening = Evening(way="ccw").open()
    evening.turn(0)
    evening.wait(10)
    evening.launch("cw")
    evening.wait(1.2)
    evening.turn(20, "ccw")
    evening.wait(1)
    assert evening.verdicts() == []
    assert evening.state == "ball_running"


def test_n4_a_rotor_that_never_turned_is_void_within_two_seconds_of_the_launch() -> None:
    evening = Evening().open()
    evening.turn(0)
    evening.wait(10)
    passes = evening.launch("cw")
    evening.wait(3)
    assert only_void(evening, "rotor_stopped_running").t_us - passes[0].t_us <= 2_000_000


# --- N5 -----------------------------------------------------------------------------------------------------------


def test_n5_a_ball_on_an_obstacle_is_void_only_when_the_rotor_stops_first() -> None:
    evening = Evening().open()
    evening.run()
    evening.wait(30)
    assert evening.state == "ball_on_obstacle"
    assert evening.verdicts() == []
    evening.turn(0)
    stopped_us = evening.now_us
    evening.wait(2.5)
    void = only_void(evening, "rotor_stopped_before_drop")
    assert void.t_us - stopped_us <= 2_000_000
    assert evening.state == "rien_va"
    later(evening)


def test_n5_a_rotor_that_stops_during_the_fall_is_void_too() -> None:
    evening = Evening().open()
    evening.run()
    evening.wait(2.5)
    evening.turn(0)
    evening.wait(2.5)
    only_void(evening, "rotor_stopped_before_drop")


# --- N6 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait_s", [1.0, 4.0, 9.0, 12.0])
def test_n6_an_object_before_the_number_is_out_voids_at_once(wait_s: float) -> None:
    """Within 50 ms: in the same step."""
    evening = Evening().open()
    passes = evening.launch(laps=10)
    evening.wait(wait_s)
    assert evening.verdicts() == [], passes[-1].t_us
    evening.drop()
    void = only_void(evening, "foreign_object")
    assert void.t_us == evening.now_us == void.payload["t_us"]
    later(evening)


def test_n6_an_object_after_the_number_voids_nothing_yet_the_next_coup_waits() -> None:
    evening = Evening().open()
    evening.coup(22)
    evening.drop()
    assert evening.verdicts() == [("result", 22)]
    assert evening.notices()[-1] == "foreign_object"
    refused = evening.say("operations_done")
    assert (refused.done, "object" in refused.why) == (False, True)
    assert evening.state == "operations"
    evening.drop(present=False)
    assert evening.say("operations_done").done
    evening.coup(9)
    assert evening.verdicts() == [("result", 22), ("result", 9)]


@pytest.mark.parametrize("early", [True, False])
def test_n6_a_launch_over_an_object_is_void(early: bool) -> None:
    evening = Evening().open()
    evening.drop()
    assert evening.state == "faites_vos_jeux"
    if early:
        evening.say("rien_ne_va_plus")
    passes = evening.launch()
    evening.until(passes[6].t_us)
    void = only_void(evening, "foreign_object")
    assert void.t_us <= passes[4].t_us
    assert evening.state == "rien_va"


def test_n6_after_such_a_void_tout_va_waits_for_the_object() -> None:
    evening = Evening().open()
    evening.launch(laps=6)
    evening.wait(1.5)
    evening.drop()
    evening._planned.clear()
    evening.put_back()
    refused = evening.say("tout_va")
    assert (refused.done, "object" in refused.why) == (False, True)
    evening.drop(present=False)
    assert evening.say("tout_va").done


def test_n6_the_same_object_reported_twice_is_one() -> None:
    evening = Evening().open()
    evening.drop()
    evening.drop()
    evening.drop(present=False)
    evening.drop(present=False)
    assert evening.notices() == ["foreign_object"]


# --- N7 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait_s", [1.0, 4.0, 12.0, 20.0])
def test_n7_the_chef_voids_at_once_with_who_and_why(wait_s: float) -> None:
    evening = Evening().open()
    evening.launch(laps=10)
    evening.wait(wait_s)
    assert evening.say("rien_va", by="chef Rossi", reason="dispute").done
    void = only_void(evening, "chef")
    assert void.t_us == evening.now_us
    assert (void.payload["by"], void.payload["reason"]) == ("chef Rossi", "dispute")
    later(evening)


def test_n7_also_after_rien_ne_va_plus_and_before_the_launch() -> None:
    evening = Evening().open()
    evening.say("rien_ne_va_plus")
    assert evening.say("rien_va").done
    only_void(evening, "chef")
    assert evening.state == "rien_va"


def test_n7_not_once_the_number_is_out_nor_when_no_coup_runs() -> None:
    evening = Evening()
    assert not evening.say("rien_va").done
    evening.open()
    assert not evening.say("rien_va").done
    evening.coup(9)
    assert not evening.say("rien_va").done
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize(
    ("case", "cited"),
    [
        (Case.SAME_DIRECTION, "N1, Art. 11"),
        (Case.EARLY_LAUNCH, "N2, Art. 11"),
        (Case.TOO_FEW_LAPS, "N3, Art. 11"),
        (Case.ROTOR_STOPPED, "N4, Art. 11; N5, Art. 11"),
        (Case.FOREIGN_OBJECT, "N6, Art. 11"),
    ],
)
def test_n7_the_chef_may_name_which_of_the_five_cases_it_is(case: Case, cited: str) -> None:
    """C11 lists five cases; N4 and N5 are one of them."""
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    evening.observe(Command(evening.now_us, "rien_va", "chef", id="1", case=case))
    void = only_void(evening, "chef").payload
    assert (void["rule"], void["case"]) == ("N7", case.value)
    assert void["why"] == f"N7, Art. 11; {cited}: the chef declares the coup void: {case.text}"
    assert evening.replies[-1].why == void["why"]


def test_n7_a_button_names_no_case() -> None:
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    evening.observe(Command(evening.now_us, "rien_va", "button"))
    void = only_void(evening, "chef").payload
    assert (void["case"], void["why"]) == (None, "N7, Art. 11: the chef declares the coup void")


# --- N8 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sensor", "named"),
    [
        ("rotor", "the rotor's sensor"),
        ("object", "the object sensor"),
        ("link", "the line to the sensors"),
    ],
)
def test_n8_a_sensor_fault_in_a_coup_is_a_breakdown_at_once(sensor: str, named: str) -> None:
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    evening.sensor(sensor, ok=False)
    void = only_void(evening, "breakdown")
    assert void.t_us == evening.now_us
    assert void.payload["evidence"]["sensor"] == sensor
    assert evening.state == "suspended"
    assert evening.of("table")[-1]["waiting_for"].startswith(f"repair {named}, then ")
    later(evening)


def test_n8_a_person_resumes_and_only_with_all_sensors_working() -> None:
    evening = Evening().open()
    evening.launch(laps=5)
    evening.wait(2)
    evening._planned.clear()
    evening.wait(0.5)
    evening.sensor("beam/2", ok=False)
    evening.sensor("link", ok=False)
    refused = evening.say("resume", by="direction")
    assert (refused.done, "sensor" in refused.why) == (False, True)
    evening.sensor("beam/2", ok=True)
    assert not evening.say("resume", by="direction").done
    evening.sensor("link", ok=True)
    evening.wait(3)
    assert evening.state == "suspended"
    assert evening.say("resume", by="direction").done
    assert evening.state == "rien_va"
    evening.put_back()
    assert evening.say("tout_va").done


def test_n8_a_fault_between_coups_suspends_and_resume_returns_to_where_it_was() -> None:
    evening = Evening().open()
    evening.sensor("beam/1", ok=False)
    evening.sensor("beam/1", ok=False)
    assert evening.state == "suspended"
    evening.sensor("beam/1", ok=True)
    assert evening.say("resume").done
    assert evening.state == "faites_vos_jeux"
    assert evening.verdicts() == []


def test_n8_a_number_without_a_proven_direction_is_no_result() -> None:
    """A coup that could not be observed fully is never valid: one beam alone counts laps of either direction."""
    evening = Evening(msgspec.structs.replace(FRENCH, beams_deg=(0, 100))).open()
    passes = evening.launch(laps=6)
    for one in passes:
        if one.beam == 1:
            evening._planned.remove(one)
    evening.until(passes[-1].t_us)
    assert evening.state == "ball_running"
    assert evening.observer.track.record().laps == 4
    evening.fall(9)
    evening.wait(2)
    only_void(evening, "breakdown")
    assert evening.state == "suspended"
    later(evening)


def test_n8_a_ball_moved_while_bets_are_closed_is_a_breakdown() -> None:
    evening = Evening().open()
    evening.wait(4)
    evening.say("rien_ne_va_plus")
    evening.lying = None
    evening.wait(8)
    evening.lying = 9
    evening.wait(5)
    only_void(evening, "breakdown")
    assert evening.state == "suspended"


def test_n8_a_second_launch_within_a_coup_is_a_breakdown() -> None:
    evening = Evening().open()
    evening.run(laps=6)
    evening.wait(8)
    evening.run(laps=6)
    only_void(evening, "breakdown")


def test_n8_a_fair_wheel_that_turns_the_other_way_is_a_fault() -> None:
    evening = Evening(FAIR, way="ccw").open()
    evening.launch("cw")
    evening.wait(2)
    void = only_void(evening, "breakdown")
    assert (void.payload["evidence"]["rotor_direction"], void.payload["evidence"]["configured"]) == ("ccw", "cw")


def test_a_fair_wheel_that_turns_its_own_way_gives_its_number() -> None:
    evening = Evening(FAIR, way="cw").open()
    evening.coup(9)
    assert evening.verdicts() == [("result", 9)]


@pytest.mark.parametrize("name", ["suspend", "close"])
def test_a6_the_direction_ends_or_suspends_play_and_a_running_coup_is_a_breakdown(name: str) -> None:
    evening = Evening().open()
    evening.launch()
    evening.wait(2)
    assert evening.say(name, by="direction", reason="fire alarm").done  # type: ignore[arg-type]
    void = only_void(evening, "breakdown")
    assert (void.payload["by"], void.payload["reason"]) == ("direction", "fire alarm")
    assert void.payload["why"].startswith("N8; A6, Art. 15: ")
    assert "; by custom, " in void.payload["why"]
    assert evening.state == {"suspend": "suspended", "close": "closed"}[name]
    later(evening)


def test_a_suspension_of_a_closed_table_stays_of_a_closed_one_when_the_last_game_is_void() -> None:
    """A6: two passes, closed and suspended within the lap; the breakdown of that game opens nothing."""
    evening = Evening().open()
    passes = evening.launch(laps=6)
    evening.until(passes[1].t_us)
    evening.say("close")
    evening.say("suspend")
    evening.until(passes[-1].t_us)
    only_void(evening, "breakdown")
    evening.wait(3)
    assert evening.say("resume").done
    assert evening.state == "closed"


@pytest.mark.parametrize("seen", ["always", "twice"])
def test_n8_a_pocket_that_is_filled_while_the_ball_runs_is_no_number(seen: str) -> None:
    """A second ball, or dirt: the readers see it, and the ball is on the track."""
    evening = Evening().open()
    passes = evening.launch(laps=9)
    evening.lying = 17
    evening.until(passes[-1].t_us if seen == "always" else passes[0].t_us + 2_300_000)
    evening.lying = None if seen == "twice" else 17
    evening.until(passes[-1].t_us)
    evening.fall(17)
    only_void(evening, "breakdown")
    assert evening.of("result") == []


def test_a_ball_seen_in_a_pocket_before_any_fall_can_be_over_is_not_counted() -> None:
    evening = Evening(rpm=40).open()
    passes = evening.launch(laps=8)
    evening.until(passes[-1].t_us + 600_000)
    evening.lying = 27
    evening.wait(1.3)
    evening.lying = None
    evening.wait(1.0)
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


def test_a_rotor_just_turned_round_is_known_by_its_next_edges() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, rotor_ticks=37), way="cw").open()
    evening.wait(3)
    evening.turn(8, "ccw")
    evening.wait(0.15)
    passes = evening.launch("cw", laps=8)
    evening.until(passes[-1].t_us)
    evening.turn(20, "ccw")
    evening.fall(9)
    assert evening.verdicts() == [("result", 9)]


def test_n8_a_launch_over_a_rotor_not_yet_reported() -> None:
    """It may turn, its encoder not yet in step: that it stopped nobody saw."""
    evening = Evening(rpm=0)
    evening.say("open")
    evening.launch()
    evening.wait(10)
    assert only_void(evening, "breakdown").payload["evidence"]["sensor"] == "rotor"
