"""What a table waits for in each state, as codes, in order. Their words are in the phrases of each language."""

from __future__ import annotations

from collections.abc import Container, Mapping

from wheeld.core.facts import Awaited, State
from wheeld.core.law.rows import AFTER_VOID, NO_COUP

A, S = Awaited, State

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
BEFORE: dict[Awaited, tuple[State, ...]] = {
    A.NO_LAUNCH: (S.OPERATIONS, *AFTER_VOID),
    A.CLEAR_OBJECT: (S.FAITES_VOS_JEUX, S.BETS_CLOSED_EARLY, S.OPERATIONS, *AFTER_VOID),  # N6: a launch over it is void
    A.REPAIR: (S.CLOSED, S.SUSPENDED),
    A.START_WHEEL: (S.CLOSED, S.SUSPENDED),
    A.BALL_AT_REST: (S.CLOSED, S.OPERATIONS, *AFTER_VOID, S.SUSPENDED),
    A.CLEAR_OBSTACLE: (S.CLOSED, S.OPERATIONS, *AFTER_VOID, S.SUSPENDED),
    A.OBJECT_LEVEL: NO_COUP,
    A.PUT_BACK: AFTER_VOID,
    A.TURN_ROTOR: AFTER_VOID,
    A.RIEN_NE_VA_PLUS: (S.FAITES_VOS_JEUX,),
}
"""What must come first if it is owed, and in which states."""
AFTER: dict[Awaited, tuple[State, ...]] = {A.CONFIRM: (S.CLOSED, S.SUSPENDED)}
"""What comes next if it is owed: a number goes on awaiting the chef while play is stopped (R3b)."""


def awaited(state: State, owed: frozenset[Awaited] = frozenset()) -> tuple[Awaited, ...]:
    """What `state` waits for, in order; `owed`: which of `BEFORE` and `AFTER` is to be done now."""
    return (*_of(BEFORE, state, owed), *AWAITED[state], *_of(AFTER, state, owed))


def _of(steps: Mapping[Awaited, Container[State]], state: State, owed: Container[Awaited]) -> list[Awaited]:
    return [code for code, states in steps.items() if code in owed and state in states]
