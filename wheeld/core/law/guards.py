"""What guards, conditions and needs know, and what they ask.

A guard chooses between two facts of sensors where the outcome depends on more than the fact itself: it stands in the
module of those facts, beside their rows, and is listed there in `GUARDS`. It answers and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from wheeld.core.facts import Fact, State
from wheeld.core.law.rows import BEFORE_LAUNCH
from wheeld.core.observations import Command
from wheeld.core.pockets import PocketLayout
from wheeld.core.table_state import TableState
from wheeld.core.tracking.ball import Where
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


def asked(known: Known) -> Command:
    """The command at hand."""
    assert known.command is not None, "a guard of commands is asked about one"
    return known.command


def is_in_place(known: Known) -> bool:
    """Whether the ball lies in the pocket of the last number; True without a last number, or without a sensor."""
    number = known.table_state.last_number
    return number is None or known.observer.lies_in(known.pockets.index_of[number], known.now_us) is not False


def is_seen_in_place(known: Known) -> bool:
    """Whether readers see the ball in the pocket of the last number."""
    number = known.table_state.last_number
    return number is not None and known.observer.lies_in(known.pockets.index_of[number], known.now_us) is True


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


def must_rest_first(known: Known) -> bool:
    """Whether the command for which the table waits is refused until the ball rests. One rule for every command that
    opens the bets, whosever ball it is: nobody may bet on a coup that was not observed whole (docs/rulebook.md 6).
    "Resume" waits for a ball on the track wherever it leads. All of it ends by itself: the ball is seen at rest, or the
    time of a fall is over."""
    where, table = known.observer.ball.where, known.table_state
    if where is Where.RUNS:
        return table.state is State.SUSPENDED or _opens_bets_next(known)
    is_falling = where is Where.FALLS and not is_seen_in_place(known)
    return is_falling and _opens_bets_next(known)


def is_obstacle_open(known: Known) -> bool:
    """Whether a launched ball was seen at rest nowhere, and the command for which the table waits opens the bets: no
    sensor tells an obstacle from a hand, so a person looks, and answers for it."""
    return known.observer.ball.where is Where.UNSEEN and _opens_bets_next(known)


def _opens_bets_next(known: Known) -> bool:
    """Whether the command for which the table waits leads to a new game, or back into one."""
    table = known.table_state
    match table.state:
        case State.SUSPENDED:
            return table.resume_to in BEFORE_LAUNCH
        case State.CLOSED:
            return not table.tout_va_owed
        case State.RIEN_VA:
            return not table.closing and is_in_place(known)
        case State.OPERATIONS:
            return not table.closing
    return table.state is State.BETS_CLOSED_EARLY
