"""Alert rules and dashboard ask only for what is exported; promtool tries every alert (`make test-metrics`)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.registry import CollectorRegistry
from prometheus_client.samples import Sample

from tests.page.alert_cases import CASES, Case
from tests.page.messages import HEALTH, NOTICE, TABLE, seen, take
from wheeld.page.metric_list import METRICS, Histogram
from wheeld.page.metrics import WHERE, WheelCollector, exposition
from wheeld.page.wheel import WheelView

ROOT = Path(__file__).parents[2]
RULES = ROOT / "docs" / "metrics" / "wheeld-alerts.yml"
PAGE = (ROOT / "docs" / "metrics.md").read_text()
DASHBOARD = json.loads((ROOT / "docs" / "metrics" / "wheeld-dashboard.json").read_text())
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
PANELS: list[dict[str, Any]] = [
    inner for panel in DASHBOARD["panels"] for inner in (panel, *panel.get("panels", ())) if inner["type"] != "row"
]
GIVEN = os.environ.get("WHEELD_PROMTOOL")
PROMTOOL = GIVEN or shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="no promtool on this host: make test-metrics gets it")


# --- what is exported -------------------------------------------------------------------------------------------------


def exported() -> dict[str, set[str]]:
    """The labels of each series, by the name that a query has; Prometheus adds `job` and `instance`."""
    found: dict[str, set[str]] = {"up": {"job", "instance"}}
    for metric in METRICS:
        labels = {*WHERE, *metric.labels, "job", "instance"}
        if isinstance(metric, Histogram):
            found |= {f"{metric.name}_{each}": labels for each in ("sum", "count")}
            found[f"{metric.name}_bucket"] = labels | {"le"}
        else:
            found[metric.name] = labels
    return found


EXPORTED = exported()
WORDS = {"and", "or", "unless", "bool", "offset", "sum", "count", "min", "max"}
SERIES = re.compile(r"(?<![\w.$])([a-zA-Z_:][\w:]*+)(?!\s*\()\s*(?:\{([^}]*)\})?")
GROUPS = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")


def asked(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Each series of an expression, with the labels that it is chosen by."""
    plain = re.sub(r'"(?:\\.|[^"\\])*"|\[[^\]]*\]', "", GROUPS.sub("", expression))
    for name, matchers in SERIES.findall(plain):
        if name not in WORDS:
            yield name, set(re.findall(r"(\w+)\s*[=!]", matchers))


def grouped(expression: str) -> set[str]:
    """The labels by which an expression groups and joins."""
    return {label.strip() for each in GROUPS.findall(expression) for label in each.split(",") if label.strip()}


def wrong(expression: str) -> list[str]:
    """What an expression asks for that nobody exports."""
    series = list(asked(expression))
    unknown = [name for name, _ in series if name not in EXPORTED]
    labels: set[str] = set().union(*(EXPORTED.get(name, set()) for name, _ in series))
    unchosen = [f"{name}{{{label}}}" for name, chosen in series for label in chosen - EXPORTED.get(name, chosen)]
    return [*unknown, *unchosen, *sorted(grouped(expression) - labels)] if series else ["nothing"]


def targets() -> list[str]:
    return [target["expr"] for panel in PANELS for target in panel["targets"]]


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_is_exported(rule: dict[str, Any]) -> None:
    assert wrong(rule["expr"]) == []
    labels: set[str] = set().union(*(EXPORTED[name] for name, _ in asked(rule["expr"])))
    named = re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))
    assert set(named) <= (grouped(rule["expr"]) if " by " in rule["expr"] else labels)


@pytest.mark.parametrize("expression", targets())
def test_a_panel_asks_for_what_is_exported(expression: str) -> None:
    assert wrong(expression) == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("wheeld_brokers_reached == 0", ["wheeld_brokers_reached"]),
        ("increase(wheeld_results[6h]) > 1", ["wheeld_results"]),
        ('up{job="x"} == 0 and on (rotor) wheeld_bets_open', ["rotor"]),
        ('wheeld_voids_total{reason="chef"}', ["wheeld_voids_total{reason}"]),
        ("sum by (site, sensor) (wheeld_outbox_messages)", ["sensor"]),
        ("wheeld_verdict_margin_ratio > 1", ["wheeld_verdict_margin_ratio"]),
        ("3 * sqrt(2)", ["nothing"]),
        ('sum by (le) (rate(wheeld_verdict_margin_ratio_bucket{margin_of=~"a|b"}[5m])) > 1e3', []),
    ],
)
def test_a_wrong_expression_is_found(expression: str, expected: list[str]) -> None:
    assert wrong(expression) == expected


# --- the rules --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_is_so_and_what_to_do(rule: dict[str, Any]) -> None:
    assert re.fullmatch(r"Wheeld([A-Z][a-z]+)+", rule["alert"])
    assert rule["labels"] == {"severity": rule["labels"]["severity"]}
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "action"}
    assert all(re.fullmatch(r"[^|\n]{20,200}", text) for text in rule["annotations"].values())


def test_every_alert_has_data_that_raise_it_and_data_that_do_not() -> None:
    names = [rule["alert"] for rule in ALERTS]
    assert len(set(names)) == len(names)
    raised = [set(case.raised) for case in CASES]
    assert set().union(*raised) == set(names)
    for rule in ALERTS:
        of_rule = {name for name, _ in asked(rule["expr"])}
        quiet = [case for case in CASES if {series.partition("{")[0] for series in case.series} & of_rule]
        assert any(rule["alert"] not in case.raised for case in quiet), rule["alert"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_data_are_such_as_are_exported(case: Case) -> None:
    for series in case.series:
        name, _, matchers = series.partition("{")
        labels = set(re.findall(r'(\w+)="', matchers))
        assert labels == EXPORTED[name] - {*WHERE, "job", "instance"} or series.startswith("up{job=")


def plain(text: str) -> str:
    """As the page has it, with `TABLE` in place of its name."""
    return re.sub(r"\{\{ \$(?:labels\.)?(\w+) \}\}", lambda found: found[1].upper(), text)


def rows(text: str, heading: str) -> list[str]:
    section = text.split(f"\n## {heading}\n")[1].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith(("| `", "| Wheeld"))]


def test_the_page_has_every_alert() -> None:
    expected = [
        f"| {rule['alert']} | {rule['labels']['severity']} | "
        f"{plain(rule['annotations']['summary'])} | {plain(rule['annotations']['action'])} |"
        for rule in ALERTS
    ]
    assert rows(PAGE, "Alerts") == expected


def test_the_page_has_every_metric() -> None:
    expected = [
        f"| `{metric.name}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels) or '–'} | "
        f"{metric.about} |"
        for metric in METRICS
    ]
    assert rows(PAGE, "Every metric") == expected


# --- the dashboard ----------------------------------------------------------------------------------------------------


def test_panels_are_such_as_people_read() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in PANELS:
        assert panel["title"]
        assert panel["description"]
        assert panel["datasource"]["uid"] == "${datasource}"
        assert 0 <= panel["gridPos"]["x"] <= panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24


def test_panels_do_not_cover_each_other() -> None:
    places: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not places & own, panel["title"]
        places |= own


def test_each_panel_shows_the_table_that_is_chosen() -> None:
    variables = {each["name"] for each in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource", "site", "table"}
    for expression in targets():
        for name, chosen in asked(expression):
            assert chosen >= {"site", "table"}, name
        assert 'site=~"$site"' in expression
        assert 'table=~"$table"' in expression


def test_every_metric_is_on_the_dashboard_or_in_a_rule() -> None:
    used = {name for each in (*targets(), *(rule["expr"] for rule in ALERTS)) for name, _ in asked(each)}
    unused = [metric.name for metric in METRICS if not any(name.startswith(metric.name) for name in used)]
    assert unused == []


# --- promtool ---------------------------------------------------------------------------------------------------------


def promtool(*arguments: str | Path, text: str | None = None) -> None:
    """Run it; what it says against the input fails the test."""
    assert PROMTOOL is not None
    done = subprocess.run([PROMTOOL, *arguments], input=text, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def placed(series: str) -> str:
    """With the labels that the page and Prometheus add."""
    name, _, own = series.partition("{")
    where = "" if name == "up" else 'site="campione",table="campione-03",job="wheeld",'
    return f'{name}{{{where}instance="wheel-3",{own or "}"}'


def written(case: Case) -> dict[str, Any]:
    """The case as a test of promtool: these alerts are raised, and no other."""
    by = "alertname, site, table, sensor, trouble, margin_of, zone"

    def labels(alert: str, own: dict[str, str]) -> str:
        where = {} if alert == "WheeldPageDown" else {"site": "campione", "table": "campione-03"}
        return ",".join(f'{name}="{value}"' for name, value in {"alertname": alert, **where, **own}.items())

    return {
        "name": case.what,
        "interval": "1m",
        "input_series": [{"series": placed(series), "values": values} for series, values in case.series.items()],
        "promql_expr_test": [
            {
                "expr": f'sum by ({by}) (ALERTS{{alertstate="firing"}})',
                "eval_time": f"{case.minute}m",
                "exp_samples": [{"labels": f"{{{labels(*each)}}}", "value": 1} for each in case.raised.items()],
            }
        ],
    }


def rules_tried(tests: list[dict[str, Any]], directory: Path) -> None:
    file = directory / "tests.yml"
    body = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}
    file.write_text(yaml.safe_dump(body, allow_unicode=True, sort_keys=False))
    promtool("test", "rules", file)


def healthy() -> list[tuple[str, float]]:
    """Every series that the collector makes of a wheel without faults."""
    wheel = seen()
    take(wheel, HEALTH, sensors={"beam/0": True, "rotor": True}, troubles={}, outbox_depth=0)
    take(wheel, TABLE, seq=2, without=[])
    take(wheel, NOTICE)

    def series(sample: Sample) -> str:
        return f"{sample.name}{{{','.join(f'{name}={json.dumps(value)}' for name, value in sample.labels.items())}}}"

    families = WheelCollector(wheel, "campione", "campione-03", lambda: 1.0).collect()
    return [(series(sample), sample.value) for family in families for sample in family.samples]


@needs_promtool
def test_promtool_accepts_the_rules() -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)


@needs_promtool
def test_every_alert_is_raised_by_its_data_and_by_no_other(tmp_path: Path) -> None:
    rules_tried([written(case) for case in CASES], tmp_path)


@needs_promtool
def test_a_wheel_without_faults_raises_no_alert_in_a_day(tmp_path: Path) -> None:
    plays = {"wheeld_results_total": "0+0.5x1440"}
    series = [
        {"series": name, "values": plays.get(name.partition("{")[0], f"{value}+0x1440")} for name, value in healthy()
    ]
    assert len(series) > 150
    nothing = {"expr": 'ALERTS{alertstate="firing"}', "eval_time": "24h", "exp_samples": []}
    tests = [{"interval": "1m", "input_series": series, "promql_expr_test": [nothing]}]
    rules_tried(tests, tmp_path)


@needs_promtool
def test_promtool_accepts_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(targets())]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", file)


@needs_promtool
@pytest.mark.parametrize("wheel", [WheelView(), seen()], ids=["nothing heard", "running"])
def test_promtool_accepts_the_metrics(wheel: WheelView) -> None:
    registry = CollectorRegistry()
    registry.register(WheelCollector(wheel, "campione", "campione-03", lambda: 1.0))
    promtool("check", "metrics", text=exposition(registry, "")[0].decode())


@needs_promtool
def test_promtool_accepts_the_configuration_of_the_page(tmp_path: Path) -> None:
    (configuration,) = re.findall(r"```yaml\n(.+?)```", PAGE, re.DOTALL)
    shutil.copy(RULES, tmp_path)
    (tmp_path / "prometheus.yml").write_text(configuration)
    promtool("check", "config", tmp_path / "prometheus.yml")
    assert [job["job_name"] for job in yaml.safe_load(configuration)["scrape_configs"]] == ["wheeld"]


def test_promtool_is_there_where_it_is_given() -> None:
    assert GIVEN is None or Path(GIVEN).is_file()
