"""docs/build: its drawings are what the commands make, its tables and settings are its wiring files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hw_sim.cli import main as hw_sim
from hw_sim.wiring import HEADERS, PREFIX, read
from wheeld.cli.main import main as wheeld
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.exits import Exit

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "docs" / "build"
PAGES = {path.stem: path.read_text() for path in BUILD.glob("*.md")}
FIRMWARE = ROOT / "firmware_protocol" / "c" / "rp2040" / "board_config.h"
WIRINGS = ["board", "pi"]
PI = {
    2: 3, 3: 5, 4: 7, 14: 8, 15: 10, 17: 11, 18: 12, 27: 13, 22: 15, 23: 16, 24: 18, 10: 19, 9: 21, 25: 22, 11: 23,
    8: 24, 7: 26, 0: 27, 1: 28, 5: 29, 6: 31, 12: 32, 13: 33, 19: 35, 16: 36, 26: 37, 20: 38, 21: 40,
}  # fmt: skip
"""The pin of each GPIO, from the makers' drawings, as the next one."""
PICO = {
    0: 1, 1: 2, 2: 4, 3: 5, 4: 6, 5: 7, 6: 9, 7: 10, 8: 11, 9: 12, 10: 14, 11: 15, 12: 16, 13: 17, 14: 19, 15: 20,
    16: 21, 17: 22, 18: 24, 19: 25, 20: 26, 21: 27, 22: 29, 26: 31, 27: 32, 28: 34,
}  # fmt: skip
SUPPLY = {"board": {38: "GND", 36: "3V3", 39: "VSYS"}, "pi": {6: "GND", 1: "3V3", 2: "5V"}}
PULLED_UP = range(9)
"""These GPIO of a Pi are pulled up before a program runs."""


@pytest.mark.parametrize("name", WIRINGS)
def test_a_wiring_uses_each_pin_once_and_none_of_the_power(name: str) -> None:
    wiring = read(BUILD / f"{name}.toml")
    pins = PI if wiring.header == "pi" else PICO
    assert {number: wiring.pin(line) for line in wiring.line for number in [line.gpio]} == {
        line.gpio: pins[line.gpio] for line in wiring.line
    }
    used = [pins[line.gpio] for line in wiring.line] + [wire.pin for wire in wiring.supply]
    assert len(used) == len(set(used))
    assert {wire.pin: HEADERS[wiring.header][wire.pin - 1] for wire in wiring.supply} == SUPPLY[name]


@pytest.mark.parametrize(("header", "pins"), [("pi", PI), ("pico", PICO)])
def test_the_headers_are_those_of_the_makers(header: str, pins: dict[int, int]) -> None:
    names = HEADERS["pi" if header == "pi" else "pico"]
    prefix = PREFIX["pi" if header == "pi" else "pico"]
    assert len(names) == 40
    assert {name: at for at, name in enumerate(names, 1) if re.fullmatch(rf"{prefix}\d+", name)} == {
        f"{prefix}{number}": pin for number, pin in pins.items()
    }


@pytest.mark.parametrize("name", WIRINGS)
def test_the_drawing_of_a_wiring_is_made_from_it(name: str, tmp_path: Path) -> None:
    assert hw_sim(["wiring", str(BUILD / f"{name}.toml"), "-o", str(tmp_path / "made.svg")]) == 0
    assert (tmp_path / "made.svg").read_text() == (BUILD / f"{name}.svg").read_text()


def test_the_disc_is_made_by_the_command_of_the_page(tmp_path: Path) -> None:
    (command,) = re.findall(r"`hw-sim (disc .+) -o disc\.svg`", PAGES["README"])
    assert hw_sim([*command.split(), "-o", str(tmp_path / "made.svg")]) == 0
    made = (tmp_path / "made.svg").read_text()
    assert made == (BUILD / "disc.svg").read_text()
    for radius, apart in re.findall(r"A and B: ([\d.]+) mm from the centre, ([\d.]+) mm apart", made):
        assert f"{apart} mm from A, clockwise | {radius} mm |" in PAGES["README"]
    assert all(config.table.rotor_ticks == 148 for config in CONFIGS.values())
    assert "--sectors 148" in command


@pytest.mark.parametrize("name", WIRINGS)
def test_the_table_of_the_page_is_the_wiring(name: str) -> None:
    wiring = read(BUILD / f"{name}.toml")
    section = PAGES["wiring"].partition(f"({name}.svg)")[2].partition("\n## ")[0]
    rows = {row for row in section.splitlines() if row.startswith("| ") and "| pin |" not in row}
    header = HEADERS[wiring.header]
    assert rows == {
        f"| {wire.name} | {wire.pin} | {header[wire.pin - 1]} | {wire.colour} | |" for wire in wiring.supply
    } | {
        f"| {line.name} | {wiring.pin(line)} | {header[wiring.pin(line) - 1]} | {line.colour} | {line.through} |"
        for line in wiring.line
    }


TEXTS = dict(zip(WIRINGS, re.findall(r"^```toml\n(.+?)^```", PAGES["bench"], re.DOTALL | re.MULTILINE), strict=True))
CONFIGS: dict[str, Config] = {name: parse(text) for name, text in TEXTS.items()}


@pytest.mark.parametrize("name", WIRINGS)
def test_the_settings_of_the_page_are_accepted(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bench-1.toml"
    path.write_text(TEXTS[name].replace("/var/lib/wheeld", str(tmp_path)))
    assert wheeld(["check-config", str(path)]) == Exit.LOOK, "this computer has no such board or pins"


def test_the_settings_for_a_pi_are_its_wiring() -> None:
    gpio = CONFIGS["pi"].gpio
    assert gpio is not None
    assert gpio.encoder_pins is not None
    wired = {line.key: line.gpio for line in read(BUILD / "pi.toml").line}
    several = {"encoder_pins": gpio.encoder_pins, "beam_pins": gpio.beam_pins, "reader_pins": gpio.reader_pins}
    assert wired == {
        **{f"{key} {place}": pin for key, pins in several.items() for place, pin in enumerate(pins)},
        **{f"button_{name}": pin for name, pin in gpio.buttons.items()},
        "door_pin": gpio.door_pin,
        "object_pin": int(re.findall(r"`object_pin = (\d+)`", PAGES["bench"])[0]),
        "lamp": gpio.lamp,
        "buzzer": gpio.buzzer,
        "bets_closed": gpio.bets_closed,
    }
    assert not {gpio.lamp, gpio.buzzer, gpio.bets_closed} & set(PULLED_UP)
    assert not gpio.encoder_active_low, "white is high at the pin"
    assert gpio.sensors_active_low, "a ball is low at the pin"


@pytest.mark.skipif(not FIRMWARE.exists(), reason="this tree has no firmware for the board")
def test_the_wiring_of_the_board_is_that_of_its_firmware() -> None:
    pins = re.findall(r"\{(LINE_\w+), (\w+), (\d+), (true|false)\}", FIRMWARE.read_text())
    wired = {line.key: line.gpio for line in read(BUILD / "board.toml").line}
    assert wired == {"UART TX": 0, "UART RX": 1} | {f"{line} {index}": int(pin) for line, index, pin, _ in pins}
    assert {line for line, *_, low in pins if low == "false"} == {
        "LINE_ROTOR_A", "LINE_ROTOR_B", "LINE_ROTOR_ZERO", "LINE_DOOR",
    }  # fmt: skip
