"""The players' display in each of its states, without a wheel: `python -m tests.browser.states DIRECTORY` draws them.

The states are those of a table of its own, played by hand; the page is the one that `wheeld page` serves.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import msgspec
from aiohttp import web
from msgspec import UNSET
from msgspec.structs import replace
from playwright.async_api import Browser, Page, ViewportSize

from tests.browser.browser import chromium, looking
from tests.core.evening import FRENCH, Evening
from tests.page.evenings import ONLINE, watched
from wheeld.broker.payloads import Availability, Display
from wheeld.core.catalogue import Catalogue, Language
from wheeld.core.facts import Cause
from wheeld.core.houses import PROFILES
from wheeld.core.pockets import SINGLE_ZERO
from wheeld.page.numbers import NUMBERS_MAX
from wheeld.page.pages import Pages

SCREENS: Mapping[str, ViewportSize] = {
    "1920x1080": {"width": 1920, "height": 1080},
    "3840x2160": {"width": 3840, "height": 2160},
    "390x844": {"width": 390, "height": 844},
    "360x640": {"width": 360, "height": 640},
}
LOOKS: Mapping[str, dict[str, Any]] = {"dark": {"color_scheme": "dark"}, "light": {"color_scheme": "light"}, "grey": {}}
BEFORE = [SINGLE_ZERO.order[place * place % SINGLE_ZERO.count] for place in range(NUMBERS_MAX)]
"""Numbers of a long evening, newest first: some came often, some never."""

USUAL = Display(name="Tavolo 3", limits=("Plein 5–200 €", "Rouge, noir 50–5000 €"))
LONGEST = Display(
    name="Tavolo della Sala degli Specchi, piano 1",
    limits=tuple(f"{each} Chances simples, carrés 1000–100.000 €" for each in "1234"),
)
"""More than this no configuration can say."""

ARTICLE = max((article for profile in PROFILES.values() for article in profile.articles.values()), key=len)
"""A void is shown with the longest article and the longest cause that there are."""


def _open(evening: Evening) -> None:
    evening.say("last_coup")


def _last_bets(evening: Evening) -> None:
    evening.launch(laps=9)
    evening.wait(2)


def _closed(evening: Evening) -> None:
    _last_bets(evening)
    evening.say("rien_ne_va_plus")


def _number(evening: Evening) -> None:
    evening.coup(23)


def _void(evening: Evening) -> None:
    evening.launch(evening.way, laps=5)
    evening.wait(4)
    evening.say("last_coup")
    evening.say("suspend")


STATES: Mapping[str, Callable[[Evening], None]] = {
    "open": _open,
    "last-bets": _last_bets,
    "closed": _closed,
    "number": _number,
    "void": _void,
    "out": _number,
}
"""What leads to each; a table that is away had its number before."""


@asynccontextmanager
async def displayed(
    state: str, language: Language = "en", *, display: Display | None = USUAL, before: Sequence[int] = BEFORE
) -> AsyncIterator[str]:
    """The address of a display in that state, of a table with so many numbers `before`."""
    say = Catalogue(language).say
    evening = Evening(replace(FRENCH, language=language)).open()
    STATES[state](evening)
    wheel, numbers = watched(evening)
    if wheel.is_void and wheel.void is not None:
        wheel.void = replace(wheel.void, article=ARTICLE, cause=max(Cause, key=lambda each: len(say(each.text))))
    online = msgspec.json.decode(ONLINE, type=Availability)
    away = replace(online, state="offline" if state == "out" else "online", display=display or UNSET)
    wheel.take("availability", msgspec.json.encode(away), retained=False, now_s=0)
    numbers.newest_first = [*numbers.newest_first, *before][:NUMBERS_MAX]
    pages = Pages(wheel, numbers, now_s=lambda: 0.0, want=lambda **_: None)
    runner = web.AppRunner(pages.display_application(), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}/display"
    finally:
        await runner.cleanup()


async def shown(page: Page, state: str) -> None:
    """Return when the page has it."""
    await page.wait_for_selector("body.old" if state == "out" else f"body[data-phase={state}]:not(.old)")
    await page.wait_for_selector("#numbers .pocket")


async def _draw(browser: Browser, directory: Path) -> None:
    for state in STATES:
        for language in get_args(Language):
            async with displayed(state, language) as address:
                for screen, size in SCREENS.items():
                    for name, look in LOOKS.items():
                        if (name != "dark" or language != "fr") and screen != "1920x1080":
                            continue
                        async with looking(browser, address, size, **look) as looked:
                            page = looked.page
                            await shown(page, state)
                            if name == "grey":
                                await page.evaluate("document.documentElement.style.filter = 'grayscale(1)'")
                            await page.screenshot(path=directory / f"{state}-{screen}-{language}-{name}.png")


async def main(directory: Path) -> None:
    """Draw them in that directory."""
    async with chromium() as browser:
        await _draw(browser, directory)


if __name__ == "__main__":
    wanted = Path(sys.argv[1])
    wanted.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(wanted))
