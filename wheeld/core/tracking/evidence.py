"""What the observer emits: facts with the time and the figures that show them."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.tracking.margin import Margin

Figures: TypeAlias = dict[str, int | float | str]
"""The few numbers that decide, by name; names carry their units."""


class Evidence(msgspec.Struct, frozen=True):
    """One fact, the sensing time at which it was evident, the few figures that show it, and how sure it is."""

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None
