"""Finds out whether the words of people arrive. A number waits for what the chef said before it (docs/rulebook.md N7).

If the network fails and no error shows this, it seems that nobody speaks. So the daemon sends the broker a ping from
time to time while a coup runs. If no answer comes in time, words may be on their way. The broker sends these words
before it answers again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn, Protocol

from wheeld.ports import HostClock

ASK_S = 0.5
"""The time between two pings while a coup runs. Each ping takes a few bytes."""
ANSWER_NS = 1_200_000_000
"""How long an answer may take. Normally it takes milliseconds. With `ASK_S`, a failure of the network is found in less
than 2 s, the shortest time in which a number can be proven (R3)."""


class HeardConnection(Protocol):
    """The connection to the broker."""

    @property
    def heard_ns(self) -> int:
        """When the broker last answered, in host time."""
        ...

    def ask(self) -> None:
        """Send the broker a ping."""
        ...

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        ...

    async def lost(self, session: int) -> None:
        """Return when the connection with this number is over."""
        ...

    async def hear(self, since_ns: int) -> bool:
        """Return True when all that the broker had for us has been handled, and False if that takes too long."""
        ...


class Earshot:
    """Finds out whether people can be heard over `connection`, and if not, since when."""

    def __init__(self, connection: HeardConnection, *, clock: HostClock, is_running: Callable[[], bool]) -> None:
        self._connection, self._clock, self._is_running = connection, clock, is_running
        self.cut_ns: int | None = None
        """The host time since which words may still be on their way. None: everybody has been heard."""
        self._asked_ns: int | None = None
        """When the oldest ping without an answer was sent, in host time. None if no answer is awaited."""

    async def run(self) -> NoReturn:
        """Watch the connection until cancelled."""
        while True:
            number = await self._connection.connected()
            self._asked_ns = None
            lost = asyncio.create_task(self._connection.lost(number), name="earshot-lost")
            try:
                while not lost.done():
                    now_ns = self._clock.monotonic_ns()
                    if self._asked_ns is not None and self._connection.heard_ns >= self._asked_ns:
                        self._asked_ns = None
                    if self._asked_ns is not None and now_ns - self._asked_ns > ANSWER_NS:
                        self._cut()
                    elif self.cut_ns is not None and await self._connection.hear(0):
                        self.cut_ns = None
                    if self._is_running() and self._asked_ns is None:
                        self._asked_ns = now_ns
                        self._connection.ask()
                    napping = asyncio.create_task(self._clock.sleep(ASK_S), name="earshot-nap")
                    await asyncio.wait({lost, napping}, return_when=asyncio.FIRST_COMPLETED)
                    napping.cancel()
            finally:
                lost.cancel()
            self._cut()

    async def hear(self, since_ns: int) -> None:
        """Wait after a standstill that began at `since_ns`, host time. Return when all that was said during the
        standstill has been handled, or when `cut_ns` says that words may be on their way. Before that, the table must
        not go on: the observations of a whole coup may wait for it."""
        if not await self._connection.hear(since_ns):
            self._cut()

    def _cut(self) -> None:
        if self.cut_ns is None:
            self.cut_ns = self._connection.heard_ns
