"""Breakdown of the mechanism or of what observes it (N8)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.law.rows import (
    ELSEWHERE,
    IDLE,
    RUNNING,
    ignore,
    notice,
    on,
    void,
)

S, F = State, Fact

ROWS = (
    void(F.SENSOR_FAULT, RUNNING, S.SUSPENDED, Cause.BREAKDOWN, "what observes the mechanism failed"),
    ignore(F.SENSOR_FAULT, S.AWAITING_CHEF, "N8", "the number awaits the chef; play is suspended after his word"),
    on(F.SENSOR_FAULT, IDLE, S.SUSPENDED, "N8", "nothing is decided without the sensors"),
    ignore(F.SENSOR_FAULT, ELSEWHERE, "", "play is suspended already; resume waits for the sensor"),
    ignore(F.SENSOR_MENDED, ELSEWHERE, "A6", "a person resumes, not a sensor"),
    notice(
        F.LEFT_OUT_WORKS,
        ELSEWHERE,
        "sensor_works_again",
        "A6",
        'it stays left out until the next "resume" or "open": a person takes it back, not a sensor',
    ),
    void(F.RESTARTED, RUNNING, S.SUSPENDED, Cause.BREAKDOWN, "the restart hid a part of the coup"),
    ignore(F.RESTARTED, S.AWAITING_CHEF, "N8", "the number goes on awaiting the chef"),
    ignore(F.RESTARTED, ELSEWHERE, "", "no coup was running: the table is where it was"),
)
