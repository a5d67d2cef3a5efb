"""The bench without its programs: the wheel that is played by hand, straight into the core of the daemon."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from hw_sim.bench.hand import NotPossibleError
from hw_sim.bench.ledger import Entry, Ledger
from hw_sim.bench.play import STEP_S, Play
from hw_sim.configuration import sections
from hw_sim.demo import LAYOUT
from hw_sim.evening import repeatable
from hw_sim.events import End, ForeignObject, SensorState, SimEvent, TableCommand
from hw_sim.live_table import QUICK_PAUSE_FACTOR, LiveTable, draw_scenarios
from hw_sim.people import People
from hw_sim.subscriber import Subscriber
from hw_sim.words import Language, Words
from wheeld.config.reading import parse
from wheeld.core.observations import Level, Observation, TimePassed
from wheeld.core.step import Step
from wheeld.core.table import Table

STEPS_A_S = 4
SPEED = 1 / STEPS_A_S / STEP_S
"""Fewer steps than live: each costs a millisecond."""
REMEDIES = {
    "clear_object": "chip-out",
    "repair": "plug",
    "clear_obstacle": "take-ball",
    "block_ball": "take-ball",
    "put_back": "ball-back",
    "turn_rotor": "spin-rotor",
    "tout_va": "tout-va",
    "operations_done": "operations-done",
    "open": "open",
    "resume": "resume",
    "confirm": "confirm",
}
"""What a person presses when the table waits for that; for all else he waits."""
LOOK_S = 4.0
"""How often he looks at what the table waits for."""
PATIENCE = 60
"""So many times he looks."""


class VirtualBench:
    """A bench on virtual time. `verdicts`: number or cause of each coup."""

    def __init__(self, seed: int, *, by_hand: bool = True, language: Language = "en") -> None:
        rng = repeatable(f"virtual bench {seed}")
        self.live = LiveTable(LAYOUT, rng, None)
        self.live.table.pause_factor = QUICK_PAUSE_FACTOR
        self.subscriber, self.ledger = Subscriber(words=Words(language)), Ledger()
        self.people = People(self.live, self.subscriber, look_s=2.0, on_scenario=lambda _: None)
        self.play = Play(self.live, self.people, self.subscriber, self.ledger, speed=SPEED, by_hand=by_hand)
        self._events = self.play.events(draw_scenarios(LAYOUT, rng))
        wheel = sections(
            LAYOUT, site="demo", table="virtual", last_number=17, port=Path("none"), speed=1, language=language
        )
        setting = parse(f'{wheel}[journal]\npath = "j"\n[mqtt]\nhost = "h"\n').table
        self._table, begun = Table.start(setting, boot_id="b" * 32, started_utc_us=1_795_000_000_000_000)
        self._is_link_cut = self._has_object = False
        self._take(begun)
        self._tell_level(0)

    @property
    def verdicts(self) -> list[str]:
        return [verdict.name for verdict in self.subscriber.verdicts]

    @property
    def waits_for(self) -> list[str]:
        assert self.subscriber.table is not None
        return list(self.subscriber.table["waiting_codes"])

    @property
    def strays(self) -> int:
        """Pulses of beams that the daemon counted and took for no pass of the ball."""
        counters = self._table.counters
        return counters["stray_pulses"] + counters["double_pulses"]

    @property
    def truth(self) -> list[str]:
        return [entry.text for entry in self.entries if entry.kind == "truth"]

    @property
    def entries(self) -> list[Entry]:
        return list(self.ledger._entries)

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        until_us = self.live.table.now_s * 1e6 + seconds * 1e6
        for event in self._events:
            self._feed(event)
            if isinstance(event, End) and event.t_us >= until_us:
                return

    def until_handed_over(self) -> None:
        for _ in range(PATIENCE):
            if self._who != "by-hand":
                self.run(1)
        assert self._who == "by-hand"

    @property
    def _who(self) -> str:
        return next((entry.name for entry in reversed(self.entries) if entry.kind == "play"), "")

    def until_verdict(self) -> str:
        """The next one, on the chef's word where a number awaits him; fails when none comes in a minute."""
        known = len(self.verdicts)
        for _ in range(PATIENCE):
            if len(self.verdicts) > known:
                return self.verdicts[known]
            if "confirm" in self.waits_for:
                self.play.press("confirm")
            self.run(1)
        raise AssertionError(f"no verdict; the table waits for {self.waits_for}; {self.truth[-5:]}")

    def make_ready(self) -> None:
        """Do what the table asks for until a ball can be launched; fails when that does not come."""
        for _ in range(PATIENCE):
            remedies = [REMEDIES[code] for code in self.waits_for if code in REMEDIES]
            if "launch" in self.waits_for and not remedies:
                return
            for remedy in remedies:
                with suppress(NotPossibleError):  # done already, or not yet to be done
                    self.play.press(remedy)
            self.run(LOOK_S)
        raise AssertionError(f"the table still waits for {self.waits_for}; {self.truth[-5:]}")

    def _feed(self, event: SimEvent) -> None:
        if isinstance(event, ForeignObject):
            self._has_object = event.present
        match event:
            case SensorState(sensor="link" | "object" as sensor, ok=ok):
                if sensor == "link":
                    self._is_link_cut = not ok
                self._take(self._table.apply(self._observed(event)))
                if ok and not self._is_link_cut:
                    self._tell_level(event.t_us)
            case TableCommand(coup=int()):  # a panel means the coup that it shows
                assert self.subscriber.table is not None
                shown = msgspec.structs.replace(event, coup=self.subscriber.table["coup"])
                self._take(self._table.apply(self._observed(shown)))
            case TableCommand() | End():
                self._take(self._table.apply(self._observed(event)))
            case _ if not self._is_link_cut:
                self._take(self._table.apply(self._observed(event)))

    def _tell_level(self, t_us: int) -> None:
        """As a board does at its start and after a gap."""
        self._take(self._table.apply(Level(t_us, "object", self._has_object)))

    @staticmethod
    def _observed(event: SimEvent) -> Observation:
        if isinstance(event, End):
            return TimePassed(event.t_us)
        observed: Observation = msgspec.convert(msgspec.to_builtins(event), Observation)
        return observed

    def _take(self, step: Step) -> None:
        for message in step.messages:
            self.subscriber.take(message.topic, message.payload)
