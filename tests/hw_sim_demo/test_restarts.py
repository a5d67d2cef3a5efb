"""A wheel with simulated sensors: its table and its simulator are switched off and on, in a drawn order at drawn times.

The simulator comes back as another board, with its rotor at another place and the ball in the hand; the table comes
back with what its journal has. What happens at the wheel while either is away is lost, the encoder's edges too. Its
people look at the table and do what it waits for, so coups go on: what they could not do would stop it for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from hw_sim.demo import LAYOUT
from hw_sim.evening import repeatable
from hw_sim.events import End, SensorState, SimEvent, TableCommand
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.people import told_of
from hw_sim.run import live_events
from hw_sim.subscriber import SEQUENCED, Subscriber
from hw_sim.wheel import WheelLayout
from tests.core.evening import FRENCH, START_UTC_US
from wheeld.core.observations import Level, Observation, TimePassed
from wheeld.core.step import Step
from wheeld.core.table import Table

SEEDS = 40
RESTARTS = 4
SLIPS = 10
SENSORS = ("beam/0", "beam/1", "beam/2", "beam/3", "reader/0", "reader/1", "reader/2", "rotor", "object", "link")
LOOK_S = 2.0
"""As at five times the speed of life."""
GOES_ON_S = 600.0
"""So long the whole way on a bare Debian waits, at five times the speed of life."""


class Bench:
    """A table and a simulator of which each can be switched off and on; both sensing clocks begin again with theirs."""

    def __init__(self, seed: str, layout: WheelLayout) -> None:
        self.rng = repeatable(seed)
        self._layout = layout
        self._setting = msgspec.structs.replace(FRENCH, readers_deg=tuple(map(int, layout.readers_deg)))
        self._boots = 0
        self._memory: bytes | None = None
        self._simulated_us = self._ahead_us = 0
        self.subscriber = Subscriber()
        self.start_table()
        self.start_simulator()

    def start_table(self) -> None:
        """It has been away; the simulator played on."""
        self._boots += 1
        self._table, opening = Table.start(
            self._setting, boot_id=f"{self._boots:032}", started_utc_us=START_UTC_US, memory=self._memory
        )
        self._take(opening)
        self._ahead_us = -self._simulated_us
        self._apply(Level(self._table.now_us, "object", active=False))

    def start_simulator(self) -> None:
        """It has been away; the table saw its line cut. Nothing fails at the new board, and no object lies there."""
        now_us = self._table.now_us
        self._observe(SensorState(now_us, "link", ok=False))
        now_us += round(self.rng.uniform(1e6, 20e6))
        self._observe(End(now_us))
        for sensor in SENSORS:
            self._observe(SensorState(now_us, sensor, ok=True))
        self._apply(Level(now_us, "object", active=False))
        self.live = LiveTable(self._layout, repeatable(f"life {self.rng.random()}"), None)
        self.live.table.pause_factor = QUICK_PAUSE_FACTOR
        plays = draw_scenarios(self._layout, self.live.table.rng)
        self._events = live_events(self.live, plays, lambda: True, lambda _: None, self.subscriber, look_s=LOOK_S)
        self._simulated_us, self._ahead_us = 0, now_us

    def lose(self, seconds: float) -> None:
        """Let time pass in which the table sees and hears nothing."""
        for _ in self._until(seconds):
            pass

    def play(self, seconds: float) -> None:
        """Let time pass."""
        for event in self._until(seconds):
            self._feed(event)

    def _until(self, seconds: float) -> Iterator[SimEvent]:
        until_us = self._simulated_us + round(seconds * 1e6)
        for event in self._events:
            self._simulated_us = event.t_us
            yield event
            if event.t_us >= until_us:
                return

    def _feed(self, event: SimEvent) -> None:
        at = msgspec.structs.replace(event, t_us=event.t_us + self._ahead_us)
        if isinstance(at, TableCommand) and at.coup is not None:  # a panel means the coup that it shows
            assert self.subscriber.table is not None
            at = msgspec.structs.replace(at, coup=self.subscriber.table["coup"])
        self._observe(at)

    def _observe(self, event: SimEvent) -> None:
        is_end = isinstance(event, End)
        self._apply(TimePassed(event.t_us) if is_end else msgspec.convert(msgspec.to_builtins(event), Observation))

    def _apply(self, observation: Observation) -> None:
        self._take(self._table.apply(observation))

    def _take(self, step: Step) -> None:
        self._memory = step.memory or self._memory
        for message in step.messages:
            if message.topic in SEQUENCED:
                self.subscriber.take(message.topic, message.payload)


def assert_coups_go_on(bench: Bench, what: str) -> None:
    """Two more are decided, one of them by a number, as the whole way on a bare Debian has it."""
    known = len(bench.subscriber.verdicts)
    bench.play(GOES_ON_S)
    more = [verdict.name for verdict in bench.subscriber.verdicts[known:]]
    told = f"{what}: {more}, {told_of(bench.subscriber.table)}"
    assert any(name.startswith("result") for name in more), told
    assert len([name for name in more if name != "void breakdown"]) > 1, told


@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_restarts_at_any_moments_coups_go_on(seed: int) -> None:
    layout = LAYOUT if seed % 2 else replace(LAYOUT, readers_deg=LAYOUT.readers_deg[:1])
    bench = Bench(f"restarts {seed}", layout)
    done = []
    for _ in range(RESTARTS):
        bench.play(bench.rng.uniform(1, 150))
        done.append(bench.rng.choice(("table", "simulator", "both, the table first", "both, the simulator first")))
        if done[-1] in ("simulator", "both, the simulator first"):
            bench.start_simulator()
        if done[-1] != "simulator":
            bench.lose(bench.rng.uniform(0.1, 8))
            bench.start_table()
        if done[-1] == "both, the table first":
            bench.play(bench.rng.uniform(0, 20))
            bench.start_simulator()
    assert_coups_go_on(bench, f"seed {seed}, {done}")


@pytest.mark.parametrize("seed", range(SLIPS))
def test_after_a_slip_of_the_disc_and_a_restart_coups_go_on(seed: int) -> None:
    """No button names the ball's pocket, without which nobody knows where the pockets are."""
    bench = Bench(f"slip {seed}", LAYOUT)
    bench.play(bench.rng.uniform(60, 150))
    bench.live.table.slip_disc(bench.rng.choice((-20, -9, -5, 5, 9, 20)))
    while not (bench.subscriber.table or {}).get("failing"):
        bench.play(10)
    assert bench.subscriber.table is not None
    assert bench.subscriber.table["failing"] == ["rotor/place"]
    bench.start_table()
    assert_coups_go_on(bench, f"seed {seed}")
