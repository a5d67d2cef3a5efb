"""The law of the table: one row for every (state, fact), each with its article or its reason.

How it is read. A *fact* is what the trackers have proven, or what a person asked for, already joined with what decides
between two outcomes (a number after too few laps is another fact than a number). A *state* is where the table stands.
The row says where the table goes, whether a coup begins or ends and how, and why. The step is a look-up: nothing is
decided anywhere else. Articles: C Campione roulette, V Venezia roulette francese, VF Venezia Fair; R, N and A are the
rulebook's own rows.

Two states are published under one name: before the launch and after it "rien ne va plus" closes the bets alike.
`RETURN` goes back to where a suspension began; `STAY` stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, unique
from types import MappingProxyType

import msgspec

from wheeld.core.facts import Cause, Fact, State


@unique
class Goto(Enum):
    """Where a row goes when it names no state."""

    STAY = "stay"
    RETURN = "return"


STAY, RETURN = Goto.STAY, Goto.RETURN


@unique
class Act(Enum):
    """What a row does besides moving; the façade carries each out in one place."""

    BEGIN = "begin a coup"
    RESULT = "publish the result"
    CLOSE_BETS = "note that bets closed"
    NOTE_LAST = "note la dernière"
    FORGET_LAST = "la dernière is over"
    NOTE_BOULER = "note the bouler"
    NOTICE = "publish a notice"


class Row(msgspec.Struct, frozen=True):
    """What one fact does in one state, and why. `refuse` answers a command that must not pass."""

    next: State | Goto
    why: str
    void: Cause | None = None
    acts: tuple[Act, ...] = ()
    notice: str | None = None
    refuse: bool = False


S, F = State, Fact
RUNNING = (S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, S.BALL_ON_OBSTACLE)
BEFORE_LAUNCH = (S.FAITES_VOS_JEUX, S.BETS_CLOSED_EARLY)
NULL = (S.RIEN_VA, S.RIEN_VA_OPERATIONS_OWED)
IDLE = (S.CLOSED, *BEFORE_LAUNCH, S.OPERATIONS, *NULL)
EVERY = tuple(State)
NO_COUP = tuple(state for state in State if state not in RUNNING)


class Clause(msgspec.Struct, frozen=True):
    """One sentence of the law: the same row for a fact in several states."""

    fact: Fact
    states: tuple[State, ...]
    row: Row


def _on(fact: Fact, states: State | Iterable[State], to: State | Goto, why: str, *acts: Act) -> Clause:
    return Clause(fact, _states(states), Row(to, why, acts=acts))


def _void(fact: Fact, states: State | Iterable[State], to: State, cause: Cause, why: str, *acts: Act) -> Clause:
    return Clause(fact, _states(states), Row(to, why, void=cause, acts=acts))


def _notice(fact: Fact, states: State | Iterable[State], kind: str, why: str, *acts: Act) -> Clause:
    return Clause(fact, _states(states), Row(STAY, why, acts=(*acts, Act.NOTICE), notice=kind))


def _refuse(fact: Fact, states: State | Iterable[State], why: str) -> Clause:
    return Clause(fact, _states(states), Row(STAY, why, refuse=True))


def _ignore(fact: Fact, states: State | Iterable[State], why: str) -> Clause:
    return Clause(fact, _states(states), Row(STAY, why))


def _states(states: State | Iterable[State]) -> tuple[State, ...]:
    return (states,) if isinstance(states, State) else tuple(states)


# --- The launch (A1, N2) ----------------------------------------------------------------------------------------------
_LAUNCH = (
    _on(F.LAUNCHED, S.FAITES_VOS_JEUX, S.BALL_RUNNING, "A1: the launch starts the coup", Act.BEGIN),
    _on(F.LAUNCHED, S.BETS_CLOSED_EARLY, S.RIEN_NE_VA_PLUS, "A1: the launch awaited since rien ne va plus", Act.BEGIN),
    _void(
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
            _void(
                fact,
                S.OPERATIONS,
                S.RIEN_VA_OPERATIONS_OWED,
                Cause.EARLY_LAUNCH,
                "N2, C11: the operations of the previous coup are not finished",
                Act.BEGIN,
            ),
            _void(fact, S.RIEN_VA, S.RIEN_VA, Cause.EARLY_LAUNCH, 'N2, C11: launched before "tout va"', Act.BEGIN),
            _void(
                fact,
                S.RIEN_VA_OPERATIONS_OWED,
                S.RIEN_VA_OPERATIONS_OWED,
                Cause.EARLY_LAUNCH,
                'N2, C11: launched before "tout va", operations not finished either',
                Act.BEGIN,
            ),
            _void(
                fact,
                RUNNING,
                S.SUSPENDED,
                Cause.BREAKDOWN,
                "N8: a second launch within a coup means that the first was not observed whole",
            ),
            _notice(fact, S.CLOSED, "launch_while_closed", "rulebook 6: no game is on"),
            _notice(fact, S.SUSPENDED, "launch_while_suspended", "rulebook 6: no game is on"),
        )
    ),
)

# --- A launch proven only after the table moved on (a lap proves it; its first pass dates it) -------------------------
_LAUNCH_BEFORE = (
    _void(
        F.LAUNCHED_BEFORE,
        BEFORE_LAUNCH,
        S.RIEN_VA,
        Cause.EARLY_LAUNCH,
        "N2, C11: the ball ran before the table was ready for it",
        Act.BEGIN,
    ),
    _void(
        F.LAUNCHED_BEFORE,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "N2, C11: the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    _ignore(F.LAUNCHED_BEFORE, NULL, "it is the ball of the coup that is void already"),
    _void(F.LAUNCHED_BEFORE, S.CLOSED, S.CLOSED, Cause.BREAKDOWN, "A6, C15: play ended while it ran", Act.BEGIN),
    _void(
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
    _notice(F.LAUNCHED_IDLE, EVERY, "launch_while_closed", "rulebook 6: no game was on when it was launched"),
    _ignore(F.LAUNCHED_NULL, EVERY, "N7, C11: its coup was null before it was proven; or hands moved it"),
)

# --- A launch too weak to be followed (rulebook 6, N3) ----------------------------------------------------------------
_WEAK_LAUNCH = (
    _void(
        F.WEAK_LAUNCH,
        (*BEFORE_LAUNCH, *RUNNING),
        S.RIEN_VA,
        Cause.TOO_FEW_LAPS,
        "N3, C11: launched, however few its passes; fewer full laps than C10 asks are proven",
        Act.BEGIN,
    ),
    _void(
        F.WEAK_LAUNCH,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "N2, C11: the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    _ignore(F.WEAK_LAUNCH, NULL, "C11: hands put the ball back now; a stray pulse launches nothing"),
    _ignore(F.WEAK_LAUNCH, (S.CLOSED, S.SUSPENDED), "no game is on; hands may move the ball"),
)

# --- The run (R1, R2, N1, N3, A1) -------------------------------------------------------------------------------------
_RUN = (
    _void(
        F.SAME_DIRECTION, RUNNING, S.RIEN_VA, Cause.SAME_DIRECTION, "N1, C11: the ball must run against the rotor (C10)"
    ),
    _ignore(F.SAME_DIRECTION, NO_COUP, "no coup is running; it would have been void"),
    _ignore(F.STRAY_PULSE, EVERY, "observation log: sensors lie; no ball made it"),
    _ignore(F.OPPOSITE_DIRECTION, EVERY, "R1, C10: as it must be"),
    _on(F.BALL_SLOWED, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1: said by itself at the configured speed", Act.CLOSE_BETS),
    _ignore(F.BALL_SLOWED, (s for s in State if s is not S.BALL_RUNNING), "bets are closed, or no coup is running"),
    _notice(
        F.VOID_FORESEEN, RUNNING, "void_foreseen", "C10: a forecast voids nothing; the ball may be stopped by hand"
    ),
    _notice(F.LEAVING_FORESEEN, RUNNING, "leaving_foreseen", "a forecast decides nothing"),
    *(_ignore(fact, NO_COUP, "no coup is running") for fact in (F.VOID_FORESEEN, F.LEAVING_FORESEEN)),
    _void(
        F.LEFT_TRACK_SHORT, RUNNING, S.RIEN_VA, Cause.TOO_FEW_LAPS, "N3, C11: fewer full laps than C10 asks are proven"
    ),
    _ignore(F.LEFT_TRACK_SHORT, NO_COUP, "no coup is running"),
    _ignore(F.LEFT_TRACK, EVERY, "the number, or an obstacle, decides"),
)

# --- The drop (R3, N4, N5, N6, N8) ------------------------------------------------------------------------------------
_DROP = (
    _on(
        F.FALL_OVERDUE,
        (S.BALL_RUNNING, S.RIEN_NE_VA_PLUS),
        S.BALL_ON_OBSTACLE,
        "N5, C11: it rests on an obstacle; no bet is added or withdrawn until it falls or the rotor stops",
        Act.CLOSE_BETS,
    ),
    _ignore(F.FALL_OVERDUE, (s for s in State if s not in RUNNING[:2]), "nothing to lock"),
    _on(F.NUMBER, RUNNING, S.OPERATIONS, "R3, V: the ball came to rest in a pocket", Act.CLOSE_BETS, Act.RESULT),
    _void(
        F.NUMBER_UNPROVEN,
        RUNNING,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, C15: a coup that was not observed whole is never valid",
    ),
    *(
        clause
        for fact in (F.NUMBER, F.NUMBER_UNPROVEN)
        for clause in (
            _notice(fact, NULL, "number_after_void", "C11: a void coup never becomes a result; kept as evidence"),
            _notice(fact, S.SUSPENDED, "number_after_void", "C15: play is suspended; kept as evidence"),
            _notice(
                fact,
                (S.CLOSED, S.FAITES_VOS_JEUX, S.OPERATIONS),
                "unobserved_coup",
                "no coup was running when this ball was launched",
            ),
            _void(
                fact,
                S.BETS_CLOSED_EARLY,
                S.SUSPENDED,
                Cause.BREAKDOWN,
                "N8: bets are closed and the ball fell, yet its launch was not seen",
                Act.BEGIN,
            ),
        )
    ),
    _void(
        F.ROTOR_STOPPED_RUNNING,
        RUNNING,
        S.RIEN_VA,
        Cause.ROTOR_STOPPED_RUNNING,
        "N4, C11: the rotor stopped while the ball ran",
    ),
    _ignore(F.ROTOR_STOPPED_RUNNING, NO_COUP, "N4: armed from launch to drop only"),
    _void(
        F.ROTOR_STOPPED_BEFORE_DROP,
        RUNNING,
        S.RIEN_VA,
        Cause.ROTOR_STOPPED_BEFORE_DROP,
        "N5, C11: the rotor stopped before the ball fell in a number",
    ),
    _ignore(F.ROTOR_STOPPED_BEFORE_DROP, NO_COUP, "A7: between coups the bouler stops and reverses it as he likes"),
    _void(
        F.ROTOR_WRONG_WAY,
        RUNNING,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8, VF (A7): a fair wheel has one direction; the other is a fault",
    ),
    _ignore(F.ROTOR_WRONG_WAY, NO_COUP, "no coup is running"),
    _void(F.OBJECT_IN, RUNNING, S.RIEN_VA, Cause.FOREIGN_OBJECT, "N6, C11: it fell in before the number was out"),
    _notice(F.OBJECT_IN, NO_COUP, "foreign_object", "N6: voids nothing now; the next coup waits until it is cleared"),
    _ignore(F.OBJECT_OUT, EVERY, "N6: what waited for it may go on"),
    _notice(F.BALL_MOVED, (S.FAITES_VOS_JEUX, S.OPERATIONS), "unobserved_coup", "a hand, or a coup that no beam saw"),
    _void(
        F.BALL_MOVED,
        (S.BETS_CLOSED_EARLY, *RUNNING),
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "N8: bets are closed and the ball lies elsewhere, yet no beam saw it run",
        Act.BEGIN,
    ),
    _notice(F.BALL_MOVED, NULL, "ball_misplaced", "C11: it belongs in the pocket of the last number"),
    _ignore(F.BALL_MOVED, (S.CLOSED, S.SUSPENDED), "no game is on; hands may move the ball"),
    _ignore(F.BALL_IN_PLACE, EVERY, "C11: where it belongs between coups"),
)

# --- Breakdown (N8, C15) ----------------------------------------------------------------------------------------------
_BREAKDOWN = (
    _void(F.SENSOR_FAULT, RUNNING, S.SUSPENDED, Cause.BREAKDOWN, "N8, C15: what observes the mechanism failed"),
    _on(F.SENSOR_FAULT, IDLE, S.SUSPENDED, "N8, C15: nothing is adjudicated without its sensors"),
    _ignore(F.SENSOR_FAULT, S.SUSPENDED, "suspended already; resume waits for it"),
    _ignore(F.SENSOR_MENDED, EVERY, "A6: a person resumes, not a sensor"),
    _void(F.RESTARTED, RUNNING, S.SUSPENDED, Cause.BREAKDOWN, "N8: the restart hid a part of the coup"),
    _ignore(F.RESTARTED, NO_COUP, "no coup was running: the table is where it was"),
)

# --- What people ask (A1–A6, N7) --------------------------------------------------------------------------------------
_PEOPLE = (
    _on(F.OPEN, S.CLOSED, S.FAITES_VOS_JEUX, "A1, V: faites vos jeux"),
    *(_refuse(fact, (s for s in State if s is not S.CLOSED), "the table is open") for fact in (F.OPEN, F.OPEN_FAULTY)),
    _refuse(F.OPEN_FAULTY, S.CLOSED, "N8: a sensor still fails, no coup could be observed whole"),
    _on(
        F.RIEN_NE_VA_PLUS,
        S.FAITES_VOS_JEUX,
        S.BETS_CLOSED_EARLY,
        "rulebook 6: said before the launch, bets close",
        Act.CLOSE_BETS,
    ),
    _on(F.RIEN_NE_VA_PLUS, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1, A2, C12: no bet is withdrawn now", Act.CLOSE_BETS),
    _ignore(
        F.RIEN_NE_VA_PLUS,
        (S.BETS_CLOSED_EARLY, S.RIEN_NE_VA_PLUS, S.BALL_ON_OBSTACLE),
        "rulebook 6: bets are closed already, saying it again changes nothing",
    ),
    _refuse(F.RIEN_NE_VA_PLUS, (S.CLOSED, S.OPERATIONS, *NULL, S.SUSPENDED), "no bets are open"),
    *(
        clause
        for fact in (F.CHEF_VOID, F.CHEF_VOID_AT_LAUNCH)
        for clause in (
            _void(fact, RUNNING, S.RIEN_VA, Cause.CHEF, "N7, C11: the chef declares the coup null"),
            _void(
                fact,
                S.BETS_CLOSED_EARLY,
                S.RIEN_VA,
                Cause.CHEF,
                "N7, C11: the chef declares the coup null before its launch",
                Act.BEGIN,
            ),
            _refuse(fact, S.OPERATIONS, "N7: the number is out, a result stands"),
            _refuse(fact, (S.CLOSED, *NULL, S.SUSPENDED), "N7: no coup is running"),
        )
    ),
    _refuse(F.CHEF_VOID, S.FAITES_VOS_JEUX, "N7: no ball runs and bets are open, there is no coup to void"),
    _void(
        F.CHEF_VOID_AT_LAUNCH,
        S.FAITES_VOS_JEUX,
        S.RIEN_VA,
        Cause.CHEF,
        "N7, C11: the chef declares null the coup that begins",
        Act.BEGIN,
    ),
    _on(F.TOUT_VA, S.RIEN_VA, S.FAITES_VOS_JEUX, "C11: the ball is in its pocket, the game goes on"),
    _on(F.TOUT_VA_LAST, S.RIEN_VA, S.CLOSED, "A5, C14: la dernière was played before the void", Act.FORGET_LAST),
    *(
        _on(fact, S.RIEN_VA_OPERATIONS_OWED, S.OPERATIONS, "rulebook 6: after an early launch operations are owed too")
        for fact in (F.TOUT_VA, F.TOUT_VA_LAST)
    ),
    _refuse(F.TOUT_VA_MISPLACED, NULL, "C11: put the ball in the pocket of the last number first"),
    _refuse(F.TOUT_VA_OBJECT, NULL, "N6: clear the foreign object first"),
    *(
        _refuse(fact, (s for s in State if s not in NULL), "nothing was void")
        for fact in (F.TOUT_VA, F.TOUT_VA_LAST, F.TOUT_VA_MISPLACED, F.TOUT_VA_OBJECT)
    ),
    _on(F.OPERATIONS_DONE, S.OPERATIONS, S.FAITES_VOS_JEUX, "A1: the coup is paid, faites vos jeux"),
    _on(F.OPERATIONS_DONE_LAST, S.OPERATIONS, S.CLOSED, "A5, C14: la dernière was that coup", Act.FORGET_LAST),
    *(
        _on(fact, S.RIEN_VA_OPERATIONS_OWED, S.RIEN_VA, 'rulebook 6: "tout va" is still owed')
        for fact in (F.OPERATIONS_DONE, F.OPERATIONS_DONE_LAST, F.OPERATIONS_DONE_OBJECT)
    ),
    _refuse(F.OPERATIONS_DONE_OBJECT, S.OPERATIONS, "N6: the next coup waits until the foreign object is cleared"),
    *(
        _refuse(
            fact, (s for s in State if s not in (S.OPERATIONS, S.RIEN_VA_OPERATIONS_OWED)), "no operations are owed"
        )
        for fact in (F.OPERATIONS_DONE, F.OPERATIONS_DONE_LAST, F.OPERATIONS_DONE_OBJECT)
    ),
    _refuse(F.LAST_COUP, S.CLOSED, "A5: the table is closed"),
    _on(
        F.LAST_COUP,
        (s for s in State if s is not S.CLOSED),
        STAY,
        "A5, C14: announced; the next valid coup is the last",
        Act.NOTE_LAST,
    ),
    _void(F.CLOSE, RUNNING, S.CLOSED, Cause.BREAKDOWN, "A6, C15: play ended while a coup ran", Act.FORGET_LAST),
    _on(
        F.CLOSE,
        (*IDLE[1:], S.SUSPENDED),
        S.CLOSED,
        "A6, C15: the direction may end play at any moment",
        Act.FORGET_LAST,
    ),
    _refuse(F.CLOSE, S.CLOSED, "the table is closed"),
    _void(F.SUSPEND, RUNNING, S.SUSPENDED, Cause.BREAKDOWN, "A6, C15: suspended; what was running is void"),
    _on(F.SUSPEND, IDLE, S.SUSPENDED, "A6, C15: the direction may suspend play at any moment"),
    _refuse(F.SUSPEND, S.SUSPENDED, "play is suspended already"),
    _on(F.RESUME, S.SUSPENDED, RETURN, "A6: resumed; a coup that was running was void"),
    _refuse(F.RESUME_FAULTY, S.SUSPENDED, "N8: a sensor still fails, no coup could be observed whole"),
    *(
        _refuse(fact, (s for s in State if s is not S.SUSPENDED), "play is not suspended")
        for fact in (F.RESUME, F.RESUME_FAULTY)
    ),
    _notice(F.BOULER, EVERY, "bouler", "A4, C13: recorded", Act.NOTE_BOULER),
    _notice(F.BOULER_DUE, EVERY, "bouler_change_due", "A4, C13: customarily half an hour"),
)

CLAUSES = (*_LAUNCH, *_LAUNCH_BEFORE, *_LAUNCH_OF_NO_COUP, *_WEAK_LAUNCH, *_RUN, *_DROP, *_BREAKDOWN, *_PEOPLE)
LAW = MappingProxyType({(state, clause.fact): clause.row for clause in CLAUSES for state in clause.states})


def rule(state: State, fact: Fact) -> Row:
    """The row for `fact` in `state`; there always is one."""
    return LAW[state, fact]
