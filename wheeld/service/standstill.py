"""How the daemon knows that it stood still: its event loop beats, and a beat that comes late was kept back.

No clock is read here: each beat brings what the clocks showed. A process that is stopped, a host that is starved and
one that was suspended all look the same from inside: the next beat is late. Linux's monotonic clock does not count the
time in which the host was suspended; CLOCK_BOOTTIME does, and the difference between the two grows by it.
"""

from __future__ import annotations

import msgspec

BEAT_S = 0.05
"""So much earlier than it really began a standstill can seem to begin: far less than a person needs to speak."""
LATE_NS = 250_000_000
"""A beat that comes later than this was kept back. People's words may be dated too late by as much at most, which is
how long a person takes to react. A busy computer keeps beats back by some hundredths."""
ASLEEP_NS = 10_000_000
"""Two readings of the clocks, one after the other, differ by less, unless the host was suspended in between."""
STEP_US = 100_000
"""A time server that keeps the host's clock right moves it by microseconds a second. More than this at once is a step,
by a server that was long away, or by hand."""


class Moment(msgspec.Struct, frozen=True):
    """What the clocks showed at one beat: the host's monotonic clock, how long the host has been suspended since it
    started, its UTC, and the estimate of the sensing clock."""

    host_ns: int
    asleep_ns: int
    utc_us: int
    t_us: int


class BeatGap(msgspec.Struct, frozen=True):
    """From the last beat before a standstill to the first one after it."""

    since: Moment
    until: Moment

    @property
    def slept_us(self) -> int:
        """For how long the host was suspended in it: then even the sensors were not observed. 0 when it was not."""
        slept_ns = self.until.asleep_ns - self.since.asleep_ns
        return slept_ns // 1_000 if slept_ns > ASLEEP_NS else 0

    @property
    def real_us(self) -> int:
        """How long it lasted, in real time."""
        return (self.until.host_ns - self.since.host_ns) // 1_000 + self.slept_us

    @property
    def is_late(self) -> bool:
        """Whether the second beat was kept back."""
        return self.slept_us > 0 or self.until.host_ns - self.since.host_ns > LATE_NS

    @property
    def stepped_us(self) -> int:
        """By how much UTC was set forward in it, backward when negative; 0 when it was not set."""
        off_us = self.until.utc_us - self.since.utc_us - self.real_us
        return off_us if abs(off_us) > STEP_US else 0


class LoopBeats:
    """The beats of one event loop; nothing is known before the first."""

    def __init__(self) -> None:
        self.last: Moment | None = None

    def is_due(self, host_ns: int) -> bool:
        """Whether the last beat lies a whole interval back; never before the first."""
        return self.last is not None and host_ns - self.last.host_ns >= BEAT_S * 1e9

    def beat(self, now: Moment) -> BeatGap | None:
        """Take a beat; returns the time since the one before, None for the first."""
        before, self.last = self.last, now
        return None if before is None else BeatGap(before, now)
