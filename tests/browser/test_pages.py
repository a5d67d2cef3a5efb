"""Each page in each language, on a phone and on a desktop: its words, its width, the keyboard, and what axe finds."""

from __future__ import annotations

import html
from itertools import product

import pytest
from playwright.async_api import Browser, Page

from tests.browser.browser import SIZES, looking, serious
from tests.browser.english import english_on
from tests.browser.house import House
from tests.browser.panel import enter
from wheeld.core.catalogue import Catalogue, Language
from wheeld.page.words import WORDS, in_words
from wheeld.screen.describe import STATES
from wheeld.screen.locale import LANGUAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

TITLES = {"/": "wheel", "/display": "display", "/chef": "panel_chef", "token": "token"}
NAMED = " · wheel-1"
"""Behind a title, once the table is known."""
WHOLE = {"/": "#evidence .mark", "/display": "#numbers .pocket"}
"""What comes last."""
LABELS = "h1, h2, h3, dt, label, .note:not([hidden]), main button:not([data-command]):not([hidden])"
FOCUSABLE = "a[href], button, input, select, [tabindex='0']"
NEITHER = "de"
"""Of the browser: a page keeps the language that is asked for by its address, whatever is done there."""


@pytest.mark.parametrize(("path", "language", "size"), list(product(TITLES, LANGUAGES, SIZES)))
async def test_a_page(browser: Browser, house: House, path: str, language: Language, size: str) -> None:
    is_chefs = path in ("/chef", "token")
    address = f"{house.page.chefs}/chef" if is_chefs else f"{house.page.players}{path}"
    async with looking(browser, f"{address}?lang={language}", SIZES[size], locale=NEITHER) as look:
        if path == "/chef":
            await enter(look.page)
        elif not is_chefs:
            await look.page.wait_for_selector(WHOLE[path], state="attached")
        await its_words_are_of_the_language(look.page, path, language)
        if language != "en":
            assert await english_on(look.page, language) == []
        if path == "/":
            assert await look.page.inner_text("#state") == Catalogue(language).say(STATES[house.subscriber.state])
        if path == "/display":
            assert await look.page.is_hidden("#favourites")  # a few numbers say nothing
        await nothing_is_wider_than_the_screen(look.page)
        await everything_is_reached_and_seen_by_keyboard(look.page)
        assert await serious(look.page) == []
        await the_skip_link_leads_to_the_content(look.page, language)
        # No browser complains, the content security policy is kept, and no other host is asked.
        assert look.complaints == []
        assert len(look.hosts) == 1


async def its_words_are_of_the_language(page: Page, path: str, language: Language) -> None:
    say = Catalogue(language).say
    assert await page.get_attribute("html", "lang") == language
    assert (await page.title()).removesuffix(NAMED) == say(WORDS[TITLES[path]])
    known = set(in_words(Catalogue(language)).values())
    seen = [text.strip().removesuffix(NAMED) for text in await page.locator(LABELS).all_inner_texts()]
    assert seen
    assert [text for text in seen if text and text not in known] == []


async def nothing_is_wider_than_the_screen(page: Page) -> None:
    wide, screen = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen


async def everything_is_reached_and_seen_by_keyboard(page: Page) -> None:
    await page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    wanted = await page.evaluate(_REACHABLE, FOCUSABLE)
    reached = []
    for _ in wanted:
        await page.keyboard.press("Tab")
        reached.append(await page.evaluate(_FOCUSED, FOCUSABLE))
    assert [each["index"] for each in reached] == [each["index"] for each in wanted], (reached, wanted)
    assert [each for each in reached if not each["outlined"] or not each["within"] or not each["name"]] == []


async def the_skip_link_leads_to_the_content(page: Page, language: Language) -> None:
    await page.focus("a.skip")
    assert await page.inner_text("a.skip:focus") == Catalogue(language).say(WORDS["skip"])
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"


async def test_axe_is_there_and_finds_what_is_wrong(browser: Browser, house: House) -> None:
    async with looking(browser, house.page.players, SIZES["phone"]) as look:
        await look.page.evaluate(
            "document.querySelector('main').append(Object.assign(new Image(), { src: '/files/icon.svg' }))"
        )
        assert [each.partition(":")[0] for each in await serious(look.page)] == ["image-alt"]


async def test_the_drawing_and_the_evidence_have_names(browser: Browser, house: House) -> None:
    say = Catalogue("fr").say
    async with looking(browser, f"{house.page.players}/?lang=fr", SIZES["desktop"]) as look:
        number = house.subscriber.of("result")[-1]["number"]
        lies = say(WORDS["ball_at_rest"], number=str(number))
        await look.page.wait_for_selector(f"#seen:text-is({lies!r})")
        name = f"{say(WORDS['drawn'])} {lies}"
        assert await look.page.get_by_role("img", name=html.unescape(name), exact=True).count() == 1
        await look.page.wait_for_selector("#evidence .mark", state="attached")
        assert await look.page.get_by_role("group", name=say(WORDS["evidence"])).count() == 1


_REACHABLE = """selector => [...document.querySelectorAll(selector)]
  .map((node, index) => ({ index, html: node.outerHTML.slice(0, 80), node }))
  .filter(({ node }) => node.checkVisibility() && !node.disabled).map(({ index, html }) => ({ index, html }))"""
_FOCUSED = """selector => {
  const node = document.activeElement;
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const name = node.ariaLabel || node.textContent.trim() || node.labels?.[0]?.textContent.trim();
  return {
    index: [...document.querySelectorAll(selector)].indexOf(node),
    html: node.outerHTML.slice(0, 80),
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    within: box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
    name,
  };
}"""
