"""Publishes where the table stands and what it waits for, whenever that has changed."""

from __future__ import annotations

from wheeld.core.facts import State
from wheeld.core.law.guards import Known, is_in_place
from wheeld.core.law.rows import AFTER_VOID
from wheeld.core.messages.phrases import Phrases
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.setting import TableSetting
from wheeld.core.step import PendingStep
from wheeld.core.table_state import TableState
from wheeld.core.tracking.observer import Observer

_OBJECT_MATTERS = (State.FAITES_VOS_JEUX, State.BETS_CLOSED_EARLY, State.OPERATIONS, *AFTER_VOID)
"""N6: the next coup waits until it is cleared, and a launch over it is void."""


class StatePublisher:
    """The messages `table` and `board` of one table. They go into `pending`, the step at hand."""

    def __init__(
        self,
        setting: TableSetting,
        state: TableState,
        observer: Observer,
        writer: MessageWriter,
        pending: PendingStep,
    ) -> None:
        self._min_laps, self._profile = setting.min_laps, setting.profile
        self._state, self._observer = state, observer
        self._writer, self._pending = writer, pending

    def publish(self, now_us: int) -> None:
        """Publish `table` if anything in it changed, and `board` with it if that changed too."""
        state, observer = self._state, self._observer
        misplaced = self._misplaced(now_us)
        state.object_present = observer.object_present
        state.head_game = observer.head_game
        words = waiting_for(
            state.state,
            self._profile.phrases,
            laps=self._min_laps,
            object_present=state.object_present,
            misplaced=misplaced,
            faults=observer.faults,
        )
        wire_name, bets = state.state.wire_name, state.state.bets
        view = (wire_name, bets, state.last_number, state.last_coup, state.bouler, words)
        if view == state.view:
            return
        before, state.view = state.view, view
        is_on_board = before is None or view[:3] != before[:3] or bool(self._pending.verdicts)
        self._pending.messages += self._writer.standing(now_us, words, with_board=is_on_board)

    def _misplaced(self, now_us: int) -> int | None:
        """The number whose pocket the ball must be put in before "tout va"; None while none is waited for."""
        state = self._state
        if state.state not in AFTER_VOID or is_in_place(Known(state, self._observer, self._profile.pockets, now_us)):
            return None
        return state.last_number


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
