"""Whole evenings: a wheel and a house drawn from a seed, scenarios drawn or named, one after the other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from hw_sim.events import Direction, SimEvent
from hw_sim.scenarios import SCENARIOS, Scenario
from hw_sim.table import Outcome, Stage
from hw_sim.wheel import Layout
from hw_sim.world import World

HOUSES = (
    ("campione", "roulette"),
    ("campione", "fair"),
    ("venezia", "roulette-francese"),
    ("venezia", "fair"),
)
ROTOR_TICKS = (37, 74, 148, 296, 592)
COUPS = (6, 20)
"""How many scenarios a drawn evening has, least and most."""
BEAMS = (2, 2, 3, 4, 6, 8)
CAMPAIGN_TICKS = (37, 37, 37, 37, 74, 74, 74, 148, 148, 296, 592)
"""Fewer ticks more often: they are the harder to read, and a coup of 592 costs as much as sixteen of 37."""
CAMPAIGN_BEAMS = (1, *9 * (2,), *5 * (3,), *10 * (4,), *3 * (5,), *5 * (6,), *2 * (7,), *5 * (8,))
"""One evening in forty has a single beam, which tells no direction: a daemon must refuse the wheel."""
CAMPAIGN_LEISURE = 0.2
"""The rotor turns on between coups: what people take longer for costs a campaign lines and shows nothing."""
BREATH_S = 0.001
"""Between scenarios: a mark begins after all that was said before."""
STARTED = "2026-11-20T18:00:00Z"
"""A fixed date: the same seed gives the same bytes on any day."""


class UnknownScenarioError(ValueError):
    """A name that no scenario bears, or one where it cannot be played."""


@dataclass(frozen=True)
class Mark:
    """One scenario of an evening, from `start_s` to `end_s` of the sensing clock, in which its `truth[first:first +
    count]` came about. At both ends the table is in "faites vos jeux" and the ball lies in the pocket of the last
    number, which was `last_number` before it (None: there was none, the ball lies nowhere)."""

    start_s: float
    end_s: float
    last_number: int | None
    scenario: str
    first: int
    count: int


@dataclass(frozen=True)
class Evening:
    """What an observation log needs, and its truth: the outcomes in order; where its scenarios begin and end."""

    header: dict[str, Any]
    truth: list[Outcome]
    world: World = field(repr=False)
    end_s: float
    marks: tuple[Mark, ...] = ()

    def events(self) -> Iterator[SimEvent]:
        """Everything the sensors and the people did, in time order, `End` last."""
        return iter(self.world.events(self.end_s))


def evening(seed: int, *, margin: bool = False) -> Evening:
    """An evening drawn whole from its seed. `margin` mixes in launches of two to four laps, where what the passes
    prove may be less than what the ball ran."""
    rng = repeatable(f"evening {seed}")
    layout = draw_layout(rng)
    plays_here = drawable(layout)
    weights = [4.0 if margin and s.name == "lap_margin" else s.weight for s in plays_here]
    plays = rng.choices(plays_here, weights, k=rng.randint(*COUPS))
    if rng.random() < 0.1:
        plays[0] = SCENARIOS["first_coup_void"]
    return _play(plays, layout, rng, f"sim-{seed}")


def campaign_evening(seed: str, coups: int, *, margin: bool = False) -> Evening:
    """An evening of about `coups` outcomes at one drawn table, whose people lose no time; of all layouts, also such
    as no daemon may take. `margin`: nothing but launches of two to four laps."""
    rng = repeatable(f"campaign {seed}")
    layout = draw_layout(rng, ticks=CAMPAIGN_TICKS, beams=CAMPAIGN_BEAMS)
    here = [SCENARIOS["lap_margin"]] if margin else drawable(layout)
    weights = [1.0 if margin else play.weight for play in here]
    begins_void = not margin and rng.random() < 0.05
    show = _Show(layout, rng, None if begins_void else rng.randrange(37), leisure=CAMPAIGN_LEISURE)
    if begins_void:
        show.play(SCENARIOS["first_coup_void"])
    while len(show.stage.truth) < coups:
        show.play(*rng.choices(here, weights))
    return show.evening("campaign")


def script(names: Sequence[str], seed: int = 0) -> Evening:
    """The named scenarios in that order, at a wheel and with luck drawn from the seed.

    Raises UnknownScenarioError, with the nearest known name, or when one that must come first doesn't.
    """
    plays = named(names)
    rng = repeatable(f"script {seed} {' '.join(names)}")
    layout = draw_layout(rng, french=any(play.french_only for play in plays))
    return _play(plays, layout, rng, f"sim-{seed}")


def repeatable(seed: str) -> random.Random:
    """Luck that is the same for the same seed, on any machine."""
    return random.Random(seed)  # noqa: S311  nothing here is secret


def named(names: Sequence[str]) -> list[Scenario]:
    """The scenarios of those names. Raises UnknownScenarioError like `script`."""
    plays = [_find(name) for name in names]
    late = [play.name for play in plays[1:] if play.first_only]
    if late:
        raise UnknownScenarioError(f"scenario {late[0]!r} is about a table's first coup: name it first")
    return plays


def drawable(layout: Layout) -> list[Scenario]:
    """The scenarios that may follow any other at that wheel."""
    return [s for s in SCENARIOS.values() if not s.first_only and (layout.wheel == "french" or not s.french_only)]


def _find(name: str) -> Scenario:
    if name in SCENARIOS:
        return SCENARIOS[name]
    near = get_close_matches(name, SCENARIOS, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    raise UnknownScenarioError(f"no scenario is called {name!r}{hint} (`hw-sim scenarios` lists them)")


def _play(plays: list[Scenario], layout: Layout, rng: random.Random, table: str) -> Evening:
    last_number = None if plays and plays[0].first_only else rng.randrange(37)
    show = _Show(layout, rng, last_number)
    for play in plays:
        show.play(play)
    return show.evening(table)


class _Show:
    """A table from its opening on, scenario by scenario."""

    def __init__(self, layout: Layout, rng: random.Random, last_number: int | None, leisure: float = 1.0) -> None:
        self.stage = Stage(layout, rng, last_number)
        self.stage.leisure = leisure
        self._last_number = last_number
        self._marks: list[Mark] = []
        self.stage.wait(0.1, 1.0)
        self.stage.say("open")
        self.stage.now_s += BREATH_S

    def play(self, play: Scenario) -> None:
        stage = self.stage
        start_s, last_number, first = stage.now_s, stage.last_number, len(stage.truth)
        play(stage)
        stage.now_s += BREATH_S
        self._marks.append(Mark(start_s, stage.now_s, last_number, play.name, first, len(stage.truth) - first))

    def evening(self, table: str) -> Evening:
        self.stage.wait(2, 5)
        header = _header(self.stage.layout, table, self._last_number)
        return Evening(header, self.stage.truth, self.stage.world, self.stage.now_s, tuple(self._marks))


def draw_layout(
    rng: random.Random, *, french: bool = False, ticks: Sequence[int] = ROTOR_TICKS, beams: Sequence[int] = BEAMS
) -> Layout:
    """A table and the places of its sensors; `french` for scenarios that reverse the rotor. `ticks` and `beams` are the
    numbers of encoder sectors and of beams to draw from, those named twice twice as often."""
    house, game = rng.choice([h for h in HOUSES if not (french and h[1] == "fair")])
    fair = game == "fair"
    way: Direction = rng.choice(("cw", "ccw"))
    return Layout(
        house=house,
        game=game,
        wheel="fair" if fair else "french",
        rotor_ticks=rng.choice(ticks),
        beams_deg=_beams(rng, rng.choice(beams)),
        readers_deg=_spread(rng, rng.randint(1, 3)),
        rotor_direction=way if fair else None,
    )


def _beams(rng: random.Random, count: int) -> tuple[float, ...]:
    if count != 2:
        return _spread(rng, count)
    first = rng.randrange(10, 180)
    return float(first), float(first + rng.randrange(60, 121))  # two opposite beams would tell no direction


def _spread(rng: random.Random, count: int) -> tuple[float, ...]:
    first = rng.randrange(360 // count)
    return tuple(float(first + i * 360 // count) for i in range(count))


def _header(layout: Layout, table: str, last_number: int | None) -> dict[str, Any]:
    header: dict[str, Any] = {
        "kind": "wheel",
        "format": 1,
        "table": table,
        "house": layout.house,
        "game": layout.game,
        "wheel": layout.wheel,
        "rotor_ticks": layout.rotor_ticks,
        "beams_deg": list(layout.beams_deg),
        "readers_deg": list(layout.readers_deg),
        "min_laps": 3,
        "started": STARTED,
        "last_number": last_number,
    }
    if layout.rotor_direction is not None:
        header["rotor_direction"] = layout.rotor_direction
    return header
