"""The launch (A1, N2, N3; docs/rulebook.md 6). `table.late_row` gives the rows of launches that are proven late."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.needs import NO_MORE_BETS, NOTHING_INSIDE
from wheeld.core.law.rows import AFTER_VOID, BEFORE_LAUNCH, ELSEWHERE, RUNNING, Act, breakdown, ignore, notice, on, void

S, F = State, Fact

_STILL_AWAITED = "this voids nothing; the table waits for the launch"

ROWS = (
    on(F.LAUNCHED, S.FAITES_VOS_JEUX, S.BALL_RUNNING, "A1", "the launch starts the coup", Act.BEGIN).needing(
        *NOTHING_INSIDE, NO_MORE_BETS
    ),
    on(
        F.LAUNCHED,
        S.BETS_CLOSED_EARLY,
        S.RIEN_NE_VA_PLUS,
        "A1",
        'the launch that was awaited since "rien ne va plus"',
        Act.BEGIN,
    ).needing(*NOTHING_INSIDE),
    void(
        (F.LAUNCHED, F.WEAK_LAUNCH),
        S.OPERATIONS,
        Cause.EARLY_LAUNCH,
        "the operations of the previous coup are not finished",
        Act.BEGIN,
        to=S.RIEN_VA_OPERATIONS_OWED,
    ),
    void(F.LAUNCHED, S.RIEN_VA, Cause.EARLY_LAUNCH, 'launched before "{tout_va}"', Act.BEGIN),
    void(
        F.LAUNCHED,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        'launched before "{tout_va}"; the operations are not finished either',
        Act.BEGIN,
        to=S.RIEN_VA_OPERATIONS_OWED,
    ),
    breakdown(F.LAUNCHED, RUNNING, "a second launch within a coup means that the first was not observed fully"),
    notice((F.LAUNCHED, F.LAUNCH_UNSEEN), S.CLOSED, "launch_while_closed", "6", "no game is on", Act.OVERTAKE),
    notice((F.LAUNCHED, F.LAUNCH_UNSEEN), S.SUSPENDED, "launch_while_suspended", "6", "no game is on", Act.OVERTAKE),
    notice(
        (F.LAUNCHED, F.LAUNCH_UNSEEN, F.WEAK_LAUNCH),
        S.AWAITING_CHEF,
        "launch_too_early",
        "N2",
        "the number before awaits the chef, and its operations are not done: this launch counts for nothing",
        Act.DISOWN,
        Act.OVERTAKE,
    ),
    # --- a warning before a launch that would be void
    notice(
        F.BALL_TAKEN, S.OPERATIONS, "operations_unfinished", "N2", "operations are not finished: a launch now is void"
    ),
    notice(
        F.BALL_TAKEN,
        S.RIEN_VA_OPERATIONS_OWED,
        "operations_unfinished",
        "N2",
        'operations are not finished, and "{tout_va}" is not said: a launch now is void',
    ),
    notice(F.BALL_TAKEN, S.RIEN_VA, "tout_va_owed", "N2", '"{tout_va}" is not said: a launch now is void'),
    ignore(F.BALL_TAKEN, ELSEWHERE, "", "a launch is awaited, or it would begin no coup"),
    # --- a launch that is awaited and does not come
    notice(F.LAUNCH_AWAITED, S.BETS_CLOSED_EARLY, "launch_awaited", "6", _STILL_AWAITED),
    notice(F.LAUNCH_FAILED, BEFORE_LAUNCH, "launch_awaited", "6", _STILL_AWAITED),
    ignore(F.LAUNCH_AWAITED, ELSEWHERE, "", "no launch is awaited any more"),
    ignore(F.LAUNCH_FAILED, ELSEWHERE, "", "no launch is awaited"),
    # --- a launch with too few passes to follow the ball
    void(
        F.WEAK_LAUNCH,
        (*BEFORE_LAUNCH, *RUNNING),
        Cause.TOO_FEW_LAPS,
        "the ball was launched, even if few passes were seen; fewer full laps are proven than a valid coup needs",
        Act.BEGIN,
        rules="R2",
    ),
    ignore(F.WEAK_LAUNCH, AFTER_VOID, "3", "people put the ball back now; a stray pulse launches nothing"),
    ignore(F.WEAK_LAUNCH, ELSEWHERE, "", "no game is on; people may move the ball"),
)
