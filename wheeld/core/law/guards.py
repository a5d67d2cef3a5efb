"""What a guard knows, and what several guards ask.

A guard chooses between two facts where the outcome depends on more than the fact itself: it stands in the module of
those facts, beside their rows, and is listed there in `GUARDS`. It answers and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from wheeld.core.facts import Fact
from wheeld.core.observations import Command
from wheeld.core.pockets import PocketLayout
from wheeld.core.table_state import TableState
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.observer import Observer


class Known(NamedTuple):
    """What is known of the table at sensing time `now_us`. `command`: the one at hand, if there is one."""

    table_state: TableState
    observer: Observer
    pockets: PocketLayout
    now_us: int
    command: Command | None = None


EvidenceGuard: TypeAlias = Callable[[Evidence, Known], Fact]
CommandGuard: TypeAlias = Callable[[Known], Fact]


def asked(known: Known) -> Command:
    """The command at hand."""
    assert known.command is not None, "a guard of commands is asked about one"
    return known.command


def is_in_place(known: Known) -> bool:
    """Whether the ball lies in the pocket of the last number; True without a last number, or without a sensor."""
    number = known.table_state.last_number
    return number is None or known.observer.lies_in(known.pockets.index_of[number], known.now_us) is not False


def is_seen_elsewhere(known: Known) -> bool:
    """Whether readers see the ball lie in another pocket than that of the last number. While the rotor stands they see
    nothing: a hand may have put it back since."""
    number, place = known.table_state.last_number, known.observer.place(known.now_us)
    if known.observer.rotor.is_standing:
        return False
    return number is not None and place is not None and place != known.pockets.index_of[number]


def is_place_unseen(known: Known) -> bool:
    """Whether the ball belongs in a pocket, and no sensor can see whether it lies there."""
    number = known.table_state.last_number
    return number is not None and known.observer.lies_in(known.pockets.index_of[number], known.now_us) is None
