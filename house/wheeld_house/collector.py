"""The collector: takes the feeds of many wheels from several brokers, and stores each record once.

One loop does everything, one thing after the other: it keeps the leases, reads messages, stores records and requests
missing messages. While the database works, new messages wait. So the next commit has more records. The same message may
come from several brokers, and more than once. The collector judges it by its `seq` and the chain of hashes, not by
where or when it came.

Several collectors may run. A lease in the database says which one writes the records of a wheel. The others wait until
it ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import mqtt5

from wheeld.feed.message import SEQUENCED
from wheeld_house.brokers import BrokerLink
from wheeld_house.checkpoints import WitnessKey
from wheeld_house.database import NewRecord, RecordStore, RecordStoreError, RefusedRecordError
from wheeld_house.settings import HouseSettings
from wheeld_house.wheel import ACTIVE_S, CollectedWheel

_LOG = logging.getLogger("wheeld_house")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

BATCH = 1000
"""The most records in one commit, and the most messages that are taken before it."""
INBOX_MAX = 20_000
"""The most messages that wait in memory. Further messages are dropped. Later they are found missing and are requested
again."""
ANSWERING_MAX = 5
"""The most wheels that are asked for missing messages at the same time. Each sends up to 500 messages a second, and one
processor core can check 3,000 a second."""
TURN_S = 0.1
"""How long the loop waits for messages before it looks for other work."""
RETRY_S, RETRY_S_MAX = 0.2, 5.0
"""How long the collector waits before it tries the database again: the first time, and at most."""
SILENCE_S = 10.0
"""By then a broker has sent what it keeps of each wheel. It may confirm every subscription and send nothing."""


class Collector:
    """Collects the feeds of the wheels in the settings. It runs once, from `run` to `stop`. `tell` gets texts for the
    log."""

    def __init__(
        self,
        settings: HouseSettings,
        store: RecordStore,
        *,
        tell: Callable[[str], object] = _LOG.warning,
    ) -> None:
        self._settings, self._store, self._tell = settings, store, tell
        self._wheels: dict[str, CollectedWheel] = {}
        self._busy: dict[str, CollectedWheel] = {}
        """The wheels that may have something for the database, by root. One turn of the loop looks only at these
        wheels."""
        self._asked: dict[str, CollectedWheel] = {}
        """The wheels that were asked for missing messages and have not answered yet, by root."""
        self._due: deque[CollectedWheel] = deque()
        """The wheels that may have to be asked for missing messages."""
        self._look_s = 0.0
        """When `_due` is filled again."""
        self._unheard = {wheel.root: wheel.name for wheel in settings.wheels}
        """The wheels of which nothing has come yet, by root. They are told once."""
        self._inbox: deque[mqtt5.PublishPacket] = deque()
        self._work = asyncio.Event()
        self._stopping = asyncio.Event()
        self._told = ""
        self._renew_s = 0.0
        self._thread = ThreadPoolExecutor(1, "database")
        given = settings.witness
        self._witness = None if given is None else WitnessKey.read(given.name, Path(given.key_file))
        leaves = (*SEQUENCED, "notice", "reply")
        topics = [f"{wheel.root}/{leaf}" for wheel in settings.wheels for leaf in leaves]
        self._links = [
            BrokerLink(each.host, each.login(), topics, take=self._note, came=self._connected, tell=tell)
            for each in settings.brokers
        ]
        self.counters = {"stored": 0, "dropped": 0, "refused": 0, "errors": 0}

    async def run(self) -> None:
        """Collect until `stop`. Raises SettingsError for a key that cannot be read."""
        links = [asyncio.create_task(link.run()) for link in self._links]
        collecting = asyncio.create_task(self._collect())
        try:
            # A link must not end by itself. If a link ends, the program has an error.
            await asyncio.wait({collecting, *links}, return_when=asyncio.FIRST_COMPLETED)
            self.stop()
            await collecting
            for link in links:
                if link.done():
                    link.result()
        finally:
            for link in links:
                link.cancel()
            await asyncio.wait(links)
            self._thread.shutdown()

    def stop(self) -> None:
        """End soon, after the present work of the database. The leases are given up."""
        self._stopping.set()
        self._work.set()

    async def _collect(self) -> None:
        failures = 0
        is_open = False
        while not self._stopping.is_set():
            try:
                if not is_open:
                    await self._do(self._store.open)
                    numbers = await self._do(self._store.register, self._settings.wheels)
                    user, by = self._settings.brokers[0].username, self._settings.name
                    self._wheels = self._wheels or {
                        each.root: CollectedWheel(each, number=numbers[each.root], user=user, by=by, tell=self._tell)
                        for each in self._settings.wheels
                    }
                    self._renew_s = 0.0
                    is_open = True
                await self._turn()
                failures = 0
            except RecordStoreError as error:
                is_open = False
                failures += 1
                self.counters["errors"] += 1
                self._report(f"database: {error}; trying again")
                # A message must not end this pause. Otherwise the database would be tried again at once.
                await _pause(self._stopping, min(RETRY_S_MAX, RETRY_S * 2.0 ** min(failures - 1, 8)))
                continue
            self._report("")
            if not self._inbox:
                await _pause(self._work, TURN_S)
        try:
            await self._do(self._store.release_leases)
        except RecordStoreError as error:
            self._tell(f"database: {error}: the leases end by themselves")
        await self._do(self._store.close)

    def _report(self, trouble: str) -> None:
        """Tell each trouble with the database once. An empty text means that there is none."""
        if trouble and trouble != self._told:
            self._tell(trouble)
        self._told = trouble

    async def _do(self, call: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs) -> _Result:
        """Run `call` to its end in the thread of the database. A commit that has begun is never given up."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: call(*given, **named))

    # --- one turn of the loop --------------------------------------------------------------------------------------

    async def _turn(self) -> None:
        now_s = asyncio.get_running_loop().time()
        if now_s >= self._renew_s:
            await self._renew(now_s)
        self._work.clear()
        for _ in range(min(len(self._inbox), BATCH)):
            publication = self._inbox.popleft()
            root, _, leaf = publication.topic.rpartition("/")
            wheel = self._wheels.get(root)
            if wheel is not None:
                wheel.take(leaf, bytes(publication.payload), now_s)
                self._busy[root] = wheel
        try:
            records: list[NewRecord] = []
            taken: list[tuple[CollectedWheel, int]] = []
            for wheel in self._busy.values():
                some = wheel.records(BATCH - len(records))
                records += some
                taken.append((wheel, len(some)))
            if records:
                await self._do(self._store.add, records)
                for wheel, count in taken:
                    wheel.stored(count)
                self.counters["stored"] += len(records)
            await self._judge()
        except RefusedRecordError as error:
            # The lease is over, or this collector was wrong about the last stored record. `_renew` gets both from the
            # database.
            self.counters["refused"] += 1
            self._tell(f"database: {error}")
            await self._renew(asyncio.get_running_loop().time())
        self._busy = {root: wheel for root, wheel in self._busy.items() if wheel.is_busy}
        self._ask(asyncio.get_running_loop().time())

    async def _renew(self, now_s: float) -> None:
        """Keep the leases, and continue after the last stored record of each wheel."""
        brokers = sum(link.is_connected for link in self._links)
        numbers = [wheel.number for wheel in self._wheels.values()]
        leases = await self._do(self._store.keep_leases, self._settings.lease_s, brokers, numbers)
        self._renew_s = now_s + self._settings.lease_s / 3
        held = {each.wheel: each for each in leases}
        for wheel in self._wheels.values():
            lease = held.get(wheel.number)
            if (lease is not None) is not (wheel.order is not None):
                self._tell(f"{wheel.root}: {'collected here' if lease else 'no longer collected here'}")
            if lease is None:
                wheel.end()
            else:
                wheel.begin(lease, now_s)
        self._busy = dict(self._wheels)

    async def _judge(self) -> None:
        """Compare repeated messages with the stored records, unless a record waits to be stored. Compare the
        checkpoints that the wheels signed with the records that they published. Store the alarms."""
        busy = self._busy.values()
        asked = [(wheel.number, seq) for wheel in busy for seq in wheel.repeats]
        if asked and not any(wheel.pending for wheel in busy):
            stored = await self._do(self._store.hashes, asked)
            for wheel in busy:
                wheel.compare(stored)
        for wheel in busy:
            for signed in wheel.provable():
                is_true = await self._do(self._store.prove, wheel.number, wheel.fence, signed, self._witness)
                if is_true is False:
                    wheel.disproven(signed)
        alarms = [alarm for wheel in busy for alarm in wheel.alarms]
        if alarms:
            await self._do(self._store.alarm, alarms)
            for wheel in busy:
                wheel.alarms.clear()

    def _ask(self, now_s: float) -> None:
        """Ask a few wheels at a time for missing messages, but not while messages wait to be read: the missing messages
        may be among them."""
        if self._inbox or not any(link.is_connected for link in self._links):
            return
        if now_s >= self._look_s:
            self._look_s = now_s + TURN_S
            self._due = deque(wheel for wheel in self._wheels.values() if wheel.is_due(now_s))
        self._asked = {root: wheel for root, wheel in self._asked.items() if wheel.is_asked}
        room = ANSWERING_MAX - sum(now_s - wheel.active_s < ACTIVE_S for wheel in self._asked.values())
        while self._due and room > 0:
            wheel = self._due.popleft()
            question = None if wheel.order is None else wheel.order.question(now_s)
            if question is not None:
                room -= 1
                wheel.active_s = now_s
                self._asked[wheel.root] = wheel
                for link in self._links:
                    link.say(f"{wheel.root}/cmd/{self._settings.brokers[0].username}/resend", question)

    # --- what the links call -------------------------------------------------------------------------------------

    def _note(self, publication: mqtt5.PublishPacket) -> None:
        self._unheard.pop(publication.topic.rpartition("/")[0], None)
        if len(self._inbox) < INBOX_MAX:
            self._inbox.append(publication)
            self._work.set()
        else:
            self.counters["dropped"] += 1

    def _connected(self) -> None:
        """Remember that a connection is new. Messages and answers may have been lost before it."""
        now_s = asyncio.get_running_loop().time()
        self._renew_s = min(self._renew_s, now_s)
        for wheel in self._wheels.values():
            if wheel.order is not None:
                wheel.order.connected(now_s)
        asyncio.get_running_loop().call_later(SILENCE_S, self._note_silence)

    def _note_silence(self) -> None:
        for root, name in self._unheard.items():
            self._tell(f"{root}: nothing of it has come: check whether it runs, and `wheeld acl {name}`")
        self._unheard.clear()


async def _pause(until: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, but at most `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        return
