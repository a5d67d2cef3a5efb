"""How a table moves on, docs/rulebook.md 6, line by line, by what sensors see and people command."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import BallPass, Sighting


def states(evening: Evening) -> list[str]:
    """Every state published, in order, without repetition."""
    published = [table["state"] for table in evening.of("table")]
    return [state for before, state in zip(["", *published], published, strict=False) if state != before]


def bets(evening: Evening) -> str:
    return str(evening.of("table")[-1]["bets"])


def test_a_table_starts_closed_and_publishes_it() -> None:
    evening = Evening()
    assert states(evening) == ["closed"]
    assert evening.of("table")[0]["seq"] == 1
    assert evening.of("board")[0]["numbers"] == []
    assert bets(evening) == "closed"


def test_open_launch_rien_ne_va_plus_number_operations_done() -> None:
    evening = Evening().open()
    assert (evening.state, bets(evening)) == ("faites_vos_jeux", "open")
    passes = evening.launch()
    evening.until(passes[4].t_us)
    assert (evening.state, bets(evening)) == ("ball_running", "open")
    assert evening.say("rien_ne_va_plus").done
    assert (evening.state, bets(evening)) == ("rien_ne_va_plus", "closed")
    evening.until(passes[-1].t_us)
    evening.fall(22)
    assert (evening.state, bets(evening)) == ("operations", "closed")
    assert evening.say("operations_done").done
    assert (evening.state, bets(evening)) == ("faites_vos_jeux", "open")
    assert evening.verdicts() == [("result", 22)]
    assert states(evening) == [
        "closed", "faites_vos_jeux", "ball_running", "rien_ne_va_plus", "operations", "faites_vos_jeux",
    ]  # fmt: skip


def test_a_result_contains_everything_of_its_number_and_run() -> None:
    evening = Evening(rpm=24, way="cw").open()
    passes = evening.launch(laps=9)
    launched_us = passes[0].t_us
    evening.until(passes[20].t_us)
    evening.say("rien_ne_va_plus")
    closed_us = evening.now_us
    evening.until(passes[-1].t_us)
    evening.fall(32)
    result = evening.of("result")[0]
    assert result["announcement"] == "Trente-deux, rouge, pair et passe"
    assert (result["number"], result["pocket_index"]) == (32, 1)
    assert (result["colour"], result["parity"], result["half"]) == ("rouge", "pair", "passe")
    assert (result["dozen"], result["column"], result["finals_plein"]) == (3, 2, [2])
    assert result["finals_cheval"] == [[1, 2], [2, 3], [2, 5], [9, 12]]
    assert (result["house"], result["game"], result["laps_needed"]) == ("campione", "roulette", 3)
    assert result["neighbours"] == [26, 0, 15, 19]
    assert set(result["sectors"]) == {"voisins_du_zero", "nassa", "zero_spiel"}
    assert result["laps"] == (len(passes) - 3) / 4  # whichever two were strays
    assert (result["ball_direction"], result["rotor_direction"]) == ("ccw", "cw")
    assert result["rotor_rpm"] == pytest.approx(24, abs=0.1)
    text = {
        "launched_at": launched_us,
        "bets_closed_at": closed_us,
        "left_track_at": passes[-1].t_us,
        "number_at": result["sightings"][0]["t_us"],
    }
    for name, t_us in text.items():
        assert result[name] == f"2026-11-20T18:00:{t_us / 1e6:09.6f}Z", name
    assert len(result["sightings"]) == 3
    assert (result["site"], result["table"], result["coup"], result["schema"]) == (
        "campione", "campione-03", 1, "result/1",
    )  # fmt: skip


def test_the_number_is_published_at_the_third_sighting() -> None:
    """R3: until then there is no number."""
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 5
    at_rest_us = evening.now_us
    evening.wait(5)
    seen_us = [seen.t_us for seen in evening.seen if isinstance(seen, Sighting) and seen.t_us > at_rest_us]
    assert evening.of("result")[0]["t_us"] == seen_us[2]
    assert evening.of("result")[0]["t_us"] == evening.of("result")[0]["sightings"][-1]["t_us"]


def test_a_french_rotor_may_turn_either_way_coup_by_coup() -> None:
    evening = Evening(way="cw").open()
    evening.coup(4)
    evening.say("operations_done")
    evening.turn(0)
    evening.wait(4)
    evening.turn(22, "ccw")
    evening.wait(3)
    evening.coup(19)
    assert evening.verdicts() == [("result", 4), ("result", 19)]
    assert [result["rotor_direction"] for result in evening.of("result")] == ["cw", "ccw"]


def test_rien_ne_va_plus_before_the_launch_closes_bets_and_the_launch_is_awaited() -> None:
    evening = Evening().open()
    assert evening.say("rien_ne_va_plus").done
    command_us = evening.now_us
    assert (evening.state, bets(evening)) == ("rien_ne_va_plus", "closed")
    assert "launch" in evening.of("table")[-1]["waiting_for"]
    evening.run()
    assert evening.state == "rien_ne_va_plus"
    count = len(evening.of("table"))
    assert evening.say("rien_ne_va_plus").done
    assert len(evening.of("table")) == count
    evening.fall(11)
    assert evening.verdicts() == [("result", 11)]
    assert evening.of("result")[0]["bets_closed_at"] == f"2026-11-20T18:00:{command_us / 1e6:09.6f}Z"


def test_without_rien_ne_va_plus_the_coup_stands_and_bets_close_at_the_drop() -> None:
    evening = Evening().open()
    last_pass_us = evening.run()
    evening.wait(2.4)
    assert evening.last("table").payload["bets"] == "closed"
    evening.fall(11)
    (result,) = evening.of("result")
    assert result["bets_closed_at"] == f"2026-11-20T18:00:{last_pass_us / 1e6:09.6f}Z"
    assert result["bets_closed_at"] < result["number_at"]


def test_rien_ne_va_plus_comes_by_itself_at_the_configured_speed() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, auto_rien_ne_va_plus_rev_s=1.0)).open()
    passes = evening.launch(rev_s=1.8, laps=10)
    evening.until(passes[-1].t_us)
    assert evening.state == "rien_ne_va_plus"
    (closed,) = [h for h in evening.published if h.topic == "table" and h.payload["state"] == "rien_ne_va_plus"]
    before_us = max(one.t_us for one in passes if one.t_us < closed.t_us)
    assert 0.25e6 / (closed.t_us - before_us) == pytest.approx(1.0, abs=0.05)
    evening.fall(3)
    assert evening.verdicts() == [("result", 3)]


def test_without_that_setting_bets_stay_open_while_the_ball_slows() -> None:
    evening = Evening().open()
    evening.run()
    assert (evening.state, bets(evening)) == ("ball_running", "open")


@pytest.mark.parametrize("bets_closed", [True, False])
def test_a_ball_on_an_obstacle_locks_the_bets_and_may_yet_fall(bets_closed: bool) -> None:
    """N5: while the rotor still turns the coup stands."""
    evening = Evening().open()
    evening.run()
    if bets_closed:
        evening.say("rien_ne_va_plus")
    left_us = evening.now_us
    evening.wait(15)
    assert (evening.state, bets(evening)) == ("ball_on_obstacle", "locked")
    locked = evening.last("table")
    assert 5_000_000 < locked.t_us - left_us < 12_000_000
    assert evening.verdicts() == []
    evening.say("rien_ne_va_plus")
    assert evening.state == "ball_on_obstacle"
    evening.lying = 30
    evening.wait(5)
    assert evening.verdicts() == [("result", 30)]
    assert evening.of("result")[0]["bets_closed_at"] <= locked.payload["at"]


def test_a_ball_that_falls_in_time_is_on_no_obstacle() -> None:
    evening = Evening(rpm=12).open()
    evening.run()
    evening.wait(5)
    evening.lying = 30
    evening.wait(6)
    assert "ball_on_obstacle" not in states(evening)
    assert evening.verdicts() == [("result", 30)]


def test_after_a_void_the_ball_goes_home_and_tout_va_opens_the_bets_again() -> None:
    evening = Evening().open()
    evening.coup(22)
    evening.say("operations_done")
    evening.launch(laps=5)
    evening.wait(1.5)
    assert evening.say("rien_va").done
    evening._planned.clear()
    assert (evening.state, bets(evening)) == ("rien_va", "closed")
    assert "put the ball back in 22" in evening.of("table")[-1]["waiting_for"]
    evening.put_back()
    assert evening.of("table")[-1]["waiting_for"] == '"tout va", when you see the ball in its pocket'
    assert evening.say("tout_va").done
    assert (evening.state, bets(evening)) == ("faites_vos_jeux", "open")
    assert evening.say("rien_ne_va_plus").done
    evening.run()
    evening.fall(9)
    assert evening.verdicts() == [("result", 22), ("void", "chef"), ("result", 9)]


def test_each_coup_has_its_number_and_each_number_its_identity() -> None:
    evening = Evening().open()
    evening.coup(1)
    evening.say("operations_done")
    evening.void_by_chef()
    evening.say("tout_va")
    evening.coup(2)
    verdicts = [message.payload for message in evening.published if message.topic in ("result", "void")]
    assert [verdict["coup"] for verdict in verdicts] == [1, 2, 3]
    assert len({verdict["coup_id"] for verdict in verdicts}) == 3
    again = Evening().open()
    again.coup(1)
    assert again.of("result")[0]["coup_id"] == verdicts[0]["coup_id"]


def test_a_launch_while_closed_or_suspended_is_a_notice() -> None:
    evening = Evening()
    evening.wait(2)
    evening.run()
    assert "launch_while_closed" in evening.notices()
    assert evening.state == "closed"
    evening.fall(5)
    assert evening.verdicts() == []

    evening = Evening().open()
    evening.say("suspend", by="direction")
    evening.run()
    assert "launch_while_suspended" in evening.notices()
    evening.fall(5)
    assert evening.state == "suspended"
    assert evening.verdicts() == []


def test_the_number_of_a_coup_that_no_launch_began_is_a_notice_not_a_result() -> None:
    evening = Evening()
    evening.wait(2)
    evening.run()
    assert not evening.say("open").done
    evening.wait(15)
    assert evening.say("open").done  # by his word that no obstacle holds it, which was not so
    evening.fall(5)
    assert "unobserved_coup" in evening.notices()
    assert evening.verdicts() == []


def test_a_number_after_a_void_is_kept_as_evidence_only() -> None:
    evening = Evening().open()
    evening.run()
    evening.say("rien_va", by="chef", reason="late bet")
    evening.fall(5)
    assert evening.verdicts() == [("void", "chef")]
    assert "number_after_void" in evening.notices()
    assert evening.state == "rien_va"
    assert evening.of("table")[-1]["last_number"] == 17


def test_one_stray_pulse_launches_nothing() -> None:
    for state in ("faites_vos_jeux", "operations"):
        evening = Evening().open()
        if state == "operations":
            evening.coup(17)
        evening.plan(BallPass(evening.now_us + 700_000, 2))
        evening.wait(40)
        assert evening.state == state
        assert "void" not in [topic for topic, _ in evening.verdicts()]


def test_the_ball_moved_by_hand_between_coups_is_a_notice() -> None:
    evening = Evening().open()
    evening.wait(4)
    evening.lying = None
    evening.wait(3)
    evening.lying = 5
    evening.wait(5)
    assert evening.notices() == ["unobserved_coup"]
    assert evening.state == "faites_vos_jeux"
    assert evening.verdicts() == []


@pytest.mark.parametrize("rpm", [0, 20])
def test_a_ball_that_was_not_seen_to_be_taken_puts_the_place_of_the_pockets_in_doubt(rpm: int) -> None:
    """Sooner than readers can miss it, or while the rotor stands: a hand, or an encoder that has slipped."""
    evening = Evening().open()
    evening.wait(4)
    evening.turn(rpm)
    evening.wait(0.5 if rpm else 5)
    evening.turn(20)
    evening.lying = 5
    evening.wait(5)
    assert evening.notices() == ["unobserved_coup", "sensor_trouble"]
    assert (evening.state, evening.verdicts()) == ("suspended", [])
    evening.wait(5)
    assert evening.say("resume", number=5).done
    assert (evening.state, evening.verdicts()) == ("faites_vos_jeux", [])


def test_the_board_shows_the_last_twenty_numbers_and_the_last_void() -> None:
    evening = Evening(rpm=40).open()
    numbers = list(range(22))
    for number in numbers:
        evening.coup(number)
        assert evening.say("operations_done").done
    evening.void_by_chef()
    board = evening.of("board")[-1]
    assert board["numbers"] == numbers[:1:-1]
    assert len(board["numbers"]) == 20
    assert (board["last_void"]["cause"], board["last_void"]["article"], board["last_void"]["words"]) == (
        "chef", "Art. 11", "rien va",
    )  # fmt: skip
    assert board["last_void"]["coup"] == 23
