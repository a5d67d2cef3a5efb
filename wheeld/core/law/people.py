"""What people ask for by commands and buttons (A1–A6, N7; docs/rulebook.md 3 and 6). The needs are in `needs`."""

from __future__ import annotations

from wheeld.core.catalogue import translatable
from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law import needs
from wheeld.core.law.needs import Known, asked
from wheeld.core.law.rows import (
    AFTER_VOID,
    ELSEWHERE,
    IDLE,
    ON_TRACK,
    RETURN,
    RUNNING,
    STAY,
    Act,
    Row,
    all_but,
    breakdown,
    ignore,
    notice,
    on,
    refuse,
    void,
)
from wheeld.core.observations import Command
from wheeld.core.pockets import PocketLayout

S, F = State, Fact


def missing(command: Command, pockets: PocketLayout) -> str:
    """Return what is missing or wrong in a command, so that it must be refused. Empty if the command is complete."""
    if command.name in ("bouler", "acknowledge") and not command.who:
        return translatable("the command does not say who the bouler is")
    if command.name == "confirm" and command.coup is None:
        return translatable("the command does not say which coup it confirms, and another coup may have begun")
    if command.name == "confirm" and not command.reason:
        return translatable("the command gives no reason, and the result must record a reason")
    if command.name == "late_bet" and command.accepted is None:
        return translatable("the command does not say whether the bet is accepted")
    if command.name == "ruling" and (command.about is None or command.ruled_as is None):
        return translatable("the command does not say on which coup the direction rules, or how")
    if command.name == "ruling" and (command.ruled_as == "number") is (command.number is None):
        return translatable("give a number only if the ruling names another number")
    if command.number is not None and command.number not in pockets.order:
        return translatable("the command gives a number that is not on the wheel")
    return ""


def fact_of(command: Command) -> Fact:
    """Return the fact of a command. Each command has a fact of the same name."""
    return Fact[command.name.upper()]


def cited(row: Row, fact: Fact, known: Known) -> tuple[str, ...]:
    """Return the rules that the reply to a command cites. For a confirmation: the rules that no sensor has proven."""
    called = known.table_state.current.called
    if fact is not F.CONFIRM or row.refuse or called is None:
        return row.rules
    is_another = asked(known).number not in (None, called.number)
    unproven = (*called.unproven, "R3") if is_another else called.unproven
    return tuple(rule for rule in row.rules if rule.removesuffix("b") in unproven)


_NO_NUMBER = "no number is out yet, and nobody may confirm what the sensors can still prove"
_RESUME_FIRST = "play is suspended: resume it first"

ROWS = (
    on(
        F.OPEN,
        S.CLOSED,
        S.AWAITING_CHEF,
        "R3b",
        "a number still awaited the chef when play ended: he answers first",
        Act.BEGIN_PLAY,
    ).when(needs.CHEF_AWAITED),
    on(F.OPEN, S.CLOSED, S.FAITES_VOS_JEUX, "A1", "faites vos jeux", Act.BEGIN_PLAY, Act.USE_SENSORS).needing(
        *needs.PLAY, *needs.BETS_OPEN
    ),
    on(
        F.OPEN,
        S.CLOSED,
        S.RIEN_VA,
        "3",
        'a coup was void when play ended: the ball goes back, and "{tout_va}" is still owed',
        Act.BEGIN_PLAY,
        Act.USE_SENSORS,
    )
    .when(needs.TOUT_VA_OWED)
    .needing(*needs.PLAY),
    on(
        F.OPEN,
        S.BETS_CLOSED_EARLY,
        S.FAITES_VOS_JEUX,
        "6",
        'faites vos jeux again: "rien ne va plus" was said by mistake, and no ball was launched',
    ).needing(*needs.PLAY, *needs.BETS_OPEN),
    refuse(F.OPEN, S.SUSPENDED, "A6", _RESUME_FIRST).needing(needs.SENSORS_WORK),
    refuse(F.OPEN, ELSEWHERE, "", "the table is open"),
    on(
        F.RIEN_NE_VA_PLUS,
        S.FAITES_VOS_JEUX,
        S.BETS_CLOSED_EARLY,
        "6",
        "said before the launch: bets close",
        Act.CLOSE_BETS,
        Act.AWAIT_LAUNCH,
    ),
    on(F.RIEN_NE_VA_PLUS, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1 A2", "no bet is withdrawn now", Act.CLOSE_BETS),
    ignore(
        F.RIEN_NE_VA_PLUS,
        (S.BETS_CLOSED_EARLY, S.RIEN_NE_VA_PLUS, S.BALL_ON_OBSTACLE, S.AWAITING_CHEF),
        "6",
        "bets are closed already; the command changes nothing",
    ),
    refuse(F.RIEN_NE_VA_PLUS, ELSEWHERE, "", "no bets are open"),
    void(F.RIEN_VA, RUNNING, Cause.CHEF, "the chef declares the coup void"),
    void(
        F.RIEN_VA, S.AWAITING_CHEF, Cause.CHEF, "a number awaited the chef, and he declares the coup void", rules="R3b"
    ),
    void(F.RIEN_VA, S.BETS_CLOSED_EARLY, Cause.CHEF, "the chef declares the coup void before its launch", Act.BEGIN),
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
        Act.DISOWN,  # the run is over: if readers still see the ball in its pocket, this is not a new coup
    ).needing(needs.NUMBER_GIVEN, needs.NUMBER_READ),
    on(
        F.CONFIRM,
        S.BALL_ON_OBSTACLE,
        S.OPERATIONS,
        "R3b",
        "no reader sees the ball in a pocket: the chef says in which it lies",
        Act.CONFIRM,
        Act.DISOWN,
    ).needing(needs.NUMBER_GIVEN),
    refuse(F.CONFIRM, ON_TRACK, "R3", _NO_NUMBER),
    refuse(F.CONFIRM, S.OPERATIONS, "", "the coup is a result already"),
    refuse(F.CONFIRM, AFTER_VOID, "2", "a void coup never becomes a result"),
    refuse(F.CONFIRM, ELSEWHERE, "", "no number awaits the chef"),
    refuse(
        (F.CONFIRM, F.RIEN_VA),
        (S.CLOSED, S.SUSPENDED),
        "R3b A6",
        "the number still awaits the chef: resume play or open the table before he answers",
    ).when(needs.CHEF_AWAITED),
    on(
        F.TOUT_VA, S.RIEN_VA, S.FAITES_VOS_JEUX, "3", "the ball is in its pocket, the game goes on", Act.TOUT_VA
    ).needing(*needs.BALL_BACK, *needs.BETS_OPEN),
    on(F.TOUT_VA, S.RIEN_VA, S.CLOSED, "A5", "la dernière was played before the void", Act.TOUT_VA, Act.END_PLAY)
    .when(needs.LAST_PLAYED)
    .needing(*needs.BALL_BACK),
    on(
        F.TOUT_VA,
        S.RIEN_VA_OPERATIONS_OWED,
        S.OPERATIONS,
        "6",
        "after an early launch operations are owed too",
        Act.TOUT_VA,
    ).needing(*needs.BALL_BACK),
    refuse((F.TOUT_VA, F.OPERATIONS_DONE), S.SUSPENDED, "A6", _RESUME_FIRST),
    refuse(F.TOUT_VA, ELSEWHERE, "", "nothing was void"),
    on(F.OPERATIONS_DONE, S.OPERATIONS, S.FAITES_VOS_JEUX, "A1", "the coup is paid, faites vos jeux").needing(
        *needs.OPERATIONS_OVER, *needs.BETS_OPEN
    ),
    on(F.OPERATIONS_DONE, S.OPERATIONS, S.CLOSED, "A5", "la dernière was that coup", Act.END_PLAY)
    .when(needs.LAST_PLAYED)
    .needing(*needs.OPERATIONS_OVER),
    on(F.OPERATIONS_DONE, S.RIEN_VA_OPERATIONS_OWED, S.RIEN_VA, "6", '"{tout_va}" is still owed'),
    refuse(
        F.OPERATIONS_DONE,
        S.AWAITING_CHEF,
        "R3b",
        'a number that people saw awaits the chef: he confirms it or says "{void}" first',
    ),
    refuse(F.OPERATIONS_DONE, ELSEWHERE, "", "no operations are owed"),
    refuse(F.LAST_COUP, S.CLOSED, "A5", "the table is closed"),
    notice(
        F.LAST_COUP,
        all_but(S.CLOSED),
        "last_coup",
        "A5",
        "announced; the next valid coup to be launched is the last",
        Act.NOTE_LAST,
    ),
    ignore(
        (F.LAST_COUP, F.LAST_COUP_OFF, F.BOULER), ELSEWHERE, "", "this is so already; the command changes nothing"
    ).when(needs.SO_ALREADY),
    notice(F.LAST_COUP_OFF, ELSEWHERE, "last_coup_off", "A5", "taken back; the game goes on", Act.FORGET_LAST),
    void(F.CLOSE, RUNNING, Cause.BREAKDOWN, "play ended while a coup ran", Act.END_PLAY, to=S.CLOSED, rules="A6"),
    on(F.CLOSE, (S.OPERATIONS, *AFTER_VOID, S.SUSPENDED), S.CLOSED, "A6", "play ends", Act.END_PLAY)
    .when(needs.LAST_PLAYED)
    .needing(needs.DIRECTION_SAYS),
    on(
        F.CLOSE, ELSEWHERE, S.CLOSED, "A5 A6", "it ends before la dernière", Act.NOTICE, Act.END_PLAY, kind="early_end"
    ).needing(needs.DIRECTION_SAYS),
    refuse(F.CLOSE, S.CLOSED, "", "the table is closed"),
    on(
        F.CLOSE,
        S.AWAITING_CHEF,
        S.CLOSED,
        "A6 R3b",
        "the number still awaits the chef: he answers when the table opens again",
        Act.END_PLAY,
    ),
    on(
        F.SUSPEND,
        S.AWAITING_CHEF,
        S.SUSPENDED,
        "A6 R3b",
        "the number still awaits the chef: he answers when play is resumed",
    ),
    breakdown(F.SUSPEND, RUNNING, "suspended; what was running is void", rules="A6"),
    on(F.SUSPEND, IDLE, S.SUSPENDED, "A6", "play is suspended"),
    refuse(F.SUSPEND, S.SUSPENDED, "", "play is suspended already"),
    on(
        F.RESUME,
        S.SUSPENDED,
        RETURN,
        "A6",
        "play goes on; a coup that the suspension voided stays void",
        Act.USE_SENSORS,
    ).needing(needs.DIRECTION_SAYS, *needs.PLAY, *needs.BETS_OPEN),
    on(
        F.RESUME,
        S.SUSPENDED,
        RETURN,
        "A6 R3b",
        "bets stay closed, and the chef answers first; a sensor that fails suspends play after his word",
    )
    .when(needs.CHEF_AWAITED)
    .needing(needs.DIRECTION_SAYS),
    refuse(F.RESUME, ELSEWHERE, "", "play is not suspended"),
    notice(
        F.BOULER, ELSEWHERE, "bouler_announced", "A4", "the inspector is warned of the change to come", Act.NOTE_BOULER
    ).when(needs.AHEAD),
    notice(F.ACKNOWLEDGE, ELSEWHERE, "bouler_acknowledged", "A4", "the inspector knows of it", Act.NOTE_BOULER).needing(
        needs.ANNOUNCED
    ),
    notice(F.BOULER, ELSEWHERE, "bouler", "A4", "the change is recorded", Act.NOTE_BOULER),
    notice(
        F.BOULER,
        ELSEWHERE,
        "bouler_early",
        "A4",
        "the change is recorded; it is early, and the inspector is warned",
        Act.NOTE_BOULER,
    ).when(needs.TIME_NOT_OVER),
    notice(F.LATE_BET, RUNNING, "late_bet", "A3", "the chef alone decides on a bet that comes while the ball runs"),
    refuse(F.LATE_BET, ELSEWHERE, "A3", "no ball runs: a bet is late only while a ball runs"),
    on(F.RULING, ELSEWHERE, STAY, "A9", "the ruling is published; the verdict stays as it was", Act.RULE).needing(
        needs.HAS_VERDICT
    ),
    notice(F.BOULER_DUE, ELSEWHERE, "bouler_change_due", "A4", "a bouler customarily spins for half an hour"),
)
