"""The wheel in the machine, and its people, who play without end by the published states.

Run in the machine: people.py PTY. While there is no broker they go on with the last state, and connect again.
"""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import suppress
from pathlib import Path

import aiomqtt

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup, sections
from hw_sim.evening import draw_layout, repeatable
from hw_sim.events import SimEvent, TableCommand
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.panel import command_leaf, payload_of
from hw_sim.people import People
from hw_sim.pty_link import Player, Pty
from hw_sim.subscriber import SEQUENCED, Subscriber

SITE, TABLE = "test", "whole"
ROOT = f"wheel/v1/{SITE}/{TABLE}"
SPEED = 10.0
LOOK_S = 0.4
"""Seconds of the wall clock until an event is published."""
AGAIN_S = 0.1
LAYOUT = draw_layout(repeatable("house"), french=False)


def configuration(pty: Path) -> str:
    """The configuration of this wheel, without `[journal]` and `[mqtt]`."""
    return sections(LAYOUT, site=SITE, table=TABLE, last_number=17, port=pty, speed=SPEED)


class Evening:
    """One evening at the wheel: its world, its board, and a panel for commands with a reason or a name."""

    def __init__(self) -> None:
        self._rng = repeatable("house")
        live_table = LiveTable(LAYOUT, self._rng, None)
        live_table.table.pause_factor = QUICK_PAUSE_FACTOR
        self._subscriber = Subscriber()
        self._people = People(
            live_table,
            self._subscriber,
            look_s=LOOK_S * SPEED,
            on_scenario=lambda _: None,
            on_stuck=lambda _: None,  # a daemon that hangs does not act: they try again
        )
        self._panel: asyncio.Queue[TableCommand] = asyncio.Queue()
        self._board = SimBoard(board_setup(LAYOUT), boot_id=random.SystemRandom().getrandbits(32))

    async def run(self, path: Path) -> None:
        """Play until the process ends."""
        with Pty(path) as pty:
            player = Player(self._board, pty, speed=SPEED, deliver=self._happen)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen())
                group.create_task(player.play(self._people.events(draw_scenarios(LAYOUT, self._rng))))

    def _happen(self, event: SimEvent) -> None:
        """Buttons have neither a name nor a reason."""
        if isinstance(event, TableCommand) and (event.reason or event.who):
            self._panel.put_nowait(event)
        else:
            self._board.feed(event)

    async def _listen(self) -> None:
        while True:
            with suppress(aiomqtt.MqttError):
                async with aiomqtt.Client("127.0.0.1", identifier="people") as client:
                    await client.subscribe([(f"{ROOT}/{leaf}", 1) for leaf in SEQUENCED])
                    panel = asyncio.create_task(self._use_panel(client))
                    try:
                        async for message in client.messages:
                            self._subscriber.take(message.topic.value.removeprefix(f"{ROOT}/"), bytes(message.payload))
                    finally:
                        panel.cancel()
            await asyncio.sleep(AGAIN_S)

    async def _use_panel(self, client: aiomqtt.Client) -> None:
        while True:
            person = await self._panel.get()
            leaf = command_leaf(person.by, person.name, TABLE)
            await client.publish(f"{ROOT}/{leaf}", payload_of(person, self._subscriber.table), qos=1)


if __name__ == "__main__":
    asyncio.run(Evening().run(Path(sys.argv[1])))
