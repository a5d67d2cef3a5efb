"""What is said at the table, in French and Italian. R4: the number is announced in French at every table."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.pockets import facts_of

Language: TypeAlias = Literal["fr", "it"]

# fmt: off
_FR_UNITS = (
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
)
_IT_UNITS = (
    "zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci", "undici", "dodici",
    "tredici", "quattordici", "quindici", "sedici", "diciassette", "diciotto", "diciannove",
)
# fmt: on
_FR_TENS = {2: "vingt", 3: "trente"}
_IT_TENS = {2: "venti", 3: "trenta"}
_IT_CHANCES = {
    "rouge": "rosso",
    "noir": "nero",
    "pair": "pari",
    "impair": "dispari",
    "manque": "manque",
    "passe": "passe",
}


class Phrases(msgspec.Struct, frozen=True):
    """The ritual words of C11 and V in one language."""

    void: str
    lift: str
    open: str
    closed: str


PHRASES: dict[Language, Phrases] = {
    "fr": Phrases(void="rien va", lift="tout va", open="faites vos jeux", closed="rien ne va plus"),
    "it": Phrases(void="nulla vale", lift="tutto vale", open="fate il vostro gioco", closed="rien ne va plus"),
}


def french(number: int) -> str:
    """The number in French words, 0…36: 21 is "vingt et un", 32 "trente-deux"."""
    if number < 20:
        return _FR_UNITS[number]
    tens, unit = divmod(number, 10)
    if unit == 0:
        return _FR_TENS[tens]
    return f"{_FR_TENS[tens]} et un" if unit == 1 else f"{_FR_TENS[tens]}-{_FR_UNITS[unit]}"


def italian(number: int) -> str:
    """The number in Italian words, 0…36: 21 is "ventuno", 28 "ventotto", 33 "trentatré"."""
    if number < 20:
        return _IT_UNITS[number]
    tens, unit = divmod(number, 10)
    stem = _IT_TENS[tens]
    if unit == 0:
        return stem
    if unit == 3:
        return f"{stem}tré"
    return f"{stem[:-1] if unit in (1, 8) else stem}{_IT_UNITS[unit]}"


def announcement(number: int, language: Language = "fr") -> str:
    """How the bouler calls it (R4): "Trente-deux, rouge, pair et passe"; zero alone."""
    word = french(number) if language == "fr" else italian(number)
    facts = facts_of(number)
    if facts.colour is None or facts.parity is None or facts.half is None:
        return word.capitalize()
    chances = (facts.colour, facts.parity, facts.half)
    if language == "it":
        colour, parity, half = (_IT_CHANCES[chance] for chance in chances)
        return f"{word.capitalize()}, {colour}, {parity} e {half}"
    colour, parity, half = chances
    return f"{word.capitalize()}, {colour}, {parity} et {half}"
