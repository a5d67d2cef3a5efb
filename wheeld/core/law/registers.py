"""What decides beside the table of rows: the hidden machines that `law/__init__.py` lists."""

from __future__ import annotations

import msgspec

from wheeld.core.facts import State
from wheeld.core.law.rows import AFTER_VOID, BEFORE_LAUNCH
from wheeld.core.observations import Command
from wheeld.core.tracking.passes import LEAVE_REV_S

MEANINGS_KEPT = 8
"""A launch is proven within about a lap. In that time people cannot give more commands than this."""
SAME_FOR_A_LAUNCH = ({*AFTER_VOID}, {*BEFORE_LAUNCH}, {State.CLOSED, State.SUSPENDED})
"""A move within one of these groups does not change what a launch means: early, awaited, or of no game."""
STILL_RUNNING_US = round(1e6 / LEAVE_REV_S)
"""For this long after a restart, a ball that is first seen may have run before the restart. Even the slowest ball is
seen within one turn. If its coup was void, the same run is no second launch (docs/rulebook.md 2: once void, it never
becomes another)."""


class Meaning(msgspec.Struct):
    """Since `since_us`, on the sensing clock, a launch has meant what it means in `state`."""

    since_us: int
    state: State


class LaunchRegister(msgspec.Struct):
    """A launch means what it meant when it was made. But it is proven only later.

    `meanings`: what a launch meant lately, latest last. `void_before_us`: if a ball is first seen before this time, its
    coup is void already. `void_asked`: the chef's command to declare a coup void. Only a head sees the ball of that
    coup, and it had not reported the ball yet. None of them outlives a restart.
    """

    meanings: list[Meaning]
    void_before_us: int = 0
    void_asked: Command | None = None

    @classmethod
    def starting_in(cls, state: State) -> LaunchRegister:
        """At sensing time 0 the table is in `state`."""
        return cls([Meaning(0, state)])

    @property
    def ready_us(self) -> int:
        """Sensing time since when a launch means what it means now."""
        return self.meanings[-1].since_us

    def meaning_at(self, t_us: int) -> State:
        """What a launch at `t_us` meant: a state that means the same."""
        before = [meaning.state for meaning in self.meanings if meaning.since_us <= t_us]
        return before[-1] if before else self.meanings[0].state

    def begin(self, state: State, since_us: int) -> None:
        """From `since_us` on a launch means what it means in `state`."""
        self.meanings = [*self.meanings[-MEANINGS_KEPT + 1 :], Meaning(since_us, state)]

    def move(self, before: State, after: State, now_us: int) -> None:
        """The table moved at `now_us`. A pass with exactly this time came before the move, because a command gets the
        time of the latest observation. So a launch has its new meaning one microsecond later."""
        if {before, after} not in SAME_FOR_A_LAUNCH:
            self.begin(after, now_us + 1)

    def restart(self, state: State) -> None:
        """The controller was restarted: the ball of a coup that is void may still run."""
        if state in (*AFTER_VOID, State.SUSPENDED):
            self.void_before_us = STILL_RUNNING_US
            self.begin(state, STILL_RUNNING_US)


def state_after_suspension(hidden: State, *, is_void: bool) -> State:
    """The state in which the table goes on after a suspension. `hidden`: its state before the suspension. `is_void`:
    the coup became void with the suspension."""
    if not is_void or hidden is State.CLOSED:
        return hidden
    owes_operations = hidden in (State.OPERATIONS, State.RIEN_VA_OPERATIONS_OWED)
    return State.RIEN_VA_OPERATIONS_OWED if owes_operations else State.RIEN_VA
