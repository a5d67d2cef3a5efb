"""The games of a commercial wheel head, which reports conclusions. What its product can do stands in `HEADS`.

The number is the head's. The ball and the rotor are the head's too, or those of beams and an encoder of our own, as the
setting says: beams beside a head prove what its reports cannot. A ball that one of them saw run and the other
did not is never a result. What the head reports against a coup voids it, also where beams watch the ball.
"""

from __future__ import annotations

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import (
    HeadBall,
    HeadGame,
    HeadJump,
    HeadPhase,
    HeadRotor,
    HeadWarned,
    HeadWarning,
    SensorState,
)
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.conclusions import Conclusions
from wheeld.core.tracking.evidence import Evidence, Figures
from wheeld.core.tracking.head_rotor import HeadRotorState, RotorFromHead
from wheeld.core.tracking.parts import BallPart, RotorPart
from wheeld.core.tracking.questions import Question, Topic
from wheeld.core.tracking.run import DIRECTION_FACTS, LAUNCH_FACTS, Phase, Run

FIRST_LAPS_MAX = 3
"""A head counts from the first lap on, report by report. If a count begins higher, it is not the count of this run
alone."""
RUNS = ("running", "closing", "off_track")
"""Phases in which a ball runs, or falls."""
BEAMS_LATE_US = 3_000_000
"""How long the head's report of a run waits for the beams to prove the launch. Within this time working beams have
proven it, however slow the ball is. If they have not, they missed it, and the head's report begins the coup."""


class HeadGameKept(msgspec.Struct, frozen=True):
    """The number of a wheel head's latest game, and whether it may be over: then the next number is no surprise."""

    spin: int
    over: bool

    def goes_on_with(self, spin: int) -> bool:
        """Whether no other game was played before game `spin`. The numbers begin anew at 0 or 1."""
        return spin == self.spin or (self.over and spin in (self.spin + 1, 0, 1))


class HeadSpin(msgspec.Struct):
    """What only a head says of a run. `number`: the head's own number of the game. `laps`: the most laps that it
    reported; None if the run was `miscounted`.

    `from_launch`: its lines were received from before the launch on. `against`: what the head itself has reported
    against the game (`SAME_DIRECTION` by its flag, `WHEEL_VOID`).
    """

    number: int = 0
    from_launch: bool = False
    laps: int | None = None
    miscounted: bool = False
    against: list[Fact] = msgspec.field(default_factory=list)

    def count(self, laps: int) -> None:
        """Take a report of its laps in. Either of two reports makes the whole count worthless (N8): a first count
        that is too high for any ball, or a 0 after other counts, because it takes them back."""
        self.miscounted |= laps > FIRST_LAPS_MAX if self.laps is None else laps == 0 < self.laps
        self.laps = None if self.miscounted else max(laps, self.laps or 0)


class HeadState(msgspec.Struct):
    """What a wheel head has reported: where its game stands, the run in progress, its rotor, its latest number.

    `spin`: the number of its present game. `last_number`: the game and the number that it reported last.
    `warnings`: those that stand. `idle_us`: since when a wheel that launches by itself
    reports that it plays no game; `is_stopped`: a second report has confirmed it. `over_us`: when it last reported that
    a run was over without a number. `before`: where its games stood before a restart. It is kept until the first line
    after the restart.
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
        """Where its games stand, as reported last; to be known after a restart."""
        if self.phase is None:
            return self.before
        over = self.has_run or (self.last_number is not None and self.last_number[0] == self.spin)
        return HeadGameKept(self.spin, over)

    def begin_run(self, t_us: int, *, from_launch: bool) -> None:
        """A run of the present game, first reported at `t_us`."""
        self.end_run()
        self.run.phase, self.run.launched_us = Phase.ON_TRACK, t_us
        self.of_run.number, self.of_run.from_launch = self.spin, from_launch
        self.rotor.arm()

    def forget_lines(self) -> None:
        """Lines are missing here: what they said before does not hold any more. That a launch failed is told once."""
        self.phase = None
        self.warnings = tuple(warned for warned in self.warnings if warned == "launch_failed")
        self.idle_us, self.is_stopped = None, False
        self.end_run()
        self.rotor.forget()

    def disown(self) -> None:
        """The run that is reported belongs to no coup to come."""
        self.run.disowned = self.has_run

    def end_run(self) -> None:
        """No run is reported."""
        self.run.clear()
        self.of_run = HeadSpin()


class HeadGames:
    """Follows a head's games: the run that it reports, whichever part watches the ball, and what it says against it."""

    def __init__(
        self, setting: TableSetting, head: HeadState, ball: BallPart, rotor: RotorPart, conclusions: Conclusions
    ) -> None:
        assert setting.product is not None, "only a setting with a head has games of one"
        self._product = setting.product
        self._head, self._ball, self._rotor, self._conclusions = head, ball, rotor, conclusions
        self._ball_by_head = setting.ball == "head"
        self._reported_rotor = rotor if isinstance(rotor, RotorFromHead) else None

    # --- its lines ----------------------------------------------------------------------------------------------------

    def take_game(self, seen: HeadGame) -> list[Evidence]:
        """Where its game stands."""
        head, t_us = self._head, seen.t_us
        before, head.phase, head.spin = head.phase, seen.phase, seen.spin
        if seen.phase != "idle" or not self._product.launches:
            head.idle_us, head.is_stopped = None, False
        elif head.idle_us is None:
            head.idle_us = t_us
        evidence = self._missed_games(seen)
        if seen.phase not in RUNS:
            return evidence if seen.phase == "number" else evidence + self.end(t_us, "no number came")
        if not head.has_run:
            evidence += self._begin(t_us, from_launch=before == "ready")
        head.of_run.from_launch &= seen.spin == head.of_run.number
        if seen.phase == "off_track":
            evidence += self._leave(t_us)
        return evidence + self._said_opposite(t_us) + self._same_direction(t_us)

    def take_ball(self, seen: HeadBall) -> list[Evidence]:
        """The ball by its sensors."""
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
        """It reports that the ball runs no more. Its laps are final with the number only."""
        run, was_on_track = self._head.run, self._head.run.phase is Phase.ON_TRACK
        run.phase = Phase.OFF_TRACK if self._head.has_run else Phase.NONE
        if not (was_on_track and self._ball_by_head):
            return []
        return [Evidence(Fact.LEFT_TRACK_UNPROVEN, t_us, self._ball.record().figures)]

    def take_rotor(self, seen: HeadRotor) -> list[Evidence]:
        """Its rotor, where no encoder of our own watches it. It is reported regularly, in every phase."""
        rotor, since_us, t_us = self._reported_rotor, self._head.run.launched_us, seen.t_us
        stopped = self._stopped(t_us)
        if rotor is None:
            return stopped
        moved_us = rotor.state.moved_us
        surprise = rotor.report(seen)
        if since_us is None:
            return stopped
        # Turned round before the launch was reported, it had stopped before it: N4 was not armed yet.
        armed = surprise == "stopped" or rotor.state.since_us > since_us
        evidence = self._conclusions.rotor_stopped(moved_us) if surprise is not None and armed else []
        evidence += self._conclusions.directions(t_us)
        return evidence + self._same_direction(t_us) + self._said_opposite(t_us)

    def _stopped(self, t_us: int) -> list[Evidence]:
        """Its game is stopped when the next report does not say otherwise: a single one may be damaged."""
        head = self._head
        if head.is_stopped or head.idle_us is None or t_us <= head.idle_us:
            return []
        head.is_stopped = True
        return [Evidence(Fact.WHEEL_STOPPED, head.idle_us, {"spin": head.spin})]

    def take_warning(self, seen: HeadWarning) -> list[Evidence]:
        """Its warnings; one of them may declare the game void."""
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
        """Its count of games leapt."""
        self._head.end_run()
        self._head.last_number = None
        figures: Figures = {"from_spin": seen.from_spin, "to_spin": seen.to_spin}
        return [Evidence(Fact.UNOBSERVED_COUP, seen.t_us, figures)]

    def take_sensor(self, seen: SensorState) -> None:
        """While the head's line is silent anything may happen: what it reports afterwards begins anew."""
        if seen.sensor == "head" and not seen.ok:
            self._head.forget_lines()

    # --- the run that it reports --------------------------------------------------------------------------------------

    def take_launch(self) -> bool:
        """Beams have proven a launch; False when the head's report has begun this coup already."""
        self._head.rotor.arm()
        if self._head.run.has_reported(*LAUNCH_FACTS):
            return False
        if self._head.has_run:
            self._head.run.report(Fact.LAUNCHED)
        return True

    def question(self, now_us: int) -> Question:
        """Whether a ball runs already that it has not reported yet."""
        return Question(Topic.UNREPORTED, now_us - self._product.run_within_us, wait_us=self._product.run_within_us)

    def due_us(self) -> int | None:
        """When beams that have not seen the head's ball have missed it."""
        run = self._head.run
        return None if run.launched_us is None or run.has_reported(*LAUNCH_FACTS) else run.launched_us + BEAMS_LATE_US

    def begin_coup(self) -> list[Evidence]:
        """The launch that the head reports, unless it was reported of this run."""
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
        """The head's game ends without a number to rely on."""
        head = self._head
        evidence = self.begin_coup()
        if head.has_run:
            head.over_us = t_us
            if Fact.WHEEL_VOID not in head.of_run.against:
                evidence.append(Evidence(Fact.WHEEL_VOID, t_us, {"what": what, "spin": head.of_run.number}))
        head.end_run()
        return evidence

    def _missed_games(self, seen: HeadGame) -> list[Evidence]:
        """At the first line after a restart: games that it played meanwhile nobody received."""
        before, self._head.before = self._head.before, None
        if before is None or before.goes_on_with(seen.spin):
            return []
        return [Evidence(Fact.UNOBSERVED_COUP, seen.t_us, {"from_spin": before.spin, "to_spin": seen.spin})]

    def _begin(self, t_us: int, *, from_launch: bool) -> list[Evidence]:
        """The head reports that a ball runs. Beams of our own come first, where there are some."""
        run = self._ball.run
        self._head.begin_run(t_us, from_launch=from_launch)
        if self._ball_by_head:
            return self.begin_coup()
        # The head may report the beams' latest run only now: the launch was weak, or the line is late. A run that the
        # beams saw end long before is another one. Its launch was reported; the launch of this run was not.
        ended_lately = run.last_us is not None and t_us - run.last_us <= BEAMS_LATE_US
        if run.phase is Phase.ON_TRACK or (run.phase is Phase.OFF_TRACK and ended_lately):
            self._head.run.report(Fact.LAUNCHED)
        return []

    def _said_opposite(self, t_us: int) -> list[Evidence]:
        """R1 as the head concludes it, where its `closing` is a ball that runs against the rotor."""
        if self._head.phase != "closing" or not (self._ball_by_head and self._product.says_opposite):
            return []
        run, rotor = self._ball.run, self._rotor.direction
        if rotor is None or run.has_reported(*DIRECTION_FACTS):
            return []
        run.report_direction(Fact.OPPOSITE_DIRECTION)
        figures: Figures = {"rotor_direction": rotor, "said_by": "head", **self._ball.record().figures}
        return [Evidence(Fact.OPPOSITE_DIRECTION, t_us, figures)]

    def _same_direction(self, t_us: int) -> list[Evidence]:
        """N1 by what the head says. There are two signs.

        One is the head's own flag. Before the ball runs, the flag does not count: it is about a launch that failed.
        The other is the direction that the head reports, where beams watch the ball. What the head says against
        a coup counts, even if the beams saw something else.
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
