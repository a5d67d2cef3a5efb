"""The demo's people look at the table first: from whatever state it is in, to "faites vos jeux"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hw_sim.demo import LAYOUT
from hw_sim.evening import named, repeatable
from hw_sim.events import ForeignObject, RotorEdge, TableCommand
from hw_sim.live_table import LiveTable
from hw_sim.people import STEPS_MAX, People, TableStuckError
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber, ToldVerdict
from hw_sim.table import SimTable

OBEYS = {
    "confirm": ("operations", ["operations_done"]),
    "open": ("faites_vos_jeux", ["launch"]),
    "operations_done": ("faites_vos_jeux", ["launch"]),
    "tout_va": ("faites_vos_jeux", ["rien_ne_va_plus", "launch"]),
    "resume": ("rien_va", ["put_back", "tout_va"]),
    "rien_va": ("rien_va", ["tout_va"]),
    "suspend": ("suspended", ["resume"]),
}


def shown(state: str, awaited: list[str], number: int | None = 17, failing: Sequence[str] = ()) -> dict[str, Any]:
    """What matters of a table's message."""
    return {"state": state, "waiting_codes": awaited, "last_number": number, "failing": list(failing)}


class Bench:
    """People at a table that obeys their commands; it gives no verdicts. When the ball was put back it sees it."""

    def __init__(self, table: dict[str, Any] | None, *, obeys: bool = True) -> None:
        self.subscriber = Subscriber(table=table)
        self.live = LiveTable(LAYOUT, repeatable("people"), None)
        self.begun: list[str] = []
        self.commands: list[str] = []
        self.numbers: list[int | None] = []
        self.people = People(self.live, self.subscriber, look_s=1.0, on_scenario=self._began)
        self._obeys = obeys

    def _began(self, scenario: Scenario) -> None:
        self.begun.append(scenario.name)

    def play(self, *names: str) -> None:
        for event in self.people.events(named(names)):
            table = self.subscriber.table
            if isinstance(event, TableCommand) and not self.begun:
                self.commands.append(event.name)
                self.numbers.append(event.number)
                if self._obeys:
                    self.subscriber.table = shown(*OBEYS[event.name])
            elif isinstance(event, ForeignObject):
                self.subscriber.table = shown("operations", ["operations_done"])
            elif table is not None and isinstance(event, RotorEdge) and event.t_us > 2e6 and self._obeys:
                table["waiting_codes"] = [code for code in table["waiting_codes"] if code != "turn_rotor"]
            elif self._obeys and table is not None and self.live.table.ball_is_in(table["last_number"]):
                table["waiting_codes"] = [code for code in table["waiting_codes"] if code != "put_back"]


@pytest.mark.parametrize(
    ("state", "awaited", "commands"),
    [
        ("closed", ["open"], ["open"]),
        ("operations", ["operations_done"], ["operations_done"]),
        ("rien_va", ["put_back", "tout_va"], ["tout_va"]),
        ("rien_va", ["turn_rotor", "tout_va"], ["tout_va"]),
        ("rien_va", ["operations_done", "tout_va"], ["operations_done"]),
        ("operations", ["clear_object", "operations_done"], ["operations_done"]),
        ("suspended", ["resume"], ["resume", "tout_va"]),
        ("suspended", ["clear_obstacle", "resume"], ["resume", "tout_va"]),
        ("awaiting_chef", ["confirm"], ["rien_va", "tout_va"]),
        ("ball_running", ["rien_ne_va_plus", "number"], ["rien_va", "tout_va"]),
        ("ball_on_obstacle", ["fall_or_stop"], ["rien_va", "tout_va"]),
        ("faites_vos_jeux", ["launch"], []),
        ("rien_ne_va_plus", ["launch"], []),
    ],
)
def test_they_do_what_the_table_waits_for(state: str, awaited: list[str], commands: list[str]) -> None:
    bench = Bench(shown(state, awaited))
    bench.play("valid")
    assert bench.commands == commands
    assert bench.begun == ["valid"]


@pytest.mark.parametrize(("state", "word"), [("suspended", "resume"), ("closed", "open")])
def test_they_name_the_pocket_when_nobody_knows_where_the_pockets_stand(state: str, word: str) -> None:
    bench = Bench(shown(state, ["repair", word], number=26, failing=["rotor/place"]))
    bench.play("valid")
    assert (bench.commands[0], bench.numbers[0]) == (word, 26)


def test_they_name_the_pocket_when_the_ball_lies_there_and_the_table_sees_it_elsewhere() -> None:
    bench = Bench(shown("rien_va", ["put_back", "tout_va"], number=26), obeys=False)
    with pytest.raises(TableStuckError):
        bench.play("valid")
    assert bench.commands[:2] == ["suspend", "resume"]
    assert bench.numbers[:2] == [None, 26]


def test_they_confirm_the_number_of_the_pocket_where_the_ball_lies() -> None:
    bench = Bench(shown("awaiting_chef", ["confirm"]))
    bench.live.table.put_ball_in(26)
    bench.play("valid")
    assert (bench.commands, bench.numbers) == (["confirm", "operations_done"], [26, None])


def test_they_wait_for_a_number_before_they_give_it_up() -> None:
    bench = Bench(shown("ball_running", ["number"]))
    for event in bench.people.events(named(["valid"])):
        if event.t_us > 4e6 and not bench.begun:
            bench.subscriber.table = shown("faites_vos_jeux", ["launch"])
    assert bench.commands == []


def test_they_wait_for_what_they_cannot_repair() -> None:
    bench = Bench(shown("suspended", ["repair", "resume"], failing=["beam/2"]), obeys=False)
    told = "state is suspended, it waits for repair, resume, and beam/2 fails, whatever the chef does"
    with pytest.raises(TableStuckError, match=told):
        bench.play("valid")
    assert bench.commands == []


def test_the_ball_is_put_where_the_table_last_saw_it() -> None:
    bench = Bench(shown("faites_vos_jeux", ["launch"], number=26))
    bench.play("valid")
    assert bench.live.table.world.stays[0].number == 26


def test_a_slow_rotor_is_pushed_before_the_ball_is_put_back() -> None:
    bench = Bench(shown("faites_vos_jeux", ["launch"]))
    bench.live.play(lambda table: SimTable.spin_rotor(table, (3.1, 3.2)))
    bench.play("valid")
    assert bench.begun == ["valid"]


@pytest.mark.parametrize("table", [None, shown("suspended", ["resume"])])
def test_a_table_that_does_not_obey_is_given_up(table: dict[str, Any] | None) -> None:
    bench = Bench(table, obeys=False)
    with pytest.raises(TableStuckError, match="published nothing" if table is None else "suspended"):
        bench.play("valid")
    assert len(bench.commands) <= STEPS_MAX


def verdict(name: str) -> Any:
    return ToldVerdict(1, 1, name, "")


def test_verdicts_are_held_against_what_was_played() -> None:
    bench = Bench(shown("faites_vos_jeux", ["launch"]))
    bench.play("same_direction")
    bench.people.compare(whole=False)
    assert bench.people.differences == []
    bench.subscriber.verdicts.append(verdict("void chef"))
    bench.people.compare(whole=False)
    assert bench.people.differences == ["same_direction: played void same_direction; published void chef"]


def test_a_verdict_that_never_came_is_noticed_at_the_next_scenario() -> None:
    bench = Bench(shown("faites_vos_jeux", ["launch"]))
    bench.play("same_direction", "valid")
    assert bench.people.differences == ["same_direction: played void same_direction; published nothing"]


def test_after_somebody_else_has_played_the_ball_belongs_where_the_table_says() -> None:
    bench = Bench(shown("faites_vos_jeux", ["launch"], number=26))
    bench.live.table.put_ball_in(26)
    bench.live.table.last_number = 5
    bench.play("chef_void")
    assert bench.live.table.last_number == 26
    assert bench.live.table.ball_is_in(26)
