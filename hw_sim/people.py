"""The people at the demo's table. They play scenarios, but before each one they look at the published state.

A script alone would go on at a table that is suspended, for example after a restart during a coup. So before each
scenario the chef does what the published state requires: resume, ball back in its pocket, "tout va", open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hw_sim.events import SimEvent
from hw_sim.live_table import LiveTable
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber
from hw_sim.table import Outcome, SimTable

STEPS_MAX = 20
"""From any state three or four steps lead to "faites vos jeux". After so many, the table does not obey."""
PLACE = "rotor/place"
"""The encoder does not show where the pockets stand, until a person names the one where the ball lies."""
BUTTONS = {"closed": "open", "operations": "operations_done", "rien_va": "tout_va"}
"""What is pressed in states in which the table waits for that alone."""
READY = ("faites_vos_jeux", "rien_ne_va_plus")
"""In the second state the launch may still follow: "rien ne va plus" is sometimes said early."""


class TableStuckError(Exception):
    """The table does not get to "faites vos jeux", whatever the chef does."""


class People:
    """Chef, bouler and the hand that carries the ball. `look_s`: simulated seconds until an event is published.

    `on_scenario` is called with each scenario at its start. `differences` lists where verdicts and truth differ.
    """

    def __init__(
        self, live: LiveTable, subscriber: Subscriber, *, look_s: float, on_scenario: Callable[[Scenario], None]
    ) -> None:
        self._live = live
        self._subscriber, self._words = subscriber, subscriber.words
        self._look_s = look_s
        self._on_scenario = on_scenario
        self._known = (0, 0)
        self.scenario = ""
        self.differences: list[str] = []

    def events(self, scenarios: Iterable[Scenario]) -> Iterator[SimEvent]:
        """The events of these scenarios, from before the table's first message. Raises TableStuckError."""
        for scenario in scenarios:
            yield from self.make_ready()
            self._known = (len(self._subscriber.verdicts), len(self._live.table.truth))
            self.scenario = scenario.name
            self._on_scenario(scenario)
            yield from self._live.play(scenario)

    def compare(self, *, whole: bool) -> None:
        """Compare the verdicts of the current scenario with its truth; not `whole`: those that have arrived."""
        if not self.scenario:
            return
        published = [verdict.name for verdict in self._subscriber.verdicts[self._known[0] :]]
        truth = [outcome_name(outcome) for outcome in self._live.table.truth[self._known[1] :]]
        if published != (truth if whole else truth[: len(published)]):
            played, arrived = (", ".join(names) or "nothing" for names in (truth, published))
            self.differences.append(f"{self.scenario}: played {played}; published {arrived}")

    def make_ready(self) -> Iterator[SimEvent]:
        """The chef looks at the table, does what its state requires, and looks again after each step, until a coup can
        begin. Raises TableStuckError."""
        yield from self._live.wait(self._look_s)
        self.compare(whole=True)
        self.scenario = ""
        for _ in range(STEPS_MAX):
            step = self._next_step()
            if step is None:
                return
            yield from step
            yield from self._live.wait(self._look_s)
        state = self._subscriber.table["state"] if self._subscriber.table else "nothing at all"
        raise TableStuckError(f"the table's state is {state}, whatever the chef does")

    def _next_step(self) -> list[SimEvent] | None:
        """What the published state requires; None when the next scenario can start."""
        table, live = self._subscriber.table, self._live
        if table is None:
            return live.wait(self._look_s)
        if not live.table.ball_is_in(table["last_number"]):
            live.table.last_number = table["last_number"]
            return live.play(SimTable.put_ball_back)
        word = {"suspended": "resume", "closed": "open"}.get(table["state"])
        if word is not None and table["failing"] == [PLACE]:
            placed = live.play(SimTable.put_ball_back)
            number, reason = live.table.lies_in, self._words.say("the ball lies there")
            return [*placed, *live.command(word, by="direction", reason=reason, number=number)]
        match table["state"]:
            case state if state in BUTTONS:
                return live.command(BUTTONS[state])
            case "suspended":
                return live.command("resume", by="direction", reason=self._words.say("the wheel is in order"))
            case state if state in READY:
                live.table.last_number = table["last_number"]  # somebody else may have played meanwhile
                return None
            case _:
                return live.command("rien_va", by="chef", reason=self._words.say("nobody can say where the ball is"))


def outcome_name(outcome: Outcome) -> str:
    """The name of an outcome, in the form of `Verdict.name`."""
    return f"result {outcome['number']}" if outcome["kind"] == "result" else f"void {outcome['cause']}"
