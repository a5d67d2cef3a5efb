"""A file with several mistakes is mended in one round: each is reported whatever else is wrong, and none that follows
only from another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.config.test_config import GOOD, problems, with_line
from tests.config.test_gpio import PINS
from tests.config.test_head import ALONE, COMBINED
from wheeld.config.reading import parse
from wheeld.config.unknown import UnknownError, judged, without
from wheeld.config.validation import problems_of
from wheeld.core.setting import RULES, config_keys


def with_lines(text: str, *lines: str) -> str:
    """`text` with more lines, each `section.key = value`."""
    for line in lines:
        section, _, rest = line.partition(".")
        text = with_line(section, rest, text)
    return text


SENSORS = '[sensors]\nport = "/dev/ttyACM0"\n'


def keys_of(text: str) -> list[str]:
    """The keys that are reported, in their order."""
    found = [re.fullmatch(r"f\.toml(?::\d+)?: ([a-z_.]+): .+", line) for line in problems(text)]
    return [each[1] for each in found if each is not None]


def test_mistakes_of_every_kind_are_reported_at_once_in_the_order_of_the_file() -> None:
    text = with_lines(
        PINS,
        "table.min_laps = 99",
        "table.colour = 1",
        "wheel.rotor_ticks = 20",
        "gpio.beam_pins = [5, 6, 13]",
        'gpio.lamp = "red"',
        "journal.path = 3",
        'mqtt.cert_file = "nowhere"',
        'mqtt.host = "a@b"',
    )
    reported = problems(text)
    assert reported.pop(7).startswith("f.toml:30: mqtt.host: is more than the name or the address of a host")
    pins = "has 3 pins, but wheel.beams_deg has 4 angles; give one pin for each angle, in the same order"
    assert reported == [
        "f.toml:2: table.colour: is not a known key; [table] may contain "
        + ", ".join(key.name for key in config_keys().values() if key.section == "table"),
        "f.toml:3: table.min_laps: 99 is not within 3…20 (Art. 10 asks 3 at least; other jurisdictions ask 4)",
        "f.toml:10: wheel.rotor_ticks: 20 is not within 37…4096",
        'f.toml:15: gpio.lamp: is "red"; expected a GPIO number, 0 to 53',
        f"f.toml:16: gpio.beam_pins: {pins}",
        "f.toml:27: journal.path: is 3; expected the path of a file",
        "f.toml:29: mqtt.key_file: is missing; give cert_file and key_file together",
        "f.toml:31: mqtt.cert_file: nowhere cannot be read: No such file or directory; name one that wheeld can read",
    ]


@pytest.mark.parametrize(
    ("base", "lines"),
    [
        (GOOD, ["table.site = 4", "wheel.beams_deg = [5]", "mqtt.port = 0"]),
        (GOOD, ["table.house = 4", 'table.id = "a/b"', "table.sightings_to_call = 0", "wheel.readers_deg = [7, 7]"]),
        (GOOD, ['table.language = "de"', "table.last_number = 40", "wheel.rotor_ticks = 20"]),
        (GOOD, ['table.game = "poker"', "table.strays_tolerated = 9", "sensors.baud = 1"]),
        (ALONE, ["table.strays_tolerated = 1", "head.baud = 1", 'head.port = "foo://x:1"']),
        (ALONE, ["head.poll = 3", "head.writable = false", "mqtt.user = 3"]),
        (COMBINED, ["table.auto_rien_ne_va_plus_rev_s = 9", 'head.port = "/dev/ttyACM0"', 'log.level = "x"']),
        (PINS, ["wheel.object_sensor = false", "gpio.chip = -1", "gpio.index_tick = 148", "gpio.lamp = 17"]),
        (PINS, ["wheel.beams_deg = [5]", "gpio.reader_pins = [16]", "gpio.debounce_ms = 0"]),
    ],
)
def test_each_of_several_mistakes_is_reported_as_if_it_were_alone(base: str, lines: list[str]) -> None:
    base += '\n[log]\nlevel = "info"\n'
    alone = [what.partition(": ")[2] for line in lines for what in problems(with_lines(base, line))]
    together = [what.partition(": ")[2] for what in problems(with_lines(base, *lines))]
    assert len(alone) == len(lines)
    assert sorted(together) == sorted(alone)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        # What nobody knows is not guessed: no rule speaks that needs it.
        (with_line("table", "house = 4"), ["table.house"]),
        (with_line("wheel", 'rotor_direction = "left"'), ["wheel.rotor_direction"]),
        (with_line("wheel", "rotor_ticks = true"), ["wheel.rotor_ticks"]),
        (with_line("wheel", 'ball = "board"', ALONE), ["wheel.ball"]),
        (with_line("wheel", "object_sensor = 1", ALONE), ["wheel.object_sensor"]),
        (with_line("head", "product = 1", ALONE), ["head.product"]),
        (with_line("gpio", "object_pin = 99", PINS), ["gpio.object_pin"]),
        (with_line("gpio", "encoder = 4", PINS), ["gpio.encoder"]),
        (with_line("gpio", "beam_pins = 4", PINS), ["gpio.beam_pins"]),
        (with_line("mqtt", "username = 4", with_line("mqtt", 'password_file = "f"')), ["mqtt.username"]),
        (with_line("mqtt", "users = 4"), ["mqtt.users"]),
        # Nor what a name is left at that somebody tried to give.
        (GOOD.replace("beams_deg", "beam_deg"), ["wheel.beam_deg"]),
        (GOOD.replace("rotor_ticks", "rotor_tick"), ["wheel.rotor_tick"]),
        (
            GOOD.replace("rotor_ticks = 148\n", "").replace("[mqtt]\n", "[mqtt]\nrotor_ticks = 148\n"),
            ["mqtt.rotor_ticks"],
        ),
        (GOOD.replace("[sensors]", "[sensor]"), ["sensor"]),
        (GOOD.replace("[wheel]", "[wheels]"), ["wheels"]),
        (
            GOOD.replace('[sensors]\nport = "/dev/ttyACM0"\n', "").replace("[table]", "sensors = 3\n[table]"),
            ["sensors"],
        ),
    ],
)
def test_one_mistake_is_one_problem(tmp_path: Path, text: str, keys: list[str]) -> None:
    secret = tmp_path / "f"
    secret.write_text("x")
    secret.chmod(0o600)
    assert keys_of(text.replace('"f"', f'"{secret}"')) == keys


@pytest.mark.parametrize("text", [GOOD, PINS, ALONE, COMBINED], ids=["board", "pins", "head", "both"])
def test_whatever_is_not_known_of_a_good_file_makes_no_problem(text: str) -> None:
    config = parse(text)
    for field in config_keys():
        table = without(config.table, {field})
        assert [wrong for rule in RULES for wrong in judged(rule(table))] == [], field
    sections = [section for section in ("sensors", "gpio", "head", "journal", "mqtt") if getattr(config, section)]
    for section in sections:
        whole = getattr(config, section)
        for field in whole.__struct_fields__:
            doubtful = type(config)(
                **{
                    name: without(whole, {field}) if name == section else getattr(config, name)
                    for name in config.__struct_fields__
                }
            )
            assert problems_of(doubtful) == [], (section, field)


def test_what_is_not_known_cannot_be_read() -> None:
    table = parse(GOOD).table
    assert without(table, ()) is table
    part = without(without(table, {"site"}), {"house"})
    assert (part.table, part.strays) == (table.table, table.strays)
    for read in (lambda: part.site, lambda: part.house, lambda: part.profile):
        with pytest.raises(UnknownError):
            read()
