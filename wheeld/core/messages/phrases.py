"""What is said at the table, in French and Italian: the words of a void, the next steps, and the number (R4)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from wheeld.core.facts import State
from wheeld.core.pockets import NumberFacts


class Phrases(msgspec.Struct, frozen=True, kw_only=True):
    """What a table says in `language`.

    `void` declares a coup void; `next_step` says what each state waits for, with {} for the laps that the chef must
    answer for. `remove_object`, `put_back` (with {} for the number), `tout_va` and `repair` (with {} for the sensors)
    are steps that may come first, and `then` stands between two steps.
    """

    language: str
    void: str
    next_step: dict[State, str]
    remove_object: str
    put_back: str
    tout_va: str
    repair: str
    then: str


FRENCH = Phrases(
    language="French",
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
    language="Italian",
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


class Announcements(msgspec.Struct, frozen=True, kw_only=True):
    """How the bouler announces a number in `language` (R4): `names` of the numbers from 0 on, `chances` where a simple
    chance does not keep its French name, and the `conjunction` before the last chance."""

    language: str
    names: tuple[str, ...]
    chances: Mapping[str, str] = {}
    conjunction: str

    def announce(self, facts: NumberFacts) -> str:
        """The number with its simple chances: "Trente-deux, rouge, pair et passe"; zero alone."""
        name = self.names[facts.number].capitalize()
        if facts.colour is None or facts.parity is None or facts.half is None:
            return name
        chances = (facts.colour, facts.parity, facts.half)
        colour, parity, half = (self.chances.get(chance, chance) for chance in chances)
        return f"{name}, {colour}, {parity} {self.conjunction} {half}"


# fmt: off
IN_FRENCH = Announcements(
    language="French",
    names=(
        "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze",
        "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf", "vingt", "vingt et un",
        "vingt-deux", "vingt-trois", "vingt-quatre", "vingt-cinq", "vingt-six", "vingt-sept", "vingt-huit",
        "vingt-neuf", "trente", "trente et un", "trente-deux", "trente-trois", "trente-quatre", "trente-cinq",
        "trente-six",
    ),
    conjunction="et",
)
IN_ITALIAN = Announcements(
    language="Italian",
    names=(
        "zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci", "undici",
        "dodici", "tredici", "quattordici", "quindici", "sedici", "diciassette", "diciotto", "diciannove",
        "venti", "ventuno", "ventidue", "ventitré", "ventiquattro", "venticinque", "ventisei", "ventisette",
        "ventotto", "ventinove", "trenta", "trentuno", "trentadue", "trentatré", "trentaquattro",
        "trentacinque", "trentasei",
    ),
    chances={"rouge": "rosso", "noir": "nero", "pair": "pari", "impair": "dispari"},
    conjunction="e",
)
# fmt: on
