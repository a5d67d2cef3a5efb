"""Interruptions of play: breakdowns, suspensions, a closed table, a change of the bouler."""

from __future__ import annotations

from hw_sim.scenarios.registry import scenario
from hw_sim.scenarios.valid import drop, valid
from hw_sim.scenarios.voids import block_or_fall, restore
from hw_sim.table import AT_ONCE_S, SIGHTINGS_TO_CALL, SimTable

BEAMS_NEEDED = 3
"""A beam may be left out only if at least this many beams remain (docs/rulebook.md 6)."""


def running(table: SimTable) -> None:
    """Play a coup until its launch is known and the ball has run for some time more."""
    table.prepare_launch()
    table.launch(seconds=8)
    table.wait_until(table.pass_s(4))
    table.wait_for_part_of_run(0.3, 0.6)


def breakdown(table: SimTable) -> None:
    """Record that the coup is void now, as a breakdown."""
    table.void("breakdown", table.now_s, table.now_s + AT_ONCE_S)


def resume(table: SimTable, reason: str) -> None:
    """Let the direction resume play, after a pause. As long as the ball may be on the track, the table refuses
    "resume"."""
    table.wait(3, 6)
    table.command("resume", by="direction", reason=reason)


def repaired(table: SimTable, back_s: float) -> None:
    """Wait until the failed sensor works again at `back_s`. Then resume play and settle the valid coup."""
    table.wait_until(back_s)
    resume(table, "repaired")
    table.operations()


def _fault_while_running(table: SimTable, sensor: str) -> None:
    running(table)
    breakdown(table)
    back_s = table.outage(sensor, 4, 12)
    block_or_fall(table)
    table.wait_until(back_s)
    resume(table, "repaired")
    restore(table)


@scenario()
def breakdown_link(table: SimTable) -> None:
    """The cable between board and host fails while the ball runs."""
    _fault_while_running(table, "link")


@scenario()
def breakdown_sensor(table: SimTable) -> None:
    """A sensor that the others cannot replace fails its self-test while the ball runs."""
    beam = f"beam/{table.rng.randrange(len(table.layout.beams_deg))}"
    reader = f"reader/{table.rng.randrange(len(table.layout.readers_deg))}"
    needed = ["rotor", "object"]
    needed += [reader] if len(table.layout.readers_deg) == 1 else []
    needed += [beam] if len(table.layout.beams_deg) <= BEAMS_NEEDED else []
    _fault_while_running(table, table.rng.choice(needed))


@scenario()
def beam_spared(table: SimTable) -> None:
    """One of four or more beams fails its self-test while the ball runs: the others prove the coup."""
    beams = len(table.layout.beams_deg)
    if beams <= BEAMS_NEEDED:
        valid(table)
        return
    running(table)
    back_s = table.outage(f"beam/{table.rng.randrange(beams)}", 45, 55)
    table.result(table.fall())
    repaired(table, back_s)


@scenario(weight=0.5)
def breakdown_idle(table: SimTable) -> None:
    """The cable fails between coups: play is suspended, then resumed. A valid coup follows."""
    table.wait(2, 4)
    table.now_s = table.outage("link", 4, 8)
    resume(table, "cable")
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    valid(table)


@scenario()
def suspend_running(table: SimTable) -> None:
    """The direction suspends play while the ball runs."""
    running(table)
    table.command("suspend", by="direction", reason="order of the direction")
    breakdown(table)
    block_or_fall(table)
    resume(table, "order of the direction")
    restore(table)


@scenario()
def suspend_idle(table: SimTable) -> None:
    """The direction suspends play between coups, and a valid coup follows."""
    table.wait(2, 5)
    table.command("suspend", by="direction", reason="order of the direction")
    table.wait(5, 15)
    resume(table, "order of the direction")
    valid(table)


@scenario(weight=0.5)
def close_running(table: SimTable) -> None:
    """The direction closes the table while the ball runs. Then the table is opened again."""
    running(table)
    table.command("close", by="direction", reason="order of the direction")
    breakdown(table)
    block_or_fall(table)
    table.put_ball_back()
    table.command("open")
    table.wait(0.5, 2)
    table.command("tout_va")


@scenario(weight=0.5)
def launch_while_closed(table: SimTable) -> None:
    """The ball of a closed table is launched: a notice, but no coup. Then the table opens for a valid coup."""
    table.wait(2, 5)
    table.command("close")
    table.prepare_launch()
    table.launch()
    table.fall()
    table.wait_for_sightings(SIGHTINGS_TO_CALL)
    table.wait(0.5, 2)
    table.put_ball_back()
    table.command("open")
    valid(table)


@scenario(weight=0.5)
def bouler_change(table: SimTable) -> None:
    """Another bouler takes over between coups."""
    table.wait(1, 3)
    table.command("bouler", who=f"bouler-{table.rng.randint(1, 9)}")
    table.prepare_launch()
    table.launch()
    drop(table)
