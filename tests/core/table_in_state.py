"""A table in each of its states, reached as people and sensors reach it."""

from __future__ import annotations

from tests.core.evening import FRENCH, Evening
from wheeld.core.setting import TableSetting

STATES = [
    "closed", "faites_vos_jeux", "bets closed before the launch", "ball_running", "rien_ne_va_plus", "ball_on_obstacle",
    "operations", "rien_va", "rien_va, operations owed", "suspended",
]  # fmt: skip
PUBLISHED_AS = {"bets closed before the launch": "rien_ne_va_plus", "rien_va, operations owed": "rien_va"}
"""The state that the table publishes for each internal one."""


def table_in(state: str, setting: TableSetting = FRENCH) -> Evening:
    """An evening whose table has come to this state. An internal state has a name of its own."""
    evening = Evening(setting)
    evening.wait(2)
    if state == "closed":
        return evening
    evening.say("open")
    match state:
        case "bets closed before the launch":
            evening.say("rien_ne_va_plus")
        case "ball_running":
            evening.launch()
            evening.wait(2)
        case "rien_ne_va_plus":
            evening.launch()
            evening.wait(2)
            evening.say("rien_ne_va_plus")
        case "ball_on_obstacle":
            evening.run()
            evening.wait(20)
        case "operations":
            evening.coup(8)
        case "rien_va":
            evening.void_by_chef()
        case "rien_va, operations owed":
            evening.coup(8)
            evening.launch(laps=5)
            evening.wait(1.5)
            evening._planned.clear()
        case "suspended":
            evening.say("suspend")
    assert evening.state == PUBLISHED_AS.get(state, state)
    return evening
