"""The observer of one wheel: turns observations into evidence. It decides nothing.

It has a ball part, a rotor part and a pocket part. The setting decides whether each uses sensors of our own or the
wheel's head. An absence (a rotor that stopped, a ball that is gone, a fall that is overdue) becomes evidence when its
deadline has passed on the sensing clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import msgspec

from wheeld.core.facts import Fact, ObjectLevel, Trouble
from wheeld.core.observations import (
    DOOR,
    OBJECT,
    PLACE,
    BallPass,
    ClockReading,
    Command,
    End,
    ForeignObject,
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadReport,
    HeadRotor,
    HeadWarning,
    Heard,
    Level,
    Observation,
    Restarted,
    Rotor,
    SensorState,
    Sighting,
    Standstill,
)
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.ball import (
    FALL_US_MAX,
    HEAD_RUN_US_MAX,
    ROTOR_FACTS,
    SLACK_POCKETS,
    Ball,
    BallPart,
    Conclusions,
    Phase,
    RotorPart,
    Where,
)
from wheeld.core.tracking.beams import FALL_US, FEW_US, BallFromBeams, BeamsState
from wheeld.core.tracking.evidence import Evidence, Figures, Question, Topic
from wheeld.core.tracking.forecast import Habit
from wheeld.core.tracking.head import BallFromHead, HeadGameKept, HeadGames, HeadState, PocketFromHead, RotorFromHead
from wheeld.core.tracking.pocket import AGREE_POCKETS, PocketFromReaders, SightingsState
from wheeld.core.tracking.rotor import RotorFromEncoder, RotorState
from wheeld.core.tracking.sight import BEAMS_MIN, OF_EDGES, Sight, sensor_of

OBJECT_FACTS: dict[ObjectLevel, Fact] = {
    "present": Fact.OBJECT_IN,
    "clear": Fact.OBJECT_OUT,
    "unknown": Fact.OBJECT_UNKNOWN,
}
"""For each level of the object: the fact that a change to this level gives."""
HIDDEN_PASSES = 2
"""If the line is cut after so many passes, a launch is hidden. One pass may be a stray: it must not void a coup."""
OF_NO_SENSOR = frozenset({SensorState, Heard, Restarted, Command, ClockReading, Standstill, End})
"""These kinds report nothing about the wheel. `TimePassed` does: it reports that no pulse came."""

Absence: TypeAlias = tuple[Callable[[], int | None], Callable[[int], list[Evidence]]]
"""Two functions: when an absence becomes evidence (None while nothing is awaited), and what it then proves."""


class ObserverState(msgspec.Struct):
    """Everything that the observer remembers, whatever parts it has. `watched_since_us`: the time of the wheel's first
    report after the latest gap, or, after a restart, since when people's words are received again. None before that.
    `door_open`: whether the cabinet's door was last reported open. None if it was not reported since the start."""

    ball: Ball = msgspec.field(default_factory=Ball)
    sight: Sight = msgspec.field(default_factory=Sight)
    beams: BeamsState = msgspec.field(default_factory=BeamsState)
    rotor: RotorState = msgspec.field(default_factory=RotorState)
    sightings: SightingsState = msgspec.field(default_factory=SightingsState)
    habit: Habit = msgspec.field(default_factory=Habit)
    head: HeadState = msgspec.field(default_factory=HeadState)
    object_level: ObjectLevel = "clear"
    watched_since_us: int | None = None
    door_open: bool | None = None


class Observer:
    """Watches one wheel with its three parts. Everything that it remembers is in `state`.

    `only_postpones`: whether the latest observation can only have moved deadlines to a later time. This is so for most
    encoder edges. `faults`: the names of the sensors that fail and are not left out. `rotor_rpm`: see `RotorPart.rpm`.
    `lies_in`: whether the ball lies in this pocket now, None if nothing can see that. `place`: the index of the pocket
    in which the ball is seen to lie now.
    """

    def __init__(self, setting: TableSetting, state: ObserverState | None = None) -> None:
        self.setting, self.state = setting, state or ObserverState()
        self.only_postpones = False
        self.ball, self.sight, head = self.state.ball, self.state.sight, self.state.head
        beams = setting.ball == "sensors"
        encoder, self._pockets = setting.rotor == "sensors", setting.profile.pockets
        self._encoder = RotorFromEncoder(setting.rotor_ticks, self._pockets, self.state.rotor) if encoder else None
        self._beams = BallFromBeams(setting, self.state.beams, self.state.habit, self.sight) if beams else None
        self.rotor: RotorPart = self._encoder or RotorFromHead(head.rotor, head.run)
        self.track: BallPart = self._beams or BallFromHead(head)
        self.run = self.track.run
        self._conclusions = Conclusions(setting, self.track, self.rotor)
        self._head: HeadState | None = None
        self._games: HeadGames | None = None
        self._readers: PocketFromReaders | None = None
        self._take: dict[type, Callable[[Any], list[Evidence]]] = {
            ForeignObject: self._object,
            Level: self._level,
            SensorState: self._sensor,
            Restarted: self._restarted,
        }
        if self._encoder is not None:
            self._take[Rotor] = partial(self._edge, self._encoder)
        if self._beams is not None:
            self._take[BallPass] = self._pulse
        self.pocket: PocketFromReaders | PocketFromHead
        if setting.head is None:
            assert self._beams is not None, "without a head beams watch the ball"
            assert self._encoder is not None, "without a head an encoder watches the rotor"
            self.pocket = self._readers = PocketFromReaders(
                setting, self.state.sightings, self.ball, self._beams, self._encoder, self.sight
            )
            self._take[Sighting] = partial(self._sighting, self._readers)
        else:
            self._head = head
            self._games = games = HeadGames(setting, head, self.track, self.rotor, self._conclusions)
            self.pocket = PocketFromHead(setting, head, self.track, self.rotor, games)
            self._take |= {
                HeadGame: partial(self._line, games.take_game),
                HeadBall: partial(self._line, games.take_ball),
                HeadRotor: games.take_rotor,
                HeadWarning: games.take_warning,
                HeadJump: partial(self._line, games.take_jump),
                HeadNumber: partial(self._line, self.pocket.take),
            }
        self._absences = [*self._awaited()]
        self.rotor_rpm, self.lies_in, self.place = self.rotor.rpm, self.pocket.lies_in, self.pocket.place
        self._use_the_rest()

    def _awaited(self) -> Iterator[Absence]:
        """Yield the absences that may become evidence with these parts. If several are due, this is their order."""
        if (games := self._games) is not None:  # beams did not prove the launch that the head reported
            yield games.due_us, lambda _: games.begin_coup()
        if (beams := self._beams) is not None:
            yield partial(self._pass_due_us, beams), partial(self._miss_pass, beams)
        if (encoder := self._encoder) is not None:
            yield partial(self._tick_due_us, encoder), partial(self._stop, encoder)
        if (readers := self._readers) is not None:
            yield readers.proof_due_us, readers.miss_proof
        yield self._fall_due_us, self._miss_fall
        yield lambda: self.ball.until_us, self._miss_rest

    # --- what the table may ask ---------------------------------------------------------------------------------------

    @property
    def object_level(self) -> ObjectLevel:
        """Whether a foreign object is in the cylinder. While the object sensor is left out, the chef's word counts."""
        return "clear" if OBJECT in self.sight.left_out else self.state.object_level

    @property
    def kept(self) -> tuple[HeadGameKept | None, bool]:
        """What a restart must know. First: the latest reported game of a head, None without a head. Second: whether the
        encoder has slipped on the rotor, or may have slipped."""
        game = None if self._head is None else self._head.kept
        if PLACE in self.sight.failing or self._encoder is None:
            return game, PLACE in self.sight.failing
        # If the disc has slipped by less than this limit, each ball is still seen in its own pocket.
        return game, abs(self._encoder.state.shift_deg) > AGREE_POCKETS * self._pockets.pocket_deg

    def off_by(self, pocket_index: int, now_us: int) -> float | None:
        """Return how many pockets clockwise of this pocket readers see the ball. None if they see no ball lie still."""
        return None if self._readers is None else self._readers.off_by(pocket_index, now_us)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the sensors that a person has left out."""
        return tuple(self.sight.left_out)

    def is_faulty(self, sensor: str) -> bool:
        """Whether a sensor fails, or may fail. An object sensor that reports an object may be stuck, and an object
        sensor that has reported nothing may be dead. The chef can see whether an object is there."""
        return sensor in self.sight.failing or (sensor == OBJECT and self.state.object_level != "clear")

    @property
    def wheel_stopped(self) -> bool:
        """Whether a wheel that launches by itself has stopped its game, so that its head sees no coup."""
        return self.state.head.is_stopped

    @property
    def launch_failed(self) -> bool:
        """Whether the wheel reports that its launch failed, and no ball runs."""
        return "launch_failed" in self.state.head.warnings and not self.state.head.has_run

    @property
    def counters(self) -> dict[str, int]:
        """How many observations of each kind had no effect, since the start."""
        return {**self.track.counters, **self.pocket.counters}

    def questions(self, now_us: int) -> Iterator[Question]:
        """Yield what the sensors have begun to show but not proven yet."""
        if self._beams is not None:
            yield from (Question(Topic.LAUNCH, *times_us) for times_us in self._beams.suspected_us())
        else:
            assert self._games is not None, "without beams a head reports the ball"
            yield self._games.question(now_us)
        if self._readers is not None and (rest := self._readers.rest_question()) is not None:
            yield rest

    def is_idle(self, now_us: int) -> bool:
        """Whether no future coup needs the latest observations: no ball runs, and no pass is so recent that it may
        still explain where the ball lies."""
        run = self.run
        runs = run.phase is Phase.ON_TRACK or (self._head is not None and self._head.has_run)
        return not runs and (run.last_us is None or now_us - run.last_us > FEW_US)

    # --- what the table tells the observer ----------------------------------------------------------------------------

    def disown(self) -> None:
        """Remember that the run in progress belongs to no future coup, even if its ball is in a hand already. So the
        run does not hide the next launch."""
        self.track.disown()
        if self._head is not None:
            self._head.disown()

    def take_word(self, pocket_index: int, *, by_eye: bool) -> None:
        """Remember that the ball lies in this pocket, as `Ball.take_word` describes."""
        seen_in = None if self._readers is None else self._readers.pocket
        self.ball.take_word(pocket_index, seen_in, by_eye=by_eye)

    def leave_out(self, sensors: tuple[str, ...]) -> None:
        """Leave these sensors out from now on: their reports have no effect. Use all other sensors that work."""
        self.sight.left_out = [*sensors]
        self._use_the_rest()

    def _use_the_rest(self) -> None:
        """Use only the beams and readers that work and are not left out. If too few remain, nothing changes: no coup
        can be judged then."""
        self.sight.forget_unused()
        self.faults, self._unused = self.sight.faults, self.sight.unused
        beams = self.sight.numbers_left("beam", len(self.setting.beams_deg))
        readers = self.sight.numbers_left("reader", len(self.setting.readers_deg))
        if self._beams is not None and len(beams) >= BEAMS_MIN:
            self._beams.use(beams)
        if self._readers is not None and readers:
            self._readers.use(readers)

    def can_spare(self, sensor: str) -> bool:
        """Whether the coup that runs can be judged without this failing sensor and all other failing sensors. This is
        so for a beam if the ball has left the track, or if enough beams are left; for a reader, if one is left."""
        has_left = sensor.startswith("beam/") and self.run.phase is Phase.OFF_TRACK
        return has_left or self.sight.can_spare(self.setting, sensor)

    # --- observations and deadlines -----------------------------------------------------------------------------------

    def observe(self, seen: Observation) -> list[Evidence]:
        """Return what one observation proves. Commands and clock readings prove nothing."""
        self.only_postpones = False
        kind = type(seen)
        if self.state.watched_since_us is None and kind not in OF_NO_SENSOR:
            self.state.watched_since_us = seen.t_us
        take = self._take.get(kind)
        if take is None or (self._unused and sensor_of(seen) in self._unused):
            return []
        return take(seen)

    def deadline_us(self) -> int | None:
        """Return the time at which the next absence becomes evidence. None while nothing is awaited."""
        return min((us for due_us, _ in self._absences if (us := due_us()) is not None), default=None)

    def expire(self, now_us: int) -> list[Evidence]:
        """Return what is evident because nothing came until `now_us`."""
        dues = [(due_us(), miss) for due_us, miss in self._absences]
        return [each for due_us, miss in dues if due_us is not None and due_us <= now_us for each in miss(now_us)]

    # --- ball ---------------------------------------------------------------------------------------------------------

    def _pulse(self, seen: BallPass) -> list[Evidence]:
        beams, games, t_us = self._beams, self._games, seen.t_us
        assert beams is not None, "only beams pulse"
        pulse = beams.take(t_us, seen.beam)
        if self.run.phase is Phase.ON_TRACK:
            self.ball.run()
        readers = self._readers
        evidence = readers.note_pass(t_us) if readers is not None and pulse.in_run else []
        if pulse.is_stray:
            evidence.append(Evidence(Fact.STRAY_PULSE, t_us, {"beam": seen.beam}))
        if pulse.is_launch:
            since_us = self.state.watched_since_us
            launch = beams.launch(t_us if since_us is None else since_us)
            self.ball.launch()
            if readers is not None:
                readers.begin_run()
            if games is None or games.take_launch():
                evidence.append(launch)
        return evidence + self._conclusions.directions(t_us) + beams.outlook(t_us)

    def _pass_due_us(self, beams: BallFromBeams) -> int | None:
        """Return the time at which the ball is gone, if no beam has seen it by then."""
        overdue_us = beams.overdue_us
        if overdue_us is None or self.run.phase is not Phase.SUSPECTED or self._readers is None:
            return overdue_us
        return self._readers.gone_from_us(overdue_us)

    def _miss_pass(self, beams: BallFromBeams, now_us: int) -> list[Evidence]:  # noqa: ARG002  passes date the evidence
        last_us = self.run.last_us
        evidence = beams.miss(rotor_stands=self.rotor.is_standing)
        if evidence and last_us is not None:
            self.ball.fall(min(self.pocket.fall_due_us(last_us), last_us + FALL_US_MAX))
        if self._readers is not None and any(each.fact is Fact.WEAK_LAUNCH for each in evidence):
            self._readers.restart()
        return evidence

    def _fall_due_us(self) -> int | None:
        """Return the time by which readers must have seen the ball in a pocket after it left the track. None if they
        saw it, or if no pass has a time (a head without beams)."""
        run = self.run
        if run.phase is not Phase.OFF_TRACK or (self._readers and self._readers.proof_due_us() is not None):
            return None
        is_over = run.has_reported(Fact.NUMBER_NOT_PROVEN) or (
            run.has_reported(Fact.FALL_OVERDUE) and self.ball.glimpse is None
        )
        awaited = run.last_us is not None and not is_over
        return self.pocket.fall_due_us(run.last_us or 0) if awaited else None

    def _unmet(self, encoder: RotorFromEncoder, t_us: int) -> list[Evidence]:
        """Conclude that the ball was taken: no ball is on its way, and readers should have seen it in its pocket."""
        run, ball, readers, rotor = self.run, self.ball, self._readers, encoder.state
        if readers is None or (ball.carried and ball.seen_in is None) or rotor.points[-1][0] != t_us:
            return []  # this edge did not count: the rotor may move forward and back at one border
        if run.launched_us is None:
            is_due = ball.seen_in is not None or not (ball.where is Where.RUNS or ball.where is Where.FALLS)
        else:
            is_due = ball.seen_in is None and run.phase is Phase.OFF_TRACK and t_us > (run.last_us or t_us) + FALL_US
        if not is_due:
            ball.unseen_deg = 0.0
            return []
        limit_deg = readers.widest_deg + SLACK_POCKETS * self._pockets.pocket_deg
        taken = ball.turn(rotor.points, rotor.begun_us, limit_deg)
        if taken is None:
            return []
        readers.restart()
        return [Evidence(Fact.BALL_TAKEN, t_us, {"number": self._pockets.order[taken]})]

    def _miss_fall(self, now_us: int) -> list[Evidence]:
        self.run.report(Fact.FALL_OVERDUE)
        return [self.pocket.fall_overdue(now_us)]

    def _miss_rest(self, now_us: int) -> list[Evidence]:  # noqa: ARG002  this absence proves nothing
        """Remember that a ball that ran was not seen at rest: it lies on an obstacle, or a hand has it."""
        self.ball.miss()
        return []

    def _line(self, take: Callable[[Any], list[Evidence]], seen: HeadReport) -> list[Evidence]:
        """Return what a head's line proves. Without beams, it also shows whether the ball runs, falls or lies."""
        assert self._head is not None, "only a head has lines"
        run, ball = self._head.run, self.ball
        before, is_alone = run.phase, self._beams is None
        evidence = take(seen)
        is_over = run.phase is Phase.NONE and (is_alone or before is not Phase.NONE)
        if is_over or isinstance(seen, HeadNumber):
            ball.rest() if is_alone else ball.settle()
        elif is_alone and run.phase is not before:
            is_running = run.phase is Phase.ON_TRACK
            ball.run(seen.t_us + HEAD_RUN_US_MAX) if is_running else ball.fall(seen.t_us + FALL_US_MAX)
        return evidence

    # --- rotor --------------------------------------------------------------------------------------------------------

    def _edge(self, encoder: RotorFromEncoder, seen: Rotor) -> list[Evidence]:
        launched_us, last_us = self.run.launched_us, encoder.state.last_tick_us
        self.only_postpones = not encoder.state.stopped
        surprise = encoder.tick(seen)
        if surprise == "slipped":
            # While the line fails, edges are missing, so the next edge seems to come from another place. Otherwise the
            # encoder's disc has slipped, and earlier sightings prove nothing any more.
            if OF_EDGES & self.sight.failing.keys():
                self.ball.note_gap()
                return []
            return self.lose_place(seen.t_us)
        unmet = self._unmet(encoder, seen.t_us)
        if launched_us is None:
            return unmet
        # If the rotor was reversed before the first pass, it stopped before the launch, when N4 did not apply yet.
        if surprise == "turned_back" and encoder.state.points[0][0] > launched_us:
            return self._rotor_stopped(last_us) + self._conclusions.directions(seen.t_us)
        return self._conclusions.directions(seen.t_us)

    def lose_place(self, t_us: int) -> list[Evidence]:
        """Treat the place of the pockets as unknown (N8), because the encoder slipped, or the ball lies where nothing
        brought it. The place is unknown until a person names the pocket in which readers see the ball lie. With a head
        nothing changes, because the head itself finds the number."""
        if self._readers is None:
            return []
        lost = self._sensor(SensorState(t_us, PLACE, ok=False, what=Trouble.SLIPPED))
        self._readers.lose_place()
        return lost

    def find_place(self, pocket_index: int, now_us: int) -> float:
        """Take the place of the pockets from a person's word: the ball, which readers see lie still, lies in this
        pocket. Return how many pockets away from it the encoder showed the ball."""
        assert self._readers is not None, "without readers `off_by` is None, and the command is refused"
        off = self._readers.find_place(pocket_index, now_us)
        self._sensor(SensorState(now_us, PLACE, ok=True))
        return off

    def _tick_due_us(self, encoder: RotorFromEncoder) -> int | None:
        """Return the time at which the encoder's silence is a stop. None if a stop was reported for this run."""
        stopped = self.run.launched_us is not None and self.run.has_reported(*ROTOR_FACTS)
        return None if stopped else encoder.stop_due_us(self.run.launched_us)

    def _stop(self, encoder: RotorFromEncoder, now_us: int) -> list[Evidence]:  # noqa: ARG002  ticks date the evidence
        evidence = self._rotor_stopped(encoder.state.last_tick_us)
        encoder.stand()
        return evidence

    def _rotor_stopped(self, last_us: int | None) -> list[Evidence]:
        """Conclude that the rotor stopped, as the encoder shows. It was last seen turning at `last_us`."""
        may_lie_unseen = last_us is not None and self._readers is not None and self._readers.may_hold_unseen(last_us)
        return self._conclusions.rotor_stopped(last_us, may_lie_unseen=may_lie_unseen)

    # --- pocket -------------------------------------------------------------------------------------------------------

    def _sighting(self, pocket: PocketFromReaders, seen: Sighting) -> list[Evidence]:
        """Take a sighting. If readers see a ball between two pockets, the place of the pockets is wrong."""
        evidence = pocket.take(seen)
        return evidence + self.lose_place(seen.t_us) if pocket.is_between else evidence

    # --- cylinder and sensors -----------------------------------------------------------------------------------------

    def _object(self, seen: ForeignObject) -> list[Evidence]:
        """Take a change of the object sensor. If an object leaves at an unknown level, it was there until now."""
        has_lain = not seen.present and self.state.object_level == "unknown"
        was_there = self._stand("present", seen.t_us) if has_lain else []
        return [*was_there, *self._stand("present" if seen.present else "clear", seen.t_us)]

    def _level(self, seen: Level) -> list[Evidence]:
        """Take the report of a sensor's level. This level has been the same since the gap. Levels of beams, readers and
        buttons have no effect. The source itself reports that a blocked sensor fails, and a button that is held was
        pressed before."""
        if seen.sensor == DOOR:
            was, self.state.door_open = self.state.door_open, seen.active
            if seen.active is bool(was):  # only a change is evidence, or an open door at the start
                return []
            return [Evidence(Fact.DOOR_OPENED if seen.active else Fact.DOOR_CLOSED, seen.t_us)]
        return self._stand("present" if seen.active else "clear", seen.t_us) if seen.sensor == OBJECT else []

    def _restarted(self, seen: Restarted) -> list[Evidence]:
        """Remember that the wheel was not watched until now, or that no words are received before `away_until_us`."""
        self.state.watched_since_us = seen.away_until_us if seen.away_until_us > seen.t_us else None
        self.state.door_open = None
        self.ball.carried = True
        standing = [Evidence(Fact.SENSOR_FAULT, seen.t_us, {"sensor": sensor}) for sensor in self.sight.failing]
        return [*self._forget_levels(seen.t_us), Evidence(Fact.RESTARTED, seen.t_us), *standing]

    def _forget_levels(self, t_us: int) -> list[Evidence]:
        """If the object sensor reports levels, note that its level is unknown: a change may not have been reported."""
        return self._stand("unknown", t_us) if self.setting.tells_object else []

    def _stand(self, level: ObjectLevel, t_us: int) -> list[Evidence]:
        """Change the object's level. A sensor that is left out proves nothing."""
        before, self.state.object_level = self.state.object_level, level
        return [] if level == before or OBJECT in self.sight.left_out else [Evidence(OBJECT_FACTS[level], t_us)]

    def _sensor(self, seen: SensorState) -> list[Evidence]:
        """Take the report that a sensor fails or works, and what is wrong with it. Only a change is evidence."""
        if self._games is not None:
            self._games.take_sensor(seen)
            if self._beams is None and self.ball.where is Where.RUNS and self.run.phase is Phase.NONE:
                self.ball.fall(self.ball.until_us)
        failing, sensor, what = self.sight.failing, seen.sensor, seen.what
        trouble: list[Evidence] = []
        if what is not None and what is not failing.get(sensor):
            trouble.append(Evidence(Fact.SENSOR_TROUBLE, seen.t_us, {"sensor": sensor, "what": what.value}))
        if not seen.ok and sensor in failing:
            failing[sensor] = what
        if seen.ok == (sensor not in failing):
            return trouble
        if sensor in OF_EDGES and self._encoder is not None:
            self._encoder.lose_sight()
            self.ball.note_gap()
        if not seen.ok:
            return [*self._failed(seen), *trouble]
        del failing[sensor]
        self._use_the_rest()
        works = [Evidence(Fact.LEFT_OUT_WORKS, seen.t_us, {"sensor": sensor})] if sensor in self.sight.left_out else []
        return [*works, *trouble]

    def _failed(self, seen: SensorState) -> list[Evidence]:
        sensor, is_link = seen.sensor, seen.sensor == "link"
        beams, hidden = self._beams, []
        if is_link and beams is not None and self.run.phase is Phase.SUSPECTED:
            # No pass after the gap can prove this launch. After two passes, it is a launch that was not seen (N8).
            shown = beams.leading
            if shown is not None and len(shown.passes) >= HIDDEN_PASSES:
                beams.forget()
                self.ball.launch()  # the ball no longer lies where it lay
                if self._readers is not None:
                    self._readers.restart()
                hidden = [Evidence(Fact.LAUNCH_UNSEEN, shown.first_us, {"first_pass_us": shown.first_us})]
        # Without the line, the encoder or the place of the pockets, nothing proves any more where the ball lies (R3b).
        proves_place = sensor in ("link", "rotor", PLACE)
        given_up = self._readers.give_up() if self._readers is not None and proves_place else []
        self.sight.failing[sensor] = seen.what
        self._use_the_rest()
        if is_link:
            self.state.watched_since_us = None  # nobody watches the wheel until the line works again
        forgotten = self._forget_levels(seen.t_us) if sensor in ("link", OBJECT) else []
        if sensor in self.sight.left_out:
            return forgotten
        figures: Figures = {"sensor": sensor}
        if seen.what is not None:
            figures["what"] = seen.what.value
        return [*hidden, *given_up, *forgotten, Evidence(Fact.SENSOR_FAULT, seen.t_us, figures)]
