"""The bench, as `hw-sim bench` starts it, pressed over HTTP as a browser does; its wheel is the real daemon."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.live import PATIENCE_S
from tests.live.test_demo import children, is_running

PROGRAM = "from hw_sim.cli import main; raise SystemExit(main())"
REMEDIES = {
    "remove the foreign object": "chip-out",
    "cable of the sensor board": "plug",
    "put the ball back": "ball-back",
    "turn the rotor": "spin-rotor",
    '"tout va"': "tout-va",
    "end of operations": "operations-done",
    "opening of the table": "open",
    "resumption": "resume",
    "confirmation by the chef": "confirm",
}
"""What a person presses when the table waits for that, in the table's words."""
LOOKS, LOOK_S = 60, 0.5
"""A person looks so often, so many real seconds apart."""


class Page:
    """The bench page, as a browser has it."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session, self.address = session, address
        self.entries: list[dict[str, Any]] = []
        self._news = asyncio.Event()

    async def follow(self) -> None:
        async with self._session.get(f"{self.address}/events") as stream:
            async for line in stream.content:
                if line.startswith(b"data: "):
                    self.entries.append(json.loads(line.removeprefix(b"data: ")))
                    self._news.set()

    async def until(self, what: str, *, kind: str, names: tuple[str, ...], after: int = 0) -> dict[str, Any]:
        """The first entry of that kind and one of those names after so many."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    self._news.clear()
                    for entry in self.entries[after:]:
                        if entry["kind"] == kind and entry["name"] in names:
                            return entry
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"no {what}: {self.entries[-12:]}") from None

    async def press(self, name: str) -> str:
        """The answer's words."""
        async with self._session.post(f"{self.address}/do/{name}") as answer:
            assert answer.status == 200
            told = await answer.json()
            return str(told["words"])

    async def verdict(self, *presses: str, pause_s: float = 0.5) -> str:
        """The next verdict's text, after these presses."""
        known = len(self.entries)
        for name in presses:
            await self.press(name)
            await asyncio.sleep(pause_s)
        entry = await self.until("verdict", kind="message", names=("result", "void"), after=known)
        return f"{entry['name']} {entry['text']}"

    async def make_ready(self) -> None:
        """Do what the table asks for, until a ball can be launched."""
        for _ in range(LOOKS):
            waits = next(entry["text"] for entry in reversed(self.entries) if entry["name"] == "table")
            remedies = [remedy for words, remedy in REMEDIES.items() if words in waits]
            if "launch of the ball" in waits and not remedies:
                return
            for remedy in remedies:
                await self.press(remedy)
            await asyncio.sleep(LOOK_S)
        raise AssertionError(f"nobody can play on: {self.entries[-12:]}")


@asynccontextmanager
async def bench(state: Path, command: str = "bench") -> AsyncIterator[tuple[asyncio.subprocess.Process, Page]]:
    """The program and its page; ended when the block ends."""
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-c",
            PROGRAM,
            command,
            "--speed",
            "8",
            "--seed",
            "1",
            "--state",
            str(state),
            "--language",
            "en",
        ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment,
    )
    assert process.stdout is not None
    said = []
    address = ""
    async with asyncio.timeout(PATIENCE_S):
        async for line in process.stdout:
            said.append(line.decode())
            if found := re.search(r"^bench page: (http://127\.0\.0\.1:\d+/bench)$", said[-1]):
                address = found[1]
                break
    assert address, said
    rest = asyncio.create_task(process.stdout.read())
    async with aiohttp.ClientSession() as session:
        page = Page(session, address)
        following = asyncio.create_task(page.follow())
        try:
            yield process, page
        finally:
            following.cancel()
            await asyncio.wait({following})
            if process.returncode is None:
                process.terminate()
            await rest
            await process.wait()


def is_pages(pid: int) -> bool:
    return b"--frame-of" in Path(f"/proc/{pid}/cmdline").read_bytes()


async def test_each_button_gets_its_verdict_and_one_can_play_on(tmp_path: Path) -> None:
    async with bench(tmp_path) as (_, page):
        await page.until("turn", kind="play", names=("by-hand",))
        for presses, expected in (
            (("launch",), "result "),
            (("same-direction",), "void rien va: same_direction · N1, Art. 11"),
            (("weak-launch",), "void rien va: too_few_laps · N3, Art. 11"),
            (("launch", "chip"), "void rien va: foreign_object · N6, Art. 11"),
            (("launch", "stop-rotor"), "void rien va: rotor_stopped_running · N4, Art. 11"),
            (("launch", "unplug"), "void rien va: breakdown · N8"),
            (("noise", "launch", "noise"), "result "),
            (("launch", "rien-va"), "void rien va: chef · N7, Art. 11"),
            (("launch", "power-off", "power-on"), "void rien va: breakdown · N8"),
        ):
            await page.make_ready()
            verdict = await page.verdict(*presses)
            assert verdict.startswith(expected), f"{presses}: {verdict}; {page.entries[-20:]}"
        await page.make_ready()
        await page.press("by-itself")
        known = len(page.entries)
        await page.until("people", kind="play", names=("by-itself",), after=known - 1)
        await page.until("verdict", kind="message", names=("result", "void"), after=known)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_live_page_is_in_its_frame_and_nothing_outlives_it(tmp_path: Path, number: signal.Signals) -> None:
    async with bench(tmp_path, "demo") as (process, page), aiohttp.ClientSession() as session:
        await page.until("people", kind="play", names=("by-itself",))
        async with session.get(page.address) as answer:
            live = re.findall(r'<iframe [^>]*src="([^"]+)"', await answer.text())[0]
        async with session.get(live) as answer:
            origin = page.address.removesuffix("/bench")
            assert f"frame-ancestors {origin};" in answer.headers["Content-Security-Policy"]
        assert "By hand" in await page.press("launch")
        started = children(process.pid)
        assert len(started) == 3, "broker, daemon and pages"
        os.kill(process.pid, number)
        await process.wait()
        assert process.returncode == 0
        assert not any(map(is_running, started))


async def test_pages_that_end_end_the_demo_and_it_says_so(tmp_path: Path) -> None:
    async with bench(tmp_path, "demo") as (process, _):
        started = children(process.pid)
        (pages,) = (pid for pid in started if is_pages(pid))
        os.kill(pages, signal.SIGKILL)
        await process.wait()
        assert process.returncode == 69
        assert not any(map(is_running, started))
