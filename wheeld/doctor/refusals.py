"""Why learned angles must not be written. R1 to R3 depend on them: a wrong angle leads to wrong numbers.

Each reason is a line for the technician: what is wrong, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from wheeld.core.tracking.ball import FALL_US
from wheeld.doctor.findings import MIRRORED, STEADY, SWAPPED, Finding, elsewhere
from wheeld.doctor.geometry import (
    LAPS_MIN,
    SPREAD_DEG,
    TURNS_MIN,
    Learned,
    Spin,
    contradiction,
    order_of,
    pockets_off,
    ran_with_rotor,
    real,
)


def of_beams(
    beams: Sequence[Learned], spins: Sequence[Spin], configured_deg: Sequence[float], *, ball_given: bool
) -> Iterator[str]:
    """Reasons against the beams learned from `spins`. `ball_given`: the technician gave the ball's direction."""
    if not beams:
        return
    for beam in beams:
        if beam.count < LAPS_MIN:
            what = f"beam {beam.index} was measured in {beam.count} laps, {LAPS_MIN} are needed"
            yield f"{what}: spin more; if it misses passes, check its wire and its light"
        elif beam.spread_deg > SPREAD_DEG:
            yield f"beam {beam.index}: single laps differ by {beam.spread_deg:g}°: {STEADY['beam']}"
    if (against := contradiction(spins, configured_deg)) is not None:
        what = f"the spins show beam {against[0]} at angles {against[1]:.0f}° apart"
        yield f"{what}: in one the ball ran with the rotor, or something else passed; spin again, against the rotor"
    if ball_given and len({spin.rotor for spin in real(spins)} - {None}) > 1:
        what = "the rotor turned cw in one spin and ccw in another, so --ball may be wrong for one of them"
        yield f"{what}: learn with the rotor in one direction, or throw against the rotor and leave --ball out"
    if not ball_given and order_of(beams, configured_deg) != "same":
        yield f"the beams follow each other in another order than in beams_deg: {MIRRORED}"


def of_readers(
    readers: Sequence[Learned], spins: Sequence[Spin], configured_deg: Sequence[float], *, number: int, ball_given: bool
) -> Iterator[str]:
    """Reasons against the readers learned from a ball that lies in `number`, as the technician says."""
    if not readers:
        yield f"no reader saw the ball at rest, {FALL_US / 1e6:g} s and more after its last pass: {STEADY['reader']}"
    for reader in readers:
        if reader.count < TURNS_MIN:
            what = f"reader {reader.index} saw the ball at rest in {reader.count} turns, {TURNS_MIN} are needed"
            yield f"{what}: {STEADY['reader']}; if it misses turns, aim it and clean it"
        elif reader.spread_deg > SPREAD_DEG:
            yield f"reader {reader.index}: single turns differ by {reader.spread_deg:g}°: {STEADY['reader']}"
    if order_of(readers, configured_deg) == "mirrored":
        what = "the readers follow each other in the opposite order of readers_deg"
        yield f"{what}: the encoder's A and B may be swapped, or the readers are numbered the other way round"
    elif ball_given and ran_with_rotor(spins):
        yield f"{SWAPPED}, which would mirror the readers: check A and B, or throw against the rotor"
    elif (pockets := pockets_off(readers, configured_deg)) != 0:
        by_hand = f"write readers_deg = {[each.angle_deg for each in readers]} by hand if the encoder was moved"
        yield f"{elsewhere(pockets, number)}: check where the ball lies and give that number; {by_hand}"


def of_findings(found: Iterable[Finding]) -> Iterator[str]:
    """Everything else that is wrong with the wheel."""
    for each in found:
        if each.level == "wrong" and not each.is_angle:
            yield f"{each.what}; {each.do}. Nothing is written while anything but an angle is wrong"
