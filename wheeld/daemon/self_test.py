"""The self-test of a start: nothing is published before it is over (docs/standards.md).

The journal is verified when it is opened, before anything else runs: its end, what a restart reads, and what is owed. A
journal that is not as it was left ends the daemon there. Here the sensors are asked whether they answer, and the clock
whether a time server has set it. Sensors that fail do not keep the daemon silent: the table is suspended, as at any
other time, and has to say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import structlog

from wheeld.broker.payloads import SelfTestHealth
from wheeld.core.instants import to_text
from wheeld.ports import EventRecord, HostClock

ANSWER_S_MAX = 5.0
"""So long sensors may take for their first answer. A board that starts anew when its line is opened needs two seconds
for that, a head speaks twice a second; whoever waits longer for one that is not there learns nothing more."""

LOOK_S = 0.01
"""Between two looks whether they have answered: much less than a person notices at a start."""


class SelfTest:
    """One self-test. `silent` names the lines that have not answered since the start; `sensors` gives whether each
    sensor works, `is_synchronised` whether a time server has set the host's clock (None: unknown)."""

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
        self._over = asyncio.Event()
        self.outcome: SelfTestHealth | None = None
        """None until it is over."""
        self._log = structlog.get_logger("self_test")

    async def run(self) -> EventRecord:
        """Wait until all lines have answered, `ANSWER_S_MAX` at most; the outcome, as it is to be stored."""
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

    def end(self) -> None:
        """The outcome is stored: what waits for that may begin."""
        self._over.set()

    async def over(self) -> None:
        """Return when the outcome is stored."""
        await self._over.wait()
