"""What is announced at the table, written out by hand."""

from __future__ import annotations

import pytest

from tests.core.evening import FRENCH as SETTING
from wheeld.core.houses import PROFILES
from wheeld.core.messages.phrases import IN_FRENCH, IN_ITALIAN
from wheeld.core.pockets import SINGLE_ZERO

FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt vingt_et_un vingt-deux vingt-trois vingt-quatre vingt-cinq vingt-six vingt-sept vingt-huit "
    "vingt-neuf trente trente_et_un trente-deux trente-trois trente-quatre trente-cinq trente-six"
)
ITALIAN = (
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove venti ventuno ventidue ventitré ventiquattro venticinque ventisei ventisette "
    "ventotto ventinove trenta trentuno trentadue trentatré trentaquattro trentacinque trentasei"
)


def test_every_number_in_french() -> None:
    assert list(IN_FRENCH.names) == [word.replace("_", " ") for word in FRENCH.split()]


def test_every_number_in_italian() -> None:
    assert list(IN_ITALIAN.names) == ITALIAN.split()


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
    [(0, "Zero"), (21, "Ventuno, rosso, dispari e passe"), (28, "Ventotto, nero, pari e passe")],
)
def test_the_announcement_in_italian(number: int, words: str) -> None:
    assert IN_ITALIAN.announce(SINGLE_ZERO.facts[number]) == words


def test_the_four_tables_of_the_rulebook() -> None:
    assert {pair: profile.wheel for pair, profile in PROFILES.items()} == {
        ("campione", "roulette"): "french",
        ("campione", "fair"): "fair",
        ("venezia", "roulette-francese"): "french",
        ("venezia", "fair"): "fair",
    }


def test_the_ritual_words_of_article_11() -> None:
    french_words, italian_words = PROFILES["campione", "roulette"].phrases, PROFILES["campione", "fair"].phrases
    assert (french_words.void, french_words.tout_va) == ("rien va", "« tout va »")
    assert (italian_words.void, italian_words.tout_va) == ("nulla vale", "«tutto vale»")


def test_a_reason_cites_each_rule_with_the_houses_article() -> None:
    profile = PROFILES["campione", "roulette"]
    assert profile.cited(("N8", "A7"), "it turns") == "N8, Art. 15; A7: it turns"
    assert profile.cited(("3",), "put it back") == "rulebook 3, Art. 11: put it back"
    assert profile.cited((), "the table is open") == "the table is open"


def test_every_table_announces_in_french_and_asks_three_laps() -> None:
    """R4, VF; R2: the setting's default is the house's minimum."""
    for profile in PROFILES.values():
        assert (profile.announcements, profile.min_laps) == (IN_FRENCH, SETTING.min_laps)
