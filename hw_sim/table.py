"""The simulated table: what ball, rotor and people do. A scenario calls these actions, one after the other.

`SimTable.now_s` is the time of the next action. A scenario begins and ends in "faites vos jeux" with the ball in the
pocket of the last number, so that scenarios can follow each other in any order. The scenario writes the truth of each
coup. This truth follows from the scenario's actions and docs/rulebook.md.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypedDict

import msgspec

from hw_sim.events import BallPass, Direction, ForeignObject, SensorState, TableCommand
from hw_sim.fall import fall, fall_off_obstacle
from hw_sim.rotor import SimRotor
from hw_sim.wheel import LAPS_NEEDED, BallRun, Track, WheelLayout, opposite, sign
from hw_sim.world import MARGIN_S, SensorOutage, Slipped, Stay, World, us

LAUNCH_REV_S = (1.3, 2.6)
"""How fast boulers launch (the first laps in ball_lap_times.json have 1.0–2.4 rev/s)."""
HARDEST_REV_S = 3.5
"""The hardest push. No hand launches at 4 rev/s, and a daemon may rely on this. On a slow track, even the hardest push
may be too weak for what a scenario asks."""
ROTOR_RPM = (10.0, 20.0)
"""How fast boulers turn the rotor (docs/wheels.md: 14–20 rpm on motor wheels; Cammegh recommends at least 10)."""
BEARING_PER_S = (0.001, 0.003)
"""The share of its speed that a free rotor loses in a second."""
ROTOR_LEAST_REV_S = 0.05
"""A hand pushes a rotor that is slower than this."""
MANY_BEAMS = 4
"""With at least this many beams, two stray pulses must not mislead a daemon. With fewer beams, this is so for one stray
pulse only."""
LAPS_MOST = 24.0
"""No launched ball runs more laps than this."""
SIGHTINGS_TO_CALL = 3
"""How many sightings in one pocket prove the number (docs/rulebook.md R3)."""
TOLD_BY_COUPS = 3
"""If one sensor alone sees nothing in this many coups, the daemon tells people (docs/rulebook.md 6)."""
BOUNCES_US = 2_000_000
"""A ball that is seen in a pocket sooner than this after its last pass may still bounce (docs/rulebook.md 6)."""
AT_ONCE_S = 0.05
"""The time that "at once" means (end of docs/rulebook.md)."""
DOUBLE_PRESS_S = (0.15, 0.6)
"""The time until a person who is not sure presses a button for the second time."""
OVERDUE_GAPS, OVERDUE_LAPS = 2.5, 0.75
"""When the next pass is overdue: the slowest ball would by now have run this many times the widest gap between beams,
and at least this part of a lap. So the next pass is not overdue yet when a beam has missed one pass."""
LAUNCH_KNOWN_S = 2.5
"""The time from a launch until the daemon must know of it. The rulebook has no deadline. Several passes take less time
than this, even with two beams."""


@dataclass(frozen=True)
class Fumbles:
    """People who give the share `doubled` of all commands twice. `rng` is separate, so that all other actions are the
    same with and without fumbles."""

    rng: random.Random
    doubled: float


class Outcome(TypedDict, total=False):
    """The truth of one coup, as in a `.truth.json`. `out_t`: when its number was out. This is the first sighting of the
    ball at rest. If there was none, it is the time at which the chef gave the number. `closed_t`: the time by which the
    bets must be shown as closed. `blind`: the one sensor that saw nothing. `down_t`: when the sensors' line went down,
    or when the encoder slipped, if this was during the ball's run. `readers_dead`: for some time of the coup, no reader
    worked. `disturbed`: something happens between the first and the second sighting of the ball. `stray_t`: of such a
    coup, the last stray pulse of a beam in the two seconds before the number was out. Like a pass, it makes a ball that
    is seen in its pocket seem to bounce (docs/rulebook.md 6)."""

    kind: str
    number: int
    laps: float
    beams: int
    cause: str
    out_t: int
    closed_t: int
    blind: str
    down_t: int
    readers_dead: bool
    disturbed: bool
    stray_t: int
    evidence_t: int
    deadline_t: int
    scenario: str


def laps_safe(beams_deg: Sequence[float], needed: int = LAPS_NEEDED) -> float:
    """Return how many laps a run needs so that its passes prove the `needed` laps, wherever it begins and ends.

    The ball runs up to one gap between beams before its first pass, and up to one gap after its last pass. A third gap
    is lost because a later pass must confirm each pass. With four beams or more, two later passes must confirm it.
    """
    unproven = 4 if len(beams_deg) >= MANY_BEAMS else 3
    return needed + unproven * widest_gap_laps(beams_deg) + 0.05


def widest_gap_laps(beams_deg: Sequence[float]) -> float:
    """Return the widest gap between two neighbouring beams, in laps."""
    angles = sorted(beams_deg)
    return max(after - before for before, after in pairwise([*angles, angles[0] + 360])) / 360


class SimTable:
    """One table, from the start of the evening on. `world` records what happens at the table."""

    def __init__(self, layout: WheelLayout, rng: random.Random, last_number: int | None) -> None:
        """At time 0 the rotor turns, and the ball lies in the pocket of `last_number` (in a hand if that is None)."""
        self.rng = rng
        self.layout = layout
        self.track = Track.draw(rng)
        either: Direction = rng.choice(("cw", "ccw"))
        self.direction: Direction = layout.rotor_direction or either
        rotor = SimRotor(rng.random(), sign(self.direction) * self._rotor_speed(), rng.uniform(*BEARING_PER_S))
        self.world = World(layout, rotor)
        self.now_s = 0.0
        self.last_number = last_number
        self._once_seen_s = -math.inf
        """When the lying ball had been seen once and not twice, as a scenario asked for."""
        self.truth: list[Outcome] = []
        self.scenario = ""
        self.fumbles: Fumbles | None = None
        self.pause_factor = 1.0
        """A factor for the ordinary pauses, in which people bet and pay: less than 1 if a viewer waits."""
        self.laps_safe = laps_safe(layout.beams_deg, layout.laps_needed)
        """The passes of a run with this many laps prove the needed laps."""
        self._stay: Stay | None = None
        if last_number is not None:
            self.put_ball_in(last_number)

    @property
    def run(self) -> BallRun:
        """The ball's latest run."""
        return self.world.runs[-1]

    # --- what people do ----------------------------------------------------------------------------------------------

    def wait(self, low_s: float, high_s: float) -> None:
        """Let a random time between the two limits pass."""
        self.now_s += self.rng.uniform(low_s, high_s)

    def wait_until(self, t_s: float) -> None:
        """Let time pass until `t_s`, unless it has passed."""
        self.now_s = max(self.now_s, t_s)

    def command(
        self, name: str, by: str = "chef", reason: str = "", who: str | None = None, number: int | None = None
    ) -> None:
        """Let a person give a command now, and perhaps give it twice."""
        self._press(TableCommand(us(self.now_s), name, by, reason, who, number=number))

    def confirm(self, number: int | None = None, reason: str = "all saw it") -> None:
        """Let the chef confirm the number of the present coup, or give another number."""
        coup = len(self.truth) + 1
        self._press(TableCommand(us(self.now_s), "confirm", "chef", reason, coup=coup, number=number))

    def _press(self, command: TableCommand) -> None:
        self.world.direct_events.append(command)
        if self.fumbles is not None and self.fumbles.rng.random() < self.fumbles.doubled:
            again_s = self.now_s + self.fumbles.rng.uniform(*DOUBLE_PRESS_S)
            self.world.direct_events.append(msgspec.structs.replace(command, t_us=us(again_s)))

    def operations(self) -> None:
        """Let the table settle the coup and report that this is done."""
        if self._stay is not None and self.pause_factor < 1:
            self.wait_for_sightings(1)  # a faulty sighting may delay the number, and nobody settles before it
        self.wait(5 * self.pause_factor, 12 * self.pause_factor)
        self.command("operations_done", by="table")

    # --- the rotor ---------------------------------------------------------------------------------------------------

    def _rotor_speed(self, rpm: tuple[float, float] = ROTOR_RPM) -> float:
        return self.rng.uniform(*rpm) / 60

    def spin_rotor(self, rpm: tuple[float, float] = ROTOR_RPM) -> None:
        """Let a hand bring the rotor to a speed drawn from `rpm` in `direction`. Time passes until the hand lets go."""
        speed = sign(self.direction) * self._rotor_speed(rpm)
        self.now_s = self.world.rotor.order(self.now_s, speed, self.rng.uniform(0.15, 0.35))

    def keep_turning(self) -> None:
        """Let a hand push the rotor if it is too slow."""
        if abs(self.world.rotor.speed_at(self.now_s)) < ROTOR_LEAST_REV_S:
            self.spin_rotor()

    def change_rotor(self, factor: tuple[float, float], accel: tuple[float, float]) -> None:
        """Let a hand make the rotor faster or slower by a drawn factor, at a drawn rate in rev/s². Time passes until
        the hand lets go."""
        speed = self.world.rotor.speed_at(self.now_s) * self.rng.uniform(*factor)
        self.now_s = self.world.rotor.order(self.now_s, speed, self.rng.uniform(*accel))

    def stop_rotor(self, accel: tuple[float, float] = (0.15, 0.35)) -> float:
        """Let a hand stop the rotor at a rate drawn from `accel` (rev/s²). Returns the time of the last encoder edge,
        in s."""
        self.now_s = self.world.rotor.order(self.now_s, 0.0, self.rng.uniform(*accel))
        return self.world.last_tick_s(self.now_s)

    def next_tick_s(self) -> float:
        """Return the time in s at which the turning rotor enters its next sector."""
        return next(self.world.rotor.crossings(0.0, 1 / self.layout.rotor_ticks, self.now_s, math.inf))[0]

    # --- the ball in a pocket or in a hand ---------------------------------------------------------------------------

    def put_ball_in(self, number: int) -> None:
        """Put the ball in the pocket of `number` now."""
        self._stay = Stay(number, self.now_s)
        self.world.stays.append(self._stay)

    def ball_is_in(self, number: int | None) -> bool:
        """Whether the ball lies in the pocket of `number`, or in any pocket if `number` is None."""
        return self._stay is not None and number in (None, self._stay.number)

    @property
    def lies_in(self) -> int | None:
        """The number of the pocket in which the ball lies, if it lies in one."""
        return None if self._stay is None else self._stay.number

    def lift_ball(self) -> None:
        """Let a hand take the ball out of its pocket, if it lies in one."""
        if self._stay is not None:
            self._stay.to_s = self.now_s
            self._stay = None

    def wait_for_sightings(self, count: int) -> None:
        """Let time pass until the lying ball has been seen `count` more times."""
        assert self._stay is not None, "no ball lies in a pocket"
        self.keep_turning()
        turns_s = (count + 1) / (ROTOR_LEAST_REV_S / 2)
        while len(seen := self.world.sightings(self._stay, self.now_s, self.now_s + turns_s)) < count:
            self.spin_rotor()  # it would stop before
        self.now_s = seen[count - 1][0]

    def wait_between_sightings(self) -> None:
        """Let time pass to a moment between the first and the second sighting of the lying ball. A reader has then seen
        it, but its number is not proven yet."""
        self.wait_for_sightings(1)
        first_s = self.now_s
        self.now_s += MARGIN_S
        self.wait_for_sightings(1)
        self.now_s = first_s + self.rng.uniform(0.1, 0.9) * (self.now_s - first_s)
        self._once_seen_s = self.now_s

    def turn_s(self) -> float:
        """Return how long one turn of the rotor takes now, in s."""
        return 1 / abs(self.world.rotor.speed_at(self.now_s))

    def put_ball_back(self, number: int | None = None) -> None:
        """Let a hand put the ball back after a void: in the pocket of `number` if it is given, otherwise of the last
        number, or in any pocket if there was no number. Time passes until the readers have seen it there."""
        self.lift_ball()
        self.wait(2, 5)
        self.keep_turning()
        wanted = self.last_number if number is None else number
        self.put_ball_in(self.rng.choice(self.layout.pockets) if wanted is None else wanted)
        self.wait_for_sightings(SIGHTINGS_TO_CALL + 1)
        self.wait(0.3, 2)

    # --- a coup ------------------------------------------------------------------------------------------------------

    def prepare_launch(self, rpm: tuple[float, float] = ROTOR_RPM) -> None:
        """Let people place bets, and the bouler take the ball and push the rotor. On a French wheel the rotor changes
        its direction, on a Fair wheel it does not."""
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
        """Launch the ball now, against the rotor unless `with_rotor`. It leaves the track after `laps`. Without `laps`,
        a good push keeps it on the track for at least `seconds`."""
        self.lift_ball()
        turning = sign(self.direction) * (1 if with_rotor else -1)
        run = self._push(turning, laps, seconds)
        self.world.runs.append(run)
        return run

    def _push(self, turning: int, laps: float | None, seconds: float) -> BallRun:
        angle = self.rng.random()
        while laps is not None:
            speed = self.track.launch_speed(laps, angle, turning)
            run = BallRun.free(self.track, self.now_s, angle, turning, speed)
            if run.laps > laps - 1e-6:  # otherwise no ball leaves the track at that place of this badly kept bowl
                return run
            angle = self.rng.random()
        low, high = LAUNCH_REV_S
        while True:
            run = BallRun.free(self.track, self.now_s, angle, turning, self.rng.uniform(low, high))
            is_short = run.laps < self.laps_safe or run.end_s - run.t_s < seconds
            if self.laps_safe <= run.laps <= LAPS_MOST and (not is_short or low == HARDEST_REV_S):
                return run
            if not is_short:
                low = max(0.8, low - 0.1)
            elif high < HARDEST_REV_S:
                high = min(HARDEST_REV_S, high + 0.1)  # a slow track needs a harder push
            else:
                low = min(HARDEST_REV_S, low + 0.1)

    def pass_s(self, index: int) -> float:
        """Return the time in s of pass `index` (from 0) of the latest run, or of its last pass if it has fewer
        passes."""
        times = [t_s for t_s, _ in self.run.passes(self.layout.beams_deg)]
        return times[min(index, len(times) - 1)]

    def pass_count(self) -> int:
        """Return how many passes the latest run has."""
        return sum(1 for _ in self.run.passes(self.layout.beams_deg))

    def wait_for_part_of_run(self, low: float, high: float) -> None:
        """Let time pass to a drawn point of the run, between its launch (0) and its leaving the track (1)."""
        run = self.run
        self.wait_until(run.t_s + self.rng.uniform(low, high) * (run.end_s - run.t_s))

    def block_ball(self) -> None:
        """Let a hand stop the running ball now and keep it."""
        self.world.runs[-1] = self.run.blocked(self.now_s)

    def fall(self, *, hang_s: float = 0.0, elsewhere: bool = False) -> int:
        """Let the ball leave the track, hang on an obstacle for `hang_s`, fall and rest in a pocket. Time passes until
        it rests. Returns the number. With `elsewhere`, the ball rests in another pocket than before the launch."""
        run, rotor = self.run, self.world.rotor
        taken_from = self.world.stays[-1].number if elsewhere and self.world.stays else None
        while True:
            pockets = self.layout.pockets
            if hang_s:
                fallen = fall_off_obstacle(run, hang_s, rotor, self.rng, pockets)
            else:
                fallen = fall(run, rotor, self.rng, pockets=pockets)
            if fallen.number != taken_from:
                break
        self.world.falls.append(fallen)
        self.now_s = fallen.rest_s
        self.put_ball_in(fallen.number)
        return fallen.number

    # --- faults ------------------------------------------------------------------------------------------------------

    def foreign_object(self, *, present: bool) -> None:
        """Let a foreign object fall in the cylinder now, or let a hand take it out."""
        self.world.direct_events.append(ForeignObject(us(self.now_s), present))

    def stray_pulse(self) -> None:
        """Let a beam pulse now without a ball."""
        self.world.direct_events.append(BallPass(us(self.now_s), self.rng.randrange(len(self.layout.beams_deg))))

    def throw_ball_in(self, number: int) -> Stay:
        """Let a second ball lie in the pocket of `number` from now on. Returns its `Stay`."""
        self.world.stays.append(Stay(number, self.now_s))
        return self.world.stays[-1]

    def blind(self, sensors: Sequence[str]) -> None:
        """Let these sensors see nothing from now on. No self-test reports this."""
        self.world.outages += [SensorOutage(sensor, self.now_s) for sensor in sensors]

    def see_again(self) -> None:
        """Let all blind sensors see again."""
        self.world.outages = [
            replace(one, to_s=self.now_s) if one.to_s == math.inf else one for one in self.world.outages
        ]

    def slip_disc(self, by: int) -> None:
        """Let the encoder's disc slip now."""
        self.world.slipped.append(Slipped(by, self.now_s))

    def set_disc_back(self) -> None:
        """Let a technician set the slipped disc back to its place. For the daemon this is one more slip."""
        self.world.slipped[-1].to_s = self.now_s

    def outage(self, sensor: str, low_s: float, high_s: float) -> float:
        """Let `sensor` fail its self-test now, and pass it after a drawn time. Returns when it works again, in s."""
        back_s = self.now_s + self.rng.uniform(low_s, high_s)
        self.world.direct_events.append(SensorState(us(self.now_s), sensor, ok=False))
        self.world.direct_events.append(SensorState(us(back_s), sensor, ok=True))
        self.world.outages.append(SensorOutage(sensor, self.now_s, back_s))
        return back_s

    # --- the truth ---------------------------------------------------------------------------------------------------

    def result(self, number: int) -> None:
        """Record a valid coup with `number`. The ball has just come to rest in its pocket. Time passes until the
        readers have seen it there often enough to prove the number."""
        self.wait_for_sightings(SIGHTINGS_TO_CALL)
        self.number_out(number)

    def number_out(self, number: int) -> None:
        """Record a valid coup with `number`, which sightings have proven (R3) or the chef gives now (R3b)."""
        self.last_number = number
        stay = self.world.stays[-1]
        seen = self.world.sightings(stay, stay.from_s, self.now_s)
        self.truth.append(
            {
                "kind": "result",
                "number": number,
                "laps": round(self.run.laps, 2),
                "beams": len(self.layout.beams_deg),
                "out_t": us(seen[0][0] if seen else self.now_s),
                "closed_t": us(self.run.end_s + self.overdue_s()),
                "scenario": self.scenario,
            }
        )
        if self._once_seen_s >= stay.from_s:
            self.truth[-1]["disturbed"] = True

    def overdue_s(self) -> float:
        """Return the longest time in s from the moment at which the ball left the track until its next pass is
        overdue."""
        left_us = us(self.run.end_s)
        all_beams = enumerate(self.layout.beams_deg)
        see = [degrees for beam, degrees in all_beams if not self.world.is_silent(f"beam/{beam}", left_us)]
        laps = max(OVERDUE_LAPS, OVERDUE_GAPS * widest_gap_laps(see or self.layout.beams_deg))
        return laps / self.track.leave_rev_s + AT_ONCE_S

    def void(self, cause: str, evidence_s: float, deadline_s: float, laps: float | None = None) -> None:
        """Record a void coup. Its evidence is at `evidence_s`, and the verdict must be published by `deadline_s`.
        `laps`: the laps that the ball ran, if the chef says that they were too few. If sensors missed passes, the
        daemon may have found too few laps before he said this."""
        self.truth.append(
            {
                "kind": "void",
                "cause": cause,
                "evidence_t": us(evidence_s),
                "deadline_t": math.ceil(deadline_s * 1_000_000),
                "scenario": self.scenario,
            }
        )
        if laps is not None:
            self.truth[-1]["laps"] = round(laps, 2)
