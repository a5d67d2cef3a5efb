"""What is a signal and what is not: contacts that bounce, pulses too short or too long for a ball. Pure.

Both know the *horizon*: nothing that they have yet to tell is dated before it. A change of a contact is dated at its
own edge, but told when it has lasted; a pulse is dated at its middle, but told at its end. Whoever puts the tellings of
several in order waits for the earliest horizon, and for no more.
"""

from __future__ import annotations


class Contact:
    """A button or a switch: a change counts when the line has kept its new level for `debounce_ns`."""

    def __init__(self, debounce_ns: int, *, on: bool | None) -> None:
        """`on`: what is known of it already; None and whatever it reads first is a change."""
        self._debounce_ns = debounce_ns
        self._is_on = self._reads_on = on
        self._since_ns = 0

    def edge(self, at_ns: int, *, on: bool) -> list[tuple[int, bool]]:
        """The line reads `on` from `at_ns` on; returns changes as (when, to what)."""
        changes = self.until(at_ns)
        if on is not self._reads_on:
            self._reads_on, self._since_ns = on, at_ns
        return changes

    def until(self, now_ns: int) -> list[tuple[int, bool]]:
        """No other edge came up to `now_ns`; returns changes as (when, to what)."""
        if self._reads_on is self._is_on or now_ns - self._since_ns < self._debounce_ns:
            return []
        assert self._reads_on is not None, "it reads something else than at first"
        self._is_on = self._reads_on
        return [(self._since_ns, self._is_on)]

    def horizon_ns(self, now_ns: int) -> int:
        """The edge that may yet count, or now."""
        return now_ns if self._reads_on is self._is_on else self._since_ns


class Pulse:
    """A beam that a ball blocks for `shortest_ns` to `longest_ns`; `since_ns` is None while it is free."""

    def __init__(self, shortest_ns: int, longest_ns: int) -> None:
        self._shortest_ns, self._longest_ns = shortest_ns, longest_ns
        self.since_ns: int | None = None
        self.too_short = 0
        self.too_long = 0
        self.widths_ns: tuple[int, int] | None = None
        """Of the pulses that counted, the narrowest and the widest."""

    def edge(self, at_ns: int, *, blocked: bool) -> int | None:
        """The beam is `blocked`, or free, from `at_ns` on; returns the middle of the pulse that this ends."""
        since_ns = self.since_ns
        if blocked:
            self.since_ns = at_ns if since_ns is None else since_ns
            return None
        self.since_ns = None
        if since_ns is None or at_ns - since_ns < self._shortest_ns:
            self.too_short += 1  # both edges in one interrupt read as one edge, to where the line was
            return None
        if at_ns - since_ns > self._longest_ns:
            self.too_long += 1
            return None
        narrowest_ns, widest_ns = self.widths_ns or (at_ns - since_ns, 0)
        self.widths_ns = min(narrowest_ns, at_ns - since_ns), max(widest_ns, at_ns - since_ns)
        return (since_ns + at_ns) // 2

    def horizon_ns(self, now_ns: int) -> int:
        """The earliest middle of a pulse that still goes on, or now."""
        if self.since_ns is None or now_ns - self.since_ns > self._longest_ns:
            return now_ns
        return (self.since_ns + now_ns) // 2
