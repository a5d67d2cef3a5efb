"""Coups as a wheel head reports them: phases of status lines, and the truth of each coup.

A phase is a state that lasts for a number of lines, 500 ms each. Phases take as long as in real games. Only the ball's
run is shorter, because the lines in its middle are all alike.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

RUNAWAY_RPM = 9.5
"""How much faster a real rotor became from one line to the next, when its speed was out of control."""

LAPS_PER_LINE_MAX = 1.5
"""The most laps in the time of one line (500 ms), after a hard launch."""


class Model(Enum):
    """The model of a wheel head."""

    MERCURY_360 = "mercury-360"
    SLINGSHOT_2 = "slingshot-2"


@dataclass(frozen=True)
class HeadPhase:
    """A phase, in which `rpm` and `laps` go from their first to their second value. `rotor` and `ball` are directions:
    0 clockwise, 1 counter-clockwise."""

    state: int
    lines: int
    rotor: int
    rpm: tuple[float, float]
    ball: int = 0
    flags: int = 0
    laps: tuple[int, int] = (0, 0)

    def rpm_at(self, line: int) -> float:
        """Return the rotor's speed at line number `line` of this phase."""
        return self.rpm[0] + (self.rpm[1] - self.rpm[0]) * line / max(1, self.lines - 1)

    def laps_at(self, line: int) -> int:
        """Return the laps counted at line number `line`. A ball that will soon leave the track needs more than a second
        for a lap. So two lines show the last lap."""
        return min(self.laps[1], self.laps[0] + (self.laps[1] - self.laps[0]) * line // max(1, self.lines - 2))


@dataclass
class HeadCoup:
    """The truth of one coup, and its phases.

    `number`: None if the wheel gives none. `laps`: what a Mercury counts. A SlingShot does not report laps. `reports`:
    what a host that receives every line can report of the coup, in addition to the number. `power_cycle`: whether the
    wheel is switched off and on after the coup.
    """

    kind: str
    phases: list[HeadPhase]
    number: int | None
    laps: int
    ball: int
    rotor: int
    reports: set[str] = field(default_factory=set)
    power_cycle: bool = False
    spin: int = 0
    number_us: int = 0
    """The time at which the wheel gave its number."""
    delivered: bool = True
    """Whether every line of the coup reached the host unchanged."""


class Drawing:
    """Draws coups for one wheel head. A SlingShot reverses its rotor from game to game."""

    def __init__(self, model: Model, rng: random.Random) -> None:
        self.model = model
        self.rng = rng
        self.rotor = rng.randrange(2)
        self.rpm = 16.0

    @property
    def is_mercury(self) -> bool:
        """Whether the model is a Mercury, which counts laps."""
        return self.model is Model.MERCURY_360

    def coups(self, kinds: list[str]) -> Iterator[HeadCoup]:
        """Yield coups without end, each of a kind drawn from `kinds`."""
        while True:
            yield self.coup(self.rng.choice(kinds))

    def coup(self, kind: str) -> HeadCoup:
        """Return one coup of `kind`."""
        coup = KINDS[self.model][kind](self)
        coup.kind = kind
        return coup

    def lines(self, least: int, most: int) -> int:
        """Draw a duration in lines."""
        return self.rng.randint(least, most)

    def before_launch(self) -> list[HeadPhase]:
        """Return the phases before the launch. A SlingShot brakes its rotor, waits and reverses it. A bouler turns the
        rotor of a Mercury, which does not stop."""
        before, self.rpm = self.rpm, self.rng.uniform(14.0, 19.9)
        if self.is_mercury:
            self.rotor = self.rng.randrange(2)
            return [
                HeadPhase(1, self.lines(2, 4), self.rotor, (before, self.rpm)),
                HeadPhase(2, self.lines(4, 10), self.rotor, (self.rpm, self.rpm)),
            ]
        turned = 1 - self.rotor
        phases = [
            HeadPhase(2, self.lines(2, 6), self.rotor, (before, before)),
            HeadPhase(2, self.lines(3, 7), self.rotor, (before, 0.4)),
            HeadPhase(2, self.lines(2, 4), self.rotor, (0.0, 0.0)),
            HeadPhase(2, self.lines(2, 4), turned, (6.5, self.rpm)),
        ]
        self.rotor = turned
        return phases

    def run(self, *, same: bool = False, laps: int | None = None, flags: int = 0) -> list[HeadPhase]:
        """Return the two phases in which the ball runs (the wheel's states 3 and 4): against the rotor, or with it if
        `same`."""
        laps = self.rng.randint(6, 20) if laps is None else laps
        ball = self.rotor if same else 1 - self.rotor
        early = max(1, laps - 4)
        turning = (self.rpm, self.rpm - 0.3)
        in_rim = max(self.lines(3, 7), 2 + math.ceil((early - 1) / LAPS_PER_LINE_MAX))
        return [
            HeadPhase(3, in_rim, self.rotor, turning, ball, flags, (1, early)),
            HeadPhase(4, self.lines(6, 16), self.rotor, turning, ball, laps=(early, laps)),
        ]

    def fallen(self) -> HeadPhase:
        """Return the phase of state 5. The number comes with its first line."""
        return HeadPhase(5, self.lines(3, 8), self.rotor, (self.rpm, self.rpm), 1 - self.rotor)

    def played(self, phases: list[HeadPhase], *reports: str, number: bool = True, same: bool = False) -> HeadCoup:
        """Return the coup with `phases`."""
        laps = max(phase.laps[1] for phase in phases)
        ball = self.rotor if same else 1 - self.rotor
        number_or_none = self.rng.randrange(37) if number else None
        return HeadCoup("", phases, number_or_none, laps, ball, self.rotor, set(reports))


def valid(draw: Drawing) -> HeadCoup:
    """The ball runs some laps against the rotor, and the wheel gives a number."""
    return draw.played([*draw.before_launch(), *draw.run(), draw.fallen()])


def same_direction(draw: Drawing) -> HeadCoup:
    """The ball runs with the rotor. A SlingShot is reset and launches again. A Mercury continues and gives a number."""
    before, run = draw.before_launch(), draw.run(same=True, flags=2)
    if draw.is_mercury:
        return draw.played([*before, *run, draw.fallen()], "same_direction", same=True)
    return draw.played([*before, run[0]], "same_direction", "void", number=False, same=True)


def same_direction_unflagged(draw: Drawing) -> HeadCoup:
    """The ball runs with the rotor of a Mercury that sets no flag. Only the two directions in its lines show this."""
    return draw.played([*draw.before_launch(), *draw.run(same=True), draw.fallen()], "same_direction", same=True)


def few_laps(draw: Drawing) -> HeadCoup:
    """A Mercury counts one or two laps and still gives the number."""
    return draw.played([*draw.before_launch(), *draw.run(laps=draw.rng.randint(1, 2)), draw.fallen()])


def rotor_stopped(draw: Drawing) -> HeadCoup:
    """The rotor stops while the ball runs, and the game ends without a number."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    braking = replace(leaving, rpm=(draw.rpm, 0.5))
    standing = HeadPhase(4, draw.lines(4, 8), draw.rotor, (0.0, 0.0), leaving.ball, laps=(leaving.laps[1],) * 2)
    closed = HeadPhase(6, draw.lines(2, 5), draw.rotor, (0.0, 0.0))
    return draw.played([*before, rim, braking, standing, closed], "rotor_stopped", "void", number=False)


def runaway(draw: Drawing) -> HeadCoup:
    """The rotor becomes faster than three digits can show, and slows down. The wheel still gives the number."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    up = HeadPhase(4, 10, draw.rotor, (draw.rpm, draw.rpm + 9 * RUNAWAY_RPM), leaving.ball, laps=leaving.laps)
    last = (leaving.laps[1], leaving.laps[1])
    over = HeadPhase(4, draw.lines(3, 6), draw.rotor, (118.0, 104.0), leaving.ball, laps=last)
    down = HeadPhase(4, 4, draw.rotor, (69.9, draw.rpm), leaving.ball, laps=last)
    return draw.played([*before, rim, up, over, down, draw.fallen()], "unknown_speed")


def sensor_fault(draw: Drawing) -> HeadCoup:
    """A sensor fails in state 4. After some time the wheel closes, and the sensor works again."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    faulty = HeadPhase(4, draw.lines(10, 20), draw.rotor, (draw.rpm, draw.rpm), leaving.ball, 4, (leaving.laps[1],) * 2)
    closed = [HeadPhase(6, 4, draw.rotor, (0.0, 0.0), flags=4), HeadPhase(6, 3, draw.rotor, (0.0, 0.0))]
    return draw.played([*before, rim, leaving, faulty, *closed], "sensor_fault", "void", number=False)


def closed_in_game(draw: Drawing) -> HeadCoup:
    """The table is closed while the ball runs."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    return draw.played([*before, rim, leaving, HeadPhase(6, 4, draw.rotor, (draw.rpm, 0.5))], "void", number=False)


def power_cycle(draw: Drawing) -> HeadCoup:
    """The wheel is switched off and on after the number. Then it shows spin 1 and no last number."""
    coup = valid(draw)
    coup.power_cycle = True
    return coup


def launch_failed(draw: Drawing) -> HeadCoup:
    """The launch of a SlingShot fails. The wheel reverses its rotor and tries again, with the same spin number."""
    first = draw.before_launch()
    turning = (draw.rpm, draw.rpm)
    failing = [HeadPhase(2, draw.lines(3, 12), draw.rotor, turning, flags=flags) for flags in (2, 8)]
    again = [replace(phase, flags=8) for phase in draw.before_launch()]
    return draw.played([*first, *failing, *again, *draw.run(), draw.fallen()], "launch_failed")


def ball_flickers(draw: Drawing) -> HeadCoup:
    """In single lines of state 4 the ball is not detected. This has no effect."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    flicker = HeadPhase(4, 1, draw.rotor, (draw.rpm, draw.rpm), flags=1)
    return draw.played([*before, rim, leaving, flicker, leaving, flicker, replace(leaving, lines=2), draw.fallen()])


def ball_lost(draw: Drawing) -> HeadCoup:
    """In state 4 the ball is not detected for more than 5 s, and the wheel closes."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    lost = replace(leaving, lines=draw.lines(10, 30), flags=1)
    closed = HeadPhase(6, 4, draw.rotor, (0.3, 0.0))
    return draw.played([*before, rim, leaving, lost, closed], "void", number=False)


def off_track(draw: Drawing) -> HeadCoup:
    """A SlingShot with option 32 reports when the ball leaves the track: states 4, 7, 5."""
    phases = [*draw.before_launch(), *draw.run()]
    left = HeadPhase(7, draw.lines(2, 5), draw.rotor, (draw.rpm, draw.rpm))
    return draw.played([*phases, left, draw.fallen()], "off_track")


def void_game(draw: Drawing) -> HeadCoup:
    """A Mercury voids the game and starts again. The digit that shows this may also contain another warning."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    flags = draw.rng.choice((8, 9))
    void = replace(leaving, lines=draw.lines(1, 3), flags=flags, laps=(leaving.laps[1],) * 2)
    start = HeadPhase(1, 3, draw.rotor, (draw.rpm, draw.rpm), flags=flags)
    return draw.played([*before, rim, leaving, void, start], "void", number=False)


def dealer_lock(draw: Drawing) -> HeadCoup:
    """The dealer locks a Mercury while the ball runs."""
    before, (rim, leaving) = draw.before_launch(), draw.run()
    return draw.played([*before, rim, leaving, HeadPhase(7, 4, draw.rotor, (draw.rpm, draw.rpm))], "void", number=False)


def slow_rotor(draw: Drawing) -> HeadCoup:
    """A Mercury warns that its rotor is slower than 10 rpm. The coup is valid."""
    before = draw.before_launch()
    slow = [replace(phase, flags=1, rpm=(8.2, 8.0)) for phase in draw.run()]
    return draw.played([*before, *slow, draw.fallen()])


_BOTH = (valid, same_direction, rotor_stopped, runaway, sensor_fault, closed_in_game, power_cycle)
_SLINGSHOT = (launch_failed, ball_flickers, ball_lost, off_track)
_MERCURY = (same_direction_unflagged, few_laps, void_game, dealer_lock, slow_rotor)
KINDS: dict[Model, dict[str, Callable[[Drawing], HeadCoup]]] = {
    Model.SLINGSHOT_2: {play.__name__: play for play in (*_BOTH, *_SLINGSHOT)},
    Model.MERCURY_360: {play.__name__: play for play in (*_BOTH, *_MERCURY)},
}
"""The kinds of coups of each wheel head, by name."""
