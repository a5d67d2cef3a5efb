"""The ball on its track: from beam pulses to a launch, a direction, proven laps, and the moment it is gone.

A pulse proves nothing alone. A *chain* is one reading of the pulses, for one direction: the passes of a ball that
slows down as balls do. Every pulse may begin chains; a chain takes a pulse that agrees with its speed and leaves the
others (a stray is a pulse that no chain of the running ball takes). What more passes prove, wins.
"""

from __future__ import annotations

import msgspec

from wheeld.core.observations import Direction

DOUBLE_PULSE_US = 120_000
"""One ball can't meet the same beam again sooner: that would be 8 laps a second."""
HOP_REV_S_MIN, HOP_REV_S_MAX = 0.25, 4.0
"""Mean speed between two passes. Balls leave the track at 0.43–0.50 laps/s; no hand launches at 4 (captures: ≤ 2.6)."""
SLOWING_REV_S2 = 0.08
SLOWING_PER_REV = 0.14
"""Hardest slowing believed, laps/s²: constant part and factor of speed²; twice what the captured balls show."""
SPEED_SLACK = 0.07
PASS_JITTER_US = 8_000
"""How far a hop's speed may stray from the law: tilt and reading error, and the jitter of its two pulses."""
LAUNCH_PASSES = 3
"""'Several passes at a plausible speed' (rulebook 6): two hops that agree."""
LEAVE_REV_S, LEAVE_REV_S_MAX = 0.38, 0.50
"""Balls leave the track between these speeds: so slowly one may come to the next beams, however fast it was seen."""
SURE_PASSES = 4
"""With so many passes behind it a chain knows its speed: it bridges any beams missed within a lap."""
AGAIN_US = 6_000_000
"""A ball lost from sight and found again within this time was running all the while; later it was launched anew."""
FEW_US = 30_000_000
"""How long a single pass may wait for the ball to be read in a pocket: a fall, then three turns of a slow rotor."""
AGAIN_SLACK = 0.15
"""A ball found again may be taken for so much faster than it was: two hops' worth of jitter and tilt."""
CHAINS_MAX = 12
"""Readings kept at once before the launch; with strays at a hundred times their rate four are in use."""


class Pass(msgspec.Struct, frozen=True):
    """One pass in a chain: sensing time, beam, and degrees run since the chain's first pass."""

    t_us: int
    beam: int
    turn_deg: float


class Chain(msgspec.Struct):
    """One reading of the pulses; `skipped` counts beams that it passed unseen."""

    direction: Direction
    passes: list[Pass]
    skipped: int = 0

    @property
    def score(self) -> int:
        """Evidence for it: passes seen less passes that should have been."""
        return len(self.passes) - self.skipped

    @property
    def proven_deg(self) -> float:
        """Degrees from its first pass to its last but one.

        R2: the last pulse only suggests its hop, for a stray after the ball has gone would look the same; the pass
        after it proves it. With two beams one short run in six would take a stray's lap for its own.
        """
        return self.passes[-2].turn_deg if len(self.passes) > 1 else 0.0

    @property
    def last_us(self) -> int:
        """Time of the latest pass."""
        return self.passes[-1].t_us

    def speed_rev_s(self) -> float | None:
        """Mean speed of the last hop; None before the second pass."""
        if len(self.passes) < 2:
            return None
        return _speed_rev_s(*self.passes[-2:])


class BallState(msgspec.Struct):
    """What the tracker remembers of pulses and of the run in progress.

    `waiting`: pulses came, too few for a launch, and no more are expected; where the ball lies will tell.
    """

    chains: list[Chain] = msgspec.field(default_factory=list)
    pulse_us: dict[int, int] = msgspec.field(default_factory=dict)
    launched_us: int | None = None
    direction: Direction | None = None
    on_track: bool = False
    waiting: bool = False
    earlier_deg: float = 0.0
    strays: int = 0
    doubles: int = 0


class BallTracker:
    """Follows one ball past `beams_deg`. All state is in `state`."""

    def __init__(self, beams_deg: tuple[float, ...], state: BallState | None = None) -> None:
        self._beams_deg = beams_deg
        self._skip_max = 1 if len(beams_deg) < 6 else 2
        self.state = state or BallState()

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
    def first_us(self) -> int | None:
        """Time of the first pass of the best reading."""
        best = self._best()
        return None if best is None else best.passes[0].t_us

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

    def pulse(self, t_us: int, beam: int) -> bool:
        """Take one pulse in; True when the running ball's reading took it (False: double, stray, or no run yet)."""
        state = self.state
        previous_us = state.pulse_us.get(beam)
        if previous_us is not None and t_us - previous_us < DOUBLE_PULSE_US:
            state.doubles += 1
            self._foretold(t_us, beam)
            return False
        state.pulse_us[beam] = t_us
        state.waiting = False
        run = self._best() if self.launched else None
        taken = [chain for chain in state.chains if self._extend(chain, t_us, beam)]
        if run is not None and any(chain is run for chain in taken):
            self._lead(run)
            state.on_track = True
            return True
        state.strays += run is not None
        if self._foretold(t_us, beam):
            return True
        self._seed(t_us, beam)
        return False

    def launch(self) -> bool:
        """Whether the last pulse proves a launch. A run that left the track long ago gives way to it."""
        chain = self._fresh()
        if chain is None or (self.launched and (self.state.on_track or not self._long_gone(chain))):
            return False
        self._begin(chain)
        return True

    def few_passes(self, now_us: int) -> int:
        """Passes that agree, too few to be a launch by themselves, and recent enough to explain where the ball lies."""
        best = self._best()
        return 0 if self.launched or best is None or now_us - best.last_us > FEW_US else len(best.passes)

    def again(self) -> bool:
        """Whether a ball thought gone is running after all: as many passes as a launch, soon, the same way."""
        chain = self._fresh()
        if chain is None or not self.launched or self.state.on_track or self._long_gone(chain):
            return False
        self.state.earlier_deg += self.state.chains[0].proven_deg
        self._lead(chain)
        self.state.on_track = True
        return True

    def decide_direction(self) -> Direction | None:
        """The ball's direction, once, when its evidence beats every contrary reading; None before and after."""
        best = self._best()
        if self.state.direction is not None or not self.launched or best is None or best.score < LAUNCH_PASSES:
            return None
        contrary = [chain.score for chain in self.state.chains if chain.direction != best.direction]
        if contrary and max(contrary) >= best.score:
            return None
        self.state.direction = best.direction
        self._lead(best)
        return best.direction

    def overdue_us(self) -> int | None:
        """When the next pass, and those after it as far as a chain bridges, are all too late; None while nothing runs.

        Before the launch every reading has its say, because the fastest may be the wrong one.
        """
        best = self._best()
        if best is None or self.state.waiting or (self.launched and not self.state.on_track):
            return None
        readings = [best] if self.launched else self.state.chains
        return max(self._overdue_us(chain) for chain in readings)

    def leave(self) -> None:
        """Note that the ball is gone from the track."""
        self.state.on_track = False
        self.state.waiting = True

    def forget(self) -> None:
        """The run is over, and its pulses with it."""
        kept = self.state
        self.state = BallState(strays=kept.strays, doubles=kept.doubles, pulse_us=kept.pulse_us)

    def _begin(self, chain: Chain) -> None:
        rivals = [other for other in self.state.chains if other.passes[0].t_us >= chain.passes[0].t_us]
        self.forget()
        self.state.chains = rivals
        self.state.launched_us = chain.passes[0].t_us
        self.state.on_track = True
        self._lead(chain)

    def _fresh(self) -> Chain | None:
        """The best chain, other than the run's own, that could be a launch."""
        since_us = self.state.chains[0].last_us if self.launched else -1
        others = [chain for chain in self.state.chains if chain.passes[0].t_us > since_us]
        able = [chain for chain in others if len(chain.passes) >= LAUNCH_PASSES]
        return max(able, key=lambda chain: chain.score, default=None)

    def _long_gone(self, chain: Chain) -> bool:
        """Whether `chain` can't be the run going on: no ball turns back or gains speed by itself."""
        run = self.state.chains[0]
        other_way = self.state.direction not in (chain.direction, None)
        before, after = run.speed_rev_s() or 0.0, _speed_rev_s(chain.passes[0], chain.passes[1])
        faster = after > before * (1 + AGAIN_SLACK)
        return other_way or faster or chain.passes[0].t_us - run.last_us > AGAIN_US

    def _best(self) -> Chain | None:
        """The running ball's chain is kept first once launched and decided; before, the best evidence leads."""
        chains = self.state.chains
        if not chains:
            return None
        if self.launched and (self.state.direction is not None or not self.state.on_track):
            return chains[0]
        return max(chains, key=lambda chain: (chain.score, -chain.passes[0].t_us))

    def _extend(self, chain: Chain, t_us: int, beam: int) -> bool:
        last = chain.passes[-1]
        turn_deg = self._ahead_deg(last.beam, beam, chain.direction)
        skipped = self._beams_between(last.beam, turn_deg, chain.direction)
        hop_us = t_us - last.t_us
        skip_max = len(self._beams_deg) - 1 if len(chain.passes) >= SURE_PASSES else self._skip_max
        if skipped > skip_max or not _plausible(chain, turn_deg, hop_us, t_us):
            return False
        chain.passes.append(Pass(t_us, beam, last.turn_deg + turn_deg))
        chain.skipped += skipped
        return True

    def _seed(self, t_us: int, beam: int) -> None:
        """Every unexplained pulse may be the first of a run, either way."""
        chains = self.state.chains
        kept = chains[:1] if self.launched else []
        rest = [c for c in chains[len(kept) :] if t_us - c.last_us < 1e6 / HOP_REV_S_MIN]
        rest.sort(key=lambda chain: (chain.score, chain.last_us), reverse=True)
        seeds = [Chain(direction, [Pass(t_us, beam, 0.0)]) for direction in ("cw", "ccw")]
        self.state.chains = kept + rest[: CHAINS_MAX - 2] + seeds

    def _foretold(self, t_us: int, beam: int) -> bool:
        """Of two pulses of one beam in one lap, the running ball's is the one that its slowing foretells."""
        run = self._best() if self.launched else None
        if run is None or len(run.passes) < LAUNCH_PASSES or run.passes[-1].beam != beam:
            return False
        before, last = Chain(run.direction, run.passes[:-1]), run.passes[-1]
        turn_deg = last.turn_deg - before.passes[-1].turn_deg
        if _off_foretold(before, turn_deg, t_us) >= _off_foretold(before, turn_deg, last.t_us):
            return False
        run.passes[-1] = Pass(t_us, beam, last.turn_deg)
        self.state.pulse_us[beam] = t_us
        return True

    def _lead(self, run: Chain) -> None:
        """Put the running ball's chain first. Until its direction is decided contrary readings stay in the race."""
        undecided = self.state.direction is None
        rivals = [c for c in self.state.chains if c is not run and undecided and len(c.passes) >= 2]
        self.state.chains = [run, *rivals]

    def _overdue_us(self, chain: Chain) -> int:
        speed = chain.speed_rev_s()
        slow = LEAVE_REV_S if speed is None else max(LEAVE_REV_S, min(0.8 * speed, LEAVE_REV_S_MAX))
        return chain.last_us + round(self._bridge_deg(chain) / 360 / slow * 1e6)

    def _ahead_deg(self, beam: int, other: int, direction: Direction) -> float:
        """Degrees from `beam` to `other` the way the ball runs, in (0, 360]."""
        gap = (self._beams_deg[other] - self._beams_deg[beam]) % 360
        ahead = gap if direction == "cw" else -gap % 360
        return ahead or 360.0

    def _beams_between(self, beam: int, turn_deg: float, direction: Direction) -> int:
        return sum(
            self._ahead_deg(beam, other, direction) < turn_deg - 1e-9
            for other in range(len(self._beams_deg))
            if other != beam
        )

    def _bridge_deg(self, chain: Chain) -> float:
        """Degrees to the farthest beam that a chain's second pass may come from; longer gaps hold no verdict up."""
        ahead = sorted(
            self._ahead_deg(chain.passes[-1].beam, other, chain.direction) for other in range(len(self._beams_deg))
        )
        return ahead[self._skip_max]


def _speed_rev_s(before: Pass, last: Pass) -> float:
    return _rev_s(last.turn_deg - before.turn_deg, last.t_us - before.t_us)


def _rev_s(turn_deg: float, time_us: int) -> float:
    return turn_deg / 360 / max(time_us, 1) * 1e6


def _plausible(chain: Chain, turn_deg: float, hop_us: int, t_us: int) -> bool:
    """Whether a ball that slows as balls do can have run `turn_deg` in `hop_us` after the chain's last hop."""
    speed = _rev_s(turn_deg, hop_us)
    if not HOP_REV_S_MIN <= speed <= HOP_REV_S_MAX:
        return False
    before = chain.speed_rev_s()
    if before is None:
        return True
    between_s = (t_us - chain.passes[-2].t_us) / 2e6
    last_hop_us = chain.passes[-1].t_us - chain.passes[-2].t_us
    slack = SPEED_SLACK + PASS_JITTER_US / hop_us + PASS_JITTER_US / last_hop_us
    slowest = before - (SLOWING_REV_S2 + SLOWING_PER_REV * before * before) * between_s
    return slowest * (1 - slack) <= speed <= before * (1 + slack)


def _off_foretold(chain: Chain, turn_deg: float, t_us: int) -> float:
    """How far, laps/s, a next hop of `turn_deg` until `t_us` is from the speed of a ball that slows as most do."""
    before = chain.speed_rev_s() or 0.0
    between_s = (t_us - chain.passes[-2].t_us) / 2e6
    usual = before - (SLOWING_REV_S2 + SLOWING_PER_REV * before * before) / 2 * between_s
    return abs(_rev_s(turn_deg, t_us - chain.last_us) - usual)
