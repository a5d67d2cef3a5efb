"""The chef's panel as its people use it, by keyboard."""

from __future__ import annotations

from playwright.async_api import Page

from tests.browser.browser import PATIENCE_MS
from tests.browser.house import TOKEN
from wheeld.page.offers import GRAVE


async def enter(page: Page, by: str = "Anna") -> None:
    """Give the token and the name, by keyboard."""
    await page.focus("#token")
    await page.keyboard.type(TOKEN)
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#by")
    await page.focus("#by")
    await page.keyboard.type(by)
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[data-command]")


async def offered(page: Page, name: str, patience_ms: float = PATIENCE_MS) -> None:
    """Return when the command can be given; raises Playwright's TimeoutError."""
    await page.wait_for_selector(f"[data-command={name}]:not([aria-disabled=true])", timeout=patience_ms)


async def press(page: Page, name: str) -> None:
    """Go to the button of a command and press Enter."""
    await offered(page, name)
    await page.focus(f"[data-command={name}]")
    await page.keyboard.press("Enter")


async def give(page: Page, name: str) -> str:
    """Press it, and say why where the panel asks. Returns the wheel's answer as it stands on the page."""
    before = await page.locator("#answers li:not(.sent)").count()
    await press(page, name)
    if name in GRAVE:
        await sure(page, "a test")
    return await answer(page, before)


async def sure(page: Page, why: str, **given: str) -> None:
    """Answer the question, once it takes an answer. `given`: what it asks besides, by the name of its field."""
    await page.wait_for_selector("#sure[open]")
    for name, value in given.items():
        field = page.locator(f"#given [name={name}]")
        is_choice = await field.evaluate("field => field.tagName === 'SELECT'")
        await (field.select_option(label=value) if is_choice else field.fill(value))
    await page.focus("#why")
    await page.keyboard.type(why)
    await page.wait_for_selector("#sure-yes:not([aria-disabled=true])")
    await page.focus("#sure-yes")
    await page.keyboard.press("Enter")


async def answer(page: Page, before: int) -> str:
    """The newest answer, once there are more than `before`."""
    await page.wait_for_function(
        "before => document.querySelectorAll('#answers li:not(.sent)').length > before", arg=before
    )
    text: str = await page.inner_text("#answers li:first-child")
    return text
