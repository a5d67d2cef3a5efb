"""Time passing: when an absence becomes a fact, and which one."""

from __future__ import annotations

from collections.abc import Iterator

from wheeld.core.instants import ClockState
from wheeld.core.law.facts import Fact
from wheeld.core.table_state import BOULER_US, TableState
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.observer import Observer


class Deadlines:
    """What one table waits for: the observer's deadlines, and the end of the bouler's time."""

    def __init__(self, state: TableState, observer: Observer, clock: ClockState) -> None:
        self._state, self._observer, self._clock = state, observer, clock

    def next_us(self) -> int | None:
        """Sensing time of the earliest deadline; None while nothing is awaited."""
        bouler_us = self._bouler_due_us()
        due_us = self._observer.deadline_us()
        return due_us if bouler_us is None else bouler_us if due_us is None else min(due_us, bouler_us)

    def expire(self, now_us: int) -> Iterator[Evidence]:
        """What is evident because nothing came until `now_us`, each to be applied before the next is asked for."""
        bouler_us = self._bouler_due_us()
        if bouler_us is not None and bouler_us <= now_us:
            self._state.bouler_due_reported = True
            yield Evidence(Fact.BOULER_DUE, now_us, {"bouler": self._state.bouler or ""})
        yield from self._observer.expire(now_us)

    def _bouler_due_us(self) -> int | None:
        state, clock = self._state, self._clock
        if state.bouler_since_utc_us is None or state.bouler_due_reported:
            return None
        return clock.t_us + state.bouler_since_utc_us + BOULER_US - clock.utc_us
