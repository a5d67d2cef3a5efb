"""Beams and readers that miss the ball, and verdicts that were near to flipping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.names import sensor_text
from wheeld.core.tracking.evidence import LOW
from wheeld.report.checks import POWER_MIN, Check, interval, more_than, power_of_share
from wheeld.report.hops import hops
from wheeld.report.wheel import Wheel

MISSED_TOLERATED = 0.01
"""Of passes or sightings: with so few a wheel of four beams voids no coup for it."""
MISSED_EFFECT = 0.04
"""What a sample must be large enough to find."""
LOW_TOLERATED = 0.05
"""Of verdicts with a margin under `LOW`, of one measure: weak launches alone make some."""


class Sensor(msgspec.Struct, frozen=True):
    """`sensor` as in messages, like "beam/1". `share_low`, `share_high`: the interval of what it missed."""

    sensor: str
    name: str
    seen: int
    missed: int
    share_low: float
    share_high: float
    enough: bool


class Margins(msgspec.Struct, frozen=True):
    """Of one measure: verdicts that it was the least margin of, those that were low, and a histogram of tenths."""

    measure: str
    count: int
    low: int
    tenths: list[int]


class Sensors(msgspec.Struct, kw_only=True):
    """`verdicts`: those that have a margin. `notices`: how many of each kind, of those that are about sensors."""

    sensors: list[Sensor]
    verdicts: int
    margins: list[Margins]
    notices: dict[str, int]
    checks: list[Check]


NOTICES = ("sensor_trouble", "low_margin", "unobserved_coup", "standstill")


def sensors(wheel: Wheel, say: Catalogue) -> Sensors:
    """What each sensor missed, by the sampled runs and by the sightings of every coup."""
    beams = [_summed(counts, len(wheel.layout.beams_deg)) for counts in _of_runs(wheel)]
    readers = [_summed(counts, len(wheel.layout.readers_deg)) for counts in _of_sightings(wheel)]
    found = [
        _sensor(f"{kind}/{index}", seen, missed, say)
        for kind, counts in (("beam", beams), ("reader", readers))
        for index, (seen, missed) in enumerate(zip(*counts, strict=True))
    ]
    margins, verdicts = _margins(wheel)
    checks = [_check(sensor, say) for sensor in found if sensor.seen + sensor.missed]
    checks += [_low(one, verdicts, say) for one in margins]
    return Sensors(
        sensors=found,
        verdicts=verdicts,
        margins=margins,
        notices={name: wheel.notices[name] for name in NOTICES},
        checks=checks,
    )


def _of_runs(wheel: Wheel) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    return [run.passes for run in wheel.runs], [run.missed for run in wheel.runs]


def _of_sightings(wheel: Wheel) -> tuple[list[Sequence[int]], list[Sequence[int]]]:
    """The ball at rest goes round with the rotor, whose speed is known, against the way that it ran."""
    angles = wheel.layout.readers_deg
    pairs = [
        hops(
            [(one.t_us, one.reader) for one in coup.sightings],
            angles,
            forward=coup.ball_direction == "ccw",
            speed_deg_s=coup.rotor_rpm * 6,
        )
        for coup in wheel.coups
        if coup.rotor_rpm
        and coup.ball_direction is not None
        and coup.sightings
        and all(one.reader < len(angles) for one in coup.sightings)
    ]
    return [seen for seen, _ in pairs], [missed for _, missed in pairs]


def _summed(counts: Iterable[Sequence[int]], sensors: int) -> list[int]:
    return [sum(column) for column in zip(*counts, strict=True)] or [0] * sensors


def _sensor(sensor: str, seen: int, missed: int, say: Catalogue) -> Sensor:
    low, high = interval(missed, seen + missed)
    power = power_of_share(seen + missed, MISSED_TOLERATED, MISSED_EFFECT)
    return Sensor(sensor, say.say_text(sensor_text(sensor)), seen, missed, low, high, power >= POWER_MIN)


def _check(sensor: Sensor, say: Catalogue) -> Check:
    total = sensor.seen + sensor.missed
    said = say.say(
        "{sensor} missed the ball {missed} of {total} times", sensor=sensor.name, missed=sensor.missed, total=total
    )
    action = say.say("Clean this sensor, check its aim and its cable, and run wheeld doctor.")
    return Check(code="sensor_misses", p=more_than(sensor.missed, total, MISSED_TOLERATED), said=said, action=action)


def _margins(wheel: Wheel) -> tuple[list[Margins], int]:
    counts: dict[str, Counter[int]] = {}
    low: Counter[str] = Counter()
    for one in wheel.verdicts:
        if one.margin is not None and one.margin_of is not None:
            counts.setdefault(one.margin_of, Counter())[min(9, int(one.margin * 10))] += 1
            low[one.margin_of] += one.margin < LOW
    margins = [
        Margins(measure, tenths.total(), low[measure], [tenths[each] for each in range(10)])
        for measure, tenths in sorted(counts.items())
    ]
    return margins, sum(one.count for one in margins)


_LOW_ACTIONS = {
    "laps": translatable("The launches are weak: tell the boulers."),
    "direction": translatable("Too few passes are seen: clean the beams, and run wheeld doctor."),
    "passes": translatable("Too few passes are seen: clean the beams, and run wheeld doctor."),
    "pocket": translatable("The readers see the ball beside its pocket: align them (wheeld doctor with a number)."),
    "rotor": translatable("The rotor turns too slowly for its encoder: ask the boulers to turn it faster."),
    "time": translatable("Launches come just before the table is ready: tell the boulers."),
}


def _low(one: Margins, verdicts: int, say: Catalogue) -> Check:
    said = say.say(
        "{low} of {verdicts} verdicts were near to flipping, by the measure {measure}",
        low=one.low,
        verdicts=verdicts,
        measure=one.measure,
    )
    action = say.say(_LOW_ACTIONS.get(one.measure, _LOW_ACTIONS["passes"]))
    return Check(code="low_margins", p=more_than(one.low, verdicts, LOW_TOLERATED), said=said, action=action)
