"""Void coups, with one function for each way in which a coup becomes void, and what docs/rulebook.md then requires."""

from __future__ import annotations

from hw_sim.fall import FALL_S
from hw_sim.scenarios.registry import scenario
from hw_sim.scenarios.valid import drop, run_and_close, valid
from hw_sim.table import AT_ONCE_S, LAUNCH_KNOWN_S, SIGHTINGS_TO_CALL, SimTable
from hw_sim.wheel import BallRun, opposite

STOP_KNOWN_S = 2.0
"""The daemon must report a stopped rotor within this time after the last encoder edge."""
READER_TURNS = 1.5
"""If no reader sees the ball for this many turns, it rests on an obstacle: a reader sees a ball in a pocket within one
turn."""
PASSES_OF_A_LAUNCH = 3
"""The fewest passes that prove a launch. With fewer, the launch is only known when the ball lies in another pocket."""


def restore(table: SimTable) -> None:
    """Put the ball back in the pocket of the last number, and let the chef say "tout va"."""
    table.put_ball_back()
    table.command("tout_va")
    if table.rng.random() < 0.4:
        table.wait(0.5, 1.5)
        table.command("rien_ne_va_plus")


def block_or_fall(table: SimTable) -> None:
    """Let the chef's hand stop the ball in time, or let the ball fall into a pocket. The number does not count, because
    the coup is void."""
    table.wait(0.4, 1.5)
    if table.now_s < table.run.end_s and table.rng.random() < 0.7:
        table.block_ball()
        return
    table.fall()
    table.wait_for_sightings(table.rng.randint(1, SIGHTINGS_TO_CALL + 2))


def too_early(table: SimTable) -> None:
    """Launch the ball when this is not allowed. A hand stops the ball after a lap or more."""
    table.launch(seconds=7)
    table.void("early_launch", table.pass_s(0), table.pass_s(0) + LAUNCH_KNOWN_S)
    table.wait_until(table.pass_s(6) + 0.1)
    table.wait(1, 2.5)
    table.block_ball()


@scenario()
def same_direction(table: SimTable) -> None:
    """The ball is launched in the direction of the rotor."""
    table.prepare_launch()
    table.launch(with_rotor=True)
    lap_done_s = table.pass_s(len(table.layout.beams_deg))
    table.void("same_direction", table.pass_s(0), lap_done_s)
    table.wait_until(lap_done_s)
    block_or_fall(table)
    restore(table)


@scenario()
def early_launch(table: SimTable) -> None:
    """After a valid coup the ball is launched before the operations are done."""
    run_and_close(table)
    table.result(table.fall())
    table.wait(1, 4)
    too_early(table)
    if table.rng.random() < 0.7:
        table.operations()
        table.put_ball_back()
        table.command("tout_va")
    else:
        table.put_ball_back()
        table.command("tout_va")
        table.operations()


@scenario()
def launch_before_tout_va(table: SimTable) -> None:
    """The chef says "rien va". Then the ball is launched before "tout va": this coup is void, too."""
    run_and_close(table, seconds=8)
    chef(table)
    table.wait(0.5, 1.5)
    table.block_ball()
    table.put_ball_back()
    too_early(table)
    restore(table)


@scenario()
def too_few_laps(table: SimTable) -> None:
    """Too little push: the ball leaves the track after 0.6 to 2.9 laps, as its passes show."""
    table.prepare_launch()
    run = _weak_launch(table, (0.6, 2.9), range(1, 100))
    known = table.pass_count() >= PASSES_OF_A_LAUNCH
    if known and table.pass_count() > PASSES_OF_A_LAUNCH and table.rng.random() < 0.4:
        table.void("too_few_laps", run.end_s, run.end_s + FALL_S[0])
        table.wait_until(run.end_s + FALL_S[0])  # a hand takes the ball off the cone
    else:
        _weak_fall(table, known=known)
    restore(table)


def _weak_launch(table: SimTable, laps: tuple[float, float], passes: range) -> BallRun:
    """Launch the ball too weakly. The number of its passes is in `passes`."""
    run = table.launch(table.rng.uniform(*laps))
    while table.pass_count() not in passes or run.laps_at_most(table.layout.beams_deg) >= table.layout.laps_needed:
        table.world.runs.pop()
        run = table.launch(table.rng.uniform(*laps))
    return run


def _weak_fall(table: SimTable, *, known: bool) -> None:
    left_s = table.run.end_s
    table.fall(elsewhere=True)
    rest_s = table.now_s
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    table.void("too_few_laps", left_s, rest_s if known else table.now_s + AT_ONCE_S)
    table.wait(0.3, 6)


@scenario()
def too_weak_one_pass(table: SimTable) -> None:
    """The ball crosses one or two beams only, then lies in another pocket."""
    table.prepare_launch()
    _weak_launch(table, (0.05, 0.8), range(1, PASSES_OF_A_LAUNCH))
    _weak_fall(table, known=False)
    restore(table)


def _stop_running(table: SimTable) -> float:
    """Let a hand stop the rotor early in a run. Returns the time of the last encoder edge, in s."""
    table.prepare_launch()
    table.launch(seconds=8)
    table.wait_for_part_of_run(0.15, 0.35)
    return table.stop_rotor()


def _stopped(table: SimTable, last_tick_s: float) -> None:
    table.void("rotor_stopped_running", last_tick_s, last_tick_s + STOP_KNOWN_S)
    table.wait_until(last_tick_s + STOP_KNOWN_S + 0.1)
    block_or_fall(table)
    restore(table)


@scenario()
def rotor_stops_running(table: SimTable) -> None:
    """A hand stops the rotor while the ball runs."""
    _stopped(table, _stop_running(table))


@scenario(french_only=True)
def rotor_reverses_running(table: SimTable) -> None:
    """A hand reverses the rotor while the ball runs: the rotor stood still, even if only for an instant."""
    last_tick_s = _stop_running(table)
    table.direction = opposite(table.direction)
    table.spin_rotor()
    _stopped(table, last_tick_s)


@scenario()
def rotor_stopped_at_launch(table: SimTable) -> None:
    """The ball is launched while the rotor stands still."""
    table.prepare_launch()
    table.stop_rotor()
    table.wait(3, 5)
    table.launch(seconds=7)
    table.void("rotor_stopped_running", table.pass_s(0), table.pass_s(0) + LAUNCH_KNOWN_S)
    table.wait_until(table.pass_s(0) + LAUNCH_KNOWN_S)
    block_or_fall(table)
    restore(table)


@scenario()
def obstacle_rotor_stops(table: SimTable) -> None:
    """The ball rests on an obstacle, and the rotor stops before the ball falls."""
    run_and_close(table)
    table.wait_until(table.run.end_s + table.rng.uniform(8, 16) + READER_TURNS * table.turn_s())
    last_tick_s = table.stop_rotor(accel=(0.04, 0.12))
    table.void("rotor_stopped_before_drop", last_tick_s, last_tick_s + STOP_KNOWN_S)
    table.wait_until(last_tick_s + STOP_KNOWN_S)
    table.wait(1, 3)
    restore(table)


def _chip(table: SimTable) -> None:
    table.foreign_object(present=True)
    table.void("foreign_object", table.now_s, table.now_s + AT_ONCE_S)


def _chip_out(table: SimTable) -> None:
    table.wait(2, 6)
    table.foreign_object(present=False)
    restore(table)


@scenario()
def foreign_object(table: SimTable) -> None:
    """A coin falls in the cylinder while the ball runs."""
    run_and_close(table)
    table.wait_for_part_of_run(0.4, 0.95)
    _chip(table)
    block_or_fall(table)
    _chip_out(table)


@scenario()
def foreign_object_after_drop(table: SimTable) -> None:
    """A coin falls in the cylinder after the ball left the track, before it rests in a pocket."""
    run_and_close(table)
    table.wait_until(table.run.end_s + table.rng.uniform(0.3, FALL_S[0]))
    _chip(table)
    table.fall()
    table.wait_for_sightings(SIGHTINGS_TO_CALL + 1)
    _chip_out(table)


def chef(table: SimTable) -> None:
    """Let the chef say "rien va" now."""
    table.command("rien_va", reason="late bet disputed")
    table.void("chef", table.now_s, table.now_s + AT_ONCE_S)


def void_by_chef(table: SimTable) -> None:
    """Let the chef say "rien va" while the ball runs. Then a hand stops the ball."""
    run_and_close(table, seconds=6)
    chef(table)
    table.wait(0.3, 0.8)
    table.block_ball()


@scenario()
def chef_void(table: SimTable) -> None:
    """The chef declares the running coup void."""
    run_and_close(table)
    table.wait_for_part_of_run(0.4, 0.95)
    chef(table)
    block_or_fall(table)
    restore(table)


@scenario()
def number_after_void(table: SimTable) -> None:
    """The ball of a void coup falls into a pocket: this is evidence, not a result."""
    run_and_close(table)
    chef(table)
    table.fall()
    table.wait_for_sightings(SIGHTINGS_TO_CALL + 2)
    table.wait(0.3, 2)
    restore(table)


@scenario()
def wrong_pocket_after_void(table: SimTable) -> None:
    """After a void the ball is put in a wrong pocket: "tout va" is refused until it lies in the right one."""
    void_by_chef(table)
    table.put_ball_back(table.rng.choice([n for n in sorted(table.layout.pockets) if n != table.last_number]))
    table.command("tout_va")
    restore(table)


@scenario(first_only=True)
def first_coup_void(table: SimTable) -> None:
    """The table's first coup is void. Without a last number, the chef's word is enough. A valid coup follows."""
    run_and_close(table)
    chef(table)
    block_or_fall(table)
    restore(table)
    valid(table)


@scenario()
def la_derniere(table: SimTable) -> None:
    """The last coup is announced. A void does not count: the next valid coup closes the table. It opens again."""
    table.wait(1, 4)
    table.command("last_coup")
    too_few_laps(table)
    run_and_close(table)
    drop(table)
    table.wait(8 * table.pause_factor, 20 * table.pause_factor)
    table.command("open")
