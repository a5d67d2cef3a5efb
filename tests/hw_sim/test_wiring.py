"""`hw-sim wiring`: what can be wired, and what is drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from hw_sim.cli import main

SVG = "{http://www.w3.org/2000/svg}"
GOOD = """\
title = "A <board>"
header = "HEADER"

[[supply]]
name = "ground"
pin = 6
colour = "black"

[[line]]
name = "beam 1"
key = "beam_pins 0"
gpio = 5
colour = "green"
through = "gate"
"""
PI = GOOD.replace("HEADER", "pi")


def wired(directory: Path, text: str) -> int:
    path = directory / "wiring.toml"
    path.write_text(text)
    return main(["wiring", str(path), "-o", str(directory / "wiring.svg")])


def test_each_wire_is_drawn_at_its_pin(tmp_path: Path) -> None:
    assert wired(tmp_path, PI) == 0
    svg = ET.fromstring((tmp_path / "wiring.svg").read_text())
    at = {text.text: float(text.get("y", "")) for text in svg.iter(f"{SVG}text")}
    assert at["beam 1 · gate · green"] == at["29 · GPIO5"]
    assert at["ground · black"] == at["GND · 6"]
    assert "A <board>" in at


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gpio = 5", "gpio = 28", "beam 1: the header has no GPIO28"),
        ("pin = 6", "pin = 29", "ground: pin 29 is not a pin of the power supply"),
        ("pin = 6", "pin = 41", "ground: pin 41 is not a pin of the power supply"),
        ("pin = 6", "pin = 0", "ground: pin 0 is not a pin of the power supply"),
        ('"green"', '"lime"', "beam 1: the colour lime is not one of black, "),
        (
            "[[line]]",
            "[[line]]\nname='x'\nkey='x'\ngpio=5\ncolour='red'\nthrough=''\n[[line]]",
            "pin 29 is used 2 times",
        ),
        ("gpio = 5", 'gpio = "5"', "Expected `int`"),
        ("gpio = 5", "", "missing required field `gpio`"),
        ('"pi"', '"zero"', "Invalid enum value 'zero'"),
    ],
)
def test_what_cannot_be_wired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    assert wired(tmp_path, PI.replace(old, new)) == 65
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wiring", str(tmp_path / "none.toml")]) == 65
    assert "none.toml" in capsys.readouterr().err
