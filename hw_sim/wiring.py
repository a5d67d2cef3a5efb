"""`hw-sim wiring`: draws which line is on which pin of a Pico or of a Raspberry Pi, from a file in TOML.

The file names the header and has a TOML table for each wire. A `[[supply]]` gives the number of its pin on the header,
and a `[[line]]` the number of its GPIO. docs/build/board.toml is such a file.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from hw_sim.disc import write
from hw_sim.exits import BadDataError, told

HeaderName: TypeAlias = Literal["pico", "pi"]
# fmt: off
HEADERS: dict[HeaderName, tuple[str, ...]] = {
    "pico": (
        "GP0", "GP1", "GND", "GP2", "GP3", "GP4", "GP5", "GND", "GP6", "GP7",
        "GP8", "GP9", "GND", "GP10", "GP11", "GP12", "GP13", "GND", "GP14", "GP15",
        "GP16", "GP17", "GND", "GP18", "GP19", "GP20", "GP21", "GND", "GP22", "RUN",
        "GP26", "GP27", "AGND", "GP28", "ADC_VREF", "3V3", "3V3_EN", "GND", "VSYS", "VBUS",
    ),
    "pi": (
        "3V3", "5V", "GPIO2", "5V", "GPIO3", "GND", "GPIO4", "GPIO14", "GND", "GPIO15",
        "GPIO17", "GPIO18", "GPIO27", "GND", "GPIO22", "GPIO23", "3V3", "GPIO24", "GPIO10", "GND",
        "GPIO9", "GPIO25", "GPIO11", "GPIO8", "GND", "GPIO7", "GPIO0", "GPIO1", "GPIO5", "GND",
        "GPIO6", "GPIO12", "GPIO13", "GND", "GPIO19", "GPIO16", "GPIO26", "GPIO20", "GND", "GPIO21",
    ),
}
# fmt: on
"""The names of the pins, from pin 1 on. A Pico's pins go down on the left and up on the right, a Pi's row by row."""
PREFIX: dict[HeaderName, str] = {"pico": "GP", "pi": "GPIO"}
COLOURS = {
    "black": "#000", "brown": "#8b4513", "red": "#d00", "orange": "#f80", "yellow": "#ec0",
    "green": "#090", "blue": "#06c", "violet": "#93c", "grey": "#888", "white": "#fff",
}  # fmt: skip
"""The colours of wires by name, as SVG has them."""
ROW, TOP, MIDDLE, SIDE = 24, 60, 160, 470
"""Sizes in the drawing: the height of a pin and of the title, the width of the header and of the text on each side."""


class Wire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The properties of every wire."""

    name: str
    colour: str


class Supply(Wire, frozen=True, forbid_unknown_fields=True):
    """A wire of the power supply. `pin`: its number on the header."""

    pin: int


class WiredLine(Wire, frozen=True, forbid_unknown_fields=True):
    """A line. `gpio`: its number at the processor. `through`: the parts between the sensor and the pin. `key`: the name
    of the line in the configuration or in the firmware."""

    key: str
    gpio: int
    through: str


class WiredHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A header and all its wires."""

    title: str
    header: HeaderName
    supply: tuple[Supply, ...]
    line: tuple[WiredLine, ...]

    def pin(self, line: WiredLine) -> int:
        """Return the number of the line's pin on the header. Raises ValueError if the header has no such pin."""
        return HEADERS[self.header].index(f"{PREFIX[self.header]}{line.gpio}") + 1

    def mistakes(self) -> Iterator[str]:
        """Yield each mistake in the wiring, as a text."""
        names = HEADERS[self.header]
        wires: tuple[Wire, ...] = (*self.supply, *self.line)
        for wire in wires:
            if wire.colour not in COLOURS:
                yield f"{wire.name}: the colour {wire.colour} is not one of {', '.join(COLOURS)}"
        for supply in self.supply:
            if not 1 <= supply.pin <= len(names) or names[supply.pin - 1].startswith(PREFIX[self.header]):
                yield f"{supply.name}: pin {supply.pin} is not a pin of the power supply"
        for line in self.line:
            if f"{PREFIX[self.header]}{line.gpio}" not in names:
                yield f"{line.name}: the header has no {PREFIX[self.header]}{line.gpio}"
        uses = Counter([supply.pin for supply in self.supply])
        uses.update(self.pin(line) for line in self.line if f"{PREFIX[self.header]}{line.gpio}" in names)
        yield from (f"pin {pin} is used {count} times" for pin, count in uses.items() if count > 1)


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "wiring",
        help="draw which line is on which pin",
        description="Draw the wiring of a Pico or of a Raspberry Pi's header, from a file in TOML, as SVG.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the wiring, like docs/build/board.toml")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="where to write it (default: standard output)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw the wiring. Returns the exit code. Raises BadDataError, FileError."""
    write(draw(read(args.file)), args.out)
    return 0


def read(path: Path) -> WiredHeader:
    """Read a wiring from a file. Raises BadDataError."""
    try:
        wiring = msgspec.toml.decode(path.read_bytes(), type=WiredHeader)
    except OSError as error:
        raise BadDataError(told(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadDataError(f"{path}: {error}") from error
    if mistakes := "; ".join(wiring.mistakes()):
        raise BadDataError(f"{path}: {mistakes}")
    return wiring


def draw(wiring: WiredHeader) -> str:
    """Return the wiring as SVG."""
    names = HEADERS[wiring.header]
    width, height = 2 * SIDE + MIDDLE, TOP + ROW * len(names) // 2 + 20
    told = {supply.pin: (supply.name, "", supply.colour) for supply in wiring.supply}
    told |= {wiring.pin(line): (line.name, line.through, line.colour) for line in wiring.line}
    body = height - TOP - 8
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">'
    )
    lines = [
        svg,
        f"<title>{escape(wiring.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{width / 2:g}" y="26" text-anchor="middle" font-size="18">{escape(wiring.title)}</text>',
        f'<rect x="{SIDE}" y="{TOP - 6}" width="{MIDDLE}" height="{body}" rx="8" fill="#e8f0e8" stroke="#000"/>',
    ]
    for pin, name in enumerate(names, 1):
        if wiring.header == "pi":
            right, row = pin % 2 == 0, (pin - 1) // 2
        else:
            right, row = (False, pin - 1) if pin <= len(names) // 2 else (True, len(names) - pin)
        y = TOP + ROW * row + ROW // 2
        way, anchor, inner = (1, "start", "end") if right else (-1, "end", "start")
        edge = SIDE + MIDDLE if right else SIDE
        lines.append(f'<circle cx="{edge - way * 10}" cy="{y}" r="4" fill="#c9a227" stroke="#000"/>')
        label = f"{name} · {pin}" if right else f"{pin} · {name}"
        lines.append(f'<text x="{edge - way * 18}" y="{y + 4}" text-anchor="{inner}" font-size="10">{label}</text>')
        if pin not in told:
            continue
        what, through, colour = told[pin]
        end = edge + way * 50
        lines.append(f'<path d="M{edge - way * 6} {y}H{end}" stroke="#000" stroke-width="5"/>')
        lines.append(f'<path d="M{edge - way * 6} {y}H{end}" stroke="{COLOURS[colour]}" stroke-width="3"/>')
        text = escape(" · ".join(filter(None, (what, through, colour))))
        lines.append(f'<text class="wire" x="{end + way * 6}" y="{y + 4}" text-anchor="{anchor}">{text}</text>')
    return "\n".join([*lines, "</svg>\n"])
