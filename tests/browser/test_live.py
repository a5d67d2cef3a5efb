"""The live page shows what is true, says it once, and says when it is blind."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from hw_sim.table import SimTable
from tests.browser.browser import SIZES, looking, serious
from tests.browser.house import LIMIT, NAME, House, opened, paged
from tests.browser.panel import enter
from tests.cli.live import running
from tests.mosquitto import Mosquitto
from wheeld.core.catalogue import Catalogue
from wheeld.page.words import WORDS
from wheeld.screen.describe import STATES

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOST_MS_MAX = 7_000
"""A page whose server hangs says so when three of its beats are missing; one whose server has ended, at once."""
SAY = Catalogue("en").say

NOTES = """
window.noted = [];
window.told = 0;
const listen = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (kind, handler) {
  listen.call(this, kind, (event) => { handler(event); if (kind === "wheel") window.told += 1; });
};
addEventListener("DOMContentLoaded", () => {
  const note = (node, what) => window.noted.push([node.id || node.getAttribute("class"), what]);
  for (const node of document.querySelectorAll("[aria-live], [role=status], [role=alert], [role=log], #laps"))
    new MutationObserver(() => note(node, node.hidden ? "" : node.textContent))
      .observe(node, { childList: true, characterData: true, subtree: true });
  const bowl = document.getElementById("bowl");
  if (bowl) new MutationObserver((changes) => changes.forEach(({ target }) => {
    if (target.classList.contains("lit")) note(target, target.tagName);
  })).observe(bowl, { subtree: true, attributeFilter: ["class"] });
});
"""
"""What changes on a page, as [where, text], and how often the server told of the wheel."""


@pytest_asyncio.fixture(loop_scope="session")
async def noted(browser: Browser, house: House) -> AsyncIterator[Page]:
    """The live page, which notes what changes on it."""
    async with looking(browser, "about:blank", SIZES["desktop"], locale="en") as look:
        await look.page.add_init_script(NOTES)
        await look.page.goto(f"{house.page.players}/")
        await look.page.wait_for_selector("#bowl .ball[visibility=visible]", state="attached")
        yield look.page


async def changes(page: Page) -> list[tuple[str, str]]:
    """So far, and forget them."""
    found: list[list[str]] = await page.evaluate("window.noted.splice(0)")
    return [(where, text) for where, text in found]


async def shown(page: Page, place: str, text: str) -> None:
    """Return when it stands there."""
    await page.wait_for_function("([id, text]) => document.getElementById(id).textContent === text", arg=[place, text])


async def test_a_coup_is_seen_as_it_runs(noted: Page, house: House) -> None:
    verdicts = len(house.subscriber.verdicts())
    await changes(noted)
    await house.wheel.play("valid")
    await house.subscriber.until_verdicts(verdicts + 1)
    await house.subscriber.until_state("faites_vos_jeux")
    table, result = house.subscriber.of("table")[-1], house.subscriber.of("result")[-1]
    await shown(noted, "coup", str(table["coup"]))
    await shown(noted, "state", SAY(STATES[table["state"]]))
    await shown(noted, "waiting", table["waiting_for"])
    assert await noted.inner_text("#numbers li:first-child") == str(result["number"])
    assert (await noted.get_attribute("#numbers li:first-child", "class") or "").split() == ["pocket", result["colour"]]
    await shown(noted, "seen", SAY(WORDS["ball_at_rest"], number=str(result["number"])))
    seen = await changes(noted)
    laps = [float(text) for where, text in seen if where == "laps" and text != "–"]
    assert laps == sorted(laps)
    assert len(set(laps)) >= 3
    assert laps[-1] <= result["laps"]
    assert {"circle", "rect"} == {text for where, text in seen if "lit" in where}, "beams and readers light"


async def test_a_void_stands_with_its_article_and_its_evidence(noted: Page, house: House) -> None:
    voids = len(house.subscriber.of("void"))
    await house.wheel.play("foreign_object")
    await house.subscriber.until(lambda: len(house.subscriber.of("void")) > voids, "the void")
    void = house.subscriber.of("void")[-1]
    await shown(noted, "void", f"{SAY(WORDS['coup'])} {void['coup']}: {void['words']} — {void['why']}")
    assert void["article"] in void["why"]
    await noted.wait_for_selector("#evidence .row.object.decides")
    assert SAY(WORDS["object"]) in await noted.locator("#evidence .row strong").all_text_contents()
    assert await noted.locator("#evidence .object .bar-of").count() >= 1
    assert await noted.locator("#evidence .ball .mark").count() >= 3
    assert len((await noted.get_attribute("#evidence .rotor .speed", "points") or "").split()) >= 2
    assert await noted.is_hidden("#no-evidence")
    await house.wheel.play("valid")
    await house.subscriber.until_state("faites_vos_jeux")


async def test_what_changes_is_said_once(browser: Browser, house: House) -> None:
    for path in ("/", "/display"):
        async with looking(browser, "about:blank", SIZES["desktop"], locale="en") as look:
            page = look.page
            await page.add_init_script(NOTES)
            await page.goto(house.page.players + path)
            await page.wait_for_function("() => window.told >= 2")
            await changes(page)
            await house.wheel.play("same_direction", "valid")
            await house.subscriber.until_state("faites_vos_jeux")
            after = await page.evaluate("window.told") + 3
            await page.wait_for_function("after => window.told >= after", arg=after)
            seen = await changes(page)
            last: dict[str, str] = {}
            for where, text in seen:
                assert last.get(where) != text, f"{path}: said twice: {where}: {text}"
                if where != "laps" and "lit" not in where:
                    last[where] = text
            assert last["ritual"] == "Faites vos jeux"
            assert ("ritual", house.subscriber.of("void")[-1]["words"]) in seen
            assert path == "/" or last["number"] == str(house.subscriber.of("result")[-1]["number"])


@pytest.mark.parametrize(
    ("path", "how"), [("/", signal.SIGSTOP), ("/display", signal.SIGKILL), ("/chef", signal.SIGTERM)]
)
async def test_a_page_that_has_lost_its_server_says_so_and_recovers(
    browser: Browser, house: House, path: str, how: signal.Signals
) -> None:
    address = house.page.chefs if path == "/chef" else house.page.players
    async with looking(browser, address + path, SIZES["phone"], locale="en") as look:
        page = look.page
        if path == "/chef":
            await enter(page)
        await page.wait_for_selector("#lost", state="hidden")
        if how is signal.SIGSTOP:
            house.page.send(how)
        else:
            await house.page.stop(how)
        await page.wait_for_selector("#lost:not([hidden])", timeout=LOST_MS_MAX)
        assert await page.inner_text("#lost") == SAY(WORDS["lost_page"])
        if path == "/display":
            assert await page.inner_text(".out") == SAY(WORDS["out_of_service"])
            assert await page.is_hidden(".board")
            assert await serious(page) == []
        if how is signal.SIGSTOP:
            house.page.send(signal.SIGCONT)
        else:
            await house.page.start()
        if path == "/chef":
            # Whoever has the panel open gives the token again: nobody keeps a session over a restart.
            await page.wait_for_selector("#token")
            await page.fill("#token", "")
        else:
            await page.wait_for_selector("#lost", state="hidden")


async def test_a_wheel_that_goes_is_said_to_be_gone_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(opened(tmp_path, seed=3, test=True))
        pages: list[Page] = []
        for address in (f"{house.page.players}/", f"{house.page.players}/display", f"{house.page.chefs}/chef"):
            look = await stack.enter_async_context(looking(browser, address, SIZES["phone"], locale="en"))
            pages.append(look.page)
        await enter(pages[2])
        for page in pages:
            await page.wait_for_selector("#lost", state="hidden")
            # A bench table says on every page that it is one.
            await page.wait_for_selector("#bench:not([hidden])")
            assert await page.inner_text("#bench") == SAY(WORDS["bench"])
        await house.daemon.end()
        for page in pages:
            await page.wait_for_selector("#lost:not([hidden])", timeout=LOST_MS_MAX)
            assert await page.inner_text("#lost") == SAY(WORDS["lost"])
        assert await pages[2].locator("[data-command]").count() == 0, "nothing can be asked of a wheel that is away"
        await pages[0].wait_for_selector("#blind:not([hidden])")
        await stack.enter_async_context(running(tmp_path / "wheel.toml"))
        for page in pages:
            await page.wait_for_selector("#lost", state="hidden")
        await pages[0].wait_for_selector("#blind", state="hidden")
        house.broker.kill()
        for page in pages:
            await page.wait_for_selector("#lost:not([hidden])", timeout=LOST_MS_MAX)


async def test_a_page_of_a_table_that_does_not_exist_says_what_to_check(browser: Browser, tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with (
            paged(tmp_path, broker.port, monitor=False) as served,
            looking(browser, f"{served.players}/", SIZES["phone"], locale="en") as look,
        ):
            never = SAY(WORDS["never"])
            await look.page.wait_for_function("text => document.getElementById('lost').textContent === text", arg=never)
            assert await look.page.is_visible("#lost")


async def test_a_house_that_pays_has_no_bench_bar(noted: Page) -> None:
    assert await noted.is_hidden("#bench")


@pytest.mark.parametrize("screen", [{"width": 1280, "height": 720}, {"width": 1920, "height": 1080}])
async def test_the_display_is_legible_and_fits_one_screen(browser: Browser, tmp_path: Path, screen: Any) -> None:
    (tmp_path / "wheel-1.numbers.json").write_text(str([n % 37 for n in range(200)]))
    async with (
        opened(tmp_path, seed=4) as house,
        looking(browser, f"{house.page.players}/display", screen, locale="en") as look,
    ):
        page = look.page
        # All the way from the configuration.
        assert await page.inner_text("#name") == NAME
        assert await page.inner_text("#limits") == LIMIT
        await house.subscriber.command("last_coup")
        await page.wait_for_selector("#last:not([hidden])")
        await fits(page, screen["height"])
        await page.wait_for_selector("body[data-phase=open]")
        assert await page.is_visible("#favourites")
        await serves_only_who_points(page)
        assert await serious(page) == []
        await house.wheel.play(void_left_standing)
        await house.subscriber.until_state("rien_va")
        await page.wait_for_selector("#cause:not(:empty)")
        await page.wait_for_selector("body[data-phase=void]")
        await fits(page, screen["height"])
        assert await serious(page) == []


async def serves_only_who_points(page: Page) -> None:
    """Title, links and the button are not in the players' sight until the pointer moves."""
    sight = "[...document.querySelectorAll('header, #full')].map((node) => getComputedStyle(node).opacity)"
    assert await page.evaluate(sight) == ["0", "0"]
    await page.mouse.move(5, 5)
    assert await page.evaluate(sight) == ["1", "1"]


def void_left_standing(table: SimTable) -> None:
    """A void that nobody puts in order."""
    table.prepare_launch()
    table.launch(with_rotor=True)
    table.wait_until(table.pass_s(6))
    table.block_ball()
    table.wait(0.5, 1)


async def fits(page: Page, height: int) -> None:
    """Letters as large as parts of the screen: at ten metres, on a screen one metre high, a person reads 4 cm."""
    told = await page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("#number, #ritual, #cause, #last, #numbers .pocket")]
          .filter((node) => node.checkVisibility() && node.textContent)
          .map((node) => [node.id || "numbers", parseFloat(getComputedStyle(node).fontSize)]))"""
    )
    least = {"number": 0.3, "ritual": 0.08, "cause": 0.04, "last": 0.04, "numbers": 0.04}
    assert {name: size for name, size in told.items() if size < least[name] * height} == {}
    assert {"number", "ritual", "last", "numbers"} <= set(told)
    content, wide = await page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
    assert content <= height
    assert wide <= await page.evaluate("innerWidth")
