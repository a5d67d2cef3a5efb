"""Finds reasons why learned angles must not be written into the configuration. R1 to R3 depend on the angles: a wrong
angle leads to wrong numbers.

Each reason is a line for the technician: what is wrong, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from wheeld.core.catalogue import Part, Text
from wheeld.core.names import sensor_text
from wheeld.core.pockets import PocketLayout
from wheeld.core.tracking.beams import FALL_US
from wheeld.doctor.findings import (
    BOTH_WAYS,
    BY_HAND,
    MIRRORED,
    READERS_MIRRORED,
    STEADY,
    SWAPPED,
    Finding,
    elsewhere,
    found_and_mend,
)
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
) -> Iterator[Text]:
    """Yield reasons against the angles of `beams`, which were learned from `spins`. `ball_given`: whether the
    technician gave the ball's direction."""
    if not beams:
        return
    for beam in beams:
        measured: dict[str, Part] = {
            "sensor": sensor_text(f"beam/{beam.index}"),
            "count": beam.count,
            "least": LAPS_MIN,
            "spread": beam.spread_deg,
        }
        if beam.count < LAPS_MIN:
            yield Text(
                "{sensor} was measured in {count} laps, {least} are needed: spin more; if it misses passes, check its "
                "wire and its light",
                measured,
            )
        elif beam.spread_deg > SPREAD_DEG:
            what = Text("{sensor}: its angle is known only to ± {spread}°", measured)
            yield Text("{first}: {second}", {"first": what, "second": STEADY["beam"]})
    if (against := contradiction(spins, configured_deg)) is not None:
        at: dict[str, Part] = {"sensor": sensor_text(f"beam/{against[0]}"), "apart": float(round(against[1]))}
        yield Text(
            "the spins show {sensor} at angles {apart}° apart: in one spin the ball ran with the rotor, or something "
            "else passed; spin again, against the rotor",
            at,
        )
    if ball_given and len({spin.rotor for spin in real(spins)} - {None}) > 1:
        yield Text(
            "the rotor turned clockwise in one spin and counter-clockwise in another, so --ball may be wrong for "
            "one of them: learn with the rotor in one direction, or spin the ball against the rotor and leave "
            "--ball out"
        )
    if not ball_given and order_of(beams, configured_deg) != "same":
        other_order = Text("the beams follow each other in another order than in beams_deg")
        yield Text("{first}: {second}", {"first": other_order, "second": MIRRORED})


def of_readers(
    readers: Sequence[Learned],
    spins: Sequence[Spin],
    configured_deg: Sequence[float],
    *,
    pockets: PocketLayout,
    number: int,
    ball_given: bool,
) -> Iterator[Text]:
    """Yield reasons against the angles of `readers`. They were learned from a ball that lay in the pocket of `number`,
    as the technician said."""
    if not readers:
        unseen = Text(
            "no reader saw the ball at rest, {seconds} s and more after its last pass", {"seconds": FALL_US / 1e6}
        )
        yield Text("{first}: {second}", {"first": unseen, "second": STEADY["reader"]})
    for reader in readers:
        at: dict[str, Part] = {
            "sensor": sensor_text(f"reader/{reader.index}"),
            "count": reader.count,
            "least": TURNS_MIN,
            "spread": reader.spread_deg,
        }
        if reader.count < TURNS_MIN:
            what = Text("{sensor} saw the ball at rest in {count} turns, {least} are needed", at)
            do = Text("{steady}; if it misses turns, aim it and clean it", {"steady": STEADY["reader"]})
            yield Text("{first}: {second}", {"first": what, "second": do})
        elif reader.spread_deg > SPREAD_DEG:
            what = Text("{sensor}: its angle is known only to ± {spread}°", at)
            yield Text("{first}: {second}", {"first": what, "second": STEADY["reader"]})
        elif reader.lacks is not None:
            what = Text("{sensor} saw the ball in one direction of the rotor only, and this rotor turns in both", at)
            yield Text("{first}: {second}", {"first": what, "second": BOTH_WAYS[reader.lacks]})
    if order_of(readers, configured_deg) == "mirrored":
        yield found_and_mend(READERS_MIRRORED, BY_HAND)
    elif ball_given and ran_with_rotor(spins):
        yield Text(
            "{swapped}, and then the angles of the readers would be mirrored: check A and B, or spin the ball "
            "against the rotor",
            {"swapped": SWAPPED},
        )
    elif (off := pockets_off(readers, configured_deg, pockets.pocket_deg)) != 0:
        angles = str([each.angle_deg for each in readers])
        yield Text(
            "{elsewhere}: check where the ball lies and give that number; write readers_deg = {angles} by hand if the "
            "encoder was moved",
            {"elsewhere": elsewhere(off, pockets, number), "angles": angles},
        )


def of_findings(found: Iterable[Finding]) -> Iterator[Text]:
    """Yield everything that is wrong with the wheel, except wrong angles: learning corrects those."""
    for each in found:
        if each.level == "wrong" and not each.is_angle:
            text = each.found if each.mend is None else found_and_mend(each.found, each.mend)
            yield Text("{finding}. The angles are written only when nothing else is wrong", {"finding": text})
