"""What each set of sensors can prove, row by row of docs/rulebook.md."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.evening import FRENCH
from tests.core.head_evening import CHEF, COMBINED, MERCURY, SLINGSHOT
from wheeld.cli.provable import provable
from wheeld.core.catalogue import Catalogue, Text
from wheeld.core.setting import TableSetting

ENCODED = msgspec.structs.replace(COMBINED, rotor="sensors", rotor_ticks=148)
ENCODED_MERCURY = msgspec.structs.replace(MERCURY, rotor="sensors", rotor_ticks=148)
ENGLISH = Catalogue("en")
ALL = (FRENCH, MERCURY, SLINGSHOT, CHEF, COMBINED, ENCODED, ENCODED_MERCURY)


def by(setting: TableSetting, row: str) -> list[str | None]:
    return [None if one.by is None else ENGLISH.say_text(one.by) for one in provable(setting) if one.row == row]


@pytest.mark.parametrize("setting", ALL)
def test_every_row_of_a_valid_and_of_a_void_coup_is_there(setting: TableSetting) -> None:
    assert setting.check() == []
    rows = provable(setting)
    named = [*(f"R{n}" for n in range(1, 5)), *(f"N{n}" for n in range(1, 9)), "A1", "A1", "A7", "3"]
    assert [row.row for row in rows] == named
    assert all(ENGLISH.say_text(row.what) and row.by != Text("") for row in rows)


@pytest.mark.parametrize("setting", ALL)
def test_which_of_r1_and_r2_nothing_proves_is_what_the_setting_lacks(setting: TableSetting) -> None:
    nothing = tuple(row.row for row in provable(setting) if row.row in ("R1", "R2") and row.by is None)
    assert nothing == setting.lacks == (("R2",) if setting in (SLINGSHOT, CHEF) else ())


def test_who_proves_laps_and_directions() -> None:
    assert by(FRENCH, "R1") == ["the beams and the encoder"]
    assert by(MERCURY, "R1") == ["the Mercury 360"]
    assert by(ENCODED_MERCURY, "R1") == ["the Mercury 360 and the encoder"]
    assert by(COMBINED, "R1") == ["the beams and the SlingShot 2"]
    assert by(SLINGSHOT, "R1") == ["the SlingShot 2's own report"]
    assert by(MERCURY, "R2") == ["the Mercury 360's own count"]
    assert by(COMBINED, "R2") == ["the beams"]
    assert by(MERCURY, "N3") == ["the Mercury 360's own count; reported with the number, before anybody is paid"]
    assert by(SLINGSHOT, "N3") == [None]


def test_no_head_can_report_where_the_ball_lies_after_a_void() -> None:
    assert by(FRENCH, "3") == ["the readers and the encoder"]
    assert [by(setting, "3") for setting in (MERCURY, COMBINED)] == [[None], [None]]
    assert by(MERCURY, "N6") == [None]
    assert by(COMBINED, "N6") == ["an object sensor, if the wheel has one"]
    slowed = msgspec.structs.replace(FRENCH, auto_rien_ne_va_plus_rev_s=0.8)
    assert "the beams, or the chef's word" in by(slowed, "A1")
