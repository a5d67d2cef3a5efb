"""The complete table of the law, with a row for every state and every fact. The row gives the next state. This module
also gives the facts that are already there when the table enters a state.

The rows and their guards are in one module for each subject: `launch`, `run`, `drop`, `breakdown`, `head`, `people`.
A command may have several rows for one state. Then all of them except the last have a condition (`When`).

A launch that is proven after the table moved on means what it meant when it was made. It has its own rows here.
Questions make most commands wait until a launch is proven (`waiting`). Three kinds of launches are still proven late: a
launch that a head reports later; a launch with few passes, which is proven when a reader sees the ball in its pocket;
and a launch before a sensor fault, because the fault does not wait until a launch is proven. A published verdict stays.
The coup that the launch would have begun is void.

This module also gives, as codes, what a table waits for in each state: unmet needs first. The texts of the codes are in
the phrases of each language.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from enum import Enum, unique
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from wheeld.core.facts import Awaited, Cause, Fact, LastCoup, State, StateName
from wheeld.core.law import breakdown, drop, head, launch, people, run
from wheeld.core.law.needs import CHEF_AWAITED, LAST_PLAYED, SO_ALREADY, Known, in_the_way, lacking
from wheeld.core.law.rows import (
    AFTER_VOID,
    BEFORE_LAUNCH,
    COUP,
    OPEN_IDLE,
    RUNNING,
    STAY,
    Act,
    Clause,
    Goto,
    Need,
    Row,
    When,
)
from wheeld.core.observations import CommandName
from wheeld.core.table_state import Stood, TableState
from wheeld.core.tracking.beams import LEAVE_REV_S
from wheeld.core.tracking.evidence import Evidence

CLAUSES = (*launch.ROWS, *run.ROWS, *drop.ROWS, *breakdown.ROWS, *head.ROWS, *people.ROWS)
GUARDS = drop.GUARDS | breakdown.GUARDS


def collected(clauses: Iterable[Clause]) -> Mapping[tuple[State, Fact], tuple[Row, ...]]:
    """Return the table of these clauses. For each state and fact: the rows with a condition, in the written order, then
    the row without one. A clause without a state (`ELSEWHERE`) applies in each state that has no other row with the
    same condition. Raises ValueError if a pair has no row without a condition, or two rows with the same condition."""
    rows: dict[tuple[State | None, Fact], dict[When | None, Row]] = {}
    for clause in clauses:
        for state, fact in product(clause.states or (None,), clause.facts):
            if clause.row.when in (of_pair := rows.setdefault((state, fact), {})):
                message = f"two rows for {fact.name} {_place(state)}"
                raise ValueError(message)
            of_pair[clause.row.when] = clause.row
    law = {}
    for state, fact in product(State, Fact):
        found = rows.get((None, fact), {}) | rows.get((state, fact), {})
        if None not in found:
            message = f"no row for {fact.name} {_place(state)}"
            raise ValueError(message)
        law[state, fact] = (*(row for when, row in found.items() if when is not None), found[None])
    return MappingProxyType(law)


def _place(state: State | None) -> str:
    return "elsewhere" if state is None else f"in {state.name}"


LAW = collected(CLAUSES)


def rule(state: State, fact: Fact, held: Container[When] = ()) -> Row:
    """Return the row for `fact` in `state` while exactly the conditions in `held` hold. Every pair has a row."""
    return next(row for row in LAW[state, fact] if row.when is None or row.when in held)


def row_for(fact: Fact, known: Known) -> Row:
    """Return the row for `fact` at this table now. It does not test the needs of the row."""
    rows = LAW[known.table_state.state, fact]
    return next(row for row in rows if row.when is None or row.when.holds(known))


class Ruled(NamedTuple):
    """A fact and its row. For a command, also the need that `in_the_way` gives."""

    fact: Fact
    row: Row
    need: Need | None = None


def look_up(evidence: Evidence, known: Known) -> Ruled:
    """Return the fact of this evidence, as its guard decides, and its row: the one of `late_row`, if it gives one; a
    refusal, if an unmet need refuses the command; otherwise the row of the present state."""
    guard = GUARDS.get(evidence.fact)
    fact = evidence.fact if guard is None else guard(evidence, known)
    row = late_row(evidence, known) or row_for(fact, known)
    need = None if known.command is None else in_the_way(row, known)
    if need is not None and need.text and not row.refuse:
        row = Row(STAY, tuple(need.rules.split()), need.text, refuse=True)
    return Ruled(fact, row, need)


LAUNCHES = (Fact.LAUNCHED, Fact.LAUNCH_UNSEEN, Fact.WEAK_LAUNCH)
"""The facts that may be proven late."""


@unique
class Meaning(Enum):
    """What a launch meant when it was made."""

    AWAITED = "bets were open, or closed before the launch"
    EARLY = 'operations or "tout va" were owed (N2)'
    CLOSED = "the table was closed"
    SUSPENDED = "play was suspended"
    RUNNING = "a coup ran already"
    OVERTAKING = "a number awaited the chef"
    OF_VOID = "its coup is void already"


_GROUPS = {
    **dict.fromkeys(BEFORE_LAUNCH, Meaning.AWAITED),
    **dict.fromkeys((State.OPERATIONS, *AFTER_VOID), Meaning.EARLY),
    State.CLOSED: Meaning.CLOSED,
    State.SUSPENDED: Meaning.SUSPENDED,
    **dict.fromkeys(RUNNING, Meaning.RUNNING),
    State.AWAITING_CHEF: Meaning.OVERTAKING,
}
_OF_VOID = Row(STAY, ("2",), "its coup is void already; its run begins no other coup", acts=(Act.DISOWN,))
_WHILE_CLOSED = Row(
    STAY, ("6",), "no game was on at the launch", acts=(Act.NOTICE, Act.DISOWN), notice="launch_while_closed"
)
_OVERTAKING = Row(
    STAY,
    ("N2",),
    "a number awaited the chef when it was launched: this launch counts for nothing",
    acts=(Act.NOTICE, Act.DISOWN),
    notice="launch_too_early",
)
_WHILE_SUSPENDED = msgspec.structs.replace(_WHILE_CLOSED, notice="launch_while_suspended")
_BY_HAND = Row(STAY, ("6",), "no game was on; people may have moved the ball", acts=(Act.DISOWN,))
_EARLY = Row(
    State.RIEN_VA, ("N2",), "the ball ran before the table was ready for it", void=Cause.EARLY_LAUNCH, acts=(Act.BEGIN,)
)
_EARLY_THEN_CLOSED = Row(
    State.CLOSED, ("N2",), "launched too early; then play ended", void=Cause.EARLY_LAUNCH, acts=(Act.BEGIN,)
)
_EARLY_THEN_SUSPENDED = Row(
    State.SUSPENDED, ("N2",), "launched too early; then play was suspended", void=Cause.EARLY_LAUNCH, acts=(Act.BEGIN,)
)
_ENDED = Row(State.CLOSED, ("N8", "A6"), "play ended while the ball ran", void=Cause.BREAKDOWN, acts=(Act.BEGIN,))
_STOPPED = Row(
    State.SUSPENDED, ("N8",), "the coup that ran was not observed fully", void=Cause.BREAKDOWN, acts=(Act.BEGIN,)
)
LATE: dict[tuple[Meaning, State], Row] = {
    **{(Meaning.OF_VOID, state): _OF_VOID for state in State},
    **{(Meaning.OVERTAKING, state): _OVERTAKING for state in State},
    **{(Meaning.CLOSED, state): _WHILE_CLOSED for state in State},
    **{(Meaning.SUSPENDED, state): _WHILE_SUSPENDED for state in State},
    **{(Meaning.EARLY, state): _EARLY for state in BEFORE_LAUNCH},
    (Meaning.EARLY, State.CLOSED): _EARLY_THEN_CLOSED,
    (Meaning.EARLY, State.SUSPENDED): _EARLY_THEN_SUSPENDED,
    (Meaning.AWAITED, State.CLOSED): _ENDED,
    (Meaning.AWAITED, State.SUSPENDED): _STOPPED,
}
"""What a late launch does, by its meaning and the present state. In all other cases the usual row applies."""


def late_row(evidence: Evidence, known: Known) -> Row | None:
    """Return the row of a launch that is proven late, if the launch would mean something else now than when it was
    made. None if the usual row applies."""
    if evidence.fact not in LAUNCHES or known.table_state.awaits_chef:
        return None  # even a late launch does not change the number that awaits the chef (N8)
    now = known.table_state.state
    # What a launch meant follows from the state of the table when it was made. A head does not show this time exactly:
    # a launch that may belong to the last void coup is taken as part of it. So one ball does not make two coups.
    last_void = known.table_state.last_void
    earliest_us = evidence.evidence_us if evidence.earliest_us is None else evidence.earliest_us
    void = {(state, last_void.coup) for state in (*BEFORE_LAUNCH, *RUNNING)} if last_void is not None else set()
    stood = known.table_state.stood_between(earliest_us, evidence.evidence_us)
    is_of_void = any((each.state, each.coup) in void for each in stood)
    meaning = Meaning.OF_VOID if is_of_void else _GROUPS[stood[-1].state]
    if meaning in (_GROUPS[now], Meaning.RUNNING):
        return None
    if meaning in (Meaning.CLOSED, Meaning.SUSPENDED) and evidence.fact is Fact.WEAK_LAUNCH:
        return _BY_HAND
    return LATE.get((meaning, now))


def too_early_us(row: Row, evidence: Evidence, table: TableState) -> int:
    """Return how many µs a launch came before the present state, if its row says that it was too early. Otherwise 0."""
    is_early = row in (_EARLY, _EARLY_THEN_CLOSED, _EARLY_THEN_SUSPENDED)
    return table.history[-1].since_us - evidence.evidence_us if is_early else 0


def standing_evidence(before: State, known: Known, evidence_us: int) -> Iterator[Evidence]:
    """Yield the facts that are already there when the table enters its present state: when a coup begins, an object in
    the cylinder (N6); when a coup ends and the table is open, a sensor that fails or a wheel that has stopped (N8);
    when the launch is awaited again, a wheel that has failed to launch. `before`: the state before."""
    state, observer = known.table_state, known.observer
    if before in BEFORE_LAUNCH and state.state in RUNNING and state.object_level == "present":
        yield Evidence(Fact.OBJECT_IN, evidence_us)
    if before in COUP and state.state in OPEN_IDLE and observer.faults:
        yield Evidence(Fact.SENSOR_FAULT, evidence_us, {"sensor": observer.faults[0]})
    if before in COUP and state.state in OPEN_IDLE and observer.wheel_stopped:
        yield Evidence(Fact.WHEEL_STOPPED, evidence_us)
    if before not in BEFORE_LAUNCH and state.state in BEFORE_LAUNCH and observer.launch_failed:
        yield Evidence(Fact.LAUNCH_FAILED, evidence_us)


STILL_RUNNING_US = round(1e6 / LEAVE_REV_S)
"""A ball that is first seen within this time after a restart may have been launched before it: the slowest ball takes
this long for a lap. If its coup was void, the same run is not a second launch (docs/rulebook.md 2)."""


class Move(NamedTuple):
    """Where a row leads: the next state, the state after a later `resume`, and whether a new game begins, in which bets
    are open and the launch is awaited."""

    state: State
    resume_to: State
    is_new_game: bool


def move(row: Row, table: TableState) -> Move | None:
    """Return the move that the row makes from the present state. None if the table stays in this state."""
    if row.next is Goto.STAY:
        return None
    after = table.resume_to if row.next is Goto.RETURN else row.next
    assert isinstance(after, State), "a row leads to a state, or back"
    resume_to = table.resume_to
    if after is State.SUSPENDED:
        hidden = table.resume_to if table.state is State.SUSPENDED else table.state
        resume_to = hidden
        if row.void is not None and hidden is not State.CLOSED:
            owes_operations = hidden in (State.OPERATIONS, State.RIEN_VA_OPERATIONS_OWED)
            resume_to = State.RIEN_VA_OPERATIONS_OWED if owes_operations else State.RIEN_VA
    return Move(after, resume_to, is_new_game=after is State.FAITES_VOS_JEUX)


def is_running(state: State) -> bool:
    """Return whether a coup is between its launch and its verdict."""
    return state in COUP


def is_closed(state: State) -> bool:
    """Return whether the table is closed."""
    return state is State.CLOSED


def history_after_restart(table: TableState) -> list[Stood]:
    """Return the states from sensing time 0 on. If the latest coup was void, or if the restart makes it void, its ball
    may still run. As long as it may run, the state counts as `ball_running`."""
    last_void = table.last_void
    if table.state in RUNNING or (last_void is not None and last_void.coup == table.coup):
        return [Stood(0, State.BALL_RUNNING, table.coup), Stood(STILL_RUNNING_US, table.state, table.coup)]
    return [Stood(0, table.state, table.coup)]


AWAITED: dict[State, tuple[Awaited, ...]] = {
    State.CLOSED: (Awaited.OPEN,),
    State.FAITES_VOS_JEUX: (Awaited.LAUNCH,),
    State.BETS_CLOSED_EARLY: (Awaited.LAUNCH,),
    State.BALL_RUNNING: (Awaited.RIEN_NE_VA_PLUS, Awaited.NUMBER),
    State.RIEN_NE_VA_PLUS: (Awaited.NUMBER,),
    State.BALL_ON_OBSTACLE: (Awaited.FALL_OR_STOP,),
    State.AWAITING_CHEF: (Awaited.CONFIRM,),
    State.OPERATIONS: (Awaited.OPERATIONS_DONE,),
    State.RIEN_VA: (Awaited.TOUT_VA,),
    State.RIEN_VA_OPERATIONS_OWED: (Awaited.TOUT_VA, Awaited.OPERATIONS_DONE),
    State.SUSPENDED: (Awaited.RESUME,),
}
"""For each state: what leads to the next state."""
FACTS = {
    Awaited.OPEN: Fact.OPEN,
    Awaited.LAUNCH: Fact.LAUNCHED,
    Awaited.OPERATIONS_DONE: Fact.OPERATIONS_DONE,
    Awaited.TOUT_VA: Fact.TOUT_VA,
    Awaited.RESUME: Fact.RESUME,
}
"""The fact of each code that has needs. The table waits for these needs first."""


def awaited(known: Known) -> tuple[Awaited, ...]:
    """Return what the table waits for now, in order."""
    state = known.table_state.state
    rows = [row_for(FACTS[step], known) for step in AWAITED[state] if step in FACTS]
    return codes(state, {need for row in rows for need in lacking(row, known)}, is_kept=known.table_state.awaits_chef)


def codes(state: State, lacks: Collection[Need], *, is_kept: bool = False) -> tuple[Awaited, ...]:
    """Return the codes of unmet needs, then the codes of what leads to the next state. If a number is kept for the chef
    while play is stopped (`is_kept`), his answer comes last (R3b)."""
    first = {need.code for need in lacks}
    if Awaited.REPAIR in first:
        first.discard(Awaited.OBJECT_LEVEL)  # the object sensor reports only after the repair
    after = [Awaited.CONFIRM] if is_kept and state is not State.AWAITING_CHEF else []
    before = [code for code in Awaited if code in first] if first else []  # `first` is usually empty: skip the search
    return (*before, *AWAITED[state], *after)


def state_of(name: StateName, waiting_codes: Collection[Awaited]) -> State:
    """Return the state of a table from its `table` message. If two states have this name, the codes decide."""
    candidates = [state for state in State if state.wire_name == name]
    if len(candidates) == 1:
        return candidates[0]
    if name == State.RIEN_NE_VA_PLUS.wire_name:
        return State.BETS_CLOSED_EARLY if Awaited.LAUNCH in waiting_codes else State.RIEN_NE_VA_PLUS
    return State.RIEN_VA_OPERATIONS_OWED if Awaited.OPERATIONS_DONE in waiting_codes else State.RIEN_VA


def row_of(
    name: CommandName, state: State, waiting_codes: Collection[Awaited], last_coup: LastCoup | None
) -> Row | None:
    """Return the row of a command in `state`, for panels. None if the command would be refused, or would change
    nothing: panels do not offer it. Needs are not tested."""
    is_announced = last_coup is not None
    held: dict[When, bool] = {
        CHEF_AWAITED: Awaited.CONFIRM in waiting_codes,
        LAST_PLAYED: last_coup == "played",
        SO_ALREADY: is_announced if name == "last_coup" else name == "last_coup_off" and not is_announced,
    }
    row = rule(state, Fact[name.upper()], [when for when, holds in held.items() if holds])
    return None if row.refuse or (row.next is STAY and not row.acts) else row
