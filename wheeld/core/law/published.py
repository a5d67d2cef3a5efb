"""Makes the state of a table from the messages that it published. A restart needs this if only the feed is left.

The feed does not have everything. The bouler's time starts from zero. If the chef had to confirm a number, what the
sensors showed of its run is lost, so he must confirm R1, R2 and R3. A coup that ran becomes void, as at any restart.
"""

from __future__ import annotations

import msgspec

from wheeld.core.facts import Awaited, Cause, LastCoup, Person, State, StateName
from wheeld.core.law.table import state_of
from wheeld.core.observations import PLACE
from wheeld.core.table_state import Bouler, Called, Coup, PublishedVoid, TableState

_CODES = {code.value: code for code in Awaited}
_OWING = (State.OPERATIONS, State.RIEN_VA_OPERATIONS_OWED)
_STOPPED = (State.CLOSED, State.SUSPENDED)
_AFTER_VOID = (*_STOPPED, State.RIEN_VA, State.RIEN_VA_OPERATIONS_OWED)


class _Said(msgspec.Struct):
    """The members of a message that show the state of the table. Only some kinds have the members after `at`."""

    seq: int
    hash: str
    coup: int
    at: str
    number: int | None = None
    cause: Cause | None = None
    state: StateName | None = None
    since: str = ""
    waiting_codes: list[str] = []
    last_number: int | None = None
    last_coup: LastCoup | None = None
    number_awaiting_chef: int | None = None
    bouler: str | None = None
    next_bouler: str | None = None
    acknowledged_by: str | None = None
    failing: list[str] = []
    without: list[str] = []
    by: str | None = None
    user: str | None = None
    reason: str | None = None


class PublishedState:
    """The state of a table, made from the messages that it published. Give them to `take` in their order."""

    def __init__(self) -> None:
        self.state = TableState()

    def take(self, topic: str, payload: bytes, at_utc_us: int) -> None:
        """Take the next message, dated `at_utc_us`. Raises msgspec.MsgspecError if it is not a message of a feed."""
        said, state = msgspec.json.decode(payload, type=_Said), self.state
        state.seq, state.prev, state.told_us = said.seq, said.hash, at_utc_us
        if topic != "ruling" and said.coup > state.coup:
            state.coup, state.decided = said.coup, False
        if topic == "result" and said.number is not None:
            state.come_out(said.number)
            self._decide(State.OPERATIONS)
        elif topic == "void" and said.cause is not None:
            state.last_void, state.tout_va_owed = PublishedVoid(said.coup, said.cause, said.at), True
            owes = (state.resume_to if state.state is State.SUSPENDED else state.state) in _OWING
            self._decide(State.RIEN_VA_OPERATIONS_OWED if owes else State.RIEN_VA)
        elif topic == "table" and said.state is not None:
            now = state_of(said.state, [_CODES[code] for code in said.waiting_codes if code in _CODES])
            if now is State.SUSPENDED and state.state is not State.SUSPENDED:
                state.resume_to = state.state
            if now not in _AFTER_VOID:
                state.tout_va_owed = False
            state.state, state.since_at, state.last_number = now, said.since, said.last_number
            state.moved_by = None if said.by is None else Person(said.by, said.reason or "", said.user)
            this = said.coup
            state.la_derniere = {None: None, "played": "played", "this": this, "next": this + 1}[said.last_coup]
            state.left_out, state.slipped = said.without, PLACE in said.failing
            state.spinning = Bouler(
                who=said.bouler,
                since_utc_us=None if now is State.CLOSED else state.told_us,
                next_who=said.next_bouler,
                acknowledged_by=said.acknowledged_by,
            )
            awaits_chef = not state.decided and Awaited.CONFIRM.value in said.waiting_codes
            called = Called(said.number_awaiting_chef, 0, 0, None, None, [], None, ("R1", "R2", "R3"))
            state.current = Coup(called=called if awaits_chef else None)

    def _decide(self, after: State) -> None:
        """Note a verdict, and the state after it. The next message usually gives this state, but may be missing."""
        state = self.state
        state.decided = True
        if state.state not in _STOPPED:
            state.state = after
        elif state.state is State.SUSPENDED and state.resume_to is not State.CLOSED:
            state.resume_to = after
