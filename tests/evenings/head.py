"""The same wheel with a commercial head that reports rotor, ball and number: a Mercury 360, a status line each 0.5 s.

A head sees neither objects nor obstacles, and calls its number itself. So it plays the coups of `COUPS` only.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import msgspec

from tests.core.evening import SLOWING_PER_LAP, Way, ball_passes, other
from tests.evenings.script import Scene, Script, Step
from tests.evenings.wheels import Wheel
from wheeld.core.observations import BallPass, HeadBall, HeadGame, HeadNumber, HeadPhase, HeadRotor
from wheeld.core.setting import TableSetting

LINE_US = 500_000
NUMBER_US = 4_000_000
"""So long the head shows its number, before its next game."""
SLOW_RPM = 6.0
"""A rotor that stops is reported slow once before it stands."""
COUPS: dict[str, tuple[tuple[int, int], ...]] = {
    "campione-fair": ((1, 6), (8, 8), (11, 12)),
    "campione-roulette": ((1, 5), (8, 9), (11, 12)),
    "venezia-fair": ((1, 3), (7, 8), (10, 12)),
    "venezia-roulette-francese": ((1, 1), (3, 3), (7, 8), (12, 12)),
}
"""Of each evening the coups that a head can show, first and last of those in a row."""


def excerpt(written: Script, first: int, last: int) -> Script:
    """These coups alone, as an evening of its own: the rotor and the last number are as they were before them."""
    before = [step for scene in written.scenes[:first] for step in scene.steps]
    numbers = [int(found[1]) for step in before for line in step.said if (found := _NUMBER.match(line))]
    rotor = [step.what for step in before if step.what.startswith("rotor turns")][-1]
    opening = Scene("The table opens", steps=[Step(rotor), Step("2 s pass"), Step("chef says open")])
    return Script(
        written.name,
        house=written.house,
        game=written.game,
        last_number=(numbers or [written.last_number])[-1],
        scenes=[opening, *written.scenes[first : last + 1]],
    )


_NUMBER = re.compile(r"result: coup \d+, number (\d+)")


@dataclass(frozen=True)
class Launched:
    """A ball that runs, and from when until when."""

    way: Way
    rev_s: float
    start_us: int
    end_us: int

    def laps(self, now_us: int) -> int:
        """Full laps until now."""
        after_s = (min(now_us, self.end_us) - self.start_us) / 1e6
        return math.floor(math.log1p(SLOWING_PER_LAP * self.rev_s * after_s) / SLOWING_PER_LAP)


class HeadWheel(Wheel):
    """A wheel whose head reports the state that its bowl is in."""

    def __init__(self, setting: TableSetting) -> None:
        self._rpm = 0.0
        self._head_way: Way = "ccw"
        self._spin = 11
        self._phase: HeadPhase = "idle"
        self._ball: Launched | None = None
        self._line_us, self._shown_until_us = 0, 0
        self._slows = False
        own = msgspec.structs.replace(setting, rotor_ticks=0, beams_deg=(), readers_deg=())
        super().__init__(
            msgspec.structs.replace(own, head="mercury-360", rotor="head", ball="head", pocket="head"),
        )

    @property
    def way(self) -> Way:
        return self._head_way

    def turn(self, rpm: float, way: Way = "ccw") -> None:
        self._slows = self._rpm > 0 and rpm == 0
        self._rpm, self._head_way = rpm, way

    def launch(self, way: Way | None = None, *, rev_s: float = 1.8, laps: float = 10.0) -> list[BallPass]:
        ball_way = way or other(self.way)
        passes = ball_passes((0.0, 90.0, 180.0, 270.0), ball_way, start_us=self.now_us, rev_s=rev_s, laps=laps)
        end_s = math.expm1(SLOWING_PER_LAP * laps) / (SLOWING_PER_LAP * rev_s)
        self._ball = Launched(ball_way, rev_s, self.now_us, self.now_us + round(end_s * 1e6))
        self.lying = None
        return passes

    def block(self) -> None:
        """The head's game ends without a number."""
        self._ball = None
        self._spin += 1

    def until(self, t_us: int) -> None:
        while self._line_us + LINE_US <= t_us:
            self._line_us += LINE_US
            super().until(self._line_us)
            self._line()
        super().until(t_us)

    def _line(self) -> None:
        now_us, ball = self.now_us, self._ball
        if self._shown_until_us and now_us >= self._shown_until_us:
            self._shown_until_us, self._spin = 0, self._spin + 1
        phase = self._phase_now()
        if phase != self._phase:
            self._phase = phase
            self.observe(HeadGame(now_us, phase, self._spin))
        if ball is not None and phase == "number":
            self.observe(HeadBall(now_us, False, None, 0))
            self.observe(HeadNumber(now_us, self.lying, self._spin))
            self._ball, self._shown_until_us = None, now_us + NUMBER_US
        elif ball is not None and phase != "ready":
            self.observe(HeadBall(now_us, now_us < ball.end_us, ball.way, ball.laps(now_us)))
        self.observe(HeadRotor(now_us, SLOW_RPM if self._slows else self._rpm, self._head_way))
        self._slows = False

    def _phase_now(self) -> HeadPhase:
        if self._shown_until_us:
            return "number"
        if self._ball is None or not self._ball.laps(self.now_us):
            return "ready"
        if self.now_us < self._ball.end_us:
            return "running"
        return "closing" if self.lying is None else "number"
