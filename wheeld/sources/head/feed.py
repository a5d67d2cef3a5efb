"""Reads the line of a wheel head, and calls the head's tick for polls and time-outs.

A report of a head gets the host time at which its line was read. This is later than the event, by up to the time
between two lines. If the head is the only source, the host's clock is the sensing clock. If there is also a board or
pins, the host time is converted to their sensing clock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import NoReturn

from wheeld.core.observations import Observation
from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.head.reader import WheelHead

TICK_S = 0.05
"""The interval at which the feed checks whether a tick is due. Polls and time-outs take tenths of a second or more."""


class HeadFeed:
    """Moves bytes between links and `head`. Passes every observation to `hand_on`."""

    def __init__(self, head: WheelHead, clock: HostClock, hand_on: Callable[[Observation], None]) -> None:
        self._head = head
        self._clock = clock
        self._hand_on = hand_on
        self._link: ByteLink | None = None

    async def serve(self, link: ByteLink) -> NoReturn:
        """Use `link` until it ends. Always raises LinkClosedError."""
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
        """Call the head's tick when it is due, with or without a link, until cancelled."""
        while True:
            await self._clock.sleep(TICK_S)
            now_ns = self._clock.monotonic_ns()
            if now_ns < self._head.next_tick_ns:
                continue
            self._report(self._head.tick(now_ns))
            data = self._head.data_to_send()  # these bytes are dropped if there is no link
            if self._link is not None and data:
                with contextlib.suppress(LinkClosedError):  # `serve` gets the same error when it reads
                    await self._link.write(data)

    def _report(self, observations: Iterable[Observation]) -> None:
        for seen in observations:
            self._hand_on(seen)
