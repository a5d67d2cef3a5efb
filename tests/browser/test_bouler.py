"""The bouler's panel: the chef's page with the words of his role, and what it says of who spins next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.browser import SIZES, looking, serious
from tests.browser.house import House, opened
from tests.browser.panel import answer, enter, give, press, sure
from wheeld.broker.roles import BY_NAME
from wheeld.core.catalogue import Catalogue
from wheeld.journal.database import Database
from wheeld.journal.reader import JournalReader
from wheeld.page.words import WORDS

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAY = Catalogue("en").say
ANNOUNCE = "[data-command=bouler] >> nth=1"
"""The button beside that of the change itself."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A house whose bouler acts."""
    async with opened(tmp_path_factory.mktemp("bouler"), seed=7) as house:
        yield house


async def test_the_bouler_says_his_words_and_no_other(browser: Browser, own: House) -> None:
    async with looking(browser, f"{own.page.boulers}/bouler", SIZES["phone"], locale="en") as look:
        await enter(look.page)
        assert (await look.page.title()).startswith(SAY(WORDS["panel_bouler"]))
        said = await look.page.locator("[data-command]").evaluate_all("all => all.map(each => each.dataset.command)")
        assert said
        assert {*said} <= {*BY_NAME["bouler"].commands}
        assert await look.page.locator("#numbers").count() == await look.page.locator("#sensors").count() == 1
        assert SAY(WORDS["done"]) in await give(look.page, "last_coup")
        # It is announced. The answer and the table come on two ways, so either may be first.
        await look.page.wait_for_selector("[data-command=last_coup]", state="detached")
        assert await serious(look.page) == []
        assert look.complaints == []
    with closing(JournalReader(Database(own.journal, read_only=True))) as journal:
        commands = [(each.user, each.by, each.name) for each in journal.commands(0, 100) if each.by != "button"]
    assert commands == [("bouler-wheel-1", "Anna", "last_coup")]


async def test_he_reads_who_is_announced_to_spin_next(browser: Browser, own: House) -> None:
    async with (
        looking(browser, f"{own.page.boulers}/bouler", SIZES["phone"], locale="en") as his,
        looking(browser, f"{own.page.chefs}/chef", SIZES["phone"], locale="en") as look,
    ):
        await enter(look.page)
        before = await look.page.locator("#answers li:not(.sent)").count()
        await look.page.focus(ANNOUNCE)
        await look.page.keyboard.press("Enter")
        await sure(look.page, "he is called away", who="Verdi")
        assert SAY(WORDS["done"]) in await answer(look.page, before)
        heard = own.subscriber
        await heard.until(lambda: heard.of("table")[-1].get("next_bouler") == "Verdi", "who spins next")
        await enter(his.page)
        told = SAY(WORDS["next_bouler"], who="Verdi")
        await his.page.wait_for_function(
            "text => document.getElementById('bouler').textContent.includes(text)", arg=told
        )
        await press(look.page, "bouler")
        await look.page.wait_for_selector("#sure[open]")
        assert await look.page.input_value("#given [name=who]") == "Verdi"
