"""`[gpio]`: what is accepted, and the problems of what is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from firmware_protocol.messages import BUTTONS as BUTTONS_OF_A_BOARD
from tests.config.test_config import GOOD, problems, with_line
from tests.config.test_head import COMBINED
from wheeld.cli.check import facts, to_look_at
from wheeld.config.reading import parse
from wheeld.core.catalogue import Catalogue
from wheeld.core.law.people import missing
from wheeld.core.observations import Command, CommandName
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.sources.gpio import provider
from wheeld.sources.gpio.provider import Machine, Provider
from wheeld.sources.gpio.setting import BUTTONS as BUTTONS_OF_PINS
from wheeld.sources.gpio.setting import GpioSetting

SENSORS = '[sensors]\nport = "/dev/ttyACM0"\n\n'
WHEEL = """\
[gpio]
provider = "rpi-lgpio"
encoder = "quadrature"
encoder_pins = [17, 27, 22]
index_tick = 3
beam_pins = [5, 6, 13, 19]
reader_pins = [16, 20, 21]
object_pin = 26
button_rien_va = 23
button_tout_va = 24
lamp = 12

"""
PINS = GOOD.replace(SENSORS, WHEEL)
BUTTONS = GOOD.replace("[journal]", '[gpio]\nprovider = "rpi"\nbutton_tout_va = 4\nbets_closed = 25\n\n[journal]')


def gpio(text: str) -> GpioSetting:
    section = parse(text).gpio
    assert section is not None
    return section


def test_pins_that_see_the_wheel_need_no_board() -> None:
    config = parse(PINS)
    assert config.sensors is None
    setting = gpio(PINS)
    assert (setting.encoder, setting.encoder_pins, setting.index_tick) == ("quadrature", (17, 27, 22), 3)
    assert (setting.beam_pins, setting.reader_pins, setting.object_pin) == ((5, 6, 13, 19), (16, 20, 21), 26)
    assert setting.buttons == {"rien_va": 23, "tout_va": 24}
    assert (setting.lamp, setting.buzzer, setting.bets_closed) == (12, None, None)
    assert (setting.debounce_ms, setting.min_pulse_us, setting.beam_blocked_s_max) == (20, 200, 2)
    assert setting.observes


def test_a_board_may_have_buttons_and_lamps_on_pins_beside_it() -> None:
    config = parse(BUTTONS)
    assert config.sensors is not None
    setting = gpio(BUTTONS)
    assert (setting.observes, setting.buttons, setting.bets_closed) == (False, {"tout_va": 4}, 25)


def test_the_example_of_the_page_is_good() -> None:
    page = (Path(__file__).parents[2] / "firmware_protocol" / "gpio.md").read_text()
    (example,) = re.findall(r"```toml\n(.+?)```", page, re.DOTALL)
    assert len(list(gpio(GOOD.replace(SENSORS, example)).used())) == 18


def test_every_key_is_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "firmware_protocol" / "gpio.md").read_text()
    keys = [field.encode_name for field in msgspec.structs.fields(GpioSetting)]
    buttons = [key for key in keys if key.startswith("button_")]
    assert [key for key in keys if key not in page and key not in buttons] == []
    assert [key for key in buttons if f"`{key.removeprefix('button_')}`" not in page] == []


def test_every_command_that_needs_no_member_can_be_a_button() -> None:
    wired = "".join(f"button_{name} = {30 + n}\n" for n, name in enumerate(BUTTONS_OF_PINS[2:]))
    assert list(gpio(PINS.replace("lamp = 12\n", wired)).buttons) == list(BUTTONS_OF_PINS)
    keys = {field.encode_name for field in msgspec.structs.fields(GpioSetting)}
    assert {key.removeprefix("button_") for key in keys if key.startswith("button_")} == set(BUTTONS_OF_PINS)
    for name in get_args(CommandName):
        needs_a_member = bool(missing(Command(0, name, "button"), SINGLE_ZERO))
        assert (name in BUTTONS_OF_PINS) == (name in BUTTONS_OF_A_BOARD) == (not needs_a_member), name


def test_something_must_see_the_wheel() -> None:
    (reported,) = problems(GOOD.replace(SENSORS, ""))
    assert "sensors.port: is missing; give it, because sensors report rotor, ball, pocket, and there is no" in reported
    (reported,) = problems(BUTTONS.replace(SENSORS, ""))
    assert "gpio.encoder: is missing; give it, because there is no [sensors], and something must see" in reported


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('provider = "gpiozero"', 'gpio.provider: is "gpiozero"; expected "rpi" or "rpi-lgpio"'),
        ("chip = -1", "gpio.chip: is -1; expected the number of /dev/gpiochipN, 0 to 255"),
        ("encoder_pins = [17, 27]", "gpio.encoder_pins: is [17,27]; expected the GPIO numbers of the encoder's lines"),
        ("beam_pins = [5, 6, 13, 54]", "gpio.beam_pins: is [5,6,13,54]; expected a list of GPIO numbers"),
        ("beam_pins = [5, 6, 13]", "gpio.beam_pins: has 3 pins, but wheel.beams_deg has 4 angles; give one"),
        ("reader_pins = []", "gpio.reader_pins: has 0 pins, but wheel.readers_deg has 3 angles"),
        ("object_pin = 17", "gpio.object_pin: pin 17 is used already, by encoder_pins"),
        ("beam_pins = [5, 6, 13, 5]", "gpio.beam_pins: pin 5 is used already, by beam_pins"),
        ("buzzer = 12", "gpio.buzzer: pin 12 is used already, by lamp"),
        ("index_tick = 148", "gpio.index_tick: 148 is not within 0…147, which follows from wheel.rotor_ticks"),
        ("debounce_ms = 0", "gpio.debounce_ms: is 0; expected milliseconds, 1 to 200"),
        ("min_pulse_us = 3000", "gpio.min_pulse_us: is 3000; expected microseconds, 0 to 2000"),
        ("beam_blocked_s_max = 0.1", "gpio.beam_blocked_s_max: is 0.1; expected seconds, 0.2 to 60"),
        ("button_confirm = 4", "gpio.button_confirm: is not a known key"),
    ],
)
def test_a_wrong_pin_is_reported_with_its_key(line: str, expected: str) -> None:
    reported = problems(with_line("gpio", line, PINS))
    assert len(reported) == 1
    assert expected in reported[0]


def test_an_encoder_without_lines() -> None:
    (reported,) = problems(PINS.replace("encoder_pins = [17, 27, 22]\n", ""))
    assert "gpio.encoder_pins: is missing; expected the GPIO numbers of its lines A, B and Z" in reported


def test_lines_without_an_encoder() -> None:
    reported = problems(PINS.replace('encoder = "quadrature"\n', ""))
    assert [line.partition(": ")[2].partition(":")[0] for line in reported] == [
        "gpio.encoder_pins",
        "gpio.beam_pins",
        "gpio.reader_pins",
        "gpio.object_pin",
    ]
    assert "cannot be used without an encoder" in reported[0]


def test_a_quadrature_encoder_has_whole_periods_and_slots_need_not() -> None:
    odd = with_line("wheel", "rotor_ticks = 37", PINS)
    (reported,) = problems(odd)
    assert "four ticks in each period; wheel.rotor_ticks = 37 is not a multiple" in reported
    assert gpio(with_line("gpio", 'encoder = "slots"', odd)).encoder == "slots"


def test_two_may_not_see_the_wheel() -> None:
    (reported,) = problems(PINS.replace("[gpio]", f"{SENSORS}[gpio]"))
    assert "gpio.encoder: cannot be used here: the board of [sensors] sees this wheel already" in reported


def test_a_door_may_be_wired_where_pins_see_the_wheel_or_beside_a_head_and_not_beside_a_board() -> None:
    setting = gpio(with_line("gpio", "door_pin = 0", PINS))
    assert (setting.observes, setting.door_pin, ("door_pin", 0) in setting.used()) == (True, 0, True)
    (reported,) = problems(with_line("gpio", "door_pin = 7", BUTTONS))
    assert "gpio.door_pin: cannot be used here: the board of [sensors] sees this wheel already" in reported
    (reported,) = problems(with_line("gpio", "door_pin = 7", BUTTONS).replace(SENSORS, ""))
    assert "gpio.encoder: is missing" in reported


def test_the_original_has_one_chip_only() -> None:
    chosen_here = BUTTONS.replace('provider = "rpi"\n', "")
    assert gpio(chosen_here).provider is None
    for text in (BUTTONS, chosen_here):
        (reported,) = problems(with_line("gpio", "chip = 4", text))
        assert "gpio.chip: does not apply to the original RPi.GPIO: leave it out, or set provider = " in reported


def test_its_meaning_is_printed() -> None:
    lines = list(facts(parse(with_line("gpio", "chip = 4", PINS)), "en"))
    assert "GPIO: through rpi-lgpio, the chip is /dev/gpiochip4" in lines
    assert "encoder: quadrature at pins (17, 27, 22), its index in tick 3" in lines
    assert any("beam_pins 19, reader_pins 16" in line and "lamp 12" in line for line in lines)
    beside = list(facts(parse(BUTTONS), "en"))
    assert "GPIO: through rpi, the chip is the Pi's own" in beside
    assert "pins: button_tout_va 4, bets_closed 25" in beside
    nothing = GOOD.replace("[journal]", '[gpio]\nprovider = "rpi"\n\n[journal]')
    assert "no other pins are used" in list(facts(parse(nothing), "en"))


def test_what_this_computer_would_read_them_with_is_printed_and_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    there: set[Provider] = {"rpi-lgpio"}
    monkeypatch.setattr(provider, "this_machine", lambda: Machine((6, 12), 0xC03114))
    monkeypatch.setattr(provider, "installed", lambda: there)
    text = BUTTONS.replace("/dev/ttyACM0", "/dev/null")  # a port that each computer has
    config = parse(text.replace('provider = "rpi"\n', ""))
    lines = list(facts(config, "en"))
    assert "GPIO: through the installed package, the chip is the Pi's own" in lines
    pi = "kernel 6.12 on a Raspberry Pi older than the 5"
    assert f"this computer would read pins through rpi-lgpio: it is installed and works with {pi}" in lines
    assert list(to_look_at(config)) == []
    assert not [line for line in facts(parse(text), "en") if line.startswith("this computer")]
    why = f"the original RPi.GPIO does not work with {pi}: remove `provider` from [gpio]"
    assert [*map(Catalogue("en").say_text, to_look_at(parse(text)))] == [f"this computer cannot read pins: {why}"]
    there.clear()
    (line,) = map(Catalogue("fr").say_text, to_look_at(config))
    assert "rpi-lgpio n'est pas installé : dans le répertoire" in line


def test_lines_of_no_encoder_beside_a_head() -> None:
    pins = '[gpio]\nprovider = "rpi"\nbeam_pins = [5, 6, 13, 19]\nencoder_pins = [17, 27, 22]\n\n'
    (reported,) = problems(COMBINED.replace(SENSORS, pins))
    assert "gpio.encoder_pins: cannot be used without an encoder" in reported
