"""Converts the edges of pins to observations on the sensing clock: the host's monotonic clock since the daemon's start.

This module does not wait and has no thread: `GpioFeed` calls `look` every 10 ms. Edges are processed in the order of
their dates, a little later than they come (`SETTLE_NS`), because edges of different pins may arrive out of order. An
edge that comes even later no longer counts. Then something was not observed. This is a fault of the `link`. It is the
same fault if an edge was lost on its way, is missing in the count of its pin, or is missing between two edges to the
same level. `line_state` decides when such a fault is over. At the start, and when a fault is over, the level of each
line is read and reported.

Each look returns the observations up to the earliest horizon of all sensors (see `debounce`), and `TimePassed` up to
the same time. After a stall of the host no edge is processed until all edges from the stall had time to arrive. So a
host that stalls often reports late. If the reports are too late for too long, this is also a fault of the `link`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator

from firmware_protocol.host import Position
from wheeld.core.facts import Trouble
from wheeld.core.observations import Observation, TimePassed
from wheeld.core.pockets import PocketLayout
from wheeld.ports import Edge, Pins
from wheeld.sources.clock import READING_INTERVAL_NS, HostTime, UtcPair, clock_reading
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.gpio.wiring import Wiring
from wheeld.sources.sensing import WiredSensors

SETTLE_NS = 50_000_000
"""How long an edge may take from the interrupt to the callback. Usually it takes 1 ms. On a machine with four times its
possible load, 99 of 100 edges took less than 36 ms. This wait delays reports, but does not change dates."""
STALL_NS = 30_000_000
"""Looks come every 10 ms. If two looks were this far apart, the host stalled, or something blocked the interpreter."""
RECOVER_NS = 100_000_000
"""The edges of a stall of five seconds are read within this time: 500 edges/s, 20 µs for each."""
LAG_US_MAX = 1_000_000
"""If observations come late by more than this, and for longer than this, the wheel counts as not observed."""
READ_AT_ONCE_NS = 1_000_000
"""If pins date edges this accurately, the level is read in the interrupt. If not, a callback reads it. A bounce may be
over by then, so both of its edges read the same level, and this does not prove that an edge was lost."""
COUNTERS = ("edges", "host_stalls", "late_edges", "lost_edges")


class GpioSource(WiredSensors):
    """All pins that are wired to one wheel. Raises PinsError if a pin cannot be used."""

    def __init__(
        self, setting: GpioSetting, pins: Pins, *, pockets: PocketLayout, rotor_ticks: int, host_ns: int
    ) -> None:
        """`rotor_ticks`: how many sectors the encoder has in a turn. `host_ns`: the host time of `t_us` 0."""
        super().__init__("gpio")
        self._pins, self._start_ns = pins, host_ns
        self._looked_ns = self._safe_ns = host_ns
        self._stalls: list[tuple[int, int]] = []
        """For each stall whose edges may not have arrived yet: when it began, and when all its edges have arrived."""
        self._passed_us = 0
        self._behind_us: int | None = None
        """Since when observations have come too late. None if they come in time."""
        self._clock_read_ns: int | None = None
        self._waiting: list[tuple[int, int, Edge]] = []
        self._ready: list[tuple[int, int, Observation]] = []
        self._number = 0
        self._seqs: dict[int, int] = {}
        self._repeats = 0
        self._counts: Counter[str] = Counter()
        self._wiring = Wiring(setting, pins, self._us, pockets=pockets, rotor_ticks=rotor_ticks, host_ns=host_ns)
        self._keep(self._wiring.first)

    @property
    def keeps_times(self) -> bool:
        """Whether the kernel dates edges. If a callback dates them, a standstill delays their dates."""
        return self._pins.error_ns <= READ_AT_ONCE_NS

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether each sensor works, as far as this can be observed."""
        return {**self._wiring.health, **super().sensors}

    @property
    def pulse_widths_us(self) -> dict[str, tuple[int, int]]:
        """The widths of the narrowest and the widest pulse that counted, for each beam and reader with pulses."""
        return self._wiring.pulse_widths_us

    @property
    def counters(self) -> dict[str, int]:
        """The numbers of edges, stalls, faults and dropped reports since the start."""
        counts = {**self._counts, "chatter": self._chatter.dropped, "link_faults": self._line.fault_count}
        return {**dict.fromkeys(COUNTERS, 0), **counts, **self._wiring.counters}

    def now_us(self, host_ns: int) -> int:
        """Return the sensing time, never less than the newest observation."""
        return max(self._us(host_ns), self._passed_us)

    def clock_now(self, host_ns: int) -> HostTime:
        """Return the sensing clock, which is the host's. The error is the largest delay in the date of an edge."""
        return HostTime(host_ns, self._pins.error_ns, 0)

    def acknowledge(self, position: Position) -> None:
        """Never called: pins store nothing, so their batches have no position."""
        raise AssertionError(position)

    def look(self, host_ns: int, utc: UtcPair) -> list[Observation]:
        """Return the observations that are certain at `host_ns`, in order of time. `utc` was read at that moment."""
        taken = self._pins.take()
        lost = taken.lost
        for edge in taken.edges:
            self._counts["edges"] += 1
            self._number += 1
            heapq.heappush(self._waiting, (edge.at_ns, self._number, edge))
            if edge.seq is not None:  # its pin counts edges, which shows how many are missing before this one
                lost += edge.seq - self._seqs.get(edge.pin, 0) - 1
                self._seqs[edge.pin] = edge.seq
        # Drop edges that are older than those already processed.
        late = 0
        while self._waiting and self._waiting[0][0] < self._safe_ns:
            heapq.heappop(self._waiting)
            late += 1
        # Find the time up to which all edges have arrived. Edges from before the last look had time to arrive.
        looked_ns, self._looked_ns = self._looked_ns, host_ns
        self._stalls = [stall for stall in self._stalls if host_ns < stall[1]]
        if host_ns - looked_ns > STALL_NS:
            self._counts["host_stalls"] += 1
            self._stalls.append((looked_ns, host_ns + RECOVER_NS))
        arrived_ns = min((began_ns for began_ns, _ in self._stalls), default=looked_ns)
        self._safe_ns = max(self._safe_ns, arrived_ns - SETTLE_NS)
        while self._waiting and self._waiting[0][0] < self._safe_ns:
            self._keep(self._wiring.edge(heapq.heappop(self._waiting)[2]))
        self._keep(self._wiring.until(self._safe_ns))
        # No later observation can have a time before the horizon. So report what is older, and advance the time to it.
        horizon_us, seen = self._us(self._wiring.horizon_ns(self._safe_ns)), list[Observation]()
        while self._ready and self._ready[0][0] < horizon_us:
            one = heapq.heappop(self._ready)[2]
            seen += self._chatter.calmed(one.t_us)
            seen += self._chatter.take(one)
        seen += self._chatter.calmed(horizon_us)
        self._passed_us = max(self._passed_us, horizon_us)
        if lost or late:
            seen += self._wiring.forget(self._passed_us)
        # Two edges to the same level show that an edge was lost (the encoder reports this by itself).
        before, self._repeats = self._repeats, self._wiring.repeats
        repeated = self._repeats - before if self._pins.error_ns <= READ_AT_ONCE_NS else 0
        seen += self._link_state(lost + repeated, late, self._us(host_ns))
        if self._clock_read_ns is None or host_ns - self._clock_read_ns >= READING_INTERVAL_NS:
            self._clock_read_ns = host_ns
            at = HostTime(self._start_ns + self._passed_us * 1_000, self._pins.error_ns, 0)
            seen.append(clock_reading(self._passed_us, at, utc))
        seen.append(TimePassed(t_us=self._passed_us))
        return seen

    # --- edges --------------------------------------------------------------------------------------------------

    def _settled_level(self, pin: int) -> bool:
        """Return the level that a pin has after its processed edges: the level before the first edge of this pin that
        still waits."""
        coming = min((waiting for waiting in self._waiting if waiting[2].pin == pin), default=None)
        return self._pins.level(pin) if coming is None else not coming[2].level

    def _keep(self, seen: list[Observation]) -> None:
        for one in seen:
            self._number += 1
            heapq.heappush(self._ready, (one.t_us, self._number, one))

    # --- observations -------------------------------------------------------------------------------------------

    def _link_state(self, lost: int, late: int, now_us: int) -> Iterator[Observation]:
        """Report the state of the link. Lost edges are a fault of the link, and so are edges that come too late."""
        self._counts["lost_edges"] += lost
        self._counts["late_edges"] += late
        if lost:
            yield from self._line.happens(Trouble.EDGES_LOST, self._passed_us, now_us, edges=lost)
        if late:
            yield from self._line.happens(Trouble.EDGES_LATE, self._passed_us, now_us, edges=late)
        # Find out whether observations come too late for too long. A single stall ends before this limit.
        if now_us - self._passed_us <= LAG_US_MAX:
            self._behind_us = None
        elif self._behind_us is None:
            self._behind_us = now_us
        if self._behind_us is not None and now_us - self._behind_us > LAG_US_MAX:
            self._line.stands(Trouble.PINS_BEHIND)
        else:
            self._line.over(Trouble.PINS_BEHIND)
        was_up = self._line.is_up
        yield from self._line.report(self._passed_us, now_us)
        if self._line.is_up and not was_up:
            self._keep(self._wiring.stand(self._safe_ns, self._settled_level))

    def _us(self, at_ns: int) -> int:
        return (at_ns - self._start_ns) // 1_000
