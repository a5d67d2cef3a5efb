"""The host's monotonic clock as the sensing clock, if only the wheel's own head observes the wheel."""

from __future__ import annotations

from typing import NoReturn

from firmware_protocol.host import Position
from wheeld.core.facts import Trouble
from wheeld.core.observations import Observation, TimePassed
from wheeld.ports import HostClock
from wheeld.sources.chatter import DoorSeen
from wheeld.sources.clock import READING_INTERVAL_NS, HostTime, clock_reading
from wheeld.sources.sensing import Batch, HandOn, utc_now

REPORT_S = 0.02
"""The interval of reports, the same as for other sources."""


class HostTimeSource:
    """Reports only how time passes, counted from `start_ns`."""

    def __init__(self, *, start_ns: int) -> None:
        self._start_ns = start_ns
        self._read_ns = start_ns - READING_INTERVAL_NS
        self.is_up = True
        """Always True, because a silence of the head is a fault of the head."""
        self.keeps_times = False
        """Always False, because a head does not report when it saw something."""
        self.sensors: dict[str, bool] = {}
        self.troubles: dict[str, tuple[Trouble, ...]] = {}
        self.door = DoorSeen()

    def now_us(self, host_ns: int) -> int:
        """Return the sensing time, which is the host's time since the start."""
        return (host_ns - self._start_ns) // 1_000

    def clock_now(self, host_ns: int) -> HostTime:
        """Return the sensing time with an error of 0, because it is the host's own clock."""
        return HostTime(host_ns, 0, 0)

    def acknowledge(self, position: Position) -> None:
        """Never called, because the batches have no position."""
        raise AssertionError(position)

    async def run(self, clock: HostClock, hand_on: HandOn) -> NoReturn:
        """Hand on a batch at each interval, until cancelled."""
        while True:
            await clock.sleep(REPORT_S)
            utc = utc_now(clock)
            now_us = self.now_us(utc.host_ns)
            seen: list[Observation] = []
            if utc.host_ns - self._read_ns >= READING_INTERVAL_NS:
                self._read_ns = utc.host_ns
                seen.append(clock_reading(now_us, self.clock_now(utc.host_ns), utc))
            await hand_on(Batch([*seen, TimePassed(now_us)], None))
