"""Whatever a head reports, in any order: no number is a result that was not proven, or confirmed by the chef.

What was proven is found a second time here, naively, from the reports alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.core.head_evening import CHEF, COMBINED, MERCURY, SLINGSHOT, HeadEvening
from wheeld.core.observations import (
    Command,
    Direction,
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadReport,
    HeadRotor,
    HeadWarning,
    Observation,
    SensorState,
)
from wheeld.core.setting import TableSetting

RUNNING = ("running", "closing", "off_track")
ways = st.sampled_from(("cw", "ccw"))
phases = st.sampled_from(("ready", "running", "closing", "number", "idle", "locked", "off_track"))
spins = st.sampled_from((11, 11, 11, 12))
reports = st.one_of(
    st.builds(HeadGame, st.just(0), phases, spins),
    st.builds(HeadBall, st.just(0), st.booleans(), st.none() | ways, st.none() | st.integers(0, 5)),
    st.builds(HeadRotor, st.just(0), st.none() | st.sampled_from((0.0, 5.0, 15.0, 90.0)), ways),
    st.builds(HeadNumber, st.just(0), st.none() | st.integers(0, 36), spins, st.booleans()),
    st.builds(HeadWarning, st.just(0), st.just(()) | st.just(("same_direction",)), st.booleans()),
    st.builds(HeadJump, st.just(0), spins, spins),
    st.builds(SensorState, st.just(0), st.sampled_from(("head", "head/sensors")), st.booleans()),
)
commands = st.sampled_from(
    ("open", "operations_done", "rien_ne_va_plus", "rien_va", "confirm", "tout_va", "suspend", "resume", "close")
)
steady = st.tuples(ways, st.none() | st.integers(0, 6), st.integers(0, 36))
"""A whole run as a wheel reports it, of so many laps the ball that way (None: it reports neither), and its number.

Chaos alone proves nothing."""
EVENINGS = 600
"""For each setting, in a second; 20,000 others were tried by hand."""
DRAWS = 0x9CF4CF0D26B0FFFA0307EDE78C31E4F093E13308D75D7BF1119A3CB7FBF5A6F6D18C46DC45AEF2D25E7CA9BC6BE27BAD
"""Names the draws of the test below. Without it hypothesis would take others at each change of the test's text."""
SETTINGS = pytest.mark.parametrize("setting", [MERCURY, SLINGSHOT, CHEF, COMBINED], ids=["m360", "ss2", "chef", "both"])


@dataclass
class Naive:
    """What the reports since the last moment without a running ball add up to."""

    laps: int = 0
    balls: set[str] = field(default_factory=set)
    rotors: set[str] = field(default_factory=set)

    def take(self, seen: HeadReport | SensorState) -> None:
        match seen:
            case HeadGame(phase=phase) if phase not in RUNNING and phase != "number":
                self.laps, self.balls, self.rotors = 0, set(), set()
            case HeadBall(runs=True, direction=way, laps=laps):
                self.laps = max(self.laps, laps or 0)
                self.balls |= {way} - {None}  # type: ignore[arg-type]
            case HeadRotor(direction=way):
                self.rotors.add(way)

    def proves(self) -> bool:
        return self.laps >= 3 and any(ball != rotor for ball in self.balls for rotor in self.rotors)


def whole_run(way: Direction, laps: int | None, number: int) -> list[HeadReport]:
    rotor = HeadRotor(0, 15.0, "ccw")
    return [
        HeadGame(0, "ready", 11),
        rotor,
        HeadGame(0, "running", 11),
        HeadBall(0, True, None if laps is None else way, laps),
        rotor,
        HeadGame(0, "closing", 11),
        rotor,
        HeadNumber(0, number, 11),
    ]


happenings = st.lists(st.one_of(reports, reports, commands, commands, steady), max_size=30)


def dated(seen: HeadReport | SensorState, evening: HeadEvening) -> Observation:
    return msgspec.structs.replace(seen, t_us=evening.now_us)


def check(evening: HeadEvening, naive: Naive, result: dict[str, Any], *, by_chef: bool) -> None:
    """One result: proven by what the head reported, or the chef's."""
    if by_chef:
        assert evening.setting.unproven == "chef"
        assert (result["unproven"], result["confirmed_by"]) == (["R2"], "chef")
        return
    assert naive.proves()
    assert evening.setting.ball == "head", "beams saw nothing"
    assert (result["unproven"], result["confirmed_by"]) == ([], None)
    assert result["laps"] >= 3
    assert result["ball_direction"] != result["rotor_direction"]


def play(evening: HeadEvening, happened: list[Any]) -> None:
    """Give it all to the table, a line every quarter of a second, and check each result as it comes."""
    naive = Naive()
    for one in happened:
        for seen in whole_run(*one) if isinstance(one, tuple) else [one]:
            evening.wait(0.25)
            before = len(evening.of("result"))
            if isinstance(seen, str):
                evening.observe(Command(evening.now_us, seen, "chef", "so", None, None, evening.table.coup))  # type: ignore[arg-type]
            else:
                naive.take(seen)
                evening.observe(dated(seen, evening))
            for result in evening.of("result")[before:]:
                check(evening, naive, result, by_chef=seen == "confirm")


@SETTINGS
@seed(DRAWS)
@settings(
    max_examples=EVENINGS,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(happened=happenings)
def test_no_report_in_any_order_makes_a_result_that_was_not_proven(setting: TableSetting, happened: list[Any]) -> None:
    evening = HeadEvening(setting)
    evening.say("open")
    play(evening, happened)
    verdicts = [one.payload["coup"] for one in evening.published if one.topic in ("result", "void")]
    assert len(verdicts) == len(set(verdicts)), "a coup with two verdicts"


@pytest.mark.parametrize("way", ["cw", "ccw"])
@pytest.mark.parametrize("laps", [2, 3])
def test_of_the_whole_runs_that_are_drawn_those_that_prove_it_are_results(way: Direction, laps: int) -> None:
    """The test above would pass on a table that never publishes anything."""
    evening = HeadEvening(MERCURY)
    evening.say("open")
    play(evening, [(way, laps, 7)])
    assert (evening.verdicts() == [("result", 7)]) == ((way, laps) == ("cw", 3))


def test_of_those_that_report_no_laps_a_chef_makes_results() -> None:
    evening = HeadEvening(CHEF)
    evening.say("open")
    play(evening, [("cw", None, 7), "confirm"])
    assert evening.verdicts() == [("result", 7)]
