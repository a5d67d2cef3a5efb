"""A broker that is not there at the start, and one that dies in mid evening: every message arrives, in order."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.cli.live import Daemon, running
from tests.live.bench import Ear, Wheel, expected, hearing, turning, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit


def start_while_stopped(broker: Mosquitto, daemon: Daemon) -> None:
    """The daemon may not find the broker before the test has subscribed: it sleeps until `awake`."""
    daemon.process.send_signal(signal.SIGSTOP)
    broker.start()


def awake(daemon: Daemon) -> None:
    daemon.process.send_signal(signal.SIGCONT)


async def test_a_broker_that_comes_late_gets_everything(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    config = write_config(tmp_path, broker.port)
    async with turning(Wheel(5), tmp_path / "board") as wheel, running(config) as daemon:
        await daemon.until("board.identified")
        await daemon.until("broker.unreachable")
        await wheel.press("open")
        await wheel.play("same_direction")
        start_while_stopped(broker, daemon)
        try:
            async with hearing(broker.port) as ear:
                awake(daemon)
                await ear.until_verdicts(1)
                await ear.until_state("faites_vos_jeux")
                assert ear.verdicts() == expected(wheel.truth)
                assert list(ear.feed()) == list(range(1, len(ear.feed()) + 1))
                assert await daemon.end() == Exit.OK
        finally:
            broker.kill()


async def test_a_broker_that_dies_in_mid_evening_costs_nothing(tmp_path: Path) -> None:
    """The subscriber is a settlement core: what a dead broker confirmed and never passed on stays owed to it."""
    ear = Ear(settles=True)
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port, settlement_ack=True)
        async with turning(Wheel(6), tmp_path / "board") as wheel, running(config) as daemon:
            async with hearing(broker.port, ear):
                await daemon.until("board.identified")
                await wheel.press("open")
                await wheel.play("valid")
                await ear.until_state("faites_vos_jeux")
            await wheel.play("same_direction")  # the broker confirms it, and nobody hears it
            broker.kill()
            await daemon.until("broker.unreachable")
            await wheel.play("too_few_laps")
            start_while_stopped(broker, daemon)
            async with hearing(broker.port, ear):
                awake(daemon)
                await wheel.play("valid")
                await ear.until_verdicts(4)
                await ear.until_state("faites_vos_jeux")
                assert ear.verdicts() == expected(wheel.truth)
                assert list(ear.feed()) == list(range(1, len(ear.feed()) + 1))
                assert await daemon.end() == Exit.OK
