"""Whole evenings: a wheel and a house that are drawn from a seed, and a sequence of drawn or named scenarios."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from hw_sim.events import Direction, SimEvent
from hw_sim.exits import UsageError
from hw_sim.scenarios import SCENARIOS, Scenario
from hw_sim.table import Fumbles, Outcome, SimTable
from hw_sim.wheel import AMERICAN_POCKETS, HOUSES, WheelLayout
from hw_sim.world import World

AMERICAN = ("south-dakota", "american")
DRAWN = tuple(house for house in HOUSES if house != AMERICAN)
AMERICANS = 0.2
"""The share of a campaign's evenings that are played on an American wheel."""
ROTOR_TICKS = (37, 74, 148, 296, 592)
COUPS = (6, 20)
"""The smallest and the largest number of scenarios in a drawn evening."""
BEAMS = (2, 2, 3, 4, 6, 8)
CAMPAIGN_TICKS = (37, 37, 37, 37, 74, 74, 74, 148, 148, 296, 592)
"""Low numbers are drawn more often: few ticks are harder for the daemon, and one coup with 592 ticks takes as much time
as sixteen coups with 37."""
CAMPAIGN_BEAMS = (1, *9 * (2,), *5 * (3,), *10 * (4,), *3 * (5,), *5 * (6,), *2 * (7,), *5 * (8,))
"""One evening in forty has a single beam. One beam cannot prove a direction, and a daemon must refuse that wheel."""
DOUBLED = 0.05
"""The share of a campaign's commands for which a person presses the button twice."""
DOUBLED_MAX = 0.5
CAMPAIGN_PAUSE_FACTOR = 0.2
"""This factor makes the pauses of people shorter in a campaign. The rotor also turns between coups, so long pauses
would add many log lines and test nothing."""
GAP_S = 2.5
"""The time between two scenarios. People wait until the daemon has accepted their last command. If a pulse makes it
unclear whether a ball runs, the command waits up to 2.4 s until this is clear."""
STARTED = "2026-11-20T18:00:00Z"
"""The date in the log of each evening. It is fixed, so the same seed gives the same bytes on any day."""


@dataclass(frozen=True)
class Mark:
    """One scenario of an evening, from `start_s` to `end_s` of the sensing clock. Its outcomes are
    `truth[first:first + count]` of the evening.

    At both ends the table is in "faites vos jeux" and the ball lies in the pocket of the last number. `last_number` is
    that number at the start, or None if there was no number yet. Then the ball lies in no pocket.
    """

    start_s: float
    end_s: float
    last_number: int | None
    scenario: str
    first: int
    count: int


@dataclass(frozen=True)
class Evening:
    """The content of an observation log, and its truth: the outcomes in order. `marks`: one for each scenario."""

    header: dict[str, Any]
    truth: list[Outcome]
    world: World = field(repr=False)
    end_s: float
    marks: tuple[Mark, ...] = ()

    def events(self) -> Iterator[SimEvent]:
        """Return all events of sensors and people in time order, with `End` last."""
        return iter(self.world.events(self.end_s))


def draw_evening(seed: int) -> Evening:
    """Draw an evening, which depends only on `seed`."""
    rng = repeatable(f"evening {seed}")
    layout = draw_layout(rng)
    choices = drawable(layout)
    scenarios = rng.choices(choices, [s.weight for s in choices], k=rng.randint(*COUPS))
    if rng.random() < 0.1:
        scenarios[0] = SCENARIOS["first_coup_void"]
    return _played(scenarios, layout, rng, f"sim-{seed}")


def campaign_evening(
    seed: str, coups: int, *, margin: bool = False, people: float = 1.0, americans: float = AMERICANS
) -> Evening:
    """Draw an evening of about `coups` outcomes at one drawn table, with short pauses. A daemon must refuse some of the
    layouts. `margin`: only launches of two to four laps. `people`: a factor for how often people press early, late,
    twice or wrongly; 0 means never. `americans`: the share of all evenings that use an American wheel."""
    rng = repeatable(f"campaign {seed}")
    layout = draw_layout(rng, ticks=CAMPAIGN_TICKS, beams=CAMPAIGN_BEAMS)
    if repeatable(f"american {seed}").random() < americans:
        layout = at_american_wheel(layout)
    choices = [SCENARIOS["lap_margin"]] if margin else drawable(layout)
    weights = [1.0 if margin else scenario.weight + scenario.rare + people * scenario.hasty for scenario in choices]
    begins_void = not margin and rng.random() < 0.05
    last_number = None if begins_void else rng.choice(sorted(layout.pockets))
    recorder = _Recorder(layout, rng, last_number, pause_factor=CAMPAIGN_PAUSE_FACTOR)
    recorder.table.fumbles = Fumbles(repeatable(f"fumbles {seed}"), min(DOUBLED_MAX, people * DOUBLED))
    if begins_void:
        recorder.play(SCENARIOS["first_coup_void"])
    while len(recorder.table.truth) < coups:
        recorder.play(*rng.choices(choices, weights))
    return recorder.evening("campaign")


def script(names: Sequence[str], seed: int = 0, *, american: bool = False) -> Evening:
    """Return an evening with the named scenarios in that order. The wheel and all random values are drawn from `seed`.
    `american`: use an American wheel.

    Raises UsageError for an unknown name (the error has the most similar name), or if a `first_only` scenario comes
    later.
    """
    scenarios = named(names)
    rng = repeatable(f"script {seed} {' '.join(names)}")
    layout = draw_layout(rng, french=any(scenario.french_only for scenario in scenarios))
    if american:
        layout = at_american_wheel(layout)
    return _played(scenarios, layout, rng, f"sim-{seed}")


def repeatable(seed: str) -> random.Random:
    """Return a generator of random numbers, which are the same for the same seed on any machine."""
    return random.Random(seed)  # noqa: S311  nothing here is secret


def named(names: Sequence[str]) -> list[Scenario]:
    """Return the scenarios with these names. Raises UsageError like `script`."""
    for name in names:
        if name not in SCENARIOS:
            near = get_close_matches(name, SCENARIOS, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"no scenario is called {name!r}{hint} (`hw-sim scenarios` lists them)")
    scenarios = [SCENARIOS[name] for name in names]
    late = [scenario.name for scenario in scenarios[1:] if scenario.first_only]
    if late:
        raise UsageError(f"scenario {late[0]!r} is about a table's first coup: name it first")
    return scenarios


def drawable(layout: WheelLayout) -> list[Scenario]:
    """Return the scenarios that this wheel can play after any other scenario."""
    return [s for s in SCENARIOS.values() if not s.first_only and (layout.wheel == "french" or not s.french_only)]


def _played(scenarios: list[Scenario], layout: WheelLayout, rng: random.Random, table_name: str) -> Evening:
    last_number = None if scenarios and scenarios[0].first_only else rng.choice(sorted(layout.pockets))
    recorder = _Recorder(layout, rng, last_number)
    for scenario in scenarios:
        recorder.play(scenario)
    return recorder.evening(table_name)


class _Recorder:
    """Opens a table, plays one scenario after another on it, and records their marks."""

    def __init__(
        self, layout: WheelLayout, rng: random.Random, last_number: int | None, pause_factor: float = 1.0
    ) -> None:
        self.table = SimTable(layout, rng, last_number)
        self.table.pause_factor = pause_factor
        self._last_number = last_number
        self._marks: list[Mark] = []
        self.table.wait(0.1, 1.0)
        self.table.command("open")
        self.table.now_s += GAP_S

    def play(self, scenario: Scenario) -> None:
        table = self.table
        start_s, last_number, first = table.now_s, table.last_number, len(table.truth)
        scenario(table)
        table.now_s += GAP_S
        self._marks.append(Mark(start_s, table.now_s, last_number, scenario.name, first, len(table.truth) - first))

    def evening(self, table_name: str) -> Evening:
        self.table.wait(2, 5)
        layout = self.table.layout
        header: dict[str, Any] = {
            "kind": "wheel",
            "format": 1,
            "table": table_name,
            "house": layout.house,
            "game": layout.game,
            "wheel": layout.wheel,
            "rotor_ticks": layout.rotor_ticks,
            "beams_deg": list(layout.beams_deg),
            "readers_deg": list(layout.readers_deg),
            "min_laps": layout.laps_needed,
            "started": STARTED,
            "last_number": self._last_number,
        }
        if layout.rotor_direction is not None:
            header["rotor_direction"] = layout.rotor_direction
        return Evening(header, self.table.truth, self.table.world, self.table.now_s, tuple(self._marks))


def draw_layout(
    rng: random.Random, *, french: bool = False, ticks: Sequence[int] = ROTOR_TICKS, beams: Sequence[int] = BEAMS
) -> WheelLayout:
    """Draw a table and the places of its sensors. `french`: never draw a Fair wheel, for scenarios that reverse the
    rotor. `ticks` and `beams`: the possible numbers of encoder sectors and of beams. A number that is given twice is
    twice as likely."""
    house, game = rng.choice([h for h in DRAWN if not (french and h[1] == "fair")])
    fair = game == "fair"
    direction: Direction = rng.choice(("cw", "ccw"))
    rotor_ticks, count = rng.choice(ticks), rng.choice(beams)
    first = rng.randrange(10, 180) if count == 2 else 0
    # Two opposite beams could not show a direction.
    two = (float(first), float(first + rng.randrange(60, 121))) if count == 2 else ()
    return WheelLayout(
        house=house,
        game=game,
        rotor_ticks=rotor_ticks,
        beams_deg=two or _evenly_spaced(rng, count),
        readers_deg=_evenly_spaced(rng, rng.randint(1, 3)),
        rotor_direction=direction if fair else None,
    )


def at_american_wheel(layout: WheelLayout) -> WheelLayout:
    """Return the same sensors at an American wheel. An encoder has at least one sector for each pocket."""
    house, game = AMERICAN
    ticks = max(layout.rotor_ticks, len(AMERICAN_POCKETS))
    return replace(layout, house=house, game=game, rotor_ticks=ticks, rotor_direction=None)


def _evenly_spaced(rng: random.Random, count: int) -> tuple[float, ...]:
    first = rng.randrange(360 // count)
    return tuple(float(first + i * 360 // count) for i in range(count))
