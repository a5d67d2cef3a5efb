"""Listens to a wheel's sensors as the daemon does, for as long as a technician watches.

What is heard is acknowledged: the spins of an alignment are no coups, and must not be told to the daemon afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from wheeld.config.sections import Config
from wheeld.core.clock import HostTime
from wheeld.core.observations import Command, Observation
from wheeld.daemon.sources import Source
from wheeld.service.host_clock import SystemClock
from wheeld.sources.sensing import Batch

LOOK_S = 1.0


class Bench:
    """Whatever sees the wheel of `config`, listened to. Raises PinsError when pins cannot be had."""

    def __init__(self, config: Config, take: Callable[[Observation], None]) -> None:
        self._take = take
        self._clock = SystemClock()
        self._source = Source(config, start_ns=self._clock.monotonic_ns())

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """By part, as `health` tells them."""
        return self._source.counters

    @property
    def sensors(self) -> dict[str, bool]:
        """What is known of each sensor, and of the lines to them."""
        return self._source.sensors

    @property
    def pulse_widths_us(self) -> dict[str, tuple[int, int]]:
        """Narrowest and widest, of beams and readers on pins."""
        return self._source.pulse_widths_us

    @property
    def clock(self) -> HostTime | None:
        """How well the sensing clock is known."""
        return self._source.sensing.clock_now(self._clock.monotonic_ns())

    async def watch(self, seconds: float, every_second: Callable[[], None]) -> None:
        """Listen so long, and say so each second. What goes wrong in a task goes through: PinsError of a lamp."""
        clock = self._clock
        work = self._source.tasks(self._pressed, self._heard, turning=clock, clock=clock, state=lambda: "closed")
        tasks = [asyncio.create_task(each, name=name) for name, each in work.items()]
        try:
            for _ in range(round(seconds / LOOK_S)):
                done, _ = await asyncio.wait(tasks, timeout=LOOK_S, return_when=asyncio.FIRST_EXCEPTION)
                for task in done:
                    task.result()
                every_second()
        finally:
            await _end(tasks)

    async def _pressed(self, command: Command) -> None:
        self._take(command)

    async def _heard(self, batch: Batch) -> None:
        for seen in batch.observations:
            self._take(seen)
        if batch.position is not None:
            self._source.sensing.acknowledge(batch.position)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel them, and raise what went wrong in one of them, before or by that."""
    first_failed = sorted(tasks, key=lambda task: not task.done())
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*first_failed, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended
