"""The one place where observations and commands reach the table: in one queue, each stored before the next.

What follows from an observation is stored before anything else happens, so the outbox never publishes what is not on
disk. An event is acknowledged to the board when all that followed from it is stored. With it is stored how far the
board's events were then, so that after a kill in between none of them is applied a second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn

import msgspec

from firmware_protocol.host import Position
from wheeld.core.observations import Command, Observation, SensorState
from wheeld.core.step import Step, joined
from wheeld.core.table import Table
from wheeld.ports import HostClock
from wheeld.sources.sensing import Batch, Sensing

QUEUE_MAX = 64
"""Batches of up to 28 events: some seconds of a busy wheel. More waits in the kernel and in the board's ring."""


class TableLoop:
    """Applies observations and commands to `table`, in the order in which they are put.

    `store` gets what followed, when (UTC) and up to where in the board's events. `on_change` is called when something
    happened that people see.
    """

    def __init__(
        self,
        table: Table,
        sensing: Sensing,
        *,
        clock: HostClock,
        store: Callable[[Step, int, Position | None], Awaitable[None]],
        on_change: Callable[[], None],
    ) -> None:
        self._table = table
        self._sensing = sensing
        self._clock = clock
        self._store = store
        self._on_change = on_change
        self._position: Position | None = None
        self._queue: asyncio.Queue[Batch | Command] = asyncio.Queue(QUEUE_MAX)

    async def put(self, work: Batch | Command) -> None:
        """Have it applied after what was put before; waits while the queue is full."""
        await self._queue.put(work)

    async def run(self) -> NoReturn:
        """Apply and store until cancelled; raises the store's error."""
        while True:
            work = await self._queue.get()
            if isinstance(work, Command):
                await self._apply([msgspec.structs.replace(work, t_us=self._now_us())])
                continue
            self._position = work.position or self._position
            await self._apply(work.observations)
            if work.position is not None:
                self._sensing.acknowledge(work.position)

    def _now_us(self) -> int:
        """The sensing time of a command that comes now: the newest observed, or the host's estimate while the source is
        silent."""
        if self._sensing.is_up:
            return self._table.now_us
        return max(self._table.now_us, self._sensing.now_us(self._clock.monotonic_ns()))

    async def _apply(self, observations: list[Observation]) -> None:
        step = joined([self._table.apply(observation) for observation in observations])
        if step:
            await self._store(step, self._clock.utc_us(), self._position)
        if step.messages or any(isinstance(observation, SensorState) for observation in observations):
            self._on_change()
