"""Finds errors of a board's firmware by its heartbeats: a wrong interval, and levels that no event explains.

A board with such an error still reports what it sees, so both are warnings.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import median

from firmware_protocol import messages as m
from firmware_protocol.host import Observed, Watermark
from wheeld.core.facts import Trouble
from wheeld.sources.line_state import LineState

BEATS = 20
"""The interval is the median over this many heartbeats. Lost or replayed heartbeats do not change it."""
INTERVAL_US_MIN = m.HEARTBEAT_US * 6 // 10
INTERVAL_US_MAX = m.HEARTBEAT_US * 18 // 10
"""A board that sends heartbeats at half the interval, or at twice the interval, is outside of these limits."""
BLOCKED_US_MAX = 3_000_000
"""A board must report a beam as failed when it is blocked for two seconds. The report may come a second late."""
CALM_BEATS = 600
"""A minute of heartbeats. If none of them has a level without an event, the trouble `LEVEL_WITHOUT_EVENT` is over."""


class FirmwareCheck:
    """Checks the heartbeats of one board, and reports to `line` what is wrong with them."""

    def __init__(self, line: LineState) -> None:
        self._line = line
        self._beats_us: list[int] = []
        self._before: m.Levels | None = None
        self._told: set[str] = set()
        """The sensors of which an event has come since the heartbeat with the levels `_before`."""
        self._blocked_us: dict[str, int] = {}
        """For each beam that is blocked, the board time of the first heartbeat that reported this."""
        self._calm_beats = 0

    def forget(self) -> None:
        """Forget everything, because events may be missing, or the board has restarted."""
        self._beats_us.clear()
        self._before = None
        self._told.clear()
        self._blocked_us.clear()

    def take(self, seen: Observed | Watermark, works: Mapping[str, bool]) -> None:
        """Take what the board reported, in order. `works`: whether each sensor works, as far as it is known."""
        if isinstance(seen, Observed):
            match seen.event:
                case m.ButtonPress(button):
                    self._told.add(f"button/{button}")
                case m.ObjectSeen():
                    self._told.add("object")
                case m.DoorMoved():
                    self._told.add("door")
            return
        self._beats_us.append(seen.board_us)
        if len(self._beats_us) > BEATS:
            interval_us = median(later - earlier for earlier, later in pairwise(self._beats_us))
            del self._beats_us[:-1]
            if INTERVAL_US_MIN <= interval_us <= INTERVAL_US_MAX:
                self._line.over(Trouble.HEARTBEAT_INTERVAL)
            else:
                self._line.stands(Trouble.HEARTBEAT_INTERVAL, interval_ms=interval_us / 1000)
        if (levels := seen.levels) is None:
            return
        blocked = [f"beam/{beam}" for beam in levels.beams_blocked]
        self._blocked_us = {beam: self._blocked_us.get(beam, seen.board_us) for beam in blocked}
        gone_us = seen.board_us - BLOCKED_US_MAX
        stuck = [beam for beam, us in self._blocked_us.items() if us < gone_us and works.get(beam)]
        rose = [] if self._before is None else [one for one in _rose(self._before, levels) if one not in self._told]
        self._before = levels
        self._told.clear()
        self._calm_beats += 1
        if stuck or rose:
            self._calm_beats = 0
            self._line.stands(Trouble.LEVEL_WITHOUT_EVENT, sensor=(stuck + rose)[0])
        elif self._calm_beats >= CALM_BEATS:
            self._line.over(Trouble.LEVEL_WITHOUT_EVENT)


def _rose(before: m.Levels, now: m.Levels) -> list[str]:
    """Return the sensors that became active between two heartbeats. The board must have sent an event for each of them
    then."""
    rose = [f"button/{button}" for button in now.buttons_held if button not in before.buttons_held]
    if (before.object, now.object) == ("clear", "present"):
        rose.append("object")
    if (before.door, now.door) == ("closed", "open"):
        rose.append("door")
    return rose
