"""The pictures of the pages for the documents: `python -m tests.browser.pictures docs/pictures`.

The same coups each time, so that another picture means another page.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.async_api import Browser, Page

from tests.browser.browser import SIZES, chromium, looking
from tests.browser.house import House, opened
from tests.browser.panel import enter

PLAYED = ("valid", "valid_few_laps", "foreign_object", "valid")
COLOURS = 96
"""Of a picture: enough for the wheel, and a third of the bytes."""
NUMBERS = [17, 5, 0, 32, 19, 4, 21, 5, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10]
NUMBERS += [5, 14, 32, 29, 7, 17, 20, 0, 33, 1, 5, 26, 9, 22, 18, 31, 36, 12, 28, 2]
"""That the table had before, newest first."""


async def draw(house: House, browser: Browser, directory: Path) -> None:
    """All pictures, of a table that has just had a number and goes on to its next coup."""
    players, chefs = house.page.players, house.page.chefs
    async with (
        looking(browser, f"{players}/?lang=en", SIZES["desktop"]) as live,
        looking(browser, f"{players}/?lang=it", SIZES["phone"]) as phone,
        looking(browser, f"{players}/display?lang=fr", {"width": 1280, "height": 720}) as display,
        looking(browser, f"{chefs}/chef?lang=en", SIZES["desktop"]) as chef,
    ):
        for look in (live, phone):
            await look.page.wait_for_selector("#evidence .mark", state="attached")
        await enter(chef.page)
        await _picture(display.page, directory / "display.png")
        coup = asyncio.create_task(house.wheel.play("valid"))
        await house.subscriber.until_state("ball_running")
        await live.page.wait_for_function("() => parseFloat(document.getElementById('laps').textContent) >= 2")
        await _picture(live.page, directory / "live.png")
        await _picture(chef.page, directory / "chef.png")
        await coup
        await house.subscriber.until_state("faites_vos_jeux")
        await _picture(phone.page, directory / "live-phone.png")


async def _picture(page: Page, path: Path) -> None:
    """Written with few colours."""
    await page.screenshot(path=path)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS)
    small.save(path, optimize=True)


async def main(directory: Path) -> None:
    """Draw them in that directory."""
    with TemporaryDirectory() as name:
        numbers = Path(name) / "wheel-1.numbers.json"
        numbers.write_text(str(NUMBERS))
        async with chromium() as browser, opened(Path(name), seed=15, speed=3) as house:
            await house.wheel.play(*PLAYED)
            await house.subscriber.until_state("faites_vos_jeux")
            await draw(house, browser, directory)


if __name__ == "__main__":
    wanted = Path(sys.argv[1])
    wanted.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(wanted))
