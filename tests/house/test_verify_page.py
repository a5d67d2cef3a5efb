"""The page that verifies a receipt in the browser, without a server."""

from __future__ import annotations

import base64
import random
import re
from pathlib import Path

from playwright.async_api import Page

from tests.browser.browser import chromium
from tests.house.test_receipts import KEY, SEEN_BY, checkpoint_of, feed, receipt_of, witnessed

PAGE = Path(__file__).parents[2] / "house" / "wheeld_house" / "verify.html"
WHEEL_KEY = base64.b64encode(KEY.public_key).decode()
MESSAGES = feed(41)
RECEIPT = receipt_of(MESSAGES, 16, witnessed(checkpoint_of(MESSAGES)))


SPOKEN = "h1, p, label, small, button"
"""The elements that are translated."""


async def shown(page: Page, receipt: str, *, key: str = WHEEL_KEY, witnesses: str = str(SEEN_BY)) -> str:
    """What the page says of a receipt that a person pastes."""
    await page.evaluate("document.querySelector('output').replaceChildren()")
    for name, text in (("receipt", receipt), ("key", key), ("witnesses", witnesses)):
        await page.locator(f"#{name}").fill(text)
    await page.locator("button").click()
    await page.locator("output strong").wait_for()
    said: str = await page.locator("output").inner_text()
    return said


async def test_the_evidence_of_a_good_receipt_is_drawn_in_the_order_of_time() -> None:
    told = feed(
        9,
        launched_at="2026-11-20T20:06:14.200Z",
        left_track_at="2026-11-20T20:06:34.100Z",
        sightings=[{"t_us": 61_000_000, "reader": 0}, {"t_us": 68_000_000, "reader": 1}],
        at="2026-11-20T20:06:47.300Z",
        t_us=68_000_000,
    )
    async with chromium() as browser, await browser.new_context(offline=True) as context:
        page = await context.new_page()
        await page.goto(PAGE.as_uri())
        await shown(page, receipt_of(told, 3, checkpoint_of(told)), witnesses="")
        drawn = await page.locator("output svg text").all_text_contents()
        await shown(page, receipt_of(told[1:], 2, checkpoint_of(told[1:])), witnesses="")
        assert await page.locator("output svg").count() == 0
    marks = ["0.0 s  launch", "19.9 s  off the track", "26.1 s  reader 1", "33.1 s  told", "33.1 s  reader 2"]
    assert drawn == marks


async def test_a_receipt_is_verified_from_a_file_and_nothing_is_sent() -> None:
    async with chromium() as browser, await browser.new_context(offline=True) as context:
        page = await context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(PAGE.as_uri())
        text = await shown(page, RECEIPT)
        assert "This receipt is good." in text
        assert "c-3" in text
        assert "seen by house.example" in text
        assert "2026-11-18T" in text
        assert "good" in await shown(page, RECEIPT, witnesses="")
        pem = f"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA{WHEEL_KEY}\n-----END PUBLIC KEY-----\n"
        assert "good" in await shown(page, RECEIPT, key=pem)
        for receipt, key, witnesses, why in (
            (RECEIPT, base64.b64encode(bytes(32)).decode(), "", "not signed with this wheel's key"),
            (receipt_of(MESSAGES, 16, checkpoint_of(MESSAGES)), WHEEL_KEY, str(SEEN_BY), "has not cosigned"),
            (receipt_of(feed(9, coup=1), 3, checkpoint_of(feed(9))), WHEEL_KEY, "", "not in the tree"),
            (receipt_of(feed(9, test=True), 3, checkpoint_of(feed(9, test=True))), WHEEL_KEY, "", "a test"),
            (receipt_of(MESSAGES, 16, checkpoint_of(MESSAGES, "c-4")), WHEEL_KEY, "", "of another table"),
            (receipt_of(MESSAGES[1:], 2, checkpoint_of(MESSAGES[1:])), WHEEL_KEY, "", "at its place in the tree"),
            (RECEIPT, "AAAA", "", "not an Ed25519 key"),
            (RECEIPT, WHEEL_KEY, f"{SEEN_BY}"[:-1], "not base64"),
            ("x", WHEEL_KEY, "", "not a receipt"),
        ):
            text = await shown(page, receipt, key=key, witnesses=witnesses)
            assert "This receipt proves nothing." in text
            assert why in text
        assert asked == [PAGE.as_uri()]


async def test_the_page_speaks_the_language_of_the_browser_and_another_when_it_is_chosen() -> None:
    async with chromium() as browser:
        for locale, title, good, why in (
            ("de-DE", "Verify the receipt of a coup", "This receipt is good.", "has not cosigned"),
            ("fr-CH", "Vérifier le reçu d'un coup", "Ce reçu est valide.", "le témoin house.example n'a pas cosigné"),
            ("it-IT", "Verificare la ricevuta di un colpo", "Questa ricevuta è valida.", "non ha cofirmato"),
        ):
            async with await browser.new_context(locale=locale, offline=True) as context:
                page = await context.new_page()
                await page.goto(PAGE.as_uri())
                assert [await page.title(), await page.locator("h1").inner_text()] == [title, title]
                assert await page.locator("html").get_attribute("lang") == ("en" if locale == "de-DE" else locale[:2])
                assert good in await shown(page, RECEIPT)
                assert why in await shown(page, receipt_of(MESSAGES, 16, checkpoint_of(MESSAGES)))
                await page.get_by_label("Language").select_option("it")
                await page.get_by_text("Questa ricevuta non prova nulla.").wait_for()
                assert "il testimone house.example" in await page.locator("output").inner_text()
                assert await page.locator("html").get_attribute("lang") == "it"


async def test_each_text_of_the_page_has_its_translations_and_no_other_has() -> None:
    async with chromium() as browser, await browser.new_context() as context:
        page = await context.new_page()
        await page.goto(PAGE.as_uri())
        translated: dict[str, list[str]] = await page.evaluate("TRANSLATED")
        texts: list[str] = await page.evaluate("texts.map(([, text]) => text)")
    script = PAGE.read_text().partition("const LANGUAGES")[2].partition("</script>")[0]
    literals = {*re.findall(r'"([^"\n]*)"', script)} - {SPOKEN}
    assert translated.keys() <= literals | {*texts}, "a translation of what the page does not say"
    assert {text for text in literals if " " in text} | {*texts} <= translated.keys(), "a text without a translation"
    wrong = {text: of for text, of in translated.items() if {each.count("{}") for each in of} != {text.count("{}")}}
    assert wrong == {}
    assert {len(of) for of in translated.values()} == {2}


async def test_a_receipt_with_any_byte_changed_is_refused_by_the_browser() -> None:
    rng, raw = random.Random("bytes in a browser"), RECEIPT.encode()
    changed = [
        base64.b64encode(raw[:at] + bytes([raw[at] ^ rng.randrange(1, 128)]) + raw[at + 1 :]).decode()
        for at in range(len(raw))
    ]
    async with chromium() as browser, await browser.new_context() as context:
        page = await context.new_page()
        await page.goto(PAGE.as_uri())
        refused = await page.evaluate(
            """async ([changed, key, witness]) => {
                const reasons = [];
                for (const raw of [...changed]) {
                    try {
                        const bytes = Uint8Array.from(atob(raw), letter => letter.charCodeAt(0));
                        const text = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
                        await verify(text, wheelKey(key), [witnessKey(witness)]);
                        reasons.push("good");
                    } catch (error) { reasons.push("refused"); }
                }
                return reasons;
            }""",
            [changed, WHEEL_KEY, str(SEEN_BY)],
        )
    assert len(refused) == len(raw)
    assert [at for at, reason in enumerate(refused) if reason != "refused"] == []
