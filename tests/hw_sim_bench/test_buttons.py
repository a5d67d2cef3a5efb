"""Each button of the bench leads to the verdict that docs/rulebook.md asks for, and whoever then does what the table
asks can play on."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from hw_sim.bench.hand import NotPossibleError
from hw_sim.evening import repeatable
from tests.hw_sim_bench.virtual import BUTTONS, LOOK_S, PATIENCE, REMEDIES, VirtualBench
from wheeld.core.facts import SENSED, Awaited

SEEDS = range(4)
HELD_UP = 56
"""Two words waited, the second only behind the first, and the table waited for the second for ever. Drawn from the
buttons that there were then."""
SINCE = {
    "confirm",
    "second-ball",
    "second-ball-out",
    "suspend",
    "last-coup",
    "close",
    "bouler",
    "reverse-rotor",
    "power-off",
    "power-on",
}
"""Buttons that came later."""
BY_ITSELF = {each.value for each in SENSED} | {"no_launch", "start_wheel", "direction"}
"""What a table may wait for and no button gives: sensors, operations that end, and the game of a wheel head, which the
bench has not."""


@pytest.fixture(params=SEEDS)
def bench(request: pytest.FixtureRequest) -> VirtualBench:
    made = VirtualBench(request.param)
    made.until_handed_over()
    assert "launch" in made.waits_for
    return made


def play_on(bench: VirtualBench) -> None:
    """What is true of every button: the next ball can be launched, and its number is the one in which it rests."""
    bench.make_ready()
    bench.play.press("launch")
    verdict = bench.until_verdict()
    rested = [text for text in bench.truth if text.startswith("The ball rests in")][-1]
    assert f"The ball rests in {verdict.removeprefix('result ')}." == rested
    bench.make_ready()


def test_a_launch_gives_the_number_in_which_the_ball_rests(bench: VirtualBench) -> None:
    play_on(bench)
    assert bench.strays == 0


@pytest.mark.parametrize(("button", "cause"), [("same-direction", "same_direction"), ("weak-launch", "too_few_laps")])
def test_a_wrong_launch_is_void(bench: VirtualBench, button: str, cause: str) -> None:
    bench.play.press(button)
    assert bench.until_verdict() == f"void {cause}"
    play_on(bench)


@pytest.mark.parametrize(
    ("after_s", "button", "cause"), [(5, "chip", "foreign_object"), (4, "stop-rotor", "rotor_stopped_running")]
)
def test_what_makes_a_run_void(bench: VirtualBench, after_s: int, button: str, cause: str) -> None:
    bench.play.press("launch")
    bench.run(after_s)
    bench.play.press(button)
    assert bench.until_verdict() == f"void {cause}"
    play_on(bench)


def test_a_launch_at_a_stopped_rotor_is_void(bench: VirtualBench) -> None:
    bench.play.press("stop-rotor")
    bench.run(5)
    assert "The rotor stands still." in bench.play.press("launch")
    assert bench.until_verdict() == "void rotor_stopped_running"
    play_on(bench)


@pytest.mark.parametrize("away_s", [4, 200])
def test_an_unplugged_board_is_a_breakdown(bench: VirtualBench, away_s: float) -> None:
    bench.play.press("launch")
    bench.run(4)
    bench.play.press("unplug")
    assert bench.until_verdict() == "void breakdown"
    bench.run(away_s)
    play_on(bench)


def test_noise_is_counted_and_makes_no_verdict(bench: VirtualBench) -> None:
    for pressed in range(1, 6):
        bench.play.press("noise")
        bench.run(4)
        # The first pulse of each might be a ball's first pass; the second comes sooner than any ball.
        assert bench.strays == pressed
    assert bench.verdicts == []
    assert "launch" in bench.waits_for
    play_on(bench)


@pytest.mark.parametrize(
    ("launch", "cause"), [("launch", None), ("same-direction", "same_direction"), ("weak-launch", "too_few_laps")]
)
def test_noise_all_along_a_coup_is_counted_and_changes_no_verdict(
    bench: VirtualBench, launch: str, cause: str | None
) -> None:
    bench.play.press(launch)
    bench.run(1)
    assert bench.strays == 0
    pressed = 0
    while not bench.truth[-1].startswith("The ball rests in"):
        bench.play.press("noise")
        pressed += 1
        bench.run(2)
    number = bench.truth[-1].removeprefix("The ball rests in ").removesuffix(".")
    if not bench.verdicts:
        bench.until_verdict()
    assert bench.strays >= 2 * pressed - 1, "one may come as the ball might have"
    bench.make_ready()
    assert bench.verdicts == [f"result {number}" if cause is None else f"void {cause}"]
    play_on(bench)


def test_a_hand_that_takes_the_running_ball_leaves_nobody_stuck(bench: VirtualBench) -> None:
    bench.play.press("launch")
    bench.run(5)
    assert "which runs on the track, after" in bench.play.press("take-ball")
    bench.run(20)
    bench.play.press("rien-va")
    assert bench.until_verdict() == "void chef"
    play_on(bench)


def test_the_chefs_word_is_a_void(bench: VirtualBench) -> None:
    bench.play.press("launch")
    bench.run(3)
    bench.play.press("rien-ne-va-plus")
    bench.run(2)
    assert bench.waits_for == ["number"]
    bench.play.press("rien-va")
    assert bench.until_verdict() == "void chef"
    play_on(bench)


def until_a_number_awaits_the_chef(bench: VirtualBench) -> int:
    """A hand stops the rotor as the ball comes to rest, before readers have proven its number. Returns the number."""
    bench.play.press("launch")
    while not bench.truth[-1].startswith("The ball rests in"):
        bench.run(0.25)
    rested = bench.truth[-1]
    bench.play.press("stop-rotor")
    for _ in range(PATIENCE):
        if bench.waits_for == ["confirm"]:
            break
        bench.run(1)
    assert bench.waits_for == ["confirm"]
    assert bench.verdicts == []
    return int(rested.removeprefix("The ball rests in ").removesuffix("."))


@pytest.mark.parametrize("said", ["confirm", "rien-va"])
def test_the_chef_answers_for_a_number_that_no_sensor_has_proven(bench: VirtualBench, said: str) -> None:
    number = until_a_number_awaits_the_chef(bench)
    words = bench.play.press(said)
    assert bench.until_verdict() == (f"result {number}" if said == "confirm" else "void chef")
    assert words == (f"The chef confirms {number}." if said == "confirm" else "The chef says “rien va”.")
    bench.play.press("spin-rotor")
    play_on(bench)


def test_he_confirms_what_everybody_saw_whatever_a_hand_does_then(bench: VirtualBench) -> None:
    number = until_a_number_awaits_the_chef(bench)
    for name in ("spin-rotor", "take-ball", "launch"):
        bench.play.press(name)
        bench.run(2)
    assert bench.play.press("confirm") == f"The chef confirms {number}."
    assert bench.until_verdict() == f"result {number}"


def test_he_cannot_confirm_what_is_not_out(bench: VirtualBench) -> None:
    assert bench.play.press("confirm") == "The chef confirms the number, without saying which."
    bench.play.press("launch")
    bench.run(3)
    bench.play.press("confirm")
    assert bench.until_verdict().startswith("result ")
    number = bench.verdicts[0].removeprefix("result ")
    bench.play.press("confirm")
    bench.run(2)
    assert bench.verdicts == [f"result {number}"]
    play_on(bench)


def test_after_la_derniere_the_table_closes(bench: VirtualBench) -> None:
    bench.play.press("last-coup")
    bench.play.press("launch")
    assert bench.until_verdict().startswith("result ")
    bench.play.press("operations-done")
    bench.run(2)
    assert (bench.state, bench.waits_for) == ("closed", ["open"])
    play_on(bench)


@pytest.mark.parametrize(("name", "state"), [("suspend", "suspended"), ("close", "closed")])
def test_the_direction_ends_a_coup_that_runs(bench: VirtualBench, name: str, state: str) -> None:
    bench.play.press("launch")
    bench.run(4)
    bench.play.press(name)
    assert bench.until_verdict() == "void breakdown"
    assert bench.state == state
    play_on(bench)


def test_another_bouler_spins(bench: VirtualBench) -> None:
    for who in ("Anna", "Bruno", "Anna"):
        assert bench.play.press("bouler") == f"The chef lets {who} spin from now on."
        bench.run(1)
        assert bench.subscriber.table is not None
        assert bench.subscriber.table["bouler"] == who


def test_a_rotor_that_turns_the_other_way_gives_a_number_too(bench: VirtualBench) -> None:
    table = bench.live.table
    for _ in range(2):
        before = table.world.rotor.speed_at(table.now_s)
        bench.play.press("reverse-rotor")
        bench.run(8)
        assert table.world.rotor.speed_at(table.now_s) * before < 0
        play_on(bench)


@pytest.mark.parametrize("dark_s", [2, 90])
def test_a_coup_that_runs_into_the_dark_is_void(bench: VirtualBench, dark_s: float) -> None:
    bench.play.press("launch")
    bench.run(4)
    bench.play.press("power-off")
    bench.run(dark_s)
    assert bench.verdicts == []
    bench.play.press("power-on")
    assert bench.until_verdict() == "void breakdown"
    play_on(bench)


def test_two_balls_are_no_number(bench: VirtualBench) -> None:
    bench.play.press("launch")
    while not bench.truth[-1].startswith("The ball leaves"):
        bench.run(0.25)
    bench.play.press("second-ball")
    for _ in range(PATIENCE):
        if "confirm" in bench.waits_for:
            break
        bench.run(1)
    assert bench.verdicts == []
    bench.play.press("second-ball-out")
    bench.play.press("rien-va")
    assert bench.until_verdict() == "void chef"
    play_on(bench)


def test_each_thing_that_a_table_waits_for_has_a_button_or_comes_by_itself() -> None:
    assert {*REMEDIES, "launch", "rien_ne_va_plus"} | BY_ITSELF == {each.value for each in Awaited}
    assert set(REMEDIES.values()) <= set(BUTTONS)


@pytest.mark.parametrize(
    ("first", "pressed", "why"),
    [
        (["launch"], "launch", "The ball runs on the track already"),
        (["launch"], "weak-launch", "The ball runs on the track already"),
        (["launch"], "ball-back", "wait until it rests, or take it"),
        (["take-ball"], "take-ball", "in his hand already"),
        ([], "ball-back", "The ball lies in 17 already"),
        ([], "chip-out", "no chip"),
        (["chip"], "chip", "already"),
        ([], "plug", "The cable is plugged in"),
        (["unplug"], "unplug", "unplugged already"),
        ([], "spin-rotor", "The rotor already turns"),
        (["stop-rotor"], "stop-rotor", "already"),
        (["stop-rotor"], "same-direction", "stands still"),
        (["second-ball"], "second-ball", "already"),
        ([], "second-ball-out", "only one ball"),
        (["power-off"], "power-off", "off already"),
        ([], "power-on", "The power is on"),
        ([], "by-hand", "You play by hand already"),
    ],
)
def test_what_is_impossible_now_says_why_and_does_nothing(first: list[str], pressed: str, why: str) -> None:
    bench = VirtualBench(0)
    bench.until_handed_over()
    for name in first:
        bench.play.press(name)
        bench.run(3)
    before = bench.truth
    with pytest.raises(NotPossibleError, match=why):
        bench.play.press(pressed)
    assert bench.truth == before


def test_there_is_no_other_button() -> None:
    bench = VirtualBench(0)
    bench.until_handed_over()
    with pytest.raises(KeyError):
        bench.play.press("cheat")


def press_at_random(bench: VirtualBench, rng: random.Random, names: list[str], count: int) -> None:
    for _ in range(count):
        with suppress(NotPossibleError):
            bench.play.press(rng.choice(names))
        bench.run(rng.choice((0.25, 1, 4, 12)))
    for name in ("spin-rotor", "second-ball-out", "power-on"):  # no table asks for that before a launch
        with suppress(NotPossibleError):
            bench.play.press(name)
    bench.run(LOOK_S)  # a ball that is launched while the daemon starts was not observed fully


@pytest.mark.parametrize("seed", [*SEEDS, HELD_UP])
def test_whatever_was_pressed_before_one_can_play_on_and_so_can_the_people(seed: int) -> None:
    bench, rng = VirtualBench(seed), repeatable(f"presses {seed}")
    names = [name for name in BUTTONS if seed != HELD_UP or name not in SINCE]
    bench.until_handed_over()
    press_at_random(bench, rng, names, 25)
    play_on(bench)
    bench.play.press(rng.choice(list(BUTTONS)[:3]))
    bench.play.press("by-itself")
    known = len(bench.verdicts)
    while len(bench.verdicts) < known + 3:
        bench.run(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_nor_is_anybody_held_up_by_a_number_that_awaits_the_chef(seed: int) -> None:
    bench, rng = VirtualBench(seed), repeatable(f"presses at a number {seed}")
    bench.until_handed_over()
    until_a_number_awaits_the_chef(bench)
    press_at_random(bench, rng, [name for name in BUTTONS if name not in ("confirm", "rien-va")], 6)
    press_at_random(bench, rng, list(BUTTONS), 6)
    play_on(bench)
