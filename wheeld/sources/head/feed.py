"""Between a wheel head's line and the table: reads the line, and gives the head the time, to poll and to time out.

What a head reports is dated by the host's monotonic clock when its line was read: later than what it reports, by as
much as lines come apart. A head alone uses that clock as the sensing clock; beside a board or pins its observations
are dated on theirs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import NoReturn

from wheeld.core.observations import Observation
from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.head.reader import WheelHead

TICK_S = 0.05
"""Polls and time-outs of heads are due in tenths of a second and more."""


class HeadFeed:
    """Moves bytes between links and `head`; every observation goes to `hand_on`."""

    def __init__(self, head: WheelHead, clock: HostClock, hand_on: Callable[[Observation], None]) -> None:
        self._head = head
        self._clock = clock
        self._hand_on = hand_on
        self._link: ByteLink | None = None

    async def serve(self, link: ByteLink) -> NoReturn:
        """Use `link` until it ends, which raises LinkClosedError."""
        self._head.opened(self._clock.monotonic_ns())
        self._link = link
        try:
            while True:
                await link.write(self._head.data_to_send())
                data = await link.read()
                self._report(self._head.receive(data, self._clock.monotonic_ns()))
        finally:
            self._link = None

    async def tick(self) -> NoReturn:
        """Give the head the time, with a link or without. Never returns."""
        while True:
            await self._clock.sleep(TICK_S)
            now_ns = self._clock.monotonic_ns()
            if now_ns < self._head.next_tick_ns:
                continue
            self._report(self._head.tick(now_ns))
            data = self._head.data_to_send()  # without a link it is dropped
            if self._link is not None and data:
                with contextlib.suppress(LinkClosedError):  # the reader of this link gets the same error
                    await self._link.write(data)

    def _report(self, observations: Iterable[Observation]) -> None:
        for seen in observations:
            self._hand_on(seen)
