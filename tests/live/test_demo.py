"""The demo, as `make demo` starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.live import PATIENCE_S
from tests.live.bench import wheeld
from wheeld.exits import Exit


@contextmanager
def demo(state: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The demo with its output piped, terminated when the block ends."""
    command = [sys.executable, "-c", "from hw_sim.cli import main; raise SystemExit(main())", "demo"]
    process = subprocess.Popen(
        [*command, "--speed", "10", "--seed", "1", "--state", str(state), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def children(pid: int) -> list[int]:
    """The running children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_it_ends_by_itself_and_a_second_run_continues(tmp_path: Path) -> None:
    outputs = []
    for _ in range(2):
        with demo(tmp_path / "state", "--coups", "2") as process:
            outputs.append(process.communicate(timeout=PATIENCE_S)[0])
            assert process.returncode == 0, outputs
    for text in outputs:
        assert "2 verdicts: 1 results, 1 voids (same_direction 1)" in text
        assert "every verdict agrees with the truth" in text
        assert "nothing missing" in text
        assert re.search(r"VOID .*same_direction · N1, Art. 11", text)
    coups = [[int(coup) for coup in re.findall(r"coup +(\d+)  (?:RESULT|VOID)", text)] for text in outputs]
    assert coups == [[1, 2], [3, 4]]
    seqs = [int(seq) for text in outputs for seq in re.findall(r"^seq +(\d+)", text, re.M)]
    assert sorted(set(seqs)) == list(range(1, max(seqs) + 1))
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == [
        "journal.sqlite",
        "journal.sqlite.lock",
        "wheeld.log",
        "wheeld.toml",
    ]
    assert wheeld("journal", "verify", tmp_path / "state" / "journal.sqlite").returncode == Exit.OK


def test_a_demo_that_ended_over_a_foreign_object_goes_on(tmp_path: Path) -> None:
    """The wheel of the next run is another one, without the object: the new board tells it."""
    outputs = []
    for coups in ("4", "2"):
        with demo(tmp_path, "--coups", coups) as process:
            outputs.append(process.communicate(timeout=PATIENCE_S)[0])
            assert process.returncode == 0, outputs
    assert re.search(r"coup +4  VOID .*foreign_object", outputs[0])
    assert re.search(r"coup +5  RESULT", outputs[1])
    assert "2 verdicts" in outputs[1]


def test_ctrl_c_in_mid_coup_leaves_nothing_behind_and_the_next_run_recovers(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "ball_running" in line:
                break
        started = children(process.pid)
        assert len(started) == 3, "broker, daemon and pages"
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=PATIENCE_S)[0]
        assert process.returncode == 0, text
        assert "0 verdicts" in text
        assert "Traceback" not in text
        assert not any(map(is_running, started))
    with demo(tmp_path, "--coups", "2") as process:
        text = process.communicate(timeout=PATIENCE_S)[0]
        assert process.returncode == 0, text
    assert re.search(r"coup +1  VOID .*breakdown · N8", text)
    assert "resume by direction: done" in text
    assert re.search(r"coup +2  RESULT", text)


def test_a_second_demo_in_the_same_directory_is_refused_and_leaves_the_first_alone(tmp_path: Path) -> None:
    with demo(tmp_path, "--coups", "1") as first:
        assert first.stdout is not None
        assert first.stdout.readline()
        before = (tmp_path / "wheeld.toml").read_bytes()
        with demo(tmp_path) as second:
            text = second.communicate(timeout=PATIENCE_S)[0]
            assert second.returncode == 69
            assert "another demo uses" in text, text
        assert (tmp_path / "wheeld.toml").read_bytes() == before
        text = first.communicate(timeout=PATIENCE_S)[0]
        assert first.returncode == 0, text
