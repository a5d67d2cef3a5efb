"""The health report in virtual time, and the host's temperatures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from tests.broker.world import FakeBroker, VirtualClock, settle, working
from wheeld.broker.health import CHANGE_GAP_S, PERIOD_S, HealthReporter, temperatures_c
from wheeld.broker.payloads import ClockHealth, Health
from wheeld.service.host_clock import SystemClock

ROOT = "wheel/v1/campione/3/"


class Reporting:
    """A reporter, its clock and its broker; each snapshot counts."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.broker = FakeBroker()
        self.depth = 0
        self.reporter = HealthReporter(publisher=self.broker, clock=self.clock, root=ROOT, snapshot=self.snapshot)

    async def snapshot(self) -> Health:
        return Health(
            at="2026-11-20T18:00:00.000000Z",
            boot_id="b",
            uptime_s=self.clock.monotonic_ns() / 1e9,
            state="closed",
            sensors={"beam/0": True},
            clock=ClockHealth(error_us=120),
            outbox_depth=self.depth,
            counters={"link": {"frames": 3}},
            temperatures_c={"cpu": 51.5},
        )

    def times(self) -> list[float]:
        """When the broker received a report, in seconds."""
        return [msgspec.json.decode(payload, type=Health).uptime_s for payload in self.broker.payloads]


@asynccontextmanager
async def reporting() -> AsyncIterator[Reporting]:
    bench = Reporting()
    async with working(bench.reporter.run()):
        yield bench


async def test_every_ten_seconds() -> None:
    async with reporting() as bench:
        bench.broker.up()
        await bench.clock.advance(35.0)
        assert bench.times() == [0.0, PERIOD_S, 2 * PERIOD_S, 3 * PERIOD_S]
        _, publication = bench.broker.received[0]
        assert (publication.topic, publication.qos, publication.retain) == (ROOT + "health", 0, True)
        report = msgspec.json.decode(publication.payload)
        assert report["schema"] == "health/1"
        assert report["clock"] == {"error_us": 120, "drift_ppm": None, "synchronised": None}


async def test_soon_after_a_change_and_not_for_each_flicker() -> None:
    async with reporting() as bench:
        bench.broker.up()
        await bench.clock.advance(4.0)
        bench.reporter.changed()
        await settle()
        assert bench.times() == [0.0, 4.0]
        for _ in range(5):
            bench.reporter.changed()
            await bench.clock.advance(0.1)
        assert bench.times() == [0.0, 4.0]
        await bench.clock.advance(CHANGE_GAP_S)
        assert bench.times() == [0.0, 4.0, 5.0]


async def test_without_a_broker_nothing_is_owed() -> None:
    async with reporting() as bench:
        await bench.clock.advance(100.0)
        bench.broker.up()
        await bench.clock.advance(5.0)
        assert bench.times() == [100.0]
        bench.broker.down()
        await bench.clock.advance(100.0)
        bench.depth = 7
        bench.broker.up()
        await settle()
        assert len(bench.times()) == 2
        assert msgspec.json.decode(bench.broker.payloads[-1])["outbox_depth"] == 7


async def test_a_report_that_the_broker_does_not_take_is_made_anew() -> None:
    async with reporting() as bench:
        bench.broker.drop_before = 1.0
        bench.broker.up()
        await settle()
        assert bench.times() == []
        bench.broker.drop_before = 0.0
        bench.broker.up()
        await bench.clock.advance(CHANGE_GAP_S)
        assert bench.times() == [CHANGE_GAP_S]


def test_temperatures(tmp_path: Path) -> None:
    zones = [("cpu-thermal", "51540"), ("cpu-thermal", "49000"), ("dead", ""), ("nvme", "-5000"), (None, "1")]
    for number, (name, text) in enumerate(zones):
        zone = tmp_path / f"thermal_zone{number}"
        zone.mkdir()
        (zone / "temp").write_text(f"{text}\n")
        if name is not None:
            (zone / "type").write_text(f"{name}\n")
    assert temperatures_c(tmp_path) == {"cpu-thermal": 51.54, "cpu-thermal/1": 49.0, "nvme": -5.0}
    assert temperatures_c(tmp_path / "none") == {}


async def test_the_system_clock_moves() -> None:
    clock = SystemClock()
    before_ns, before_utc_us = clock.monotonic_ns(), clock.utc_us()
    await clock.sleep(0)
    assert clock.monotonic_ns() >= before_ns
    assert clock.utc_us() >= before_utc_us > 1_700_000_000_000_000
