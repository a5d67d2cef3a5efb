"""What is a signal and what is not: contacts that bounce, pulses too short or too long for a ball. Pure.

Both know their *horizon*: nothing that they still have to report is dated before it. A change of a contact is dated at
its own edge, but reported when it has lasted; a pulse is dated at its middle, but reported at its end. To put the
reports of several in order one waits for the earliest horizon.
"""

from __future__ import annotations

QUIET_NS = 200_000_000
"""A finger that lets go and presses again takes longer. A level that is repeated sooner is a bounce that came late."""


class Contact:
    """A button or a switch: a change counts when the line has kept its new level for `debounce_ns`.

    A level that comes again after a quiet time counts anew when it lasts: the edge between was lost (`repeats`).
    """

    def __init__(
        self, debounce_ns: int, *, on: bool | None, since_ns: int = 0, chatter_ns_max: int | None = None
    ) -> None:
        """`on`: its state at `since_ns`; None: unknown, and then its first level is a change. A line that goes up and
        down for `chatter_ns_max` is on."""
        self._debounce_ns, self._chatter_ns_max = debounce_ns, chatter_ns_max
        self._is_on = self._reads_on = on
        self._since_ns = self._edge_ns = since_ns
        self._moving_ns: int | None = None
        """When the line began to move; None once it has kept a level."""
        self._anew = False
        """Whether the line moves since an edge that repeated what it had settled on."""
        self.repeats = 0
        """How often it settled on what it had settled on before, with no edge between."""

    def stand(self, at_ns: int, *, on: bool, settled: bool) -> None:
        """The line reads `on` at `at_ns`, whatever it did before. Not `settled`: that is a change, if it lasts."""
        self._reads_on, self._is_on = on, on if settled else None
        self._since_ns = self._edge_ns = at_ns
        self._moving_ns, self._anew = None if settled else at_ns, False

    def edge(self, at_ns: int, *, on: bool) -> list[tuple[int, bool]]:
        """The line reads `on` from `at_ns` on; returns changes as (when, to what)."""
        changes = self.until(at_ns)
        if on is self._is_on is self._reads_on and at_ns - self._edge_ns >= QUIET_NS:
            self._anew, self._since_ns = True, at_ns
        if on is not self._reads_on:
            self._reads_on, self._since_ns = on, at_ns
            self._moving_ns = at_ns if self._moving_ns is None else self._moving_ns
        self._edge_ns = at_ns
        return changes

    def until(self, now_ns: int) -> list[tuple[int, bool]]:
        """No other edge came up to `now_ns`; returns changes as (when, to what)."""
        if now_ns - self._since_ns >= self._debounce_ns:
            self._moving_ns = None
        elif not self._chatters(now_ns):
            return []
        if not self._pending:
            return []
        assert self._reads_on is not None, "it reads something else than at first"
        self.repeats += self._reads_on is self._is_on
        self._is_on, self._anew = self._reads_on, False
        return [(self._since_ns, self._is_on)]

    def horizon_ns(self, now_ns: int) -> int:
        """The edge that may yet count, or now."""
        return self._since_ns if self._pending else now_ns

    def _chatters(self, now_ns: int) -> bool:
        """Whether it goes up and down for too long. Only while it reads on, so that what was reported stays true."""
        if self._chatter_ns_max is None or self._moving_ns is None:
            return False
        return self._reads_on is True and now_ns - self._moving_ns >= self._chatter_ns_max

    @property
    def _pending(self) -> bool:
        return self._anew or self._reads_on is not self._is_on


class Blockage:
    """A beam that a ball blocks for `shortest_ns` to `longest_ns`; `since_ns` is None while it is free."""

    def __init__(self, shortest_ns: int, longest_ns: int) -> None:
        self._shortest_ns, self._longest_ns = shortest_ns, longest_ns
        self.since_ns: int | None = None
        self.too_short = 0
        self.too_long = 0
        self._edge_ns = 0
        self.repeats = 0
        """How often it was blocked anew, a quiet time after it was blocked: that it was free between was lost."""
        self.widths_ns: tuple[int, int] | None = None
        """Of the pulses that counted, the narrowest and the widest."""

    def stand(self, at_ns: int, *, blocked: bool) -> None:
        """The beam is `blocked`, or free, at `at_ns`, whatever came before."""
        self.since_ns, self._edge_ns = at_ns if blocked else None, at_ns

    def edge(self, at_ns: int, *, blocked: bool) -> int | None:
        """The beam is `blocked`, or free, from `at_ns` on; returns the middle of the pulse that this ends."""
        since_ns, quiet_ns = self.since_ns, at_ns - self._edge_ns
        self._edge_ns = at_ns
        if blocked:
            self.repeats += since_ns is not None and quiet_ns > self._longest_ns
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
