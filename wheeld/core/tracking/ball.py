"""The ball on its track: from beam pulses to a launch, a direction, proven laps, and the moment it is gone.

A pulse proves nothing alone. A *chain* is one reading of the pulses, for one direction: the passes of a ball that
slows down as balls do. Every pulse may begin chains; a chain takes a pulse that agrees with its speed and leaves the
others (a stray is a pulse that no chain of the running ball takes). The chain that more passes support leads, also
when it comes later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from wheeld.core.tracking import margin
from wheeld.core.tracking.evidence import Figures
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.passes import LEAVE_REV_S, Beams, Chain, Pass, hop_rev_s
from wheeld.core.tracking.run import Phase, Run, RunRecord

DOUBLE_PULSE_US = 120_000
"""One ball can't meet the same beam again sooner: that would be 8 laps a second."""
LAUNCH_PASSES = 3
"""'Several passes at a plausible speed' (docs/rulebook.md 6): two hops that agree."""
LEAVE_REV_S_MAX = 0.50
"""For the wait until the next pass. Balls leave the track at 0.43–0.50 laps/s. So a ball that is still on the track may
come to the next beams at this speed, however fast it was seen before. The wait never counts on a higher speed."""
FAST_REV_S = 0.65
LOST_US = 1_900_000
"""A ball faster than `FAST_REV_S` does not leave by itself: beams missed it, or a hand took it. The verdict waits at
least `LOST_US` for a beam to meet it again. A fall takes 2.5 s at least, so the verdict still comes before the ball
reaches a pocket (N3)."""
GONE_US = 2_400_000
"""A slow ball that no beam met for this long has left, even with two beams: it may be in a pocket after 2.5 s (N3)."""
HAND_DEG = 120.0
"""A hand that puts the ball on the track makes two passes nearer to each other than this (docs/rulebook.md 6)."""
WEAK_REV_S_MAX = 0.80
"""A ball that meets two beams and no third was about to leave: it was slow."""
LAUNCH_REV_S_MIN = 0.70
"""No captured ball runs its first lap slower than 1.0: three passes of a slower one may be a stray's and a ball's that
turns the other way."""
SURE_PASSES = 4
"""A chain with this many passes knows its speed. It may bridge a whole lap in which beams missed the ball."""
OVERTAKE = 2
"""Another reading takes the run over when it has this many passes more."""
AGAIN_US = 6_000_000
"""A ball was lost from sight and is found again. Within this time it ran all the while; later it was launched anew."""
FEW_US = 30_000_000
"""How long a single pass may wait for the ball to be read in a pocket: a fall, then three turns of a slow rotor."""
AGAIN_SLACK = 0.15
"""A ball that is found again may look faster than before by this part: the jitter and tilt of two hops."""
AT_REST_US = 700_000
"""No ball takes less time from the track to rest in a pocket (2.5 s in every recorded evening, bounces from 0.8 s
on)."""
REST_US = 2_000_000
"""No ball takes less time from the last pass to rest (2.5 s in every recorded evening). If it is seen in a pocket
sooner, it bounces."""
FALL_US_MIN = 2_500_000
"""No ball came to rest sooner after its last pass, in any recorded evening."""
FALL_US = 6_000_000
"""From the last pass to rest in a pocket: 2.5–5 s in every recorded evening."""
SILENT_LAPS = 2.0
"""A ball that runs so far passes each beam; a few passes in a thousand are missed."""
SILENT_RUNS = 2
"""One run may end before a beam that is about to fail is met again; in the next one it is named."""
ALONE_PASSES = 4
"""So many passes of one beam, a lap apart each, of a ball that slows: a ball runs, and other beams do not see it."""
ALONE_SLOWER = 0.95
"""In two laps every captured ball loses more of its speed. What the rotor carries past a beam does not."""
CHAINS_MAX = 12
"""Readings kept at once before the launch; with strays at a hundred times their rate four are in use."""


class BallState(msgspec.Struct):
    """What the tracker remembers: the run in progress, the readings of the pulses, and what it counted.

    `pulse_us`: the latest pulse of each beam. `earlier_deg`: proven of the run before the ball was lost from sight and
    found again; `earlier_most_deg`: the most that it can have run until it was found. `waiting`: passes too few for a
    launch, whose next one never came: where the ball is seen to lie explains them, whatever pulses came since.
    `alone`: of each beam its latest passes as those of a ball that no other beam meets, a lap apart.
    `silent`: in how many runs in a row a beam alone saw nothing of the ball. `strays`, `doubles`: pulses that count for
    nothing, since the start.
    """

    run: Run = msgspec.field(default_factory=Run)
    chains: list[Chain] = msgspec.field(default_factory=list)
    pulse_us: dict[int, int] = msgspec.field(default_factory=dict)
    earlier_deg: float = 0.0
    earlier_most_deg: float = 0.0
    waiting: Chain | None = None
    alone: dict[int, list[Pass]] = msgspec.field(default_factory=dict)
    silent: dict[int, int] = msgspec.field(default_factory=dict)
    strays: int = 0
    doubles: int = 0


class Pulse(NamedTuple):
    """What one pulse showed: whether it is a pass of the running ball, whether the ball was found again by it, whether
    it is a stray, whether it proves a launch, and whether the ball's direction is known by it, or is another one."""

    in_run: bool
    found_again: bool
    is_stray: bool
    is_launch: bool
    is_direction: bool


class BallTracker:
    """Follows one ball past `beams_deg`. All state is in `state`; the run in it is the same structure always.

    `overdue_us`: when the next pass, and those after it as far as a chain bridges, are all too late; None while no
    pass is awaited.
    """

    def __init__(self, beams_deg: tuple[float, ...], state: BallState | None = None, *, strays: int = 1) -> None:
        """`strays`: of so many pulses nobody knows whether the ball made them, whichever they are."""
        self._strays = strays
        self._beams = Beams(beams_deg)
        self.state = state or BallState()
        self.run = self.state.run
        self.overdue_us = self._overdue_us()

    def leave_out(self, beams: frozenset[int]) -> None:
        """From now on these beams report nothing: no pass of them is awaited, and none is missed."""
        self._beams.leave_out(beams)
        self.overdue_us = self._overdue_us()

    @property
    def _skip_max(self) -> int:
        """How many beams in a row may miss the ball."""
        return 1 if self._beams.count < 6 else 2

    @property
    def unmet_us_max(self) -> int:
        """No ball on the track is met by no beam for longer, however slow it is and if one beam misses it."""
        return min(GONE_US, round(self._beams.widest_deg(self._skip_max) / 360 / LEAVE_REV_S * 1e6))

    @property
    def launched(self) -> bool:
        """Whether a run has begun and has not been forgotten yet."""
        return self.run.launched_us is not None

    def suspected_us(self) -> Iterator[tuple[int, int]]:
        """Of each reading that may yet prove a launch, the first pulse, and until when its next pass is awaited."""
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
        """The running ball's reading; before a launch the one with the best evidence; None without pulses."""
        return self._best()

    def record(self) -> RunRecord:
        """The laps that passes prove since the launch, 0 without one, and by how many passes the leading reading leads
        the best one that has the ball turn the other way."""
        best, laps, most, lead = self._best(), 0.0, 0.0, 0
        if best is not None and self.launched:
            lead = self._lead_passes(best)
            laps = (self.state.earlier_deg + best.proven_deg(self._strays)) / 360
            most = self._laps_at_most(best)
        figures: Figures = {
            "laps_proven": int(laps * 100 + 1e-6) / 100,
            "first_pass_us": self.run.first_us or 0,
            "last_pass_us": self.run.last_us or 0,
        }
        return RunRecord(figures, laps, lead, most)

    def laps_suggested(self, chain: Chain) -> float:
        """Turns if every pass of this reading was the ball's, the first and the last too."""
        return (self.state.earlier_deg + chain.passes[-1].turn_deg) / 360

    def _laps_at_most(self, chain: Chain) -> float:
        """Turns if the ball was launched just after the beam behind its first pass, and left just before the beam after
        its last one."""
        begun_deg = self.state.earlier_most_deg or self._beams.behind_deg(chain.passes[0].beam, chain.direction)
        last = chain.passes[-1]
        return (begun_deg + last.turn_deg + self._beams.nth_ahead_deg(last.beam, 0, chain.direction)) / 360

    def take(self, t_us: int, beam: int) -> Pulse:
        """Take one pulse in."""
        strays = self.state.strays
        in_run = self._pulse(t_us, beam)
        found_again = not in_run and self._find_again()
        is_launch = self._launch() or self._launch_alone(beam)
        is_direction = self._decide_direction()
        self._follow()
        return Pulse(in_run or found_again, found_again, self.state.strays > strays, is_launch, is_direction)

    def _pulse(self, t_us: int, beam: int) -> bool:
        """Give the pulse to the readings; True when the running ball's took it (False: double, stray, or no run)."""
        state = self.state
        previous_us = state.pulse_us.get(beam)
        if previous_us is not None and t_us - previous_us < DOUBLE_PULSE_US:
            state.doubles += 1
            self._swap_double(t_us, beam)
            return False
        state.pulse_us[beam] = t_us
        self._note_alone(t_us, beam)
        chain = self._running()
        # A ball that was gone comes back by passes of its own (`_find_again`): one pulse would bring back strays, too.
        open_to = [other for other in state.chains if other is not chain or self.run.phase is Phase.ON_TRACK]
        taken = [other for other in open_to if self._extend(other, t_us, beam)]
        if chain is not None and any(other is chain for other in taken):
            self._lead(chain)
            return True
        state.strays += chain is not None
        if self._swap_double(t_us, beam):
            return True
        self._seed(t_us, beam)
        return self._overtake()

    def _launch(self) -> bool:
        """Begin a run if the last pulse proves a launch. It takes the place of a run that left the track long
        ago."""
        chain = self._fresh()
        if chain is None or (self.launched and not self.run.disowned and not self._is_over(chain)):
            return False
        rivals = [other for other in self.state.chains if other.first_us >= chain.first_us]
        self.forget()
        self.state.chains = rivals
        self.run.launched_us = chain.first_us
        self.run.phase = Phase.ON_TRACK
        self._lead(chain)
        return True

    def _note_alone(self, t_us: int, beam: int) -> None:
        """The other beams may be blind: then this one meets the ball once a lap."""
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
        if hop_rev_s(*passes[-2:]) > ALONE_SLOWER * hop_rev_s(*passes[:2]):
            return False
        self.forget()
        skipped = (len(passes) - 1) * (self._beams.count - 1)
        self.state.chains = [Chain(direction, [*passes], skipped) for direction in ("cw", "ccw")]
        self.run.launched_us = passes[0].t_us
        self.run.phase = Phase.ON_TRACK
        return True

    @property
    def is_half_blind(self) -> bool:
        """Whether more beams missed the ball than a proven run allows."""
        chain = self.leading
        return chain is not None and self._misses_many(chain)

    def _misses_many(self, chain: Chain) -> bool:
        return chain.skipped > self._skip_max * (len(chain.passes) - 1)

    @property
    def sight(self) -> Margin | None:
        """How many of the passes that the beams should have seen they saw; None without a reading."""
        chain = self.leading
        return None if chain is None else margin.sight(len(chain.passes), len(chain.passes) + chain.skipped)

    def note_silent(self, chain: Chain) -> list[int]:
        """The run is over: of these beams it is the `SILENT_RUNS`th in a row in which they alone saw nothing."""
        if self.laps_suggested(chain) < SILENT_LAPS:
            return []
        missing = self._beams.left - {each.beam for each in chain.passes}
        self.state.silent = {beam: self.state.silent.get(beam, 0) + 1 for beam in missing}
        return sorted(beam for beam, runs in self.state.silent.items() if runs == SILENT_RUNS)

    def few_passes(self, at_us: int) -> Chain | None:
        """Passes before `at_us` that agree, too few to be a launch by themselves, and recent enough to explain where
        the ball lies then."""
        if self.launched:
            return None
        waiting = [] if self.state.waiting is None else [self.state.waiting]
        known = [chain for chain in [*self.state.chains, *waiting] if 0 <= at_us - chain.last_us <= FEW_US]
        return max(known, key=lambda chain: (chain.score, -chain.first_us), default=None)

    def is_weak(self) -> bool:
        """Whether pulses too few for a launch look like a ball that left the track at once: two beams that stand side
        by side, farther from each other than a hand reaches, met at the speed of a ball about to leave. Two strays
        seldom do."""
        return not self.launched and any(_is_weak(chain) for chain in self.state.chains)

    def _find_again(self) -> bool:
        """Go on with the run if the ball thought gone is running: as many passes as a launch, soon, the same way."""
        chain = self._fresh()
        if chain is None or self.run.phase is not Phase.OFF_TRACK or self.run.disowned or self._long_gone(chain):
            return False
        lost = self.state.chains[0]
        unseen_deg = (lost.speed_rev_s() or 0.0) * (chain.first_us - lost.last_us) / 1e6 * 360
        most_deg = self._laps_at_most(lost) * 360 - self._beams.nth_ahead_deg(lost.passes[-1].beam, 0, lost.direction)
        self.state.earlier_deg += lost.proven_deg(self._strays)
        self.state.earlier_most_deg = most_deg + unseen_deg
        self._lead(chain)
        self.run.phase = Phase.ON_TRACK
        return True

    def _decide_direction(self) -> bool:
        """Take the ball's direction once its evidence beats every contrary reading; False while undecided or unchanged.

        Three passes must agree closely: one of them may be a stray, and N1 can't be taken back.
        """
        chain = self._running()
        if chain is None or chain.direction == self.run.direction or chain.score < LAUNCH_PASSES:
            return False
        if self._lead_passes(chain) < 1 or (len(chain.passes) == LAUNCH_PASSES and not self._three_suffice(chain)):
            return False
        self.run.turn(chain.direction)
        self._lead(chain)
        return True

    @staticmethod
    def _three_suffice(chain: Chain) -> bool:
        """Whether three passes prove the direction: they agree closely, and a ball is launched as fast as they show. A
        stray and two passes of a fast ball may look like three of a slow one that turns the other way."""
        return chain.is_tight() and hop_rev_s(chain.passes[0], chain.passes[1]) > LAUNCH_REV_S_MIN

    def rest(self, t_us: int) -> None:
        """The ball was seen lying where it lay: pulses just before, with no launch yet, were strays."""
        kept = [chain for chain in self.state.chains if t_us - chain.last_us >= AT_REST_US]
        if not self.launched and len(kept) < len(self.state.chains):
            self.state.chains = kept
            self.run.phase = self.run.phase if kept else Phase.NONE
            self._follow()

    def leave(self) -> None:
        """Note that the ball is gone from the track. Without a launch: note that no more passes are expected."""
        self.run.phase = Phase.OFF_TRACK if self.launched else Phase.NONE
        self._follow()

    def forget(self) -> None:
        """The run is over, and its pulses with it."""
        self.run.clear()
        self.state.chains, self.state.waiting, self.state.alone = [], None, {}
        self.state.earlier_deg = self.state.earlier_most_deg = 0.0
        self.overdue_us = None

    def forget_run(self) -> None:
        """The run is over. Pulses after it may be those of the next launch: they are kept."""
        if not self.launched:
            return
        since_us = self.state.chains[0].last_us
        fresh = [chain for chain in self.state.chains if chain.first_us > since_us]
        self.forget()
        self.state.chains = fresh
        self.run.phase = Phase.SUSPECTED if fresh else Phase.NONE
        self._follow()

    def _follow(self) -> None:
        """The readings have changed: note which passes the run has now, and until when the next one is awaited."""
        best = self._best()
        if best is None:
            self.run.first_us = self.run.last_us = None
        else:
            self.run.first_us, self.run.last_us = best.passes[0].t_us, best.passes[-1].t_us
        self.overdue_us = self._overdue_us()

    def _running(self) -> Chain | None:
        """The running ball's reading; None without a launch."""
        return self._best() if self.launched else None

    def _lead_passes(self, chain: Chain) -> int:
        """By how many passes this reading leads the best one that has the ball turn the other way."""
        contrary = [other.score for other in self.state.chains if other.direction != chain.direction]
        return chain.score - max(contrary, default=0)

    def _fresh(self) -> Chain | None:
        """The best chain, other than the run's own, that could be a launch."""
        since_us = self.state.chains[0].last_us if self.launched else -1
        others = [chain for chain in self.state.chains if chain.first_us > since_us]
        able = [chain for chain in others if len(chain.passes) >= LAUNCH_PASSES]
        return max(able, key=lambda chain: chain.score, default=None)

    def _is_over(self, chain: Chain) -> bool:
        return self.run.phase is Phase.OFF_TRACK and self._long_gone(chain)

    def _long_gone(self, chain: Chain) -> bool:
        """Whether `chain` can't be the run in progress: no ball turns back or gains speed by itself."""
        own = self.state.chains[0]
        turned = self.run.direction not in (chain.direction, None)
        before, after = own.speed_rev_s() or 0.0, hop_rev_s(chain.passes[0], chain.passes[1])
        faster = after > before * (1 + AGAIN_SLACK)
        return turned or faster or chain.first_us - own.last_us > AGAIN_US

    def _best(self) -> Chain | None:
        """The running ball's chain, which stands first once its direction is known; before, the one with the best
        evidence."""
        chains = self.state.chains
        if not chains:
            return None
        if self.run.direction is not None or self.run.phase is Phase.OFF_TRACK:
            return chains[0]
        able = self._with_a_hop() if self.launched else chains
        return max(able, key=lambda chain: (chain.score, -chain.first_us))

    def _with_a_hop(self) -> list[Chain]:
        """The readings that may be the run's: a single pulse is none, however many passes the run's own missed."""
        return [chain for chain in self.state.chains if len(chain.passes) > 1]

    def _overtake(self) -> bool:
        """Let another reading take the run over that has become so much better; True when one does."""
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
        last, sure = chain.passes[-1], len(chain.passes) >= SURE_PASSES
        turn_deg = self._beams.ahead_deg(last.beam, beam, chain.direction)
        skipped = self._beams.between(last.beam, beam, chain.direction)
        if sure and not chain.follows(turn_deg, t_us):
            turn_deg, skipped = turn_deg + 360, skipped + self._beams.count
        if (not sure and skipped > self._skip_max) or not chain.follows(turn_deg, t_us):
            return False
        chain.passes.append(Pass(t_us, beam, last.turn_deg + turn_deg))
        chain.skipped += skipped
        return True

    def _seed(self, t_us: int, beam: int) -> None:
        """Every unexplained pulse may be the first of a run, either way."""
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
        """Of two pulses of one beam in one lap, keep the one that is nearer to the ball's slowing; True when it is this
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
        """Put the running ball's chain first. Other readings are kept while a ball may still go on with them."""
        rivals = [other for other in self.state.chains if other is not chain and len(other.passes) >= 2]
        alive = [other for other in rivals if chain.last_us - other.last_us < 1e6 / LEAVE_REV_S]
        self.state.chains = [chain, *alive]

    def _overdue_us(self) -> int | None:
        """Before the launch the latest of all readings counts, because the fastest may be the wrong one."""
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


def _is_weak(chain: Chain) -> bool:
    speed = chain.speed_rev_s()
    if speed is None or chain.skipped or chain.passes[-1].turn_deg < HAND_DEG - 1e-9:
        return False
    return speed <= WEAK_REV_S_MAX
