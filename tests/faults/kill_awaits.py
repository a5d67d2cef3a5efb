"""Kills the daemon at every step of its event loop and every statement of its journal, one after the other.

As a program (`kill_awaits DIRECTORY PART FIRST STRIDE`) it plays one scenario of a short evening. The daemon's journal
has no thread, so that each run takes the same steps. The first run counts them; then the scenario is played again for
each `STRIDE`th step from `FIRST`: with the same house and journal, the daemon killed at that point, another started.
It prints what was wrong and, last, how many points there are, how many were tried, and how many went wrong.

Only those turns of the loop are counted in which the journal is used. In all others a daemon that is killed leaves the
same file and the same world as at the beginning of the turn.
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
from tests.faults.kill_child import Channel, InlineExecutor, forked, run_daemon
from tests.faults.kill_house import DaemonInput, DaemonOutput, House
from tests.faults.kill_processes import check_journal, serve, write_config
from wheeld.exits import Exit

EVENING = ("valid_few_laps", "same_direction", "valid_no_rnvp")
STEP_US = 100_000
"""Time between two looks at the board; a long one gives fewer turns in which nothing happens."""
PAUSE_FACTOR = 0.05
"""Nothing is written while people wait, so their pauses are short."""
KILLED = -9


class KillSwitch:
    """Counts points, and kills this process at one of them. It is `armed` in turns that use the journal."""

    def __init__(self, at: int) -> None:
        self.count = 0
        self.armed = True
        self._at = at

    def point(self) -> None:
        """A point is reached."""
        if self.armed:
            self.count += 1
            if self.count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)

    def arm(self) -> None:
        """The journal is used, or something is sent; a point is reached."""
        self.armed = True
        self.point()

    def install(self) -> None:
        """Make every step of the loop and every statement of SQLite a point."""
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


class SwitchedChannel(Channel):
    """A channel to the house with a kill switch."""

    def __init__(self, connection: Connection, switch: KillSwitch) -> None:
        super().__init__(connection)
        self._switch = switch

    def send(self, output: DaemonOutput) -> None:
        self._switch.arm()
        super().send(output)
        self._switch.point()

    def exchange(self) -> DaemonInput | None:
        self._switch.armed = False
        answer = super().exchange()
        # Messages and confirmations of the broker make the daemon use the journal.
        self._switch.armed = answer is not None and bool(answer.incoming or answer.confirmed)
        return answer


def run_one(house: House, config: Path, kill_at: int = 0) -> tuple[int, int]:
    """One daemon at that house until it is killed or the people rest. Returns its exit code and its points."""
    ours, theirs = Pipe()
    counted, count = Pipe(duplex=False)

    def work() -> int:
        ours.close()
        switch = KillSwitch(kill_at)
        switch.install()
        try:
            return run_daemon(
                config, SwitchedChannel(theirs, switch), lambda **_: InlineExecutor(switch.arm, switch.point)
            )
        finally:
            count.send(switch.count)

    pid = forked(work)
    theirs.close()
    count.close()
    try:
        serve(house, ours)
    except (EOFError, ConnectionError):
        ended = _ended(pid)
    return ended, counted.recv() if ended != KILLED else 0


def part_of(house: House, part: int, config: Path, kill_at: int) -> int:
    """Play the part; the first daemon is killed at point `kill_at` and a second one started (0: only one daemon).

    Returns the points of the first.
    """
    house.rounds_max, house.rested = part + 1, False
    ended, points = run_one(house, config, kill_at)
    if kill_at:
        assert ended == KILLED, f"point {kill_at} was not reached"
        house.daemon_died()
        ended, points = run_one(house, config)
    assert ended == Exit.OK, ended
    assert house.troubles == []
    check_journal(config.with_name("journal.sqlite"), house)
    check = house.check_verdicts()
    assert check.problems == [], check.problems
    return points


def in_copy(house: House, part: int, directory: Path, kill_at: int) -> int:
    """Play the part in a copy of the journal's directory, in a forked process. Returns 0 when all was well, else 1."""
    copy = directory / f"at-{kill_at}"
    shutil.copytree(directory / "now", copy)
    try:
        part_of(house, part, copy / "wheel.toml", kill_at)
    except Exception as wrong:  # noqa: BLE001  any error is a finding
        print(f"part {part}, killed at point {kill_at}: {wrong!r}"[:600], flush=True)  # noqa: T201
        return 1
    finally:
        shutil.rmtree(copy)
    return 0


def _ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """As the docstring of the module says."""
    directory, part, first, stride = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    now = directory / "now"
    now.mkdir(parents=True)
    house = House("awaits", [SCENARIOS[name] for name in EVENING])
    house.step_us = STEP_US
    house.live_table.table.pause_factor = PAUSE_FACTOR
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
