"""What the observer emits, and what it is made of: passes, sightings, facts with their figures and their margin, and
open questions.

Between the first sign of a fact and its proof some time passes: a launch is proven up to a lap after it was made, a
number up to a rotor turn after the ball came to rest. Meanwhile the question is open. What is dated after the first
sign waits for the answer where the answer could change its meaning (`law.waiting` says which, and for how long).
"""

from __future__ import annotations

from enum import Enum, unique
from math import fsum
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from wheeld.core.facts import Fact

Figures: TypeAlias = dict[str, int | float | str]
"""The few numbers that decide, by name; names carry their units."""

Measure: TypeAlias = Literal["laps", "direction", "pocket", "passes", "rotor", "sight", "slowing", "time"]

LOW = 0.2
"""Below this a notice is published: a fifth of a lap, or of what makes a measure sure."""
SURE_LEAD = 6
"""This many passes make a measure sure: passes by which a reading leads every contrary one, or passes that show a weak
launch. In two laps of three beams a stray can spoil five passes. This is one more."""
FREE_PART, HAND_PART = 0.15, 0.18
"""Parts of its speed. In a lap no free ball loses or gains more than the first beside its wheel's habit (4,800 runs of
simulated bowls, tilted and rubbing ones too: 0.149 at most); what takes or gives the second touched it."""

OFF_CENTRE_MAX = 0.40
"""In pockets: nearer to a wall than this the ball isn't lying in a pocket, or the rotor isn't where it is thought."""


class Pass(msgspec.Struct, frozen=True):
    """One pass in a chain: sensing time, beam, and degrees run since the chain's first pass."""

    t_us: int
    beam: int
    turn_deg: float


class Seen(msgspec.Struct, frozen=True):
    """One sighting of the ball in a pocket, placed on the rotor; `offset` in pockets from the centre, `turned_deg` the
    rotor's own angle."""

    t_us: int
    reader: int
    pocket_index: int
    offset: float
    turned_deg: float


class Margin(msgspec.Struct, frozen=True, order=True):
    """How far a verdict was from flipping: 0 on the edge, 1 as sure as the sensors can make it.

    Each verdict rests on a few measures; its margin is the least of them, and names it. A low one is published as a
    notice: the verdict stands, and somebody should look at the wheel, or at how the ball is launched. `value` is 0 to 1
    with three decimals; `of` names the measure.
    """

    value: float
    of: Measure

    @staticmethod
    def part(value: float, of: Measure) -> Margin:
        """`value` held within 0 and 1."""
        return Margin(round(max(0.0, min(1.0, value)), 3), of)

    @staticmethod
    def laps(apart: float) -> Margin:
        """R2, N3: by how many laps it was decided; one is sure. Proven ones count beyond those that R2 asks; short of
        them all that passes suggest, strays too."""
        return Margin.part(apart, "laps")

    @staticmethod
    def run(laps_proven: float | None, laps_needed: float, lead_passes: int | None) -> Margin | None:
        """R1 and R2 of a valid coup; None of a run whose passes nobody measured."""
        if laps_proven is None or lead_passes is None:
            return None
        return min(Margin.laps(laps_proven - laps_needed), Margin.direction(lead_passes))

    @staticmethod
    def direction(lead_passes: int) -> Margin:
        """R1, N1: passes by which the ball's reading leads the best one the other way."""
        return Margin.part(lead_passes / SURE_LEAD, "direction")

    @staticmethod
    def pocket(sightings: list[Seen]) -> Margin:
        """R3: the mean place of the sightings in the pocket, and how far it was from the limit `OFF_CENTRE_MAX`."""
        # Not `sum`: of floats it gives other bytes from Python 3.12 on.
        mean = fsum(seen.offset for seen in sightings) / len(sightings)
        return Margin.part(1 - abs(mean) / OFF_CENTRE_MAX, "pocket")

    @staticmethod
    def number(run: Margin | None, sightings: list[Seen], parts_seen: tuple[float, float], strange: float) -> Margin:
        """R1 to R3 of a valid coup. `parts_seen`: how much of what beams and readers should have seen they saw; what
        nobody missed is as sure as can be. `strange`: `Habit.strange`."""
        slowing = Margin.part((HAND_PART - strange) / (HAND_PART - FREE_PART), "slowing")
        measures = (slowing, Margin.pocket(sightings), *(Margin.part(part, "sight") for part in parts_seen))
        return min(measures if run is None else (run, *measures))

    @staticmethod
    def rotor(tick_interval_us: float, silence_us: int) -> Margin:
        """N4, N5: the time from tick to tick, compared with the silence that proves a stop. The shorter, the surer."""
        return Margin.part(1 - tick_interval_us / silence_us, "rotor")

    @staticmethod
    def early(before_us: int) -> Margin:
        """N2: how long before the table was ready the ball was launched; a second is sure."""
        return Margin.part(before_us / 1e6, "time")


class Evidence(msgspec.Struct, frozen=True, tag_field="kind", tag="evidence"):
    """One fact, the sensing time of what shows it, the few figures that show it, and how sure it is.

    `earliest_us`: it may have happened as early as this, because its source reports it later and does not say when;
    None when it happened at `evidence_us`.
    """

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None
    earliest_us: int | None = None


@unique
class Topic(Enum):
    """What is not known yet."""

    LAUNCH = "was a ball launched?"
    """Pulses came, too few to prove a launch."""
    UNREPORTED = "was a ball launched, and its head has not reported it yet?"
    """A head reports a launch only a lap later."""
    REST = "is that pocket the number?"
    """A reader saw the ball in a pocket, not often enough to prove the number (R3)."""
    SAID = "was something said before that?"
    """Nobody can be heard, and words may be on their way (N7)."""


class Question(NamedTuple):
    """One open question: since when the answer may be yes, and until when it is open; without an answer until then the
    answer is no. `wait_us`, where there is no such time: how long each word waits for the answer."""

    topic: Topic
    since_us: int
    until_us: int | None = None
    wait_us: int = 0

    def ends_us(self, t_us: int) -> int:
        """Until when what is dated `t_us` waits for the answer."""
        return t_us + self.wait_us if self.until_us is None else self.until_us
