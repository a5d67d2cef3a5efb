"""Detects standstills of the daemon: its event loop gives regular beats, and after a standstill a beat is late.

No clock is read in this module. Each beat contains the readings of the clocks. For the daemon, a stopped process, an
overloaded host and a suspended host look the same: the next beat is late. While the host is suspended, Linux's
monotonic clock does not count, but CLOCK_BOOTTIME does. So the difference between the two grows by that time.
"""

from __future__ import annotations

import msgspec

BEAT_S = 0.1
"""The interval of the beats. A standstill can seem to begin earlier by this much: far less than a person needs to
speak."""
LATE_NS = 250_000_000
"""A beat that is later than this shows a standstill. People's words may be dated too late by at most this, which is the
time a person needs to react. On a busy computer beats are late by a few hundredths of a second."""
ASLEEP_NS = 10_000_000
"""Two clocks read one after the other differ by less than this, unless the host was suspended in between."""
STEP_US = 100_000
"""A time server corrects the host's clock by microseconds in each second. A larger change than this is a step, made by
a person, or by a server that was not reachable for a long time."""


class Moment(msgspec.Struct, frozen=True):
    """The clocks at one beat: the host's monotonic clock, how long the host was suspended since its start, its UTC, and
    the estimate of the sensing clock."""

    host_ns: int
    asleep_ns: int
    utc_us: int
    t_us: int


class BeatGap(msgspec.Struct, frozen=True):
    """The time between two beats, such as the last one before a standstill and the first one after it."""

    since: Moment
    until: Moment

    @property
    def slept_us(self) -> int:
        """How long the host was suspended between the beats, or 0. The sensors were not observed during that time."""
        slept_ns = self.until.asleep_ns - self.since.asleep_ns
        return slept_ns // 1_000 if slept_ns > ASLEEP_NS else 0

    @property
    def real_us(self) -> int:
        """How long the gap lasted, in real time."""
        return (self.until.host_ns - self.since.host_ns) // 1_000 + self.slept_us

    @property
    def is_late(self) -> bool:
        """Whether the second beat was late."""
        return self.slept_us > 0 or self.until.host_ns - self.since.host_ns > LATE_NS

    @property
    def stepped_us(self) -> int:
        """By how much UTC was set forward between the beats, negative for backward. 0 if it was not set."""
        off_us = self.until.utc_us - self.since.utc_us - self.real_us
        return off_us if abs(off_us) > STEP_US else 0


class LoopBeats:
    """The beats of one event loop. `last` is None before the first beat."""

    def __init__(self) -> None:
        self.last: Moment | None = None

    def is_due(self, host_ns: int) -> bool:
        """Return whether half an interval has passed since the last beat. False before the first beat. Observations and
        commands give beats too. Then the timer need not wake the computer for a beat."""
        return self.last is not None and self.wait_s(host_ns) <= BEAT_S / 2

    def wait_s(self, host_ns: int) -> float:
        """Return how long it is until a whole interval has passed since the last beat."""
        return BEAT_S if self.last is None else BEAT_S - (host_ns - self.last.host_ns) / 1e9

    def beat(self, now: Moment) -> BeatGap | None:
        """Take a beat. Return the time since the beat before, None for the first beat."""
        before, self.last = self.last, now
        return None if before is None else BeatGap(before, now)
