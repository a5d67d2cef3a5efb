"""What people ask: commands and buttons (A1–A6, N7; docs/rulebook.md 3 and 6)."""

from __future__ import annotations

from wheeld.core.catalogue import Text, translatable
from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.guards import (
    CommandGuard,
    Known,
    asked,
    is_in_place,
    is_obstacle_open,
    is_place_unseen,
    is_seen_elsewhere,
    must_rest_first,
)
from wheeld.core.law.left_out import why_not
from wheeld.core.law.rows import (
    AFTER_VOID,
    ELSEWHERE,
    IDLE,
    ON_TRACK,
    OPEN_IDLE,
    RETURN,
    RUNNING,
    Act,
    Row,
    all_but,
    ignore,
    notice,
    on,
    refuse,
    void,
)
from wheeld.core.observations import Command, CommandName
from wheeld.core.pockets import PocketLayout

S, F = State, Fact

BY_WORD = translatable("no sensor sees where the ball lies: the chef's word serves")
"""Rulebook 3 asks that it lies in the pocket of the last number."""
NO_OBSTACLE = translatable("no sensor has seen where the ball came to rest: the word serves that no obstacle holds it")
"""Rulebook 6: nobody may bet on a coup that was not observed whole, and a ball may still lie on an obstacle."""


def missing(command: Command, pockets: PocketLayout) -> str:
    """The member without which a command can't be understood, or that can't be; empty when it has them all."""
    if command.name == "bouler" and not command.who:
        return translatable("it does not say who launches from now on")
    if command.name == "confirm" and command.coup is None:
        return translatable("it does not say which coup it confirms, and another may have come")
    if command.name == "confirm" and not command.reason:
        return translatable("it gives no reason, and the result records one")
    if command.number is not None and command.number not in pockets.order:
        return translatable("it gives a number that is not on the wheel")
    return ""


def word_for(fact: Fact, known: Known) -> str:
    """What is granted on a person's word, because no sensor sees where the ball is; empty where sensors prove all."""
    if fact in (F.TOUT_VA, F.TOUT_VA_LAST) and is_place_unseen(known):
        return BY_WORD
    return NO_OBSTACLE if fact in OPENS_BETS and is_obstacle_open(known) else ""


def reasons_of(fact: Fact, known: Known) -> tuple[Text, ...]:
    """What a refusal adds to the reason of its row: which sensor is in the way, and what can be done; else nothing."""
    return why_not(known) if fact in (F.RESUME_FAULTY, F.OPEN_FAULTY) else ()


def cited(row: Row, fact: Fact, known: Known) -> tuple[str, ...]:
    """The rules that the answer to the command at hand cites: of a confirmation, those that no sensor has proven."""
    called = known.table_state.current.called
    if fact is not F.CONFIRM or row.refuse or called is None:
        return row.rules
    is_another = asked(known).number not in (None, called.number)
    unproven = (*called.unproven, "R3") if is_another else called.unproven
    return tuple(rule for rule in row.rules if rule.removesuffix("b") in unproven)


def _tout_va(known: Known) -> Fact:
    if known.table_state.object_level != "clear":
        return F.TOUT_VA_OBJECT if known.table_state.object_level == "present" else F.TOUT_VA_UNKNOWN
    if not is_in_place(known):
        return F.TOUT_VA_MISPLACED if is_seen_elsewhere(known) else F.TOUT_VA_UNSEEN
    if known.table_state.closing:
        return F.TOUT_VA_LAST
    return F.TOUT_VA_RUNNING if must_rest_first(known) else F.TOUT_VA


def _operations_done(known: Known) -> Fact:
    if known.table_state.object_level != "clear":
        is_in = known.table_state.object_level == "present"
        return F.OPERATIONS_DONE_OBJECT if is_in else F.OPERATIONS_DONE_UNKNOWN
    if known.table_state.closing:
        return F.OPERATIONS_DONE_LAST
    return F.OPERATIONS_DONE_RUNNING if must_rest_first(known) else F.OPERATIONS_DONE


def _resume(known: Known) -> Fact:
    if known.table_state.awaits_chef:
        return F.RESUME_AWAITED
    if known.observer.wheel_stopped:
        return F.RESUME_STOPPED
    if why_not(known):
        return F.RESUME_FAULTY
    return F.RESUME_RUNNING if must_rest_first(known) else F.RESUME


def _open(known: Known) -> Fact:
    if known.table_state.awaits_chef:
        return F.OPEN_AWAITED
    if known.observer.wheel_stopped:
        return F.OPEN_STOPPED
    if why_not(known):
        return F.OPEN_FAULTY
    if known.table_state.tout_va_owed:
        return F.OPEN_OWED
    return F.OPEN_RUNNING if must_rest_first(known) else F.OPEN


def _last_coup(known: Known) -> Fact:
    return F.LAST_COUP if known.table_state.last_coup is None else F.UNCHANGED


def _last_coup_off(known: Known) -> Fact:
    return F.UNCHANGED if known.table_state.last_coup is None else F.LAST_COUP_OFF


def _bouler(known: Known) -> Fact:
    """Another bouler; named again he goes on: nobody spins longer because a button was pressed twice."""
    bouler = known.table_state.spinning
    if asked(known).who == bouler.who:
        return F.UNCHANGED
    return F.BOULER_EARLY if bouler.is_early_to_go else F.BOULER


def _confirm(known: Known) -> Fact:
    """The number that the chef gives, or the one that he was asked about; without either there is nothing to
    confirm. Before he was asked he may have seen another one on his panel."""
    if _is_aside(known):
        return F.CHEF_ASIDE
    called, command = known.table_state.current.called, asked(known)
    if command.number is not None:
        return F.CONFIRM
    if called is None or called.number is None:
        return F.CONFIRM_UNNAMED
    return F.CONFIRM_EARLY if command.t_us < called.asked_us else F.CONFIRM


def _rien_va(known: Known) -> Fact:
    return F.CHEF_ASIDE if _is_aside(known) else F.RIEN_VA


def _is_aside(known: Known) -> bool:
    """Whether play was stopped while a number awaits the chef."""
    return known.table_state.awaits_chef and known.table_state.state is not S.AWAITING_CHEF


GUARDS: dict[CommandName, CommandGuard] = {
    "bouler": _bouler,
    "confirm": _confirm,
    "rien_va": _rien_va,
    "tout_va": _tout_va,
    "operations_done": _operations_done,
    "resume": _resume,
    "open": _open,
    "last_coup": _last_coup,
    "last_coup_off": _last_coup_off,
}


def fact_of(known: Known) -> Fact:
    """The fact that the command at hand is at this table now. Without a guard it has the command's own name."""
    name = asked(known).name
    guard = GUARDS.get(name)
    return Fact[name.upper()] if guard is None else guard(known)


CONFIRMS = (F.CONFIRM, F.CONFIRM_UNNAMED, F.CONFIRM_EARLY)
TOUT_VA = (
    F.TOUT_VA,
    F.TOUT_VA_LAST,
    F.TOUT_VA_MISPLACED,
    F.TOUT_VA_UNSEEN,
    F.TOUT_VA_OBJECT,
    F.TOUT_VA_UNKNOWN,
    F.TOUT_VA_RUNNING,
)
OPERATIONS_DONE = (
    F.OPERATIONS_DONE,
    F.OPERATIONS_DONE_LAST,
    F.OPERATIONS_DONE_OBJECT,
    F.OPERATIONS_DONE_UNKNOWN,
    F.OPERATIONS_DONE_RUNNING,
)
OPENS = (F.OPEN, F.OPEN_OWED, F.OPEN_FAULTY, F.OPEN_STOPPED, F.OPEN_AWAITED, F.OPEN_RUNNING)
RESUMES = (F.RESUME, F.RESUME_FAULTY, F.RESUME_RUNNING, F.RESUME_STOPPED, F.RESUME_AWAITED)
OPENS_BETS = (F.OPEN, F.OPERATIONS_DONE, F.TOUT_VA, F.RESUME)
"""Commands that open the bets, or lead back to where they were open."""

_BALL_OUT = "a ball runs or falls: nobody may bet on a coup that was not observed whole; wait until it rests"
_NAME_IT = "no sensor proves which number it is: name the number"
_NO_NUMBER = "no number is out yet, and nobody confirms what sensors can prove"
_RESUME_FIRST = "play is suspended; it is resumed first"
_START_FIRST = "the wheel has stopped its game, and no coup could be observed: it is started first"

ROWS = (
    on(F.OPEN, S.CLOSED, S.FAITES_VOS_JEUX, "A1", "faites vos jeux", Act.BEGIN_PLAY, Act.USE_SENSORS),
    on(
        F.OPEN_OWED,
        S.CLOSED,
        S.RIEN_VA,
        "3",
        'a coup was void when play ended: the ball goes back, and "{tout_va}" is still owed',
        Act.BEGIN_PLAY,
        Act.USE_SENSORS,
    ),
    on(
        F.OPEN,
        S.BETS_CLOSED_EARLY,
        S.FAITES_VOS_JEUX,
        "6",
        'faites vos jeux again: "rien ne va plus" was said by mistake, and no ball was launched',
    ),
    on(
        F.OPEN_AWAITED,
        S.CLOSED,
        S.AWAITING_CHEF,
        "R3b",
        "a number still awaited the chef when play ended: he answers first",
        Act.BEGIN_PLAY,
    ),
    refuse(OPENS, S.SUSPENDED, "A6", _RESUME_FIRST),
    refuse(OPENS, ELSEWHERE, "", "the table is open"),
    refuse(F.OPEN_STOPPED, S.CLOSED, "N8", _START_FIRST),
    refuse(F.OPEN_RUNNING, (S.CLOSED, S.BETS_CLOSED_EARLY), "6", _BALL_OUT),
    refuse(F.OPEN_FAULTY, S.CLOSED, "N8", "a sensor fails, or is needed: no coup could be observed whole"),
    on(
        F.RIEN_NE_VA_PLUS,
        S.FAITES_VOS_JEUX,
        S.BETS_CLOSED_EARLY,
        "6",
        "said before the launch, bets close",
        Act.CLOSE_BETS,
        Act.AWAIT_LAUNCH,
    ),
    on(F.RIEN_NE_VA_PLUS, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1 A2", "no bet is withdrawn now", Act.CLOSE_BETS),
    ignore(
        F.RIEN_NE_VA_PLUS,
        (S.BETS_CLOSED_EARLY, S.RIEN_NE_VA_PLUS, S.BALL_ON_OBSTACLE, S.AWAITING_CHEF),
        "6",
        "bets are closed already; saying it again changes nothing",
    ),
    refuse(F.RIEN_NE_VA_PLUS, ELSEWHERE, "", "no bets are open"),
    void(F.RIEN_VA, RUNNING, S.RIEN_VA, Cause.CHEF, "the chef declares the coup void"),
    void(
        F.RIEN_VA,
        S.AWAITING_CHEF,
        S.RIEN_VA,
        Cause.CHEF,
        "a number awaited the chef, and he declares the coup void",
        rules="R3b",
    ),
    void(
        F.RIEN_VA,
        S.BETS_CLOSED_EARLY,
        S.RIEN_VA,
        Cause.CHEF,
        "the chef declares the coup void before its launch",
        Act.BEGIN,
    ),
    refuse(F.RIEN_VA, S.OPERATIONS, "N7", "the number is out, a result stands"),
    refuse(F.RIEN_VA, ELSEWHERE, "N7", "no coup is running"),
    refuse(F.RIEN_VA, S.FAITES_VOS_JEUX, "N7", "no ball runs and bets are open: there is no coup to void"),
    on(
        F.CONFIRM,
        S.AWAITING_CHEF,
        S.OPERATIONS,
        "R3b R1 R2",
        "the chef answers for what no sensor has proven",
        Act.CONFIRM,
        Act.DISOWN,  # its run is over: readers that see the ball lie there later see no other coup
    ),
    refuse(F.CONFIRM_UNNAMED, S.AWAITING_CHEF, "R3b", _NAME_IT),
    refuse(
        F.CONFIRM_EARLY,
        S.AWAITING_CHEF,
        "R3b",
        "it was said before the number awaited the chef: read it, then confirm it or name another",
    ),
    on(
        F.CONFIRM,
        S.BALL_ON_OBSTACLE,
        S.OPERATIONS,
        "R3b",
        "no reader sees the ball in a pocket: the chef says in which it lies",
        Act.CONFIRM,
        Act.DISOWN,
    ),
    refuse(F.CONFIRM, ON_TRACK, "R3", _NO_NUMBER),
    refuse((F.CONFIRM_UNNAMED, F.CONFIRM_EARLY), ON_TRACK, "R3", _NO_NUMBER),
    refuse((F.CONFIRM_UNNAMED, F.CONFIRM_EARLY), S.BALL_ON_OBSTACLE, "R3b", _NAME_IT),
    refuse(CONFIRMS, S.OPERATIONS, "", "the coup is a result already"),
    refuse(CONFIRMS, AFTER_VOID, "2", "a void coup never becomes a result"),
    refuse(CONFIRMS, ELSEWHERE, "", "no number awaits the chef"),
    refuse(
        F.CHEF_ASIDE,
        ELSEWHERE,
        "R3b A6",
        "the number goes on awaiting the chef: play is resumed, or the table opened, before he answers",
    ),
    on(F.TOUT_VA, S.RIEN_VA, S.FAITES_VOS_JEUX, "3", "the ball is in its pocket, the game goes on", Act.TOUT_VA),
    on(F.TOUT_VA_LAST, S.RIEN_VA, S.CLOSED, "A5", "la dernière was played before the void", Act.TOUT_VA, Act.END_PLAY),
    on(
        (F.TOUT_VA, F.TOUT_VA_LAST),
        S.RIEN_VA_OPERATIONS_OWED,
        S.OPERATIONS,
        "6",
        "after an early launch operations are owed too",
        Act.TOUT_VA,
    ),
    refuse(
        F.TOUT_VA_MISPLACED,
        AFTER_VOID,
        "3",
        "put the ball in the pocket of the last number first; if it lies there, the encoder has slipped: "
        "suspend play, and resume with that number",
    ),
    refuse(F.TOUT_VA_UNSEEN, AFTER_VOID, "3", "no reader has seen the ball in its pocket yet: does the rotor turn?"),
    refuse(F.TOUT_VA_OBJECT, AFTER_VOID, "N6", "clear the foreign object first"),
    refuse(F.TOUT_VA_RUNNING, AFTER_VOID, "6", _BALL_OUT),
    refuse(
        F.TOUT_VA_UNKNOWN, AFTER_VOID, "7 N6", "the object sensor has not reported yet whether the cylinder is clear"
    ),
    refuse((*TOUT_VA, *OPERATIONS_DONE), S.SUSPENDED, "A6", _RESUME_FIRST),
    refuse(
        TOUT_VA,
        ELSEWHERE,
        "",
        "nothing was void",
    ),
    on(F.OPERATIONS_DONE, S.OPERATIONS, S.FAITES_VOS_JEUX, "A1", "the coup is paid, faites vos jeux"),
    on(F.OPERATIONS_DONE_LAST, S.OPERATIONS, S.CLOSED, "A5", "la dernière was that coup", Act.END_PLAY),
    on(
        OPERATIONS_DONE,
        S.RIEN_VA_OPERATIONS_OWED,
        S.RIEN_VA,
        "6",
        '"{tout_va}" is still owed',
    ),
    refuse(F.OPERATIONS_DONE_OBJECT, S.OPERATIONS, "N6", "clear the foreign object first"),
    refuse(F.OPERATIONS_DONE_RUNNING, S.OPERATIONS, "6", _BALL_OUT),
    refuse(
        OPERATIONS_DONE,
        S.AWAITING_CHEF,
        "R3b",
        'a number that people saw awaits the chef: he confirms it or says "{void}" first',
    ),
    refuse(
        F.OPERATIONS_DONE_UNKNOWN,
        S.OPERATIONS,
        "7 N6",
        "the object sensor has not reported yet whether the cylinder is clear",
    ),
    refuse(
        OPERATIONS_DONE,
        ELSEWHERE,
        "",
        "no operations are owed",
    ),
    refuse(F.LAST_COUP, S.CLOSED, "A5", "the table is closed"),
    notice(
        F.LAST_COUP,
        all_but(S.CLOSED),
        "last_coup",
        "A5",
        "announced; the next coup to be launched that is valid is the last",
        Act.NOTE_LAST,
    ),
    notice(F.LAST_COUP_OFF, ELSEWHERE, "last_coup_off", "A5", "taken back; the game goes on", Act.FORGET_LAST),
    void(F.CLOSE, RUNNING, S.CLOSED, Cause.BREAKDOWN, "play ended while a coup ran", Act.END_PLAY, rules="A6"),
    on(
        F.CLOSE,
        (*OPEN_IDLE, S.SUSPENDED),
        S.CLOSED,
        "A6",
        "the direction may end play at any moment",
        Act.END_PLAY,
    ),
    refuse(F.CLOSE, S.CLOSED, "", "the table is closed"),
    on(
        F.CLOSE,
        S.AWAITING_CHEF,
        S.CLOSED,
        "A6 R3b",
        "the number goes on awaiting the chef: he answers when the table opens again",
        Act.END_PLAY,
    ),
    on(
        F.SUSPEND,
        S.AWAITING_CHEF,
        S.SUSPENDED,
        "A6 R3b",
        "the number goes on awaiting the chef: he answers when play is resumed",
    ),
    void(F.SUSPEND, RUNNING, S.SUSPENDED, Cause.BREAKDOWN, "suspended; what was running is void", rules="A6"),
    on(F.SUSPEND, IDLE, S.SUSPENDED, "A6", "the direction may suspend play at any moment"),
    refuse(F.SUSPEND, S.SUSPENDED, "", "play is suspended already"),
    on(
        F.RESUME,
        S.SUSPENDED,
        RETURN,
        "A6",
        "play goes on; a coup that the suspension made void stays void",
        Act.USE_SENSORS,
    ),
    on(
        F.RESUME_AWAITED,
        S.SUSPENDED,
        RETURN,
        "A6 R3b",
        "bets stay closed, and the chef answers first; a sensor that fails suspends play after his word",
    ),
    refuse(F.RESUME_STOPPED, S.SUSPENDED, "N8", _START_FIRST),
    refuse(F.RESUME_FAULTY, S.SUSPENDED, "N8", "a sensor fails, or is needed: no coup could be observed whole"),
    refuse(F.RESUME_RUNNING, S.SUSPENDED, "6", _BALL_OUT),
    refuse(RESUMES, ELSEWHERE, "", "play is not suspended"),
    notice(F.BOULER, ELSEWHERE, "bouler", "A4", "the change is recorded", Act.NOTE_BOULER),
    notice(
        F.BOULER_EARLY,
        ELSEWHERE,
        "bouler_early",
        "A4",
        "the change is recorded; it is early, and the inspector is warned",
        Act.NOTE_BOULER,
    ),
    notice(F.BOULER_DUE, ELSEWHERE, "bouler_change_due", "A4", "a bouler customarily spins for half an hour"),
    ignore(F.UNCHANGED, ELSEWHERE, "", "it is so already; saying it again changes nothing"),
)
