"""`make bench`: what the daemon costs, each figure as a ratio to a floor that was measured in the same run.

`python -m tests.bench FORM OUT [COUPS]`: FORM is short or long, COUPS the size of the largest journal. Prints a table,
and writes the figures as JSON to OUT, for comparison. It fails on no figure: a machine that others use, too, is slow.
"""

from __future__ import annotations

import asyncio
import compileall
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

import firmware_protocol
import wheeld
from tests.bench.alone import Grown, command_s, evening, grown, lines_of, replayed, waits_s
from tests.bench.live import Run, libraries, played, run

LIBRARIES = "import sys, importlib; [importlib.import_module(name) for name in sys.argv[1:]]"


class Figure(msgspec.Struct, frozen=True):
    """One row. `aim`: of the ratio where it ends in ×, else of the value."""

    name: str
    unit: str
    value: float
    floor: float
    aim: str = ""

    @property
    def row(self) -> str:
        measured = f"{self.value:>12,.4g} {self.unit:<5}{self.floor:>11,.4g}{self.value / self.floor:>9.2f} ×"
        return f"{self.name:<56}{measured}  {self.aim}"


def main(form: str, out: Path, coups: int) -> None:
    is_short, figures = form == "short", list[Figure]()
    for package in (wheeld, firmware_protocol):
        compileall.compile_dir(package.__path__[0], quiet=1)  # as an installer does, whatever the environment says
    sys.stdout.write(f"{'figure':<56}{'value':>12} {'unit':<5}{'floor':>11}{'ratio':>11}  aim\n")
    with TemporaryDirectory() as name:
        for figure in _figures(Path(name), coups, is_short=is_short):
            figures.append(figure)
            sys.stdout.write(f"{figure.row}\n")
            sys.stdout.flush()
    told = {"form": form, "cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    out.write_bytes(msgspec.json.format(msgspec.json.encode({**told, "figures": figures})))


def _figures(directory: Path, coups: int, *, is_short: bool) -> Iterator[Figure]:
    yield commands(3 if is_short else 15)
    yield replay(12 if is_short else 64)
    yield from rules()
    yield from journals(directory, coups)
    rounds, seconds = (1, 4.0) if is_short else (3, 20.0)
    for edges_s in (37, 900):
        yield from live(directory / str(edges_s), edges_s, rounds, seconds)
    yield viewed(directory / "viewed", rounds, seconds)
    yield coup(_made(directory, "coup"), 1 if is_short else 3)


def commands(runs: int) -> Figure:
    pairs = [(command_s("-m", "wheeld", "--version"), command_s("-c", "pass")) for _ in range(runs)]
    value, floor = (median(times) for times in zip(*pairs, strict=True))
    return Figure("start of `wheeld --version`", "s", value, floor, "≤ 0.15 s")


def replay(coups: int) -> Figure:
    lines = lines_of(evening(coups))
    passes = [replayed(lines) for _ in range(5)]
    value, floor = (min(one.replay_s for one in passes), min(one.decode_s for one in passes))
    n = passes[0].observations
    return Figure(f"replay of {n:,} observations", "1/s", n / value, n / floor, "≥ 250,000 where 50,000 ran")


def rules() -> Iterator[Figure]:
    for readers in (3, 2, 1):
        name = f"ball at rest seen → result, readers: {readers}, median"
        yield Figure(name, "s", *waits_s(evening(8, readers=readers)), "no wait that the rule does not ask for")


def journals(directory: Path, coups: int) -> Iterator[Figure]:
    first, last = grown(directory / "first.sqlite", 1), grown(directory / "last.sqlite", coups)
    aims = {"open_s": "constant", "append_s": "constant", "verify_rate": "≥ 100,000/s", "resend_rate": ""}
    for name, aim in aims.items():
        assert name in Grown._fields
        what, _, unit = name.rpartition("_")
        values = getattr(last, name), getattr(first, name)
        yield Figure(f"journal, {what}: {coups:,} coups beside 1", "s" if unit == "s" else "1/s", *values, aim)


def live(directory: Path, edges_s: int, rounds: int, seconds: float) -> Iterator[Figure]:
    """The daemon and its floor in turn; of each figure the median of the rounds."""
    runs: dict[str, list[Run]] = {"wheeld": [], "bare": []}
    for n in range(rounds):
        for who, of_it in runs.items():
            of_it.append(asyncio.run(run(who, _made(directory, f"{who}{n}"), edges_s, seconds)))

    def figure(what: str, unit: str, name: str, aim: str) -> Figure:
        value, floor = (median(getattr(one, name) for one in of_it) for of_it in runs.values())
        return Figure(f"{what}, {edges_s} edges/s", unit, value, floor, aim)

    yield figure("processor time", "%", "cpu_percent", "≤ 1.5 ×")
    yield figure("wake-ups", "1/s", "wakes", "≤ 60 at 37 edges/s")
    yield figure("frame on the line → subscriber, p50", "ms", "p50_ms", "≤ 1.3 ×")
    yield figure("frame on the line → subscriber, p99", "ms", "p99_ms", "≤ 2 ×")
    yield figure("button at the board → subscriber, p50", "ms", "event_p50_ms", "≤ 5 ms")
    yield figure("memory", "MB", "resident_mb", "≤ 1.25 ×")
    imports_s = median(command_s("-c", LIBRARIES, *libraries()) for _ in range(5))
    ready_s = median(one.ready_s for one in runs["wheeld"])
    yield Figure("start → self-test passed and published", "s", ready_s, imports_s, "≤ 1.3 ×")


def viewed(directory: Path, rounds: int, seconds: float) -> Figure:
    """With 20 viewers of the page and a reader of the journal, and without, in turn."""
    percent: dict[int, list[float]] = {20: [], 0: []}
    for n in range(rounds):
        for viewers, of_it in percent.items():
            one = asyncio.run(run("wheeld", _made(directory, f"{viewers}-{n}"), 37, seconds, viewers=viewers))
            of_it.append(one.cpu_percent)
    beside, alone = map(median, percent.values())
    return Figure("processor time beside 20 viewers and a reader", "%", beside, alone, "no more")


def coup(directory: Path, coups: int) -> Figure:
    """Of coups that are played in real time. They end before the write-ahead log is copied into the file, which it is
    after each hundred commits, some fourteen coups: that writes once more what is stored."""
    written, stored = asyncio.run(played(directory, coups))
    return Figure("written to the card a coup, its log not yet copied", "kB", written / 1e3, stored / 1e3, "≤ 3 ×")


def _made(directory: Path, name: str) -> Path:
    (directory / name).mkdir(parents=True)
    return directory / name


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
