"""Instants: whole microseconds, from the sensing clock to UTC and to text, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheeld.core.instants import ClockState, from_text, to_text
from wheeld.core.observations import ClockReading

YEAR_2100_US = 4_102_444_800_000_000


def test_the_text_of_interfaces() -> None:
    assert to_text(1_795_197_614_553_061) == "2026-11-20T18:00:14.553061Z"
    assert to_text(0) == "1970-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("text", "utc_us"),
    [
        ("2026-11-20T18:00:00Z", 1_795_197_600_000_000),
        ("2026-11-20T19:00:00+01:00", 1_795_197_600_000_000),
        ("2026-11-20T18:00:00.000001Z", 1_795_197_600_000_001),
    ],
)
def test_an_instant_names_its_offset(text: str, utc_us: int) -> None:
    assert from_text(text) == utc_us


@pytest.mark.parametrize("text", ["2026-11-20T18:00:00", "", "yesterday", "2026-13-01T00:00:00Z"])
def test_what_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"offset|Invalid isoformat|month"):
        from_text(text)


@given(st.integers(0, YEAR_2100_US))
def test_no_microsecond_is_lost_in_text(utc_us: int) -> None:
    assert from_text(to_text(utc_us)) == utc_us


def test_the_sensing_clock_is_dated_from_its_latest_reading() -> None:
    clock = ClockState(utc_us=1_000)
    assert clock.utc_at_us(500) == 1_500
    clock.read(ClockReading(10_000_000, 77_000_000, 12, 0))
    assert clock.utc_at_us(10_000_000) == 77_000_000
    assert clock.utc_at_us(9_999_999) == 76_999_999
    assert clock.error_us == 12


@pytest.mark.parametrize(("rate_ppb", "after_us"), [(100_000, 1_000_100), (-100_000, 999_900)])
def test_a_clock_that_runs_slow_or_fast_is_corrected_by_its_rate(rate_ppb: int, after_us: int) -> None:
    """A second of the sensing clock is 1 + rate real ones."""
    clock = ClockState()
    clock.read(ClockReading(0, 0, 0, rate_ppb))
    assert clock.utc_at_us(1_000_000) == after_us
