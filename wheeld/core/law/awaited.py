"""What a table waits for in each state, as codes, in order; and what a command would do there. Their words are in the
phrases of each language."""

from __future__ import annotations

from collections.abc import Collection

from wheeld.core.facts import Awaited, Fact, LastCoup, State, StateName
from wheeld.core.law.guards import Known
from wheeld.core.law.needs import CHEF_AWAITED, LAST_PLAYED, SO_ALREADY
from wheeld.core.law.rows import STAY, Need, Row, When
from wheeld.core.law.table import lacking, row_for, rule
from wheeld.core.observations import CommandName

A, F, S = Awaited, Fact, State

AWAITED: dict[State, tuple[Awaited, ...]] = {
    S.CLOSED: (A.OPEN,),
    S.FAITES_VOS_JEUX: (A.LAUNCH,),
    S.BETS_CLOSED_EARLY: (A.LAUNCH,),
    S.BALL_RUNNING: (A.RIEN_NE_VA_PLUS, A.NUMBER),
    S.RIEN_NE_VA_PLUS: (A.NUMBER,),
    S.BALL_ON_OBSTACLE: (A.FALL_OR_STOP,),
    S.AWAITING_CHEF: (A.CONFIRM,),
    S.OPERATIONS: (A.OPERATIONS_DONE,),
    S.RIEN_VA: (A.TOUT_VA,),
    S.RIEN_VA_OPERATIONS_OWED: (A.TOUT_VA, A.OPERATIONS_DONE),
    S.SUSPENDED: (A.RESUME,),
}
"""What leads on from each state."""
FACTS = {
    A.OPEN: F.OPEN,
    A.LAUNCH: F.LAUNCHED,
    A.OPERATIONS_DONE: F.OPERATIONS_DONE,
    A.TOUT_VA: F.TOUT_VA,
    A.RESUME: F.RESUME,
}
"""Whose needs come before it."""


def awaited(known: Known) -> tuple[Awaited, ...]:
    """What the table waits for now, in order."""
    state = known.table_state.state
    rows = [row_for(FACTS[step], known) for step in AWAITED[state] if step in FACTS]
    return codes(state, {need for row in rows for need in lacking(row, known)}, is_kept=known.table_state.awaits_chef)


def codes(state: State, lacks: Collection[Need], *, is_kept: bool = False) -> tuple[Awaited, ...]:
    """What comes first, as it is lacking; what leads on from `state`; and, where a number is kept for the chef while
    play is stopped, his answer (R3b)."""
    first = {need.code for need in lacks}
    if A.REPAIR in first:
        first.discard(A.OBJECT_LEVEL)  # nothing tells it before
    after = [A.CONFIRM] if is_kept and state is not S.AWAITING_CHEF else []
    return (*(code for code in Awaited if code in first), *AWAITED[state], *after)


def state_of(name: StateName, waiting_codes: Collection[Awaited]) -> State:
    """The state of a `table` message: two have one name there, and what they wait for tells them apart."""
    candidates = [state for state in State if state.wire_name == name]
    if len(candidates) == 1:
        return candidates[0]
    if name == State.RIEN_NE_VA_PLUS.wire_name:
        return State.BETS_CLOSED_EARLY if A.LAUNCH in waiting_codes else State.RIEN_NE_VA_PLUS
    return State.RIEN_VA_OPERATIONS_OWED if A.OPERATIONS_DONE in waiting_codes else State.RIEN_VA


def row_of(
    name: CommandName, state: State, waiting_codes: Collection[Awaited], last_coup: LastCoup | None
) -> Row | None:
    """The row by which the command does something there, if nothing is in its way: panels promise nothing else. None
    where it is refused, or changes nothing."""
    is_announced = last_coup is not None
    held: dict[When, bool] = {
        CHEF_AWAITED: A.CONFIRM in waiting_codes,
        LAST_PLAYED: last_coup == "played",
        SO_ALREADY: is_announced if name == "last_coup" else name == "last_coup_off" and not is_announced,
    }
    row = rule(state, Fact[name.upper()], [when for when, holds in held.items() if holds])
    return None if row.refuse or (row.next is STAY and not row.acts) else row
