"""The table as a stage: what a scenario can have the ball, the rotor and the people do, one after the other.

`Stage.now_s` is the time of the next gesture. A scenario begins and ends in "faites vos jeux" with the ball lying in
the pocket of the last number, so that scenarios follow each other in any order. The truth of each coup is written by
the scenario, from what it made happen and from the rulebook.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import TypedDict

from hw_sim.events import BallPass, Direction, ForeignObject, SensorState, TableCommand
from hw_sim.fall import fall, fall_off_obstacle
from hw_sim.rotor import Rotor
from hw_sim.wheel import POCKETS, BallRun, Layout, Track, opposite, sign
from hw_sim.world import Outage, Stay, World, us

LAUNCH_REV_S = (1.3, 2.6)
"""How fast boulers launch (first laps of ball_lap_times.json: 1.0–2.4 rev/s)."""
ROTOR_RPM = (10.0, 20.0)
"""How fast boulers turn the rotor (design/wheels.md: 14–20 rpm on motor wheels; 10 is Cammegh's recommended least)."""
BEARING_PER_S = (0.001, 0.003)
"""Part of its speed that a rotor loses a second."""
ROTOR_LEAST_REV_S = 0.05
"""Slower than this a bouler pushes the rotor before he waits for anything."""
LAPS_NEEDED = 3.0
"""C10; the least of what a daemon may have to prove."""
LAPS_MOST = 24.0
"""Nobody launches a ball that runs longer."""
SIGHTINGS_TO_CALL = 3
"""Sightings in one pocket before the number is out (rulebook R3)."""
AT_ONCE_S = 0.05
"""What "at once" allows (rulebook, end)."""
LAUNCH_KNOWN_S = 2.5
"""The rulebook gives a launch no deadline; several passes take less than this even with two beams."""


class Outcome(TypedDict, total=False):
    """The truth of one coup, as in a `.truth.json`."""

    kind: str
    number: int
    laps: float
    beams: int
    cause: str
    article: str
    evidence_t: int
    deadline_t: int
    scenario: str


def laps_safe(beams_deg: Sequence[float]) -> float:
    """Laps of a run whose passes prove three, wherever it begins and ends.

    Up to a gap between beams is run before the first pass, and as much after the last one; and of the last pass alone
    nobody knows whether it was the ball's.
    """
    angles = sorted(beams_deg)
    gaps = [after - before for before, after in pairwise([*angles, angles[0] + 360])]
    return LAPS_NEEDED + 3 * max(gaps) / 360 + 0.05


class SimTable:
    """One table, from the first gesture of the evening on; `world` is the record of it."""

    def __init__(self, layout: Layout, rng: random.Random, last_number: int | None) -> None:
        """Time 0: the rotor turns, the ball lies in the pocket of `last_number` (in the hand when there is none)."""
        self.rng = rng
        self.layout = layout
        self.track = Track.draw(rng)
        either: Direction = rng.choice(("cw", "ccw"))
        self.direction: Direction = layout.rotor_direction or either
        rotor = Rotor(rng.random(), sign(self.direction) * self._rotor_speed(), rng.uniform(*BEARING_PER_S))
        self.world = World(layout, rotor)
        self.now_s = 0.0
        self.last_number = last_number
        self.truth: list[Outcome] = []
        self.scenario = ""
        self.pause_factor = 1.0
        """Part of the ordinary time that people take for bets and settling: less for a viewer who waits."""
        self.laps_safe = laps_safe(layout.beams_deg)
        """A run this long leaves no doubt of its laps."""
        self._stay: Stay | None = None
        if last_number is not None:
            self.put_ball_in(last_number)

    @property
    def run(self) -> BallRun:
        """The ball's latest run."""
        return self.world.runs[-1]

    # people

    def wait(self, low_s: float, high_s: float) -> None:
        """Let a while pass, drawn between the two."""
        self.now_s += self.rng.uniform(low_s, high_s)

    def wait_until(self, t_s: float) -> None:
        """Let time pass to `t_s`, if it isn't past already."""
        self.now_s = max(self.now_s, t_s)

    def command(self, name: str, by: str = "chef", reason: str = "", who: str | None = None) -> None:
        """Someone gives a command now."""
        self.world.direct_events.append(TableCommand(us(self.now_s), name, by, reason, who))

    def operations(self) -> None:
        """The table settles the coup and says that it is done."""
        if self._stay is not None and self.pause_factor < 1:
            self.wait_for_sightings(
                1
            )  # a sighting that a sensor spoilt holds the number up; nobody pays what isn't out
        self.wait(5 * self.pause_factor, 12 * self.pause_factor)
        self.command("operations_done", by="table")

    # the rotor

    def _rotor_speed(self, rpm: tuple[float, float] = ROTOR_RPM) -> float:
        return self.rng.uniform(*rpm) / 60

    def spin_rotor(self, rpm: tuple[float, float] = ROTOR_RPM) -> None:
        """A hand brings the rotor to a speed drawn from `rpm` in `direction`; time passes until it lets go."""
        speed = sign(self.direction) * self._rotor_speed(rpm)
        self.now_s = self.world.rotor.order(self.now_s, speed, self.rng.uniform(0.15, 0.35))

    def change_rotor(self, factor: tuple[float, float], accel: tuple[float, float]) -> None:
        """A hand makes the rotor faster or slower by a factor, at a rate in rev/s², both drawn; time passes until it
        lets go."""
        speed = self.world.rotor.speed_at(self.now_s) * self.rng.uniform(*factor)
        self.now_s = self.world.rotor.order(self.now_s, speed, self.rng.uniform(*accel))

    def stop_rotor(self, accel: tuple[float, float] = (0.15, 0.35)) -> float:
        """A hand stops the rotor at a rate drawn from `accel` (rev/s²). Returns the time of its last tick, in s."""
        self.now_s = self.world.rotor.order(self.now_s, 0.0, self.rng.uniform(*accel))
        return self.world.last_tick_s(self.now_s)

    # the ball in a pocket or in a hand

    def put_ball_in(self, number: int) -> None:
        """The ball lies in the pocket of `number` from now on."""
        self._stay = Stay(number, self.now_s)
        self.world.stays.append(self._stay)

    def ball_is_in(self, number: int | None) -> bool:
        """Whether the ball lies in the pocket of `number`; without a number, whether it lies in any."""
        return self._stay is not None and number in (None, self._stay.number)

    def lift_ball(self) -> None:
        """A hand takes the ball out of its pocket, if it lies in one."""
        if self._stay is not None:
            self._stay.to_s = self.now_s
            self._stay = None

    def wait_for_sightings(self, count: int) -> None:
        """Let time pass until the lying ball has been seen `count` more times."""
        assert self._stay is not None, "no ball lies in a pocket"
        if abs(self.world.rotor.speed_at(self.now_s)) < ROTOR_LEAST_REV_S:
            self.spin_rotor()
        turns_s = (count + 1) / (ROTOR_LEAST_REV_S / 2)
        seen = self.world.sightings(self._stay, self.now_s, self.now_s + turns_s)
        self.now_s = seen[count - 1][0]

    def put_ball_back(self, number: int | None = None) -> None:
        """After a void: the ball is put in the last number's pocket (or in `number`'s, or any when there was none),
        and the readers see it there."""
        self.lift_ball()
        self.wait(2, 5)
        if abs(self.world.rotor.speed_at(self.now_s)) < ROTOR_LEAST_REV_S:
            self.spin_rotor()
        wanted = self.last_number if number is None else number
        self.put_ball_in(self.rng.choice(POCKETS) if wanted is None else wanted)
        self.wait_for_sightings(SIGHTINGS_TO_CALL + 1)
        self.wait(0.3, 2)

    # a coup

    def prepare_launch(self, rpm: tuple[float, float] = ROTOR_RPM) -> None:
        """The bets are placed; the bouler takes the ball and sends the rotor on: round the other way on a French
        wheel, the same way on a Fair one."""
        self.wait(3 * self.pause_factor, 9 * self.pause_factor)
        began_s = self.now_s
        if self.layout.wheel == "french":
            self.direction = opposite(self.direction)
        self.spin_rotor(rpm)
        released_s, self.now_s = self.now_s, self.rng.uniform(began_s, self.now_s)
        self.lift_ball()
        self.now_s = released_s
        self.wait(0.8, 3)

    def launch(self, laps: float | None = None, *, with_rotor: bool = False, seconds: float = 0.0) -> BallRun:
        """The ball is launched now, against the rotor unless `with_rotor`; so weakly that it leaves after `laps`,
        or with a good push that keeps it on the track for `seconds` at least."""
        self.lift_ball()
        turning = sign(self.direction) * (1 if with_rotor else -1)
        run = self._good_push(turning, seconds) if laps is None else self._weak_push(turning, laps)
        self.world.runs.append(run)
        return run

    def _weak_push(self, turning: int, laps: float) -> BallRun:
        while True:
            angle = self.rng.random()
            speed = self.track.launch_speed(laps, angle, turning)
            run = BallRun.free(self.track, self.now_s, angle, turning, speed)
            if run.laps > laps - 1e-6:  # shorter: no ball leaves there, the bowl is badly kept
                return run

    def _good_push(self, turning: int, seconds: float) -> BallRun:
        angle = self.rng.random()
        low, high = LAUNCH_REV_S
        while True:
            run = BallRun.free(self.track, self.now_s, angle, turning, self.rng.uniform(low, high))
            if self.laps_safe <= run.laps <= LAPS_MOST and run.end_s - run.t_s >= seconds:
                return run
            if run.laps < self.laps_safe or run.end_s - run.t_s < seconds:
                high += 0.1  # a slow track asks for a harder push
            else:
                low = max(0.8, low - 0.1)

    def pass_s(self, index: int) -> float:
        """Time of pass number `index` (0 the first) of the latest run; its last one if there are fewer."""
        times = [t_s for t_s, _ in self.run.passes(self.layout.beams_deg)]
        return times[min(index, len(times) - 1)]

    def pass_count(self) -> int:
        """How many times the latest run crosses a beam."""
        return sum(1 for _ in self.run.passes(self.layout.beams_deg))

    def wait_for_part_of_run(self, low: float, high: float) -> None:
        """Let time pass to a drawn part of the run, between its launch (0) and its leaving the track (1)."""
        run = self.run
        self.wait_until(run.t_s + self.rng.uniform(low, high) * (run.end_s - run.t_s))

    def block_ball(self) -> None:
        """A hand stops the running ball now, and keeps it."""
        self.world.runs[-1] = self.run.blocked(self.now_s)

    def fall(self, *, hang_s: float = 0.0, elsewhere: bool = False) -> int:
        """The ball leaves the track, hangs on an obstacle for `hang_s`, falls and comes to rest in a pocket, which is
        returned (`elsewhere`: not the one it was taken from). Time passes until it rests."""
        run, rotor = self.run, self.world.rotor
        taken_from = self.world.stays[-1].number if elsewhere and self.world.stays else None
        while True:
            fallen = fall_off_obstacle(run, hang_s, rotor, self.rng) if hang_s else fall(run, rotor, self.rng)
            if fallen.number != taken_from:
                break
        self.world.falls.append(fallen)
        self.now_s = fallen.rest_s
        self.put_ball_in(fallen.number)
        return fallen.number

    # faults

    def foreign_object(self, *, present: bool) -> None:
        """A foreign body falls in the cylinder now, or is taken out."""
        self.world.direct_events.append(ForeignObject(us(self.now_s), present))

    def stray_pulse(self) -> None:
        """One beam pulses now for no reason."""
        self.world.direct_events.append(BallPass(us(self.now_s), self.rng.randrange(len(self.layout.beams_deg))))

    def outage(self, sensor: str, low_s: float, high_s: float) -> None:
        """`sensor` fails its self-test now and passes it again later; time passes until then."""
        began_s = self.now_s
        self.world.direct_events.append(SensorState(us(began_s), sensor, ok=False))
        self.wait(low_s, high_s)
        self.world.direct_events.append(SensorState(us(self.now_s), sensor, ok=True))
        self.world.outages.append(Outage(sensor, began_s, self.now_s))

    # the truth

    def result(self, number: int) -> None:
        """The ball that came to rest now in `number` makes a valid coup; time passes until it has been seen there
        often enough, and the number is out."""
        self.wait_for_sightings(SIGHTINGS_TO_CALL)
        self.last_number = number
        laps, beams = round(self.run.laps, 2), len(self.layout.beams_deg)
        self.truth.append({"kind": "result", "number": number, "laps": laps, "beams": beams, "scenario": self.scenario})

    def void(self, cause: str, evidence_s: float, deadline_s: float) -> None:
        """The coup is void by what happened at `evidence_s`, and that must be said by `deadline_s`."""
        self.truth.append(
            {
                "kind": "void",
                "cause": cause,
                "article": "Art. 15" if cause == "breakdown" else "Art. 11",
                "evidence_t": us(evidence_s),
                "deadline_t": math.ceil(deadline_s * 1_000_000),
                "scenario": self.scenario,
            }
        )
