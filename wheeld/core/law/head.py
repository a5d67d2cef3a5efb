"""What only the head of a commercial wheel reports (N8)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.rows import (
    AFTER_VOID,
    BEFORE_LAUNCH,
    COUP,
    ELSEWHERE,
    RUNNING,
    Act,
    ignore,
    notice,
    void,
)

S, F = State, Fact

ROWS = (
    void(
        F.LAUNCH_UNSEEN,
        BEFORE_LAUNCH,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "a ball runs whose launch was not observed",
        Act.BEGIN,
    ),
    void(
        F.LAUNCH_UNSEEN,
        S.OPERATIONS,
        S.RIEN_VA_OPERATIONS_OWED,
        Cause.EARLY_LAUNCH,
        "whenever the ball was launched, the operations of the previous coup are not finished",
        Act.BEGIN,
    ),
    ignore(F.LAUNCH_UNSEEN, ELSEWHERE, "", "it is the ball of the coup that is void already"),
    notice(F.LAUNCH_UNSEEN, S.CLOSED, "launch_while_closed", "6", "no game is on"),
    notice(F.LAUNCH_UNSEEN, S.SUSPENDED, "launch_while_suspended", "6", "no game is on"),
    notice(
        F.LAUNCH_UNSEEN,
        S.AWAITING_CHEF,
        "launch_too_early",
        "N2",
        "the number before awaits the chef, and its operations are not done: this launch counts for nothing",
        Act.DISOWN,
    ),
    void(
        F.LAUNCH_UNSEEN,
        RUNNING,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "the coup that runs was not observed whole",
    ),
    void(
        F.UNOBSERVED_COUP,
        COUP,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "the coup that runs was not observed whole",
    ),
    void(
        F.UNOBSERVED_COUP,
        S.BETS_CLOSED_EARLY,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "the wheel has counted a coup that nobody observed",
        Act.BEGIN,
    ),
    notice(
        F.UNOBSERVED_COUP,
        ELSEWHERE,
        "unobserved_coup",
        "N8",
        "what came of it is not known, and no number is guessed",
    ),
    void(F.WHEEL_VOID, COUP, S.SUSPENDED, Cause.BREAKDOWN, "the wheel itself declares its game void"),
    notice(
        F.WHEEL_VOID,
        ELSEWHERE,
        "wheel_void",
        "",
        "no coup is running; a result stands",
    ),
    ignore(F.WHEEL_VOID, AFTER_VOID, "", "its coup is void already"),
    void(
        F.NUMBER_CORRECTED,
        COUP,
        S.SUSPENDED,
        Cause.BREAKDOWN,
        "a wheel that contradicts its own number proves none; nobody confirms it",
    ),
    notice(
        F.NUMBER_CORRECTED,
        ELSEWHERE,
        "number_corrected",
        "N7 N8",
        "a verdict stands; the chef looks at the ball before anything is paid",
    ),
)
