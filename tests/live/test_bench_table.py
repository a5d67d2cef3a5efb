"""A bench table as a whole: whatever its daemon publishes is marked, and no live run goes on with its journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.live import running
from tests.live.bench import ROOT, table, turning, wheeld, write_config
from tests.live.bench import Wheel as SimWheel
from tests.mosquitto import Mosquitto
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedError, Login

LEAVES = {"result", "void", "table", "notice", "board", "reply", "health", "availability"}


async def test_all_that_the_daemon_of_a_bench_table_publishes_is_marked(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=11, test=True) as (wheel, subscriber, daemon):
            await wheel.play("valid", "same_direction")
            await subscriber.until_verdicts(2)
            await subscriber.command("last_coup")
            async with Feed("127.0.0.1", root=ROOT, login=Login(port=broker.port)) as live:
                with pytest.raises(FeedError) as refused:
                    await anext(live)
            assert refused.value.fault == "test"
            async with Feed("127.0.0.1", root=ROOT, test=True, login=Login(port=broker.port)) as asked_for:
                assert (await anext(asked_for)).seq == 1
            assert await daemon.end() == Exit.OK
            await subscriber.until(lambda: subscriber.of("availability")[-1]["state"] == "offline", "the end")
    assert {leaf for leaf, _ in subscriber.received} - {"reply"} >= LEAVES - {"reply", "notice"}
    assert "reply" in {leaf for leaf, _ in subscriber.received}
    for leaf, payload in subscriber.received:
        assert json.loads(payload)["test"] is True, (leaf, payload)
    shown = wheeld("journal", "show", tmp_path / "journal.sqlite")
    assert shown.returncode == Exit.OK
    lines = shown.stdout.decode().splitlines()
    assert any("power_up" in line and "test yes" in line for line in lines)
    assert all("TEST: " in line or "ESSAI : " in line or "  event " in line for line in lines), lines


async def test_a_live_configuration_does_not_go_on_with_its_journal(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=11, test=True) as (_, _, daemon):
            assert await daemon.end() == Exit.OK
        path = write_config(tmp_path, broker.port)
        async with turning(SimWheel(12), tmp_path / "board"), running(path) as daemon:
            refused = await daemon.until("journal.not_opened")
            assert "it is the journal of a bench table" in refused["why"]
        anew = write_config(tmp_path, broker.port, journal="live.sqlite")
        async with turning(SimWheel(13), tmp_path / "board"), running(anew) as daemon:
            refused = await daemon.until("journal.failed")
            assert "of a bench table of this name, but this is a live table" in refused["why"]
