"""Under which names a browser may open the live page."""

from __future__ import annotations

import socket

import pytest
from aiohttp.test_utils import TestClient, TestServer

from wheeld.page.numbers import NumberHistory
from wheeld.page.pages import Pages
from wheeld.page.wheel import WheelView


async def answer_to(host: str, path: str = "/", language: str = "en") -> tuple[int, str, str]:
    """Status, text, and what may be done with it."""
    pages = Pages(
        WheelView(), NumberHistory(None), now_s=lambda: 0.0, want=lambda _: None, names=("Wheel-3.casino.lan",)
    )
    headers = {"Host": host, "Accept-Language": language}
    async with TestClient(TestServer(pages.application())) as client, client.get(path, headers=headers) as answer:
        text = "" if path.endswith("events") and answer.status == 200 else await answer.text()
        return answer.status, text, answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8400",
        "10.0.0.7",
        "[::1]:8400",
        "localhost:8400",
        "LOCALHOST.",
        socket.gethostname(),
        f"{socket.gethostname().partition('.')[0]}.local:8400",
        "wheel-3.casino.lan:8400",
    ],
)
async def test_an_address_and_the_computer_s_names_are_taken(host: str) -> None:
    assert (await answer_to(host))[0] == 200


@pytest.mark.parametrize("path", ["/", "/events", "/display", "/display/events", "/files/style.css"])
@pytest.mark.parametrize("host", ["evil.example:8400", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1"])
async def test_another_s_name_is_refused(host: str, path: str) -> None:
    status, text, cache = await answer_to(host, path)
    assert (status, cache) == (421, "no-store")
    assert "is not a name of this computer" in text


async def test_the_refusal_says_what_to_do_in_the_reader_s_language() -> None:
    told = [(await answer_to("wheel.lan", language=language))[1] for language in ("fr", "it", "en")]
    assert all("--name=wheel.lan" in text for text in told)
    assert len(set(told)) == 3


async def test_a_name_is_repeated_no_longer_than_a_name_can_be() -> None:
    assert len((await answer_to("a" * 5000))[1]) < 1000


async def test_the_display_s_own_port_may_be_called_as_one_likes() -> None:
    """It shows what the whole hall sees."""
    pages = Pages(WheelView(), NumberHistory(None), now_s=lambda: 0.0, want=lambda _: None)
    server = TestServer(pages.display_application())
    async with TestClient(server) as client, client.get("/display", headers={"Host": "board.lan"}) as answer:
        assert answer.status == 200
