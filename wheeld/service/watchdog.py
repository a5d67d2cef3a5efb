"""Feeds systemd's watchdog only while every part that a verdict passes through has shown that it works.

A task that feeds the watchdog by itself proves only that the event loop runs. A daemon whose journal waits for a dead
disk, or whose outbox is blocked, would look healthy. So each part gives a sign. The sensor loop gives its sign when it
waits for the next turn, and the outbox when it waits for its publisher. The table must have applied the observations
that it was given. The journal must answer a query on its own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn, Protocol, TypeVar

import structlog

from wheeld.ports import HostClock, Publication, Publisher

FEEDS = 4
"""How often the watchdog is fed in its period. A busy disk may delay two feeds before systemd restarts the daemon."""

CHECK_S = 0.25
"""How often a sign that is still missing is checked."""

TURN_S = 1.0
"""How often an outbox that waits (for a broker or messages) gives its sign. This is shorter than any reasonable period
of the watchdog."""

T = TypeVar("T")


class Timed(Protocol):
    """What a source gives to the table."""

    @property
    def last_us(self) -> int:
        """The sensing time of its newest observation."""
        ...


Handed = TypeVar("Handed", bound=Timed)


class Sign(Protocol):
    """A part's proof that it works."""

    @property
    def is_shown(self) -> bool:
        """Whether the sign was given since `renew`."""
        ...

    def renew(self) -> None:
        """Require a new sign."""
        ...


class Turns:
    """The sign of a part that regularly passes one place in its loop."""

    def __init__(self) -> None:
        self.is_shown = False

    def turn(self) -> None:
        """Remember that the part has passed that place."""
        self.is_shown = True

    def renew(self) -> None:
        """Require another turn."""
        self.is_shown = False


class CaughtUp:
    """The sign of the table: it has applied all observations that it had been given at the last `renew`.

    `now_us` returns the sensing time up to which the table has applied observations.
    """

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us
        self._handed_us = self._due_us = 0

    @property
    def is_shown(self) -> bool:
        """Whether the table has applied what it was given before `renew`."""
        return self._now_us() >= self._due_us

    def handed(self, t_us: int) -> None:
        """Remember that the table was given observations up to `t_us`."""
        self._handed_us = max(self._handed_us, t_us)

    def renew(self) -> None:
        """Require that the table applies all that it was given until now."""
        self._due_us = self._handed_us


class Watch:
    """Feeds the watchdog (`feed`) if each sign was given since the last feed."""

    def __init__(self, *, clock: HostClock, feed: Callable[[], None], table_now_us: Callable[[], int]) -> None:
        self.sensors, self.journal, self.outbox = Turns(), Turns(), Turns()
        self.table = CaughtUp(table_now_us)
        self._clock = clock
        self._feed = feed
        self._log = structlog.get_logger("watchdog")

    async def run(self, watchdog_s: float) -> NoReturn:
        """Feed the watchdog whenever all signs are given, until cancelled. `watchdog_s`: the period that systemd
        allows."""
        period_s = watchdog_s / FEEDS
        while True:
            # Signs that stay missing are logged, because systemd may restart the daemon.
            since_ns, logged = self._clock.monotonic_ns(), list[str]()
            while missing := [name for name, sign in self._signs().items() if not sign.is_shown]:
                if missing != logged and self._clock.monotonic_ns() - since_ns >= period_s * 1e9:
                    logged = missing
                    self._log.error(
                        "watchdog.starved", missing=missing, then="systemd restarts the daemon unless they come back"
                    )
                await self._clock.sleep(CHECK_S)
            if logged:
                self._log.warning("watchdog.fed_again", after_s=(self._clock.monotonic_ns() - since_ns) / 1e9)
            self._feed()
            for sign in self._signs().values():
                sign.renew()
            await self._clock.sleep(period_s)

    async def ask_journal(self, query: Callable[[], Awaitable[object]], watchdog_s: float) -> NoReturn:
        """Send `query` to the journal's thread until cancelled. Raises the journal's error, which ends the daemon."""
        while True:
            await query()
            self.journal.turn()
            await self._clock.sleep(watchdog_s / FEEDS)

    def _signs(self) -> dict[str, Sign]:
        return {"sensors": self.sensors, "table": self.table, "journal": self.journal, "outbox": self.outbox}


class TurningClock:
    """The clock of the sensor loop. In each turn the loop calls `sleep` once, which gives the sign."""

    def __init__(self, clock: HostClock, sign: Turns) -> None:
        self._clock = clock
        self._sign = sign

    def monotonic_ns(self) -> int:
        """Return host monotonic time in nanoseconds."""
        return self._clock.monotonic_ns()

    def utc_us(self) -> int:
        """Return UTC in microseconds since 1970."""
        return self._clock.utc_us()

    async def sleep(self, seconds: float) -> None:
        """Give the sign, and return after `seconds`."""
        self._sign.turn()
        await self._clock.sleep(seconds)


class TurningPublisher:
    """The outbox's publisher. Every wait of the outbox is in this class, which gives the sign while the wait is
    allowed.

    A publication may take `publish_s_max`. After that it is lost with its connection, and no sign is given any more.
    """

    def __init__(self, publisher: Publisher, sign: Turns, *, clock: HostClock, publish_s_max: float) -> None:
        self._publisher = publisher
        self._sign = sign
        self._clock = clock
        self._publish_s_max = publish_s_max

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        return await self._turning(self._publisher.connected())

    async def lost(self, session: int) -> None:
        """Return when connection `session` is over."""
        await self._turning(self._publisher.lost(session))

    async def publish(self, publication: Publication, *, session: int) -> None:
        """Return when the broker has received `publication` over connection `session`. Raises `PublishError`
        otherwise."""
        await self._turning(self._publisher.publish(publication, session=session), s_max=self._publish_s_max)

    async def _turning(self, waiting: Awaitable[T], *, s_max: float = float("inf")) -> T:
        self._sign.turn()
        turning = asyncio.create_task(self._turn(s_max), name="outbox-turning")
        try:
            return await waiting
        finally:
            turning.cancel()

    async def _turn(self, s_max: float) -> None:
        since_ns = self._clock.monotonic_ns()
        while self._clock.monotonic_ns() - since_ns <= s_max * 1e9:
            self._sign.turn()
            await self._clock.sleep(TURN_S)


def watched(hand_on: Callable[[Handed], Awaitable[None]], sign: CaughtUp) -> Callable[[Handed], Awaitable[None]]:
    """Return a function that calls `hand_on`, and notes in `sign` up to what time the table has observations."""

    async def handing_on(handed: Handed) -> None:
        await hand_on(handed)
        sign.handed(handed.last_us)

    return handing_on
