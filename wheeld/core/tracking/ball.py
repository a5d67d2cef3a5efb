"""The ball on its track: from beam pulses to a launch, a direction, proven laps, and the moment it is gone.

A pulse proves nothing alone. A *chain* is one reading of the pulses, for one direction: the passes of a ball that
slows down as balls do. Every pulse may begin chains; a chain takes a pulse that agrees with its speed and leaves the
others (a stray is a pulse that no chain of the running ball takes). What more passes prove, wins, also later.
"""

from __future__ import annotations

import msgspec

from wheeld.core.observations import Direction
from wheeld.core.tracking.passes import LEAVE_REV_S, Beams, Chain, Pass, hop_rev_s

DOUBLE_PULSE_US = 120_000
"""One ball can't meet the same beam again sooner: that would be 8 laps a second."""
LAUNCH_PASSES = 3
"""'Several passes at a plausible speed' (rulebook 6): two hops that agree."""
LEAVE_REV_S_MAX = 0.50
"""No ball is held at less: so slowly one may come to the next beams, however fast it was seen."""
FAST_REV_S = 0.65
LOST_US = 1_900_000
"""A ball this fast doesn't leave by itself: beams missed it, or a hand took it. A fall takes 2.5 s at least, so for so
long the verdict can wait for it to be met again, and still come before a pocket is reached (N3)."""
GONE_US = 2_400_000
"""A slow ball not met for so long has left, even over two beams: it may be in a pocket after 2.5 s (N3)."""
WEAK_REV_S_MAX = 0.80
"""A ball that meets two beams and no third was about to leave: it was slow."""
SURE_PASSES = 4
"""With so many passes behind it a chain knows its speed: it bridges beams missed in a whole lap."""
OVERTAKE = 2
"""Another reading takes the run over when it has so many passes more."""
AGAIN_US = 6_000_000
"""A ball lost from sight and found again within this time was running all the while; later it was launched anew."""
FEW_US = 30_000_000
"""How long a single pass may wait for the ball to be read in a pocket: a fall, then three turns of a slow rotor."""
AGAIN_SLACK = 0.15
"""A ball found again may be taken for so much faster than it was: two hops' worth of jitter and tilt."""
AT_REST_US = 700_000
"""From the track to rest in a pocket no ball takes less (2.5 s in every recorded evening, bounces from 0.8 s on)."""
CHAINS_MAX = 12
"""Readings kept at once before the launch; with strays at a hundred times their rate four are in use."""
_UNKNOWN = -2


class BallState(msgspec.Struct):
    """What the tracker remembers of pulses and of the run in progress.

    `disowned`: the run is of no coup to come. `waiting`: pulses came, too few for a launch, and no more are expected;
    where the ball lies will tell.
    """

    chains: list[Chain] = msgspec.field(default_factory=list)
    pulse_us: dict[int, int] = msgspec.field(default_factory=dict)
    launched_us: int | None = None
    direction: Direction | None = None
    on_track: bool = False
    disowned: bool = False
    waiting: bool = False
    earlier_deg: float = 0.0
    strays: int = 0
    doubles: int = 0


class BallTracker:
    """Follows one ball past `beams_deg`. All state is in `state`."""

    def __init__(self, beams_deg: tuple[float, ...], state: BallState | None = None) -> None:
        self._beams = Beams(beams_deg)
        self._skip_max = 1 if len(beams_deg) < 6 else 2
        self.state = state or BallState()
        self._due_us: int | None = _UNKNOWN

    @property
    def launched(self) -> bool:
        """A run has begun and has not been forgotten yet."""
        return self.state.launched_us is not None

    @property
    def laps_proven(self) -> float:
        """Turns that passes prove, since the launch; 0 without one."""
        best = self._best()
        return 0.0 if best is None or not self.launched else (self.state.earlier_deg + best.proven_deg) / 360

    @property
    def laps_suggested(self) -> float:
        """Turns if every pass was the ball's, the first and the last too."""
        best = self._best()
        return 0.0 if best is None else (self.state.earlier_deg + best.passes[-1].turn_deg) / 360

    @property
    def first_us(self) -> int | None:
        """Time of the first pass of the best reading."""
        best = self._best()
        return None if best is None else best.first_us

    @property
    def last_us(self) -> int | None:
        """Time of the last pass of the best reading."""
        best = self._best()
        return None if best is None else best.last_us

    @property
    def speed_rev_s(self) -> float | None:
        """Speed over the last hop, laps per second."""
        best = self._best()
        return None if best is None else best.speed_rev_s()

    @property
    def run(self) -> Chain | None:
        """The running ball's passes; None without a launch."""
        return self._best() if self.launched else None

    def lead(self) -> int:
        """By how many passes the run's reading leads the best one that has the ball turn the other way."""
        run = self.run
        if run is None:
            return 0
        contrary = [chain.score for chain in self.state.chains if chain.direction != run.direction]
        return run.score - max(contrary, default=0)

    def pulse(self, t_us: int, beam: int) -> bool:
        """Take one pulse in; True when the running ball's reading took it (False: double, stray, or no run yet)."""
        state = self.state
        self._due_us = _UNKNOWN
        previous_us = state.pulse_us.get(beam)
        if previous_us is not None and t_us - previous_us < DOUBLE_PULSE_US:
            state.doubles += 1
            self._foretold(t_us, beam)
            return False
        state.pulse_us[beam] = t_us
        state.waiting = False
        run = self.run
        # A ball that was gone comes back by passes of its own (`again`): one pulse would bring back strays, too.
        open_to = [chain for chain in state.chains if chain is not run or state.on_track]
        taken = [chain for chain in open_to if self._extend(chain, t_us, beam)]
        if run is not None and any(chain is run for chain in taken):
            self._lead(run)
            state.on_track = True
            return True
        state.strays += run is not None
        if self._foretold(t_us, beam):
            return True
        self._seed(t_us, beam)
        return self._overtaken()

    def launch(self) -> bool:
        """Whether the last pulse proves a launch. A run that left the track long ago gives way to it."""
        chain = self._fresh()
        if chain is None or (self.launched and not self.state.disowned and not self._over(chain)):
            return False
        self._begin(chain)
        return True

    def few_passes(self, now_us: int) -> int:
        """Passes that agree, too few to be a launch by themselves, and recent enough to explain where the ball lies."""
        best = self._best()
        return 0 if self.launched or best is None or now_us - best.last_us > FEW_US else len(best.passes)

    def weak(self) -> bool:
        """Whether pulses too few for a launch look like a ball that left the track at once: two beams that stand side
        by side, met at the speed of a ball about to leave. Two strays seldom do."""
        return not self.launched and any(_is_weak(chain) for chain in self.state.chains)

    def again(self) -> bool:
        """Whether a ball thought gone is running after all: as many passes as a launch, soon, the same way."""
        chain = self._fresh()
        if chain is None or not self.launched or self.state.disowned:
            return False
        if self.state.on_track or self._long_gone(chain):
            return False
        self.state.earlier_deg += self.state.chains[0].proven_deg
        self._lead(chain)
        self.state.on_track = True
        return True

    def decide_direction(self) -> Direction | None:
        """The ball's direction when its evidence beats every contrary reading; None while undecided or unchanged.

        Three passes must agree closely: one of them may be a stray, and N1 can't be taken back.
        """
        run = self.run
        if run is None or run.direction == self.state.direction:
            return None
        if run.score < LAUNCH_PASSES or self.lead() < 1 or (len(run.passes) == LAUNCH_PASSES and not run.tight()):
            return None
        self.state.direction = run.direction
        self._lead(run)
        return run.direction

    def overdue_us(self) -> int | None:
        """When the next pass, and those after it as far as a chain bridges, are all too late; None while nothing runs.

        Before the launch every reading has its say, because the fastest may be the wrong one.
        """
        if self._due_us == _UNKNOWN:
            self._due_us = self._next_overdue_us()
        return self._due_us

    def at_rest(self, t_us: int) -> None:
        """The ball was seen lying where it lay: pulses just before, with no launch yet, were strays."""
        kept = [chain for chain in self.state.chains if t_us - chain.last_us >= AT_REST_US]
        if not self.launched and len(kept) < len(self.state.chains):
            self.state.chains = kept
            self._due_us = _UNKNOWN

    def leave(self) -> None:
        """Note that the ball is gone from the track."""
        self.state.on_track = False
        self.state.waiting = True
        self._due_us = _UNKNOWN

    def forget(self) -> None:
        """The run is over, and its pulses with it."""
        kept = self.state
        self.state = BallState(strays=kept.strays, doubles=kept.doubles, pulse_us=kept.pulse_us)
        self._due_us = _UNKNOWN

    def _begin(self, chain: Chain) -> None:
        rivals = [other for other in self.state.chains if other.first_us >= chain.first_us]
        self.forget()
        self.state.chains = rivals
        self.state.launched_us = chain.first_us
        self.state.on_track = True
        self._lead(chain)

    def _fresh(self) -> Chain | None:
        """The best chain, other than the run's own, that could be a launch."""
        since_us = self.state.chains[0].last_us if self.launched else -1
        others = [chain for chain in self.state.chains if chain.first_us > since_us]
        able = [chain for chain in others if len(chain.passes) >= LAUNCH_PASSES]
        return max(able, key=lambda chain: chain.score, default=None)

    def _over(self, chain: Chain) -> bool:
        return not self.state.on_track and self._long_gone(chain)

    def _long_gone(self, chain: Chain) -> bool:
        """Whether `chain` can't be the run going on: no ball turns back or gains speed by itself."""
        run = self.state.chains[0]
        other_way = self.state.direction not in (chain.direction, None)
        before, after = run.speed_rev_s() or 0.0, hop_rev_s(chain.passes[0], chain.passes[1])
        faster = after > before * (1 + AGAIN_SLACK)
        return other_way or faster or chain.first_us - run.last_us > AGAIN_US

    def _best(self) -> Chain | None:
        """The running ball's chain is kept first once launched and decided; before, the best evidence leads."""
        chains = self.state.chains
        if not chains:
            return None
        if self.launched and (self.state.direction is not None or not self.state.on_track):
            return chains[0]
        return max(chains, key=lambda chain: (chain.score, -chain.first_us))

    def _overtaken(self) -> bool:
        """Whether another reading has become so much better than the run's that it is the run."""
        run = self.state.chains[0]
        if not self.launched or self.state.direction is None:
            return False
        best = max(self.state.chains, key=lambda chain: chain.score)
        if best.score < run.score + OVERTAKE or best.last_us <= run.last_us:
            return False
        self._lead(best)
        self.state.on_track = True
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
        rest = [c for c in chains[len(kept) :] if t_us - c.last_us < 1e6 / LEAVE_REV_S]
        rest.sort(key=lambda chain: (chain.score, chain.last_us), reverse=True)
        seeds = [Chain(direction, [Pass(t_us, beam, 0.0)]) for direction in ("cw", "ccw")]
        self.state.chains = kept + rest[: CHAINS_MAX - 2] + seeds

    def _foretold(self, t_us: int, beam: int) -> bool:
        """Of two pulses of one beam in one lap, the running ball's is the one that its slowing foretells."""
        run = self.run
        if run is None or not self.state.on_track or len(run.passes) < LAUNCH_PASSES or run.passes[-1].beam != beam:
            return False
        before, last = Chain(run.direction, run.passes[:-1]), run.passes[-1]
        turn_deg = last.turn_deg - before.passes[-1].turn_deg
        better = before.off_foretold(turn_deg, t_us) < before.off_foretold(turn_deg, last.t_us)
        if not better or not before.follows(turn_deg, t_us):
            return False
        run.passes[-1] = Pass(t_us, beam, last.turn_deg)
        self.state.pulse_us[beam] = t_us
        return True

    def _lead(self, run: Chain) -> None:
        """Put the running ball's chain first. Contrary readings stay in the race while they live."""
        rivals = [c for c in self.state.chains if c is not run and len(c.passes) >= 2]
        alive = [c for c in rivals if run.last_us - c.last_us < 1e6 / LEAVE_REV_S]
        self.state.chains = [run, *alive]
        self._due_us = _UNKNOWN

    def _next_overdue_us(self) -> int | None:
        best = self._best()
        if best is None or self.state.waiting or (self.launched and not self.state.on_track):
            return None
        readings = [best] if self.launched else self.state.chains
        return max(self._overdue_us(chain) for chain in readings)

    def _overdue_us(self, chain: Chain) -> int:
        speed = chain.speed_rev_s()
        slow = LEAVE_REV_S if speed is None else max(LEAVE_REV_S, min(0.8 * speed, LEAVE_REV_S_MAX))
        bridge_deg = self._beams.nth_ahead_deg(chain.passes[-1].beam, self._skip_max, chain.direction)
        wait_us = min(GONE_US, round(bridge_deg / 360 / slow * 1e6))
        lost = self.launched and speed is not None and speed > FAST_REV_S
        return chain.last_us + (max(wait_us, LOST_US) if lost else wait_us)


def _is_weak(chain: Chain) -> bool:
    speed = chain.speed_rev_s()
    return speed is not None and not chain.skipped and speed <= WEAK_REV_S_MAX
