"""Serves the pages of one wheel until it is asked to stop."""

from __future__ import annotations

import asyncio
import signal
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import structlog
from aiohttp import web

from wheeld.broker.tls import load_authorities, load_own
from wheeld.page.broker import PageLogin
from wheeld.page.metrics import application
from wheeld.page.numbers import NumberHistory
from wheeld.page.pages import Pages
from wheeld.page.panel import Panel, PendingReplies, Token
from wheeld.page.sensors import SensorReader
from wheeld.page.setting import Address, PageSetting, PanelSetting
from wheeld.page.viewers import VIEWERS_MAX
from wheeld.page.wheel import TOPICS, WheelView
from wheeld.serving import listening

SERVING = "serving"
"""The status while nothing is wrong, and the first words of every status."""
TELL_S = 1.0
"""The interval at which the pages are updated, because they show ages."""
SILENCE_S = 5.0
"""A broker sends the state of a wheel at once, because it is retained. A login that gets none for so long may have no
right to read it: some brokers grant a subscription and send nothing."""
VIEWED_MAX = 2 * VIEWERS_MAX + 100
"""The most connections to the pages: a stream for each viewer of the two pages, and connections that load a page."""
DISPLAYS_MAX = VIEWERS_MAX + 100
"""The most connections to the display on a port of its own."""
PANEL_MAX = 100
"""The most connections to a panel: a browser has six at most, and few people act at one table."""
METRICS_MAX = 20
"""The most connections to the metrics. Only a few programs ask for them."""


async def serve(setting: PageSetting, ready: Callable[[str], None], status: Callable[[str], None]) -> None:
    """Serve the pages until SIGTERM or SIGINT. Calls `ready` when all ports are open, and `status` at each change of a
    login's trouble, both with a line for people. Raises TlsFilesError, and OSError if a port cannot be opened."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    program = PageProgram(setting, status)
    async with program.listening(), asyncio.TaskGroup() as group:
        ready(SERVING)
        tasks = [group.create_task(work) for work in program.works()]
        await stop.wait()
        for task in tasks:
            task.cancel()


class PageProgram:
    """All parts of the program."""

    def __init__(self, setting: PageSetting, status: Callable[[str], None]) -> None:
        self._setting, self._status = setting, status
        self._troubles: dict[str, str] = {}
        self._wheel = WheelView()
        self._numbers = NumberHistory(
            None if setting.state is None else setting.state / f"{setting.table}.numbers.json"
        )
        self._pages = Pages(
            self._wheel,
            self._numbers,
            now_s=time.monotonic,
            want=self._want,
            frame_of=setting.frame_of,
            names=setting.names,
        )
        self._login = PageLogin(
            setting.mqtt,
            setting.root,
            tuple(TOPICS),
            take=self._take,
            reached=self._await_state,
            lost=lambda: self._reach(self._wheel, is_reached=False),
            tell=partial(self._trouble, "page"),
        )
        self._sensors = None
        if setting.socket is not None:
            self._sensors = SensorReader(setting.socket, take=self._pages.take_line, lost=self._pages.lose_sensors)
        self._panels = [(each, *self._panel(each)) for each in setting.panels]
        self._news = asyncio.Event()

    def _panel(self, setting: PanelSetting) -> tuple[Panel, PageLogin]:
        """Return a panel, and its own login at the broker."""
        answers = PendingReplies(setting.user)
        login = PageLogin(
            setting.mqtt,
            self._setting.root,
            ("reply",),
            take=lambda _leaf, payload, _retained: answers.take(payload),
            reached=lambda: self._reach(panel, is_reached=True),
            lost=lambda: self._reach(panel, is_reached=False),
            tell=partial(self._trouble, setting.role),
        )
        token = None
        if setting.token_file is not None:
            token = Token(setting.token_file.read_text("utf-8").strip(), time.monotonic)
        panel = Panel(
            self._wheel,
            self._numbers,
            login,
            answers,
            role=setting.role,
            user=setting.user,
            token=token,
            now_s=time.monotonic,
            names=self._setting.names,
        )
        return panel, login

    def works(self) -> list[Coroutine[Any, Any, None]]:
        """Return the tasks of the program."""
        works: list[Coroutine[Any, Any, None]] = [self._login.run(), self._tell()]
        if self._sensors is not None:
            works.append(self._sensors.run())
        return [*works, *(login.run() for _, _, login in self._panels)]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Keep the ports open until the block ends. Raises OSError, TlsFilesError."""
        async with AsyncExitStack() as opened:

            async def open_port(app: web.Application, address: Address, most: int, **more: Any) -> None:
                port = listening(app, address, connections_max=most, **more)
                structlog.get_logger("page").info("page.ready", address=await opened.enter_async_context(port))

            await open_port(self._pages.application(), self._setting.address, VIEWED_MAX)
            if (display := self._setting.display) is not None:
                await open_port(self._pages.display_application(), display, DISPLAYS_MAX)
            for setting, panel, _ in self._panels:
                await open_port(panel.application(), setting.address, PANEL_MAX, tls=_tls(setting), kept=panel.known)
            if (metrics := self._setting.metrics) is not None:
                app = application(self._wheel, self._setting.site, self._setting.table, time.monotonic)
                await open_port(app, metrics, METRICS_MAX)
            yield

    def _want(self, is_wanted: bool) -> None:  # noqa: FBT001  this is a callback
        if self._sensors is not None:
            self._sensors.want(is_wanted=is_wanted)

    def _take(self, leaf: str, payload: bytes, retained: bool) -> None:  # noqa: FBT001  this is a callback
        if not self._wheel.take(leaf, payload, retained=retained, now_s=time.monotonic()):
            return
        if leaf == "board" and self._wheel.board is not None:
            self._numbers.take(self._wheel.board.numbers)
        if self._wheel.table is not None:
            self._trouble("wheel", "")
        self._news.set()

    def _await_state(self) -> None:
        self._reach(self._wheel, is_reached=True)
        asyncio.get_running_loop().call_later(SILENCE_S, self._note_silence)

    def _note_silence(self) -> None:
        if self._wheel.is_reached and self._wheel.table is None:
            name = f"{self._setting.site}/{self._setting.table}"
            mend = f"check whether it runs, and `wheeld acl {name}`"
            structlog.get_logger("page").warning("wheel.silent", table=name, mend=mend)
            self._trouble("wheel", f"no state of {name} has come: {mend}")

    def _reach(self, of: WheelView | Panel, *, is_reached: bool) -> None:
        of.is_reached = is_reached
        self._news.set()

    def _trouble(self, of: str, trouble: str) -> None:
        if trouble == self._troubles.get(of, ""):
            return
        self._troubles[of] = trouble
        self._status("; ".join([SERVING, *(f"{of}: {why}" for of, why in self._troubles.items() if why)]))

    async def _tell(self) -> None:
        """Update the viewers after each change, and at least every `TELL_S`."""
        while True:
            try:
                async with asyncio.timeout(TELL_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            self._pages.tell()
            for _, panel, _ in self._panels:
                panel.tell()


def _tls(panel: PanelSetting) -> ssl.SSLContext | None:
    """Return the TLS context of a panel, with its certificate and the authority of browsers' certificates. None for a
    panel without a certificate. Raises TlsFilesError."""
    if panel.cert_file is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_own(context, panel.cert_file, panel.key_file)
    if panel.client_ca_file is not None:
        load_authorities(context, panel.client_ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
