"""What looking on costs the wheel: `python -m tests.browser.cost [SECONDS] [SPEED]`.

The same coups are played with no `[monitor]`, with one that nobody listens to, with a browser on the live page, and
with a browser and 20 more viewers. For each: the processor time of the daemon and of `wheeld page`, in percent of a
core, and how long after the reader's last sighting each result was at the broker.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from hw_sim.events import End, Sighting, SimEvent
from hw_sim.scenarios import SCENARIOS
from tests.browser.browser import SIZES, chromium, looking
from tests.browser.house import configuration, paged
from tests.cli.live import running
from tests.live.bench import Subscriber, Wheel, subscribed, turning
from tests.mosquitto import Mosquitto

FORMS = {"no [monitor]": None, "no viewer": 0, "one viewer": 1, "21 viewers": 21}
"""How many look on; None: there is nothing to look at."""
COUPS = ("valid", "valid_few_laps", "too_few_laps")
WARM_S = 5.0
"""Until everybody is connected and the browser has drawn its first frames."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class TimedWheel(Wheel):
    """Plays coups without a pause once `is_playing`, and notes when a reader last saw the ball, by the event loop."""

    is_playing = False
    sighted_s = 0.0

    def events(self) -> Iterator[SimEvent]:
        for event in super().events():
            yield event
            if self.is_playing and isinstance(event, End):
                break
        for name in cycle(COUPS):
            yield from self.live_table.play(SCENARIOS[name])

    def happen(self, event: SimEvent) -> None:
        if isinstance(event, Sighting):
            self.sighted_s = asyncio.get_running_loop().time()
        super().happen(event)


@dataclass
class Latencies:
    """From the sighting that proved a number to its result at a subscriber, in seconds."""

    wheel: TimedWheel
    found: list[float] = field(default_factory=list)


class TimedSubscriber(Subscriber):
    """Notes how late results come."""

    latencies: Latencies

    def note(self, leaf: str, payload: bytes) -> None:
        if leaf == "result":
            now_s = asyncio.get_running_loop().time()
            self.latencies.found.append(now_s - self.latencies.wheel.sighted_s)


def processor_s(pid: int) -> float:
    """Processor time of a process and of its threads since its start."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


@asynccontextmanager
async def _viewers(directory: Path, address: str, count: int) -> AsyncIterator[None]:
    """One browser on the live page, and a program that reads its events as so many browsers do. Both are the last
    whom the system lets run: a house's viewers have computers of their own."""
    if not count:
        yield
        return
    command = [
        "nice",
        "-n",
        "19",
        sys.executable,
        "-m",
        "tests.browser.cost",
        "view",
        f"{address}/events",
        str(count - 1),
    ]
    slow_browser = directory / "chromium"
    slow_browser.write_text('#!/bin/sh\nexec nice -n 19 chromium "$@"\n')
    slow_browser.chmod(0o755)
    readers = await asyncio.create_subprocess_exec(*command)
    try:
        async with chromium(str(slow_browser)) as browser, looking(browser, f"{address}/", SIZES["desktop"]):
            yield
        assert readers.returncode is None, "a viewer was sent away"
    finally:
        with suppress(ProcessLookupError):
            readers.kill()
        await readers.wait()


async def view(url: str, count: int) -> None:
    """Read the events of that address so many times at once, until killed."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(_read(session, url))
        await asyncio.Event().wait()


async def _read(session: aiohttp.ClientSession, url: str) -> None:
    async with session.get(url, timeout=aiohttp.ClientTimeout(total=None)) as answer:
        async for _ in answer.content.iter_any():
            pass
    raise ConnectionError("the stream has ended")


async def measure(viewers: int | None, seconds: float, speed: float) -> str:
    """One line of the table."""
    has_monitor = viewers is not None
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory()))
        broker = stack.enter_context(Mosquitto(directory))
        path = configuration(directory, broker.port, monitor=has_monitor)
        wheel = TimedWheel(15)
        subscriber = TimedSubscriber()
        subscriber.latencies = Latencies(wheel)
        await stack.enter_async_context(subscribed(broker.port, subscriber))
        await stack.enter_async_context(turning(wheel, directory / "board", speed=speed))
        daemon = await stack.enter_async_context(running(path))
        page = await stack.enter_async_context(paged(directory, broker.port, monitor=has_monitor))
        await subscriber.until_state("closed")
        await daemon.until("board.identified")
        await wheel.press("open")
        await stack.enter_async_context(_viewers(directory, page.players, viewers or 0))
        await asyncio.sleep(WARM_S)
        wheel.is_playing = True
        pids = (daemon.process.pid, page.pid)
        before = [processor_s(pid) for pid in pids]
        await asyncio.sleep(seconds)
        used = [100 * (processor_s(pid) - was) / seconds for pid, was in zip(pids, before, strict=True)]
        found = sorted(subscriber.latencies.found)
    late = f"{statistics.median(found) * 1e3:5.0f} ms {found[-1] * 1e3:5.0f} ms" if found else "none"
    return f"{used[0]:8.2f} % {used[1]:8.2f} % {len(found):5}  {late}"


async def main(seconds: float, speed: float) -> None:
    """All forms, one after the other."""
    print(f"{seconds:g} s each, the wheel {speed:g} times as fast as life")  # noqa: T201
    print("               daemon       page  results  median and longest from sighting to result")  # noqa: T201
    for name, viewers in FORMS.items():
        print(f"{name:12} {await measure(viewers, seconds, speed)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] == ["view"]:
        asyncio.run(view(given[1], int(given[2])))
    else:
        seconds, speed = given + ["60", "1"][len(given) :]
        asyncio.run(main(float(seconds), float(speed)))
