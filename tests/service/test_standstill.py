"""A late beat is a standstill; what the clocks did in it says which."""

from __future__ import annotations

import time

import pytest

from wheeld.ports import READ_NS_TIGHT, read_together
from wheeld.service.host_clock import SystemClock
from wheeld.service.standstill import ASLEEP_NS, BEAT_S, LATE_NS, STEP_US, BeatGap, LoopBeats, Moment

SECOND_NS = 1_000_000_000
START = Moment(5 * SECOND_NS, 7, 10**15, 100)


def after(host_ns: int, *, asleep_ns: int = 0, stepped_us: int = 0) -> Moment:
    """The clocks so much later."""
    utc_us = START.utc_us + (host_ns + asleep_ns) // 1_000 + stepped_us
    return Moment(START.host_ns + host_ns, START.asleep_ns + asleep_ns, utc_us, START.t_us + host_ns // 1_000)


def test_before_the_first_beat_nothing_is_known() -> None:
    pulse = LoopBeats()
    assert not pulse.is_due(10**18)
    assert pulse.beat(START) is None
    assert not pulse.is_due(START.host_ns + round(BEAT_S / 2 * 1e9) - 1000)
    assert pulse.is_due(START.host_ns + round(BEAT_S / 2 * 1e9))
    assert pulse.beat(after(SECOND_NS)) == BeatGap(START, after(SECOND_NS))


@pytest.mark.parametrize(("host_ns", "is_late"), [(LATE_NS, False), (LATE_NS + 1, True), (7 * SECOND_NS, True)])
def test_a_late_beat_was_kept_back(host_ns: int, *, is_late: bool) -> None:
    gap = BeatGap(START, after(host_ns))
    assert (gap.is_late, gap.slept_us, gap.stepped_us) == (is_late, 0, 0)
    assert gap.real_us == host_ns // 1_000


@pytest.mark.parametrize(("asleep_ns", "slept_us"), [(ASLEEP_NS, 0), (ASLEEP_NS + 1_000, (ASLEEP_NS + 1_000) // 1_000)])
def test_a_host_that_was_suspended_is_late_though_its_clock_stood(asleep_ns: int, slept_us: int) -> None:
    gap = BeatGap(START, after(SECOND_NS // 20, asleep_ns=asleep_ns))
    assert (gap.slept_us, gap.is_late, gap.stepped_us) == (slept_us, slept_us > 0, 0)


@pytest.mark.parametrize(
    ("stepped_us", "found_us"), [(STEP_US, 0), (STEP_US + 1, STEP_US + 1), (-3 * 10**6, -3 * 10**6)]
)
def test_utc_was_set_when_it_moved_otherwise_than_time(stepped_us: int, found_us: int) -> None:
    assert BeatGap(START, after(SECOND_NS, stepped_us=stepped_us)).stepped_us == found_us
    assert BeatGap(START, after(SECOND_NS, asleep_ns=3600 * SECOND_NS, stepped_us=stepped_us)).stepped_us == found_us


class Interrupted:
    """Clocks of a busy computer: each reading takes 1 µs, and those named are interrupted for 200 ms before they are
    made."""

    def __init__(self, *interrupted: int) -> None:
        self.now_ns, self._readings, self._interrupted = SECOND_NS, 0, interrupted

    def read_ns(self, *_: int) -> int:
        self._readings += 1
        self.now_ns += 200_000_000 if self._readings in self._interrupted else 1_000
        return self.now_ns


@pytest.mark.parametrize("interrupted", [(), (1,), (2,), (3,), (2, 5, 9), (1, 2, 3, 4, 5, 6)])
def test_an_interruption_between_two_clocks_is_no_difference_of_theirs(interrupted: tuple[int, ...]) -> None:
    clock = Interrupted(*interrupted)
    host_ns, other_ns, took_ns = read_together(clock.read_ns, clock.read_ns)
    assert (other_ns - host_ns, took_ns) == (1_000, 2_000)


def test_of_readings_that_are_all_interrupted_the_tightest_counts_and_they_end() -> None:
    clock = Interrupted(*range(2, 30, 3), *range(29, 200))
    host_ns, other_ns, took_ns = read_together(clock.read_ns, clock.read_ns)
    assert (other_ns - host_ns, took_ns) == (200_000_000, 200_001_000)


@pytest.mark.parametrize("interrupted", range(1, 7))
def test_a_busy_computer_was_not_suspended(monkeypatch: pytest.MonkeyPatch, interrupted: int) -> None:
    clock = Interrupted(interrupted)
    monkeypatch.setattr(time, "monotonic_ns", clock.read_ns)
    monkeypatch.setattr(time, "clock_gettime_ns", clock.read_ns)
    system = SystemClock()
    asleep_ns = system.asleep_ns()
    assert abs(system.asleep_ns() - asleep_ns) < ASLEEP_NS


def test_the_host_knows_how_long_it_was_suspended() -> None:
    clock = SystemClock()
    asleep_ns = clock.asleep_ns()
    assert asleep_ns >= -READ_NS_TIGHT
    assert abs(clock.asleep_ns() - asleep_ns) <= 2 * READ_NS_TIGHT
