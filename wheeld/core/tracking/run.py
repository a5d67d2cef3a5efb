"""One run of the ball: how far it has come, what is known of it, and which facts were reported of it."""

from __future__ import annotations

from enum import Enum, unique
from typing import NamedTuple

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import Direction
from wheeld.core.tracking.evidence import Figures

LAUNCH_FACTS = (Fact.LAUNCHED, Fact.LAUNCH_UNSEEN)
DIRECTION_FACTS = (Fact.SAME_DIRECTION, Fact.OPPOSITE_DIRECTION)
ROTOR_FACTS = (
    Fact.ROTOR_WRONG_WAY,
    Fact.ROTOR_STOPPED_RUNNING,
    Fact.ROTOR_STOPPED_BEFORE_DROP,
    Fact.ROTOR_STOPPED_IN_FALL,
)
"""These are three groups of facts. A run reports at most one fact of each group, once."""


@unique
class Phase(Enum):
    """How far a run has come."""

    NONE = "none"  # no ball runs; passes too few for a launch may be kept until a reader sees where the ball lies
    SUSPECTED = "suspected"  # pulses came that may yet prove a launch
    ON_TRACK = "on_track"  # launched, and not known to have left the track
    OFF_TRACK = "off_track"  # launched, and gone from the track: into a pocket, onto an obstacle or into a hand


class Run(msgspec.Struct):
    """One run of the ball as one source sees it: the beams, or a wheel head. Times: sensing clock.

    `launched_us`: None until the launch is known. By beams, it is the first pass, as it was when the launch was proven.
    By a head, it is the head's first report of the run.
    `first_us`, `last_us`: the first and the latest pass of the leading reading of the pulses, also before a launch.
    They are None if the source sees no passes. A ball that is off the track left it at `last_us`.
    `direction`: which way the ball runs, once that is sure. `opposite`: it was concluded that the ball runs against the
    rotor (R1). `disowned`: the run belongs to no coup to come.
    `reported`: the facts that were reported of this run, each once, in order. Sometimes a sensor fault is reported in
    place of a fact. Then that fact counts as reported.
    """

    phase: Phase = Phase.NONE
    launched_us: int | None = None
    first_us: int | None = None
    last_us: int | None = None
    direction: Direction | None = None
    opposite: bool = False
    disowned: bool = False
    reported: list[Fact] = msgspec.field(default_factory=list)

    def clear(self) -> None:
        """The run is over: nothing is known of the next one."""
        self.phase = Phase.NONE
        self.launched_us = self.first_us = self.last_us = self.direction = None
        self.opposite = self.disowned = False
        self.reported = []

    def has_reported(self, *facts: Fact) -> bool:
        """Whether one of these was reported of this run."""
        return any(map(self.reported.__contains__, facts))

    def report(self, fact: Fact) -> None:
        """Note that the fact was reported."""
        if fact not in self.reported:
            self.reported.append(fact)

    def report_direction(self, fact: Fact) -> None:
        """Note that the ball was reported to run with the rotor, or against it."""
        self.report(fact)
        self.opposite = fact is Fact.OPPOSITE_DIRECTION

    def turn(self, direction: Direction) -> None:
        """The ball runs that way, by new evidence: what was reported of its direction may be reported again."""
        self.direction = direction
        self.reported = [fact for fact in self.reported if fact not in DIRECTION_FACTS]


class RunRecord(NamedTuple):
    """What the source of a run has measured of it so far.

    `figures`: what evidence of the run carries. `laps`: proven by passes, or as a head counts them; None where nobody
    counts. `lead_passes`: by how many passes its direction leads the other one; None where that is not measured.
    `laps_at_most`: what the ball can have run if nothing missed it where the run began and ended; None where nobody
    counts.
    """

    figures: Figures
    laps: float | None
    lead_passes: int | None
    laps_at_most: float | None

    def is_short_of(self, laps_needed: int) -> bool:
        """Whether fewer laps are proven, or none are counted. Sums of angles lose the last digits of a lap."""
        return self.laps is None or self.laps < laps_needed - 1e-6

    def may_have(self, laps_needed: int) -> bool:
        """Whether the ball may have run so many laps, proven or not."""
        return self.laps_at_most is None or self.laps_at_most >= laps_needed
