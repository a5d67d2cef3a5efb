"""Applies the law: looks up the row for evidence or a command, does what the row says, and answers the command.

The rows decide, with their guards. It also keeps the registers that stand beside the table of rows: what they remember
matters to what comes later. The first page of the law (`law/__init__.py`) lists them.
"""

from __future__ import annotations

import msgspec

from wheeld.core.facts import Cause, Fact, State
from wheeld.core.instants import ClockState
from wheeld.core.law.guards import Known
from wheeld.core.law.people import BY_WORD, fact_of, missing, rests_on_word
from wheeld.core.law.registers import state_after_suspension
from wheeld.core.law.rows import Act, Goto, Row
from wheeld.core.law.table import CLAUSES, ruling
from wheeld.core.messages.writer import MessageWriter, Person
from wheeld.core.observations import Command
from wheeld.core.setting import TableSetting
from wheeld.core.step import AppliedFact, PendingStep, Reply, Verdict
from wheeld.core.table_state import Called, Coup, TableState
from wheeld.core.tracking import margin
from wheeld.core.tracking.evidence import Evidence, Figures
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.observer import Observer

OF_NO_COUP = (Fact.LAUNCHED_NULL, Fact.LAUNCHED_IDLE)


class Adjudicator:
    """The law at one table. What it publishes, decides and replies goes into `pending`, the step at hand."""

    def __init__(
        self,
        setting: TableSetting,
        state: TableState,
        observer: Observer,
        clock: ClockState,
        writer: MessageWriter,
        pending: PendingStep,
    ) -> None:
        self._setting, self._state, self._observer = setting, state, observer
        self._clock, self._writer, self._pending = clock, writer, pending
        profile = setting.profile
        self._pockets = profile.pockets
        self._whys = {clause.row: profile.cited(clause.row.rules, clause.row.text) for clause in CLAUSES}

    def answer(self, command: Command, now_us: int) -> None:
        """Apply the law to a command and reply; one that can't be understood, or is for another coup, is refused."""
        coup = self._state.coup
        if command.coup is not None and command.coup != coup:
            why = f"it is for coup {command.coup}; coup {coup} is at hand"
            self._reply(command, now_us, done=False, why=why)
        elif lack := missing(command):
            self._reply(command, now_us, done=False, why=lack)
        else:
            self._apply_command(command, now_us)

    def apply(self, evidence: Evidence, now_us: int, command: Command | None = None) -> Row:
        """Apply the law to evidence, or to a command, at sensing time `now_us`; the row that it has there."""
        state = self._state
        self._note(evidence)
        fact, row = ruling(evidence, self._known(now_us))
        person = (command.by, command.reason) if command else None
        for act in row.acts:
            self._act(act, row, evidence, now_us, command)
        if row.void is not None:
            self._void(row, row.void, evidence, now_us, person)
            self._disregard_launch(fact, now_us)
        if fact in OF_NO_COUP:
            self._observer.disown()
        self._move(row, now_us)
        self._pending.facts.append(AppliedFact(now_us, fact, state.state, evidence.evidence_us, evidence.figures))
        if fact is Fact.LAUNCHED:
            self._void_as_asked(now_us)
        return row

    def _known(self, now_us: int) -> Known:
        return Known(self._state, self._observer, self._pockets, now_us)

    def _note(self, evidence: Evidence) -> None:
        """Times and directions that the result will carry."""
        coup = self._state.current
        match evidence.fact:
            case Fact.LEFT_TRACK:
                coup.left_track_us = evidence.evidence_us
            case Fact.OPPOSITE_DIRECTION:
                coup.directions = dict(evidence.figures)

    def _act(self, act: Act, row: Row, evidence: Evidence, now_us: int, command: Command | None) -> None:
        state = self._state
        match act:
            case Act.BEGIN:
                state.begin_coup()
                state.current.launched_us = evidence.evidence_us
            case Act.CLOSE_BETS:
                if state.current.bets_closed_us is None:
                    state.current.bets_closed_us = int(evidence.figures.get("first_sighting_us", now_us))
            case Act.RESULT:
                self._result(evidence, now_us, (command.by, command.reason) if command else None)
            case Act.AWAIT:
                state.current.called = self._called(evidence, now_us)
            case Act.NOTE_LAST:
                state.last_coup = True
            case Act.FORGET_LAST:
                state.last_coup = state.closing = False
            case Act.NOTE_BOULER:
                assert command is not None
                state.bouler, state.bouler_due_reported = command.who, False
                state.bouler_since_utc_us = self._clock.utc_at_us(now_us)
            case _:
                assert act is Act.NOTICE
                self._notice(row, evidence, now_us, command)

    def _called(self, evidence: Evidence, now_us: int) -> Called:
        """The number that this evidence brings, and what a result of it says."""
        laps = evidence.figures.get("laps_proven")
        return Called(
            number=int(evidence.figures["number"]),
            t_us=now_us,
            laps=None if laps is None else float(laps),
            rotor_rpm=self._observer.rotor_rpm(now_us),
            sightings=list(self._observer.pocket.sightings),
            margin=evidence.margin,
            unproven=tuple(str(evidence.figures.get("unproven", "")).split()),
        )

    # --- commands -----------------------------------------------------------------------------------------------------

    def _apply_command(self, command: Command, now_us: int) -> None:
        known = self._known(now_us)
        fact = fact_of(command, known)
        by_word = rests_on_word(fact, known)
        row = self.apply(Evidence(fact, now_us), now_us, command)
        why = self._whys[row]
        self._reply(command, now_us, done=not row.refuse, why=f"{why}; {BY_WORD}" if by_word else why)
        if row.refuse and fact is Fact.CHEF_VOID and self._observer.launch_late_us:
            self._state.launches.void_asked = command
        if by_word and not row.refuse:
            self._publish_notice(command, now_us, "chefs_word", BY_WORD)

    def _reply(self, command: Command, now_us: int, *, done: bool, why: str) -> None:
        """A button shows no reply, so that a command from one that is refused is published as a notice."""
        self._pending.replies.append(Reply(now_us, command.id, command.name, command.by, done, why))
        if command.id is None and not done:
            self._publish_notice(command, now_us, "refused", f"{command.name} refused; {why}")

    def _publish_notice(self, command: Command, now_us: int, kind: str, text: str) -> None:
        notice = self._writer.notice(now_us, kind, text, {}, (command.by, command.reason))
        self._pending.messages.append(notice)

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def _result(self, evidence: Evidence, now_us: int, person: Person) -> None:
        """Publish the number just called, or the one that awaited the chef."""
        called = self._state.current.called or self._called(evidence, now_us)
        self._pending.messages.append(self._writer.result(now_us, called, person))
        self._state.come_out(called.number)
        self._decide("result", "result", called.margin, now_us)

    def _void(self, row: Row, cause: Cause, evidence: Evidence, now_us: int, person: Person) -> None:
        """Publish the coup as void. The margin of an early launch is how long it was before the table was ready."""
        if cause is Cause.TOO_FEW_LAPS:
            figures = {**evidence.figures, "laps_needed": self._setting.min_laps}
            evidence = msgspec.structs.replace(evidence, figures=figures)
        before_us = self._state.launches.ready_us - evidence.evidence_us
        if evidence.fact is Fact.LAUNCHED and before_us > 0:
            evidence = msgspec.structs.replace(evidence, margin=margin.early(before_us))
        self._pending.messages.append(self._writer.void(now_us, cause, self._whys[row], evidence, person))
        self._decide("void", cause.value, evidence.margin, now_us)

    def _decide(self, verdict: Verdict, name: str, sure: Margin | None, now_us: int) -> None:
        """The coup has its verdict. One that was near to flipping is published as a notice too: it stands, and
        somebody should look why."""
        if sure is not None and sure.value < margin.LOW:
            figures: Figures = {"verdict": name, "margin": sure.value, "margin_of": sure.of}
            text = f"{name}: its {sure.of} was close to another verdict; it stands"
            self._pending.messages.append(self._writer.notice(now_us, "low_margin", text, figures))
        self._state.decided = True
        self._pending.verdicts.append((self._state.coup, verdict))

    def _notice(self, row: Row, evidence: Evidence, now_us: int, command: Command | None) -> None:
        figures = dict(evidence.figures)
        if command is not None and command.who is not None:
            figures["who"] = command.who
        person = (command.by, command.reason) if command else None
        text = f"{evidence.fact.text}; {self._whys[row]}"
        self._pending.messages.append(self._writer.notice(now_us, row.notice or "", text, figures, person))

    # --- the registers beside the table of rows -----------------------------------------------------------------------

    def _disregard_launch(self, fact: Fact, now_us: int) -> None:
        """The chef declared void a coup whose ball may be seen, or reported by a head, only later."""
        late_us = self._observer.launch_late_us
        if fact is Fact.CHEF_VOID_AT_LAUNCH or (fact is Fact.CHEF_VOID and late_us):
            self._state.launches.void_before_us = now_us + 1 + late_us

    def _void_as_asked(self, now_us: int) -> None:
        """The chef declared void a ball that ran, before its head had reported it (N7)."""
        launches = self._state.launches
        command, launches.void_asked = launches.void_asked, None
        if command is not None and now_us - command.t_us <= self._observer.launch_late_us:
            self.apply(Evidence(Fact.CHEF_VOID, now_us), now_us, command)

    def _move(self, row: Row, now_us: int) -> None:
        if row.next is Goto.STAY:
            return
        state, before = self._state, self._state.state
        after = state.resume_to if row.next is Goto.RETURN else row.next
        assert isinstance(after, State)
        if after is State.SUSPENDED:
            hidden = state.resume_to if before is State.SUSPENDED else before
            state.resume_to = state_after_suspension(hidden, is_void=row.void is not None)
        if after is State.FAITES_VOS_JEUX:
            state.begin_coup()
            state.current = Coup()
            self._observer.new_game()
        if after is not before:
            state.state = after
            state.launches.move(before, after, now_us)
            state.since_at = self._clock.text(now_us)
