"""Converts board times to host time and UTC, each with its largest possible error.

Three clocks are used here. The *board's* clock counts microseconds with its own crystal (`board_us`). The *host's*
monotonic clock counts nanoseconds (`host_ns`). *UTC* is the time of day on the host's clock (`utc_us`).

A sync sample is one time request and its answer. The host asks at `host_sent_ns`. The board receives the request at
`board_rx_us` and answers at `board_tx_us`. The host receives the answer at `host_received_ns`. Only the sum of the two
delays is known. So a sample shows only that the board's clock had its reading at some moment between two host times.
The sample is stored as an interval of the *offset* (`host_ns - 1000 * board_us`), as wide as the round trip. As the
sample gets older, the interval gets wider by the allowed drift. The true offset lies in all intervals. So one quick and
fresh sample is worth more than many slow ones. The stated error is at most half the best round trip, plus the allowed
drift since then. This error is right as long as the clock does not drift more than allowed.

If the interval of a new sample does not overlap the interval of an older one, one of the clocks is wrong. The clock has
stepped if the previous sample differs by more than any oscillator can drift. Otherwise the clock drifts more than
allowed. If a later sample has an earlier reading, the board's clock ran backwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from firmware_protocol.host import SyncSample
from wheeld.core.observations import ClockReading

SyncVerdict: TypeAlias = Literal["ok", "refused", "back", "step", "drift"]

WINDOW_NS = 60_000_000_000
"""Samples older than this are dropped. If round trips take 2 ms, a minute gives the rate with an error of about 30
ppm."""
SAMPLES_MAX = 128
"""One sample a second uses half of this limit. The rest is for the quick samples after a reset."""
BOARD_TICK_NS = 1_000
"""A reading of the board is a whole microsecond, and how it is rounded is not known."""
OSCILLATOR_PPM_MAX = 10_000
"""An oscillator without a crystal is wrong by at most one percent. A clock that differs by more has stepped."""
READING_INTERVAL_NS = 900_000_000
"""The interval of clock readings: about one second, like the interval of samples."""
RATE_PPB_MIN = -999_000_000
"""This limit is just above the rate of a clock that stands still. It matters only if much drift is allowed: a simulated
board may run many times faster than real time."""


class HostTime(msgspec.Struct, frozen=True):
    """A host time, `host_ns` ± `error_ns`. A second of the board's clock then lasts `1 + rate_ppb / 1e9` s on the
    host's clock."""

    host_ns: int
    error_ns: int
    rate_ppb: int


class UtcPair(msgspec.Struct, frozen=True):
    """The host's two clocks, read together: at the host time `host_ns` its UTC was `utc_us` ± `error_us`.

    `error_us` is the error of the reading. The error of the host's UTC itself is not known here.
    """

    host_ns: int
    utc_us: int
    error_us: int


class _Bound(NamedTuple):
    """The offset lay between `low_ns` and `high_ns` when the board read `board_us`, soon after `host_ns`."""

    host_ns: int
    board_us: int
    low_ns: int
    high_ns: int

    @property
    def middle_ns(self) -> int:
        return (self.low_ns + self.high_ns) // 2

    @property
    def width_ns(self) -> int:
        return self.high_ns - self.low_ns


def _slope_ppb(older: Sequence[_Bound], newer: Sequence[_Bound], limit_ppb: int) -> int | None:
    """Return how fast the offset grows from the narrowest of the `older` bounds to the narrowest of the `newer` ones.
    None if the error of the result may exceed `limit_ppb`."""
    old, new = (min(bounds, key=lambda bound: bound.width_ns) for bounds in (older, newer))
    span_us = new.board_us - old.board_us
    if (old.width_ns + new.width_ns) * 500_000 >= span_us * limit_ppb:
        return None
    return (new.middle_ns - old.middle_ns) * 1_000_000 // span_us


class BoardClock:
    """What sync samples prove about the board's clock during one boot. After a reset a new `BoardClock` is needed."""

    def __init__(self, drift_ppm_max: int) -> None:
        """`drift_ppm_max`: how much faster or slower than the host's clock the board's clock may run."""
        self._drift_ppm_max = drift_ppm_max
        self._bounds: deque[_Bound] = deque()
        self._seen: deque[_Bound] = deque(maxlen=SAMPLES_MAX)
        """The latest samples, even if they contradict each other by more than the allowed drift."""
        self._at_last: HostTime | None = None
        """The host time of the latest reading. It is stored because it is used many times between two samples."""

    @property
    def synced(self) -> bool:
        """Whether any sample has been accepted."""
        return bool(self._bounds)

    def add(self, sample: SyncSample) -> SyncVerdict:
        """Add a sample that is newer than all before. Returns `ok`, or what is wrong.

        `refused`: the sample is impossible. `back`: the board's clock ran backwards. In both cases the sample is not
        used. `step`, `drift`: the module explains them. Older samples that contradict the new one are dropped.
        """
        turnaround_us = sample.board_tx_us - sample.board_rx_us
        if turnaround_us < 0:
            return "refused"
        low_ns = sample.host_sent_ns - sample.board_rx_us * 1_000 - BOARD_TICK_NS
        high_ns = sample.host_received_ns - sample.board_tx_us * 1_000 + BOARD_TICK_NS
        high_ns += self._allowance_ns(turnaround_us)
        if low_ns > high_ns:  # no delay can explain the sample
            return "refused"
        bound = _Bound(sample.host_sent_ns, sample.board_rx_us, low_ns, high_ns)
        if self._bounds and bound.board_us < self._bounds[-1].board_us:
            return "back"
        verdict: SyncVerdict = "ok"
        worst_ppm = max(self._drift_ppm_max, OSCILLATOR_PPM_MAX)
        if self._bounds and not self._agree(self._bounds[-1], bound, worst_ppm):
            verdict = "step"
            self._bounds.clear()
            self._seen.clear()
        elif wrong := [index for index, each in enumerate(self._bounds) if not self._agree(each, bound)]:
            verdict = "drift"
            for _ in range(wrong[-1] + 1):
                self._bounds.popleft()
        oldest_ns = bound.host_ns - WINDOW_NS
        while self._bounds and (len(self._bounds) >= SAMPLES_MAX or self._bounds[0].host_ns < oldest_ns):
            self._bounds.popleft()
        self._bounds.append(bound)
        self._seen.append(bound)
        self._at_last = self.host_time(bound.board_us)
        return verdict

    def host_time(self, board_us: int) -> HostTime | None:
        """Return the host time at which the board's clock read `board_us`. None before the first sample."""
        if not self._bounds:
            return None
        last = self._bounds[-1]
        # The rate is the slope between the oldest and the newest third. If the slope is too uncertain, the rate counts
        # as 0.
        bounds, third, limit_ppb = list(self._bounds), len(self._bounds) // 3, self._drift_ppm_max * 1_000
        slope_ppb = _slope_ppb(bounds[:third], bounds[-third:], limit_ppb) if third else None
        rate_ppb = 0 if slope_ppb is None else min(max(slope_ppb, -limit_ppb, RATE_PPB_MIN), limit_ppb)
        low_ns, high_ns = self._offset_at(board_us)
        guess_ns = sum(self._offset_at(last.board_us)) // 2 + rate_ppb * (board_us - last.board_us) // 1_000_000
        offset_ns = min(max(guess_ns, low_ns), high_ns)
        error_ns = max(high_ns - offset_ns, offset_ns - low_ns) + BOARD_TICK_NS
        return HostTime(offset_ns + board_us * 1_000, error_ns, rate_ppb)

    @property
    def measured_ppb(self) -> int | None:
        """How much slower than the host's clock the board's clock runs, in billionths. This may exceed the allowed
        drift. None while the error of this rate may exceed the allowed drift."""
        if len(self._seen) < 2:
            return None
        seen, half = list(self._seen), len(self._seen) // 2
        return _slope_ppb(seen[:half], seen[half:], self._drift_ppm_max * 1_000)

    def board_us(self, host_ns: int) -> int | None:
        """Return the best estimate of the board's clock at `host_ns`. None before the first sample."""
        at_last = self._at_last
        if at_last is None:
            return None
        last_us = self._bounds[-1].board_us
        since_us = (host_ns - at_last.host_ns) // 1_000
        return last_us + since_us * 1_000_000_000 // (1_000_000_000 + at_last.rate_ppb)

    def _allowance_ns(self, span_us: int, drift_ppm: int | None = None) -> int:
        return abs(span_us) * (drift_ppm or self._drift_ppm_max) // 1_000 + 1

    def _offset_at(self, board_us: int) -> tuple[int, int]:
        """Return the interval of the offset on which all bounds agree, each widened by its age."""
        widened = [(bound, self._allowance_ns(board_us - bound.board_us)) for bound in self._bounds]
        return (
            max(bound.low_ns - allowance_ns for bound, allowance_ns in widened),
            min(bound.high_ns + allowance_ns for bound, allowance_ns in widened),
        )

    def _agree(self, older: _Bound, newer: _Bound, drift_ppm: int | None = None) -> bool:
        allowance_ns = self._allowance_ns(newer.board_us - older.board_us, drift_ppm)
        return newer.low_ns <= older.high_ns + allowance_ns and older.low_ns - allowance_ns <= newer.high_ns


def clock_reading(t_us: int, at: HostTime, pair: UtcPair) -> ClockReading:
    """Return UTC at sensing time `t_us`, which was `at` on the host's clock."""
    return ClockReading(
        t_us=t_us,
        utc_us=pair.utc_us + (at.host_ns - pair.host_ns) // 1_000,
        error_us=-(-at.error_ns // 1_000) + pair.error_us + 1,
        rate_ppb=at.rate_ppb,
    )
