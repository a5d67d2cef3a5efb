"""Drops the reports of sensors that report more often than a ball or a coin can cause. Such sensors count as failed.

A loose wire, or a beam aimed at the edge of something, gives hundreds of pulses a second. All times are on the sensing
clock. The cabinet's door has its own limit. Its switch never fails for the table, because no game depends on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import structlog

from wheeld.core.facts import Trouble
from wheeld.core.observations import DOOR, Level, Observation, Sensed, SensorState

PULSES = 30
WITHIN_US = 1_000_000
"""The fastest ball passes a beam three times a second, and each pass may give two pulses. A hand that moves over a beam
gives ten pulses. Neither of them gives thirty pulses in a second."""
QUIET_US = 5_000_000
"""The sensor works again when it has not given so many pulses for this long. A loose wire pauses only for a second or
two."""

DOOR_MOVES = 10
DOOR_WITHIN_US = DOOR_QUIET_US = 60_000_000
"""A person who works behind the door opens it a few times a minute. Ten changes in a minute mean a loose switch. Then
people see no changes of the door until there are fewer in a minute."""


class ChatterGuard:
    """Counts how often each sensor reports, by name. `reports` within `within_us` are too many. The sensor is quiet
    again after `quiet_us` without so many reports."""

    def __init__(self, reports: int = PULSES, within_us: int = WITHIN_US, quiet_us: int = QUIET_US) -> None:
        self._reports, self._within_us, self._quiet_us = reports, within_us, quiet_us
        self._recent: dict[str, deque[int]] = {}
        self._dense_us: dict[str, int] = {}

    @property
    def chattering(self) -> tuple[str, ...]:
        """The sensors that report too often, by name."""
        return tuple(self._dense_us)

    def counts(self, sensor: str, t_us: int) -> bool:
        """Return whether the report of `sensor` at `t_us` counts."""
        recent = self._recent.setdefault(sensor, deque(maxlen=self._reports))
        recent.append(t_us)
        if len(recent) == self._reports and t_us - recent[0] < self._within_us:
            self._dense_us[sensor] = t_us
        return sensor not in self._dense_us

    def quiet(self, t_us: int) -> list[str]:
        """Return the sensors that have chattered and are quiet again at `t_us`. From now on their reports count."""
        quiet = [sensor for sensor, dense_us in self._dense_us.items() if t_us - dense_us >= self._quiet_us]
        for sensor in quiet:
            del self._dense_us[sensor]
        return quiet


class DoorSeen(NamedTuple):
    """What was reported about the cabinet's door so far: whether it is open (None: not reported yet), and how often it
    was opened. A door that is open at the first report counts as opened."""

    is_open: bool | None = None
    openings: int = 0


class DoorFilter:
    """Passes on the reports of the switch of the cabinet's door. While the switch chatters, the door is reported as
    open, because it may be open. `name`: the name of the source, for the log. `seen`: what was reported."""

    def __init__(self, name: str) -> None:
        self.seen = DoorSeen()
        self.dropped = 0
        self._name = name
        self._guard = ChatterGuard(DOOR_MOVES, DOOR_WITHIN_US, DOOR_QUIET_US)
        self._reads: bool | None = None
        self._log = structlog.get_logger(name)

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether the switch works, if there is one."""
        return {} if self.seen.is_open is None else {DOOR: not self._guard.chattering}

    @property
    def troubles(self) -> dict[str, tuple[Trouble, ...]]:
        """What is wrong with the switch."""
        return dict.fromkeys(self._guard.chattering, (Trouble.CHATTERS,))

    def take(self, seen: Level) -> Iterator[Level]:
        """Yield the level of the door, unless the switch chatters. A report that repeats the level is not a change."""
        chattered, was, self._reads = bool(self._guard.chattering), self._reads, seen.active
        if not chattered if seen.active is was else self._guard.counts(DOOR, seen.t_us):
            yield self._told(seen)
            return
        self.dropped += 1
        if not chattered:
            what, mend = "it changes more often than people open a door", Trouble.CHATTERS.mend
            self._log.warning(f"{self._name}.chatters", sensor=DOOR, what=what, mend=mend)
            yield self._told(Level(seen.t_us, DOOR, active=True))

    def calmed(self, t_us: int) -> Iterator[Level]:
        """Yield the level of the door if its switch chattered and is quiet again at `t_us`."""
        if self._guard.quiet(t_us) and self._reads is not None:
            self._log.info(f"{self._name}.quiet", sensor=DOOR)
            yield self._told(Level(t_us, DOOR, active=self._reads))

    def _told(self, level: Level) -> Level:
        opens = level.active and self.seen.is_open is not True
        self.seen = DoorSeen(level.active, self.seen.openings + opens)
        return level


class ChatterFilter:
    """Passes on the reports of one source, except those of sensors that chatter. `name`: the name of the source, for
    the log."""

    def __init__(self, name: str) -> None:
        self.door = DoorFilter(name)
        self._dropped = 0
        self._name = name
        self._guard = ChatterGuard()
        self._reported: dict[str, bool] = {}
        """Whether each sensor works, as its own reports say."""
        self._kept: dict[str, Observation] = {}
        """The latest report of a sensor that chatters, if the report contains a level."""
        self._log = structlog.get_logger(name)

    @property
    def dropped(self) -> int:
        """How many reports were dropped."""
        return self._dropped + self.door.dropped

    @property
    def is_dropping(self) -> bool:
        """Whether a sensor chatters, or the switch of the door. If not, none can become quiet."""
        return bool(self._guard.chattering or self.door.troubles)

    @property
    def sensors(self) -> dict[str, bool]:
        """Whether each sensor of the wheel works. Sensors that never reported their state and do not chatter are not in
        the result."""
        return {**self._reported, **dict.fromkeys(self._guard.chattering, False)}

    @property
    def troubles(self) -> dict[str, tuple[Trouble, ...]]:
        """What is wrong with the sensors that chatter, including the switch of the door."""
        return {**dict.fromkeys(self._guard.chattering, (Trouble.CHATTERS,)), **self.door.troubles}

    def take(self, seen: Observation) -> Iterator[Observation]:
        """Yield `seen`, unless its sensor chatters. When a sensor begins to chatter, report once that it fails. A
        sensor that chatters counts as failed, even if it reports that it works."""
        if isinstance(seen, SensorState):
            self._reported[seen.sensor] = seen.ok
            chatters = seen.sensor in self._guard.chattering
            yield msgspec.structs.replace(seen, ok=False, what=Trouble.CHATTERS) if chatters else seen
            return
        if isinstance(seen, Level) and seen.sensor == DOOR:
            yield from self.door.take(seen)
            return
        if not isinstance(seen, Sensed) or not seen.is_rare:
            yield seen
            return
        sensor, was = seen.sensor, self._guard.chattering
        if self._guard.counts(sensor, seen.t_us):
            yield seen
            return
        self._dropped += 1
        if seen.stands is not None:
            self._kept[sensor] = seen
        if sensor not in was:
            what = Trouble.CHATTERS
            self._log.warning(f"{self._name}.chatters", sensor=sensor, what=what.text, mend=what.mend)
            yield SensorState(seen.t_us, sensor, ok=False, what=what)

    def tested(self, sensor: str, *, ok: bool, t_us: int) -> Iterator[SensorState]:
        """Process the result of the board's self-test for one sensor. Report only a change, and nothing if the sensor
        chatters. At first all sensors count as working."""
        has_changed = self._reported.get(sensor, True) != ok
        self._reported[sensor] = ok
        if has_changed and sensor not in self._guard.chattering:
            yield SensorState(t_us, sensor, ok=ok)

    def calmed(self, t_us: int) -> Iterator[Observation]:
        """Report the sensors that have chattered and are quiet again at `t_us`."""
        yield from self.door.calmed(t_us)
        for sensor in self._guard.quiet(t_us):
            self._log.info(f"{self._name}.quiet", sensor=sensor)
            if (kept := self._kept.pop(sensor, None)) is not None:
                yield msgspec.structs.replace(kept, t_us=t_us)
            if self._reported.get(sensor, True):
                yield SensorState(t_us, sensor, ok=True)
