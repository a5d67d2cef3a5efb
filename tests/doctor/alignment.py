"""A wheel that a technician aligns: free spins over beams that stand where the simulator put them."""

from __future__ import annotations

import msgspec

from hw_sim.evening import repeatable
from hw_sim.table import SimTable
from hw_sim.wheel import WheelLayout, opposite
from wheeld.core.catalogue import Catalogue
from wheeld.core.observations import Observation, Rotor, Sighting
from wheeld.doctor.findings import Finding

TICKS = 148


def do(finding: Finding) -> str:
    """What to do about the finding, in English."""
    return "" if finding.mend is None else Catalogue("en").say_text(finding.mend)


def layout(beams_deg: tuple[float, ...], readers_deg: tuple[float, ...] = (30.0, 150.0, 270.0)) -> WheelLayout:
    return WheelLayout("campione", "roulette", TICKS, beams_deg, readers_deg)


def spun(wheel: WheelLayout, seed: int, *, spins: int = 3, sightings: int = 6) -> tuple[list[Observation], int]:
    """What the sensors say of free spins, the ball read in its pocket after each (so often, and thrice more), at
    the end with the rotor turning the other way too; and the last pocket's number."""
    table = SimTable(wheel, repeatable(f"alignment {seed}"), 17)
    number = 17
    for _ in range(spins):
        table.prepare_launch()
        table.launch(seconds=10)
        number = table.fall()
        table.wait_for_sightings(sightings)
        table.result(number)
    table.direction = opposite(table.direction)
    table.spin_rotor()
    table.wait_for_sightings(sightings)
    events = table.world.events(table.now_s)
    return [msgspec.json.decode(msgspec.json.encode(event), type=Observation) for event in events], number


def with_rotor(seen: list[Observation]) -> list[Observation]:
    """The same, but that the rotor turned the way of the ball."""
    other = {"cw": "ccw", "ccw": "cw"}
    return [Rotor(each.t_us, each.tick, other[each.direction]) if isinstance(each, Rotor) else each for each in seen]  # type: ignore[arg-type]


def swapped(seen: list[Observation]) -> list[Observation]:
    """The same of an encoder whose A and B are swapped: its sectors run the other way round too."""
    return [
        Rotor(each.t_us, TICKS - 1 - each.tick, each.direction) if isinstance(each, Rotor) else each
        for each in with_rotor(seen)
    ]


def late(seen: list[Observation], by_us: int) -> list[Observation]:
    """The same with readers that tell of the ball later."""
    moved = (Sighting(each.t_us + by_us, each.reader) if isinstance(each, Sighting) else each for each in seen)
    return sorted(moved, key=lambda each: each.t_us)


def exchanged(seen: list[Observation]) -> list[Observation]:
    """The same with the wires of readers 2 and 3 exchanged."""
    return [Sighting(each.t_us, (0, 2, 1)[each.reader]) if isinstance(each, Sighting) else each for each in seen]


def after(first: list[Observation], then: list[Observation]) -> list[Observation]:
    """One session after the other."""
    later_us = first[-1].t_us + 6_000_000
    return [*first, *(msgspec.structs.replace(each, t_us=each.t_us + later_us) for each in then)]
