"""The wheel: its pockets, the sensors round the bowl, and the ball's run on the track.

Angles are in *turns*, clockwise as seen from above, from the reference mark on the fixed bowl (in degrees only in the
log's header). The angle of a pocket's centre is the rotor's angle plus the pocket's place on the rotor.

The ball on the track obeys, with ω in rev/s and θ its angle,

    dω/dt = −(c0 + c2·ω²) − rub − g·sin(θ − low)

- c0 and c2: rolling friction and air drag.
- rub: in ball_lap_times.json seven of nine balls slow down three to five times as fast between about 1.0 and 0.6 rev/s
  as before and after. The reason is not known. Probably the ball then comes down from the wall, and slides until its
  spin has reversed. So in the model a ball rubs only once in a run.
- g·sin: a bowl that is not level pulls the ball towards its lowest point; g = gravity·sin(tilt)/(2π·radius).

With laps instead of time, the equation is linear in ω², with a sinusoidal force. So ω² has a closed form at every
place. Only the time needs numerical integration (Gauss, three points on a quarter of a lap: exact to 1 µs).

The ball leaves the track when ω² falls below ω_leave²·(1 − lean·cos(θ − low)). The slope is steeper on the high side,
so the ball leaves earlier there. In a part of a badly kept bowl no ball leaves (Thorp's forbidden zone).
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from hw_sim.events import Direction

# fmt: off
POCKETS = (
    0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10,
    5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26,
)
# fmt: on
"""The numbers clockwise on the French rotor, from zero."""
# fmt: off
AMERICAN_POCKETS = (
    0, 28, 9, 26, 30, 11, 7, 20, 32, 17, 5, 22, 34, 15, 3, 24, 36, 13, 1,
    37, 27, 10, 25, 29, 12, 8, 19, 31, 18, 6, 21, 33, 16, 4, 23, 35, 14, 2,
)
# fmt: on
"""The numbers clockwise on the American rotor, from zero. 37 is the double zero."""

LAPS_NEEDED = 3
"""The laps that a daemon must prove at the French tables (docs/rulebook.md, C10)."""
HOUSES: dict[tuple[str, str], tuple[tuple[int, ...], int]] = {
    ("campione", "roulette"): (POCKETS, LAPS_NEEDED),
    ("campione", "fair"): (POCKETS, LAPS_NEEDED),
    ("venezia", "roulette-francese"): (POCKETS, LAPS_NEEDED),
    ("venezia", "fair"): (POCKETS, LAPS_NEEDED),
    ("south-dakota", "american"): (AMERICAN_POCKETS, 4),
}
"""For each house and game: the pockets of its wheel, and the laps that a coup needs."""
LEAVE_REV_S = (0.43, 0.50)
"""The speed at which balls leave the track (the last laps in ball_lap_times.json have 0.43–0.48 rev/s)."""
C0_REV_S2 = (0.003, 0.025)
"""The rolling friction, from the smallest to the largest value that fits a ball of ball_lap_times.json."""
C2_PER_REV = (0.045, 0.100)
"""The air drag, from the smallest to the largest value that fits a ball of ball_lap_times.json."""
RUB_REV_S2 = (0.10, 0.25)
RUB_FROM_REV_S = (0.95, 1.10)
RUB_TO_REV_S = (0.55, 0.68)
"""How much a ball rubs, and the speeds at which it begins and stops to rub, as fitted to balls of
ball_lap_times.json."""
RUBBING = 0.75
"""The share of the wheels on which balls rub. In ball_lap_times.json seven of nine balls rub."""
LEVEL_DEG, BADLY_KEPT_DEG = 0.1, 0.3
"""The largest tilt of a well-kept table, and of a badly kept one. Thorp played on tables with up to 0.2°."""
BADLY_KEPT = 0.1
"""The share of the wheels that are tilted by more than LEVEL_DEG."""
RADIUS_M = 0.36
"""The radius of the ball's path on the track, in a bowl of 32 inches."""
GRAVITY_M_S2 = 9.81
DEFLECTORS = 8
"""The number of deflectors on the slope under the track. They are alternately upright and flat."""
STEP_LAPS = 1 / 16
"""The step of the search in `_meeting`. Within one step the sine of the tilt has at most one turning point."""
PIECE_LAPS = 1 / 4
"""The length of one piece of the integration. With the worst tilt its error is 7e-8 s (Gauss's remainder)."""
GAUSS = math.sqrt(3 / 5)
NEAR_LAPS = 1e-12
"""The precision of the search in `_meeting`. The rounding of floats begins at 1e-14."""


def printed(number: int) -> str:
    """Return the label of the pocket of `number`."""
    return "00" if number == max(AMERICAN_POCKETS) else str(number)


def sign(direction: Direction) -> int:
    """Return +1 for clockwise, −1 for counter-clockwise."""
    return 1 if direction == "cw" else -1


def opposite(direction: Direction) -> Direction:
    """Return the other direction."""
    return "ccw" if direction == "cw" else "cw"


@dataclass(frozen=True)
class WheelLayout:
    """A wheel, its table, and the places of its sensors. Only a fair wheel has a `rotor_direction`."""

    house: str
    game: str
    rotor_ticks: int
    beams_deg: tuple[float, ...]
    readers_deg: tuple[float, ...]
    rotor_direction: Direction | None = None

    @property
    def wheel(self) -> Literal["french", "fair"]:
        """The kind of wheel."""
        return "fair" if self.game == "fair" else "french"

    @cached_property
    def pockets(self) -> tuple[int, ...]:
        """The numbers clockwise on the rotor, from zero."""
        return HOUSES[self.house, self.game][0]

    @cached_property
    def laps_needed(self) -> int:
        """The laps that a daemon must prove at this table."""
        return HOUSES[self.house, self.game][1]

    def behind(self, number: int) -> float:
        """Return how far clockwise from zero the pocket of `number` is on the rotor, in turns."""
        return self.pockets.index(number) / len(self.pockets)


@dataclass(frozen=True)
class Fall:
    """A fall: the ball leaves the track, or the obstacle on which it hung, at `left_s`, and rests in `number` at
    `rest_s`. `touches`: (time in s, number) for each pocket that the ball touched before, in order.
    """

    left_s: float
    rest_s: float
    number: int
    touches: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Arc:
    """ω² as a function of the laps, from lap `x` on, while the friction is constant:
    floor + wave·sin(2π·laps + phase) + above·e^(−fade·(laps − x))."""

    x: float
    floor: float
    wave: float
    phase: float
    fade: float
    above: float

    def square(self, laps: float) -> float:
        """Return ω² in rev²/s² at `laps`."""
        swing = self.wave * math.sin(math.tau * laps + self.phase)
        return self.floor + swing + self.above * math.exp(self.fade * (self.x - laps))

    def seconds(self, start: float, end: float) -> float:
        """Return the time in s from `start` to `end` (laps), which may be at most PIECE_LAPS apart."""
        half, middle = (end - start) / 2, (start + end) / 2
        off = half * GAUSS
        sides = 1 / math.sqrt(self.square(middle - off)) + 1 / math.sqrt(self.square(middle + off))
        return half * (5 * sides + 8 / math.sqrt(self.square(middle))) / 9

    def over(self, square: float) -> Callable[[float], float]:
        """Return the function that gives how much ω² exceeds `square` at a place (laps)."""
        return lambda laps: self.square(laps) - square

    def under(self, square: float) -> Callable[[float], float]:
        """Return the function that gives how much ω² is less than `square` at a place (laps)."""
        return lambda laps: square - self.square(laps)

    def near(self, square: float, spare: float) -> float:
        """Return the place (laps) where ω² without its wave has fallen to `square` + `spare`. The true ω² falls to
        `square` between the places for `spare` = `wave` and for `spare` = −`wave`."""
        return self.x - math.log((square - self.floor + spare) / self.above) / self.fade


@dataclass(frozen=True)
class Track:
    """The properties of the bowl: friction, air drag and rubbing (see the module), the speed at which a ball leaves the
    track, the tilt, the angle of the lowest point, and the angle of the first upright deflector."""

    c0_rev_s2: float
    c2_per_rev: float
    leave_rev_s: float
    tilt_deg: float
    low_angle: float
    rub_rev_s2: float = 0.0
    rub_from_rev_s: float = RUB_FROM_REV_S[0]
    rub_to_rev_s: float = RUB_TO_REV_S[1]
    deflector_angle: float = 0.0

    @staticmethod
    def draw(rng: random.Random) -> Track:
        """Draw a bowl from the ranges that were measured on real wheels."""
        return Track(
            c0_rev_s2=rng.uniform(*C0_REV_S2),
            c2_per_rev=rng.uniform(*C2_PER_REV),
            leave_rev_s=rng.uniform(*LEAVE_REV_S),
            tilt_deg=rng.uniform(0, LEVEL_DEG)
            if rng.random() >= BADLY_KEPT
            else rng.uniform(LEVEL_DEG, BADLY_KEPT_DEG),
            low_angle=rng.random(),
            rub_rev_s2=rng.uniform(*RUB_REV_S2) if rng.random() < RUBBING else 0.0,
            rub_from_rev_s=rng.uniform(*RUB_FROM_REV_S),
            rub_to_rev_s=rng.uniform(*RUB_TO_REV_S),
            deflector_angle=rng.random(),
        )

    @cached_property
    def pull_rev_s2(self) -> float:
        """The pull of the tilt along the track (rev/s²), half way between its highest and its lowest point."""
        return GRAVITY_M_S2 * math.sin(math.radians(self.tilt_deg)) / (math.tau * RADIUS_M)

    @cached_property
    def slope(self) -> float:
        """The angle (rad) of the slope under the track. On this slope, a ball with exactly the leaving speed neither
        climbs nor falls."""
        return math.atan((math.tau * self.leave_rev_s) ** 2 * RADIUS_M / GRAVITY_M_S2)

    @cached_property
    def lean(self) -> float:
        """The share by which the tilt raises and lowers the square of the leaving speed, to first order."""
        return math.radians(self.tilt_deg) / (math.sin(self.slope) * math.cos(self.slope))

    def leave_speed_squared(self, angle: float) -> float:
        """Return the square of the speed (rev²/s²) below which the ball leaves the track at `angle`."""
        return self.leave_rev_s**2 * (1 - self.lean * math.cos(math.tau * (angle - self.low_angle)))

    def launch_speed(self, laps: float, angle: float, turning: int) -> float:
        """Return the launch speed (rev/s) of a ball that is launched at `angle` and leaves the track after `laps`.

        In the forbidden zone of a badly kept bowl there is no such speed: the ball leaves sooner (`BallRun.laps`).
        """
        x, square = laps, self.leave_speed_squared(angle + turning * laps)
        for rub, since, _ in reversed(self.stages()):
            arc = self.arc(rub, x, square, angle, turning)
            if arc.square(0.0) <= since:
                break
            x = _meeting(arc.under(since), min(x, arc.near(since, -arc.wave)), -1)
            square = since
        return math.sqrt(arc.square(0.0))

    def stages(self) -> tuple[tuple[float, float, float], ...]:
        """Return (rub in rev/s², ω² at its start, ω² at its end) for each stage of a run, in order."""
        if not self.rub_rev_s2:
            return ((0.0, math.inf, 0.0),)
        high, low = self.rub_from_rev_s**2, self.rub_to_rev_s**2
        return ((0.0, math.inf, high), (self.rub_rev_s2, high, low), (0.0, low, 0.0))

    def arc(self, rub: float, x: float, square: float, angle: float, turning: int) -> Arc:
        """Return the motion of a ball that was launched at `angle`, rubs by `rub` and has ω² = `square` at `x` laps."""
        fade = 2 * self.c2_per_rev
        wave = 2 * self.pull_rev_s2 / math.hypot(fade, math.tau)
        phase = math.tau * turning * (angle - self.low_angle) + math.atan2(math.tau, -fade)
        floor = -(self.c0_rev_s2 + rub) / self.c2_per_rev
        above = square - floor - wave * math.sin(math.tau * x + phase)
        return Arc(x, floor, wave, phase, fade, above)


def _meeting(ahead: Callable[[float], float], start: float, way: int) -> float:
    """Return the first place from `start` on, forwards (`way` +1) or backwards (−1), where `ahead` is zero. Search in
    steps, then by the false position method."""
    held, met = start, start
    over = under = ahead(start)
    while under > 0:
        held, over = met, under
        met += way * STEP_LAPS
        under = ahead(met)
    while under < 0 and abs(met - held) > NEAR_LAPS:
        at = met - under * (met - held) / (under - over)
        here = ahead(at)
        if here > 0:
            held, over, under = at, here, under / 2  # Illinois rule: otherwise one end of the interval would never move
        else:
            met, under, over = at, here, over / 2
    return met


@dataclass(frozen=True)
class BallRun:
    """One run on the track: launched at `t_s` from `angle` at `speed_rev_s`, turning +1 (clockwise) or −1.

    `laps`: the true laps until the ball leaves the track or a hand blocks it.
    """

    track: Track
    t_s: float
    angle: float
    turning: int
    speed_rev_s: float
    laps: float

    @staticmethod
    def free(track: Track, t_s: float, angle: float, turning: int, speed_rev_s: float) -> BallRun:
        """Return a run that ends where the ball leaves the track by itself."""
        run = BallRun(track, t_s, angle, turning, speed_rev_s, math.inf)
        last = run._arcs[-1]

        def held(laps: float) -> float:
            return last.square(laps) - track.leave_speed_squared(angle + turning * laps)

        # The run ends where ω² first falls to the square of the leaving speed.
        highest = track.leave_rev_s**2 * (1 + track.lean)
        return replace(run, laps=_meeting(held, max(last.x, last.near(highest, last.wave)), 1))

    @cached_property
    def _arcs(self) -> list[Arc]:
        """The parts of the motion in order. The last part has no end."""
        x, square, arcs = 0.0, self.speed_rev_s**2, []
        for rub, _, until in self.track.stages():
            if square <= until:
                continue
            arc = self.track.arc(rub, x, square, self.angle, self.turning)
            arcs.append(arc)
            if until:
                x = _meeting(arc.over(until), max(x, arc.near(until, arc.wave)), 1)
                square = until
        return arcs

    @cached_property
    def _clock(self) -> tuple[list[float], list[float], list[Arc]]:
        """The laps at which the pieces of the integration begin (`PIECE_LAPS`). For each: its time, and the arc of the
        run from that lap on."""
        laps, times, arcs = [0.0], [self.t_s], [self._arcs[0]]
        for arc, end in zip(self._arcs, [*(arc.x for arc in self._arcs[1:]), self.laps], strict=True):
            arcs[-1] = arc if arc.x <= self.laps else arcs[-1]
            while laps[-1] < min(end, self.laps):
                laps.append(min(laps[-1] + PIECE_LAPS, end, self.laps))
                times.append(times[-1] + arc.seconds(laps[-2], laps[-1]))
                arcs.append(arc)
        return laps, times, arcs

    def speed_squared(self, laps: float) -> float:
        """Return ω² in rev²/s² after `laps`."""
        return next(arc for arc in reversed(self._arcs) if arc.x <= laps).square(laps)

    def time_at(self, laps: float) -> float:
        """Return the sensing time (s) at which the ball has run `laps`, which must not be more than the whole run."""
        starts, times, arcs = self._clock
        piece = max(0, bisect_right(starts, laps) - 1)
        return times[piece] + arcs[piece].seconds(starts[piece], laps)

    def laps_at(self, t_s: float) -> float:
        """Return the laps that the ball has run at sensing time `t_s` (s): 0 before the launch, all laps of the run
        after its end."""
        starts, times, arcs = self._clock
        piece = bisect_right(times, t_s) - 1
        if piece < 0 or t_s >= times[-1]:
            return 0.0 if piece < 0 else self.laps
        start, arc = starts[piece], arcs[piece]
        laps = start
        for _ in range(4):  # Newton's method: each step squares the error, at first less than a quarter of a lap
            laps += (t_s - times[piece] - arc.seconds(start, laps)) * math.sqrt(arc.square(laps))
        return laps

    @cached_property
    def end_s(self) -> float:
        """The sensing time (s) at which the ball left the track or a hand blocked it."""
        return self.time_at(self.laps)

    def blocked(self, t_s: float) -> BallRun:
        """Return the same run, but ended by a hand at `t_s`."""
        return replace(self, laps=self.laps_at(t_s))

    def laps_at_most(self, beams_deg: tuple[float, ...]) -> float:
        """Return the most laps that the passes allow: from the beam before the first pass to the beam after the last
        pass."""
        offsets = [((beam / 360 - self.angle) * self.turning) % 1.0 for beam in beams_deg]
        places = [lap + offset for lap in range(-1, math.ceil(self.laps) + 2) for offset in offsets]
        return min(each for each in places if each > self.laps) - max(each for each in places if each < 0)

    def passes(self, beams_deg: tuple[float, ...]) -> Iterator[tuple[float, int]]:
        """Yield (time in s, beam) each time the ball's centre crosses a beam, in order."""
        ahead = sorted(((beam / 360 - self.angle) * self.turning % 1.0, i) for i, beam in enumerate(beams_deg))
        for lap in range(math.ceil(self.laps) + 1):
            for offset, beam in ahead:
                if lap + offset <= self.laps:
                    yield self.time_at(lap + offset), beam
