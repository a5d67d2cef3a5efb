"""What people ask: commands and buttons (A1–A6, N7; docs/rulebook.md 3 and 6)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.guards import CommandGuard, Known, is_in_place, is_place_unseen
from wheeld.core.law.rows import (
    AFTER_VOID,
    BEFORE_LAUNCH,
    COUP,
    EVERY,
    IDLE,
    OPEN_IDLE,
    RETURN,
    RUNNING,
    STAY,
    Act,
    all_but,
    ignore,
    notice,
    on,
    refuse,
    void,
)
from wheeld.core.observations import Command, CommandName

S, F = State, Fact

BY_WORD = "no sensor sees where the ball lies: the chef's word serves"
"""Rulebook 3 asks that it lies in the pocket of the last number."""


def missing(command: Command) -> str:
    """The member without which a command can't be understood; empty when it has them all."""
    if command.name == "bouler" and not command.who:
        return 'it names nobody: give "who"'
    if command.name == "confirm" and command.coup is None:
        return 'it names no coup, and another may have come: give "coup"'
    if command.name == "confirm" and not command.reason:
        return 'it gives no reason, and the result records one: give "reason"'
    return ""


def rests_on_word(fact: Fact, known: Known) -> bool:
    """Whether "tout va" is granted on the chef's word, because no sensor sees where the ball lies."""
    return fact in (F.TOUT_VA, F.TOUT_VA_LAST) and is_place_unseen(known)


def _tout_va(known: Known) -> Fact:
    if known.observer.object_present:
        return F.TOUT_VA_OBJECT
    if not is_in_place(known):
        return F.TOUT_VA_MISPLACED
    return F.TOUT_VA_LAST if known.table_state.closing else F.TOUT_VA


def _operations_done(known: Known) -> Fact:
    if known.observer.object_present:
        return F.OPERATIONS_DONE_OBJECT
    return F.OPERATIONS_DONE_LAST if known.table_state.closing else F.OPERATIONS_DONE


def _resume(known: Known) -> Fact:
    return F.RESUME_FAULTY if known.observer.faults else F.RESUME


def _open(known: Known) -> Fact:
    return F.OPEN_FAULTY if known.observer.faults else F.OPEN


def _rien_va(known: Known) -> Fact:
    return F.CHEF_VOID_AT_LAUNCH if known.observer.passes_pending() else F.CHEF_VOID


GUARDS: dict[CommandName, CommandGuard] = {
    "tout_va": _tout_va,
    "operations_done": _operations_done,
    "resume": _resume,
    "open": _open,
    "rien_va": _rien_va,
}


def fact_of(command: Command, known: Known) -> Fact:
    """The fact that a command is at this table now. Without a guard it has the command's own name."""
    guard = GUARDS.get(command.name)
    return Fact[command.name.upper()] if guard is None else guard(known)


VOIDS = (F.CHEF_VOID, F.CHEF_VOID_AT_LAUNCH)
TOUT_VA = (F.TOUT_VA, F.TOUT_VA_LAST, F.TOUT_VA_MISPLACED, F.TOUT_VA_OBJECT)
OPERATIONS_DONE = (F.OPERATIONS_DONE, F.OPERATIONS_DONE_LAST, F.OPERATIONS_DONE_OBJECT)

ROWS = (
    on(F.OPEN, S.CLOSED, S.FAITES_VOS_JEUX, "A1", "faites vos jeux"),
    refuse((F.OPEN, F.OPEN_FAULTY), all_but(S.CLOSED), "", "the table is open"),
    refuse(F.OPEN_FAULTY, S.CLOSED, "N8", "a sensor still fails: no coup could be observed whole"),
    on(
        F.RIEN_NE_VA_PLUS,
        S.FAITES_VOS_JEUX,
        S.BETS_CLOSED_EARLY,
        "6",
        "said before the launch, bets close",
        Act.CLOSE_BETS,
    ),
    on(F.RIEN_NE_VA_PLUS, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1 A2", "no bet is withdrawn now", Act.CLOSE_BETS),
    ignore(
        F.RIEN_NE_VA_PLUS,
        (S.BETS_CLOSED_EARLY, S.RIEN_NE_VA_PLUS, S.BALL_ON_OBSTACLE, S.AWAITING_CHEF),
        "6",
        "bets are closed already; saying it again changes nothing",
    ),
    refuse(F.RIEN_NE_VA_PLUS, (S.CLOSED, S.OPERATIONS, *AFTER_VOID, S.SUSPENDED), "", "no bets are open"),
    void(VOIDS, COUP, S.RIEN_VA, Cause.CHEF, "the chef declares the coup void"),
    void(
        VOIDS,
        S.BETS_CLOSED_EARLY,
        S.RIEN_VA,
        Cause.CHEF,
        "the chef declares the coup void before its launch",
        Act.BEGIN,
    ),
    refuse(VOIDS, S.OPERATIONS, "N7", "the number is out, a result stands"),
    refuse(VOIDS, (S.CLOSED, *AFTER_VOID, S.SUSPENDED), "N7", "no coup is running"),
    refuse(F.CHEF_VOID, S.FAITES_VOS_JEUX, "N7", "no ball runs and bets are open: there is no coup to void"),
    void(
        F.CHEF_VOID_AT_LAUNCH,
        S.FAITES_VOS_JEUX,
        S.RIEN_VA,
        Cause.CHEF,
        "the chef declares the coup that begins void",
        Act.BEGIN,
    ),
    on(
        F.CONFIRM,
        S.AWAITING_CHEF,
        S.OPERATIONS,
        "R3 R1 R2",
        "the chef confirms what no sensor of this table proves",
        Act.RESULT,
    ),
    refuse(F.CONFIRM, RUNNING, "R3", "no number is out yet, and nobody confirms what sensors can prove"),
    refuse(F.CONFIRM, S.OPERATIONS, "", "the coup is a result already"),
    refuse(F.CONFIRM, AFTER_VOID, "2", "a void coup never becomes a result"),
    refuse(F.CONFIRM, (S.CLOSED, *BEFORE_LAUNCH, S.SUSPENDED), "", "no number awaits the chef"),
    on(F.TOUT_VA, S.RIEN_VA, S.FAITES_VOS_JEUX, "3", "the ball is in its pocket, the game goes on"),
    on(F.TOUT_VA_LAST, S.RIEN_VA, S.CLOSED, "A5", "la dernière was played before the void", Act.FORGET_LAST),
    on(
        (F.TOUT_VA, F.TOUT_VA_LAST),
        S.RIEN_VA_OPERATIONS_OWED,
        S.OPERATIONS,
        "6",
        "after an early launch operations are owed too",
    ),
    refuse(F.TOUT_VA_MISPLACED, AFTER_VOID, "3", "put the ball in the pocket of the last number first"),
    refuse(F.TOUT_VA_OBJECT, AFTER_VOID, "N6", "clear the foreign object first"),
    refuse(
        TOUT_VA,
        all_but(*AFTER_VOID),
        "",
        "nothing was void",
    ),
    on(F.OPERATIONS_DONE, S.OPERATIONS, S.FAITES_VOS_JEUX, "A1", "the coup is paid, faites vos jeux"),
    on(F.OPERATIONS_DONE_LAST, S.OPERATIONS, S.CLOSED, "A5", "la dernière was that coup", Act.FORGET_LAST),
    on(
        OPERATIONS_DONE,
        S.RIEN_VA_OPERATIONS_OWED,
        S.RIEN_VA,
        "6",
        '"tout va" is still owed',
    ),
    refuse(F.OPERATIONS_DONE_OBJECT, S.OPERATIONS, "N6", "the next coup waits until the foreign object is cleared"),
    refuse(
        OPERATIONS_DONE,
        all_but(S.OPERATIONS, S.RIEN_VA_OPERATIONS_OWED),
        "",
        "no operations are owed",
    ),
    refuse(F.LAST_COUP, S.CLOSED, "A5", "the table is closed"),
    on(
        F.LAST_COUP,
        all_but(S.CLOSED),
        STAY,
        "A5",
        "announced; the next valid coup is the last",
        Act.NOTE_LAST,
    ),
    void(F.CLOSE, COUP, S.CLOSED, Cause.BREAKDOWN, "play ended while a coup ran", Act.FORGET_LAST, rules="A6"),
    on(
        F.CLOSE,
        (*OPEN_IDLE, S.SUSPENDED),
        S.CLOSED,
        "A6",
        "the direction may end play at any moment",
        Act.FORGET_LAST,
    ),
    refuse(F.CLOSE, S.CLOSED, "", "the table is closed"),
    void(F.SUSPEND, COUP, S.SUSPENDED, Cause.BREAKDOWN, "suspended; what was running is void", rules="A6"),
    on(F.SUSPEND, IDLE, S.SUSPENDED, "A6", "the direction may suspend play at any moment"),
    refuse(F.SUSPEND, S.SUSPENDED, "", "play is suspended already"),
    on(F.RESUME, S.SUSPENDED, RETURN, "A6", "resumed; a coup that was running is void"),
    refuse(F.RESUME_FAULTY, S.SUSPENDED, "N8", "a sensor still fails: no coup could be observed whole"),
    refuse((F.RESUME, F.RESUME_FAULTY), all_but(S.SUSPENDED), "", "play is not suspended"),
    notice(F.BOULER, EVERY, "bouler", "A4", "the change is recorded", Act.NOTE_BOULER),
    notice(F.BOULER_DUE, EVERY, "bouler_change_due", "A4", "a bouler customarily spins for half an hour"),
)
