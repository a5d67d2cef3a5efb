"""What a fact means at this table now: testimonies and commands joined with the table_state, before the law is asked.

Nothing is decided here: where two outcomes depend on what the table_state or the readers know, they are two facts, each
with its own rows in the law.
"""

from __future__ import annotations

from wheeld.core.law.facts import Fact, State
from wheeld.core.law.rows import NULL
from wheeld.core.observations import Command
from wheeld.core.pockets import index_of
from wheeld.core.table_state import TableState
from wheeld.core.tracking.evidence import Testimony, Witness

NUMBERS = (Fact.NUMBER, Fact.NUMBER_UNPROVEN, Fact.NUMBER_UNCONFIRMED)


def in_place(witness: Witness, table_state: TableState, now_us: int) -> bool:
    """C11: the ball lies in the last number's pocket; without a last number, or a sensor, the chef's word serves."""
    number = table_state.last_number
    return number is None or witness.lies_in(index_of(number), now_us) is not False


def place_unseen(witness: Witness, table_state: TableState, now_us: int) -> bool:
    """Whether the ball belongs in a pocket, and no sensor can say whether it lies there."""
    number = table_state.last_number
    return number is not None and witness.lies_in(index_of(number), now_us) is None


def missing(command: Command) -> str:
    """What a command lacks that it can't be understood without; empty when nothing."""
    if command.name == "bouler" and not command.who:
        return 'it names nobody: give "who"'
    if command.name == "confirm" and command.coup is None:
        return 'it names no coup, and another may have come: give "coup"'
    if command.name == "confirm" and not command.reason:
        return 'it gives no reason, and the result records one: give "reason"'
    return ""


def asked(command: Command, witness: Witness, table_state: TableState, now_us: int) -> Fact:
    """A command joined with what decides whether it may pass."""
    present, faults = witness.object_present, witness.faults
    match command.name:
        case "tout_va" if present:
            return Fact.TOUT_VA_OBJECT
        case "tout_va" if not in_place(witness, table_state, now_us):
            return Fact.TOUT_VA_MISPLACED
        case "tout_va" | "operations_done" if table_state.closing and not present:
            return Fact[f"{command.name.upper()}_LAST"]
        case "operations_done" if present:
            return Fact.OPERATIONS_DONE_OBJECT
        case "resume" if faults:
            return Fact.RESUME_FAULTY
        case "open" if faults:
            return Fact.OPEN_FAULTY
        case "rien_va":
            return Fact.CHEF_VOID_AT_LAUNCH if witness.passes_pending() else Fact.CHEF_VOID
        case name:
            return Fact[name.upper()]


def joined(told: Testimony, witness: Witness, table_state: TableState) -> Fact:
    """A testimony joined with where the table stood when it was evident, the ball's place and the cylinder."""
    home = told.figures.get("number") in (table_state.last_number, None)
    match told.fact:
        case Fact.LAUNCHED | Fact.WEAK_LAUNCH if told.evidence_us < max(table_state.ready_us, table_state.null_us):
            return _launched_before(told, table_state)
        case Fact.LAUNCHED if witness.object_since(told.evidence_us):
            return Fact.LAUNCHED_OVER_OBJECT
        case Fact.BALL_MOVED if home or (table_state.last_number is None and "from_pocket_index" not in told.figures):
            return Fact.BALL_IN_PLACE
        case fact if fact in NUMBERS and home and table_state.state in (*NULL, State.SUSPENDED):
            return Fact.BALL_IN_PLACE
        case fact:
            return fact


def _launched_before(told: Testimony, table_state: TableState) -> Fact:
    """A launch proven after the table moved on is judged where it was made."""
    if told.evidence_us < table_state.null_us:
        return Fact.LAUNCHED_NULL
    if table_state.stood_in(told.evidence_us) not in (State.CLOSED, State.SUSPENDED):
        return Fact.LAUNCHED_BEFORE
    return Fact.LAUNCHED_IDLE if told.fact is Fact.LAUNCHED else Fact.LAUNCHED_NULL
