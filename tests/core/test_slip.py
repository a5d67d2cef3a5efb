"""An encoder that slips on the rotor (docs/rulebook.md 7): no pocket is known until a ball in a named one is seen."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from tests.core.head_evening import COMBINED
from wheeld.core.observations import Observation, Sighting
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.core.step import Step
from wheeld.core.tracking.ball import Ball
from wheeld.core.tracking.observer import Observer

NAMED = "the ball lies there, all saw it"


def idle() -> Evening:
    evening = Evening().open()
    evening.wait(5)
    return evening


def closed() -> Evening:
    evening = Evening()
    evening.wait(5)
    return evening


def operations() -> Evening:
    evening = Evening().open()
    evening.coup(9)
    return evening


def after_void() -> Evening:
    evening = Evening().open()
    evening.void_by_chef()
    return evening


def running() -> Evening:
    evening = Evening().open()
    evening.launch(laps=8)
    evening.wait(2)
    return evening


def falling() -> Evening:
    evening = Evening().open()
    evening.run()
    evening.wait(1)
    return evening


STATES = (closed, idle, operations, after_void, running, falling)


def play_on(evening: Evening) -> None:
    """As the machine says: the ball is laid in a pocket, and play is resumed with its number."""
    assert evening.state == "suspended"
    assert "lay the ball in a pocket" in evening.table.awaited("en")[1]
    belongs = evening.table.header().number_before
    evening._planned.clear()
    evening.lying = belongs
    evening.wait(1)
    assert not evening.say("resume").done
    evening.wait(6)
    assert evening.say("resume", number=belongs, reason=NAMED).done
    if evening.state == "closed":
        assert evening.say("open").done
    if evening.state == "rien_va":
        assert evening.say("tout_va").done
    if evening.state == "operations":
        assert evening.say("operations_done").done
    assert evening.state == "faites_vos_jeux"


@pytest.mark.parametrize("ticks", [2, 3, 8, 40, 74, -2, -5, -40])
@pytest.mark.parametrize("begin", STATES)
def test_after_a_slip_every_number_is_right_and_play_goes_on(begin: Callable[[], Evening], ticks: int) -> None:
    evening = begin()
    before = len(evening.of("result"))
    evening.slip(ticks)
    evening.wait(1)
    table = evening.last("table").payload
    assert (evening.state, table["failing"]) == ("suspended", ["rotor/place"])
    assert "sensor_trouble" in evening.notices()
    play_on(evening)
    evening.wait(3)
    for number in (36, 5):
        evening.launch(laps=9)
        evening.wait(6)
        evening.until(max(seen.t_us for seen in evening._planned))
        evening.fall(number)
        assert evening.state == "operations", evening.notices()
        assert evening.say("operations_done").done
        evening.wait(3)
    assert [result["number"] for result in evening.of("result")[before:]] == [36, 5]


class Jittering(Evening):
    """Readers that see the ball a little early and a little late in turns."""

    early_us = 1_500

    def observe(self, seen: Observation) -> Step:
        if isinstance(seen, Sighting):
            self.early_us = -self.early_us
            seen = msgspec.structs.replace(seen, t_us=seen.t_us + self.early_us)
        return super().observe(seen)


def test_a_slip_by_half_a_turn_is_found_whichever_way_round_each_sighting_shows_it() -> None:
    evening = Jittering().open()
    evening.wait(5)
    evening.slip(FRENCH.rotor_ticks // 2)
    evening.wait(1)
    play_on(evening)
    evening.wait(3)
    evening.run()
    evening.fall(36)
    assert [result["number"] for result in evening.of("result")] == [36]


def test_a_number_that_awaits_the_chef_goes_on_awaiting_and_the_place_is_found_after_his_word() -> None:
    evening = Evening().open()
    evening.run()
    evening.wait(3)
    evening.lying = 9
    evening.wait(0.7)
    evening.turn(0)
    evening.lying = None
    evening.wait(8)
    assert evening.state == "awaiting_chef"
    evening.lying = 9
    evening.turn(20)
    evening.wait(0.5)
    evening.slip(8)
    evening.wait(6)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.say("confirm", coup=1, number=9, reason=NAMED).done
    assert (evening.verdicts(), evening.state) == ([("result", 9)], "suspended")
    play_on(evening)


def test_a_place_is_not_taken_from_a_word_before_readers_see_the_ball_lie() -> None:
    evening = idle()
    evening.lying = None
    evening.slip(8)
    evening.wait(2)
    reply = evening.say("resume", number=17, reason=NAMED)
    assert not reply.done
    assert "does the rotor turn" in reply.why
    assert evening.state == "suspended"


def test_a_number_named_where_the_place_is_known_is_refused() -> None:
    """One wrong word would make every number wrong."""
    evening = idle()
    evening.say("suspend")
    reply = evening.say("resume", number=5, reason=NAMED)
    assert not reply.done
    assert "give no number" in reply.why
    assert evening.say("resume").done


@pytest.mark.parametrize("ticks", [8, 40])
def test_a_slip_while_the_rotor_stands_is_found_at_the_latest_by_the_ball_in_another_pocket(ticks: int) -> None:
    evening = operations()
    assert evening.say("operations_done").done
    evening.turn(0)
    evening.wait(5)
    evening.slip(ticks)
    evening._angle_deg -= ticks * 360 / FRENCH.rotor_ticks  # turned back by hand, so that the border is as it was
    evening.turn(20)
    evening.wait(8)
    play_on(evening)
    assert evening.say("operations_done").done is False


def test_a_restart_makes_no_place_known() -> None:
    evening = idle()
    evening.slip(8)
    evening.wait(1)
    after = Evening(memory=evening.memory)
    after.slip(8)
    after.wait(1)
    assert after.state == "suspended"
    play_on(after)
    again = Evening(memory=after.memory)
    again.slip(8)
    assert again.state == "suspended", "the disc still stands elsewhere than configured"
    mended = Evening(memory=after.memory)
    play_on(mended)
    assert Evening(memory=mended.memory).state == "faites_vos_jeux"


def test_a_chef_who_names_another_number_than_readers_see_puts_the_place_in_doubt() -> None:
    evening = Evening(msgspec.structs.replace(FRENCH, confirm_numbers=True)).open()
    evening.run()
    evening.fall(9)
    assert evening.state == "awaiting_chef"
    assert evening.say("confirm", coup=1, number=22, reason=NAMED).done
    assert (evening.verdicts(), evening.state) == ([("result", 22)], "suspended")
    assert evening.last("table").payload["failing"] == ["rotor/place"]


def test_tout_va_says_what_to_do_where_the_ball_lies_in_its_pocket_and_readers_see_it_elsewhere() -> None:
    evening = after_void()
    evening.turn(0)
    evening.wait(5)
    evening.slip(4)
    evening._angle_deg -= 4 * 360 / FRENCH.rotor_ticks
    evening.turn(20)
    evening.wait(8)
    reply = evening.say("tout_va")
    assert not reply.done
    assert "resume with that number" in reply.why
    assert evening.say("suspend").done
    assert evening.say("resume", number=17, reason=NAMED).done
    assert evening.say("tout_va").done


def test_edges_that_a_failing_line_lost_are_no_slip() -> None:
    evening = idle()
    evening.sensor("link", ok=False)
    evening.wait(1)  # some edges arrive
    evening.turn(0)
    evening.wait(2)
    evening._angle_deg += 100  # it turned on, and nothing of that arrived
    evening.turn(20)
    evening.wait(1)
    assert evening.last("table").payload["failing"] == ["link"]
    evening.sensor("link", ok=True)
    evening.wait(6)
    assert evening.say("resume").done
    assert evening.state == "faites_vos_jeux"


@pytest.mark.parametrize("ticks", [4, 40, -8, 2, -6])
@pytest.mark.parametrize("begin", [closed, idle, operations])
def test_a_slip_while_the_line_fails_is_found_by_the_ball_in_another_pocket(
    begin: Callable[[], Evening], ticks: int
) -> None:
    """Or between two pockets, where the disc has slipped by half a one."""
    evening = begin()
    before = len(evening.of("result"))
    evening.wait(5)
    evening.sensor("link", ok=False)
    evening.wait(1)
    evening.slip(ticks)
    evening.wait(5)
    evening.sensor("link", ok=True)
    evening.wait(12)
    assert evening.last("table").payload["failing"] == ["rotor/place"]
    play_on(evening)
    evening.wait(3)
    evening.run()
    evening.fall(36)
    assert [result["number"] for result in evening.of("result")[before:]] == [36]


def test_a_ball_that_a_hand_was_seen_to_take_shows_no_slip() -> None:
    evening = operations()
    evening.wait(5)
    assert evening.say("suspend").done
    evening.lying = None
    evening.wait(9)
    evening.lying = 20
    evening.wait(12)
    assert evening.last("table").payload["failing"] == []
    assert evening.say("resume").done


def test_a_head_that_sees_the_pocket_needs_no_place_by_the_encoder() -> None:
    observer = Observer(msgspec.structs.replace(COMBINED, rotor="sensors", rotor_ticks=148))
    assert (observer.lose_place(5), observer.faults) == ([], ())


def after_a_gap() -> Evening:
    """The line failed at an idle table, and a hand has the ball before readers meet it again."""
    evening = idle()
    evening.sensor("link", ok=False)
    evening.lying = None
    evening.wait(1)
    evening.sensor("link", ok=True)
    evening.wait(6)
    assert evening.say("resume").done
    return evening


def lay(evening: Evening, number: int) -> None:
    evening.lying = number
    evening.wait(9)


def next_number(evening: Evening, number: int) -> None:
    evening.launch(laps=9)
    evening.wait(6)
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.fall(number)


def test_a_ball_that_lies_elsewhere_after_a_gap_makes_the_next_number_await_the_chef() -> None:
    """A hand may have moved it, or the disc slipped while nobody watched: one confirmed number shows which."""
    evening = after_a_gap()
    lay(evening, 4)
    assert (evening.state, evening.notices()) == ("faites_vos_jeux", ["unobserved_coup"])
    next_number(evening, 36)
    assert (evening.state, evening.of("result")) == ("awaiting_chef", [])
    assert evening.say("confirm", coup=1, reason=NAMED).done
    (result,) = evening.of("result")
    assert (result["number"], result["unproven"]) == (36, ["R3"])
    assert evening.say("operations_done").done
    next_number(evening, 5)
    assert [result["number"] for result in evening.of("result")] == [36, 5]


def test_who_confirms_another_number_than_readers_see_has_found_the_slip() -> None:
    evening = after_a_gap()
    lay(evening, 4)
    next_number(evening, 36)
    assert evening.say("confirm", number=11, coup=1, reason=NAMED).done
    assert (evening.of("result")[-1]["number"], evening.last("table").payload["failing"]) == (11, ["rotor/place"])


def test_a_ball_that_readers_see_at_home_again_is_in_doubt_no_more() -> None:
    evening = after_a_gap()
    lay(evening, 4)
    lay(evening, 17)
    next_number(evening, 36)
    assert [result["number"] for result in evening.of("result")] == [36]


def test_without_a_gap_a_hand_that_moves_the_ball_puts_nothing_in_doubt() -> None:
    """Every edge was seen meanwhile, and none has jumped."""
    evening = idle()
    evening.lying = None
    evening.wait(6)
    lay(evening, 4)
    assert evening.notices() == ["unobserved_coup"]
    next_number(evening, 36)
    assert [result["number"] for result in evening.of("result")] == [36]


@pytest.mark.parametrize("ticks", [8, -8, 40])
def test_a_slip_in_a_run_that_the_board_kept_while_the_line_failed_makes_the_next_number_await_the_chef(
    ticks: int,
) -> None:
    """The ball was met at home before it: that shows nothing of the pockets after it."""
    evening = idle()
    evening.wait(5)
    evening.sensor("link", ok=False)
    evening.wait(5)
    evening.launch(laps=9)
    evening.wait(2)
    evening.slip(ticks)
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.fall(9)
    evening.sensor("link", ok=True)
    evening.wait(6)
    assert evening.say("resume").done
    evening.lying = None
    evening.wait(9)
    lay(evening, 17)
    next_number(evening, 36)
    assert (evening.state, evening.of("result")) == ("awaiting_chef", [])


def test_a_ball_launched_before_readers_met_it_after_a_gap_shows_no_number_by_itself() -> None:
    evening = after_a_gap()
    next_number(evening, 36)
    assert (evening.state, evening.of("result")) == ("awaiting_chef", [])
    assert evening.say("confirm", coup=1, number=36, reason=NAMED).done
    assert evening.say("operations_done").done
    next_number(evening, 5)
    assert [result["number"] for result in evening.of("result")] == [36, 5]


def cut_in_a_run(rests_in: int, ticks: int = 0) -> Evening:
    """The line fails in a run and the disc slips; the ball rests, and play is resumed."""
    evening = running()
    evening.sensor("link", ok=False)
    if ticks:
        evening.slip(ticks)
    evening.until(max(seen.t_us for seen in evening._planned))
    evening.lying = rests_in
    evening.wait(9)
    evening.sensor("link", ok=True)
    evening.wait(6)
    assert evening.say("resume").done
    return evening


@pytest.mark.parametrize("ticks", [8, -8])
def test_a_ball_that_only_seems_to_lie_at_home_shows_nothing_of_the_pockets(ticks: int) -> None:
    """The slip brought it there by chance. Who is to say "tout va" looks and puts it back: then readers see it
    elsewhere."""
    off = round(ticks * SINGLE_ZERO.count / FRENCH.rotor_ticks)
    rests_in = SINGLE_ZERO.order[(SINGLE_ZERO.index_of[17] + off) % SINGLE_ZERO.count]
    evening = cut_in_a_run(rests_in, ticks)
    evening.wait(3)
    assert evening.last("table").payload["waiting_for"].endswith("when you see the ball in its pocket")
    lay(evening, 17)
    assert not evening.say("tout_va").done
    assert (evening.state, evening.of("result")) == ("rien_va", [])


@pytest.mark.parametrize("rests_in", [9, 17])
def test_a_ball_that_a_hand_brings_home_after_a_gap_ends_the_doubt(rests_in: int) -> None:
    """Readers that see saw it in no pocket first, also where it lay at home before."""
    evening = cut_in_a_run(rests_in)
    evening.lying = None
    evening.wait(6)
    lay(evening, 17)
    assert evening.say("tout_va").done
    next_number(evening, 36)
    assert [result["number"] for result in evening.of("result")] == [36]


def test_a_hand_or_a_rest_that_readers_saw_before_a_gap_brings_no_ball_home_after_it() -> None:
    for before in (Ball(carried=True), Ball(rested_in=3)):
        before.note_gap()
        before.note_elsewhere()
        before.take_word(9, seen_in=9, by_eye=False)
        assert before.doubt == "astray"


def test_a_ball_that_lay_nowhere_after_a_cut_in_its_fall_ends_the_doubt_where_a_hand_brings_it() -> None:
    """Readers that see saw it in no pocket since its fall was over, though the run of the void coup is still known."""
    evening = falling()
    evening.sensor("link", ok=False)
    evening.wait(1)
    evening.sensor("link", ok=True)
    evening.wait(6)
    assert evening.say("resume").done
    evening.wait(6)
    lay(evening, 17)
    assert evening.say("tout_va").done
    next_number(evening, 36)
    assert [result["number"] for result in evening.of("result")] == [36]


def test_a_ball_that_no_reader_meets_is_in_a_hand_only_when_its_fall_must_be_over() -> None:
    evening = falling()
    evening.wait(4.9)
    assert not evening.observer.ball.carried, "the rotor turned more than a whole turn, but the ball may still fall"
    evening.wait(6)
    assert evening.observer.ball.carried
