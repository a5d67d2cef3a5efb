"""A void of each cause on the live page, on every screen: what decided it is seen, and nothing covers anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from typing import Any

import msgspec
import pytest
from aiohttp import web
from playwright.async_api import Browser, Page

from tests.broker.world import working
from tests.browser.browser import looking, serious
from tests.browser.english import english_on
from tests.mosquitto import free_port
from tests.page import messages
from tests.page.voids import PLAYED, void_of
from wheeld.core.catalogue import Catalogue
from wheeld.monitor.lines import Frame, Glance, about
from wheeld.page.evidence import evidence
from wheeld.page.numbers import NumberHistory
from wheeld.page.pages import Pages
from wheeld.page.wheel import WheelView
from wheeld.page.words import WORDS

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCREENS: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "reduced_motion": "reduce"},
    "desktop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "4K": {"viewport": {"width": 3840, "height": 2160}, "color_scheme": "dark"},
}
SAY = Catalogue("fr").say
TURNED_DEG = 40.0
LINES_MAX = 8
"""Of a tile on the narrowest phone, in the language with the longest words: its name, what is wrong, what to do."""


@asynccontextmanager
async def served(scenario: str, *, later: bool = False, **table: Any) -> AsyncIterator[str]:
    """A page of a wheel at which this happened, and whose ball runs; its address. `later`: another void came, of which
    no evidence did. `table`: members of that message."""
    played, wheel = void_of(scenario), WheelView()
    wheel.is_reached = True
    pages = Pages(wheel, NumberHistory(), now_s=lambda: 0.0, want=lambda _: None)
    for message in (messages.AVAILABILITY, messages.HEALTH):
        messages.take(wheel, message, boot_id="b", language="fr")
    assert wheel.take("void", played.message, retained=False, now_s=0)
    after = {"coup": played.told["coup"], "seq": played.told["seq"] + 1, "waiting_for": ""}
    assert messages.take(wheel, messages.TABLE, boot_id="b", state="rien_va", **after, **table)
    if later:
        assert messages.take(wheel, messages.VOID, boot_id="b", coup=played.told["coup"] + 1, seq=after["seq"] + 1)
    pages.take_line("about", msgspec.json.encode(about(played.setting)))
    pages.take_line("axis", msgspec.json.encode(played.axis))
    runs = Glance(
        t_us=0,
        rotor_deg=TURNED_DEG,
        rotor_rpm=12.5,
        ball="on_track",
        direction="cw",
        laps=2.0,
        number=None,
        object="clear",
    )

    async def frames() -> None:
        while True:
            pages.take_line("frame", msgspec.json.encode(Frame(glance=runs, seen=((0, "beam", 1),))))
            await asyncio.sleep(0.05)

    runner = web.AppRunner(pages.application())
    await runner.setup()
    port = free_port()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        async with working(frames()):
            yield f"http://127.0.0.1:{port}/?lang=fr"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(("scenario", "screen"), list(product(PLAYED, SCREENS)))
async def test_who_sees_it_first_finds_what_decided(browser: Browser, scenario: str, screen: str) -> None:
    size = SCREENS[screen]
    async with (
        served(scenario) as address,
        looking(browser, address, size["viewport"], **without_viewport(size)) as look,
    ):
        page = look.page
        await page.wait_for_selector("#evidence .row.decides")
        assert await page.inner_text("#evidence .flag") == evidence(void_of(scenario).axis, "fr").why
        assert await page.locator("#evidence .row.decides").count() in (1, 2)
        assert await page.locator("#evidence .row .moment").count() >= 3
        assert await page.is_hidden("#no-evidence")
        boxes: list[dict[str, float]] = await page.evaluate(_BOXES)
        assert len(boxes) >= 4
        for box in boxes:
            assert box["beside"] or box["below"], "a name is not covered by what is drawn"
            assert box["right"] <= size["viewport"]["width"]
        if screen != "phone":
            assert max(box["bottom"] for box in boxes) <= size["viewport"]["height"], "it is seen without scrolling"
            whole = await page.evaluate(
                "document.querySelector('#evidence').getBoundingClientRect().width / innerWidth"
            )
            assert whole >= 0.45, "it has the half of the screen that was empty"
        assert await english_on(page, "fr") == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await serious(page) == []
        assert look.complaints == []


def without_viewport(screen: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in screen.items() if name != "viewport"}


async def test_evidence_of_another_coup_than_the_last_void_is_not_shown(browser: Browser) -> None:
    async with (
        served("foreign_object", later=True) as address,
        looking(browser, address, SCREENS["desktop"]["viewport"]) as look,
    ):
        await look.page.wait_for_selector("#no-evidence:not([hidden])")
        await look.page.wait_for_selector("#evidence .row", state="attached")
        assert await look.page.is_hidden("#evidence")


async def test_who_wants_no_motion_sees_none(browser: Browser) -> None:
    for motion, turned in (("reduce", "rotate(0)"), ("no-preference", f"rotate({TURNED_DEG:g})")):
        async with (
            served("chef_void") as address,
            looking(browser, address, SCREENS["desktop"]["viewport"], reduced_motion=motion) as look,
        ):
            await look.page.wait_for_selector("#bowl .ball[visibility=visible]", state="attached")
            assert await look.page.get_attribute("#bowl .rotor", "transform") == turned
            assert await look.page.locator("#bowl .lit").count() == (motion != "reduce")


async def test_what_is_not_well_stands_first_and_is_seen_without_colours(browser: Browser) -> None:
    async with served("chef_void") as address, looking(browser, address, SCREENS["phone"]["viewport"]) as look:
        await look.page.wait_for_selector("#tiles .tile")
        tiles = look.page.locator("#tiles .tile")
        levels = [(await tile.get_attribute("class") or "").split()[-1] for tile in await tiles.all()]
        assert levels[0] == "wrong"
        assert levels == sorted(levels, key=["wrong", "look", "good"].index)
        signs = {level: await sign(look.page, level) for level in set(levels)}
        assert len(set(signs.values())) == len(signs) == 3
        heights = await tiles.evaluate_all(
            "nodes => nodes.map((node) => node.offsetHeight / parseFloat(getComputedStyle(node).lineHeight))"
        )
        assert max(heights) < LINES_MAX, "no tile is a tower"


async def sign(page: Page, level: str) -> str:
    script = "level => getComputedStyle(document.querySelector(`.tile.${level}`), '::before').content"
    found: str = await page.evaluate(script, level)
    return found


async def test_a_ball_that_nobody_sees_any_more_does_not_run(browser: Browser) -> None:
    """The daemon's frames go on after a cable is pulled, with what was seen last."""
    size = SCREENS["desktop"]["viewport"]
    async with served("breakdown_link") as address, looking(browser, address, size) as look:
        await look.page.wait_for_selector("#bowl .ball[visibility=visible]", state="attached")
        assert await look.page.inner_text("#seen") == SAY(WORDS["ball_on_track"])
    async with served("breakdown_link", failing=["link"]) as address, looking(browser, address, size) as look:
        await look.page.wait_for_selector("#blind:not([hidden])")
        await look.page.wait_for_selector("#bowl .ball[visibility=hidden]", state="attached")
        assert await look.page.inner_text("#seen") == ""
        assert await look.page.inner_text("#speed") == await look.page.inner_text("#laps") == "–"
        first = look.page.locator("#tiles .tile").first
        assert await first.get_attribute("class") == "tile wrong"


_BOXES = """() => [...document.querySelectorAll("#evidence .row:not(.top)")].map((row) => {
  const [label, plot] = [".label", ".plot"].map((each) => row.querySelector(each).getBoundingClientRect());
  const { right, bottom } = row.getBoundingClientRect();
  return { beside: label.right <= plot.left, below: label.bottom <= plot.top, right, bottom };
})"""
