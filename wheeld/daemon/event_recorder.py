"""Stores in the journal what happens to the device: power, sensors, lines, the clock. What happens at the table is
stored by the table's own steps.

Laboratories ask for this record, apart from the evidence and kept when that is removed (docs/standards.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import NoReturn, Protocol

import msgspec
import structlog

from wheeld.core.facts import Trouble
from wheeld.daemon.identity import DaemonIdentity
from wheeld.journal.rows import StoredEvent
from wheeld.ports import EventName, EventRecord, HostClock
from wheeld.sources.chatter import DoorSeen

WAITING_MAX = 1_000
"""Events that wait for the disk. A line that fails again and again gives one in some seconds, so only a disk that
stands still for an hour lets them gather; how many were dropped then is said by the next one."""

LINK = "link"
"""The line to the sensors, among their names."""

_SYNCHRONISED: dict[bool, EventName] = {True: "clock_synchronised", False: "clock_not_synchronised"}


class EventStore(Protocol):
    """The journal, as far as it holds event records. Every call raises the journal's error."""

    async def note(self, happened: EventRecord, at_utc_us: int) -> None:
        """Store an event record."""
        ...

    async def last_event(self, *names: EventName) -> StoredEvent | None:
        """The newest one of these names, as it was written."""
        ...


class WatchedConnection(Protocol):
    """The connection to the broker."""

    async def connected(self) -> int:
        """Wait for a connection and return its number."""
        ...

    async def lost(self, session: int) -> None:
        """Return when that connection is over."""
        ...


class _Boot(msgspec.Struct):
    """What the details of a power-up say."""

    program: str | None = None
    configuration: str | None = None


class EventRecorder:
    """Compares what it is shown with what it was, and stores each change, in its order.

    `sensors` gives whether each sensor works, and the line to them; `troubles` what is wrong with which; `door` what
    was told of the cabinet's door. `is_synchronised`: whether a time server has set the host's clock, None where that
    is not known. `clock_set_s`: by how many seconds it was set since the start, all in all.
    """

    def __init__(
        self,
        journal: EventStore,
        *,
        clock: HostClock,
        sensors: Callable[[], Mapping[str, bool]],
        troubles: Callable[[], Mapping[str, tuple[Trouble, ...]]],
        door: Callable[[], DoorSeen],
        is_synchronised: Callable[[], bool | None],
        clock_set_s: Callable[[], float],
    ) -> None:
        self._journal, self._clock = journal, clock
        self._sensors, self._troubles, self._is_synchronised = sensors, troubles, is_synchronised
        self._clock_set_s, self._was_set_s = clock_set_s, 0.0
        self._has_begun = False
        self._worked: dict[str, bool] = {}
        self._door, self._door_was = door, DoorSeen()
        self._was_synchronised = is_synchronised()
        self._waiting: asyncio.Queue[tuple[EventRecord, int]] = asyncio.Queue(WAITING_MAX)
        self._dropped = 0
        self._log = structlog.get_logger("events")

    async def power_up(self, identity: DaemonIdentity, boot_id: str) -> None:
        """Store that the daemon starts, and what of program and configuration differs from its start before."""
        last = await self._journal.last_event("power_up", "stop")
        before = await self._journal.last_event("power_up")
        door = await self._journal.last_event("door_opened", "door_closed")
        self._door_was = DoorSeen(None if door is None else door.event == "door_opened")
        details: dict[str, object] = {
            "boot_id": boot_id,
            **msgspec.structs.asdict(identity),
            # None at the very first start. False: the power went, or the program was killed.
            "stopped_in_order": None if last is None else last.event == "stop",
        }
        await self._store(EventRecord(event="power_up", details=details))
        if before is None:
            return
        known = msgspec.json.decode(before.details, type=_Boot)
        if known.program != identity.program:
            await self._store(_changed("program_changed", known.program, identity.program))
        if known.configuration != identity.configuration:
            await self._store(_changed("configuration_changed", known.configuration, identity.configuration))

    async def stop(self) -> None:
        """Store that the daemon stops because it was asked to, and what still waits."""
        while not self._waiting.empty():
            await self._store(*self._waiting.get_nowait())
        await self._store(EventRecord(event="stop"))

    def begin(self) -> None:
        """The self-test is over. Before that sensors that have not answered yet count neither as working nor as
        failing."""
        self._has_begun = True
        self.look()

    def look(self) -> None:
        """Compare sensors, door and clock with what they were."""
        if self._has_begun:
            self._look_at_sensors()
            self._look_at_door()
        self._look_at_clock()

    def _look_at_sensors(self) -> None:
        for sensor, works in self._sensors().items():
            if works is not self._worked.setdefault(sensor, True):
                self._worked[sensor] = works
                self._note_sensor(sensor, works=works)

    def _look_at_door(self) -> None:
        """One that was opened and closed between two looks was opened, and one that stands open at a start counts as
        opened. What it was before the start the record says."""
        was, self._door_was = self._door_was, self._door()
        is_open, openings = self._door_was
        if openings > was.openings:
            times = openings - was.openings
            self._put(EventRecord(event="door_opened", details={"times": times} if times > 1 else {}))
        if is_open is False and (was.is_open or openings > was.openings):
            self._put(EventRecord(event="door_closed"))
        if is_open is None:
            self._door_was = was

    def _look_at_clock(self) -> None:
        synchronised = self._is_synchronised()
        if synchronised is not None and synchronised is not self._was_synchronised:
            self._put(EventRecord(event=_SYNCHRONISED[synchronised]))
        self._was_synchronised = synchronised
        set_s, before_s = self._clock_set_s(), self._was_set_s
        if set_s != before_s:
            self._put(EventRecord(event="clock_stepped", details={"seconds": round(set_s - before_s, 1)}))
        self._was_set_s = set_s

    async def run(self) -> NoReturn:
        """Store what was noted; ends by the journal's error or by cancellation."""
        while True:
            await self._store(*await self._waiting.get())

    async def follow(self, connection: WatchedConnection) -> NoReturn:
        """Note each connection to the broker, and each end of one, until cancelled."""
        while True:
            session = await connection.connected()
            self._put(EventRecord(event="broker_back"))
            await connection.lost(session)
            self._put(EventRecord(event="broker_lost"))

    def _note_sensor(self, sensor: str, *, works: bool) -> None:
        what = [trouble.value for trouble in self._troubles().get(sensor, ())]
        troubles: dict[str, object] = {"what": what} if what else {}
        if sensor == LINK:
            self._put(EventRecord(event="link_back" if works else "link_lost", details=troubles))
        else:
            name: EventName = "sensor_mended" if works else "sensor_failed"
            self._put(EventRecord(event=name, details={"sensor": sensor, **troubles}))

    def _put(self, happened: EventRecord) -> None:
        try:
            self._waiting.put_nowait((happened, self._clock.utc_us()))
        except asyncio.QueueFull:
            self._dropped += 1
            self._log.error("event.dropped", name=happened.event, why="the disk has stood still for too long")

    async def _store(self, happened: EventRecord, at_utc_us: int | None = None) -> None:
        if self._dropped:
            lost, self._dropped = {"dropped_before": self._dropped}, 0
            happened = msgspec.structs.replace(happened, details={**happened.details, **lost})
        await self._journal.note(happened, self._clock.utc_us() if at_utc_us is None else at_utc_us)


def _changed(event: EventName, before: str | None, after: str | None) -> EventRecord:
    return EventRecord(event=event, details={"before": before, "after": after})
