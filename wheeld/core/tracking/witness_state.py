"""What a witness remembers, whichever sensors it has, and what it knows of the cylinder and of broken sensors."""

from __future__ import annotations

import msgspec

from wheeld.core.law.facts import Fact
from wheeld.core.observations import Direction, ForeignObject, HeadPhase, SensorState
from wheeld.core.table_state import HeadGameKept
from wheeld.core.tracking.ball import BallState
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.forecast import Habit
from wheeld.core.tracking.head_rotor import HeadRotorState
from wheeld.core.tracking.pocket import PocketState
from wheeld.core.tracking.rotor import RotorState

FIRST_LAPS_MAX = 3
"""A head counts from its first lap on, line by line: a run whose count begins higher was counted by something else."""


class HeadRun(msgspec.Struct):
    """One run of the ball as a wheel head reports it, under its number `spin` of the game; none while it is not `on`.

    `from_launch`: heard from before the launch on. `told`: as a launch. `laps`: the most that was reported; none
    of a run that was `miscounted`. `void`: the head itself has declared it so; `same_direction`: by its flag.
    """

    on: bool = False
    began_us: int = 0
    spin: int = 0
    from_launch: bool = False
    told: bool = False
    laps: int | None = None
    miscounted: bool = False
    ball_way: Direction | None = None
    off_track: bool = False
    same_direction: bool = False
    void: bool = False
    disowned: bool = False

    def count(self, laps: int) -> None:
        """Take a report of its laps in. One that no ball can have run at first, and 0 after others, which takes them
        back, make the whole count worthless (N8)."""
        self.miscounted |= laps > FIRST_LAPS_MAX if self.laps is None else laps == 0 < self.laps
        self.laps = None if self.miscounted else max(laps, self.laps or 0)


class HeadState(msgspec.Struct):
    """What a wheel head has reported: where its game stands, the run in progress, its rotor, its latest number.

    `over_us`: when it last said that a run was over without a number. `before`: where it stood when a former
    process last heard it, until it is heard again.
    """

    phase: HeadPhase | None = None
    spin: int = 0
    same_direction: bool = False
    told_number: tuple[int, int | None] | None = None
    over_us: int = -1
    before: HeadGameKept | None = None
    run: HeadRun = msgspec.field(default_factory=HeadRun)
    rotor: HeadRotorState = msgspec.field(default_factory=HeadRotorState)


class ObserverState(msgspec.Struct):
    """All that the trackers remember, and what has been told of the run in progress."""

    rotor: RotorState = msgspec.field(default_factory=RotorState)
    ball: BallState = msgspec.field(default_factory=BallState)
    reading: PocketState = msgspec.field(default_factory=PocketState)
    object_present: bool = False
    object_last_us: int = -1
    faults: list[str] = msgspec.field(default_factory=list)
    left_us: int | None = None
    directions_told: bool = False
    opposite: bool = False
    rotor_told: bool = False
    slowed_told: bool = False
    void_foreseen: bool = False
    leaving_foreseen: bool = False
    filled: dict[int, int] = msgspec.field(default_factory=dict)
    glimpsed: list[int] = msgspec.field(default_factory=list)
    habit: Habit = msgspec.field(default_factory=Habit)
    overdue_told: bool = False
    head: HeadState = msgspec.field(default_factory=HeadState)


def saw_object(state: ObserverState, seen: ForeignObject) -> list[Evidence]:
    """The object sensor's word, told when it changes."""
    if seen.present == state.object_present:
        return []
    state.object_present = seen.present
    state.object_last_us = seen.t_us
    return [Evidence(Fact.OBJECT_IN if seen.present else Fact.OBJECT_OUT, seen.t_us)]


def saw_sensor(state: ObserverState, seen: SensorState) -> list[Evidence]:
    """A sensor that fails or works again, each told once."""
    faults = state.faults
    if seen.ok == (seen.sensor not in faults):
        return []
    if seen.ok:
        faults.remove(seen.sensor)
        return [Evidence(Fact.SENSOR_MENDED, seen.t_us, {"sensor": seen.sensor})]
    faults.append(seen.sensor)
    return [Evidence(Fact.SENSOR_FAULT, seen.t_us, {"sensor": seen.sensor})]
