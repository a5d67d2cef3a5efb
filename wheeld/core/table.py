"""One complete table. It takes observations, and returns what to store and publish. Live runs, replays and simulations
use it.

The observer concludes what an observation proves, the adjudicator applies the law to this, and the writer writes
messages. Before each observation, every absence with an earlier deadline becomes a fact, dated by its deadline. So the
outcome never depends on how often the table is called.

After each change, the table publishes its state and what it waits for. It keeps all observations from before a coup
until its verdict: they are the coup log, which is stored with the verdict.
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
"""The most observations that are kept while no coup runs: about five minutes of them. The next coup needs only those of
the last minute."""


class Snapshot(msgspec.Struct):
    """The complete state of a table. Its parts change with the table. The header of each coup log contains it."""

    now_us: int
    table_state: TableState
    observer: ObserverState
    clock: ClockState
    waitlist: Waitlist = msgspec.field(default_factory=Waitlist)


class CoupRecorder:
    """The coup log that is being written: a header with the state of the table, and all observations after it."""

    def __init__(self, setting: TableSetting, boot_id: str, snapshot: Snapshot) -> None:
        self._setting, self._boot_id, self._snapshot = setting, boot_id, snapshot
        self._started_at = snapshot.clock.text(0)
        self._header = b""
        self.observations: list[Observation] = []

    def header(self, now_us: int) -> Header:
        """Return the first line of a log that begins now. A replay starts from the complete state in it."""
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
        """Begin a new log with the present state of the table."""
        self.observations = []
        self._header = msgspec.json.encode(self.header(now_us))

    def logs(self, verdicts: Sequence[tuple[int, Verdict]]) -> tuple[CoupLog, ...]:
        """Return one log for each verdict. `verdicts`: each with the number of its coup."""
        log = b"%b\n%b" % (self._header, msgspec.json.Encoder().encode_lines(self.observations))
        return tuple(CoupLog(coup, verdict, log) for coup, verdict in verdicts)


ALL_WORK: Mapping[str, Trouble | None] = MappingProxyType({})
LINES = ("link", "head")
"""The texts about troubles of these lines already name the device at the end of the line."""


class StatePublisher:
    """Adds the messages `table` and `board` of one table to `pending`, the present step."""

    def __init__(
        self, setting: TableSetting, state: TableState, observer: Observer, writer: MessageWriter, pending: PendingStep
    ) -> None:
        self._setting, self._profile, self._catalogue = setting, setting.profile, setting.catalogue
        self._state, self._observer = state, observer
        self._writer, self._pending = writer, pending

    def publish(self, now_us: int) -> None:
        """Publish `table` if its content has changed, and then also `board` if the content of `board` has changed."""
        state, observer = self._state, self._observer
        state.head_game, state.slipped = observer.kept
        codes, words = self.awaited(now_us, self._catalogue)
        wire_name, bets = state.state.wire_name, state.state.bets
        on_board = (wire_name, bets, state.last_number, state.last_coup)
        sensors = " ".join(observer.faults), " ".join(state.left_out)
        boulers = (state.spinning.who, state.spinning.next_who, state.spinning.acknowledged_by)
        view = (*on_board, *boulers, words, *(state.moved_by or (None, None, None)), *sensors)
        if view == state.view:
            return
        before, state.view = state.view, view
        is_on_board = before is None or on_board != before[: len(on_board)] or bool(self._pending.verdicts)
        self._pending.messages += self._writer.standing(now_us, words, codes, observer.faults, with_board=is_on_board)

    def awaited(self, now_us: int, catalogue: Catalogue) -> tuple[tuple[Awaited, ...], str]:
        """Return what the table waits for, in codes and in words."""
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
    """Return everything that the table waits for, in order, as one text for the people at the table.

    `laps`: how many laps the chef must confirm if no sensor can prove them (R2). `number`: the last number. `called`:
    the number that awaits the chef. `failing`: the failing sensors, each with what is wrong, None if that is not known.
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
            assert called.number is not None, "a proven number is known"
            steps.append(say(NUMBER_PROVEN, number=label_of(called.number)))
        elif code is Awaited.REPAIR:
            # What a technician must do: mend each trouble that is known, and repair the other failing sensors.
            known = {sensor: trouble for sensor, trouble in failing.items() if trouble is not None}
            for sensor, trouble in known.items():
                parts = {"sensor": sensor_text(sensor), "mend": Text(trouble.mend), "what": Text(trouble.text)}
                steps.append(catalogue.say_text(Text(MEND if sensor in LINES else MEND_SENSOR, parts)))
            if rest := [sensor for sensor in failing if sensor not in known]:
                steps.append(catalogue.say_text(Text(AWAITED[code], {"sensors": sensor_texts(rest)})))
        else:
            steps.append(say(AWAITED[code], laps=laps))
    return reduce(lambda first, step: say("{first}, then {next}", first=first, next=step), steps)


NOTHING = Step()


class Table:
    """One table of the house with its wheel. `start` makes it for a live run, `resume` for the replay of a stored log.
    `observer`: the observer of its wheel, for callers that show what the sensors see."""

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
        """Make a table at sensing time 0, which is `started_utc_us`. `memory`: the last memory that the journal stored.

        `gap`: numbers of the feed that others have and the journal does not, and the hash of the last message. The feed
        continues after them. Raises msgspec.DecodeError if `memory` is not a table's state of this version.
        """
        state = TableState(last_number=setting.number_before, since_at=to_text(started_utc_us))
        if memory is not None:
            state = msgspec.json.decode(memory, type=TableState)
        state.history = history_after_restart(state)
        state.current.move_to_clock(started_utc_us)
        state.left_out = still_left_out(setting, state.left_out)
        observed = ObserverState(object_level=state.object_level, sight=Sight(left_out=[*state.left_out]))
        observed.head.before = state.head_game
        if state.slipped:  # a person must name the ball's pocket, even if the encoder was mended meanwhile
            observed.sight.failing[PLACE] = Trouble.SLIPPED
        if state.ball_belongs_in is not None:
            observed.ball.pocket = setting.profile.pockets.index_of[state.ball_belongs_in]
        if memory is not None:  # while the daemon did not run, the pockets may have moved
            observed.ball.note_gap()
        clock = ClockState.starting(started_utc_us, told_us=state.told_us)
        table = cls(setting, boot_id, Snapshot(0, state, observed, clock))
        if gap is not None:
            state.view = None  # so that a new `table` message reports the gap
            # In each message `coup` is lower than `seq`. So no lost message had a `coup` as high as the last of them.
            state.coup = gap[0].last_seq
            table._writer.leave_out(*gap)
        opening = table.apply(Restarted(0))
        table._recorder.begin(table.now_us)
        return table, opening

    @classmethod
    def resume(cls, setting: TableSetting, *, boot_id: str, snapshot: dict[str, Any]) -> Table:
        """Make a table from the `snapshot` in the header of a stored log."""
        return cls(setting, boot_id, msgspec.convert(snapshot, Snapshot, str_keys=True))

    @property
    def now_us(self) -> int:
        """The sensing time up to which everything is decided."""
        return self._now_us

    @property
    def state(self) -> str:
        """The published name of the table's state."""
        return self._state.state.wire_name

    @property
    def is_running(self) -> bool:
        """Whether a coup runs: from the launch to its verdict."""
        return is_running(self._state.state)

    @property
    def is_closed(self) -> bool:
        """Whether the table is closed."""
        return is_closed(self._state.state)

    @property
    def coup(self) -> int:
        """The number of the present coup."""
        return self._state.coup

    def awaited(self, language: Language) -> tuple[tuple[Awaited, ...], str]:
        """Return what the table waits for, in codes and in words."""
        return self._publisher.awaited(self._now_us, self.setting.catalogue_in(language))

    @property
    def bouler(self) -> str | None:
        """Who spins, as the latest command says."""
        return self._state.spinning.who

    @property
    def counters(self) -> dict[str, int]:
        """How many observations of each kind had no effect since the start. This helps to diagnose sensors."""
        return {"late": self._late, **self.observer.counters}

    @property
    def next_deadline_us(self) -> int | None:
        """The earliest time at which an absence may become a fact. None if there is no such time."""
        return self._due_us

    def header(self) -> Header:
        """Return the first line of a log that begins now. A replay starts from the complete state in it."""
        return self._recorder.header(self._now_us)

    def remark(self, kind: str, text: str, figures: Figures, person: Person | None = None) -> Step:
        """Return a notice from outside the core, dated now. It changes no state, so no replay repeats it."""
        return Step((self._writer.notice(self._now_us, kind, text, figures, person),))

    def apply(self, seen: Observation) -> Step:
        """Take one observation, and return what follows from it. A command counts at its own time. Any other
        observation older than `now_us` is counted as `late` and changes nothing, except one of `LEVELS`, which reports
        the present state of something."""
        if seen.t_us < self._now_us and not isinstance(seen, Command):
            if not isinstance(seen, LEVELS):
                self._late += 1
                return NOTHING
            seen = msgspec.structs.replace(seen, t_us=self._now_us)
        kind, kept, due_us = type(seen), self._recorder.observations, self._due_us
        is_due = due_us is not None and due_us < seen.t_us
        if is_due or kind is not TimePassed:
            if seen.t_us < self._now_us:  # a replay must know that an older command is answered now
                kept.append(TimePassed(self._now_us))
            kept.append(seen)
        if is_due or kind is End:
            self._pass_time(seen.t_us + (kind is End))
        self._now_us = max(self._now_us, seen.t_us)
        shown, is_long = self.observer.observe(seen), len(kept) > IDLE_MAX
        is_routine = self.observer.only_postpones
        if is_routine and not (shown or self._waitlist.waiting or is_due or is_long):
            return NOTHING  # nearly all encoder edges end here
        self._take(shown)
        self._hear(seen)
        begins_to_turn = kind is Rotor and not is_routine  # the table may have waited for the rotor to turn
        pending = self._pending  # what is awaited may change with time alone: then a message follows without a fact
        matters = kind not in FREQUENT or begins_to_turn or bool(pending.messages or pending.replies or pending.facts)
        if matters or not is_routine:
            self._due_us = self._next_due_us()
        if not (matters or is_long):
            return NOTHING
        self._publisher.publish(self._now_us)
        logs = self._recorder.logs(self._pending.verdicts) if self._pending.verdicts else ()
        memory = msgspec.json.encode(self._state)
        changed = None if memory == self._memory else memory
        self._memory = memory
        if logs or (is_long and not self.is_running and self.observer.is_idle(self._now_us)):
            self._recorder.begin(self._now_us)
        return self._pending.take(logs, changed)

    def _hear(self, seen: Observation) -> None:
        """Take what does not come from the wheel: words, the clock, and reports up to when words were received."""
        if isinstance(seen, Command):
            self._take([seen])
        elif isinstance(seen, ClockReading):
            self._clock.read(seen, told_us=self._state.told_us)
        elif isinstance(seen, Standstill):
            self._clock.stood_us = seen.t_us, seen.to_us  # decisions in a standstill are published after it
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
                self._due_us = due_us  # encoder edges had postponed the deadline
                return
            self._now_us = max(self._now_us, due_us)
            self._take(self._expire(self._now_us))
            self._publisher.publish(self._now_us)

    def _take(self, happened: Iterable[Happening]) -> None:
        """Take what was just shown or said. Then decide everything that no longer waits, in the order of its time."""
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
                self._publisher.publish(self._now_us)  # publish for each word alone, even if several waited
            else:
                self._adjudicator.apply(what, self._now_us)

    def _wait_of(self) -> WaitOf:
        return waits(Known(self._state, self.observer, self._pockets, self._now_us), self._waitlist)

    def _next_due_us(self) -> int | None:
        """Return the time of the earliest deadline: of the observer, the bouler's time, the launch or a wait."""
        waits_us = self._waitlist.due_us(self._now_us, self._wait_of()) if self._waitlist.waiting else None
        launch_us = self._state.current.launch_due_us
        dues_us = (self._bouler_due_us(), launch_us, self.observer.deadline_us(), waits_us)
        # A rotor that turns faster brings a deadline nearer. A deadline that is already past is due now.
        return min((max(due_us, self._now_us) for due_us in dues_us if due_us is not None), default=None)

    def _expire(self, now_us: int) -> Iterator[Evidence]:
        """Yield what is evident because nothing came until `now_us`. The caller applies each, then takes the next."""
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
