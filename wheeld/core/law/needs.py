"""What guards, conditions and needs know, and what they ask.

A guard chooses between two facts of sensors where the outcome depends on more than the fact itself: it stands in the
module of those facts, beside their rows, and is listed there in `GUARDS`. It answers and writes nothing.

Each need is one object: whether it is met, what the table waits for while it is not, with which rules and words a
command is refused then, and how long the word waits for it. The clauses of `people` name them, and that of a launch.
Refusals, the codes of what the table waits for, and the page of the law come from here.
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
    """What is known of the table at sensing time `now_us`. `command`: the one at hand, if there is one."""

    table_state: TableState
    observer: Observer
    pockets: PocketLayout
    now_us: int
    command: Command | None = None


EvidenceGuard: TypeAlias = Callable[[Evidence, Known], Fact]


def asked(known: Known) -> Command:
    """The command at hand."""
    assert known.command is not None, "a guard of commands is asked about one"
    return known.command


def is_in_place(known: Known) -> bool:
    """Whether the ball lies in the pocket of the last number; True without a last number, or without a sensor."""
    number = known.table_state.last_number
    return number is None or known.observer.lies_in(known.pockets.index_of[number], known.now_us) is not False


def is_seen_in_place(known: Known) -> bool:
    """Whether readers see the ball in the pocket of the last number."""
    number = known.table_state.last_number
    return number is not None and known.observer.lies_in(known.pockets.index_of[number], known.now_us) is True


def is_seen_elsewhere(known: Known) -> bool:
    """Whether readers see the ball lie in another pocket than that of the last number. While the rotor stands they see
    nothing: a hand may have put it back since."""
    number, place = known.table_state.last_number, known.observer.place(known.now_us)
    if known.observer.rotor.is_standing:
        return False
    return number is not None and place is not None and place != known.pockets.index_of[number]


def is_place_unseen(known: Known) -> bool:
    """Whether the ball belongs in a pocket, and no sensor can see whether it lies there."""
    number = known.table_state.last_number
    return number is not None and known.observer.lies_in(known.pockets.index_of[number], known.now_us) is None


def must_rest_first(known: Known) -> bool:
    """Whether the command for which the table waits is refused until the ball rests. One rule for every command that
    opens the bets, whosever ball it is: nobody may bet on a coup that was not observed whole (docs/rulebook.md 6).
    "Resume" waits for a ball on the track wherever it leads. All of it ends by itself: the ball is seen at rest, or the
    time of a fall is over."""
    where, table = known.observer.ball.where, known.table_state
    if where is Where.RUNS:
        return table.state is State.SUSPENDED or _opens_bets_next(known)
    is_falling = where is Where.FALLS and not is_seen_in_place(known)
    return is_falling and _opens_bets_next(known)


def is_obstacle_open(known: Known) -> bool:
    """Whether a launched ball was seen at rest nowhere, and the command for which the table waits opens the bets: no
    sensor tells an obstacle from a hand, so a person looks, and answers for it."""
    return known.observer.ball.where is Where.UNSEEN and _opens_bets_next(known)


def _opens_bets_next(known: Known) -> bool:
    """Whether the command for which the table waits leads to a new game, or back into one."""
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


CLEAR_BY_WORD = translatable("no sensor sees whether the cylinder is clear: the word given serves")
"""N6: "tout va" and "operations done" rest on it while the object sensor is left out."""

PLACED = translatable("the ball lies in {number}, by the word given; readers saw it {off_pockets} pockets from there")
"""Section 7: on it every number rests from then on."""


def without_text(sensors: tuple[str, ...]) -> Text:
    """What a notice says of the sensors that are left out now."""
    if not sensors:
        return Text("every sensor is used again")
    return Text(
        "play goes on, and what only these sensors prove is not proven: {sensors}", {"sensors": sensor_texts(sensors)}
    )


def left_out_after(known: Known) -> tuple[str, ...]:
    """The sensors that the table goes on without after the command at hand: those that it names, and those that are
    left out already and still fail. One that works again is used again."""
    named = known.command.without if known.command is not None else ()
    observer = known.observer
    kept = (sensor for sensor in observer.left_out if observer.is_faulty(sensor))
    return tuple(dict.fromkeys((*kept, *named)))


def named_pocket(known: Known) -> int | None:
    """The pocket in which the ball lies by the command at hand, of `resume` or `open`."""
    number = None if known.command is None else known.command.number
    return None if number is None else known.pockets.index_of[number]


def _why_no_place(known: Known) -> Text | None:
    """Why nobody would know after the command at hand where the pockets stand; None if that is known. A person's word
    is taken where it is not, or where readers see the ball elsewhere than it belongs: else one wrong word would make
    every number wrong."""
    observer, pocket = known.observer, named_pocket(known)
    if pocket is None:
        return Text(Trouble.SLIPPED.mend) if PLACE in observer.faults else None
    if PLACE not in observer.faults and known.pockets.order[pocket] != known.table_state.ball_belongs_in:
        return Text("where the pockets stand is known: give no number")
    if observer.off_by(pocket, known.now_us) is None:
        return Text("no reader has seen the ball lie still in a pocket yet: does the rotor turn?")
    return None


def why_not(known: Known) -> tuple[Text, ...]:
    """Why no coup could be observed whole after the command at hand, sensor by sensor; empty if it could."""
    observer = known.observer
    sensors, after = observer.setting.sensors, left_out_after(known)
    if unknown := [sensor for sensor in after if sensor not in sensors]:
        return (Text("this table has no such sensor: {names}", {"names": ", ".join(unknown)}),)
    if working := [sensor for sensor in after if not observer.is_faulty(sensor)]:
        return (
            Text("only a sensor that fails is left out; these work: {sensors}", {"sensors": sensor_texts(working)}),
        )
    if why := objection(observer.setting, after):
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
"""Its role at the broker."""

CHEF_AWAITED = When("chef_awaited", "a number still awaiting the chef", lambda known: known.table_state.awaits_chef)
TOUT_VA_OWED = When("tout_va_owed", "tout va still owed", lambda known: known.table_state.tout_va_owed)
LAST_PLAYED = When("last_played", "la dernière was played", lambda known: known.table_state.la_derniere == "played")
AHEAD = When("ahead", "announced before it happens", lambda known: asked(known).announced)
TIME_NOT_OVER = When(
    "time_not_over", "before the time of the present one is over", lambda known: known.table_state.spinning.is_early
)


def _is_so_already(known: Known) -> bool:
    """Of a bouler: nobody spins longer because a button was pressed twice."""
    table, command = known.table_state, asked(known)
    if command.name == "bouler":
        return command.who == (table.spinning.next_who if command.announced else table.spinning.who)
    return (table.last_coup is not None) == (command.name == "last_coup")


SO_ALREADY = When("so_already", "which is so already", _is_so_already)


def _may_lift(known: Known) -> bool:
    """Whether play is not suspended by the direction, or its own command is at hand."""
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
"""One reader has met it twice by then at 12 turns a minute. With a slower rotor the chef says it again."""
SEEN_TO_TURN = Need(
    "seen_to_turn", lambda known: is_in_place(known) or not known.observer.rotor.is_standing, A.TURN_ROTOR, "3"
)
PLACE_SEEN = Need(
    "place_seen",
    lambda known: not is_place_unseen(known),
    rules="3",
    word=translatable("no sensor sees where the ball lies: the word given serves"),
)
AT_REST = Need(
    "at_rest",
    lambda known: not must_rest_first(known),
    A.BALL_AT_REST,
    "6",
    "a ball runs or falls: nobody may bet on a coup that was not observed whole; wait until it rests",
)
NO_OBSTACLE = Need(
    "no_obstacle",
    lambda known: not is_obstacle_open(known),
    A.CLEAR_OBSTACLE,
    "6",
    word=translatable("no sensor has seen where the ball came to rest: the word serves that no obstacle holds it"),
)
NOT_RUNNING = Need("not_running", lambda known: known.observer.ball.where is not Where.RUNS, A.BLOCK_BALL, "3")
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
ANNOUNCED = Need(
    "announced",
    lambda known: asked(known).who == known.table_state.spinning.next_who,
    rules="A4",
    text="nobody of that name is announced as the next bouler",
)
HAS_VERDICT = Need(
    "has_verdict",
    lambda known: 0 < (asked(known).about or 0) < known.table_state.coup + known.table_state.decided,
    rules="A9",
    text="that coup has no verdict yet: there is nothing to rule on",
)

BETS_OPEN = (AT_REST, NO_OBSTACLE)
PLAY = (WHEEL_PLAYS, SENSORS_WORK, LEVEL_TOLD)
"""The coups to come can be observed whole."""
NOTHING_INSIDE = (LEVEL_TOLD, CLEARED)
"""In the cylinder. It refuses no launch: over an object its coup is void (N6)."""
OPERATIONS_OVER = (NOT_TAKEN, *NOTHING_INSIDE)
BALL_BACK = (*OPERATIONS_OVER, NOT_RUNNING, NOT_ELSEWHERE, IN_PLACE, SEEN_TO_TURN, PLACE_SEEN)
ASKED = (NUMBER_GIVEN, NUMBER_READ, ANNOUNCED, HAS_VERDICT)
"""Of what the command itself says."""
NEEDS = (DIRECTION_SAYS, WHEEL_PLAYS, SENSORS_WORK, *BALL_BACK, *BETS_OPEN, NO_MORE_BETS, *ASKED)


def lacking(row: Row, known: Known) -> list[Need]:
    """What a row needs and is not so now."""
    return [need for need in row.needs if not need.is_met(known)]


def in_the_way(row: Row, known: Known) -> Need | None:
    """For which need a command with this row is refused now; or else which is granted on a person's word."""
    lacks = lacking(row, known)
    return next((need for need in lacks if need.text), next((need for need in lacks if need.word), None))
