"""The bench page over HTTP: its buttons, its stream, and who may press."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from hw_sim.bench.server import Server
from tests.hw_sim_bench.virtual import BUTTONS, VirtualBench

PAGES = "http://127.0.0.1:8400"
Client = TestClient[web.Request, web.Application]


@asynccontextmanager
async def served(bench: VirtualBench) -> AsyncIterator[Client]:
    app = Server(bench.play, bench.ledger, PAGES, bench.subscriber.words).application()
    async with TestClient(TestServer(app)) as client:
        yield client


@pytest.fixture
def bench() -> VirtualBench:
    made = VirtualBench(0)
    made.until_handed_over()
    return made


async def events(client: Client, count: int, had: int = 0) -> list[dict[str, Any]]:
    """So many entries of the stream, after that one."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(10), client.get("/bench/events", headers={"Last-Event-ID": str(had)}) as answer:
        assert answer.content_type == "text/event-stream"
        async for line in answer.content:
            if line.startswith(b"data: "):
                found.append(json.loads(line.removeprefix(b"data: ")))
                if len(found) == count:
                    break
    return found


async def test_the_page_has_every_button_with_its_words_and_the_live_page_in_a_frame(bench: VirtualBench) -> None:
    async with served(bench) as client:
        answer = await client.get("/")
        text = await answer.text()
        assert answer.url.path == "/bench"
        ids = re.findall(r'<button id="do-([a-z-]+)"', text)
        assert sorted(ids) == sorted([*BUTTONS, "by-hand", "by-itself"])
        assert {"launch", "same-direction", "weak-launch", "chip", "stop-rotor", "unplug", "noise"} <= set(ids)
        for button in BUTTONS.values():
            assert f'aria-describedby="about-{button.name}"' in text
            assert html.escape(button.about) in text
        assert f'src="{PAGES}/?lang=en"' in text
        assert 'id="messages"' in text
        policy = answer.headers["Content-Security-Policy"]
        assert f"frame-src {PAGES};" in policy
        assert "frame-ancestors 'none'" in policy
        for name in ("bench.js", "bench.css"):
            assert (await client.get(f"/bench/files/{name}")).status == 200
        assert (await client.get("/bench/files/server.py")).status == 404


async def test_a_press_is_answered_in_words_and_stands_in_the_truth(bench: VirtualBench) -> None:
    async with served(bench) as client:
        told = await (await client.post("/bench/do/launch")).json()
        assert told["done"] is True
        assert told["words"].startswith("The ball is launched")
        assert told["words"] == bench.truth[-1]
        again = await (await client.post("/bench/do/launch")).json()
        assert again == {"done": False, "words": "The ball runs on the track already: there is only one ball."}
        assert (await client.post("/bench/do/cheat")).status == 404


async def test_a_browser_that_comes_back_gets_what_it_has_missed_and_then_the_news(bench: VirtualBench) -> None:
    async with served(bench) as client:
        kept = await events(client, len(bench.entries))
        assert [entry["number"] for entry in kept] == list(range(1, len(kept) + 1))
        assert kept[-1]["kind"] == "play"
        assert kept[-1]["name"] == "by-hand"
        waiting = asyncio.create_task(events(client, 1, had=len(kept)))
        await asyncio.sleep(0)
        bench.play.press("chip")
        (entry,) = await waiting
        assert (entry["kind"], entry["text"]) == ("truth", "A chip falls in the cylinder.")
        assert [each["number"] for each in await events(client, 2, had=len(kept) - 1)] == [len(kept), len(kept) + 1]


async def test_another_site_can_neither_press_nor_read(bench: VirtualBench) -> None:
    async with served(bench) as client:
        for where in ("cross-site", "same-site"):
            answer = await client.post("/bench/do/launch", headers={"Sec-Fetch-Site": where})
            assert answer.status == 403
        assert (await client.get("/bench", headers={"Host": "evil.example"})).status == 403
        assert not any("launched" in text for text in bench.truth)
