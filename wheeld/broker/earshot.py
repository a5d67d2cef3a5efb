"""Whether the words of people arrive: a number waits for what the chef said before it (docs/rulebook.md N7).

A network that is cut without a word looks like one on which nobody speaks. While a coup runs the broker is therefore
asked for a sign, and one that gives none in time may be keeping words back. It sends them before it answers again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn, Protocol

from wheeld.ports import HostClock

ASK_S = 0.5
"""How often the broker is asked while a coup runs: a few bytes each time."""
ANSWER_NS = 1_200_000_000
"""An answer takes milliseconds. With `ASK_S` it is known in less than the 2 s in which a number is proven at the
fastest (R3) that nobody can be heard."""


class HeardConnection(Protocol):
    """The connection to the broker."""

    @property
    def heard_ns(self) -> int:
        """When the broker was last heard, host time."""
        ...

    def ask(self) -> None:
        """Ask it for a sign."""
        ...

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        ...

    async def lost(self, session: int) -> None:
        """Return when that connection is over."""
        ...

    async def hear(self, since_ns: int) -> bool:
        """Return when all that the broker had for us has been handled; False where that took too long."""
        ...


class Earshot:
    """Knows since when nobody can be heard over `connection`, while that is so."""

    def __init__(self, connection: HeardConnection, *, clock: HostClock, is_running: Callable[[], bool]) -> None:
        self._connection, self._clock, self._is_running = connection, clock, is_running
        self.cut_ns: int | None = None
        """What was said since then, host time, may be on its way; None: everybody has been heard."""
        self._asked_ns: int | None = None
        """When the broker was asked first that has given no sign since."""

    async def run(self) -> NoReturn:
        """Until cancelled."""
        while True:
            number = await self._connection.connected()
            self._asked_ns = None
            lost = asyncio.create_task(self._connection.lost(number), name="earshot-lost")
            try:
                while not lost.done():
                    await self._look()
                    napping = asyncio.create_task(self._clock.sleep(ASK_S), name="earshot-nap")
                    await asyncio.wait({lost, napping}, return_when=asyncio.FIRST_COMPLETED)
                    napping.cancel()
            finally:
                lost.cancel()
            self._cut()

    async def hear(self, since_ns: int) -> None:
        """After a standstill that began at `since_ns`, host time: return when all that was said in it has been handled,
        or when it is known here that some of it may be on its way. That must be known in any case: sensors may have
        kept a whole coup that the table has not seen yet."""
        if not await self._connection.hear(since_ns):
            self._cut()

    async def _look(self) -> None:
        """Ask, and judge the answer to what was asked before."""
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

    def _cut(self) -> None:
        if self.cut_ns is None:
            self.cut_ns = self._connection.heard_ns
