"""The host's clocks, behind the port that tests replace with virtual time."""

from __future__ import annotations

import asyncio
import time

from wheeld.ports import read_together


class SystemClock:
    """`HostClock` on the real host."""

    def monotonic_ns(self) -> int:
        """Host monotonic time in nanoseconds."""
        return time.monotonic_ns()

    def utc_us(self) -> int:
        """UTC in microseconds since 1970."""
        return time.time_ns() // 1000

    def asleep_ns(self) -> int:
        """How long the host has been suspended since it started, in nanoseconds: its monotonic clock stood then."""
        host_ns, since_boot_ns, _ = read_together(time.monotonic_ns, lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        return since_boot_ns - host_ns

    async def sleep(self, seconds: float) -> None:
        """Return `seconds` later."""
        await asyncio.sleep(seconds)
