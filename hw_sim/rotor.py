"""The rotor's motion, in pieces of constant acceleration. So the times at which the rotor reaches an angle are exact.

A free rotor loses speed in its bearing at a constant rate. A hand also brakes, reverses or pushes it at a constant
rate. The direction never changes within a piece. A reversal is two pieces: the rotor stops, then begins to turn again.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Piece:
    """A piece of the motion: it begins at `t_s` with `angle` (turns) and `speed` (rev/s, clockwise positive), and has
    the acceleration `accel` (rev/s²)."""

    t_s: float
    angle: float
    speed: float
    accel: float

    def speed_at(self, t_s: float) -> float:
        """Return the speed in rev/s at `t_s`."""
        return self.speed + self.accel * (t_s - self.t_s)

    def angle_at(self, t_s: float) -> float:
        """Return the angle in turns at `t_s`, not reduced to one turn."""
        dt = t_s - self.t_s
        return self.angle + (self.speed + self.accel * dt / 2) * dt


class SimRotor:
    """The motion of a whole evening. `order` is called for one time after the other. Each call replaces all motion
    after its time."""

    def __init__(self, angle: float, speed: float, drag_per_s: float) -> None:
        """The rotor turns freely from time 0 on. `drag_per_s`: how much it loses in each second, as a part of the speed
        at which a hand let it go."""
        self._drag_per_s = drag_per_s
        self._pieces: list[Piece] = []
        self._coast(0.0, angle, speed)

    def _coast(self, t_s: float, angle: float, speed: float) -> None:
        piece = Piece(t_s, angle, speed, -speed * self._drag_per_s)
        self._pieces.append(piece)
        if speed:
            stop = t_s - speed / piece.accel
            self._pieces.append(Piece(stop, piece.angle_at(stop), 0.0, 0.0))

    def piece_at(self, t_s: float) -> Piece:
        """Return the piece at `t_s`."""
        return self._pieces[max(0, bisect_right(self._pieces, t_s, key=_t_s) - 1)]

    def angle_at(self, t_s: float) -> float:
        """Return the angle in turns at `t_s`."""
        return self.piece_at(t_s).angle_at(t_s)

    def speed_at(self, t_s: float) -> float:
        """Return the speed in rev/s at `t_s`, clockwise positive."""
        return self.piece_at(t_s).speed_at(t_s)

    def order(self, t_s: float, speed: float, accel: float) -> float:
        """Let a hand bring the rotor to `speed` (rev/s) from `t_s` on, at the rate `accel` (rev/s², positive). To
        reverse, the rotor first stops. Returns the time in s at which the hand lets go."""
        here = self.piece_at(t_s)
        angle, now = here.angle_at(t_s), here.speed_at(t_s)
        self._pieces = [piece for piece in self._pieces if piece.t_s < t_s]
        if now * speed < 0:
            t_s, angle = self._ramp(t_s, angle, now, 0.0, accel)
            now = 0.0
        t_s, angle = self._ramp(t_s, angle, now, speed, accel)
        self._coast(t_s, angle, speed)
        return t_s

    def _ramp(self, t_s: float, angle: float, start: float, goal: float, accel: float) -> tuple[float, float]:
        rate = math.copysign(accel, goal - start)
        piece = Piece(t_s, angle, start, rate)
        self._pieces.append(piece)
        end = t_s + (goal - start) / rate
        return end, piece.angle_at(end)

    def forget(self, before_s: float) -> None:
        """Drop the motion before the piece at `before_s`."""
        here = self.piece_at(before_s)
        self._pieces = self._pieces[self._pieces.index(here) :]

    def crossings(self, offset: float, period: float, t_from: float, t_to: float) -> Iterator[tuple[float, int, bool]]:
        """Yield (s, k, clockwise) for each crossing of offset + k·period (turns) between the two times, in order."""
        first = max(0, bisect_right(self._pieces, t_from, key=_t_s) - 1)
        last = bisect_right(self._pieces, t_to, key=_t_s)
        for piece, following in pairwise([*self._pieces[first : last + 1], None]):
            assert piece is not None, "only the end of the list is none"
            start = max(t_from, piece.t_s)
            end = t_to if following is None else min(t_to, following.t_s)
            if start < end and (piece.speed or piece.accel):
                low, high = (piece.angle_at(start) - offset) / period, (piece.angle_at(end) - offset) / period
                clockwise = high > low
                if clockwise:
                    ks = range(math.floor(low) + 1, math.floor(high) + 1)
                else:
                    ks = range(math.ceil(low) - 1, math.ceil(high) - 1, -1)
                # The loop is short, because it is done for every encoder edge of an evening.
                t_s, angle, speed, accel = piece.t_s, piece.angle, abs(piece.speed), piece.accel
                is_faster = piece.speed > 0 or (piece.speed == 0 and accel > 0)
                square, twice, sqrt = speed * speed, 2 * (accel if is_faster else -accel), math.sqrt
                for k in ks:
                    way = abs(offset + k * period - angle)
                    yield t_s + (2 * way / (speed + sqrt(max(0.0, square + twice * way))) if way else 0.0), k, clockwise


def tick_entered(boundary: int, ticks: int, *, clockwise: bool) -> int:
    """Return the sector that the rotor enters at border `boundary`: clockwise the sector after the border, otherwise
    the sector before it."""
    return (boundary if clockwise else boundary - 1) % ticks


def _t_s(piece: Piece) -> float:
    return piece.t_s
