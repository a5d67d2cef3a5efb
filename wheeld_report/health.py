"""The report on one wheel: makes all its parts, and judges their checks together."""

from __future__ import annotations

from itertools import chain
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.catalogue import Catalogue
from wheeld.core.instants import to_text
from wheeld_report.checks import FALSE_ALARMS, Check, judge
from wheeld_report.numbers import NumberCounts, numbers
from wheeld_report.people import Balance, Offsets, balance, check_of, offsets
from wheeld_report.sensors import Sensors, sensors
from wheeld_report.timing import timed
from wheeld_report.trends import Trend, trends
from wheeld_report.voids import Voids, voids
from wheeld_report.wheel import Decision, SensorPlaces, WheelRecord
from wheeld_report.zones import Zones, zones

Verdict: TypeAlias = Literal["found", "nothing_found", "too_small"]
"""`too_small`: nothing was found, but the sample is too small to show anything about the numbers."""


class WheelReport(msgspec.Struct, kw_only=True):
    """The report on one wheel. `findings`: the checks whose chance is below their limit, the surest first.
    `false_alarms`: the share of the wheels with nothing wrong that may get a finding."""

    schema: str = "report/1"
    site: str
    table: str
    test: bool
    journals: list[str]
    first_at: str | None
    last_at: str | None
    coups: int
    voids_count: int
    unreadable: int
    layout: SensorPlaces
    verdict: Verdict
    false_alarms: float
    findings: list[Check]
    numbers: NumberCounts
    offsets: list[Offsets]
    zones: Zones
    trends: list[Trend]
    balance: Balance
    voids: Voids
    decisions: list[Decision]
    sensors: Sensors


def health(wheel: WheelRecord, say: Catalogue) -> WheelReport:
    """Return the report on a wheel, with its texts in the language of `say`."""
    runs = timed(wheel)
    of_numbers, of_zones = numbers(wheel.coups, wheel.pockets, say), zones(wheel, runs, say)
    of_trends, of_people = trends(wheel, say), balance(wheel.coups, say)
    of_voids, of_sensors = voids(wheel, say), sensors(wheel, runs, say)
    of_offsets = offsets(wheel.coups, wheel.pockets.count)
    of_all = (part.checks for part in (of_numbers, of_zones, of_people, of_voids, of_sensors))
    of_measures = chain.from_iterable(trend.checks for trend in of_trends)
    findings = judge([*chain.from_iterable(of_all), *of_measures, *(check_of(one, say) for one in of_offsets)])
    times = [one.at_utc_us for one in wheel.verdicts]
    return WheelReport(
        site=wheel.site,
        table=wheel.table,
        test=wheel.test,
        journals=wheel.journals,
        first_at=to_text(min(times)) if times else None,
        last_at=to_text(max(times)) if times else None,
        coups=len(wheel.coups),
        voids_count=len(wheel.voids),
        unreadable=wheel.unreadable,
        layout=wheel.layout,
        verdict="found" if findings else "nothing_found" if of_numbers.enough else "too_small",
        false_alarms=FALSE_ALARMS,
        findings=findings,
        numbers=of_numbers,
        offsets=of_offsets,
        zones=of_zones,
        trends=of_trends,
        balance=of_people,
        voids=of_voids,
        decisions=wheel.decisions,
        sensors=of_sensors,
    )
