"""Pass edges from the thread that receives them to the loop that processes them. Lost edges are counted."""

from __future__ import annotations

import threading

from wheeld.ports import Edge, Taken

EDGES_MAX = 16_384
"""Half a minute of the fastest encoder. A loop that took no edges for this long has stalled, which must be a fault."""


class Intake:
    """A list of limited length. Any thread adds edges, one thread takes all. An edge that does not fit is only counted.
    So are all edges after it until the list is taken, so that later edges never hide the gap."""

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
