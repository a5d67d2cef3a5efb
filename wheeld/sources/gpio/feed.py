"""The feed of the pins: looks at them every few milliseconds, hands on what was observed, and sets the lamps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NoReturn, Protocol

from wheeld.core.observations import Command, Observation
from wheeld.ports import HostClock, Pins
from wheeld.sources.gpio.outputs import Outputs
from wheeld.sources.gpio.source import RECOVER_NS, SETTLE_NS, GpioSource
from wheeld.sources.sensing import Batch, HandOn, utc_now

LOOK_S = 0.01
"""Half of how late time may be reported: the other half is for a look that comes late."""

CAUGHT_UP_S = (SETTLE_NS + RECOVER_NS) / 1e9 + 5 * LOOK_S
"""So long after a standstill every edge of it has been processed, with some looks to spare."""


class GpioFeed:
    """Hands each look of `source` to `hand_on`, which may wait: meanwhile edges gather, and too many are a fault.
    `state` gives the table's state."""

    def __init__(
        self,
        source: GpioSource,
        outputs: Outputs,
        pins: Pins,
        *,
        clock: HostClock,
        hand_on: HandOn,
        state: Callable[[], str],
    ) -> None:
        self._source, self._outputs, self._pins, self._clock = source, outputs, pins, clock
        self._hand_on, self._state = hand_on, state

    async def run(self) -> NoReturn:
        """Until cancelled; then lamps are switched off and pins released. Raises PinsError for a lamp that fails."""
        try:
            while True:
                await self._clock.sleep(LOOK_S)
                await self._hand_on(Batch(self._look(), None))
                self._outputs.show(self._state(), self._clock.monotonic_ns())
        finally:
            try:
                self._outputs.dark()
            finally:
                self._pins.close()  # also of a chip that takes no lamp's level any more

    def _look(self) -> list[Observation]:
        utc = utc_now(self._clock)
        return self._source.look(utc.host_ns, utc)


class Say(Protocol):
    """Takes a command that was given at `came_ns`, host time."""

    def __call__(self, command: Command, *, came_ns: int) -> Awaitable[None]:
        """Have it applied."""
        ...


def commands_only(say: Say, *, start_ns: int) -> HandOn:
    """For pins that see no wheel: of their batches only the commands go on, each with the host time of its edge.
    `start_ns`: where the pins' time begins."""

    async def hand_on(batch: Batch) -> None:
        for seen in batch.observations:
            if isinstance(seen, Command):
                await say(seen, came_ns=start_ns + seen.t_us * 1_000)

    return hand_on
