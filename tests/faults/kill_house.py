"""A simulated house: wheel, sensor board, people, broker and settlement core. It stays when its daemon is killed.

It has no clock and no I/O. The daemon's process calls `House.exchange`, and each call lets a moment pass in the house.
So the house can be in another process, which sees the daemon end wherever it was killed, or in the daemon's own.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hw_sim.board import SimBoard
from hw_sim.configuration import board_setup
from hw_sim.demo import LAYOUT
from hw_sim.evening import repeatable
from hw_sim.events import End, SimEvent
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable
from hw_sim.people import outcome_name
from hw_sim.scenarios import Scenario
from hw_sim.subscriber import Subscriber
from hw_sim.table import SimTable
from wheeld.feed import SEQUENCED, FeedMessage, Manner
from wheeld.feed.message import read_message
from wheeld.feed.order import Order

ROOT = "wheel/v1/house/wheel-1"
FIRST_NUMBER = 17
STARTED_UTC_US = 1_800_000_000_000_000
STEP_US = 40_000
"""Two turns of the sensor loop, well below what counts as a stalled host."""
LOOK_US = 1_000_000
"""How long people wait after an action: a verdict is published by then, also one that a time-out makes."""
PATIENCE_US = 20_000_000
"""A daemon that runs so long after a button was pressed, and publishes nothing, has lost the press."""
CALM_US = 5_000_000
"""Time after the last coup; what is owed is published and acknowledged long before its end."""
STEPS_MAX = 2_000
"""How often people look at a table that does not become ready: an hour."""
NEXT_BUTTON = {"closed": "open", "operations": "operations_done", "rien_va": "tout_va", "suspended": "resume"}
"""What makes the table ready, by its state. In other states a coup is on, and the chef declares it void."""


class DaemonOutput(NamedTuple):
    """What the daemon sends: bytes for the board; publications, each with a number of its own."""

    board: bytes
    published: list[tuple[int, str, bytes]]


class DaemonInput(NamedTuple):
    """What the daemon receives: its clocks, bytes of the board, messages of the broker, confirmed publications."""

    now_ns: int
    utc_us: int
    board: bytes
    incoming: list[tuple[str, bytes]]
    confirmed: list[int]


@dataclass
class Round:
    """One scenario, and the counts before it: true outcomes, published verdicts, kills of the daemon, and
    events that the board's ring lost because no daemon read them."""

    name: str
    truth: int
    verdicts: int
    deaths: int
    overwritten: int


@dataclass
class SettlementCore:
    """A settlement core: the feed's own order, everything stored, an ack for each."""

    order: Order
    stored: list[FeedMessage] = field(default_factory=list)
    repeats: int = 0

    def take(self, leaf: str, payload: bytes, now_s: float) -> FeedMessage | None:
        """The message when it is the next one. Raises FeedError for one that is not acceptable."""
        message = read_message(leaf, payload, root=ROOT)
        if not self.order.take(message, now_s):
            self.repeats += 1
            return None
        self.stored.append(message)
        return message


class House:
    """Everything but the daemon. `plays` are the scenarios; the house is `done` when they are played and settled."""

    def __init__(self, seed: str, plays: Iterable[Scenario]) -> None:
        self.live_table = LiveTable(LAYOUT, repeatable(seed), FIRST_NUMBER)
        self.live_table.table.pause_factor = QUICK_PAUSE_FACTOR
        self.board = SimBoard(board_setup(LAYOUT))
        self.core = SettlementCore(Order(0, None, Manner(tell=self._trouble)))
        self.subscriber = Subscriber()
        self.replies: list[dict[str, Any]] = []
        self.rounds: list[Round] = []
        self.troubles: list[str] = []
        self.lost_presses: list[str] = []
        self.own_voids = 0
        """Voids that the chef declared to make the table ready again; they belong to no scenario."""
        self.deaths = 0
        self.daemon_runs = False
        self.closing = False
        """No other scenario is started."""
        self.rounds_max: int | None = None
        """After so many scenarios the people rest at a table that is ready for the next."""
        self.rested = False
        self.done = False
        self.step_us = STEP_US
        self.now_us = 0
        self.utc_step_us: Callable[[House], int] = _no_step
        self._answers = 0
        self._daemon_start_us = 0
        self._plays = plays
        self._events = self._evening()
        self._next: SimEvent | None = next(self._events)
        self._incoming: list[tuple[str, bytes]] = []
        self._confirmed: list[int] = []

    # --- the daemon's ports ------------------------------------------------------------------------------------

    def receive(self, output: DaemonOutput) -> None:
        """Take what the daemon sends. It arrives at once, so a kill afterwards does not lose it."""
        self.board.receive(output.board)
        for number, topic, payload in output.published:
            self._confirmed.append(number)
            self._published(topic.removeprefix(ROOT + "/"), payload)

    def exchange(self) -> DaemonInput | None:
        """The daemon has nothing to do: let a moment pass. Returns what the daemon sees then; None when all is over."""
        if not self.daemon_runs:
            self.daemon_runs, self._daemon_start_us = True, self.now_us
        if self.done:
            return None
        self.advance(self.step_us)
        question = self.core.order.question(self.now_us / 1e6)
        if question is not None:
            self._incoming.append(("cmd/settlement/resend", question))
        incoming, self._incoming = self._incoming, []
        confirmed, self._confirmed = self._confirmed, []
        return DaemonInput(self.now_us * 1_000, self.utc_us, self.board.data_to_send(), incoming, confirmed)

    @property
    def utc_us(self) -> int:
        """The date of the daemon's host."""
        return STARTED_UTC_US + self.now_us + self.utc_step_us(self)

    def daemon_died(self) -> None:
        """The daemon is gone, and what was on its way to it is lost; the board and the broker stay."""
        self.deaths += 1
        self.daemon_runs = self.rested = False
        self._incoming.clear()
        self._confirmed.clear()

    def advance(self, us: int) -> None:
        """Let time pass at the wheel."""
        until_us = self.now_us + us
        while self._next is not None and self._next.t_us <= until_us:
            # The people decide by what they know at that time.
            self.now_us = max(self.now_us, self._next.t_us)
            if not isinstance(self._next, End):
                self.board.feed(self._next)
            self._next = next(self._events, None)
        self.now_us = until_us
        self.board.advance(until_us)

    def command(self, name: str, **more: object) -> None:
        """Someone sends a command through the broker."""
        asked = {"id": f"{name}-{self.now_us}", "by": "inspector", "reason": "a test", **more}
        user = "settlement" if name == "resend" else "chef-wheel-1"
        self._incoming.append((f"cmd/{user}/{name}", json.dumps(asked).encode()))

    def _published(self, leaf: str, payload: bytes) -> None:
        if leaf in SEQUENCED:
            message = self.core.take(leaf, payload, self.now_us / 1e6)
            if message is not None:
                self._answers += 1
                self.subscriber.take(leaf, payload)
            self._incoming.append(("ack", b'{"seq":%d}' % (self.core.order.seq or 0)))
        elif leaf == "notice":
            self._answers += 1
        elif leaf == "reply":
            self.replies.append(json.loads(payload))
            self.core.order.answered(payload)

    def _trouble(self, text: str) -> None:
        self.troubles.append(text)

    # --- the people --------------------------------------------------------------------------------------------

    def _evening(self) -> Iterator[SimEvent]:
        for play in self._plays:
            if self.closing:
                break
            yield from self._make_ready()
            yield from self._rest()
            self.rounds.append(self._so_far(play.name))
            yield from self.live_table.play(play)
            yield from self.live_table.wait(LOOK_US / 1e6)
        yield from self._make_ready()
        yield from self._rest()
        while self._daemon_age_us() < CALM_US:
            yield from self.live_table.wait(LOOK_US / 1e6)
        self.done = True

    def _so_far(self, name: str) -> Round:
        truth, verdicts = self.live_table.table.truth, self.subscriber.verdicts
        return Round(name, len(truth), len(verdicts), self.deaths, self.board._overwritten)

    def _rest(self) -> Iterator[SimEvent]:
        while self.rounds_max is not None and len(self.rounds) >= self.rounds_max:
            yield from self.live_table.wait(LOOK_US / 1e6)
            self.rested = self._daemon_age_us() >= LOOK_US
        self.rested = False

    def _make_ready(self) -> Iterator[SimEvent]:
        for _ in range(STEPS_MAX):
            if self._daemon_age_us() >= LOOK_US:  # what an earlier run owed has arrived by then
                step = self._next_step()
                if step is None:
                    return
                yield from self._do_and_wait(*step)
            yield from self.live_table.wait(LOOK_US / 1e6)
        raise AssertionError(f"the table does not become ready: {self.subscriber.table}")

    def _do_and_wait(self, name: str, events: list[SimEvent]) -> Iterator[SimEvent]:
        """Do it, and wait until the table publishes anything. If a daemon that runs for long publishes
        nothing, the press is lost."""
        answers = self._answers
        yield from events
        pressed_us = self.now_us
        while name and self._answers == answers:
            if min(self.now_us - pressed_us, self._daemon_age_us()) > PATIENCE_US:
                self.lost_presses.append(f"{name} at {pressed_us} µs, table {self.subscriber.table}")
                return
            yield from self.live_table.wait(LOOK_US / 1e6)

    def _daemon_age_us(self) -> int:
        """How long the daemon has run; 0 when there is none."""
        return self.now_us - self._daemon_start_us if self.daemon_runs else 0

    def _next_step(self) -> tuple[str, list[SimEvent]] | None:
        """The events that the published state needs, with the name of the button; None when the game may go on."""
        table, live = self.subscriber.table, self.live_table
        if table is None:
            return "", live.wait(LOOK_US / 1e6)
        seen, truth = table.get("number_awaiting_chef"), live.table.truth
        if seen is not None and truth and outcome_name(truth[-1]) == f"result {seen}":
            self.command("confirm", coup=table["coup"], number=seen)  # what he saw himself
            return "confirm", live.wait(LOOK_US / 1e6)
        if not live.table.ball_is_in(table["last_number"]):
            live.table.last_number = table["last_number"]
            return "", live.play(SimTable.put_ball_back)
        if table["state"] in ("faites_vos_jeux", "rien_ne_va_plus"):  # in the second the launch may still follow
            return None
        if table["state"] in NEXT_BUTTON:
            name = NEXT_BUTTON[table["state"]]
            return name, live.command(name)
        self.own_voids += 1
        return "rien_va", live.command("rien_va")

    # --- the check ---------------------------------------------------------------------------------------------

    def check_verdicts(self) -> VerdictCheck:
        """Compare the verdicts of every scenario with its true outcomes, and check the coups' numbers."""
        found = VerdictCheck(problems=[*self.lost_presses])
        coups = [verdict.coup for verdict in self.subscriber.verdicts]
        if coups != list(range(1, len(coups) + 1)):
            found.problems.append(f"coups without exactly one verdict: {coups}")
        ends = [*self.rounds[1:], self._so_far("the end")]
        for this, after in zip(self.rounds, ends, strict=True):
            truth = [outcome_name(one) for one in self.live_table.table.truth[this.truth : after.truth]]
            published = [verdict.name for verdict in self.subscriber.verdicts[this.verdicts : after.verdicts]]
            killed, lost = after.deaths > this.deaths, after.overwritten > this.overwritten
            found.add(this.name, truth, published, killed=killed, lost=lost)
        return found


@dataclass
class VerdictCheck:
    """The comparison of all rounds. A daemon that was killed in a coup may declare it void (N8), but never give it
    another result."""

    problems: list[str] = field(default_factory=list)
    whole: int = 0
    voids: Counter[str] = field(default_factory=Counter)
    unseen: int = 0

    def add(self, name: str, truth: list[str], published: list[str], *, killed: bool, lost: bool) -> None:
        """Compare the verdicts of one scenario with its true outcomes."""
        if published == truth:
            self.whole += 1
            return
        where = f"{name}: played {truth}, published {published}"
        if not killed:
            self.problems.append(f"{where}, though no daemon was killed")
            return
        results = iter(truth)
        if not all(verdict in results for verdict in published if verdict.startswith("result")):
            self.problems.append(f"{where}: not what came out")
        elif len(published) > len(truth):
            self.problems.append(f"{where}: more verdicts than launches")
        elif len(published) < len(truth) and "void breakdown" not in published:
            # After a breakdown the table is suspended: what is launched then is no coup (docs/rulebook.md 6).
            self._unseen(where, [outcome for outcome in truth if outcome not in published], lost=lost)
        self.voids.update(verdict for verdict in published if verdict not in truth)

    def _unseen(self, where: str, missing: list[str], *, lost: bool) -> None:
        """A daemon that was killed may have seen nothing of a weak or an early launch; that was no valid coup anyway.
        It also cannot know the events that the board overwrote because no daemon ran for long enough."""
        self.unseen += len(missing)
        if not lost and any(outcome.startswith("result") for outcome in missing):
            self.problems.append(f"{where}: a valid coup has no verdict")


def _no_step(_: House) -> int:
    return 0


def shuffled(seed: str, plays: list[Scenario]) -> Iterator[Scenario]:
    """Random scenarios from `plays` by their weights, without end."""
    rng = random.Random(seed)
    while True:
        yield from rng.choices(plays, [play.weight for play in plays])
