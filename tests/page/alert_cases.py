"""Data that must raise each alert, and data that must not, one sample a minute; `series` as promtool writes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

EVENTS = "wheeld_daemon_events_total"
CONNECTIONS = f'{EVENTS}{{part="mqtt",name="connections"}}'
SLOW = f'{EVENTS}{{part="host",name="slow_stores"}}'
STOOD = f'{EVENTS}{{part="host",name="standstills"}}'
LOW = 'wheeld_verdict_margin_ratio_bucket{le="0.2",verdict="result",margin_of="laps"}'
LOW_VOID = 'wheeld_verdict_margin_ratio_bucket{le="0.2",verdict="void",margin_of="laps"}'
LOW_POCKET = 'wheeld_verdict_margin_ratio_bucket{le="0.2",verdict="result",margin_of="pocket"}'
FAIR = 'wheeld_verdict_margin_ratio_bucket{le="0.4",verdict="result",margin_of="laps"}'
OF_LAPS = 'wheeld_verdict_margin_ratio_count{verdict="result",margin_of="laps"}'
OF_LAPS_VOID = 'wheeld_verdict_margin_ratio_count{verdict="void",margin_of="laps"}'
OF_POCKET = 'wheeld_verdict_margin_ratio_count{verdict="result",margin_of="pocket"}'
CHEF = 'wheeld_voids_total{cause="chef"}'
SHORT = 'wheeld_voids_total{cause="too_few_laps"}'
BROKEN = 'wheeld_voids_total{cause="breakdown"}'
BEAM = 'wheeld_sensor_working{sensor="beam/2"}'
TROUBLE = 'wheeld_sensor_trouble{sensor="beam/2",trouble="chatters"}'
ZONE = 'wheeld_temperature_celsius{zone="cpu-thermal"}'
UP = 'up{job="wheeld"}'


class Case(NamedTuple):
    """What happens, and which alerts are raised at a minute, each with its own labels; none but those."""

    what: str
    series: dict[str, str]
    minute: int
    raised: Mapping[str, dict[str, str]] = MappingProxyType({})


def steps(*minutes: int, until: int = 120) -> str:
    """A counter that counts one at each of these minutes."""
    return " ".join(str(sum(each <= minute for each in minutes)) for minute in range(until + 1))


CASES = (
    # --- is the wheel seen
    Case("no metrics for three minutes", {UP: "0+0x5"}, 3, {"WheeldPageDown": {}}),
    Case("no metrics for a minute", {UP: "1 1 1 0 0"}, 4),
    Case("metrics", {UP: "1+0x5"}, 5),
    Case("another job has none", {'up{job="node"}': "0+0x9"}, 9),
    Case("no broker for three minutes", {"wheeld_broker_reached": "0+0x5"}, 3, {"WheeldBrokerNotReached": {}}),
    Case("no broker for a minute", {"wheeld_broker_reached": "1 0 0 1 1"}, 2),
    Case("the broker came back", {"wheeld_broker_reached": "0 0 0 0 1"}, 4),
    Case(
        "nothing of the wheel for three minutes",
        {"wheeld_broker_reached": "1+0x5", "wheeld_wheel_seen": "0+0x5"},
        3,
        {"WheeldWheelNotSeen": {}},
    ),
    Case("a restart", {"wheeld_broker_reached": "1+0x5", "wheeld_wheel_seen": "1 1 0 0 1 1"}, 3),
    Case("the wheel is seen", {"wheeld_broker_reached": "1+0x5", "wheeld_wheel_seen": "1+0x5"}, 5),
    Case(
        "no broker, so nothing of the wheel: one alert, not two",
        {"wheeld_broker_reached": "0+0x5", "wheeld_wheel_seen": "0+0x5"},
        5,
        {"WheeldBrokerNotReached": {}},
    ),
    Case("three restarts", {"wheeld_daemon_restarts_total": steps(40, 45, 50)}, 55, {"WheeldRestartLoop": {}}),
    Case("two restarts", {"wheeld_daemon_restarts_total": steps(40, 50)}, 55),
    Case("three restarts in two hours", {"wheeld_daemon_restarts_total": steps(10, 60, 110)}, 115),
    Case("six connections", {CONNECTIONS: steps(31, 36, 41, 46, 51, 54)}, 55, {"WheeldConnectionUnsteady": {}}),
    Case("five connections", {CONNECTIONS: steps(31, 36, 41, 46, 51)}, 55),
    Case("six connections in two hours", {CONNECTIONS: steps(1, 20, 40, 60, 80, 100)}, 110),
    Case("six failures are no connections", {f'{EVENTS}{{part="mqtt",name="failures"}}': "0+1x60"}, 55),
    Case("connections of another part", {f'{EVENTS}{{part="link",name="connections"}}': "0+1x60"}, 55),
    # --- is everything settled
    Case("owed, and more each minute", {"wheeld_outbox_messages": "11+1x30"}, 20, {"WheeldMessagesOwed": {}}),
    Case("eleven are owed, and a little more", {"wheeld_outbox_messages": "11+0.05x30"}, 8, {"WheeldMessagesOwed": {}}),
    Case("eight are owed, and a little more", {"wheeld_outbox_messages": "8+0.05x30"}, 25),
    Case("owed, and more for four minutes", {"wheeld_outbox_messages": "0+0x9 20+1x14"}, 24),
    Case("few are owed", {"wheeld_outbox_messages": "1+0.2x40"}, 30),
    Case("many are owed, and fewer each minute", {"wheeld_outbox_messages": "500-5x50"}, 40),
    Case("many are owed, and no more", {"wheeld_outbox_messages": "500+0x50"}, 40),
    Case("much at once, then nothing", {"wheeld_outbox_messages": "0 40 80 120 0 0 40 80 120 160 0 0 90 95"}, 13),
    Case(
        "one message is owed for more than an hour",
        {"wheeld_outbox_messages": "0+0x9 1+0x80"},
        78,
        {"WheeldMessagesNotAcknowledged": {}},
    ),
    Case("one message is owed for less than an hour", {"wheeld_outbox_messages": "0+0x9 1+0x60"}, 68),
    Case("messages are owed, and settled each time", {"wheeld_outbox_messages": " ".join(["3 2 2 0"] * 30)}, 110),
    Case(
        "a message that cannot be read",
        {"wheeld_unreadable_messages_total": steps(70)},
        100,
        {"WheeldMessagesUnreadable": {}},
    ),
    Case("one that could not be read long ago", {"wheeld_unreadable_messages_total": steps(10)}, 100),
    # --- sensors
    Case("a sensor fails", {BEAM: "1 0 0 0"}, 2, {"WheeldSensorFailing": {"sensor": "beam/2"}}),
    Case("a sensor failed for a moment", {BEAM: "1 0 1 1"}, 1),
    Case("a sensor works", {BEAM: "1+0x5"}, 5),
    Case("the door's switch fails", {'wheeld_sensor_working{sensor="door"}': "0+0x5"}, 5),
    Case("it is left out", {BEAM: "0+0x5", 'wheeld_sensor_left_out{sensor="beam/2"}': "1+0x5"}, 5),
    Case(
        "another one is left out",
        {BEAM: "0+0x5", 'wheeld_sensor_left_out{sensor="beam/1"}': "1+0x5"},
        5,
        {"WheeldSensorFailing": {"sensor": "beam/2"}},
    ),
    Case(
        "half a day without a sensor",
        {'wheeld_sensor_left_out{sensor="beam/2"}': "1+0x730"},
        722,
        {"WheeldSensorLeftOut": {"sensor": "beam/2"}},
    ),
    Case("an evening without it", {'wheeld_sensor_left_out{sensor="beam/2"}': "1+0x730"}, 715),
    Case(
        "a trouble for six minutes",
        {TROUBLE: "1+0x9"},
        6,
        {"WheeldSensorTrouble": {"sensor": "beam/2", "trouble": "chatters"}},
    ),
    Case("a trouble for four minutes", {TROUBLE: "_ _ _ 1 1 1 1 1"}, 7),
    Case("a trouble that is over", {TROUBLE: "1+0x3 stale"}, 9),
    # --- verdicts: 216 coups in six hours
    Case(
        "28 of 216 coups were void",
        {"wheeld_results_total": "0+0.52x400", CHEF: "0+0.039x400", SHORT: "0+0.039x400"},
        400,
        {"WheeldVoidShareUnusual": {}},
    ),
    Case(
        "26 of 216 coups were void",
        {"wheeld_results_total": "0+0.528x400", CHEF: "0+0.036x400", SHORT: "0+0.036x400"},
        400,
    ),
    Case("the first nine coups of an evening were void", {"wheeld_results_total": "0+0x400", CHEF: "0+0.025x400"}, 400),
    Case(
        "twelve coups, all void",
        {"wheeld_results_total": "0+0x400", CHEF: "0+0.0334x400"},
        400,
        {"WheeldVoidShareUnusual": {}},
    ),
    Case("void coups of another day", {"wheeld_results_total": "0+0.5x900", CHEF: "0+1x99 100+0x800"}, 700),
    Case(
        "three breakdowns in an hour", {BROKEN: steps(70, 80, 90), "wheeld_results_total": "0+1x120"}, 100,
        {"WheeldBreakdowns": {}},
    ),
    Case("two breakdowns in an hour", {BROKEN: steps(70, 90), "wheeld_results_total": "0+1x120"}, 100),
    Case("three breakdowns in an evening", {BROKEN: steps(10, 60, 110), "wheeld_results_total": "0+1x120"}, 115),
    Case("three voids of the chef", {CHEF: steps(70, 80, 90), "wheeld_results_total": "0+1x120"}, 100),
    Case(
        "28 of 216 verdicts were nearly another verdict, by their laps",
        {LOW: "0+0.039x400", LOW_VOID: "0+0.039x400", LOW_POCKET: "0+0.01x400", FAIR: "0+0.1x400"}
        | {OF_LAPS: "0+0.2x400", OF_LAPS_VOID: "0+0.1x400", OF_POCKET: "0+0.3x400"},
        400,
        {"WheeldLowMargins": {"margin_of": "laps"}},
    ),
    Case(
        "26 of 216 were",
        {LOW: "0+0.036x400", LOW_VOID: "0+0.036x400", LOW_POCKET: "0+0.01x400", FAIR: "0+0.2x400"}
        | {OF_LAPS: "0+0.2x400", OF_LAPS_VOID: "0+0.1x400", OF_POCKET: "0+0.3x400"},
        400,
    ),
    Case("the first nine verdicts were", {LOW: "0+0.025x400", OF_LAPS: "0+0.025x400"}, 400),
    # --- clock and computer
    Case(
        "no time server for twenty minutes",
        {"wheeld_clock_synchronised": "0+0x30"},
        20,
        {"WheeldClockNotSynchronised": {}},
    ),
    Case("no time server for ten minutes", {"wheeld_clock_synchronised": "1+0x9 0+0x20"}, 22),
    Case("a time server", {"wheeld_clock_synchronised": "1+0x30"}, 30),
    Case("an error of 11 ms", {"wheeld_clock_error_seconds": "0.011+0x9"}, 6, {"WheeldClockErrorLarge": {}}),
    Case("an error of 9 ms", {"wheeld_clock_error_seconds": "0.009+0x9"}, 9),
    Case("an error of 11 ms for four minutes", {"wheeld_clock_error_seconds": "0.001+0x2 0.011+0x9"}, 7),
    Case("81 degrees", {ZONE: "81+0x20"}, 12, {"WheeldComputerHot": {"zone": "cpu-thermal"}}),
    Case("80 degrees", {ZONE: "80+0x20"}, 20),
    Case("81 degrees for nine minutes", {ZONE: "60+0x1 81+0x20"}, 11),
    Case("the journal was slow twice", {SLOW: steps(70, 90)}, 100, {"WheeldJournalSlow": {}}),
    Case("the journal was slow once", {SLOW: steps(70)}, 100),
    Case("twice in two hours", {SLOW: steps(20, 100)}, 110),
    Case("the computer stood still twice", {STOOD: steps(70, 90)}, 100, {"WheeldStoodStill": {}}),
    Case("the computer stood still once", {STOOD: steps(70)}, 100),
    Case("it stood still twice in two hours", {STOOD: steps(20, 100)}, 110),
    Case("its seconds are no times", {f'{EVENTS}{{part="host",name="standstill_ms"}}': "0+999x120"}, 100),
)  # fmt: skip
