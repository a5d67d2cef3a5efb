"""The metrics of one wheel. Each metric is declared once, with its name, its meaning and its figures. docs/metrics.md
has one row for each metric."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

from wheeld.broker.health import PERIOD_S
from wheeld.broker.payloads import Health
from wheeld.core.facts import Cause, StateName
from wheeld.core.messages.payloads import TableMessage
from wheeld.page.wheel import Distribution, WheelView

FRESH_S = 4 * PERIOD_S
"""If the newest message `health` is older than this, three in a row are missing, and the daemon needs attention."""

NAMES_MAX = 64
"""The most names of sensors, of temperatures, or of kinds of notices. A table has 55 sensors at most: 32 beams,
16 readers, and a few others. There are 34 kinds of notices."""
COUNTERS_MAX = 256
"""The most counters that become metrics. A daemon with a board and a head has about a hundred."""
NAME = re.compile(r"[ -~]{1,64}\Z")
"""The names that become labels. A longer name is left out and not cut: two cut names may be the same, and Prometheus
refuses that."""
LARGEST = 2**63
"""Larger figures are left out: a whole number in JSON has no limit, but a float has a limit."""

Sample: TypeAlias = tuple[tuple[str, ...], float]
"""The values of a metric's own labels, and the figure."""


class MetricsView(NamedTuple):
    """A wheel at the moment of a request.

    `health` and `table` are None if they do not describe the present: old messages would look like a wheel that works.
    `age_s` is the age of `health`. `started_s` is the Unix time when this run of the daemon began.
    """

    wheel: WheelView
    age_s: float | None
    health: Health | None
    table: TableMessage | None
    started_s: float | None


class Single(NamedTuple):
    """A gauge, or a counter, whose name ends in `_total`: its name in queries, its meaning, its samples, and its own
    labels.

    `is_of_run`: whether the counter begins from 0 at each run of the daemon.
    """

    name: str
    about: str
    samples: Callable[[MetricsView], Iterable[Sample]]
    labels: tuple[str, ...] = ()
    is_of_run: bool = False

    @property
    def kind(self) -> Literal["counter", "gauge"]:
        """What Prometheus calls it."""
        return "counter" if self.name.endswith("_total") else "gauge"


class Histogram(NamedTuple):
    """A histogram: its name without a suffix, its meaning, its distributions, and their labels."""

    name: str
    about: str
    spread: Callable[[MetricsView], Iterable[tuple[tuple[str, ...], Distribution]]]
    labels: tuple[str, ...] = ()
    kind: Literal["histogram"] = "histogram"


def _figure(of: Callable[[MetricsView], float | None]) -> Callable[[MetricsView], Iterable[Sample]]:
    """Return a function that makes the samples of a metric without labels of its own: one sample, or no sample if the
    figure is not known."""

    def samples(view: MetricsView) -> Iterable[Sample]:
        figure = of(view)
        return [] if figure is None else [((), figure)]

    return samples


def _of_health(of: Callable[[Health], float | None], per: float = 1) -> Callable[[MetricsView], Iterable[Sample]]:
    """Return a function that makes the sample of a figure in the message `health`. A unit of the metric is `per` units
    of the figure."""

    def figure(view: MetricsView) -> float | None:
        found = None if view.health is None else of(view.health)
        return None if found is None or abs(found) > LARGEST else found / per

    return _figure(figure)


def _fitting(names: Iterable[str]) -> list[str]:
    """Return the names that become labels: only short and printable names, `NAMES_MAX` at most."""
    return sorted(name for name in names if NAME.match(name))[:NAMES_MAX]


def _by_name(named: Mapping[str, float]) -> list[Sample]:
    return [((name,), named[name]) for name in _fitting(named)]


def _counters(health: Health) -> list[Sample]:
    counted = sorted((part, name, count) for part, counts in health.counters.items() for name, count in counts.items())
    fitting = [each for each in counted if NAME.match(each[0]) and NAME.match(each[1]) and 0 <= each[2] <= LARGEST]
    return [((part, name), count) for part, name, count in fitting[:COUNTERS_MAX]]


def _left_out(health: Health) -> int:
    """Return how many entries of the message `health` are not in the metrics."""
    counters = sum(map(len, health.counters.values())) - len(_counters(health))
    return counters + sum(len(names) - len(_fitting(names)) for names in (health.sensors, health.temperatures_c))


def _daemon(view: MetricsView) -> Iterator[Sample]:
    online = view.wheel.availability
    if view.health is not None and online is not None:
        known = (online.version, view.health.program or "")
        yield tuple(text if NAME.match(text) else "" for text in known), 1


def _troubles(view: MetricsView) -> list[Sample]:
    troubles = {} if view.health is None else view.health.troubles
    found = {(sensor, trouble.value) for sensor in _fitting(troubles) for trouble in troubles[sensor]}
    return [(each, 1) for each in sorted(found)[:NAMES_MAX]]


METRICS: tuple[Single | Histogram, ...] = (
    Single(
        "wheeld_broker_reached",
        "1 while the page is connected to the broker",
        _figure(lambda view: view.wheel.is_reached),
    ),
    Single(
        "wheeld_wheel_online",
        "1 while the broker says that the wheel's daemon is connected",
        _figure(lambda view: view.wheel.is_online),
    ),
    Single(
        "wheeld_wheel_seen",
        f"1 while the wheel is online and its report of health is younger than {FRESH_S:g} s",
        _figure(lambda view: view.health is not None),
    ),
    Single(
        "wheeld_health_age_seconds", "how long ago the latest report of health came", _figure(lambda view: view.age_s)
    ),
    Single("wheeld_bench_table", "1 for a bench table, which pays nothing", _figure(lambda view: view.wheel.is_test)),
    Single(
        "wheeld_daemon_info",
        "always 1; the version of the wheel's daemon, and the digest of its program",
        _daemon,
        ("version", "program"),
    ),
    Single(
        "wheeld_daemon_start_time_seconds",
        "when this run of the daemon began, Unix time",
        _figure(lambda view: view.started_s),
    ),
    Single(
        "wheeld_daemon_restarts_total",
        "how often the daemon began another run, since the page started",
        _figure(lambda view: view.wheel.restarts),
    ),
    Single(
        "wheeld_daemon_events_total",
        "each counter of the daemon since its start, by the part that counts",
        lambda view: [] if view.health is None else _counters(view.health),
        ("part", "name"),
        is_of_run=True,
    ),
    Single(
        "wheeld_table_state",
        "1 for the present state of the table, 0 for each other state",
        lambda view: (
            [] if view.table is None else [((name,), name == view.table.state) for name in get_args(StateName)]
        ),
        ("state",),
    ),
    Single(
        "wheeld_bets_open",
        "1 while bets are taken",
        _figure(lambda view: None if view.table is None else view.table.bets == "open"),
    ),
    Single(
        "wheeld_results_total",
        "valid coups since the page started",
        _figure(lambda view: view.wheel.verdicts["result"]),
    ),
    Single(
        "wheeld_voids_total",
        "void coups since the page started",
        lambda view: [((cause.value,), view.wheel.verdicts[cause.value]) for cause in Cause],
        ("cause",),
    ),
    Single(
        "wheeld_notices_total", "notices since the page started", lambda view: _by_name(view.wheel.notices), ("notice",)
    ),
    Histogram(
        "wheeld_verdict_margin_ratio",
        'how far a verdict was from another one, 0 to 1, since the page started; `verdict` is "result" or "void"',
        lambda view: view.wheel.margins.items(),
        ("verdict", "margin_of"),
    ),
    Histogram(
        "wheeld_result_lateness_seconds",
        "how late the late results were (more than two seconds), since the page started",
        lambda view: [((), view.wheel.lateness)],
    ),
    Single(
        "wheeld_sensor_working",
        "1 for a sensor that works, 0 for one that does not",
        lambda view: [] if view.health is None else _by_name(view.health.sensors),
        ("sensor",),
    ),
    Single(
        "wheeld_sensor_left_out",
        "1 for a sensor that the table plays without",
        lambda view: [] if view.table is None else _by_name(dict.fromkeys(view.table.without, 1)),
        ("sensor",),
    ),
    Single(
        "wheeld_sensor_trouble",
        "1 for each thing that is wrong with a sensor, or with the line to the sensors (`link`)",
        _troubles,
        ("sensor", "trouble"),
    ),
    Single(
        "wheeld_self_test_passed",
        "1 if the self-test of this run passed",
        _of_health(lambda health: None if health.self_test is None else health.self_test.passed),
    ),
    Single(
        "wheeld_clock_error_seconds",
        "by how much the clock of the sensors may be wrong, compared with the computer's",
        _of_health(lambda health: health.clock.error_us, per=1e6),
    ),
    Single(
        "wheeld_clock_drift_ratio",
        "by what share the clock of the sensors is too fast: 0.00001 is 10 ppm",
        _of_health(lambda health: health.clock.drift_ppm, per=1e6),
    ),
    Single(
        "wheeld_clock_synchronised",
        "1 if a time server has set the computer's clock",
        _of_health(lambda health: health.clock.synchronised),
    ),
    Single(
        "wheeld_outbox_messages",
        "messages that the wheel owes: the broker, or a configured settlement system, has not confirmed them",
        _of_health(lambda health: health.outbox_depth),
    ),
    Single(
        "wheeld_temperature_celsius",
        "temperatures of the wheel's computer",
        lambda view: [] if view.health is None else _by_name(view.health.temperatures_c),
        ("zone",),
    ),
    Single(
        "wheeld_unreadable_messages_total",
        "messages on the wheel's topics that this version cannot read, since the page started",
        _figure(lambda view: view.wheel.unreadable),
    ),
    Single(
        "wheeld_entries_left_out",
        "entries of the report of health that become no metric: their names are too long, not printable or too many",
        _of_health(_left_out),
    ),
)
