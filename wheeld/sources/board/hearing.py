"""What is heard of a board, and which kind of silence it is where something of it is missing.

All times are the host's monotonic clock. A host that stood still heard nothing meanwhile, and that is not the board's
silence: `forgive`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wheeld.core.facts import Trouble
from wheeld.sources.line_state import LineState

DEAF_NS = 10_000_000_000
"""A board answers requests for the time, which come every second. One that has answered none for so long does not hear:
it could not be asked for events that the line loses, and it forgets none, so that its ring fills up (`RING_EVENTS_MIN`
are about as many seconds). On a line that damages every tenth answer ten are never lost in a row."""
HEARD_FACTOR = 2
"""A board that is heard is there, and its ring holds what is missing. It is given twice as long as one that is silent,
so that a damaged line can ask for it more often; nothing is decided meanwhile."""
WINDOW_NS = 10_000_000_000
DAMAGED_FRAMES = 10
"""So many damaged frames, both ways, in a window: one of a hundred. Somebody who touches a plug makes two or three."""
CALM_WINDOWS = 6
"""A line is good again when it has damaged few frames for a minute, and a clock when it has not drifted for one."""
DAMAGE_COUNTERS = ("too_long", "cobs", "crc", "short", "board_rejected_frames")
"""Frames that either side could not read."""
SILENCES = (Trouble.NOTHING_HEARD, Trouble.GARBAGE_HEARD, Trouble.EVENTS_MISSING, Trouble.NO_ANSWER)
"""Kinds of silence, beside a board that is refused: which of them it is follows from what is heard."""


class Hearing:
    """What one board lets the host hear, from `host_ns` on."""

    def __init__(self, host_ns: int, *, silence_ns_max: int) -> None:
        self.heard_ns = host_ns
        """When bytes came last."""
        self.understood_ns = host_ns
        """When a message came last, of any board."""
        self.answered_ns = host_ns
        """When something came last that had been asked for."""
        self.reported_ns = host_ns
        """When observations came last, or that there are none."""
        self._mute_ns = host_ns
        """When it was last found that nothing came, or nothing that can be read: of that time it owes no answer."""
        self._silence_ns_max = silence_ns_max
        self._window_ns = host_ns
        self._damaged = 0
        self._calm_windows = self._steady_windows = 0

    def forgive(self, stalled_ns: int, host_ns: int) -> None:
        """The host stood still for so long until now."""

        def later(ns: int) -> int:
            return min(ns + stalled_ns, host_ns)

        self.heard_ns, self.understood_ns = later(self.heard_ns), later(self.understood_ns)
        self.answered_ns, self.reported_ns = later(self.answered_ns), later(self.reported_ns)

    def judge_silence(self, line: LineState, host_ns: int, *, is_useless: bool, misses_events: bool) -> None:
        """Which kind of silence it is now, if any. `is_useless`: nothing of this board is used, for another reason."""
        kind = self._silence(host_ns, is_useless=is_useless, misses_events=misses_events)
        line.over(*(each for each in SILENCES if each is not kind))
        if kind is not None:
            line.stands(kind, silent_ms=(host_ns - self.reported_ns) // 1_000_000)

    def _silence(self, host_ns: int, *, is_useless: bool, misses_events: bool) -> Trouble | None:
        since_ns = host_ns - self._silence_ns_max
        if min(self.heard_ns, self.understood_ns) < since_ns:
            self._mute_ns = host_ns
            return Trouble.NOTHING_HEARD if self.heard_ns < since_ns else Trouble.GARBAGE_HEARD
        if is_useless:
            return None
        if max(self.answered_ns, self._mute_ns) < host_ns - DEAF_NS:
            return Trouble.NO_ANSWER  # then it does not hear either that events are asked for again
        if max(self.reported_ns, self._mute_ns) >= host_ns - HEARD_FACTOR * self._silence_ns_max:
            return None
        return Trouble.EVENTS_MISSING if misses_events else Trouble.NO_ANSWER

    def drifted(self) -> None:
        """The board's clock was just found to drift."""
        self._steady_windows = 0

    def judge_quality(self, line: LineState, counters: Callable[[], Mapping[str, int]], host_ns: int) -> None:
        """Once a window: whether the line damages what it carries, and whether the clock keeps to its limit again."""
        if host_ns - self._window_ns < WINDOW_NS:
            return
        self._window_ns = host_ns
        counted = counters()
        damaged = sum(counted.get(name, 0) for name in DAMAGE_COUNTERS)
        fresh, self._damaged = damaged - self._damaged, damaged
        self._calm_windows = 0 if fresh >= DAMAGED_FRAMES else self._calm_windows + 1
        self._steady_windows += 1
        if fresh >= DAMAGED_FRAMES:
            line.stands(Trouble.LINE_DAMAGED, frames=fresh, seconds=WINDOW_NS // 1_000_000_000)
        elif self._calm_windows >= CALM_WINDOWS:
            line.over(Trouble.LINE_DAMAGED)
        if self._steady_windows > CALM_WINDOWS:
            line.over(Trouble.CLOCK_DRIFTS)
