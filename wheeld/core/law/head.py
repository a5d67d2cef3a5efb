"""What only the head of a commercial wheel reports (N8)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.rows import (
    AFTER_VOID,
    BEFORE_LAUNCH,
    ELSEWHERE,
    OPEN_IDLE,
    RUNNING,
    Act,
    breakdown,
    ignore,
    notice,
    on,
    void,
)

S, F = State, Fact

ROWS = (
    breakdown(F.LAUNCH_UNSEEN, BEFORE_LAUNCH, "a ball runs, and its launch was not observed", Act.BEGIN),
    void(
        F.LAUNCH_UNSEEN,
        S.OPERATIONS,
        Cause.EARLY_LAUNCH,
        "the operations of the previous coup are not finished, so the launch was too early in any case",
        Act.BEGIN,
        to=S.RIEN_VA_OPERATIONS_OWED,
    ),
    ignore(F.LAUNCH_UNSEEN, ELSEWHERE, "", "this is the ball of the coup that is void already"),
    breakdown((F.LAUNCH_UNSEEN, F.UNOBSERVED_COUP), RUNNING, "the coup that runs was not observed fully"),
    breakdown(F.UNOBSERVED_COUP, S.BETS_CLOSED_EARLY, "the wheel has counted a coup that nobody observed", Act.BEGIN),
    notice(
        F.UNOBSERVED_COUP,
        ELSEWHERE,
        "unobserved_coup",
        "N8",
        "nobody knows how that coup ended, and no number is guessed",
        Act.OVERTAKE,
    ),
    breakdown(F.WHEEL_VOID, RUNNING, "the wheel itself declares its game void"),
    notice(F.WHEEL_VOID, ELSEWHERE, "wheel_void", "", "no coup is running; a result stands"),
    notice(F.WHEEL_VOID, S.AWAITING_CHEF, "wheel_void", "N8", "the number still awaits the chef"),
    ignore(F.WHEEL_VOID, AFTER_VOID, "", "the coup of this game is void already"),
    breakdown(
        F.NUMBER_CORRECTED, RUNNING, "a wheel that contradicts its own number proves no number; nobody may confirm it"
    ),
    notice(
        F.NUMBER_CORRECTED,
        (S.AWAITING_CHEF, S.CLOSED, S.SUSPENDED),
        "number_corrected",
        "R3b N8",
        "a verdict stands; if a number awaits the chef, he names it by the ball in its pocket",
        Act.DOUBT,
    ),
    notice(
        F.NUMBER_CORRECTED,
        ELSEWHERE,
        "number_corrected",
        "N7 N8",
        "a verdict stands; the chef looks at the ball before anything is paid",
    ),
    # --- the wheel plays no game
    on(
        F.WHEEL_STOPPED,
        OPEN_IDLE,
        S.SUSPENDED,
        "N8 6",
        "no coup can be observed until the wheel is started again; then a person resumes play",
        Act.NOTICE,
        kind="wheel_stopped",
    ),
    breakdown(F.WHEEL_STOPPED, RUNNING, "the wheel stopped its game while the ball ran, and reports no number"),
    ignore(F.WHEEL_STOPPED, S.AWAITING_CHEF, "N8", "the number awaits the chef; play is suspended after his word"),
    ignore(F.WHEEL_STOPPED, ELSEWHERE, "", "no game is on; play begins when the wheel is started"),
)
