"""The chef's panel of a simulated table, at a real broker."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import aiomqtt
import msgspec
import pytest

from hw_sim.events import TableCommand
from hw_sim.panel import BrokerAddress, ChefClient, no_button_says, payload_of
from hw_sim.subscriber import Subscriber
from tests.mosquitto import Mosquitto
from wheeld.broker.payloads import ConfirmPayload

ROOT = "wheel/v1/test/c3/"


def table(seq: int, boot_id: str = "a") -> bytes:
    return json.dumps({"seq": seq, "boot_id": boot_id, "coup": 3, "state": "closed", "bets": "closed",
                       "waiting_for": "", "last_number": 4}).encode()  # fmt: skip


async def until(holds: asyncio.Event) -> None:
    async with asyncio.timeout(20):
        await holds.wait()


async def test_it_sees_the_table_says_what_no_button_says_and_comes_back(tmp_path: Path) -> None:
    """Nobody waits here: each step ends with a message."""
    told: list[str] = []
    comes = asyncio.Event()

    class Hears(Subscriber):
        def take(self, leaf: str, data: bytes) -> str | None:
            line = super().take(leaf, data)
            comes.set()
            return line

    with Mosquitto(tmp_path) as broker:
        panel = ChefClient(BrokerAddress(ROOT, "c3", "127.0.0.1", broker.port), Hears(), tell=told.append)
        panel.say(TableCommand(1, "confirm", "chef", coup=1))  # lost: it is not there yet
        running = asyncio.create_task(panel.run())
        async with aiomqtt.Client("127.0.0.1", broker.port) as daemon:
            await daemon.subscribe(f"{ROOT}cmd/#")
            await daemon.publish(f"{ROOT}table", table(7), qos=1, retain=True)
            await until(comes)
            assert panel.subscriber.table is not None
            assert panel.subscriber.table["last_number"] == 4
            panel.say(TableCommand(2, "resume", "direction", "it lies there", number=17))
            message = await anext(aiter(daemon.messages))
        assert message.topic.value == f"{ROOT}cmd/direction/resume"
        sent = json.loads(bytes(message.payload))
        assert (sent["by"], sent["reason"], sent["number"]) == ("direction", "it lies there", 17)
        broker.stop()
        broker.start()
        comes.clear()
        async with aiomqtt.Client("127.0.0.1", broker.port) as daemon:
            await daemon.publish(f"{ROOT}table", table(8), qos=1, retain=True)
            await until(comes)
        running.cancel()
    assert [line for line in told if "do not see" not in line] == ["# the people see the table"] * 2


def test_it_sends_what_the_daemon_takes_and_means_the_coup_that_it_shows() -> None:
    confirmation = TableCommand(10, "confirm", "chef", "all saw it", coup=1, number=17)
    sent = msgspec.json.decode(payload_of(confirmation, {"coup": 3}), type=ConfirmPayload)
    assert (sent.by, sent.reason, sent.coup, sent.number) == ("chef", "all saw it", 3, 17)
    bouler = json.loads(payload_of(TableCommand(20, "bouler", "chef", who="bouler-2"), None))
    assert bouler.pop("id")
    assert bouler == {"by": "chef", "reason": "as usual", "who": "bouler-2"}


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        (TableCommand(1, "resume", "direction", "why"), False),
        (TableCommand(1, "resume", "direction", number=3), True),
        (TableCommand(1, "confirm", "chef", coup=2), True),
        (TableCommand(1, "bouler", "chef", who="Anna"), True),
    ],
)
def test_a_button_is_pressed_where_there_is_one(command: TableCommand, *, needs: bool) -> None:
    assert no_button_says(command) is needs
