"""A whole evening: whatever the people of a simulated table say, they say at the chef's panel in a browser."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pytest
from playwright.async_api import Browser, Page
from playwright.async_api import TimeoutError as NotThereError

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup, silence_s
from hw_sim.demo import LAYOUT
from hw_sim.evening import drawable, repeatable
from hw_sim.events import SimEvent, TableCommand
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable
from hw_sim.people import People
from hw_sim.pty_link import Player, Pty
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber
from tests.browser.browser import SIZES, looking
from tests.browser.house import SILENCE_S, configuration, paged
from tests.browser.panel import enter, offered, sure
from tests.cli.live import running
from tests.live.bench import FIRST_NUMBER, ROOT
from tests.mosquitto import Mosquitto

pytestmark = pytest.mark.timeout(600)

QUICK, SLOW, LIFE = 10.0, 4.0, 1.0
"""Simulated seconds in a real one. At a higher speed a press takes longer than people wait; at the slow one a cable
that is out for some seconds is told from a machine that is busy. On a busy machine a press is late. What had another
verdict than its truth is therefore played again, slower, and at last at the speed of life, where no press is late."""
OF_THE_CABLE = ("breakdown_link", "breakdown_idle")
LOOK_S = 0.6
"""Real seconds from an event until it is published, and stands on the panel."""
AS_FAST = "speed => { const real = setTimeout; window.setTimeout = (work, ms) => real(work, ms / speed); }"
"""The page's own waits are as much faster than life as the table: a question is dead for 0.7 s of the coup."""
OFFERED_MS = 2_000
"""So long a person looks for a button. One that he pressed before may have done it already."""
PEOPLE = {"chef": "Anna", "table": "Anna", "direction": "Direction"}
CONFIRMING = ("rotor_stopped_at_rest", "ball_lifted_at_rest")
"""Of those that hurried people play: those in which the chef gives the number."""


SCENARIOS = [each for each in drawable(LAYOUT) if each.weight or each.name in CONFIRMING]
"""Each of a table that plays, and those in which the chef confirms."""
EVENINGS = {
    "cable": [each for each in SCENARIOS if each.name in OF_THE_CABLE],
    "whole": [each for each in SCENARIOS if each.name not in OF_THE_CABLE],
}


class PanelPeople:
    """Gives the commands that the simulator's people give, by keyboard at the panel `page`."""

    def __init__(self, page: Page, board: SimBoard) -> None:
        self._page, self._board = page, board
        self._said: asyncio.Queue[TableCommand] = asyncio.Queue()
        self._by = PEOPLE["chef"]
        self._waiting: list[str] = []
        self.given = 0
        self.not_offered: list[str] = []

    def deliver(self, event: SimEvent) -> None:
        """Something happens at the wheel."""
        if not isinstance(event, TableCommand):
            self._board.feed(event)
        elif event.name not in self._waiting:  # nobody presses again before he has pressed once
            self._waiting.append(event.name)
            self._said.put_nowait(event)

    async def act(self) -> None:
        """Until cancelled."""
        while True:
            command = await self._said.get()
            try:
                await self._give(command)
                self.given += 1
            except NotThereError:
                self.not_offered.append(command.name)
            self._waiting.remove(command.name)

    async def _give(self, command: TableCommand) -> None:
        page, button = self._page, f"[data-command={command.name}]"
        await self._be(PEOPLE[command.by])
        reason = command.reason or "as usual"
        await offered(page, command.name, OFFERED_MS)
        given = {key: str(value) for key in ("who", "number") if (value := getattr(command, key)) is not None}
        pressed = page.locator(button).first
        if "number" in given and given["number"] not in (await pressed.locator("strong").inner_text()).split():
            pressed = page.locator(button).last  # another than the one that the panel names
        await pressed.press("Enter", timeout=OFFERED_MS)
        if await page.locator("#sure[open]").count():
            await sure(page, reason, **given)

    async def _be(self, who: str) -> None:
        if who != self._by:
            await self._page.press("#change", "Enter")
            await self._page.keyboard.type(who)
            await self._page.keyboard.press("Enter")
            self._by = who


@asynccontextmanager
async def taking(port: int, subscriber: Subscriber) -> AsyncIterator[None]:
    """The simulator's subscriber at the broker."""

    async def take(client: aiomqtt.Client) -> None:
        async for message in client.messages:
            leaf = message.topic.value.removeprefix(ROOT)
            if isinstance(message.payload, bytes) and not leaf.startswith(("cmd/", "ack")):
                subscriber.take(leaf, message.payload)

    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(ROOT + "#", qos=1)
        task = asyncio.create_task(take(client))
        try:
            yield
            assert not task.done(), task
        finally:
            task.cancel()
            await asyncio.wait([task])


def test_the_evenings_have_all_scenarios() -> None:
    played = [each for evening in EVENINGS.values() for each in evening]
    assert len(played) == len(SCENARIOS) >= 36


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("scenarios", EVENINGS.values(), ids=EVENINGS)
async def test_an_evening_played_at_the_panel_has_its_true_verdicts(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, scenarios: list[Scenario]
) -> None:
    left: dict[str, str] = {each.name: "not played" for each in scenarios}
    for speed in (QUICK, SLOW, LIFE) if len(scenarios) > len(OF_THE_CABLE) else (SLOW, LIFE):
        if again := [each for each in scenarios if each.name in left]:
            left = await played(browser, tmp_path_factory.mktemp("evening"), speed, again)
    assert left == {}


async def played(browser: Browser, directory: Path, speed: float, scenarios: list[Scenario]) -> dict[str, str]:
    """The scenarios whose verdicts were not their truth, and what came instead. `speed`: simulated seconds in a real
    one."""
    live = LiveTable(LAYOUT, repeatable("an evening at the panel"), FIRST_NUMBER)
    live.table.pause_factor = QUICK_PAUSE_FACTOR
    subscriber = Subscriber()
    begun: list[str] = []
    people = People(live, subscriber, look_s=LOOK_S * speed, on_scenario=lambda each: begun.append(each.name))
    board = SimBoard(board_setup(LAYOUT), boot_id=36)
    entered = asyncio.Event()

    def events() -> Iterator[SimEvent]:
        while not entered.is_set():
            yield from live.wait(0.5)
        yield from people.events(scenarios)
        yield from live.wait(2 * LOOK_S * speed)

    with Mosquitto(directory) as broker, Pty(directory / "board") as pty:
        path = configuration(directory, broker.port, silence_s=SILENCE_S if speed == QUICK else silence_s(speed))
        async with (
            taking(broker.port, subscriber),
            running(path),
            paged(directory, broker.port) as pages,
            looking(browser, f"{pages.chefs}/chef", SIZES["desktop"], locale="en") as look,
        ):
            hands = PanelPeople(look.page, board)
            playing = asyncio.create_task(Player(board, pty, speed=speed, deliver=hands.deliver).play(events()))
            await enter(look.page, PEOPLE["chef"])
            await look.page.evaluate(AS_FAST, speed)
            entered.set()
            await _until_the_end(playing, asyncio.create_task(hands.act()))
            assert look.complaints == []
    people.compare(whole=True)
    assert begun == [each.name for each in scenarios]
    assert hands.given >= len(begun)
    return {name: what for name, _, what in (each.partition(": ") for each in people.differences)}


async def _until_the_end(playing: asyncio.Task[None], acting: asyncio.Task[None]) -> None:
    """Return when all is played; raises what either raises."""
    try:
        await asyncio.wait([playing, acting], return_when=asyncio.FIRST_COMPLETED)
        for task in (acting, playing):
            if task.done():
                await task
    finally:
        for task in (playing, acting):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
