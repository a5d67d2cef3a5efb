"""What a live wheel costs: `wheeld run`, and its floor, each at the same simulated board, broker and subscriber."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from tests.bench.bare import READY, TOPIC, Client
from tests.journal.journals import open_reader, write_keys
from tests.live.bench import table
from tests.mosquitto import Mosquitto, free_port

SETTLE_S = 3.0
"""From the first message on, until nothing of the start is left."""
PATIENCE_S = 30.0
BUILT_IN = ("asyncio", "sqlite3", "ssl", "cryptography.hazmat.primitives.asymmetric.ed25519")


class Usage(NamedTuple):
    """What a process has used of the machine since its start."""

    cpu_s: float
    wakes: int
    resident_kb: int
    written_bytes: int

    @classmethod
    def of(cls, pid: int) -> Usage:
        """Of all its threads. A wake-up is a switch that the thread asked for: it had waited."""
        process, cpu_ns, wakes = Path(f"/proc/{pid}"), 0, 0
        for thread in (process / "task").iterdir():
            cpu_ns += int((thread / "schedstat").read_text().split()[0])
            wakes += _number("voluntary_ctxt_switches", thread / "status")
        resident = _number("VmRSS", process / "status")
        return cls(cpu_ns / 1e9, wakes, resident, _number("write_bytes", process / "io"))


def _number(name: str, file: Path) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", file.read_text(), re.MULTILINE)
    assert found is not None, (name, file)
    return int(found[1])


class Run(NamedTuple):
    """What was measured of one process in one run; times in seconds, the rest a second of it."""

    from_line_s: list[float]
    from_event_s: list[float]
    ready_s: float
    cpu_percent: float
    wakes: float
    resident_mb: float

    @property
    def p50_ms(self) -> float:
        return quantiles(self.from_line_s, n=100)[49] * 1e3

    @property
    def p99_ms(self) -> float:
        return quantiles(self.from_line_s, n=100)[98] * 1e3

    @property
    def event_p50_ms(self) -> float:
        return quantiles(self.from_event_s, n=100)[49] * 1e3


def libraries() -> list[str]:
    """The modules of the libraries that a wheel installs, and those of the standard library that cost most."""
    wanted = [re.split(r"[^\w-]", one)[0] for one in requires("wheeld") or () if "extra" not in one]
    modules = packages_distributions().items()
    return [*BUILT_IN, *(name for name, owners in modules if {*owners} & {*wanted})]


async def run(who: str, directory: Path, edges_s: int, seconds: float, *, viewers: int = 0) -> Run:
    """Measure `who`, "wheeld" or "bare", at a wheel of its own: its usage for so long, then its answers for so long.
    With `viewers` somebody reads its journal beside it, and so many look at its page."""
    heard_ns: list[int] = []
    ready = asyncio.Event()

    def hear(topic: str, payload: bytes) -> None:
        if topic == READY and b"online" in payload:
            ready.set()
        elif topic == TOPIC and json.loads(payload)["notice"] == "refused":
            heard_ns.append(time.monotonic_ns())

    calm_s = SETTLE_S + seconds + 3
    with Mosquitto(directory, log_type="information") as broker:
        listener = await Client.connect(broker.port, "listener", hear)
        await listener.subscribe(READY)
        await listener.subscribe(TOPIC)
        with _child(directory / "presses", "tests.bench.board", directory / "board", edges_s, calm_s) as board:
            while not (directory / "board").is_symlink():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            began_ns = time.monotonic_ns()
            with _child(directory / "log", *_command(who, directory, broker.port)) as host:
                await asyncio.wait_for(ready.wait(), PATIENCE_S)
                ready_s = (time.monotonic_ns() - began_ns) / 1e9
                async with _viewed(directory, broker.port, viewers):
                    await asyncio.sleep(SETTLE_S)
                    before, from_ns = Usage.of(host.pid), time.monotonic_ns()
                    await asyncio.sleep(seconds)
                    after, to_ns = Usage.of(host.pid), time.monotonic_ns()
                await asyncio.sleep(calm_s - SETTLE_S)
                board.kill()
                await asyncio.sleep(0.5)
    lines = (directory / "presses").read_text().splitlines()
    presses = [(int(at), int(written)) for at, written in map(str.split, lines)]
    assert 0 <= len(heard_ns) - len(presses) <= 1, f"{who}: {len(presses)} presses, {len(heard_ns)} messages"
    met = [(*press, at) for press, at in zip(presses, heard_ns, strict=False) if press[0] > to_ns]
    took_s = (to_ns - from_ns) / 1e9
    return Run(
        from_line_s=[(at - written) / 1e9 for _, written, at in met],
        from_event_s=[(at - event) / 1e9 for event, _, at in met],
        ready_s=ready_s,
        cpu_percent=(after.cpu_s - before.cpu_s) / took_s * 100,
        wakes=(after.wakes - before.wakes) / took_s,
        resident_mb=after.resident_kb / 1e3,
    )


def _command(who: str, directory: Path, port: int) -> list[object]:
    if who == "bare":
        return ["tests.bench.bare", directory / "board", port, directory / "bare.sqlite", *libraries()]
    wheel = sections(LAYOUT, site="bench", table="wheel-1", last_number=17, port=directory / "board", speed=1)
    key, _ = write_keys(directory)
    journal = f'[journal]\npath = "journal.sqlite"\nsigning_key_file = "{key}"\n'
    config = directory / "wheel.toml"
    monitor = f'[monitor]\nsocket = "{directory / "monitor"}"\n'
    config.write_text(f'{wheel}\n{journal}{monitor}[mqtt]\nhost = "127.0.0.1"\nport = {port}\n')
    return ["wheeld", "run", "-c", config]


@asynccontextmanager
async def _viewed(directory: Path, broker_port: int, viewers: int) -> AsyncIterator[None]:
    """With so many viewers of the page, and one reader of the journal, until the block ends; 0: with neither."""
    if not viewers:
        yield
        return
    port = free_port()
    where = ("bench/wheel-1", "--port", broker_port, "--listen", f"127.0.0.1:{port}", "--socket", directory / "monitor")
    with _child(directory / "page", "wheeld", "page", *where):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_view(port)) for _ in range(viewers)]
            tasks.append(group.create_task(_read(directory / "journal.sqlite")))
            yield
            for task in tasks:
                assert not task.done(), task
                task.cancel()


async def _view(port: int) -> None:
    """What a browser does that shows the live page."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                break
            except ConnectionRefusedError:
                await asyncio.sleep(0.1)
    writer.write(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    assert b" 200 " in await reader.readline()
    while await reader.read(65_536):
        pass
    raise AssertionError("the page closed the connection")


async def _read(journal: Path) -> None:
    """What a person does who shows the last messages again and again."""
    while True:
        with closing(open_reader(journal).database) as database:
            database.rows("SELECT payload FROM messages ORDER BY id DESC LIMIT 100")
        await asyncio.sleep(1)


@contextmanager
def _child(output: Path, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program until the block ends; what it prints stands in `output`."""
    command = [sys.executable, "-m", *map(str, arguments)]
    with output.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            yield process
        finally:
            process.kill()


async def played(directory: Path, coups: int) -> tuple[float, float]:
    """Play so many valid coups in real time, after one that does not count; the bytes that a coup writes to the card,
    and those that the journal holds more after it."""
    with Mosquitto(directory, log_type="information") as broker:
        key, _ = write_keys(directory)
        async with table(directory, broker.port, seed=1, speed=1, signing_key=key) as (wheel, subscriber, daemon):
            totals = []
            for verdicts in range(1, coups + 2):
                await wheel.play("valid")
                await subscriber.until_verdicts(verdicts)
                totals.append((Usage.of(daemon.process.pid).written_bytes, _stored(directory)))
    (written, stored), *_, (all_written, all_stored) = totals
    return (all_written - written) / coups, (all_stored - stored) / coups


def _stored(directory: Path) -> int:
    """Bytes of the journal that hold something."""
    with closing(sqlite3.connect(directory / "journal.sqlite")) as journal:
        return int(journal.execute("SELECT sum(pgsize - unused) FROM dbstat").fetchone()[0])
