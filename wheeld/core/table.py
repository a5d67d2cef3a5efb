"""One table, whole: observations in, what to store and publish out. Live, replay and simulation drive this object.

The observer says what an observation proves, the adjudicator applies the law to it, the writer writes the messages.
Before each observation every absence whose deadline lies earlier becomes a fact, at its own time: the outcome never
depends on how often the table is asked.

Whenever it has changed, where the table stands and what it waits for is published. What was observed is kept from
before a coup to its verdict: the log that is stored with the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any

import msgspec

from wheeld.core.adjudicator import Adjudicator, PendingStep
from wheeld.core.catalogue import Catalogue, Language, Text
from wheeld.core.facts import Awaited, Fact, Person, Trouble
from wheeld.core.instants import ClockState, to_text
from wheeld.core.law.breakdown import standstill
from wheeld.core.law.needs import Known
from wheeld.core.law.table import awaited, history_after_restart, is_closed, is_running
from wheeld.core.law.waiting import ON_THEIR_WAY_US, Happening, Waitlist, WaitOf, waits
from wheeld.core.messages.payloads import FeedGap
from wheeld.core.messages.phrases import AWAITED, MEND, MEND_SENSOR, NUMBER_PROVEN, NUMBER_SEEN, NUMBER_UNSEEN
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.names import sensor_text, sensor_texts
from wheeld.core.observations import (
    FREQUENT,
    LEVELS,
    PLACE,
    ClockReading,
    Command,
    End,
    Heard,
    Observation,
    Restarted,
    Rotor,
    Standstill,
    TimePassed,
)
from wheeld.core.pockets import label_of
from wheeld.core.setting import Header, TableSetting
from wheeld.core.step import CoupLog, Step, Verdict
from wheeld.core.table_state import Called, TableState
from wheeld.core.tracking.evidence import Evidence, Figures
from wheeld.core.tracking.observer import Observer, ObserverState
from wheeld.core.tracking.sight import Sight, still_left_out

IDLE_MAX = 20_000
"""Observations kept while no coup runs (about five idle minutes): what matters to the next coup is its last minute."""


class Snapshot(msgspec.Struct):
    """The whole table between two observations, as it changes; it stands in the header of each coup's log."""

    now_us: int
    table_state: TableState
    observer: ObserverState
    clock: ClockState
    waitlist: Waitlist = msgspec.field(default_factory=Waitlist)


class CoupRecorder:
    """The observation log that is being written: a header with the state of the table, and all that came since."""

    def __init__(self, setting: TableSetting, boot_id: str, snapshot: Snapshot) -> None:
        self._setting, self._boot_id, self._snapshot = setting, boot_id, snapshot
        self._started_at = snapshot.clock.text(0)
        self._header = b""
        self.observations: list[Observation] = []

    def header(self, now_us: int) -> Header:
        """The first line of a log that begins now, with the whole state, so that a replay goes on from it."""
        self._snapshot.now_us = now_us
        members = msgspec.structs.asdict(self._setting) | {"last_number": self._snapshot.table_state.last_number}
        return Header(
            **members,
            format=1,
            started=self._started_at,
            boot_id=self._boot_id,
            snapshot=msgspec.to_builtins(self._snapshot, str_keys=True),
        )

    def begin(self, now_us: int) -> None:
        """Begin a new log with the table as it is now."""
        self.observations = []
        self._header = msgspec.json.encode(self.header(now_us))

    def logs(self, verdicts: Sequence[tuple[int, Verdict]]) -> tuple[CoupLog, ...]:
        """One log for each coup that has had its verdict: its number, and which."""
        log = b"\n".join([self._header, *map(msgspec.json.encode, self.observations), b""])
        return tuple(CoupLog(coup, verdict, log) for coup, verdict in verdicts)


ALL_WORK: Mapping[str, Trouble | None] = MappingProxyType({})
LINES = ("link", "head")
"""Their troubles name what they are lines to."""


class StatePublisher:
    """The messages `table` and `board` of one table. They go into `pending`, the step at hand."""

    def __init__(
        self, setting: TableSetting, state: TableState, observer: Observer, writer: MessageWriter, pending: PendingStep
    ) -> None:
        self._setting, self._profile, self._catalogue = setting, setting.profile, setting.catalogue
        self._state, self._observer = state, observer
        self._writer, self._pending = writer, pending

    def publish(self, now_us: int) -> None:
        """Publish `table` if anything in it changed, and `board` with it if that changed too."""
        state, observer = self._state, self._observer
        state.head_game, state.slipped = observer.kept
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
            failing={sensor: observer.sight.failing[sensor] for sensor in observer.faults},
        )
        return codes, words


def waiting_for(
    codes: tuple[Awaited, ...],
    catalogue: Catalogue,
    *,
    laps: int,
    number: int | None,
    called: Called | None = None,
    failing: Mapping[str, Trouble | None] = ALL_WORK,
) -> str:
    """The steps still owed, in order, as one text for the people at the table.

    `laps` are those that the chef must answer for where no sensor can prove them (R2), `number` is the last one,
    `called` the one that awaits the chef, `failing` are the sensors that fail, with what is wrong, where that is known.
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
            steps += map(catalogue.say_text, _repairs(failing))
        else:
            steps.append(say(AWAITED[code], laps=laps))
    return reduce(lambda first, step: say("{first}, then {next}", first=first, next=step), steps)


def _repairs(failing: Mapping[str, Trouble | None]) -> Iterator[Text]:
    """What a technician does about the sensors that fail: what mends the trouble of each, the rest is repaired."""
    for sensor, trouble in failing.items():
        if trouble is not None:
            phrase = MEND if sensor in LINES else MEND_SENSOR
            parts = {"sensor": sensor_text(sensor), "mend": Text(trouble.mend), "what": Text(trouble.text)}
            yield Text(phrase, parts)
    if rest := [sensor for sensor, trouble in failing.items() if trouble is None]:
        yield Text(AWAITED[Awaited.REPAIR], {"sensors": sensor_texts(rest)})


NOTHING = Step()


class Table:
    """The adjudicator of one table. Make it with `start` (live) or `resume` (replay of a stored log). `observer`: what
    watches its wheel, to be looked at."""

    def __init__(self, setting: TableSetting, boot_id: str, snapshot: Snapshot) -> None:
        self.setting, self.boot_id, self._pockets = setting, boot_id, setting.profile.pockets
        self._now_us = snapshot.now_us
        self._state, self._clock = snapshot.table_state, snapshot.clock
        self.observer = Observer(setting, snapshot.observer)
        self._late = 0
        self._memory = b""
        self._pending = pending = PendingStep()
        self._waitlist = snapshot.waitlist
        self._recorder = CoupRecorder(setting, boot_id, snapshot)
        self._writer = writer = MessageWriter(setting, boot_id, self._state, self._clock)
        self._adjudicator = Adjudicator(setting, self._state, self.observer, self._clock, writer, pending)
        self._publisher = StatePublisher(setting, self._state, self.observer, writer, pending)
        self._due_us = self._next_due_us()
        self._recorder.begin(self._now_us)

    @classmethod
    def start(
        cls,
        setting: TableSetting,
        *,
        boot_id: str,
        started_utc_us: int,
        memory: bytes | None = None,
        gap: tuple[FeedGap, str] | None = None,
    ) -> tuple[Table, Step]:
        """A table at sensing time 0, `started_utc_us` in UTC, with what the journal last stored of it, if anything.

        `gap`: numbers of the feed that others have and the journal has not, and the hash of the last one; the feed goes
        on behind them. msgspec.DecodeError when `memory` is not a table's state of this version.
        """
        state = TableState(last_number=setting.number_before, since_at=to_text(started_utc_us))
        if memory is not None:
            state = msgspec.json.decode(memory, type=TableState)
        state.history = history_after_restart(state)
        state.current.move_to_clock(started_utc_us)
        state.left_out = still_left_out(setting, state.left_out)
        observed = ObserverState(object_level=state.object_level, sight=Sight(left_out=[*state.left_out]))
        observed.head.before = state.head_game
        if state.slipped:  # whoever mended it, or did not: a ball in a pocket that a person names shows where it stands
            observed.sight.failing[PLACE] = Trouble.SLIPPED
        if state.ball_belongs_in is not None:
            observed.ball.pocket = setting.profile.pockets.index_of[state.ball_belongs_in]
        if memory is not None:  # at the first start the pockets stand as configured
            observed.ball.note_gap()
        clock = ClockState.starting(started_utc_us, told_us=state.told_us)
        table = cls(setting, boot_id, Snapshot(0, state, observed, clock))
        if gap is not None:
            state.view = None  # published anew in any case: that message tells of the gap
            table._writer.leave_out(*gap)
        opening = table.apply(Restarted(0))
        table._recorder.begin(table.now_us)
        return table, opening

    @classmethod
    def resume(cls, setting: TableSetting, *, boot_id: str, snapshot: dict[str, Any]) -> Table:
        """The table that `snapshot`, from the header of a stored log, describes."""
        return cls(setting, boot_id, msgspec.convert(snapshot, Snapshot, str_keys=True))

    @property
    def now_us(self) -> int:
        """The sensing time up to which everything is decided."""
        return self._now_us

    @property
    def state(self) -> str:
        """Where the table stands, as published."""
        return self._state.state.wire_name

    @property
    def is_running(self) -> bool:
        """Whether a coup runs: from the launch to its verdict."""
        return is_running(self._state.state)

    @property
    def is_closed(self) -> bool:
        """Whether no game is on."""
        return is_closed(self._state.state)

    @property
    def coup(self) -> int:
        """Number of the coup at hand."""
        return self._state.coup

    def awaited(self, language: Language) -> tuple[tuple[Awaited, ...], str]:
        """What it waits for, in codes and in words."""
        return self._publisher.awaited(self._now_us, self.setting.catalogue_in(language))

    @property
    def bouler(self) -> str | None:
        """Who launches, by the latest command."""
        return self._state.spinning.who

    @property
    def counters(self) -> dict[str, int]:
        """What was observed and counts for nothing, since the start: for diagnosing sensors from afar."""
        return {"late": self._late, **self.observer.counters}

    @property
    def next_deadline_us(self) -> int | None:
        """No absence becomes a fact before then; time passing beyond it may prove one. None: never."""
        return self._due_us

    def header(self) -> Header:
        """The first line of a log that begins here, with the whole state, so that a replay goes on from it."""
        return self._recorder.header(self._now_us)

    def remark(self, kind: str, text: str, figures: Figures, person: Person | None = None) -> Step:
        """A notice from around the table, dated now. It changes nothing here, so no replay of a log repeats it."""
        return Step((self._writer.notice(self._now_us, kind, text, figures, person),))

    def apply(self, seen: Observation) -> Step:
        """Take one observation in, and return what follows from it. A command is taken by its own time. Anything else
        that is older than `now_us` is counted as `late` and changes nothing, unless it says how something stands
        (`LEVELS`)."""
        if seen.t_us < self._now_us and not isinstance(seen, Command):
            if not isinstance(seen, LEVELS):
                self._late += 1
                return NOTHING
            seen = msgspec.structs.replace(seen, t_us=self._now_us)
        kind = type(seen)
        is_due = self._due_us is not None and self._due_us < seen.t_us
        if is_due or kind is not TimePassed:
            if seen.t_us < self._now_us:  # a word of before: it is answered now, and a replay must know when that is
                self._recorder.observations.append(TimePassed(self._now_us))
            self._recorder.observations.append(seen)
        if is_due or kind is End:
            self._pass_time(seen.t_us + (kind is End))
        self._now_us = max(self._now_us, seen.t_us)
        shown, is_long = self.observer.observe(seen), len(self._recorder.observations) > IDLE_MAX
        is_routine = self.observer.only_postpones
        if is_routine and not (shown or self._waitlist.waiting or is_due or is_long):
            return NOTHING  # as at nearly all edges of an encoder
        self._take(shown)
        self._hear(seen)
        begins_to_turn = kind is Rotor and not is_routine  # the table may have waited for that
        pending = self._pending  # a message may follow from it, though no fact does: time alone changes what is awaited
        matters = kind not in FREQUENT or begins_to_turn or bool(pending.messages or pending.replies or pending.facts)
        if matters or not is_routine:
            self._due_us = self._next_due_us()
        return self._finish(is_long=is_long) if matters or is_long else NOTHING

    def _hear(self, seen: Observation) -> None:
        """Take in what is not of the wheel: words, the clock, who could be heard."""
        if isinstance(seen, Command):
            self._take([seen])
        elif isinstance(seen, ClockReading):
            self._clock.read(seen, told_us=self._state.told_us)
        elif isinstance(seen, Standstill):
            self._clock.stood_us = seen.t_us, seen.to_us  # what is decided of that time is published after it
            self._take(standstill(seen, *self._clock.texts(seen.t_us, seen.to_us + seen.slept_us)))
        elif isinstance(seen, Heard):
            told_us = self._clock.published_us(seen.t_us)
            self._waitlist.unheard = None if seen.until_us is None else (seen.until_us, told_us + ON_THEIR_WAY_US)
            self._decide()

    def _pass_time(self, until_us: int) -> None:
        """Let every absence that was due before `until_us` become a fact, in order, each at its own time."""
        while self._due_us is not None and self._due_us < until_us:
            due_us = self._next_due_us()
            if due_us is None or due_us >= until_us:
                self._due_us = due_us  # encoder edges had put it off
                return
            self._now_us = max(self._now_us, due_us)
            self._take(self._expire(self._now_us))
            self._publisher.publish(self._now_us)
            self._due_us = self._next_due_us()

    def _take(self, happened: Iterable[Happening]) -> None:
        """Take in what was just shown or said. Decide, in the order of its time, all that no open question holds."""
        for what in happened:
            self._waitlist.waiting.append(what)
            self._decide()
        self._decide()

    def _decide(self) -> None:
        while self._waitlist.waiting:
            what = self._waitlist.take(self._now_us, self._wait_of())
            if what is None:
                return
            if isinstance(what, Command):
                self._adjudicator.answer(what, self._now_us)
                self._publisher.publish(self._now_us)  # each word that waited, though they are decided together
            else:
                self._adjudicator.apply(what, self._now_us)

    def _wait_of(self) -> WaitOf:
        return waits(Known(self._state, self.observer, self._pockets, self._now_us), self._waitlist)

    def _next_due_us(self) -> int | None:
        """Sensing time of the earliest deadline: the observer's, the end of the bouler's time, the launch's, or of a
        wait."""
        waits_us = self._waitlist.due_us(self._now_us, self._wait_of()) if self._waitlist.waiting else None
        launch_us = self._state.current.launch_due_us
        dues_us = (self._bouler_due_us(), launch_us, self.observer.deadline_us(), waits_us)
        # A rotor that turns faster brings a deadline nearer, and one that lies back now is due now.
        return min((max(due_us, self._now_us) for due_us in dues_us if due_us is not None), default=None)

    def _expire(self, now_us: int) -> Iterator[Evidence]:
        """What is evident because nothing came until `now_us`, each to be applied before the next is asked for."""
        bouler_us = self._bouler_due_us()
        if bouler_us is not None and bouler_us <= now_us:
            self._state.spinning.due_reported = True
            yield Evidence(Fact.BOULER_DUE, now_us, {"bouler": self._state.spinning.who or ""})
        coup = self._state.current
        if coup.launch_due_us is not None and coup.launch_due_us <= now_us:
            coup.launch_due_us = None
            yield Evidence(Fact.LAUNCH_AWAITED, now_us)
        yield from self.observer.expire(now_us)

    def _bouler_due_us(self) -> int | None:
        due_utc_us, clock = self._state.spinning.due_utc_us, self._clock
        return None if due_utc_us is None else clock.t_us + due_utc_us - clock.utc_us

    def _finish(self, *, is_long: bool) -> Step:
        """Publish the state of the table if it changed, and hand the step over. `is_long`: more observations are kept
        than an idle table needs."""
        self._publisher.publish(self._now_us)
        logs = self._recorder.logs(self._pending.verdicts) if self._pending.verdicts else ()
        memory = msgspec.json.encode(self._state)
        changed = None if memory == self._memory else memory
        self._memory = memory
        if logs or (is_long and not self.is_running and self.observer.is_idle(self._now_us)):
            self._recorder.begin(self._now_us)
        return self._pending.take(logs, changed)
