"""Reads the pins every 10 ms, hands on the observations, and sets the lamps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NoReturn, Protocol

from wheeld.core.observations import Command
from wheeld.ports import HostClock, Pins
from wheeld.sources.gpio.outputs import Outputs
from wheeld.sources.gpio.source import RECOVER_NS, SETTLE_NS, GpioSource
from wheeld.sources.sensing import Batch, HandOn, utc_now

LOOK_S = 0.01
"""The interval of looks: half of the delay that is allowed for `TimePassed`, because a look may come late."""

CAUGHT_UP_S = (SETTLE_NS + RECOVER_NS) / 1e9 + 5 * LOOK_S
"""The time after a standstill in which all edges from it are processed, plus a few looks."""


class GpioFeed:
    """Passes the result of each look of `source` to `hand_on`, which may wait. While it waits, edges are kept, and too
    many of them are a fault. `state` returns the table's state, for the lamps."""

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
        """Look at the pins until cancelled, then switch off the lamps and release the pins. Raises PinsError if a lamp
        fails."""
        try:
            while True:
                await self._clock.sleep(LOOK_S)
                utc = utc_now(self._clock)
                await self._hand_on(Batch(self._source.look(utc.host_ns, utc), None))
                self._outputs.show(self._state(), self._clock.monotonic_ns())
        finally:
            try:
                self._outputs.dark()
            finally:
                self._pins.close()  # close the pins even if the chip can no longer set a lamp


class Say(Protocol):
    """Takes a command that was given at `came_ns`, host time."""

    def __call__(self, command: Command, *, came_ns: int) -> Awaitable[None]:
        """Put the command in the queue of the table."""
        ...


def commands_only(say: Say, *, start_ns: int) -> HandOn:
    """Return a function for the batches of pins that do not keep the sensing clock. It passes only commands to `say`,
    with their host time. `start_ns`: the host time at which the pins' time begins."""

    async def hand_on(batch: Batch) -> None:
        for seen in batch.observations:
            if isinstance(seen, Command):
                await say(seen, came_ns=start_ns + seen.t_us * 1_000)

    return hand_on
