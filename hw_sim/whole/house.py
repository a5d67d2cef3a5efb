"""A simulated house: wheel, board, lines, power, broker, people and settlement core, but no daemon.

Whoever runs the daemon connects it to `lines` or `wires`, `broker` and `computer`. To play the evening, run `timeline`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from itertools import zip_longest

import msgspec

from hw_sim.board import SimBoard
from hw_sim.cable import Cable
from hw_sim.cammegh.coups import Model
from hw_sim.configuration import board_setup
from hw_sim.evening import repeatable
from hw_sim.events import End, ForeignObject, Sighting, SimEvent, TableCommand
from hw_sim.live_table import LiveTable
from hw_sim.people import outcome_name
from hw_sim.rotor import SimRotor
from hw_sim.scenarios import SCENARIOS
from hw_sim.table import SimTable
from hw_sim.wheel import LAPS_NEEDED, BallRun
from hw_sim.whole.broker import SimBroker
from hw_sim.whole.computer import SimComputer
from hw_sim.whole.faults import Faults
from hw_sim.whole.heads import WatchedHead
from hw_sim.whole.line import SimLine
from hw_sim.whole.people import TABLE, HousePeople, SimPanel
from hw_sim.whole.plan import BOARDS, HEADS, HEADS_ALONE, LAYOUTS, WIRED, EveningPlan
from hw_sim.whole.settlement import Settlement
from hw_sim.whole.sight import SimSight
from hw_sim.whole.timeline import Timeline
from hw_sim.whole.wires import BUTTONS, SimWires
from hw_sim.whole.witness import FirstTaken, Round, TrueCoup, TrueRun, Witness
from hw_sim.world import us

ROOT = f"wheel/v1/house/{TABLE}/"
FIRST_NUMBER = 17
PAUSE_FACTOR = 0.15
"""This factor makes the pauses of people shorter, because long pauses cost time and test nothing."""
ANSWER_S = 3.5
"""How long a person waits for an answer. The daemon answers every command except "tout va" sooner."""
VERDICT_S = 5.0
"""How long people wait after a scenario for what the daemon publishes."""
TAIL_S = 10.0
"""How long nobody does anything at the end. The daemon must then publish nothing."""
ROTOR_STEP_S = 0.1
ROTOR_STOPS_REV_S = 0.001
SAYS_US = 300_000
"""The time from the moment when a hand stops a running ball to the chef's command."""
THIRD_OF_LAP_DEG = 120
LAST = "valid"
"""The scenario at the end of each evening. The daemon must publish a result for it if it has recovered."""


class WitnessedTable(SimTable):
    """A table that reports its valid coups, and each ball that a hand stops. `coup` gets launch, rest and number of a
    valid coup, and `stopped` the time at which a hand stops a ball."""

    coup: Callable[[int, int, int], None]
    stopped: Callable[[int], None]

    def block_ball(self) -> None:
        """Let a hand stop the running ball now and keep it."""
        self.stopped(us(self.now_s))
        super().block_ball()

    def number_out(self, number: int) -> None:
        """Report that the coup is valid."""
        self.coup(us(self.run.t_s), us(self.world.stays[-1].from_s), number)
        super().number_out(number)


class House:
    """One evening of `plan`, until `is_done`."""

    def __init__(self, plan: EveningPlan) -> None:
        self.plan = plan
        self.timeline = Timeline()
        self.witness = Witness()
        layout = LAYOUTS[plan.source]
        self.live = LiveTable(layout, repeatable(f"{plan.seed} table"), FIRST_NUMBER)
        table = WitnessedTable(layout, self.live.table.rng, FIRST_NUMBER)
        table.pause_factor = PAUSE_FACTOR
        table.coup, table.stopped = self._coup, self._stopped
        self.live.table = table
        self.round = -1
        self.computer = SimComputer(self.timeline, self.witness)
        board = SimBoard(board_setup(layout), cable=Cable(hash_of(plan.seed)))
        model = Model.MERCURY_360 if plan.source == "mercury" else Model.SLINGSHOT_2
        rng, cable = repeatable(f"{plan.seed} head"), Cable(hash_of(f"{plan.seed} head"))
        self.board, self.head = board, WatchedHead(model, lambda: table.world, rng, cable)
        self.lines: dict[str, SimLine] = {}
        """The lines, by the name of the port."""
        if plan.source in BOARDS:
            self.lines["board"] = SimLine(self.timeline, board)
        if plan.source in HEADS:
            self.lines["head"] = SimLine(self.timeline, self.head)
        self.wires = SimWires(layout, self.computer.monotonic_ns, lambda: table.world, self.timeline)
        self.sensors = self.wires if plan.source in WIRED else next(iter(self.lines.values()))
        self.sight = SimSight(self.timeline, layout.rotor_ticks, self.sensors.feed)
        self.broker = SimBroker(self.timeline)
        self.broker.listeners.append(self._hear)
        self.settlement = Settlement(self._publish)
        is_date_right = all(fault.kind != "utc_step" for fault in plan.faults)
        says_when = is_date_right and hash_of(f"{plan.seed} panel") % 2 == 0
        self.panel = SimPanel(self.timeline, self.witness, self._publish, says_when=says_when)
        self.people = HousePeople(self)
        self.faults = Faults(self)
        self.is_done = False
        self._seen: set[bytes] = set()
        self._launched: set[int] = set()
        """The launch times (µs) of the coups that the witness has recorded."""
        self._events = self._evening()
        self._look()
        self._go_on()

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def now_us(self) -> int:
        """The time of the timeline."""
        return self.timeline.now_us

    def _go_on(self) -> None:
        """Plan the next event of the wheel. Only at this moment people decide what they do next, by what was
        published."""
        event = next(self._events, None)
        if event is None:
            self.is_done = True
            self.computer.kill()
            return

        def happen() -> None:
            has_buttons = self.plan.source not in HEADS_ALONE
            match event:
                case End():
                    pass
                case TableCommand(name=name) if event.reason or event.who or name not in BUTTONS or not has_buttons:
                    self._say(event)
                case ForeignObject(present=present):
                    self.put_object(present=present)
                case _:
                    if isinstance(event, Sighting):
                        self.witness.sightings.append(event.t_us)
                    self.sight.see(event)
            self._go_on()

        self.timeline.at(event.t_us, happen)

    def _say(self, command: TableCommand) -> None:
        """Give a command at a panel. If no answer comes, press the board's button for it ("rien va" for "suspend" and
        "close")."""
        word = self.panel.give(
            command.name, by=command.by, reason=command.reason, who=command.who, number=command.number
        )

        def press() -> None:
            if word.reply is None:
                name = "rien_va" if command.name in ("suspend", "close") else command.name
                self.sensors.feed(msgspec.structs.replace(command, name=name, t_us=self.now_us))

        self.timeline.after_s(ANSWER_S if word.is_taken else 0.2, press)

    def put_object(self, *, present: bool) -> None:
        """Let a foreign object fall in the cylinder, or let a hand take it out."""
        (self.witness.begins if present else self.witness.ends)("object", self.now_us)
        self.sensors.feed(ForeignObject(self.now_us, present))

    # --- the evening -------------------------------------------------------------------------------------------------

    def _evening(self) -> Iterator[SimEvent]:
        for index, coup in enumerate(self.plan.coups):
            yield from self.people.make_ready(coup.manner)
            yield from self._play(index, coup.scenario)
            yield from self.live.wait(VERDICT_S)
        while not self.faults.are_over:
            yield from self.live.wait(1.0)
        yield from self.people.make_ready("prompt")
        yield from self._play(len(self.plan.coups), LAST)
        yield from self.live.wait(VERDICT_S)
        if self.plan.source == "slingshot":
            yield from self.people.make_ready("prompt")  # the chef must confirm each number of this wheel
        self.witness.begins("tail", self.now_us)
        yield from self.live.wait(TAIL_S)

    def _play(self, index: int, scenario: str) -> Iterator[SimEvent]:
        # Each coup has its own seed, so that the evening of a plan with one fault less is otherwise the same.
        self.live.table.rng.seed(f"{self.plan.seed} coup {index}")
        self.round = index
        if self.witness.rounds:
            self.witness.rounds[-1].to_us = self.now_us
        before = len(self.live.table.truth)
        events = self.live.play(SCENARIOS[scenario])
        # Each fault of this coup is planned from one of these moments: the start, the first launch, or the first rest
        # after that launch.
        world, start_us = self.live.table.world, self.now_us
        launch_us = min((us(run.t_s) for run in world.runs if us(run.t_s) >= start_us), default=start_us)
        rest_us = min((us(stay.from_s) for stay in world.stays if us(stay.from_s) > launch_us), default=start_us)
        self.faults.of_coup(index, {"start": start_us, "launch": launch_us, "rest": rest_us})
        truth = [outcome_name(one) for one in self.live.table.truth[before:]]
        self.witness.rounds.append(Round(index, self.now_us, truth))
        # Record each ball that came to rest after a valid run, whatever people commanded, because a command may be
        # lost.
        runs = [run for run in world.runs if us(run.t_s) >= self.now_us]
        for run, following in zip_longest(runs, runs[1:]):
            until_s = math.inf if following is None else following.t_s
            if run.laps >= LAPS_NEEDED:
                beams_deg = self.live.table.layout.beams_deg
                (_, first), second, *others = run.passes(beams_deg)
                apart_deg = (
                    (s, (beams_deg[beam] - beams_deg[first]) * run.turning % 360) for s, beam in (second, *others)
                )
                third_s = next(s for s, deg in apart_deg if deg == 0 or deg >= THIRD_OF_LAP_DEG)
                self.witness.runs.append(TrueRun(us(run.t_s), us(run.end_s), us(second[0]), us(third_s)))
            fallen = next((one for one in world.falls if run.t_s < one.rest_s < until_s), None)
            if fallen is not None and us(run.t_s) not in self._launched and _is_valid(run, fallen.rest_s, world.rotor):
                self._coup(us(run.t_s), us(fallen.rest_s), fallen.number)
        self.witness.coups.sort(key=lambda coup: coup.rest_us)
        yield from events

    def _coup(self, launch_us: int, rest_us: int, number: int) -> None:
        self._launched.add(launch_us)
        self.witness.coups.append(TrueCoup(self.round, launch_us, rest_us, number))

    def _stopped(self, t_us: int) -> None:
        self.timeline.at(t_us + SAYS_US, self.people.stopped_the_ball)

    # --- messages ----------------------------------------------------------------------------------------------------

    def _publish(self, leaf: str, payload: bytes) -> bool:
        return self.broker.publish(ROOT + leaf, payload)

    def _hear(self, topic: str, payload: bytes) -> None:
        leaf = topic.removeprefix(ROOT)
        if leaf.startswith(("cmd/", "ack")):
            return
        if leaf in ("result", "void", "table", "notice") and payload not in self._seen:
            self._seen.add(payload)
            self.witness.published.append(FirstTaken(self.now_us, leaf, payload, json.loads(payload)))
        self.panel.hear(leaf, payload)
        self.settlement.take(leaf, payload, self.now_us / 1e6)

    # --- what the witness records ------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Record, twice a second, whether lines, broker and daemon work and whether bets are shown as open."""
        t_us, witness = self.now_us, self.witness
        observers: list[SimLine | SimWires] = [*self.lines.values()] or [self.wires]
        self.head.advance(t_us)
        table = self.broker.retained.get(ROOT + "table")
        shows_open = table is not None and json.loads(table)["bets"] == "open"
        for what, is_so in (
            ("blind", any(one.is_blind for one in observers)),
            ("board off", not all(one.has_power for one in observers)),
            ("shown open", shows_open and self._is_online),
            ("cut off", not self._is_connected),
            ("daemon unwell", not self.computer.is_well or not self._is_connected),
        ):
            (witness.begins if is_so else witness.ends)(what, t_us)
        if self.broker.is_up and self.settlement.runs and self.panel.seq > len(self.settlement.stored):
            self.settlement.ask(t_us / 1e6)
        self.timeline.after_s(0.5, self._look)

    @property
    def _is_connected(self) -> bool:
        """Whether messages pass at once between the daemon and the people, in both directions."""
        broker = self.broker
        return broker.is_up and broker.has_network and broker.client is not None and self._is_online

    @property
    def _is_online(self) -> bool:
        """Whether the broker's retained message says that the daemon is online."""
        there = self.broker.retained.get(ROOT + "availability")
        return there is not None and bool(json.loads(there)["state"] == "online")


def _is_valid(run: BallRun, rest_s: float, rotor: SimRotor) -> bool:
    """Whether the ball ran against the rotor (R1) for three laps or more (R2), and the rotor never stopped (N4, N5)."""
    steps = int((rest_s - run.t_s) / ROTOR_STEP_S)
    speeds = [rotor.speed_at(run.t_s + step * ROTOR_STEP_S) * run.turning for step in range(steps)]
    return run.laps >= LAPS_NEEDED and all(speed < -ROTOR_STOPS_REV_S for speed in speeds)


def hash_of(seed: str) -> int:
    """Return a number derived from `seed`."""
    return repeatable(seed).getrandbits(32)
