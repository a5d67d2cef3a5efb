"""The demo's people look at the table first: from whatever state it is in, to "faites vos jeux"."""

from __future__ import annotations

from typing import Any

import pytest

from hw_sim.demo import LAYOUT
from hw_sim.evening import named, repeatable
from hw_sim.events import TableCommand
from hw_sim.live_table import LiveTable
from hw_sim.people import STEPS_MAX, People, TableStuckError
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber, Verdict

OBEYS = {
    "open": "faites_vos_jeux",
    "operations_done": "faites_vos_jeux",
    "tout_va": "faites_vos_jeux",
    "resume": "rien_va",
    "rien_va": "rien_va",
}


class Bench:
    """People at a table that obeys their commands; it gives no verdicts."""

    def __init__(self, state: str | None, number: int | None = 17) -> None:
        self.subscriber = Subscriber()
        if state is not None:
            self.subscriber.table = {"state": state, "last_number": number, "failing": []}
        self.live = LiveTable(LAYOUT, repeatable("people"), None)
        self.begun: list[str] = []
        self.commands: list[str] = []
        self.numbers: list[int | None] = []
        self.obeys = True
        self.people = People(self.live, self.subscriber, look_s=1.0, on_scenario=self._began)

    def _began(self, scenario: Scenario) -> None:
        self.begun.append(scenario.name)

    def play(self, *names: str) -> None:
        for event in self.people.events(named(names)):
            if isinstance(event, TableCommand) and not self.begun:
                self.commands.append(event.name)
                self.numbers.append(event.number)
                if self.obeys:
                    self.subscriber.table = {"state": OBEYS[event.name], "last_number": 17, "failing": []}


@pytest.mark.parametrize(
    ("state", "commands"),
    [
        ("closed", ["open"]),
        ("operations", ["operations_done"]),
        ("rien_va", ["tout_va"]),
        ("suspended", ["resume", "tout_va"]),
        ("ball_running", ["rien_va", "tout_va"]),
        ("ball_on_obstacle", ["rien_va", "tout_va"]),
        ("faites_vos_jeux", []),
        ("rien_ne_va_plus", []),
    ],
)
def test_the_chef_does_what_the_state_asks_for(state: str, commands: list[str]) -> None:
    bench = Bench(state)
    bench.play("valid")
    assert bench.commands == commands
    assert bench.begun == ["valid"]


@pytest.mark.parametrize(("state", "word"), [("suspended", "resume"), ("closed", "open")])
def test_they_name_the_pocket_when_nobody_knows_where_the_pockets_stand(state: str, word: str) -> None:
    bench = Bench(state, number=26)
    assert bench.subscriber.table is not None
    bench.subscriber.table["failing"] = ["rotor/place"]
    bench.play("valid")
    assert (bench.commands[0], bench.numbers[0]) == (word, 26)


def test_the_ball_is_put_where_the_table_last_saw_it() -> None:
    bench = Bench("faites_vos_jeux", number=26)
    bench.play("valid")
    assert bench.live.table.world.stays[0].number == 26


@pytest.mark.parametrize("state", [None, "suspended"])
def test_a_table_that_does_not_obey_is_given_up(state: str | None) -> None:
    bench = Bench(state)
    bench.obeys = False
    with pytest.raises(TableStuckError, match="nothing at all" if state is None else "suspended"):
        bench.play("valid")
    assert len(bench.commands) <= STEPS_MAX


def verdict(name: str) -> Any:
    return Verdict(1, 1, name, "")


def test_verdicts_are_held_against_what_was_played() -> None:
    bench = Bench("faites_vos_jeux")
    bench.play("same_direction")
    bench.people.compare(whole=False)
    assert bench.people.differences == []
    bench.subscriber.verdicts.append(verdict("void chef"))
    bench.people.compare(whole=False)
    assert bench.people.differences == ["same_direction: played void same_direction; published void chef"]


def test_a_verdict_that_never_came_is_noticed_at_the_next_scenario() -> None:
    bench = Bench("faites_vos_jeux")
    bench.play("same_direction", "valid")
    assert bench.people.differences == ["same_direction: played void same_direction; published nothing"]


def test_after_somebody_else_has_played_the_ball_belongs_where_the_table_says() -> None:
    bench = Bench("faites_vos_jeux", number=26)
    bench.live.table.put_ball_in(26)
    bench.live.table.last_number = 5
    bench.play("chef_void")
    assert bench.live.table.last_number == 26
    assert bench.live.table.ball_is_in(26)
