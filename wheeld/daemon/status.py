"""What people and monitoring see of a running daemon: one line for systemd, and the `health` message."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from wheeld.broker.health import temperatures_c
from wheeld.broker.outbox import Outbox
from wheeld.broker.payloads import ClockHealth, Health
from wheeld.core.instants import to_text
from wheeld.core.table import Table
from wheeld.daemon.self_test import SelfTest
from wheeld.daemon.sources import Source
from wheeld.ports import HostClock
from wheeld.service.program import Program
from wheeld.service.time_sync import TimeSync


class DaemonStatus:
    """The present state of all parts, read when asked. `counters` gives those of the broker's parts, by part."""

    def __init__(  # noqa: PLR0913  one for each part that it asks
        self,
        table: Table,
        source: Source,
        time_sync: TimeSync,
        *,
        clock: HostClock,
        outbox: Outbox,
        program: Program,
        self_test: SelfTest,
        counters: Callable[[], dict[str, dict[str, int]]],
    ) -> None:
        self._table, self._source, self._time_sync = table, source, time_sync
        self._clock, self._outbox, self._counters = clock, outbox, counters
        self._program = program
        self._self_test = self_test
        self._started_ns = clock.monotonic_ns()

    @property
    def line(self) -> str:
        """For `systemctl status`."""
        link = "" if self._source.sensing.is_up else ", no sensor board"
        clock = "" if self._time_sync.is_synchronised else ", UTC not synchronised"
        test = ", BENCH TABLE" if self._table.setting.test else ""
        return f"{self._table.setting.table}: {self._table.state}, coup {self._table.coup}{test}{link}{clock}"

    async def health(self) -> Health:
        """The payload of `health`."""
        now_ns = self._clock.monotonic_ns()
        return Health(
            test=self._table.setting.test or UNSET,
            at=to_text(self._clock.utc_us()),
            boot_id=self._table.boot_id,
            uptime_s=round((now_ns - self._started_ns) / 1e9, 1),
            state=self._table.state,
            program=self._program.digest,
            sensors=self._source.sensors,
            troubles=self._source.troubles,
            self_test=self._self_test.outcome,
            clock=self._clock_health(now_ns),
            outbox_depth=await self._outbox.depth(),
            counters={"table": dict(self._table.counters), **self._source.counters, **self._counters()},
            temperatures_c=temperatures_c(),
        )

    def _clock_health(self, now_ns: int) -> ClockHealth:
        synchronised = self._time_sync.is_synchronised
        at = self._source.sensing.clock_now(now_ns)
        if at is None:
            return ClockHealth(synchronised=synchronised)
        return ClockHealth(error_us=at.error_ns // 1_000, drift_ppm=at.rate_ppb / 1e3, synchronised=synchronised)
