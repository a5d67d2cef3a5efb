"""`make soak`: what a daemon holds after hours of play: memory, descriptors, threads, and tasks of its event loop.

`python -m tests.bench.soak HOURS SPEED WHEELS`: so many wheels play beside each other, each at a broker of its own,
SPEED times as fast as life. Prints what each holds, every minute. It fails where one holds more at the end than after
its first minute: a descriptor, a thread or a task more, or `GROWTH_KB` of memory.
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import signal
import sys
import time
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import aiomqtt

from tests.bench.live import Usage
from tests.journal.journals import write_keys
from tests.live.bench import FEED, ROOT, Subscriber, cut, table
from tests.mosquitto import Mosquitto

GROWTH_KB = 1_000
MINUTE_S = 60.0
COUPS = ("valid", "valid_few_laps", "too_few_laps")


class Held(NamedTuple):
    """What a process holds at a moment."""

    resident_kb: int
    descriptors: int
    threads: int
    tasks: int

    @classmethod
    def by(cls, pid: int, counted: Path) -> Held:
        """Of a daemon that `start` has started; its tasks are counted at its next wake-up."""
        counted.unlink(missing_ok=True)
        os.kill(pid, signal.SIGUSR2)
        until_s = time.monotonic() + MINUTE_S
        while not counted.exists():
            assert time.monotonic() < until_s, f"{pid} does not wake up"
            time.sleep(0.1)
        tasks = int(counted.read_text())
        process = Path(f"/proc/{pid}")
        descriptors, threads = (len(list((process / name).iterdir())) for name in ("fd", "task"))
        return cls(Usage.of(pid).resident_kb, descriptors, threads, tasks)

    def more_than(self, first: Held) -> list[str]:
        """What it holds more of than it may."""
        growth = {name: now - was for name, now, was in zip(self._fields, self, first, strict=True)}
        return [f"{more:+} {name}" for name, more in growth.items() if more > (GROWTH_KB if "kb" in name else 0)]


class Settling(Subscriber):
    """Acknowledges each number of the feed, and keeps only how many verdicts came."""

    verdict_count = 0

    async def receive(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            leaf = message.topic.value.removeprefix(ROOT)
            assert isinstance(message.payload, bytes)
            self.received = [*self.received[-20:], (leaf, message.payload)]
            self._news.set()
            self.verdict_count += leaf in ("result", "void")
            if leaf in FEED:
                await client.publish(f"{ROOT}ack", json.dumps({"seq": json.loads(message.payload)["seq"]}), qos=1)


async def soak(name: str, hours: float, speed: float) -> list[str]:
    """Play one wheel for so long; what it holds too much of at the end."""
    held: list[Held] = []
    with TemporaryDirectory() as temporary, Mosquitto(Path(temporary), log_type="information") as broker:
        directory = Path(temporary)
        counted, (key, _) = directory / "tasks", write_keys(directory)
        key.chmod(0o600)
        prefix, subscriber = (sys.executable, "-m", "tests.bench.soak", "start", str(counted)), Settling()
        wheel_there = table(
            directory, broker.port, seed=1, prefix=prefix, speed=speed, subscriber=subscriber, signing_key=key
        )
        async with wheel_there as (wheel, _, daemon):
            loop = asyncio.get_running_loop()
            began_s = next_s = loop.time()
            for coup in cycle((*COUPS, "cut")):
                await wheel.play(cut(1.0) if coup == "cut" else coup)
                await wheel.press("open")  # as after the cut; else it is refused
                if loop.time() - next_s < MINUTE_S:
                    continue
                next_s = loop.time()
                daemon.logs.clear()
                held.append(await asyncio.to_thread(Held.by, daemon.process.pid, counted))
                print(f"{name} {next_s - began_s:6.0f} s, {subscriber.verdict_count} verdicts: {held[-1]}", flush=True)  # noqa: T201
                if next_s - began_s >= hours * 3600:
                    break
    return [f"{name}: {more}" for more in held[-1].more_than(held[0])]


async def main(hours: float, speed: float, wheels: int) -> None:
    """All wheels, beside each other."""
    found = await asyncio.gather(*(soak(f"wheel {n + 1}", hours, speed) for n in range(wheels)))
    if too_much := [one for of_wheel in found for one in of_wheel]:
        sys.exit("more than after the first minute: " + ", ".join(too_much))


def start(counted: Path, arguments: list[str]) -> None:
    """Become `wheeld`, and write to that file how many tasks its event loop has, each time that SIGUSR2 comes."""

    def tell(_: int, __: object) -> None:
        new = counted.with_suffix(".new")
        new.write_text(str(len(asyncio.all_tasks())))
        new.rename(counted)

    signal.signal(signal.SIGUSR2, tell)
    sys.argv = arguments
    runpy.run_module("wheeld", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if sys.argv[1] == "start":  # FILE PYTHON -m wheeld ARGUMENTS…
        start(Path(sys.argv[2]), sys.argv[5:])
    else:
        asyncio.run(main(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
