"""Whether the host's UTC can be trusted: has a time server set it right?

A verdict does not depend on it: order and durations are the sensing clock's. But `at`, the date that people and other
systems read, is only as good as this clock, and a computer that starts without a battery begins in the past.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import structlog

from wheeld.ports import HostClock

LOOK_S = 10.0
"""A time server is reached within a minute or so after the network is up; the state may be that late, but not more."""

TIMESYNCD = Path("/run/systemd/timesync")
"""Is there while systemd-timesyncd runs, with a file `synchronized` in it from the first answer of a server on."""

_TIME_ERROR = 5
"""What adjtimex returns while nobody has set the clock right, or the one who did has been silent for too long."""

_TIMEX_BYTES = 512
"""Room for `struct timex` of any architecture (208 bytes at most). All zero: read everything, change nothing."""


def host_is_synchronised() -> bool | None:
    """What the kernel says, or where it may not be asked (`ProtectClock=`), systemd-timesyncd; None: nobody says."""
    return by_timesyncd() if (told := by_kernel()) is None else told


def by_kernel() -> bool | None:
    """Whether any time daemon keeps the kernel's clock right; None where adjtimex(2) is denied."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _TIME_ERROR


def by_timesyncd(directory: Path = TIMESYNCD) -> bool | None:
    """Whether systemd-timesyncd has heard a server since it started; None where it does not run."""
    return (directory / "synchronized").exists() if directory.is_dir() else None


class TimeSync:
    """Looks at the clock's state, logs it when it changes and calls `on_change`. True, False, None: nobody says."""

    def __init__(
        self, *, on_change: Callable[[], None], look: Callable[[], bool | None] = host_is_synchronised
    ) -> None:
        self._look = look
        self._on_change = on_change
        self._log = structlog.get_logger("time_sync")
        self.is_synchronised = look()
        self._tell()

    async def run(self, clock: HostClock) -> NoReturn:
        """Look for ever."""
        while True:
            await clock.sleep(LOOK_S)
            state = self._look()
            if state != self.is_synchronised:
                self.is_synchronised = state
                self._tell()
                self._on_change()

    def _tell(self) -> None:
        if self.is_synchronised:
            self._log.info("clock.synchronised")
            return
        why = "nobody says whether a time server" if self.is_synchronised is None else "no time server"
        then = "dates in UTC may be wrong; order and durations are the sensing clock's, and right"
        self._log.warning("clock.not_synchronised", why=f"{why} has set it right", then=then)
