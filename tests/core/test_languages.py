"""A table speaks one language: each text of each message is made of that language's catalogue, and of nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from typing import Any, get_args

import msgspec
import pytest
from babel.messages import Message

from tests.core.evening import FRENCH, Evening
from tests.core.head_evening import CHEF, COMBINED, MERCURY, whole_evening
from tests.core.table_in_state import STATES, table_in
from wheeld.core.catalogue import LANGUAGE_NAMES, Catalogue, Language
from wheeld.core.facts import Case
from wheeld.core.messages.phrases import IN_FRENCH
from wheeld.core.observations import Command, CommandName
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.core.setting import TableSetting
from wheeld.locale import read, template, translations
from wheeld.screen.describe import describe

LANGUAGES = tuple(LANGUAGE_NAMES)
CODES = {
    "schema", "language", "site", "table", "boot_id", "coup_id", "at", "since", "evidence_at", "launched_at",
    "bets_closed_at", "left_track_at", "number_at", "prev", "hash", "signature", "state", "bets", "cause", "article",
    "notice", "margin_of", "colour", "parity", "half", "sectors", "unproven", "ball_direction", "rotor_direction",
    "evidence", "figures", "last_void", "house", "game", "rule", "case",
    "last_coup",
}  # fmt: skip
"""Members for programs. Every other member that is a text is for people."""
SAID_IN_FRENCH = {"announcement"}
"""At every table (R4)."""
OF_PEOPLE = {
    "by",
    "user",
    "reason",
    "bouler",
    "next_bouler",
    "acknowledged_by",
    "confirmed_by",
    "confirmed_user",
    "confirmed_reason",
}
"""What a person gave, as he gave it."""
RITUAL = {"rien", "nulla", "va", "vale", "tout", "tutto"}
"""The words of a void, which the configuration chooses."""
CITED = {"art", *"nra", "b"}
"""Rules and articles: "N2, Art. 11"."""
OF_TABLES = ("wheeld/core", "wheeld/broker", "wheeld/screen/describe.py")
"""Where the texts of messages, and those around them on a screen, stand."""


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", text.lower()))


def is_of_tables(message: Message) -> bool:
    """Whether a table may say it, and not only a tool of technicians."""
    return bool(message.id) and any(place.startswith(OF_TABLES) for place, _ in message.locations)


@cache
def vocabulary(language: Language) -> frozenset[str]:
    """The words of a language's catalogue; parts in braces are none."""
    messages = [message for message in template() if is_of_tables(message)]
    texts = [form for message in messages for form in ([message.id] if isinstance(message.id, str) else message.id)]
    if language != "en":
        translated = {message.id: translations(message) for message in read(language)}
        texts = [text for message in messages for text in translated[message.id]]
    return frozenset(word for text in texts for word in words(re.sub(r"\{\w+\}", " ", text)))


def in_language(setting: TableSetting, language: Language) -> TableSetting:
    """With the words of a void in that language; in English in French."""
    return msgspec.structs.replace(setting, language=language, void_words="nulla vale" if language == "it" else None)


def texts_for_people(payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for member, value in payload.items():
        if isinstance(value, str) and member not in CODES | SAID_IN_FRENCH | OF_PEOPLE:
            yield member, value


def check(evening: Evening) -> None:
    """Each text that this evening published, or replied, is in the language of its table."""
    language = evening.setting.table_language
    known = vocabulary(language) | RITUAL | CITED
    for message in evening.published:
        assert message.payload["language"] == language
        for member, text in texts_for_people(message.payload):
            assert words(text) <= known, (message.topic, member, text, words(text) - known)
            assert not re.search(r"\w/\w|_|[{}]", text), text
        shown = describe(message.topic, message.bytes, language)
        announced = words(IN_FRENCH.announce(SINGLE_ZERO.facts[message.payload.get("number", 0)]))
        people = words(" ".join(str(message.payload.get(member, "")) for member in OF_PEOPLE))
        assert words(shown) <= known | announced | people, shown
    for reply in evening.replies:
        assert words(reply.why) <= known, (reply.name, reply.why, words(reply.why) - known)


def command(name: CommandName, *, button: bool = False) -> Callable[[Evening], None]:
    def say(evening: Evening) -> None:
        who = "Anna" if name in ("bouler", "acknowledge") else None
        evening.observe(
            Command(evening.now_us, name, "chef", "asked", who, None if button else "id", evening.table.coup)
        )

    return say


def names_a_case(evening: Evening) -> None:
    for case in Case:
        void = deepcopy(evening)
        void.observe(Command(void.now_us, "rien_va", "chef", "asked", id="id", case=case))
        check(void)


def lacking(evening: Evening) -> None:
    evening.observe(Command(evening.now_us, "bouler", "chef", "asked", None, "a"))
    evening.observe(Command(evening.now_us, "confirm", "chef", "asked", None, "b"))
    evening.observe(Command(evening.now_us, "confirm", "chef", "", None, "c", evening.table.coup))
    evening.observe(Command(evening.now_us, "open", "chef", "asked", None, "d", evening.table.coup + 1))
    evening.observe(Command(evening.now_us, "confirm", "chef", "asked", None, "e", evening.table.coup, number=37))


def runs(evening: Evening) -> None:
    evening.run()
    evening.fall(8)


def runs_short(evening: Evening) -> None:
    evening.run(laps=2.2)
    evening.fall(0)


def runs_hardly_enough(evening: Evening) -> None:
    evening.run(laps=3.75)
    evening.fall(8)


def runs_with_the_rotor(evening: Evening) -> None:
    evening.run(evening.way)
    evening.fall(11)


def is_moved(evening: Evening) -> None:
    evening.lying = 1
    evening.wait(9)


def over_an_object(evening: Evening) -> None:
    evening.drop()
    runs(evening)


def without_sensors(evening: Evening) -> None:
    for sensor in ("beam/2", "reader/0", "rotor", "object", "link"):
        evening.sensor(sensor, ok=False)
    evening.say("resume")


def leaves_sensors_out(evening: Evening) -> None:
    """Also those that are needed, that work, and that nobody has."""
    for sensor in ("beam/2", "object", "rotor"):
        evening.sensor(sensor, ok=False)
    for without in (("rotor",), ("beam/1",), ("beam/2", "beam/3"), ("reader/0", "reader/1", "reader/2"), ()):
        evening.say("resume", without=without)
    evening.sensor("rotor", ok=True)
    evening.say("resume", without=("beam/2", "object"))
    evening.say("suspend")
    evening.sensor("beam/2", ok=True)
    evening.say("resume")


def with_a_stopped_rotor(evening: Evening) -> None:
    evening.launch()
    evening.wait(3)
    evening.turn(0)
    evening.wait(5)


HAPPENINGS: list[Callable[[Evening], None]] = [
    *(command(name) for name in get_args(CommandName)),
    *(command(name, button=True) for name in get_args(CommandName)),
    *(lacking, runs, runs_short, runs_hardly_enough, runs_with_the_rotor, is_moved, over_an_object),
    *(without_sensors, leaves_sensors_out, with_a_stopped_rotor, names_a_case),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", STATES)
def test_whatever_happens_in_a_state_is_said_in_one_language(state: str, language: Language) -> None:
    table = table_in(state, in_language(FRENCH, language))
    for happens in HAPPENINGS:
        evening = deepcopy(table)
        happens(evening)
        check(evening)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_whole_evening_is_said_in_one_language(language: Language) -> None:
    evening = Evening(in_language(FRENCH, language))
    evening.open()
    evening.say("bouler", who="Anna", announced=True)
    evening.say("acknowledge", who="Anna")
    evening.say("bouler", who="Anna")
    evening.coup(8)
    evening.say("operations_done")
    evening.void_by_chef()
    evening.say("tout_va")
    runs_short(evening)
    evening.put_back()
    evening.say("tout_va")
    evening.say("last_coup")
    evening.coup(11)
    evening.launch(laps=5)
    evening.wait(1.5)
    evening._planned.clear()
    evening.put_back()
    evening.say("tout_va")
    evening.say("operations_done")
    evening.wait(1900)
    assert evening.state == "closed"
    assert evening.verdicts() == [
        ("result", 8), ("void", "chef"), ("void", "too_few_laps"), ("result", 11), ("void", "early_launch"),
    ]  # fmt: skip
    check(evening)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_void_without_an_article_names_the_custom_in_one_language(language: Language) -> None:
    venezia = msgspec.structs.replace(FRENCH, house="venezia", game="roulette-francese")
    for happens in (runs_short, runs_with_the_rotor, without_sensors, command("rien_va")):
        evening = table_in("ball_running", in_language(venezia, language))
        happens(evening)
        check(evening)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_restart_in_a_coup_is_said_in_the_language_of_the_table(language: Language) -> None:
    evening = table_in("ball_running", in_language(FRENCH, language))
    check(Evening(evening.setting, memory=evening.memory))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("setting", [MERCURY, CHEF, COMBINED])
def test_an_evening_with_a_wheel_head_is_said_in_one_language(setting: TableSetting, language: Language) -> None:
    check(whole_evening(in_language(setting, language)))


def test_the_language_is_the_houses_unless_the_configuration_chooses() -> None:
    own = msgspec.structs.replace(FRENCH, language=None)
    assert own.table_language == "fr"
    fair = msgspec.structs.replace(own, game="fair", wheel="fair", rotor_direction="ccw")
    assert fair.table_language == "it"
    assert in_language(fair, "en").table_language == "en"


def test_a_foreign_word_is_found() -> None:
    evening = Evening(in_language(FRENCH, "it"))
    table = evening.table
    evening._keep(0, table.remark("sealed", Catalogue("en").say("the journal is sealed"), {}))
    with pytest.raises(AssertionError, match="journal"):
        check(evening)


def test_every_language_has_words_of_its_own() -> None:
    for one in LANGUAGES:
        for other in {*LANGUAGES} - {one}:
            assert len(vocabulary(one) - vocabulary(other)) > 100
