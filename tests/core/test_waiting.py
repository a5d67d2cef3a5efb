"""What the table waits for, as text for the people at it."""

from __future__ import annotations

import pytest

from wheeld.core.facts import State
from wheeld.core.messages.phrases import FRENCH, ITALIAN, Phrases
from wheeld.core.state_publisher import waiting_for


@pytest.mark.parametrize("phrases", [FRENCH, ITALIAN])
@pytest.mark.parametrize("state", State)
def test_every_state_names_what_comes_next(state: State, phrases: Phrases) -> None:
    text = waiting_for(state, phrases)
    assert text.strip()
    assert "{" not in text


def test_the_two_languages_differ() -> None:
    for state in State:
        if state not in (State.RIEN_VA,):
            assert waiting_for(state, FRENCH) != waiting_for(state, ITALIAN), state


def test_after_a_void_the_ball_goes_home_first_then_tout_va() -> None:
    """C11: put back into the pocket of the number that came out last, then "tout va"."""
    assert waiting_for(State.RIEN_VA, FRENCH, misplaced=17) == "remettre la bille dans le 17, puis « tout va »"
    assert waiting_for(State.RIEN_VA, FRENCH) == "« tout va »"
    assert waiting_for(State.RIEN_VA, ITALIAN, misplaced=17) == "rimettere la pallina nel 17, poi «tutto vale»"


def test_an_object_is_cleared_before_anything_else() -> None:
    text = waiting_for(State.RIEN_VA, FRENCH, object_present=True, misplaced=17)
    assert text == "enlever le corps étranger, puis remettre la bille dans le 17, puis « tout va »"
    assert waiting_for(State.OPERATIONS, FRENCH, object_present=True).startswith("enlever le corps étranger")


@pytest.mark.parametrize("state", [State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY])
def test_the_next_coup_waits_until_an_object_is_cleared(state: State) -> None:
    """N6: a launch over it would be void."""
    assert waiting_for(state, FRENCH, object_present=True) == "enlever le corps étranger, puis lancement de la bille"


def test_an_object_is_no_matter_where_no_coup_can_follow() -> None:
    for state in (State.CLOSED, State.SUSPENDED):
        assert waiting_for(state, FRENCH, object_present=True) == waiting_for(state, FRENCH)


def test_after_an_early_launch_both_are_owed() -> None:
    text = waiting_for(State.RIEN_VA_OPERATIONS_OWED, FRENCH)
    assert "« tout va »" in text
    assert text.endswith("fin des opérations")


def test_a_suspension_names_the_sensors_to_repair() -> None:
    text = waiting_for(State.SUSPENDED, FRENCH, faults=("beam/2", "rotor"))
    assert text == "réparer beam/2, rotor, puis reprise par la direction"
    assert "beam/2" not in waiting_for(State.OPERATIONS, FRENCH, faults=("beam/2",))
