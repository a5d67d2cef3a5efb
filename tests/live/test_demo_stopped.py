"""`make demo`, stopped in every state by Ctrl-C and by a kill, and begun again in the same directory: it goes on.

`DEMO_STOPS=40` plays so many stops, one after the other in one directory; without it a few.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.bench import wheeld
from tests.live.test_demo import children, is_running
from wheeld.exits import Exit

STATES = (
    "start", "closed", "faites_vos_jeux", "ball_running", "rien_ne_va_plus", "operations", "rien_va", "suspended",
    "ball_on_obstacle",
)  # fmt: skip
"""`start`: before the table has said anything. Every other: as it is published."""
SIGNALS = (signal.SIGINT, signal.SIGKILL)
FEW = (("start", signal.SIGKILL), ("ball_running", signal.SIGKILL), ("operations", signal.SIGINT))
STOPS = int(os.environ.get("DEMO_STOPS", "0"))
SPEED = 25
STATE_S_MAX = 120.0
"""Real seconds until a state has come; the obstacle is the eighth scenario."""
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has it ignored, and hands that down
from hw_sim.cli import main
raise SystemExit(main())
"""
SEEDS = itertools.count(1)


class RunningDemo:
    """A demo whose output is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines = process, list[str]()
        self._news = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def until(self, matches: Callable[[str], bool], what: str) -> None:
        """Return when a line matches; fails with what came instead."""
        deadline_s = time.monotonic() + STATE_S_MAX
        with self._news:
            while not any(map(matches, self.lines)):
                assert self.process.poll() is None, f"ended before {what}:\n{self.text}"
                assert self._news.wait(deadline_s - time.monotonic()), f"no {what}:\n{self.text}"

    @property
    def text(self) -> str:
        return "".join(self.lines)


@contextmanager
def begun(state: Path, *more: str) -> Iterator[RunningDemo]:
    """The demo, killed with the block unless it has ended."""
    command = [sys.executable, "-c", PROGRAM, "demo"]
    process = subprocess.Popen(
        [*command, "--speed", str(SPEED), "--seed", str(next(SEEDS)), "--state", str(state), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    demo = RunningDemo(process)
    try:
        yield demo
    finally:
        process.kill()
        process.wait()
        demo.reader.join()
        assert process.stdout is not None
        process.stdout.close()


def stop(state: Path, at: str, number: signal.Signals) -> None:
    """Begin the demo, and stop it as soon as the table is in that state. Nothing of it is left running."""
    with begun(state) as demo:
        if at == "start":
            time.sleep(0.7)
        else:
            demo.until(lambda line: re.search(rf"\b{at}\b", line) is not None and "---" not in line, at)
        started = children(demo.process.pid) if demo.process.poll() is None else []
        demo.process.send_signal(number)
        demo.process.wait(timeout=STATE_S_MAX)
        deadline_s = time.monotonic() + 5
        while any(map(is_running, started)) and time.monotonic() < deadline_s:
            time.sleep(0.02)
        assert not any(map(is_running, started)), "a child outlives the demo"


def goes_on(state: Path) -> str:
    """What is wrong with a demo that is begun again; empty when it plays on to a verdict and ends well."""
    with begun(state, "--coups", "1") as demo:
        try:
            code = demo.process.wait(timeout=STATE_S_MAX)
        except subprocess.TimeoutExpired:
            return f"no verdict within {STATE_S_MAX:g} s:\n{demo.text}"
    return "" if code == 0 else f"exit code {code}:\n{demo.text}"


def stops() -> list[tuple[str, signal.Signals]]:
    every = [(state, number) for state in STATES for number in SIGNALS]
    return [each for each, _ in zip(itertools.cycle(every), range(STOPS), strict=False)] or list(FEW)


@pytest.mark.timeout(3600)
def test_a_demo_that_was_stopped_anywhere_goes_on(tmp_path: Path) -> None:
    wrong = []
    for at, number in stops():
        stop(tmp_path, at, number)
        if why := goes_on(tmp_path):
            wrong.append(f"stopped in {at} by {number.name}: {why}")
    assert wrong == [], f"{len(wrong)} of {len(stops())}"
    assert wheeld("journal", "verify", tmp_path / "journal.sqlite").returncode == Exit.OK
