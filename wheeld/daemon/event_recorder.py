"""Stores event records in the journal: what happens to the power, the sensors, the lines, the broker, the door and the
clock.

Laboratories require these records. The journal keeps them when it removes evidence (docs/standards.md). What happens at
the table is stored by `TableLoop`.
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
from wheeld.ports import EventName, EventRecord, HostClock, Publisher
from wheeld.sources.chatter import DoorSeen

WAITING_MAX = 1_000
"""How many events may wait for the disk. A line that fails again and again causes one event every few seconds, so the
limit is reached only if the disk does not respond for an hour. Later events are dropped, and the next stored event says
how many."""

LINK = "link"
"""The name of the line to the sensors, where it is listed with the sensors."""


class EventStore(Protocol):
    """The part of the journal that stores event records. Every call may raise the journal's error."""

    async def note(self, happened: EventRecord, at_utc_us: int) -> None:
        """Store an event record, with the UTC at which it happened."""
        ...

    async def last_event(self, *names: EventName) -> StoredEvent | None:
        """Return the newest stored event that has one of these names."""
        ...


class _Boot(msgspec.Struct):
    """The details of a stored power-up that are compared with those of this power-up."""

    program: str | None = None
    configuration: str | None = None


class EventRecorder:
    """Compares the state of the device with its last state, and stores each change, in order.

    `sensors` returns for each sensor, and for the line to the sensors, whether it works. `troubles` returns what is
    wrong with each of them. `door` returns what was reported about the cabinet's door. `is_synchronised` returns
    whether a time server has set the host's clock, or None if that is unknown. `clock_set_s` returns by how many
    seconds the host's clock was set since the start, in total.
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
        """Store that the daemon starts, and each change of its program or its configuration since the last start.
        Raises the journal's error."""
        last = await self._journal.last_event("power_up", "stop")
        before = await self._journal.last_event("power_up")
        door = await self._journal.last_event("door_opened", "door_closed")
        self._door_was = DoorSeen(None if door is None else door.event == "door_opened")
        details: dict[str, object] = {
            "boot_id": boot_id,
            **msgspec.structs.asdict(identity),
            # None: this is the very first start. False: the power failed, or the program was killed.
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
        """Store the events that still wait, then that the daemon was asked to stop. Raises the journal's error."""
        while not self._waiting.empty():
            await self._store(*self._waiting.get_nowait())
        await self._store(EventRecord(event="stop"))

    def begin(self) -> None:
        """Begin to compare the sensors. Call this when the self-test is over: before that, a sensor that works may not
        have answered yet."""
        self._has_begun = True
        self.look()

    def look(self) -> None:
        """Compare the sensors, the door and the clock with their state at the last call, and note each change."""
        if self._has_begun:
            for sensor, works in self._sensors().items():
                if works is not self._worked.setdefault(sensor, True):
                    self._worked[sensor] = works
                    what = [trouble.value for trouble in self._troubles().get(sensor, ())]
                    troubles: dict[str, object] = {"what": what} if what else {}
                    if sensor == LINK:
                        self._put(EventRecord(event="link_back" if works else "link_lost", details=troubles))
                    else:
                        name: EventName = "sensor_mended" if works else "sensor_failed"
                        self._put(EventRecord(event=name, details={"sensor": sensor, **troubles}))
            self._look_at_door()
        synchronised = self._is_synchronised()
        if synchronised is not None and synchronised is not self._was_synchronised:
            self._put(EventRecord(event="clock_synchronised" if synchronised else "clock_not_synchronised"))
        self._was_synchronised = synchronised
        set_s, before_s = self._clock_set_s(), self._was_set_s
        if set_s != before_s:
            self._put(EventRecord(event="clock_stepped", details={"seconds": round(set_s - before_s, 1)}))
        self._was_set_s = set_s

    def _look_at_door(self) -> None:
        """Remember that the door was opened or closed. If it was opened and closed between two calls, both are noted. A
        door that is open at the daemon's start counts as opened. The state before this start comes from the event
        records."""
        was, self._door_was = self._door_was, self._door()
        is_open, openings = self._door_was
        if openings > was.openings:
            times = openings - was.openings
            self._put(EventRecord(event="door_opened", details={"times": times} if times > 1 else {}))
        if is_open is False and (was.is_open or openings > was.openings):
            self._put(EventRecord(event="door_closed"))
        if is_open is None:
            self._door_was = was

    async def run(self) -> NoReturn:
        """Store each event that was noted, until cancelled. Raises the journal's error."""
        while True:
            await self._store(*await self._waiting.get())

    async def follow(self, connection: Publisher) -> NoReturn:
        """Note the beginning and the end of each connection to the broker, until cancelled."""
        while True:
            session = await connection.connected()
            self._put(EventRecord(event="broker_back"))
            await connection.lost(session)
            self._put(EventRecord(event="broker_lost"))

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
