"""Where a row leads, and what stands when the table has moved: an object in the cylinder, a sensor that fails, a ball
that still runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wheeld.core.facts import Fact, State
from wheeld.core.law.guards import Known
from wheeld.core.law.rows import BEFORE_LAUNCH, COUP, OPEN_IDLE, RUNNING, Goto, Row
from wheeld.core.table_state import TableState
from wheeld.core.tracking.evidence import Evidence


def standing_evidence(before: State, known: Known, evidence_us: int) -> Iterator[Evidence]:
    """What a state that was just entered meets at once, because it stands since before: a coup that begins meets an
    object in the cylinder (N6); an open table meets a sensor that failed, or a wheel that stopped, while a number
    awaited the chef (N8); a game that waits for its launch meets a wheel that has failed to launch."""
    state, observer = known.table_state, known.observer
    if before in BEFORE_LAUNCH and state.state in RUNNING and state.object_level == "present":
        yield Evidence(Fact.OBJECT_IN, evidence_us)
    if before in COUP and state.state in OPEN_IDLE and observer.faults:
        yield Evidence(Fact.SENSOR_FAULT, evidence_us, {"sensor": observer.faults[0]})
    if before in COUP and state.state in OPEN_IDLE and observer.wheel_stopped:
        yield Evidence(Fact.WHEEL_STOPPED, evidence_us)
    if before not in BEFORE_LAUNCH and state.state in BEFORE_LAUNCH and observer.launch_failed:
        yield Evidence(Fact.LAUNCH_FAILED, evidence_us)


class Move(NamedTuple):
    """Where a row leads: the state, where `resume` leads from there, and whether a new game begins, for which bets are
    open and a launch is awaited."""

    state: State
    resume_to: State
    is_new_game: bool


def move(row: Row, table: TableState) -> Move | None:
    """Where the row leads from where the table stands; None when it stays."""
    if row.next is Goto.STAY:
        return None
    after = table.resume_to if row.next is Goto.RETURN else row.next
    assert isinstance(after, State), "a row leads to a state, or back"
    resume_to = table.resume_to
    if after is State.SUSPENDED:
        hidden = table.resume_to if table.state is State.SUSPENDED else table.state
        resume_to = _state_after_suspension(hidden, is_void=row.void is not None)
    return Move(after, resume_to, is_new_game=after is State.FAITES_VOS_JEUX)


def is_running(state: State) -> bool:
    """Whether a coup is at hand, from its launch to its verdict."""
    return state in COUP


def is_closed(state: State) -> bool:
    """Whether no game is on."""
    return state is State.CLOSED


def may_run_still(table: TableState) -> bool:
    """After a restart: whether a ball may run whose coup is void, or is void by the restart."""
    last_void = table.last_void
    return table.state in RUNNING or (last_void is not None and last_void.coup == table.coup)


def _state_after_suspension(hidden: State, *, is_void: bool) -> State:
    """The state in which the table goes on after a suspension. `hidden`: its state before the suspension. `is_void`:
    the coup became void with the suspension."""
    if not is_void or hidden is State.CLOSED:
        return hidden
    owes_operations = hidden in (State.OPERATIONS, State.RIEN_VA_OPERATIONS_OWED)
    return State.RIEN_VA_OPERATIONS_OWED if owes_operations else State.RIEN_VA
