"""The self-test, which runs at each start. Nothing is published before it is over (docs/standards.md).

The self-test checks whether the sensors answer, and whether a time server has set the clock. If sensors fail, the
daemon goes on: the table is suspended, as at any other time, and the daemon must publish that.

The journal was verified before that, when it was opened: its end, what a restart reads, and what is owed. If somebody
had changed the journal since the daemon last ran, the daemon would have ended then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import structlog

from wheeld.broker.payloads import SelfTestHealth
from wheeld.core.instants import to_text
from wheeld.ports import EventRecord, HostClock

ANSWER_S_MAX = 5.0
"""The longest time that sensors may take for their first answer. A board that restarts when its line is opened needs
two seconds, and a head sends a report twice a second. A device that has not answered by then is missing."""

LOOK_S = 0.01
"""The time between two checks for answers. It is too short for a person to notice at a start."""


class SelfTest:
    """One self-test. `silent` returns the names of lines that have not answered since the start. `sensors` returns
    whether each sensor works. `is_synchronised` returns whether a time server has set the host's clock (None:
    unknown)."""

    def __init__(
        self,
        *,
        clock: HostClock,
        silent: Callable[[], tuple[str, ...]],
        sensors: Callable[[], Mapping[str, bool]],
        is_synchronised: Callable[[], bool | None],
    ) -> None:
        self._clock, self._silent = clock, silent
        self._sensors, self._is_synchronised = sensors, is_synchronised
        self.over = asyncio.Event()
        """Set this when the outcome is stored. Everything that waits for the self-test begins then."""
        self.outcome: SelfTestHealth | None = None
        """How the self-test ended. None until it is over."""
        self._log = structlog.get_logger("self_test")

    async def run(self) -> EventRecord:
        """Wait until all lines have answered, at most `ANSWER_S_MAX`. Returns the outcome as an event record."""
        began_ns = self._clock.monotonic_ns()
        while self._silent() and self._clock.monotonic_ns() - began_ns < ANSWER_S_MAX * 1e9:
            await self._clock.sleep(LOOK_S)
        silent = self._silent()
        failing = tuple(name for name, works in self._sensors().items() if not works and name not in silent)
        self.outcome = outcome = SelfTestHealth(
            passed=not (silent or failing), at=to_text(self._clock.utc_us()), silent=silent, failing=failing
        )
        details: dict[str, object] = {
            "passed": outcome.passed,
            "took_s": round((self._clock.monotonic_ns() - began_ns) / 1e9, 1),
            "silent": list(silent),
            "failing": list(failing),
            "clock_synchronised": self._is_synchronised(),
        }
        log = self._log.info if outcome.passed else self._log.warning
        log("self_test.over", **details)
        return EventRecord(event="self_test", details=details)
