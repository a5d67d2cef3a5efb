"""The players' display in each of its states, on screens of players: what is on it, where, and in which shape."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, get_args

import pytest
from playwright.async_api import Browser, Page, ViewportSize

from tests.browser.browser import looking, serious
from tests.browser.english import english_on
from tests.browser.states import LONGEST, SCREENS, STATES, USUAL, displayed, shown
from wheeld.core.catalogue import Language

pytestmark = pytest.mark.asyncio(loop_scope="session")

WIDE, PHONE = SCREENS["1920x1080"], SCREENS["360x640"]
OTHERS: list[ViewportSize] = [
    {"width": 1280, "height": 720},
    {"width": 1024, "height": 768},
    {"width": 1080, "height": 1920},
]
PARTS = "#name, .out, #number, #announcement, #ritual, #cause, #last, .history, #favourites, #limits, #lost"
APART_PX = 1
"""Parts may touch, and letters round."""


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("state", STATES)
async def test_each_state_fits_each_screen(browser: Browser, state: str, language: Language) -> None:
    """With the longest texts that a configuration may have."""
    async with displayed(state, language, display=LONGEST) as address, looking(browser, address, WIDE) as look:
        await shown(look.page, state)
        for screen in (*SCREENS.values(), *OTHERS):
            await look.page.set_viewport_size(screen)
            assert await outside_or_over_another(look.page) == [], screen
        assert language == "en" or await english_on(look.page, language) == []
        assert look.complaints == []


async def outside_or_over_another(page: Page) -> list[Any]:
    """Letters, and parts of the display, that are not whole on the screen, or stand over other parts."""
    wrong: list[Any] = await page.evaluate(_WRONG, [PARTS, APART_PX])
    return wrong


@pytest.mark.parametrize("screen", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("state", STATES)
async def test_axe_finds_nothing_serious(browser: Browser, state: str, screen: ViewportSize) -> None:
    async with displayed(state) as address, looking(browser, address, screen) as look:
        await shown(look.page, state)
        assert await serious(look.page) == []


async def test_each_state_has_a_shape_before_its_word_and_no_other_has_it(browser: Browser) -> None:
    shapes = {}
    for state in STATES:
        async with displayed(state) as address, looking(browser, address, WIDE) as look:
            await shown(look.page, state)
            (shapes[state],) = await look.page.evaluate(_SHAPES)
    assert len({*shapes.values()}) == len(STATES) == 6, shapes


async def test_red_stands_left_black_right_and_zero_between_on_a_wide_screen(browser: Browser) -> None:
    async with displayed("open") as address, looking(browser, address, WIDE) as look:
        await shown(look.page, "open")
        places = await look.page.evaluate(_PLACES)
        middle = await look.page.evaluate(_MIDDLE)
        assert len(places) == 20
        assert {colour for colour, *_ in places} == {"rouge", "noir", "vert"}
        for colour, left, right, _, _ in places:
            at = "vert" if left < middle < right else "rouge" if right <= middle else "noir"
            assert at == colour
        assert [below for *_, above, below in places if above >= below] == []
        assert all(before[-1] <= after[-2] for before, after in pairwise(places))
        await look.page.set_viewport_size(PHONE)
        tops = {above for *_, above, _ in await look.page.evaluate(_PLACES)}
        assert len(tops) == 2  # rows


async def test_players_read_shares_name_and_limits(browser: Browser) -> None:
    async with displayed("open", "fr") as address, looking(browser, address, WIDE) as look:
        await shown(look.page, "open")
        assert await look.page.inner_text("#name") == USUAL.name
        assert await look.page.is_visible("#limits")
        assert await look.page.locator("#limits li").all_inner_texts() == [*USUAL.limits]
        sides = [text.rsplit(" ", 2) for text in await look.page.locator("#shares span").all_inner_texts()]
        assert [side for side, *_ in sides] == ["rouge", "noir", "pair", "impair", "manque", "passe"]
        percents = [int(percent) for _, percent, _ in sides]
        assert [one + other for one, other in zip(percents[::2], percents[1::2], strict=True)] == [100] * 3
        bars = await look.page.locator("#shares li").evaluate_all(_BARS)
        assert bars == [f"{percent}%" for percent in percents[::2]]
        (zero,) = await look.page.locator("#zeros li").all_inner_texts()
        assert zero.split()[0] == "0"


async def test_a_table_that_has_few_numbers_and_says_nothing_shows_its_id_alone(browser: Browser) -> None:
    async with displayed("number", display=None, before=()) as address, looking(browser, address, WIDE) as look:
        await shown(look.page, "number")
        assert await look.page.inner_text("#name") == "campione-03"
        assert [await look.page.is_hidden(part) for part in ("#limits", "#favourites")] == [True, True]
        assert await outside_or_over_another(look.page) == []


_SHAPES = """() => [...document.querySelectorAll("main p")]
  .filter((node) => node.checkVisibility() && getComputedStyle(node, "::before").content === '""')
  .map((node) => getComputedStyle(node, "::before"))
  .map(({ clipPath, borderRadius, backgroundImage }) => [clipPath, borderRadius, backgroundImage].join(" "))"""
_PLACES = """() => [...document.querySelectorAll(".history .pocket")].map((node) => {
  const { left, right, top, bottom } = node.getBoundingClientRect();
  return [node.classList[1], left, right, top, bottom];
})"""
_MIDDLE = """() => {
  const { left, right } = document.querySelector(".history").getBoundingClientRect();
  return (left + right) / 2;
}"""
_BARS = "nodes => nodes.map((node) => node.style.getPropertyValue('--percent'))"
_WRONG = """([selector, apart]) => {
  const seen = [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility() && node.textContent);
  const boxes = seen.map((node) => [node.id || node.className, node.getBoundingClientRect()]);
  const letters = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const wrong = [];
  while (letters.nextNode()) {
    const node = letters.currentNode;
    const isThere = node.textContent.trim() && node.parentElement.checkVisibility();
    if (!isThere || node.parentElement.closest("#full, [data-phase=void] #number")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    boxes.push([node.textContent, range.getBoundingClientRect(), true]);
  }
  for (const [name, { left, top, right, bottom }] of boxes) {
    if (left < -apart || top < -apart || right > innerWidth + apart || bottom > innerHeight + apart) {
      wrong.push([name, "outside", left, top, right, bottom]);
    }
  }
  const parts = boxes.filter(([, , isText]) => !isText);
  for (const [place, [name, one]] of parts.entries()) {
    for (const [otherName, other] of parts.slice(place + 1)) {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > apart && high > apart) wrong.push([name, "over", otherName, wide, high]);
    }
  }
  const { scrollHeight, scrollWidth } = document.documentElement;
  if (scrollHeight > innerHeight || scrollWidth > innerWidth) wrong.push(["page", scrollWidth, scrollHeight]);
  return wrong;
}"""
