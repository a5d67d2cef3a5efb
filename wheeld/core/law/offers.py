"""What a command of a person would do in a state, read off the table: panels promise nothing else."""

from __future__ import annotations

from collections.abc import Collection

from wheeld.core.facts import Awaited, Fact, State, StateName
from wheeld.core.law.rows import STAY, Row
from wheeld.core.law.table import rule
from wheeld.core.observations import CommandName


def state_of(name: StateName, codes: Collection[Awaited]) -> State:
    """The state of a `table` message: two have one name there, and what they wait for (`codes`) tells them apart."""
    candidates = [state for state in State if state.wire_name == name]
    if len(candidates) == 1:
        return candidates[0]
    if name == State.RIEN_NE_VA_PLUS.wire_name:
        return State.BETS_CLOSED_EARLY if Awaited.LAUNCH in codes else State.RIEN_NE_VA_PLUS
    return State.RIEN_VA_OPERATIONS_OWED if Awaited.OPERATIONS_DONE in codes else State.RIEN_VA


def row_of(name: CommandName, state: State) -> Row | None:
    """The row by which the command does something there, if nothing is in its way; None where it is refused, or
    changes nothing."""
    row = rule(state, Fact[name.upper()])
    return None if row.refuse or (row.next is STAY and not row.acts) else row
