"""An evening in parts is the same evening: no event twice, none lost, and old ones are forgotten."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from hw_sim.demo import LAYOUT
from hw_sim.evening import draw_layout, drawable, repeatable
from hw_sim.events import End, SimEvent, TableCommand
from hw_sim.live_table import LiveTable, draw_scenarios
from hw_sim.scenarios import SCENARIOS
from hw_sim.table import SimTable
from hw_sim.world import World


def parts(seed: int, names: list[str]) -> tuple[LiveTable, list[SimEvent]]:
    live = LiveTable(LAYOUT, repeatable(f"night {seed}"), 17)
    events = [event for name in names for event in live.play(SCENARIOS[name])]
    return live, events


@pytest.mark.parametrize("seed", range(3))
def test_the_parts_are_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names = repeatable(f"names {seed}").sample([scenario.name for scenario in drawable(LAYOUT)], 12)
    _, events = parts(seed, names)
    monkeypatch.setattr(World, "forget", lambda self, before_s: None)
    live, again = parts(seed, names)
    assert events == again, f"seed {seed}: forgetting changed what followed"
    *whole, end = live.table.world.events(live.table.now_s)
    without_ends = [event for event in events if not isinstance(event, End)]
    assert without_ends == [event for event in whole if event.t_us < end.t_us], f"seed {seed}"
    assert [event.t_us for event in events] == sorted(event.t_us for event in events), f"seed {seed}"


def test_what_is_over_is_forgotten() -> None:
    live, _ = parts(1, ["valid", "breakdown_link", "chef_void"] * 10)
    world: Any = live.table.world
    kept = [len(part) for part in (world.runs, world.stays, world.falls, world.direct_events, world.outages)]
    assert max(kept) <= 12, kept
    assert len(world.rotor._pieces) < 20


def test_waiting_and_texts() -> None:
    live = LiveTable(LAYOUT, repeatable("words"), None)
    assert live.wait(2.0)[-1] == End(2_000_000)
    (command,) = [
        event for event in live.command("open", by="inspector", reason="why not") if isinstance(event, TableCommand)
    ]
    assert (command.name, command.by, command.reason) == ("open", "inspector", "why not")
    assert not live.table.ball_is_in(None)
    live.play(SimTable.put_ball_back)
    assert live.table.ball_is_in(None)


def test_what_is_drawn_begins_as_asked_and_suits_the_wheel() -> None:
    rng = repeatable("drawn")
    layout = next(one for _ in range(100) if (one := draw_layout(rng)).wheel == "fair")
    first = [SCENARIOS["valid"], SCENARIOS["chef_void"]]
    plays = list(itertools.islice(draw_scenarios(layout, rng, first), 300))
    assert plays[:2] == first
    assert not any(play.french_only or play.first_only for play in plays)
    assert len({play.name for play in plays}) > 20
