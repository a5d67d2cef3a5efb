"""Events that a sensor does not see, or shows in the wrong place: blind sensors, an encoder that slips, two balls, a
link that is cut at the launch. People do what the daemon asks of them, as far as docs/rulebook.md allows.
"""

from __future__ import annotations

from collections.abc import Sequence

from hw_sim.scenarios.interruptions import BEAMS_NEEDED, repaired, resume, running
from hw_sim.scenarios.people import LOOK_S, at_rest
from hw_sim.scenarios.registry import scenario
from hw_sim.scenarios.valid import run_and_close, valid
from hw_sim.scenarios.voids import READER_TURNS, STOP_KNOWN_S, block_or_fall, chef, restore
from hw_sim.table import AT_ONCE_S, LAUNCH_KNOWN_S, SIGHTINGS_TO_CALL, TOLD_BY_COUPS, SimTable, laps_safe

BLIND_COUPS = (1, TOLD_BY_COUPS, 8)
HALF_BLIND_LAPS = 5
"""Within this many laps a beam that works sees the ball four times (docs/rulebook.md N8)."""
SLIP_TICKS = (2, 40)
SLIP_POCKETS = 0.2
"""The smallest slip, in pockets. A slip of less than 0.15 of a pocket does not count (docs/rulebook.md 7)."""
SLIP_KNOWN_S = 1.0
"""The time until the daemon must know of a slip: a few edges of the slowest rotor."""
PLACE_TURNS = 2.0
"""Within this many turns each reader has seen a lying ball twice."""
SLIP_TURNS = 6
"""The most turns until a slip is found and readers see the ball in its pocket. A wired encoder is unsure until its mark
has come twice. Then every reader sees the ball twice between two pockets, and once more in its pocket."""
ON_OBSTACLE_S, ON_OBSTACLE_TURNS = 8.0, 1.5
"""When a ball that no reader has seen counts as a ball on an obstacle: this time after it left the track, and then this
many turns of the rotor."""
SHORT_STOP_S = (0.8, 2.0)
"""How long a short stop lasts. Any encoder must show a stop of 0.8 s (docs/rulebook.md N4)."""


# --- a sensor is blind, and no message says so -----------------------------------------------------------------------


def _blind_coups(table: SimTable, sensor: str, lost_turns: float) -> None:
    """Play one, three or eight coups with a blind sensor, which other sensors replace. Each number may then come up to
    `lost_turns` turns of the rotor later."""
    coups = table.rng.choice(BLIND_COUPS)
    table.blind([sensor])
    for _ in range(coups):
        run_and_close(table)
        number = table.fall()
        table.wait_for_sightings(SIGHTINGS_TO_CALL)
        table.now_s += lost_turns * table.turn_s()
        table.number_out(number)
        table.truth[-1]["blind"] = sensor
        table.operations()
    table.see_again()


@scenario(weight=0, rare=0.3)
def beam_blind(table: SimTable) -> None:
    """One of four or more beams sees nothing for 1 to 8 valid coups. People are told after the third at the latest."""
    beams = table.layout.beams_deg
    if len(beams) <= BEAMS_NEEDED:
        valid(table)
        return
    blind = table.rng.randrange(len(beams))
    table.laps_safe = laps_safe([*beams[:blind], *beams[blind + 1 :]], table.layout.laps_needed)
    _blind_coups(table, f"beam/{blind}", 0.0)
    table.laps_safe = laps_safe(beams, table.layout.laps_needed)


@scenario(weight=0, rare=0.3)
def reader_blind(table: SimTable) -> None:
    """One of two or more readers sees nothing for 1 to 8 valid coups. People are told after the third at the latest."""
    readers = len(table.layout.readers_deg)
    if readers == 1:
        valid(table)
        return
    _blind_coups(table, f"reader/{table.rng.randrange(readers)}", PLACE_TURNS)


@scenario(weight=0, rare=0.5)
def two_beams_blind(table: SimTable) -> None:
    """Two neighbouring beams of four see nothing, so a part of the ball's run is not observed."""
    beams = len(table.layout.beams_deg)
    if beams != BEAMS_NEEDED + 1:
        valid(table)
        return
    first = table.rng.randrange(beams)
    table.blind([f"beam/{first}", f"beam/{(first + 1) % beams}"])
    table.prepare_launch()
    table.launch(seconds=10)
    known_s = table.pass_s(HALF_BLIND_LAPS * beams)
    table.void("breakdown", table.pass_s(0), known_s + AT_ONCE_S)
    table.wait_until(known_s)
    block_or_fall(table)
    table.see_again()
    resume(table, "cleaned")
    restore(table)


def _readers(table: SimTable) -> Sequence[str]:
    return [f"reader/{reader}" for reader in range(len(table.layout.readers_deg))]


@scenario(weight=0, rare=1)
def readers_blind(table: SimTable) -> None:
    """No reader sees the fallen ball in one coup or more. A hand may stop the rotor. The chef gives the numbers."""
    for coup in range(table.rng.choice(BLIND_COUPS[:2])):
        run_and_close(table)
        if coup == 0:
            table.blind(_readers(table))
        number = table.fall()
        table.wait_until(table.run.end_s + ON_OBSTACLE_S + ON_OBSTACLE_TURNS * table.turn_s())
        # In the first coup no hand stops the rotor: nobody knows yet that the readers are blind, so the coup would be
        # void (N5).
        if coup and table.rng.random() < 0.5:
            table.stop_rotor()
            table.now_s += STOP_KNOWN_S
        table.wait(*LOOK_S)
        table.confirm(number)
        table.number_out(number)
        table.operations()
    table.see_again()
    table.wait_for_sightings(SIGHTINGS_TO_CALL)


# --- one sensor fails, a self-test reports it, and the other sensors prove the coup ----------------------------------


@scenario(weight=0, rare=0.5)
def reader_spared(table: SimTable) -> None:
    """One of two or more readers fails its self-test while the ball runs: the others prove the number."""
    readers = _readers(table)
    if len(readers) == 1:
        valid(table)
        return
    running(table)
    back_s = table.outage(table.rng.choice(readers), 45, 55)
    number = table.fall()
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    table.now_s += PLACE_TURNS * table.turn_s()
    table.number_out(number)
    repaired(table, back_s)


@scenario(weight=0, rare=0.5)
def beam_fails_in_the_fall(table: SimTable) -> None:
    """A beam fails its self-test after the ball left the track: the coup is valid."""
    run_and_close(table)
    table.wait_until(table.run.end_s + table.overdue_s())
    back_s = table.outage(f"beam/{table.rng.randrange(len(table.layout.beams_deg))}", 45, 55)
    table.result(table.fall())
    repaired(table, back_s)


# --- readers saw the number, but can no longer prove it --------------------------------------------------------------


def _confirmed(table: SimTable, number: int) -> None:
    table.wait_until(table.now_s + READER_TURNS * table.turn_s())
    table.wait(*LOOK_S)
    table.confirm(number)
    table.number_out(number)


@scenario(weight=0, rare=0.5)
def launched_again_at_rest(table: SimTable) -> None:
    """The ball is taken and launched again before its number is proven: the chef confirms the number."""
    number = at_rest(table)
    table.lift_ball()
    run = table.run
    table.wait(1, 3)
    table.launch(seconds=7)
    table.wait_until(table.pass_s(6))
    table.wait(1, 2)
    table.block_ball()
    _confirmed(table, number)
    table.truth[-1]["laps"] = round(run.laps, 2)
    table.put_ball_back()
    table.operations()


@scenario(weight=0, rare=0.5)
def sensor_fails_at_rest(table: SimTable) -> None:
    """The cable, or the only reader, fails before the number is proven: the chef confirms the number."""
    number = at_rest(table)
    sensor = table.rng.choice(["link", *(_readers(table) if len(_readers(table)) == 1 else [])])
    back_s = table.outage(sensor, 30, 40)
    _confirmed(table, number)
    repaired(table, back_s)


@scenario(weight=0, rare=0.5)
def link_cut_at_launch(table: SimTable) -> None:
    """The cable is cut just after the second pass of a launched ball: a breakdown. "Tout va" must follow."""
    table.prepare_launch()
    table.launch(seconds=8)
    table.wait_until(table.pass_s(1))
    table.wait(0.001, 0.05)
    table.void("breakdown", table.now_s, table.now_s + LAUNCH_KNOWN_S)
    back_s = table.outage("link", 5, 12)
    block_or_fall(table)
    table.wait_until(back_s)
    resume(table, "cable")
    restore(table)


# --- two balls -------------------------------------------------------------------------------------------------------


@scenario(weight=0)  # never drawn: the number of one ball may become a result before readers see the other ball
def second_ball(table: SimTable) -> None:
    """A second ball is thrown in during the fall: two balls give no number. The chef, when asked, says "rien va"."""
    run_and_close(table)
    table.fall()
    rest_s = table.now_s
    other = table.rng.choice([number for number in table.layout.pockets if not table.ball_is_in(number)])
    table.now_s = table.run.end_s + table.rng.uniform(0.5, 1.0) * (rest_s - table.run.end_s)
    second = table.throw_ball_in(other)
    table.now_s = rest_s
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    table.now_s += READER_TURNS * table.turn_s()
    if table.rng.random() < 0.5:
        table.lift_ball()
        second.to_s = table.now_s
        table.put_ball_back()
    table.wait(*LOOK_S)
    chef(table)
    second.to_s = min(second.to_s, table.now_s)
    table.wait(0.3, 1)
    restore(table)


# --- the rotor and its encoder ---------------------------------------------------------------------------------------


@scenario(weight=0, rare=0.5)
def rotor_stops_shortly(table: SimTable) -> None:
    """A hand stops the rotor for about a second while the ball runs, then pushes it again: the coup is void."""
    table.prepare_launch()
    table.launch(seconds=10)
    table.wait_for_part_of_run(0.15, 0.35)
    last_tick_s = table.stop_rotor()
    table.wait(*SHORT_STOP_S)
    table.spin_rotor()
    table.void("rotor_stopped_running", last_tick_s, last_tick_s + STOP_KNOWN_S)
    table.wait_until(last_tick_s + STOP_KNOWN_S)
    block_or_fall(table)
    restore(table)


def _slip(table: SimTable) -> None:
    ticks = table.layout.rotor_ticks
    least = max(1, SLIP_POCKETS * ticks / len(table.layout.pockets))  # to the daemon, one tick may be a lost edge
    ways = [by for by in range(SLIP_TICKS[0], SLIP_TICKS[1] + 1) if least < by % ticks < ticks - least]
    table.slip_disc(table.rng.choice((-1, 1)) * table.rng.choice(ways))


def _name_place(table: SimTable) -> None:
    """Let the readers see the ball in the last number's pocket. Then a person names that number in a command."""
    if not table.ball_is_in(table.last_number):
        table.put_ball_back()
    table.wait_for_sightings(SIGHTINGS_TO_CALL + 1)
    for _ in range(SLIP_TURNS):
        table.keep_turning()
        table.now_s += table.turn_s()
    table.command("resume", by="direction", reason="the ball lies there", number=table.last_number)
    table.wait(0.5, 1)


def _set_back(table: SimTable) -> None:
    """Let a technician set the disc back between two coups."""
    table.wait(1, 2)
    table.set_disc_back()
    table.wait(0.5, 1)
    _name_place(table)


@scenario(weight=0, rare=0.3)
def disc_slips_idle(table: SimTable) -> None:
    """The encoder's disc slips between two coups: a person names the ball's pocket, and the next number is right."""
    table.wait(1, 3)
    _slip(table)
    _name_place(table)
    valid(table)
    _set_back(table)


@scenario(weight=0, rare=0.3)
def disc_slips_in_operations(table: SimTable) -> None:
    """The encoder's disc slips after a number: a person names the ball's pocket, and the next number is right."""
    run_and_close(table)
    table.result(table.fall())
    table.wait(0.5, 2)
    _slip(table)
    _name_place(table)
    table.operations()
    valid(table)
    _set_back(table)


@scenario(weight=0, rare=0.3)
def disc_slips_running(table: SimTable) -> None:
    """The encoder's disc slips while the ball runs: a breakdown. A person names the ball's pocket."""
    running(table)
    _slip(table)
    table.wait_until(table.next_tick_s())
    table.void("breakdown", table.now_s, table.now_s + SLIP_KNOWN_S)
    block_or_fall(table)
    _name_place(table)
    restore(table)
    _set_back(table)


@scenario(weight=0, rare=0.3)
def disc_slips_before_the_answer(table: SimTable) -> None:
    """The encoder's disc slips before the chef confirms a number (R3b). A person names the ball's pocket."""
    number = at_rest(table)
    table.lift_ball()
    table.now_s += READER_TURNS * table.turn_s()
    table.wait(*LOOK_S)
    _slip(table)
    table.wait(1, 2)
    table.confirm(number)
    table.number_out(number)
    _name_place(table)
    table.operations()
    valid(table)
    _set_back(table)
