"""One sighting of the ball in a pocket, placed on the rotor."""

from __future__ import annotations

import msgspec

OFF_CENTRE_MAX = 0.40
"""In pockets: nearer to a wall than this the ball isn't lying in a pocket, or the rotor isn't where it is thought."""


class Seen(msgspec.Struct, frozen=True):
    """One sighting placed on the rotor; `offset` in pockets from the centre, `turned_deg` the rotor's own angle."""

    t_us: int
    reader: int
    pocket_index: int
    offset: float
    turned_deg: float
