"""What commands of people need, and on what else than the state their rows depend.

Each need is one object: whether it is met, what the table waits for while it is not, with which rules and words a
command is refused then, and how long the word waits for it. The clauses of `people` name them, and that of a launch.
Refusals, the codes of what the table waits for, and the page of the law come from here.
"""

from __future__ import annotations

from wheeld.core.catalogue import translatable
from wheeld.core.facts import Awaited
from wheeld.core.law import guards
from wheeld.core.law.guards import Known, asked
from wheeld.core.law.left_out import left_out_after, why_not
from wheeld.core.law.rows import Need, When
from wheeld.core.tracking.ball import Where
from wheeld.core.tracking.sight import OBJECT

A = Awaited

CHEF_AWAITED = When("chef_awaited", "a number still awaiting the chef", lambda known: known.table_state.awaits_chef)
TOUT_VA_OWED = When("tout_va_owed", "tout va still owed", lambda known: known.table_state.tout_va_owed)
LAST_PLAYED = When("last_played", "la dernière was played", lambda known: known.table_state.closing)
TIME_NOT_OVER = When(
    "time_not_over",
    "before the time of the present one is over",
    lambda known: known.table_state.spinning.is_early_to_go,
)


def _is_so_already(known: Known) -> bool:
    """Of a bouler: nobody spins longer because a button was pressed twice."""
    table, command = known.table_state, asked(known)
    if command.name == "bouler":
        return command.who == table.spinning.who
    return (table.last_coup is not None) == (command.name == "last_coup")


SO_ALREADY = When("so_already", "which is so already", _is_so_already)

WHEEL_PLAYS = Need(
    "wheel_plays",
    lambda known: not known.observer.wheel_stopped,
    A.START_WHEEL,
    "N8",
    "the wheel has stopped its game, and no coup could be observed: it is started first",
)
SENSORS_WORK = Need(
    "sensors_work",
    lambda known: not why_not(known),
    A.REPAIR,
    "N8",
    "a sensor fails, or is needed: no coup could be observed whole",
    reasons=why_not,
)
LEVEL_TOLD = Need(
    "level_told",
    lambda known: known.table_state.object_level != "unknown" or OBJECT in left_out_after(known),
    A.OBJECT_LEVEL,
    "7 N6",
    "the object sensor has not reported yet whether the cylinder is clear",
    wait_us=2_000_000,  # a board tells it ten times a second, pins at once
)
CLEARED = Need(
    "cleared",
    lambda known: known.table_state.object_level != "present",
    A.CLEAR_OBJECT,
    "N6",
    "clear the foreign object first",
)
NOT_ELSEWHERE = Need(
    "not_elsewhere",
    lambda known: guards.is_in_place(known) or not guards.is_seen_elsewhere(known),
    A.PUT_BACK,
    "3",
    "put the ball in the pocket of the last number first; if it lies there, the encoder has slipped: "
    "suspend play, and resume with that number",
)
IN_PLACE = Need(
    "in_place",
    guards.is_in_place,
    A.PUT_BACK,
    "3",
    "no reader has seen the ball in its pocket yet: does the rotor turn?",
    wait_us=10_000_000,
)
"""One reader has met it twice by then at 12 turns a minute. With a slower rotor the chef says it again."""
SEEN_TO_TURN = Need(
    "seen_to_turn",
    lambda known: guards.is_in_place(known) or not known.observer.rotor.is_standing,
    A.TURN_ROTOR,
    "3",
)
PLACE_SEEN = Need(
    "place_seen",
    lambda known: not guards.is_place_unseen(known),
    rules="3",
    word=translatable("no sensor sees where the ball lies: the chef's word serves"),
)
AT_REST = Need(
    "at_rest",
    lambda known: not guards.must_rest_first(known),
    A.BALL_AT_REST,
    "6",
    "a ball runs or falls: nobody may bet on a coup that was not observed whole; wait until it rests",
)
NO_OBSTACLE = Need(
    "no_obstacle",
    lambda known: not guards.is_obstacle_open(known),
    A.CLEAR_OBSTACLE,
    "6",
    word=translatable("no sensor has seen where the ball came to rest: the word serves that no obstacle holds it"),
)
NOT_TAKEN = Need("not_taken", lambda known: known.observer.ball.where is not Where.TAKEN, A.NO_LAUNCH, "N2")
NO_MORE_BETS = Need("no_more_bets", lambda known: not known.table_state.follows_void, A.RIEN_NE_VA_PLUS, "3")


def _is_number_given(known: Known) -> bool:
    called = known.table_state.current.called
    return asked(known).number is not None or (called is not None and called.number is not None)


def _is_number_read(known: Known) -> bool:
    """Before he was asked he may have seen another one on his panel."""
    called, command = known.table_state.current.called, asked(known)
    return command.number is not None or called is None or command.t_us >= called.asked_us


NUMBER_GIVEN = Need(
    "number_given", _is_number_given, rules="R3b", text="no sensor proves which number it is: name the number"
)
NUMBER_READ = Need(
    "number_read",
    _is_number_read,
    rules="R3b",
    text="it was said before the number awaited the chef: read it, then confirm it or name another",
)

BETS_OPEN = (AT_REST, NO_OBSTACLE)
PLAY = (WHEEL_PLAYS, SENSORS_WORK, LEVEL_TOLD)
"""The coups to come can be observed whole."""
NOTHING_INSIDE = (LEVEL_TOLD, CLEARED)
"""In the cylinder. It refuses no launch: over an object its coup is void (N6)."""
OPERATIONS_OVER = (NOT_TAKEN, *NOTHING_INSIDE)
BALL_BACK = (*OPERATIONS_OVER, NOT_ELSEWHERE, IN_PLACE, SEEN_TO_TURN, PLACE_SEEN)
NEEDS = (WHEEL_PLAYS, SENSORS_WORK, *BALL_BACK, *BETS_OPEN, NO_MORE_BETS, NUMBER_GIVEN, NUMBER_READ)
