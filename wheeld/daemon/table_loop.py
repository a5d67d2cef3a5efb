"""The one place where observations and commands reach the table: in the order of their times, each stored before the
next.

A command is dated by the host's estimate of the sensing clock as it comes. It waits until the sensors have reported up
to that time: what they saw before is decided before. They report every 0.1 s, or their link is down; then nothing more
is to be waited for.

What follows from an observation is stored before anything else happens, so the outbox never publishes what is not on
disk. An event is acknowledged to the board when all that followed from it is stored. With it is stored how far the
board's events were then, so that after a kill in between none of them is applied a second time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
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
    """Applies observations and commands to `table`.

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
        self._said: deque[Command] = deque()
        self._queue: asyncio.Queue[Batch | Command] = asyncio.Queue(QUEUE_MAX)

    async def put(self, work: Batch | Command) -> None:
        """Have it applied after what was put before; waits while the queue is full. A command is of the present."""
        if isinstance(work, Command):
            work = msgspec.structs.replace(work, t_us=self._sensing.now_us(self._clock.monotonic_ns()))
        await self._queue.put(work)

    async def run(self) -> NoReturn:
        """Apply and store until cancelled; raises the store's error."""
        while True:
            work = await self._queue.get()
            if isinstance(work, Command):
                self._said.append(work)
                await self._apply(self._due(self._reported_us(self._table.now_us)))
                continue
            self._position = work.position or self._position
            await self._apply(self._merged(work))
            if work.position is not None:
                self._sensing.acknowledge(work.position)

    def _merged(self, batch: Batch) -> list[Observation]:
        """The batch, and the commands among it, each before the first observation that is later."""
        merged: list[Observation] = []
        for observation in batch.observations:
            merged += self._due(observation.t_us - 1)
            merged.append(observation)
        return merged + self._due(self._reported_us(batch.last_us))

    def _reported_us(self, newest_us: int) -> int:
        """Up to when the sensors have reported: the newest observation, or the present while they are silent."""
        silent_us = 0 if self._sensing.is_up else self._sensing.now_us(self._clock.monotonic_ns())
        return max(newest_us, silent_us)

    def _due(self, until_us: int) -> list[Command]:
        """The commands up to that time, in order."""
        due = []
        while self._said and self._said[0].t_us <= until_us:
            due.append(self._said.popleft())
        return due

    async def _apply(self, observations: Sequence[Observation]) -> None:
        step = joined([self._table.apply(observation) for observation in observations])
        if step:
            await self._store(step, self._clock.utc_us(), self._position)
        if step.messages or any(isinstance(observation, SensorState) for observation in observations):
            self._on_change()
