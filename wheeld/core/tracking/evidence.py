"""What the observer emits: facts with figures and margins, open questions, and the passes and sightings behind them.

Some time passes between the first sign of a fact and its proof. A launch is proven up to a lap after it was made, a
number up to a rotor turn after the ball came to rest. Meanwhile the question is open. What is dated after the first
sign waits for the answer if the answer could change its meaning (see `law.waiting` for what waits, and how long).
"""

from __future__ import annotations

from enum import Enum, unique
from math import fsum
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from wheeld.core.facts import Fact

Figures: TypeAlias = dict[str, int | float | str]
"""The few numbers that decide a fact. Each name contains the unit."""

Measure: TypeAlias = Literal["laps", "direction", "pocket", "passes", "rotor", "sight", "slowing", "time"]

LOW = 0.2
"""A notice is published for a margin below this."""
SURE_LEAD = 6
"""So many passes make a verdict sure: the passes by which a chain is ahead of all contrary chains, or the passes of a
weak launch. In two laps past three beams, a stray can spoil five passes. This number is one more."""
FREE_PART, HAND_PART = 0.15, 0.18
"""Fractions of the ball's speed. In a lap, no free ball differs from its wheel's habit by more than `FREE_PART` (4,800
runs in simulated bowls, some tilted or rubbing: 0.149 at most). A ball that differs by `HAND_PART` was touched."""

OFF_CENTRE_MAX = 0.40
"""A distance from the centre of a pocket, in pockets. If a ball is seen farther out than this, it does not lie in a
pocket, or the rotor's angle is wrong."""


class Pass(msgspec.Struct, frozen=True):
    """One pass in a chain: its sensing time, its beam, and the degrees run since the chain's first pass."""

    t_us: int
    beam: int
    turn_deg: float


class Seen(msgspec.Struct, frozen=True):
    """One sighting of the ball, and the pocket in which it was. `offset`: in pockets from the centre of that pocket.
    `turned_deg`: how far the rotor had turned."""

    t_us: int
    reader: int
    pocket_index: int
    offset: float
    turned_deg: float


class Margin(msgspec.Struct, frozen=True, order=True):
    """How far a verdict was from another verdict: 0 at the limit, 1 as sure as the sensors can make it.

    A verdict depends on a few measures, and its margin is the margin of the least sure one. If this is low, a notice is
    published: the verdict stands, but somebody should look at the wheel, or at how the ball is launched. `value`: 0 to
    1, with three decimals. `of`: the name of the measure.
    """

    value: float
    of: Measure

    @staticmethod
    def part(value: float, of: Measure) -> Margin:
        """Return the margin of `value`, which is limited to 0…1."""
        return Margin(round(max(0.0, min(1.0, value)), 3), of)

    @staticmethod
    def laps(apart: float) -> Margin:
        """Return the margin of R2 or N3. `apart`: how many laps the decision was from its limit; one lap is sure. For
        R2 the proven laps decide, for N3 all laps that passes suggest, even if some passes may be strays."""
        return Margin.part(apart, "laps")

    @staticmethod
    def run(laps_proven: float | None, laps_needed: float, lead_passes: int | None) -> Margin | None:
        """Return the margin of R1 and R2 for a valid coup. None if the passes of its run were not measured."""
        if laps_proven is None or lead_passes is None:
            return None
        return min(Margin.laps(laps_proven - laps_needed), Margin.direction(lead_passes))

    @staticmethod
    def direction(lead_passes: int) -> Margin:
        """Return the margin of R1 or N1: by how many passes the ball's chain is ahead of the best contrary chain."""
        return Margin.part(lead_passes / SURE_LEAD, "direction")

    @staticmethod
    def pocket(sightings: list[Seen]) -> Margin:
        """Return the margin of R3: how far the mean place in the pocket is from the limit `OFF_CENTRE_MAX`."""
        # `sum` is not used: from Python 3.12 on it gives a slightly different number for floats.
        mean = fsum(seen.offset for seen in sightings) / len(sightings)
        return Margin.part(1 - abs(mean) / OFF_CENTRE_MAX, "pocket")

    @staticmethod
    def number(run: Margin | None, sightings: list[Seen], parts_seen: tuple[float, float], strange: float) -> Margin:
        """Return the margin of R1 to R3 for a valid coup. `parts_seen`: the fraction of the ball's passes that the
        beams saw, and the fraction of the readers that saw the ball. `strange`: see `Habit`."""
        slowing = Margin.part((HAND_PART - strange) / (HAND_PART - FREE_PART), "slowing")
        measures = (slowing, Margin.pocket(sightings), *(Margin.part(part, "sight") for part in parts_seen))
        return min(measures if run is None else (run, *measures))

    @staticmethod
    def rotor(tick_interval_us: float, silence_us: int) -> Margin:
        """Return the margin of N4 or N5: how short the time between ticks is, compared with the silence of a stop."""
        return Margin.part(1 - tick_interval_us / silence_us, "rotor")

    @staticmethod
    def early(before_us: int) -> Margin:
        """Return the margin of N2: how long the ball was launched before the table was ready. One second is sure."""
        return Margin.part(before_us / 1e6, "time")


class Evidence(msgspec.Struct, frozen=True, tag_field="kind", tag="evidence"):
    """One fact, the sensing time of what shows it, the few figures that show it, and how sure it is.

    `earliest_us`: the earliest time at which it may have happened. It is given if the source reports the fact late and
    without its time. None if it happened at `evidence_us`.
    """

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None
    earliest_us: int | None = None


@unique
class Topic(Enum):
    """What a question is about."""

    LAUNCH = "was a ball launched?"
    """Pulses came, but too few to prove a launch."""
    UNREPORTED = "was a ball launched, and its head has not reported it yet?"
    """A head reports a launch only a lap later."""
    REST = "is that pocket the number?"
    """A reader saw the ball in a pocket, but not often enough to prove the number (R3)."""
    SAID = "was something said before that?"
    """Words cannot be received now, and some may be on their way (N7)."""


class Question(NamedTuple):
    """One open question. `since_us`: since when the answer may be yes. `until_us`: until when the question is open. If
    there is no answer by then, the answer is no. Without `until_us`, each word waits for the answer for `wait_us`."""

    topic: Topic
    since_us: int
    until_us: int | None = None
    wait_us: int = 0

    def ends_us(self, t_us: int) -> int:
        """Return the time until which a word or a fact, dated `t_us`, waits for the answer."""
        return t_us + self.wait_us if self.until_us is None else self.until_us
