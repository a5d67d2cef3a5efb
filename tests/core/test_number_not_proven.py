"""A number that was seen and can't be proven awaits the chef (R3b), whatever becomes of the rotor meanwhile."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.observations import Restarted

ONE_READER = msgspec.structs.replace(FRENCH, readers_deg=(30,))


def seen_once(number: int, fell_after_s: float) -> Evening:
    """The ball has run, and the one reader has met it in that pocket."""
    evening = Evening(ONE_READER, rpm=10).open()
    evening.run()
    evening.wait(fell_after_s)
    evening.lying = number
    while "number_seen" not in evening.notices():
        evening.wait(0.1)
    return evening


@pytest.mark.parametrize("fell_after_s", [3.0, 6.0])
def test_a_rotor_that_is_spun_again_before_the_proof_is_due_voids_no_number_that_was_seen(fell_after_s: float) -> None:
    """It stood since the only sighting, so that no reader could see the ball again: this shows no bounce."""
    evening = seen_once(9, fell_after_s)
    evening.turn(0)
    evening.wait(3)
    evening.turn(10)
    evening.lying = None
    evening.wait(8)
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")
    assert evening.say("confirm", coup=1, reason="all saw it").done
    assert evening.verdicts() == [("result", 9)]


def test_a_restart_of_the_wheel_after_the_only_sighting_voids_no_number_that_was_seen() -> None:
    evening = seen_once(9, 3.0)
    evening.observe(Restarted(evening.now_us, 0))
    assert (evening.verdicts(), evening.state) == ([], "awaiting_chef")


def test_a_confirmation_of_before_the_question_confirms_nothing_and_may_be_said_again() -> None:
    """On his panel stood another number, perhaps, when the chef pressed it."""
    evening = seen_once(9, 3.0)
    evening.turn(0)
    evening.ask("confirm", coup=1, reason="all saw it")
    evening.wait(12)
    assert (evening.replies[-1].done, evening.state) == (False, "awaiting_chef")
    assert "before the number awaited" in evening.replies[-1].why
    assert evening.say("confirm", coup=1, reason="all saw it").done
    assert evening.verdicts() == [("result", 9)]


def test_a_number_that_the_chef_names_is_his_also_before_the_question() -> None:
    evening = seen_once(9, 3.0)
    evening.turn(0)
    evening.ask("confirm", coup=1, number=12, reason="all saw it")
    evening.wait(12)
    assert evening.verdicts() == [("result", 12)]


def test_after_a_restart_the_chef_was_asked_before_whatever_he_says() -> None:
    """The sensing clock begins anew."""
    evening = seen_once(9, 3.0)
    evening.turn(0)
    evening.wait(12)
    after = Evening(ONE_READER, memory=evening.memory, rpm=0)
    assert after.say("confirm", coup=1, reason="all saw it").done
    assert after.verdicts() == [("result", 9)]
