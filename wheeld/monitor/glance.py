"""The state of the wheel at one moment, as far as sensors show it. Pages draw it. No verdict depends on it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.facts import ObjectLevel
from wheeld.core.observations import Direction
from wheeld.core.table import Table
from wheeld.core.tracking.ball import Where
from wheeld.core.tracking.observer import Observer

Ball: TypeAlias = Literal["at_rest", "on_track", "falling", "unseen"]
"""Where the ball is. `unseen`: no sensor sees it any more, and no reader has seen it at rest."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """The wheel at sensing time `t_us`. Unknown values are None.

    `rotor_deg`: the angle of the middle of pocket zero, degrees clockwise. `rotor_rpm`: turns per minute, positive if
    clockwise, 0 if the rotor stands. `laps`: the laps of the present run that are proven so far. `number`: the number
    of the pocket in which the ball lies.
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
    return Glance(
        t_us=now_us,
        rotor_deg=None if deg is None else round(deg, 1),
        rotor_rpm=_rpm(observer, now_us),
        ball=_BALLS[observer.ball.where],
        direction=observer.run.direction,
        laps=None if laps is None else round(laps, 2),
        number=None if place is None else pockets.order[place],
        object=observer.object_level,
    )


def _rpm(observer: Observer, now_us: int) -> float | None:
    if observer.rotor.is_standing:
        return 0.0
    rpm = observer.rotor.rpm(now_us)
    if rpm is None:
        return None
    return round(-rpm if observer.rotor.direction == "ccw" else rpm, 1)
