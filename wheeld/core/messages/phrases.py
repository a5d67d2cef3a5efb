"""What is said at the table, in French and Italian: the words of a void, the next steps, and the number (R4)."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.facts import State
from wheeld.core.pockets import NumberFacts

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


class Phrases(msgspec.Struct, frozen=True, kw_only=True):
    """What a table says in one language.

    `void` declares a coup void; `next_step` says what each state waits for, with {} for the laps that the chef must
    answer for. `remove_object`, `put_back` (with {} for the number), `tout_va` and `repair` (with {} for the sensors)
    are steps that may come first, and `then` stands between two steps.
    """

    void: str
    next_step: dict[State, str]
    remove_object: str
    put_back: str
    tout_va: str
    repair: str
    then: str


FRENCH = Phrases(
    void="rien va",
    next_step={
        State.CLOSED: "ouverture de la table",
        State.FAITES_VOS_JEUX: "lancement de la bille",
        State.BETS_CLOSED_EARLY: "lancement de la bille",
        State.BALL_RUNNING: "« rien ne va plus », puis le numéro",
        State.RIEN_NE_VA_PLUS: "le numéro",
        State.BALL_ON_OBSTACLE: "chute de la bille ou arrêt du cylindre ; aucune mise ajoutée ni retirée",
        State.AWAITING_CHEF: (
            "confirmation du chef : au moins {} tours de la bille, qu'aucun capteur ne prouve ; sinon « rien va »"
        ),
        State.OPERATIONS: "fin des opérations",
        State.SUSPENDED: "reprise par la direction",
    },
    remove_object="enlever le corps étranger",
    put_back="remettre la bille dans le {}",
    tout_va="« tout va »",
    repair="réparer {}",
    then=", puis ",
)
ITALIAN = Phrases(
    void="nulla vale",
    next_step={
        State.CLOSED: "apertura del tavolo",
        State.FAITES_VOS_JEUX: "lancio della pallina",
        State.BETS_CLOSED_EARLY: "lancio della pallina",
        State.BALL_RUNNING: "«rien ne va plus», poi il numero",
        State.RIEN_NE_VA_PLUS: "il numero",
        State.BALL_ON_OBSTACLE: "caduta della pallina o arresto del cilindro; nessuna puntata aggiunta o tolta",
        State.AWAITING_CHEF: (
            "conferma del capo tavolo: almeno {} giri della pallina, che nessun sensore prova; se no, «nulla vale»"
        ),
        State.OPERATIONS: "fine delle operazioni",
        State.SUSPENDED: "ripresa da parte della direzione",
    },
    remove_object="togliere il corpo estraneo",
    put_back="rimettere la pallina nel {}",
    tout_va="«tutto vale»",
    repair="riparare {}",
    then=", poi ",
)


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


def announcement(facts: NumberFacts, language: Language) -> str:
    """How the bouler calls a number (R4): "Trente-deux, rouge, pair et passe"; zero alone."""
    name = french(facts.number) if language == "fr" else italian(facts.number)
    if facts.colour is None or facts.parity is None or facts.half is None:
        return name.capitalize()
    chances = (facts.colour, facts.parity, facts.half)
    if language == "it":
        colour, parity, half = (_IT_CHANCES[chance] for chance in chances)
        return f"{name.capitalize()}, {colour}, {parity} e {half}"
    colour, parity, half = chances
    return f"{name.capitalize()}, {colour}, {parity} et {half}"
