"""The reader of the wheel's socket says why it sees nothing."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
import structlog

from tests.broker.world import working
from wheeld.page.sensors import SensorReader


async def test_why_the_sensors_are_not_reached_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.page.sensors.AGAIN_S", 0.001)
    path, lines = tmp_path / "s", asyncio.Event()
    reader = SensorReader(path, take=lambda *_: lines.set(), lost=lambda: None)
    reader.want(is_wanted=True)

    async def wheel(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"line":"about"}\n')
        await writer.drain()
        writer.close()

    async def until(count: int) -> None:
        while len(said) < count:  # noqa: ASYNC110  nothing is set when a line is logged
            await asyncio.sleep(0)

    with structlog.testing.capture_logs() as said:
        async with asyncio.timeout(30), working(reader.run()):
            await until(1)
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))
                await until(2)
            path.unlink()
            await until(3)
            async with await asyncio.start_unix_server(wheel, path):
                await lines.wait()
            path.unlink(missing_ok=True)
    whys = [each.get("why", each["event"]) for each in said[:4]]
    assert [why.partition(":")[0] for why in whys] == [
        "there is no such socket",
        "no program listens at this socket",
        "there is no such socket",
        "sensors.reached",
    ]
