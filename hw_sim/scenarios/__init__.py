"""The scenarios by name. For a new one, write a function with a one-line docstring in a module here, with `@scenario`.

A scenario begins and ends in "faites vos jeux", with the ball in the pocket of the last number.
"""

from __future__ import annotations

from hw_sim.scenarios import interruptions, people, unseen, valid, voids
from hw_sim.scenarios.registry import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Scenario", "interruptions", "people", "unseen", "valid", "voids"]
