"""The network: daemon and broker in separate namespaces, joined by a cable that is pulled and plugged in again."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.broker_bench import PATIENCE_S, Settlement, check, settling, turning
from tests.faults.broker_coups import steps
from tests.mosquitto import Mosquitto, free_port

PUBLISH_TIMEOUT_S = 0.5
BROKERS_END, OURS = "10.231.77.1", "10.231.77.2"


def sh(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Cable:
    """A broker in a network namespace, and the only way to it: a pair of virtual interfaces, one of them ours."""

    def __init__(self) -> None:
        self.namespace = f"wheeld-{os.getpid()}"
        self.ours = f"wh{os.getpid() % 1_000_000}"
        self.theirs = f"{self.ours}b"

    def lay(self) -> None:
        sh("ip", "netns", "add", self.namespace)
        sh("ip", "link", "add", self.ours, "type", "veth", "peer", "name", self.theirs, "netns", self.namespace)
        sh("ip", "addr", "add", f"{OURS}/30", "dev", self.ours)
        self.inside("ip", "addr", "add", f"{BROKERS_END}/30", "dev", self.theirs)
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("ip", "link", "set", self.theirs, "up")
        sh("ip", "link", "set", self.ours, "up")

    def inside(self, *command: str) -> None:
        sh("ip", "netns", "exec", self.namespace, *command)

    def pull(self) -> None:
        """Packets are lost and neither end notices, as when a switch in the middle has lost its power."""
        self.inside("ip", "link", "set", self.theirs, "down")

    def plug_in(self) -> None:
        self.inside("ip", "link", "set", self.theirs, "up")

    def remove(self) -> None:
        subprocess.run(["ip", "netns", "del", self.namespace], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.ours], check=False, capture_output=True)


@pytest.fixture
def cable() -> Iterator[Cable]:
    if shutil.which("ip") is None:
        pytest.skip("no `ip` here: apt-get install iproute2")
    laid = Cable()
    try:
        try:
            laid.lay()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        yield laid
    finally:
        laid.remove()


@pytest.fixture
def far_broker(tmp_path: Path, cable: Cable, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Mosquitto, int]]:
    """A broker in the cable's namespace, and its port at the far end."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    program = tmp_path / "bin" / "mosquitto"
    program.parent.mkdir()
    real = shutil.which("mosquitto", path=path)
    program.write_text(f'#!/bin/sh\nexec ip netns exec {cable.namespace} {real} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{path}")
    port = free_port()
    with Mosquitto(tmp_path, f"listener {port} {BROKERS_END}", "max_queued_messages 10000") as broker:
        yield broker, port


@pytest.mark.timeout(300)
async def test_pulling_the_cable_again_and_again_loses_nothing(
    tmp_path: Path,
    cable: Cable,
    far_broker: tuple[Mosquitto, int],
    how_many: Callable[[str], int],
    seed: str,
    counted: Callable[[str], None],
) -> None:
    rng, pulls, port = random.Random(f"cable {seed}"), how_many("cables pulled"), far_broker[1]
    settlement, script = Settlement(port, host=BROKERS_END), steps(seed)
    mqtt = {"host": BROKERS_END, "publish_timeout_s": PUBLISH_TIMEOUT_S}
    async with settling(settlement), turning(port, tmp_path / "journal", **mqtt) as wheel:
        for n in range(pulls):
            for _ in range(rng.randrange(3, 15)):
                await wheel.store(next(script))
            session = await asyncio.wait_for(wheel.connection.connected(), PATIENCE_S)
            is_long = n % 2 == 0
            cable.pull()
            for _ in range(rng.randrange(3, 15)):
                await wheel.store(next(script))
            if is_long:  # until it is noticed
                await asyncio.wait_for(wheel.connection.lost(session), PATIENCE_S)
            await asyncio.sleep(0.3 * rng.random())
            cable.plug_in()
        await settlement.until(len(wheel.sequenced))
        await wheel.until_settled()
    check(wheel.sequenced, settlement, f"seed {seed}")
    assert settlement.refused == []
    assert wheel.connection.counters["timeouts"] >= pulls / 2 - 1, wheel.connection.counters
    counted(f"{pulls} times the cable pulled, {len(wheel.sequenced)} messages: 0 lost, 0 doubled, in order")
