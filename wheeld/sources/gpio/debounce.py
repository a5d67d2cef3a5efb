"""Separates signals from disturbances: contacts that bounce, and pulses too short or too long for a ball. No I/O.

Both classes have a *horizon*: no later report is dated before this time. A change of a contact is dated at its own
edge, but reported only when it has lasted. A pulse is dated at its middle, but reported at its end. To sort reports of
several sensors by time, the caller waits for the earliest horizon.
"""

from __future__ import annotations

QUIET_NS = 200_000_000
"""A finger that releases and presses again takes longer than this. A level that is repeated sooner is a late bounce."""


class Contact:
    """A button or a switch. A change counts when the line has kept its new level for `debounce_ns`.

    If an edge to the same level comes after `QUIET_NS`, and the level lasts, it is a new change: the edge to the other
    level was lost. `repeats` counts such changes.
    """

    def __init__(self, debounce_ns: int, *, on: bool | None, chatter_ns_max: int | None = None) -> None:
        """`on`: the state at first, None if it is unknown; then the first level is a change. A line that changes all
        the time for `chatter_ns_max` counts as on."""
        self._debounce_ns, self._chatter_ns_max = debounce_ns, chatter_ns_max
        self._is_on = self._reads_on = on
        self._since_ns = self._edge_ns = 0
        self._moving_ns: int | None = None
        """When the line began to change. None after it has kept a level."""
        self._anew = False
        """Whether an edge has repeated the settled level, and the line has not settled since then."""
        self.repeats = 0
        """How often the line settled on the same level as before, without an edge to the other level."""

    def stand(self, at_ns: int, *, on: bool, settled: bool) -> None:
        """Set the level at `at_ns`, whatever came before. If it is not `settled`, it counts when it has lasted."""
        self._reads_on, self._is_on = on, on if settled else None
        self._since_ns = self._edge_ns = at_ns
        self._moving_ns, self._anew = None if settled else at_ns, False

    def edge(self, at_ns: int, *, on: bool) -> list[tuple[int, bool]]:
        """Process an edge: the line reads `on` from `at_ns` on. Return changes as (time, new state)."""
        changes = self.until(at_ns)
        if on is self._is_on is self._reads_on and at_ns - self._edge_ns >= QUIET_NS:
            self._anew, self._since_ns = True, at_ns
        if on is not self._reads_on:
            self._reads_on, self._since_ns = on, at_ns
            self._moving_ns = at_ns if self._moving_ns is None else self._moving_ns
        self._edge_ns = at_ns
        return changes

    def until(self, now_ns: int) -> list[tuple[int, bool]]:
        """Process the time up to `now_ns`, in which no other edge came. Return changes as (time, new state)."""
        if now_ns - self._since_ns >= self._debounce_ns:
            self._moving_ns = None
        elif self._chatter_ns_max is None or self._moving_ns is None or self._reads_on is not True:
            return []
        elif now_ns - self._moving_ns < self._chatter_ns_max:
            return []  # after that time, a changing line counts as on, from its last edge to on
        if not self._pending:
            return []
        assert self._reads_on is not None, "a change is pending, so a level was read"
        self.repeats += self._reads_on is self._is_on
        self._is_on, self._anew = self._reads_on, False
        return [(self._since_ns, self._is_on)]

    def horizon_ns(self, now_ns: int) -> int:
        """Return the time of the edge that may still count. Without such an edge, return `now_ns`."""
        return self._since_ns if self._pending else now_ns

    @property
    def _pending(self) -> bool:
        return self._anew or self._reads_on is not self._is_on


class Blockage:
    """A beam or a reader that a ball blocks for `shortest_ns` to `longest_ns`. `since_ns` is None while it is free."""

    def __init__(self, shortest_ns: int, longest_ns: int) -> None:
        self._shortest_ns, self._longest_ns = shortest_ns, longest_ns
        self.since_ns: int | None = None
        self.too_short = 0
        self.too_long = 0
        self._edge_ns = 0
        self.repeats = 0
        """How often an edge to blocked came long after another one. The edge to free between these two edges was
        lost."""
        self.widths_ns: tuple[int, int] | None = None
        """The widths of the narrowest and the widest pulse that counted."""

    def stand(self, at_ns: int, *, blocked: bool) -> None:
        """Set the state at `at_ns`, blocked or free, whatever came before."""
        self.since_ns, self._edge_ns = at_ns if blocked else None, at_ns

    def edge(self, at_ns: int, *, blocked: bool) -> int | None:
        """Process an edge to blocked or free at `at_ns`. Return the middle of the pulse that the edge ends, or None."""
        since_ns, quiet_ns = self.since_ns, at_ns - self._edge_ns
        self._edge_ns = at_ns
        if blocked:
            self.repeats += since_ns is not None and quiet_ns > self._longest_ns
            self.since_ns = at_ns if since_ns is None else since_ns
            return None
        self.since_ns = None
        if since_ns is None or at_ns - since_ns < self._shortest_ns:
            self.too_short += 1  # an edge from free to free counts too: two edges in one interrupt are read as one
            return None
        if at_ns - since_ns > self._longest_ns:
            self.too_long += 1
            return None
        narrowest_ns, widest_ns = self.widths_ns or (at_ns - since_ns, 0)
        self.widths_ns = min(narrowest_ns, at_ns - since_ns), max(widest_ns, at_ns - since_ns)
        return (since_ns + at_ns) // 2

    def horizon_ns(self, now_ns: int) -> int:
        """Return the earliest possible middle of an unfinished pulse. If there is none, return `now_ns`."""
        if self.since_ns is None or now_ns - self.since_ns > self._longest_ns:
            return now_ns
        return (self.since_ns + now_ns) // 2
