"""One run of the ball, what the observer asks of its three parts, and what follows from ball and rotor together."""

# ruff: noqa: ARG002  what a part does by default looks at nothing

from __future__ import annotations

from enum import Enum, unique
from typing import NamedTuple, Protocol

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import Direction
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.evidence import Evidence, Figures, Margin

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


class BallPart(Protocol):
    """The ball on its track: `BallFromBeams` or `BallFromHead`."""

    @property
    def run(self) -> Run:
        """The run in progress; the same structure always, cleared when a run is over."""
        ...

    @property
    def counters(self) -> dict[str, int]:
        """Pulses that count for nothing, since the start."""
        ...

    def record(self) -> RunRecord:
        """What was measured of the run."""
        ...

    def disown(self) -> None:
        """The run in progress belongs to no coup to come: it must not hide the next launch."""
        ...


class RotorPart(Protocol):
    """The turning rotor: `RotorFromEncoder` or `RotorFromHead`. What only edges show is not known, unless a part says
    otherwise."""

    @property
    def direction(self) -> Direction | None:
        """Which way it turns; None while it stands, or is not known."""
        ...

    @property
    def is_standing(self) -> bool:
        """Whether it is known to stand, or not known to turn."""
        ...

    @property
    def may_turn_back(self) -> bool:
        """Whether the latest edges show that it may just have been turned round."""
        return False

    @property
    def was_seen_turning(self) -> bool:
        """Whether it was observed to turn since the launch."""
        ...

    def rpm(self, at_us: int) -> float | None:
        """Speed without sign, turns per minute; None when not known."""
        ...

    def angle_deg(self, at_us: int) -> float | None:
        """Where the middle of pocket zero stands, degrees clockwise, 0 to 360; None when not known."""
        return None

    def stop_margin(self) -> Margin | None:
        """How sure a stop is; None where that is not measured."""
        return None


class Conclusions:
    """Draws them for the run that the ball part follows, each once a run."""

    def __init__(self, setting: TableSetting, ball: BallPart, rotor: RotorPart) -> None:
        self._ball, self._rotor, self._run = ball, rotor, ball.run
        self._one_way = setting.rotor_direction

    def directions(self, t_us: int) -> list[Evidence]:
        """R1, as soon as both directions are known; on a fair wheel the rotor's own first (A7)."""
        run, configured = self._run, self._one_way
        if run.launched_us is None or (configured is None and Fact.OPPOSITE_DIRECTION in run.reported):
            return []  # as at most edges of an encoder
        ball = None if run.has_reported(*DIRECTION_FACTS) else run.direction
        rotor = None if ball is None and configured is None else self._rotor.direction
        if rotor is None:
            return []
        if configured is not None and rotor != configured and not run.has_reported(*ROTOR_FACTS):
            run.report(Fact.ROTOR_WRONG_WAY)
            return [Evidence(Fact.ROTOR_WRONG_WAY, t_us, {"rotor_direction": rotor, "configured": configured})]
        if ball is None:
            return []
        if ball == rotor and self._rotor.may_turn_back:
            return []  # a hand may just have turned it round: its next edges show it, and N1 can't be taken back
        return [self._compare(t_us, ball, rotor)]

    def _compare(self, t_us: int, ball: Direction, rotor: Direction) -> Evidence:
        fact = Fact.SAME_DIRECTION if ball == rotor else Fact.OPPOSITE_DIRECTION
        self._run.report_direction(fact)
        record = self._ball.record()
        figures: Figures = {"ball_direction": ball, "rotor_direction": rotor, **record.figures}
        sure = None if record.lead_passes is None else Margin.direction(record.lead_passes)
        return Evidence(fact, self._run.first_us or t_us, figures, sure)

    def rotor_stopped(self, last_us: int | None, *, may_lie_unseen: bool = False) -> list[Evidence]:
        """N4, N5: the rotor stopped, or stopped and turned back; it was last seen turning at `last_us`. If the ball
        `may_lie_unseen` in a pocket, only people know whether the coup is void or has its number (R3b)."""
        run = self._run
        if run.launched_us is None or run.has_reported(*ROTOR_FACTS):
            return []
        if last_us is None:
            # The fault is reported in place of a stop. It counts as one, so that it is reported once a run.
            run.report(Fact.ROTOR_STOPPED_RUNNING)
            silent: Figures = {"sensor": "rotor", "what": "silent_since_start"}
            return [Evidence(Fact.SENSOR_FAULT, run.launched_us, silent)]
        last_pass_us = run.last_us or 0
        running = run.phase is Phase.ON_TRACK or last_pass_us > last_us
        fact = Fact.ROTOR_STOPPED_RUNNING if running else Fact.ROTOR_STOPPED_BEFORE_DROP
        figures: Figures = {"last_tick_us": last_us, "last_pass_us": last_pass_us}
        if not running and may_lie_unseen and run.opposite:
            fact, figures = Fact.ROTOR_STOPPED_IN_FALL, {**figures, **self._ball.record().figures, "unproven": "R3"}
        run.report(fact)
        return [Evidence(fact, last_us, figures, self._rotor.stop_margin())]
