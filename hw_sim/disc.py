"""`hw-sim disc`: draws the disc of a rotor's encoder, to be printed at its true size.

The disc has two rings. The outer ring has white and black bars, one after the other, each two sectors wide. Two sensors
that are a quarter of a period apart (or a quarter and some whole periods) together see each change of a sector. The
inner ring is black except for the zero mark. The mark is one sector wide and lies in the middle of a white bar. So its
edges come in the middle of a sector, and the disc looks the same from its other side. docs/build/README.md says how to
use the disc.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from hw_sim.exits import UsageError, writing

SECTORS_PER_PERIOD = 4
"""A period is a white bar and a black bar. In a period each of the two sensors changes twice."""
SECTORS_MAX = 4096
"""The most sectors that a configuration may have."""
SECTORS_APART = 5
"""The sectors from sensor A to sensor B: one sector, and a period so that both sensors have room."""
RING_MM, GAP_MM = 12.0, 4.0
"""The width of each ring, and of the white gap between them."""
SECTOR_MM_MIN = 1.5
"""The smallest width of a sector, in the middle of its ring. A reflective sensor sees a spot of about 1 mm."""
RULER_MM = 100
MARGIN_MM, TEXT_MM = 10.0, 42.0


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "disc",
        help="draw the disc of a rotor's encoder, to be printed",
        description="Draw the disc of a rotor's encoder with its zero mark, as SVG in its true size.",
    )
    parser.add_argument("--diameter", type=float, required=True, metavar="MM", help="its outer diameter in mm")
    parser.add_argument(
        "--sectors",
        type=int,
        required=True,
        metavar="N",
        help="the sectors of a turn, as in wheel.rotor_ticks: a white and a black bar are four of them",
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="where to write it (default: standard output)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw the disc. Returns the exit code. Raises UsageError, FileError."""
    write(draw(args.diameter, args.sectors), args.out)
    return 0


def write(svg: str, out: Path | None) -> None:
    """Write a drawing to the file `out`, or to standard output if `out` is None. Raises FileError."""
    with writing():
        if out is None:
            sys.stdout.write(svg)
        else:
            out.write_text(svg, encoding="utf-8")


def draw(diameter_mm: float, sectors: int) -> str:
    """Return the disc as SVG. Raises UsageError."""
    if sectors % SECTORS_PER_PERIOD or not SECTORS_PER_PERIOD <= sectors <= SECTORS_MAX:
        raise UsageError(f"--sectors {sectors}: it must be a multiple of 4, and {SECTORS_MAX} at most")
    outer = diameter_mm / 2
    inner = outer - RING_MM - GAP_MM
    if not math.isfinite(diameter_mm) or sector_mm(inner - RING_MM / 2, sectors) < SECTOR_MM_MIN:
        least = 2 * (SECTOR_MM_MIN * sectors / math.tau + RING_MM * 3 / 2 + GAP_MM)
        raise UsageError(f"--diameter {diameter_mm:g}: {sectors} sectors need a diameter of {least:.0f} mm at least")
    width = max(2 * outer, RULER_MM) + 2 * MARGIN_MM
    height = 2 * outer + 2 * MARGIN_MM + TEXT_MM
    x, y = _at(inner - RING_MM - 2, 1, sectors)
    below = outer + MARGIN_MM
    middle_outer, middle_inner = outer - RING_MM / 2, inner - RING_MM / 2
    apart = 2 * middle_outer * math.sin(math.pi * SECTORS_APART / sectors)
    texts = (
        f"This line is {RULER_MM} mm long. Print at 100 %, with a laser printer.",
        f"{2 * outer:g} mm, {sectors} sectors of {360 / sectors:.3f}°, {sectors // SECTORS_PER_PERIOD} black bars.",
        f"A and B: {middle_outer:g} mm from the centre, {apart:.1f} mm apart ({SECTORS_APART} sectors).",
        "B is clockwise from A, seen from above.",
        f"Z: {middle_inner:g} mm from the centre, in one line with A and the centre.",
    )
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:g}mm" '
            f'viewBox="{-width / 2:g} {-outer - MARGIN_MM:g} {width:g} {height:g}" '
            'font-family="sans-serif" font-size="4">'
        ),
        f"<title>Encoder disc, {2 * outer:g} mm, {sectors} sectors</title>",
        f'<rect x="{-width / 2:g}" y="{-outer - MARGIN_MM:g}" width="{width:g}" height="{height:g}" fill="#fff"/>',
        *(
            _black("bar", outer - RING_MM, outer, start, start + 2, sectors)
            for start in range(2, sectors, SECTORS_PER_PERIOD)
        ),
        _black("zero", inner - RING_MM, inner, 1.5, sectors + 0.5, sectors),
        f'<circle class="cut" r="{outer:g}" fill="none" stroke="#000" stroke-width="0.2"/>',
        f'<line class="pocket-zero" x1="0" y1="0" x2="{x}" y2="{y}" stroke="#000" stroke-width="0.3"/>',
        '<path class="centre" d="M-6 0H6M0 -6V6" stroke="#000" stroke-width="0.2"/>',
        f'<text x="3" y="{-(inner - RING_MM) / 2:g}">to pocket zero</text>',
        (
            f'<path class="ruler" d="M{-RULER_MM / 2:g} {below - 3:g}v6M{-RULER_MM / 2:g} {below:g}h{RULER_MM}m0 -3v6" '
            'fill="none" stroke="#000" stroke-width="0.3"/>'
        ),
        *(f'<text x="{-RULER_MM / 2:g}" y="{below + 9 + 6 * n:g}">{text}</text>' for n, text in enumerate(texts)),
        "</svg>\n",
    ]
    return "\n".join(lines)


def sector_mm(radius_mm: float, sectors: int) -> float:
    """Return the width of one sector at a radius."""
    return math.tau * radius_mm / sectors


def _at(radius_mm: float, place: float, sectors: int) -> tuple[str, str]:
    """Return the point at a radius and an angle in sectors, clockwise from the top."""
    angle = math.tau * place / sectors
    return f"{radius_mm * math.sin(angle):.5f}", f"{-radius_mm * math.cos(angle):.5f}"


def _black(kind: str, inside: float, outside: float, start: float, end: float, sectors: int) -> str:
    """Return a black part of a ring, from one angle to another, in sectors."""
    (ax, ay), (bx, by) = _at(outside, start, sectors), _at(outside, end, sectors)
    (cx, cy), (dx, dy) = _at(inside, end, sectors), _at(inside, start, sectors)
    long = int(end - start > sectors / 2)
    return (
        f'<path class="{kind}" d="M{ax} {ay}A{outside:g} {outside:g} 0 {long} 1 {bx} {by}L{cx} {cy}'
        f'A{inside:g} {inside:g} 0 {long} 0 {dx} {dy}Z"/>'
    )
