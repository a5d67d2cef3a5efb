"""What a witness tells, and what the table may ask of one."""

from __future__ import annotations

from typing import Protocol

import msgspec

from wheeld.core.law.facts import Fact
from wheeld.core.messages.payloads import Figures
from wheeld.core.observations import Observation
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.pocket import Seen


class Evidence(msgspec.Struct, frozen=True):
    """One fact, the sensing time at which it was evident, the few figures that show it, and how sure it is."""

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None


class Witness(Protocol):
    """Everything that watches one wheel: it says what happened, and when that was evident. It decides nothing."""

    only_later: bool
    """Whether the latest observation can but have put deadlines off, as most encoder edges do."""

    @property
    def object_present(self) -> bool:
        """Whether a foreign object lies in the cylinder."""
        ...

    @property
    def faults(self) -> tuple[str, ...]:
        """The sensors that fail, by name."""
        ...

    @property
    def sightings(self) -> list[Seen]:
        """The latest ones of the ball in one pocket; none where no reader looks."""
        ...

    @property
    def counters(self) -> dict[str, int]:
        """What was seen and counts for nothing, since the start."""
        ...

    def observe(self, seen: Observation) -> list[Evidence]:
        """What one observation proves; commands and clock readings prove nothing."""
        ...

    def deadline_us(self) -> int | None:
        """When the next absence would be a fact; None while nothing is awaited."""
        ...

    def expire(self, now_us: int) -> list[Evidence]:
        """What is evident because nothing came until `now_us`."""
        ...

    def object_since(self, t_us: int) -> bool:
        """Whether a foreign object was in the cylinder at any time from `t_us` on."""
        ...

    def passes_pending(self) -> bool:
        """Whether pulses came that may yet prove a launch."""
        ...

    def lies_in(self, pocket_index: int, now_us: int) -> bool | None:
        """Whether the ball lies in that pocket now; None where nothing watches that."""
        ...

    def rotor_rpm(self, now_us: int) -> float | None:
        """The rotor's speed without sign, turns per minute; None when not known."""
        ...

    def new_game(self) -> None:
        """The table is ready for a launch: a run that ended in somebody's hand must not hide the next one."""
        ...

    def disown(self) -> None:
        """The run going on is of no coup to come: it must not hide the next launch."""
        ...

    def idle(self, now_us: int) -> bool:
        """Whether what was observed lately matters to no coup to come."""
        ...
