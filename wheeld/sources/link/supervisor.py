"""Keeps a link to a device open: opens it, lets it be used until it ends, and opens it again.

The waits between attempts grow, at first to half a second and later to a maximum. They are partly random, so that
several daemons on one hub do not try at the same moments. Only a change is logged, with what to do about it. So a port
that is missing for hours gives only one line in the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, NoReturn, Protocol, TypeVar, runtime_checkable

import structlog

from wheeld.ports import ByteLink, HostClock, LinkClosedError
from wheeld.sources.link.serial_link import PortUnavailableError

WAIT_S_MIN = 0.1
"""The first wait. A cable with a loose contact works again within this time, and the board's ring still has the whole
coup."""
WAIT_S_SOON = 0.5
"""The maximum wait soon after the line was lost. If a plug was pulled and put back, the line is open again after half a
second. The line counts as silent only after one second."""
SOON_S = 10.0
"""How long this maximum is used: about as long as a board's ring can store all events."""
WAIT_S_MAX = 3.0
"""The maximum wait later: a person who plugs in a board waits for about this long."""

UNSTEADY_LOG_S = 60.0
"""If the line is lost again just after each opening, this is logged only once in this time."""

Link = TypeVar("Link", bound=ByteLink)


@runtime_checkable
class OpensLater(Protocol):
    """A link that is created at once and opened by its own thread."""

    async def opened(self) -> None:
        """Wait until the link is open. Raises PortUnavailableError if it could not be opened."""
        ...


class LinkSupervisor(Generic[Link]):
    """Opens a link with `open_link`, calls `serve` with it until that raises `LinkClosedError`, and begins again.

    `jitter` returns a random number from 0 to 1, which makes each wait a little different.
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
        """Whether the line was lost soon after it was opened."""
        self.opened_count = 0
        self.unavailable = ""
        """Why the latest attempt could not open the line. Empty if it was opened."""

    async def run(self) -> NoReturn:
        """Keep the link open until cancelled. Raises every error of `serve` except `LinkClosedError`."""
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
