"""Passes edges from the thread that receives them to the loop that processes them, and counts lost edges."""

from __future__ import annotations

import threading

from wheeld.ports import Edge, Taken

EDGES_MAX = 16_384
"""The fastest encoder gives so many edges in half a minute. If the loop takes no edge for so long, it has a fault."""


class Intake:
    """A list of limited length. Any thread may add edges. Only one thread takes them. When an edge does not fit, this
    edge and all later edges are only counted until the list is taken. So the gap is always at the end of the list."""

    def __init__(self, edges_max: int = EDGES_MAX) -> None:
        self._edges_max = edges_max
        self._lock = threading.Lock()
        self._edges: list[Edge] = []
        self._lost = 0

    def put(self, edge: Edge) -> None:
        """Add one edge."""
        with self._lock:
            if self._lost or len(self._edges) >= self._edges_max:
                self._lost += 1
            else:
                self._edges.append(edge)

    def lose(self) -> None:
        """Count an edge that cannot be dated."""
        with self._lock:
            self._lost += 1

    def take(self) -> Taken:
        """Return all edges since the last call, and how many were lost."""
        with self._lock:
            edges, lost = self._edges, self._lost
            self._edges, self._lost = [], 0
        return Taken(edges, lost)
