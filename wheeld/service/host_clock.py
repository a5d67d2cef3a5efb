"""The clocks of the real host. Tests replace them with virtual time."""

from __future__ import annotations

import asyncio
import time

from wheeld.ports import read_together


class SystemClock:
    """The `HostClock` of the real host."""

    def monotonic_ns(self) -> int:
        """Return host monotonic time in nanoseconds."""
        return time.monotonic_ns()

    def utc_us(self) -> int:
        """Return UTC in microseconds since 1970."""
        return time.time_ns() // 1000

    def asleep_ns(self) -> int:
        """Return how long the host was suspended since its start. Its monotonic clock did not count this time."""
        host_ns, since_boot_ns, _ = read_together(time.monotonic_ns, lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        return since_boot_ns - host_ns

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        await asyncio.sleep(seconds)
