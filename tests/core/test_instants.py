"""Instants: whole microseconds, from the sensing clock to UTC and to text, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheeld.core.instants import AHEAD_US_MAX, ClockState, from_text, to_text
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
    clock.read(ClockReading(10_000_000, 77_000_000, 12, 0), told_us=0)
    assert clock.utc_at_us(10_000_000) == 77_000_000
    assert clock.utc_at_us(9_999_999) == 76_999_999


@pytest.mark.parametrize(("rate_ppb", "after_us"), [(100_000, 1_000_100), (-100_000, 999_900)])
def test_a_clock_that_runs_slow_or_fast_is_corrected_by_its_rate(rate_ppb: int, after_us: int) -> None:
    """A second of the sensing clock is 1 + rate real ones."""
    clock = ClockState()
    clock.read(ClockReading(0, 0, 0, rate_ppb), told_us=0)
    assert clock.utc_at_us(1_000_000) == after_us


@given(
    st.lists(
        st.tuples(
            st.integers(1, 2_000_000), st.integers(-4_000_000, 4_000_000), st.integers(-900_000_000, 4_000_000_000)
        ),
        max_size=12,
    ),
    st.integers(1, 5),
)
def test_dates_that_were_given_out_never_run_back(readings: list[tuple[int, int, int]], messages: int) -> None:
    """Each reading may show that the dates so far ran ahead by some seconds, and that the clock runs at another
    rate; between two of them messages are dated."""
    clock, told_us, t_us = ClockState(utc_us=10**15), 0, 0
    for passed_us, off_us, rate_ppb in readings:
        for part in range(messages):
            at_us = clock.utc_at_us(t_us + passed_us * part // messages)
            assert at_us >= told_us
            told_us = at_us
        t_us += passed_us
        true_us = clock.utc_at_us(t_us) - clock.ahead_us + off_us
        clock.read(ClockReading(t_us, true_us, 0, rate_ppb), told_us=told_us)
        assert clock.utc_at_us(t_us) == max(true_us, told_us)


def test_dates_that_ran_ahead_go_on_at_half_the_speed() -> None:
    clock = ClockState(utc_us=10**15)
    clock.read(ClockReading(0, 10**15 - 4_000_000, 0), told_us=10**15)
    assert [clock.utc_at_us(second * 1_000_000) - 10**15 for second in (0, 2, 8, 9)] == [
        0,
        1_000_000,
        4_000_000,
        5_000_000,
    ]


def test_of_what_nobody_was_told_nothing_is_kept() -> None:
    """The sensing clock ran ahead between two readings, and no message was dated in that time."""
    clock = ClockState(utc_us=10**15)
    clock.read(ClockReading(5_000_000, 10**15 + 1_000_000, 0), told_us=10**15)
    assert clock.utc_at_us(5_000_000) == 10**15 + 1_000_000


@pytest.mark.parametrize(("ahead_us", "kept_us"), [(AHEAD_US_MAX, AHEAD_US_MAX), (AHEAD_US_MAX + 1, 0)])
def test_a_clock_that_was_wrong_by_more_than_a_minute_is_followed_at_once(ahead_us: int, kept_us: int) -> None:
    assert ClockState.starting(10**15, told_us=10**15 + ahead_us).ahead_us == kept_us


def test_what_is_decided_in_a_standstill_is_published_after_it() -> None:
    clock = ClockState()
    clock.stood_us = 10, 20
    assert [clock.published_us(t_us) for t_us in (9, 10, 15, 20, 21)] == [9, 20, 20, 20, 21]
