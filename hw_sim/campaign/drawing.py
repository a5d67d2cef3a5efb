"""Draws a log on one time axis: the observations, the facts that the daemon concluded, and the verdicts. The command
`hw-sim draw` is at the end of the module."""

from __future__ import annotations

import argparse
import gzip
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hw_sim.campaign.black_box import find, replay_all
from hw_sim.campaign.pictures import FAINT, INK, RIGHT, WRONG, blank, svg
from hw_sim.campaign.timeline import LogTimeline, read_timeline
from hw_sim.events import called
from hw_sim.exits import BadDataError, FileError, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_IN = 15.0
STATE_COLOURS = {
    "faites_vos_jeux": "#d8ead9",
    "ball_running": "#cfe0f2",
    "rien_ne_va_plus": "#b5cbe6",
    "ball_on_obstacle": "#f3dfb6",
    "awaiting_chef": "#dcd3ee",
    "operations": "#e4e4e4",
    "rien_va": "#f1c7c2",
    "suspended": "#e2b8d6",
}
SAME_PASS_S = 0.02
"""A pulse within this time of a true pass at the same beam counts as this pass. The pulse may be early, late, or the
second pulse of the pass."""
NAMED_LEAST_S = 0.3
"""A state that lasts for a shorter time is too narrow in the picture for its name."""


def draw(timeline: LogTimeline, title: str, name: str) -> str:
    """Return the picture as SVG. The same timeline gives the same text. The ids in the picture are made from `name`.
    Raises UnavailableError."""
    names = len({name for _, name in timeline.facts})
    strikes = len({strike.text for strike in timeline.strikes})
    heights = {
        "beams": 0.35 + 0.22 * timeline.beams,
        "rotor, rpm": 1.2,
        "readers": 0.5 + 0.4 * timeline.readers,
        "people,\nobjects,\nself-tests": 1.5,
        **({"faults": 0.3 + 0.18 * strikes} if strikes else {}),
        "facts": 0.3 + 0.18 * max(1, names),
        "state": 0.6,
        "verdict": 1.0,
    }
    figure = blank(WIDTH_IN, 0.8 + sum(heights.values()))
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    ratios = {"height_ratios": list(heights.values())}
    all_axes = [*figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]]
    _draw_seen(all_axes[:-3], timeline)
    _draw_concluded(all_axes[-3:], timeline)
    for axes, row in zip(all_axes, heights, strict=True):
        axes.set_ylabel(row, rotation=0, ha="right", va="center", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
        for verdict in timeline.verdicts:
            colour = WRONG if verdict.void else RIGHT
            axes.axvline(verdict.t_s, color=colour, linewidth=1)
            axes.axvline(verdict.evidence_s, color=colour, linewidth=0.8, linestyle="--")
    all_axes[-1].set_xlim(timeline.start_s, max(timeline.end_s, timeline.start_s + 1))
    all_axes[-1].set_xlabel("s, sensing clock", fontsize=8)
    return svg(figure, name)


def _draw_seen(strips: Sequence[Axes], timeline: LogTimeline) -> None:
    """Draw what beams, encoder, readers, people and self-tests reported, and the faults if there are any."""
    beams, rotor, readers, notes, *faults = strips
    real, stray = _sorted_out(timeline.passes, timeline.true_passes)
    _, missed = _sorted_out(timeline.true_passes or [], timeline.passes)
    _dots(beams, real, "|", INK, "pass")
    _dots(beams, stray, "x", WRONG, "pulse without a ball")
    _dots(beams, missed, "o", WRONG, "ball without a pulse")
    _lanes(beams, [called(f"beam/{beam}") for beam in range(timeline.beams)])
    if stray or missed:
        beams.legend(fontsize=6, loc="upper right", frameon=False, ncols=3)
    if timeline.rotor_rpm:
        t_s, rpm = zip(*timeline.rotor_rpm, strict=True)
        rotor.plot(t_s, rpm, color=INK, linewidth=1)
    rotor.axhline(0, color=FAINT, linewidth=0.8)
    _dots(readers, [(one.t_s, one.reader) for one in timeline.read_pockets], "|", INK, "sighting")
    for one in timeline.read_pockets:
        if one.number is not None:
            readers.annotate(f"{one.number}", (one.t_s, one.reader), (0, 5), textcoords="offset points",
                             fontsize=6, ha="center")  # fmt: skip
    _lanes(readers, [called(f"reader/{reader}") for reader in range(timeline.readers)])
    for at_s, text in timeline.notes:
        notes.axvline(at_s, color=INK, linewidth=0.6)
        notes.annotate(text, (at_s, 0.03), (2, 0), textcoords="offset points", fontsize=6, rotation=75, va="bottom")
    notes.set_ylim(0, 1)
    notes.set_yticks([])
    for axes in faults:
        names = sorted({strike.text for strike in timeline.strikes})
        for strike in timeline.strikes:
            lane = names.index(strike.text)
            axes.plot([strike.from_s, strike.to_s], [lane, lane], "-|", color=WRONG, linewidth=2, markersize=5)
        _lanes(axes, names)


def _dots(axes: Axes, dots: list[tuple[float, int]], marker: str, colour: str, label: str) -> None:
    if dots:
        t_s, lanes = zip(*dots, strict=True)
        axes.plot(t_s, lanes, marker, color=colour, label=label, markerfacecolor="none", markersize=6)


def _sorted_out(
    pulses: list[tuple[float, int]], others: list[tuple[float, int]] | None
) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """Return first the pulses that have one of `others` near them at the same beam, then the pulses that have none. If
    `others` is None (not known), all pulses are in the first list."""
    if others is None:
        return pulses, []
    ordered = sorted(others)

    def beside(pulse: tuple[float, int]) -> bool:
        t_s, beam = pulse
        low = bisect_left(ordered, (t_s - SAME_PASS_S, -1))
        high = bisect_left(ordered, (t_s + SAME_PASS_S, -1))
        return any(ordered[place][1] == beam for place in range(low, high))

    return [pulse for pulse in pulses if beside(pulse)], [pulse for pulse in pulses if not beside(pulse)]


def _lanes(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)


def _draw_concluded(strips: Sequence[Axes], timeline: LogTimeline) -> None:
    """Draw the facts that the daemon concluded, the states of the table, the verdicts, and the truth."""
    facts, states, verdicts = strips
    names = list(dict.fromkeys(name for _, name in timeline.facts))
    _dots(facts, [(t_s, names.index(name)) for t_s, name in timeline.facts], ".", INK, "fact")
    _lanes(facts, names)
    for part in timeline.states:
        states.axvspan(part.from_s, part.to_s, color=STATE_COLOURS.get(part.text, "#ffffff"), linewidth=0)
        if part.to_s - part.from_s >= NAMED_LEAST_S:
            states.annotate(part.text, (part.from_s, 0.5), (2, 0), textcoords="offset points",
                            fontsize=6, va="center", rotation=20)  # fmt: skip
    for verdict in timeline.verdicts:
        # The text is on the side of the line that is nearer to the middle. On the other side it could go over the edge,
        # which makes all rows narrower.
        is_late = 2 * verdict.t_s > timeline.start_s + timeline.end_s
        side, ha = (-3, "right") if is_late else (3, "left")
        verdicts.annotate(f"verdict: {verdict.text}", (verdict.t_s, 0.78), (side, 0), textcoords="offset points", ha=ha,
                          fontsize=8, color=WRONG if verdict.void else RIGHT)  # fmt: skip
        verdicts.annotate("its evidence", (verdict.evidence_s, 0.5), (side, 0), textcoords="offset points", ha=ha,
                          fontsize=6)  # fmt: skip
    for place, (t_s, text) in enumerate(timeline.truth):
        # The texts are at two heights. A deadline is often so near its evidence that the texts would overlap.
        height = 0.05 + 0.2 * (place % 2)
        verdicts.axvline(t_s, color=INK, linewidth=1, linestyle=":")
        verdicts.annotate(text, (t_s, height), (3, 0), textcoords="offset points", fontsize=7, color=INK)
    for axes in (states, verdicts):
        axes.set_ylim(0, 1)
        axes.set_yticks([])


# The code below is the command `hw-sim draw`. It draws an observation log on one time axis, for example the stored log
# of a coup.

GZIP_MAGIC = b"\x1f\x8b"


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "draw",
        help="draw an observation log",
        description="Draw the observations of a log, and the facts and verdicts of wheeld about it. For a coup of "
        "a journal: `wheeld journal export JOURNAL --coup N -o coup.jsonl`, then "
        "`hw-sim draw coup.jsonl --svg coup.svg`.",
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="an observation log, compressed by gzip or not")
    parser.add_argument("--svg", type=Path, required=True, metavar="FILE", help="where to write the picture")
    parser.add_argument("--wheeld", type=Path, metavar="FILE", help="wheeld's path (default: beside Python or on PATH)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw the log. Returns the exit code. Raises BadDataError, UnavailableError, FileError."""
    try:
        args.svg.write_text(picture(args.log, find(args.wheeld)), encoding="utf-8")
    except OSError as error:
        raise FileError(told(error)) from error
    return 0


def picture(path: Path, wheeld: Path) -> str:
    """Return the log as SVG. Raises BadDataError, UnavailableError, OSError."""
    packed = path.read_bytes()
    try:
        log = gzip.decompress(packed) if packed.startswith(GZIP_MAGIC) else packed
    except (gzip.BadGzipFile, EOFError, zlib.error) as wrong:
        raise BadDataError(f"{path}: damaged, or not copied completely ({wrong})") from wrong
    lines = log.splitlines(keepends=True)
    messages, ended = replay_all(wheeld, lines)
    if ended.code:
        raise BadDataError(f"{path}: {ended.stderr}")
    try:
        return draw(read_timeline(lines, messages), path.name, "log")
    except (msgspec.DecodeError, KeyError, IndexError, ValueError) as wrong:
        raise BadDataError(f"{path}: not an observation log ({wrong!r})") from wrong
