"""The launch (A1, N2, N3; docs/rulebook.md 6): what it means is decided where it was made, for it is proven only
later."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.guards import EvidenceGuard, Known
from wheeld.core.law.rows import (
    AFTER_VOID,
    BEFORE_LAUNCH,
    COUP,
    EVERY,
    RUNNING,
    Act,
    ignore,
    notice,
    on,
    void,
)
from wheeld.core.tracking.evidence import Evidence

S, F = State, Fact


def _launch(evidence: Evidence, known: Known) -> Fact:
    """A launch: made before the table came to where it is, over an object, or neither."""
    launches = known.table_state.launches
    if evidence.evidence_us < max(launches.ready_us, launches.void_before_us):
        return _launch_before(evidence, known)
    is_over_object = evidence.fact is F.LAUNCHED and known.observer.object_since(evidence.evidence_us)
    return F.LAUNCHED_OVER_OBJECT if is_over_object else evidence.fact


def _launch_before(evidence: Evidence, known: Known) -> Fact:
    """A launch that is proven after the table moved on: it means what it meant when it was made."""
    launches = known.table_state.launches
    if evidence.evidence_us < launches.void_before_us:
        return F.LAUNCHED_NULL
    if launches.meaning_at(evidence.evidence_us) not in (S.CLOSED, S.SUSPENDED):
        return F.LAUNCHED_BEFORE
    return F.LAUNCHED_IDLE if evidence.fact is F.LAUNCHED else F.LAUNCHED_NULL


GUARDS: dict[Fact, EvidenceGuard] = {F.LAUNCHED: _launch, F.WEAK_LAUNCH: _launch}

ROWS = (
    on(F.LAUNCHED, S.FAITES_VOS_JEUX, S.BALL_RUNNING, "A1", "the launch starts the coup", Act.BEGIN),
    on(
        F.LAUNCHED,
        S.BETS_CLOSED_EARLY,
        S.RIEN_NE_VA_PLUS,
        "A1",
        'the launch that was awaited since "rien ne va plus"',
        Act.BEGIN,
    ),
    void(
        F.LAUNCHED_OVER_OBJECT,
        BEFORE_LAUNCH,
        S.RIEN_VA,
        Cause.FOREIGN_OBJECT,
        "the object lay in the cylinder before the number was out",
        Act.BEGIN,
    ),
    void(
        (F.LAUNCHED, F.LAUNCHED_OVER_OBJECT),
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    void(
        (F.LAUNCHED, F.LAUNCHED_OVER_OBJECT),
        S.RIEN_VA,
        S.RIEN_VA,
        Cause.EARLY_LAUNCH,
        'launched before "tout va"',
        Act.BEGIN,
    ),
    void(
        (F.LAUNCHED, F.LAUNCHED_OVER_OBJECT),
        S.RIEN_VA_OPERATIONS_OWED,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        'launched before "tout va"; the operations are not finished either',
        Act.BEGIN,
    ),
    void(
        (F.LAUNCHED, F.LAUNCHED_OVER_OBJECT),
        COUP,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "a second launch within a coup means that the first was not observed whole",
    ),
    notice((F.LAUNCHED, F.LAUNCHED_OVER_OBJECT), S.CLOSED, "launch_while_closed", "6", "no game is on"),
    notice((F.LAUNCHED, F.LAUNCHED_OVER_OBJECT), S.SUSPENDED, "launch_while_suspended", "6", "no game is on"),
    # --- proven only after the table moved on: several passes prove it, its first pass dates it
    void(
        F.LAUNCHED_BEFORE,
        BEFORE_LAUNCH,
        S.RIEN_VA,
        Cause.EARLY_LAUNCH,
        "the ball ran before the table was ready for it",
        Act.BEGIN,
    ),
    void(
        F.LAUNCHED_BEFORE,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    ignore(F.LAUNCHED_BEFORE, AFTER_VOID, "", "it is the ball of the coup that is void already"),
    void(
        F.LAUNCHED_BEFORE, S.CLOSED, S.CLOSED, Cause.BREAKDOWN, "play ended while the ball ran", Act.BEGIN, rules="A6"
    ),
    void(
        F.LAUNCHED_BEFORE,
        (*RUNNING, S.SUSPENDED),
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "the coup that ran was not observed whole",
        Act.BEGIN,
    ),
    # --- of no coup to come
    notice(F.LAUNCHED_IDLE, EVERY, "launch_while_closed", "6", "no game was on when it was launched"),
    ignore(F.LAUNCHED_NULL, EVERY, "N7", "its coup was void before the launch was proven, or hands moved the ball"),
    # --- too few passes to be followed
    void(
        F.WEAK_LAUNCH,
        (*BEFORE_LAUNCH, *RUNNING),
        S.RIEN_VA,
        Cause.TOO_FEW_LAPS,
        "launched, however few its passes; fewer full laps are proven than a valid coup needs",
        Act.BEGIN,
        rules="R2",
    ),
    void(
        F.WEAK_LAUNCH,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    void(
        (F.WEAK_LAUNCH, F.LAUNCHED_BEFORE),
        S.AWAITING_CHEF,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "a second launch within a coup means that the first was not observed whole",
    ),
    ignore(F.WEAK_LAUNCH, AFTER_VOID, "3", "hands put the ball back now; a stray pulse launches nothing"),
    ignore(F.WEAK_LAUNCH, (S.CLOSED, S.SUSPENDED), "", "no game is on; hands may move the ball"),
)
