"""What a table's setting must be, each problem with its key."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import structs

from tests.core.evening import FRENCH
from tests.core.head_evening import MERCURY
from wheeld.core.catalogue import Catalogue, Text
from wheeld.core.setting import Header, TableSetting, config_keys, from_header, rows_of
from wheeld.core.table import Table

ENGLISH = Catalogue("en")


def with_(**changes: Any) -> TableSetting:
    return msgspec.structs.replace(FRENCH, **changes)


FAIR: dict[str, Any] = {"house": "venezia", "game": "fair", "wheel": "fair", "rotor_direction": "cw"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        FAIR,
        {"house": "venezia", "game": "roulette-francese"},
        {"beams_deg": (0, 100)},
        {"beams_deg": (0.0, 359.9)},
        {"readers_deg": (0,)},
        {"rotor_ticks": 37},
        {"rotor_ticks": 4096},
        {"last_number": None},
        {"last_number": 0},
        {"last_number": 36},
        {"min_laps": 4},
        {"min_laps": 20},
        {"void_words": "nulla vale"},
        {"sightings_to_call": 1},
        {"strays_tolerated": 1},
        {"strays_tolerated": 3},
        {"auto_rien_ne_va_plus_rev_s": 0.8},
        {"table": "a" * 64},
        {"site": "9_x-y"},
    ],
)
def test_a_good_table_has_no_problems(changes: dict[str, Any]) -> None:
    assert with_(**changes).check() == []


@pytest.mark.parametrize(
    ("changes", "key", "expected"),
    [
        ({"site": "Campione"}, "site", "lower-case"),
        ({"site": ""}, "site", "lower-case"),
        ({"table": "a/b"}, "table", "MQTT topics"),
        ({"table": "a" * 65}, "table", "64 at most"),
        ({"house": "sanremo"}, "house", 'is "sanremo"; expected "campione" or "venezia"'),
        ({"game": "roulette-francese"}, "game", "no regulation for campione/roulette-francese"),
        ({"house": "venezia", "game": "fair"}, "wheel", "played on a fair wheel"),
        ({**FAIR, "game": "roulette-francese"}, "wheel", "played on a french wheel"),
        ({**FAIR, "rotor_direction": None}, "rotor_direction", "one way only (A7)"),
        ({"rotor_direction": "cw"}, "rotor_direction", "leave this key out"),
        ({"rotor_ticks": 36}, "rotor_ticks", "37…4096"),
        ({"rotor_ticks": 4097}, "rotor_ticks", "37…4096"),
        ({"beams_deg": ()}, "beams_deg", "has 0 angles"),
        ({"beams_deg": tuple(range(33))}, "beams_deg", "has 33 angles"),
        ({"beams_deg": (0, 90, 360)}, "beams_deg", "less than 360"),
        ({"beams_deg": (-1, 90, 180)}, "beams_deg", "0 degrees or more"),
        ({"beams_deg": (0, float("nan"), 180)}, "beams_deg", "0 degrees or more"),
        ({"beams_deg": (0, 90, 90)}, "beams_deg", "are the same"),
        ({"beams_deg": (45,)}, "beams_deg", "the ball's direction"),
        ({"beams_deg": (0, 180)}, "beams_deg", "opposite"),
        ({"beams_deg": (10, 190 + 19)}, "beams_deg", "opposite"),
        ({"beams_deg": (300, 120 + 1)}, "beams_deg", "opposite"),
        ({"readers_deg": ()}, "readers_deg", "has 0 angles"),
        ({"readers_deg": tuple(range(17))}, "readers_deg", "has 17 angles"),
        ({"readers_deg": (400,)}, "readers_deg", "360"),
        ({"readers_deg": (30, 30)}, "readers_deg", "are the same"),
        ({"min_laps": 0}, "min_laps", "0 is not within 3…20 (Art. 10 asks 3 at least"),
        ({"min_laps": 2}, "min_laps", "2 is not within 3…20 (Art. 10 asks 3 at least"),
        ({"min_laps": 21}, "min_laps", "3…20"),
        ({**FAIR, "min_laps": 2}, "min_laps", "(R2 asks 3 at least"),
        ({"sightings_to_call": 0}, "sightings_to_call", "1…20"),
        ({"sightings_to_call": 21}, "sightings_to_call", "1…20"),
        ({"strays_tolerated": 0}, "strays_tolerated", "1…3"),
        ({"strays_tolerated": 4}, "strays_tolerated", "1…3"),
        ({"last_number": 37}, "last_number", "0…36"),
        ({"last_number": -1}, "last_number", "0…36"),
        ({"auto_rien_ne_va_plus_rev_s": 0.29}, "auto_rien_ne_va_plus_rev_s", "0.3…3"),
        ({"auto_rien_ne_va_plus_rev_s": 3.1}, "auto_rien_ne_va_plus_rev_s", "0.3…3"),
    ],
)
def test_each_problem_names_its_key_and_what_to_do(changes: dict[str, Any], key: str, expected: str) -> None:
    problems = with_(**changes).check()
    assert [found for found, problem in problems if expected in ENGLISH.say_text(problem)] == [key], problems


def test_all_problems_are_reported_at_once() -> None:
    keys = [key for key, _ in with_(site="X", min_laps=0, last_number=99, beams_deg=(0,)).check()]
    assert keys == ["site", "beams_deg", "min_laps", "last_number"]


def test_a_logs_header_gives_its_setting() -> None:
    header = msgspec.json.decode(
        b'{"kind":"wheel","format":1,"table":"campione-03","house":"venezia","game":"fair","wheel":"fair",'
        b'"rotor_direction":"ccw","rotor_ticks":148,"beams_deg":[0,90,180,270],"readers_deg":[30,150,270],'
        b'"min_laps":4,"started":"2026-11-20T18:00:00Z","last_number":17}',
        type=Header,
    )
    setting = from_header(header)
    assert setting.check() == []
    assert (setting.table, setting.house, setting.game, setting.wheel) == ("campione-03", "venezia", "fair", "fair")
    assert (setting.rotor_ticks, setting.rotor_direction) == (148, "ccw")
    assert (setting.beams_deg, setting.readers_deg) == ((0, 90, 180, 270), (30, 150, 270))
    assert (setting.min_laps, setting.sightings_to_call, setting.last_number) == (4, 3, 17)
    assert setting.auto_rien_ne_va_plus_rev_s is None
    assert setting.table_language == "it"


def test_every_setting_has_its_key_or_follows_from_others() -> None:
    keys = config_keys()
    fields = {field.name: field for field in structs.fields(TableSetting)}
    assert set(fields) - set(keys) == {"wheel", "head", "levels"}
    places = [(key.section, key.name) for key in keys.values()]
    assert len(set(places)) == len(places)
    assert {section for section, _ in places} == {"table", "wheel"}


def test_what_people_read_of_a_setting() -> None:
    assert [ENGLISH.say_text(row) for row in rows_of(with_(last_number=None))] == ["a coup needs 3 proven laps"]
    rows = rows_of(with_(last_number=0, auto_rien_ne_va_plus_rev_s=0.8))
    assert [ENGLISH.say_text(row) for row in rows] == [
        "a coup needs 3 proven laps",
        "last number: 0, for a journal that is still empty",
        "rien ne va plus: announced automatically when the ball slows to 0.8 laps a second",
    ]


@pytest.mark.parametrize("setting", [FRENCH, MERCURY, with_(site="log", auto_rien_ne_va_plus_rev_s=0.5)])
def test_a_header_has_the_whole_setting(setting: TableSetting) -> None:
    """A figure without a default always stands in it, the others when they are not the default."""
    table, _ = Table.start(setting, boot_id="b", started_utc_us=0)
    line = msgspec.json.encode(table.header())
    assert {"kind", "format", "started", "rotor_ticks", "beams_deg", "readers_deg", "min_laps"} < set(
        msgspec.json.decode(line)
    )
    assert from_header(msgspec.json.decode(line, type=Header)) == setting


def test_beams_of_four_or_more_bear_two_strays_where_the_file_does_not_say() -> None:
    for beams_deg, strays in (((0, 100), 1), ((0, 120, 240), 1), ((0, 90, 180, 270), 2)):
        assert with_(beams_deg=beams_deg).strays == strays
        assert with_(beams_deg=beams_deg, strays_tolerated=3).strays == 3


def test_a_head_counts_its_laps_itself() -> None:
    problems = msgspec.structs.replace(MERCURY, strays_tolerated=1).check()
    assert problems == [("strays_tolerated", Text("needs beams: the head counts the laps itself; leave this key out"))]
