"""A made-up kind of sensor: the edges and the log take it by what its structure declares, and need no line for it."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest

from tests.core.evening import FRENCH
from wheeld.cli.drawing import draw
from wheeld.core.names import sensor_text
from wheeld.core.observations import SENSOR_KINDS, Sensed, SensorKind, SensorState
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.sight import objection
from wheeld.doctor.signals import Signals
from wheeld.monitor.lines import marks
from wheeld.replay import CheckError, check_line
from wheeld.sources.chatter import PULSES, ChatterFilter


class Cover(Sensed, frozen=True, tag="cover"):
    """Cover number `cover` of the bowl is on, or off."""

    cover: int
    on: bool
    named: ClassVar[str] = "cover/{0.cover}"

    @property
    def stands(self) -> bool:
        """Whether it is on."""
        return self.on


class Covered(TableSetting, frozen=True, kw_only=True):
    """A wheel with two covers."""

    @property
    def sensors(self) -> tuple[str, ...]:
        """The covers besides."""
        return (*super().sensors, "cover/0", "cover/1")


ON: Any = Cover(1_000_000, 1, on=True)
TABLE = msgspec.convert(FRENCH, Covered, from_attributes=True)


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENSOR_KINDS, "cover", SensorKind("the covers", "cover {number}", may_be_left_out=True))


def test_a_log_holds_it_for_a_table_that_has_it() -> None:
    check_line(ON, TABLE, last_us=0)
    for table, cover in ((FRENCH, 1), (TABLE, 2)):
        with pytest.raises(CheckError, match=f"sensor 'cover/{cover}': the header has"):
            check_line(msgspec.structs.replace(ON, cover=cover), table, last_us=0)


def test_people_read_its_name_and_play_goes_on_without_it() -> None:
    assert sensor_text("cover/1").parts == {"number": 2}
    assert objection(TABLE, ["cover/1"]) is None


def test_one_that_chatters_fails_and_tells_how_it_stands_when_it_is_quiet() -> None:
    chatter = ChatterFilter("test")
    reports: list[Any] = [Cover(number * 1000, 1, on=number % 2 == 1) for number in range(PULSES)]
    told = [seen for report in reports for seen in chatter.take(report)]
    assert [seen for seen in told if isinstance(seen, SensorState)] == [told[-1]]
    again = [*chatter.calmed(20_000_000)]
    assert again == [Cover(20_000_000, 1, on=True), SensorState(20_000_000, "cover/1", ok=True)]


def test_monitor_doctor_and_drawings_show_it() -> None:
    signals = Signals(FRENCH.rotor_ticks, FRENCH.profile.pockets)
    signals.take(ON)
    assert signals.active == {"cover/1"}
    assert [*marks([ON])] == [(1_000_000, "cover", 1)]
    assert next(draw([ON], 0, 2_000_000)).split() == ["cover", "2", "#"]
