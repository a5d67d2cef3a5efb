"""People who press early, late or wrongly, or who touch the wheel before the number is proven.

An evening has these scenarios only if its people are hasty (`hasty`). The truth follows docs/rulebook.md: the number is
out when a reader has seen the ball in its pocket, and the chef must confirm a number that sensors cannot prove.
"""

from __future__ import annotations

from hw_sim.scenarios.interruptions import repaired, resume
from hw_sim.scenarios.registry import scenario
from hw_sim.scenarios.valid import drop, run_and_close
from hw_sim.scenarios.voids import READER_TURNS, STOP_KNOWN_S, chef, restore, void_by_chef
from hw_sim.table import SIGHTINGS_TO_CALL, SimTable

LOOK_S = (0.5, 2.0)
"""How long the chef reads what the daemon asks him, before he answers. The daemon asks him when the number is not
proven one and a half turns after the first sighting."""
PLACE_AWAITED_S = 10.0
"""How long the command "tout va" waits until a reader sees the ball (docs/rulebook.md 6)."""
BETWEEN_COUPS = ("open", "operations_done", "tout_va", "resume")
WHILE_RUNNING = ("open", "operations_done", "tout_va", "resume")
AFTER_A_NUMBER = ("open", "rien_ne_va_plus", "tout_va", "rien_va", "resume")
AFTER_A_VOID = ("open", "operations_done", "rien_ne_va_plus", "rien_va", "resume")
"""For each of four times, the commands that have no meaning then. The daemon refuses them, and the table does not
change."""


def at_rest(table: SimTable) -> int:
    """Play a coup until one reader has seen the ball in its pocket. Returns the number."""
    run_and_close(table)
    number = table.fall()
    table.wait_between_sightings()
    return number


def _proven(table: SimTable, number: int) -> None:
    table.result(number)
    table.operations()


def _chefs_number(table: SimTable, number: int) -> None:
    """Let the chef confirm the number. In most cases he names it."""
    named = table.rng.random() < 0.7
    table.confirm(number if named else None)
    table.number_out(number)


@scenario(weight=0, hasty=1)
def operations_done_before_proof(table: SimTable) -> None:
    """The table says "operations done" when the ball rests, before the proof: this counts from the proof on."""
    number = at_rest(table)
    table.command("operations_done", by="table")
    table.result(number)
    table.wait(0.2, 1)


@scenario(weight=0, hasty=1)
def rien_va_at_rest(table: SimTable) -> None:
    """The chef says "rien va" when the ball rests, before its number is proven: too late, the coup is valid."""
    number = at_rest(table)
    table.command("rien_va", reason="late bet disputed")
    _proven(table, number)


@scenario(weight=0, hasty=1)
def suspend_at_rest(table: SimTable) -> None:
    """The direction suspends play when the ball rests, before its number is proven: the coup is valid."""
    number = at_rest(table)
    table.command("suspend", by="direction", reason="order of the direction")
    table.result(number)
    resume(table, "order of the direction")
    table.operations()


@scenario(weight=0, hasty=0.5)
def beam_fails_at_rest(table: SimTable) -> None:
    """A beam fails its self-test when the ball rests, before its number is proven: the coup is valid."""
    number = at_rest(table)
    back_s = table.outage(f"beam/{table.rng.randrange(len(table.layout.beams_deg))}", 4, 12)
    table.result(number)
    repaired(table, back_s)


@scenario(weight=0, hasty=1)
def rotor_stopped_at_rest(table: SimTable) -> None:
    """A hand stops the rotor when the ball rests, before the proof: the chef may have to confirm the number."""
    number = at_rest(table)
    asked_s = table.now_s + READER_TURNS * table.turn_s()
    table.stop_rotor()
    table.wait_until(max(asked_s, table.now_s + STOP_KNOWN_S))
    table.wait(*LOOK_S)
    _chefs_number(table, number)
    table.spin_rotor()
    table.operations()


@scenario(weight=0, hasty=1)
def ball_lifted_at_rest(table: SimTable) -> None:
    """A hand lifts the ball before its number is proven: the chef confirms the number or says "rien va"."""
    number = at_rest(table)
    table.lift_ball()
    table.now_s += READER_TURNS * table.turn_s()
    table.wait(*LOOK_S)
    if table.rng.random() < 0.3:
        chef(table)
        restore(table)
        return
    _chefs_number(table, number)
    table.put_ball_back()
    table.operations()


@scenario(weight=0, hasty=0.5)
def confirmed_too_early(table: SimTable) -> None:
    """The chef confirms wrong numbers during the run and before the proof: only the proven number counts."""
    run_and_close(table)
    table.confirm(table.rng.choice(table.layout.pockets))
    number = table.fall()
    table.wait_between_sightings()
    table.confirm(table.rng.choice(table.layout.pockets))
    _proven(table, number)


@scenario(weight=0, hasty=1)
def tout_va_at_once(table: SimTable) -> None:
    """After a void the chef says "tout va" before a reader sees the ball. It counts when a reader sees the ball."""
    void_by_chef(table)
    table.wait(2, 5)
    table.spin_rotor()
    wanted = table.last_number
    table.put_ball_in(table.rng.choice(table.layout.pockets) if wanted is None else wanted)
    table.wait(0.02, 0.3)
    table.command("tout_va")
    refused_s = table.now_s + PLACE_AWAITED_S
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    if table.now_s > refused_s:  # the rotor is slow and the command was refused: the chef gives it again
        table.command("tout_va")
    table.wait(0.3, 1)


@scenario(weight=0, hasty=1)
def rien_ne_va_plus_by_mistake(table: SimTable) -> None:
    """The chef says "rien ne va plus" too early, by mistake, then "faites vos jeux". A valid coup follows."""
    table.wait(1, 3)
    table.command("rien_ne_va_plus")
    table.wait(0.8, 3)
    table.command("open")
    table.wait(0.8, 2)
    run_and_close(table)
    drop(table)


@scenario(weight=0, hasty=2)
def wrong_presses(table: SimTable) -> None:
    """People press wrong buttons at each step of a valid coup. The daemon refuses each command."""
    _fumble(table, BETWEEN_COUPS)
    run_and_close(table, seconds=5)
    _fumble(table, WHILE_RUNNING)
    table.result(table.fall())
    _fumble(table, AFTER_A_NUMBER)
    table.operations()


@scenario(weight=0, hasty=1)
def wrong_presses_after_void(table: SimTable) -> None:
    """People press wrong buttons after a void. The daemon refuses each command."""
    void_by_chef(table)
    _fumble(table, AFTER_A_VOID)
    restore(table)


def _fumble(table: SimTable, names: tuple[str, ...]) -> None:
    """Give one to three of these commands, within about a second."""
    for name in table.rng.sample(names, table.rng.randint(1, 3)):
        table.wait(0.1, 0.4)
        table.command(name, reason="pressed by mistake")
