"""What a source is to the table, and the feed of the board: reads its line, ticks, hands on what it observed.

One task serves the link while there is one, another ticks all the time, with a link or without. Both wait when the
table is behind, so nothing is read that cannot be processed: it waits in the kernel and then in the board's ring.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import NoReturn, Protocol

import msgspec

from firmware_protocol.host import Position
from wheeld.core.clock import HostTime, UtcPair
from wheeld.core.observations import Observation
from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.board.board import Board

TICK_S = 0.02
"""Acknowledgements and time requests go out within this; the shortest interval of the session is 50 ms."""


class Sensing(Protocol):
    """A source whose clock is the sensing clock: a board, pins of this computer, or the host's clock."""

    @property
    def is_up(self) -> bool:
        """Whether it works as far as the core knows: a change is always an observation."""
        ...

    @property
    def sensors(self) -> dict[str, bool]:
        """Of each of its sensors, whether it works."""
        ...

    def now_us(self, host_ns: int) -> int:
        """The host's estimate of the sensing clock, never less than the newest observation."""
        ...

    def clock_now(self, host_ns: int) -> HostTime | None:
        """The sensing clock as known at `host_ns`, with its error; None while it is not."""
        ...

    def acknowledge(self, position: Position) -> None:
        """Everything of a batch with this `position` is stored."""
        ...


class Batch(msgspec.Struct, frozen=True):
    """Observations in time order, at least one. When all are stored, `position` may be acknowledged to the board."""

    observations: list[Observation]
    position: Position | None

    @property
    def last_us(self) -> int:
        """Sensing time of the newest observation."""
        return self.observations[-1].t_us


class SensorFeed:
    """Moves bytes between links and `board`; every batch of observations goes to `hand_on`, which may wait."""

    def __init__(self, board: Board, clock: HostClock, hand_on: Callable[[Batch], Awaitable[None]]) -> None:
        self._board = board
        self._clock = clock
        self._hand_on = hand_on
        self._link: ByteLink | None = None

    async def serve(self, link: ByteLink) -> NoReturn:
        """Use `link` until it ends; always raises LinkClosedError."""
        self._board.opened(self._clock.monotonic_ns())
        self._link = link
        try:
            while True:
                await self._received(await link.read())
                await link.write(self._board.data_to_send())
        finally:
            self._link = None

    async def tick(self) -> NoReturn:
        """Keep time for the board until cancelled."""
        while True:
            await self._clock.sleep(TICK_S)
            await self._put(self._board.tick(self._clock.monotonic_ns()))
            if self._link is not None and (data := self._board.data_to_send()):
                with contextlib.suppress(LinkClosedError):  # `serve` gets the same error when it reads
                    await self._link.write(data)

    async def _received(self, data: bytes) -> None:
        host_ns = self._clock.monotonic_ns()
        utc_us = self._clock.utc_us()
        error_us = (self._clock.monotonic_ns() - host_ns) // 1_000 + 1
        await self._put(self._board.receive(data, host_ns, UtcPair(host_ns, utc_us, error_us)))

    async def _put(self, observations: list[Observation]) -> None:
        if observations:
            await self._hand_on(Batch(observations, self._board.position))
