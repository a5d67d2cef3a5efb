"""The house round one daemon, which outlives it: wheel, sensor board, people, broker and settlement core.

No clock and no I/O: the daemon's process asks (`House.exchange`) and each time the house lives on for a moment. So the
house can stand in another process, which sees the daemon die wherever it was killed, or in the daemon's own.
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
from hw_sim.people import READY, outcome_name
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
"""Two turns of the sensor loop, well below what it would take for a stalled host."""
LOOK_US = 1_000_000
"""People look that long after what they did: a verdict is out by then, also one that a time-out makes."""
PATIENCE_US = 20_000_000
"""A daemon that lives so long after a button was pressed, and said nothing, has lost the press."""
CALM_US = 5_000_000
"""After the last coup: what is owed is published and acknowledged long before."""
STEPS_MAX = 2_000
"""Looks at a table that does not become ready: an hour."""


class Said(NamedTuple):
    """What the daemon hands out: bytes for the board; publications, each with a number of its own."""

    board: bytes
    published: list[tuple[int, str, bytes]]


class Told(NamedTuple):
    """What the daemon is told: its clocks, bytes of the board, messages of the broker, what it confirms."""

    now_ns: int
    utc_us: int
    board: bytes
    incoming: list[tuple[str, bytes]]
    confirmed: list[int]


@dataclass
class Round:
    """One scenario, and what had been before it: truths, verdicts heard, deaths of the daemon, and events that the
    board's ring lost because nobody took them."""

    name: str
    truth: int
    verdicts: int
    deaths: int
    overwritten: int


@dataclass
class Core:
    """A settlement core: the feed's own order, everything stored, an ack for each."""

    order: Order
    stored: list[FeedMessage] = field(default_factory=list)
    repeats: int = 0

    def take(self, leaf: str, payload: bytes, now_s: float) -> FeedMessage | None:
        """The message when it is the next one. Raises FeedError for one that is not to be believed."""
        message = read_message(leaf, payload, root=ROOT)
        if not self.order.take(message, now_s):
            self.repeats += 1
            return None
        self.stored.append(message)
        return message


class House:
    """Everything but the daemon. `plays` are the scenarios; the house is `done` when they are played and settled."""

    def __init__(self, seed: str, plays: Iterable[Scenario]) -> None:
        self.night = LiveTable(LAYOUT, repeatable(seed), FIRST_NUMBER)
        self.night.table.pause_factor = QUICK_PAUSE_FACTOR
        self.board = SimBoard(board_setup(LAYOUT))
        self.core = Core(Order(0, None, Manner(tell=self._trouble)))
        self.heard = Subscriber()
        self.replies: list[dict[str, Any]] = []
        self.rounds: list[Round] = []
        self.troubles: list[str] = []
        self.lost_presses: list[str] = []
        self.own_voids = 0
        """Voids that the chef said to get a table going again: of no scenario."""
        self.deaths = 0
        self.alive = False
        """Whether there is a daemon."""
        self.closing = False
        """No further scenario is begun."""
        self.rounds_max: int | None = None
        """So many scenarios, and then the people rest at a table that is ready for the next."""
        self.rested = False
        self.done = False
        self.step_us = STEP_US
        self.now_us = 0
        self.utc_step_us: Callable[[House], int] = _honest
        self._answers = 0
        self._born_us = 0
        self._plays = plays
        self._events = self._evening()
        self._next: SimEvent | None = next(self._events)
        self._incoming: list[tuple[str, bytes]] = []
        self._confirmed: list[int] = []

    # --- what the daemon sees ----------------------------------------------------------------------------------

    def hear(self, said: Said) -> None:
        """What the daemon hands out is with the house at once, whatever becomes of the daemon."""
        self.board.receive(said.board)
        for number, topic, payload in said.published:
            self._confirmed.append(number)
            self._published(topic.removeprefix(ROOT + "/"), payload)

    def exchange(self) -> Told | None:
        """The daemon has done all it can: live on for a moment, tell what it sees then; None when all is over."""
        if not self.alive:
            self.alive, self._born_us = True, self.now_us
        if self.done:
            return None
        self.live(self.step_us)
        question = self.core.order.question(self.now_us / 1e6)
        if question is not None:
            self._incoming.append(("cmd/resend", question))
        incoming, self._incoming = self._incoming, []
        confirmed, self._confirmed = self._confirmed, []
        return Told(self.now_us * 1_000, self.utc_us, self.board.data_to_send(), incoming, confirmed)

    @property
    def utc_us(self) -> int:
        """What the daemon's host believes."""
        return STARTED_UTC_US + self.now_us + self.utc_step_us(self)

    def died(self) -> None:
        """The daemon is gone, and what was on its way to it with it; the board and the broker stay."""
        self.deaths += 1
        self.alive = self.rested = False
        self._incoming.clear()
        self._confirmed.clear()

    def live(self, us: int) -> None:
        """Let time pass at the wheel."""
        until_us = self.now_us + us
        while self._next is not None and self._next.t_us <= until_us:
            # The people look at what they know at that time.
            self.now_us = max(self.now_us, self._next.t_us)
            if not isinstance(self._next, End):
                self.board.feed(self._next)
            self._next = next(self._events, None)
        self.now_us = until_us
        self.board.advance(until_us)

    def command(self, name: str, **more: object) -> None:
        """Someone sends a command through the broker."""
        asked = {"id": f"{name}-{self.now_us}", "by": "inspector", "reason": "a test", **more}
        self._incoming.append((f"cmd/{name}", json.dumps(asked).encode()))

    def _published(self, leaf: str, payload: bytes) -> None:
        if leaf in SEQUENCED:
            message = self.core.take(leaf, payload, self.now_us / 1e6)
            if message is not None:
                self._answers += 1
                self.heard.take(leaf, payload)
            self._incoming.append(("ack", b'{"seq":%d}' % (self.core.order.seq or 0)))
        elif leaf == "notice":
            self._answers += 1
        elif leaf == "reply":
            self.replies.append(json.loads(payload))
            self.core.order.answered(payload, self.now_us / 1e6)

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
            yield from self.night.play(play)
            yield from self.night.wait(LOOK_US / 1e6)
        yield from self._make_ready()
        yield from self._rest()
        while self._lives_us() < CALM_US:
            yield from self.night.wait(LOOK_US / 1e6)
        self.done = True

    def _so_far(self, name: str) -> Round:
        truth, told = self.night.table.truth, self.heard.verdicts
        return Round(name, len(truth), len(told), self.deaths, self.board._overwritten)

    def _rest(self) -> Iterator[SimEvent]:
        while self.rounds_max is not None and len(self.rounds) >= self.rounds_max:
            yield from self.night.wait(LOOK_US / 1e6)
            self.rested = self._lives_us() >= LOOK_US
        self.rested = False

    def _make_ready(self) -> Iterator[SimEvent]:
        for _ in range(STEPS_MAX):
            if self._lives_us() >= LOOK_US:  # what an earlier run owed has come by then
                step = self._next_step()
                if step is None:
                    return
                yield from self._and_see(*step)
            yield from self.night.wait(LOOK_US / 1e6)
        raise AssertionError(f"the table does not become ready: {self.heard.table}")

    def _and_see(self, name: str, events: list[SimEvent]) -> Iterator[SimEvent]:
        """Do it, and wait until the table says anything; a press that a long life of the daemon ignores is lost."""
        answers = self._answers
        yield from events
        pressed_us = self.now_us
        while name and self._answers == answers:
            if min(self.now_us - pressed_us, self._lives_us()) > PATIENCE_US:
                self.lost_presses.append(f"{name} at {pressed_us} µs, table {self.heard.table}")
                return
            yield from self.night.wait(LOOK_US / 1e6)

    def _lives_us(self) -> int:
        """How long there has been a daemon."""
        return self.now_us - self._born_us if self.alive else 0

    def _next_step(self) -> tuple[str, list[SimEvent]] | None:
        """What the published state asks for, with the name of the button; None when the game may go on."""
        table, night = self.heard.table, self.night
        if table is None:
            return "", night.wait(LOOK_US / 1e6)
        if not night.table.ball_is_in(table["last_number"]):
            night.table.last_number = table["last_number"]
            return "", night.play(SimTable.put_ball_back)
        match table["state"]:
            case "closed":
                return "open", night.command("open")
            case "operations":
                return "operations_done", night.command("operations_done")
            case "rien_va":
                return "tout_va", night.command("tout_va")
            case "suspended":
                return "resume", night.command("resume")
            case state if state in READY:
                return None
        self.own_voids += 1
        return "rien_va", night.command("rien_va")

    # --- the oracle --------------------------------------------------------------------------------------------

    def judge(self) -> Judgement:
        """Every scenario's verdicts against its truth, and the coups' numbers."""
        found = Judgement(problems=[*self.lost_presses])
        coups = [verdict.coup for verdict in self.heard.verdicts]
        if coups != list(range(1, len(coups) + 1)):
            found.problems.append(f"coups without exactly one verdict: {coups}")
        ends = [*self.rounds[1:], self._so_far("the end")]
        for this, after in zip(self.rounds, ends, strict=True):
            truth = [outcome_name(one) for one in self.night.table.truth[this.truth : after.truth]]
            told = [verdict.name for verdict in self.heard.verdicts[this.verdicts : after.verdicts]]
            killed, lost = after.deaths > this.deaths, after.overwritten > this.overwritten
            found.add(this.name, truth, told, killed=killed, lost=lost)
        return found


@dataclass
class Judgement:
    """What came of the rounds. A daemon that was killed in a coup may declare it void (N8), never make it another."""

    problems: list[str] = field(default_factory=list)
    whole: int = 0
    voids: Counter[str] = field(default_factory=Counter)
    unseen: int = 0

    def add(self, name: str, truth: list[str], told: list[str], *, killed: bool, lost: bool) -> None:
        """Hold one scenario's verdicts to its truth."""
        if told == truth:
            self.whole += 1
            return
        where = f"{name}: played {truth}, published {told}"
        if not killed:
            self.problems.append(f"{where}, though nobody was killed")
            return
        results = iter(truth)
        if not all(verdict in results for verdict in told if verdict.startswith("result")):
            self.problems.append(f"{where}: not what came out")
        elif len(told) > len(truth):
            self.problems.append(f"{where}: more verdicts than launches")
        elif len(told) < len(truth) and "void breakdown" not in told:
            # After a breakdown the table is suspended: what is launched then is no coup (docs/rulebook.md 6).
            self._unseen(where, [outcome for outcome in truth if outcome not in told], lost=lost)
        self.voids.update(verdict for verdict in told if verdict not in truth)

    def _unseen(self, where: str, missing: list[str], *, lost: bool) -> None:
        """Of a weak or an early launch a daemon that died may have seen nothing; it was no valid coup anyway. Of what
        the board had to forget, because no daemon lived for long enough, nobody can know."""
        self.unseen += len(missing)
        if not lost and any(outcome.startswith("result") for outcome in missing):
            self.problems.append(f"{where}: a coup that stood has no verdict")


def _honest(_: House) -> int:
    return 0


def shuffled(seed: str, plays: list[Scenario]) -> Iterator[Scenario]:
    """`plays` by their weights, without end."""
    luck = random.Random(seed)
    while True:
        yield from luck.choices(plays, [play.weight for play in plays])
