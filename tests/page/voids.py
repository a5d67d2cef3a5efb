"""A void of each cause, with its evidence as the monitor tells it."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from hw_sim.evening import script
from wheeld.core.facts import Cause
from wheeld.core.observations import Observation
from wheeld.core.setting import Header, TableSetting, from_header
from wheeld.core.table import Table
from wheeld.monitor.lines import Axis, axis

PLAYED = {
    "same_direction": Cause.SAME_DIRECTION,
    "early_launch": Cause.EARLY_LAUNCH,
    "too_few_laps": Cause.TOO_FEW_LAPS,
    "rotor_stops_running": Cause.ROTOR_STOPPED_RUNNING,
    "obstacle_rotor_stops": Cause.ROTOR_STOPPED_BEFORE_DROP,
    "foreign_object": Cause.FOREIGN_OBJECT,
    "chef_void": Cause.CHEF,
    "breakdown_sensor": Cause.BREAKDOWN,
    "suspend_running": Cause.BREAKDOWN,
    "disc_slips_running": Cause.BREAKDOWN,
}
"""A scenario for each cause, and for each way in which one comes about."""


class PlayedVoid(NamedTuple):
    """At the table of `setting`: the message, also as `told`, and the axis."""

    setting: TableSetting
    message: bytes
    told: dict[str, Any]
    axis: Axis


@cache
def void_of(scenario: str, seed: int = 3) -> PlayedVoid:
    """The first void of that scenario."""
    evening = script([scenario], seed=seed)
    setting = from_header(msgspec.convert(evening.header, Header))
    table, _ = Table.start(setting, boot_id="b", started_utc_us=1_700_000_000_000_000)
    for event in evening.events():
        step = table.apply(msgspec.convert(msgspec.to_builtins(event), Observation))
        for log in (log for log in step.coup_logs if log.verdict == "void"):
            (void,) = (message.payload for message in step.messages if message.topic == "void")
            line = msgspec.json.encode(axis(log, void, setting))
            return PlayedVoid(setting, void, msgspec.json.decode(void), msgspec.json.decode(line, type=Axis))
    raise AssertionError(scenario)
