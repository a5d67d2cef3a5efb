"""Coups that stand, in all the ways in which a coup may stand."""

from __future__ import annotations

from hw_sim.scenarios.registry import scenario
from hw_sim.table import Stage

GENTLY_REV_S2 = (0.02, 0.1)
"""How hard a hand brakes that only slows a rotor: a whole stop takes it 3 to 15 s."""


def drop(stage: Stage, *, hang_s: float = 0.0) -> None:
    """The running ball falls into a pocket, its number comes out, the table settles."""
    stage.result(stage.fall(hang_s=hang_s))
    stage.operations()


def run_and_close(stage: Stage, *, seconds: float = 0.0) -> None:
    """Launch with a push good for `seconds` on the track; "rien ne va plus" in the middle of the run."""
    stage.ready()
    stage.launch(seconds=seconds)
    stage.part(0.35, 0.9)
    stage.say("rien_ne_va_plus")


@scenario(weight=12)
def valid(stage: Stage) -> None:
    """An ordinary coup: launch, rien ne va plus while the ball runs, a number."""
    run_and_close(stage)
    drop(stage)


@scenario(weight=2)
def valid_few_laps(stage: Stage) -> None:
    """A weak launch that still makes its three laps, with little to spare."""
    stage.ready()
    stage.launch(stage.rng.uniform(stage.laps_safe, stage.laps_safe + 2))
    stage.part(0.2, 0.7)
    stage.say("rien_ne_va_plus")
    drop(stage)


@scenario(weight=0)
def lap_margin(stage: Stage) -> None:
    """A launch of two to four laps, where the passes may prove less than the truth (only on demand)."""
    stage.ready()
    run = stage.launch(stage.rng.uniform(2.0, 4.0))
    if run.laps >= 3:
        drop(stage)
        return
    stage.fall(elsewhere=True)
    stage.void("too_few_laps", run.end_s, stage.now_s)
    stage.see(3)
    stage.put_back()
    stage.say("tout_va")


@scenario()
def valid_no_rnvp(stage: Stage) -> None:
    """A coup in which nobody says rien ne va plus: it stands, bets close at the drop."""
    stage.ready()
    stage.launch()
    drop(stage)


@scenario()
def valid_rnvp_before_launch(stage: Stage) -> None:
    """Rien ne va plus is said before the launch, and perhaps once more during the run."""
    stage.wait(4, 8)
    stage.say("rien_ne_va_plus")
    stage.ready()
    stage.launch()
    if stage.rng.random() < 0.5:
        stage.part(0.3, 0.8)
        stage.say("rien_ne_va_plus")
    drop(stage)


@scenario()
def valid_slow_rotor(stage: Stage) -> None:
    """The rotor turns at four to seven turns a minute, and the coup stands."""
    stage.ready(rpm=(4, 7))
    stage.launch()
    stage.part(0.4, 0.8)
    stage.say("rien_ne_va_plus")
    drop(stage)


@scenario(weight=2)
def obstacle_falls(stage: Stage) -> None:
    """The ball rests on an obstacle, falls while the rotor still turns, and the number stands."""
    run_and_close(stage)
    drop(stage, hang_s=stage.rng.uniform(8, 20))


@scenario()
def object_after(stage: Stage) -> None:
    """A chip falls in the cylinder after the number is out, and is taken out: the number stands."""
    run_and_close(stage)
    stage.result(stage.fall())
    stage.wait(0.5, 3)
    stage.thing(present=True)
    stage.wait(3, 8)
    stage.thing(present=False)
    stage.operations()


@scenario()
def object_before_launch(stage: Stage) -> None:
    """A chip falls in the cylinder between coups and is taken out before the launch: a valid coup."""
    stage.wait(1, 4)
    stage.thing(present=True)
    stage.wait(2, 6)
    stage.thing(present=False)
    valid(stage)


@scenario()
def stray_idle(stage: Stage) -> None:
    """A beam pulses once while the ball lies in its pocket: no launch, then a valid coup."""
    stage.wait(1, 3)
    stage.stray()
    stage.see(4)
    valid(stage)


@scenario()
def stray_pulse(stage: Stage) -> None:
    """A beam pulses once too often while the ball runs: the coup stands."""
    stage.ready()
    stage.launch()
    stage.part(0.2, 0.6)
    stage.stray()
    stage.part(0.65, 0.9)
    stage.say("rien_ne_va_plus")
    drop(stage)


@scenario()
def rotor_idle_stop(stage: Stage) -> None:
    """The bouler stops the rotor for a while between coups: nothing but a valid coup comes of it."""
    stage.wait(1, 3)
    stage.stop_rotor()
    stage.wait(4, 12)
    valid(stage)


@scenario()
def rotor_pushed_running(stage: Stage) -> None:
    """A hand sends the rotor on faster while the ball runs, without turning it round: the coup stands."""
    stage.ready()
    stage.launch()
    stage.part(0.1, 0.5)
    stage.change_rotor((1.2, 1.6), accel=(0.03, 0.2))
    stage.part(0.5, 0.9)
    stage.say("rien_ne_va_plus")
    drop(stage)


@scenario()
def rotor_braked_running(stage: Stage) -> None:
    """A hand brushes the rotor while the ball runs: it slows and turns on, and the coup stands."""
    stage.ready()
    stage.launch()
    stage.part(0.1, 0.5)
    stage.change_rotor((0.5, 0.8), accel=GENTLY_REV_S2)
    stage.part(0.5, 0.9)
    stage.say("rien_ne_va_plus")
    drop(stage)


@scenario()
def rotor_braked_in_pocket(stage: Stage) -> None:
    """A hand brakes the rotor while the ball lies in its pocket, the number not out yet: it stands."""
    run_and_close(stage)
    number = stage.fall()
    stage.wait(0.0, 1.0)
    braked_s = stage.now_s
    stage.change_rotor((0.4, 0.7), accel=GENTLY_REV_S2)
    stage.now_s = braked_s  # readers see the ball while the rotor slows
    stage.result(number)
    stage.operations()


@scenario()
def rotor_stopped_after_number(stage: Stage) -> None:
    """A hand brakes the rotor to a stop as soon as the number is out: it stands."""
    run_and_close(stage)
    stage.result(stage.fall())
    stage.wait(0.3, 1.5)
    stage.stop_rotor(accel=GENTLY_REV_S2)
    stage.operations()
