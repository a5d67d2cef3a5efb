"""The real daemon (`wheeld.daemon.root.run`) in a process that can be killed, with its ports connected to a house.

Real: everything from the bytes of the board to the SQLite file, and the publications. Replaced: the clock (it is the
house's), the serial port and the connection to the broker. The house is in another process, which is never killed.

As a program it forks a daemon for each line on its standard input, kills it with SIGKILL after that many seconds, and
prints how it ended.
"""

from __future__ import annotations

import asyncio
import heapq
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any, Protocol, cast

import wheeld.daemon.root
import wheeld.daemon.sources
import wheeld.journal.journal
from tests.broker.world import Answers
from tests.faults.kill_house import ROOT, DaemonInput, DaemonOutput
from wheeld.broker.lanes import Inbox, Incoming
from wheeld.broker.mqtt import Refusal, Refused
from wheeld.config.reading import load
from wheeld.ports import Publication
from wheeld.service.program import Program

THREAD_NAP_S = 0.0002
"""A commit takes about as long."""


class HouseLink(Protocol):
    """The connection to the house, in this process or in another."""

    def send(self, output: DaemonOutput) -> None:
        """Send that to the house, at once."""
        ...

    def exchange(self) -> DaemonInput | None:
        """The daemon has nothing to do now. Returns what it sees next; None: stop."""
        ...


class HousePorts(Answers):
    """The daemon's clock, serial port and broker in one object, connected to the house; `run` advances them."""

    def __init__(self, link: HouseLink, first: DaemonInput) -> None:
        super().__init__(ROOT + "/", self)
        self._link = link
        self._now_ns, self._utc_us = first.now_ns, first.utc_us
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0
        self._from_board = bytearray(first.board)
        self._readable = asyncio.Event()
        self._unconfirmed: dict[int, asyncio.Future[None]] = {}
        self.inbox = Inbox(self, self.sparing_log, self.access.users)
        self._deliver(first)
        self.counters: dict[str, int] = {}
        self.is_connected = False
        self.refusals: dict[Refused, Refusal] = {}
        self.not_renewed = ""
        self._up = asyncio.Event()
        self._passing: asyncio.Task[None] | None = None
        self.busy: Callable[[], bool] = bool

    # The clock

    def monotonic_ns(self) -> int:
        return self._now_ns

    def utc_us(self) -> int:
        return self._utc_us

    def asleep_ns(self) -> int:
        return 0

    async def sleep(self, seconds: float) -> None:
        if self._passing is None:  # the daemon waits for its self-test before it connects
            self._passing = asyncio.create_task(self._let_time_pass())
        self._count += 1
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now_ns + round(seconds * 1e9), self._count, wake))
        await wake

    # The line

    async def read(self) -> bytes:
        while not self._from_board:
            self._readable.clear()
            await self._readable.wait()
        data = bytes(self._from_board)
        self._from_board.clear()
        return data

    async def write(self, data: bytes) -> None:
        if data:
            self._link.send(DaemonOutput(data, []))

    async def close(self) -> None:
        pass

    # The broker

    @property
    def outage(self) -> None:
        return None  # it is never cut off

    @property
    def heard_ns(self) -> int:
        return self.monotonic_ns()  # it is never cut off

    def ask(self) -> None:
        pass

    async def hear(self, since_ns: int) -> bool:
        return True

    async def connected(self) -> int:
        await self._up.wait()
        return 1

    async def lost(self, session: int) -> None:
        await asyncio.Event().wait()

    async def publish(self, publication: Publication, *, session: int) -> None:
        self._count += 1
        confirmed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unconfirmed[self._count] = confirmed
        self._link.send(DaemonOutput(b"", [(self._count, publication.topic, publication.payload)]))
        await confirmed

    async def run(self) -> None:
        """As the connection's task."""
        self.is_connected = True
        self._up.set()
        assert self._passing is not None, "the daemon has waited for its self-test"
        await self._passing

    async def _let_time_pass(self) -> None:
        """Whenever the daemon has nothing to do."""
        while True:
            await self._quiet()
            answer = self._link.exchange()
            if answer is None:
                self.is_connected = False
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.Event().wait()
            else:
                self._take(answer)

    def _take(self, answer: DaemonInput) -> None:
        for number in answer.confirmed:
            if (waiting := self._unconfirmed.pop(number, None)) is not None and not waiting.done():
                waiting.set_result(None)
        self._deliver(answer)
        self._from_board += answer.board
        self._readable.set()
        self._now_ns, self._utc_us = answer.now_ns, answer.utc_us
        while self._sleepers and self._sleepers[0][0] <= answer.now_ns:
            wake = heapq.heappop(self._sleepers)[2]
            if not wake.done():
                wake.set_result(None)

    def _deliver(self, answer: DaemonInput) -> None:
        for leaf, payload in answer.incoming:
            if leaf == "ack":
                self.inbox.acks.put(payload)
            else:
                self.inbox.put(Incoming(leaf=leaf, payload=payload))

    async def _quiet(self) -> None:
        """Wait until no other task can run now."""
        loop = cast("Any", asyncio.get_running_loop())
        await asyncio.sleep(0)
        while loop._ready or self.busy():  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0 if loop._ready else THREAD_NAP_S)


class UnreadProgram(Program):
    """Its files stay unread: that thread would not be counted."""

    async def read(self) -> None:
        return


class CountedThread(ThreadPoolExecutor):
    """The journal's thread, which counts the calls that wait."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.waiting = 0

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        self.waiting += 1
        done = super().submit(work, *arguments, **more)
        done.add_done_callback(self._count)
        return done

    def _count(self, _: Future[Any]) -> None:
        self.waiting -= 1


class InlineExecutor(Executor):
    """The journal without its thread: each call is done when it is made, so every run takes the same steps."""

    def __init__(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        self._before, self._after = before, after

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        done: Future[Any] = Future()
        self._before()
        try:
            done.set_result(work(*arguments, **more))
        except Exception as wrong:  # noqa: BLE001  as an executor does
            done.set_exception(wrong)
        self._after()
        return done


def run_daemon(config: Path, link: HouseLink, executor: Callable[..., Executor] | None = None) -> int:
    """`wheeld run` connected to that house; returns its exit code. `executor` makes the journal's thread."""
    first = link.exchange()
    assert first is not None
    made: list[Any] = []
    ports = HousePorts(link, first)
    ports.busy = lambda: any(getattr(one, "waiting", 0) for one in made)

    def thread(*arguments: Any, **more: Any) -> Executor:
        made.append((executor or CountedThread)(*arguments, **more))
        return cast("Executor", made[-1])

    daemon, journal = cast("Any", wheeld.daemon.root), cast("Any", wheeld.journal.journal)
    sources = cast("Any", wheeld.daemon.sources)
    daemon.Program = UnreadProgram
    daemon.SystemClock = daemon.MqttConnection = sources.open_serial = lambda *_, **__: ports
    journal.ThreadPoolExecutor = thread
    return int(wheeld.daemon.root.run(load(config)) or 0)


class Channel:
    """A house in another process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, output: DaemonOutput) -> None:
        self._connection.send(tuple(output))

    def exchange(self) -> DaemonInput | None:
        self._connection.send(None)
        answer = self._connection.recv()
        return None if answer is None else DaemonInput(*answer)


def forked(work: Callable[[], int]) -> int:
    """Fork a process that calls `work` and ends with its exit code. Returns its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os._exit(work())
    except BaseException:  # noqa: BLE001  the parent's code must not continue in here
        traceback.print_exc()
        os._exit(70)


def main() -> None:
    """A daemon for each line, killed after that many seconds; a line with 0 lets it end by itself."""
    config, address = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin:
        channel = Client(address, "AF_UNIX")  # here, so that the house sees the end of one that is killed at its start
        pid = forked(partial(run_daemon, config, Channel(channel)))
        channel.close()
        if delay_s := float(line):
            time.sleep(delay_s)
            os.kill(pid, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)  # noqa: T201  the parent reads it


if __name__ == "__main__":
    main()
