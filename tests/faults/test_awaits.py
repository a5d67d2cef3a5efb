"""The daemon killed at every step of its write path: nothing is lost or doubled, and no verdict is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.faults.kill_awaits import EVENING

SHARES = 2
"""Processes at a time: as many as the smallest machine has cores."""


def test_a_kill_at_any_step_loses_nothing(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    stride = how_many("steps between kills")  # others with another seed
    # In memory, where possible: what was written matters here, not how long a disk takes for it.
    memory = Path("/dev/shm")
    points = tried = 0
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as directory:
        for part in range(len(EVENING)):
            shares = [
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "tests.faults.kill_awaits", f"{directory}/{part}-{share}", str(part)),
                        *(str(1 + (sum(seed.encode()) + share * stride) % (SHARES * stride)), str(SHARES * stride)),
                    ],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=env,
                )
                for share in range(SHARES)
            ]
            outputs = [share.communicate()[0].splitlines() for share in shares]
            assert [share.returncode for share in shares] == [0, 0], outputs
            found = [tuple(map(int, lines[-1].split())) for lines in outputs]
            assert all(bad == 0 for _, _, bad in found), outputs
            points += found[0][0]
            tried += sum(count for _, count, _ in found)
    assert abs(tried - points / stride) <= SHARES * len(EVENING)
    counted(f"killed at {tried} of {points} steps of the write path, started again: 0 lost, 0 doubled, 0 wrong")
