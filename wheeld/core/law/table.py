"""The law of the table: one row for every (state, fact), each with its article or its reason.

How it is read. A *fact* is what the trackers have proven, or what a person asked for, already joined with what decides
between two outcomes (a number after too few laps is another fact than a number). A *state* is where the table stands.
The row says where the table goes, whether a coup begins or ends and how, and why. The step is a look-up: nothing is
decided anywhere else. What people ask stands in `law_people`, all else here. Articles: C Campione roulette, V Venezia
roulette francese, VF Venezia Fair; R, N and A are the rulebook's own rows.

Three states are published under one name: before the launch, after it, and while a number awaits the chef, "rien ne va
plus" closes the bets alike.
`RETURN` goes back to where a suspension began; `STAY` stays.
"""

from __future__ import annotations

from types import MappingProxyType

from wheeld.core.law.facts import Cause, Fact, State
from wheeld.core.law.people import PEOPLE
from wheeld.core.law.rows import (
    BEFORE_LAUNCH,
    COUP,
    EVERY,
    IDLE,
    NO_COUP,
    NULL,
    RUNNING,
    Act,
    Row,
    ignore,
    notice,
    on,
    void,
)

S, F = State, Fact


# --- The launch (A1, N2) ----------------------------------------------------------------------------------------------
_LAUNCH = (
    on(F.LAUNCHED, S.FAITES_VOS_JEUX, S.BALL_RUNNING, "A1: the launch starts the coup", Act.BEGIN),
    on(F.LAUNCHED, S.BETS_CLOSED_EARLY, S.RIEN_NE_VA_PLUS, "A1: the launch awaited since rien ne va plus", Act.BEGIN),
    void(
        F.LAUNCHED_OVER_OBJECT,
        BEFORE_LAUNCH,
        S.RIEN_VA,
        Cause.FOREIGN_OBJECT,
        "N6, C11: the object lay in the cylinder before the number",
        Act.BEGIN,
    ),
    *(
        clause
        for fact in (F.LAUNCHED, F.LAUNCHED_OVER_OBJECT)
        for clause in (
            void(
                fact,
                S.OPERATIONS,
                S.RIEN_VA_OPERATIONS_OWED,
                Cause.EARLY_LAUNCH,
                "N2, C11: the operations of the previous coup are not finished",
                Act.BEGIN,
            ),
            void(fact, S.RIEN_VA, S.RIEN_VA, Cause.EARLY_LAUNCH, 'N2, C11: launched before "tout va"', Act.BEGIN),
            void(
                fact,
                S.RIEN_VA_OPERATIONS_OWED,
                S.RIEN_VA_OPERATIONS_OWED,
                Cause.EARLY_LAUNCH,
                'N2, C11: launched before "tout va", operations not finished either',
                Act.BEGIN,
            ),
            void(
                fact,
                COUP,
                S.SUSPENDED,
                Cause.BREAKDOWN,
                "N8: a second launch within a coup means that the first was not observed whole",
            ),
            notice(fact, S.CLOSED, "launch_while_closed", "rulebook 6: no game is on"),
            notice(fact, S.SUSPENDED, "launch_while_suspended", "rulebook 6: no game is on"),
        )
    ),
)

# --- A launch proven only after the table moved on (a lap proves it; its first pass dates it) -------------------------
_LAUNCH_BEFORE = (
    void(
        F.LAUNCHED_BEFORE,
        BEFORE_LAUNCH,
        S.RIEN_VA,
        Cause.EARLY_LAUNCH,
        "N2, C11: the ball ran before the table was ready for it",
        Act.BEGIN,
    ),
    void(
        F.LAUNCHED_BEFORE,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "N2, C11: the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    ignore(F.LAUNCHED_BEFORE, NULL, "it is the ball of the coup that is void already"),
    void(F.LAUNCHED_BEFORE, S.CLOSED, S.CLOSED, Cause.BREAKDOWN, "A6, C15: play ended while it ran", Act.BEGIN),
    void(
        F.LAUNCHED_BEFORE,
        (*RUNNING, S.SUSPENDED),
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, C15: the coup that ran was not observed whole",
        Act.BEGIN,
    ),
)

# --- A launch of no coup to come (rulebook 6, N7) ---------------------------------------------------------------------
_LAUNCH_OF_NO_COUP = (
    notice(F.LAUNCHED_IDLE, EVERY, "launch_while_closed", "rulebook 6: no game was on when it was launched"),
    ignore(F.LAUNCHED_NULL, EVERY, "N7, C11: its coup was null before it was proven; or hands moved it"),
)

# --- A launch too weak to be followed (rulebook 6, N3) ----------------------------------------------------------------
_WEAK_LAUNCH = (
    void(
        F.WEAK_LAUNCH,
        (*BEFORE_LAUNCH, *RUNNING),
        S.RIEN_VA,
        Cause.TOO_FEW_LAPS,
        "N3, C11: launched, however few its passes; fewer full laps than C10 asks are proven",
        Act.BEGIN,
    ),
    void(
        F.WEAK_LAUNCH,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "N2, C11: the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    *(
        void(
            fact,
            S.AWAITING_CHEF,
            S.SUSPENDED,
            Cause.BREAKDOWN,
            "N8: a second launch within a coup means that the first was not observed whole",
        )
        for fact in (F.WEAK_LAUNCH, F.LAUNCHED_BEFORE)
    ),
    ignore(F.WEAK_LAUNCH, NULL, "C11: hands put the ball back now; a stray pulse launches nothing"),
    ignore(F.WEAK_LAUNCH, (S.CLOSED, S.SUSPENDED), "no game is on; hands may move the ball"),
)

# --- The run (R1, R2, N1, N3, A1) -------------------------------------------------------------------------------------
_RUN = (
    void(F.SAME_DIRECTION, COUP, S.RIEN_VA, Cause.SAME_DIRECTION, "N1, C11: the ball must run against the rotor (C10)"),
    ignore(F.SAME_DIRECTION, NO_COUP, "no coup is running; it would have been void"),
    ignore(F.STRAY_PULSE, EVERY, "observation log: sensors lie; no ball made it"),
    ignore(F.OPPOSITE_DIRECTION, EVERY, "R1, C10: as it must be"),
    on(F.BALL_SLOWED, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1: said by itself at the configured speed", Act.CLOSE_BETS),
    ignore(F.BALL_SLOWED, (s for s in State if s is not S.BALL_RUNNING), "bets are closed, or no coup is running"),
    notice(F.VOID_FORESEEN, RUNNING, "void_foreseen", "C10: a forecast voids nothing; the ball may be stopped by hand"),
    notice(F.LEAVING_FORESEEN, RUNNING, "leaving_foreseen", "a forecast decides nothing"),
    *(
        ignore(fact, (s for s in State if s not in RUNNING), "no coup is running, or its number is known")
        for fact in (F.VOID_FORESEEN, F.LEAVING_FORESEEN)
    ),
    void(F.LEFT_TRACK_SHORT, COUP, S.RIEN_VA, Cause.TOO_FEW_LAPS, "N3, C11: fewer full laps than C10 asks are proven"),
    ignore(F.LEFT_TRACK_SHORT, NO_COUP, "no coup is running"),
    ignore(F.LEFT_TRACK, EVERY, "the number, or an obstacle, decides"),
)

# --- The drop (R3, N4, N5, N6, N8) ------------------------------------------------------------------------------------
_DROP = (
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
        for fact in (F.NUMBER, F.NUMBER_UNPROVEN, F.NUMBER_UNCONFIRMED)
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

# --- Breakdown (N8, C15) ----------------------------------------------------------------------------------------------
_BREAKDOWN = (
    void(F.SENSOR_FAULT, COUP, S.SUSPENDED, Cause.BREAKDOWN, "N8, C15: what observes the mechanism failed"),
    on(F.SENSOR_FAULT, IDLE, S.SUSPENDED, "N8, C15: nothing is adjudicated without its sensors"),
    ignore(F.SENSOR_FAULT, S.SUSPENDED, "suspended already; resume waits for it"),
    ignore(F.SENSOR_MENDED, EVERY, "A6: a person resumes, not a sensor"),
    void(F.RESTARTED, COUP, S.SUSPENDED, Cause.BREAKDOWN, "N8: the restart hid a part of the coup"),
    ignore(F.RESTARTED, NO_COUP, "no coup was running: the table is where it was"),
)

# --- What only a wheel head tells (N8, C15) ---------------------------------------------------------------------------
_HEAD = (
    void(
        F.LAUNCH_UNSEEN,
        BEFORE_LAUNCH,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, C15: a ball runs whose launch was not observed",
        Act.BEGIN,
    ),
    void(
        F.LAUNCH_UNSEEN,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "N2, C11: whenever it was, the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    ignore(F.LAUNCH_UNSEEN, NULL, "it is the ball of the coup that is void already"),
    notice(F.LAUNCH_UNSEEN, S.CLOSED, "launch_while_closed", "rulebook 6: no game is on"),
    notice(F.LAUNCH_UNSEEN, S.SUSPENDED, "launch_while_suspended", "rulebook 6: no game is on"),
    *(
        void(fact, COUP, S.SUSPENDED, Cause.BREAKDOWN, "N8, C15: the coup that runs was not observed whole")
        for fact in (F.LAUNCH_UNSEEN, F.UNOBSERVED_COUP)
    ),
    void(
        F.UNOBSERVED_COUP,
        S.BETS_CLOSED_EARLY,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, C15: the wheel has counted a coup that nobody observed",
        Act.BEGIN,
    ),
    notice(
        F.UNOBSERVED_COUP,
        (s for s in NO_COUP if s is not S.BETS_CLOSED_EARLY),
        "unobserved_coup",
        "N8: what came of it is not known, and no number is guessed",
    ),
    void(F.WHEEL_VOID, COUP, S.SUSPENDED, Cause.BREAKDOWN, "N8, C15: the wheel itself declares its game void"),
    notice(F.WHEEL_VOID, (s for s in NO_COUP if s not in NULL), "wheel_void", "no coup is running; a result stands"),
    ignore(F.WHEEL_VOID, NULL, "its coup is void already"),
    void(
        F.NUMBER_CORRECTED,
        COUP,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, C15: a wheel that contradicts its own number proves none; nobody confirms it",
    ),
    notice(
        F.NUMBER_CORRECTED,
        NO_COUP,
        "number_corrected",
        "N7, N8: a verdict stands; the chef looks at the ball before anything is paid",
    ),
)

CLAUSES = (*_LAUNCH, *_LAUNCH_BEFORE, *_LAUNCH_OF_NO_COUP, *_WEAK_LAUNCH, *_RUN, *_DROP, *_BREAKDOWN, *_HEAD, *PEOPLE)
LAW = MappingProxyType({(state, clause.fact): clause.row for clause in CLAUSES for state in clause.states})


def rule(state: State, fact: Fact) -> Row:
    """The row for `fact` in `state`; there always is one."""
    return LAW[state, fact]
