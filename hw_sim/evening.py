"""Whole evenings: a wheel and a house drawn from a seed, scenarios drawn or named, one after the other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from hw_sim.events import Direction, SimEvent
from hw_sim.scenarios import SCENARIOS, Scenario
from hw_sim.stage import Outcome, Stage
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
STARTED = "2026-11-20T18:00:00Z"
"""A fixed date: the same seed gives the same bytes on any day."""


class UnknownScenarioError(ValueError):
    """A name that no scenario bears, or one where it cannot be played."""


@dataclass(frozen=True)
class Evening:
    """What an observation log needs, and its truth: the outcomes in order."""

    header: dict[str, Any]
    truth: list[Outcome]
    world: World = field(repr=False)
    end_s: float

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
    stage = Stage(layout, rng, last_number)
    stage.wait(0.1, 1.0)
    stage.say("open")
    for play in plays:
        play(stage)
    stage.wait(2, 5)
    return Evening(_header(layout, table, last_number), stage.truth, stage.world, stage.now_s)


def draw_layout(rng: random.Random, *, french: bool = False) -> Layout:
    """A table and the places of its sensors; `french` for scenarios that reverse the rotor."""
    house, game = rng.choice([h for h in HOUSES if not (french and h[1] == "fair")])
    fair = game == "fair"
    way: Direction = rng.choice(("cw", "ccw"))
    return Layout(
        house=house,
        game=game,
        wheel="fair" if fair else "french",
        rotor_ticks=rng.choice(ROTOR_TICKS),
        beams_deg=_beams(rng),
        readers_deg=_spread(rng, rng.randint(1, 3)),
        rotor_direction=way if fair else None,
    )


def _beams(rng: random.Random) -> tuple[float, ...]:
    count = rng.choice((2, 2, 3, 4, 6, 8))
    if count > 2:
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
