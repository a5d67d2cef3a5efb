"""docs/rulebook.md 6: in `operations`, a ball taken from its pocket while the rotor turns is announced before it is
launched."""

from __future__ import annotations

import random

import msgspec
import pytest

from tests.core.evening import FRENCH, START_UTC_US, Evening, Way, other
from wheeld.core.instants import to_text
from wheeld.core.observations import BallPass, Rotor, Sighting
from wheeld.core.pockets import SINGLE_ZERO

HISTORIES = 200
WAYS: tuple[Way, ...] = ("cw", "ccw")


def warnings(evening: Evening, kind: str = "operations_unfinished") -> list[int]:
    """When it was announced."""
    return [one.payload["t_us"] for one in evening.published if one.topic == "notice" and one.payload["notice"] == kind]


def in_operations(**setting: object) -> Evening:
    """The number is out, and seen where it lies; the rotor turns on."""
    evening = Evening(msgspec.structs.replace(FRENCH, **setting)).open()
    evening.coup(8)
    return evening


def taken(evening: Evening, seconds: float = 3.0) -> Evening:
    """A hand takes the ball, and holds it."""
    evening.lying = None
    evening.wait(seconds)
    return evening


def needed_s(setting_readers_deg: tuple[float, ...], rpm: float, ticks: int) -> float:
    """What the readers need: the rotor turns by the widest gap between two of them, by two pockets of slack, and by an
    edge of the encoder. A ball that lies can be met no sooner than that again, and not later."""
    angles = sorted(setting_readers_deg)
    gap = max(b - a for a, b in zip(angles, [*angles[1:], angles[0] + 360], strict=True))
    return (gap + 2 * SINGLE_ZERO.pocket_deg + 360 / ticks) / (rpm * 6)


def push(evening: Evening, before_rpm: float, rpm: float, way: Way) -> None:
    """A hand brings the rotor to another speed, as fast as a hand can: half a turn per second, each second."""
    steps = max(1, round(abs(rpm - before_rpm) / 1.5))
    for step in range(1, steps + 1):
        evening.turn(before_rpm + (rpm - before_rpm) * step / steps, way)
        evening.wait(0.05)


@pytest.mark.parametrize("tenths", range(20))
def test_a_rotor_that_is_turned_back_hides_no_ball(tenths: int) -> None:
    """On the way back readers meet what they would have met on the way before: the two ways must not be added."""
    evening = in_operations()
    evening.wait(tenths / 10)
    evening.turn(15, other(evening.way))
    evening.wait(5)
    assert warnings(evening) == [], f"turned back after {tenths / 10} s"


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_launch_after_a_forgotten_button_is_foretold_in_every_case(seed: int) -> None:
    """Whatever the wheel, if readers had seen the ball lie: the bouler takes the ball, spins the rotor up, slows it,
    stops it or turns it round, and launches as soon as readers can know, or some seconds later."""
    draw = random.Random(seed)
    readers_deg = tuple(sorted(draw.sample(range(0, 360, 15), draw.randint(1, 3))))
    ticks, way = draw.choice((37, 74, 148)), draw.choice(WAYS)
    setting = msgspec.structs.replace(FRENCH, readers_deg=readers_deg, rotor_ticks=ticks)
    rpm = draw.uniform(12, 40)
    evening = Evening(setting, rpm=rpm, way=way).open()
    evening.run()
    evening.fall(draw.randrange(37))
    evening.wait(4 * 60 / rpm + draw.uniform(0, 20))
    assert evening.state == "operations"

    evening.lying = None
    what = draw.choice(("as it turns", "another speed", "turned round", "stopped first"))
    if what in ("turned round", "stopped first"):
        push(evening, rpm, 0, way)
    if what == "stopped first":
        evening.wait(draw.uniform(1, 6))
    if what != "as it turns":
        before_rpm, rpm = rpm if what == "another speed" else 0, draw.uniform(12, 40)
        push(evening, before_rpm, rpm, other(way) if what == "turned round" else way)
    lead_s = 4 * 360 / ticks / (rpm * 6)  # the first edges after a stop or a turn back show which way it turns
    evening.wait(needed_s(readers_deg, rpm, ticks) + lead_s + draw.choice((0, draw.uniform(0, 8))))
    before_us = evening.now_us
    passes = evening.launch(laps=6)
    assert len(warnings(evening)) == 1, what
    assert warnings(evening)[0] <= before_us < passes[0].t_us
    assert evening.last("table").payload["waiting_codes"] == ["no_launch", "operations_done"]
    evening.wait(3)
    assert evening.verdicts()[1:] == [("void", "early_launch")]
    assert len(warnings(evening)) == 1
    assert "nul" not in evening.last("table").payload["waiting_for"], "it is launched already"


def test_it_is_announced_once_a_pick_up_and_says_so() -> None:
    evening = taken(in_operations(), 30)
    (notice,) = [one for one in evening.of("notice") if one["notice"] == "operations_unfinished"]
    assert notice["text"] == (
        "the ball was taken from its pocket; N2, Art. 11: operations are not finished: a launch now is void"
    )
    assert notice["figures"] == {"number": 8}
    evening.lying = 8
    evening.wait(4)
    assert evening.last("table").payload["waiting_for"] == "end of operations"
    taken(evening)
    assert len(warnings(evening)) == 2


def test_not_while_the_rotor_stands_or_when_it_is_pushed_a_little() -> None:
    evening = in_operations()
    evening.turn(0)
    taken(evening, 20)
    evening.turn(20)
    evening.wait(1.0)
    assert warnings(evening) == []
    evening.wait(0.3)
    assert len(warnings(evening)) == 1


def test_a_ball_that_stays_is_never_announced_however_the_rotor_turns() -> None:
    evening = in_operations()
    for rpm, way in ((20, "ccw"), (0, "ccw"), (12, "cw"), (40, "cw"), (0, "cw"), (15, "ccw"), (30, "cw")):
        evening.turn(rpm, way)  # type: ignore[arg-type]
        evening.wait(7.3)
    assert warnings(evening) == []


def test_a_rattle_at_one_border_turns_no_rotor() -> None:
    evening = in_operations()
    evening.turn(0)
    tick = [seen for seen in evening.seen if isinstance(seen, Rotor)][-1].tick
    evening.lying = None
    for n in range(100):
        evening.observe(Rotor(evening.now_us + 10_000 * n, tick, "ccw" if n % 2 else "cw"))
    evening.now_us += 1_000_000
    assert (warnings(evening), evening.state) == ([], "operations")


def test_once_operations_are_done_a_ball_that_is_taken_is_to_be_launched() -> None:
    evening = in_operations()
    evening.say("operations_done")
    taken(evening)
    assert warnings(evening) == []
    assert evening.last("table").payload["waiting_for"] == "launch of the ball"


def test_after_a_void_the_same_before_tout_va() -> None:
    evening = Evening().open()
    evening.void_by_chef()
    taken(evening)
    assert (len(warnings(evening, "tout_va_owed")), warnings(evening)) == (1, [])
    assert evening.last("table").payload["waiting_codes"][0] == "no_launch"


def test_where_both_are_owed_both_are_said() -> None:
    evening = in_operations()
    evening.launch(laps=6)
    evening.wait(1.5)
    evening._planned.clear()
    evening.put_back()
    evening.wait(1.5)
    taken(evening)
    texts = [one["text"] for one in evening.of("notice") if one["notice"] == "operations_unfinished"]
    assert texts[-1].endswith('operations are not finished, and "tout va" is not said: a launch now is void')


def test_a_reader_that_is_left_out_is_not_waited_for() -> None:
    """Two readers are left, 120 and 240 degrees apart."""
    evening = in_operations()
    evening.sensor("reader/1", ok=False)
    evening.say("resume", without=("reader/1",))
    met_us = max(seen.t_us for seen in evening.seen if isinstance(seen, Sighting) and seen.reader != 1)
    (t_us,) = warnings(taken(evening))
    assert 240 < (t_us - met_us) * 120 / 1e6 < 240 + 2 * SINGLE_ZERO.pocket_deg + 5


def test_it_is_dated_by_the_rotor_and_replays() -> None:
    """The edge at which the last of the readers should have met it."""
    evening = in_operations()
    lifted_us = evening.now_us
    taken(evening)
    (t_us,) = warnings(evening)
    assert lifted_us < t_us <= lifted_us + needed_s(FRENCH.readers_deg, 20, 148) * 1e6
    assert to_text(START_UTC_US + t_us) in evening.of("notice")[-1]["at"]


def test_after_a_weak_launch_nobody_is_told_not_to_launch_yet() -> None:
    """The ball that was in a hand falls."""
    evening = taken(in_operations(beams_deg=(0.0, 120.0, 240.0)))
    evening.plan(*(BallPass(evening.now_us + 300_000 + beam * 550_000, beam) for beam in range(2)))
    evening.wait(5)
    assert evening.verdicts()[1:] == [("void", "early_launch")]
    assert "no_launch" not in evening.last("table").payload["waiting_codes"]
