"""A launch that is proven after the table moved on: it means what it meant when it was made.

Questions make most words wait until a launch is proven (`waiting`). Late comes what a head reports after it was made, a
launch of few passes that a reader shows when it sees where the ball lies, and a launch before a sensor's fault, which
waits for no launch. A verdict that was published stays; what the launch would have begun is void.
"""

from __future__ import annotations

from enum import Enum, unique

import msgspec

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.guards import Known
from wheeld.core.law.rows import AFTER_VOID, BEFORE_LAUNCH, COUP, RUNNING, STAY, Act, Row
from wheeld.core.table_state import History, Stood
from wheeld.core.tracking.evidence import Evidence

LAUNCHES = (Fact.LAUNCHED, Fact.LAUNCH_UNSEEN, Fact.WEAK_LAUNCH)
"""The facts that may come late."""


@unique
class Meaning(Enum):
    """What a launch meant when it was made."""

    AWAITED = "bets were open, or closed before the launch"
    EARLY = 'operations or "tout va" were owed (N2)'
    CLOSED = "the table was closed"
    SUSPENDED = "play was suspended"
    RUNNING = "a coup ran already"
    OF_VOID = "its coup is void already"


_GROUPS = {
    **dict.fromkeys(BEFORE_LAUNCH, Meaning.AWAITED),
    **dict.fromkeys((State.OPERATIONS, *AFTER_VOID), Meaning.EARLY),
    State.CLOSED: Meaning.CLOSED,
    State.SUSPENDED: Meaning.SUSPENDED,
    **dict.fromkeys(COUP, Meaning.RUNNING),
}
_OF_VOID = Row(STAY, ("2",), "its coup is void already; it never becomes another", acts=(Act.DISOWN,))
_WHILE_CLOSED = Row(
    STAY, ("6",), "no game was on when it was launched", acts=(Act.NOTICE, Act.DISOWN), notice="launch_while_closed"
)
_WHILE_SUSPENDED = msgspec.structs.replace(_WHILE_CLOSED, notice="launch_while_suspended")
_BY_HAND = Row(STAY, ("6",), "no game was on; hands may have moved the ball", acts=(Act.DISOWN,))
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
    State.SUSPENDED,
    ("N8",),
    "the coup that ran was not observed whole",
    void=Cause.BREAKDOWN,
    acts=(Act.BEGIN,),
)
LATE: dict[tuple[Meaning, State], Row] = {
    **{(Meaning.OF_VOID, state): _OF_VOID for state in State},
    **{(Meaning.CLOSED, state): _WHILE_CLOSED for state in State},
    **{(Meaning.SUSPENDED, state): _WHILE_SUSPENDED for state in State},
    **{(Meaning.EARLY, state): _EARLY for state in BEFORE_LAUNCH},
    (Meaning.EARLY, State.CLOSED): _EARLY_THEN_CLOSED,
    (Meaning.EARLY, State.SUSPENDED): _EARLY_THEN_SUSPENDED,
    (Meaning.AWAITED, State.CLOSED): _ENDED,
    (Meaning.AWAITED, State.SUSPENDED): _STOPPED,
}
"""What a late launch does, by what it meant and where the table is now. Every other pair is as if it were not late."""


def late_row(evidence: Evidence, known: Known) -> Row | None:
    """The row of a launch that means, by its time, something else than it would now; None when it is not late."""
    if evidence.fact not in LAUNCHES or known.table_state.awaits_chef:
        return None  # a number that awaits the chef is lost by no launch (N8)
    now = known.table_state.state
    meaning = _meaning(evidence, known)
    if meaning in (_GROUPS[now], Meaning.RUNNING):
        return None
    if meaning in (Meaning.CLOSED, Meaning.SUSPENDED) and evidence.fact is Fact.WEAK_LAUNCH:
        return _BY_HAND
    return LATE.get((meaning, now))


def too_early_us(row: Row, evidence: Evidence, history: History) -> int:
    """By how long a late launch was too early: it was made before the table came to where it is; 0 of any other row."""
    is_early = row in (_EARLY, _EARLY_THEN_CLOSED, _EARLY_THEN_SUSPENDED)
    return history.stood[-1].since_us - evidence.evidence_us if is_early else 0


def _meaning(evidence: Evidence, known: Known) -> Meaning:
    """By where the table stood when it was launched. A head does not say when it was: if it may have been a launch of
    a coup that is void by now, it was, because one ball does not make two coups."""
    history = known.table_state.history
    earliest_us = evidence.evidence_us if evidence.earliest_us is None else evidence.earliest_us
    if any(_is_void_now(stood, known) for stood in history.between(earliest_us, evidence.evidence_us)):
        return Meaning.OF_VOID
    return _GROUPS[history.at(evidence.evidence_us).state]


def _is_void_now(stood: Stood, known: Known) -> bool:
    """Whether a coup could be launched, or ran, then, and is void now."""
    last_void = known.table_state.last_void
    return stood.state in (*BEFORE_LAUNCH, *RUNNING) and last_void is not None and last_void.coup == stood.coup
