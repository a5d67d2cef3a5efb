"""Breakdown of the mechanism or of what observes it (N8)."""

from __future__ import annotations

from wheeld.core.facts import Cause, Fact, State
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
    void(F.SENSOR_FAULT, COUP, S.SUSPENDED, Cause.BREAKDOWN, "what observes the mechanism failed"),
    on(F.SENSOR_FAULT, IDLE, S.SUSPENDED, "N8", "nothing is decided without the sensors"),
    ignore(F.SENSOR_FAULT, S.SUSPENDED, "", "play is suspended already; resume waits for the sensor"),
    ignore(F.SENSOR_MENDED, EVERY, "A6", "a person resumes, not a sensor"),
    void(F.RESTARTED, COUP, S.SUSPENDED, Cause.BREAKDOWN, "the restart hid a part of the coup"),
    ignore(F.RESTARTED, NO_COUP, "", "no coup was running: the table is where it was"),
)
