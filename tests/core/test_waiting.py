"""What the table waits for: codes for programs, and text for the people at it."""

from __future__ import annotations

from itertools import combinations

import msgspec
import pytest

from tests.core.evening import FRENCH as SETTING
from tests.core.evening import Evening
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import Awaited, State, Trouble
from wheeld.core.law.needs import (
    AT_REST,
    CLEARED,
    DIRECTION_SAYS,
    IN_PLACE,
    LEVEL_TOLD,
    NEEDS,
    NO_MORE_BETS,
    NOT_ELSEWHERE,
    NOT_RUNNING,
    NOT_TAKEN,
    SEEN_TO_TURN,
    SENSORS_WORK,
    WHEEL_PLAYS,
)
from wheeld.core.law.rows import AFTER_VOID, NO_COUP, Need
from wheeld.core.law.table import AWAITED, FACTS, codes, rule
from wheeld.core.messages.phrases import AWAITED as WORDS
from wheeld.core.setting import TableSetting
from wheeld.core.table import waiting_for

A = Awaited


def catalogue(language: Language, setting: TableSetting = SETTING) -> Catalogue:
    return msgspec.structs.replace(setting, language=language).catalogue


FRENCH, ENGLISH = catalogue("fr"), catalogue("en")
ITALIAN = catalogue("it", msgspec.structs.replace(SETTING, void_words="nulla vale"))


def awaited(state: State, *lacks: Need) -> tuple[Awaited, ...]:
    """What the table waits for where this is lacking; what the commands that lead on do not need changes nothing."""
    needed = {need for step in AWAITED[state] if step in FACTS for need in rule(state, FACTS[step]).needs}
    return codes(state, needed & set(lacks))


def text_of(
    state: State, texts: Catalogue, *lacks: Need, number: int = 17, faults: tuple[str, ...] = ("beam/2",)
) -> str:
    return waiting_for(awaited(state, *lacks), texts, laps=3, number=number, failing=dict.fromkeys(faults))


def test_every_code_has_its_words() -> None:
    """Those of `PUT_BACK` depend on the number."""
    assert set(WORDS) == set(Awaited) - {A.PUT_BACK}
    assert len(set(WORDS.values())) == len(WORDS)


def test_every_code_is_awaited_somewhere() -> None:
    owed = {need.code for need in NEEDS} - {None}
    assert {code for steps in AWAITED.values() for code in steps} | owed == set(Awaited)


@pytest.mark.parametrize(
    ("need", "states"),
    [
        (NOT_TAKEN, (State.OPERATIONS, *AFTER_VOID)),
        (CLEARED, (State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY, State.OPERATIONS, *AFTER_VOID)),
        (SENSORS_WORK, (State.CLOSED, State.SUSPENDED)),
        (WHEEL_PLAYS, (State.CLOSED, State.SUSPENDED)),
        (DIRECTION_SAYS, (State.SUSPENDED,)),
        (AT_REST, (State.CLOSED, State.OPERATIONS, State.RIEN_VA, State.SUSPENDED)),
        (LEVEL_TOLD, NO_COUP),
        (NOT_RUNNING, AFTER_VOID),
        (NOT_ELSEWHERE, AFTER_VOID),
        (IN_PLACE, AFTER_VOID),
        (SEEN_TO_TURN, AFTER_VOID),
        (NO_MORE_BETS, (State.FAITES_VOS_JEUX,)),
    ],
)
def test_each_need_is_waited_for_in_its_states(need: Need, states: tuple[State, ...]) -> None:
    assert {state for state in State if awaited(state, need) != awaited(state)} == set(states)
    assert all(need.code in awaited(state, need) for state in states)


def test_what_must_come_first_stands_first() -> None:
    """A rotor that stands is turned after the ball is put back; nothing tells a level before the line is repaired."""
    assert awaited(State.RIEN_VA, *NEEDS) == (
        A.NO_LAUNCH, A.BLOCK_BALL, A.CLEAR_OBJECT, A.BALL_AT_REST, A.CLEAR_OBSTACLE, A.OBJECT_LEVEL, A.PUT_BACK,
        A.TURN_ROTOR, A.TOUT_VA,
    )  # fmt: skip
    suspended = (A.REPAIR, A.START_WHEEL, A.BALL_AT_REST, A.CLEAR_OBSTACLE, A.DIRECTION, A.RESUME)
    assert awaited(State.SUSPENDED, *NEEDS) == suspended
    assert awaited(State.SUSPENDED, LEVEL_TOLD) == (A.OBJECT_LEVEL, A.RESUME)


@pytest.mark.parametrize("texts", [FRENCH, ITALIAN, ENGLISH])
@pytest.mark.parametrize("state", State)
def test_every_state_names_what_comes_next(state: State, texts: Catalogue) -> None:
    text = text_of(state, texts, *NEEDS)
    assert text.strip()
    assert "{" not in text


@pytest.mark.parametrize(("one", "other"), list(combinations([FRENCH, ITALIAN, ENGLISH], 2)))
def test_the_languages_differ(one: Catalogue, other: Catalogue) -> None:
    for state in State:
        assert text_of(state, one) != text_of(state, other), state


def test_the_game_runs_from_code_to_code() -> None:
    assert awaited(State.CLOSED) == (A.OPEN,)
    assert awaited(State.FAITES_VOS_JEUX) == (A.LAUNCH,)
    assert awaited(State.BETS_CLOSED_EARLY) == (A.LAUNCH,)
    assert awaited(State.BALL_RUNNING) == (A.RIEN_NE_VA_PLUS, A.NUMBER)
    assert awaited(State.RIEN_NE_VA_PLUS) == (A.NUMBER,)
    assert awaited(State.BALL_ON_OBSTACLE) == (A.FALL_OR_STOP,)
    assert awaited(State.AWAITING_CHEF) == (A.CONFIRM,)
    assert awaited(State.OPERATIONS) == (A.OPERATIONS_DONE,)
    assert text_of(State.BALL_RUNNING, FRENCH) == "« rien ne va plus », puis le numéro"


def test_after_a_void_the_ball_goes_home_first_then_tout_va() -> None:
    """C11: put back into the pocket of the number that came out last, then "tout va"."""
    assert awaited(State.RIEN_VA, IN_PLACE) == (A.PUT_BACK, A.TOUT_VA)
    assert awaited(State.RIEN_VA) == (A.TOUT_VA,)
    assert (
        text_of(State.RIEN_VA, FRENCH, IN_PLACE)
        == "remettre la bille dans le 17, puis « tout va », quand vous voyez la bille dans sa case"
    )
    assert (
        text_of(State.RIEN_VA, ITALIAN, IN_PLACE)
        == "rimettere la pallina nel 17, poi «tutto vale», quando si vede la pallina nella sua casella"
    )
    assert awaited(State.OPERATIONS, IN_PLACE) == awaited(State.OPERATIONS)


def test_an_object_is_cleared_before_anything_else() -> None:
    lacks = (IN_PLACE, CLEARED)
    assert awaited(State.RIEN_VA, *lacks) == (A.CLEAR_OBJECT, A.PUT_BACK, A.TOUT_VA)
    assert awaited(State.OPERATIONS, *lacks) == (A.CLEAR_OBJECT, A.OPERATIONS_DONE)


@pytest.mark.parametrize("state", [State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY])
def test_the_next_coup_waits_until_an_object_is_cleared(state: State) -> None:
    """N6: a launch over it would be void."""
    assert text_of(state, FRENCH, CLEARED) == "enlever le corps étranger, puis lancement de la bille"


def test_an_object_is_no_matter_where_no_coup_can_follow() -> None:
    for state in (State.CLOSED, State.SUSPENDED):
        assert awaited(state, CLEARED) == awaited(state)


def test_after_an_early_launch_both_are_owed() -> None:
    assert awaited(State.RIEN_VA_OPERATIONS_OWED) == (A.TOUT_VA, A.OPERATIONS_DONE)


def test_a_ball_that_is_taken_too_early_is_warned_of() -> None:
    """N2: where a launch is awaited, or would begin no coup, there is nothing to warn of."""
    owed = (State.OPERATIONS, State.RIEN_VA, State.RIEN_VA_OPERATIONS_OWED)
    for state in State:
        assert (A.NO_LAUNCH in awaited(state, NOT_TAKEN)) == (state in owed), state
    text = text_of(State.OPERATIONS, FRENCH, NOT_TAKEN)
    assert text == "ne pas lancer encore : un lancement serait nul, puis fin des opérations"


@pytest.mark.parametrize(
    ("number", "place"), [(0, "nello 0"), (1, "nell'1"), (8, "nell'8"), (11, "nell'11"), (17, "nel 17"), (31, "nel 31")]
)
def test_italian_elides_before_a_vowel_of_the_number(number: int, place: str) -> None:
    text = text_of(State.RIEN_VA, ITALIAN, IN_PLACE, number=number)
    assert text == f"rimettere la pallina {place}, poi «tutto vale», quando si vede la pallina nella sua casella"


@pytest.mark.parametrize("number", range(37))
def test_french_elides_before_no_number(number: int) -> None:
    """The article stays whole before un, huit and onze."""
    assert f"dans le {number}," in text_of(State.RIEN_VA, FRENCH, IN_PLACE, number=number)


@pytest.mark.parametrize(
    ("language", "faults", "text"),
    [
        ("fr", ("beam/2",), "réparer le faisceau 3, puis reprise du jeu"),
        ("fr", ("link", "rotor"), "réparer la liaison avec les capteurs et le capteur du cylindre, puis reprise "),
        ("it", ("beam/0", "reader/1", "object"), "riparare la fotocellula 1, il lettore 2 e il sensore dei corpi estr"),
        ("it", ("head",), "riparare l'elettronica della roulette, poi ripresa del gioco"),
        ("en", ("beam/2", "head/sensors"), "repair beam 3 and the wheel head's sensors, then resumption of play"),
    ],
)
def test_a_suspension_names_the_sensors_to_repair(language: Language, faults: tuple[str, ...], text: str) -> None:
    """In words, and counted from 1 as people count them."""
    assert text_of(State.SUSPENDED, Catalogue(language), SENSORS_WORK, faults=faults).startswith(text)
    assert awaited(State.OPERATIONS, SENSORS_WORK) == (A.OPERATIONS_DONE,)


@pytest.mark.parametrize(
    ("language", "troubles", "text"),
    [
        (
            "fr",
            {"link": Trouble.NOTHING_HEARD},
            "vérifier l'alimentation et le câble de la carte des capteurs (on ne reç",
        ),
        (
            "it",
            {"link": Trouble.CLOCK_RAN_BACK},
            "spegnere e riaccendere la scheda dei sensori, e segnalare il suo fir",
        ),
        (
            "it",
            {"beam/2": None, "beam/1": Trouble.CHATTERS},
            "la fotocellula 2: pulire, allineare e controllare il filo",
        ),
        ("en", {"beam/2": Trouble.CHATTERS}, "beam 3: clean it, align it and check its wire (the sensor reports more"),
    ],
)
def test_where_it_is_known_what_is_wrong_a_technician_is_told_what_mends_it(
    language: Language, troubles: dict[str, Trouble | None], text: str
) -> None:
    codes_owed = awaited(State.SUSPENDED, SENSORS_WORK)
    said = waiting_for(codes_owed, Catalogue(language), laps=3, number=17, failing=troubles)
    assert said.startswith(text)
    assert (say_repair(language) in said) == (None in troubles.values())


def say_repair(language: Language) -> str:
    return {"fr": "réparer", "it": "riparare", "en": "repair"}[language]


@pytest.mark.parametrize("language", ["fr", "it"])
def test_every_trouble_is_said_in_every_language(language: Language) -> None:
    catalogue = Catalogue(language)
    for trouble in Trouble:
        for english in (trouble.text, trouble.mend):
            assert catalogue.say(english) != english, trouble


def test_the_ritual_words_are_those_of_the_table() -> None:
    assert text_of(State.AWAITING_CHEF, ITALIAN).endswith("altrimenti «nulla vale»")
    assert text_of(State.AWAITING_CHEF, catalogue("it")).endswith("altrimenti «rien va»")
    assert text_of(State.RIEN_VA, catalogue("it")).startswith("«tout va», ")


def test_the_table_publishes_codes_with_its_words() -> None:
    evening = Evening().open()
    evening.coup(4)
    evening.drop()
    table = evening.of("table")[-1]
    assert table["waiting_codes"] == ["clear_object", "operations_done"]
    assert table["waiting_for"] == "remove the foreign object, then end of operations"
    evening.sensor("beam/1", ok=False)
    assert evening.of("table")[-1]["waiting_codes"] == ["repair", "resume"]
    evening.sensor("beam/1", ok=True)
    assert evening.of("table")[-1]["waiting_codes"] == ["resume"]


def test_after_a_void_the_codes_follow_the_ball() -> None:
    evening = Evening().open()
    evening.void_by_chef()
    codes = [table["waiting_codes"] for table in evening.of("table") if table["state"] == "rien_va"]
    assert codes == [["block_ball", "put_back", "tout_va"], ["put_back", "tout_va"], ["tout_va"]]
