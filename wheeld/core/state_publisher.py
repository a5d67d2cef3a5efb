"""Publishes where the table stands and what it waits for, whenever that has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from types import MappingProxyType

from wheeld.core.catalogue import Catalogue, Text
from wheeld.core.facts import Awaited, Trouble
from wheeld.core.law.awaited import awaited
from wheeld.core.law.guards import Known
from wheeld.core.messages.phrases import AWAITED, MEND, MEND_SENSOR, NUMBER_PROVEN, NUMBER_SEEN, NUMBER_UNSEEN
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.names import sensor_text, sensor_texts
from wheeld.core.pockets import label_of
from wheeld.core.setting import TableSetting
from wheeld.core.step import PendingStep
from wheeld.core.table_state import Called, TableState
from wheeld.core.tracking.observer import Observer

NO_TROUBLES: Mapping[str, Trouble] = MappingProxyType({})
LINES = ("link", "head")
"""Their troubles name what they are lines to."""


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
        state.head_game, state.slipped = observer.head_game, observer.has_slipped
        codes, words = self.awaited(now_us, self._catalogue)
        wire_name, bets = state.state.wire_name, state.state.bets
        on_board = (wire_name, bets, state.last_number, state.last_coup)
        sensors = " ".join(observer.faults), " ".join(state.left_out)
        view = (*on_board, state.spinning.who, words, *(state.moved_by or (None, None, None)), *sensors)
        if view == state.view:
            return
        before, state.view = state.view, view
        is_on_board = before is None or on_board != before[: len(on_board)] or bool(self._pending.verdicts)
        self._pending.messages += self._writer.standing(now_us, words, codes, observer.faults, with_board=is_on_board)

    def awaited(self, now_us: int, catalogue: Catalogue) -> tuple[tuple[Awaited, ...], str]:
        """What the table waits for, in codes and in words."""
        state, observer = self._state, self._observer
        codes = awaited(Known(state, observer, self._profile.pockets, now_us))
        words = waiting_for(
            codes,
            catalogue,
            laps=self._setting.min_laps,
            number=state.last_number,
            called=state.current.called,
            faults=observer.faults,
            troubles=observer.troubles,
        )
        return codes, words


def waiting_for(
    codes: tuple[Awaited, ...],
    catalogue: Catalogue,
    *,
    laps: int,
    number: int | None,
    called: Called | None = None,
    faults: Sequence[str] = (),
    troubles: Mapping[str, Trouble] = NO_TROUBLES,
) -> str:
    """The steps still owed, in order, as one text for the people at the table.

    `laps` are those that the chef must answer for where no sensor can prove them (R2), `number` is the last one,
    `called` the one that awaits the chef, `faults` are the sensors that fail, and `troubles` what is wrong with them,
    where that is known.
    """
    say, steps = catalogue.say, []
    for code in codes:
        if code is Awaited.PUT_BACK:
            assert number is not None, "before the first number the ball belongs nowhere"
            steps.append(catalogue.say_number("put the ball back in {number}", label_of(number)))
        elif code is Awaited.CONFIRM and called is not None and "R3" in called.unproven:
            seen = called.number
            steps.append(say(NUMBER_UNSEEN) if seen is None else say(NUMBER_SEEN, number=label_of(seen)))
        elif code is Awaited.CONFIRM and called is not None and not called.unproven:
            assert called.number is not None, "of what is proven the number is known"
            steps.append(say(NUMBER_PROVEN, number=label_of(called.number)))
        elif code is Awaited.REPAIR:
            steps += map(catalogue.say_text, _repairs(faults, troubles))
        else:
            steps.append(say(AWAITED[code], laps=laps))
    return reduce(lambda first, step: say("{first}, then {next}", first=first, next=step), steps)


def _repairs(faults: Sequence[str], troubles: Mapping[str, Trouble]) -> Iterator[Text]:
    """What a technician does about the sensors that fail: what mends the trouble of each, the rest is repaired."""
    for sensor in faults:
        if (trouble := troubles.get(sensor)) is not None:
            phrase = MEND if sensor in LINES else MEND_SENSOR
            parts = {"sensor": sensor_text(sensor), "mend": Text(trouble.mend), "what": Text(trouble.text)}
            yield Text(phrase, parts)
    if rest := [sensor for sensor in faults if sensor not in troubles]:
        yield Text(AWAITED[Awaited.REPAIR], {"sensors": sensor_texts(rest)})
