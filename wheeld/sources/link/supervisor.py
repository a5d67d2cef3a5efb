"""Keeps a link to a device open: opens it, has it served, opens it again.

Waits between attempts grow, at first to half a second and later to a ceiling. They have jitter, so that several daemons
behind one hub do not try at the same moments. What happened is logged when it changes, with what to do; a port that is
missing for hours is one line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, NoReturn, Protocol, TypeVar, runtime_checkable

import structlog

from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.link.serial_link import PortUnavailableError

WAIT_S_MIN = 0.1
"""A cable with a loose contact is back within this, and then the board's ring still has the whole coup."""
WAIT_S_SOON = 0.5
"""Soon after the line was lost: a plug that a foot pulled and a hand puts back is found within half a second, before
the second is over after which the line counts as silent."""
SOON_S = 10.0
"""About as long as a board's ring holds all that happens meanwhile."""
WAIT_S_MAX = 3.0
"""Afterwards: a person who plugs a board in waits for about as long."""

UNSTEADY_LOG_S = 60.0
"""A line that is lost as soon as it was opened would be two log lines each time: it is one change in this time."""

Link = TypeVar("Link", bound=ByteLink)


@runtime_checkable
class OpensLater(Protocol):
    """A link that is made at once and opened by a thread of its own."""

    async def opened(self) -> None:
        """Return when it is open; raises PortUnavailableError when it could not be."""
        ...


class LinkSupervisor(Generic[Link]):
    """Opens a link with `open_link`, has `serve` use it until it raises `LinkClosedError`, and begins again.

    `jitter` gives a number from 0 to 1 for each wait.
    """

    def __init__(
        self,
        open_link: Callable[[], Link],
        serve: Callable[[Link], Awaitable[None]],
        *,
        clock: HostClock,
        jitter: Callable[[], float],
    ) -> None:
        self._open_link = open_link
        self._serve = serve
        self._clock = clock
        self._jitter = jitter
        self._log = structlog.get_logger("link")
        self._logged = ""
        self._logged_ns = 0
        self._is_unsteady = False
        """The line was lost soon after it was opened."""
        self.opened_count = 0
        self.unavailable = ""
        """Why the line could not be opened at the latest attempt; empty: it was."""

    async def run(self) -> NoReturn:
        """Runs until cancelled; raises what `serve` raises other than `LinkClosedError`."""
        wait_s, lost_ns = WAIT_S_MIN, self._clock.monotonic_ns()
        while True:
            began_ns, opened = self._clock.monotonic_ns(), self.opened_count
            await self._once()
            lived = self._clock.monotonic_ns() - began_ns > WAIT_S_MAX * 1e9
            self._is_unsteady = not lived and (self._is_unsteady or self.opened_count > opened)
            if lived:
                wait_s, lost_ns = WAIT_S_MIN, self._clock.monotonic_ns()
            await self._clock.sleep(wait_s * (0.5 + self._jitter() / 2))
            is_soon = self._clock.monotonic_ns() - lost_ns < SOON_S * 1e9
            wait_s = min(wait_s * 2, WAIT_S_SOON if is_soon else WAIT_S_MAX)

    async def _once(self) -> None:
        try:
            link = self._open_link()
        except PortUnavailableError as wrong:
            self._note_unavailable(wrong)
            return
        try:
            later: object = link
            if isinstance(later, OpensLater):
                await later.opened()
            self.opened_count += 1
            self.unavailable = ""
            self._log_change("link.open", "")
            await self._serve(link)
        except PortUnavailableError as wrong:
            self._note_unavailable(wrong)
        except LinkClosedError as lost:
            self._log_change("link.lost", str(lost))
        finally:
            await link.close()

    def _note_unavailable(self, wrong: PortUnavailableError) -> None:
        self.unavailable = str(wrong)
        self._log_change("link.unavailable", self.unavailable)

    def _log_change(self, event: str, why: str) -> None:
        if self._logged == event + why:
            return
        now_ns = self._clock.monotonic_ns()
        if self._is_unsteady and event != "link.unavailable" and now_ns - self._logged_ns < UNSTEADY_LOG_S * 1e9:
            return
        self._logged, self._logged_ns = event + why, now_ns
        if why:
            self._log.warning(event, why=why)
        else:
            self._log.info(event)
