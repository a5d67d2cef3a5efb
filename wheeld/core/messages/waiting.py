"""What must happen next, in words that a person at the table understands (`waiting_for`)."""

from __future__ import annotations

from wheeld.core.law.facts import State
from wheeld.core.messages.phrases import Language

_PLAIN: dict[State, dict[Language, str]] = {
    State.CLOSED: {"fr": "ouverture de la table", "it": "apertura del tavolo"},
    State.FAITES_VOS_JEUX: {"fr": "lancement de la bille", "it": "lancio della pallina"},
    State.BETS_CLOSED_EARLY: {"fr": "lancement de la bille", "it": "lancio della pallina"},
    State.BALL_RUNNING: {"fr": "« rien ne va plus », puis le numéro", "it": "«rien ne va plus», poi il numero"},
    State.RIEN_NE_VA_PLUS: {"fr": "le numéro", "it": "il numero"},
    State.BALL_ON_OBSTACLE: {
        "fr": "chute de la bille ou arrêt du cylindre ; aucune mise ajoutée ni retirée",
        "it": "caduta della pallina o arresto del cilindro; nessuna puntata aggiunta o tolta",
    },
    State.AWAITING_CHEF: {
        "fr": "confirmation du chef : au moins {} tours de la bille, qu'aucun capteur ne prouve ; sinon « rien va »",
        "it": "conferma del capo tavolo: almeno {} giri della pallina, che nessun sensore prova; se no, «nulla vale»",
    },
    State.OPERATIONS: {"fr": "fin des opérations", "it": "fine delle operazioni"},
    State.SUSPENDED: {"fr": "reprise par la direction", "it": "ripresa da parte della direzione"},
}
_OBJECT: dict[Language, str] = {"fr": "enlever le corps étranger", "it": "togliere il corpo estraneo"}
_PLACE: dict[Language, str] = {"fr": "remettre la bille dans le {}", "it": "rimettere la pallina nel {}"}
_LIFT: dict[Language, str] = {"fr": "« tout va »", "it": "«tutto vale»"}
_REPAIR: dict[Language, str] = {"fr": "réparer {}", "it": "riparare {}"}
_THEN: dict[Language, str] = {"fr": ", puis ", "it": ", poi "}
_OBJECT_MATTERS = (
    State.FAITES_VOS_JEUX,
    State.BETS_CLOSED_EARLY,
    State.OPERATIONS,
    State.RIEN_VA,
    State.RIEN_VA_OPERATIONS_OWED,
)
"""N6: the next coup waits until it is cleared, and a launch over it is void."""


def waiting_for(
    state: State,
    language: Language,
    *,
    object_present: bool = False,
    misplaced: int | None = None,
    faults: tuple[str, ...] = (),
    laps: int = 3,
) -> str:
    """The steps still owed, in order. `misplaced` is the number whose pocket the ball belongs in and isn't; `laps` are
    those that Art. 10 asks, which the chef must answer for where no sensor can prove them (R2)."""
    steps = []
    if object_present and state in _OBJECT_MATTERS:
        steps.append(_OBJECT[language])
    if state is State.SUSPENDED and faults:
        steps.append(_REPAIR[language].format(", ".join(faults)))
    if state in (State.RIEN_VA, State.RIEN_VA_OPERATIONS_OWED):
        if misplaced is not None:
            steps.append(_PLACE[language].format(misplaced))
        steps.append(_LIFT[language])
        if state is State.RIEN_VA_OPERATIONS_OWED:
            steps.append(_PLAIN[State.OPERATIONS][language])
    else:
        steps.append(_PLAIN[state][language].format(laps))
    return _THEN[language].join(steps)
