"""Publishes where the table stands, whenever that has changed."""

from __future__ import annotations

from wheeld.core.law.guards import Known, is_in_place
from wheeld.core.messages.waiting import waiting_for
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.setting import TableSetting
from wheeld.core.step import PendingStep
from wheeld.core.table_state import TableState
from wheeld.core.tracking.observer import Observer


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
        state.object_present = observer.object_present
        state.head_game = observer.head_game
        words = waiting_for(
            state.state,
            self._profile.phrases,
            laps=self._min_laps,
            object_present=state.object_present,
            misplaced=None if is_in_place(Known(state, observer, self._profile.pockets, now_us)) else state.last_number,
            faults=observer.faults,
        )
        wire_name, bets = state.state.wire_name, state.state.bets
        view = (wire_name, bets, state.last_number, state.last_coup, state.bouler, words)
        if view == state.view:
            return
        before, state.view = state.view, view
        is_on_board = before is None or view[:3] != before[:3] or bool(self._pending.verdicts)
        self._pending.messages += self._writer.standing(now_us, words, with_board=is_on_board)
