"""The run of the ball on the track (R1, R2, N1, N3, A1)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.rows import ELSEWHERE, RUNNING, Act, ignore, notice, on, void

S, F = State, Fact

ROWS = (
    void(F.SAME_DIRECTION, RUNNING, Cause.SAME_DIRECTION, "the ball must run against the rotor", rules="R1"),
    ignore(F.SAME_DIRECTION, ELSEWHERE, "", "no coup is running; a running coup would be void"),
    ignore(F.STRAY_PULSE, ELSEWHERE, "", "a sensor may pulse by itself; no ball made this pulse"),
    ignore(F.OPPOSITE_DIRECTION, ELSEWHERE, "R1", "this is how the ball must run"),
    on(F.BALL_SLOWED, S.BALL_RUNNING, S.RIEN_NE_VA_PLUS, "A1", "the ball has slowed to the set speed", Act.CLOSE_BETS),
    ignore(F.BALL_SLOWED, ELSEWHERE, "", "bets are closed, or no coup is running"),
    notice(
        F.VOID_FORESEEN, RUNNING, "void_foreseen", "R2", "a forecast voids nothing; the ball may be stopped by hand"
    ),
    notice(F.LEAVING_FORESEEN, RUNNING, "leaving_foreseen", "", "a forecast decides nothing"),
    ignore((F.VOID_FORESEEN, F.LEAVING_FORESEEN), ELSEWHERE, "", "no coup is running, or its number is known"),
    void(
        F.LEFT_TRACK_SHORT,
        RUNNING,
        Cause.TOO_FEW_LAPS,
        "fewer full laps are proven than a valid coup needs",
        rules="R2",
    ),
    ignore(F.LEFT_TRACK_SHORT, ELSEWHERE, "", "no coup is running"),
    on(
        (F.LEFT_TRACK, F.LEFT_TRACK_UNPROVEN),
        S.BALL_RUNNING,
        S.RIEN_NE_VA_PLUS,
        "6",
        "bets close at the drop",
        Act.CLOSE_BETS,
    ),
    ignore(F.LEFT_TRACK_UNPROVEN, ELSEWHERE, "R2", "when the number is out, the chef answers for the laps"),
    ignore(F.LEFT_TRACK, ELSEWHERE, "", "what the ball does after the drop decides"),
)
