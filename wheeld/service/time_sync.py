"""Whether the host's UTC can be trusted: has a time server set it right?

A verdict does not depend on it: order and durations come from the sensing clock. But `at`, the date that people and
other systems read, is only as good as this clock, and a computer without a battery starts in the past.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import structlog

from wheeld.ports import HostClock

LOOK_S = 10.0
"""A time server is reached within a minute or so after the network is up, so the state may be this late."""

TIMESYNCD = Path("/run/systemd/timesync")
"""Exists while systemd-timesyncd runs; a file `synchronized` is in it from the first answer of a server on."""

_TIME_ERROR = 5
"""What adjtimex returns while no time daemon has set the clock, or the last one has been silent for too long."""

_TIMEX_BYTES = 512
"""Room for `struct timex` of any architecture (208 bytes at most). All zero: read everything, change nothing."""


def host_is_synchronised() -> bool | None:
    """As the kernel has it, or where adjtimex is denied (`ProtectClock=`), systemd-timesyncd; None: unknown."""
    return by_timesyncd() if (known := by_kernel()) is None else known


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
    """Checks the clock's state; logs it and calls `on_change` when it changes. True, False, or None: unknown."""

    def __init__(
        self, *, on_change: Callable[[], None], look: Callable[[], bool | None] = host_is_synchronised
    ) -> None:
        self._look = look
        self._on_change = on_change
        self._log = structlog.get_logger("time_sync")
        self.is_synchronised = look()
        self._log_state()

    async def run(self, clock: HostClock) -> NoReturn:
        """Check at each interval until cancelled."""
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
        then = "dates in UTC may be wrong; order and durations come from the sensing clock and are right"
        self._log.warning("clock.not_synchronised", why=f"{why} has set it right", then=then)
