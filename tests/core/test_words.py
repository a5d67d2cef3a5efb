"""What is announced at the table, written out by hand."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from tests.core.evening import FRENCH as SETTING
from tests.core.regulations import text
from wheeld.core.catalogue import Catalogue
from wheeld.core.facts import Cause
from wheeld.core.houses import CUSTOMS, PROFILES, TOUT_VA
from wheeld.core.messages.phrases import IN_ENGLISH, IN_FRENCH
from wheeld.core.pockets import DOUBLE_ZERO, SINGLE_ZERO, number_of

AMERICAN = ("south-dakota", "american")
ENGLISH = Catalogue("en")
FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt vingt_et_un vingt-deux vingt-trois vingt-quatre vingt-cinq vingt-six vingt-sept vingt-huit "
    "vingt-neuf trente trente_et_un trente-deux trente-trois trente-quatre trente-cinq trente-six"
)


def test_every_number_in_french() -> None:
    assert list(IN_FRENCH.names) == [word.replace("_", " ") for word in FRENCH.split()]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "Zéro"),
        (1, "Un, rouge, impair et manque"),
        (10, "Dix, noir, pair et manque"),
        (17, "Dix-sept, noir, impair et manque"),
        (18, "Dix-huit, rouge, pair et manque"),
        (19, "Dix-neuf, rouge, impair et passe"),
        (21, "Vingt et un, rouge, impair et passe"),
        (32, "Trente-deux, rouge, pair et passe"),
        (36, "Trente-six, rouge, pair et passe"),
    ],
)
def test_the_bouler_announces_number_and_simple_chances_in_french(number: int, words: str) -> None:
    assert IN_FRENCH.announce(SINGLE_ZERO.facts[number]) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "Zero"),
        (number_of("00"), "Double zero"),
        (1, "One, red, odd and low"),
        (17, "Seventeen, black, odd and low"),
        (28, "Twenty-eight, black, even and high"),
        (36, "Thirty-six, red, even and high"),
    ],
)
def test_the_announcement_in_english(number: int, words: str) -> None:
    assert IN_ENGLISH.announce(DOUBLE_ZERO.facts[number]) == words


def test_the_five_tables_of_the_rulebook() -> None:
    assert {pair: profile.wheel for pair, profile in PROFILES.items()} == {
        ("campione", "roulette"): "french",
        ("campione", "fair"): "fair",
        ("venezia", "roulette-francese"): "french",
        ("venezia", "fair"): "fair",
        ("south-dakota", "american"): "french",
    }


def test_the_ritual_words_of_article_11() -> None:
    """C11 has each in French and in Italian; the pairs belong together."""
    regulation = text("campione-roulette.txt")
    french = {void: after for void, after in TOUT_VA.items() if void != "no spin"}
    assert french == {"rien va": "tout va", "nulla vale": "tutto vale"}
    for void, tout_va in french.items():
        assert f"“{void}”" in regulation
        assert f"“{tout_va}”" in regulation


def test_every_table_declares_a_void_in_its_house_s_words_unless_its_configuration_says_otherwise() -> None:
    """Fair tables announce in French too (VF)."""
    words = {pair: profile.void_words for pair, profile in PROFILES.items()}
    assert words.pop(AMERICAN) == "no spin"
    assert set(words.values()) == {"rien va"}
    assert SETTING.words == "rien va"
    assert msgspec.structs.replace(SETTING, void_words="nulla vale").words == "nulla vale"


def test_a_reason_cites_each_rule_with_the_houses_article() -> None:
    profile = PROFILES["campione", "roulette"]
    assert profile.cited(("N1", "A7"), "it turns", ENGLISH) == "N1, Art. 11; A7: it turns"
    assert profile.cited(("3",), "put it back", ENGLISH) == "rulebook 3, Art. 11: put it back"
    assert profile.cited((), "the table is open", ENGLISH) == "the table is open"
    assert profile.cited(("3", "N1"), "remis", Catalogue("fr")) == "règles 3, Art. 11 ; N1, Art. 11 : remis"


def test_a_reason_reads_well_without_articles() -> None:
    profile = PROFILES["venezia", "fair"]
    assert profile.cited(("N1", "A7"), "it turns", ENGLISH) == "N1; A7: it turns"
    assert profile.cited(("3",), "put it back", ENGLISH) == "rulebook 3: put it back"


def test_a_void_without_an_article_names_the_custom() -> None:
    campione, venezia = PROFILES["campione", "roulette"], PROFILES["venezia", "roulette-francese"]
    assert campione.void_cited(("N3", "R2"), "too short", ENGLISH) == "N3, Art. 11; R2, Art. 10: too short"
    custom = "by custom, a coup whose ball runs too few laps is void"
    assert venezia.void_cited(("N3", "R2"), "too short", ENGLISH) == f"N3; R2: too short; {custom}"
    custom = "by custom, a coup that was not observed to its end is void"
    assert campione.void_cited(("N8", "A6"), "suspended", ENGLISH) == f"N8; A6, Art. 15: suspended; {custom}"
    custom = "per consuetudine è nullo un colpo la cui pallina fa troppo pochi giri"
    assert venezia.void_cited(("N3",), "poca spinta", Catalogue("it")) == f"N3: poca spinta; {custom}"


def test_articles_are_those_that_the_regulations_number() -> None:
    """Of these only Campione's roulette numbers any, and Art. 11 is the one that voids a coup; no article has N8."""
    for (house, game), profile in PROFILES.items():
        if (house, game) == AMERICAN:
            continue
        regulation = text(f"{house}-{'fair-roulette' if game == 'fair' else game}.txt")
        numbered = {f"Art. {n}" for n in re.findall(r"^#+ \W*Art\. (\d+)", regulation, re.MULTILINE)}
        assert set(profile.articles.values()) <= numbered
        assert bool(numbered) == bool(profile.articles) == ((house, game) == ("campione", "roulette"))


def test_every_void_has_an_article_or_a_custom() -> None:
    assert {cause.rule for cause in Cause} == set(CUSTOMS)


def test_south_dakota_cites_what_the_page_of_the_standards_cites() -> None:
    articles = set(PROFILES[AMERICAN].articles.items())
    assert articles == {(rule, "ARSD 20:18:34:05–06") for rule in ("R1", "R2", "N1", "N3", "N6")}
    page = (Path(__file__).parents[2] / "docs" / "standards.md").read_text()
    assert "South Dakota 20:18:34:05–06 (same direction, short of 4 laps, foreign object, ball leaves the" in page


def test_every_french_table_announces_in_french_and_asks_three_laps() -> None:
    """R4, VF; R2: the setting's default is the house's minimum."""
    asked = {pair: (profile.announcements, profile.min_laps) for pair, profile in PROFILES.items()}
    assert asked.pop(AMERICAN) == (IN_ENGLISH, 4)
    assert all(each == (IN_FRENCH, SETTING.min_laps) for each in asked.values())
