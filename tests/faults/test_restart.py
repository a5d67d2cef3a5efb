"""The real daemon as a process: killed with the real feed connected, started twice, frozen, its disk read-only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.broker.feed import Feed as Written
from tests.cli.live import PATIENCE_S, Daemon, running
from tests.faults.conftest import FORM
from tests.faults.kill_disk import abort, ext4
from tests.journal.journals import open_reader, open_writer
from tests.live.bench import (
    FEED,
    FIRST_NUMBER,
    ROOT,
    Subscriber,
    Wheel,
    expected,
    subscribed,
    table,
    turning,
    wheeld,
    write_config,
)
from tests.mosquitto import Mosquitto
from wheeld.core.step import CoupLog, Step
from wheeld.core.table_state import TableState
from wheeld.exits import Exit
from wheeld.feed import Feed, FeedMessage, Login, Manner
from wheeld.journal.opening import Owner

ADJUDICATING_S_MAX = 1.0
"""Limit for the quickest start on an idle machine, in the long form. The short form runs beside other tests, and prints
how long it took."""
STARTED = 0.8
"""Share of the killed daemons that were ready; the others are killed as they start."""
COUP_BYTES = 100_000
"""A coup's evidence, packed; a real one has 5 to 40 kB."""


async def test_kills_with_a_real_broker_and_feed_lose_nothing(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """A settlement core with the real feed stores, acknowledges, and continues after what it stored."""
    kills, rng = how_many("kills of a process"), random.Random(f"real kills {seed}")
    stored: list[FeedMessage] = []
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port, settlement_ack=True)
        async with turning(Wheel(7), tmp_path / "board") as wheel, subscribed(broker.port) as subscriber:
            settling = asyncio.create_task(settle(broker.port, stored, rng))
            over = asyncio.Event()
            playing = asyncio.create_task(play_on(wheel, subscriber, over))
            for _ in range(kills):
                async with running(config) as daemon:
                    if rng.random() < STARTED:
                        await daemon.until("daemon.ready")
                    await asyncio.sleep(rng.uniform(0, 1.2))
                    assert await daemon.end(signal.SIGKILL) == -signal.SIGKILL
            over.set()
            await playing
            async with running(config) as daemon:
                await daemon.until("daemon.ready")
                await until_settled(stored, tmp_path / "journal.sqlite")
                assert await daemon.end() == Exit.OK
            settling.cancel()
            await asyncio.wait([settling])
            with contextlib.suppress(asyncio.CancelledError):
                settling.result()
    with contextlib.closing(open_reader(tmp_path / "journal.sqlite")) as journal:
        messages = journal.messages(1, 100_000)
        assert journal.depth() == 0
    assert [one.payload for one in messages] == [one.payload for one in stored], f"seed {seed}"
    coups = [one.body["coup"] for one in stored if one.topic in ("result", "void")]
    assert coups == list(range(1, len(coups) + 1)), f"seed {seed}"
    numbers = [one.body["number"] for one in stored if one.topic == "result"]
    true = iter(outcome["number"] for outcome in wheel.truth if outcome["kind"] == "result")
    assert all(number in true for number in numbers), f"seed {seed}: {numbers}, but {wheel.truth}"
    assert wheeld("journal", "verify", tmp_path / "journal.sqlite").returncode == Exit.OK
    counted(
        f"{kills} kills of `wheeld run`: {len(stored)} messages, 0 lost, 0 doubled; {len(coups)} coups, each with one "
        f"verdict, {len(numbers)} of them results, all true"
    )


async def settle(port: int, stored: list[FeedMessage], rng: random.Random) -> None:
    """A settlement core that itself restarts now and then, after what it stored."""
    manner = Manner(tell=print, every_s=0.1, answer_s=0.5, answer_s_max=1.0, retry_s=0.05, retry_s_max=0.2)
    while True:
        after = (stored[-1].seq, stored[-1].hash) if stored else (0, None)
        login = Login(port=port, client_id="settlement")
        async with Feed(
            "127.0.0.1", root=ROOT, after_seq=after[0], after_hash=after[1], login=login, manner=manner
        ) as feed:
            for _ in range(rng.randint(5, 40)):
                message = await anext(feed)
                stored.append(message)
                await feed.ack(message)


async def until_settled(stored: list[FeedMessage], path: Path) -> None:
    """Wait until all is stored, and the table publishes nothing more."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            await asyncio.sleep(0.3)
            with contextlib.closing(open_reader(path)) as journal:
                if stored and journal.last_seq() == stored[-1].seq:
                    return


async def play_on(wheel: Wheel, subscriber: Subscriber, over: asyncio.Event) -> None:
    """The chef gives the command that the last published state needs, and the bouler plays."""
    while not over.is_set():
        state = subscriber.state
        commands = {"closed": "open", "operations": "operations_done", "suspended": "resume", "rien_va": "tout_va"}
        if state == "faites_vos_jeux":
            await wheel.play("valid")
        elif state == "rien_va":
            await wheel.play(lambda table: table.put_ball_back(subscriber.of("table")[-1]["last_number"]))
            await wheel.press("tout_va")
        elif state in commands:
            await wheel.press(commands[state])
        await asyncio.sleep(0.1)


# --- how long a start takes ----------------------------------------------------------------------------------------


async def started_s(config: Path, broker: Mosquitto, wheel: Wheel) -> tuple[float, float]:
    """Seconds from the start of the process to `daemon.ready`, and to the answer to a button pressed before it."""
    async with subscribed(broker.port) as subscriber:
        await wheel.press("open")
        began_s = time.monotonic()
        async with running(config) as daemon:
            await daemon.until("daemon.ready")
            ready_s = time.monotonic() - began_s
            # The first time it opens the table, later that is refused; either way this run has handled the button.
            await subscriber.until(lambda: has_answered(subscriber, started_at(daemon)), "an answer to the button")
            adjudicating_s = time.monotonic() - began_s
            await daemon.end(signal.SIGKILL)
    return ready_s, adjudicating_s


def started_at(daemon: Daemon) -> str:
    """The identity of that run."""
    return str(next(log["boot_id"] for log in daemon.logs if log["event"] == "daemon.ready"))


def has_answered(subscriber: Subscriber, boot_id: str) -> bool:
    """Whether that run has handled a button."""
    messages = [one for one in subscriber.of("table", "notice") if one["boot_id"] == boot_id]
    return any(one.get("notice") == "refused" or one.get("state") == "faites_vos_jeux" for one in messages)


def write_journal(path: Path, messages: int, coups: int) -> None:
    """A journal with so many messages, all settled, and as many coups' evidence."""
    written, noise = Written(), random.Random(1)
    with contextlib.closing(open_writer(path, owner=Owner("live", "wheel-1"))) as journal:
        for first in range(0, messages, 1000):
            steps = min(1000, messages - first)
            journal.append(Step(messages=tuple(written.message("result") for _ in range(steps))), 1)
        for coup in range(1, coups + 1):
            journal.append(Step(coup_logs=(CoupLog(coup, "result", noise.randbytes(COUP_BYTES)),)), 1)
        state = TableState(seq=written.seq, prev=written._prev, last_number=FIRST_NUMBER, coup=coups)
        journal.append(Step(memory=msgspec.json.encode(state)), 1)
        journal.mark_sent(range(1, messages + 1), await_settlement=False)


@pytest.mark.parametrize("size", ["new", "old"])
async def test_a_restart_adjudicates_within_a_second(
    size: str, tmp_path: Path, how_many: Callable[[str], int], counted: Callable[[str], None]
) -> None:
    tries, messages, coups = (
        how_many("starts"),
        how_many("messages of an old journal"),
        how_many("coups of an old journal"),
    )
    path = tmp_path / "journal.sqlite"
    if size == "old":
        write_journal(path, messages, coups)
    with Mosquitto(tmp_path) as broker:
        config = write_config(tmp_path, broker.port)
        async with turning(Wheel(3), tmp_path / "board") as wheel:
            measured = [await started_s(config, broker, wheel) for _ in range(tries)]
    ready, adjudicating = ([one[at] for one in measured] for at in (0, 1))
    held = f"{messages} messages, {path.stat().st_size / 1e6:.0f} MB" if size == "old" else "nothing"
    counted(
        f"started {len(measured)} times, a journal with {held}: ready in {statistics.median(ready):.2f} s "
        f"({min(ready):.2f} to {max(ready):.2f}), adjudicating in {statistics.median(adjudicating):.2f} s "
        f"({min(adjudicating):.2f} to {max(adjudicating):.2f})"
    )
    assert FORM == "short" or min(adjudicating) < ADJUDICATING_S_MAX


# --- two daemons for one wheel -------------------------------------------------------------------------------------


async def test_a_second_daemon_at_a_journal_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=5) as (wheel, subscriber, first):
            playing = asyncio.create_task(wheel.play("valid"))
            await subscriber.until_state("ball_running")
            async with running(tmp_path / "wheel.toml") as second:
                refused = await second.until("journal.not_opened")
                assert refused["fault"] == "locked"
                assert "another wheeld has it open" in refused["why"]
                assert await second.end(None) == Exit.NOT_OPENED
            await playing
            await subscriber.until_verdicts(1)
            assert subscriber.verdicts() == expected(wheel.truth)
            assert await first.end(signal.SIGKILL) == -signal.SIGKILL
            async with running(tmp_path / "wheel.toml") as third:
                await third.until("daemon.ready")
                assert await third.end() == Exit.OK
            assert list(subscriber.feed()) == list(range(1, len(subscriber.feed()) + 1))


async def test_a_second_daemon_at_a_port_waits_for_it_and_disturbs_nothing(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=5) as (wheel, subscriber, first):
            other = tmp_path / "other.toml"
            text = (tmp_path / "wheel.toml").read_text()
            other.write_text(text.replace('"wheel-1"', '"wheel-2"').replace('"journal.sqlite"', '"other.sqlite"'))
            async with running(other) as second:
                waiting = await second.until("link.unavailable")
                assert f"process {first.process.pid} holds the port" in json.dumps(waiting)
                await wheel.play("valid")
                await subscriber.until_verdicts(1)
                assert subscriber.verdicts() == expected(wheel.truth)
                assert not [log for log in first.logs if log["event"] in ("link.lost", "board.link_fault")]
                assert await first.end(signal.SIGKILL) == -signal.SIGKILL
                await second.until("board.identified")
                assert await second.end() == Exit.OK


# --- a host that is frozen ----------------------------------------------------------------------------------------


async def test_a_frozen_host_delays_a_verdict_and_changes_nothing(
    tmp_path: Path, how_many: Callable[[str], int]
) -> None:
    """As long as the silence after which a board counts as gone, and longer; at this speed longer than the coup."""
    frozen_s = how_many("seconds frozen")
    with Mosquitto(tmp_path) as broker:
        async with table(tmp_path, broker.port, seed=5) as (wheel, subscriber, daemon):
            playing = asyncio.create_task(wheel.play("valid"))
            await subscriber.until_state("ball_running")
            daemon.process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(frozen_s)
            daemon.process.send_signal(signal.SIGCONT)
            await playing
            await subscriber.until_verdicts(1)
            assert subscriber.verdicts() == expected(wheel.truth)
            assert not [log for log in daemon.logs if log["event"] == "board.link_fault"]
            assert await daemon.end() == Exit.OK


# --- a disk that the kernel turns read-only --------------------------------------------------------------------------


async def test_on_a_file_system_turned_read_only_in_mid_coup_nothing_more_is_published(tmp_path: Path) -> None:
    with ext4(tmp_path) as prefix, Mosquitto(tmp_path) as broker:
        if prefix is None:
            pytest.skip("no file system may be mounted here; a failing disk is injected by the other tests")
        journal = tmp_path / "disk" / "journal.sqlite"
        async with table(tmp_path, broker.port, seed=7, prefix=prefix, journal=str(journal)) as (
            wheel,
            subscriber,
            daemon,
        ):
            playing = asyncio.create_task(wheel.play("valid"))
            await subscriber.until_state("ball_running")
            abort(prefix, tmp_path / "disk")
            failed = await daemon.until("journal.failed")
            assert await daemon.end(None) == Exit.IO_FAILED
            assert failed["then"] == "nothing more was published"
            await playing
            assert subscriber.verdicts() == []
            published = {payload for leaf, payload in subscriber.received if leaf in FEED}
            copy = tmp_path / "copy"
            copy.mkdir()
            for file in ("journal.sqlite", "journal.sqlite-wal"):
                wheel_copy = await asyncio.create_subprocess_exec(*prefix, "cp", f"{journal.parent}/{file}", str(copy))
                assert await wheel_copy.wait() == 0
    shown = wheeld("journal", "show", copy / "journal.sqlite", "--jsonl")
    assert published
    assert all(payload in shown.stdout for payload in published)
