"""Reads a wheel's sensors as the daemon does, while a technician watches.

The bench acknowledges every event of a board. The spins of an alignment are not coups, so the daemon must not get their
events later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from wheeld.config.sections import Config
from wheeld.core.observations import Command, Observation
from wheeld.daemon.sources import Source
from wheeld.service.host_clock import SystemClock
from wheeld.sources.clock import HostTime
from wheeld.sources.sensing import Batch

LOOK_S = 1.0


class Bench:
    """The sensors of the wheel of `config`. Each observation and each command of a button goes to `take`. Raises
    PinsError if the pins cannot be used."""

    def __init__(self, config: Config, take: Callable[[Observation], None]) -> None:
        self._take = take
        self._clock = SystemClock()
        self.source = Source(config, start_ns=self._clock.monotonic_ns())
        """All sources of the wheel. They have counters, and report which sensors work."""

    @property
    def clock(self) -> HostTime | None:
        """The sensing clock with its error. None while it is not known."""
        return self.source.sensing.clock_now(self._clock.monotonic_ns())

    async def watch(self, seconds: float, every_second: Callable[[], None]) -> None:
        """Read the sensors for `seconds`, and call `every_second` each second. Raises the first error of a source, such
        as PinsError from a lamp."""
        clock = self._clock
        work = self.source.tasks(self._pressed, self._heard, turning=clock, clock=clock, state=lambda: "closed")
        tasks = [asyncio.create_task(each, name=name) for name, each in work.items()]
        try:
            for _ in range(round(seconds / LOOK_S)):
                done, _ = await asyncio.wait(tasks, timeout=LOOK_S, return_when=asyncio.FIRST_EXCEPTION)
                for task in done:
                    task.result()
                every_second()
        finally:
            first_failed = sorted(tasks, key=lambda task: not task.done())
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*first_failed, return_exceptions=True):
                if isinstance(ended, Exception):
                    raise ended

    async def _pressed(self, command: Command, *, came_ns: int) -> None:  # noqa: ARG002  callers pass it by this name
        self._take(command)

    async def _heard(self, batch: Batch) -> None:
        for seen in batch.observations:
            self._take(seen)
        if batch.position is not None:
            self.source.sensing.acknowledge(batch.position)
