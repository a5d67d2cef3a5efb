"""A log drawn on one time axis: what the sensors saw, what the daemon made of it, what it said."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hw_sim.campaign.pictures import blank, svg
from hw_sim.campaign.timeline import Interval, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_IN = 15.0
INK, FAINT, TRUE, FALSE = "#22313f", "#c8d0d8", "#2e7d5b", "#b3392f"
STATE_COLOURS = {
    "faites_vos_jeux": "#d8ead9",
    "ball_running": "#cfe0f2",
    "rien_ne_va_plus": "#b5cbe6",
    "ball_on_obstacle": "#f3dfb6",
    "operations": "#e4e4e4",
    "rien_va": "#f1c7c2",
    "suspended": "#e2b8d6",
}
SAME_PASS_S = 0.02
"""A pulse so near to a true pass of its beam is that pass, early, late or doubled."""
NAMED_LEAST_S = 0.3
"""A state that lasts shorter is too narrow for its name."""

Draw: TypeAlias = "Callable[[Axes, Timeline], None]"


@dataclass(frozen=True)
class _Row:
    """One strip of the picture."""

    name: str
    height: float
    draw: Draw


def draw(read_timeline: Timeline, title: str, name: str) -> str:
    """The picture as SVG; the same story gives the same text. `name` makes its ids. Raises MissingExtraError."""
    rows = _rows(read_timeline)
    figure = blank(WIDTH_IN, 0.8 + sum(row.height for row in rows))
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    all_axes = figure.subplots(
        len(rows), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": [row.height for row in rows]}
    )[:, 0]
    for axes, row in zip(all_axes, rows, strict=True):
        row.draw(axes, read_timeline)
        axes.set_ylabel(row.name, rotation=0, ha="right", va="center", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
        _verdict_lines(axes, read_timeline)
    all_axes[-1].set_xlim(read_timeline.start_s, max(read_timeline.end_s, read_timeline.start_s + 1))
    all_axes[-1].set_xlabel("s, sensing clock", fontsize=8)
    return svg(figure, name)


def _rows(read_timeline: Timeline) -> list[_Row]:
    names = len({name for _, name in read_timeline.facts})
    strikes = len({lie.words for lie in read_timeline.strikes})
    return [
        _Row("beams", 0.35 + 0.22 * read_timeline.beams, _beams),
        _Row("rotor, rpm", 1.2, _rotor),
        _Row("readers", 0.5 + 0.4 * read_timeline.readers, _readers),
        _Row("people,\nobjects,\nself-tests", 1.5, _marks),
        *([_Row("where the\nsensors lied", 0.3 + 0.18 * strikes, _strikes)] if read_timeline.strikes else []),
        _Row("facts", 0.3 + 0.18 * max(1, names), _facts),
        _Row("state", 0.6, _states),
        _Row("verdict", 1.0, _verdicts),
    ]


def _beams(axes: Axes, read_timeline: Timeline) -> None:
    real, stray = _sorted_out(read_timeline.passes, read_timeline.true_passes)
    _, missed = _sorted_out(read_timeline.true_passes or [], read_timeline.passes)
    _dots(axes, real, "|", INK, "pass")
    _dots(axes, stray, "x", FALSE, "pulse without a ball")
    _dots(axes, missed, "o", FALSE, "ball without a pulse")
    _lanes(axes, [f"{beam}" for beam in range(read_timeline.beams)])
    if stray or missed:
        axes.legend(fontsize=6, loc="upper right", frameon=False, ncols=3)


def _dots(axes: Axes, dots: list[tuple[float, int]], marker: str, colour: str, label: str) -> None:
    if dots:
        t_s, lanes = zip(*dots, strict=True)
        axes.plot(t_s, lanes, marker, color=colour, label=label, markerfacecolor="none", markersize=6)


def _sorted_out(
    pulses: list[tuple[float, int]], others: list[tuple[float, int]] | None
) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """The pulses that have another of their beam beside them, and those that don't; all have, where none are known."""
    if others is None:
        return pulses, []
    ordered = sorted(others)

    def beside(pulse: tuple[float, int]) -> bool:
        t_s, beam = pulse
        low = bisect_left(ordered, (t_s - SAME_PASS_S, -1))
        high = bisect_left(ordered, (t_s + SAME_PASS_S, -1))
        return any(ordered[place][1] == beam for place in range(low, high))

    return [pulse for pulse in pulses if beside(pulse)], [pulse for pulse in pulses if not beside(pulse)]


def _rotor(axes: Axes, read_timeline: Timeline) -> None:
    if read_timeline.rotor_rpm:
        t_s, rpm = zip(*read_timeline.rotor_rpm, strict=True)
        axes.plot(t_s, rpm, color=INK, linewidth=1)
    axes.axhline(0, color=FAINT, linewidth=0.8)


def _readers(axes: Axes, read_timeline: Timeline) -> None:
    _dots(axes, [(seen.t_s, seen.reader) for seen in read_timeline.seen], "|", INK, "sighting")
    for seen in read_timeline.seen:
        if seen.number is not None:
            axes.annotate(f"{seen.number}", (seen.t_s, seen.reader), (0, 5), textcoords="offset points",
                          fontsize=6, ha="center")  # fmt: skip
    _lanes(axes, [f"{reader}" for reader in range(read_timeline.readers)])


def _marks(axes: Axes, read_timeline: Timeline) -> None:
    for t_s, words in read_timeline.marks:
        axes.axvline(t_s, color=INK, linewidth=0.6)
        axes.annotate(words, (t_s, 0.03), (2, 0), textcoords="offset points", fontsize=6, rotation=75, va="bottom")
    axes.set_ylim(0, 1)
    axes.set_yticks([])


def _strikes(axes: Axes, read_timeline: Timeline) -> None:
    _bars(axes, read_timeline.strikes, sorted({lie.words for lie in read_timeline.strikes}), FALSE)


def _bars(axes: Axes, parts: Iterable[Interval], names: list[str], colour: str) -> None:
    for part in parts:
        lane = names.index(part.words)
        axes.plot([part.from_s, part.to_s], [lane, lane], "-|", color=colour, linewidth=2, markersize=5)
    _lanes(axes, names)


def _facts(axes: Axes, read_timeline: Timeline) -> None:
    names = list(dict.fromkeys(name for _, name in read_timeline.facts))
    _dots(axes, [(t_s, names.index(name)) for t_s, name in read_timeline.facts], ".", INK, "fact")
    _lanes(axes, names)


def _lanes(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)


def _states(axes: Axes, read_timeline: Timeline) -> None:
    for part in read_timeline.states:
        axes.axvspan(part.from_s, part.to_s, color=STATE_COLOURS.get(part.words, "#ffffff"), linewidth=0)
        if part.to_s - part.from_s >= NAMED_LEAST_S:
            axes.annotate(part.words, (part.from_s, 0.5), (2, 0), textcoords="offset points",
                          fontsize=6, va="center", rotation=20)  # fmt: skip
    axes.set_ylim(0, 1)
    axes.set_yticks([])


def _verdicts(axes: Axes, read_timeline: Timeline) -> None:
    for said in read_timeline.said:
        axes.annotate(f"said: {said.words}", (said.t_s, 0.78), (3, 0), textcoords="offset points", fontsize=8,
                      color=FALSE if said.void else TRUE)  # fmt: skip
        axes.annotate("its evidence", (said.evidence_s, 0.5), (3, 0), textcoords="offset points", fontsize=6)
    for place, (t_s, words) in enumerate(read_timeline.truth):
        height = 0.05 + 0.2 * (place % 2)  # a deadline is often near its evidence
        axes.axvline(t_s, color=INK, linewidth=1, linestyle=":")
        axes.annotate(words, (t_s, height), (3, 0), textcoords="offset points", fontsize=7, color=INK)
    axes.set_ylim(0, 1)
    axes.set_yticks([])


def _verdict_lines(axes: Axes, read_timeline: Timeline) -> None:
    for said in read_timeline.said:
        axes.axvline(said.t_s, color=FALSE if said.void else TRUE, linewidth=1)
        axes.axvline(said.evidence_s, color=FALSE if said.void else TRUE, linewidth=0.8, linestyle="--")
