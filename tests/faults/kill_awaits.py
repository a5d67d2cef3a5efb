"""The daemon killed at every step of its event loop and every statement of its journal, one after the other.

As a program: plays one scenario of a short evening (`kill_awaits DIRECTORY PART FIRST STRIDE`) at a daemon whose
journal has no thread, so that each run takes the same steps, counts them, and then plays it again for every one of them
(each `STRIDE`th from `FIRST`): the house and the journal as they were, the daemon gone at that point, another started.
It prints what was wrong and, last, how many points there are, how many were tried, and how many went wrong.

Counted are the steps of a turn of the loop in which the journal was asked anything: in all others a daemon that dies
leaves the same file and the same world behind as at their beginning.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from hw_sim.scenarios import SCENARIOS
from tests.faults.kill_child import Channel, Inline, forked, run_daemon
from tests.faults.kill_house import House, Said, Told
from tests.faults.kill_nursery import check_journal, serve, write_config
from wheeld.exits import Exit

EVENING = ("valid_few_laps", "same_direction", "valid_no_rnvp")
STEP_US = 100_000
"""The beat of the board: fewer turns in which nothing happens."""
LEISURE = 0.05
"""Nothing is written while people take their time."""
KILLED = -9


class Fuse:
    """Counts points, and kills this process at one of them. `armed` while the turn has asked the journal."""

    def __init__(self, at: int) -> None:
        self.count = 0
        self.armed = True
        self._at = at

    def point(self) -> None:
        """One is reached."""
        if self.armed:
            self.count += 1
            if self.count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)

    def asked(self) -> None:
        """The journal is asked, or something is handed out."""
        self.armed = True
        self.point()

    def lay(self) -> None:
        """Put it to every step of the loop and every statement of SQLite."""
        run, connect = asyncio.Handle._run, sqlite3.connect

        def step(handle: asyncio.Handle) -> None:
            self.point()
            run(handle)

        def traced(*arguments: Any, **more: Any) -> sqlite3.Connection:
            db = cast("sqlite3.Connection", connect(*arguments, **more))
            db.set_trace_callback(lambda _: self.point())
            return db

        cast("Any", asyncio.Handle)._run = step
        cast("Any", sqlite3).connect = traced


class Fused(Channel):
    """The way to the house, past a fuse."""

    def __init__(self, connection: Connection, fuse: Fuse) -> None:
        super().__init__(connection)
        self._fuse = fuse

    def say(self, said: Said) -> None:
        self._fuse.asked()
        super().say(said)
        self._fuse.point()

    def exchange(self) -> Told | None:
        self._fuse.armed = False
        told = super().exchange()
        # What the broker brings and confirms is what the journal is asked about.
        self._fuse.armed = told is not None and bool(told.incoming or told.confirmed)
        return told


def life(house: House, config: Path, kill_at: int = 0) -> tuple[int, int]:
    """One daemon at that house until it is killed or the people rest; its exit code, and the points it passed."""
    ours, theirs = Pipe()
    counted, count = Pipe(duplex=False)

    def work() -> int:
        ours.close()
        fuse = Fuse(kill_at)
        fuse.lay()
        try:
            return run_daemon(config, Fused(theirs, fuse), lambda **_: Inline(fuse.asked, fuse.point))
        finally:
            count.send(fuse.count)

    pid = forked(work)
    theirs.close()
    count.close()
    try:
        serve(house, ours)
    except (EOFError, ConnectionError):
        ended = _ended(pid)
    return ended, counted.recv() if ended != KILLED else 0


def part_of(house: House, part: int, config: Path, kill_at: int) -> int:
    """Play it, with a daemon killed at that point and a second one (0: with one); returns the points of the first."""
    house.rounds_max, house.rested = part + 1, False
    ended, points = life(house, config, kill_at)
    if kill_at:
        assert ended == KILLED, f"point {kill_at} was not reached"
        house.died()
        ended, points = life(house, config)
    assert ended == Exit.OK, ended
    assert house.troubles == []
    check_journal(config.with_name("journal.sqlite"), house)
    judged = house.judge()
    assert judged.problems == [], judged.problems
    return points


def in_copy(house: House, part: int, directory: Path, kill_at: int) -> int:
    """As a process of its own, with the house and the journal as they are: whether all was well."""
    copy = directory / f"at-{kill_at}"
    shutil.copytree(directory / "now", copy)
    try:
        part_of(house, part, copy / "wheel.toml", kill_at)
    except Exception as wrong:  # noqa: BLE001  whatever it is, it is a finding
        print(f"part {part}, killed at point {kill_at}: {wrong!r}"[:600], flush=True)  # noqa: T201
        return 1
    finally:
        shutil.rmtree(copy)
    return 0


def _ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """See the module."""
    directory, part, first, stride = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    now = directory / "now"
    now.mkdir(parents=True)
    house = House("awaits", [SCENARIOS[name] for name in EVENING])
    house.step_us = STEP_US
    house.night.table.pause_factor = LEISURE
    config = write_config(now)
    for before in range(part):
        part_of(house, before, config, 0)
    if part == len(EVENING) - 1:
        house.command("bouler", who="Bianchi")
        house.command("resend", from_seq=2)
        house.command("tout_va")
    counted, count = Pipe(duplex=False)
    shutil.copytree(now, directory / "dry")

    def dry() -> int:
        count.send(part_of(house, part, directory / "dry" / "wheel.toml", 0))
        assert part < len(EVENING) - 1 or house.core.repeats > 2, "nothing came again"
        return 0

    assert _ended(forked(dry)) == 0
    points = counted.recv()
    tried = range(first, points + 1, stride)
    bad = sum(_ended(forked(partial(in_copy, house, part, directory, at))) for at in tried)
    print(f"{points} {len(tried)} {bad}")  # noqa: T201


if __name__ == "__main__":
    main()
