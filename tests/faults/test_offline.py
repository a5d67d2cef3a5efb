"""72 hours without a broker, then it is there: the backlog is sent in order, and the table does not wait for it."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import aiomqtt
import pytest

from tests.faults.broker_bench import PATIENCE_S, Settlement, Wheel, check, settling, turning
from tests.faults.broker_coups import ROOT, TABLE, RepeatedCoups
from tests.mosquitto import Mosquitto
from wheeld.broker.lanes import BUDGETS, Lane
from wheeld.core.step import Step
from wheeld.journal.journal import Journal

COUPS = 4_320
"""72 hours, one coup a minute."""
APPEND_S_MAX = 1.0
"""Of storing a verdict while the backlog is sent: a slow disk on a loaded machine; usually it is milliseconds."""
ANSWER_S_MAX = 2.0
"""Of the answer to a command while the backlog is sent: people press again after less than that many seconds."""


class TrafficMeanwhile:
    """Coups and commands that go on while the backlog is sent, and how long each took."""

    def __init__(self, wheel: Wheel, script: Iterator[Step]) -> None:
        self.append_s: list[float] = []
        self.answer_s: list[float] = []
        self._wheel = wheel
        self._script = script

    async def go_on(self, port: int, backlog: int) -> None:
        """Store steps and send commands until the broker has as many messages as were owed."""
        async with aiomqtt.Client("127.0.0.1", port) as panel:
            await panel.subscribe(f"{ROOT}/reply", qos=1)
            await asyncio.wait_for(self._wheel.connection.connected(), PATIENCE_S)
            while self._wheel.outbox.counters["published"] < backlog:
                started_s = perf_counter()
                await self._wheel.store(next(self._script))
                self.append_s.append(perf_counter() - started_s)
                if len(self.answer_s) < BUDGETS[Lane.WORDS].at_once:  # more are refused
                    self.answer_s.append(await self._command(panel, f"panel-{len(self.answer_s)}"))

    async def _command(self, panel: aiomqtt.Client, command_id: str) -> float:
        started_s = perf_counter()
        asked = {"id": command_id, "by": "chef", "reason": "a test"}
        await panel.publish(f"{ROOT}/cmd/chef-{TABLE}/rien_va", json.dumps(asked), qos=1)
        async with asyncio.timeout(PATIENCE_S):
            async for message in panel.messages:
                if json.loads(message.payload)["id"] == command_id:
                    return perf_counter() - started_s
        raise AssertionError("unreachable")


async def set_synchronous(journal: Journal, mode: str) -> None:
    """Set how far each commit waits for the disk."""
    await journal._on_thread(journal._writer.database.execute)(f"PRAGMA synchronous = {mode}")


async def store_all(wheel: Wheel, script: Iterator[Step]) -> int:
    """Store all of `script`; returns the number of messages. No power is cut here, so no commit waits for the disk."""
    await set_synchronous(wheel.journal, "OFF")
    count = 0
    for step in script:
        await wheel.store(step)
        count += len(step.messages)
    await set_synchronous(wheel.journal, "FULL")
    return count


@pytest.mark.timeout(300)
async def test_after_three_days_offline_the_backlog_is_sent_in_order(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    coups, long = how_many("coups offline"), RepeatedCoups(seed, 30)
    broker = Mosquitto(tmp_path, "max_queued_messages 10000")
    settlement = Settlement(broker.port)
    try:
        async with turning(broker.port, tmp_path / "journal") as wheel:
            backlog = await store_all(wheel, long.steps(coups))
            meanwhile = TrafficMeanwhile(wheel, long.steps(COUPS))
            broker.start()
            started_s = perf_counter()
            async with settling(settlement):
                await meanwhile.go_on(broker.port, backlog)
                drained_s = perf_counter() - started_s
                await settlement.until(len(wheel.sequenced))
                await wheel.until_settled()
        check(wheel.sequenced, settlement, f"seed {seed}")
        assert settlement.refused == []
    finally:
        broker.kill()
    assert len(meanwhile.answer_s) > 3, "too few commands while the backlog was sent"
    assert max(meanwhile.append_s) < APPEND_S_MAX
    assert max(meanwhile.answer_s) < ANSWER_S_MAX
    append, answer = (
        f"{statistics.median(taken_s) * 1e3:.1f} ms, worst {max(taken_s) * 1e3:.0f} ms"
        for taken_s in (meanwhile.append_s, meanwhile.answer_s)
    )
    counted(
        f"{coups} coups, {backlog} messages in {drained_s:.1f} s ({backlog / drained_s:.0f}/s), in order, 0 lost; "
        f"meanwhile a verdict was stored in {append}; {len(meanwhile.answer_s)} commands answered in {answer}"
    )
