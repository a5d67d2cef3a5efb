"""Finds out whether the wheel is level, from the times at which beams see the ball, and from where the ball leaves.

A log shows the last beam that the ball passed, so each part of the track lies between two beams.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from wheeld.core.catalogue import Catalogue, translatable
from wheeld_report.checks import POWER_MIN, Check, more_than, power_of_share
from wheeld_report.timing import RunTimes, Tilt, tilt_of
from wheeld_report.wheel import WheelRecord

TOLERATED = 1.15
"""A part of the track may get this many times its share of the balls. On the simulator's wheels, a tilt of 0.1° causes
this. Real tables are level to 0.1°."""
EFFECT = 1.45
"""A sample must be large enough to find this factor. On the worst of the simulator's wheels, a tilt of 0.3° causes a
little less."""

TILT_TOLERATED_DEG = 0.2
"""The tolerated tilt. Real tables are level to half of it."""


class Zone(msgspec.Struct, frozen=True):
    """The part of the track from one beam clockwise to the next, in degrees of the bowl. `count`: how often the ball
    left the track there. `share`: how much of the track it is."""

    from_beam: int
    to_beam: int
    from_deg: float
    to_deg: float
    count: int
    share: float


class Zones(msgspec.Struct, kw_only=True):
    """`coups`: how many runs show where the ball left. `tilt`: None if there are too few runs of one direction."""

    coups: int
    enough: bool
    zones: list[Zone]
    tilt: Tilt | None
    checks: list[Check]


def zones(wheel: WheelRecord, runs: Sequence[RunTimes], say: Catalogue) -> Zones:
    """Return how level the wheel is, and where the balls of the sampled runs left the track."""
    angles = wheel.layout.beams_deg
    order = sorted(range(len(angles)), key=lambda beam: angles[beam])
    following = dict(zip(order, order[1:] + order[:1], strict=True))
    before = {after: beam for beam, after in following.items()}
    counts = Counter(
        run.last_beam if run.ball_direction == "cw" else before[run.last_beam]
        for run in wheel.runs
        if run.last_beam in following
    )
    found = []
    for beam, after in following.items() if len(order) > 1 else ():
        share = ((angles[after] - angles[beam]) % 360 or 360.0) / 360
        found.append(Zone(beam, after, angles[beam], angles[after], counts[beam], share))
    total = counts.total()
    least = min((zone.share for zone in found), default=0.0)
    power = power_of_share(total, min(1.0, least * TOLERATED), min(1.0, least * EFFECT)) if found else 0.0
    checks = []
    for zone in found if total else ():
        said = say.say(
            "the ball left the track between beam {first} and beam {second} {times} times as often as its share",
            first=zone.from_beam + 1,
            second=zone.to_beam + 1,
            times=say.decimal(round(zone.count / total / zone.share, 2)),
        )
        action = say.say(
            "Level the wheel to 0.1° or better, and clean the track. The high side is near this part of the track, or "
            "opposite to it."
        )
        p = more_than(zone.count, total, min(1.0, zone.share * TOLERATED))
        checks.append(Check(code="drop_zone", p=p, said=said, action=action))
    tilt = tilt_of(runs, angles)
    if tilt is not None:
        # `p` is an upper limit for the chance that a tolerated tilt is measured as large as this.
        away = max(0.0, tilt.tilt_deg - TILT_TOLERATED_DEG) / max(tilt.error_deg, 1e-9)
        said = say.say(
            "the times at the beams show that the wheel is out of level by about {tilt}°; its lowest point is near "
            "{low}°",
            tilt=say.decimal(round(tilt.tilt_deg, 1)),
            low=round(tilt.low_deg),
        )
        checks.append(Check(code="tilt", p=math.exp(-(away**2) / 2), said=said, action=say.say(_ACTION)))
    return Zones(coups=total, enough=power >= POWER_MIN, zones=found, tilt=tilt, checks=checks)


_ACTION = translatable(
    "Level the wheel to 0.1° or better with a spirit level, and clean the track. Angles count clockwise from the mark."
)
