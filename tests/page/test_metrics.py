"""What the metrics of a wheel say, to the last sample."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from tests.page.messages import (
    AVAILABILITY,
    HEALTH,
    NOTICE,
    RESULT,
    TABLE,
    VOID,
    seen,
    take,
)
from wheeld.core.facts import Cause
from wheeld.page.metric_list import COUNTERS_MAX, METRICS, NAMES_MAX, Histogram
from wheeld.page.metrics import WHERE, WheelCollector, application, exposition
from wheeld.page.wheel import WheelView

ROOT = Path(__file__).parents[2]
STARTED_S = 1_767_294_000.0
"""The moment of the report in `messages`, less its hour."""
OPEN = "application/openmetrics-text; version=1.0.0"
OF_NOW = {metric.name for metric in METRICS} - {
    "wheeld_broker_reached", "wheeld_wheel_online", "wheeld_wheel_seen", "wheeld_health_age_seconds",
    "wheeld_bench_table", "wheeld_daemon_restarts_total", "wheeld_results_total", "wheeld_voids_total",
    "wheeld_notices_total", "wheeld_verdict_margin_ratio", "wheeld_result_lateness_seconds",
    "wheeld_unreadable_messages_total",
}  # fmt: skip
"""Metrics that say how the wheel is at present."""


def registry_of(wheel: WheelView, now_s: float = 1.0) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(WheelCollector(wheel, "campione", "campione-03", lambda: now_s))
    return registry


def samples(registry: CollectorRegistry) -> dict[str, float]:
    """Every sample of the OpenMetrics, as `name{label="value"}` without site and table."""
    found: dict[str, float] = {}
    text, _ = exposition(registry, OPEN)
    for family in text_string_to_metric_families(text.decode()):  # type: ignore[no-untyped-call]
        for sample in family.samples:
            labels = dict(sample.labels)
            assert (labels.pop("site"), labels.pop("table")) == ("campione", "campione-03")
            own = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
            key = f"{sample.name}{{{own}}}" if own else sample.name
            assert key not in found
            found[key] = sample.value
    return found


def told(wheel: WheelView, now_s: float = 1.0) -> dict[str, float]:
    """The samples, but for histograms."""
    spread = tuple(metric.name for metric in METRICS if isinstance(metric, Histogram))
    return {key: value for key, value in samples(registry_of(wheel, now_s)).items() if not key.startswith(spread)}


def declared(key: str) -> str:
    return key.partition("{")[0].replace("_created", "_total")


NOTHING = {
    "wheeld_broker_reached": 0,
    "wheeld_wheel_online": 0,
    "wheeld_wheel_seen": 0,
    "wheeld_bench_table": 0,
    "wheeld_daemon_restarts_total": 0,
    "wheeld_results_total": 0,
    **{f'wheeld_voids_total{{cause="{cause.value}"}}': 0 for cause in Cause},
    "wheeld_unreadable_messages_total": 0,
}
STATES = (
    "closed", "faites_vos_jeux", "ball_running", "rien_ne_va_plus", "ball_on_obstacle", "awaiting_chef", "operations",
    "rien_va", "suspended",
)  # fmt: skip
SEEN = {
    **NOTHING,
    "wheeld_broker_reached": 1,
    "wheeld_wheel_online": 1,
    "wheeld_wheel_seen": 1,
    "wheeld_health_age_seconds": 1,
    f'wheeld_daemon_info{{program="{"a" * 64}",version="0.1.0"}}': 1,
    "wheeld_daemon_start_time_seconds": STARTED_S,
    'wheeld_daemon_events_total{name="slow_stores",part="host"}': 0,
    'wheeld_daemon_events_created{name="slow_stores",part="host"}': STARTED_S,
    'wheeld_daemon_events_total{name="standstills",part="host"}': 1,
    'wheeld_daemon_events_created{name="standstills",part="host"}': STARTED_S,
    'wheeld_daemon_events_total{name="connections",part="mqtt"}': 2,
    'wheeld_daemon_events_created{name="connections",part="mqtt"}': STARTED_S,
    **{f'wheeld_table_state{{state="{state}"}}': state == "faites_vos_jeux" for state in STATES},
    "wheeld_bets_open": 1,
    'wheeld_sensor_working{sensor="beam/0"}': 1,
    'wheeld_sensor_working{sensor="rotor"}': 0,
    'wheeld_sensor_left_out{sensor="reader/1"}': 1,
    'wheeld_sensor_trouble{sensor="link",trouble="clock_drifts"}': 1,
    'wheeld_sensor_trouble{sensor="link",trouble="line_damaged"}': 1,
    'wheeld_sensor_trouble{sensor="rotor",trouble="chatters"}': 1,
    "wheeld_self_test_passed": 1,
    "wheeld_clock_error_seconds": 0.00085,
    "wheeld_clock_drift_ratio": -2.5e-06,
    "wheeld_clock_synchronised": 1,
    "wheeld_outbox_messages": 3,
    'wheeld_temperature_celsius{zone="cpu-thermal"}': 51.5,
    "wheeld_entries_left_out": 0,
}


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.fixture
def wheel() -> WheelView:
    return seen()


def test_of_a_wheel_that_nothing_has_come_from() -> None:
    assert told(WheelView()) == NOTHING


def test_of_a_wheel_that_runs() -> None:
    assert told(seen()) == SEEN


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"self_test": None}, {"wheeld_self_test_passed": None}),
        ({"self_test": {**HEALTH["self_test"], "passed": False}}, {"wheeld_self_test_passed": 0}),  # type: ignore[dict-item]
        ({"clock": {}}, {f"wheeld_clock_{name}": None for name in ("error_seconds", "drift_ratio", "synchronised")}),
        ({"clock": {"synchronised": False}}, {"wheeld_clock_synchronised": 0, "wheeld_clock_error_seconds": None}),
        ({"program": None}, {'wheeld_daemon_info{program="",version="0.1.0"}': 1}),
        ({"troubles": {}}, {'wheeld_sensor_trouble{sensor="rotor",trouble="chatters"}': None}),
        ({"test": True}, {"wheeld_bench_table": 1}),
        ({"outbox_depth": 0}, {"wheeld_outbox_messages": 0}),
        ({"outbox_depth": 10**400}, {"wheeld_outbox_messages": None}),
        ({"clock": {"error_us": -(10**400)}}, {"wheeld_clock_error_seconds": None}),
    ],
)
def test_of_a_report_of_health(members: dict[str, Any], expected: dict[str, float | None], wheel: WheelView) -> None:
    assert take(wheel, HEALTH, **members)
    found = told(wheel)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("state", "bets", "are_open"),
    [("ball_running", "open", 1), ("operations", "closed", 0), ("ball_on_obstacle", "locked", 0)],
)
def test_of_a_table(state: str, bets: str, are_open: int, wheel: WheelView) -> None:
    assert take(wheel, TABLE, seq=2, state=state, bets=bets)
    found = told(wheel)
    assert [name for name in STATES if found[f'wheeld_table_state{{state="{name}"}}']] == [state]
    assert found["wheeld_bets_open"] == are_open


# --- only what is so now ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("age_s", "is_seen"), [(0.0, 1), (40.0, 1), (40.1, 0)])
def test_a_report_counts_while_it_is_fresh(age_s: float, is_seen: int) -> None:
    found = told(seen(now_s=100.0), 100.0 + age_s)
    assert found["wheeld_wheel_seen"] == is_seen
    assert found["wheeld_health_age_seconds"] == pytest.approx(age_s)
    assert ("wheeld_outbox_messages" in found) is bool(is_seen)
    assert "wheeld_bets_open" in found  # the table's state is retained, and does not age


def lost(wheel: WheelView) -> None:
    wheel.is_reached = False


@pytest.mark.parametrize(
    ("end", "reached", "online"),
    [
        (lost, 0, 0),
        (lambda wheel: take(wheel, AVAILABILITY, state="offline"), 1, 0),
    ],
    ids=["no broker", "no daemon"],
)
def test_nothing_old_looks_like_a_wheel_that_works(end: Any, reached: int, online: int, wheel: WheelView) -> None:
    assert {declared(key) for key in told(wheel)} >= OF_NOW
    end(wheel)
    found = told(wheel)
    assert not {declared(key) for key in found} & OF_NOW
    assert (found["wheeld_broker_reached"], found["wheeld_wheel_online"], found["wheeld_wheel_seen"]) == (
        reached,
        online,
        0,
    )


def test_a_report_of_the_run_before_is_not_of_this_one(wheel: WheelView) -> None:
    take(wheel, AVAILABILITY, boot_id="b2")
    assert told(wheel)["wheeld_wheel_seen"] == 0
    take(wheel, HEALTH, boot_id="b2")
    assert told(wheel)["wheeld_wheel_seen"] == 1


# --- counters ---------------------------------------------------------------------------------------------------------


def test_the_start_of_a_run_stays_when_the_clock_is_set(wheel: WheelView) -> None:
    registry = registry_of(wheel)
    assert samples(registry)["wheeld_daemon_start_time_seconds"] == STARTED_S
    take(wheel, HEALTH, at="2026-01-02T20:00:00.000000Z")
    assert samples(registry)["wheeld_daemon_start_time_seconds"] == STARTED_S
    take(wheel, AVAILABILITY, boot_id="b2")
    take(wheel, HEALTH, boot_id="b2", at="2026-01-02T20:00:00.400000Z", uptime_s=10.2)
    found = samples(registry)
    assert found["wheeld_daemon_start_time_seconds"] == STARTED_S + 86_400 + 3_600 - 10
    assert found['wheeld_daemon_events_created{name="connections",part="mqtt"}'] == STARTED_S + 86_400 + 3_600 - 10
    assert found["wheeld_daemon_restarts_total"] == 1


@pytest.mark.parametrize(("at", "uptime_s"), [("yesterday", 1.0), ("9999-99-99", 1.0), ("2026-01-01T20:00:00Z", 1e308)])
def test_a_run_may_begin_at_no_known_time(at: str, uptime_s: float, wheel: WheelView) -> None:
    take(wheel, HEALTH, at=at, uptime_s=uptime_s)
    found = told(wheel)
    assert found["wheeld_wheel_seen"] == 1
    assert found['wheeld_daemon_events_total{name="connections",part="mqtt"}'] == 2


def test_verdicts_are_counted_by_cause(wheel: WheelView) -> None:
    seq = count(2)
    for cause in ("chef", "breakdown", "chef"):
        assert take(wheel, VOID, seq=next(seq), cause=cause)
    for _ in range(4):
        assert take(wheel, RESULT, seq=next(seq))
    take(wheel, NOTICE)
    wheel.take("void", b"{", retained=False, now_s=0)
    expected = {
        **SEEN,
        "wheeld_results_total": 4,
        'wheeld_voids_total{cause="chef"}': 2,
        'wheeld_voids_total{cause="breakdown"}': 1,
        'wheeld_notices_total{notice="bouler"}': 1,
        "wheeld_unreadable_messages_total": 1,
    }
    assert told(wheel) == expected


def test_margins_are_spread_by_verdict_and_measure(wheel: WheelView) -> None:
    seq = count(2)
    for margin in (0.05, 0.2, 0.3, 1.0):
        assert take(wheel, RESULT, seq=next(seq), margin=margin, margin_of="laps")
    assert take(wheel, VOID, seq=next(seq), cause="too_few_laps", margin=0.7, margin_of="laps")
    found = samples(registry_of(wheel))
    name = "wheeld_verdict_margin_ratio"
    of_laps = {le: found[f'{name}_bucket{{le="{le}",margin_of="laps",verdict="result"}}'] for le in BOUNDS}
    assert of_laps == {"0.05": 1, "0.1": 1, "0.2": 2, "0.4": 3, "0.6": 3, "0.8": 3, "1.0": 4, "+Inf": 4}
    assert found[f'{name}_sum{{margin_of="laps",verdict="result"}}'] == pytest.approx(1.55)
    counts = {key: value for key, value in found.items() if key.startswith(f"{name}_count") and value}
    assert counts == {
        f'{name}_count{{margin_of="laps",verdict="result"}}': 4,
        f'{name}_count{{margin_of="laps",verdict="void"}}': 1,
    }


BOUNDS = ("0.05", "0.1", "0.2", "0.4", "0.6", "0.8", "1.0", "+Inf")


def test_lateness_is_spread(wheel: WheelView) -> None:
    for seq, late_s in enumerate((None, 2.5, 12.0, 12.5, 400.0), start=2):
        assert take(wheel, RESULT, seq=seq, late_s=late_s)
    found = samples(registry_of(wheel))
    name = "wheeld_result_lateness_seconds"
    buckets = {le: found[f'{name}_bucket{{le="{le}"}}'] for le in ("5.0", "10.0", "20.0", "300.0", "+Inf")}
    assert buckets == {"5.0": 1, "10.0": 1, "20.0": 3, "300.0": 3, "+Inf": 4}
    assert (found[f"{name}_sum"], found[f"{name}_count"]) == (427.0, 4)


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_whatever_a_report_holds_the_metrics_are_bounded_and_readable() -> None:
    many = {f"sensor {number:04}": True for number in range(300)}
    odd = {"x" * 65: True, "line\nend": True, "\u202e": True, "": True, 'a"b\\c': False}
    counters = {f"c{number:04}": number for number in range(300)}
    wheel = seen()
    assert take(
        wheel,
        HEALTH,
        sensors={**many, **odd},
        troubles={name: ["chatters", "chatters", "line_damaged"] for name in many},
        temperatures_c=dict.fromkeys([*many, *odd], 1e308),
        counters={"many": counters, "b": {"negative": -1, "large": 10**400, "fair": 7}, "x" * 65: {"a": 1}},
    )
    take(wheel, AVAILABILITY, version="9" * 65)
    take(wheel, TABLE, seq=2, without=[*many, *many])
    for kind in many:
        take(wheel, NOTICE, notice=kind)
    found = told(wheel)

    def those(name: str) -> list[str]:
        return [key for key in found if key.startswith(name)]

    for name in ("sensor_working", "sensor_left_out", "sensor_trouble", "temperature_celsius", "notices_total"):
        assert len(those(f"wheeld_{name}")) == NAMES_MAX, name
    assert len(those("wheeld_daemon_events_total")) == COUNTERS_MAX
    assert found['wheeld_daemon_events_total{name="fair",part="b"}'] == 7
    assert found['wheeld_sensor_working{sensor="a"b\\c"}'] == 0
    assert f'wheeld_daemon_info{{program="{"a" * 64}",version=""}}' in found
    assert found["wheeld_entries_left_out"] == 2 * (305 - NAMES_MAX) + 304 - COUNTERS_MAX


def test_only_names_that_can_be_read_become_labels(wheel: WheelView) -> None:
    names = ["x" * 64, "x" * 65, "line\nend", "\u202e", "\u00e9", "\x1b[1m", "", 'a"b\\c']
    take(wheel, HEALTH, sensors=dict.fromkeys(names, True), temperatures_c=dict.fromkeys(names, 1.0))
    found = told(wheel)
    fitting = {"x" * 64, 'a"b\\c'}
    assert {key for key in found if key.startswith("wheeld_sensor_working")} == {
        f'wheeld_sensor_working{{sensor="{name}"}}' for name in fitting
    }
    assert found["wheeld_entries_left_out"] == 2 * (len(names) - len(fitting))


def test_the_largest_exposition_is_small() -> None:
    names = [f"{number:064}" for number in range(300)]
    sensors = dict.fromkeys(names[: NAMES_MAX + 1], 1)
    wheel = seen()
    assert take(
        wheel,
        HEALTH,
        sensors=dict.fromkeys(sensors, True),
        troubles={name: ["chatters", "line_damaged"] for name in sensors},
        temperatures_c=sensors,
        counters={"9" * 64: dict.fromkeys(names, 1)},
    )
    assert 100_000 < len(exposition(registry_of(wheel), OPEN)[0]) < 200_000


def test_no_person_is_in_them(wheel: WheelView) -> None:
    for seq, message in enumerate((RESULT, VOID, TABLE), start=2):
        assert take(wheel, message, seq=seq)
    take(wheel, NOTICE)
    for accept in (OPEN, ""):
        assert b"ossi" not in exposition(registry_of(wheel), accept)[0]


# --- declarations -----------------------------------------------------------------------------------------------------


def test_what_is_declared_is_what_is_exported(wheel: WheelView) -> None:
    take(wheel, NOTICE)
    families = list(WheelCollector(wheel, "campione", "campione-03", lambda: 1.0).collect())
    for metric, family in zip(METRICS, families, strict=True):
        assert family.name == metric.name.removesuffix("_total")
        assert family.type == metric.kind
        assert family.documentation == metric.about
        assert family.samples, f"{metric.name} has no sample of a wheel that runs"
        assert {frozenset(sample.labels) - {"le"} for sample in family.samples} == {frozenset(WHERE + metric.labels)}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_name_follows_the_conventions(metric: Any) -> None:
    assert re.fullmatch(r"wheeld_[a-z]+(_[a-z]+)*", metric.name)
    assert not re.search(r"_(us|ms|s|ppm|percent|minutes|milliseconds)\b", metric.name)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", label) for label in metric.labels)
    assert "|" not in metric.about
    assert "\n" not in metric.about


# --- asking for them --------------------------------------------------------------------------------------------------

PLAIN = "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize(
    ("accept", "is_open"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain;version=0.0.4", False),
        ("text/html, text/plain; version=one", False),
        (OPEN, True),
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3", True),
        ("text/plain;q=0.3, Application/OpenMetrics-Text; version=0.0.1", True),
        ("application/openmetrics-text; version=one; escaping=<b>", True),
        ("application/openmetrics-text", True),
    ],
)
def test_the_format_is_the_one_that_is_asked_for(accept: str, is_open: bool) -> None:
    text, content_type = exposition(registry_of(seen()), accept)
    assert text.endswith(b"# EOF\n") is is_open
    assert content_type.startswith("application/openmetrics-text; version=1.0.0; charset=utf-8") is is_open
    assert (content_type == PLAIN) is not is_open


async def asked(server: web.Application, method: str, path: str, accept: str = "") -> tuple[int, str, str]:
    async with TestClient(TestServer(server)) as client:
        response = await client.request(method, path, headers={"Accept": accept})
        return response.status, response.headers.get("Content-Type", ""), await response.text()


def served(wheel: WheelView) -> web.Application:
    return application(wheel, "campione", "campione-03", lambda: 1.0)


async def test_the_application_gives_them(wheel: WheelView) -> None:
    status, content_type, text = await asked(served(wheel), "GET", "/metrics", OPEN)
    assert (status, content_type.partition(";")[0]) == (200, "application/openmetrics-text")
    assert text == exposition(registry_of(wheel), OPEN)[0].decode()
    status, content_type, text = await asked(served(wheel), "GET", "/metrics?name[]=none")
    assert (status, content_type) == (200, PLAIN)
    assert text == exposition(registry_of(wheel), "")[0].decode()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/metrics", 405),
        ("POST", "/metrics", 405),
        ("DELETE", "/metrics", 405),
        ("GET", "/", 404),
        ("GET", "/metrics/", 404),
        ("GET", "/metrics/../metrics2", 404),
    ],
)
async def test_and_nothing_else(method: str, path: str, status: int) -> None:
    assert (await asked(served(seen()), method, path))[0] == status


async def test_who_asks_more_often_than_once_a_second_gets_the_same() -> None:
    wheel, now_s = seen(), [1.0]
    server = application(wheel, "campione", "campione-03", lambda: now_s[0])
    async with TestClient(TestServer(server)) as client:

        async def unreadable(accept: str = "") -> str:
            text = await (await client.get("/metrics", headers={"Accept": accept})).text()
            (figure,) = re.findall(r"^wheeld_unreadable_messages_total.* (\d)", text, re.MULTILINE)
            return str(figure)

        assert await unreadable() == "0"
        wheel.unreadable = 1
        now_s[0] = 1.9
        assert await unreadable() == "0"
        assert await unreadable(OPEN) == "1"
        now_s[0] = 2.0
        assert await unreadable() == "1"


async def test_two_applications_share_nothing() -> None:
    before = prometheus_client.generate_latest()
    one, other = seen(), WheelView()
    first, second = served(one), application(other, "campione", "campione-04", lambda: 1.0)
    assert 'table="campione-04"' not in (await asked(first, "GET", "/metrics"))[2]
    assert 'table="campione-03"' not in (await asked(second, "GET", "/metrics"))[2]
    assert b"wheeld_" not in before
    assert b"wheeld_" not in prometheus_client.generate_latest()
