"""An evening of a hurried chef: two hundred mistakes at the panel, of which none says a word that he did not mean.

No second of it is real. The page's own clock stands, and goes on only as his hands take time; the table is the law
itself behind a real broker, and its time passes only as balls run. What a hand does "after the offers have changed" it
does when the new ones stand on the page, however long that took.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiomqtt
import msgspec
import pytest
from playwright.async_api import Browser, CDPSession, Page
from playwright.async_api import TimeoutError as NotThereError

from hw_sim.evening import repeatable
from tests.browser.browser import PATIENCE_MS, SIZES, looking
from tests.browser.house import paged
from tests.browser.panel import enter
from tests.core.evening import FRENCH, Evening
from tests.live.bench import ROOT
from tests.mosquitto import Mosquitto
from tests.page.evenings import ONLINE
from wheeld.core.observations import Command
from wheeld.page.offers import GRAVE

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

SEED = "a hurried chef"
MISTAKES = 200
AGAIN_MS = (80, 200)
"""From the first to the second press of a double one."""
LATE_MS = (0, 499)
"""From a change of the offers to a press that was aimed before it."""
HOLD_MS = (40, 120)
"""From the touch to the release."""
DEAD_MS = 700
"""The page's own: so long a question takes no answer."""
STEP_MS = 250
"""Less than the time in which a button that moved takes no press."""
CALM_MS = 800
"""He has looked."""
KEPT = ("table", "board", "availability")
DEVICES = ("touch", "mouse", "keyboard")
Spot = tuple[float, float]

TEXT = "of => document.querySelector(`.${of}`).textContent"
PLACES = """(which) => Array.from(document.querySelectorAll(`#offers ${which}`), (press) => {
    const { x, y, width, height } = press.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
})"""
COVERS = """([x, y]) => {
    const { left, right, top, bottom } = document.getElementById("sure").getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
}"""
DRAWN = "() => new Promise((drawn) => new ResizeObserver(drawn).observe(document.body))"
"""The page has seen what moved its offers: that is told when it is drawn, by no clock of its own."""
COUNT = """() => {
    window.clicks = 0;
    addEventListener("click", () => window.clicks++, true);
    const lost = document.getElementById("lost");
    let isHidden = lost.hidden;
    const seen = new MutationObserver((news) => {
        // The page sets it to what it is as often as it looks: that moves nothing.
        const isSame = lost.hidden === isHidden && news.every((one) => one.type === "attributes");
        isHidden = lost.hidden;
        if (!isSame) window.changed = performance.now();
    });
    seen.observe(document.getElementById("offers"), { childList: true });
    seen.observe(lost, { attributes: true });
}"""
"""How often something was clicked, and when the offers changed or moved last, by the page's clock: they may do so while
a hand takes its time."""


class Table:
    """A table at the broker. `heard`: the commands that came, with the name of each; `told`: how much it published."""

    def __init__(self, client: aiomqtt.Client) -> None:
        self.evening = Evening(msgspec.structs.replace(FRENCH, site="live", table="wheel-1")).open()
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self._client, self.told = client, 0
        self._news = asyncio.Event()

    async def tell(self) -> None:
        """Publish what is new, all at once: the page is to show it at once. Last comes the name of the table, which
        tells that the page has all."""
        new = self.evening.published[self.told :]
        self.told = len(self.evening.published)
        for message in new:
            await self._client.publish(ROOT + message.topic, message.bytes, retain=message.topic in KEPT)
        named = json.loads(ONLINE) | {"display": {"name": str(self.told), "limits": []}}
        await self._client.publish(ROOT + "availability", json.dumps(named), retain=True)

    async def listen(self) -> None:
        """Do what comes, until cancelled."""
        await self.tell()
        async for message in self._client.messages:
            assert isinstance(message.payload, bytes)
            _, user, name = message.topic.value.removeprefix(ROOT).split("/")
            body = json.loads(message.payload)
            self.heard.append((name, body))
            answers = len(self.evening.replies)
            said = {key: value for key, value in body.items() if key in Command.__struct_fields__}
            self.evening.observe(
                msgspec.convert(
                    {"t": self.evening.now_us, "kind": "command", "name": name, "user": user, **said}, Command
                )
            )
            self.evening.wait(1)
            await self.tell()
            for reply in self.evening.replies[answers:]:
                await self._client.publish(ROOT + "reply", reply.payload)
            self._news.set()

    async def until(self, commands: int) -> None:
        """Return when so many have come."""
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while len(self.heard) < commands:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def at_broker(port: int) -> AsyncIterator[Table]:
    """A table that is open, until the block ends."""
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(ROOT + "cmd/#", qos=1)
        table = Table(client)
        task = asyncio.create_task(table.listen())
        try:
            yield table
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


Event = Callable[[Evening], None]
"""Something that happens at the wheel."""


def launched(evening: Evening) -> None:
    """The rotor turns, and the ball runs."""
    evening.turn(20)
    evening.wait(6)
    evening.launch(laps=10)
    evening.wait(1.5)


def fallen(number: int) -> Event:
    """The ball rests in this number, and that is proven."""

    def fall(evening: Evening) -> None:
        evening.wait(20)
        evening.fall(number)

    return fall


def unproven(number: int) -> Event:
    """The rotor is stopped when the ball has been seen there once or twice: it awaits the chef."""

    def stop(evening: Evening) -> None:
        evening.wait(20)
        evening.lying = number
        evening.wait(1.7)
        evening.turn(0)
        evening.wait(20)

    return stop


def put_back(evening: Evening) -> None:
    """The ball of a void coup is laid back."""
    evening.wait(20)
    evening.put_back()


@dataclass
class Chef:
    """His hands. `meant`: the commands that he means to give; `diary`: all that he did."""

    page: Page
    cdp: CDPSession
    table: Table
    rng: random.Random
    meant: list[str] = field(default_factory=list)
    diary: list[str] = field(default_factory=list)
    mistakes: int = 0

    async def say(self, name: str, **given: str) -> None:
        """Mean a command and give it, with mistakes on the way. `given`: what its question asks, by the name of the
        field. Returns when it is done, and nothing else is."""
        device = self._device()
        asks = name in GRAVE or bool(given)
        press = f"[data-command={name}][data-asks={str(asks).lower()}]:not([aria-disabled=true])"
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while not await self.page.locator(press).count():
                await self._look()
        before, places = await self._text(), await self._places()
        at = await self._spot(press)
        await self._press(device, at, press, f"gives {name}")
        self.meant.append(name)
        if asks:
            await self._in_dead_time(device, at)
            await self._answer(device, name, given)
        is_before, is_again = self.rng.random() < 0.3, self.rng.random() < 0.5
        if is_before:  # the table has not answered yet, or has just done so
            await self._once_more(device, at, again=True)
        await self._changed(before)
        if not is_before:
            await self._once_more(device, at if is_again else self.rng.choice(places), again=is_again)
        await self._look()
        await self.compare()

    async def watch(self, event: Event) -> None:
        """Something happens at the wheel that changes what is offered, and he presses what was offered before."""
        before, places = await self._text(), await self._places()
        await self._happen(event)
        await self._changed(before)
        await self._once_more(self._device(), self.rng.choice(places), again=False)
        await self._look()
        await self.compare()

    async def see(self, event: Event) -> None:
        """Something happens at the wheel, and he waits until he sees it."""
        before = await self._text("figures")
        await self._happen(event)
        await self._changed(before, "figures")
        await self._look()

    async def doubt(self, name: str, event: Event) -> None:
        """Open a question by mistake, before the wheel changes the offers behind it, and leave it with two presses."""
        device, before = self._device(), await self._text()
        press = f"[data-command={name}]:not([aria-disabled=true])"
        await self._press(device, await self._spot(press), press, f"opens {name} by mistake")
        await self._pass(DEAD_MS)
        await self._happen(event)
        await self._changed(before)
        await self._pass(self.rng.randint(*LATE_MS))
        await self._leave(device)

    async def lose(self) -> None:
        """Nothing is heard from the server for a while: a bar above the offers moves them, though they are the same."""
        asking = "[data-asks=true]"  # to open a question that he aimed at is no mistake
        for is_heard_again in (False, True):
            places = await self._places(asking)
            # In steps: on a slow computer the server may be silent for a while already, and the bar comes soon.
            while not await self.page.locator("#lost").is_visible():
                await self._pass(STEP_MS)
            if is_heard_again:
                places = await self._places(asking)
                await self.page.wait_for_selector("#lost", state="hidden")
            self.diary.append(f"the server: {'heard again' if is_heard_again else 'silent'}")
            await self._once_more(self.rng.choice(("touch", "mouse")), self.rng.choice(places), again=False)
            await self._look()
            await self.compare()

    async def _happen(self, event: Event) -> None:
        self.diary.append(f"the wheel: {event.__qualname__.partition('.')[0]}")
        event(self.table.evening)
        await self.table.tell()

    async def _leave(self, device: str) -> None:
        """Answer "do nothing", twice."""
        no = "#sure-no:not([aria-disabled=true])"
        at = await self._spot(no)
        await self._press(device, at, no, "does nothing")
        await self._once_more(device, at, again=True)
        await self._look()
        await self.compare()

    async def err(self, name: str) -> None:
        """Open a question by mistake, answer it before it can have been read, and see the mistake."""
        device = self._device()
        press = f"[data-command={name}]:not([aria-disabled=true])"
        at = await self._spot(press)
        await self._press(device, at, press, f"opens {name} by mistake")
        await self._in_dead_time(device, at)
        await self._leave(device)

    async def compare(self) -> None:
        """What came to the broker is what he meant."""
        await self.table.until(len(self.meant))
        heard = [name for name, _ in self.table.heard]
        assert heard == self.meant, self.told(f"he meant {self.meant[-3:]}, and the broker got {heard[-3:]}")

    def told(self, what: str) -> str:
        """Where in the evening."""
        return f"seed {SEED!r}, mistake {self.mistakes}, {what}; he did: {'; '.join(self.diary[-8:])}"

    async def _in_dead_time(self, device: str, at: Spot) -> None:
        """Presses before the question can have been read, at the place of the first or at its answers; then the rest of
        the time passes."""
        self.mistakes += 1
        assert not await self.page.evaluate(COVERS, at), self.told("the question stands over its button")
        passed_ms = 0
        hurried = self.rng.choice(("again", "impatient", "answer"))
        targets = ["#whys button", "#sure-yes"] if hurried == "answer" else [""] * (1 if hurried == "again" else 7)
        for target in targets:
            wait_ms, hold_ms = self.rng.randint(*AGAIN_MS), self.rng.randint(*HOLD_MS)
            if device == "keyboard" and HOLD_MS[1] + passed_ms + wait_ms + hold_ms >= DEAD_MS:
                break  # "do nothing" has the focus, and may be alive
            passed_ms += wait_ms + hold_ms
            await self._pass(wait_ms)
            there = self.page.locator(target).first if target else None
            if there is None or not await there.count():
                await self._press(device, at, "", f"{hurried} after {wait_ms} ms", hold_ms)
            else:
                await self._press(device, await self._spot(target), target, f"{target} after {wait_ms} ms", hold_ms)
        await self._pass(max(1, DEAD_MS - passed_ms))
        assert await self.page.locator("#sure[open]").count() == 1, self.told("the question has gone")
        assert await self.page.input_value("#why") == "", self.told("a reason has been chosen")

    async def _answer(self, device: str, name: str, given: dict[str, str]) -> None:
        for key, value in given.items():
            await self.page.fill(f"#given [name={key}]", value)
        if name in GRAVE:
            await self.page.fill("#why", "a test")
        yes = "#sure-yes:not([aria-disabled=true])"
        await self._press(device, await self._spot(yes), yes, f"means {name}")

    async def _once_more(self, device: str, at: Spot, *, again: bool) -> None:
        """One press more: the second of two, or one that was aimed at what has gone."""
        self.mistakes += 1
        wait_ms = self.rng.randint(*(AGAIN_MS if again else LATE_MS))
        since_ms = 0 if again else await self.page.evaluate("() => performance.now() - window.changed")
        await self._pass(max(0, round(wait_ms - since_ms)))
        await self._press(device, at, "", f"{'again' if again else 'late'} after {wait_ms} ms")

    async def _look(self) -> None:
        """See what is there, leave a question that was opened late, and wait until the server is heard: its time is the
        real one."""
        await self.page.evaluate(DRAWN)
        await self._pass(CALM_MS)
        if await self.page.locator("#sure[open]").count():
            await self.page.keyboard.press("Escape")
            await self._pass(CALM_MS)
        while await self.page.locator("#lost").is_visible():
            await self.page.wait_for_selector("#lost", state="hidden")
            await self.page.evaluate(DRAWN)
            await self._pass(CALM_MS)

    async def _press(self, device: str, at: Spot, target: str, what: str, hold_ms: int | None = None) -> None:
        """`target`: where the keyboard goes to first; "": it stays where it is."""
        self.diary.append(f"{device}: {what}")
        hold_ms = self.rng.randint(*HOLD_MS) if hold_ms is None else hold_ms
        page, (x, y) = self.page, at
        if device == "keyboard":
            if target:
                await page.focus(target)
            key = self.rng.choice(("Enter", "Space"))
            await page.keyboard.down(key)
            await self._pass(hold_ms)
            await page.keyboard.up(key)
        elif device == "mouse":
            await page.mouse.move(x, y)
            await page.mouse.down()
            await self._pass(hold_ms)
            await page.mouse.up()
        else:
            clicks = await page.evaluate("() => window.clicks")
            await self._touch("touchStart", [{"x": x, "y": y}])
            await self._pass(hold_ms)
            await self._touch("touchEnd", [])
            await page.wait_for_function("clicks => window.clicks > clicks", arg=clicks)

    async def _touch(self, kind: Literal["touchStart", "touchEnd"], points: list[dict[str, float]]) -> None:
        await self.cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def _device(self) -> str:
        return self.rng.choice(DEVICES)

    async def _pass(self, ms: int) -> None:
        await self.page.clock.run_for(ms)

    async def _spot(self, selector: str) -> Spot:
        there = self.page.locator(selector).first
        await there.scroll_into_view_if_needed()
        box = await there.bounding_box()
        assert box is not None, self.told(f"{selector} has no place")
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def _text(self, of: str = "offers") -> str:
        return str(await self.page.evaluate(TEXT, of))

    async def _places(self, which: str = "[data-command]") -> list[Spot]:
        return [(x, y) for x, y in await self.page.evaluate(PLACES, which)]

    async def _changed(self, before: str, of: str = "offers") -> None:
        """Return when that has changed, and the page has all that the table told."""
        await self.page.wait_for_function(f"([of, before]) => ({TEXT})(of) !== before", arg=[of, before])
        await self.page.wait_for_function("told => now.name === told", arg=str(self.table.told))
        await self.page.evaluate(DRAWN)


PAIRS = (
    ("last_coup", "last_coup_off"),
    ("suspend", "resume"),
    ("close", "open"),
    ("rien_ne_va_plus", "open"),
)
"""Words that take each other back."""


async def coup(chef: Chef, kind: str, number: int) -> None:
    """A coup as he means it, from open bets to open bets."""
    for first, second in chef.rng.sample(PAIRS, 3):
        await chef.say(first)
        await chef.say(second)
        await chef.err(chef.rng.choice(("suspend", "close")))
    await chef.lose()
    await chef.watch(launched)
    await chef.err("rien_va")
    if kind == "chef":
        await chef.say("rien_va")
        await chef.see(put_back)
        await chef.say("tout_va")
        return
    await chef.say("rien_ne_va_plus")
    if kind == "result":
        await (chef.doubt("rien_va", fallen(number)) if chef.rng.random() < 0.5 else chef.watch(fallen(number)))
    else:
        await chef.watch(unproven(number))
        await chef.err("rien_va")
        await chef.say("confirm", **({} if kind == "confirm" else {"number": str(number)}))
    await chef.say("operations_done")


async def evening(chef: Chef) -> None:
    """Coups until there were mistakes enough."""
    kinds = ("result", "confirm", "chef", "another")
    verdicts: list[tuple[str, Any]] = []
    while chef.mistakes < MISTAKES:
        kind, number = kinds[len(verdicts) % len(kinds)], chef.rng.randint(0, 36)
        await coup(chef, kind, number)
        verdicts.append(("void", "chef") if kind == "chef" else ("result", number))
        assert chef.table.evening.verdicts() == verdicts, chef.told("another verdict")
    await chef.say("close")
    assert chef.table.evening.verdicts() == verdicts, chef.told("another verdict")


async def test_two_hundred_hurried_mistakes_say_nothing(browser: Browser, tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as broker:
        async with (
            at_broker(broker.port) as table,
            paged(tmp_path, broker.port, monitor=False) as pages,
            looking(browser, f"{pages.chefs}/chef", SIZES["phone"], locale="en", has_touch=True) as look,
        ):
            page = look.page
            await page.clock.install()
            await enter(page)
            await page.evaluate(COUNT)
            await page.clock.pause_at(await page.evaluate("() => Date.now()") / 1000 + 1)
            chef = Chef(page, await page.context.new_cdp_session(page), table, repeatable(SEED))
            try:
                await evening(chef)
            except (NotThereError, TimeoutError) as missed:
                raise AssertionError(chef.told(str(missed))) from missed
            assert look.complaints == []
