"""`wheeld run` from end to end: a simulated board on a real pty, a real mosquitto, the daemon as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from hw_sim.board import SimBoard
from hw_sim.evening import Evening, script
from hw_sim.pty_link import Player, Pty
from tests.cli.live import PATIENCE_S, Daemon, Listener, listening, running, setup_of, write_config
from tests.journal.journals import bind_anew
from tests.mosquitto import Mosquitto, free_port
from wheeld.cli.main import main
from wheeld.daemon.root import AGAIN
from wheeld.exits import Exit
from wheeld.service import notify

SPEED = 25.0


@asynccontextmanager
async def playing(evening: Evening, board: SimBoard, path: Path) -> AsyncIterator[asyncio.Task[None]]:
    """The evening on a pty at `path`."""
    with Pty(path) as pty:
        task = asyncio.create_task(Player(board, pty, speed=SPEED).play(evening.events()))
        try:
            yield task
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def wheeld(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wheeld", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def verdicts(listener: Listener) -> list[tuple[str, object]]:
    """Each coup's outcome as received: its number, or its cause."""
    return [
        (leaf, payload["number"] if leaf == "result" else payload["cause"])
        for leaf, payload in listener.received
        if leaf in ("result", "void")
    ]


async def test_an_evening_is_published_as_it_was_and_its_evidence_agrees(tmp_path: Path, broker: Mosquitto) -> None:
    evening = script(["same_direction", "valid"], seed=3)
    config = write_config(tmp_path, evening, broker_port=broker.port)
    board = SimBoard(setup_of(evening))
    async with running(config) as daemon, listening(broker.port) as listener:
        await daemon.until("daemon.ready")
        async with playing(evening, board, tmp_path / "board") as play:
            await asyncio.wait_for(play, PATIENCE_S)
        await listener.until(lambda received: len(received.of("result", "void")) >= len(evening.truth), "every verdict")
        assert await daemon.end() == Exit.OK
        await listener.until(lambda received: received.of("availability")[-1]["state"] == "offline", "its farewell")
        published = verdicts(listener)
        payloads = listener.of("result", "void")
        # The clock where no time server is, the standstill where the machine that plays this is busy.
        expected = {"link.unavailable", "link.lost", "clock.not_synchronised", "machine.stood_still", "self_test.over"}
        assert [log for log in daemon.logs if log["level"] != "info" and log["event"] not in expected] == []
        assert len(daemon.logs) < 30, "a line an edge?"
    assert published == [
        ("result", outcome["number"]) if outcome["kind"] == "result" else ("void", outcome["cause"])
        for outcome in evening.truth
    ]
    seqs = [payload["seq"] for payload in listener.of("result", "void", "table")]
    assert seqs == list(range(1, len(seqs) + 1))
    journal = tmp_path / "journal.sqlite"
    # Verify, export and replay: the same payloads.
    verified = wheeld("journal", "verify", journal)
    assert (verified.returncode, verified.stderr) == (Exit.OK, ""), verified.stdout
    for payload in payloads:
        log = journal.with_name("coup.jsonl")
        assert wheeld("journal", "export", journal, "--coup", str(payload["coup"]), "-o", log).returncode == Exit.OK
        replayed = wheeld("replay", log, "--jsonl")
        assert replayed.returncode == Exit.OK, replayed.stderr
        lines = map(json.loads, replayed.stdout.splitlines())
        assert payload in [line["payload"] for line in lines if line["topic"] in ("result", "void")]


async def test_a_second_run_goes_on_where_the_first_stopped(tmp_path: Path, broker: Mosquitto) -> None:
    """In the second run the ball lies elsewhere than it belongs, and the chef answers for it (docs/rulebook.md 7)."""
    evening = script(["valid"], seed=5)
    config = write_config(tmp_path, evening, broker_port=broker.port)
    for number in (1, 2):
        async with running(config) as daemon, listening(broker.port) as listener:
            await daemon.until("daemon.ready")
            async with playing(evening, SimBoard(setup_of(evening)), tmp_path / "board") as play:
                await asyncio.wait_for(play, PATIENCE_S)
                if number == 2:
                    await listener.until(lambda received: is_in(received, "awaiting_chef"), "a number")
                    assert (await command(listener, evening, "confirm", coup=2))["done"]
            await listener.until(lambda received: bool(received.of("result")), "a result")
            assert await daemon.end() == Exit.OK
    shown = wheeld("journal", "show", tmp_path / "journal.sqlite", "--jsonl", "--from-seq", "1")
    published = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [line["payload"]["seq"] for line in published] == list(range(1, len(published) + 1))
    assert [line["payload"]["coup"] for line in published if line["topic"] == "result"] == [1, 2]


async def test_a_board_with_another_layout_is_refused_and_none_of_its_reports_counts(tmp_path: Path) -> None:
    evening = script(["valid"], seed=3)
    config = write_config(tmp_path, evening, broker_port=free_port())
    other = script(["valid"], seed=5)
    assert setup_of(evening).layout != setup_of(other).layout
    async with running(config) as daemon, playing(other, SimBoard(setup_of(other)), tmp_path / "board"):
        refused = await daemon.until("board.refused")
        assert refused["what"] == "layout"
        assert "configured" in json.dumps(refused)
        await daemon.until("board.link_fault")
        assert await daemon.end() == Exit.OK


@asynccontextmanager
async def launched(tmp_path: Path, broker: Mosquitto) -> AsyncIterator[tuple[Daemon, Listener, AsyncExitStack]]:
    """A valid coup whose ball runs. The line is cut at the end, or as soon as the last of the three is closed."""
    evening = script(["valid"], seed=3)
    config = write_config(tmp_path, evening, broker_port=broker.port)
    async with running(config) as daemon, listening(broker.port) as listener, AsyncExitStack() as line:
        await daemon.until("daemon.ready")
        await line.enter_async_context(playing(evening, SimBoard(setup_of(evening)), tmp_path / "board"))
        await listener.until(lambda received: is_in(received, "ball_running"), "a launch")
        yield daemon, listener, line


async def test_a_cut_line_voids_the_running_coup_as_a_breakdown(tmp_path: Path, broker: Mosquitto) -> None:
    async with launched(tmp_path, broker) as (daemon, listener, line):
        await line.aclose()
        fault = await daemon.until("board.link_fault")
        assert fault["reason"] == "nothing_heard"
        await listener.until(lambda received: is_in(received, "suspended"), "the suspension")
        assert await daemon.end() == Exit.OK
        (void,) = listener.of("void")
        assert (void["cause"], void["rule"]) == ("breakdown", "N8")


async def test_it_reads_its_configuration_again_when_the_coup_is_over(tmp_path: Path, broker: Mosquitto) -> None:
    async with launched(tmp_path, broker) as (daemon, listener, _):
        config = tmp_path / "wheel.toml"
        good = config.read_text() + '[display]\nname = "Tavolo 3"\n'
        config.write_text(good + "name = 3\n")  # no later check has seen it
        daemon.process.send_signal(AGAIN)
        await listener.until(lambda received: bool(received.of("result", "void")), "a verdict")
        refused = await daemon.until("daemon.not_started_again")
        assert "wheel.toml" in refused["why"]
        config.unlink()
        daemon.process.send_signal(AGAIN)
        await daemon.until("daemon.not_started_again", lambda log: "there is no such file" in log["why"])
        key = tmp_path / "wheel.key"
        key.write_text("no key at all")
        key.chmod(0o600)
        config.write_text(good.replace("[journal]\n", f'[journal]\nsigning_key_file = "{key}"\n'))
        daemon.process.send_signal(AGAIN)
        await daemon.until("daemon.not_started_again", lambda log: "neither a private key" in log["why"])
        config.write_text(good)
        daemon.process.send_signal(AGAIN)
        await listener.until(lambda received: "display" in received.of("availability")[-1], "the new name")
        assert [state["state"] for state in listener.of("availability")] == ["online", "offline", "online"]
        assert len(listener.of("result")) == 1
        assert [log["event"] for log in daemon.logs].count("daemon.ready") == 2
        assert await daemon.end() == Exit.OK


async def test_who_asks_it_to_stop_does_not_wait_for_the_coup(tmp_path: Path, broker: Mosquitto) -> None:
    async with launched(tmp_path, broker) as (daemon, listener, _):
        daemon.process.send_signal(AGAIN)
        await daemon.until("daemon.asked_again")
        assert await daemon.end() == Exit.OK
        assert not listener.of("result", "void")


def is_in(listener: Listener, state: str) -> bool:
    """Whether the table has come to that state."""
    return any(payload["state"] == state for payload in listener.of("table"))


async def test_without_board_and_broker_it_waits_logs_it_once_and_stops_at_once(tmp_path: Path) -> None:
    config = write_config(tmp_path, script(["valid"], seed=3), broker_port=free_port())
    async with running(config) as daemon:
        ready = await daemon.until("daemon.ready")
        assert (ready["state"], ready["coup"]) == ("closed", 0)
        await daemon.until("broker.unreachable")
        await daemon.until("board.link_fault")
        assert await daemon.end() == Exit.OK
        events = [log["event"] for log in daemon.logs]
        assert events.count("link.unavailable") == events.count("broker.unreachable") == 1
        assert events[-1] == "daemon.stopped"


async def test_systemd_is_notified_that_it_is_ready_alive_and_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evening = script(["valid"], seed=3)
    port = free_port()
    config = write_config(tmp_path, evening, broker_port=port)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "20000000")
        async with running(config) as daemon:
            await daemon.until("board.link_fault")
            sent = await asyncio.to_thread(until, manager, "no sensor board")
            assert sent[0].startswith(f"READY=1\nSTATUS={evening.header['table']}: closed, coup 0")
            assert sent[1] == "WATCHDOG=1"
            (*_, away) = await asyncio.to_thread(until, manager, "messages owed: ")
            assert f"; the broker 127.0.0.1:{port} has not been reached since " in away
            assert await daemon.end() == Exit.OK
        assert until(manager, "STOPPING=1")


def test_systemd_is_told_what_is_wrong_in_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a file or a credential that is missing: who may not read the log sees it in the unit's status."""
    config = tmp_path / "w.toml"
    config.write_text('[journal]\nsigning_key_file = "credential:signing-key"\n')
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "wheeld@campione-03.service"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setattr(notify, "READ_S_MAX", 0.1)
        assert main(["run", "-c", str(config)]) == Exit.BAD_CONFIG
        (*_, told) = until(manager, "STATUS=")
        config.unlink()
        assert main(["run", "-c", str(config)]) == Exit.NO_INPUT
        (*_, gone) = until(manager, "STATUS=")
    assert gone == f"STATUS={config}: there is no such file or directory; check the name"
    assert "journal.signing_key_file: names credential:signing-key, but /etc/credstore/wheeld." in told
    assert "a new key begins a new journal: `mkdir" in told
    assert "systemctl" not in told  # `wheeld status` says how to start the unit again


def until(manager: socket.socket, last: str) -> list[str]:
    """What the manager receives, to the first datagram with `last` in it."""
    sent: list[str] = []
    while not sent or last not in sent[-1]:
        sent.append(manager.recv(10_000).decode())
    return sent


async def test_a_journal_that_another_daemon_has_is_not_opened(tmp_path: Path) -> None:
    config = write_config(tmp_path, script(["valid"], seed=3), broker_port=free_port())
    async with running(config) as first:
        await first.until("daemon.ready")
        async with running(config) as second:
            entry = await second.until("journal.not_opened")
            assert entry["fault"] == "locked"
            assert await second.end(None) == Exit.NOT_OPENED
        assert await first.end() == Exit.OK


async def test_memory_of_another_version_is_logged(tmp_path: Path) -> None:
    config = write_config(tmp_path, script(["valid"], seed=3), broker_port=free_port())
    async with running(config) as daemon:
        await daemon.until("daemon.ready")
        assert await daemon.end() == Exit.OK
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as db, db:
        db.execute("UPDATE kept SET value = ? WHERE name = 'memory'", (b'{"state": "dancing"}',))
        bind_anew(db)
    async with running(config) as daemon:
        entry = await daemon.until("journal.memory_unreadable")
        assert "use the version that wrote it" in entry["why"]
        assert await daemon.end(None) == Exit.BAD_DATA


async def test_a_journal_that_somebody_touches_ends_the_daemon_and_nothing_more_is_published(
    tmp_path: Path, broker: Mosquitto
) -> None:
    evening = script(["valid"], seed=3)
    config = write_config(tmp_path, evening, broker_port=broker.port)
    async with running(config) as daemon, listening(broker.port) as listener:
        await daemon.until("broker.connected")
        await listener.until(lambda received: is_in(received, "closed"), "the first state")
        shutil.copy(tmp_path / "journal.sqlite", tmp_path / "copy")
        (tmp_path / "copy").replace(tmp_path / "journal.sqlite")
        async with playing(evening, SimBoard(setup_of(evening)), tmp_path / "board"):
            failed = await daemon.until("journal.failed")
        assert await daemon.end(None) == Exit.BAD_DATA
        assert (failed["fault"], failed["then"]) == ("replaced", "nothing more was published")
        # No board was there for its self-test.
        assert {payload["state"] for payload in listener.of("table")} <= {"closed", "suspended"}


async def command(listener: Listener, evening: Evening, name: str, **more: str | int) -> dict[str, object]:
    """Send one command and wait for its answer."""
    asked = {"id": f"id-{name}-{len(listener.received)}", "by": "Anna", "reason": "test", **more}
    table = evening.header["table"]
    topic = f"wheel/v1/test/{table}/cmd/chef-{table}/{name}"
    await listener.client.publish(topic, json.dumps(asked), qos=1)

    def answers() -> list[dict[str, object]]:
        return [reply for reply in listener.of("reply") if reply["id"] == asked["id"]]

    await listener.until(lambda _: bool(answers()), f"the answer to {name}")
    return answers()[0]


async def test_commands_are_decided_with_a_board_and_without(tmp_path: Path, broker: Mosquitto) -> None:
    evening = script(["valid"], seed=3)
    config = write_config(tmp_path, evening, broker_port=broker.port)
    async with running(config) as daemon, listening(broker.port) as listener:
        await daemon.until("daemon.ready")
        async with playing(evening, SimBoard(setup_of(evening)), tmp_path / "board"):
            await listener.until(lambda received: is_in(received, "ball_running"), "a launch")
            assert (await command(listener, evening, "bouler", who="Carla"))["done"] is True
            assert (await command(listener, evening, "tout_va"))["done"] is False
        await daemon.until("board.link_fault")
        await listener.until(lambda received: is_in(received, "suspended"), "the suspension")
        cut_us = listener.of("table")[-1]["t_us"]
        assert (await command(listener, evening, "close"))["done"] is True
        await listener.until(lambda received: received.of("table")[-1]["state"] == "closed", "the closed table")
        assert listener.of("table")[-1]["t_us"] > cut_us, "a command is of now, not of when the line was cut"
        assert await daemon.end() == Exit.OK
