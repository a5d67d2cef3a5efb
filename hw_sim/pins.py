"""Simulated GPIO pins in virtual time, which a program uses as `wheeld.ports.Pins`."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from wheeld.ports import Edge, PinsError, Pull, Taken


class SimPins:
    """Lines that change as planned with `play`. Edges are reported `latency_ns` later. `advance` makes time pass.

    `error_ns` is the error that the pins claim for the times of their edges. In truth these times are exact.
    """

    def __init__(self, *, now_ns: int = 0, latency_ns: int = 0, error_ns: int = 0) -> None:
        self.now_ns, self.error_ns = now_ns, error_ns
        self.out: dict[int, bool] = {}
        """The level of each output."""
        self.closed = False
        self._latency_ns = latency_ns
        self._levels: dict[int, bool] = {}
        self._listened: dict[int, int] = {}
        self._due: list[tuple[int, int, Edge]] = []
        self._reported: list[Edge] = []
        self._lost = 0
        self._swallow: dict[int, int] = {}
        self._number = 0

    def listen(self, pin: int, pull: Pull) -> bool:
        """Claim an input and return its level. Before its first edge, a line has the level of its resistor. Raises
        PinsError if the pin is in use."""
        if pin in self._listened or pin in self.out:
            raise PinsError(f"pin {pin} is in use")
        self._listened[pin] = 0
        return self._levels.setdefault(pin, pull == "up")

    def level(self, pin: int) -> bool:
        """Return the level of the line after all edges so far."""
        return self._levels[pin]

    def drive(self, pin: int, *, level: bool) -> None:
        """Store the level of an output in `out`. Raises PinsError if the pin is in use."""
        if pin in self._listened:
            raise PinsError(f"pin {pin} is in use")
        self.out[pin] = level

    def take(self) -> Taken:
        """Return the edges that were reported since the last call, and the number of lost edges."""
        reported, lost = self._reported, self._lost
        self._reported, self._lost = [], 0
        return Taken(reported, lost)

    def close(self) -> None:
        """Set `closed`. Lines continue to change, and can be claimed again."""
        self.closed = True
        self._listened.clear()
        self._reported.clear()

    # --- what happens to the lines -----------------------------------------------------------------------------------

    def play(self, edges: Iterable[Edge]) -> None:
        """Plan edges. No edge may be in the past."""
        for edge in edges:
            assert edge.at_ns >= self.now_ns, f"{edge} is past"
            self._number += 1
            heapq.heappush(self._due, (edge.at_ns + self._latency_ns, self._number, edge))

    def swallow(self, pin: int, edges: int) -> None:
        """Lose the next `edges` edges of `pin`. The `seq` of the edges after them still counts them."""
        self._swallow[pin] = edges

    def overflow(self, edges: int) -> None:
        """Report that `edges` edges did not fit in the buffer."""
        self._lost += edges

    def advance(self, now_ns: int) -> None:
        """Let time pass to `now_ns`, which must not be in the past."""
        assert now_ns >= self.now_ns, "time would go back"
        self.now_ns = now_ns
        while self._due and self._due[0][0] <= now_ns:
            edge = heapq.heappop(self._due)[2]
            if self._levels.get(edge.pin) is edge.level:
                continue  # the line already has this level, so there is no edge
            self._levels[edge.pin] = edge.level
            if edge.pin not in self._listened:
                continue
            self._listened[edge.pin] += 1
            if self._swallow.get(edge.pin, 0):
                self._swallow[edge.pin] -= 1
            else:
                self._reported.append(Edge(edge.pin, edge.level, edge.at_ns, self._listened[edge.pin]))
