"""Where the one ball of the table is, as sensors and people have reported it. This state has the same form for all
kinds of sensors.

A run that belongs to no coup is forgotten, but its ball still runs and falls. Until it rests, nobody may open the bets
(docs/rulebook.md 6).

A reader sees a lying ball at least once while the rotor turns by the widest gap between two readers. If the rotor has
turned farther and no reader has seen the ball, somebody has taken it. A fast rotor shows this sooner. A rotor that
stands still never shows it. With one reader it takes at most 5.5 s at 12 turns a minute, and 3.3 s at 20. With three
readers it takes 2.1 s and 1.3 s.

This module also has the run of the ball, the protocols of the observer's parts, and what ball and rotor prove
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
"""`LAUNCH_FACTS`, `DIRECTION_FACTS`, `ROTOR_FACTS`: a run reports at most one fact of each group, and only once."""


@unique
class Phase(Enum):
    """The progress of a run."""

    NONE = "none"  # no ball runs; passes too few to prove a launch may be kept until a reader sees it lie
    SUSPECTED = "suspected"  # pulses came that may still prove a launch
    ON_TRACK = "on_track"  # the ball was launched, and is not known to have left the track
    OFF_TRACK = "off_track"  # the launched ball has left the track: it is in a pocket, on an obstacle or in a hand


class Run(msgspec.Struct):
    """One run of the ball as one source sees it: the beams, or a wheel head. Times: sensing clock.

    `launched_us`: None until the launch is known. With beams: the first pass, as it was when the launch was proven.
    With a head: the head's first report of the run.
    `first_us`, `last_us`: the first and the latest pass of the leading chain of passes, even before a launch. None if
    the source sees no passes. A ball that is off the track left it at `last_us`.
    `direction`: the direction of the ball, when it is sure. `opposite`: it was concluded that the ball runs against the
    rotor (R1). `disowned`: the run belongs to no future coup.
    `reported`: the facts that were reported of this run, each once, in order. If a sensor fault is reported in place of
    a fact, that fact counts as reported.
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
        """Forget the run, because it is over. Nothing is known of the next run yet."""
        self.phase = Phase.NONE
        self.launched_us = self.first_us = self.last_us = self.direction = None
        self.opposite = self.disowned = False
        self.reported = []

    def has_reported(self, *facts: Fact) -> bool:
        """Whether one of these facts was reported of this run."""
        return any(map(self.reported.__contains__, facts))

    def report(self, fact: Fact) -> None:
        """Remember that the fact was reported."""
        if fact not in self.reported:
            self.reported.append(fact)

    def report_direction(self, fact: Fact) -> None:
        """Remember that the ball was reported to run with the rotor, or against it."""
        self.report(fact)
        self.opposite = fact is Fact.OPPOSITE_DIRECTION

    def turn(self, direction: Direction) -> None:
        """Take the direction from new evidence. Facts about the direction may be reported again."""
        self.direction = direction
        self.reported = [fact for fact in self.reported if fact not in DIRECTION_FACTS]


class RunRecord(NamedTuple):
    """What the source of a run has measured of it so far.

    `figures`: what evidence of the run contains. `laps`: the laps that passes prove, or that a head counts. None if
    nothing counts them. `lead_passes`: by how many passes the ball's chain is ahead of the best chain in the other
    direction. None if that is not measured. `laps_at_most`: the most laps that the ball may have run, if no beam missed
    it at the beginning and the end of the run. None if nothing counts laps.
    """

    figures: Figures
    laps: float | None
    lead_passes: int | None
    laps_at_most: float | None

    def is_short_of(self, laps_needed: int) -> bool:
        """Whether nothing counts laps, or fewer than `laps_needed` are proven; sums of angles may be 1e-6 too small."""
        return self.laps is None or self.laps < laps_needed - 1e-6

    def may_have(self, laps_needed: int) -> bool:
        """Whether the ball may have run `laps_needed` laps, proven or not."""
        return self.laps_at_most is None or self.laps_at_most >= laps_needed


class BallPart(Protocol):
    """The ball on its track: `BallFromBeams` or `BallFromHead`."""

    @property
    def run(self) -> Run:
        """The run in progress. It is always the same object, which is cleared when a run is over."""
        ...

    @property
    def counters(self) -> dict[str, int]:
        """How many pulses had no effect since the start."""
        ...

    def record(self) -> RunRecord:
        """What was measured of the run."""
        ...

    def disown(self) -> None:
        """Remember that the run in progress belongs to no future coup, so that it does not hide the next launch."""
        ...


class RotorPart(Protocol):
    """The turning rotor: `RotorFromEncoder` or `RotorFromHead`. The defaults are for a part without encoder edges."""

    @property
    def direction(self) -> Direction | None:
        """The rotor's direction. None while it does not turn, or if it is not known."""
        ...

    @property
    def is_standing(self) -> bool:
        """Whether the rotor stands still, as far as it was observed. True if it was never observed."""
        ...

    @property
    def may_turn_back(self) -> bool:
        """Whether the latest edges show that somebody may just have reversed the rotor."""
        return False

    @property
    def was_seen_turning(self) -> bool:
        """Whether the rotor was observed to turn since the launch."""
        ...

    def rpm(self, at_us: int) -> float | None:
        """Return the speed without sign, in turns per minute. None if it is not known."""
        ...

    def angle_deg(self, at_us: int) -> float | None:  # noqa: ARG002  by default the angle is not known
        """Return the angle of the middle of pocket zero, in degrees clockwise, 0 to 360. None if it is not known."""
        return None

    def stop_margin(self) -> Margin | None:
        """Return how sure a stop is. None if that is not measured."""
        return None


class Conclusions:
    """Concludes what ball and rotor prove together, for the run that the ball part follows: each fact once in a run."""

    def __init__(self, setting: TableSetting, ball: BallPart, rotor: RotorPart) -> None:
        self._ball, self._rotor, self._run = ball, rotor, ball.run
        self._one_way = setting.rotor_direction

    def directions(self, t_us: int) -> list[Evidence]:
        """Conclude R1 when both directions are known. On a fair wheel, check the rotor's direction first (A7)."""
        run, configured = self._run, self._one_way
        if run.launched_us is None or (configured is None and Fact.OPPOSITE_DIRECTION in run.reported):
            return []  # most encoder edges end here
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
            return []  # a hand may just have reversed the rotor: the next edges show it, and N1 can't be taken back
        fact = Fact.SAME_DIRECTION if ball == rotor else Fact.OPPOSITE_DIRECTION
        run.report_direction(fact)
        record = self._ball.record()
        figures: Figures = {"ball_direction": ball, "rotor_direction": rotor, **record.figures}
        sure = None if record.lead_passes is None else Margin.direction(record.lead_passes)
        return [Evidence(fact, run.first_us or t_us, figures, sure)]

    def rotor_stopped(self, last_us: int | None, *, may_lie_unseen: bool = False) -> list[Evidence]:
        """Conclude N4 or N5: the rotor stopped, or stopped and turned back. `last_us`: when it was last seen turning,
        None if never. If the ball may lie in a pocket that no reader has seen (`may_lie_unseen`), only people know
        whether the coup is void or has its number (R3b)."""
        run = self._run
        if run.launched_us is None or run.has_reported(*ROTOR_FACTS):
            return []
        if last_us is None:
            # The fault is reported in place of a stop. It counts as a stop, so that it is reported only once in a run.
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
"""The end of a fall is awaited no longer than this, even if the rotor is so slow that readers need more time."""
HEAD_RUN_US_MAX = 120_000_000
"""No ball runs for two minutes. If a head reports one for longer, it sees something else."""
SLACK_POCKETS = 2
"""This many pockets are added to the widest gap between readers: a reader sees the ball up to half a pocket early or
late, and the next edge may come a pocket later. If a reader misses the ball once, people get a useless warning. A
missing warning could cost a coup."""
LYING_SIGHTINGS = 2
"""If the ball was seen this often in one pocket, it lies there. A single sighting may be a bounce."""
RETURNS = 2
"""No fallen ball comes back to a pocket that it left. If it is seen there again once, the sighting in between may have
been a reflection. If the ball comes back `RETURNS` times, there are two balls."""


@unique
class Where(Enum):
    """The place of the ball."""

    LIES = "lies"  # no launched ball is on its way, or no ball was seen yet
    TAKEN = "taken"  # the ball was taken from the pocket where readers saw it lie, and no reader has seen it since
    RUNS = "runs"  # the ball is on the track
    FALLS = "falls"  # the ball left the track a short time ago, and no reader has seen it at rest yet
    UNSEEN = "unseen"  # the ball left the track too long ago for a fall: it is on an obstacle, or in a hand


class Ball(msgspec.Struct):
    """What is remembered of the ball.

    `until_us`: when a ball that falls, or that a head reports as running, will be at rest. Otherwise None. `pocket`:
    where it was last known to lie: the pocket that readers have proven, or that a person answered for. At a start it is
    the pocket of the last number, where the ball belongs. None since a launch. `carried`: a hand has the ball (readers
    that should have seen it did not), or may have it (no daemon was running).

    `doubt`: since a gap in the encoder's reports it is in doubt whether the pockets are still in the same place.
    `unmet`: readers have not seen the ball since the gap. If they see it where it lay, the doubt ends. `astray`: they
    saw it elsewhere, or it was launched. `before_gap`: the pocket where it lay before, or that a person has named
    since.

    `seen_in`: the pocket where readers saw it lie, None if they have not. `unseen_deg`: how far the rotor has turned
    since the latest sighting, or since it began to turn.

    For a fallen ball: `met`: the pockets where readers saw it, in order. `rested_in`: the first of these in which it no
    longer bounced. `glimpse`: a single sighting in a pocket where no reader saw the ball again.
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

    # --- the ball's run and fall --------------------------------------------------------------------------------------

    def launch(self) -> None:
        """Remember that a launch was proven: the ball lies in no pocket. If it is in doubt whether the pockets are
        still in the same place, the ball's next pocket does not end this doubt."""
        self.note_elsewhere()
        self.pocket = self.seen_in = self.rested_in = self.glimpse = None
        self.met, self.carried = [], False

    def run(self, until_us: int | None = None) -> None:
        """Remember that the ball is on the track."""
        self.where, self.until_us = Where.RUNS, until_us

    def fall(self, until_us: int | None) -> None:
        """Remember that the ball is off the track, or can't be seen there. At `until_us` it will be at rest."""
        self.where, self.until_us = Where.FALLS, until_us

    def miss(self) -> None:
        """Remember that the ball was not seen at rest in time: it lies on an obstacle, or it is in a hand."""
        self.where, self.until_us = Where.UNSEEN, None

    def settle(self) -> None:
        """Remember that no fallen ball is on its way any more: a person answers for it, or a new launch is awaited."""
        if self.where in (Where.FALLS, Where.UNSEEN):
            self.rest()

    def rest(self) -> None:
        """Remember that the ball is at rest, or that there was no run."""
        self.where, self.until_us = Where.LIES, None

    def meet(self, pocket: int) -> bool:
        """Remember that readers saw the fallen ball in `pocket`. Return False if they saw it there before, too."""
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
        """Whether the fallen ball rested in another pocket before, or came back to a pocket that it had left."""
        return self.rested_in not in (None, pocket) or self.returns > 0

    # --- the ball at rest ---------------------------------------------------------------------------------------------

    def see(self, sightings: list[Seen]) -> None:
        """Remember that a reader saw the ball, so it is in no hand. `sightings`: the latest sightings in one pocket."""
        self.unseen_deg = 0.0
        if self.where is Where.TAKEN:
            self.rest()
        if len(sightings) >= LYING_SIGHTINGS:
            self.seen_in = sightings[-1].pocket_index

    def turn(self, points: list[tuple[int, float]], begun_us: int, limit_deg: float) -> int | None:
        """Remember that the rotor has turned to the last of these points. `begun_us`: when it last began to turn. A
        reader sees a lying ball before the rotor has turned by `limit_deg`. If it has turned farther, somebody took the
        ball. Return the pocket from which it was taken. None if it was not taken, or if readers had seen it in no
        pocket."""
        # After a stop, a reversal or lost edges, the ball may be anywhere between two readers.
        is_begin = points[-1][0] == begun_us
        self.unseen_deg = 0.0 if is_begin else self.unseen_deg + abs(points[-1][1] - points[-2][1])
        if self.unseen_deg <= limit_deg:
            return None
        pocket, self.seen_in = self.seen_in, None
        self.carried = True
        if pocket is not None and self.where is Where.LIES:  # if the ball falls, nobody took it: it has bounced
            self.where = Where.TAKEN
        return pocket

    def note_gap(self) -> None:
        """Note a gap in the encoder's reports. What a hand did with the ball before the gap no longer counts."""
        if self.doubt is None:
            self.doubt, self.before_gap = "unmet", self.pocket
        self.carried, self.rested_in = False, None

    def note_elsewhere(self) -> None:
        """Remember that the ball lies in another pocket, or was launched. After a gap, nobody knows whether a hand
        brought it there, or whether the pockets moved."""
        self.doubt = self.doubt and "astray"

    def take_word(self, pocket: int, seen_in: int | None, *, by_eye: bool) -> None:
        """Remember that the ball lies in `pocket`, because a person answers for this or because it belongs there. This
        has no effect while the ball is on its way. If a pocket is known since the launch, it has an effect only if
        readers see the ball in `pocket` now (`seen_in`).

        A person who has looked (`by_eye`), or who has brought the ball, knows the pocket, whatever the encoder shows.
        If readers also see the ball there, the doubt after a gap ends. If only readers see it there, the doubt stays.
        """
        if self.where not in (Where.LIES, Where.TAKEN) or (self.pocket is not None and seen_in != pocket):
            return
        self.pocket = pocket
        was_brought = self.carried or self.rested_in not in (None, pocket)
        if by_eye or (was_brought and seen_in == pocket):
            self.before_gap = pocket
            self.doubt = "unmet" if self.doubt is not None and seen_in != pocket else None
