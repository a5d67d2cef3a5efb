"""What a guard knows, and what several guards ask.

A guard chooses between two facts where the outcome depends on more than the fact itself: it stands in the module of
those facts, beside their rows, and is listed there in `GUARDS`. It answers and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from wheeld.core.facts import Fact
from wheeld.core.pockets import PocketLayout
from wheeld.core.table_state import TableState
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.observer import Observer


class Known(NamedTuple):
    """What is known of the table at sensing time `now_us`."""

    table_state: TableState
    observer: Observer
    pockets: PocketLayout
    now_us: int


EvidenceGuard: TypeAlias = Callable[[Evidence, Known], Fact]
CommandGuard: TypeAlias = Callable[[Known], Fact]


def is_in_place(known: Known) -> bool:
    """Whether the ball lies in the pocket of the last number; True without a last number, or without a sensor."""
    number = known.table_state.last_number
    return number is None or known.observer.lies_in(known.pockets.index_of[number], known.now_us) is not False


def is_place_unseen(known: Known) -> bool:
    """Whether the ball belongs in a pocket, and no sensor can see whether it lies there."""
    number = known.table_state.last_number
    return number is not None and known.observer.lies_in(known.pockets.index_of[number], known.now_us) is None
