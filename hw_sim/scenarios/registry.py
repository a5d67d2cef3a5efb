"""The register of the scenarios, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hw_sim.table import SimTable

Play: TypeAlias = Callable[[SimTable], None]


@dataclass(frozen=True)
class Scenario:
    """`play` plays the scenario, and `about` describes it in a sentence. `weight`: how often a drawn evening has it,
    compared with other scenarios. `hasty`: the weight that a campaign adds if people press early, late or wrongly in
    it. `rare`: the weight that a campaign adds if a rare fault of the sensors is in it. `first_only`: it may only be
    the first scenario of an evening."""

    name: str
    about: str
    play: Play
    weight: float = 1.0
    hasty: float = 0.0
    rare: float = 0.0
    french_only: bool = False
    first_only: bool = False

    def __call__(self, table: SimTable) -> None:
        """Play the scenario. Its outcomes get the name of the scenario."""
        table.scenario = self.name
        self.play(table)


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    *, weight: float = 1.0, hasty: float = 0.0, rare: float = 0.0, french_only: bool = False, first_only: bool = False
) -> Callable[[Play], Play]:
    """Register a function as a scenario under its name. The first line of its docstring is `about`."""

    def register(play: Play) -> Play:
        name, about = play.__name__, (play.__doc__ or "").partition("\n")[0]
        SCENARIOS[name] = Scenario(name, about, play, weight, hasty, rare, french_only, first_only)
        return play

    return register
