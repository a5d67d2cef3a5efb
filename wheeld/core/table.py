"""One table, whole: observations in, what to keep and publish out. Live, replay and simulation drive this object.

Each observation runs through the witness (what is proven), the law (what follows) and the scribe (how it is said).
Before it, every absence whose deadline lies earlier becomes a fact at its own time, so the outcome never depends on
how often the table is asked.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from wheeld.core.instants import ClockState, to_text
from wheeld.core.law import guards as joins
from wheeld.core.law.facts import Cause, Fact, State
from wheeld.core.law.rows import BEFORE_LAUNCH, COUP, NULL, Act, Goto, Row
from wheeld.core.law.table import rule
from wheeld.core.messages.payloads import Figures
from wheeld.core.messages.waiting import waiting_for
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.observations import (
    BallPass,
    ClockReading,
    Command,
    End,
    Header,
    HeadReport,
    Observation,
    Restarted,
    Rotor,
    SensorState,
    TimePassed,
)
from wheeld.core.pockets import index_of
from wheeld.core.setting import TableSetting, header_of
from wheeld.core.step import AppliedFact, CoupLog, Message, Reply, Step
from wheeld.core.table_state import BOULER_US, Called, Coup, TableState
from wheeld.core.tracking import margin
from wheeld.core.tracking.evidence import Testimony
from wheeld.core.tracking.head import HeadWitness
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.passes import LEAVE_REV_S
from wheeld.core.tracking.witness import SensorWitness
from wheeld.core.tracking.witness_state import WitnessState

EVIDENCE_IDLE_MAX = 20_000
"""Observations kept while no coup runs (about five idle minutes): what matters to the next coup is its last minute."""
SAME_TO_A_LAUNCH = ({*NULL}, {*BEFORE_LAUNCH}, {State.CLOSED, State.SUSPENDED})
"""Moving between these does not change what a launch means: early, awaited, or none of a game."""
NOTHING = Step()
_SELDOM_MATTER = {Rotor, BallPass, TimePassed}
"""What comes often and by itself seldom changes anything to be told; when it does, a fact says so."""
STILL_RUNNING_US = round(1e6 / LEAVE_REV_S)
"""After a restart: a ball that ran already is seen within a turn, however slow. When its coup was void (rulebook 2:
once void, never another), the same run is no second launch."""
STANDING = (SensorState, *HeadReport.__args__)
"""Told late, when a person spoke while their source was silent: a fault that stayed for ever, or was never known, would
be worse than one dated late. A head's reports are dated by their receipt anyway."""
OF_NO_COUP = (Fact.LAUNCHED_NULL, Fact.LAUNCHED_IDLE)
TOUT_VA = (Fact.TOUT_VA, Fact.TOUT_VA_LAST)
BY_WORD = "no sensor sees where the ball lies: the chef's word serves"
"""C11 asks that it lies in the pocket of the last number."""
Said: TypeAlias = tuple[str, str] | None


class Snapshot(msgspec.Struct):
    """The whole adjudicator between two observations; stored at the head of each coup's evidence."""

    now_us: int
    table_state: TableState
    observer: WitnessState
    clock: ClockState


class Table:
    """The adjudicator of one table. Make it with `start` (live) or `resume` (replay of stored evidence)."""

    def __init__(self, setting: TableSetting, boot_id: str, snapshot: Snapshot) -> None:
        self.setting, self.boot_id = setting, boot_id
        self._late = 0
        self._table_state, self._clock = snapshot.table_state, snapshot.clock
        self._started_utc_us = snapshot.clock.utc_at_us(0)
        self._now_us = snapshot.now_us
        kind = SensorWitness if setting.head is None else HeadWitness
        self._observer: SensorWitness | HeadWitness = kind(setting, snapshot.observer)
        self._writer = MessageWriter(setting, boot_id, self._table_state, self._clock)
        self._messages: list[Message] = []
        self._replies: list[Reply] = []
        self._verdicts: list[CoupLog] = []
        self._facts: list[AppliedFact] = []
        self._memory = b""
        self._looked = False
        self._due_us = self._next_deadline_us()
        self._remember_from_here()

    @classmethod
    def start(
        cls, setting: TableSetting, *, boot_id: str, started_utc_us: int, memory: bytes | None = None
    ) -> tuple[Table, Step]:
        """A table at sensing time 0, `started_utc_us` in UTC, with what the journal last remembered, if anything.

        ValueError (msgspec's) when `memory` is not a table_state of this version.
        """
        table_state = TableState(last_number=setting.last_number, since_utc_us=started_utc_us)
        if memory is not None:
            table_state = msgspec.json.decode(memory, type=TableState)
            table_state.stood, table_state.null_us, table_state.null_asked = [], 0, None
        clock = ClockState(utc_us=started_utc_us)
        table_state.stand(0)
        witness = WitnessState(object_present=table_state.object_present)
        witness.head.before = table_state.head_game
        if table_state.last_number is not None:
            witness.reading.lying = index_of(table_state.last_number)
        table = cls(setting, boot_id, Snapshot(0, table_state, witness, clock))
        opening = table.apply(Restarted(0))
        if memory is not None and table_state.state in (*NULL, State.SUSPENDED):
            table_state.null_us = STILL_RUNNING_US
            table_state.stand(STILL_RUNNING_US)
        table._remember_from_here()
        return table, opening

    @classmethod
    def resume(cls, setting: TableSetting, *, boot_id: str, snapshot: dict[str, Any]) -> Table:
        """The table that `snapshot`, from a header of stored evidence, describes."""
        return cls(setting, boot_id, msgspec.convert(snapshot, Snapshot, str_keys=True))

    @property
    def now_us(self) -> int:
        """The sensing time up to which everything is applied."""
        return self._now_us

    @property
    def state(self) -> str:
        """Where the table stands, as published."""
        return self._table_state.state.published

    @property
    def is_running(self) -> bool:
        """Whether a coup runs: from the launch to its verdict."""
        return self._table_state.state in COUP

    @property
    def is_closed(self) -> bool:
        """Whether no game is on."""
        return self._table_state.state is State.CLOSED

    @property
    def coup(self) -> int:
        """Number of the coup at hand."""
        return self._table_state.coup

    @property
    def bouler(self) -> str | None:
        """Who launches, as last told."""
        return self._table_state.bouler

    @property
    def counters(self) -> dict[str, int]:
        """What was seen and counts for nothing, since the start: for diagnosing sensors from afar."""
        return {"late": self._late, **self._observer.counters}

    @property
    def next_deadline_us(self) -> int | None:
        """No absence becomes a fact before then; time passing beyond it may prove one. None: never."""
        return self._due_us

    def apply(self, seen: Observation) -> Step:
        """Judge one observation. One that is older than `now_us` is counted as `late` and changes nothing; but what
        says how something stands, and not when it came to, holds from now on."""
        if seen.t_us < self._now_us and not isinstance(seen, Command):
            if not isinstance(seen, STANDING):
                self._late += 1
                return NOTHING
            seen = msgspec.structs.replace(seen, t_us=self._now_us)
        kind = type(seen)
        due = self._due_us is not None and self._due_us < seen.t_us
        if due or kind is not TimePassed:
            self._observed.append(seen)
        if due or kind is End:
            self._pass_time(seen.t_us, inclusive=kind is End)
        self._now_us = max(self._now_us, seen.t_us)
        for testimony in self._observer.observe(seen):
            self._judge(testimony)
        if isinstance(seen, Command):
            self._command(seen)
        elif isinstance(seen, ClockReading):
            self._clock.read(seen)
        self._looked |= kind not in _SELDOM_MATTER
        if self._looked or not self._observer.only_later:
            self._due_us = self._next_deadline_us()
        return self._finish()

    def remark(self, kind: str, text: str, figures: Figures, said: Said = None) -> Step:
        """A notice from around the table, dated now. It changes nothing here, so no replay of evidence repeats it."""
        return Step((self._writer.notice(self._now_us, kind, text, figures, said),))

    # --- time ---------------------------------------------------------------------------------------------------------

    def _pass_time(self, until_us: int, *, inclusive: bool) -> None:
        """Let every absence that was due before `until_us` become a fact, in order, each at its own time."""
        while self._due_us is not None and self._due_us < until_us + inclusive:
            due_us = self._next_deadline_us()
            if due_us is None or due_us >= until_us + inclusive:
                self._due_us = due_us  # ticks had put it off
                return
            self._now_us = max(self._now_us, due_us)
            bouler_us = self._bouler_due_us()
            if bouler_us is not None and bouler_us <= self._now_us:
                self._table_state.bouler_due_told = True
                self._judge(Testimony(Fact.BOULER_DUE, self._now_us, {"bouler": self._table_state.bouler or ""}))
            for testimony in self._observer.expire(self._now_us):
                self._judge(testimony)
            self._tell_state()
            self._due_us = self._next_deadline_us()

    def _next_deadline_us(self) -> int | None:
        due_us, bouler_us = self._observer.deadline_us(), self._bouler_due_us()
        return due_us if bouler_us is None else bouler_us if due_us is None else min(due_us, bouler_us)

    def _bouler_due_us(self) -> int | None:
        table_state = self._table_state
        if table_state.bouler_since_utc_us is None or table_state.bouler_due_told:
            return None
        return self._clock.t_us + table_state.bouler_since_utc_us + BOULER_US - self._clock.utc_us

    # --- people -------------------------------------------------------------------------------------------------------

    def _command(self, asked: Command) -> None:
        if asked.coup is not None and asked.coup != self.coup:
            self._reply(asked, done=False, why=f"it is for coup {asked.coup}; coup {self.coup} is at hand")
            return
        if missing := joins.missing(asked):
            self._reply(asked, done=False, why=missing)
            return
        fact = joins.asked(asked, self._observer, self._table_state, self._now_us)
        by_word = fact in TOUT_VA and joins.place_unseen(self._observer, self._table_state, self._now_us)
        row = self._judge(Testimony(fact, self._now_us), asked)
        self._reply(asked, done=not row.refuse, why=f"{row.why}; {BY_WORD}" if by_word else row.why)
        if row.refuse and fact is Fact.CHEF_VOID and self._observer.launch_late_us:
            self._table_state.null_asked = asked
        if by_word and not row.refuse:
            said = (asked.by, asked.reason)
            self._messages.append(self._writer.notice(self._now_us, "chefs_word", BY_WORD, {}, said))

    def _reply(self, asked: Command, *, done: bool, why: str) -> None:
        """Each is answered; a button can't read, so one that must not pass is told to the table as a notice."""
        self._replies.append(Reply(self._now_us, asked.id, asked.name, asked.by, done, why))
        if asked.id is None and not done:
            said = (asked.by, asked.reason)
            text = f"{asked.name} refused; {why}"
            self._messages.append(self._writer.notice(self._now_us, "refused", text, {}, said))

    # --- the law ------------------------------------------------------------------------------------------------------

    def _judge(self, told: Testimony, asked: Command | None = None) -> Row:
        """Look the fact up, and do what its row says: begin, decide, move, tell."""
        table_state = self._table_state
        self._looked = True
        self._note(told)
        fact = joins.joined(told, self._observer, table_state)
        row = rule(table_state.state, fact)
        said = (asked.by, asked.reason) if asked else None
        for act in row.acts:
            self._act(act, row, told, asked)
        if row.void is not None:
            self._void(row.void, row.why, told, said)
        late_us = self._observer.launch_late_us
        if row.void is not None and (fact is Fact.CHEF_VOID_AT_LAUNCH or (fact is Fact.CHEF_VOID and late_us)):
            table_state.null_us = self._now_us + 1 + late_us
        if fact in OF_NO_COUP:
            self._observer.disown()
        self._move(row)
        self._facts.append(AppliedFact(self._now_us, fact, table_state.state, told.evidence_us, told.figures))
        if fact is Fact.LAUNCHED:
            self._null_already()
        return row

    def _null_already(self) -> None:
        """N7: the chef said so of a ball that ran, before its head had told of it."""
        asked, self._table_state.null_asked = self._table_state.null_asked, None
        if asked is not None and self._now_us - asked.t_us <= self._observer.launch_late_us:
            self._judge(Testimony(Fact.CHEF_VOID, self._now_us), asked)

    def _note(self, told: Testimony) -> None:
        """Times and directions that the result will carry."""
        coup = self._table_state.current
        match told.fact:
            case Fact.LEFT_TRACK:
                coup.left_track_us = told.evidence_us
            case Fact.OPPOSITE_DIRECTION:
                coup.directions = dict(told.figures)

    def _act(self, act: Act, row: Row, told: Testimony, asked: Command | None) -> None:
        table_state, now_us = self._table_state, self._now_us
        match act:
            case Act.BEGIN:
                table_state.begin_coup()
                table_state.current.launched_us = told.evidence_us
            case Act.CLOSE_BETS:
                if table_state.current.bets_closed_us is None:
                    seen_us = told.figures.get("first_sighting_us", now_us)
                    table_state.current.bets_closed_us = int(seen_us)
            case Act.RESULT:
                self._result(told, (asked.by, asked.reason) if asked else None)
            case Act.AWAIT:
                table_state.current.called = self._called(told)
            case Act.NOTE_LAST:
                table_state.last_coup = True
            case Act.FORGET_LAST:
                table_state.last_coup = table_state.closing = False
            case Act.NOTE_BOULER:
                assert asked is not None
                table_state.bouler, table_state.bouler_due_told = asked.who, False
                table_state.bouler_since_utc_us = self._clock.utc_at_us(now_us)
            case _:
                assert act is Act.NOTICE
                self._notice(row, told, asked)

    def _called(self, told: Testimony) -> Called:
        """The number that this testimony brings, and what a result of it says."""
        laps = told.figures.get("laps_proven")
        return Called(
            number=int(told.figures["number"]),
            t_us=self._now_us,
            laps=None if laps is None else float(laps),
            rotor_rpm=self._observer.rotor_rpm(self._now_us),
            sightings=list(self._observer.sightings),
            margin=told.margin,
            unproven=tuple(str(told.figures.get("unproven", "")).split()),
        )

    def _result(self, told: Testimony, said: Said) -> None:
        """A number just called, or the one that awaited the chef."""
        called = self._table_state.current.called or self._called(told)
        self._messages.append(self._writer.result(self._now_us, called, said))
        self._tell_margin(called.margin, "result")
        self._table_state.come_out(called.number)
        self._table_state.end_coup()
        self._verdicts.append(CoupLog(self.coup, "result", b""))

    def _void(self, cause: Cause, why: str, told: Testimony, said: Said) -> None:
        if cause is Cause.TOO_FEW_LAPS:
            told = msgspec.structs.replace(told, figures={**told.figures, "laps_needed": self.setting.min_laps})
        sure = told.margin
        if told.fact is Fact.LAUNCHED and told.evidence_us < self._table_state.ready_us:
            sure = margin.early(self._table_state.ready_us - told.evidence_us)
        message = self._writer.void(self._now_us, cause, why, told.evidence_us, told.figures, said, sure)
        self._messages.append(message)
        self._tell_margin(sure, cause.value)
        self._table_state.end_coup()
        self._verdicts.append(CoupLog(self.coup, "void", b""))

    def _tell_margin(self, sure: Margin | None, verdict: str) -> None:
        """A verdict that was near to flipping is told apart: it stands, and somebody should look why."""
        if sure is not None and sure.value < margin.LOW:
            figures: Figures = {"verdict": verdict, "margin": sure.value, "margin_of": sure.of}
            text = f"{verdict}: near to flipping by its {sure.of}; it stands"
            self._messages.append(self._writer.notice(self._now_us, "low_margin", text, figures))

    def _notice(self, row: Row, told: Testimony, asked: Command | None) -> None:
        figures = dict(told.figures)
        if asked is not None and asked.who is not None:
            figures["who"] = asked.who
        said = (asked.by, asked.reason) if asked else None
        text = f"{told.fact.value}; {row.why}"
        self._messages.append(self._writer.notice(self._now_us, row.notice or "", text, figures, said))

    def _move(self, row: Row) -> None:
        table_state = self._table_state
        before = table_state.state
        if row.next is Goto.STAY:
            return
        after = table_state.resume_to if row.next is Goto.RETURN else row.next
        assert isinstance(after, State)
        if after is State.SUSPENDED:
            hidden = table_state.resume_to if before is State.SUSPENDED else before
            table_state.resume_to = _owed_after(hidden) if row.void is not None else hidden
        if after is State.FAITES_VOS_JEUX:
            table_state.begin_coup()
            table_state.current = Coup()
            self._observer.new_game()
        if after is not before:
            if {before, after} not in SAME_TO_A_LAUNCH:
                # A pass of this very microsecond came before: a command is stamped with the latest observation's time.
                table_state.state = after
                table_state.stand(self._now_us + 1)
            table_state.state = after
            table_state.since_utc_us = self._clock.utc_at_us(self._now_us)

    # --- what is said of it -------------------------------------------------------------------------------------------

    def _finish(self) -> Step:
        """Tell the new state of the table if it changed, and hand the step over."""
        if not self._looked and len(self._observed) <= EVIDENCE_IDLE_MAX:
            return NOTHING
        self._looked = False
        self._tell_state()
        evidence = tuple(self._coup_logs())
        memory = self._durable()
        changed = None if memory == self._memory else memory
        self._memory = memory
        step = Step(tuple(self._messages), tuple(self._replies), evidence, changed, tuple(self._facts))
        self._messages, self._replies, self._verdicts, self._facts = [], [], [], []
        idle = self._table_state.state not in COUP and self._observer.idle(self._now_us)
        if evidence or (idle and len(self._observed) > EVIDENCE_IDLE_MAX):
            self._remember_from_here()
        return step

    def _tell_state(self) -> None:
        table_state = self._table_state
        table_state.object_present = self._observer.object_present
        table_state.head_game = self._observer.head_game
        words = waiting_for(
            table_state.state,
            self.setting.profile.language,
            laps=self.setting.min_laps,
            object_present=self._observer.object_present,
            misplaced=None if joins.in_place(self._observer, table_state, self._now_us) else table_state.last_number,
            faults=self._observer.faults,
        )
        view = (
            table_state.state.published,
            table_state.bets,
            table_state.last_number,
            table_state.last_coup,
            table_state.bouler,
            words,
        )
        if view == table_state.view:
            return
        before, table_state.view = table_state.view, view
        self._messages.append(self._writer.table(self._now_us, words))
        if before is None or view[:3] != before[:3] or self._verdicts:
            self._messages.append(self._writer.board(self._now_us))

    def _durable(self) -> bytes:
        return msgspec.json.encode(self._table_state)

    # --- evidence -----------------------------------------------------------------------------------------------------

    def header(self) -> Header:
        """The first line of a log that begins here, with the whole state, so that a replay goes on from it."""
        snapshot = Snapshot(self._now_us, self._table_state, self._observer.snapshot(), self._clock)
        return header_of(
            self.setting,
            started=to_text(self._started_utc_us),
            last_number=self._table_state.last_number,
            boot_id=self.boot_id,
            snapshot=msgspec.to_builtins(snapshot, str_keys=True),
        )

    def _remember_from_here(self) -> None:
        self._observed: list[Observation] = []
        self._head = msgspec.json.encode(self.header())

    def _coup_logs(self) -> list[CoupLog]:
        if not self._verdicts:
            return []
        log = b"\n".join([self._head, *map(msgspec.json.encode, self._observed), b""])
        return [CoupLog(verdict.coup, verdict.verdict, log) for verdict in self._verdicts]


def _owed_after(hidden: State) -> State:
    """Where a table goes on from, once resumed, after a void while it was suspended."""
    if hidden is State.CLOSED:
        return hidden
    owed = hidden in (State.OPERATIONS, State.RIEN_VA_OPERATIONS_OWED)
    return State.RIEN_VA_OPERATIONS_OWED if owed else State.RIEN_VA
