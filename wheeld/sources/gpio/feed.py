"""The feed of the pins: looks at them every few milliseconds, hands on what was observed, and sets the lamps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NoReturn

from wheeld.core.observations import Command, Observation
from wheeld.ports import HostClock, Pins
from wheeld.sources.gpio.outputs import Outputs
from wheeld.sources.gpio.source import GpioSource
from wheeld.sources.sensing import Batch, HandOn, utc_now

LOOK_S = 0.01
"""Half of how late time may be reported: the other half is for a look that comes late."""


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


def commands_only(put: Callable[[Command], Awaitable[None]]) -> HandOn:
    """For pins that see no wheel: of their batches only the commands go on, to be dated like other commands."""

    async def hand_on(batch: Batch) -> None:
        for seen in batch.observations:
            if isinstance(seen, Command):
                await put(seen)

    return hand_on
