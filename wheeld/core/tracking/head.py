"""The wheel as a commercial head reports it: its rotor, its games, its ball and its number. `HEADS` lists what each
product can do.

The head gives the number. The setting decides whether the head also reports the ball and the rotor, or beams and an
encoder of our own do: beams can prove what the head's reports cannot. If only one of the two saw the ball run, the
number of that run is never a result. What the head reports against a coup makes it void, even if beams watch the ball.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import (
    Direction,
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadPhase,
    HeadRotor,
    HeadWarned,
    HeadWarning,
    SensorState,
)
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.ball import (
    DIRECTION_FACTS,
    LAUNCH_FACTS,
    BallPart,
    Conclusions,
    Phase,
    RotorPart,
    Run,
    RunRecord,
)
from wheeld.core.tracking.beams import REST_US
from wheeld.core.tracking.evidence import Evidence, Figures, Margin, Question, Seen, Topic

LINES_AGREE = 2
"""So many reports in a row prove a stop or a direction. A single report may be damaged."""
SLOW_RPM_MAX = 40.0
"""The highest speed in the last line before a stop. In the hardest recorded braking, the speed falls by 35 rpm from
report to report. If a rotor becomes faster and faster, its speed field may start again from 0: that is not a stop."""
FAST_RPM_MIN = 89.0
"""The speed field starts again from 0 only after a speed of at least this: from report to report, recorded rotors
become faster by up to 10 rpm. A 0 after a speed between `SLOW_RPM_MAX` and this one is not explained."""
REPORT_FRESH_US = 2_000_000
"""A report older than this does not show how fast the rotor turns now."""


class HeadRotorState(msgspec.Struct):
    """What is remembered of the reports of the rotor.

    `direction`: the direction on which two lines in a row agreed. `reported`: the direction in the latest line in which
    the rotor turned. `since_us`: since when lines have reported this direction. `moved_us`: when the latest line came
    in which the rotor turned. `standing`: how many lines since then report that it stands, if the speed before was low
    enough for a stop. `before_rpm`: the latest speed, which may explain a 0 or an unreadable speed after it. None if
    unknown. `unread`: how many lines since the launch have a 0 that nothing explains, or a speed that cannot be read.
    """

    direction: Direction | None = None
    reported: Direction | None = None
    since_us: int = 0
    rpm: float | None = None
    last_us: int | None = None
    moved_us: int = 0
    before_rpm: float | None = None
    standing: int = 0
    unread: int = 0

    def arm(self) -> None:
        """Remember that a ball was launched: from now on a stop of the rotor is evidence (N4)."""
        self.standing = self.unread = 0

    def forget(self) -> None:
        """Forget the reports, because some are missing. The next two reports must agree again."""
        self.direction = self.reported = self.last_us = self.before_rpm = None


class RotorFromHead(RotorPart):
    """The rotor part of a table whose head reports the rotor. `state`: all that it remembers. `run`: the head's run."""

    def __init__(self, state: HeadRotorState, run: Run) -> None:
        self.state, self._run = state, run

    @property
    def direction(self) -> Direction | None:
        """The direction in the latest report of the run, if other reports confirm it. None while the rotor stands
        still, or while no run is reported."""
        state, since_us = self.state, self._run.launched_us
        fresh = since_us is not None and state.last_us is not None and state.last_us >= since_us
        return state.direction if fresh and state.reported == state.direction and not state.standing else None

    @property
    def is_standing(self) -> bool:
        """Whether the rotor stands still, as the latest report says. True before the first report."""
        return self.state.rpm == 0 or self.state.last_us is None

    @property
    def was_seen_turning(self) -> bool:
        """Whether the lines since the launch show that the rotor turned. One unclear line may be damaged. If there are
        more, the rotor may have stood (N8)."""
        return self.state.unread < LINES_AGREE

    def rpm(self, at_us: int) -> float | None:
        """Return the speed that was last reported. None if it could not be read, or is too old."""
        last_us = self.state.last_us
        return self.state.rpm if last_us is not None and at_us - last_us <= REPORT_FRESH_US else None

    def report(self, seen: HeadRotor) -> Literal["stopped", "turned_back"] | None:
        """Take one report. Return what it proves: that the rotor stopped, or stopped and turned back, or nothing."""
        state = self.state
        state.rpm, state.last_us = seen.rpm, seen.t_us
        was_slow = state.before_rpm is not None and state.before_rpm <= SLOW_RPM_MAX
        was_fast = state.before_rpm is not None and state.before_rpm >= FAST_RPM_MIN
        state.unread += not (seen.rpm or was_fast or (seen.rpm == 0 and was_slow))
        if seen.rpm == 0:
            state.standing += was_slow
            if state.standing != LINES_AGREE:
                return None
            state.direction = state.reported = None
            return "stopped"
        state.standing, state.moved_us = 0, seen.t_us
        if seen.rpm is not None or not was_fast:
            state.before_rpm = seen.rpm
        if seen.direction != state.reported:  # only the next line can prove that the rotor turned back
            state.reported, state.since_us = seen.direction, seen.t_us
            return None
        back = state.direction not in (None, seen.direction)
        state.direction = seen.direction
        return "turned_back" if back else None


FIRST_LAPS_MAX = 3
"""A head counts the laps of a run from the first one on, report by report. A first count that is higher than this is
wrong: laps of another run are in it."""
RUNS = ("running", "closing", "off_track")
"""The phases in which a ball runs or falls."""
BEAMS_LATE_US = 3_000_000
"""How long the head's report of a run waits for the beams to prove the launch. Beams that work prove it within this
time, however slow the ball is. If they do not, they missed the launch, and the head's report begins the coup."""


class HeadGameKept(msgspec.Struct, frozen=True):
    """A wheel head's latest game: the head's own number for it (`spin`), and whether it may be over."""

    spin: int
    over: bool

    def goes_on_with(self, spin: int) -> bool:
        """Whether no game was played between this one and game `spin`. The numbers may start again at 0 or 1."""
        return spin == self.spin or (self.over and spin in (self.spin + 1, 0, 1))


class HeadSpin(msgspec.Struct):
    """What only a head reports of a run. `number`: the head's own number for the game. `laps`: the most laps that the
    head reported. None if it reported no laps.

    `from_launch`: lines were received from before the launch on. `against`: what the head itself has reported against
    the game (`SAME_DIRECTION`, `WHEEL_VOID`).
    """

    number: int = 0
    from_launch: bool = False
    laps: int | Literal["miscounted"] | None = None
    against: list[Fact] = msgspec.field(default_factory=list)

    def count(self, laps: int) -> None:
        """Take a report of the laps. Each of two things makes the whole count worthless (N8): a first count that is too
        high for any ball, or a 0 after other counts."""
        if self.laps != "miscounted":
            is_wrong = laps > FIRST_LAPS_MAX if self.laps is None else laps == 0 < self.laps
            self.laps = "miscounted" if is_wrong else max(laps, self.laps or 0)


class HeadState(msgspec.Struct):
    """What a wheel head has reported: the phase of its game, the run in progress, its rotor, its latest number.

    `spin`: the head's own number for the present game. `last_number`: the latest winning number, with the game of this
    number. `warnings`: the present warnings. `idle_us`: when a wheel that launches by itself first reported that it
    plays no game. `is_stopped`: a later report confirmed this. `over_us`: when a run last ended without a number, as
    the head reported. `before`: the latest game reported before a restart. None after the first report of a game.
    """

    phase: HeadPhase | None = None
    spin: int = 0
    warnings: tuple[HeadWarned, ...] = ()
    idle_us: int | None = None
    is_stopped: bool = False
    last_number: tuple[int, int | None] | None = None
    over_us: int = -1
    before: HeadGameKept | None = None
    run: Run = msgspec.field(default_factory=Run)
    of_run: HeadSpin = msgspec.field(default_factory=HeadSpin)
    rotor: HeadRotorState = msgspec.field(default_factory=HeadRotorState)

    @property
    def has_run(self) -> bool:
        """Whether the head reports a run."""
        return self.run.launched_us is not None

    @property
    def kept(self) -> HeadGameKept | None:
        """The head's latest reported game, which must be known after a restart."""
        if self.phase is None:
            return self.before
        over = self.has_run or (self.last_number is not None and self.last_number[0] == self.spin)
        return HeadGameKept(self.spin, over)

    def begin_run(self, t_us: int, *, from_launch: bool) -> None:
        """Begin a run of the present game. The run was first reported at `t_us`."""
        self.run.phase, self.run.launched_us = Phase.ON_TRACK, t_us
        self.of_run.number, self.of_run.from_launch = self.spin, from_launch
        self.rotor.arm()

    def forget_lines(self) -> None:
        """Forget earlier reports, because lines are missing. When lines come again, the head repeats its warnings."""
        self.phase, self.warnings = None, ()
        self.idle_us, self.is_stopped = None, False
        self.end_run()
        self.rotor.forget()

    def disown(self) -> None:
        """Remember that the reported run belongs to no future coup."""
        self.run.disowned = self.has_run

    def end_run(self) -> None:
        """Forget the run: the head no longer reports a run."""
        self.run.clear()
        self.of_run = HeadSpin()


class HeadGames:
    """Follows a head's games: the run that it reports, even if beams watch the ball, and its reports against this
    run."""

    def __init__(
        self, setting: TableSetting, head: HeadState, ball: BallPart, rotor: RotorPart, conclusions: Conclusions
    ) -> None:
        assert setting.product is not None, "only a setting with a head has games of one"
        self._product = setting.product
        self._head, self._ball, self._rotor, self._conclusions = head, ball, rotor, conclusions
        self._ball_by_head = setting.ball == "head"
        self._reported_rotor = rotor if isinstance(rotor, RotorFromHead) else None

    # --- the head's lines ---------------------------------------------------------------------------------------------

    def take_game(self, seen: HeadGame) -> list[Evidence]:
        """Take the phase of the head's game."""
        head, t_us = self._head, seen.t_us
        before, head.phase, head.spin = head.phase, seen.phase, seen.spin
        if seen.phase != "idle" or not self._product.launches:
            head.idle_us, head.is_stopped = None, False
        elif head.idle_us is None:
            head.idle_us = t_us
        evidence = []
        kept, head.before = head.before, None
        if kept is not None and not kept.goes_on_with(seen.spin):  # games were played while no daemon ran
            evidence.append(Evidence(Fact.UNOBSERVED_COUP, t_us, {"from_spin": kept.spin, "to_spin": seen.spin}))
        if seen.phase not in RUNS:
            return evidence if seen.phase == "number" else evidence + self.end(t_us, "no number came")
        if not head.has_run:
            evidence += self._begin(t_us, from_launch=before == "ready")
        head.of_run.from_launch &= seen.spin == head.of_run.number
        if seen.phase == "off_track":
            evidence += self._leave(t_us)
        return evidence + self._said_opposite(t_us) + self._same_direction(t_us)

    def take_ball(self, seen: HeadBall) -> list[Evidence]:
        """Take a report of the head's sensors about the ball."""
        head, run, t_us = self._head, self._head.run, seen.t_us
        if not seen.runs:
            return self._leave(t_us)
        evidence: list[Evidence] = []
        if not head.has_run:
            if head.phase not in (None, "ready", *RUNS):
                return []
            evidence = self._begin(t_us, from_launch=head.phase == "ready")
        if seen.laps is not None:
            head.of_run.count(seen.laps)
        if seen.direction is not None and seen.direction != run.direction:
            run.turn(seen.direction)
        return evidence + self._conclusions.directions(t_us) + self._same_direction(t_us)

    def _leave(self, t_us: int) -> list[Evidence]:
        """Conclude from the head's report that the ball left the track. The laps are final only with the number."""
        run, was_on_track = self._head.run, self._head.run.phase is Phase.ON_TRACK
        run.phase = Phase.OFF_TRACK if self._head.has_run else Phase.NONE
        if not (was_on_track and self._ball_by_head):
            return []
        return [Evidence(Fact.LEFT_TRACK_UNPROVEN, t_us, self._ball.record().figures)]

    def take_rotor(self, seen: HeadRotor) -> list[Evidence]:
        """Take a report of the rotor, if no encoder watches it. Such reports come regularly, in every phase."""
        head, rotor, t_us, stopped = self._head, self._reported_rotor, seen.t_us, []
        since_us = head.run.launched_us
        # The wheel has stopped its game: another report came after the first and did not deny it.
        if not head.is_stopped and head.idle_us is not None and t_us > head.idle_us:
            head.is_stopped = True
            stopped.append(Evidence(Fact.WHEEL_STOPPED, head.idle_us, {"spin": head.spin}))
        if rotor is None:
            return stopped
        moved_us = rotor.state.moved_us
        surprise = rotor.report(seen)
        if since_us is None:
            return stopped
        # A rotor that turns back has stopped. If it stopped before the launch was reported, N4 does not apply.
        armed = surprise == "stopped" or rotor.state.since_us > since_us
        evidence = self._conclusions.rotor_stopped(moved_us) if surprise is not None and armed else []
        evidence += self._conclusions.directions(t_us)
        return evidence + self._same_direction(t_us) + self._said_opposite(t_us)

    def take_warning(self, seen: HeadWarning) -> list[Evidence]:
        """Take the head's warnings. One of them may declare the game void."""
        head, against = self._head, self._head.of_run.against
        before, head.warnings = head.warnings, seen.warnings
        evidence = self._same_direction(seen.t_us)
        if "launch_failed" in seen.warnings and "launch_failed" not in before and not head.has_run:
            evidence.append(Evidence(Fact.LAUNCH_FAILED, seen.t_us, {"spin": head.spin}))
        if seen.void and Fact.WHEEL_VOID not in against:
            if head.has_run:
                against.append(Fact.WHEEL_VOID)
            figures: Figures = {"warnings": " ".join(seen.warnings), "spin": head.spin}
            evidence += [*self.begin_coup(), Evidence(Fact.WHEEL_VOID, seen.t_us, figures)]
        return evidence

    def take_jump(self, seen: HeadJump) -> list[Evidence]:
        """Take the report that the head has counted games that it did not report."""
        self._head.end_run()
        self._head.last_number = None
        figures: Figures = {"from_spin": seen.from_spin, "to_spin": seen.to_spin}
        return [Evidence(Fact.UNOBSERVED_COUP, seen.t_us, figures)]

    def take_sensor(self, seen: SensorState) -> None:
        """If the head's line fails, forget its reports: anything may happen before the line works again."""
        if seen.sensor == "head" and not seen.ok:
            self._head.forget_lines()

    # --- the run that the head reports --------------------------------------------------------------------------------

    def take_launch(self) -> bool:
        """Remember that beams have proven a launch. Return False if the head's report has begun this coup already."""
        self._head.rotor.arm()
        if self._head.run.has_reported(*LAUNCH_FACTS):
            return False
        if self._head.has_run:
            self._head.run.report(Fact.LAUNCHED)
        return True

    def question(self, now_us: int) -> Question:
        """Return the question whether a ball already runs, and the head has not reported it yet."""
        return Question(Topic.UNREPORTED, now_us - self._product.run_within_us, wait_us=self._product.run_within_us)

    def due_us(self) -> int | None:
        """Return when beams must have proven the launch that the head reports. None if no launch waits for this."""
        run = self._head.run
        return None if run.launched_us is None or run.has_reported(*LAUNCH_FACTS) else run.launched_us + BEAMS_LATE_US

    def begin_coup(self) -> list[Evidence]:
        """Return the launch that the head reports, unless it was already reported for this run."""
        run = self._head.run
        if run.launched_us is None or run.has_reported(*LAUNCH_FACTS):
            return []
        fact = Fact.LAUNCHED if self._head.of_run.from_launch else Fact.LAUNCH_UNSEEN
        run.report(fact)
        figures: Figures = {"spin": self._head.of_run.number, "said_by": "head"}
        latest_us = max(0, run.launched_us - self._product.run_after_us)
        earliest_us = max(0, run.launched_us - self._product.run_within_us)
        return [Evidence(fact, latest_us, figures, earliest_us=earliest_us)]

    def end(self, t_us: int, what: str) -> list[Evidence]:
        """End the head's game, because it has no reliable number. `what`: why, in English, for the figures."""
        head = self._head
        evidence = self.begin_coup()
        if head.has_run:
            head.over_us = t_us
            if Fact.WHEEL_VOID not in head.of_run.against:
                evidence.append(Evidence(Fact.WHEEL_VOID, t_us, {"what": what, "spin": head.of_run.number}))
        head.end_run()
        return evidence

    def _begin(self, t_us: int, *, from_launch: bool) -> list[Evidence]:
        """Take the head's report that a ball runs. If beams watch the ball, wait until they prove the launch."""
        run = self._ball.run
        self._head.begin_run(t_us, from_launch=from_launch)
        if self._ball_by_head:
            return self.begin_coup()
        # The beams may have reported this launch already. The head's report can come after the end of the run, if there
        # were few passes or the line is late. But if that run ended much earlier, the head means another run.
        ended_lately = run.last_us is not None and t_us - run.last_us <= BEAMS_LATE_US
        if run.phase is Phase.ON_TRACK or (run.phase is Phase.OFF_TRACK and ended_lately):
            self._head.run.report(Fact.LAUNCHED)
        return []

    def _said_opposite(self, t_us: int) -> list[Evidence]:
        """Conclude R1 from the head's phase `closing`, if it means that the ball runs against the rotor."""
        if self._head.phase != "closing" or not (self._ball_by_head and self._product.says_opposite):
            return []
        run, rotor = self._ball.run, self._rotor.direction
        if rotor is None or run.has_reported(*DIRECTION_FACTS):
            return []
        run.report_direction(Fact.OPPOSITE_DIRECTION)
        figures: Figures = {"rotor_direction": rotor, "said_by": "head", **self._ball.record().figures}
        return [Evidence(Fact.OPPOSITE_DIRECTION, t_us, figures)]

    def _same_direction(self, t_us: int) -> list[Evidence]:
        """Conclude N1 from what the head reports. There are two signs.

        One sign is the head's warning `same_direction`. Before the ball runs it does not count, because then it is
        about a launch that failed. The other sign is the direction that the head reports while beams watch the ball.
        What the head reports against a coup counts, even if the beams saw something else.
        """
        head, run, against = self._head, self._head.run, self._head.of_run.against
        if not head.has_run or Fact.SAME_DIRECTION in against:
            return []
        contrary = not self._ball_by_head and run.direction is not None and run.direction == self._rotor.direction
        if "same_direction" not in head.warnings and not contrary:
            return []
        against.append(Fact.SAME_DIRECTION)
        self._ball.run.report_direction(Fact.SAME_DIRECTION)
        figures: Figures = {"said_by": "head", **self._ball.record().figures}
        return [*self.begin_coup(), Evidence(Fact.SAME_DIRECTION, t_us, figures)]


HEAD_EARLY_US = 500_000
"""Beams may have missed the first passes. So the head's report of a run may come this long before the first pass that
they saw. A report that comes earlier, or more than `BEAMS_LATE_US` after that pass, is about another run."""


class BallFromHead:
    """The ball part of a table whose head reports the ball, without beams."""

    def __init__(self, head: HeadState) -> None:
        self._head, self.run = head, head.run

    @property
    def counters(self) -> dict[str, int]:
        """How many pulses have no effect: none, because there are no beams."""
        return {"stray_pulses": 0, "double_pulses": 0}

    def record(self) -> RunRecord:
        """Return the laps that the head counts, if it counts them."""
        spin = self._head.of_run
        if spin.laps is None or spin.laps == "miscounted":
            return RunRecord({"spin": spin.number}, None, None, None)
        return RunRecord({"spin": spin.number, "laps_proven": spin.laps}, spin.laps, None, spin.laps)

    def disown(self) -> None:
        """Remember that the run in progress belongs to no future coup."""
        self._head.disown()


class PocketFromHead:
    """The pocket part of a table whose head gives the number (R3). It also decides what is proven of the run."""

    def __init__(
        self, setting: TableSetting, head: HeadState, ball: BallPart, rotor: RotorPart, games: HeadGames
    ) -> None:
        assert setting.product is not None, "only a setting with a head has its number"
        self._head, self._ball, self._rotor, self._games = head, ball, rotor, games
        self.sightings: list[Seen] = []
        self.counters: dict[str, int] = {}
        self._number_within_us = setting.product.number_within_us
        self._min_laps, self._ball_by_head = setting.min_laps, setting.ball == "head"
        self._confirmable = frozenset(setting.confirmable)
        self._index_of = setting.profile.pockets.index_of
        self._proven = Fact.NUMBER_UNCONFIRMED if setting.confirm_numbers else Fact.NUMBER

    def lies_in(self, pocket_index: int, now_us: int) -> bool | None:  # noqa: ARG002  a head does not see a lying ball
        """Return False while a ball runs, otherwise None: a person must say where the ball lies."""
        return False if self._head.has_run or self._ball.run.phase is Phase.ON_TRACK else None

    def place(self, now_us: int) -> None:
        """Return None: a head does not see where the ball lies."""

    def fall_due_us(self, left_us: int) -> int:
        """Return the time at which the head must have reported its number."""
        return left_us + self._number_within_us

    def fall_overdue(self, now_us: int) -> Evidence:
        """Return that the fall is overdue; or a fault of the head, if it never reported a run that beams proved."""
        run = self._ball.run
        few = self._ball.record().is_short_of(self._min_laps)
        if self._head.has_run or few or self._head.over_us >= (run.launched_us or 0):
            return Evidence(Fact.FALL_OVERDUE, now_us)
        return Evidence(Fact.SENSOR_FAULT, now_us, {"sensor": "head", "what": "no_ball_seen"})

    def take(self, seen: HeadNumber) -> list[Evidence]:
        """Return what a report of the number proves."""
        head = self._head
        before, head.last_number = head.last_number, (seen.spin, seen.number)
        if not head.has_run and before is not None and before[0] == seen.spin:
            if before == head.last_number:
                return []
            # The head changed a game's number, or took it back: neither number is reliable (N8).
            told = {"number": seen.number, "told_before": before[1]}
            figures: Figures = {name: number for name, number in told.items() if number is not None}
            return [Evidence(Fact.NUMBER_CORRECTED, seen.t_us, {"spin": seen.spin, **figures})]
        if seen.number is None:
            return self._games.end(seen.t_us, "its own lines disagree about the number")
        evidence = [*self._games.begin_coup(), *self._called(seen, seen.number)]
        head.end_run()
        self._ball.disown()  # beams may still see the ball on the track: that must not be a second launch
        return evidence

    def _called(self, seen: HeadNumber, number: int) -> list[Evidence]:
        """Return the number, with what is proven of its run and what is not."""
        record = self._ball.record()
        laps, short = record.laps, record.is_short_of(self._min_laps)
        figures: Figures = {**record.figures, "number": number, "pocket_index": self._index_of[number]}
        if not self._is_whole(seen):
            return [Evidence(Fact.NUMBER_UNPROVEN, seen.t_us, figures)]
        open_rows = [row for row, is_open in (("R1", not self._ball.run.opposite), ("R2", short)) if is_open]
        if not open_rows:
            sure = Margin.run(laps, self._min_laps, record.lead_passes)
            return [Evidence(self._proven, seen.t_us, figures, sure)]
        figures["unproven"] = " ".join(open_rows)
        if self._confirmable.issuperset(open_rows) and record.may_have(self._min_laps):
            return [Evidence(Fact.NUMBER_UNCONFIRMED, seen.t_us, figures)]
        # A head that counts laps gives the final count only with the number, when the ball lies in its pocket (N3).
        few = [Evidence(Fact.LEFT_TRACK_SHORT, seen.t_us, record.figures)] if laps is not None and short else []
        return [*few, Evidence(Fact.NUMBER_UNPROVEN, seen.t_us, figures)]

    def _is_whole(self, seen: HeadNumber) -> bool:
        """Whether the head, and the beams if there are any, have seen this run from its launch to its number (N8)."""
        head, spin = self._head, self._head.of_run
        by_head = head.has_run and spin.from_launch and spin.number == seen.spin and seen.whole
        if not by_head or not self._rotor.was_seen_turning or head.run.disowned or spin.against:
            return False
        if self._ball_by_head:
            return True
        # Beams must have seen the head's run to its end, and the number must come only when the ball could be at rest.
        run, began_us = self._ball.run, head.run.launched_us
        first_us, last_us = run.launched_us, run.last_us
        is_seen = run.phase is Phase.OFF_TRACK and not run.disowned
        if not is_seen or began_us is None or first_us is None or last_us is None:
            return False
        began = first_us - HEAD_EARLY_US <= began_us <= min(first_us + BEAMS_LATE_US, last_us)
        return began and seen.t_us >= last_us + REST_US
