"""The fleet page in a browser: what axe finds, its width, the keyboard, and that it stays up to date by itself."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

pytest.importorskip("playwright", reason="make test-pages installs it")
if shutil.which("chromium") is None:
    pytest.skip("apt-get install chromium", allow_module_level=True)

from playwright.async_api import Browser, Page

from tests.browser.browser import SIZES, chromium, looking
from tests.house.page_house import CALM, PageHouse, visiting

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROXY: dict[str, Any] = {"user_header": "X-User", "trusted_proxies": ("127.0.0.1",), "acknowledgers": ("anna",)}
ANNA = {"X-User": "anna"}
LOOKS = {"one": 1, "a dozen": 12, "many": 300}
PAGES = (
    "/",
    "/wheel/campione/wheel-001",
    "/coup/campione/wheel-001/2",
    "/receipt/campione/wheel-001/2",
    "/search",
    "/search?number=x",
    "/alarms",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as up:
        yield up


def furnish(house: PageHouse, count: int) -> None:
    """So many wheels. Of twelve, some need a person, each for another reason."""
    names = [f"wheel-{number:03}" for number in range(1, count + 1)]
    house.add(*names)
    house.play(names)
    house.seal("wheel-001")
    for name in names[10::100]:
        house.say(name, "table", **CALM | {"failing": ["beam/1", "reader/0"], "waiting_for": "the repair of beam 2"})
    for name in names[8::100]:
        house.say(name, "table", **CALM | {"state": "suspended", "bets": "closed", "waiting_for": "the direction"})
    for name in names[5::100]:
        house.alarm(name)
        house.alarm(name, kind="signature", seq=2, why="its signature is wrong")
    for name in names[3::50]:
        house.say(name, "void", coup=4, cause="rotor_stopped_before_drop", evidence={"silence_us": 1_500_000})


async def violations(page: Page) -> list[str]:
    """All that axe finds."""
    from axe_playwright_python.async_playwright import Axe

    found = (await Axe().run(page)).response
    assert found["passes"], "axe found nothing to look at"
    return [f"{each['id']}: {[node['html'] for node in each['nodes']][:3]}" for each in found["violations"]]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("count", LOOKS.values(), ids=list(LOOKS))
async def test_nothing_keeps_anybody_out(browser: Browser, house: PageHouse, count: int, colours: str) -> None:
    furnish(house, count)
    async with visiting(house, **PROXY) as visitor:
        for path, size in [(path, "desktop") for path in PAGES] + [("/", "phone"), ("/search", "phone")]:
            if count == 300 and path != "/":
                continue  # the same as with a dozen
            more = {"extra_http_headers": ANNA, "color_scheme": colours}
            async with looking(browser, f"{visitor.address}{path}", SIZES[size], **more) as look:
                assert await violations(look.page) == [], path
                wide, screen = await look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                assert wide <= screen, (path, size)
                assert [each for each in look.complaints if "status of 400" not in each] == []
                assert len(look.hosts) == 1


async def test_it_stays_up_to_date_without_being_loaded_anew(browser: Browser, house: PageHouse) -> None:
    furnish(house, 12)
    async with (
        visiting(house, **PROXY) as visitor,
        looking(browser, visitor.address, SIZES["desktop"], extra_http_headers=ANNA) as look,
    ):
        page = look.page
        tile = "ul:last-of-type .tile:last-child"
        await page.evaluate(f"window.kept = document.querySelector('{tile} .name')")
        await page.focus(f"{tile} a")
        house.say("wheel-012", "table", **CALM | {"last_number": 0, "last_label": "0"})
        await page.wait_for_selector(f"{tile} .green:text('0')")
        assert await page.evaluate("window.kept.isConnected")
        assert await page.evaluate("document.activeElement.textContent") == "wheel-012"
        # Another wheel goes up, and this one keeps its place and its focus. Then it goes up itself, with its focus.
        house.alarm("wheel-001")
        await page.wait_for_selector(".needs:has-text('wheel-001')")
        assert await page.evaluate(
            "window.kept.isConnected && document.activeElement === window.kept.firstElementChild"
        )
        house.alarm("wheel-012")
        await page.wait_for_selector(".needs:has-text('wheel-012')")
        assert await page.evaluate("document.activeElement.textContent") == "wheel-012"
        assert await page.locator(".tile").count() == 12
        assert await page.is_hidden("#lost")
        assert look.complaints == []


async def test_it_says_that_it_has_lost_its_server(browser: Browser, house: PageHouse) -> None:
    furnish(house, 1)
    async with (
        visiting(house, **PROXY) as visitor,
        looking(browser, visitor.address, SIZES["phone"], extra_http_headers=ANNA) as look,
    ):
        await look.page.route("**/*part*", lambda route: route.abort())
        await look.page.wait_for_selector("#lost:visible")
        await look.page.unroute_all()
        await look.page.wait_for_selector("#lost", state="hidden")


async def test_it_works_without_a_script(browser: Browser, house: PageHouse) -> None:
    furnish(house, 12)
    more = {"extra_http_headers": ANNA, "java_script_enabled": False}
    async with (
        visiting(house, **PROXY) as visitor,
        looking(browser, visitor.address, SIZES["desktop"], **more) as look,
    ):
        page = look.page
        assert await page.locator(".tile").count() == 12
        house.alarm("wheel-001")
        await page.wait_for_selector(".needs:has-text('wheel-001')")  # by its own refresh
        await page.goto(f"{visitor.address}/alarms")
        await page.locator("input[name=reason]").first.fill("seen by Anna")
        await page.get_by_role("button").first.click()
        await page.wait_for_selector(".done")
    assert house.sql("select acknowledged_by, reason from house.alarm where reason is not null") == [
        ("anna", "seen by Anna")
    ]


async def test_a_browser_sends_what_the_form_needs(browser: Browser, house: PageHouse) -> None:
    """The browser's own headers let our form through, with its script on."""
    furnish(house, 12)
    async with (
        visiting(house, **PROXY) as visitor,
        looking(browser, f"{visitor.address}/alarms", SIZES["phone"], extra_http_headers=ANNA) as look,
    ):
        before = await look.page.locator(".alarms li").count()
        await look.page.get_by_label("Reason").first.fill("<b>seen</b>")
        await look.page.keyboard.press("Enter")
        await look.page.wait_for_selector(".done")
        assert await look.page.locator(".alarms li").count() == before - 1
        await look.page.get_by_role("link", name="Acknowledged").click()
        await look.page.wait_for_selector("text=<b>seen</b>")
        assert look.complaints == []
