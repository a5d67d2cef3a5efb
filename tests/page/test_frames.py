"""Whose page may show ours in a frame: nobody's, or one of this computer that is named."""

from __future__ import annotations

import argparse

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from wheeld.cli.places import origin_here
from wheeld.page.numbers import NumberHistory
from wheeld.page.pages import Pages
from wheeld.page.wheel import WheelView


async def policy(frame_of: str | None, path: str) -> str:
    pages = Pages(WheelView(), NumberHistory(None), now_s=lambda: 0.0, want=lambda _: None, frame_of=frame_of)
    app: web.Application = pages.application()
    async with TestClient(TestServer(app)) as client, client.get(path) as answer:
        return answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/display", "/files/style.css", "/none"])
async def test_only_the_page_that_is_named_may_show_ours_in_a_frame(path: str) -> None:
    assert "frame-ancestors 'none';" in await policy(None, path)
    assert "frame-ancestors http://127.0.0.1:8500;" in await policy("http://127.0.0.1:8500", path)


def test_a_page_of_this_computer_can_be_named() -> None:
    for origin in ("http://127.0.0.1:8500", "http://localhost:80", "http://[::1]:8500"):
        assert origin_here(origin) == origin


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "http://*",
        "https://example.org:443",
        "http://example.org:80",
        "http://127.0.0.1",
        "http://127.0.0.1:8500/bench",
        "http://127.0.0.1:8500; script-src *",
        "127.0.0.1:8500",
    ],
)
def test_no_other_can(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        origin_here(text)
