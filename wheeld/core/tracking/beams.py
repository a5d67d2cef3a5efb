"""The ball on its track, by beams of our own. Their pulses show a launch, a direction, proven laps, and when the ball
has left the track.

One pulse proves nothing. A *chain* is one reading of the pulses, for one direction: the passes of a ball that slows
down as balls do. Every pulse may begin chains. A chain takes each pulse that agrees with its speed, and leaves the
others. A stray is a pulse that no chain of the running ball takes. The chain with the most passes leads, even if it
began later.
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
"""Balls leave the track at 0.43–0.50 laps/s (captures). Between two passes no ball is slower than this."""
HOP_REV_S_MAX = 4.0
"""Highest mean speed between two passes. No hand launches at 4 (captures: at most 2.6)."""
SLOWING_REV_S2 = 0.22
SLOWING_PER_REV = 0.08
"""Hardest slowing allowed, in laps/s²: a constant part, and a factor of speed². Captured balls reach 0.27 between 1.0
and 0.6 laps/s, where many of them rub, and 0.4 at 1.8."""
SPEED_SLACK = 0.07
PASS_JITTER_US = 8_000
"""How far a hop's speed may be from the speed that the slowing gives. `SPEED_SLACK` is for tilt and reading error,
`PASS_JITTER_US` for the jitter of its two pulses."""
TIGHT_SLACK = 0.03
TIGHT_JITTER_US = 2_000
"""The same two limits for decisions that rest on three passes. At a launch's speed a tilt of 0.3° changes a hop by less
than 1 %. A beam that is mounted one degree off changes it by 1 %."""


class Chain(msgspec.Struct):
    """One reading of the pulses as passes of one ball. `skipped`: how many beams missed the ball if this reading is
    right. `left`: how many later pulses are not among its passes."""

    direction: Direction
    passes: list[Pass]
    skipped: int = 0
    left: int = 0

    @property
    def score(self) -> int:
        """The support of this reading: its passes, less the passes that beams should have seen but did not."""
        return len(self.passes) - self.skipped

    def proven_deg(self, strays: int) -> float:
        """Return the degrees that the ball certainly ran, even if any `strays` of the pulses were not the ball's (R2).

        A stray before the launch looks like a first pass, and a stray after the ball has gone looks like a last one. So
        a hop is proven only if `strays` other passes are beyond it. The strays may all be at one end, or some at each
        end. The result is the shortest span that can remain. Without this rule, with two beams, one short run in six
        would count a stray's lap as its own. Passes at the beginning do not count while the ball speeds up, because it
        was still in the hand.
        """
        first = self._released()
        passes = self.passes
        if len(passes) - first <= strays:
            return 0.0
        return min(passes[-1 - strays + at].turn_deg - passes[first + at].turn_deg for at in range(strays + 1))

    @property
    def last_us(self) -> int:
        """Time of the latest pass."""
        return self.passes[-1].t_us

    @property
    def first_us(self) -> int:
        """Time of the first pass."""
        return self.passes[0].t_us

    def speed_rev_s(self) -> float | None:
        """Return the mean speed of the last hop. None before the second pass."""
        if len(self.passes) < 2:
            return None
        return hop_rev_s(self.passes[-2], self.passes[-1])

    def _released(self) -> int:
        """Return the index of the first pass from which the ball no longer speeds up. A ball never speeds up by itself,
        but the launching hand may speed it up."""
        for at in range(len(self.passes) - 2):
            first, middle, third = self.passes[at : at + 3]
            slack = TIGHT_SLACK + TIGHT_JITTER_US * (1 / (middle.t_us - first.t_us) + 1 / (third.t_us - middle.t_us))
            if hop_rev_s(middle, third) <= hop_rev_s(first, middle) * (1 + slack):
                return at
        return max(0, len(self.passes) - 2)

    def follows(self, turn_deg: float, t_us: int) -> bool:
        """Whether a ball that slows as balls do can have run `turn_deg` between the last pass and `t_us`."""
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
        """Return how far a next hop of `turn_deg` until `t_us` is from the speed by the usual slowing, in laps/s."""
        before = self.speed_rev_s() or 0.0
        between_s = (t_us - self.passes[-2].t_us) / 2e6
        return abs(rev_s(turn_deg, t_us - self.last_us) - before + _slowing(before) / 2 * between_s)


class Beams:
    """The places of the beams on the track, and the gaps between them in the ball's direction.

    A beam keeps its number when another one is left out. `count` and all counts are of the beams in use.
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
        """Return the most degrees from any beam to the one after the next `skipped` ones, in either direction."""
        ways: tuple[Direction, Direction] = ("cw", "ccw")
        return max(self.nth_ahead_deg(beam, skipped, way) for way in ways for beam in self.left)

    def nth_ahead_deg(self, beam: int, skipped: int, direction: Direction) -> float:
        """Return the degrees from `beam` to the beam after the next `skipped` ones."""
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
"""The shortest time between two passes of one ball at the same beam. A shorter one would mean over 8 laps a second."""
LAUNCH_PASSES = 3
"""How many passes prove a launch: two hops that agree ("several passes at a plausible speed", docs/rulebook.md 6)."""
LEAVE_REV_S_MAX = 0.50
"""For the wait until the next pass. Balls leave the track at 0.43–0.50 laps/s. So a ball that is still on the track may
come to the next beams at this speed, however fast it was before. The wait never assumes a higher speed."""
FAST_REV_S = 0.65
LOST_US = 1_900_000
"""A ball faster than `FAST_REV_S` does not leave by itself: beams missed it, or a hand took it. The verdict waits at
least `LOST_US` for a beam to meet it again. A fall takes 2.5 s at least, so the verdict still comes before the ball
reaches a pocket (N3)."""
GONE_US = 2_400_000
"""A slow ball that no beam met for this time has left, even with two beams. It may be in a pocket after 2.5 s (N3)."""
HAND_DEG = 120.0
"""A hand that puts the ball on the track makes two passes that are closer together than this (docs/rulebook.md 6)."""
WEAK_REV_S_MAX = 0.80
"""A ball that meets two beams and no third one was slow: it was about to leave the track."""
LAUNCH_REV_S_MIN = 0.90
"""No captured ball runs its first lap slower than 1.0. Three slower passes may be a stray and two passes of a ball in
the other direction, so the fourth pass decides."""
SURE_PASSES = 4
"""A chain with this many passes shows its speed well. It may bridge a whole lap in which beams missed the ball."""
OVERTAKE = 2
"""Another reading replaces the one of the run when it has this many passes more."""
AGAIN_US = 6_000_000
"""If a lost ball is found again within this time, it ran all the while. If it is found later, it was launched again."""
FEW_US = 30_000_000
"""How long a single pass may wait for a sighting of the ball in a pocket: a fall, then three turns of a slow rotor."""
AGAIN_SLACK = 0.15
"""A ball that is found again may seem this much faster than before, by the jitter and tilt of two hops."""
AT_REST_US = 700_000
"""No ball takes less time from the track to rest in a pocket (2.5 s in every recorded evening, with bounces from 0.8 s
on)."""
REST_US = 2_000_000
"""No ball takes less time from the last pass to rest (2.5 s in every recorded evening). If it is seen in a pocket
sooner, it still bounces."""
FALL_US_MIN = 2_500_000
"""No ball of any recorded evening came to rest sooner after its last pass."""
FALL_US = 6_000_000
"""The time from the last pass to rest in a pocket: 2.5–5 s in every recorded evening."""
SILENT_LAPS = 2.0
"""A ball that runs this far passes each beam. A few passes in a thousand are missed."""
ALONE_PASSES = 4
"""If one beam has this many passes, a lap apart, of a slowing ball, a ball runs that other beams do not see."""
ALONE_SLOWER = 0.985
"""Every captured ball loses more of its speed in each lap. Things that the rotor carries past a beam do not."""
CHAINS_MAX = 12
"""The most readings kept before the launch. With strays at a hundred times their usual rate four are in use."""


class BeamsState(msgspec.Struct):
    """What the tracker remembers: the run in progress, and the readings of the pulses.

    `pulse_us`: the latest pulse of each beam. `earlier_deg`: what was proven before the ball was lost and found again.
    `earlier_most_deg`: the most that it can have run until it was found. `waiting`: too few passes for a launch, whose
    next one never came. The place where the ball is later seen to lie explains them, in spite of pulses that came
    since. `alone`: for each beam its latest passes, as those of a ball that no other beam meets, a lap apart.
    """

    run: Run = msgspec.field(default_factory=Run)
    chains: list[Chain] = msgspec.field(default_factory=list)
    pulse_us: dict[int, int] = msgspec.field(default_factory=dict)
    earlier_deg: float = 0.0
    earlier_most_deg: float = 0.0
    waiting: Chain | None = None
    alone: dict[int, list[Pass]] = msgspec.field(default_factory=dict)


class Pulse(NamedTuple):
    """What one pulse shows: whether it is a pass of the running ball, whether it is a stray, and whether it proves a
    launch."""

    in_run: bool
    is_stray: bool
    is_launch: bool


class BallTracker:
    """Follows one ball past `beams_deg`. All state is in `state`. Its run is always the same structure.

    `overdue_us`: the time by which the next pass, or a later one that a chain can still bridge, must have come. None
    while no pass is awaited. `counters`: how many pulses have no effect, since the start.
    """

    def __init__(self, beams_deg: tuple[float, ...], state: BeamsState | None = None, *, strays: int = 1) -> None:
        """`strays`: how many pulses, in any place, may not be the ball's."""
        self._strays, self.counters = strays, {"stray_pulses": 0, "double_pulses": 0}
        self._beams = Beams(beams_deg)
        self.state = state or BeamsState()
        self.run = self.state.run
        self.overdue_us = self._overdue_us()

    def use(self, beams: list[int]) -> None:
        """Use only these beams from now on. Other beams are not awaited, and do not count as having missed the ball."""
        self._beams.use(beams)
        self.overdue_us = self._overdue_us()

    @property
    def _skip_max(self) -> int:
        """The most beams in a row that may miss the ball."""
        return 1 if self._beams.count < 6 else 2

    @property
    def unmet_us_max(self) -> int:
        """The longest time in which no beam meets a ball on the track, if it is slow and one beam misses it."""
        return min(GONE_US, round(self._beams.widest_deg(self._skip_max) / 360 / LEAVE_REV_S * 1e6))

    @property
    def launched(self) -> bool:
        """Whether a run has begun and has not been forgotten yet."""
        return self.run.launched_us is not None

    def suspected_us(self) -> Iterator[tuple[int, int]]:
        """Yield, for each reading that may yet prove a launch, its first pulse and the deadline of its next pass."""
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
        """The running ball's chain, which is first in the list when its direction is known; before that, the chain with
        the most evidence. None without pulses."""
        chains = self.state.chains
        if not chains or self.run.direction is not None or self.run.phase is Phase.OFF_TRACK:
            return next(iter(chains), None)
        able = self._with_a_hop() if self.launched else chains
        return max(able, key=lambda chain: (chain.score, -chain.first_us))

    def record(self) -> RunRecord:
        """Return the laps that passes prove since the launch (0 if there is none), and by how many passes the leading
        reading is ahead of the best one in the other direction."""
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
        """Return the turns if every pass of this reading was the ball's, also the first and the last."""
        return (self.state.earlier_deg + chain.passes[-1].turn_deg) / 360

    def _most_deg(self, chain: Chain) -> float:
        """Return how far the ball turned up to the last pass if it was launched just after the beam before its first
        one."""
        begun_deg = self.state.earlier_most_deg or self._beams.behind_deg(chain.passes[0].beam, chain.direction)
        return begun_deg + chain.passes[-1].turn_deg

    def take(self, t_us: int, beam: int) -> Pulse:
        """Take one pulse."""
        strays = self.counters["stray_pulses"]
        in_run = self._pulse(t_us, beam) or self._find_again()
        is_launch = self._launch() or self._launch_alone(beam)
        self._decide_direction()
        self._follow()
        return Pulse(in_run, self.counters["stray_pulses"] > strays, is_launch)

    def _pulse(self, t_us: int, beam: int) -> bool:
        """Add the pulse to the readings. True if the running ball's took it. Else it is double, stray or of no run."""
        state = self.state
        previous_us = state.pulse_us.get(beam)
        if previous_us is not None and t_us - previous_us < DOUBLE_PULSE_US:
            self.counters["double_pulses"] += 1
            self._swap_double(t_us, beam)
            return False
        state.pulse_us[beam] = t_us
        self._note_alone(t_us, beam)
        chain = self._running()
        # A lost ball is found again by several passes (`_find_again`). One pulse would also bring back strays.
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
        return self._overtake()

    def _launch(self) -> bool:
        """Begin a run if the last pulse proves a launch. It may replace a run that left the track long ago. That makes
        a coup void, so three passes that might be strays wait for a fourth."""
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

    def _note_alone(self, t_us: int, beam: int) -> None:
        """Note the pulse in case the other beams are blind. Then this beam meets the ball once a lap."""
        passes = self.state.alone.get(beam, [])
        if passes and not Chain("cw", passes).follows(360.0, t_us):
            passes = []
        turn_deg = passes[-1].turn_deg + 360 if passes else 0.0
        self.state.alone[beam] = [*passes[-ALONE_PASSES + 1 :], Pass(t_us, beam, turn_deg)]

    def _launch_alone(self, beam: int) -> bool:
        """Begin a run if passes of one beam show that a ball runs, though no reading of all pulses proves it (N8)."""
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
        """Return agreeing passes before `at_us`, too few to be a launch themselves, and recent enough to explain where
        the ball lies then."""
        if self.launched:
            return None
        waiting = [] if self.state.waiting is None else [self.state.waiting]
        known = [chain for chain in [*self.state.chains, *waiting] if 0 <= at_us - chain.last_us <= FEW_US]
        return max(known, key=lambda chain: (chain.score, -chain.first_us), default=None)

    def is_weak(self) -> bool:
        """Whether too few pulses for a launch look like a ball that left the track at once. Then it meets two
        neighbouring beams, farther apart than a hand reaches, at the speed of a ball that is about to leave. Two strays
        seldom do."""
        return not self.launched and any(
            (speed := chain.speed_rev_s()) is not None
            and not chain.skipped
            and chain.passes[-1].turn_deg >= HAND_DEG - 1e-9
            and speed <= WEAK_REV_S_MAX
            for chain in self.state.chains
        )

    def _find_again(self) -> bool:
        """Continue the run of a ball that seemed gone, or was missed for longer than its reading bridges. This needs as
        many passes as a launch, soon and in the same direction."""
        chain = self._fresh() if self.launched else None
        if chain is None or self.run.disowned or self._long_gone(chain):
            return False
        lost = self.state.chains[0]
        unseen_deg = (lost.speed_rev_s() or 0.0) * (chain.first_us - lost.last_us) / 1e6 * 360
        self.state.earlier_deg += lost.proven_deg(self._strays)
        self.state.earlier_most_deg = self._most_deg(lost) + unseen_deg
        self.state.chains = [each for each in self.state.chains if each.first_us >= chain.first_us]  # not counted twice
        self._lead(chain)
        self.run.phase = Phase.ON_TRACK
        return True

    def _decide_direction(self) -> None:
        """Take the ball's direction when its evidence beats every contrary one. Three passes must agree closely. With
        more passes the lead must be two, because one of them may be a stray, and N1 can't be taken back."""
        chain = self._running()
        if chain is None or chain.direction == self.run.direction or chain.score < LAUNCH_PASSES:
            return
        lead = self._lead_passes(chain)
        if lead > 1 if len(chain.passes) > LAUNCH_PASSES else lead > 0 and self._three_suffice(chain):
            self.run.turn(chain.direction)
            self._lead(chain)

    def _three_suffice(self, chain: Chain) -> bool:
        """Whether three passes prove the direction: they agree closely and are as fast as a launch. A stray and two
        passes of a fast ball, or every second of its passes, may look like a slow ball in the other direction."""
        others = [len(other.passes) for other in self.state.chains if other.direction != chain.direction]
        is_launched = chain.is_tight() and hop_rev_s(*chain.passes[:2]) > LAUNCH_REV_S_MIN
        return is_launched and max(others, default=0) < LAUNCH_PASSES

    def rest(self, t_us: int) -> None:
        """Note that the ball was seen where it lay. If there was no launch, the pulses just before were strays."""
        kept = [chain for chain in self.state.chains if t_us - chain.last_us >= AT_REST_US]
        if not self.launched and len(kept) < len(self.state.chains):
            self.state.chains = kept
            self.run.phase = self.run.phase if kept else Phase.NONE
            self._follow()

    def note_gone(self) -> None:
        """Note that the ball is gone from the track. Without a launch: note that no more passes are expected."""
        self.run.phase = Phase.OFF_TRACK if self.launched else Phase.NONE
        self._follow()

    def forget(self) -> None:
        """Forget the run and its pulses: it is over."""
        self.run.clear()
        self.state.chains, self.state.waiting, self.state.alone = [], None, {}
        self.state.earlier_deg = self.state.earlier_most_deg = 0.0
        self.overdue_us = None

    def forget_run(self) -> None:
        """Forget the run, which is over. Keep pulses that may belong to the next launch. Pulses that came before this
        ball could rest were its own: a stray took the place of its pass."""
        if not self.launched:
            return
        since_us = self.state.chains[0].last_us + REST_US
        fresh = [chain for chain in self.state.chains if chain.first_us > since_us]
        self.forget()
        self.state.chains = fresh
        self.run.phase = Phase.SUSPECTED if fresh else Phase.NONE
        self._follow()

    def _follow(self) -> None:
        """Note which passes the run has after a change of the readings, and until when the next one is awaited."""
        best = self.leading
        if best is None:
            self.run.first_us = self.run.last_us = None
        else:
            self.run.first_us, self.run.last_us = best.passes[0].t_us, best.passes[-1].t_us
        self.overdue_us = self._overdue_us()

    def _running(self) -> Chain | None:
        """Return the running ball's reading. None without a launch."""
        return self.leading if self.launched else None

    def _lead_passes(self, chain: Chain) -> int:
        """Return by how many passes this reading is ahead of the best one in the other direction. The strays of a
        reading count against it in the same way as the beams that must have missed the ball."""
        contrary = [other.score - other.left for other in self.state.chains if other.direction != chain.direction]
        return chain.score - chain.left - max(contrary, default=0)

    def _fresh(self) -> Chain | None:
        """Return the best chain, other than the run's own, that could be a launch."""
        since_us = self.state.chains[0].last_us if self.launched else -1
        others = [chain for chain in self.state.chains if chain.first_us > since_us]
        able = [chain for chain in others if len(chain.passes) >= LAUNCH_PASSES]
        return max(able, key=lambda chain: chain.score, default=None)

    def _long_gone(self, chain: Chain) -> bool:
        """Whether `chain` can't be the run in progress. A ball neither turns back nor becomes faster by itself."""
        own = self.state.chains[0]
        turned = self.run.direction not in (chain.direction, None)
        before, after = own.speed_rev_s() or 0.0, hop_rev_s(chain.passes[0], chain.passes[1])
        faster = after > before * (1 + AGAIN_SLACK)
        return turned or faster or chain.first_us - own.last_us > AGAIN_US

    def _with_a_hop(self) -> list[Chain]:
        """Return the readings that may be the run's. A single pulse is none, however many passes the run's missed."""
        return [chain for chain in self.state.chains if len(chain.passes) > 1]

    def _overtake(self) -> bool:
        """Let another reading take over the run if it has become much better. Return whether one did."""
        own = self.state.chains[0]
        if self.run.direction is None:
            return False
        best = max(self._with_a_hop(), key=lambda chain: chain.score)
        if best.score < own.score + OVERTAKE or best.last_us <= own.last_us:
            return False
        self._lead(best)
        self.run.phase = Phase.ON_TRACK
        return True

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
        """Take an unexplained pulse as the possible first pass of a run, in either direction."""
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
        """Of two pulses of a beam in one lap keep the one that fits the slowing better. Return whether it is this
        one."""
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
        """Put the running ball's chain first. Keep other readings as long as a ball may still continue them."""
        rivals = [other for other in self.state.chains if other is not chain and len(other.passes) >= 2]
        alive = [other for other in rivals if chain.last_us - other.last_us < 1e6 / LEAVE_REV_S]
        self.state.chains = [chain, *alive]

    def _overdue_us(self) -> int | None:
        """Return the deadline. Before the launch it is the latest of all readings: the fastest may be wrong."""
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
"""When the end of the track run is reported: early enough to be useful, late enough to be right within a second."""


class BallFromBeams(BallTracker):
    """The ball part of a table with beams: launch, slowing, forecast, and the time when the ball has left the track."""

    def __init__(self, setting: TableSetting, state: BeamsState, habit: Habit, sight: Sight) -> None:
        super().__init__(setting.beams_deg, state, strays=setting.strays)
        self._min_laps, self._slow_rev_s = setting.min_laps, setting.auto_rien_ne_va_plus_rev_s
        self._chef_answers = "R2" in setting.confirmable
        self._habit, self._sight = habit, sight

    def quality(self) -> tuple[float, float]:
        """Return which part of the passes that the beams should have seen they did see, and `Habit.strange`. A run in
        two parts is strange, too: beams missed laps between them, or no free ball made both parts."""
        chain, strange = self.leading, HAND_PART if self.state.earlier_deg else self._habit.strange
        return 1.0 if chain is None else len(chain.passes) / (len(chain.passes) + chain.skipped), strange

    def disown(self) -> None:
        """Note that the run in progress belongs to no future coup, so that it does not hide the next launch."""
        if self.run.phase is Phase.ON_TRACK:
            self.run.disowned = True
        else:
            self.forget_run()

    def launch(self, watched_since_us: int) -> Evidence:
        """Return the launch that a pulse has proven, or an unseen launch (N8) if the ball may have run before the
        sensors watched, or if most of them do not see it."""
        first_us, shown = self.run.first_us or 0, self.leading
        assert shown is not None, "passes show it"
        was_watched = first_us - watched_since_us >= self.unmet_us_max and not self._misses_many(shown)
        fact = Fact.LAUNCHED if was_watched else Fact.LAUNCH_UNSEEN
        self.run.report(fact)
        return Evidence(fact, first_us, self.record().figures)

    def weak_launch(self, at_us: int | None = None) -> Evidence:
        """Return the launch that a few passes show, together with where the ball lies from `at_us` on. Its run is over.
        None: the passes alone show it."""
        chain = self.few_passes(self.run.last_us or 0 if at_us is None else at_us)
        assert chain is not None, "passes show it"
        figures = self.record().figures | {"first_pass_us": chain.first_us, "last_pass_us": chain.last_us}
        evidence = Evidence(
            Fact.WEAK_LAUNCH, chain.first_us, figures, Margin.part(len(chain.passes) / SURE_LEAD, "passes")
        )
        self.forget()
        return evidence

    def leave(self) -> list[Evidence]:
        """Conclude that the launched ball left the track, with its laps proven or not (N3). If passes only suggest its
        laps, the chef decides, if the setting says so. Also report a beam that, as the only one, saw nothing of two
        runs."""
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
        """Conclude, because no pass came in time, that the ball left the track or that there was none. Passes that are
        too few to decide wait until a reader sees the lying ball."""
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
        """Conclude from the run's slowing at a pulse, each once: that the ball is slow enough for "rien ne va plus",
        that its run will be too short, and when it leaves the track."""
        chain = self.leading
        if chain is None or self.run.launched_us is None:
            return []
        speed, limit, evidence = chain.speed_rev_s(), self._slow_rev_s, []
        if limit is not None and speed is not None and speed <= limit and not self.run.has_reported(Fact.BALL_SLOWED):
            self.run.report(Fact.BALL_SLOWED)
            evidence.append(Evidence(Fact.BALL_SLOWED, t_us, {"ball_rev_s": round(speed, 3)}))
        return evidence + self._forecasts(chain, speed or 0, t_us) if chain.last_us == t_us else evidence

    def _forecasts(self, chain: Chain, speed_rev_s: float, t_us: int) -> list[Evidence]:
        run, laps = self.run, self.laps_suggested(chain)
        short = not run.has_reported(Fact.VOID_FORESEEN) and laps < self._min_laps
        slow = not run.has_reported(Fact.LEAVING_FORESEEN) and speed_rev_s < LEFT_REV_S_MAX
        found = forecast(chain.passes, self._habit) if short or slow else None
        if found is None:
            return []
        laps, evidence = laps + found.laps_most, []
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
