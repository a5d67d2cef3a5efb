"""The people at a simulated table, who read its messages. They play scenarios, and before each one they do what the
table waits for.

A script alone would continue at a table that is suspended, for example after a restart during a coup. It would not
notice that the chef must confirm a number, or that the angle of the pockets is unknown. A table always publishes the
steps that lead to the next coup (`waiting_codes`). So people need no rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hw_sim.events import SimEvent
from hw_sim.live_table import LiveTable
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Payload, Subscriber
from hw_sim.table import ROTOR_RPM, Outcome, SimTable
from hw_sim.wheel import printed

STEPS_MAX = 30
"""From any state a few steps lead to "faites vos jeux". After this many steps the table is stuck."""
PATIENCE = 8
"""How often people look for a number that does not come. Then the chef says "rien va", because nobody can say where the
ball is."""
PLACE = "rotor/place"
"""If the table has this in `failing`, the angle of the pockets is unknown until a person names the ball's pocket."""
WAITS = ("repair", "start_wheel", "ball_at_rest", "object_level")
"""Steps that end by themselves or need a technician. The steps after them must wait. But if only PLACE fails, a
person's command is the repair."""
DONE = (
    "repair",
    "clear_object",
    "put_back",
    "turn_rotor",
    "confirm",
    "number",
    "fall_or_stop",
    "tout_va",
    "operations_done",
    "open",
    "resume",
)
"""The steps that people do."""
ROTOR_KEPT_REV_S = 0.8 * ROTOR_RPM[0] / 60
"""Readers see a lying ball soon if the rotor has at least this speed. People push a slower rotor."""
CLEAR_S = 1.0
"""The time in which a hand takes an object out of the cylinder."""


class TableStuckError(Exception):
    """The table does not get to "faites vos jeux", whatever the chef does."""


def give_up(stuck: TableStuckError) -> None:
    """Raise `stuck`, so that nobody tries again."""
    raise stuck


class People:
    """Chef, bouler and the hand that carries the ball. `look_s`: the simulated seconds until the table has published
    everything about an event.

    `on_scenario` is called with each scenario at its start, and `on_stuck` when the table is stuck. If `on_stuck`
    returns, people try again. `differences` describes each difference between verdicts and truth.
    """

    def __init__(
        self,
        live: LiveTable,
        subscriber: Subscriber,
        *,
        look_s: float,
        on_scenario: Callable[[Scenario], None],
        on_stuck: Callable[[TableStuckError], None] = give_up,
    ) -> None:
        self._live = live
        self._subscriber, self._words = subscriber, subscriber.words
        self._look_s = look_s
        self._on_scenario, self._on_stuck = on_scenario, on_stuck
        self._known = (0, 0)
        self.scenario = ""
        self.differences: list[str] = []

    def events(self, scenarios: Iterable[Scenario]) -> Iterator[SimEvent]:
        """Yield the events of these scenarios. The first events may come before the table's first message."""
        for scenario in scenarios:
            yield from self.make_ready()
            self._on_scenario(scenario)
            self._known = (len(self._subscriber.verdicts), len(self._live.table.truth))
            self.scenario = scenario.name
            yield from self._live.play(scenario)

    def compare(self, *, whole: bool) -> None:
        """Compare the verdicts of the current scenario with its truth. If not `whole`, more verdicts may still come."""
        if not self.scenario:
            return
        published = [verdict.name for verdict in self._subscriber.verdicts[self._known[0] :]]
        truth = [outcome_name(outcome) for outcome in self._live.table.truth[self._known[1] :]]
        if published != (truth if whole else truth[: len(published)]):
            played, arrived = (", ".join(names) or "nothing" for names in (truth, published))
            self.differences.append(f"{self.scenario}: played {played}; published {arrived}")

    def make_ready(self) -> Iterator[SimEvent]:
        """Do what the table waits for, and look at its message after each step, until a coup can begin."""
        yield from self._live.wait(self._look_s)
        self.compare(whole=True)
        self.scenario = ""
        did: list[str] = []
        while (code := self._awaited()) != "launch":
            did.append(code)
            yield from self._do(code, did.count(code))
            yield from self._live.wait(self._look_s)
            if len(did) == STEPS_MAX:
                self._on_stuck(TableStuckError(f"{told_of(self._subscriber.table)}, whatever the chef does"))
                did.clear()

    def _awaited(self) -> str:
        """Return the first step that the table waits for and people can do. "" if there is none."""
        table, live = self._subscriber.table, self._live.table
        if table is None:
            return ""
        for code in table["waiting_codes"]:
            if code == "launch":
                live.last_number = table["last_number"]  # other people may have played since the last scenario
                return "launch" if self._is_back else "put_back"
            if code in WAITS and not (code == "repair" and table["failing"] == [PLACE]):
                return ""
            if code in DONE:
                return str(code)
        return ""

    def _do(self, code: str, times: int) -> list[SimEvent]:
        """Do the step `code`, for the `times`th time. Returns its events."""
        live, say, does = self._live, self._words.say, list[SimEvent]()
        match code:
            case "put_back" if times > 1 and self._is_back:
                # The ball lies in the right pocket, but the readers show it in another pocket.
                does += live.command("suspend", by="direction", reason=say("the ball lies there"))
                does += [*live.wait(self._look_s), *self._name_pocket("resume")]
            case "put_back":
                does += live.play(self._put_back)
            case "turn_rotor":
                does += live.play(SimTable.spin_rotor)
            case "clear_object":
                does += live.play(_clear)
            case "repair":
                shown = self._subscriber.table
                word = "open" if shown is not None and shown["state"] == "closed" else "resume"
                does += [*live.play(self._put_back), *self._name_pocket(word)]
            case "resume":
                does += live.command(code, by="direction", reason=say("the wheel is in order"))
            case "open" | "tout_va" | "operations_done":
                does += live.command(code)
            case "confirm" if (number := live.table.lies_in) is not None:
                does += live.play(lambda table: table.confirm(number, say("the ball lies there")))
            case "confirm" | "number" | "fall_or_stop" if code == "confirm" or times > PATIENCE:
                does += live.command("rien_va", by="chef", reason=say("nobody can say where the ball is"))
        return does

    def _name_pocket(self, word: str) -> list[SimEvent]:
        number, reason = self._live.table.lies_in, self._words.say("the ball lies there")
        return self._live.command(word, by="direction", reason=reason, number=number)

    @property
    def _is_back(self) -> bool:
        shown = self._subscriber.table
        return shown is not None and self._live.table.ball_is_in(shown["last_number"])

    def _put_back(self, table: SimTable) -> None:
        """Put the ball in the pocket that the table names, and wait until the readers see it there."""
        shown = self._subscriber.table
        table.last_number = None if shown is None else shown["last_number"]
        if abs(table.world.rotor.speed_at(table.now_s)) < ROTOR_KEPT_REV_S:
            table.spin_rotor()
        table.put_ball_back()


def _clear(table: SimTable) -> None:
    table.now_s += CLEAR_S
    table.foreign_object(present=False)


def told_of(table: Payload | None) -> str:
    """Describe the table's state from its last message."""
    if table is None:
        return "the table has published nothing"
    waits, failing = (", ".join(table[name]) or "nothing" for name in ("waiting_codes", "failing"))
    return f"the table's state is {table['state']}, it waits for {waits}, and {failing} fails"


def outcome_name(outcome: Outcome) -> str:
    """Return the name of an outcome, as `ToldVerdict.name` has it."""
    return f"result {printed(outcome['number'])}" if outcome["kind"] == "result" else f"void {outcome['cause']}"
