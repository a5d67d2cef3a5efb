"""Beams that are late, beams and readers that miss the ball, and verdicts that were nearly another verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from wheeld.core.catalogue import Catalogue, translatable
from wheeld.core.names import sensor_text
from wheeld.core.tracking.evidence import LOW
from wheeld_report.checks import POWER_MIN, Check, interval, more_late, more_than, power_of_share
from wheeld_report.timing import Late, RunTimes, lateness, p_of
from wheeld_report.wheel import WheelRecord

LATE_TOLERATED_S = 0.005
"""The tolerated delay of a beam: a quarter of the delay that changes a verdict, and more than the difference between
filters of one kind."""
LATE_TOLERATED_ONE_WAY_S = 0.01
"""The tolerated delay if all balls run one way: a beam whose angle is wrong by three degrees then seems to be as late
as this."""
MISSED_TOLERATED = 0.01
"""The share of passes or sightings that a sensor may miss. With no more than this, a wheel of four beams makes no coup
void because of misses."""
MISSED_EFFECT = 0.04
"""A sample is large enough if it shows a sensor that misses this share."""
RISING_TOLERATED = 1.5
"""In the second half, verdicts that were nearly another verdict may be this many times as frequent: other people at the
table may cause that."""
LOW_TOLERATED = 0.05
"""The share of verdicts that may have a margin of one measure below `LOW`. Weak launches alone cause some."""
TOUCHED_TOLERATED = 0.002
"""The same share for the measure `slowing`. Of balls that nobody touches, fewer than one in 5,000 has such a low
margin."""


class SensorHealth(msgspec.Struct, frozen=True):
    """`sensor`: the name as in messages, such as "beam/1". `share_low`, `share_high`: the interval of the share that
    the sensor missed, with one confidence for all sensors together. `late_s`: how late a beam is compared with the
    other beams, or None if that is unknown."""

    sensor: str
    name: str
    seen: int
    missed: int
    share_low: float
    share_high: float
    enough: bool
    late_s: float | None = None


class Margins(msgspec.Struct, frozen=True):
    """The margins of one measure. `count`: the verdicts whose smallest margin is of this measure. `low`: those below
    `LOW`. `low_late`: those of `low` in the second half of all verdicts. `tenths`: a histogram in tenths."""

    measure: str
    count: int
    low: int
    low_late: int
    tenths: list[int]


class Sensors(msgspec.Struct, kw_only=True):
    """`verdicts`: the number of verdicts with a margin. `notices`: how often each notice of `NOTICES` came."""

    sensors: list[SensorHealth]
    verdicts: int
    margins: list[Margins]
    notices: dict[str, int]
    checks: list[Check]


SeenAndMissed: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""How often each sensor saw the ball, and how often it missed it."""
NOTICES = ("sensor_trouble", "low_margin", "unobserved_coup", "standstill")


def sensors(wheel: WheelRecord, runs: Sequence[RunTimes], say: Catalogue) -> Sensors:
    """Return how late each beam is, and what each sensor missed, from the sampled runs and all coups' sightings."""
    late, beams_deg, readers_deg = lateness(runs), wheel.layout.beams_deg, wheel.layout.readers_deg
    # The delay of a late beam is subtracted from its passes. Otherwise its neighbours would seem to miss the ball.
    delays_us = [round(1e6 * each.late_s) if abs(each.late_s) > _tolerated_s(each) else 0 for each in late]
    delays_us = delays_us or [0] * len(beams_deg)
    of_runs = [
        hops(
            sorted((t_us - delays_us[beam], beam) for t_us, beam in run.passes),
            beams_deg,
            forward=run.ball_direction == "cw",
        )
        for run in wheel.runs
    ]
    # The ball at rest turns with the rotor: at its known speed, and in the direction opposite to the ball's run.
    of_sightings = [
        hops(
            [(one.t_us, one.reader) for one in coup.sightings],
            readers_deg,
            forward=coup.ball_direction == "ccw",
            speed_deg_s=coup.rotor_rpm * 6,
        )
        for coup in wheel.coups
        if coup.rotor_rpm
        and coup.ball_direction is not None
        and coup.sightings
        and all(one.reader < len(readers_deg) for one in coup.sightings)
    ]
    beams, readers = _summed(of_runs, len(beams_deg)), _summed(of_sightings, len(readers_deg))
    among = len(beams_deg) + len(readers_deg)
    found, checks = [], []
    for kind, counts, delays in (("beam", beams, late), ("reader", readers, [])):
        for index, ((seen, missed), each) in enumerate(zip_longest(zip(*counts, strict=True), delays)):
            total, name = seen + missed, say.say_text(sensor_text(f"{kind}/{index}"))
            low, high = interval(missed, total, among)
            enough = power_of_share(total, MISSED_TOLERATED, MISSED_EFFECT) >= POWER_MIN
            late_s = None if each is None else each.late_s
            found.append(SensorHealth(f"{kind}/{index}", name, seen, missed, low, high, enough, late_s))
            if total:
                said = say.say(
                    "{sensor} missed the ball {missed} of {total} times", sensor=name, missed=missed, total=total
                )
                action = say.say("Clean this sensor, check its aim and its cable, and run wheeld doctor.")
                p = more_than(missed, total, MISSED_TOLERATED)
                checks.append(Check(code="sensor_misses", p=p, said=said, action=action))
    margins, verdicts = _margins(wheel)
    for sensor, one in zip(found, late, strict=False):
        said = say.say(
            "{sensor} reports the ball {late} ms later than the other beams",
            sensor=sensor.name,
            late=say.decimal(round(1e3 * one.late_s, 1)),
        )
        action = say.say("Check this beam's filter, cable, input and angle; change it if it stays late.")
        p = p_of(one.late_s, _tolerated_s(one), one.error_s, one.runs)
        checks.append(Check(code="beam_late", p=p, said=said, action=action))
    checks += [check for measured in margins for check in _low(measured, verdicts, say)]
    return Sensors(
        sensors=found,
        verdicts=verdicts,
        margins=margins,
        notices={name: wheel.notices[name] for name in NOTICES},
        checks=checks,
    )


def _tolerated_s(late: Late) -> float:
    return LATE_TOLERATED_ONE_WAY_S if late.one_way else LATE_TOLERATED_S


def _summed(pairs: Sequence[SeenAndMissed], sensors: int) -> list[list[int]]:
    """Return how often each sensor saw the ball in all runs or coups together, and how often it missed it."""
    return [[sum(pair[part][sensor] for pair in pairs) for sensor in range(sensors)] for part in (0, 1)]


def _margins(wheel: WheelRecord) -> tuple[list[Margins], int]:
    counts: dict[str, Counter[int]] = {}
    low: Counter[str] = Counter()
    low_late: Counter[str] = Counter()
    known = sorted((one for one in wheel.verdicts if one.margin is not None), key=lambda one: one.at_utc_us)
    for at, one in enumerate(known):
        if one.margin is not None and one.margin_of is not None:
            counts.setdefault(one.margin_of, Counter())[min(9, int(one.margin * 10))] += 1
            low[one.margin_of] += one.margin < LOW
            low_late[one.margin_of] += one.margin < LOW and at >= len(known) / 2
    margins = [
        Margins(measure, tenths.total(), low[measure], low_late[measure], [tenths[each] for each in range(10)])
        for measure, tenths in sorted(counts.items())
    ]
    return margins, sum(one.count for one in margins)


_LOW_ACTIONS = {
    "laps": translatable("The launches are weak: tell the boulers."),
    "direction": translatable("Too few passes are seen: clean the beams, and run wheeld doctor."),
    "passes": translatable("Too few passes are seen: clean the beams, and run wheeld doctor."),
    "pocket": translatable("The readers see the ball beside its pocket: align them (wheeld doctor --number)."),
    "rotor": translatable("The rotor turns too slowly for its encoder: ask the boulers to turn it faster."),
    "slowing": translatable(
        "Look at the wheel, at its cover and at the camera recordings of these coups: did somebody touch the ball?"
    ),
    "time": translatable("Launches come just before the table is ready: tell the boulers."),
}


def _low(one: Margins, verdicts: int, say: Catalogue) -> list[Check]:
    said = say.say(
        "{low} of {verdicts} verdicts were nearly another verdict, by the measure {measure}",
        low=one.low,
        verdicts=verdicts,
        measure=one.measure,
    )
    action = say.say(_LOW_ACTIONS.get(one.measure, _LOW_ACTIONS["passes"]))
    tolerated = TOUCHED_TOLERATED if one.measure == "slowing" else LOW_TOLERATED
    many = Check(code="low_margins", p=more_than(one.low, verdicts, tolerated), said=said, action=action)
    rising = say.say(
        "{late} of {low} verdicts that were nearly another verdict, by the measure {measure}, were in the second half "
        "of the period",
        late=one.low_late,
        low=one.low,
        measure=one.measure,
    )
    p = more_late(one.low_late, one.low, (verdicts - verdicts // 2) / verdicts, RISING_TOLERATED)
    return [many, Check(code="low_margins_rising", p=p, said=rising, action=action)] if one.low else [many]


# The functions below find which sensors round the wheel missed a ball that went past all of them. A ball passes the
# sensors in the order of their angles. If a sensor is skipped, and the time fits the longer way, the sensor missed the
# ball. A report that is too early or too late for any way is a stray pulse, and is ignored.

TOLERANCE = 0.35
"""The ball's way between two reports and the predicted way may differ by this share of the ball's way. From one pass to
the next a ball loses up to a quarter of its speed."""
LAPS_MOST = 3
"""The most laps between two reports. If the way is longer, the ball was not observed, and no sensor missed it."""
STRAYS_MOST = 2
"""If this many reports in a row fit no way, the report before them was the stray pulse. Then the next report begins a
new way."""


def hops(
    reports: Sequence[tuple[int, int]], angles_deg: Sequence[float], *, forward: bool, speed_deg_s: float | None = None
) -> SeenAndMissed:
    """Return how often each sensor reported the ball, and how often it missed the ball.

    `reports`: (time in µs, sensor), in order. `forward`: whether the ball goes clockwise, in the direction of growing
    angles. `speed_deg_s`: its speed, if that is known and constant. Otherwise the speed is computed from the reports.
    """
    way = _Way(angles_deg, forward=forward)
    seen, missed = [0] * len(angles_deg), [0] * len(angles_deg)
    last: tuple[int, int] | None = None
    speed, strays = speed_deg_s, 0
    for t_us, sensor in reports:
        if last is None or strays == STRAYS_MOST:
            seen[sensor] += 1
            last, speed, strays = (t_us, sensor), speed_deg_s, 0
            continue
        seconds = (t_us - last[0]) / 1e6
        gone_deg = way.gone_deg(last[1], sensor, None if speed is None else speed * seconds)
        if gone_deg is None or seconds <= 0:
            strays += 1
            continue
        for skipped in way.skipped(last[1], sensor, gone_deg):
            missed[skipped] += 1
        seen[sensor] += 1
        speed = gone_deg / seconds if speed_deg_s is None else speed_deg_s
        last, strays = (t_us, sensor), 0
    return tuple(seen), tuple(missed)


class _Way:
    def __init__(self, angles_deg: Sequence[float], *, forward: bool) -> None:
        self._angles_deg, self._sign = angles_deg, 1 if forward else -1
        self._order = sorted(range(len(angles_deg)), key=lambda sensor: self._sign * angles_deg[sensor])
        self._places = {sensor: at for at, sensor in enumerate(self._order)}

    def gone_deg(self, start: int, end: int, foretold_deg: float | None) -> float | None:
        """Return how far the ball went. Without a prediction (`foretold_deg`) this is the shortest way. None if no
        number of laps fits."""
        least_deg = (self._angles_deg[end] - self._angles_deg[start]) * self._sign % 360 or 360.0
        if foretold_deg is None:
            return least_deg
        laps = round(min(LAPS_MOST, max(0.0, (foretold_deg - least_deg) / 360)))
        gone_deg = least_deg + 360 * laps
        return gone_deg if abs(gone_deg - foretold_deg) <= TOLERANCE * gone_deg else None

    def skipped(self, start: int, end: int, gone_deg: float) -> Iterator[int]:
        """Return the sensors between `start` and `end`, in order, each as often as the ball passed it."""
        at, count = self._places[start], len(self._order)
        step = (self._places[end] - at) % count or count
        passed = step + count * (math.ceil(gone_deg / 360) - 1)
        return (self._order[(at + each) % count] for each in range(1, passed))
