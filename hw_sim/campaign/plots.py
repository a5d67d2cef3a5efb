"""Draws the pictures of a campaign's report. Each picture is an `<svg>` element with a title and an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hw_sim.campaign.pictures import FAINT, INK, RIGHT, WRONG, blank, svg
from hw_sim.campaign.report import laps_by_beams, voids_by_cause
from hw_sim.campaign.rows import EarlyWarning, VerdictRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DELAY_LEAST_MS = 1.0
"""Shorter delays are drawn at this value, because a logarithmic axis has no zero."""
LAPS_AXIS = (2.0, 25.0)


@dataclass(frozen=True)
class Plot:
    """One picture of the report."""

    title: str
    text: str
    svg: str


def plots(rows: Sequence[VerdictRow], early_warnings: Sequence[EarlyWarning], report: dict[str, Any]) -> Iterator[Plot]:
    """Yield all pictures that have data. Raises UnavailableError."""
    yield _confusion(report["confusion"])
    if report["void_delay_ms"]:
        yield _delays(rows)
    if report["margin"]["known"]:
        figure, axes = _axes(8, 3, "margin, 0: nearly another verdict", "verdicts")
        axes.bar([tenth / 10 + 0.05 for tenth in range(10)], report["margin"]["tenths"], width=0.09, color=INK)
        axes.set_yscale("symlog", linthresh=1)
        limits = ", ".join(f"{name} {number:,}" for name, number in report["margin"]["of"].items())
        text = f"How far each verdict was from another one. Limited by: {limits}."
        yield Plot("Margins", text, svg(figure, "margins"))
    if report["laps"]:
        yield _laps(rows)
    if report["unproven"]:
        unproven: dict[str, dict[str, float]] = report["unproven"]
        figure, axes = _axes(6, 3, "", "not proven, %")
        axes.bar(range(len(unproven)), [each["share"] * 100 for each in unproven.values()], color=INK, width=0.6)
        names = [f"{beams} beams\n{each['ran']:,} coups" for beams, each in unproven.items()]
        axes.set_xticks(range(len(unproven)), names, fontsize=8)
        axes.set_ylim(0, 100)
        text = "Of the balls that truly ran 3.0 to 3.3 laps: the share whose passes could not prove three laps."
        yield Plot("Short launches that cannot be proven", text, svg(figure, "unproven"))
    if report["warnings"]["foreseen"]:
        figure, axes = _axes(8, 3, "s", "voids foreseen")
        foreseen = [each.before_left_us for each in early_warnings if each.of == "foreseen"]
        left = [us / 1e6 for us in foreseen if us is not None]
        void = [each.before_void_us / 1e6 for each in early_warnings if each.before_void_us is not None]
        axes.hist([left, void], bins=30, label=["before the ball left", "before the void"], color=[INK, RIGHT])
        axes.legend(fontsize=8, frameon=False)
        text = "How long a warning was published before the void for too few laps."
        yield Plot("Early warning", text, svg(figure, "lead"))
    errors_ms = [each.error_us / 1e3 for each in early_warnings if each.error_us is not None]
    if errors_ms:
        figure, axes = _axes(8, 3, "ms, forecast minus true", "warnings")
        axes.hist(errors_ms, bins=40, color=INK)
        axes.set_yscale("symlog", linthresh=1)
        text = "The forecast time at which the ball leaves the track, compared with the true time."
        yield Plot("Leaving the track", text, svg(figure, "leaving"))


def _axes(width: float, height: float, xlabel: str, ylabel: str) -> tuple[Figure, Axes]:
    figure = blank(width, height)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return figure, axes


def _confusion(confusion: dict[str, dict[str, int]]) -> Plot:
    truths = sorted(confusion)
    verdicts = sorted({name for row in confusion.values() for name in row})
    figure, axes = _axes(2.6 + 0.75 * len(verdicts), 1.6 + 0.36 * len(truths), "verdict", "truth")
    for y, truth in enumerate(truths):
        for x, name in enumerate(verdicts):
            number = confusion[truth].get(name, 0)
            colour = FAINT if not number else RIGHT if truth == name else WRONG
            axes.text(x, y, f"{number:,}" if number else "·", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xlim(-0.5, len(verdicts) - 0.5)
    axes.set_ylim(len(truths) - 0.5, -0.5)
    axes.set_xticks(range(len(verdicts)), verdicts, rotation=40, ha="left", fontsize=8)
    axes.set_yticks(range(len(truths)), truths, fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    text = "What truly happened (rows) and what wheeld published (columns)."
    return Plot("Truth and verdict", text, svg(figure, "confusion"))


def _delays(rows: Sequence[VerdictRow]) -> Plot:
    voids = voids_by_cause(rows)
    figure, axes = _axes(8, 1.2 + 0.42 * len(voids), "ms after the evidence", "")
    for y, some in enumerate(voids.values()):
        delays = [max(DELAY_LEAST_MS, row.delay_us / 1e3) for row in some if row.delay_us is not None]
        allowed = [row.allowed_us / 1e3 for row in some if row.allowed_us is not None]
        axes.boxplot([delays], positions=[y], orientation="horizontal", widths=0.5, whis=(0, 99), sym=",")
        if allowed:
            axes.plot([min(allowed), max(allowed)], [y + 0.36] * 2, color=WRONG, linewidth=2, marker="|")
    axes.set_xscale("log")
    axes.set_yticks(range(len(voids)), list(voids), fontsize=8)
    text = (
        "How long after its evidence each void was published. Box: from the first to the third quarter. Whisker: up to "
        "99 in 100. Red: from the earliest to the latest deadline that the rulebook sets for those coups."
    )
    return Plot("Delay of voids by cause", text, svg(figure, "delays"))


def _laps(rows: Sequence[VerdictRow]) -> Plot:
    figure, axes = _axes(8, 4.5, "laps run", "laps proven")
    for beams, some in laps_by_beams(rows).items():
        # Laps are rounded to tenths, and equal dots are drawn once. Nobody sees the difference, and a dot for each coup
        # would take megabytes.
        dots = sorted({(round(run, 1), round(seen, 1)) for run, seen in some})
        axes.plot([run for run, _ in dots], [seen for _, seen in dots], ".", markersize=3, label=f"{beams} beams")
    axes.plot(LAPS_AXIS, LAPS_AXIS, color=FAINT, linewidth=1, zorder=0)
    axes.legend(fontsize=8, frameon=False)
    text = (
        "For every right result, the laps that the ball ran and that the passes proved. No dot may be above the line."
    )
    return Plot("Laps proven and laps run", text, svg(figure, "laps"))
