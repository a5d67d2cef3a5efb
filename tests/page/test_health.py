"""The health of a wheel as tiles: how bad each is, in which order, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.evenings import HEALTH
from tests.page.messages import HEALTH as MESSAGE
from tests.page.messages import RULING, TABLE, seen, take
from wheeld.core.catalogue import Catalogue
from wheeld.page.health import LEVELS, Tile, tiles
from wheeld.page.wheel import WheelView

WELL: dict[str, Any] = {
    "sensors": {"link": True, "beam/0": True, "beam/2": True}, "troubles": {}, "outbox_depth": 0,
    "temperatures_c": {"cpu": 51.5},
}  # fmt: skip


def shown(now_s: float = 0.0, table: dict[str, Any] | None = None, **health: Any) -> list[Tile]:
    wheel = seen()
    take(wheel, TABLE, seq=2, **{"without": [], **(table or {})})
    take(wheel, MESSAGE, **{**WELL, **health})
    return tiles(wheel, Catalogue("en"), now_s)


def test_of_a_healthy_wheel_every_tile_is_good_and_says_little() -> None:
    listed = shown()
    assert {(tile.level, tile.said, tile.mend) for tile in listed} == {("good", "", "")}
    values = {tile.name: tile.value for tile in listed}
    assert values["Sensors"] == "all work"
    assert values["Broker"] == "reached"
    assert values["Clock"] == "synchronised, error 0.8 ms"
    assert values["Temperature"] == "51.5 °C"
    assert values["Messages owed"] == "0"


def test_the_journals_head_is_that_of_the_newest_message_of_any_kind() -> None:
    """A person compares it with what the journal says: a ruling is a message of it, too."""
    wheel = seen()
    assert take(wheel, RULING, seq=2, hash="2" * 64)
    (head,) = (tile.value for tile in tiles(wheel, Catalogue("en"), 0.0) if tile.name == "Journal")
    assert "2" * 12 in head


@pytest.mark.parametrize(
    ("health", "now_s", "name", "level"),
    [
        ({"sensors": {"beam/2": False}}, 0, "beam 3", "wrong"),
        ({"troubles": {"beam/2": ["chatters"]}}, 0, "beam 3", "look"),
        ({"troubles": {"link": ["line_damaged"]}}, 0, "the line to the sensors", "look"),
        ({"outbox_depth": 11}, 0, "Messages owed", "look"),
        ({"clock": {"error_us": 850, "drift_ppm": 0, "synchronised": False}}, 0, "Clock", "look"),
        ({"clock": {"error_us": 10_001, "drift_ppm": 0, "synchronised": True}}, 0, "Clock", "look"),
        ({"temperatures_c": {"cpu": 51.5, "board": 80.5}}, 0, "Temperature", "look"),
        ({}, 31, "Reported", "look"),
        ({}, 91, "Reported", "wrong"),
    ],
)
def test_what_is_not_well_stands_first(health: dict[str, Any], now_s: float, name: str, level: str) -> None:
    first, *others = shown(now_s, **health)
    assert (first.name, first.level, bool(first.said)) == (name, level, True)
    assert {tile.level for tile in others} == {"good"}


def test_the_worst_stands_first_and_each_trouble_has_its_own_tile() -> None:
    listed = shown(sensors={"beam/0": True, "beam/2": False}, troubles={"link": ["line_damaged", "clock_drifts"]})
    assert [LEVELS.index(tile.level) for tile in listed] == sorted(LEVELS.index(tile.level) for tile in listed)
    assert [(tile.name, tile.level) for tile in listed[:3]] == [
        ("beam 3", "wrong"),
        ("the line to the sensors", "look"),
        ("the line to the sensors", "look"),
    ]
    assert listed[0].value == "fails"
    assert listed[1].value == "the line to the sensor board damages data"
    assert listed[1].mend == "check the cable of the sensor board and its plugs"
    assert [tile.value for tile in listed if tile.name == "Sensors"] == ["the others work"]


def test_the_table_says_sooner_what_fails_and_what_is_left_out() -> None:
    first, second, *_ = shown(table={"failing": ["link"], "without": ["beam/2"]})
    assert (first.name, first.level, first.value) == ("the line to the sensors", "wrong", "fails")
    assert (second.name, second.level, second.value) == ("beam 3", "look", "left out")


def test_a_later_version_s_sensor_has_its_own_name() -> None:
    wheel = WheelView()
    wheel.take("health", HEALTH.replace(b'"future/1":true', b'"future/1":false'), retained=True, now_s=100)
    named = {tile.name: tile for tile in tiles(wheel, Catalogue("en"), 107)}
    assert named["future/1"].level == "wrong"
    assert named["beam 1"].mend.startswith("clean it")
    assert named["Reported"].value == "7 s ago"


def test_a_broker_that_is_not_reached_is_wrong() -> None:
    wheel = seen()
    wheel.is_reached = False
    assert tiles(wheel, Catalogue("en"), 0)[0].name in ("Broker", "the rotor's sensor")
    assert {tile.name: tile.level for tile in tiles(wheel, Catalogue("en"), 0)}["Broker"] == "wrong"
