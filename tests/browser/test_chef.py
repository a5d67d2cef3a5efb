"""The chef's panel: who gets in, what is asked and answered, and what stands in the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.browser.browser import SIZES, looking, serious
from tests.browser.house import SPEED, TOKEN, House, opened, paged
from tests.browser.panel import answer, enter, give, offered, press, sure
from wheeld.core.catalogue import Catalogue
from wheeld.core.names import COMMAND_NAMES
from wheeld.journal.database import Database
from wheeld.journal.reader import JournalReader
from wheeld.page.panel import ATTEMPTS
from wheeld.page.words import WORDS

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAY = Catalogue("en").say
ASKED = '{"by": "Eve", "reason": "mine"}'
JSON = {"Content-Type": "application/json"}
AT_ONCE = """() => {
    document.querySelector("[data-command=close]").click();
    return new Promise((resolve) => setTimeout(() => {
        document.querySelector("#whys button").click();
        document.getElementById("why").value = "at once";
        document.getElementById("why").dispatchEvent(new Event("input"));
        document.getElementById("sure-yes").click();
        resolve();
    }, 400));
}"""
"""The question, and an answer before anybody can have read it."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A house whose chef acts. He has time to answer while the ball runs, on a busy computer too."""
    async with opened(tmp_path_factory.mktemp("chef"), seed=7, speed=SPEED / 2) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def panel(browser: Browser, own: House) -> AsyncIterator[Page]:
    """The panel, Anna acting."""
    async with looking(browser, f"{own.page.chefs}/chef", SIZES["phone"], locale="en") as look:
        await enter(look.page)
        yield look.page


async def test_wrong_tokens_are_refused_and_then_nobody_is_asked(browser: Browser, own: House, tmp_path: Path) -> None:
    async with (
        paged(tmp_path, own.broker.port) as page,
        looking(browser, f"{page.chefs}/chef", SIZES["phone"], locale="en") as look,
    ):
        for attempt in range(1, ATTEMPTS + 1):
            await look.page.fill("#token", "not the token")
            await look.page.keyboard.press("Enter")
            word = WORDS["wrong_token" if attempt < ATTEMPTS else "wait_token"]
            await look.page.wait_for_function(
                "text => document.getElementById('why')?.textContent === text", arg=SAY(word)
            )
        assert await serious(look.page) == []
        await look.page.fill("#token", TOKEN)
        await look.page.keyboard.press("Enter")
        await look.page.wait_for_load_state()
        assert await look.page.inner_text("#why") == SAY(WORDS["wait_token"])
        assert await look.page.locator("[data-command]").count() == 0


async def test_without_the_token_nothing_is_shown_or_taken(browser: Browser, own: House) -> None:
    async with looking(browser, f"{own.page.chefs}/chef", SIZES["phone"]) as look:
        ask = look.page.request
        assert (await ask.get(f"{own.page.chefs}/chef/events")).status == 403
        assert (await ask.post(f"{own.page.chefs}/chef/commands/close", data=ASKED, headers=JSON)).status == 403
        forged = {"Cookie": "wheeld-chef=forged"}
        assert (
            await ask.post(f"{own.page.chefs}/chef/commands/close", data=ASKED, headers=JSON | forged)
        ).status == 403
    assert own.subscriber.of("reply") == []


async def test_another_site_cannot_use_the_chefs_browser(panel: Page, own: House) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    taken = await panel.request.post(f"{own.page.chefs}/chef/commands/close", data=ASKED, headers=JSON | elsewhere)
    assert taken.status == 403
    (cookie,) = await panel.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


@pytest.mark.parametrize("path", ["/chef", "/chef/token", "/chef/events", "/chef/commands/close"])
async def test_the_players_port_has_nothing_of_the_chef(panel: Page, own: House, path: str) -> None:
    assert (await panel.request.get(own.page.players + path)).status == 404
    assert (await panel.request.post(own.page.players + path, data=ASKED, headers=JSON)).status == 404


async def test_a_command_is_answered_and_its_person_stands_in_the_journal(panel: Page, own: House) -> None:
    replies = len(own.subscriber.of("reply"))
    told = await give(panel, "last_coup")
    assert SAY(WORDS["done"]) in told
    # Who works with the keyboard keeps a place: the button has gone, another is chosen.
    assert await panel.evaluate("document.activeElement.dataset.command")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup_off")
    commands = [("Anna", "last_coup", WORDS["reason_default"]), ("Anna", "last_coup_off", WORDS["reason_default"])]
    assert given(own) == commands
    await panel.focus("#change")
    await panel.keyboard.press("Enter")
    assert await panel.evaluate("document.activeElement.id") == "by"
    await panel.keyboard.type("Bruno")
    await panel.keyboard.press("Enter")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup_off")
    await own.subscriber.until_replies(replies, *("last_coup", "last_coup_off") * 2)
    by = [(one["by"], one["done"]) for one in own.subscriber.of("reply")]
    assert by[-4:] == [(who, True) for who in ("Anna", "Anna", "Bruno", "Bruno")]
    assert [by for by, _, _ in given(own)] == ["Anna", "Anna", "Bruno", "Bruno"]


async def test_the_question_keeps_the_keyboard_and_escape_leaves_it(panel: Page, own: House) -> None:
    replies = len(own.subscriber.of("reply"))
    await press(panel, "close")
    await panel.wait_for_selector("#sure[open]")
    assert await panel.evaluate("document.activeElement.id") == "sure-no", "the harmless answer is at hand"
    assert await serious(panel) == []
    for _ in range(4):
        await panel.keyboard.press("Tab")
        # Between the last and the first the browser has its own place, which is none of the page's.
        assert await panel.evaluate(
            "document.activeElement.closest('#sure, body').id || document.activeElement.tagName"
        ) in (
            "sure",
            "BODY",
        )
    await panel.keyboard.press("Escape")
    await panel.wait_for_selector("#sure", state="hidden")
    assert await panel.evaluate("document.activeElement.dataset.command") == "close"
    await press(panel, "close")
    await panel.wait_for_selector("#sure[open]")
    await panel.wait_for_selector("#sure-no:not([aria-disabled=true])")
    await panel.keyboard.press("Enter")  # no
    await panel.wait_for_selector("#sure", state="hidden")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup_off")
    await own.subscriber.until_replies(replies, "last_coup", "last_coup_off")


async def test_a_key_that_is_held_gives_one_command(panel: Page, own: House) -> None:
    """ "la dernière" has another button in its place as soon as it is done, and that would take it back."""
    replies = len(own.subscriber.of("reply"))
    await panel.wait_for_selector("[data-command=last_coup]:not([aria-disabled=true])")
    await panel.focus("[data-command=last_coup]")
    await panel.keyboard.down("Enter")
    await panel.wait_for_selector("[data-command=last_coup_off]:not([aria-disabled=true])")
    await panel.focus("[data-command=last_coup_off]")
    await panel.keyboard.down("Enter")  # the key was not let go, so this is one more of it
    await panel.keyboard.up("Enter")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup_off")
    await own.subscriber.until_replies(replies, "last_coup", "last_coup_off")


async def test_a_button_takes_no_press_as_soon_as_it_appears(panel: Page, own: House) -> None:
    """The second touch of two, which was meant for the button before."""
    await panel.evaluate(
        """() => new MutationObserver(() => document.querySelector("[data-command=last_coup_off]")?.click())
        .observe(document.getElementById("offers"), { childList: true })"""
    )
    replies = len(own.subscriber.of("reply"))
    assert SAY(WORDS["done"]) in await give(panel, "last_coup")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup_off")
    await own.subscriber.until_replies(replies, "last_coup", "last_coup_off")


MOVED = """() => {
    window.sent = 0;
    const fetched = window.fetch;
    window.fetch = (...words) => { window.sent += 1; return fetched(...words); };
    const bar = document.getElementById("lost");
    Object.assign(bar, { hidden: false, textContent: "the wheel is away" });
    document.querySelector("[data-command=last_coup]").click();
}"""
"""A bar above the offers appears. A press comes before the next picture, so it reaches the button that moved there."""


async def test_a_press_that_comes_before_the_picture_of_a_move_says_nothing(panel: Page, own: House) -> None:
    await panel.wait_for_selector("[data-command=last_coup]:not([aria-disabled=true])")
    await panel.evaluate(MOVED)
    assert await panel.get_attribute("[data-command=last_coup]", "aria-disabled") == "true"
    await panel.wait_for_selector("[data-command=last_coup]:not([aria-disabled=true])")
    assert await panel.evaluate("() => window.sent") == 0
    assert SAY(WORDS["done"]) in await give(panel, "last_coup")
    assert SAY(WORDS["done"]) in await give(panel, "last_coup_off")


@pytest.mark.parametrize("size", SIZES)
async def test_a_double_tap_ends_nothing(browser: Browser, own: House, size: str) -> None:
    """Nor an answer that comes before the question was read, nor one without a reason."""
    replies = len(own.subscriber.of("reply"))
    address = f"{own.page.chefs}/chef"
    async with looking(browser, address, SIZES[size], locale="en", has_touch=True) as look:
        await enter(look.page)
        await offered(look.page, "close")
        button = look.page.locator("[data-command=close]")
        await button.scroll_into_view_if_needed()
        box = await button.bounding_box()
        assert box is not None
        for _ in range(2):
            await look.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert await look.page.locator("#sure[open]").count() == 1
        assert await look.page.inner_text("#sure-title") == f"wheel-1 · {SAY(COMMAND_NAMES['close'])}"
        assert await look.page.inner_text("#sure-yes") == "Close: play stops"
        await look.page.keyboard.press("Escape")
        await offered(look.page, "close")
        await look.page.evaluate(AT_ONCE)
        assert await look.page.locator("#sure[open]").count() == 1
        await look.page.wait_for_selector("#sure-no:not([aria-disabled=true])")
        await look.page.fill("#why", " ")
        await look.page.click("#sure-yes", force=True)
        assert await look.page.locator("#sure[open]").count() == 1
        await look.page.click("#sure-no")
        # An answer later, all that was sent before it has been answered too.
        assert SAY(WORDS["done"]) in await give(look.page, "last_coup")
        assert SAY(WORDS["done"]) in await give(look.page, "last_coup_off")
    await own.subscriber.until_replies(replies, "last_coup", "last_coup_off")


async def test_what_was_asked_of_one_coup_does_nothing_to_the_next(panel: Page, own: House) -> None:
    """The chef is asked whether he is sure while a coup runs, and answers in the next."""
    replies = len(own.subscriber.of("reply"))
    verdicts = len(own.subscriber.verdicts())
    first = asyncio.ensure_future(own.wheel.play("valid"))
    await own.subscriber.until_state("ball_running")
    await press(panel, "rien_va")
    await panel.wait_for_selector("#sure[open]")
    await first
    await own.subscriber.until_verdicts(verdicts + 1)
    second = asyncio.ensure_future(own.wheel.play("valid"))
    await own.subscriber.until(lambda: own.subscriber.state == "ball_running", "the next coup")
    before = await panel.locator("#answers li:not(.sent)").count()
    await sure(panel, "a test")
    told = await answer(panel, before)
    assert SAY(WORDS["refused"]) in told
    await own.subscriber.until_replies(replies, "rien_va")
    assert own.subscriber.of("reply")[-1]["why"] in told, "in words"
    await second
    await own.subscriber.until_verdicts(verdicts + 2)
    assert [each.split()[0] for each in own.subscriber.verdicts()[verdicts:]] == ["result", "result"]


async def test_a_late_bet_is_recorded_with_what_the_chef_said_of_it(panel: Page, own: House) -> None:
    """There is no button for it before the ball runs, and no answer while he has not chosen one."""
    verdicts = len(own.subscriber.verdicts())
    assert await panel.locator("[data-command=late_bet]").count() == 0
    coup = asyncio.ensure_future(own.wheel.play("valid"))
    await own.subscriber.until_state("ball_running")
    before = await panel.locator("#answers li:not(.sent)").count()
    await press(panel, "late_bet")
    await panel.wait_for_selector("#sure-no:not([aria-disabled=true])")
    assert await panel.get_attribute("#sure-yes", "aria-disabled") == "true"
    await sure(panel, "100 on 17", accepted=SAY(WORDS["refused_bet"]))
    assert SAY(WORDS["done"]) in await answer(panel, before)
    await own.subscriber.until(lambda: bool(late_bets(own)), "the notice")
    (bet,) = late_bets(own)
    assert (bet["by"], bet["figures"]["accepted"]) == ("Anna", "no")
    await coup
    await own.subscriber.until_verdicts(verdicts + 1)


def late_bets(house: House) -> list[dict[str, Any]]:
    """The notices of late bets."""
    return [each for each in house.subscriber.of("notice") if each["notice"] == "late_bet"]


async def test_a_browser_that_comes_back_after_a_restart_is_asked_for_the_token(panel: Page, own: House) -> None:
    await own.page.stop()
    await own.page.start()
    await panel.wait_for_selector("#token")


def given(house: House) -> list[tuple[str, str, str]]:
    """Who gave which command why, as the journal has it."""
    with closing(JournalReader(Database(house.journal, read_only=True))) as journal:
        commands = [each for each in journal.commands(0, 100) if each.by != "button"]
    assert {command.user for command in commands} == {"chef-wheel-1"}
    return [(command.by, command.name, command.reason) for command in commands]
