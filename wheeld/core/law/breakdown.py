"""Breakdown of the mechanism or of what observes it (N8)."""

from __future__ import annotations

from wheeld.core.law.facts import Cause, Fact, State
from wheeld.core.law.rows import (
    COUP,
    EVERY,
    IDLE,
    NO_COUP,
    ignore,
    on,
    void,
)

S, F = State, Fact

ROWS = (
    void(F.SENSOR_FAULT, COUP, S.SUSPENDED, Cause.BREAKDOWN, "N8, C15: what observes the mechanism failed"),
    on(F.SENSOR_FAULT, IDLE, S.SUSPENDED, "N8, C15: nothing is adjudicated without its sensors"),
    ignore(F.SENSOR_FAULT, S.SUSPENDED, "suspended already; resume waits for it"),
    ignore(F.SENSOR_MENDED, EVERY, "A6: a person resumes, not a sensor"),
    void(F.RESTARTED, COUP, S.SUSPENDED, Cause.BREAKDOWN, "N8: the restart hid a part of the coup"),
    ignore(F.RESTARTED, NO_COUP, "no coup was running: the table is where it was"),
)
