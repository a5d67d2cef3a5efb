"""The wheel as iron and wood: pockets, sensors round the bowl, the ball's run on the track, the fall.

Angles are *turns*, clockwise seen from above, from the reference mark on the fixed bowl (degrees only in the log's
header). A pocket's centre stands at the rotor's angle plus its place in `POCKETS` over 37.

The ball on the track obeys  dω/dt = −(c0 + c2·ω²)  (rolling friction and air; ω in rev/s). That has a closed form in
both directions, so a crossing is exact to rounding and no step size exists. The ball leaves when ω² falls under
ω_leave²·(1 + tilt·cos(angle − tilt_angle)): a tilted wheel lets go of it earlier on one side.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hw_sim.events import Direction

# fmt: off
POCKETS = (
    0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10,
    5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26,
)
# fmt: on
"""The numbers clockwise on the rotor, from zero."""

LEAVE_REV_S = (0.43, 0.50)
"""Where balls leave the track (the last laps of ball_lap_times.json run at 0.43–0.48 rev/s)."""
C0_REV_S2 = (0.010, 0.070)
"""Rolling friction, range of the fits to ball_lap_times.json."""
C2_PER_REV = (0.035, 0.120)
"""Air drag, range of the fits to ball_lap_times.json."""
TILT_MAX = 0.02
"""Above this a weak ball could pass its leaving point and come back under it; real tables are level to 0.1°."""


def pocket_index(number: int) -> int:
    """Place of `number` on the rotor, 0 for zero, clockwise."""
    return POCKETS.index(number)


def sign(direction: Direction) -> int:
    """Clockwise +1, counter-clockwise −1."""
    return 1 if direction == "cw" else -1


def opposite(direction: Direction) -> Direction:
    """The other way round."""
    return "ccw" if direction == "cw" else "cw"


@dataclass(frozen=True)
class Layout:
    """Which wheel stands at which table, and where its sensors are. `rotor_direction` only on a fair wheel."""

    house: str
    game: str
    wheel: Literal["french", "fair"]
    rotor_ticks: int
    beams_deg: tuple[float, ...]
    readers_deg: tuple[float, ...]
    rotor_direction: Direction | None = None


@dataclass(frozen=True)
class Track:
    """What a wheel does to a ball: friction, air, the speed at which it lets go, and its tilt."""

    c0_rev_s2: float
    c2_per_rev: float
    leave_rev_s: float
    tilt: float
    tilt_angle: float

    @staticmethod
    def draw(rng: random.Random) -> Track:
        """A wheel within what was measured on real ones."""
        return Track(
            c0_rev_s2=rng.uniform(*C0_REV_S2),
            c2_per_rev=rng.uniform(*C2_PER_REV),
            leave_rev_s=rng.uniform(*LEAVE_REV_S),
            tilt=rng.uniform(0, TILT_MAX),
            tilt_angle=rng.random(),
        )

    def leave_speed_squared(self, angle: float) -> float:
        """Square of the speed (rev²/s²) under which the ball leaves at `angle`."""
        return self.leave_rev_s**2 * (1 + self.tilt * math.cos(math.tau * (angle - self.tilt_angle)))

    def launch_speed(self, laps: float, angle: float, turning: int) -> float:
        """Speed (rev/s) that a ball launched at `angle` needs to leave the track after exactly `laps`."""
        ratio = self.c0_rev_s2 / self.c2_per_rev
        end = self.leave_speed_squared(angle + turning * laps)
        return math.sqrt((end + ratio) * math.exp(2 * self.c2_per_rev * laps) - ratio)


@dataclass(frozen=True)
class BallRun:
    """One run on the track: launched at `t_s` from `angle` at `speed_rev_s`, turning +1 (clockwise) or −1.

    `laps` is what it truly runs before it leaves, or before a hand blocks it.
    """

    track: Track
    t_s: float
    angle: float
    turning: int
    speed_rev_s: float
    laps: float

    @staticmethod
    def free(track: Track, t_s: float, angle: float, turning: int, speed_rev_s: float) -> BallRun:
        """A run that ends where the track lets go of the ball."""
        run = BallRun(track, t_s, angle, turning, speed_rev_s, math.inf)
        return BallRun(track, t_s, angle, turning, speed_rev_s, run._leaves_after())

    def _leaves_after(self) -> float:
        """Laps until ω² first meets the leaving speed; the tilt is small enough for the meeting to be the only one."""
        low, high = 0.0, 1.0
        while self._held(high):
            low, high = high, high + 1.0
        for _ in range(60):  # 2^-60 of a lap: below the rounding of a float
            middle = (low + high) / 2
            low, high = (middle, high) if self._held(middle) else (low, middle)
        return low

    def _held(self, laps: float) -> bool:
        return self.speed_squared(laps) > self.track.leave_speed_squared(self.angle + self.turning * laps)

    def speed_squared(self, laps: float) -> float:
        """ω² after `laps`, from the closed form in the angle."""
        ratio = self.track.c0_rev_s2 / self.track.c2_per_rev
        return (self.speed_rev_s**2 + ratio) * math.exp(-2 * self.track.c2_per_rev * laps) - ratio

    def time_at(self, laps: float) -> float:
        """Sensing time (s) at which the ball has run `laps`."""
        c0, c2 = self.track.c0_rev_s2, self.track.c2_per_rev
        phase = math.atan(self.speed_rev_s * math.sqrt(c2 / c0))
        phase_then = math.acos(min(1.0, math.cos(phase) * math.exp(c2 * laps)))
        return self.t_s + (phase - phase_then) / math.sqrt(c0 * c2)

    def laps_at(self, t_s: float) -> float:
        """Laps run at sensing time `t_s` (s)."""
        c0, c2 = self.track.c0_rev_s2, self.track.c2_per_rev
        phase = math.atan(self.speed_rev_s * math.sqrt(c2 / c0))
        return math.log(math.cos(phase - math.sqrt(c0 * c2) * (t_s - self.t_s)) / math.cos(phase)) / c2

    @property
    def end_s(self) -> float:
        """When it left the track or was blocked."""
        return self.time_at(self.laps)

    def blocked(self, t_s: float) -> BallRun:
        """The same run, ended by a hand at `t_s`."""
        laps = min(self.laps, self.laps_at(t_s))
        return BallRun(self.track, self.t_s, self.angle, self.turning, self.speed_rev_s, laps)

    def passes(self, beams_deg: tuple[float, ...]) -> Iterator[tuple[float, int]]:
        """(time in s, beam) each time the ball's centre crosses a beam, in order."""
        ahead = sorted(((beam / 360 - self.angle) * self.turning % 1.0, i) for i, beam in enumerate(beams_deg))
        for lap in range(math.ceil(self.laps) + 1):
            for offset, beam in ahead:
                if lap + offset <= self.laps:
                    yield self.time_at(lap + offset), beam
