"""The lines of JSON that the socket sends: first `about`, then frames, and after each void coup an `axis`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.facts import ObjectLevel
from wheeld.core.observations import (
    BallPass,
    Command,
    Direction,
    Observation,
    Rotor,
    Sensed,
    SensorState,
)
from wheeld.core.pockets import label_of
from wheeld.core.setting import TableSetting
from wheeld.core.step import CoupLog
from wheeld.core.table import Table
from wheeld.core.tracking.ball import Where
from wheeld.core.tracking.beams import BallTracker

# The types below describe the state of the wheel at one moment, as far as sensors show it. Pages draw this state. No
# verdict depends on it.

Ball: TypeAlias = Literal["at_rest", "on_track", "falling", "unseen"]
"""Where the ball is. `unseen`: no sensor sees it any more, and no reader has seen it at rest."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """The wheel at sensing time `t_us`. Unknown values are None.

    `rotor_deg`: the angle of the middle of pocket zero, degrees clockwise. `rotor_rpm`: turns per minute, positive if
    clockwise, 0 if the rotor stands still. `laps`: the laps of the present run that are proven so far. `number`: the
    number of the pocket in which the ball lies.
    """

    t_us: int
    rotor_deg: float | None
    rotor_rpm: float | None
    ball: Ball
    direction: Direction | None
    laps: float | None
    number: int | None
    object: ObjectLevel


_BALLS: dict[Where, Ball] = {
    Where.LIES: "at_rest",
    Where.TAKEN: "at_rest",
    Where.RUNS: "on_track",
    Where.FALLS: "falling",
    Where.UNSEEN: "unseen",
}


def glance(table: Table) -> Glance:
    """Return the present state of the table's wheel."""
    observer, pockets, now_us = table.observer, table.setting.profile.pockets, table.now_us
    is_running = observer.ball.where in (Where.RUNS, Where.FALLS, Where.UNSEEN)
    place = None if is_running else observer.place(now_us)
    laps, deg = observer.track.record().laps if is_running else None, observer.rotor.angle_deg(now_us)
    rpm = 0.0 if observer.rotor.is_standing else observer.rotor.rpm(now_us)
    if rpm and observer.rotor.direction == "ccw":
        rpm = -rpm
    return Glance(
        t_us=now_us,
        rotor_deg=None if deg is None else round(deg, 1),
        rotor_rpm=None if rpm is None else round(rpm, 1),
        ball=_BALLS[observer.ball.where],
        direction=observer.run.direction,
        laps=None if laps is None else round(laps, 2),
        number=None if place is None else pockets.order[place],
        object=observer.object_level,
    )


ROTOR_EVERY_US = 250_000
"""Each rotor speed of an axis is the mean over this interval. If a hand brakes hard, the mean is about 0.1 s late."""

Mark: TypeAlias = tuple[int, str, int]
"""Something that a sensor saw: sensing time, kind of sensor, and number of the sensor or its level."""
Note: TypeAlias = tuple[int, str, str, str]
"""A command, or a change of a sensor: sensing time, kind (`word`, `fails`, `works`), the name of the command or of the
sensor, and the person."""

APART_US = 4_000_000
"""Passes that are further apart than this belong to two runs."""
AROUND_US = 300_000
"""An axis begins this long before the run, and ends this long after the verdict."""
SHOWN_US_MIN = 3_000_000
"""The shortest axis. If a launch is too early, the coup is void at the third pass already. Without this limit, its axis
would be too short."""
NO_RUN_US = 10_000_000
"""The length of an axis if the ball passed no beam."""
STANDS_US = 400_000
"""If no edge comes for longer than this, the rotor stands still, or makes fewer than 4 turns a minute."""


class About(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="about"):
    """The wheel: its pockets clockwise from zero, each with its label and its colour ("vert" for a zero), and the
    angles of its sensors, degrees clockwise."""

    site: str
    table: str
    pockets: tuple[int, ...]
    labels: tuple[str, ...]
    colours: tuple[str, ...]
    beams_deg: tuple[float, ...]
    readers_deg: tuple[float, ...]
    object_sensor: bool
    head: str | None


class Frame(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="frame"):
    """The wheel now, and what its sensors (except the encoder) have seen since the last frame."""

    glance: Glance
    seen: tuple[Mark, ...]


class Axis(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="axis"):
    """The evidence of a void coup on one axis of sensing time. Of several runs, only the last one is shown.

    `void`: the message about the coup. `moment_us`: when the cause of the void happened. `launch_us`: the first pass of
    the run, None without a run. `rpm`: the rotor's speed, positive if clockwise. `ball`: the ball's passes, each with
    its laps since the first pass. `direction`: the ball's direction. If it is None, `ball` is empty.
    """

    void: msgspec.Raw
    moment_us: int
    launch_us: int | None
    from_us: int
    to_us: int
    marks: tuple[Mark, ...]
    notes: tuple[Note, ...]
    rpm: tuple[tuple[int, float], ...]
    direction: Direction | None
    ball: tuple[tuple[int, float], ...]


class _Dated(msgspec.Struct):
    t_us: int
    at: datetime
    evidence_at: datetime


def about(setting: TableSetting) -> About:
    """Return the line that each listener gets first."""
    pockets = setting.profile.pockets
    return About(
        site=setting.site,
        table=setting.table,
        pockets=pockets.order,
        labels=tuple(map(label_of, pockets.order)),
        colours=tuple(pockets.facts[number].colour or "vert" for number in pockets.order),
        beams_deg=setting.beams_deg,
        readers_deg=setting.readers_deg,
        object_sensor=setting.object_sensor,
        head=setting.head,
    )


def marks(observations: Iterable[Observation]) -> Iterator[Mark]:
    """Yield what all sensors except the encoder saw."""
    for seen in observations:
        if isinstance(seen, Sensed) and seen.is_rare:
            kind, _, number = seen.sensor.partition("/")
            yield seen.t_us, kind, int(number or seen.stands or 0)


def axis(coup_log: CoupLog, void: bytes, setting: TableSetting) -> Axis:
    """Return the axis of a void coup. `void`: the message. Call this on a thread: it takes some milliseconds."""
    decode = msgspec.json.Decoder(Observation).decode
    seen = [decode(line) for line in coup_log.log.splitlines()[1:]]
    told = msgspec.json.decode(void, type=_Dated)
    moment_us = told.t_us - (told.at - told.evidence_at) // timedelta(microseconds=1)
    # Find the last run. A run of only one or two pulses counts only if there is no other run.
    passes = [each for each in seen if isinstance(each, BallPass) and each.t_us <= told.t_us]
    runs: list[list[BallPass]] = []
    for each in passes:
        if not runs or each.t_us - runs[-1][-1].t_us > APART_US:
            runs.append([])
        runs[-1].append(each)
    run = next((run for run in reversed(runs) if len(run) > 2), runs[-1] if runs else [])
    to_us = max(told.t_us, moment_us) + AROUND_US
    begun_us = min(moment_us, run[0].t_us) - AROUND_US if run else to_us - NO_RUN_US
    from_us = min(begun_us, to_us - SHOWN_US_MIN)
    shown = [each for each in seen if from_us <= each.t_us <= to_us]
    # Find the ball's direction, and its passes as the core reads them. Two passes do not show a direction.
    tracker = BallTracker(setting.beams_deg)
    for each in run:
        tracker.take(each.t_us, each.beam)
    chain = tracker.leading
    direction, ball = (None, ()) if chain is None or len(chain.passes) < 3 else (chain.direction, chain.passes)
    notes: list[Note] = []
    for one in shown:
        if isinstance(one, Command):
            notes.append((one.t_us, "word", one.name, one.by))
        elif isinstance(one, SensorState):
            notes.append((one.t_us, "works" if one.ok else "fails", one.sensor, ""))
    return Axis(
        void=msgspec.Raw(void),
        moment_us=moment_us,
        launch_us=run[0].t_us if run else None,
        from_us=from_us,
        to_us=to_us,
        marks=tuple(marks(shown)),
        notes=tuple(notes),
        rpm=tuple(_speeds(shown, setting.rotor_ticks, told.t_us)),
        direction=direction,
        ball=tuple((each.t_us, round(each.turn_deg / 360, 3)) for each in ball),
    )


def _speeds(observations: Sequence[Observation], ticks: int, to_us: int) -> Iterator[tuple[int, float]]:
    """Yield mean speeds between edges that are at least `ROTOR_EVERY_US` apart. If no edge came for a long time before
    `to_us`, and no sensor was reported as failing, yield 0 from the last edge on."""
    first: Rotor | None = None
    last_us, turned = to_us, 0
    for edge in observations:
        if not isinstance(edge, Rotor):
            continue
        last_us = edge.t_us
        if first is None:
            first = edge
            continue
        turned += 1 if edge.direction == "cw" else -1
        if (passed_us := edge.t_us - first.t_us) >= ROTOR_EVERY_US:
            yield edge.t_us, round(turned / ticks / passed_us * 60e6, 1)
            first, turned = edge, 0
    is_heard = not any(isinstance(each, SensorState) and not each.ok for each in observations)
    if is_heard and to_us - last_us > STANDS_US:
        yield last_us, 0.0
        yield to_us, 0.0
