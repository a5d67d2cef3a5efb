"""Three wheels on one computer, at one broker: each daemon serves its own table, and none the others."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiomqtt

from tests.cli.live import PATIENCE_S, Daemon, running
from tests.live.bench import FEED, Wheel, turning, write_config
from tests.mosquitto import Mosquitto
from wheeld.core.messages.chain import GENESIS, verify_link

TABLES = ("wheel-1", "wheel-2", "wheel-3")
SPEED = 5.0


class House:
    """Everything that is published at any table, in the order in which it came."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.received: list[tuple[str, str, bytes]] = []

    def of(self, table: str, *leaves: str) -> list[dict[str, Any]]:
        return [json.loads(payload) for where, leaf, payload in self.received if where == table and leaf in leaves]

    def states(self) -> list[str]:
        """The last state of each table; empty before its first."""
        return [str(found[-1]["state"]) if (found := self.of(table, "table")) else "" for table in TABLES]

    async def until(self, matches: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            async for message in self.client.messages:
                *_, table, leaf = message.topic.value.split("/", 4)
                if not leaf.startswith("cmd/"):
                    assert isinstance(message.payload, bytes)
                    self.received.append((table, leaf, message.payload))
                if matches():
                    return

    async def command(self, table: str, user: str, name: str) -> dict[str, Any]:
        """The reply of that table."""
        asked = json.dumps({"id": f"{user}-{name}", "by": "Rossi", "reason": "a test"})
        await self.client.publish(f"wheel/v1/live/{table}/cmd/{user}/{name}", asked, qos=1)
        await self.until(lambda: any(reply["id"] == f"{user}-{name}" for reply in self.of(table, "reply")))
        return next(reply for reply in self.of(table, "reply") if reply["id"] == f"{user}-{name}")


async def test_each_of_three_wheels_serves_its_own_table(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(aiomqtt.Client("127.0.0.1", broker.port))
            await client.subscribe("wheel/v1/live/#", qos=1)
            house, daemons = House(client), list[Daemon]()
            for seed, table in enumerate(TABLES, start=1):
                directory = tmp_path / table
                directory.mkdir()
                config = write_config(directory, broker.port, table=table)
                await stack.enter_async_context(turning(Wheel(seed), directory / "board", speed=SPEED))
                daemons.append(await stack.enter_async_context(running(config)))
            await house.until(lambda: house.states() == ["closed"] * 3)
            await asyncio.gather(*(daemon.until("board.identified") for daemon in daemons))

            assert (await house.command("wheel-2", "chef-wheel-2", "open"))["done"]
            await house.until(lambda: house.states() == ["closed", "faites_vos_jeux", "closed"])
            refused = await house.command("wheel-3", "chef-wheel-2", "open")
            assert not refused["done"]
            assert "this name has no role here" in refused["why"]

            await daemons[0].end(signal.SIGTERM)
            await house.until(lambda: house.of("wheel-1", "availability")[-1]["state"] == "offline")
            assert (await house.command("wheel-2", "chef-wheel-2", "close"))["done"]
            await house.until(lambda: house.states() == ["closed"] * 3)
    for table in TABLES:
        prev = GENESIS
        for seq, payload in enumerate((p for where, leaf, p in house.received if where == table and leaf in FEED), 1):
            message = json.loads(payload)
            assert (message["seq"], message["table"]) == (seq, table)
            verify_link(payload, prev)
            prev = message["hash"]
    assert [house.of(table, "availability")[-1]["state"] for table in TABLES] == ["offline", "online", "online"]
