"""What happens to the device is stored as event records: each change once, in its order, for good."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.broker.world import FakeBroker, VirtualClock, settle, working
from tests.journal.journals import NOW, open_reader, open_writer, write_journal, write_keys
from wheeld.core.facts import Trouble
from wheeld.daemon import event_recorder
from wheeld.daemon.event_recorder import EventRecorder
from wheeld.daemon.identity import DaemonIdentity
from wheeld.journal.chain import EVENT, Value
from wheeld.journal.rows import StoredEvent
from wheeld.journal.verify import verify
from wheeld.journal.writer import JournalWriter
from wheeld.ports import EventName, EventRecord
from wheeld.sources.chatter import DoorSeen

FIRST = DaemonIdentity(version="1", program="a1", configuration="c1")


class DirectEvents:
    """The journal, in the caller's own thread. While it `stands`, the disk does not answer."""

    def __init__(self, file: JournalWriter) -> None:
        self.file = file
        self.stands = asyncio.Event()
        self.stands.set()

    async def note(self, happened: EventRecord, at_utc_us: int) -> None:
        await self.stands.wait()
        self.file.note(happened, at_utc_us)

    async def last_event(self, *names: EventName) -> StoredEvent | None:
        return self.file.last_event(*names)


class Bench:
    """A recorder, and what it is shown."""

    def __init__(self, file: JournalWriter) -> None:
        self.file = file
        self.journal = DirectEvents(file)
        self.sensors = {"link": True, "beam/0": True}
        self.troubles: dict[str, tuple[Trouble, ...]] = {}
        self.door = DoorSeen()
        self.synchronised: bool | None = None
        self.set_s = 0.0
        self.clock = VirtualClock()
        self.recorder = self.another()
        self.recorder.begin()

    def another(self) -> EventRecorder:
        """A recorder of the same device, started anew."""
        return EventRecorder(
            self.journal,
            clock=self.clock,
            sensors=lambda: self.sensors,
            troubles=lambda: self.troubles,
            door=lambda: self.door,
            is_synchronised=lambda: self.synchronised,
            clock_set_s=lambda: self.set_s,
        )

    async def look(self) -> list[tuple[str, dict[str, Any]]]:
        """What is stored when it has looked."""
        self.recorder.look()
        async with working(self.recorder.run()):
            await settle()
        return self.stored

    @property
    def stored(self) -> list[tuple[str, dict[str, Any]]]:
        return [(each.event, msgspec.json.decode(each.details)) for each in self.file.reader.events(0, 100)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(open_writer(tmp_path / "wheel.journal"))


async def test_a_power_up_says_whether_the_run_before_was_stopped(bench: Bench) -> None:
    await bench.recorder.power_up(FIRST, "boot-1")
    await bench.recorder.power_up(FIRST, "boot-2")  # the power went
    await bench.recorder.stop()
    await bench.recorder.power_up(FIRST, "boot-3")
    ups = [details for name, details in bench.stored if name == "power_up"]
    assert [(each["boot_id"], each["stopped_in_order"]) for each in ups] == [
        ("boot-1", None),
        ("boot-2", False),
        ("boot-3", True),
    ]
    assert ups[0] | {"boot_id": "", "stopped_in_order": ""} == {
        "boot_id": "",
        "version": "1",
        "program": "a1",
        "as_released": None,
        "configuration": "c1",
        "test": False,
        "stopped_in_order": "",
    }
    assert [name for name, _ in bench.stored] == ["power_up", "power_up", "stop", "power_up"]


async def test_a_change_of_program_or_configuration_has_both_digests(bench: Bench) -> None:
    await bench.recorder.power_up(FIRST, "boot-1")
    await bench.recorder.power_up(msgspec.structs.replace(FIRST, configuration="c2"), "boot-2")
    await bench.recorder.power_up(msgspec.structs.replace(FIRST, configuration="c2", program="a2"), "boot-3")
    assert [each for each in bench.stored if each[0] != "power_up"] == [
        ("configuration_changed", {"before": "c1", "after": "c2"}),
        ("program_changed", {"before": "a1", "after": "a2"}),
    ]


async def test_each_change_of_a_sensor_or_its_line_is_stored_once(bench: Bench) -> None:
    assert await bench.look() == []
    bench.sensors["beam/0"], bench.troubles = False, {"beam/0": (Trouble.CHATTERS,)}
    await bench.look()
    bench.sensors["link"], bench.troubles = False, {"link": (Trouble.NOTHING_HEARD,)}
    await bench.look()
    await bench.look()
    bench.sensors.update({"link": True, "beam/0": True, "head": False})
    bench.troubles = {}
    assert await bench.look() == [
        ("sensor_failed", {"sensor": "beam/0", "what": ["chatters"]}),
        ("link_lost", {"what": ["nothing_heard"]}),
        ("link_back", {}),
        ("sensor_mended", {"sensor": "beam/0"}),
        ("sensor_failed", {"sensor": "head"}),
    ]


async def test_each_opening_of_the_door_is_stored_and_each_closing(bench: Bench) -> None:
    bench.door = DoorSeen(False)
    assert await bench.look() == []
    bench.door = DoorSeen(True, 1)
    await bench.look()
    assert await bench.look() == [("door_opened", {})]
    bench.door = DoorSeen(False, 1)
    await bench.look()
    bench.door = DoorSeen(False, 4)  # opened and closed while nobody looked
    assert (await bench.look())[1:] == [("door_closed", {}), ("door_opened", {"times": 3}), ("door_closed", {})]


async def test_a_door_that_stands_open_at_the_start_is_stored_after_the_self_test(bench: Bench) -> None:
    bench.door = DoorSeen(True, 1)
    started = bench.another()
    await started.power_up(FIRST, "boot-1")
    started.look()
    async with working(started.run()):
        await settle()
    assert [name for name, _ in bench.stored] == ["power_up"]
    started.begin()
    await started.stop()
    assert [name for name, _ in bench.stored] == ["power_up", "door_opened", "stop"]


@pytest.mark.parametrize(
    ("now", "recorded"),
    [(DoorSeen(False), ["door_closed"]), (DoorSeen(True, 1), ["door_opened"]), (DoorSeen(), [])],
)
async def test_a_start_tells_what_became_of_a_door_that_was_open(
    bench: Bench, now: DoorSeen, recorded: list[str]
) -> None:
    bench.door = DoorSeen(True, 1)
    await bench.look()
    known = len(bench.stored)
    bench.door = now
    started = bench.another()
    await started.power_up(FIRST, "boot-2")
    started.begin()
    await started.stop()
    assert [name for name, _ in bench.stored[known:]] == ["power_up", *recorded, "stop"]


async def test_a_door_that_is_told_late_is_compared_with_the_record(bench: Bench) -> None:
    bench.door = DoorSeen(True, 1)
    await bench.look()
    bench.door = DoorSeen()
    bench.recorder = bench.another()
    await bench.recorder.power_up(FIRST, "boot-2")
    bench.recorder.begin()
    bench.door = DoorSeen(False)
    assert [name for name, _ in await bench.look()] == ["door_opened", "power_up", "door_closed"]


async def test_a_clock_that_is_set_is_stored(bench: Bench) -> None:
    bench.synchronised = False
    await bench.look()
    bench.synchronised, bench.set_s = True, -3.5
    await bench.look()
    bench.synchronised, bench.set_s = None, 1.5  # nobody knows any more
    assert await bench.look() == [
        ("clock_not_synchronised", {}),
        ("clock_synchronised", {}),
        ("clock_stepped", {"seconds": -3.5}),
        ("clock_stepped", {"seconds": 5.0}),
    ]


async def test_each_connection_to_the_broker_and_its_end_is_stored(bench: Bench) -> None:
    broker = FakeBroker()
    async with working(bench.recorder.follow(broker)):
        for _ in range(2):
            broker.up()
            await settle()
            broker.down()
            await settle()
    assert [name for name, _ in await bench.look()] == ["broker_back", "broker_lost"] * 2


async def test_what_waits_is_stored_before_the_stop(bench: Bench) -> None:
    bench.sensors["link"] = False
    bench.recorder.look()
    await bench.recorder.stop()
    assert [name for name, _ in bench.stored] == ["link_lost", "stop"]


async def test_it_waits_for_a_slow_disk_and_says_what_it_dropped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_recorder, "WAITING_MAX", 3)
    bench = Bench(bench.file)
    bench.journal.stands.clear()
    async with working(bench.recorder.run()):
        for _ in range(10):
            bench.sensors["link"] = not bench.sensors["link"]
            bench.recorder.look()
        await settle()
        bench.journal.stands.set()
        await settle()
    assert bench.stored[0] == ("link_lost", {"dropped_before": 7})
    assert len(bench.stored) == 3


def test_events_stay_when_evidence_goes_and_are_verified(tmp_path: Path) -> None:
    private, _ = write_keys(tmp_path)
    write_journal(tmp_path / "wheel.journal", private)
    with closing(open_reader(tmp_path / "wheel.journal")) as journal:
        report = verify(journal)
        assert (report.faults, report.pruned) == ([], 2)
        assert [each.by for each in journal.events(0, 100)] == ["Zoé"] * 9
        assert [each.row for each in journal.events(4, 2)] == [5, 6]
        # After each coup's reply and result came its event.
        places = journal.places_of_events()
        assert list(places) == list(range(1, 10))
        assert sorted(places.values()) == list(places.values())


def test_an_event_that_a_later_version_knows_is_read(bench: Bench) -> None:
    with bench.file.database.transaction():
        columns: dict[str, Value] = {"event": "earthquake", "by": None, "why": None, "details": "{}", "at_utc_us": NOW}
        bench.file.database.record(EVENT, **columns)
    (found,) = bench.file.reader.events(0, 10)
    assert found.event == "earthquake"
    assert bench.file.reader.last_event("power_up") is None
