"""The bench without its programs: the wheel that is played by hand, straight into the core of the daemon."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from hw_sim.bench.buttons import buttons
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
from hw_sim.words import ENGLISH, Language, Words
from wheeld.config.reading import parse
from wheeld.core.observations import Level, Observation, TimePassed
from wheeld.core.step import Step
from wheeld.core.table import Table

BUTTONS = buttons(ENGLISH.say)
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
        self._setting = parse(f'{wheel}[journal]\npath = "j"\n[mqtt]\nhost = "h"\n').table
        self._is_link_cut = self._has_object = self._is_dark = False
        self._memory: bytes | None = None
        self._boots = 0
        self._start(0)

    def _start(self, t_us: int) -> None:
        """The daemon starts, with what its journal has; its sensing time begins anew."""
        self._boots, self._started_us = self._boots + 1, t_us
        self._table, begun = Table.start(
            self._setting,
            boot_id=f"{self._boots:032}",
            started_utc_us=1_795_000_000_000_000 + t_us,
            memory=self._memory,
        )
        self._take(begun)
        if self._is_link_cut:
            self._apply(SensorState(t_us, "link", ok=False))
        else:
            self._tell_level(t_us)

    @property
    def verdicts(self) -> list[str]:
        return [verdict.name for verdict in self.subscriber.verdicts]

    @property
    def waits_for(self) -> list[str]:
        assert self.subscriber.table is not None
        return list(self.subscriber.table["waiting_codes"])

    @property
    def state(self) -> str:
        assert self.subscriber.table is not None
        return str(self.subscriber.table["state"])

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
        match event:
            case ForeignObject(present=present):
                self._has_object = present
            case SensorState(sensor="link", ok=ok):
                self._is_link_cut = not ok
            case SensorState(sensor="power", ok=ok):
                self._is_dark = not ok
                if ok:
                    self._start(event.t_us)
                return
        if not self._is_dark:
            self._hear(event)

    def _hear(self, event: SimEvent) -> None:
        match event:
            case SensorState(sensor="link" | "object", ok=ok):
                self._apply(event)
                if ok and not self._is_link_cut:
                    self._tell_level(event.t_us)
            case TableCommand(coup=int()):  # a panel means the coup that it shows
                assert self.subscriber.table is not None
                self._apply(msgspec.structs.replace(event, coup=self.subscriber.table["coup"]))
            case TableCommand() | End():
                self._apply(event)
            case _ if not self._is_link_cut:
                self._apply(event)

    def _tell_level(self, t_us: int) -> None:
        """As a board does at its start and after a gap."""
        self._take(self._table.apply(Level(t_us - self._started_us, "object", self._has_object)))

    def _apply(self, event: SimEvent) -> None:
        at_us = event.t_us - self._started_us
        if isinstance(event, End):
            self._take(self._table.apply(TimePassed(at_us)))
            return
        seen = msgspec.to_builtins(msgspec.structs.replace(event, t_us=at_us))
        self._take(self._table.apply(msgspec.convert(seen, Observation)))

    def _take(self, step: Step) -> None:
        self._memory = step.memory or self._memory
        for message in step.messages:
            self.subscriber.take(message.topic, message.payload)
