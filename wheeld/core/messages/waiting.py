"""What must happen next, for the people at the table (`waiting_for`)."""

from __future__ import annotations

from wheeld.core.law.facts import State
from wheeld.core.law.rows import AFTER_VOID
from wheeld.core.messages.phrases import Phrases

_OBJECT_MATTERS = (State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY, State.OPERATIONS, *AFTER_VOID)
"""N6: the next coup waits until it is cleared, and a launch over it is void."""


def waiting_for(
    state: State,
    phrases: Phrases,
    *,
    object_present: bool = False,
    misplaced: int | None = None,
    faults: tuple[str, ...] = (),
    laps: int = 3,
) -> str:
    """The steps still owed, in order, as one text.

    `misplaced` is the number whose pocket the ball belongs in and isn't; `laps` are those that the chef must answer for
    where no sensor can prove them (R2).
    """
    steps = []
    if object_present and state in _OBJECT_MATTERS:
        steps.append(phrases.remove_object)
    if state is State.SUSPENDED and faults:
        steps.append(phrases.repair.format(", ".join(faults)))
    if state in AFTER_VOID:
        if misplaced is not None:
            steps.append(phrases.put_back.format(misplaced))
        steps.append(phrases.tout_va)
        if state is State.RIEN_VA_OPERATIONS_OWED:
            steps.append(phrases.next_step[State.OPERATIONS])
    else:
        steps.append(phrases.next_step[state].format(laps))
    return phrases.then.join(steps)
