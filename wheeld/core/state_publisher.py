"""Publishes where the table stands and what it waits for, whenever that has changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from wheeld.core.catalogue import Catalogue, Text
from wheeld.core.facts import Awaited
from wheeld.core.law.awaited import awaited
from wheeld.core.law.guards import Known, is_in_place
from wheeld.core.messages.phrases import AWAITED, NUMBER_SEEN, NUMBER_UNSEEN
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.names import sensor_texts
from wheeld.core.setting import TableSetting
from wheeld.core.step import PendingStep
from wheeld.core.table_state import Called, TableState
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
        self._setting, self._profile, self._catalogue = setting, setting.profile, setting.catalogue
        self._state, self._observer = state, observer
        self._writer, self._pending = writer, pending

    def publish(self, now_us: int) -> None:
        """Publish `table` if anything in it changed, and `board` with it if that changed too."""
        state, observer = self._state, self._observer
        state.head_game = observer.head_game
        codes = awaited(state.state, self._owed(now_us))
        words = waiting_for(
            codes,
            self._catalogue,
            laps=self._setting.min_laps,
            number=state.last_number,
            called=state.current.called,
            faults=observer.faults,
        )
        wire_name, bets = state.state.wire_name, state.state.bets
        on_board = (wire_name, bets, state.last_number, state.last_coup)
        sensors = " ".join(observer.faults), " ".join(state.left_out)
        view = (*on_board, state.spinning.who, words, *(state.moved_by or (None, None)), *sensors)
        if view == state.view:
            return
        before, state.view = state.view, view
        is_on_board = before is None or on_board != before[: len(on_board)] or bool(self._pending.verdicts)
        self._pending.messages += self._writer.standing(now_us, words, codes, observer.faults, with_board=is_on_board)

    def _owed(self, now_us: int) -> frozenset[Awaited]:
        """What comes before the next coup."""
        known = Known(self._state, self._observer, self._profile.pockets, now_us)
        owed = {
            Awaited.NO_LAUNCH: self._observer.ball_taken,
            Awaited.CLEAR_OBJECT: self._state.object_present,
            Awaited.REPAIR: bool(self._observer.faults),
            Awaited.PUT_BACK: not is_in_place(known),
            Awaited.TURN_ROTOR: not is_in_place(known) and self._observer.rotor.is_standing,
            Awaited.RIEN_NE_VA_PLUS: self._state.follows_void,
        }
        return frozenset(code for code, is_owed in owed.items() if is_owed)


def waiting_for(
    codes: tuple[Awaited, ...],
    catalogue: Catalogue,
    *,
    laps: int,
    number: int | None,
    called: Called | None = None,
    faults: Sequence[str] = (),
) -> str:
    """The steps still owed, in order, as one text for the people at the table.

    `laps` are those that the chef must answer for where no sensor can prove them (R2), `number` is the last one,
    `called` the one that awaits the chef, and `faults` are the sensors that fail.
    """
    say, steps = catalogue.say, []
    for code in codes:
        if code is Awaited.PUT_BACK:
            assert number is not None, "before the first number the ball belongs nowhere"
            steps.append(catalogue.say_number("put the ball back in {number}", number))
        elif code is Awaited.CONFIRM and called is not None and "R3" in called.unproven:
            steps.append(say(NUMBER_SEEN if called.number is not None else NUMBER_UNSEEN, number=called.number))
        elif code is Awaited.REPAIR:
            steps.append(catalogue.say_text(Text(AWAITED[code], {"sensors": sensor_texts(faults)})))
        else:
            steps.append(say(AWAITED[code], laps=laps))
    return reduce(lambda first, step: say("{first}, then {next}", first=first, next=step), steps)
