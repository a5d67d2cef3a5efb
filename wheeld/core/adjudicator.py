"""Applies the law: looks up the row for evidence or a command, does what the row requires, and answers the command.

The rows and their guards decide. `law/__init__.py` lists what the table remembers in addition to its state.
"""

from __future__ import annotations

import msgspec

from wheeld.core.catalogue import translatable
from wheeld.core.facts import Case, Cause, Fact, Person
from wheeld.core.instants import ClockState
from wheeld.core.law.breakdown import said_of
from wheeld.core.law.drop import awaits_first
from wheeld.core.law.needs import CLEAR_BY_WORD, PLACED, Known, left_out_after, named_pocket, without_text
from wheeld.core.law.people import cited, fact_of, missing
from wheeld.core.law.rows import Act, Row
from wheeld.core.law.table import Ruled, look_up, move, standing_evidence, too_early_us
from wheeld.core.messages.writer import MessageWriter
from wheeld.core.names import command_name
from wheeld.core.observations import OBJECT, Command
from wheeld.core.pockets import label_of
from wheeld.core.setting import TableSetting
from wheeld.core.step import AppliedFact, CoupLog, Message, Reply, Step, Verdict
from wheeld.core.table_state import LAUNCH_AWAITED_US, Called, Coup, TableState
from wheeld.core.tracking.beams import REST_US
from wheeld.core.tracking.evidence import LOW, Evidence, Figures, Margin, Measure
from wheeld.core.tracking.observer import OBJECT_FACTS, Observer

MINUTE_US = 60_000_000
OBJECT_LEVELS = {fact: level for level, fact in OBJECT_FACTS.items()}
OF_A_RUN = (Fact.LEFT_TRACK, Fact.LEFT_TRACK_UNPROVEN, Fact.OPPOSITE_DIRECTION)
LOW_MARGINS: dict[Measure, str] = {
    "laps": translatable("the verdict stands; the number of laps was close to another one"),
    "direction": translatable("the verdict stands; the sensors nearly showed the other direction of the ball"),
    "pocket": translatable("the verdict stands; the ball was read close to the edge of its pocket"),
    "passes": translatable("the verdict stands; few passes of the ball support it"),
    "rotor": translatable("the verdict stands; the rotor turned so slowly that its stop was hard to recognise"),
    "sight": translatable("the verdict stands; the sensors saw little of what they should have seen"),
    "slowing": translatable(
        "the verdict stands; a free ball does not change its speed like this: did something touch it, or did "
        "beams miss it?"
    ),
    "time": translatable("the verdict stands; the launch was close to the moment from which it was allowed"),
}
"""For each measure: the text of the notice that a verdict has a low margin by this measure."""

IN_DOUBT = translatable("no command could arrive from {since} to {until}: this one counts from the earlier time")
"""A part of the reply to "rien va", if nobody knows exactly when this was said (docs/rulebook.md 7)."""


class PendingStep:
    """What has followed from the present observation so far. `verdicts`: each with the number of its coup."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.replies: list[Reply] = []
        self.verdicts: list[tuple[int, Verdict]] = []
        self.facts: list[AppliedFact] = []

    def take(self, coup_logs: tuple[CoupLog, ...], memory: bytes | None) -> Step:
        """Return the complete step. Afterwards nothing is pending."""
        step = Step(tuple(self.messages), tuple(self.replies), coup_logs, memory, tuple(self.facts))
        for done in (self.messages, self.replies, self.verdicts, self.facts):
            done.clear()
        return step


class Adjudicator:
    """Applies the law at one table. It adds messages, verdicts and replies to `pending`, the present step."""

    def __init__(
        self,
        setting: TableSetting,
        state: TableState,
        observer: Observer,
        clock: ClockState,
        writer: MessageWriter,
        pending: PendingStep,
    ) -> None:
        self._state, self._observer = state, observer
        self._clock, self._writer, self._pending = clock, writer, pending
        self._profile, self._pockets, self._catalogue = setting.profile, setting.profile.pockets, setting.catalogue
        self._test, self._min_laps = setting.test, setting.min_laps

    def answer(self, command: Command, now_us: int) -> None:
        """Apply the law to a command, and reply to it. Refuse it if it lacks something, or is for another coup."""
        coup, catalogue = self._state.coup, self._catalogue
        if command.coup is not None and command.coup != coup:
            say = catalogue.say
            why = say("the command is for coup {asked}; it is coup {current} now", asked=command.coup, current=coup)
            self._reply(command, now_us, done=False, why=why)
            return
        if lack := missing(command, self._pockets):
            self._reply(command, now_us, done=False, why=catalogue.say(lack))
            return
        # Nobody knows when a word with `until_us` was said. It counts for the present coup, but not before its launch.
        launched_us = 0 if command.until_us is None else self._state.current.launched_us or 0
        counted = Evidence(fact_of(command), max(command.t_us, launched_us), self._figures_of(command, now_us))
        fact, row, need = self.apply(counted, now_us, command)
        known = self._known(now_us, command)
        parts = [self._cited(msgspec.structs.replace(row, rules=cited(row, fact, known)), command.case)]
        word = catalogue.say(need.word) if need is not None and need.word else ""
        if need is not None:
            parts += map(catalogue.say_text, need.reasons(known))
        if word:
            parts.append(word)
        if command.until_us is not None:
            since, until = self._clock.texts(command.t_us, command.until_us)
            parts.append(catalogue.say(IN_DOUBT, since=since, until=until))
        self._reply(command, now_us, done=not row.refuse, why=catalogue.joined(parts))
        if word:
            self._notify(command, now_us, "chefs_word", word)

    def apply(self, evidence: Evidence, now_us: int, command: Command | None = None) -> Ruled:
        """Apply the law to evidence, or to a command, at sensing time `now_us`. Return the fact and its row."""
        state, before = self._state, self._state.state
        self._note(evidence)
        ruled = look_up(evidence, self._known(now_us, command))
        row = ruled.row
        if awaits_first(row, evidence, self._known(now_us, command)):
            self.apply(msgspec.structs.replace(evidence, fact=Fact.NUMBER_NOT_PROVEN), now_us)
            return self.apply(evidence, now_us, command)
        for act in row.acts:
            self._act(act, row, evidence, now_us, command)
        if row.void is not None:
            self._void(row, row.void, evidence, now_us, command)
        moved = move(row, state)
        if moved is not None:
            state.resume_to = moved.resume_to
            if moved.is_new_game:
                state.begin_coup()
                state.current = Coup()
                self._observer.disown()
                self._observer.ball.settle()
            if moved.state is not state.state:
                # A command moves the table 1 µs later: a pass with exactly the time of the command came first.
                state.move(evidence.evidence_us + (command is not None), moved.state)
                state.since_at = self._clock.text(now_us)
            state.moved_by = command.person if command else None  # even in the same state: a void may follow a void
        self._pending.facts.append(AppliedFact(now_us, ruled.fact, state.state, evidence.evidence_us, evidence.figures))
        for standing in standing_evidence(before, self._known(now_us), evidence.evidence_us):
            self.apply(standing, now_us)
        return ruled

    def _cited(self, row: Row, case: Case | None = None) -> str:
        """Return a row's reason: its rules with the house's articles, its text, and the `case`, if one is named."""
        say = self._catalogue.say
        rules, text = row.rules, say(row.text)
        if row.void is None:
            return self._profile.cited(rules, text, self._catalogue)
        if case is not None:
            rules, text = (*rules, *case.rules), say("{what}: {case}", what=text, case=say(case.text))
        return self._profile.void_cited(rules, text, self._catalogue)

    def _known(self, now_us: int, command: Command | None = None) -> Known:
        return Known(self._state, self._observer, self._pockets, now_us, command)

    def _note(self, evidence: Evidence) -> None:
        """Note what a result will contain: times, directions, and where readers saw the ball. Note also whether an
        object is in the cylinder."""
        coup = self._state.current
        if evidence.fact in OF_A_RUN and coup.called is not None:
            return  # the number of this coup awaits the chef: this evidence is of a later launch
        match evidence.fact:
            case Fact.OBJECT_IN | Fact.OBJECT_OUT | Fact.OBJECT_UNKNOWN:
                self._state.object_level = OBJECT_LEVELS[evidence.fact]
            case Fact.LEFT_TRACK | Fact.LEFT_TRACK_UNPROVEN:
                coup.left_track_us = evidence.evidence_us
            case Fact.OPPOSITE_DIRECTION:
                coup.directions = dict(evidence.figures)
            case Fact.NUMBER_SEEN:
                # A ball that is seen less than `REST_US` after its last pass is still bouncing. The chef can be asked
                # only about a run that is proven, or whose laps he can answer for.
                record, first_us = self._observer.track.record(), self._observer.pocket.sightings[0].t_us
                has_run = bool(coup.directions) and coup.left_track_us is not None
                if has_run and first_us - (coup.left_track_us or 0) >= REST_US:
                    unproven = ("R2", "R3") if record.is_short_of(self._min_laps) else ("R3",)
                    figures = evidence.figures | record.figures | {"unproven": " ".join(unproven)}
                    seen = msgspec.structs.replace(evidence, evidence_us=first_us, figures=figures)
                    coup.seen = self._called(seen, first_us)

    def _act(self, act: Act, row: Row, evidence: Evidence, now_us: int, command: Command | None) -> None:
        state = self._state
        match act:
            case Act.BEGIN:
                state.begin_coup()
                state.current.launched_us = evidence.evidence_us
            case Act.CLOSE_BETS:
                if state.current.bets_closed_us is None:
                    state.current.bets_closed_us = evidence.evidence_us
                state.current.noted = (now_us, self._clock.utc_at_us(now_us))
            case Act.RESULT | Act.AWAIT | Act.DOUBT | Act.CONFIRM | Act.OVERTAKE:
                self._act_on_number(act, evidence, now_us, command)
            case Act.DISOWN:
                self._observer.disown()
            case Act.LOSE_PLACE:
                self._lose_place(now_us)
            case Act.AT_HOME:
                self._take_word_for_place(by_eye=False)
            case Act.ASTRAY:
                self._observer.ball.note_elsewhere()
            case Act.NOTICE:
                said = (*map(self._catalogue.say_text, said_of(evidence, row)), self._cited(row))
                told = (row.notice or "", self._catalogue.joined(said), evidence.figures)
                self._pending.messages.append(self._writer.notice(now_us, *told, command.person if command else None))
            case _:
                self._note_word(act, now_us, command)

    def _act_on_number(self, act: Act, evidence: Evidence, now_us: int, command: Command | None) -> None:
        """Do an act that concerns the number: publish it, keep it for the chef, put it in doubt, or take the chef's
        word."""
        match act:
            case Act.RESULT:
                self._result(self._called(evidence, now_us), now_us, None)
            case Act.AWAIT:
                coup, called = self._state.current, self._called(evidence, now_us)
                if not {"number", "unproven"} & evidence.figures.keys() and coup.seen is not None:
                    called = msgspec.structs.replace(coup.seen, asked_us=now_us)
                coup.called = called
                self._observer.ball.settle()  # people see where it lies: it is not on its way any more
            case Act.DOUBT:
                # The chef must name the number (R3b): the ball was seen in two pockets, or the head contradicts itself.
                # What is seen after another launch causes no doubt.
                state, awaited = self._state, self._state.current.called
                if awaited is not None and state.awaits_chef and not state.current.overtaken:
                    unproven = tuple(sorted({*awaited.unproven, "R3"}))
                    state.current.called = msgspec.structs.replace(awaited, number=None, unproven=unproven)
            case Act.OVERTAKE:
                self._state.current.overtaken = self._state.awaits_chef
            case _:
                assert act is Act.CONFIRM
                self._confirm(command, now_us)

    def _note_word(self, act: Act, now_us: int, command: Command | None) -> None:
        """Do an act that follows from a person's word, and that is not about the number."""
        state, utc_us = self._state, self._clock.utc_at_us(now_us)
        match act:
            case Act.AWAIT_LAUNCH:
                assert command is not None, "a person says that bets close"
                state.current.launch_due_us = command.t_us + LAUNCH_AWAITED_US
            case Act.NOTE_LAST:
                state.announce_last()
            case Act.FORGET_LAST:
                state.forget_last()
            case Act.TOUT_VA:
                state.tout_va_owed = False
                self._take_word_for_place(by_eye=True)  # C11: who says this has seen that the ball is back
            case Act.BEGIN_PLAY:
                state.spinning.start(utc_us)
            case Act.USE_SENSORS:
                assert command is not None, "a person says which sensors"
                self._use_sensors(command, now_us)
            case Act.END_PLAY:
                state.forget_last()
                state.spinning.stop(utc_us)
            case Act.RULE:
                assert command is not None, "the direction rules"
                self._pending.messages.append(self._writer.ruling(now_us, command))
            case _:
                assert act is Act.NOTE_BOULER
                assert command is not None
                assert command.who is not None, "`missing` refuses a command that names nobody"
                if command.name == "bouler" and not command.announced:
                    state.spinning.begin(command.who, utc_us)
                else:
                    state.spinning.announce(command.who, command.by if command.name == "acknowledge" else None)

    def _called(self, evidence: Evidence, now_us: int) -> Called:
        """Return the number of this evidence, with what its result will contain."""
        laps, number = evidence.figures.get("laps_proven"), evidence.figures.get("number")
        return Called(
            number=None if number is None else int(number),
            t_us=evidence.evidence_us,
            asked_us=now_us,
            laps=None if laps is None else float(laps),
            rotor_rpm=self._observer.rotor_rpm(now_us),
            sightings=list(self._observer.pocket.sightings),
            margin=evidence.margin,
            unproven=tuple(str(evidence.figures.get("unproven", "")).split()),
        )

    # --- commands -----------------------------------------------------------------------------------------------------

    def _figures_of(self, command: Command, now_us: int) -> Figures:
        """Return the figures of the message about a command. For a change of bouler: both boulers, the full minutes
        that the first one served, and whether the change was announced and acknowledged. For a late bet: how far the
        ball had run. For "rien va" while a number awaits the chef: what sensors saw (R3b)."""
        if command.accepted is not None:
            answer: Figures = {"accepted": "yes" if command.accepted else "no", "said_us": command.t_us}
            return answer | self._observer.track.record().figures
        called = self._state.current.called
        if command.name == "rien_va" and called is not None:
            seen: Figures = {} if called.number is None else {"number_seen": called.number}
            return seen | ({"unproven": " ".join(called.unproven)} if called.unproven else {})
        if command.who is None:
            return {}
        figures: Figures = {"who": command.who}
        before = self._state.spinning
        if before.who is not None:
            minutes = before.served_at_us(self._clock.utc_at_us(now_us)) // MINUTE_US
            figures |= {"before": before.who, "minutes_served": minutes}
        if command.name == "bouler" and command.who == before.next_who:
            figures |= {"announced": "yes", "acknowledged_by": before.acknowledged_by or ""}
        return figures

    def _reply(self, command: Command, now_us: int, *, done: bool, why: str) -> None:
        """Reply to a command. A button cannot show a reply: if its command is refused, also publish a notice."""
        asked = (command.id, command.name, command.by)
        self._pending.replies.append(Reply(now_us, *asked, done, why, user=command.user, test=self._test))
        if command.id is None and not done:
            name = command_name(command.name, self._catalogue)
            text = self._catalogue.say('"{command}" refused: {why}', command=name, why=why)
            self._notify(command, now_us, "refused", text)

    def _notify(self, command: Command, now_us: int, kind: str, text: str, figures: Figures | None = None) -> None:
        notice = self._writer.notice(now_us, kind, text, figures or {}, command.person)
        self._pending.messages.append(notice)

    def _lose_place(self, now_us: int) -> None:
        """Forget the place of the pockets. The row, or after the chef's word `standing_evidence`, suspends play."""
        for evidence in self._observer.lose_place(now_us):
            if evidence.fact is not Fact.SENSOR_FAULT:
                self.apply(evidence, now_us)

    def _use_sensors(self, command: Command, now_us: int) -> None:
        """Leave out the sensors that the command names, and use those that work again. Publish a notice of any change.
        If the command names the pocket where the ball lies, this shows where all pockets are."""
        if (pocket := named_pocket(self._known(now_us, command))) is not None:
            off = self._observer.find_place(pocket, now_us)
            figures: Figures = {"number": self._pockets.order[pocket], "off_pockets": round(off, 2)}
            printed = figures | {"number": label_of(self._pockets.order[pocket])}
            self._notify(command, now_us, "chefs_word", self._catalogue.say(PLACED, **printed), figures)
        observer, before = self._observer, self._observer.left_out
        after = left_out_after(self._known(now_us, command))
        if after == before:
            return
        observer.leave_out(after)
        self._state.left_out = [*after]
        self._state.object_level = observer.object_level
        used_again = [sensor for sensor in before if sensor not in after]
        figures = {"without": " ".join(after), "used_again": " ".join(used_again)}
        self._notify(command, now_us, "sensors_left_out", self._catalogue.say_text(without_text(after)), figures)
        if OBJECT in after and OBJECT not in before:
            self._notify(command, now_us, "chefs_word", self._catalogue.say(CLEAR_BY_WORD))

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def _confirm(self, command: Command | None, now_us: int) -> None:
        """Publish the number that awaited the chef, or another number that he names: he answers for it (R3b)."""
        assert command is not None, "a person confirms"
        called = self._state.current.called
        if called is None:  # no reader sees where the ball lies
            record = self._observer.track.record()
            is_open = {"R1": not self._state.current.directions, "R2": record.is_short_of(self._min_laps), "R3": True}
            unproven = " ".join(rule for rule in is_open if is_open[rule])
            figures = record.figures | {"number": command.number or 0, "unproven": unproven}
            called = self._called(Evidence(Fact.CONFIRM, now_us, figures), now_us)
            self._observer.ball.settle()
        elif command.number not in (None, called.number):
            place = self._observer.place(now_us)
            if place is not None and self._pockets.order[place] != command.number:
                self._lose_place(now_us)  # the chef saw the ball in another pocket than the readers
            rules = (*(rule for rule in called.unproven if rule != "R3"), "R3")
            called = msgspec.structs.replace(called, number=command.number, unproven=rules)
        self._result(called, now_us, command.person)
        self._take_word_for_place(by_eye=True)

    def _take_word_for_place(self, *, by_eye: bool) -> None:
        """Remember that the ball lies in the pocket of the last number, because a person looked (`by_eye`) or because
        readers saw it there. So it is known from which pocket the next launch takes the ball. If beams then see one
        pass, and readers see the ball in another pocket, the ball was launched (docs/rulebook.md 6)."""
        number = self._state.last_number
        if number is not None:
            self._observer.take_word(self._pockets.index_of[number], by_eye=by_eye)

    def _result(self, called: Called, now_us: int, person: Person | None) -> None:
        """Publish the result: the number that was just proven, or the number that awaited the chef."""
        number = called.number
        assert number is not None, "a result has a number"
        self._pending.messages.append(self._writer.result(now_us, number, called, person))
        self._state.come_out(number)
        self._decide("result", "result", called.margin, now_us)

    def _void(self, row: Row, cause: Cause, evidence: Evidence, now_us: int, command: Command | None) -> None:
        """Publish the coup as void. For a launch that came too early, the margin is how early it came."""
        if early_us := too_early_us(row, evidence, self._state):
            evidence = msgspec.structs.replace(evidence, margin=Margin.early(early_us))
        person, case = (command.person, command.case) if command else (None, None)
        why = self._cited(row, case)
        self._pending.messages.append(self._writer.void(now_us, cause, why, evidence, person, case))
        self._decide("void", cause.value, evidence.margin, now_us)
        self._state.tout_va_owed = True

    def _decide(self, verdict: Verdict, name: str, sure: Margin | None, now_us: int) -> None:
        """Remember that the coup has its verdict. If the margin of the verdict is low, also publish a notice: the
        verdict stands, but somebody should find out the reason."""
        if sure is not None and sure.value < LOW:
            figures: Figures = {"verdict": name, "margin": sure.value, "margin_of": sure.of}
            text = self._catalogue.say(LOW_MARGINS[sure.of])
            self._pending.messages.append(self._writer.notice(now_us, "low_margin", text, figures))
        self._state.decided = True
        self._pending.verdicts.append((self._state.coup, verdict))

    # --- the table's state --------------------------------------------------------------------------------------------
