"""A wheel with its own head, and beams and buttons on pins beside it, with a real daemon in virtual time.

Real: everything from the head's bytes and the pins' edges to the SQLite file and the publications.
"""

from __future__ import annotations

import json
import random
from collections import deque
from pathlib import Path
from typing import Any, cast

import pytest

import wheeld.daemon.root
import wheeld.daemon.sources
import wheeld.journal.journal
from hw_sim import wired
from hw_sim.cammegh.coups import Model
from hw_sim.cammegh.evening_coups import coups_of
from hw_sim.cammegh.head import HeadSetup, SimHead
from hw_sim.evening import Evening
from hw_sim.events import TableCommand
from hw_sim.logins import command_leaf
from hw_sim.pins import SimPins
from hw_sim.wired import Wires
from tests.faults.kill_child import HousePorts, InlineExecutor
from tests.faults.kill_house import DaemonInput, DaemonOutput
from wheeld.config.reading import parse
from wheeld.config.sections import Config
from wheeld.sources.gpio import factory

STEP_NS = 20_000_000
START_NS = 500_000_000
"""The evening begins when the daemon is up."""
UTC_US = 1_800_000_000_000_000
TABLE = "wheel-1"
BUTTONS = {"rien_va": 17, "tout_va": 18, "operations_done": 19}
OBJECT_PIN = 16


def config_of(evening: Evening, directory: Path, model: Model, *, unproven: str | None = None) -> Config:
    """The configuration of the same wheel. It has no beams when `unproven` is set, or when the head reports the run."""
    header = evening.header
    alone = unproven or model is Model.MERCURY_360
    beams = "" if alone else f"beam_pins = {[*range(5, 5 + len(header['beams_deg']))]}\n"
    angles = "" if alone else f"beams_deg = {header['beams_deg']}\n"
    last = f"last_number = {header['last_number']}" if header["last_number"] is not None else ""
    way = header.get("rotor_direction")
    turns = f'rotor_direction = "{way}"\n' if way else ""
    unproven_line = f'unproven = "{unproven}"\n' if unproven else ""
    buttons = "".join(f"button_{name} = {pin}\n" for name, pin in BUTTONS.items())
    return parse(
        f"""\
[table]
site = "test"
id = "{TABLE}"
house = "{header["house"]}"
game = "{header["game"]}"
{last}
{unproven_line}[wheel]
{angles}{turns}[head]
product = "{model.value}"
port = "/dev/ttyUSB0"
[gpio]
provider = "rpi-lgpio"
{beams}object_pin = {OBJECT_PIN}
{buttons}[journal]
path = "journal.sqlite"
[mqtt]
host = "127.0.0.1"
""",
        directory=directory,
    )


class CombinedHouse:
    """Everything but the daemon; `published` has its decoded messages in order."""

    def __init__(self, evening: Evening, pins: SimPins, model: Model) -> None:
        self._end_ns = START_NS + round(evening.end_s * 1e9)
        self.pins = pins
        wires = Wires(
            a=0,
            b=1,
            z=2,
            beams=tuple(range(5, 5 + len(evening.header["beams_deg"]))),
            readers=tuple(range(20, 20 + len(evening.header["readers_deg"]))),
            object_pin=OBJECT_PIN,
            buttons=BUTTONS,
        )
        events = [*evening.events()]
        pins.play(wired.edges(evening.world, events, evening.end_s, wires, start_ns=START_NS))
        self._people: deque[TableCommand] = deque(wired.commands_without_button(events, wires))
        coups = iter(coups_of(evening))
        self.head = SimHead(model, coups, random.Random(1), HeadSetup(first_spin=12))
        self.published: list[dict[str, Any]] = []
        self._confirmed: list[int] = []

    def send(self, output: DaemonOutput) -> None:
        self.head.receive(output.board)
        for number, topic, payload in output.published:
            self._confirmed.append(number)
            if topic.rpartition("/")[2] in ("result", "void", "notice", "reply", "table"):
                self.published.append(json.loads(payload))

    def exchange(self) -> DaemonInput | None:
        now_ns = self.pins.now_ns + STEP_NS
        if now_ns > self._end_ns:
            return None
        self.pins.advance(now_ns)
        self.head.advance(max(0, now_ns - START_NS) // 1_000)
        incoming = []
        while self._people and self._people[0].t_us * 1_000 + START_NS <= now_ns:
            incoming.append(self._asked(self._people.popleft()))
        confirmed, self._confirmed = self._confirmed, []
        return DaemonInput(now_ns, UTC_US + now_ns // 1_000, self.head.data_to_send(), incoming, confirmed)

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [one for one in self.published if one.get("schema") == f"{topic}/1"]

    @property
    def verdicts(self) -> list[str]:
        verdicts = [one for one in self.published if one.get("schema") in ("result/1", "void/1")]
        return [f"result {one['number']}" if "number" in one else f"void {one['cause']}" for one in verdicts]

    def _asked(self, command: TableCommand) -> tuple[str, bytes]:
        asked = {"id": f"{command.name}-{command.t_us}", "by": command.by, "reason": command.reason or "play"}
        leaf = command_leaf(command.by, command.name, TABLE)
        return leaf, json.dumps(asked | ({"who": command.who} if command.who else {})).encode()


def played(
    evening: Evening,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Model = Model.SLINGSHOT_2,
    **more: Any,
) -> CombinedHouse:
    """The evening, from the daemon's start to its end."""
    house = CombinedHouse(evening, SimPins(), model)
    first = house.exchange()
    assert first is not None
    ports = HousePorts(house, first)
    for module, names in (
        (wheeld.daemon.root, ("SystemClock", "MqttConnection")),
        (wheeld.daemon.sources, ("open_serial",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, lambda *_, **__: ports)
    monkeypatch.setattr(
        cast("Any", wheeld.journal.journal),
        "ThreadPoolExecutor",
        lambda *_, **__: InlineExecutor(lambda: None, lambda: None),
    )
    monkeypatch.setitem(factory.PROVIDERS, "rpi-lgpio", lambda _chip: house.pins)
    assert int(wheeld.daemon.root.run(config_of(evening, directory, model, **more))) == 0
    return house
