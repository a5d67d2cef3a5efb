"""The pictures of a report, each an `<svg>` element. The same report gives the same text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from io import StringIO

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import stats

from wheeld.core.catalogue import Catalogue
from wheeld_report.checks import confidence_of_each
from wheeld_report.health import WheelReport
from wheeld_report.people import Directions, Offsets
from wheeld_report.trends import DAY_US
from wheeld_report.voids import SLICES

INK, FAINT, FAIR, MARK = "#22313f", "#c8d0d8", "#6b7a88", "#b3392f"
"""`MARK`, red, is used only for what belongs to a finding."""
TICKS, DATES = 4, 3
"""The most ticks and dates that fit on an axis of a small picture."""
WIDTH_IN = 5.4
"""The width of a picture, in inches. On a phone people can still read its words."""
BOULERS_MAX = 20
"""The most boulers in the picture. The list below the picture shows all boulers."""


class Pictures:
    """Draws one wheel's report; `name` makes its ids different from those of other wheels on the same page."""

    def __init__(self, health: WheelReport, say: Catalogue, name: str) -> None:
        self._health, self._say, self._name = health, say, name

    def numbers(self) -> str:
        """Draw how often each number came, in the order of the rotor, and the range that is usual by chance."""
        figure, axes = _axes(2.4)
        numbers, total = self._health.numbers, self._health.numbers.coups
        pockets = len(numbers.labels)
        low, high = stats.binom.interval(confidence_of_each(pockets), total, 1 / pockets)
        found: set[int] = set()
        if any(check.code == "sectors" for check in self._health.findings):
            window = max(numbers.windows, key=lambda each: abs(each.deviation))
            first = numbers.labels.index(window.first)
            found = {(first + each) % pockets for each in range(window.width)}
        axes.axhspan(low, high, color=FAINT, alpha=0.6, linewidth=0)
        axes.axhline(total / pockets, color=INK, linewidth=0.8)
        colours = [MARK if at in found else INK for at in range(pockets)]
        axes.bar(range(pockets), numbers.counts, color=colours)
        axes.set_xticks(range(pockets), numbers.labels, rotation=90)
        axes.tick_params(axis="x", labelsize=7)
        axes.set_xlabel(self._say.say("numbers, clockwise on the rotor"))
        axes.set_ylabel(self._say.say("coups"))
        alt = self._say.say("How often each number came. On 95 of 100 fair wheels, all numbers lie in the band.")
        return self._svg(figure, "numbers", alt)

    def zones(self) -> str:
        """Draw how often the ball left each part of the track, compared with the part's share."""
        figure, axes = _axes(2.0)
        zones, total = self._health.zones.zones, self._health.zones.coups
        axes.bar(range(len(zones)), [zone.count / total / zone.share for zone in zones], color=INK, width=0.6)
        axes.axhline(1, color=FAIR, linewidth=0.8)
        axes.set_xticks(range(len(zones)), [f"{zone.from_deg:g}–{zone.to_deg:g}°" for zone in zones], fontsize=8)
        axes.yaxis.set_major_formatter(self._decimal)
        axes.set_ylabel(self._say.say("times its share"))
        return self._svg(
            figure,
            "zones",
            self._say.say(
                "Where the ball left the track: 1 means that a part has its fair share, 2 that it has twice as much."
            ),
        )

    def trends(self) -> str:
        """Draw the distribution of each measure's values, and the medians over time."""
        trends = self._health.trends
        figure = _figure(1.5 * len(trends))
        rows = figure.subplots(len(trends), 2, squeeze=False)
        for (spread, drift), trend in zip(rows, trends, strict=True):
            _plain(spread)
            _plain(drift)
            edges = np.linspace(trend.low, trend.high, len(trend.bins) + 1)
            spread.stairs(trend.bins, edges, fill=True, color=INK)
            spread.set_yticks([])
            spread.set_title(f"{trend.label}, {trend.unit}", fontsize=8, loc="left")
            for axis in (spread.xaxis, drift.yaxis):
                axis.set_major_locator(MaxNLocator(TICKS))
                axis.set_major_formatter(self._decimal)
            at_us = [trend.first_at_utc_us + one.day * DAY_US for one in trend.blocks]
            drift.plot(at_us, [one.median for one in trend.blocks], ".-", color=INK)
            if at_us:
                first, span = at_us[0], at_us[-1] - at_us[0]
                ticks = [first + span * each / (DATES - 1) for each in range(DATES)] if span else [first]
                drift.set_xticks(ticks, _date_texts(ticks, span))
                drift.tick_params(axis="x", labelsize=7)
            drift.set_title(self._say.say("medians by date, UTC"), fontsize=8, loc="left")
            if trend.blocks:  # the axis begins at zero, otherwise each small change looks like a drift
                drift.set_ylim(0, 1.3 * max(one.median for one in trend.blocks) or 1)
        return self._svg(
            figure, "trends", self._say.say("The distribution of each measure, and its medians over time.")
        )

    def balance(self) -> str:
        """Draw the share of each bouler's launches that went clockwise."""
        boulers = self._health.balance.boulers[:BOULERS_MAX]
        figure, axes = _axes(0.8 + 0.28 * len(boulers))
        for y, one in enumerate(boulers):
            axes.plot([one.share_cw_low, one.share_cw_high], [y, y], color=INK, linewidth=2)
            axes.plot([one.cw / (one.cw + one.ccw)], [y], "o", color=INK)
        axes.axvline(0.5, color=FAIR, linewidth=0.8)
        axes.set_xlim(0, 1)
        axes.set_yticks(range(len(boulers)), [name_of(one) for one in boulers])
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter(self._decimal)
        axes.set_xlabel(self._say.say("share of the launches that went clockwise"))
        alt = self._say.say("The share of each bouler's launches that went clockwise, with its uncertainty.")
        return self._svg(figure, "balance", alt)

    def voids(self) -> str:
        """Draw voids by cause over time."""
        figure, axes = _axes(2.2)
        bottom = np.zeros(SLICES)
        shades = iter(np.linspace(0.15, 0.85, max(1, len(self._health.voids.causes))))
        for cause in self._health.voids.causes:
            axes.bar(range(len(cause.slices)), cause.slices, bottom=bottom, label=cause.cause, color=str(next(shades)))
            bottom += np.array(cause.slices)
        starts = self._health.voids.slice_starts_utc_us
        shown = range(0, SLICES, SLICES // DATES)
        texts = _date_texts([starts[each] for each in shown], starts[-1] - starts[0])
        axes.set_xticks([each - 0.4 for each in shown], texts, ha="left")
        axes.set_xlabel(self._say.say("twelfths of the period"))
        axes.yaxis.set_major_locator(MaxNLocator(TICKS, integer=True))
        axes.set_ylabel(self._say.say("voids"))
        axes.legend(fontsize=7, frameon=False)
        return self._svg(figure, "voids", self._say.say("Voids by cause over time."))

    def sensors(self) -> str:
        """Draw how often each sensor missed the ball, with its uncertainty."""
        sensors = [each for each in self._health.sensors.sensors if each.seen + each.missed]
        figure, axes = _axes(0.8 + 0.28 * len(sensors))
        for y, each in enumerate(sensors):
            axes.plot([100 * each.share_low, 100 * each.share_high], [y, y], color=INK, linewidth=2)
            axes.plot([100 * each.missed / (each.seen + each.missed)], [y], "o", color=INK)
        axes.set_yticks(range(len(sensors)), [each.name for each in sensors])
        axes.set_xlim(left=0)
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter(self._decimal)
        axes.set_xlabel(self._say.say("missed, of a hundred"))
        return self._svg(
            figure, "sensors", self._say.say("How often each sensor missed the ball, with its uncertainty.")
        )

    def _decimal(self, value: float, _position: float) -> str:
        return self._say.decimal(float(f"{value:.6g}"))

    def _svg(self, figure: Figure, name: str, alt: str) -> str:
        text, salt = StringIO(), f"{self._name}-{name}"
        with rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        whole = text.getvalue()
        drawing = whole[whole.index("<svg") + len("<svg") :]
        # Matplotlib uses the same ids in every picture, but on a page each must be unique. Ids that nothing uses are
        # removed.
        named = {name for pair in re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', drawing) for name in pair}
        drawing = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in named else "", drawing)
        return f'<svg role="img" aria-label="{escape(alt)}"{drawing}'


def name_of(one: Directions | Offsets) -> str:
    """Return a bouler's name, or "?" if it was not reported."""
    return one.bouler or "?"


def _figure(height_in: float) -> Figure:
    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def _axes(height_in: float) -> tuple[Figure, Axes]:
    figure = _figure(height_in)
    axes = figure.subplots()
    _plain(axes)
    return figure, axes


def _date_texts(at_us: Sequence[float], span_us: float) -> list[str]:
    """Return dates as text. In a short period they contain the time of day, UTC."""
    form = "%Y-%m-%d" if span_us > DATES * DAY_US else "%m-%d %H:%M"
    return [datetime.fromtimestamp(each / 1e6, UTC).strftime(form) for each in at_us]


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
