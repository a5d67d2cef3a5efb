"""Between a wheel head's line and the table: reads the line, lets the session poll and time out, dates its events.

An event is dated by the host's monotonic clock when its line was read: half a second after what it reports, because
lines come so seldom. A head alone uses that clock as the sensing clock; beside a board or pins its observations are
dated on theirs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NoReturn

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import CammeghSession
from wheeld.core.observations import Observation
from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.head.observations import HeadTranslator

TICK_S = 0.05
"""Polls and time-outs of the session are due in tenths of a second and more."""


class HeadFeed:
    """Moves bytes between links and `session`, and hands on what `translator` makes of its events.

    Every observation goes to `hand_on`. `now_us`: host time in, sensing time out.
    """

    def __init__(
        self,
        session: CammeghSession,
        translator: HeadTranslator,
        clock: HostClock,
        hand_on: Callable[[Observation], None],
        *,
        now_us: Callable[[int], int],
    ) -> None:
        self._session = session
        self._translator = translator
        self._clock = clock
        self._hand_on = hand_on
        self._now_us = now_us
        self._link: ByteLink | None = None

    async def serve(self, link: ByteLink) -> NoReturn:
        """Use `link` until it ends, which raises LinkClosedError."""
        self._session.opened(self._clock.monotonic_ns())
        self._link = link
        try:
            while True:
                await link.write(self._session.data_to_send())
                data = await link.read()
                self._report(self._session.receive(data, self._clock.monotonic_ns()))
        finally:
            self._link = None

    async def tick(self) -> NoReturn:
        """Give the session the time, with a link or without. Never returns."""
        while True:
            await self._clock.sleep(TICK_S)
            now_ns = self._clock.monotonic_ns()
            if now_ns < self._session.next_tick_ns:
                continue
            self._report(self._session.tick(now_ns))
            data = self._session.data_to_send()  # without a link it is dropped
            if self._link is not None and data:
                with contextlib.suppress(LinkClosedError):  # the reader of this link gets the same error
                    await self._link.write(data)

    def _report(self, events: list[e.Event]) -> None:
        for event in events:
            for seen in self._translator.observations(event, self._now_us(event.host_ns)):
                self._hand_on(seen)
