"""What the observer emits: facts with the time and the figures that show them."""

from __future__ import annotations

import msgspec

from wheeld.core.law.facts import Fact
from wheeld.core.messages.payloads import Figures
from wheeld.core.tracking.margin import Margin


class Evidence(msgspec.Struct, frozen=True):
    """One fact, the sensing time at which it was evident, the few figures that show it, and how sure it is."""

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None
