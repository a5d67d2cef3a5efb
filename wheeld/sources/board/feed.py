"""Reads the line of the board, calls the board's tick, and hands on what the board observed.

One task serves the link while it is open. Another task calls the tick all the time, with or without a link. Both wait
while the table has too many batches, so bytes are read only when they can be processed. Until then bytes wait in the
kernel, and events in the board's ring.
"""

from __future__ import annotations

import contextlib
from typing import NoReturn

from wheeld.core.observations import Observation
from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.board.board import Board
from wheeld.sources.sensing import Batch, HandOn, utc_now

TICK_S = 0.1
"""The interval of ticks: a silence is noticed within this time. What the board sends also causes ticks."""


class BoardFeed:
    """Moves bytes between links and `board`. Passes every batch of observations to `hand_on`, which may wait."""

    def __init__(self, board: Board, clock: HostClock, hand_on: HandOn) -> None:
        self._board = board
        self._clock = clock
        self._hand_on = hand_on
        self._link: ByteLink | None = None
        self._ticked_ns = 0

    async def serve(self, link: ByteLink) -> NoReturn:
        """Use `link` until it ends. Always raises LinkClosedError."""
        self._board.opened(self._clock.monotonic_ns())
        self._link = link
        try:
            while True:
                await self._do_due()  # what was received may require an answer at once
                data = await link.read()
                utc = utc_now(self._clock)
                await self._put(self._board.receive(data, utc.host_ns, utc))
        finally:
            self._link = None

    async def tick(self) -> NoReturn:
        """Call the board's tick at each interval, until cancelled."""
        while True:
            due_ns = min(self._ticked_ns + TICK_S * 1e9, self._board.next_tick_ns)  # `serve` also causes ticks
            wait_s = (due_ns - self._clock.monotonic_ns()) / 1e9
            await self._clock.sleep(max(0.0, wait_s))
            if wait_s <= 0:
                await self._do_due()

    async def _do_due(self) -> None:
        self._ticked_ns = self._clock.monotonic_ns()
        await self._put(self._board.tick(self._ticked_ns))
        if self._link is not None and (data := self._board.data_to_send()):
            with contextlib.suppress(LinkClosedError):  # `serve` gets the same error when it reads
                await self._link.write(data)

    async def _put(self, observations: list[Observation]) -> None:
        if observations:
            await self._hand_on(Batch(observations, self._board.position))
