"""The pages' login, at a real mosquitto."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pytest
import structlog

from tests.broker.world import working
from tests.mosquitto import Mosquitto, free_port
from tests.page.messages import AVAILABILITY, TABLE
from wheeld.broker.settings import MqttSettings
from wheeld.page.broker import NotConfirmedError, NotSentError, PageLogin
from wheeld.page.run import PageProgram
from wheeld.page.setting import Address, PageSetting

ROOT = "wheel/v1/s/t/"


class Page:
    """Everything that a login told."""

    def __init__(self, settings: MqttSettings) -> None:
        self.taken: list[tuple[str, bytes, bool]] = []
        self.states: list[str] = []
        self.told: list[str] = []
        self._news = asyncio.Event()
        self.login = PageLogin(
            settings,
            ROOT,
            ("board", "table"),
            take=lambda *told: self._note(lambda: self.taken.append(told)),
            reached=lambda: self._note(lambda: self.states.append("reached")),
            lost=lambda: self._note(lambda: self.states.append("lost")),
            tell=self.told.append,
        )

    def _note(self, note: Callable[[], None]) -> None:
        note()
        self._news.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not is_so():
                self._news.clear()
                await self._news.wait()


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto(tmp_path) as broker:
        yield broker


@asynccontextmanager
async def logged_in(settings: MqttSettings) -> AsyncIterator[Page]:
    page = Page(settings)
    async with working(page.login.run()):
        yield page


async def test_it_reads_its_topics_and_publishes_below_the_same_root(mosquitto: Mosquitto) -> None:
    async with aiomqtt.Client("127.0.0.1", mosquitto.port, protocol=aiomqtt.ProtocolVersion.V5) as other:
        await other.publish(f"{ROOT}board", b"kept", qos=1, retain=True)
        await other.publish(f"{ROOT}health", b"not asked for", qos=1, retain=True)
        await other.subscribe(f"{ROOT}cmd/#")
        async with logged_in(MqttSettings(host="127.0.0.1", port=mosquitto.port)) as page:
            await page.until(lambda: bool(page.taken))
            await page.login.publish("cmd/x/open", b"{}", expiry_s=15)
            message = await anext(other.messages)
    assert page.taken == [("board", b"kept", True)]
    assert (message.topic.value, message.payload) == (f"{ROOT}cmd/x/open", b"{}")
    assert message.properties is not None
    assert 14 <= vars(message.properties)["MessageExpiryInterval"] <= 15


async def test_a_broker_that_is_gone_is_told_and_found_again(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheeld.page.broker.RETRY_S", 0.01)
    monkeypatch.setattr("wheeld.page.broker.RETRY_S_MAX", 0.05)
    async with logged_in(MqttSettings(host="127.0.0.1", port=mosquitto.port)) as page:
        await page.until(lambda: page.states[-1:] == ["reached"])
        mosquitto.kill()
        await page.until(lambda: page.states[-1:] == ["lost"])
        with pytest.raises(NotSentError):
            await page.login.publish("cmd/x/open", b"{}")
        mosquitto.start()
        await page.until(lambda: page.states[-1:] == ["reached"])
    assert (page.told[0], page.told[-1]) == ("", "")
    assert any(page.told)


async def test_a_trouble_is_told_with_what_to_do() -> None:
    with structlog.testing.capture_logs() as logs:
        async with logged_in(MqttSettings(host="127.0.0.1", port=free_port(), username="page-t")) as page:
            await page.until(lambda: page.states == ["lost"])
    (told,) = logs
    assert (told["event"], told["user"]) == ("broker.trouble", "page-t")
    assert "check --host and --port" in told["mend"]
    assert page.told == [told["mend"]]


async def test_the_status_of_the_program_says_what_is_wrong_with_its_login() -> None:
    said: asyncio.Queue[str] = asyncio.Queue()
    mqtt = MqttSettings(host="127.0.0.1", port=free_port())
    program = PageProgram(PageSetting(site="s", table="t", mqtt=mqtt, address=Address("127.0.0.1", 0)), said.put_nowait)
    login, pages = program.works()
    async with working(login), working(pages), asyncio.timeout(30):
        assert (await said.get()).startswith("serving; page: no broker listens there")


async def test_the_status_says_that_the_broker_sends_nothing_of_the_wheel_until_it_does(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wheeld.page.run.SILENCE_S", 0.1)
    said: asyncio.Queue[str] = asyncio.Queue()
    mqtt = MqttSettings(host="127.0.0.1", port=mosquitto.port)
    program = PageProgram(PageSetting(site="s", table="t", mqtt=mqtt, address=Address("127.0.0.1", 0)), said.put_nowait)
    login, pages = program.works()
    async with working(login), working(pages), asyncio.timeout(30):
        assert await said.get() == (
            "serving; wheel: no state of s/t has come: check whether it runs, and `wheeld acl s/t`"
        )
        async with aiomqtt.Client("127.0.0.1", mosquitto.port) as wheel:
            await wheel.publish(ROOT + "availability", json.dumps(AVAILABILITY))
            await wheel.publish(ROOT + "table", json.dumps(TABLE))
        assert await said.get() == "serving"


async def test_a_password_file_that_holds_none_ends_nothing(mosquitto: Mosquitto, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_bytes(b"")
    settings = MqttSettings(host="127.0.0.1", port=mosquitto.port, username="u", password_file=password)
    async with logged_in(settings) as page:
        await page.until(lambda: page.states[-1:] == ["lost"])


async def test_what_the_broker_has_not_confirmed_may_arrive_all_the_same(
    mosquitto: Mosquitto,
) -> None:
    async with (
        aiomqtt.Client("127.0.0.1", mosquitto.port) as other,
        logged_in(MqttSettings(host="127.0.0.1", port=mosquitto.port, publish_timeout_s=1.0)) as page,
    ):
        await other.subscribe(f"{ROOT}cmd/#")
        await page.until(lambda: page.states[-1:] == ["reached"])
        mosquitto.pause()
        with pytest.raises(NotConfirmedError):
            await page.login.publish("cmd/x/open", b"{}")
        mosquitto.resume()
        async with asyncio.timeout(30):
            message = await anext(other.messages)
    assert message.topic.value == f"{ROOT}cmd/x/open"
