"""Headless Chromium as Debian has it, and a page in it whose complaints are kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, ConsoleMessage, Page, Request, ViewportSize, async_playwright

SIZES: dict[str, ViewportSize] = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 800}}
SERIOUS = ("serious", "critical")
PATIENCE_MS = 20_000
"""For what comes within a second; only a defect, or a very busy machine, waits so long."""


@asynccontextmanager
async def chromium(program: str | None = None) -> AsyncIterator[Browser]:
    """The browser; `program` starts it, if that is not Debian's own."""
    program = program or shutil.which("chromium")
    assert program is not None, "these tests need a browser: apt-get install chromium"
    # Chromium's own sandbox does not work for root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Look:
    """A page that somebody looks at. `complaints`: what the browser found wrong, the content security policy included;
    `hosts`: what it asked."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def watch(self) -> None:
        """Keep what comes."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        self.hosts.add("/".join(request.url.split("/")[:3]))


@asynccontextmanager
async def looking(browser: Browser, url: str, size: ViewportSize, **more: Any) -> AsyncIterator[Look]:
    """A page of a browser of its own. `more`: as for Playwright's contexts."""
    context = await browser.new_context(viewport=size, **more)
    context.set_default_timeout(PATIENCE_MS)
    try:
        look = Look(await context.new_page())
        look.watch()
        await look.page.goto(url)
        yield look
    finally:
        await context.close()


async def serious(page: Page) -> list[str]:
    """What axe-core finds that keeps somebody out."""
    found: dict[str, Any] = (await Axe().run(page)).response
    assert found["passes"] or found["violations"], "axe found nothing to look at"
    return [
        f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']]}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
    ]
