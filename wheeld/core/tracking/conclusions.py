"""What follows from the ball and the rotor together: whether they run against each other, and when the rotor stops."""

from __future__ import annotations

from wheeld.core.facts import Fact
from wheeld.core.observations import Direction
from wheeld.core.setting import TableSetting
from wheeld.core.tracking import margin
from wheeld.core.tracking.evidence import Evidence, Figures
from wheeld.core.tracking.parts import BallPart, RotorPart
from wheeld.core.tracking.run import DIRECTION_FACTS, ROTOR_FACTS, Phase


class Conclusions:
    """Draws them for the run that the ball part follows, each once a run."""

    def __init__(self, setting: TableSetting, ball: BallPart, rotor: RotorPart) -> None:
        self._ball, self._rotor, self._run = ball, rotor, ball.run
        self._one_way = setting.rotor_direction

    def directions(self, t_us: int) -> list[Evidence]:
        """R1, as soon as both directions are known; on a fair wheel the rotor's own first (A7)."""
        run, configured = self._run, self._one_way
        if run.launched_us is None or (configured is None and Fact.OPPOSITE_DIRECTION in run.reported):
            return []  # as at most edges of an encoder
        ball = None if run.has_reported(*DIRECTION_FACTS) else run.direction
        rotor = None if ball is None and configured is None else self._rotor.direction
        if rotor is None:
            return []
        if configured is not None and rotor != configured and not run.has_reported(*ROTOR_FACTS):
            run.report(Fact.ROTOR_WRONG_WAY)
            return [Evidence(Fact.ROTOR_WRONG_WAY, t_us, {"rotor_direction": rotor, "configured": configured})]
        if ball is None:
            return []
        if ball == rotor and self._rotor.may_turn_back:
            return []  # a hand may just have turned it round: its next edges show it, and N1 can't be taken back
        return [self._compare(t_us, ball, rotor)]

    def _compare(self, t_us: int, ball: Direction, rotor: Direction) -> Evidence:
        fact = Fact.SAME_DIRECTION if ball == rotor else Fact.OPPOSITE_DIRECTION
        self._run.report_direction(fact)
        record = self._ball.record()
        figures: Figures = {"ball_direction": ball, "rotor_direction": rotor, **record.figures}
        sure = None if record.lead_passes is None else margin.direction(record.lead_passes)
        return Evidence(fact, self._run.first_us or t_us, figures, sure)

    def rotor_stopped(self, last_us: int | None, *, may_lie_unseen: bool = False) -> list[Evidence]:
        """N4, N5: the rotor stopped, or stopped and turned back; it was last seen turning at `last_us`. If the ball
        `may_lie_unseen` in a pocket, only people know whether the coup is void or has its number (R3b)."""
        run = self._run
        if run.launched_us is None or run.has_reported(*ROTOR_FACTS):
            return []
        if last_us is None:
            # The fault is reported in place of a stop. It counts as one, so that it is reported once a run.
            run.report(Fact.ROTOR_STOPPED_RUNNING)
            silent: Figures = {"sensor": "rotor", "what": "silent_since_start"}
            return [Evidence(Fact.SENSOR_FAULT, run.launched_us, silent)]
        last_pass_us = run.last_us or 0
        running = run.phase is Phase.ON_TRACK or last_pass_us > last_us
        fact = Fact.ROTOR_STOPPED_RUNNING if running else Fact.ROTOR_STOPPED_BEFORE_DROP
        figures: Figures = {"last_tick_us": last_us, "last_pass_us": last_pass_us}
        if not running and may_lie_unseen and run.opposite:
            fact, figures = Fact.ROTOR_STOPPED_IN_FALL, {**figures, **self._ball.record().figures, "unproven": "R3"}
        run.report(fact)
        return [Evidence(fact, last_us, figures, self._rotor.stop_margin())]
