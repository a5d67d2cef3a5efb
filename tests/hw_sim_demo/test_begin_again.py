"""A wheel with simulated sensors is switched off at a drawn moment of a drawn scenario.

Its people know nothing then. They press what any state may await (`hw_sim.memory`), and coups go on: what a table
awaits that they do not press would stop it for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import msgspec
import pytest

from hw_sim import log
from hw_sim.demo import LAYOUT
from hw_sim.evening import drawable, repeatable
from hw_sim.events import ForeignObject, SimEvent
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable
from hw_sim.memory import Memory
from hw_sim.run import live_events
from hw_sim.scenarios import SCENARIOS, Scenario
from hw_sim.wheel import Layout
from tests.core.evening import FRENCH, START_UTC_US
from wheeld.core.observations import Observation
from wheeld.core.table import Table

DRAWN = [scenario for scenario in drawable(LAYOUT) if scenario.weight]
"""What `hw-sim run` plays when no scenario is named."""
CUTS = 60


def played(
    scenarios: list[Scenario], people: Memory, memory: bytes | None, seed: str, layout: Layout
) -> Iterator[tuple[int, bytes, int]]:
    """After each event: its time, what a restart of the table would know, and how many numbers are published."""
    live = LiveTable(layout, repeatable(seed), people.numbers[-1] if people.numbers else 17)
    live.table.pause_factor = QUICK_PAUSE_FACTOR
    setting = msgspec.structs.replace(FRENCH, readers_deg=tuple(map(int, layout.readers_deg)))
    table, opening = Table.start(setting, boot_id="b" * 32, started_utc_us=START_UTC_US, memory=memory)
    known, numbers = opening.memory or memory or b"", 0
    # A board's heartbeat says so: nothing lies in the cylinder of a simulator that has just started.
    first: list[SimEvent] = [ForeignObject(0, present=False)]
    events = chain(first, live_events(live, scenarios, lambda: 1, lambda _: None, people))
    _, *lines = log.lines({}, events)
    for line in lines:
        step = table.apply(msgspec.json.decode(line, type=Observation))
        known = step.memory or known
        numbers += sum(message.topic == "result" for message in step.messages)
        yield table.now_us, known, numbers


@pytest.mark.parametrize("seed", range(CUTS))
def test_after_a_restart_at_any_moment_coups_go_on(seed: int) -> None:
    rng = repeatable(f"cut {seed}")
    layout = LAYOUT if seed % 2 else replace(LAYOUT, readers_deg=LAYOUT.readers_deg[:1])
    valid, cut = SCENARIOS["valid"], rng.choice(DRAWN)
    before = Memory(None)
    moments = [
        (now, known, [*before.numbers]) for now, known, _ in played([valid, cut], before, None, f"cut {seed}", layout)
    ]
    off_us = rng.randint(0, moments[-1][0])
    _, known, remembered = next(moment for moment in moments if moment[0] >= off_us)
    after = Memory(None)
    after.numbers = remembered
    *_, (_, _, numbers) = played([valid], after, known, f"after {seed}", layout)
    assert numbers > 0, f"seed {seed}, {cut.name} cut at {off_us} µs: coups do not go on"
