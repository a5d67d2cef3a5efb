"""Who watches for foreign objects (N6): a board, a pin, or nobody."""

from __future__ import annotations

import pytest

from tests.config.test_config import GOOD, problems, with_line
from tests.config.test_gpio import PINS
from tests.config.test_head import ALONE, HEAD
from wheeld.config.reading import parse

NONE = "object_sensor = false"
PIN = '[gpio]\nprovider = "rpi-lgpio"\nobject_pin = 26\n\n'


@pytest.mark.parametrize(
    ("text", "watched"),
    [
        (GOOD, True),
        (with_line("wheel", NONE, GOOD), False),
        (PINS, True),
        (PINS.replace("object_pin = 26\n", ""), False),
        (ALONE, False),
        (ALONE.replace(HEAD, PIN + HEAD), True),
    ],
)
def test_whether_a_sensor_watches(text: str, *, watched: bool) -> None:
    assert parse(text).table.object_sensor is watched
    assert parse(text).table.levels


def test_it_must_be_there_where_the_file_says_so() -> None:
    (problem,) = problems(with_line("wheel", "object_sensor = true", ALONE))
    assert problem.endswith(
        "wheel.object_sensor: is true, but there is neither a board nor gpio.object_pin: set gpio.object_pin, or write "
        "false here"
    )


def test_a_pin_of_it_must_count() -> None:
    (problem,) = problems(with_line("wheel", NONE, PINS))
    assert problem.endswith("object_sensor: is false, but gpio.object_pin is an object sensor: leave this key out")
