"""R3 of docs/rulebook.md in the tests' own words: from which sighting on a number is proven, and when it was out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SIGHTINGS_NEEDED = 3
SPAN_TURNS = 0.5
"""Three sightings within a few degrees may be one bounce: those of several readers must span half a turn."""
SAME_READER_TURNS = 1.0
TURN_SLACK = 0.01
"""Of a full turn: a sighting is dated to the microsecond, and a third of a pocket is about a hundredth of a turn."""


class Met(NamedTuple):
    """A reader met the ball in its pocket: when, and how far the rotor had turned by then (turns, without sign)."""

    t_us: int
    reader: int
    turns: float


def proven_us(met: Sequence[Met]) -> int | None:
    """When consecutive sightings in one pocket prove the number, at the earliest; None when they do not."""
    for count, latest in enumerate(met, start=1):
        spanned = latest.turns - met[0].turns >= SPAN_TURNS
        again = any(
            latest.reader == before.reader and latest.turns - before.turns >= SAME_READER_TURNS - TURN_SLACK
            for before in met[:count]
        )
        if again or (count >= SIGHTINGS_NEEDED and spanned):
            return latest.t_us
    return None
