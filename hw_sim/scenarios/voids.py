"""Void coups, one function a way to lose one, and what the rulebook wants done afterwards."""

from __future__ import annotations

from hw_sim.fall import FALL_S
from hw_sim.scenarios.registry import scenario
from hw_sim.scenarios.valid import drop, run_and_close, valid
from hw_sim.table import AT_ONCE_S, LAUNCH_KNOWN_S, SIGHTINGS_TO_CALL, Stage
from hw_sim.wheel import BallRun

STOP_KNOWN_S = 2.0
"""A stopped rotor must be called within this of its last tick."""
PASSES_OF_A_LAUNCH = 3
"""Fewer passes than this prove no speed: such a launch is known only by the pocket the ball lies in afterwards."""


def restore(stage: Stage) -> None:
    """The ball goes back to the last number's pocket, and all is well again: "tout va"."""
    stage.put_back()
    stage.say("tout_va")
    if stage.rng.random() < 0.4:
        stage.wait(0.5, 1.5)
        stage.say("rien_ne_va_plus")


def block_or_fall(stage: Stage) -> None:
    """The chef's hand stops the ball in time, or it falls into a pocket that counts for nothing."""
    stage.wait(0.4, 1.5)
    if stage.now_s < stage.run.end_s and stage.rng.random() < 0.7:
        stage.block()
        return
    stage.fall()
    stage.see(stage.rng.randint(1, SIGHTINGS_TO_CALL + 2))


def too_early(stage: Stage) -> None:
    """A launch that nobody may make now; the hand stops the ball after a lap or more."""
    stage.launch(seconds=7)
    stage.void("early_launch", stage.pass_s(0), stage.pass_s(0) + LAUNCH_KNOWN_S)
    stage.until(stage.pass_s(6) + 0.1)
    stage.wait(1, 2.5)
    stage.block()


@scenario()
def same_direction(stage: Stage) -> None:
    """The ball is launched the way the rotor turns."""
    stage.ready()
    stage.launch(with_rotor=True)
    lap_done_s = stage.pass_s(len(stage.layout.beams_deg))
    stage.void("same_direction", stage.pass_s(0), lap_done_s)
    stage.until(lap_done_s)
    block_or_fall(stage)
    restore(stage)


@scenario()
def early_launch(stage: Stage) -> None:
    """A valid coup, then a launch before its operations are done."""
    run_and_close(stage)
    stage.result(stage.fall())
    stage.wait(1, 4)
    too_early(stage)
    if stage.rng.random() < 0.7:
        stage.operations()
        stage.put_back()
        stage.say("tout_va")
    else:
        stage.put_back()
        stage.say("tout_va")
        stage.operations()


@scenario()
def launch_before_tout_va(stage: Stage) -> None:
    """A void by the chef's word, then a launch before tout va: void again."""
    run_and_close(stage, seconds=8)
    _chef(stage)
    stage.wait(0.5, 1.5)
    stage.block()
    stage.put_back()
    too_early(stage)
    restore(stage)


@scenario()
def too_few_laps(stage: Stage) -> None:
    """Too little push: the ball leaves the track after 0.6 to 2.9 laps."""
    stage.ready()
    run = _weak_launch(stage, (0.6, 2.9), range(1, 100))
    known = stage.passes() >= PASSES_OF_A_LAUNCH
    if known and stage.passes() > PASSES_OF_A_LAUNCH and stage.rng.random() < 0.4:
        stage.void("too_few_laps", run.end_s, run.end_s + FALL_S[0])
        stage.until(run.end_s + FALL_S[0])  # the hand takes it off the cone
    else:
        _weak_fall(stage, known=known)
    restore(stage)


def _weak_launch(stage: Stage, laps: tuple[float, float], passes: range) -> BallRun:
    """A push too weak, of as many passes as said. One that no beam saw is no launch that a sensor could know of."""
    run = stage.launch(stage.rng.uniform(*laps))
    while stage.passes() not in passes:
        stage.world.runs.pop()
        run = stage.launch(stage.rng.uniform(*laps))
    return run


def _weak_fall(stage: Stage, *, known: bool) -> None:
    left_s = stage.run.end_s
    stage.fall(elsewhere=True)
    rest_s = stage.now_s
    stage.see(SIGHTINGS_TO_CALL)
    stage.void("too_few_laps", left_s, rest_s if known else stage.now_s + AT_ONCE_S)
    stage.wait(0.3, 6)


@scenario()
def too_weak_one_pass(stage: Stage) -> None:
    """The ball crosses one or two beams only, then lies in another pocket."""
    stage.ready()
    _weak_launch(stage, (0.05, 0.8), range(1, PASSES_OF_A_LAUNCH))
    _weak_fall(stage, known=False)
    restore(stage)


@scenario()
def rotor_stops_running(stage: Stage) -> None:
    """A hand stops the rotor while the ball runs."""
    stage.ready()
    stage.launch(seconds=8)
    stage.part(0.15, 0.35)
    last_tick_s = stage.stop_rotor()
    stage.void("rotor_stopped_running", last_tick_s, last_tick_s + STOP_KNOWN_S)
    stage.until(last_tick_s + STOP_KNOWN_S + 0.1)
    block_or_fall(stage)
    restore(stage)


@scenario(french_only=True)
def rotor_reverses_running(stage: Stage) -> None:
    """A hand reverses the rotor while the ball runs: it stopped, if only for an instant."""
    stage.ready()
    stage.launch(seconds=8)
    stage.part(0.15, 0.35)
    last_tick_s = stage.stop_rotor()
    stage.direction = "ccw" if stage.direction == "cw" else "cw"
    stage.spin()
    stage.void("rotor_stopped_running", last_tick_s, last_tick_s + STOP_KNOWN_S)
    stage.until(last_tick_s + STOP_KNOWN_S + 0.1)
    block_or_fall(stage)
    restore(stage)


@scenario()
def rotor_stopped_at_launch(stage: Stage) -> None:
    """The ball is launched while the rotor stands still."""
    stage.ready()
    stage.stop_rotor()
    stage.wait(3, 5)
    stage.launch(seconds=7)
    stage.void("rotor_stopped_running", stage.pass_s(0), stage.pass_s(0) + LAUNCH_KNOWN_S)
    stage.until(stage.pass_s(0) + LAUNCH_KNOWN_S)
    block_or_fall(stage)
    restore(stage)


@scenario()
def obstacle_rotor_stops(stage: Stage) -> None:
    """The ball rests on an obstacle and the rotor stops before it falls."""
    run_and_close(stage)
    stage.until(stage.run.end_s + stage.rng.uniform(8, 16))
    last_tick_s = stage.stop_rotor(accel=(0.04, 0.12))
    stage.void("rotor_stopped_before_drop", last_tick_s, last_tick_s + STOP_KNOWN_S)
    stage.until(last_tick_s + STOP_KNOWN_S)
    stage.wait(1, 3)
    restore(stage)


def _chip(stage: Stage) -> None:
    stage.thing(present=True)
    stage.void("foreign_object", stage.now_s, stage.now_s + AT_ONCE_S)


def _chip_out(stage: Stage) -> None:
    stage.wait(2, 6)
    stage.thing(present=False)
    restore(stage)


@scenario()
def foreign_object(stage: Stage) -> None:
    """A coin falls in the cylinder while the ball runs."""
    run_and_close(stage)
    stage.part(0.4, 0.95)
    _chip(stage)
    block_or_fall(stage)
    _chip_out(stage)


@scenario()
def foreign_object_after_drop(stage: Stage) -> None:
    """A coin falls in the cylinder after the ball left the track, before the number is out."""
    run_and_close(stage)
    if stage.rng.random() < 0.5:
        stage.until(stage.run.end_s + stage.rng.uniform(0.3, FALL_S[0]))
        _chip(stage)
        stage.fall()
    else:
        stage.fall()
        stage.see(stage.rng.randint(1, SIGHTINGS_TO_CALL - 1))
        stage.wait(0.05, 0.2)
        _chip(stage)
    stage.see(SIGHTINGS_TO_CALL + 1)
    _chip_out(stage)


def _chef(stage: Stage) -> None:
    stage.say("rien_va", reason="late bet disputed")
    stage.void("chef", stage.now_s, stage.now_s + AT_ONCE_S)


@scenario()
def chef_void(stage: Stage) -> None:
    """The chef declares the running coup void."""
    run_and_close(stage)
    stage.part(0.4, 0.95)
    _chef(stage)
    block_or_fall(stage)
    restore(stage)


@scenario()
def number_after_void(stage: Stage) -> None:
    """The ball of a void coup falls into a pocket: evidence, never a result."""
    run_and_close(stage)
    _chef(stage)
    stage.fall()
    stage.see(SIGHTINGS_TO_CALL + 2)
    stage.wait(0.3, 2)
    restore(stage)


@scenario()
def wrong_pocket_after_void(stage: Stage) -> None:
    """After a void the ball is put in a wrong pocket: tout va is refused until it lies in the right one."""
    run_and_close(stage, seconds=6)
    _chef(stage)
    stage.wait(0.3, 0.8)
    stage.block()
    stage.put_back(stage.rng.choice([n for n in range(37) if n != stage.last_number]))
    stage.say("tout_va")
    restore(stage)


@scenario(first_only=True)
def first_coup_void(stage: Stage) -> None:
    """The table's first coup is void: no previous number, the chef's word serves; then a valid coup."""
    run_and_close(stage)
    _chef(stage)
    block_or_fall(stage)
    restore(stage)
    valid(stage)


@scenario()
def la_derniere(stage: Stage) -> None:
    """The last coup is announced; a void does not use it up, the next valid one closes the table; it opens anew."""
    stage.wait(1, 4)
    stage.say("last_coup")
    too_few_laps(stage)
    run_and_close(stage)
    drop(stage)
    stage.wait(8 * stage.leisure, 20 * stage.leisure)
    stage.say("open")
