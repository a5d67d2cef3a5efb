"""Starts daemons that will be killed, one after the other, with one journal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import NoReturn

from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from tests.faults.kill_house import FIRST_NUMBER, DaemonOutput, House
from tests.journal.journals import open_reader


def write_config(directory: Path) -> Path:
    """The daemon's configuration for the house's wheel."""
    wheel = sections(LAYOUT, site="house", table="wheel-1", last_number=FIRST_NUMBER, port=Path("board"), speed=1)
    path = directory / "wheel.toml"
    rest = '[journal]\npath = "journal.sqlite"\n[mqtt]\nhost = "127.0.0.1"\nsettlement_ack = true\n'
    path.write_text(f'{wheel}\n{rest}\n[log]\nlevel = "warning"\n')
    return path


def serve(house: House, daemon: Connection) -> NoReturn:
    """Serve the daemon at the other end; EOFError or ConnectionError is raised when it ends."""
    while True:
        output = daemon.recv()
        if output is not None:
            house.receive(DaemonOutput(*output))
            continue
        answer = None if house.rested else house.exchange()
        daemon.send(None if answer is None else tuple(answer))


class DaemonStarter:
    """A process that forks daemons and kills each after its time."""

    def __init__(self, process: subprocess.Popen[str], listener: Listener) -> None:
        self._process, self._listener = process, listener

    def run_one(self, house: House, seconds: float) -> int:
        """Serve one daemon from its start to its end; returns its exit code. 0 seconds: until the house is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(seconds, file=self._process.stdin, flush=True)
        with contextlib.suppress(EOFError, ConnectionError), self._listener.accept() as daemon:
            serve(house, daemon)
        return int(self._process.stdout.readline())


@contextmanager
def daemon_starter(directory: Path) -> Iterator[DaemonStarter]:
    """The process that forks the daemons; their journal, log and socket are in `directory`."""
    config, address = write_config(directory), str(directory / "house")
    command = [sys.executable, "-m", "tests.faults.kill_child", str(config), address]
    # Coverage of processes that are killed is never written, and they would start more slowly.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    with (
        (directory / "log").open("wb") as log,
        Listener(address, "AF_UNIX") as listener,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=env, cwd=Path.cwd()
        ) as process,
    ):
        yield DaemonStarter(process, listener)


def check_journal(path: Path, house: House) -> None:
    """The settlement core has the same messages as the journal, byte by byte, and nothing is owed any more."""
    with contextlib.closing(open_reader(path)) as journal:
        stored = journal.database.named_rows(
            "SELECT seq, topic, payload FROM messages WHERE seq IS NOT NULL ORDER BY seq"
        )
        assert [(row["seq"], row["topic"], row["payload"]) for row in stored] == [
            (message.seq, message.topic, message.payload) for message in house.core.stored
        ]
        assert journal.depth() == 0
        commands = journal.commands(0, 100_000)
        assert all(command.done is not None for command in commands), commands
