"""Drawn evenings: hypothesis plays at a wheel of known truth, and the table must follow docs/rulebook.md.

Everything goes in as observations, as at a real wheel, and comes out as published messages. A failure prints its steps,
ready to paste, and the blob that repeats them. They are not shrunk, which takes minutes: add `Phase.shrink` for that,
and `derandomize=False` for other evenings. hypothesis takes the text of the class as its seed, and draws some values
from the modules that are loaded by then: a changed line, or another share of the tests, makes other evenings.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.core.evening import FRENCH, Way
from tests.core.known_wheel import SEEN_S, KnownWheel
from tests.faults.conftest import size_of
from wheeld.core.observations import CommandName
from wheeld.core.setting import TableSetting

COARSE = msgspec.structs.replace(FRENCH, rotor_ticks=74)
"""Two ticks a pocket place the ball as well as four, in half the time."""
FAIR = msgspec.structs.replace(COARSE, game="fair", wheel="fair", rotor_direction="ccw")
TABLES = (COARSE, FAIR, msgspec.structs.replace(COARSE, last_number=None))
NAMES: tuple[CommandName, ...] = (
    "open",
    "operations_done",
    "rien_ne_va_plus",
    "rien_va",
    "tout_va",
    "last_coup",
    "last_coup_off",
    "close",
    "suspend",
    "resume",
    "bouler",
)
OFTEN: tuple[CommandName, ...] = ("rien_ne_va_plus", "operations_done", "tout_va", "rien_va", "last_coup")
"""What ends a game ends it for long, and is commanded rarely."""
SENSORS = ("beam/1", "reader/0", "rotor", "object", "link")
SHORT_LAPS, LONG_LAPS = 2.2, 5.0
"""Surely too few, surely enough; the margin between is the ball tracker's own tests'."""
WAYS: tuple[Way, ...] = ("cw", "ccw")


class NextCommand(NamedTuple):
    """The command by which the game goes on from a state."""

    state: str
    name: CommandName


TO_A_GAME = (
    NextCommand("suspended", "resume"),
    NextCommand("rien_va", "tout_va"),
    NextCommand("operations", "operations_done"),
    NextCommand("rien_va", "tout_va"),
    NextCommand("closed", "open"),
)
EVENINGS = size_of("random evenings of the law")
pockets = st.integers(0, 36)


class PlayedEvening(RuleBasedStateMachine):
    """People, ball, rotor, chips and sensors in any order."""

    wheel: KnownWheel

    @initialize(setting=st.sampled_from(TABLES))
    def begin(self, setting: TableSetting) -> None:
        self.wheel = KnownWheel(setting)

    def ready(self) -> bool:
        """The rotor turns and the ball is off the track: it may be handled, and launched."""
        return self.wheel.turning and self.wheel.ball in ("pocket", "hand")

    def coming(self) -> bool:
        """The ball is on its way to a pocket that readers will see."""
        return self.wheel.turning and self.wheel.ball in ("track", "obstacle")

    def idle(self) -> bool:
        """A hand may stop the ball: no coup runs that could be valid."""
        return self.wheel.turning and not self.wheel.runs

    # --- people -------------------------------------------------------------------------------------------------------

    @rule(name=st.sampled_from(OFTEN * 3 + NAMES))
    def say(self, name: CommandName) -> None:
        self.wheel.say(name)

    @precondition(idle)
    @rule()
    def go_on(self) -> None:
        """Everything that the table waits for, step by step, until a ball may be launched."""
        wheel = self.wheel
        for name in sorted(wheel.faults):
            wheel.sensor(name, ok=True)
        if wheel.object_in:
            wheel.chip(present=False)
        if wheel.ball in ("track", "obstacle"):
            wheel.take()
        if not wheel.in_place:
            wheel.put(wheel.last_number or 0)
        if wheel.place_lost:
            wheel.evening.wait(SEEN_S)
        for word in TO_A_GAME:
            if wheel.evening.state == word.state:
                wheel.say(word.name)

    @precondition(idle)
    @rule(against=st.sampled_from((True, True, False)), closed_first=st.booleans())
    def play(self, *, against: bool, closed_first: bool) -> None:
        """To the next game and its launch."""
        self.go_on()
        if closed_first:
            self.wheel.say("rien_ne_va_plus")
        self.wheel.launch(LONG_LAPS, against=against)

    @precondition(idle)
    @rule(into=pockets, early=st.booleans())
    def last_game(self, into: int, *, early: bool) -> None:
        """La dernière, its coup, and perhaps an early launch before the operations are done."""
        self.play(against=True, closed_first=False)
        self.wheel.say("last_coup")
        if self.wheel.track and self.wheel.turning:
            self.wheel.fall(into)
        if early and self.ready() and self.wheel.evening.state == "operations":
            self.wheel.launch(LONG_LAPS, against=True)
            self.go_on()

    # --- the ball -----------------------------------------------------------------------------------------------------

    @precondition(ready)
    @rule(laps=st.sampled_from((SHORT_LAPS, LONG_LAPS, LONG_LAPS)), against=st.sampled_from((True, True, False)))
    def launch(self, laps: float, *, against: bool) -> None:
        self.wheel.launch(laps, against=against)

    @precondition(ready)
    @rule(names=st.lists(st.sampled_from(NAMES[:-1]), min_size=1, max_size=2))
    def launch_as_they_speak(self, names: list[CommandName]) -> None:
        self.wheel.launch_as_they_speak(names)

    @precondition(ready)
    @rule()
    def launch_before_the_word(self) -> None:
        """N2: the word that the table waits for comes a moment after the ball left the hand."""
        for word in TO_A_GAME:
            if word.state == self.wheel.evening.state and self.ready():
                self.launch_as_they_speak([word.name])

    @precondition(ready)
    @rule(passes=st.integers(1, 2), into=pockets)
    def launch_weakly(self, passes: int, into: int) -> None:
        seen_before = self.wheel.last_number is not None or passes > 1
        if seen_before and into not in (self.wheel.evening.lying, self.wheel.last_number):
            self.wheel.launch_weakly(passes, into)

    @precondition(coming)
    @rule(into=pockets)
    def fall(self, into: int) -> None:
        self.wheel.fall(into)

    @precondition(coming)
    @rule(into=pockets)
    def fall_after_rien_ne_va_plus(self, into: int) -> None:
        self.wheel.say("rien_ne_va_plus")
        self.wheel.fall(into)

    @precondition(lambda self: self.coming() and self.wheel.track)
    @rule()
    def hang(self) -> None:
        self.wheel.hang()

    @precondition(idle)
    @rule()
    def take(self) -> None:
        self.wheel.take()

    @precondition(lambda self: self.ready() and not self.wheel.runs)
    @rule(into=pockets)
    def put(self, into: int) -> None:
        self.wheel.put(into)

    # --- the rotor, the cylinder, the sensors, the clock --------------------------------------------------------------

    @precondition(lambda self: not self.wheel.turning and not self.wheel.track)
    @rule(way=st.sampled_from(WAYS))
    def turn(self, way: Way) -> None:
        self.wheel.turn(way)

    @precondition(lambda self: not self.wheel.turning and self.wheel.evening.state in ("rien_va", "closed"))
    @rule(way=st.sampled_from(WAYS))
    def turn_after_stopping_the_ball(self, way: Way) -> None:
        self.wheel.take()
        self.wheel.turn(way)

    @rule(what=st.sampled_from(("chip", "chip", "stop", "stop", "sensor", "restart")), sensor=st.sampled_from(SENSORS))
    def disturb(self, what: str, sensor: str) -> None:
        """Wherever the game is."""
        self.go_wrong(what, sensor)

    @precondition(idle)
    @rule(
        what=st.sampled_from(("chip", "stop", "sensor", "restart", "obstacle, chip", "obstacle, stop")),
        sensor=st.sampled_from(SENSORS),
    )
    def disturb_a_run(self, what: str, sensor: str) -> None:
        """In the middle of a coup, or with the ball on an obstacle."""
        self.play(against=True, closed_first=False)
        if what.startswith("obstacle") and self.wheel.track:
            self.wheel.hang()
        self.go_wrong(what.removeprefix("obstacle, "), sensor)

    def go_wrong(self, what: str, sensor: str) -> None:
        wheel = self.wheel
        match what:
            case "chip":
                wheel.chip(present=not wheel.object_in)
            case "sensor":
                wheel.sensor(sensor, ok=sensor in wheel.faults)
            case "stop" if wheel.may_stop:
                wheel.stop()
            case "restart" if wheel.turning:
                wheel.restart()

    @precondition(idle)
    @rule(restarted=st.booleans())
    def ask_over_a_chip(self, *, restarted: bool) -> None:
        """N6: with the ball where it belongs, and the controller perhaps started anew meanwhile."""
        wheel = self.wheel
        if not wheel.object_in:
            wheel.chip(present=True)
        if restarted:
            wheel.restart()
        if not wheel.in_place and not wheel.track:
            wheel.put(wheel.last_number or 0)
        wheel.say("tout_va")
        wheel.say("operations_done")

    @rule(seconds=st.sampled_from((0.3, 5.0, 40.0)))
    def wait(self, seconds: float) -> None:
        self.wheel.wait(seconds)

    def teardown(self) -> None:
        if hasattr(self, "wheel"):
            self.wheel.check_evidence()


PlayedEvening.TestCase.settings = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=EVENINGS,
    stateful_step_count=30,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
TestPlayedEvening = PlayedEvening.TestCase
