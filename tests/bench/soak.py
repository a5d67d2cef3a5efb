"""`make soak`: what a daemon holds after hours of play: memory, descriptors, threads, and tasks of its event loop.

`python -m tests.bench.soak HOURS SPEED WHEELS`: so many wheels play beside each other, each at a broker of its own,
SPEED times as fast as life, with the people of `hw-sim run`. Prints what each holds, every minute. It fails where one
holds more at the end than at half time: a descriptor, a thread or a task more, or `GROWTH_KB` of memory. It fails at
once where play stops.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import runpy
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median_low
from tempfile import TemporaryDirectory
from typing import NamedTuple

import aiomqtt

from hw_sim.child import child
from hw_sim.configuration import silence_s
from hw_sim.people import told_of
from hw_sim.subscriber import VERDICTS, Payload
from tests.bench.live import Usage
from tests.cli.live import running
from tests.journal.journals import write_keys
from tests.live.bench import FEED, ROOT, Subscriber, subscribed, write_config
from tests.mosquitto import Mosquitto

GROWTH_KB = 1_000
MINUTE_S = 60.0
MINUTES = 5
"""At half time and at the end. Their medians are compared: while a line is cut a daemon has fewer tasks, for example.
Until half time memory may grow to what play needs: each scenario has a first time."""
QUIET_MAX = 5
"""Play has stopped when no verdict comes in so many minutes of it (in at least one minute of real time)."""


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

    @classmethod
    def usual(cls, held: Sequence[Held]) -> Held:
        """The median of each figure."""
        return cls(*map(median_low, zip(*held, strict=True)))

    def more_than(self, before: Held) -> list[str]:
        """What it holds more of than it may."""
        growth = {name: now - was for name, now, was in zip(self._fields, self, before, strict=True)}
        return [f"{more:+} {name}" for name, more in growth.items() if more > (GROWTH_KB if "kb" in name else 0)]


class Settling(Subscriber):
    """Acknowledges each number of the feed, and keeps only how many verdicts came, and the last message `table`."""

    leaves = FEED
    verdict_count = 0
    shown: Payload | None = None

    async def receive(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            assert isinstance(message.payload, bytes)
            payload = json.loads(message.payload)
            leaf = message.topic.value.removeprefix(ROOT)
            self.verdict_count += leaf in VERDICTS
            if leaf == "table":
                self.shown = payload
            await client.publish(f"{ROOT}ack", json.dumps({"seq": payload["seq"]}), qos=1)


async def soak(wheel: int, hours: float, speed: float) -> list[str]:
    """Play one wheel for so long; what it holds too much of at the end. Raises AssertionError when play stops."""
    name, held, verdicts, quiet = f"wheel {wheel}", list[Held](), list[int](), math.ceil(QUIET_MAX / speed)
    with TemporaryDirectory() as temporary, Mosquitto(Path(temporary), log_type="information") as broker:
        directory = Path(temporary)
        counted, (key, _) = directory / "tasks", write_keys(directory)
        config = write_config(directory, broker.port, silence_s=silence_s(speed), signing_key=key)
        prefix, settling = (sys.executable, "-m", "tests.bench.soak", "start", str(counted)), Settling()
        program, log = Path(sys.executable).with_name("hw-sim"), directory / "people.log"
        people = f"{program} run --pty {directory}/board --layout {config} --seed {wheel} --speed {speed} --quick"
        async with (
            subscribed(broker.port, settling),
            child("hw-sim run", people.split(), log),
            running(config, prefix=prefix) as daemon,
        ):
            for minute in range(1, 2 + round(60 * hours)):
                await asyncio.sleep(MINUTE_S)
                daemon.logs.clear()
                held.append(await asyncio.to_thread(Held.by, daemon.process.pid, counted))
                verdicts.append(settling.verdict_count)
                print(f"{name} {minute:4} min, {verdicts[-1]} verdicts: {held[-1]}", flush=True)  # noqa: T201
                is_played = minute <= quiet or verdicts[-1] > verdicts[-1 - quiet]
                assert is_played, (
                    f"{name}: no verdict in {quiet} min: {told_of(settling.shown)}; {log.read_text()[-500:]}"
                )
    half, end = Held.usual(held[len(held) // 2 :][:MINUTES]), Held.usual(held[-MINUTES:])
    return [f"{name}: {more}" for more in end.more_than(half)]


async def main(hours: float, speed: float, wheels: int) -> None:
    """All wheels, beside each other."""
    found = await asyncio.gather(*(soak(n + 1, hours, speed) for n in range(wheels)))
    if too_much := [one for of_wheel in found for one in of_wheel]:
        sys.exit("more than at half time: " + ", ".join(too_much))


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
