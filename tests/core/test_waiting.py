"""What the table waits for: codes for programs, and text for the people at it."""

from __future__ import annotations

from itertools import combinations

import msgspec
import pytest

from tests.core.evening import FRENCH as SETTING
from tests.core.evening import Evening
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import Awaited, State, Trouble
from wheeld.core.law.awaited import AWAITED, BEFORE, awaited
from wheeld.core.messages.phrases import AWAITED as WORDS
from wheeld.core.setting import TableSetting
from wheeld.core.state_publisher import waiting_for

A = Awaited


def catalogue(language: Language, setting: TableSetting = SETTING) -> Catalogue:
    return msgspec.structs.replace(setting, language=language).catalogue


FRENCH, ENGLISH = catalogue("fr"), catalogue("en")
ITALIAN = catalogue("it", msgspec.structs.replace(SETTING, void_words="nulla vale"))


def text_of(
    state: State, texts: Catalogue, *owed: Awaited, number: int = 17, faults: tuple[str, ...] = ("beam/2",)
) -> str:
    return waiting_for(awaited(state, frozenset(owed)), texts, laps=3, number=number, faults=faults)


def test_every_code_has_its_words() -> None:
    """Those of `PUT_BACK` depend on the number."""
    assert set(WORDS) == set(Awaited) - {A.PUT_BACK}
    assert len(set(WORDS.values())) == len(WORDS)


def test_every_code_is_awaited_somewhere() -> None:
    assert {code for codes in AWAITED.values() for code in codes} | set(BEFORE) == set(Awaited)


@pytest.mark.parametrize("texts", [FRENCH, ITALIAN, ENGLISH])
@pytest.mark.parametrize("state", State)
def test_every_state_names_what_comes_next(state: State, texts: Catalogue) -> None:
    text = text_of(state, texts, *BEFORE)
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
    assert awaited(State.RIEN_VA, frozenset({A.PUT_BACK})) == (A.PUT_BACK, A.TOUT_VA)
    assert awaited(State.RIEN_VA) == (A.TOUT_VA,)
    assert text_of(State.RIEN_VA, FRENCH, A.PUT_BACK) == "remettre la bille dans le 17, puis « tout va »"
    assert text_of(State.RIEN_VA, ITALIAN, A.PUT_BACK) == "rimettere la pallina nel 17, poi «tutto vale»"
    assert awaited(State.OPERATIONS, frozenset({A.PUT_BACK})) == awaited(State.OPERATIONS)


def test_an_object_is_cleared_before_anything_else() -> None:
    owed = frozenset({A.PUT_BACK, A.CLEAR_OBJECT})
    assert awaited(State.RIEN_VA, owed) == (A.CLEAR_OBJECT, A.PUT_BACK, A.TOUT_VA)
    assert awaited(State.OPERATIONS, owed) == (A.CLEAR_OBJECT, A.OPERATIONS_DONE)


@pytest.mark.parametrize("state", [State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY])
def test_the_next_coup_waits_until_an_object_is_cleared(state: State) -> None:
    """N6: a launch over it would be void."""
    assert text_of(state, FRENCH, A.CLEAR_OBJECT) == "enlever le corps étranger, puis lancement de la bille"


def test_an_object_is_no_matter_where_no_coup_can_follow() -> None:
    for state in (State.CLOSED, State.SUSPENDED):
        assert awaited(state, frozenset({A.CLEAR_OBJECT})) == awaited(state)


def test_after_an_early_launch_both_are_owed() -> None:
    assert awaited(State.RIEN_VA_OPERATIONS_OWED) == (A.TOUT_VA, A.OPERATIONS_DONE)


def test_a_ball_that_is_taken_too_early_is_warned_of() -> None:
    """N2: where a launch is awaited, or is no coup, there is nothing to warn of."""
    owed = (State.OPERATIONS, State.RIEN_VA, State.RIEN_VA_OPERATIONS_OWED)
    for state in State:
        assert (A.NO_LAUNCH in awaited(state, frozenset({A.NO_LAUNCH}))) == (state in owed), state
    text = text_of(State.OPERATIONS, FRENCH, A.NO_LAUNCH)
    assert text == "ne pas lancer encore : un lancement serait nul, puis fin des opérations"


@pytest.mark.parametrize(
    ("number", "place"), [(0, "nello 0"), (1, "nell'1"), (8, "nell'8"), (11, "nell'11"), (17, "nel 17"), (31, "nel 31")]
)
def test_italian_elides_before_a_vowel_of_the_number(number: int, place: str) -> None:
    text = text_of(State.RIEN_VA, ITALIAN, A.PUT_BACK, number=number)
    assert text == f"rimettere la pallina {place}, poi «tutto vale»"


@pytest.mark.parametrize("number", range(37))
def test_french_elides_before_no_number(number: int) -> None:
    """The article stays whole before un, huit and onze."""
    assert f"dans le {number}," in text_of(State.RIEN_VA, FRENCH, A.PUT_BACK, number=number)


@pytest.mark.parametrize(
    ("language", "faults", "text"),
    [
        ("fr", ("beam/2",), "réparer le faisceau 3, puis reprise par la direction"),
        ("fr", ("link", "rotor"), "réparer la liaison avec les capteurs et le capteur du cylindre, puis reprise par "),
        ("it", ("beam/0", "reader/1", "object"), "riparare la fotocellula 1, il lettore 2 e il sensore dei corpi estr"),
        ("it", ("head",), "riparare l'elettronica della roulette, poi ripresa da parte della direzione"),
        ("en", ("beam/2", "head/sensors"), "repair beam 3 and the wheel head's sensors, then resumption by the "),
    ],
)
def test_a_suspension_names_the_sensors_to_repair(language: Language, faults: tuple[str, ...], text: str) -> None:
    """In words, and counted from 1 as people count them."""
    assert text_of(State.SUSPENDED, Catalogue(language), A.REPAIR, faults=faults).startswith(text)
    assert awaited(State.OPERATIONS, frozenset({A.REPAIR})) == (A.OPERATIONS_DONE,)


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
        ("en", {"beam/2": Trouble.CHATTERS}, "beam 3: clean it, align it and check its wire (it reports more often th"),
    ],
)
def test_where_it_is_known_what_is_wrong_a_technician_is_told_what_mends_it(
    language: Language, troubles: dict[str, Trouble | None], text: str
) -> None:
    known = {sensor: trouble for sensor, trouble in troubles.items() if trouble is not None}
    said = waiting_for(
        awaited(State.SUSPENDED, frozenset({A.REPAIR})),
        Catalogue(language),
        laps=3,
        number=17,
        faults=tuple(troubles),
        troubles=known,
    )
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
    assert text_of(State.RIEN_VA, catalogue("it")) == "«tout va»"


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
    assert codes == [["put_back", "tout_va"], ["tout_va"]]
