"""A coup of each kind, played on the lines: the verdicts are the true outcomes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from hw_sim import wired
from hw_sim.evening import script
from hw_sim.events import TableCommand
from hw_sim.wired import Wires
from tests.gpio.bench import BENCHES, ON_LINES, Bench
from tests.truth import differences
from wheeld.core.observations import Command, CommandName, Observation
from wheeld.core.setting import Header, from_header
from wheeld.core.step import Message
from wheeld.core.table import Table
from wheeld.sources.gpio.encoder import Kind
from wheeld.sources.gpio.setting import GpioSetting

COUPS = {
    "valid": 2,
    "valid_few_laps": 31,
    "obstacle_falls": 37,
    "same_direction": 23,
    "early_launch": 1,
    "launch_before_tout_va": 22,
    "too_few_laps": 38,
    "too_weak_one_pass": 20,
    "rotor_stops_running": 10,
    "rotor_stopped_at_launch": 36,
    "obstacle_rotor_stops": 1,
    "foreign_object": 25,
    "foreign_object_after_drop": 13,
    "chef_void": 35,
    "breakdown_sensor": 76,
    "suspend_running": 26,
}
"""Each with a seed of a short evening, of either kind of encoder; a sensor that breaks is a beam or a reader, for an
encoder that breaks is only silent."""
ON_SIMULATED_ONLY = ("valid_few_laps", "launch_before_tout_va", "foreign_object_after_drop", "suspend_running")
"""Each gives the same edges as another one."""
LATE = ("breakdown_sensor",)
"""A covered sensor is found when it is covered for longer than by a ball, not at once."""


def setting_of(wires: Wires) -> GpioSetting:
    """The daemon's side of the same wires."""
    kind: Kind = "slots" if wires.steps_a_tick > 1 else "quadrature"
    return GpioSetting(
        provider="rpi-lgpio",
        encoder=kind,
        encoder_pins=(wires.a, wires.b, wires.z),
        index_tick=wires.index_tick,
        beam_pins=wires.beams,
        reader_pins=wires.readers,
        object_pin=wires.switches["object"],
        button_rien_va=wires.buttons["rien_va"],
        button_tout_va=wires.buttons["tout_va"],
        button_operations_done=wires.buttons["operations_done"],
    )


class TableBench:
    """A table that gets the observations, and the commands that have no button."""

    def __init__(self, header: dict[str, Any], commands: Iterable[TableCommand]) -> None:
        setting = from_header(msgspec.convert(header, Header))
        self._table, _ = Table.start(setting, boot_id="b", started_utc_us=1_800_000_000_000_000)
        self._commands = deque(commands)
        self.verdicts: list[dict[str, Any]] = []
        self.notices: list[bytes] = []

    def observe(self, seen: Observation, base_us: int) -> None:
        while self._commands and self._commands[0].t_us + base_us <= seen.t_us:
            given = self._commands.popleft()
            t_us, name = given.t_us + base_us, msgspec.convert(given.name, CommandName)
            self._apply(Command(t_us, name=name, by=given.by, reason=given.reason, who=given.who), base_us)
        self._apply(seen, base_us)

    def _apply(self, seen: Observation, base_us: int) -> None:
        for message in self._table.apply(seen).messages:
            self._publish(message, base_us)

    def _publish(self, message: Message, base_us: int) -> None:
        payload = msgspec.json.decode(message.payload)
        if message.topic in ("result", "void"):
            self.verdicts.append({"t": message.t_us - base_us, "topic": message.topic, "payload": payload})
        elif message.topic == "notice":
            self.notices.append(message.payload)


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: type(bench).__name__)
@pytest.mark.parametrize("kind", [kind for kind in COUPS if not (ON_LINES and kind in ON_SIMULATED_ONLY)])
def test_a_coup_of_each_kind_gets_its_true_verdict(kind: str, bench: Bench) -> None:
    evening = script([kind], COUPS[kind])
    beams, readers = len(evening.header["beams_deg"]), len(evening.header["readers_deg"])
    wires = Wires(
        a=0,
        b=1,
        z=2,
        # An encoder whose ticks are no whole periods is one of slots.
        steps_a_tick=4 if evening.header["rotor_ticks"] % 4 else 1,
        index_tick=17,
        beams=tuple(range(5, 5 + beams)),
        readers=tuple(range(13, 13 + readers)),
        switches={"object": 16},
        buttons={"rien_va": 17, "tout_va": 18, "operations_done": 19},
    )
    events = [*evening.events()]
    table = TableBench(evening.header, wired.commands_without_button(events, wires))
    recording = bench.run(
        wired.edges(evening.world, events, evening.end_s, wires),
        until_ns=round(evening.end_s * 1e9),
        setting=setting_of(wires),
        rotor_ticks=evening.header["rotor_ticks"],
        levels=wired.levels(evening.world, wires),
        on_observation=table.observe,
    )
    truth: list[dict[str, Any]] = [dict(outcome) for outcome in evening.truth]
    for outcome in truth:
        deadline_us = outcome.pop("deadline_t", None)
        if deadline_us is not None and kind not in LATE:
            outcome["deadline_t"] = deadline_us + bench.late_us + recording.slipped_us
    assert differences(table.verdicts, truth) == [], (evening.header, table.notices)
    assert recording.source.counters["late_edges"] == 0
    assert truth
