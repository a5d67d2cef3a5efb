"""How far a verdict was from flipping: 0 on the edge, 1 as sure as the sensors can make it.

Each verdict rests on a few measures; its margin is the least of them, and names it. A low one is published as a notice:
the verdict stands, and somebody should look at the wheel, or at how the ball is launched.
"""

from __future__ import annotations

from math import fsum
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.tracking.sighting import OFF_CENTRE_MAX, Seen

Measure: TypeAlias = Literal["laps", "direction", "pocket", "passes", "rotor", "sight", "time"]

LOW = 0.2
"""Below this a notice is published: a fifth of a lap, or of what makes a measure sure."""
SURE_LAPS = 1.0
SURE_LEAD = 6
"""This many passes make a measure sure: passes by which a reading leads every contrary one, or passes that show a weak
launch. In two laps of three beams a stray can spoil five passes. This is one more."""
SURE_S = 1.0


class Margin(msgspec.Struct, frozen=True, order=True):
    """`value` is 0 to 1 with three decimals; `of` names the measure that it is the least of."""

    value: float
    of: Measure

    @staticmethod
    def part(value: float, of: Measure) -> Margin:
        """`value` held within 0 and 1."""
        return Margin(round(max(0.0, min(1.0, value)), 3), of)


def laps_over(laps_proven: float, laps_needed: float) -> Margin:
    """A valid coup: laps proven beyond those that R2 asks."""
    return Margin.part((laps_proven - laps_needed) / SURE_LAPS, "laps")


def least(*measures: Margin | None) -> Margin | None:
    """The least of the measures that were taken; None where none was."""
    return min((measure for measure in measures if measure is not None), default=None)


def run(laps_proven: float | None, laps_needed: float, lead_passes: int | None) -> Margin | None:
    """R1 and R2 of a valid coup; None of a run whose passes nobody measured."""
    if laps_proven is None or lead_passes is None:
        return None
    return min(laps_over(laps_proven, laps_needed), direction(lead_passes))


def laps_under(laps_suggested: float, laps_needed: float) -> Margin:
    """Too few laps: how far the laps are below those that R2 asks. All passes count here, strays too."""
    return Margin.part((laps_needed - laps_suggested) / SURE_LAPS, "laps")


def direction(lead_passes: int) -> Margin:
    """R1, N1: passes by which the ball's reading leads the best one the other way."""
    return Margin.part(lead_passes / SURE_LEAD, "direction")


def passes(count: int) -> Margin:
    """A launch too weak to be followed: how many passes support it."""
    return Margin.part(count / SURE_LEAD, "passes")


def pocket(sightings: list[Seen]) -> Margin:
    """R3: the mean place of the sightings in the pocket, and how far it was from the limit `OFF_CENTRE_MAX`."""
    # Not `sum`: of floats it gives other bytes from Python 3.12 on.
    mean = fsum(seen.offset for seen in sightings) / len(sightings)
    return Margin.part(1 - abs(mean) / OFF_CENTRE_MAX, "pocket")


def sight(seen: int, of: int) -> Margin:
    """R2, R3: how much of what the sensors should have seen they saw. What nobody missed is as sure as can be."""
    return Margin.part(seen / of, "sight")


def rotor(tick_interval_us: float, silence_us: int) -> Margin:
    """N4, N5: the time from tick to tick, compared with the silence that proves a stop. The shorter, the surer."""
    return Margin.part(1 - tick_interval_us / silence_us, "rotor")


def early(before_us: int) -> Margin:
    """N2: how long before the table was ready the ball was launched."""
    return Margin.part(before_us / 1e6 / SURE_S, "time")
