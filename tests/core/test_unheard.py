"""A network that is cut while a coup runs: the number waits for words of before it (docs/rulebook.md N7)."""

from __future__ import annotations

import pytest

from tests.core.evening import FRENCH, Evening
from wheeld.core.law.waiting import ON_THEIR_WAY_US
from wheeld.core.observations import Command, Heard
from wheeld.replay import T_US_MAX, check_line

SECOND_US = 1_000_000


def cut_in_a_run(before_rest_s: float = 1.0) -> Evening:
    """A valid coup whose ball rests in 8 and is proven there; the network was cut before it came to rest."""
    evening = Evening().open()
    passes = evening.launch()
    evening.until(passes[-1].t_us)
    evening.observe(Heard(evening.now_us, until_us=evening.now_us - round(before_rest_s * SECOND_US)))
    evening.fall(8)
    evening.wait(6)
    return evening


def rien_va(t_us: int, until_us: int | None = None) -> Command:
    return Command(t_us, "rien_va", "chef", "a bet was late", id="late", until_us=until_us)


def test_a_number_waits_until_everybody_was_heard() -> None:
    evening = cut_in_a_run()
    assert evening.verdicts() == []
    evening.observe(Heard(evening.now_us))
    assert evening.verdicts() == [("result", 8)]


@pytest.mark.parametrize("is_dated", [True, False])
def test_a_word_that_the_network_delayed_voids_the_coup(*, is_dated: bool) -> None:
    evening = cut_in_a_run()
    cut_us = next(seen.t_us for seen in evening.seen if isinstance(seen, Heard))
    evening.observe(rien_va(cut_us) if is_dated else rien_va(cut_us, evening.now_us))
    evening.observe(Heard(evening.now_us))
    assert evening.verdicts() == [("void", "chef")]


def test_a_word_of_after_the_number_is_late_though_the_number_waits() -> None:
    evening = cut_in_a_run()
    evening.observe(rien_va(evening.now_us))
    evening.observe(Heard(evening.now_us))
    assert evening.verdicts() == [("result", 8)]
    assert not evening.replies[-1].done


def test_a_rotor_that_is_stopped_while_the_number_waits_voids_nothing() -> None:
    evening = cut_in_a_run()
    evening.turn(0)
    evening.wait(10)
    evening.observe(Heard(evening.now_us))
    assert evening.verdicts() == [("result", 8)]


def test_the_number_waits_for_words_no_longer_than_a_broker_keeps_them() -> None:
    evening = cut_in_a_run()
    evening.wait(ON_THEIR_WAY_US / SECOND_US)
    assert evening.verdicts() == [("result", 8)]
    (result,) = evening.of("result")
    assert result["late_s"] > 40


def proven_while_it_awaits_the_chef() -> Evening:
    """A hand stops the rotor before a third sighting, so that the number awaits the chef; the network is cut since
    before the ball came to rest. Then the rotor turns on, and the readers prove the number after all."""
    evening = Evening().open()
    passes = evening.launch()
    evening.until(passes[-1].t_us)
    evening.observe(Heard(evening.now_us, until_us=evening.now_us - SECOND_US))
    evening.wait(2)
    evening.lying = 8
    while len(evening.readers.state.streak) < 2:
        evening.wait(0.05)
    evening.turn(0)
    evening.wait(8)
    assert evening.state == "awaiting_chef"
    evening.turn(20)
    evening.wait(9)
    return evening


def test_a_number_that_is_proven_while_it_awaits_the_chef_waits_for_words_too() -> None:
    evening = proven_while_it_awaits_the_chef()
    assert (evening.state, evening.verdicts()) == ("awaiting_chef", [])
    evening.observe(Heard(evening.now_us))
    assert evening.verdicts() == [("result", 8)]


def test_a_word_of_before_that_number_voids_the_coup() -> None:
    evening = proven_while_it_awaits_the_chef()
    cut_us = next(seen.t_us for seen in evening.seen if isinstance(seen, Heard))
    evening.observe(rien_va(cut_us, evening.now_us))
    evening.observe(Heard(evening.now_us))
    assert evening.verdicts() == [("void", "chef")]


def test_a_cut_that_begins_after_the_number_delays_nothing() -> None:
    evening = Evening().open()
    passes = evening.launch()
    evening.until(passes[-1].t_us)
    evening.wait(1)
    evening.lying = 8
    while len(evening.readers.state.streak) < 2:
        evening.wait(0.05)
    evening.wait(0.3)
    assert evening.verdicts() == []
    evening.observe(Heard(evening.now_us, until_us=evening.now_us - 100_000))
    evening.wait(6)
    assert evening.verdicts() == [("result", 8)]


def test_a_void_does_not_wait() -> None:
    """The chef's button beside the wheel needs no network."""
    evening = Evening().open()
    evening.launch()
    evening.wait(3)
    evening.observe(Heard(evening.now_us, until_us=evening.now_us - SECOND_US))
    evening.observe(Command(evening.now_us, "rien_va", "button"))
    evening.wait(0.1)
    assert evening.verdicts() == [("void", "chef")]


def test_a_logged_line_says_until_when_everybody_was_heard() -> None:
    """As a line of a recorded log."""
    check_line(Heard(9), FRENCH, last_us=0)
    check_line(Heard(9, until_us=0), FRENCH, last_us=0)
    check_line(Heard(9, until_us=10), FRENCH, last_us=0)
    for until_us in (-1, T_US_MAX + 1):
        with pytest.raises(ValueError, match="until"):
            check_line(Heard(9, until_us=until_us), FRENCH, last_us=0)
