"""All that `wheeld run` says is one JSON object a line, whatever goes wrong around it."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import closing
from pathlib import Path

from tests.cli.live import running
from tests.live.bench import table, write_config
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit

CONNECTED = bytes.fromhex("20 03 00 00 00")
"""CONNACK of MQTT 5."""


async def test_every_line_is_json_when_a_broker_goes_away_again_and_again(tmp_path: Path) -> None:
    """`running` holds every line to that, on standard output and standard error."""
    broker = Mosquitto(tmp_path)
    broker.start()
    async with running(write_config(tmp_path, broker.port)) as daemon:
        await daemon.until("broker.connected")
        for _ in range(2):
            broker.kill()
            await daemon.until("broker.unreachable")
            daemon.logs.clear()
            broker.start()
            await daemon.until("broker.connected")
            daemon.logs.clear()
        broker.kill()
        assert await daemon.end() == Exit.OK


async def test_every_line_is_json_when_a_broker_resets_the_connection(tmp_path: Path) -> None:
    """asyncio may then have something to say too: all is a line of our log."""

    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            await reader.read(1)
            writer.write(CONNECTED)
            await reader.read(1)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    async with server, running(write_config(tmp_path, server.sockets[0].getsockname()[1])) as daemon:
        said = await daemon.until("broker.unreachable")
        assert "reset" in said["why"], said
        assert await daemon.end() == Exit.OK


async def test_a_button_that_is_refused_is_a_line_for_who_stands_at_the_cabinet(tmp_path: Path) -> None:
    """No more than one a second: a person presses again and again."""
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=4) as (wheel, _, daemon):
            for _ in range(5):
                await wheel.press("tout_va")
            refused = await daemon.until("button.refused")
            assert (refused["level"], refused["name"], refused["why"]) == ("warning", "tout_va", "nothing was void")
            await wheel.press("suspend")
            assert await daemon.end() == Exit.OK
    assert len([line for line in daemon.logs if line["event"] == "button.refused"]) < 5
