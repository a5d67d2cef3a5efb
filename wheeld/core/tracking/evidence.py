"""What the observer emits: facts with the time and the figures that show them."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from wheeld.core.facts import Fact, Trouble
from wheeld.core.tracking.margin import Margin

Figures: TypeAlias = dict[str, int | float | str]
"""The few numbers that decide, by name; names carry their units."""


class Evidence(msgspec.Struct, frozen=True, tag_field="kind", tag="evidence"):
    """One fact, the sensing time of what shows it, the few figures that show it, and how sure it is.

    `earliest_us`: it may have happened as early as this, because its source reports it later and does not say when;
    None when it happened at `evidence_us`.
    """

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None
    earliest_us: int | None = None


def blind_sensor(sensor: str, t_us: int) -> Evidence:
    """It alone saw nothing where the others saw the ball: play goes on, and somebody looks at it."""
    return Evidence(Fact.SENSOR_TROUBLE, t_us, {"sensor": sensor, "what": Trouble.BLIND.value})
