"""The needs of commands and launches, and the functions and values that guards, conditions and needs use.

A guard chooses between two facts of sensors if the outcome depends on more than the fact itself. It is in the module
that has the rows of these facts, and in `GUARDS` of that module. It changes nothing.

The clauses in `people` and `launch` name their needs. From the needs come the refusals of commands, the codes of what
the table waits for, and parts of the page of the law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from wheeld.core.catalogue import Text, translatable
from wheeld.core.facts import Awaited, Fact, State, Trouble
from wheeld.core.law.rows import BEFORE_LAUNCH, Need, Row, When
from wheeld.core.names import sensor_texts
from wheeld.core.observations import OBJECT, PLACE, Command
from wheeld.core.pockets import PocketLayout
from wheeld.core.table_state import TableState
from wheeld.core.tracking.ball import Where
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.observer import Observer
from wheeld.core.tracking.sight import objection


class Known(NamedTuple):
    """The table, its observer and its pockets at sensing time `now_us`. `command`: the command to decide, if any."""

    table_state: TableState
    observer: Observer
    pockets: PocketLayout
    now_us: int
    command: Command | None = None


EvidenceGuard: TypeAlias = Callable[[Evidence, Known], Fact]


def asked(known: Known) -> Command:
    """Return the command to decide."""
    assert known.command is not None, "the conditions and needs of commands are tested for a command"
    return known.command


def seen_in_place(known: Known) -> bool | None:
    """Return whether readers see the ball in the pocket of the last number. None if no sensor can see where the ball
    lies, or if there is no last number."""
    number = known.table_state.last_number
    return None if number is None else known.observer.lies_in(known.pockets.index_of[number], known.now_us)


def is_in_place(known: Known) -> bool:
    """Return whether the ball lies in the pocket of the last number, as far as sensors see. True before any number."""
    return seen_in_place(known) is not False


def is_seen_elsewhere(known: Known) -> bool:
    """Return whether readers see the ball in another pocket than the one of the last number. False while the rotor
    stands: readers see nothing then, and a hand may have put the ball back."""
    number, place = known.table_state.last_number, known.observer.place(known.now_us)
    if known.observer.rotor.is_standing:
        return False
    return number is not None and place is not None and place != known.pockets.index_of[number]


def must_rest_first(known: Known) -> bool:
    """Return whether the command that the table awaits is refused until the ball rests. This is so for every command
    that opens the bets, whichever coup the ball belongs to: nobody may bet on a coup that was not observed fully
    (docs/rulebook.md 6). While a ball is on the track, "resume" is refused even if it opens no bets. Nobody has to end
    the refusal: it ends when the ball is seen at rest, or has had enough time to fall."""
    where, table = known.observer.ball.where, known.table_state
    if where is Where.RUNS:
        return table.state is State.SUSPENDED or _opens_bets_next(known)
    is_falling = where is Where.FALLS and not seen_in_place(known)
    return is_falling and _opens_bets_next(known)


def is_obstacle_open(known: Known) -> bool:
    """Return whether a launched ball was never seen at rest, and the command that the table awaits opens the bets. For
    sensors, a ball on an obstacle and a ball in a hand look the same. So a person's word counts."""
    return known.observer.ball.where is Where.UNSEEN and _opens_bets_next(known)


def _opens_bets_next(known: Known) -> bool:
    """Return whether the command that the table awaits opens the bets, or leads back to a game that awaits a launch."""
    table = known.table_state
    match table.state:
        case State.SUSPENDED:
            return table.resume_to in BEFORE_LAUNCH
        case State.CLOSED:
            return not table.tout_va_owed
        case State.RIEN_VA:
            return table.la_derniere != "played" and is_in_place(known)
        case State.OPERATIONS:
            return table.la_derniere != "played"
    return table.state is State.BETS_CLOSED_EARLY


CLEAR_BY_WORD = translatable("no sensor sees whether the cylinder is clear: the person's word counts")
"""The text of a notice when a person's word leaves the object sensor out (N6)."""

PLACED = translatable("the ball lies in {number}, as a person says; readers saw it {off_pockets} pockets from there")
"""The text of a notice when a person names the ball's pocket. All later numbers depend on this (docs/rulebook.md 7)."""


def without_text(sensors: tuple[str, ...]) -> Text:
    """Return the text of a notice about the sensors that are left out now."""
    if not sensors:
        return Text("every sensor is used again")
    return Text(
        "play goes on without these sensors, and what only they could prove is not proven: {sensors}",
        {"sensors": sensor_texts(sensors)},
    )


def left_out_after(known: Known) -> tuple[str, ...]:
    """Return the sensors that are left out after the present command: the sensors that it names, and those that are
    left out already and still fail. A sensor that works again is used again."""
    named = known.command.without if known.command is not None else ()
    observer = known.observer
    kept = (sensor for sensor in observer.left_out if observer.is_faulty(sensor))
    return tuple(dict.fromkeys((*kept, *named)))


def named_pocket(known: Known) -> int | None:
    """Return the index of the pocket in which the ball lies, as this command says. None if it names no pocket."""
    number = None if known.command is None else known.command.number
    return None if number is None else known.pockets.index_of[number]


def _why_no_place(known: Known) -> Text | None:
    """Return why the place of the pockets would be unknown after the present command, or why the pocket that the
    command names is not accepted. None if there is no such reason. A person may name a pocket only if the place is
    unknown, or if it is the pocket where the ball belongs. Otherwise one wrong word would make every number wrong."""
    observer, pocket = known.observer, named_pocket(known)
    if pocket is None:
        return Text(Trouble.SLIPPED.mend) if PLACE in observer.faults else None
    if PLACE not in observer.faults and known.pockets.order[pocket] != known.table_state.ball_belongs_in:
        return Text("the sensors know where the pockets are: give no number")
    if observer.off_by(pocket, known.now_us) is None:
        return Text("no reader has seen the ball lie still in a pocket yet: does the rotor turn?")
    return None


def why_not(known: Known) -> tuple[Text, ...]:
    """Return why coups could not be observed fully after the present command. Empty if nothing prevents this."""
    observer, after = known.observer, left_out_after(known)
    if unknown := [sensor for sensor in after if sensor not in observer.setting.sensors]:
        return (Text("this table has no such sensor: {names}", {"names": ", ".join(unknown)}),)
    if working := [sensor for sensor in after if not observer.is_faulty(sensor)]:
        return (
            Text("only sensors that fail may be left out; these work: {sensors}", {"sensors": sensor_texts(working)}),
        )
    if after and (why := objection(observer.setting, after)):
        return (why,)
    if why := _why_no_place(known):
        return (why,)
    failing = [sensor for sensor in observer.faults if sensor not in (*after, PLACE)]
    objections = {sensor: objection(observer.setting, (*after, sensor)) for sensor in failing}
    reasons: list[Text] = []
    for why in objections.values():
        if why is not None and why not in reasons:
            reasons.append(why)
    optional = sensor_texts(sensor for sensor, why in objections.items() if why is None)
    if optional:
        return *reasons, Text("these fail, and play can go on without them: {sensors}", {"sensors": optional})
    return tuple(reasons)


A = Awaited
DIRECTION = "direction"
"""The role of the direction at the broker."""

CHEF_AWAITED = When("chef_awaited", "a number still awaiting the chef", lambda known: known.table_state.awaits_chef)
TOUT_VA_OWED = When("tout_va_owed", "tout va still owed", lambda known: known.table_state.tout_va_owed)
LAST_PLAYED = When("last_played", "la dernière was played", lambda known: known.table_state.la_derniere == "played")
AHEAD = When("ahead", "announced before it happens", lambda known: asked(known).announced)
TIME_NOT_OVER = When(
    "time_not_over", "before the time of the present one is over", lambda known: known.table_state.spinning.is_early
)


def _is_so_already(known: Known) -> bool:
    """Return whether what a command asks for is so already: a second press must not begin the bouler's time again."""
    table, command = known.table_state, asked(known)
    if command.name == "bouler":
        return command.who == (table.spinning.next_who if command.announced else table.spinning.who)
    return (table.last_coup is not None) == (command.name == "last_coup")


SO_ALREADY = When("so_already", "which is so already", _is_so_already)


def _may_lift(known: Known) -> bool:
    """Return whether the present command may end a suspension. Only the direction may end its own suspension."""
    table, command = known.table_state, known.command
    if command is not None and command.role == DIRECTION:
        return True
    return table.state is not State.SUSPENDED or table.moved_by is None or table.moved_by.role != DIRECTION


DIRECTION_SAYS = Need(
    "direction_says",
    _may_lift,
    A.DIRECTION,
    "A6",
    "the direction suspended play: only the direction resumes it, or ends play",
)
WHEEL_PLAYS = Need(
    "wheel_plays",
    lambda known: not known.observer.wheel_stopped,
    A.START_WHEEL,
    "N8",
    "the wheel has stopped its game, and no coup could be observed: start the wheel first",
)
SENSORS_WORK = Need(
    "sensors_work",
    lambda known: not why_not(known),
    A.REPAIR,
    "N8",
    "a sensor fails, or a needed sensor is left out: no coup could be observed fully",
    reasons=why_not,
)
LEVEL_TOLD = Need(
    "level_told",
    lambda known: known.table_state.object_level != "unknown" or OBJECT in left_out_after(known),
    A.OBJECT_LEVEL,
    "7 N6",
    "the object sensor has not reported yet whether the cylinder is clear",
    wait_us=2_000_000,  # a board reports this level ten times a second, and pins at once
)
CLEARED = Need(
    "cleared",
    lambda known: known.table_state.object_level != "present",
    A.CLEAR_OBJECT,
    "N6",
    "remove the foreign object first",
)
NOT_ELSEWHERE = Need(
    "not_elsewhere",
    lambda known: is_in_place(known) or not is_seen_elsewhere(known),
    A.PUT_BACK,
    "3",
    "put the ball in the pocket of the last number first; if it lies there, the encoder has slipped: "
    "suspend play, and resume with that number",
)
IN_PLACE = Need(
    "in_place",
    is_in_place,
    A.PUT_BACK,
    "3",
    "no reader has seen the ball in its pocket yet: does the rotor turn?",
    wait_us=10_000_000,
)
"""In the 10 s of the wait, a rotor at 12 turns a minute carries the ball past a reader twice. With a slower rotor, the
chef repeats the command."""
SEEN_TO_TURN = Need(
    "seen_to_turn", lambda known: is_in_place(known) or not known.observer.rotor.is_standing, A.TURN_ROTOR, "3"
)
PLACE_SEEN = Need(
    "place_seen",
    lambda known: known.table_state.last_number is None or seen_in_place(known) is not None,
    rules="3",
    word=translatable("no sensor sees where the ball lies: the person's word counts"),
)
AT_REST = Need(
    "at_rest",
    lambda known: not must_rest_first(known),
    A.BALL_AT_REST,
    "6",
    "a ball runs or falls: nobody may bet on a coup that was not observed fully; wait until it rests",
)
NO_OBSTACLE = Need(
    "no_obstacle",
    lambda known: not is_obstacle_open(known),
    A.CLEAR_OBSTACLE,
    "6",
    word=translatable("no sensor has seen where the ball came to rest; the person says that no obstacle holds it"),
)
NOT_RUNNING = Need("not_running", lambda known: known.observer.ball.where is not Where.RUNS, A.BLOCK_BALL, "3")
NOT_TAKEN = Need("not_taken", lambda known: known.observer.ball.where is not Where.TAKEN, A.NO_LAUNCH, "N2")
NO_MORE_BETS = Need("no_more_bets", lambda known: not known.table_state.follows_void, A.RIEN_NE_VA_PLUS, "3")


def _is_number_given(known: Known) -> bool:
    called = known.table_state.current.called
    return asked(known).number is not None or (called is not None and called.number is not None)


def _is_number_read(known: Known) -> bool:
    """Return whether the chef may have read the number that awaits him: he names a number himself, or his command came
    after he was asked. Before that, his panel may have shown another number."""
    called, command = known.table_state.current.called, asked(known)
    return command.number is not None or called is None or command.t_us >= called.asked_us


NUMBER_GIVEN = Need(
    "number_given", _is_number_given, rules="R3b", text="no sensor proves which number it is: name the number"
)
NUMBER_READ = Need(
    "number_read",
    _is_number_read,
    rules="R3b",
    text="the command came before the number awaited the chef: read the number, then confirm it or name another",
)
ANNOUNCED = Need(
    "announced",
    lambda known: asked(known).who == known.table_state.spinning.next_who,
    rules="A4",
    text="no person of that name is announced as the next bouler",
)
HAS_VERDICT = Need(
    "has_verdict",
    lambda known: 0 < (asked(known).about or 0) < known.table_state.coup + known.table_state.decided,
    rules="A9",
    text="that coup has no verdict yet: there is nothing to rule on",
)

BETS_OPEN = (AT_REST, NO_OBSTACLE)
PLAY = (WHEEL_PLAYS, SENSORS_WORK, LEVEL_TOLD)
"""If these needs are met, the next coups can be observed fully."""
NOTHING_INSIDE = (LEVEL_TOLD, CLEARED)
"""The cylinder is clear. These needs do not refuse a launch: with an object in the cylinder, the coup is void (N6)."""
OPERATIONS_OVER = (NOT_TAKEN, *NOTHING_INSIDE)
BALL_BACK = (*OPERATIONS_OVER, NOT_RUNNING, NOT_ELSEWHERE, IN_PLACE, SEEN_TO_TURN, PLACE_SEEN)
ASKED = (NUMBER_GIVEN, NUMBER_READ, ANNOUNCED, HAS_VERDICT)
"""Needs that depend on the content of the command itself."""
NEEDS = (DIRECTION_SAYS, WHEEL_PLAYS, SENSORS_WORK, *BALL_BACK, *BETS_OPEN, NO_MORE_BETS, *ASKED)


def lacking(row: Row, known: Known) -> list[Need]:
    """Return the needs of a row that are not met now."""
    return [need for need in row.needs if not need.is_met(known)]


def in_the_way(row: Row, known: Known) -> Need | None:
    """Return the first unmet need that refuses a command with this row. If there is none, return the first unmet need
    for which a person's word is enough, or None."""
    lacks = lacking(row, known)
    return next((need for need in lacks if need.text), next((need for need in lacks if need.word), None))
