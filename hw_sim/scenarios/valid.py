"""Valid coups. In some of them something is not in order, but does not make the coup void."""

from __future__ import annotations

from hw_sim.scenarios.registry import scenario
from hw_sim.table import AT_ONCE_S, SIGHTINGS_TO_CALL, SimTable

GENTLY_REV_S2 = (0.02, 0.1)
"""The rate at which a hand brakes a rotor gently. To stop the rotor at this rate takes 2 to 17 s."""
SAID_S = 0.5
"""The time that a person's word needs. An event at the same moment may reach the daemon sooner than the word."""


def drop(table: SimTable, *, hang_s: float = 0.0) -> None:
    """Let the running ball fall into a pocket. Its number is proven, and the table settles."""
    table.result(table.fall(hang_s=hang_s))
    table.operations()


def close_and_drop(table: SimTable, low: float, high: float) -> None:
    """Let the chef say "rien ne va plus" when a share of the run, `low` to `high`, is over. Then the ball falls."""
    table.wait_for_part_of_run(low, high)
    table.command("rien_ne_va_plus")
    drop(table)


def run_and_close(table: SimTable, *, seconds: float = 0.0) -> None:
    """Launch the ball so that it stays on the track for `seconds`. The chef says "rien ne va plus" during the run."""
    table.prepare_launch()
    table.launch(seconds=seconds)
    table.wait_for_part_of_run(0.35, 0.9)
    table.command("rien_ne_va_plus")
    table.now_s += SAID_S


@scenario(weight=12)
def valid(table: SimTable) -> None:
    """An ordinary coup: a launch, "rien ne va plus" while the ball runs, and a number."""
    run_and_close(table)
    drop(table)


@scenario(weight=2)
def valid_few_laps(table: SimTable) -> None:
    """A weak launch: the ball runs its three laps and only a little more. The coup is valid."""
    table.prepare_launch()
    table.launch(table.rng.uniform(table.laps_safe, table.laps_safe + 2))
    close_and_drop(table, 0.2, 0.7)


@scenario()
def lap_margin(table: SimTable) -> None:
    """The ball runs up to a lap more or less than it must. If its passes prove neither of the two, the chef decides."""
    table.prepare_launch()
    needed = table.layout.laps_needed
    run = table.launch(table.rng.uniform(needed - 1.0, needed + 1.0))
    if run.laps >= table.layout.laps_needed:
        number = table.fall()
        table.wait_for_sightings(SIGHTINGS_TO_CALL)
        table.wait(1, 4)
        table.confirm(reason="it made three laps")  # the daemon refuses this if the passes prove the laps
        table.number_out(number)
        table.operations()
        return
    table.fall(elsewhere=True)
    if run.laps_at_most(table.layout.beams_deg) < table.layout.laps_needed:
        table.void("too_few_laps", run.end_s, table.now_s)
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    if run.laps_at_most(table.layout.beams_deg) >= table.layout.laps_needed:
        table.wait(1, 4)
        table.command("rien_va", reason="it made fewer laps")
        table.void("chef", table.now_s, table.now_s + AT_ONCE_S, laps=run.laps)
        table.wait(0.3, 1)
    table.put_ball_back()
    table.command("tout_va")


@scenario()
def valid_no_rnvp(table: SimTable) -> None:
    """Nobody says "rien ne va plus": the coup is valid, and bets close when the ball leaves the track."""
    table.prepare_launch()
    table.launch()
    drop(table)


@scenario()
def valid_rnvp_before_launch(table: SimTable) -> None:
    """The chef says "rien ne va plus" before the launch, and perhaps once more during the run."""
    table.wait(4, 8)
    table.command("rien_ne_va_plus")
    table.prepare_launch()
    table.launch()
    if table.rng.random() < 0.5:
        table.wait_for_part_of_run(0.3, 0.8)
        table.command("rien_ne_va_plus")
    drop(table)


@scenario()
def valid_slow_rotor(table: SimTable) -> None:
    """The rotor turns at four to seven turns a minute, and the coup is valid."""
    table.prepare_launch(rpm=(4, 7))
    table.launch()
    close_and_drop(table, 0.4, 0.8)


@scenario(weight=2)
def obstacle_falls(table: SimTable) -> None:
    """The ball rests on an obstacle and falls while the rotor still turns: the number is valid."""
    run_and_close(table)
    drop(table, hang_s=table.rng.uniform(8, 20))


@scenario()
def object_after(table: SimTable) -> None:
    """A chip falls in the cylinder after the number is proven, and is taken out: the number is valid."""
    run_and_close(table)
    table.result(table.fall())
    table.wait(0.5, 3)
    table.foreign_object(present=True)
    table.wait(3, 8)
    table.foreign_object(present=False)
    table.operations()


@scenario()
def object_before_the_proof(table: SimTable) -> None:
    """A coin falls in after readers saw the ball at rest, before the proof: the number is out already."""
    run_and_close(table)
    number = table.fall()
    table.wait_for_sightings(table.rng.randint(1, SIGHTINGS_TO_CALL - 1))
    table.wait(0.05, 0.2)
    table.foreign_object(present=True)
    table.result(number)
    table.wait(2, 6)
    table.foreign_object(present=False)
    table.operations()


@scenario()
def object_before_launch(table: SimTable) -> None:
    """A chip falls in the cylinder between coups and is taken out before the launch: a valid coup."""
    table.wait(1, 4)
    table.foreign_object(present=True)
    table.wait(2, 6)
    table.foreign_object(present=False)
    valid(table)


@scenario()
def stray_idle(table: SimTable) -> None:
    """A beam pulses once while the ball lies in its pocket: this is no launch. A valid coup follows."""
    table.wait(1, 3)
    table.stray_pulse()
    table.wait_for_sightings(4)
    valid(table)


@scenario()
def stray_pulse(table: SimTable) -> None:
    """A beam pulses once without a ball while the ball runs: the coup is valid."""
    table.prepare_launch()
    table.launch()
    table.wait_for_part_of_run(0.2, 0.6)
    table.stray_pulse()
    close_and_drop(table, 0.65, 0.9)


@scenario()
def rotor_idle_stop(table: SimTable) -> None:
    """The bouler stops the rotor for a while between coups. A valid coup follows."""
    table.wait(1, 3)
    table.stop_rotor()
    table.wait(4, 12)
    valid(table)


def _changed_running(table: SimTable, factor: tuple[float, float], accel: tuple[float, float]) -> None:
    table.prepare_launch()
    table.launch()
    table.wait_for_part_of_run(0.1, 0.5)
    table.change_rotor(factor, accel)
    close_and_drop(table, 0.5, 0.9)


@scenario()
def rotor_pushed_running(table: SimTable) -> None:
    """A hand pushes the rotor faster while the ball runs, without reversing it: the coup is valid."""
    _changed_running(table, (1.2, 1.6), accel=(0.03, 0.2))


@scenario()
def rotor_braked_running(table: SimTable) -> None:
    """A hand touches the rotor while the ball runs: the rotor slows down and does not stop. The coup is valid."""
    _changed_running(table, (0.5, 0.8), accel=GENTLY_REV_S2)


@scenario()
def rotor_braked_in_pocket(table: SimTable) -> None:
    """A hand brakes the rotor when the ball rests, before its number is proven: the coup is valid."""
    run_and_close(table)
    number = table.fall()
    table.wait(0.0, 1.0)
    braked_s = table.now_s
    table.change_rotor((0.4, 0.7), accel=GENTLY_REV_S2)
    table.now_s = braked_s  # readers see the ball while the rotor slows
    table.result(number)
    table.operations()


@scenario()
def rotor_stopped_after_number(table: SimTable) -> None:
    """A hand brakes the rotor to a stop as soon as the number is proven: the number is valid."""
    run_and_close(table)
    table.result(table.fall())
    table.wait(0.3, 1.5)
    table.stop_rotor(accel=GENTLY_REV_S2)
    table.operations()
