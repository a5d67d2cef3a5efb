"""The fall into a pocket: number, obstacle, rotor, object, the ball at rest (R3, N4, N5, N6, N8)."""

from __future__ import annotations

from wheeld.core.law.facts import Cause, Fact, State
from wheeld.core.law.guards import EvidenceGuard, Known
from wheeld.core.law.rows import (
    COUP,
    EVERY,
    NO_COUP,
    NULL,
    RUNNING,
    Act,
    ignore,
    notice,
    on,
    void,
)
from wheeld.core.tracking.evidence import Testimony

S, F = State, Fact

NUMBERS = (F.NUMBER, F.NUMBER_UNPROVEN, F.NUMBER_UNCONFIRMED)


def _number(evidence: Testimony, known: Known) -> Fact:
    """A number; or, after a void or in a suspension, the ball put back where it belongs."""
    state = known.table_state.state
    is_put_back = state in (*NULL, S.SUSPENDED) and _is_at_home(evidence, known)
    return F.BALL_IN_PLACE if is_put_back else evidence.fact


def _ball_moved(evidence: Testimony, known: Known) -> Fact:
    """The ball in another pocket; or in that of the last number, or, while there is none, seen for the first time."""
    is_first_seen = known.table_state.last_number is None and "from_pocket_index" not in evidence.figures
    return F.BALL_IN_PLACE if is_first_seen or _is_at_home(evidence, known) else evidence.fact


def _is_at_home(evidence: Testimony, known: Known) -> bool:
    """Whether the ball was seen in the pocket of the last number."""
    return evidence.figures.get("number") in (known.table_state.last_number, None)


GUARDS: dict[Fact, EvidenceGuard] = {**dict.fromkeys(NUMBERS, _number), F.BALL_MOVED: _ball_moved}

ROWS = (
    on(
        F.FALL_OVERDUE,
        (S.BALL_RUNNING, S.RIEN_NE_VA_PLUS),
        S.BALL_ON_OBSTACLE,
        "N5, C11: it rests on an obstacle; no bet is added or withdrawn until it falls or the rotor stops",
        Act.CLOSE_BETS,
    ),
    ignore(F.FALL_OVERDUE, (s for s in State if s not in RUNNING[:2]), "nothing to lock"),
    on(F.NUMBER, RUNNING, S.OPERATIONS, "R3, V: the ball came to rest in a pocket", Act.CLOSE_BETS, Act.RESULT),
    void(
        F.NUMBER_UNPROVEN,
        RUNNING,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, C15: a coup that was not observed whole is never valid",
    ),
    on(
        F.NUMBER_UNCONFIRMED,
        RUNNING,
        S.AWAITING_CHEF,
        "R3; C10 as far as these sensors prove it: where the table is set so, the chef confirms the rest",
        Act.CLOSE_BETS,
        Act.AWAIT,
    ),
    *(
        clause
        for fact in NUMBERS
        for clause in (
            void(
                fact,
                S.AWAITING_CHEF,
                S.SUSPENDED,
                Cause.BREAKDOWN,
                "N8: another number than the one that awaits the chef",
            ),
            notice(fact, NULL, "number_after_void", "C11: a void coup never becomes a result; kept as evidence"),
            notice(fact, S.SUSPENDED, "number_after_void", "C15: play is suspended; kept as evidence"),
            notice(
                fact,
                (S.CLOSED, S.FAITES_VOS_JEUX, S.OPERATIONS),
                "unobserved_coup",
                "no coup was running when this ball was launched",
            ),
            void(
                fact,
                S.BETS_CLOSED_EARLY,
                S.SUSPENDED,
                Cause.BREAKDOWN,
                "N8: bets are closed and the ball fell, yet its launch was not seen",
                Act.BEGIN,
            ),
        )
    ),
    void(
        F.ROTOR_STOPPED_RUNNING,
        RUNNING,
        S.RIEN_VA,
        Cause.ROTOR_STOPPED_RUNNING,
        "N4, C11: the rotor stopped while the ball ran",
    ),
    *(
        ignore(fact, S.AWAITING_CHEF, "N4, N5: armed until the drop; the ball rests in its pocket")
        for fact in (F.ROTOR_STOPPED_RUNNING, F.ROTOR_STOPPED_BEFORE_DROP)
    ),
    ignore(F.ROTOR_STOPPED_RUNNING, NO_COUP, "N4: armed from launch to drop only"),
    void(
        F.ROTOR_STOPPED_BEFORE_DROP,
        RUNNING,
        S.RIEN_VA,
        Cause.ROTOR_STOPPED_BEFORE_DROP,
        "N5, C11: the rotor stopped before the ball fell in a number",
    ),
    ignore(F.ROTOR_STOPPED_BEFORE_DROP, NO_COUP, "A7: between coups the bouler stops and reverses it as he likes"),
    void(
        F.ROTOR_WRONG_WAY,
        COUP,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, VF (A7): a fair wheel has one direction; the other is a fault",
    ),
    ignore(F.ROTOR_WRONG_WAY, NO_COUP, "no coup is running"),
    void(F.OBJECT_IN, RUNNING, S.RIEN_VA, Cause.FOREIGN_OBJECT, "N6, C11: it fell in before the number was out"),
    notice(
        F.OBJECT_IN,
        (*NO_COUP, S.AWAITING_CHEF),
        "foreign_object",
        "N6: voids nothing now; the next coup waits until it is cleared",
    ),
    ignore(F.OBJECT_OUT, EVERY, "N6: what waited for it may go on"),
    notice(F.BALL_MOVED, (S.FAITES_VOS_JEUX, S.OPERATIONS), "unobserved_coup", "a hand, or a coup that no beam saw"),
    void(
        F.BALL_MOVED,
        (S.BETS_CLOSED_EARLY, *COUP),
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8: bets are closed and the ball lies elsewhere, yet no beam saw it run",
        Act.BEGIN,
    ),
    notice(F.BALL_MOVED, NULL, "ball_misplaced", "C11: it belongs in the pocket of the last number"),
    ignore(F.BALL_MOVED, (S.CLOSED, S.SUSPENDED), "no game is on; hands may move the ball"),
    ignore(F.BALL_IN_PLACE, EVERY, "C11: where it belongs between coups"),
)
