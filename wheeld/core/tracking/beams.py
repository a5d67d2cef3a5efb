"""The ball on its track, as beams of our own see it. Their pulses show a launch, a direction, proven laps, and when the
ball has left the track.

One pulse proves nothing. A *chain* is one way to read the pulses, for one direction: as passes of a ball that slows
down as balls do. Every pulse may begin chains. A chain takes each pulse that agrees with its speed, and ignores the
others. A stray is a pulse that the chain of the running ball does not take. The chain with the most passes leads, even
if it began later.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import Direction
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.ball import Phase, Run, RunRecord
from wheeld.core.tracking.evidence import HAND_PART, SURE_LEAD, Evidence, Figures, Margin, Pass
from wheeld.core.tracking.forecast import LEFT_REV_S_MAX, Forecast, Habit, forecast
from wheeld.core.tracking.sight import Sight

LEAVE_REV_S = 0.38
"""Recorded balls leave the track at 0.43–0.50 laps/s. Between two passes no ball is slower than this."""
HOP_REV_S_MAX = 4.0
"""The highest mean speed between two passes. No hand launches so fast: recorded balls run at most 2.6 laps/s."""
SLOWING_REV_S2 = 0.22
SLOWING_PER_REV = 0.08
"""The hardest slowing of a ball, in laps/s²: a constant part, and a factor of speed². Recorded balls reach 0.27 between
1.0 and 0.6 laps/s, where many of them rub against the track, and 0.4 at 1.8."""
SPEED_SLACK = 0.07
PASS_JITTER_US = 8_000
"""How far the speed of a hop may be from the speed that the slowing gives. `SPEED_SLACK`: a fraction of the speed, for
tilt and beams that are not exactly in place. `PASS_JITTER_US`: for the jitter of the hop's two pulses."""
TIGHT_SLACK = 0.03
TIGHT_JITTER_US = 2_000
"""Like `SPEED_SLACK` and `PASS_JITTER_US`, but for decisions by only three passes. At the speed of a launch, a tilt of
0.3° changes a hop by less than 1 %. A beam that is mounted one degree off changes it by 1 %."""


class Chain(msgspec.Struct):
    """Pulses, read as the passes of one ball. `skipped`: how many beams missed the ball if this chain is right. `left`:
    how many later pulses are not among its passes."""

    direction: Direction
    passes: list[Pass]
    skipped: int = 0
    left: int = 0

    @property
    def score(self) -> int:
        """The score of this chain: its passes, minus the passes that beams should have seen but did not."""
        return len(self.passes) - self.skipped

    def proven_deg(self, strays: int) -> float:
        """Return the degrees that the ball certainly ran, even if any of the pulses, up to `strays`, were strays (R2).

        A stray before the launch looks like a first pass, and a stray after the ball has gone looks like a last pass.
        The strays may all be at one end, or some at each end. The result is the shortest span of passes that can remain
        without them. Without this rule, with two beams, one short run in six would get a lap from a stray. Passes at
        the beginning do not count while the ball becomes faster, because it was still in the hand.
        """
        # Begin at the first pass after which the ball does not become faster: only the launching hand makes it faster.
        passes, first = self.passes, max(0, len(self.passes) - 2)
        for at in range(len(passes) - 2):
            one, middle, third = passes[at : at + 3]
            slack = TIGHT_SLACK + TIGHT_JITTER_US * (1 / (middle.t_us - one.t_us) + 1 / (third.t_us - middle.t_us))
            if hop_rev_s(middle, third) <= hop_rev_s(one, middle) * (1 + slack):
                first = at
                break
        if len(passes) - first <= strays:
            return 0.0
        return min(passes[-1 - strays + at].turn_deg - passes[first + at].turn_deg for at in range(strays + 1))

    @property
    def last_us(self) -> int:
        """The time of the latest pass."""
        return self.passes[-1].t_us

    @property
    def first_us(self) -> int:
        """The time of the first pass."""
        return self.passes[0].t_us

    def speed_rev_s(self) -> float | None:
        """Return the mean speed of the last hop. None before the second pass."""
        if len(self.passes) < 2:
            return None
        return hop_rev_s(self.passes[-2], self.passes[-1])

    def follows(self, turn_deg: float, t_us: int) -> bool:
        """Whether a ball that slows as balls do could have run `turn_deg` between the last pass and `t_us`."""
        hop_us = t_us - self.last_us
        speed = rev_s(turn_deg, hop_us)
        if not LEAVE_REV_S <= speed <= HOP_REV_S_MAX:
            return False
        before = self.speed_rev_s()
        if before is None:
            return True
        slack = SPEED_SLACK + PASS_JITTER_US / hop_us + PASS_JITTER_US / (self.last_us - self.passes[-2].t_us)
        between_s = (t_us - self.passes[-2].t_us) / 2e6
        return (before - _slowing(before) * between_s) * (1 - slack) <= speed <= before * (1 + slack)

    def is_tight(self) -> bool:
        """Whether the first three passes agree as closely as passes of one ball do."""
        first, middle, third = self.passes[:3]
        one_us, two_us = middle.t_us - first.t_us, third.t_us - middle.t_us
        before, after = hop_rev_s(first, middle), hop_rev_s(middle, third)
        slack = TIGHT_SLACK + TIGHT_JITTER_US / one_us + TIGHT_JITTER_US / two_us
        slowest = before - _slowing(before) * (one_us + two_us) / 2e6
        return slowest * (1 - slack) <= after <= before * (1 + slack)

    def off_forecast(self, turn_deg: float, t_us: int) -> float:
        """Return how far the speed of a next hop (`turn_deg`, until `t_us`) is from the expected one, in laps/s."""
        before = self.speed_rev_s() or 0.0
        between_s = (t_us - self.passes[-2].t_us) / 2e6
        return abs(rev_s(turn_deg, t_us - self.last_us) - before + _slowing(before) / 2 * between_s)


class Beams:
    """The places of the beams on the track, and the gaps between them in the ball's direction.

    A beam keeps its number when another beam is left out. Only beams in use count: `count` is their number.
    """

    def __init__(self, beams_deg: tuple[float, ...]) -> None:
        self._ahead_deg: dict[Direction, list[list[float]]] = {
            "cw": [[(other - beam) % 360 or 360.0 for other in beams_deg] for beam in beams_deg],
            "ccw": [[(beam - other) % 360 or 360.0 for other in beams_deg] for beam in beams_deg],
        }
        self.use([*range(len(beams_deg))])

    def use(self, beams: list[int]) -> None:
        """Use only these beams from now on."""
        self.left, self.count = beams, len(beams)
        self._in_order = {way: [sorted(row[k] for k in beams) for row in rows] for way, rows in self._ahead_deg.items()}

    def ahead_deg(self, beam: int, other: int, direction: Direction) -> float:
        """Return the degrees from `beam` to `other` in the ball's direction, in (0, 360]."""
        return self._ahead_deg[direction][beam][other]

    def between(self, beam: int, other: int, direction: Direction) -> int:
        """Return how many beams are between `beam` and `other`, in this direction."""
        return bisect_left(self._in_order[direction][beam], self._ahead_deg[direction][beam][other] - 1e-9)

    def behind_deg(self, beam: int, direction: Direction) -> float:
        """Return the degrees from the previous beam to `beam`, in this direction."""
        return self.nth_ahead_deg(beam, 0, "ccw" if direction == "cw" else "cw")

    def widest_deg(self, skipped: int) -> float:
        """Return the largest angle from a beam to the one that follows after `skipped` others, in either direction."""
        ways: tuple[Direction, Direction] = ("cw", "ccw")
        return max(self.nth_ahead_deg(beam, skipped, way) for way in ways for beam in self.left)

    def nth_ahead_deg(self, beam: int, skipped: int, direction: Direction) -> float:
        """Return the angle from `beam` to the beam that follows after `skipped` others, in this direction."""
        return self._in_order[direction][beam][skipped]


def hop_rev_s(before: Pass, last: Pass) -> float:
    """Return the mean speed between two passes, in laps per second."""
    return rev_s(last.turn_deg - before.turn_deg, last.t_us - before.t_us)


def rev_s(turn_deg: float, time_us: int) -> float:
    """Return the speed in laps per second."""
    return turn_deg / 360 / max(time_us, 1) * 1e6


def _slowing(speed_rev_s: float) -> float:
    return SLOWING_REV_S2 + SLOWING_PER_REV * speed_rev_s * speed_rev_s


DOUBLE_PULSE_US = 120_000
"""If two pulses of a beam are closer than this, they are not two passes: no ball runs over 8 laps a second."""
LAUNCH_PASSES = 3
"""How many passes prove a launch: two hops that agree ("several passes at a plausible speed", docs/rulebook.md 6)."""
LEAVE_REV_S_MAX = 0.50
"""Balls leave the track at 0.43–0.50 laps/s. So a ball that is still on the track may come to the next beams at this
speed, however fast it was before. The wait for the next pass never assumes a higher speed."""
FAST_REV_S = 0.65
LOST_US = 1_900_000
"""A ball that is faster than `FAST_REV_S` does not leave the track by itself: beams missed it, or a hand took it. The
verdict waits at least `LOST_US` for a beam to see it again. A fall takes 2.5 s at least, so the verdict still comes
before the ball reaches a pocket (N3)."""
GONE_US = 2_400_000
"""If two beams do not see a slow ball for this time, it has left the track. It may be in a pocket after 2.5 s."""
HAND_DEG = 120.0
"""A hand that puts the ball on the track makes two passes that are closer together than this (docs/rulebook.md 6)."""
WEAK_REV_S_MAX = 0.80
"""In laps/s. A ball that passes two beams and no third is slower than this: it was about to leave the track."""
LAUNCH_REV_S_MIN = 0.90
"""No recorded ball runs its first lap slower than 1.0 laps/s. Three slower passes may be a stray and two passes of a
ball in the other direction, so a fourth pass must decide."""
SURE_PASSES = 4
"""So many passes show the ball's speed well: their chain may continue after a whole lap without a pass."""
OVERTAKE = 2
"""Another chain replaces the one of the run when its score is higher by this much."""
AGAIN_US = 6_000_000
"""If beams see a lost ball again within this time, it ran all the time. Otherwise it was launched again."""
FEW_US = 30_000_000
"""The longest time from a pass to a sighting that this pass may explain: a fall, then three turns of a slow rotor."""
AGAIN_SLACK = 0.15
"""A ball that is found again may seem to be faster by this fraction of its speed, because of jitter and tilt."""
AT_REST_US = 700_000
"""No ball is in a pocket sooner than this after its last pass. In every recorded evening, bounces begin after 0.8 s."""
REST_US = 2_000_000
"""A ball seen in a pocket sooner than this after its last pass still bounces. No recorded ball rested before 2.5 s."""
FALL_US_MIN = 2_500_000
"""No ball of any recorded evening came to rest sooner than this after its last pass."""
FALL_US = 6_000_000
"""The longest time from the last pass to rest in a pocket. In every recorded evening it is 2.5–5 s."""
SILENT_LAPS = 2.0
"""A ball that runs this far passes each beam. A beam that works misses a few passes in a thousand."""
ALONE_PASSES = 4
"""If one beam sees a slowing ball this many times, once in each lap, a ball runs that other beams do not see."""
ALONE_SLOWER = 0.985
"""After a lap, every recorded ball has less than this fraction of its speed left. Things on the rotor slow less."""
CHAINS_MAX = 12
"""The most chains that are kept before a launch. With a hundred times the usual strays, four are in use."""


class BeamsState(msgspec.Struct):
    """What the tracker remembers: the run in progress, and the chains of passes.

    `pulse_us`: the latest pulse of each beam. `earlier_deg`: how far the ball had certainly run before it was lost and
    found again. `earlier_most_deg`: the most that it may have run until it was found. `waiting`: a chain with too few
    passes for a launch, whose next pass never came. If the ball is later seen in another pocket, this chain was its
    launch. `alone`: for each beam, its latest pulses that may be passes of a ball that no other beam sees.
    """

    run: Run = msgspec.field(default_factory=Run)
    chains: list[Chain] = msgspec.field(default_factory=list)
    pulse_us: dict[int, int] = msgspec.field(default_factory=dict)
    earlier_deg: float = 0.0
    earlier_most_deg: float = 0.0
    waiting: Chain | None = None
    alone: dict[int, list[Pass]] = msgspec.field(default_factory=dict)


class Pulse(NamedTuple):
    """What one pulse shows: whether it is a pass of the running ball, or a stray, and whether it proves a launch."""

    in_run: bool
    is_stray: bool
    is_launch: bool


class BallTracker:
    """Follows one ball past `beams_deg`. Everything that it remembers is in `state`. `run` is always the same object.

    `overdue_us`: when the next pass, or a later one with which a chain can still continue, must have come. None while
    no pass is awaited. `counters`: how many pulses had no effect, since the start.
    """

    def __init__(self, beams_deg: tuple[float, ...], state: BeamsState | None = None, *, strays: int = 1) -> None:
        """`strays`: how many pulses may be strays, whichever they are."""
        self._strays, self.counters = strays, {"stray_pulses": 0, "double_pulses": 0}
        self._beams = Beams(beams_deg)
        self.state = state or BeamsState()
        self.run = self.state.run
        self.overdue_us = self._overdue_us()

    def use(self, beams: list[int]) -> None:
        """Use only these beams from now on. No pass is awaited at other beams, and none is missed there."""
        self._beams.use(beams)
        self.overdue_us = self._overdue_us()

    @property
    def _skip_max(self) -> int:
        """The most beams in a row that may miss the ball."""
        return 1 if self._beams.count < 6 else 2

    @property
    def unmet_us_max(self) -> int:
        """The longest time in which no beam sees a ball on the track, if it is slow and one beam misses it."""
        return min(GONE_US, round(self._beams.widest_deg(self._skip_max) / 360 / LEAVE_REV_S * 1e6))

    @property
    def launched(self) -> bool:
        """Whether a run has begun and has not been forgotten yet."""
        return self.run.launched_us is not None

    def suspected_us(self) -> Iterator[tuple[int, int]]:
        """Yield, for each chain that may still prove a launch, its first pulse and the deadline of its next pass."""
        if self.launched and self.run.phase is Phase.ON_TRACK and not self.run.disowned:
            return
        since_us = self.state.chains[0].last_us if self.launched else -1
        for chain in self.state.chains:
            if chain.first_us > since_us:
                yield chain.first_us, self._chain_overdue_us(chain)
        if not self.launched:
            laps = [passes for passes in self.state.alone.values() if len(passes) > 1]
            yield from ((passes[0].t_us, passes[-1].t_us + GONE_US) for passes in laps)

    @property
    def leading(self) -> Chain | None:
        """The running ball's chain: the one with the best score until the direction is known or the ball is off the
        track, after that the first in the list. None without pulses."""
        chains = self.state.chains
        if not chains or self.run.direction is not None or self.run.phase is Phase.OFF_TRACK:
            return next(iter(chains), None)
        able = self._with_a_hop() if self.launched else chains
        return max(able, key=lambda chain: (chain.score, -chain.first_us))

    def record(self) -> RunRecord:
        """Return what was measured of the run. Without a launch, no laps are proven (0)."""
        best, laps, most, lead = self.leading, 0.0, 0.0, 0
        if best is not None and self.launched:
            lead = self._lead_passes(best)
            laps = (self.state.earlier_deg + best.proven_deg(self._strays)) / 360
            last = best.passes[-1]
            most = (self._most_deg(best) + self._beams.nth_ahead_deg(last.beam, 0, best.direction)) / 360
        figures: Figures = {
            "laps_proven": int(laps * 100 + 1e-6) / 100,
            "first_pass_us": self.run.first_us or 0,
            "last_pass_us": self.run.last_us or 0,
        }
        return RunRecord(figures, laps, lead, most)

    def laps_suggested(self, chain: Chain) -> float:
        """Return the laps of the run if all passes of this chain were the ball's, even the first and the last."""
        return (self.state.earlier_deg + chain.passes[-1].turn_deg) / 360

    def _most_deg(self, chain: Chain) -> float:
        """Return how far the ball ran at most, from just after the beam before its first pass to its last pass."""
        begun_deg = self.state.earlier_most_deg or self._beams.behind_deg(chain.passes[0].beam, chain.direction)
        return begun_deg + chain.passes[-1].turn_deg

    def take(self, t_us: int, beam: int) -> Pulse:
        """Take one pulse. Return what it shows."""
        strays = self.counters["stray_pulses"]
        in_run = self._pulse(t_us, beam) or self._find_again()
        is_launch = self._launch() or self._launch_alone(beam)
        self._decide_direction()
        self._follow()
        return Pulse(in_run, self.counters["stray_pulses"] > strays, is_launch)

    def _pulse(self, t_us: int, beam: int) -> bool:
        """Add the pulse to the chains. Return whether the running ball's chain took it. If not, it may be a stray."""
        state = self.state
        previous_us = state.pulse_us.get(beam)
        if previous_us is not None and t_us - previous_us < DOUBLE_PULSE_US:
            self.counters["double_pulses"] += 1
            self._swap_double(t_us, beam)
            return False
        state.pulse_us[beam] = t_us
        # It may be a pass of a ball that no other beam sees: such a ball comes to this beam once in a lap.
        alone = state.alone.get(beam, [])
        if alone and not Chain("cw", alone).follows(360.0, t_us):
            alone = []
        turn_deg = alone[-1].turn_deg + 360 if alone else 0.0
        state.alone[beam] = [*alone[-ALONE_PASSES + 1 :], Pass(t_us, beam, turn_deg)]
        chain = self._running()
        # A lost ball is found again only by several passes (`_find_again`): a single pulse may be a stray.
        open_to = [other for other in state.chains if other is not chain or self.run.phase is Phase.ON_TRACK]
        left = [other for other in open_to if not self._extend(other, t_us, beam)]
        for other in left:
            other.left += 1
        if chain is not None and self.run.phase is Phase.ON_TRACK and not any(other is chain for other in left):
            self._lead(chain)
            return True
        self.counters["stray_pulses"] += chain is not None
        if self._swap_double(t_us, beam):
            return True
        self._seed(t_us, beam)
        if self.run.direction is None:
            return False
        # If another chain has become much better than the run's chain, it is the run's chain from now on.
        own, best = state.chains[0], max(self._with_a_hop(), key=lambda each: each.score)
        if best.score < own.score + OVERTAKE or best.last_us <= own.last_us:
            return False
        self._lead(best)
        self.run.phase = Phase.ON_TRACK
        return True

    def _launch(self) -> bool:
        """Begin a run if the last pulse proves a launch. The new run may replace one whose ball left the track long
        ago. Such a launch makes a coup void, so if three passes might be strays, a fourth must come first."""
        chain = self._fresh()
        if chain is None:
            return False
        if self.launched and not self.run.disowned:
            is_sure = len(chain.passes) >= SURE_PASSES or chain.is_tight()
            if not is_sure or self.run.phase is not Phase.OFF_TRACK or not self._long_gone(chain):
                return False
        rivals = [other for other in self.state.chains if other.first_us >= chain.first_us]
        self.forget()
        self.state.chains = rivals
        self.run.launched_us = chain.first_us
        self.run.phase = Phase.ON_TRACK
        self._lead(chain)
        return True

    def _launch_alone(self, beam: int) -> bool:
        """Begin a run if passes of one beam show that a ball runs, although no chain of all beams proves this (N8)."""
        passes = self.state.alone.get(beam, [])
        if self.launched or len(passes) < ALONE_PASSES:
            return False
        speeds = [hop_rev_s(before, after) for before, after in pairwise(passes)]
        if any(after > ALONE_SLOWER * before for before, after in pairwise(speeds)):
            return False
        self.forget()
        skipped = (len(passes) - 1) * (self._beams.count - 1)
        self.state.chains = [Chain(direction, [*passes], skipped) for direction in ("cw", "ccw")]
        self.run.launched_us = passes[0].t_us
        self.run.phase = Phase.ON_TRACK
        return True

    def _misses_many(self, chain: Chain) -> bool:
        return chain.skipped > self._skip_max * (len(chain.passes) - 1)

    def few_passes(self, at_us: int) -> Chain | None:
        """Return the best chain before `at_us` that has too few passes for a launch, but may be the run of a ball that
        lies in a pocket at `at_us`. None if there is no such chain."""
        if self.launched:
            return None
        waiting = [] if self.state.waiting is None else [self.state.waiting]
        known = [chain for chain in [*self.state.chains, *waiting] if 0 <= at_us - chain.last_us <= FEW_US]
        return max(known, key=lambda chain: (chain.score, -chain.first_us), default=None)

    def is_weak(self) -> bool:
        """Whether pulses that are too few for a launch look like a ball that soon left the track. Two neighbouring
        beams that are farther apart than a hand reaches saw it at the speed of a ball that is about to leave. Strays
        rarely look like this."""
        return not self.launched and any(
            (speed := chain.speed_rev_s()) is not None
            and not chain.skipped
            and chain.passes[-1].turn_deg >= HAND_DEG - 1e-9
            and speed <= WEAK_REV_S_MAX
            for chain in self.state.chains
        )

    def _find_again(self) -> bool:
        """Continue the run of a ball that seemed gone, or that too many beams have missed. This needs as many passes as
        a launch. They must come soon, and in the same direction."""
        chain = self._fresh() if self.launched else None
        if chain is None or self.run.disowned or self._long_gone(chain):
            return False
        lost = self.state.chains[0]
        unseen_deg = (lost.speed_rev_s() or 0.0) * (chain.first_us - lost.last_us) / 1e6 * 360
        self.state.earlier_deg += lost.proven_deg(self._strays)
        self.state.earlier_most_deg = self._most_deg(lost) + unseen_deg
        self.state.chains = [each for each in self.state.chains if each.first_us >= chain.first_us]  # a lap counts once
        self._lead(chain)
        self.run.phase = Phase.ON_TRACK
        return True

    def _decide_direction(self) -> None:
        """Take the direction of the leading chain, if it is enough ahead of all contrary chains. With more than three
        passes it must lead by two, because one may be a stray, and N1 can't be taken back. Three passes must agree
        closely and be as fast as a launch. A stray with two passes of a fast ball, or every second pass of that ball,
        may look like a slow ball in the other direction."""
        chain = self._running()
        if chain is None or chain.direction == self.run.direction or chain.score < LAUNCH_PASSES:
            return
        lead, is_short = self._lead_passes(chain), len(chain.passes) <= LAUNCH_PASSES
        is_ahead = lead > 0 if is_short else lead > 1
        if is_ahead and is_short:
            others = [len(other.passes) for other in self.state.chains if other.direction != chain.direction]
            is_launched = chain.is_tight() and hop_rev_s(*chain.passes[:2]) > LAUNCH_REV_S_MIN
            is_ahead = is_launched and max(others, default=0) < LAUNCH_PASSES
        if is_ahead:
            self.run.turn(chain.direction)
            self._lead(chain)

    def rest(self, t_us: int) -> None:
        """Remember that the ball was seen where it lay. If there was no launch, the pulses just before were strays."""
        kept = [chain for chain in self.state.chains if t_us - chain.last_us >= AT_REST_US]
        if not self.launched and len(kept) < len(self.state.chains):
            self.state.chains = kept
            self.run.phase = self.run.phase if kept else Phase.NONE
            self._follow()

    def note_gone(self) -> None:
        """Remember that the ball is gone from the track. Without a launch no pass is awaited any more."""
        self.run.phase = Phase.OFF_TRACK if self.launched else Phase.NONE
        self._follow()

    def forget(self) -> None:
        """Forget the run, which is over, and all pulses."""
        self.run.clear()
        self.state.chains, self.state.waiting, self.state.alone = [], None, {}
        self.state.earlier_deg = self.state.earlier_most_deg = 0.0
        self.overdue_us = None

    def forget_run(self) -> None:
        """Forget the run, because it is over. Keep pulses that may belong to the next launch. Forget pulses that came
        before this ball could rest: they were its passes, but its chain had taken a stray in place of a pass."""
        if not self.launched:
            return
        since_us = self.state.chains[0].last_us + REST_US
        fresh = [chain for chain in self.state.chains if chain.first_us > since_us]
        self.forget()
        self.state.chains = fresh
        self.run.phase = Phase.SUSPECTED if fresh else Phase.NONE
        self._follow()

    def _follow(self) -> None:
        """After a change of the chains, note the run's first and last pass, and until when the next one is awaited."""
        best = self.leading
        if best is None:
            self.run.first_us = self.run.last_us = None
        else:
            self.run.first_us, self.run.last_us = best.passes[0].t_us, best.passes[-1].t_us
        self.overdue_us = self._overdue_us()

    def _running(self) -> Chain | None:
        """Return the running ball's chain. None without a launch."""
        return self.leading if self.launched else None

    def _lead_passes(self, chain: Chain) -> int:
        """Return by how many passes this chain is ahead of the best contrary one. The pulses that a chain does not take
        count against it in the same way as the beams that must have missed the ball."""
        contrary = [other.score - other.left for other in self.state.chains if other.direction != chain.direction]
        return chain.score - chain.left - max(contrary, default=0)

    def _fresh(self) -> Chain | None:
        """Return the best chain, other than the run's own, that could be a launch."""
        since_us = self.state.chains[0].last_us if self.launched else -1
        others = [chain for chain in self.state.chains if chain.first_us > since_us]
        able = [chain for chain in others if len(chain.passes) >= LAUNCH_PASSES]
        return max(able, key=lambda chain: chain.score, default=None)

    def _long_gone(self, chain: Chain) -> bool:
        """Whether `chain` is of another run: it comes too late, or in the other direction, or is faster."""
        own = self.state.chains[0]
        turned = self.run.direction not in (chain.direction, None)
        before, after = own.speed_rev_s() or 0.0, hop_rev_s(chain.passes[0], chain.passes[1])
        faster = after > before * (1 + AGAIN_SLACK)
        return turned or faster or chain.first_us - own.last_us > AGAIN_US

    def _with_a_hop(self) -> list[Chain]:
        """Return the chains that may be the run's: those of more than one pulse."""
        return [chain for chain in self.state.chains if len(chain.passes) > 1]

    def _extend(self, chain: Chain, t_us: int, beam: int) -> bool:
        last, sure, more = chain.passes[-1], len(chain.passes) >= SURE_PASSES, 0
        turn_deg = self._beams.ahead_deg(last.beam, beam, chain.direction)
        if not chain.follows(turn_deg, t_us):
            turn_deg, more = turn_deg + 360, self._beams.count
            if not sure or not chain.follows(turn_deg, t_us):
                return False
        skipped = self._beams.between(last.beam, beam, chain.direction) + more
        if not sure and skipped > self._skip_max:
            return False
        chain.passes.append(Pass(t_us, beam, last.turn_deg + turn_deg))
        chain.skipped += skipped
        return True

    def _seed(self, t_us: int, beam: int) -> None:
        """Begin two chains, one for each direction: this pulse may be the first pass of a new run."""
        chains = self.state.chains
        kept = chains[:1] if self.launched else []
        rest = [chain for chain in chains[len(kept) :] if t_us - chain.last_us < 1e6 / LEAVE_REV_S]
        if not self.launched:
            gone = [chain for chain in chains if t_us - chain.last_us >= 1e6 / LEAVE_REV_S]
            if self.state.waiting is not None and t_us - self.state.waiting.last_us <= FEW_US:
                gone.append(self.state.waiting)
            self.state.waiting = max(gone, key=lambda chain: (chain.score, -chain.last_us), default=None)
        rest.sort(key=lambda chain: (chain.score, chain.last_us), reverse=True)
        seeds = [Chain(direction, [Pass(t_us, beam, 0.0)]) for direction in ("cw", "ccw")]
        self.state.chains = kept + rest[: CHAINS_MAX - 2] + seeds
        if not self.launched:
            self.run.phase = Phase.SUSPECTED

    def _swap_double(self, t_us: int, beam: int) -> bool:
        """If a beam pulsed twice in a lap, keep the pulse that fits the slowing better. Return whether the new one is
        kept."""
        chain = self._running() if self.run.phase is Phase.ON_TRACK else None
        if chain is None or len(chain.passes) < LAUNCH_PASSES or chain.passes[-1].beam != beam:
            return False
        before, last = Chain(chain.direction, chain.passes[:-1]), chain.passes[-1]
        turn_deg = last.turn_deg - before.passes[-1].turn_deg
        better = before.off_forecast(turn_deg, t_us) < before.off_forecast(turn_deg, last.t_us)
        if not better or not before.follows(turn_deg, t_us):
            return False
        chain.passes[-1] = Pass(t_us, beam, last.turn_deg)
        self.state.pulse_us[beam] = t_us
        return True

    def _lead(self, chain: Chain) -> None:
        """Put the running ball's chain first. Keep other chains as long as a ball may still continue them."""
        rivals = [other for other in self.state.chains if other is not chain and len(other.passes) >= 2]
        alive = [other for other in rivals if chain.last_us - other.last_us < 1e6 / LEAVE_REV_S]
        self.state.chains = [chain, *alive]

    def _overdue_us(self) -> int | None:
        """Return when the next pass must have come. Before the launch this is the latest deadline of all chains."""
        if self.run.phase is Phase.SUSPECTED:
            return max(self._chain_overdue_us(chain) for chain in self.state.chains)
        chain = self._running() if self.run.phase is Phase.ON_TRACK else None
        return None if chain is None else self._chain_overdue_us(chain)

    def _chain_overdue_us(self, chain: Chain) -> int:
        speed = chain.speed_rev_s()
        slow = LEAVE_REV_S if speed is None else max(LEAVE_REV_S, min(0.8 * speed, LEAVE_REV_S_MAX))
        bridge_deg = self._beams.nth_ahead_deg(chain.passes[-1].beam, self._skip_max, chain.direction)
        wait_us = min(GONE_US, round(bridge_deg / 360 / slow * 1e6))
        if self._misses_many(chain):
            return chain.last_us + GONE_US
        lost = self.launched and speed is not None and speed > FAST_REV_S
        return chain.last_us + (max(wait_us, LOST_US) if lost else wait_us)


SOON_US = 4_000_000
"""How early people learn when the ball will leave the track: early enough to be useful, and exact to a second."""


class BallFromBeams(BallTracker):
    """The ball part of a table with beams: gives the launch, the slowing, the forecast, and the end of the run."""

    def __init__(self, setting: TableSetting, state: BeamsState, habit: Habit, sight: Sight) -> None:
        super().__init__(setting.beams_deg, state, strays=setting.strays)
        self._min_laps, self._slow_rev_s = setting.min_laps, setting.auto_rien_ne_va_plus_rev_s
        self._chef_answers = "R2" in setting.confirmable
        self._habit, self._sight = habit, sight

    def quality(self) -> tuple[float, float]:
        """Return which fraction of the ball's passes the beams saw, and how strange the run was (`Habit.strange`). A
        run in which the ball was found again is strange, too: beams missed laps, or a hand touched the ball."""
        chain, strange = self.leading, HAND_PART if self.state.earlier_deg else self._habit.strange
        return 1.0 if chain is None else len(chain.passes) / (len(chain.passes) + chain.skipped), strange

    def disown(self) -> None:
        """Remember that the run in progress belongs to no future coup, so that it does not hide the next launch."""
        if self.run.phase is Phase.ON_TRACK:
            self.run.disowned = True
        else:
            self.forget_run()

    def launch(self, watched_since_us: int) -> Evidence:
        """Return the launch that a pulse has proven. It is an unseen launch (N8) if the ball may have run before the
        wheel was watched (`watched_since_us`), or if most beams do not see the ball."""
        first_us, shown = self.run.first_us or 0, self.leading
        assert shown is not None, "passes show it"
        was_watched = first_us - watched_since_us >= self.unmet_us_max and not self._misses_many(shown)
        fact = Fact.LAUNCHED if was_watched else Fact.LAUNCH_UNSEEN
        self.run.report(fact)
        return Evidence(fact, first_us, self.record().figures)

    def weak_launch(self, at_us: int | None = None) -> Evidence:
        """Return a launch of few passes. Its run is over. `at_us`: since when the ball lies in the pocket that shows,
        together with the passes, that it was launched. None if the passes alone show it."""
        chain = self.few_passes(self.run.last_us or 0 if at_us is None else at_us)
        assert chain is not None, "passes show it"
        figures = self.record().figures | {"first_pass_us": chain.first_us, "last_pass_us": chain.last_us}
        evidence = Evidence(
            Fact.WEAK_LAUNCH, chain.first_us, figures, Margin.part(len(chain.passes) / SURE_LEAD, "passes")
        )
        self.forget()
        return evidence

    def leave(self) -> list[Evidence]:
        """Conclude that the launched ball left the track, and whether its laps are proven (N3). If passes only suggest
        the laps, the chef may answer for them if the setting says so. Also report a beam if it alone saw nothing of two
        runs in a row."""
        self.note_gone()
        chain, record = self.leading, self.record()
        assert chain is not None, "only a launched ball leaves"
        self._habit.add(chain.passes)
        last_us = self.run.last_us or 0
        blind: list[Evidence] = []
        if self.laps_suggested(chain) >= SILENT_LAPS:
            blind = self._sight.note_run(self._beams.left, {each.beam for each in chain.passes}, last_us)
        if not record.is_short_of(self._min_laps):
            return [Evidence(Fact.LEFT_TRACK, last_us, record.figures), *blind]
        figures = record.figures | {"laps_at_most": round(record.laps_at_most or 0, 2)}
        if self._chef_answers and record.may_have(self._min_laps):
            return [Evidence(Fact.LEFT_TRACK_UNPROVEN, last_us, figures), *blind]
        sure = Margin.laps(self._min_laps - self.laps_suggested(chain))
        return [Evidence(Fact.LEFT_TRACK_SHORT, last_us, figures, sure), *blind]

    def miss(self, *, rotor_stands: bool) -> list[Evidence]:
        """Conclude, because no pass came in time, that the ball left the track or that no ball ran. If the passes are
        too few to decide, keep them until a reader sees the lying ball."""
        if self.run.launched_us is not None:
            evidence = self.leave()
            if self.run.disowned:
                self.forget()
            return evidence
        if self.is_weak() and not rotor_stands:
            return [self.weak_launch()]
        self.note_gone()
        return []

    def outlook(self, t_us: int) -> list[Evidence]:
        """Conclude from the ball's slowing at a pulse: that it is slow enough for "rien ne va plus", that its run will
        be too short, and when it will leave the track. Each is concluded once in a run."""
        chain = self.leading
        if chain is None or self.run.launched_us is None:
            return []
        run, speed, limit, evidence = self.run, chain.speed_rev_s(), self._slow_rev_s, []
        if limit is not None and speed is not None and speed <= limit and not run.has_reported(Fact.BALL_SLOWED):
            run.report(Fact.BALL_SLOWED)
            evidence.append(Evidence(Fact.BALL_SLOWED, t_us, {"ball_rev_s": round(speed, 3)}))
        if chain.last_us != t_us:
            return evidence
        laps = self.laps_suggested(chain)
        short = not run.has_reported(Fact.VOID_FORESEEN) and laps < self._min_laps
        slow = not run.has_reported(Fact.LEAVING_FORESEEN) and (speed or 0) < LEFT_REV_S_MAX
        found = forecast(chain.passes, self._habit) if short or slow else None
        if found is None:
            return evidence
        laps += found.laps_most
        if short and laps < self._min_laps:
            run.report(Fact.VOID_FORESEEN)
            evidence.append(Evidence(Fact.VOID_FORESEEN, t_us, {"laps_at_most": round(laps, 2), **_leaving(found)}))
        if slow and found.leaves_us is not None and found.leaves_us - t_us < SOON_US:
            run.report(Fact.LEAVING_FORESEEN)
            evidence.append(Evidence(Fact.LEAVING_FORESEEN, t_us, _leaving(found)))
        return evidence


def _leaving(found: Forecast) -> Figures:
    figures: Figures = {"ball_rev_s": round(found.speed_rev_s, 3)}
    if found.leaves_us and found.earliest_us and found.latest_us:
        figures |= {
            "leaves_us": found.leaves_us,
            "leaves_earliest_us": found.earliest_us,
            "leaves_latest_us": found.latest_us,
        }
    return figures
