"""The composition root: builds the parts of one wheel's daemon, runs them as named tasks, and returns how the daemon
ended."""

from __future__ import annotations

import asyncio
import random
import shlex
import signal
import uuid
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import structlog
from msgspec import UNSET

from firmware_protocol.host import Position
from wheeld.broker.commands import CommandIntake
from wheeld.broker.earshot import Earshot
from wheeld.broker.health import HealthReporter
from wheeld.broker.mqtt import MqttConnection, TwoComputersError
from wheeld.broker.outbox import Outbox
from wheeld.broker.payloads import UNREADABLE, Availability, Display
from wheeld.broker.roles import TableAccess
from wheeld.config.instance import WheelFiles
from wheeld.config.sections import Config
from wheeld.core.messages.payloads import FeedGap
from wheeld.core.step import Step
from wheeld.core.table import Table
from wheeld.daemon.event_recorder import EventRecorder
from wheeld.daemon.identity import DaemonIdentity
from wheeld.daemon.self_test import SelfTest
from wheeld.daemon.sources import Source
from wheeld.daemon.status import DaemonStatus
from wheeld.daemon.table_loop import Ears, TableLoop
from wheeld.exits import Exit
from wheeld.journal.elsewhere import BehindError
from wheeld.journal.journal import Journal, JournalError
from wheeld.journal.keeper import DAEMON, JournalKeeper
from wheeld.journal.opening import Owner
from wheeld.journal.rows import Fault, StoredAdoption
from wheeld.journal.seal import FileSigner, KeyFileError
from wheeld.monitor.lines import glance
from wheeld.monitor.server import Monitor
from wheeld.ports import PinsError
from wheeld.service.host_clock import SystemClock
from wheeld.service.logs import log_to_stderr
from wheeld.service.notify import ServiceNotifier
from wheeld.service.program import Program
from wheeld.service.time_sync import TimeSync
from wheeld.service.watchdog import TurningClock, TurningPublisher, Watch, watched
from wheeld.sources.sensing import Batch

PUBLISH_SLACK_S = 2.0
"""The connection gives up a publication after the configured time. If a publication lasts this much longer, it hangs,
and the watchdog is no longer fed."""

CONFIRM_S_MAX, CONFIRM_STEP_S = 0.5, 0.02
"""How long a stopping daemon waits until the broker has confirmed the last messages, and how often it looks. A broker
on the same network confirms in milliseconds."""

TOUCHED: frozenset[Fault] = frozenset({"edited", "replaced", "behind"})
"""Faults of the journal that a person has caused. A new start does not repair them, so systemd does not try again."""

AGAIN = signal.SIGUSR1
"""This signal asks the daemon to start again, so that it reads its configuration again. SIGHUP is not used, because it
also comes when a terminal closes. If SIGUSR1 comes before its handler is set, the daemon ends, and systemd does not
start the daemon again."""
Unusable: TypeAlias = Callable[[], str | None]
"""Returns why the daemon could not start with its files as they are now, or None if it could."""
AGAIN_STEP_S = 0.1
"""How often a daemon that was asked to start again checks whether the coup is over."""


def run(
    config: Config,
    configuration_digest: str | None = None,
    unusable: Unusable = lambda: None,
) -> Exit | None:
    """Run the wheel until SIGTERM, SIGINT or `AGAIN`. Returns how it ended, or None if it must start again.

    `configuration_digest`: the digest of the file of `config`. `unusable` is called before a new start: the files may
    have changed since somebody asked for it, and the daemon has only the rights and the credentials of its own start.
    """
    log_to_stderr(config.log.level)
    return asyncio.run(_run(config, configuration_digest, unusable))


async def _run(
    config: Config,
    configuration_digest: str | None = None,
    unusable: Unusable = lambda: None,
) -> Exit | None:
    clock = SystemClock()
    key_file = config.journal.signing_key_file
    try:
        signer = None if key_file is None else FileSigner(key_file)
        journal = await Journal.open(
            config.journal.path,
            Owner(config.table.site, config.table.table, test=config.table.test),
            at_utc_us=clock.utc_us(),
            signer=signer,
            language=config.table.table_language,
        )
    except (KeyFileError, OSError) as wrong:
        return _failed(Exit.BAD_CONFIG, "signing_key.unusable", wrong)
    except JournalError as wrong:
        # If the disk is full, systemd tries again, because space may be freed. Every other fault needs a person.
        code = Exit.IO_FAILED if wrong.fault == "full" else Exit.NOT_OPENED
        return _failed(code, "journal.not_opened", wrong, fault=wrong.fault)
    try:
        ended = await _serve(config, journal, clock, configuration_digest, unusable)
    except UNREADABLE as wrong:
        why = f"the stored state of the table is not of this version ({wrong}); use the version that wrote it"
        return _failed(Exit.BAD_DATA, "journal.memory_unreadable", why)
    except PinsError as wrong:
        return _failed(Exit.BAD_CONFIG, "gpio.not_opened", wrong)
    finally:
        await journal.close()
    if isinstance(ended, TwoComputersError):
        return _failed(Exit.BAD_DATA, "table.run_twice", ended)
    if isinstance(ended, JournalError):
        command = (
            {"command": adoption(WheelFiles(Path(config.file)).name, ended)} if isinstance(ended, BehindError) else {}
        )
        then = "nothing more was published"
        code = Exit.BAD_DATA if ended.fault in TOUCHED else Exit.IO_FAILED
        return _failed(code, "journal.failed", ended, fault=ended.fault, then=then, **command)
    structlog.get_logger("daemon").info("daemon.stopped")
    return None if ended == "again" else Exit.OK


def _failed(code: Exit, event: str, why: object, **more: str) -> Exit:
    """Log why the daemon ends, and show it as the unit's status. Returns `code`."""
    structlog.get_logger("daemon").critical(event, why=str(why), **more)
    ServiceNotifier().failed(f"{why}: `{more['command']}`" if "command" in more else str(why))
    return code


def adoption(wheel: str, behind: BehindError) -> str:
    """Return the shell command that lets the feed continue after the last number that its receivers have."""
    why = "the newest journal is lost"
    return shlex.join(["wheeld", "journal", "adopt", wheel, "--after", behind.after, "--why", why])


async def _serve(
    config: Config, journal: Journal, clock: SystemClock, configuration_digest: str | None, unusable: Unusable
) -> JournalError | TwoComputersError | Literal["stop", "again"]:
    """Run the daemon to its end. Returns the error that ended it, or what a signal asked for."""
    failures: list[JournalError | TwoComputersError] = []
    try:
        memory, resume_at, gap = await journal.memory(), await journal.position(), await journal.gap_due()
    except JournalError as wrong:
        return wrong
    daemon = Daemon(
        config,
        journal,
        clock,
        memory=memory,
        resume_at=resume_at,
        gap=gap,
        configuration_digest=configuration_digest,
    )
    try:
        return await daemon.run(unusable)
    except* (JournalError, TwoComputersError) as wrongs:
        failures = [_first(wrongs)]
    return failures[0]


class Daemon:
    """All parts of one wheel's daemon.

    `memory` is the table's memory from the journal, None if the journal is empty. `resume_at` is the position up to
    which the board's events are stored. `gap` contains the numbers that the journal has adopted, if the feed does not
    contain them yet. `configuration_digest` is the digest of the file from which `config` was read. Raises PinsError,
    and one of `UNREADABLE` if another version has written the memory.
    """

    def __init__(
        self,
        config: Config,
        journal: Journal,
        clock: SystemClock,
        *,
        memory: bytes | None,
        resume_at: Position | None = None,
        gap: StoredAdoption | None = None,
        configuration_digest: str | None = None,
    ) -> None:
        mqtt = config.mqtt
        self._access = TableAccess.of(config.table.site, config.table.table, mqtt.users, mqtt.expiry_required)
        self._catalogue = config.table.catalogue
        self._program = Program()
        self._journal, self._clock = journal, clock
        self._configuration_digest = configuration_digest
        self._table, self._opening = Table.start(
            config.table,
            boot_id=uuid.uuid4().hex,
            started_utc_us=clock.utc_us(),
            memory=memory,
            gap=None if gap is None else (FeedGap(gap.first_seq, gap.last_seq, gap.by, gap.why), gap.hash),
        )
        self._source = Source(config, start_ns=clock.monotonic_ns(), resume_at=resume_at)
        self._notifier = ServiceNotifier()
        self._watch = Watch(clock=clock, feed=self._notifier.alive, table_now_us=lambda: self._table.now_us)
        self._time_sync = TimeSync(on_change=self._on_change)
        self._keeper = JournalKeeper(
            journal,
            self._table,
            clock=clock,
            setting=config.journal,
            is_clock_trusted=lambda: self._time_sync.is_synchronised is True,
        )
        self._monitor = None
        if config.monitor is not None:
            shown = partial(glance, self._table)
            self._monitor = Monitor(config.monitor.socket, self._table.setting, clock=clock, glance=shown)
        self._loop = TableLoop(
            self._table,
            self._source.sensing,
            clock=clock,
            store=self._store,
            on_change=self._on_change,
            ears=Ears(self._hear, lambda: self._earshot.cut_ns, lambda: self._mqtt.inbox.came_ns),
            asleep_ns=clock.asleep_ns,
        )
        source, time_sync, loop = self._source, self._time_sync, self._loop
        self._self_test = SelfTest(
            clock=clock,
            silent=lambda: source.silent,
            sensors=lambda: source.sensors,
            is_synchronised=lambda: time_sync.is_synchronised,
        )
        self._events = EventRecorder(
            self._journal,
            clock=clock,
            sensors=lambda: source.sensors,
            troubles=lambda: source.troubles,
            door=lambda: source.door,
            is_synchronised=lambda: time_sync.is_synchronised,
            clock_set_s=lambda: loop.clock_set_s,
        )
        self._join_network(config)

    async def _store(self, step: Step, at_utc_us: int, position: Position | None) -> None:
        """Store a step in the journal, then give it to the monitor. So no listener gets evidence that is not stored."""
        await self._journal.append(step, at_utc_us, position)
        for reply in step.replies:
            if reply.id is None and not reply.done:  # a button gets no reply: people at the cabinet read the log
                self._mqtt.sparing_log.warning("button.refused", name=reply.name, why=reply.why)
        if self._monitor is not None:
            self._monitor.note_step(step)

    async def _put(self, batch: Batch) -> None:
        """Give the observations to the monitor, and put them in the queue of the table."""
        if self._monitor is not None:
            self._monitor.note(batch.observations)
        await self._loop.put(batch)

    def _join_network(self, config: Config) -> None:
        """Build the connection to the broker, and all parts that send or receive through it."""
        setting, display = config.mqtt, config.display
        journal, clock, root = self._journal, self._clock, self._access.root
        self._mqtt = MqttConnection(
            setting,
            access=self._access,
            online=self._availability("online", display),
            offline=self._availability("offline", display),
            clock=clock,
            rng=random.Random(),  # noqa: S311  it spreads reconnections, and need not be secret
            compare=partial(journal.compare, settlement_ack=setting.settlement_ack),
        )
        publish_s_max = setting.publish_timeout_s + PUBLISH_SLACK_S
        self._outbox = Outbox(
            store=journal,
            publisher=TurningPublisher(self._mqtt, self._watch.outbox, clock=clock, publish_s_max=publish_s_max),
            clock=clock,
            root=root,
            settlement_ack=setting.settlement_ack,
            sparing_log=self._mqtt.sparing_log,
        )
        self.status = DaemonStatus(
            self._table,
            self._source,
            self._time_sync,
            wheel=WheelFiles(Path(config.file)),
            clock=clock,
            outbox=self._outbox,
            program=self._program,
            self_test=self._self_test,
            outage=lambda: self._mqtt.outage,
            refusals=self._mqtt.refusals,
            not_renewed=lambda: self._mqtt.not_renewed,
            counters=self._broker_counters,
        )
        self._health = HealthReporter(publisher=self._mqtt, clock=clock, root=root, snapshot=self.status.health)
        self._earshot = Earshot(self._mqtt, clock=clock, is_running=lambda: self._table.is_running)
        self._intake = CommandIntake(
            journal=journal,
            outbox=self._outbox,
            seal=self._keeper.seal,
            program=self._program,
            table=self._loop,
            catalogue=self._catalogue,
            network=self._mqtt,
            clock=clock,
            test=self._table.setting.test,
        )

    async def run(self, unusable: Unusable = lambda: None) -> Literal["stop", "again"]:
        """Run until a signal asks the daemon to stop, or to start again. Returns which of the two. If a task fails, all
        tasks stop, and the error is raised in a group."""
        # The first event record of this run of the daemon says which program starts.
        program, table = self._program, self._table
        await program.read()
        identity = DaemonIdentity(
            version=program.version,
            program=program.digest,
            as_released=program.as_released,
            configuration=self._configuration_digest,
            test=table.setting.test,
        )
        await self._events.power_up(identity, table.boot_id)
        await self._journal.append(self._opening, self._clock.utc_us())
        await self._keeper.seal(by=DAEMON, why=self._catalogue.say("the daemon starts"))
        asked, stop = asyncio.Event(), asyncio.Event()

        def ask_to_stop() -> None:
            stop.set()
            asked.set()

        for number, ask in ((signal.SIGTERM, ask_to_stop), (signal.SIGINT, ask_to_stop), (AGAIN, asked.set)):
            asyncio.get_running_loop().add_signal_handler(number, ask)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work, name=name) for name, work in self._tasks().items()]
            self._notifier.ready(self.status.line)
            structlog.get_logger("daemon").info(
                "daemon.ready",
                version=program.version,
                program=program.digest,
                boot_id=table.boot_id,
                table=table.setting.table,
                test=table.setting.test,
                house=table.setting.house,
                game=table.setting.game,
                state=table.state,
                coup=table.coup,
            )
            while True:
                await asked.wait()
                if not stop.is_set():
                    then = "starting again when no coup runs"
                    structlog.get_logger("daemon").info("daemon.asked_again", coup=table.coup, then=then)
                while table.is_running and not stop.is_set():
                    await self._clock.sleep(AGAIN_STEP_S)
                if stop.is_set() or (why := unusable()) is None:
                    break
                asked.clear()
                then = "playing on with the files of the start; only a restart reads changed secrets"
                structlog.get_logger("daemon").error("daemon.not_started_again", why=why, then=then)
            if stop.is_set():
                self._notifier.stopping()
            else:
                self._notifier.reloading()
            await self._events.stop()
            await self._keeper.seal(by=DAEMON, why=self._catalogue.say("the daemon stops"))
            # Give the broker a moment to confirm the last messages. The next run of the daemon publishes again what is
            # not confirmed.
            waited_s = 0.0
            while self._mqtt.is_connected and waited_s < CONFIRM_S_MAX and await self._outbox.depth():
                await self._clock.sleep(CONFIRM_STEP_S)
                waited_s += CONFIRM_STEP_S
            for task in tasks:
                task.cancel()
        return "stop" if stop.is_set() else "again"

    def _tasks(self) -> dict[str, Coroutine[Any, Any, None]]:
        tasks: dict[str, Coroutine[Any, Any, None]] = {
            "table": self._loop.run(),
            "beat": self._loop.beat(),
            "commands": self._intake.run(self._mqtt.inbox),
            "outbox": self._outbox.run(),
            "self_test": self._test_itself(),
            "mqtt": self._speak(),
            "earshot": self._earshot.run(),
            "events": self._events.run(),
            "broker_events": self._events.follow(self._mqtt),
            **self._source.tasks(
                self._loop.say,
                watched(self._put, self._watch.table),
                turning=TurningClock(self._clock, self._watch.sensors),
                clock=self._clock,
                state=lambda: self._table.state,
            ),
            "health": self._health.run(),
            "time_sync": self._time_sync.run(self._clock),
            "seals": self._keeper.seal_shifts(),
            "much": self._keeper.seal_much(),
            "pruning": self._keeper.prune(),
            "watch": self._keeper.watch(),
            "patrol": self._keeper.patrol(),
        }
        if self._monitor is not None:
            tasks["monitor"] = self._monitor.run()
        if self._notifier.has_manager:
            tasks["status"] = self.status.follow(self._notifier.status)
        if (watchdog_s := self._notifier.watchdog_s) is not None:
            tasks["watchdog"] = self._watch.run(watchdog_s)
            tasks["journal_asked"] = self._watch.ask_journal(self._journal.last_seq, watchdog_s)
        return tasks

    async def _test_itself(self) -> None:
        """Run the self-test, and store its outcome before anything is published."""
        await self._journal.note(await self._self_test.run(), self._clock.utc_us())
        self._events.begin()
        self._self_test.over.set()

    async def _speak(self) -> None:
        """Connect to the broker after the self-test, because everything is published through this connection."""
        await self._self_test.over.wait()
        await self._mqtt.run()

    def _availability(self, state: Literal["online", "offline"], display: Display | None) -> bytes:
        version, boot_id, test = self._program.version, self._table.boot_id, self._table.setting.test or UNSET
        shown = UNSET if display is None else display
        return msgspec.json.encode(
            Availability(state=state, version=version, boot_id=boot_id, test=test, display=shown)
        )

    def _broker_counters(self) -> dict[str, dict[str, int]]:
        monitor = {} if self._monitor is None else {"monitor": self._monitor.counters}
        return {
            **monitor,
            "host": self._loop.counters,
            "mqtt": self._mqtt.counters,
            "outbox": self._outbox.counters,
            "commands": self._intake.counters,
            "lanes": self._mqtt.inbox.counters,
        }

    async def _hear(self, since_ns: int) -> None:
        """Return when all commands given since `since_ns` are in the queue of the table, or when `Earshot` has noted
        that some may be missing."""
        await asyncio.gather(self._earshot.hear(since_ns), self._clock.sleep(self._source.caught_up_s))

    def _on_change(self) -> None:
        """Tell the parts that store or show the state that it has changed."""
        self._keeper.look()
        self._events.look()
        self._health.changed()
        self._notifier.status(self.status.line)


def _first(group: BaseExceptionGroup[JournalError | TwoComputersError]) -> JournalError | TwoComputersError:
    """Return the first error of a group. The other errors are mostly its consequences."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
