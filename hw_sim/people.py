"""The people at the demo's table: they play scenarios, but look at what the table publishes before each one.

A script alone would go on playing at a table that is suspended, after a restart in mid-coup for example. So before each
scenario the chef does what the published state asks for: resumes, has the ball put back, says "tout va", opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hw_sim.events import SimEvent
from hw_sim.live_table import LiveTable
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber
from hw_sim.table import Outcome, SimTable

STEPS_MAX = 20
"""From any state three or four steps lead to "faites vos jeux"; a table that needs so many does not obey."""
READY = ("faites_vos_jeux", "rien_ne_va_plus")
"""The second is said early sometimes, and the launch is then still to come."""


class TableStuckError(Exception):
    """The table does not come to "faites vos jeux", whatever the chef does."""


class People:
    """Chef, bouler and the hand that carries the ball. `look_s`: simulated seconds until what happened is published.

    `tell` is given each scenario as it begins. `differences` lists where the verdicts were not what was played.
    """

    def __init__(
        self, live: LiveTable, subscriber: Subscriber, *, look_s: float, tell: Callable[[Scenario], None]
    ) -> None:
        self._live = live
        self._subscriber = subscriber
        self._look_s = look_s
        self._tell = tell
        self._known = (0, 0)
        self.scenario = ""
        self.differences: list[str] = []

    def evening(self, plays: Iterable[Scenario]) -> Iterator[SimEvent]:
        """Their evening's events, from before the table says anything. Raises TableStuckError."""
        for play in plays:
            yield from self._live.wait(self._look_s)
            self.compare(whole=True)
            yield from self._make_ready()
            self._known = (len(self._subscriber.verdicts), len(self._live.table.truth))
            self.scenario = play.name
            self._tell(play)
            yield from self._live.play(play)

    def compare(self, *, whole: bool) -> None:
        """Hold the verdicts of the scenario in progress against its truth; not `whole`: as far as they have come."""
        if not self.scenario:
            return
        published = [verdict.name for verdict in self._subscriber.verdicts[self._known[0] :]]
        truth = [outcome_name(outcome) for outcome in self._live.table.truth[self._known[1] :]]
        if published != (truth if whole else truth[: len(published)]):
            played, told = (", ".join(names) or "nothing" for names in (truth, published))
            self.differences.append(f"{self.scenario}: played {played}; published {told}")

    def _make_ready(self) -> Iterator[SimEvent]:
        """The chef does what is owed, one look after each step."""
        self.scenario = ""
        for _ in range(STEPS_MAX):
            step = self._next_step()
            if step is None:
                return
            yield from step
            yield from self._live.wait(self._look_s)
        state = self._subscriber.table["state"] if self._subscriber.table else "nothing at all"
        raise TableStuckError(f"the table says {state}, whatever the chef does")

    def _next_step(self) -> list[SimEvent] | None:
        """What the published state asks for; None when the game may go on."""
        table, live = self._subscriber.table, self._live
        if table is None:
            return live.wait(self._look_s)
        if not live.table.ball_is_in(table["last_number"]):
            live.table.last_number = table["last_number"]
            return live.play(SimTable.put_ball_back)
        match table["state"]:
            case "closed":
                return live.command("open")
            case "operations":
                return live.command("operations_done", by="table")
            case "rien_va":
                return live.command("tout_va")
            case "suspended":
                return live.command("resume", by="inspector", reason="the wheel is in order")
            case state if state in READY:
                return None
            case _:
                return live.command("rien_va", by="chef", reason="nobody can say where the ball is")


def outcome_name(outcome: Outcome) -> str:
    """The truth of a coup in the words of `Verdict.name`."""
    return f"result {outcome['number']}" if outcome["kind"] == "result" else f"void {outcome['cause']}"
