"""How many messages of one kind may come, and how often the log reports that more came."""

from __future__ import annotations

from typing import Literal

import msgspec
import structlog

from wheeld.ports import HostClock

LOG_GAP_NS = 1_000_000_000
"""The shortest time between two log lines that broker clients can cause. So a flood of messages does not flood the
log."""


class Budget(msgspec.Struct, frozen=True):
    """At most `at_once` messages at one time, and at most `per_s` messages a second in the long run."""

    at_once: int
    per_s: float


class Allowance:
    """The part of a budget that is left. It grows again with time. `now_ns` is host time."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._left = float(budget.at_once)
        self._counted_ns: int | None = None

    def has_one(self, now_ns: int) -> bool:
        """Return whether one more message may come."""
        if self._counted_ns is not None:
            grown = (now_ns - self._counted_ns) * self._budget.per_s / 1e9
            self._left = min(float(self._budget.at_once), self._left + grown)
        self._counted_ns = now_ns
        return self._left >= 1.0

    def take_one(self, now_ns: int) -> bool:
        """Use the budget for one message. Returns whether enough was left."""
        if not self.has_one(now_ns):
            return False
        self._left -= 1.0
        return True


class SparingLog:
    """The log of what broker clients do wrong: at most one line a second. The next line says how many were left out.

    Parts of the program that share one log also share this limit.
    """

    def __init__(self, clock: HostClock) -> None:
        self._clock = clock
        self._logged_ns: int | None = None
        self._left_out = 0
        self._log = structlog.get_logger("broker")

    def warning(self, event: str, **details: object) -> None:
        """Log that something was refused or ignored. Its sender has to correct it."""
        self._say("warning", event, details)

    def error(self, event: str, **details: object) -> None:
        """Log something that a technician has to look at."""
        self._say("error", event, details)

    def _say(self, level: Literal["warning", "error"], event: str, details: dict[str, object]) -> None:
        now_ns = self._clock.monotonic_ns()
        if self._logged_ns is not None and now_ns - self._logged_ns < LOG_GAP_NS:
            self._left_out += 1
            return
        if self._left_out:
            details["lines_left_out"] = self._left_out
        self._logged_ns, self._left_out = now_ns, 0
        getattr(self._log, level)(event, **details)
