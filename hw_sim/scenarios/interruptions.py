"""Breakdowns, suspensions, and the rest of a table's life."""

from __future__ import annotations

from hw_sim.scenarios.registry import scenario
from hw_sim.scenarios.valid import drop, valid
from hw_sim.scenarios.voids import block_or_fall, restore
from hw_sim.table import AT_ONCE_S, SIGHTINGS_TO_CALL, Stage


def _running(stage: Stage) -> None:
    stage.ready()
    stage.launch(seconds=8)
    stage.until(stage.pass_s(4))
    stage.part(0.3, 0.6)


def _breakdown(stage: Stage) -> None:
    stage.void("breakdown", stage.now_s, stage.now_s + AT_ONCE_S)


def _resume(stage: Stage, reason: str) -> None:
    stage.wait(1, 4)
    stage.say("resume", by="inspector", reason=reason)


def _fault_while_running(stage: Stage, sensor: str) -> None:
    _running(stage)
    _breakdown(stage)
    failed_s = stage.now_s
    stage.outage(sensor, 4, 12)
    back_s, stage.now_s = stage.now_s, failed_s
    block_or_fall(stage)
    stage.until(back_s)
    _resume(stage, "repaired")
    restore(stage)


@scenario()
def breakdown_link(stage: Stage) -> None:
    """The cable between board and host fails while the ball runs."""
    _fault_while_running(stage, "link")


@scenario()
def breakdown_sensor(stage: Stage) -> None:
    """A beam, a reader, the rotor's encoder or the object sensor fails its self-test while the ball runs."""
    beam = f"beam/{stage.rng.randrange(len(stage.layout.beams_deg))}"
    reader = f"reader/{stage.rng.randrange(len(stage.layout.readers_deg))}"
    _fault_while_running(stage, stage.rng.choice((beam, reader, "rotor", "object")))


@scenario(weight=0.5)
def breakdown_idle(stage: Stage) -> None:
    """The cable fails between coups: the table is suspended, resumed, and plays on."""
    stage.wait(2, 4)
    stage.outage("link", 3, 8)
    _resume(stage, "cable")
    stage.see(SIGHTINGS_TO_CALL)
    valid(stage)


@scenario()
def suspend_running(stage: Stage) -> None:
    """The direction suspends play while the ball runs."""
    _running(stage)
    stage.say("suspend", by="direction", reason="order of the direction")
    _breakdown(stage)
    block_or_fall(stage)
    _resume(stage, "order of the direction")
    restore(stage)


@scenario()
def suspend_idle(stage: Stage) -> None:
    """The direction suspends play between coups, and a valid coup follows."""
    stage.wait(2, 5)
    stage.say("suspend", by="direction", reason="order of the direction")
    stage.wait(5, 15)
    _resume(stage, "order of the direction")
    valid(stage)


@scenario(weight=0.5)
def close_running(stage: Stage) -> None:
    """The direction closes the table while the ball runs; it is opened anew."""
    _running(stage)
    stage.say("close", by="direction", reason="order of the direction")
    _breakdown(stage)
    block_or_fall(stage)
    stage.put_back()
    stage.say("open")
    stage.wait(0.5, 2)
    stage.say("tout_va")


@scenario(weight=0.5)
def launch_while_closed(stage: Stage) -> None:
    """Someone plays with the ball of a closed table: a notice, no coup; then it opens for a valid one."""
    stage.wait(2, 5)
    stage.say("close")
    stage.ready()
    stage.launch()
    stage.fall()
    stage.see(SIGHTINGS_TO_CALL)
    stage.wait(0.5, 2)
    stage.put_back()
    stage.say("open")
    valid(stage)


@scenario(weight=0.5)
def bouler_change(stage: Stage) -> None:
    """Another bouler takes over between coups."""
    stage.wait(1, 3)
    stage.say("bouler", who=f"bouler-{stage.rng.randint(1, 9)}")
    stage.ready()
    stage.launch()
    drop(stage)
