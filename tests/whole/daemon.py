"""The real daemon in a simulated house, in one process and on virtual time.

Real: `wheeld.daemon.root` and all that it builds, down to the bytes of the line and the SQLite file. Replaced: clocks,
the serial port, the MQTT client, systemd's socket, the journal's thread, the thread that reads the program's
files, and the sources of chance.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from concurrent.futures import Executor, Future
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, Self, cast
from unittest import mock

import mqtt5
import structlog

import wheeld.broker.mqtt
import wheeld.daemon.root
import wheeld.daemon.sources
import wheeld.daemon.status
import wheeld.journal.journal
import wheeld.service.host_clock
from hw_sim.configuration import sections
from hw_sim.wheel import WheelLayout
from hw_sim.whole import wires
from hw_sim.whole.broker import BrokerAwayError, Client, Delivery
from hw_sim.whole.computer import WATCHDOG_S
from hw_sim.whole.house import FIRST_NUMBER, House
from hw_sim.whole.plan import HEADS, HEADS_ALONE, LAYOUTS, WIRED, Source
from tests.virtual_loop import VirtualLoop
from wheeld.broker.settings import MqttSettings
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.exits import Exit
from wheeld.journal.rows import JournalError
from wheeld.journal.writer import JournalWriter
from wheeld.mqtt.client import Take
from wheeld.mqtt.session import MqttError
from wheeld.ports import LinkClosedError
from wheeld.service.program import Program
from wheeld.service.time_sync import TimeSync
from wheeld.sources.link.serial_link import PortUnavailableError

JOURNAL = "journal.sqlite"
FILES = (JOURNAL, f"{JOURNAL}-wal")
INTERRUPTED = 1 / 12
"""So many of all readings of a clock, on a busy computer. A real one: one in hundreds; an evening is short."""
FULL_SYNC = 2
"""What SQLite's `synchronous` is when each commit is on the disk before it returns."""


def config_of(house: House, directory: Path) -> Config:
    source = house.plan.source
    layout = LAYOUTS[source]
    if source in HEADS:
        layout = replace(layout, readers_deg=())
    wheel = sections(layout, site="house", table="wheel-1", last_number=FIRST_NUMBER, port=Path("board"), speed=1)
    if source in WIRED:
        wheel = wheel.partition("[sensors]")[0] + _gpio(layout, has_head=source in HEADS)
    if source in HEADS:
        wheel = _with_head(wheel, source)
    rest = f'[journal]\npath = "{JOURNAL}"\n[mqtt]\nhost = "127.0.0.1"\nsettlement_ack = true\n'
    return parse(f"{wheel}\n{rest}", directory=directory)


def _with_head(wheel: str, source: Source) -> str:
    """What is left of the sensors beside the head, and the chef for what a SlingShot 2 alone does not report."""
    product = "mercury-360" if source == "mercury" else "slingshot-2"
    if source in HEADS_ALONE:
        wheel = wheel.partition("[wheel]")[0] + "[wheel]\n"
    if source == "slingshot":
        wheel = wheel.replace("[wheel]", 'unproven = "chef"\n[wheel]')
    if source in WIRED:  # the head reports the rotor, too
        wheel = wheel.replace(f"rotor_ticks = {LAYOUTS[source].rotor_ticks}\n", "")
    wheel = wheel.replace("readers_deg = []\n", "" if source in WIRED else 'pocket = "head"\n')
    return f'{wheel}\n[head]\nproduct = "{product}"\nport = "head"\n'


def _gpio(layout: WheelLayout, *, has_head: bool) -> str:
    """Its pins; beside a head those of beams, the object sensor and buttons."""
    buttons = "".join(f"button_{name} = {pin}\n" for name, pin in wires.BUTTONS.items())
    of_wheel = f"""encoder = "quadrature"
encoder_pins = {list(wires.ENCODER)}
index_tick = {wires.INDEX_TICK}
reader_pins = {[wires.READERS + n for n in range(len(layout.readers_deg))]}
"""
    return f"""[gpio]
provider = "rpi-lgpio"
{"" if has_head else of_wheel}beam_pins = {[wires.BEAMS + n for n in range(len(layout.beams_deg))]}
object_pin = {wires.OBJECT}
{buttons}"""


class Life:
    """One run of the daemon's program, from its start to its end or until it is killed."""

    def __init__(self, house: House, directory: Path, number: int) -> None:
        self.house, self.directory = house, directory
        self.is_dead = False
        self.rng = random.Random(f"{house.plan.seed} life {number}")
        self._processor_rng = random.Random(f"{house.plan.seed} processor {number}")
        self.disk = SimDisk(self)
        self._frozen_s = 0.0

    # --- time, as the event loop has it ------------------------------------------------------------------------------

    def now_s(self) -> float:
        return self.house.now_us / 1e6 + self._frozen_s

    def pass_s(self, seconds: float | None, woken: Callable[[], object]) -> None:
        """Time passes in the house while the daemon waits, and while it stands still."""
        if self.is_dead:
            self._frozen_s += seconds or 0.0
            return
        timeline = self.house.timeline
        until_us = None if seconds is None else timeline.now_us + max(1, round(seconds * 1e6))
        timeline.pass_to(until_us, woken=woken)
        while not self.is_dead and timeline.now_us < self.house.computer.stalled_until_us:
            timeline.pass_to(self.house.computer.stalled_until_us, woken=lambda: self.is_dead)

    def wait_for_processor(self) -> None:
        """Another process may have it, where the computer is busy."""
        if (busy_s := self.house.computer.busy_s) and self._processor_rng.random() < INTERRUPTED:
            self.pass_s(busy_s * self._processor_rng.random(), woken=lambda: self.is_dead)

    # --- from start to end -------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run it; its end is the house's."""
        house, computer = self.house, self.house.computer
        loop = VirtualLoop(self)
        asyncio.set_event_loop(loop)
        killed = loop.create_future()

        def kill(*, only_synced: bool) -> None:
            if not self.is_dead:
                self.disk.keep(only_synced=only_synced)
                self.is_dead = True
                killed.set_result(None)

        computer.kill = partial(kill, only_synced=False)
        computer.lose_power = partial(kill, only_synced=True)
        computer.stop = lambda: loop.raise_signal(signal.SIGTERM)
        computer.disk_changed = self.disk.changed
        computer.started()
        with replaced(self):
            work = loop.create_task(wheeld.daemon.root._run(config_of(house, self.directory)))
            loop.run_until_complete(asyncio.wait({work, killed}, return_when=asyncio.FIRST_COMPLETED))
            self._finish(loop, work)
        self.disk.restore()
        if house.broker.client is not None:
            house.broker.unheard() if not computer.has_power else house.broker.drop(house.broker.client)
        for line in house.lines.values():
            line.wake = None
        house.wires.close()
        computer.disk_changed = lambda: None
        computer.ended()

    def _finish(self, loop: VirtualLoop, work: asyncio.Task[Exit | None]) -> None:
        """What is left of it ends without any effect on the house."""
        trouble = self.house.witness.troubles
        if work.done() and not self.is_dead:
            if (error := work.exception()) is not None:
                trouble.append(f"crashed: {error!r}, {getattr(error, 'exceptions', '')}")
            elif work.result() not in (Exit.OK, Exit.IO_FAILED, Exit.NOT_OPENED):
                trouble.append(f"ended with {work.result()!r}")
        self.is_dead = True
        loop.set_exception_handler(lambda *_: None)  # nobody is there any more who could ask for what was not done
        while tasks := asyncio.all_tasks(loop):
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait(tasks, timeout=1.0))  # one may wait for a disk that answers no more
            for task in tasks:
                task.done() and (task.cancelled() or task.exception())
        if work.done():
            work.cancelled() or work.exception()
        self.disk.close()
        loop.close()
        asyncio.set_event_loop(None)


class UnreadProgram(Program):
    """Its files stay unread: a thread has no virtual time."""

    async def read(self) -> None:
        return


class HouseTime:
    """The clocks of the computer, in place of the module `time`; between two readings a busy one may do something
    else. The loop's timers run on the timeline: a drifting clock is right enough for them."""

    CLOCK_BOOTTIME = time.CLOCK_BOOTTIME

    def __init__(self, life: Life) -> None:
        self._life, self._computer = life, life.house.computer

    def monotonic_ns(self) -> int:
        self._life.wait_for_processor()
        return self._computer.monotonic_ns()

    def time_ns(self) -> int:
        self._life.wait_for_processor()
        return self._computer.utc_us() * 1_000

    def clock_gettime_ns(self, _: int) -> int:
        """A wheel's computer is never suspended to memory; one that is stopped loses the time of a stall."""
        return self.monotonic_ns()


class HouseLink:
    """The daemon's end of the line."""

    def __init__(self, life: Life, port: str, *, ready: bool) -> None:
        assert ready == (port == "head"), "a board may reset on DTR"
        self._life, self._line = life, life.house.lines[port]
        if not self._line.is_there:
            raise PortUnavailableError(port, "the port is not there: is it plugged in?")
        self._news = asyncio.Event()
        self._is_over = False
        self._line.open(self._news.set)

    async def read(self) -> bytes:
        while True:
            self._check()
            if data := self._line.read():
                return data
            self._news.clear()
            await self._news.wait()

    async def write(self, data: bytes) -> None:
        self._check()
        if data:
            self._line.write(data)

    async def close(self) -> None:
        if not self._life.is_dead:
            self._line.wake = None

    def _check(self) -> None:
        self._is_over |= self._life.is_dead or not self._line.is_there
        if self._is_over:
            raise LinkClosedError("the device is gone")


class HouseClient:
    """As much of `wheeld.mqtt.client.MqttClient` as the daemon uses.

    What comes waits in the socket until the event loop reads it, so a daemon that stands still has not confirmed it.
    """

    heard_ns = 0
    has_session = False

    def __init__(self, life: Life, settings: MqttSettings, *, take: Take, will: mqtt5.Will) -> None:
        self._take, self._life, self._broker = take, life, life.house.broker
        self._timeout_s = settings.publish_timeout_s
        self._loop = asyncio.get_running_loop()
        self.gone = self._loop.create_future()
        self._client = Client(
            partial(self._in_socket, self._read),
            partial(self._in_socket, self._end),
            will=(will.topic, cast("bytes", will.payload)),
        )

    @asynccontextmanager
    async def connected(self, *, session_s: float, resumes: bool) -> AsyncIterator[Self]:
        await asyncio.sleep(0.005)
        try:
            self.has_session = self._broker.connect(self._client, keeps_s=session_s, resumes=resumes)
        except BrokerAwayError:
            raise MqttError("Connection refused") from None
        self._hear()
        try:
            yield self
        finally:
            await self.close()

    async def close(self, *, forget: bool = False) -> None:
        if not self._life.is_dead and not self.gone.done():
            self._end()
            self._broker.leave(self._client, forget=forget)

    async def subscribe(self, *topics: str) -> dict[str, str]:
        self._check()
        self._broker.subscribe(self._client, set(topics))
        return {}

    async def unsubscribe(self, *topics: str) -> None:
        self._check()
        await self._confirmed(partial(self._broker.unsubscribe, self._client, set(topics)), self._timeout_s)

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int = 1,
        retain: bool = False,
        correlation: bytes | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self._check()
        send = partial(self._broker.send, self._client, topic, payload, retain=retain)
        if qos:
            await self._confirmed(send, self._timeout_s if timeout_s is None else timeout_s)
        else:
            send(taken=partial(self._in_socket, self._hear))

    async def _confirmed(self, send: Callable[..., None], timeout_s: float) -> None:
        taken = self._loop.create_future()

        def confirm() -> None:
            self._hear()
            if not taken.done():
                taken.set_result(None)

        send(taken=partial(self._in_socket, confirm))
        await asyncio.wait({taken, self.gone}, timeout=timeout_s, return_when="FIRST_COMPLETED")
        if not taken.done():
            self._end("timed out")
            self._check()

    def ask(self) -> None:
        if not self.gone.done():
            self._broker.ask(self._client, partial(self._in_socket, self._hear))

    def _hear(self) -> None:
        self.heard_ns = self._life.house.computer.monotonic_ns()

    def _check(self) -> None:
        if self._life.is_dead and not self.gone.done():  # else who tries again at once would never stop
            self.gone.set_result(MqttError("not connected"))
        if self.gone.done():
            raise self.gone.result()

    def _in_socket(self, read: Callable[..., None], *what: Any) -> None:
        if not self._life.is_dead:
            self._loop.call_soon(read, *what)

    def _read(self, came: Delivery) -> None:
        if self.gone.done():
            return
        self._take(mqtt5.PublishPacket(came.topic, came.payload, retain=came.retained))
        self._broker.confirm(self._client, came)

    def _end(self, why: str = "the broker closed the connection") -> None:
        if not self.gone.done():
            self.gone.set_result(MqttError(why))


class SimDisk(Executor):
    """The journal's thread and the disk under its file. Calls are made one after the other, each whole or not at all.

    What the power takes is what SQLite has not synced, by its own settings: a WAL that it does not sync at each commit.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._writer: JournalWriter | None = None
        life.house.computer.disk_free_us = 0
        self._kept: Path | None = None
        self._syncs = False
        """Whether each commit is on the disk before it returns; a journal that has failed does not say so any more."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        timeline, computer, done = self._life.house.timeline, self._life.house.computer, Future[Any]()

        def call() -> None:
            if self._life.is_dead:
                return
            try:
                result = work(*arguments, **more)
            except Exception as wrong:  # noqa: BLE001  as an executor does
                done.set_exception(wrong)
                return
            if isinstance(result, JournalWriter):
                self._writer = result
                self._syncs = result.reader.database.integer("PRAGMA synchronous") >= FULL_SYNC
                self.changed()
            done.set_result(result)

        if self._life.is_dead:
            done.cancel()
        elif computer.disk_call_s or computer.disk_free_us > timeline.now_us:
            computer.disk_free_us = max(computer.disk_free_us, timeline.now_us) + round(computer.disk_call_s * 1e6)
            timeline.at(computer.disk_free_us, call)
        else:
            call()
        return done

    def changed(self) -> None:
        """The disk is full, or has room again."""
        if self._writer is not None:
            pages = 1 if self._life.house.computer.disk_is_full else 2**31
            with suppress(JournalError):  # one that has failed stays so
                self._writer.reader.database.rows(f"PRAGMA max_page_count = {pages}")

    def keep(self, *, only_synced: bool) -> None:
        """The program is killed, or its power cut: this is what is on the disk."""
        directory = self._life.directory
        self._kept = directory / "kept"
        self._kept.mkdir(exist_ok=True)
        for name in FILES:
            (self._kept / name).unlink(missing_ok=True)
            if (directory / name).exists() and (self._syncs or not only_synced or name == JOURNAL):
                shutil.copyfile(directory / name, self._kept / name)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def restore(self) -> None:
        if self._kept is not None:
            for path in self._life.directory.glob(f"{JOURNAL}*"):
                path.unlink()
            for name in FILES:
                if (self._kept / name).exists():
                    shutil.copyfile(self._kept / name, self._life.directory / name)


class Notifier:
    """Systemd's end of the socket."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self.watchdog_s = WATCHDOG_S
        self.has_manager = True

    def alive(self) -> None:
        if not self._life.is_dead:
            self._life.house.computer.alive()

    def ready(self, status: str) -> None: ...

    def status(self, status: str) -> None: ...

    def failed(self, why: str) -> None: ...

    def stopping(self) -> None: ...


@contextmanager
def replaced(life: Life) -> Iterator[None]:
    """The edges of the daemon, as that house has them."""
    root, sources = wheeld.daemon.root, wheeld.daemon.sources

    def opened(
        settings: MqttSettings, *, take: Take, will: mqtt5.Will, session_s: int, resumes: bool
    ) -> AbstractAsyncContextManager[HouseClient]:
        client = HouseClient(life, settings, take=take, will=will)
        return client.connected(session_s=session_s, resumes=resumes)

    def log(_: object, level: str, event: MutableMapping[str, Any]) -> NoReturn:
        life.house.witness.logged.append((life.house.now_us, level, str(event["event"])))
        raise structlog.DropEvent

    rng = life.rng
    structlog.configure(processors=[log], wrapper_class=structlog.make_filtering_bound_logger("info"))
    with ExitStack() as stack:
        for module, name, instead in (
            (wheeld.service.host_clock, "time", HouseTime(life)),
            (root, "ServiceNotifier", lambda: Notifier(life)),
            (root, "Program", UnreadProgram),
            (root, "TimeSync", partial(TimeSync, look=lambda: True)),
            (root, "random", SimpleNamespace(Random=lambda: random.Random(rng.random()))),
            (root, "uuid", SimpleNamespace(uuid4=lambda: uuid.UUID(int=rng.getrandbits(128)))),
            (wheeld.broker.mqtt, "opened", opened),
            (wheeld.daemon.status, "temperatures_c", dict),
            (wheeld.journal.journal, "ThreadPoolExecutor", lambda **_: life.disk),
            (sources, "open_serial", lambda port, _baud, _key, ready=True: HouseLink(life, port, ready=ready)),
            (sources, "open_pins", lambda *_: life.house.wires.open()),
            (sources, "random", rng),
            (sources, "secrets", SimpleNamespace(randbits=rng.getrandbits)),
        ):
            stack.enter_context(mock.patch.object(module, name, instead))
        try:
            yield
        finally:
            structlog.reset_defaults()


def play(house: House, directory: Path) -> None:
    """The whole evening, with as many daemons, one after the other, as it needs."""
    lives = 0
    while not house.is_done:
        if house.computer.wants_daemon:
            lives += 1
            Life(house, directory, lives).run()
        else:
            house.timeline.step()
