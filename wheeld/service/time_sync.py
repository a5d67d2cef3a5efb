"""Checks whether the host's UTC is right because a time server has set it.

No verdict depends on UTC: order and durations come from the sensing clock. But `at`, the date that people and other
systems read, is only as good as this clock, and a computer without a battery starts in the past.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import structlog

from wheeld.ports import HostClock

LOOK_S = 10.0
"""The interval of the checks. A time server is reached a minute after the network, so 10 s more do not matter."""

TIMESYNCD = Path("/run/systemd/timesync")
"""This directory exists while systemd-timesyncd runs. After the first answer of a server it contains a file
`synchronized`."""

_TIME_ERROR = 5
"""The result of adjtimex while no time daemon has set the clock, or when the time daemon was silent for too long."""

_TIMEX_BYTES = 512
"""This is enough for `struct timex` of any architecture (208 bytes at most). If all are zero, adjtimex changes
nothing."""


def host_is_synchronised() -> bool | None:
    """Return the kernel's answer or, if adjtimex is denied (`ProtectClock=`), that of systemd-timesyncd. None:
    unknown."""
    return by_timesyncd() if (known := by_kernel()) is None else known


def by_kernel() -> bool | None:
    """Return whether a time daemon keeps the kernel's clock right. None if adjtimex(2) is denied."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _TIME_ERROR


def by_timesyncd(directory: Path = TIMESYNCD) -> bool | None:
    """Return whether systemd-timesyncd has had an answer of a server since its start. None if it does not run."""
    return (directory / "synchronized").exists() if directory.is_dir() else None


class TimeSync:
    """Checks whether the clock is synchronised (None: unknown). Logs each change, and then calls `on_change`."""

    def __init__(
        self, *, on_change: Callable[[], None], look: Callable[[], bool | None] = host_is_synchronised
    ) -> None:
        self._look = look
        self._on_change = on_change
        self._log = structlog.get_logger("time_sync")
        self.is_synchronised = look()
        self._log_state()

    async def run(self, clock: HostClock) -> NoReturn:
        """Check the clock at each interval, until cancelled."""
        while True:
            await clock.sleep(LOOK_S)
            state = self._look()
            if state != self.is_synchronised:
                self.is_synchronised = state
                self._log_state()
                self._on_change()

    def _log_state(self) -> None:
        if self.is_synchronised:
            self._log.info("clock.synchronised")
            return
        why = "it is unknown whether a time server" if self.is_synchronised is None else "no time server"
        then = (
            "dates in UTC may be wrong; order and durations come from the sensing clock and are right; `timedatectl` "
            "shows the clock and whether a time server is asked"
        )
        self._log.warning("clock.not_synchronised", why=f"{why} has set it right", then=then)
