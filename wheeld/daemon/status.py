"""What people and monitoring systems see of a running daemon: one line for systemd, and the message `health`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NoReturn

from msgspec import UNSET

from wheeld.broker.health import temperatures_c
from wheeld.broker.mqtt import Outage, Refusal, Refused
from wheeld.broker.outbox import Outbox
from wheeld.broker.payloads import BrokerRefusal, ClockHealth, Health
from wheeld.config.instance import WheelFiles
from wheeld.config.paths import setup_again
from wheeld.core.catalogue import Catalogue
from wheeld.core.facts import SENSED, Awaited
from wheeld.core.instants import to_text
from wheeld.core.table import Table
from wheeld.daemon.self_test import SelfTest
from wheeld.daemon.sources import Source
from wheeld.ports import HostClock
from wheeld.service.program import Program
from wheeld.service.time_sync import TimeSync

LOOK_S = 5.0
"""The longest delay until `systemctl status` shows that the broker is lost or back."""

DAY_NS = 86_400 * 10**9


class DaemonStatus:
    """The present state of all parts, read on request. `counters` returns, by part, the counters of all parts except
    the table and the sources."""

    def __init__(  # noqa: PLR0913  one argument for each object that it reads
        self,
        table: Table,
        source: Source,
        time_sync: TimeSync,
        *,
        wheel: WheelFiles,
        clock: HostClock,
        outbox: Outbox,
        program: Program,
        self_test: SelfTest,
        outage: Callable[[], Outage | None],
        refusals: Mapping[Refused, Refusal],
        not_renewed: Callable[[], str],
        counters: Callable[[], dict[str, dict[str, int]]],
    ) -> None:
        self._table, self._source, self._time_sync = table, source, time_sync
        self._wheel = wheel
        self._clock, self._outbox, self._counters = clock, outbox, counters
        self._program = program
        self._self_test = self_test
        self._started_ns = clock.monotonic_ns()
        self._outage, self._refusals, self._not_renewed = outage, refusals, not_renewed
        self._owed: int | None = None
        """How many messages were owed at the last count. None while the broker is connected, and before the first
        count."""

    @property
    def line(self) -> str:
        """The line for `systemctl status`: the table's state, what it waits for, and what is wrong. The line is in
        English, like the log."""
        table, check = self._table, f"`wheeld check-config {self._wheel.name}`"
        test = ", BENCH TABLE" if table.setting.test else ""
        link = "" if self._source.sensing.is_up else ", no sensor board"
        clock = "" if self._time_sync.is_synchronised else ", UTC not synchronised (`timedatectl`)"
        parts = [f"{table.setting.table}: {table.state}, coup {table.coup}{test}{link}{clock}"]
        causes = [*self._source.unavailable]
        if refused := self._source.refused:
            causes.append(": ".join(map(Catalogue("en").say_text, refused)))
        parts += causes
        codes, words = table.awaited("en")
        # Where the cause is known, the table's advice to check the line's cable would send people to the wrong place.
        if codes[0] not in SENSED and not (causes and Awaited.REPAIR in codes):
            parts.append(f"waiting for: {words}")
        if (outage := self._outage()) is not None:
            since = self._local(outage.since_ns)
            parts.append(f"the broker {outage.address} has not been reached since {since}: {outage.why}")
            if self._owed:
                parts.append(f"messages owed: {self._owed}")
        if why := self._not_renewed():
            parts.append(f"the changed files for TLS are not used, and the connection keeps the earlier ones: {why}")
        # While the broker is away, earlier refusals say nothing: it may allow everything when it returns.
        refusals = self._refusals if outage is None else {}
        for (kind, topic), refusal in refusals.items():
            since = self._local(refusal.since_ns)
            parts.append(f"the broker has refused {kind} of {topic} since {since}: {refusal.why}")
        if outage is not None or why or refusals:
            parts.append(f"{check} checks the address, the certificate and its key")
        if refusals:
            setup = setup_again(str(self._wheel.config))
            parts.append(
                "if the certificate is this wheel's, correct the broker's access list (`wheeld acl "
                f"{self._wheel.name}` prints this table's part; `{setup}` writes that of a broker on this computer)"
            )
        return "; ".join(parts)

    def _local(self, at_ns: int) -> str:
        """Return a host time as local time: "21:04", with the date if it is more than a day ago. It is counted back
        from the present date, so it is right even if the host's date was corrected since then."""
        at = datetime.fromtimestamp(self._utc_us(at_ns) / 1e6)  # noqa: DTZ006  people at the wheel read local time
        return f"{at:%Y-%m-%d %H:%M}" if self._clock.monotonic_ns() - at_ns > DAY_NS else f"{at:%H:%M}"

    def _utc_us(self, at_ns: int) -> int:
        return self._clock.utc_us() - (self._clock.monotonic_ns() - at_ns) // 1000

    async def follow(self, publish: Callable[[str], None]) -> NoReturn:
        """Check every `LOOK_S` whether the line has changed. If it has, give it to `publish`. Do this until cancelled.
        This is needed because no part reports changes of the connection to the broker and of the messages owed. Raises
        the journal's error."""
        shown = self.line
        while True:
            await self._clock.sleep(LOOK_S)
            self._owed = None if self._outage() is None else await self._outbox.depth()
            if (line := self.line) != shown:
                publish(line)
                shown = line

    async def health(self) -> Health:
        """Return the payload of the message `health`. Raises the journal's error."""
        now_ns = self._clock.monotonic_ns()
        at = self._source.sensing.clock_now(now_ns)
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
            clock=ClockHealth(
                error_us=None if at is None else at.error_ns // 1_000,
                drift_ppm=None if at is None else at.rate_ppb / 1e3,
                synchronised=self._time_sync.is_synchronised,
            ),
            outbox_depth=await self._outbox.depth(),
            refused=tuple(
                BrokerRefusal(kind=kind, topic=topic, since=to_text(self._utc_us(found.since_ns)), why=found.why)
                for (kind, topic), found in self._refusals.items()
            ),
            counters={"table": dict(self._table.counters), **self._source.counters, **self._counters()},
            temperatures_c=temperatures_c(),
        )
