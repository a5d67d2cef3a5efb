"""The register of the scenarios, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hw_sim.table import SimTable

Play: TypeAlias = Callable[[SimTable], None]


@dataclass(frozen=True)
class Scenario:
    """`play` plays the scenario, `about` describes it in a sentence, `weight` is how often a drawn evening contains it.
    `hasty`: the extra weight in a campaign, in which people press early, late and wrongly. In a demo they do not.
    `rare`: the extra weight in a campaign, in which sensors become blind and slip. In a demo they do not.
    `first_only`: it may only be the first scenario of an evening."""

    name: str
    about: str
    play: Play
    weight: float = 1.0
    hasty: float = 0.0
    rare: float = 0.0
    french_only: bool = False
    first_only: bool = False

    def __call__(self, table: SimTable) -> None:
        """Play the scenario. Its outcomes get its name."""
        table.scenario = self.name
        self.play(table)


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    *, weight: float = 1.0, hasty: float = 0.0, rare: float = 0.0, french_only: bool = False, first_only: bool = False
) -> Callable[[Play], Play]:
    """Register a function under its name. The first line of its docstring describes it."""

    def register(play: Play) -> Play:
        name, about = play.__name__, (play.__doc__ or "").partition("\n")[0]
        SCENARIOS[name] = Scenario(name, about, play, weight, hasty, rare, french_only, first_only)
        return play

    return register
