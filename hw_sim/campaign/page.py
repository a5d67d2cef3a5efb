"""Writes the report as one HTML page that needs no other file, because it contains the style and the pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from hw_sim.campaign.comparison import KINDS
from hw_sim.campaign.plots import Plot

SHOWN_MOST = 500
"""The most disagreements that the page shows. The report in JSON contains all of them."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22313f; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem } svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-size: .85rem } td, th { text-align: left; padding: .15rem .8rem .15rem 0;
vertical-align: top; border-bottom: 1px solid #e3e8ec } td.n { text-align: right } code { font-size: .8rem }
.passed { color: #2e7d5b } .failed { color: #b3392f }
"""


def page(report: dict[str, Any], plots: Iterable[Plot]) -> str:
    """Return the whole HTML text."""
    plan = report["campaign"]
    title = f"Campaign {plan['seed']}: {report['coups']:,} coups"
    body = "\n".join(_body(report, plots, title))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _body(report: dict[str, Any], plots: Iterable[Plot], title: str) -> Iterator[str]:
    yield f"<h1>{escape(title)}</h1>"
    plan, timing, voids = report["campaign"], report["timing"], report["false_voids"]
    if report["failures"]:
        yield f'<p class="failed"><b>Failed:</b> {escape("; ".join(report["failures"]))}.</p>'
    else:
        yield '<p class="passed"><b>Passed.</b></p>'
    yield (
        f"<p>Seed {escape(plan['seed'])}, faults × {plan['faults']:g}{', margin' if plan['margin'] else ''}; "
        f"{plan['evenings']} evenings, {len(report['refused'])} of them refused for their layout. False voids: "
        f"{voids['count']} of {voids['valid_coups']:,} valid coups ({voids['share']:.2e}, allowed "
        f"{voids['share_max']:g}). Idle suspensions: {report['idle_suspensions']['count']}. "
        f"{timing['coups_per_s']} coups/s, limited by {escape(timing['limited_by'])}.</p>"
    )
    yield "<h2>Verdicts</h2>"
    yield _table(("verdict", "coups", ""), ((kind, report["counts"][kind], about) for kind, about in KINDS.items()))
    for plot in plots:
        yield f"<h2>{escape(plot.title)}</h2><p>{escape(plot.text)}</p>\n{plot.svg}"
    yield "<h2>Delay of voids, ms</h2>"
    delays = report["void_delay_ms"]
    heads = ("voids", "median", "p99", "most", "least_before_deadline", "late")
    yield _table(("cause", *heads), ((cause, *(each[head] for head in heads)) for cause, each in delays.items()))
    yield "<h2>Laps that no pass proved, of right results</h2>"
    laps = ("coups", "unseen_mean", "unseen_most", "overstated")
    yield _table(("beams", *laps), ((beams, *(x[head] for head in laps)) for beams, x in report["laps"].items()))
    yield "<h2>Early warnings</h2>"
    warnings = {
        name: ", ".join(f"{part} {number:,.0f}" for part, number in value.items()) if isinstance(value, dict) else value
        for name, value in report["warnings"].items()
    }
    yield _table(("warning", ""), ((name, "none" if value is None else value) for name, value in warnings.items()))
    yield "<h2>Nearest to another verdict</h2>"
    low = report["margin"]["lowest"]
    yield _table(("coup", "margin", "of", "verdict"), ((x["coup"], x["margin"], x["of"], x["told"]) for x in low))
    disagreements = report["disagreements"]
    yield "<h2>Disagreements</h2>"
    if not disagreements:
        yield "<p>None.</p>"
        return
    heads = ("coup", "kind", "truth", "published", "cause", "strikes of faults")
    rows = []
    for each in disagreements[:SHOWN_MOST]:
        joint = " and " if each["together"] else " or "
        cause = joint.join(each["causes"]) or ("together" if each["explained"] else "UNEXPLAINED")
        rows.append((each["coup"], each["kind"], each["truth"], each["told"], cause, "; ".join(each["harms"])))
    yield _table(heads, rows)
    if len(disagreements) > SHOWN_MOST:
        yield f"<p>{len(disagreements) - SHOWN_MOST:,} more are in report.json.</p>"
    yield f"<p>To play one again: <code>{escape(disagreements[0]['replay'])} --svg coup.svg</code></p>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in heads)
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f'<td class="n">{value:,}</td>'
    return f"<td>{escape('' if value is None else str(value))}</td>"
