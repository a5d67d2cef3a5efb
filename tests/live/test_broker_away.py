"""A broker that is not there at the start, and one that is killed: every message arrives in order."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.cli.live import Daemon, running
from tests.live.bench import Subscriber, Wheel, expected, subscribed, turning, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit


def start_while_stopped(broker: Mosquitto, daemon: Daemon) -> None:
    """Start the broker while the daemon is stopped, so that the test subscribes first; `awake` continues the daemon."""
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
            async with subscribed(broker.port) as subscriber:
                awake(daemon)
                await subscriber.until_verdicts(1)
                await subscriber.until_state("faites_vos_jeux")
                assert subscriber.verdicts() == expected(wheel.truth)
                assert list(subscriber.feed()) == list(range(1, len(subscriber.feed()) + 1))
                assert await daemon.end() == Exit.OK
        finally:
            broker.kill()


async def test_a_broker_killed_during_an_evening_loses_nothing(tmp_path: Path) -> None:
    """The subscriber is a settlement core: what a killed broker confirmed and never delivered stays owed to it."""
    subscriber = Subscriber(settles=True)
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port, settlement_ack=True)
        async with turning(Wheel(6), tmp_path / "board") as wheel, running(config) as daemon:
            async with subscribed(broker.port, subscriber):
                await daemon.until("board.identified")
                await wheel.press("open")
                await wheel.play("valid")
                await subscriber.until_state("faites_vos_jeux")
            await wheel.play("same_direction")  # the broker confirms it, and there is no subscriber
            broker.kill()
            await daemon.until("broker.unreachable")
            await wheel.play("too_few_laps")
            start_while_stopped(broker, daemon)
            async with subscribed(broker.port, subscriber):
                awake(daemon)
                await wheel.play("valid")
                await subscriber.until_verdicts(4)
                await subscriber.until_state("faites_vos_jeux")
                assert subscriber.verdicts() == expected(wheel.truth)
                assert list(subscriber.feed()) == list(range(1, len(subscriber.feed()) + 1))
                assert await daemon.end() == Exit.OK
