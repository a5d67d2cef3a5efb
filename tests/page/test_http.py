"""The pages over HTTP, without a browser and without a broker."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from tests.core.evening import Evening
from tests.page.evenings import watched
from wheeld.broker.roles import BY_NAME
from wheeld.core.catalogue import Catalogue
from wheeld.core.messages.payloads import ReplyPayload
from wheeld.page.broker import NotConfirmedError, NotSentError, PageLogin
from wheeld.page.pages import Pages
from wheeld.page.panel import ANSWER_S_MAX, ATTEMPTS, ATTEMPTS_S, SEEN_S_MAX, Panel, PendingReplies, Token
from wheeld.page.setting import PanelRole
from wheeld.page.words import WORDS
from wheeld.screen.locale import LANGUAGES

USER = "chef-campione-03"
TOKEN = "correct horse battery"


class House:
    """A wheel that answers: `answers` says how, `sent` is what was published."""

    def __init__(self, role: PanelRole = "chef") -> None:
        self.evening = Evening().open()
        self.wheel, self.numbers = watched(self.evening)
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.replies: list[ReplyPayload] = []
        self.expiries_s: list[int | None] = []
        self.is_broker_there = self.confirms = True
        self.now_s = 0.0
        self.wanted: list[bool] = []
        self.answers = PendingReplies(f"{role}-campione-03")
        self.pages = Pages(self.wheel, self.numbers, now_s=lambda: self.now_s, want=self.wanted.append)
        self.token = Token(TOKEN, lambda: self.now_s)
        login = cast("PageLogin", self)
        self.panel = Panel(
            self.wheel,
            self.numbers,
            login,
            self.answers,
            role=role,
            user=f"{role}-campione-03",
            token=self.token,
            now_s=lambda: self.now_s,
        )
        self.panel.is_reached = True

    async def publish(self, leaf: str, payload: bytes, *, expiry_s: int | None = None) -> None:
        """As `PageLogin` does it; the answer comes at once."""
        self.expiries_s.append(expiry_s)
        if not self.is_broker_there:
            raise NotSentError("the broker is not reached")
        body = json.loads(payload)
        self.sent.append((leaf, body))
        for reply in self.replies:
            id_ = body["id"] if reply.id == "yours" else reply.id
            told = ReplyPayload("reply/1", id_, reply.name, "Rossi", reply.user, done=reply.done, why=reply.why)
            self.answers.take(json.dumps({**_plain(told)}).encode())
        if not self.confirms:
            raise NotConfirmedError("Operation timed out")


def _plain(reply: ReplyPayload) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in ("schema", "id", "name", "by", "user", "done", "why")}


def reply(name: str, *, id_: str = "yours", user: str = USER, done: bool = True, why: str = "") -> ReplyPayload:
    return ReplyPayload("reply/1", id_, name, "Rossi", user, done, why)


@asynccontextmanager
async def at_panel(house: House, *, token: str | None = TOKEN) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(house.panel.application())) as client:
        if token is not None:
            await client.post("/chef/token", data={"token": token})
        yield client


PRESS = "0123456789abcdef" * 2


async def command(client: TestClient[Any, Any], name: str, **more: object) -> ClientResponse:
    asked = {"press": PRESS, "seen_s": 0, "coup": 1, "by": "Rossi", "reason": "as usual", **more}
    return await client.post(f"/chef/commands/{name}", json=asked)


@pytest.fixture
def house() -> House:
    return House()


async def test_a_command_goes_out_under_the_panel_s_own_name_and_its_answer_comes_back(house: House) -> None:
    house.replies = [reply("rien_ne_va_plus", why="bets close")]
    async with at_panel(house) as client:
        answer = await (await command(client, "rien_ne_va_plus")).json()
    assert answer == {"done": True, "why": "bets close"}
    ((leaf, body),) = house.sent
    assert leaf == f"cmd/{USER}/rien_ne_va_plus"
    assert (body["by"], body["reason"]) == ("Rossi", "as usual")
    assert (body["id"], body["coup"]) == (PRESS, 1)
    assert "at" in body
    assert "seen_s" not in body


@pytest.mark.parametrize(
    "forged",
    [
        reply("open", id_="somebody's"),
        reply("open", user="bouler-campione-03"),
        reply("close"),
    ],
)
async def test_an_answer_to_somebody_else_is_not_taken(forged: ReplyPayload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.page.panel.ANSWER_S_MAX", 0.05)
    house = House()
    house.replies = [forged]
    async with at_panel(house) as client:
        assert await (await command(client, "open")).json() == {"done": None}


async def test_a_command_that_could_not_be_sent_says_so(house: House) -> None:
    house.is_broker_there = False
    async with at_panel(house) as client:
        answer = await (await command(client, "open")).json()
    assert answer == {"done": None, "unsent": WORDS["broker_away"]}


@pytest.mark.parametrize(("since_s", "is_sent"), [(SEEN_S_MAX, True), (SEEN_S_MAX + 0.1, False), (-0.1, False)])
async def test_a_press_that_its_connection_kept_back_is_not_sent(since_s: float, is_sent: bool, house: House) -> None:
    house.replies = [reply("open")]
    async with at_panel(house) as client:
        house.now_s = 100.0
        answer = await (await command(client, "open", seen_s=100.0 - since_s)).json()
    assert (len(house.sent) == 1) is (answer["done"] is True) is is_sent
    assert is_sent or "10 s old" in answer["unsent"]


async def test_a_press_that_a_browser_sends_again_is_done_once_and_answered_twice(house: House) -> None:
    house.replies = [reply("open", why="open")]
    async with at_panel(house) as client:
        answers = [await (await command(client, "open")).json() for _ in range(2)]
        assert answers == [{"done": True, "why": "open"}] * 2
        assert len(house.sent) == 1
        await command(client, "open", press="f" * 32)
    assert len(house.sent) == 2


@pytest.mark.parametrize(("name", "more"), [("close", {}), ("open", {"reason": "another"}), ("open", {"coup": 2})])
async def test_a_press_that_comes_again_with_another_command_is_refused(
    name: str, more: dict[str, object], house: House
) -> None:
    house.replies = [reply("open", why="open")]
    async with at_panel(house) as client:
        await command(client, "open")
        answer = await command(client, name, **more)
        told = [await (await command(client, f"{name}?lang={each}", **more)).text() for each in LANGUAGES]
    assert answer.status == 409
    assert told == [Catalogue(each).say(WORDS["other_command"]) for each in LANGUAGES]
    assert len(house.sent) == 1


async def test_answers_are_kept_for_so_many_presses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.page.panel.PRESSES_MAX", 1)
    house = House()
    house.replies = [reply("open")]
    async with at_panel(house) as client:
        for press in ("a" * 32, "b" * 32, "a" * 32):
            await command(client, "open", press=press)
    assert len(house.sent) == 3


async def test_a_panel_that_the_broker_does_not_let_in_says_so_and_offers_nothing(house: House) -> None:
    async with at_panel(house) as client:
        seen = []
        for house.panel.is_reached in (True, False):
            async with client.get("/chef/events") as answer:
                seen.append(json.loads((await _data(answer)).removeprefix("data: ")))
    assert [(each["mute"], bool(each["offers"])) for each in seen] == [(False, True), (True, False)]
    assert (seen[0]["coup"], seen[0]["seen_s"]) == (house.wheel.coup, 0)


@pytest.mark.parametrize(
    ("replies", "answer"), [([], {"done": None}), ([reply("open", why="open")], {"done": True, "why": "open"})]
)
async def test_a_command_that_the_broker_has_not_confirmed_is_not_called_unsent(
    replies: list[ReplyPayload], answer: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheeld.page.panel.ANSWER_S_MAX", 0.05)
    house = House()
    house.confirms, house.replies = False, replies
    async with at_panel(house) as client:
        assert await (await command(client, "open")).json() == answer


async def test_a_press_is_kept_for_a_wheel_that_is_away_as_long_as_the_chef_waits_but_rien_va(house: House) -> None:
    """What nobody answered he says again: the first must not come then. "Rien va" counts from when it was said."""
    house.replies = [reply("open"), reply("rien_va")]
    async with at_panel(house) as client:
        for name, press in (("open", "a" * 32), ("rien_va", "b" * 32)):
            await command(client, name, press=press)
    assert house.expiries_s == [ANSWER_S_MAX, None]


async def test_the_bouler_s_panel_is_the_same_page_with_his_words_alone() -> None:
    house = House("bouler")
    house.replies = [reply("rien_ne_va_plus", user="bouler-campione-03")]
    async with TestClient(TestServer(house.panel.application())) as client:
        assert (await client.get("/bouler/events")).status == 403
        await client.post("/bouler/token", data={"token": TOKEN})
        text = await (await client.get("/bouler?lang=fr")).text()
        assert Catalogue("fr").say(WORDS["panel_bouler"]) in text.replace("&#x27;", "'")
        assert "/files/panel.js" in text
        for path in ("/chef", "/chef/events"):
            assert (await client.get(path)).status == 404
        asked = {"press": PRESS, "seen_s": 0, "coup": 1, "by": "Rossi", "reason": "as usual"}
        for name in set(BY_NAME["chef"].commands) - set(BY_NAME["bouler"].commands):
            assert (await client.post(f"/bouler/commands/{name}", json=asked)).status == 404
        assert (await (await client.post("/bouler/commands/rien_ne_va_plus", json=asked)).json())["done"] is True
    assert [leaf for leaf, _ in house.sent] == ["cmd/bouler-campione-03/rien_ne_va_plus"]


@pytest.mark.parametrize("name", ["resend", "inspect", "program", "anything"])
async def test_what_is_no_chef_s_command_does_not_exist(name: str, house: House) -> None:
    async with at_panel(house) as client:
        assert (await command(client, name)).status == 404
    assert house.sent == []


@pytest.mark.parametrize(
    "more",
    [
        {"by": ""},
        {"by": "a\nb"},
        {"reason": ""},
        {"id": "mine"},
        {"press": "x"},
        {"coup": -1},
        {"number": "7"},
        {"case": "no case"},
    ],
)
async def test_what_the_wheel_would_not_take_is_not_sent(more: dict[str, object], house: House) -> None:
    async with at_panel(house) as client:
        assert (await command(client, "rien_va", **more)).status == 400
    assert house.sent == []


async def test_without_the_token_nothing_can_be_seen_or_done(house: House) -> None:
    for token in (None, "wrong", ""):
        async with at_panel(house, token=token) as client:
            assert (await command(client, "open")).status == 403
            assert (await client.get("/chef/events")).status == 403
            text = await (await client.get("/chef")).text()
            assert 'name="token"' in text
            assert "offers" not in text
    assert house.sent == []


async def test_the_token_s_form_keeps_the_language_that_was_asked_for() -> None:
    async with at_panel(House(), token=None) as client:
        headers = {"Accept-Language": "de"}
        text = await (await client.get("/chef?lang=it", headers=headers)).text()
        form = re.findall(r'<form method="post" action="([^"]+)"', text)[0]
        for token in ("wrong", TOKEN):
            answer = await client.post(form, data={"token": token}, headers=headers)
            assert '<html lang="it">' in await answer.text()
        assert "offers" in await answer.text()


async def test_five_wrong_tokens_lock_the_right_one_out_for_a_minute(house: House) -> None:
    async with at_panel(house, token=None) as client:
        for _ in range(ATTEMPTS):
            await client.post("/chef/token", data={"token": "wrong"})
        await client.post("/chef/token", data={"token": TOKEN})
        assert (await command(client, "open")).status == 403
        house.now_s = ATTEMPTS_S + 1
        house.replies = [reply("open")]
        await client.post("/chef/token", data={"token": TOKEN})
        assert (await command(client, "open")).status == 200


async def test_who_cannot_wait_does_not_make_the_minute_longer(house: House) -> None:
    async with at_panel(house, token=None) as client:
        for _ in range(ATTEMPTS):
            await client.post("/chef/token", data={"token": "wrong"})
        for _ in range(ATTEMPTS + 1):
            house.now_s += ATTEMPTS_S / ATTEMPTS
            await client.post("/chef/token", data={"token": TOKEN})
        assert (await client.get("/chef/events")).status == 200


@pytest.mark.parametrize(
    ("headers", "data"),
    [
        ({}, b"token=\xff\xfe"),
        ({"Content-Type": "application/x-www-form-urlencoded; charset=none"}, b"token=%ED%FF"),
        ({"Content-Type": "multipart/form-data"}, b"x"),
    ],
)
async def test_what_is_no_form_is_refused_and_is_no_error_of_ours(headers: dict[str, str], data: bytes) -> None:
    async with at_panel(House(), token=None) as client:
        headers = {"Content-Type": "application/x-www-form-urlencoded"} | headers
        assert (await client.post("/chef/token", data=data, headers=headers)).status == 400


def test_a_cookie_that_is_no_text_is_no_session() -> None:
    token = House().token
    assert token.session(TOKEN)
    assert not token.knows("\udcff\udcfe")
    assert token.session("\udcff") is None


async def test_another_site_cannot_send_commands_through_the_chef_s_browser(house: House) -> None:
    async with at_panel(house) as client:
        body = {"press": PRESS, "seen_s": 0, "coup": 1, "by": "x", "reason": "y"}
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            assert (await client.post("/chef/commands/open", json=body, headers=headers)).status == 403
        # A form of another page can send this type, and no JSON.
        assert (
            await client.post("/chef/commands/open", data="{}", headers={"Content-Type": "text/plain"})
        ).status == 404
        (cookie,) = client.session.cookie_jar.filter_cookies(client.make_url("/")).values()
        assert cookie.value not in (TOKEN, "")
    assert house.sent == []


async def test_the_cookie_is_for_this_panel_s_own_pages_alone(house: House) -> None:
    async with at_panel(house, token=None) as client:
        answer = await client.post("/chef/token", data={"token": TOKEN}, allow_redirects=False)
        said = answer.headers["Set-Cookie"]
    assert "HttpOnly" in said
    assert "SameSite=Strict" in said


async def test_who_enters_the_panel_of_another_wheel_of_the_computer_stays_in_both() -> None:
    async with (
        TestClient(TestServer(House().panel.application())) as one,
        TestClient(TestServer(House().panel.application()), cookie_jar=one.session.cookie_jar) as other,
    ):
        for client in (one, other):
            await client.post("/chef/token", data={"token": TOKEN})
        for client in (one, other):
            assert (await client.get("/chef/events")).status == 200


@pytest.mark.parametrize("path", ["/chef/token", "/chef/commands/open"])
async def test_a_body_that_does_not_come_is_not_waited_for(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.page.panel.BODY_S_MAX", 0.05)

    async def never() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with at_panel(House()) as client, asyncio.timeout(10):
        kind = "application/json" if "commands" in path else "application/x-www-form-urlencoded"
        answer = await client.post(path, data=never(), headers={"Content-Type": kind})
        assert answer.status == 408


async def test_the_panel_answers_under_no_other_name() -> None:
    """A site whose name leads here would be taken for the panel."""
    async with at_panel(House()) as client:
        for path in ("/chef", "/files/style.css", "/chef/events"):
            assert (await client.get(path, headers={"Host": "evil.example"})).status == 421
        assert (await client.post("/chef/token", headers={"Host": "evil.example"})).status == 421


async def test_a_body_that_is_too_large_is_refused(house: House) -> None:
    async with at_panel(house) as client:
        assert (await command(client, "open", reason="x" * 100_000)).status == 413
    assert house.sent == []


async def test_the_players_port_has_nothing_of_the_chef(house: House) -> None:
    async with TestClient(TestServer(house.pages.application())) as client:
        for path in ("/chef", "/chef/events"):
            assert (await client.get(path)).status == 404
        for path in ("/chef/token", "/chef/commands/open", "/", "/display"):
            assert (await client.post(path, json={})).status in (404, 405)


async def test_the_display_s_own_port_shows_the_board_and_not_how_ball_and_rotor_turn(house: House) -> None:
    house.pages.take_line("frame", b'{"line":"frame"}')
    async with TestClient(TestServer(house.pages.display_application())) as client:
        for path in ("/events", "/chef", "/chef/events", "/metrics"):
            assert (await client.get(path)).status == 404
        page = await client.get("/")
        assert (page.status, page.url.path) == (200, "/display")
        async with client.get("/display/events") as answer:
            shown = json.loads((await _data(answer)).removeprefix("data: "))
    assert house.wanted == []
    assert shown.keys().isdisjoint({"frame", "bouler", "health", "result"})


@pytest.mark.parametrize("path", ["/", "/display", "/files/style.css", "/files/none.js", "/files/..%2fwheel.py", "/x"])
async def test_every_answer_forbids_what_is_not_ours(path: str) -> None:
    async with TestClient(TestServer(House().pages.application())) as client:
        answer = await client.get(path)
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.status == (200 if path in ("/", "/display", "/files/style.css") else 404)


@pytest.mark.parametrize(
    ("asked", "accepts", "language"),
    [
        ("fr", "it", "fr"),
        ("", "it-CH,fr;q=0.8", "it"),
        ("", "de-CH,fr;q=0.8", "fr"),
        ("de", "", "en"),
        ("", "x" * 999, "en"),
    ],
)
async def test_a_page_has_one_language(asked: str, accepts: str, language: str) -> None:
    async with TestClient(TestServer(House().pages.application())) as client:
        text = await (await client.get("/", params={"lang": asked}, headers={"Accept-Language": accepts})).text()
        assert f'<html lang="{language}">' in text
        assert "$" not in text.partition("<script")[0]


async def test_a_name_in_the_address_is_not_taken_for_html() -> None:
    async with TestClient(TestServer(House().pages.application())) as client:
        text = await (await client.get("/", params={"lang": "<script>alert(1)</script>"})).text()
    assert "alert(1)" not in text


async def _data(answer: ClientResponse) -> str:
    async with asyncio.timeout(10):
        while not (line := (await answer.content.readline()).decode()).startswith("data: "):
            pass
    return line


async def _events(answer: ClientResponse, count: int) -> list[str]:
    kinds: list[str] = []
    async with asyncio.timeout(10):
        while len(kinds) < count:
            line = (await answer.content.readline()).decode()
            if line.startswith("event: "):
                kinds.append(line.removeprefix("event: ").strip())
    return kinds


async def test_a_viewer_gets_what_is_known_and_the_sensors_are_wanted_while_he_looks(house: House) -> None:
    house.pages.take_line("about", b'{"line":"about"}')
    async with TestClient(TestServer(house.pages.application())) as client:
        async with client.get("/events") as answer:
            assert await _events(answer, 2) == ["wheel", "about"]
            house.pages.take_line("frame", b'{"line":"frame"}')
            house.pages.tell()
            assert {*await _events(answer, 2)} == {"wheel", "frame"}
            house.pages.lose_sensors()
            assert await _events(answer, 1) == ["blind"]
            assert house.wanted == [True]
        async with asyncio.timeout(10):
            while house.wanted != [True, False]:
                house.pages.tell()
                await asyncio.sleep(0.01)


async def test_a_display_wants_no_sensors(house: House) -> None:
    async with TestClient(TestServer(house.pages.application())) as client, client.get("/display/events") as answer:
        assert await _events(answer, 1) == ["wheel"]
    assert house.wanted == []


async def test_more_viewers_than_there_may_be_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheeld.page.viewers.VIEWERS_MAX", 1)
    house = House()
    async with TestClient(TestServer(house.pages.application())) as client, client.get("/events") as first:
        await _events(first, 1)
        assert (await client.get("/events")).status == 503
