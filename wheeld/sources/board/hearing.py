"""Judges what the host receives from a board. If something is missing, finds the kind of the silence.

All times are host times. A host that stood still received nothing during that time. This is not a silence of the board
(`forgive`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wheeld.core.facts import Trouble
from wheeld.sources.line_state import LineState

DEAF_NS = 10_000_000_000
"""A board answers time requests, which are sent every second. If it has not answered for this long, it does not receive
requests. Then lost events cannot be requested again, and no event is acknowledged, so the board's ring fills up. Even
on a line that damages every tenth answer, ten answers in a row are never lost."""
HEARD_FACTOR = 2
"""A board that sends bytes, but no observations, gets twice the time that a silent board gets. The board's ring still
contains the missing events, and the host can request them again. Nothing is decided during this time."""
WINDOW_NS = 10_000_000_000
DAMAGED_FRAMES = 10
"""The limit of damaged frames in a window, for both directions together: one in a hundred. A touched plug causes two or
three."""
CALM_WINDOWS = 6
"""A line is good again after a minute with few damaged frames. A clock is good again after a minute without too much
drift."""
DAMAGE_COUNTERS = ("too_long", "cobs", "crc", "short", "board_rejected_frames")
"""Frames that either side could not read."""
SILENCES = (
    Trouble.NOTHING_HEARD,
    Trouble.GARBAGE_HEARD,
    Trouble.EVENTS_MISSING,
    Trouble.NO_ANSWER,
    Trouble.NO_EVENTS,
)
"""The kinds of silence. What the host still receives shows which kind it is."""


class Hearing:
    """What the host receives from one board, from `host_ns` on."""

    def __init__(self, host_ns: int, *, silence_ns_max: int) -> None:
        self.heard_ns = host_ns
        """When bytes last came."""
        self.understood_ns = host_ns
        """When a message of any board last came."""
        self.answered_ns = host_ns
        """When an answer to a request last came."""
        self.reported_ns = host_ns
        """When observations last came, or a report that there are none."""
        self._mute_ns = host_ns
        """When the board was last silent or unreadable. The waits for answers and for reports begin at this time, at
        the earliest."""
        self._silence_ns_max = silence_ns_max
        self._window_ns = host_ns
        self._damaged = 0
        self._calm_windows = self._steady_windows = 0

    def forgive(self, stalled_ns: int, host_ns: int) -> None:
        """Move all times forward, because the host has stood still for `stalled_ns` until now."""

        def later(ns: int) -> int:
            return min(ns + stalled_ns, host_ns)

        self.heard_ns, self.understood_ns = later(self.heard_ns), later(self.understood_ns)
        self.answered_ns, self.reported_ns = later(self.answered_ns), later(self.reported_ns)

    def judge_silence(self, line: LineState, host_ns: int, *, is_useless: bool, unreported: Trouble) -> None:
        """Report to `line` the present kind of silence, and that the other kinds are over. `is_useless`: whether the
        board is not used for another reason. `unreported`: the kind of silence if the board sends messages, but no
        observations."""
        since_ns = host_ns - self._silence_ns_max
        kind: Trouble | None = None
        if min(self.heard_ns, self.understood_ns) < since_ns:
            self._mute_ns = host_ns
            kind = Trouble.NOTHING_HEARD if self.heard_ns < since_ns else Trouble.GARBAGE_HEARD
        elif not is_useless and max(self.answered_ns, self._mute_ns) < host_ns - DEAF_NS:
            kind = Trouble.NO_ANSWER  # such a board does not receive requests for missing events either
        elif not is_useless and max(self.reported_ns, self._mute_ns) < host_ns - HEARD_FACTOR * self._silence_ns_max:
            kind = unreported
        line.over(*(each for each in SILENCES if each is not kind))
        if kind is not None:
            line.stands(kind, silent_ms=(host_ns - self.reported_ns) // 1_000_000)

    def drifted(self) -> None:
        """Remember that the board's clock has just drifted too much."""
        self._steady_windows = 0

    def judge_quality(self, line: LineState, counters: Callable[[], Mapping[str, int]], host_ns: int) -> None:
        """Decide at the end of each window whether the line damages frames, and whether the clock is good again."""
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
