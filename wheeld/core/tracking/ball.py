"""Where the one ball of the table is, by all that was seen and said: one state, whichever sensors show it.

A run is forgotten when it belongs to no coup; its ball goes on running and falling all the same. While it does, nobody
may be asked to bet (docs/rulebook.md 6).

A lying ball is met by a reader at least once while the rotor turns by the widest gap between two readers. So whether it
was taken is measured in degrees of the rotor, not in time: a rotor that is spun up shows it sooner, and one that stands
shows nothing. From the pick-up one reader needs at most 5.5 s at 12 turns a minute, and 3.3 s at 20; three readers need
2.1 s and 1.3 s.

First stands one run of the ball, what the observer asks of its three parts, and what follows from ball and rotor
together.
"""

from __future__ import annotations

from enum import Enum, unique
from typing import Literal, NamedTuple, Protocol

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import Direction
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.evidence import Evidence, Figures, Margin, Seen

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

    def angle_deg(self, at_us: int) -> float | None:  # noqa: ARG002  a part knows nothing by default
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


FALL_US_MAX = 30_000_000
"""No fall is awaited for longer, however slowly the rotor turns its pockets past a reader."""
HEAD_RUN_US_MAX = 120_000_000
"""No ball runs for two minutes. A head that reports one for longer sees something else."""
SLACK_POCKETS = 2
"""Beyond the gap: a reader sees the ball up to half a pocket early or late, and an edge comes up to a pocket after it.
A reader that misses the ball once gives a warning that was not needed. That costs a look; a warning that is missing
costs a coup."""
LYING_SIGHTINGS = 2
"""Seen so often in one pocket, the ball lies there: one sighting may be a bounce."""
RETURNS = 2
"""No fallen ball comes back to a pocket that it left. Seen there again once it may have been a glint that came between;
so often they are two balls."""


@unique
class Where(Enum):
    """Where the ball is."""

    LIES = "lies"  # no launched ball is on its way, or nobody has seen one
    TAKEN = "taken"  # from the pocket where readers saw it lie, and they have not seen it since
    RUNS = "runs"  # on the track
    FALLS = "falls"  # off the track for no longer than a fall takes, and not seen at rest
    UNSEEN = "unseen"  # off the track for longer, and seen in no pocket: on an obstacle, or in a hand


class Ball(msgspec.Struct):
    """What is remembered of it.

    `until_us`: until when a ball that falls, or runs by a head's report, will be at rest; None of any other.
    `pocket`: where it was last known to lie: the pocket that readers have proven, or the one that a person answered
    for. At a start it is the pocket of the last number, where the ball belongs. None since a launch. `carried`: since
    then readers that should have met it did not, so that a hand has it; or a hand may, because no daemon watched.

    `doubt`: whether the pockets stand where they stood, since a gap in what the encoder reports. `unmet`: readers have
    not met it where it lay, which would show that they do; `astray`: they met it elsewhere, or it was launched.
    `before_gap`: where it lay, or the pocket that a person named since.

    `seen_in`: the pocket where readers saw it lie; None while they have not. `unseen_deg`: how far the rotor has turned
    since the latest sighting, or since it began to turn.

    Of a fallen ball, `met`: the pockets where readers saw it, in order. `rested_in`: the first of them where they saw
    that it bounced no more. `glimpse`: the one sighting in a pocket where no reader met it again.
    """

    where: Where = Where.LIES
    until_us: int | None = None
    pocket: int | None = None
    carried: bool = False
    doubt: Literal["unmet", "astray"] | None = None
    before_gap: int | None = None
    seen_in: int | None = None
    unseen_deg: float = 0.0
    met: list[int] = msgspec.field(default_factory=list)
    rested_in: int | None = None
    glimpse: Seen | None = None

    # --- its run and its fall -----------------------------------------------------------------------------------------

    def launch(self) -> None:
        """A launch was proven: it lies in no pocket. Where no reader has met it since a gap, its number will not show
        whether the pockets stand where they stood."""
        self.note_elsewhere()
        self.pocket = self.seen_in = self.rested_in = self.glimpse = None
        self.met, self.carried = [], False

    def run(self, until_us: int | None = None) -> None:
        """It is on the track."""
        self.where, self.until_us = Where.RUNS, until_us

    def fall(self, until_us: int | None) -> None:
        """It is off the track, or nobody sees any more whether it is on it; until then it will be at rest."""
        self.where, self.until_us = Where.FALLS, until_us

    def miss(self) -> None:
        """It was not seen at rest in time: it lies on an obstacle, or a hand has it."""
        self.where, self.until_us = Where.UNSEEN, None

    def settle(self) -> None:
        """No fallen ball is on its way any more: a person answers for it, or another is launched next."""
        if self.where in (Where.FALLS, Where.UNSEEN):
            self.rest()

    def rest(self) -> None:
        """It rests, or its run was none."""
        self.where, self.until_us = Where.LIES, None

    def meet(self, pocket: int) -> bool:
        """Readers saw the fallen ball there; True if they saw it elsewhere, or nowhere, before."""
        if pocket in self.met[-1:]:
            return False
        self.met.append(pocket)
        return True

    @property
    def returns(self) -> int:
        """How often the fallen ball was seen again in a pocket that it had left."""
        return len(self.met) - len({*self.met})

    @property
    def are_two(self) -> bool:
        """Whether two balls were seen to fall."""
        return self.returns >= RETURNS

    def was_elsewhere(self, pocket: int | None) -> bool:
        """Whether the fallen ball rested in another pocket before, or came back to one that it had left."""
        return self.rested_in not in (None, pocket) or self.returns > 0

    # --- at rest ------------------------------------------------------------------------------------------------------

    def see(self, sightings: list[Seen]) -> None:
        """A reader saw it; `sightings`: the latest ones in one pocket. A ball that was seen is in no hand."""
        self.unseen_deg = 0.0
        if self.where is Where.TAKEN:
            self.rest()
        if len(sightings) >= LYING_SIGHTINGS:
            self.seen_in = sightings[-1].pocket_index

    def turn(self, points: list[tuple[int, float]], limit_deg: float) -> int | None:
        """The rotor has turned on to the last of these points, and some reader meets a lying ball within `limit_deg`.
        The pocket from which the ball was taken, once one should have met it. One that readers saw lie nowhere by then
        is in a hand, too."""
        # At its first edge a rotor that stood, or turned back, may be anywhere between the readers.
        self.unseen_deg = 0.0 if len(points) < 2 else self.unseen_deg + abs(points[-1][1] - points[-2][1])
        if self.unseen_deg <= limit_deg:
            return None
        pocket, self.seen_in = self.seen_in, None
        self.carried = True
        if pocket is not None and self.where is Where.LIES:  # one that falls bounced on
            self.where = Where.TAKEN
        return pocket

    def note_gap(self) -> None:
        """Nobody watches the rotor for a while. What readers saw of a hand before shows nothing of one after it."""
        if self.doubt is None:
            self.doubt, self.before_gap = "unmet", self.pocket
        self.carried, self.rested_in = False, None

    def note_elsewhere(self) -> None:
        """It lies in another pocket, or was launched. After a gap nobody knows whether a hand has brought it, or the
        pockets moved."""
        self.doubt = self.doubt and "astray"

    def take_word(self, pocket: int, seen_in: int | None, *, by_eye: bool) -> None:
        """It lies there, by a person who answers for that, or where it belongs. Readers that called another pocket
        since the launch know better, unless they see it there now (`seen_in`). A ball that is on its way lies there no
        more.

        Who has looked (`by_eye`), or has brought it, knows the pocket whatever the encoder shows; readers that meet the
        ball there then end the doubt of a gap. Where it only seems to lie there, nobody has.
        """
        if self.where not in (Where.LIES, Where.TAKEN) or (self.pocket is not None and seen_in != pocket):
            return
        self.pocket = pocket
        was_brought = self.carried or self.rested_in not in (None, pocket)
        if by_eye or (was_brought and seen_in == pocket):
            self.before_gap = pocket
            self.doubt = "unmet" if self.doubt is not None and seen_in != pocket else None
