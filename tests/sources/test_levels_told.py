"""Power cut and restored around an object in the cylinder: a simulated wheel and board, and the daemon's side.

Everything runs in virtual time. People do what `waiting_codes` says, and nothing else (docs/rulebook.md 7).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from firmware_protocol import messages as m
from firmware_protocol.host import Position
from hw_sim.board import BoardSetup, SimBoard
from hw_sim.demo import LAYOUT
from hw_sim.evening import named
from hw_sim.events import End, ForeignObject, SimEvent
from hw_sim.live_table import LiveTable
from hw_sim.table import SimTable
from tests.core.evening import FRENCH, START_UTC_US
from wheeld.core.table import Table
from wheeld.sources.board.board import Board
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.clock import UtcPair

SETTING = msgspec.structs.replace(FRENCH, levels=True, last_number=17)
STEP_US = 10_000
STEPS_MAX = 20
"""From any state a few steps lead to the launch."""


class House:
    """A wheel, its board, and a daemon that can be off. `published`: the messages, by topic."""

    def __init__(self) -> None:
        self.live = LiveTable(LAYOUT, random.Random(5), 17)
        layout = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True)
        self.board = SimBoard(BoardSetup(layout))
        self.now_us = 0
        self.published: list[tuple[str, dict[str, Any]]] = []
        self.codes: list[str] = []
        self._memory: bytes | None = None
        self._position: Position | None = None
        self._table: Table | None = None
        self.start_daemon()

    # --- power

    def start_daemon(self) -> None:
        self._began_us = self.now_us
        self._source = Board(
            BoardSetting(port="/dev/ttyACM0"), SETTING, hello_token=7, host_ns=0, resume_at=self._position
        )
        self._source.opened(0)
        self._table, opening = Table.start(
            SETTING, boot_id=f"{self.now_us:x}", started_utc_us=START_UTC_US + self.now_us, memory=self._memory
        )
        self._keep([opening])

    def stop_daemon(self) -> None:
        self._table = None

    def cut_board(self) -> None:
        self.board.silent = True

    def restore_board(self) -> None:
        self.board.silent = False
        self.board.reset()

    # --- the wheel

    def play(self, events: Iterable[SimEvent]) -> None:
        for event in events:
            while self.now_us + STEP_US <= event.t_us:
                self._step()
            if not isinstance(event, End):
                self.board.feed(event)

    def wait(self, seconds: float) -> None:
        self.play(self.live.wait(seconds))

    def say(self, name: str) -> None:
        self.play(self.live.command(name))
        self.wait(0.5)

    def put_object(self, *, present: bool) -> None:
        self.play(self.live.play(lambda table: table.foreign_object(present=present)))
        self.board.feed(ForeignObject(max(self.now_us, self.board._now_us), present))
        self.wait(0.5)

    def coup(self) -> None:
        """A launch, its run, its number; everybody does what is usual."""
        (valid,) = named(["valid"])
        self.play(self.live.play(valid))
        self.wait(1)

    def half_a_coup(self) -> None:
        """A ball that runs."""

        def launch(table: SimTable) -> None:
            table.prepare_launch()
            table.launch()
            table.wait(4, 5)

        self.play(self.live.play(launch))

    def obey(self) -> None:
        """Do what the table waits for, step by step, until it waits for the launch."""
        for _ in range(STEPS_MAX):
            match self.codes[0]:
                case "launch":
                    self.wait(0.5)
                    return
                case "clear_object":
                    self.put_object(present=False)
                case "put_back" | "turn_rotor":
                    self.live.table.last_number = self.last_number
                    self.play(self.live.play(SimTable.put_ball_back))
                case "no_launch" | "object_level" | "repair":
                    self.wait(1)
                case code:
                    self.say(code)
        raise AssertionError(f"the table still waits for {self.codes}")

    # --- what was published

    @property
    def verdicts(self) -> list[str]:
        return [
            "result" if topic == "result" else payload["cause"]
            for topic, payload in self.published
            if topic in ("result", "void")
        ]

    @property
    def last_number(self) -> int:
        number: int = self.tables[-1]["last_number"]
        return number

    @property
    def tables(self) -> list[dict[str, Any]]:
        return [payload for topic, payload in self.published if topic == "table"]

    def _step(self) -> None:
        self.now_us += STEP_US
        self.board.advance(self.now_us)
        data = self.board.data_to_send()
        if self._table is None:
            return
        host_us = self.now_us - self._began_us
        utc = UtcPair(host_us * 1_000, START_UTC_US + self.now_us, 1)
        seen = self._source.tick(host_us * 1_000) + self._source.receive(data, host_us * 1_000, utc)
        self._keep([self._table.apply(one) for one in seen])
        if seen and (position := self._source.position) is not None:
            self._position = position
            self._source.acknowledge(position)
        self.board.receive(self._source.data_to_send())

    def _keep(self, steps: list[Any]) -> None:
        for step in steps:
            for message in step.messages:
                self.published.append((message.topic, msgspec.json.decode(message.payload)))
            self._memory = step.memory or self._memory
        if self.tables:
            self.codes = self.tables[-1]["waiting_codes"]


def house_in(state: str, *, object_in: bool = False) -> House:
    """A house whose table has come to this state, perhaps with an object in the cylinder since then."""
    house = House()
    house.wait(1)
    if state != "closed":
        house.say("open")
    if state == "operations":
        house.play(house.live.play(named(["valid"])[0]))
        house.live.table.world.direct_events.clear()  # the operations go on
        house.wait(0.5)
    if state == "rien_va":
        house.half_a_coup()
        house.say("rien_va")
        house.play(house.live.play(SimTable.block_ball))
    if state == "suspended":
        house.say("suspend")
    if object_in:
        house.put_object(present=True)
    assert house.tables[-1]["state"] == state
    return house


STATES = ["closed", "faites_vos_jeux", "operations", "rien_va", "suspended"]


def off(house: House, what: str, *, present: bool) -> None:
    """Board, daemon or both are off, in either order, while the object comes or goes."""
    if what != "daemon":
        house.cut_board()
    if what != "board":
        house.stop_daemon()
    house.wait(3)
    house.put_object(present=present)
    house.wait(3)
    if what == "daemon, then board":
        house.start_daemon()
        house.wait(3)
    if what != "daemon":
        house.restore_board()
    house.wait(1)
    if what in ("daemon", "board, then daemon"):
        house.start_daemon()
    house.wait(3)


@pytest.mark.parametrize("what", ["board", "daemon", "board, then daemon", "daemon, then board"])
@pytest.mark.parametrize("state", STATES)
def test_an_object_that_came_while_power_was_off_voids_the_coup_over_it(state: str, what: str) -> None:
    house = house_in(state)
    known = len(house.verdicts)
    off(house, what, present=True)
    for _ in range(STEPS_MAX):
        if house.codes[0] == "clear_object":
            break
        house.say(house.codes[0])
    assert house.codes[0] == "clear_object"
    if house.tables[-1]["state"] == "faites_vos_jeux":
        house.coup()
        assert house.verdicts[known:] == ["foreign_object"]
    house.obey()
    house.coup()
    assert house.verdicts[-1] == "result"


@pytest.mark.parametrize("what", ["board", "daemon", "board, then daemon", "daemon, then board"])
@pytest.mark.parametrize("state", STATES)
def test_a_table_is_playable_again_after_an_object_was_taken_out_while_power_was_off(state: str, what: str) -> None:
    house = house_in(state, object_in=True)
    off(house, what, present=False)
    known = len(house.verdicts)
    assert "clear_object" not in house.codes
    house.obey()
    house.coup()
    assert house.verdicts[known:] == ["result"]


@pytest.mark.parametrize("present", [True, False])
@pytest.mark.parametrize("state", STATES)
def test_a_table_is_playable_again_after_its_line_was_cut_though_no_event_was_lost(
    state: str, *, present: bool
) -> None:
    house = house_in(state)
    house.board.cable.cut = True
    house.wait(3)
    if present:
        house.put_object(present=True)
    house.board.cable.cut = False
    house.wait(3)
    assert "object_level" not in house.codes
    known = len(house.verdicts)
    house.obey()
    said = {code for table in house.tables for code in table["waiting_codes"]}
    assert ("clear_object" in said) is present
    house.coup()
    assert house.verdicts[known:] == ["result"]


@pytest.mark.parametrize("present", [True, False])
def test_a_board_that_resets_in_play_voids_the_coup_and_tells_how_it_stands(*, present: bool) -> None:
    house = house_in("faites_vos_jeux")
    house.half_a_coup()
    house.cut_board()
    house.wait(0.2)
    if present:
        house.put_object(present=True)
    house.restore_board()
    house.play(house.live.play(SimTable.block_ball))
    house.wait(3)
    assert house.verdicts == ["breakdown"]
    said = [code for table in house.tables for code in table["waiting_codes"]]
    house.obey()
    assert ("clear_object" in [code for table in house.tables for code in table["waiting_codes"]]) is present
    assert "resume" in said
    house.coup()
    assert house.verdicts == ["breakdown", "result"]


@pytest.mark.parametrize("present", [True, False])
def test_a_coup_that_is_launched_while_the_daemon_is_away_is_void(*, present: bool) -> None:
    """N8: the board kept its run, but nobody heard what people said. Half of it, and the whole."""
    for play in (House.half_a_coup, House.coup):
        house = house_in("faites_vos_jeux")
        house.stop_daemon()
        house.put_object(present=present)
        play(house)
        house.start_daemon()
        house.wait(3)
        assert house.verdicts == ["breakdown"]
        house.put_object(present=False)
        house.obey()
        house.coup()
        assert house.verdicts == ["breakdown", "result"]
