"""Edges of GPIO pins become observations on the sensing clock: the host's monotonic clock since the daemon's start.

No waiting and no thread: `look` is called every few milliseconds. Edges are processed in the order of their dates, a
little later than they come (`SETTLE_NS`), because those of different pins may overtake each other. An edge that comes
even later cannot count any more, so something was not observed: a fault of the `link`. So is an edge that was lost on
its way, or that is missing from the count of its pin, or between two edges to the same level (`line_state` says when
such a fault is over). At the start, and when it is over, the level of each line is read and reported: how everything
stands.

Each look returns the observations up to the earliest horizon of all sensors (`debounce` says what that is), and
`TimePassed` up to there. What gathered while the host stalled is not processed until it has had time to arrive. A host
that stalls again and again reports late, and when that is too late for too long, it is a fault of the `link` too.
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
from wheeld.sources.chatter import ChatterFilter, DoorSeen
from wheeld.sources.clock import HostTime, UtcPair, clock_reading
from wheeld.sources.gpio.setting import GpioSetting
from wheeld.sources.gpio.wiring import Wiring
from wheeld.sources.line_state import LineState

SETTLE_NS = 50_000_000
"""From interrupt to callback takes 1 ms; on a machine with four times as much to do as it could, 99 of 100 took
less than 36 ms. It delays observations, never their dates; people notice nothing under a tenth of a second."""
STALL_NS = 30_000_000
"""Looks come every 10 ms. When they were this far apart, the host stalled, or something held the interpreter."""
RECOVER_NS = 100_000_000
"""What gathered in a stall is read within this: 500 edges/s for five seconds, at 20 µs each."""
LAG_US_MAX = 1_000_000
"""Observations that come this late, and for as long, are no observation of the wheel."""
READ_AT_ONCE_NS = 1_000_000
"""Pins that date an edge this well read its level in the interrupt. Where a date is worse, the callback does both: by
then a bounce is over, and edges to the same level are its ordinary trace and prove no lost edge."""
READING_INTERVAL_NS = 900_000_000
"""A clock reading about once a second, as a sensor board's."""
COUNTERS = ("edges", "host_stalls", "late_edges", "lost_edges")


class GpioSource:
    """All that is wired to one wheel. Raises PinsError when a pin cannot be used."""

    def __init__(
        self, setting: GpioSetting, pins: Pins, *, pockets: PocketLayout, rotor_ticks: int, host_ns: int
    ) -> None:
        """`pockets` of the wheel; `rotor_ticks` of the encoder, a turn; `host_ns` is where `t_us` 0 stands."""
        self._pins, self._start_ns = pins, host_ns
        self._looked_ns = self._safe_ns = host_ns
        self._stalls: list[tuple[int, int]] = []
        """Of the stalls whose edges may still be on their way: since when, and until when."""
        self._passed_us = 0
        self._behind_us: int | None = None
        """Since when observations have come too late."""
        self._clock_read_ns: int | None = None
        self._waiting: list[tuple[int, int, Edge]] = []
        self._ready: list[tuple[int, int, Observation]] = []
        self._number = 0
        self._seqs: dict[int, int] = {}
        self._repeats = 0
        self._counts: Counter[str] = Counter()
        self._line = LineState("gpio")
        self._chatter = ChatterFilter("gpio")
        self._wiring = Wiring(setting, pins, self._us, pockets=pockets, rotor_ticks=rotor_ticks, host_ns=host_ns)
        self._keep(self._wiring.first)

    @property
    def is_up(self) -> bool:
        """Whether it works as far as the core knows: a change is always an observation."""
        return self._line.is_up

    @property
    def keeps_times(self) -> bool:
        """Whether the kernel dates edges, not the callback that a standstill delays."""
        return self._pins.error_ns <= READ_AT_ONCE_NS

    @property
    def sensors(self) -> dict[str, bool]:
        """Of each sensor, whether it works, as far as that can be observed."""
        return {**self._wiring.health, **self._chatter.sensors, **self._chatter.door.sensors}

    @property
    def door(self) -> DoorSeen:
        """What was told of the cabinet's door."""
        return self._chatter.door.seen

    @property
    def troubles(self) -> dict[str, tuple[Trouble, ...]]:
        """What is wrong now, by sensor."""
        link = {"link": self._line.troubles} if self._line.troubles else {}
        return {**link, **self._chatter.troubles}

    @property
    def pulse_widths_us(self) -> dict[str, tuple[int, int]]:
        """The narrowest and the widest pulse that counted, of each beam and reader that had one."""
        return self._wiring.pulse_widths_us

    @property
    def counters(self) -> dict[str, int]:
        """Cumulative."""
        counts = {**self._counts, "chatter": self._chatter.dropped, "link_faults": self._line.fault_count}
        return {**dict.fromkeys(COUNTERS, 0), **counts, **self._wiring.counters}

    def now_us(self, host_ns: int) -> int:
        """The sensing clock, never less than the newest observation."""
        return max(self._us(host_ns), self._passed_us)

    def clock_now(self, host_ns: int) -> HostTime:
        """The sensing clock is the host's; the error is how late an edge may have been dated."""
        return HostTime(host_ns, self._pins.error_ns, 0)

    def acknowledge(self, position: Position) -> None:
        """Never called: pins keep nothing, so their batches have no position."""
        raise AssertionError(position)

    def look(self, host_ns: int, utc: UtcPair) -> list[Observation]:
        """The observations that are certain by `host_ns`, in time order; `utc` was read about then."""
        taken = self._pins.take()
        lost = taken.lost + sum(self._gathered(edge) for edge in taken.edges)
        late = self._drop_late()
        self._process(self._settled_ns(host_ns))
        seen = self._release(self._us(self._wiring.horizon_ns(self._safe_ns)))
        if lost or late:
            seen += self._wiring.forget(self._passed_us)
        seen += self._link_state(lost + self._repeated(), late, self._us(host_ns))
        seen += self._time(host_ns, utc)
        return seen

    # --- edges --------------------------------------------------------------------------------------------------

    def _gathered(self, edge: Edge) -> int:
        """Keep it until its turn; returns how many of its pin are missing before it."""
        self._counts["edges"] += 1
        self._number += 1
        heapq.heappush(self._waiting, (edge.at_ns, self._number, edge))
        if edge.seq is None:
            return 0
        missing = edge.seq - self._seqs.get(edge.pin, 0) - 1
        self._seqs[edge.pin] = edge.seq
        return missing

    def _repeated(self) -> int:
        """How many lost edges the ones after them show, on all lines but the encoder's."""
        before, self._repeats = self._repeats, self._wiring.repeats
        return self._repeats - before if self._pins.error_ns <= READ_AT_ONCE_NS else 0

    def _drop_late(self) -> int:
        """Drop edges from before what was processed already; returns how many."""
        late = 0
        while self._waiting and self._waiting[0][0] < self._safe_ns:
            heapq.heappop(self._waiting)
            late += 1
        return late

    def _settled_ns(self, host_ns: int) -> int:
        """Up to when every edge has had time to arrive: those before the last look had all the time since."""
        looked_ns, self._looked_ns = self._looked_ns, host_ns
        self._stalls = [stall for stall in self._stalls if host_ns < stall[1]]
        if host_ns - looked_ns > STALL_NS:
            self._counts["host_stalls"] += 1
            self._stalls.append((looked_ns, host_ns + RECOVER_NS))
        arrived_ns = min((began_ns for began_ns, _ in self._stalls), default=looked_ns)
        return max(self._safe_ns, arrived_ns - SETTLE_NS)

    def _process(self, until_ns: int) -> None:
        self._safe_ns = until_ns
        while self._waiting and self._waiting[0][0] < until_ns:
            edge = heapq.heappop(self._waiting)[2]
            self._keep(self._wiring.edge(edge))
        self._keep(self._wiring.until(until_ns))

    def _settled_level(self, pin: int) -> bool:
        """The level of a pin up to where edges have been processed: from before the first that has not."""
        coming = min((waiting for waiting in self._waiting if waiting[2].pin == pin), default=None)
        return self._pins.level(pin) if coming is None else not coming[2].level

    def _keep(self, seen: list[Observation]) -> None:
        for one in seen:
            self._number += 1
            heapq.heappush(self._ready, (one.t_us, self._number, one))

    # --- observations -------------------------------------------------------------------------------------------

    def _release(self, until_us: int) -> list[Observation]:
        """Every observation older than `until_us`, in order; time has passed to there."""
        seen: list[Observation] = []
        while self._ready and self._ready[0][0] < until_us:
            one = heapq.heappop(self._ready)[2]
            seen += self._chatter.calmed(one.t_us)
            seen += self._chatter.take(one)
        seen += self._chatter.calmed(until_us)
        self._passed_us = max(self._passed_us, until_us)
        return seen

    def _is_behind(self, now_us: int) -> bool:
        """Whether observations have come too late for too long. One stall, however long, is over before that."""
        if now_us - self._passed_us <= LAG_US_MAX:
            self._behind_us = None
            return False
        self._behind_us = now_us if self._behind_us is None else self._behind_us
        return now_us - self._behind_us > LAG_US_MAX

    def _link_state(self, lost: int, late: int, now_us: int) -> Iterator[Observation]:
        """A hole is a fault of the link, and so is what comes too late."""
        self._counts["lost_edges"] += lost
        self._counts["late_edges"] += late
        if lost:
            yield from self._line.happens(Trouble.EDGES_LOST, self._passed_us, now_us, edges=lost)
        if late:
            yield from self._line.happens(Trouble.EDGES_LATE, self._passed_us, now_us, edges=late)
        if self._is_behind(now_us):
            self._line.stands(Trouble.PINS_BEHIND)
        else:
            self._line.over(Trouble.PINS_BEHIND)
        was_up = self._line.is_up
        yield from self._line.report(self._passed_us, now_us)
        if self._line.is_up and not was_up:
            self._keep(self._wiring.stand(self._safe_ns, self._settled_level))

    def _time(self, host_ns: int, utc: UtcPair) -> list[Observation]:
        """How far time has passed, and once a second what it was in UTC."""
        passed = TimePassed(t_us=self._passed_us)
        if self._clock_read_ns is not None and host_ns - self._clock_read_ns < READING_INTERVAL_NS:
            return [passed]
        self._clock_read_ns = host_ns
        at = HostTime(self._start_ns + self._passed_us * 1_000, self._pins.error_ns, 0)
        return [clock_reading(self._passed_us, at, utc), passed]

    def _us(self, at_ns: int) -> int:
        return (at_ns - self._start_ns) // 1_000
