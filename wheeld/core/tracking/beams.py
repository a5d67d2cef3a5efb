"""The ball on its track by beams of our own: what the readings of their pulses prove, as evidence."""

from __future__ import annotations

from wheeld.core.facts import Fact
from wheeld.core.setting import TableSetting
from wheeld.core.tracking import margin
from wheeld.core.tracking.ball import BallState, BallTracker
from wheeld.core.tracking.evidence import Evidence, Figures, blind_sensor
from wheeld.core.tracking.forecast import LEFT_REV_S_MAX, Forecast, Habit, forecast
from wheeld.core.tracking.passes import Chain
from wheeld.core.tracking.run import Phase, RunRecord

SOON_US = 4_000_000
"""When leaving is reported: early enough to be of use, late enough to be right within a second."""


class BallFromBeams:
    """The ball part of a table with beams: launch, slowing, forecast, and the moment when the ball is gone."""

    def __init__(self, setting: TableSetting, state: BallState, habit: Habit) -> None:
        self._min_laps, self._slow_rev_s = setting.min_laps, setting.auto_rien_ne_va_plus_rev_s
        self._chef_answers = "R2" in setting.confirmable
        self._habit = habit
        self.tracker = BallTracker(setting.beams_deg, state, strays=setting.strays)
        self.run = self.tracker.run

    @property
    def counters(self) -> dict[str, int]:
        """Pulses that count for nothing, since the start."""
        state = self.tracker.state
        return {"stray_pulses": state.strays, "double_pulses": state.doubles}

    def record(self) -> RunRecord:
        """What the passes prove of the run."""
        return self.tracker.record()

    def disown(self) -> None:
        """The run in progress belongs to no coup to come: it must not hide the next launch."""
        if self.run.phase is Phase.ON_TRACK:
            self.run.disowned = True
        else:
            self.tracker.forget_run()

    def launch(self, watched_since_us: int) -> Evidence:
        """The launch that a pulse has proven, or a ball that may have run before the sensors watched, or that most of
        them do not see (N8)."""
        first_us = self.run.first_us or 0
        was_watched = first_us - watched_since_us >= self.tracker.unmet_us_max and not self.tracker.is_half_blind
        fact = Fact.LAUNCHED if was_watched else Fact.LAUNCH_UNSEEN
        self.run.report(fact)
        return Evidence(fact, first_us, self.record().figures)

    def weak_launch(self, at_us: int | None = None) -> Evidence:
        """The launch of a ball that a few passes show, and where it lies from `at_us` on; its run is over. None: the
        passes show it alone."""
        run = self.run
        chain = self.tracker.few_passes(run.last_us or 0 if at_us is None else at_us)
        assert chain is not None, "passes show it"
        figures = self.record().figures | {"first_pass_us": chain.first_us, "last_pass_us": chain.last_us}
        evidence = Evidence(Fact.WEAK_LAUNCH, chain.first_us, figures, margin.passes(len(chain.passes)))
        self.tracker.forget()
        return evidence

    def leave(self) -> list[Evidence]:
        """The launched ball is gone from the track: with its laps proven, or without (N3). Laps that are only suggested
        wait for the chef, where the setting says so. And the beams that saw nothing of it again."""
        tracker, run = self.tracker, self.run
        tracker.leave()
        chain, record = tracker.leading, tracker.record()
        assert chain is not None, "only a launched ball leaves"
        self._habit.add(chain.passes)
        last_us = run.last_us or 0
        blind = [blind_sensor(f"beam/{beam}", last_us) for beam in tracker.note_silent(chain)]
        if not record.is_short_of(self._min_laps):
            return [Evidence(Fact.LEFT_TRACK, last_us, record.figures), *blind]
        figures = record.figures | {"laps_at_most": round(record.laps_at_most or 0, 2)}
        if self._chef_answers and record.may_have(self._min_laps):
            return [Evidence(Fact.LEFT_TRACK_UNPROVEN, last_us, figures), *blind]
        sure = margin.laps_under(tracker.laps_suggested(chain), self._min_laps)
        return [Evidence(Fact.LEFT_TRACK_SHORT, last_us, figures, sure), *blind]

    def miss(self, *, rotor_stands: bool) -> list[Evidence]:
        """No pass came in time: the ball left the track, or there was none. Passes too few to know wait until a reader
        sees where the ball lies."""
        if self.run.launched_us is not None:
            disowned = self.run.disowned
            evidence = self.leave()
            if disowned:
                self.tracker.forget()
            return evidence
        if self.tracker.is_weak() and not rotor_stands:
            return [self.weak_launch()]
        self.tracker.leave()
        return []

    def outlook(self, t_us: int) -> list[Evidence]:
        """What the run's slowing shows at a pulse, each once: that the ball is slow enough for "rien ne va plus", that
        its run will be too short, and when it leaves the track."""
        chain = self.tracker.leading
        if chain is None or self.run.launched_us is None:
            return []
        speed, limit, evidence = chain.speed_rev_s(), self._slow_rev_s, []
        if limit is not None and speed is not None and speed <= limit and not self.run.has_reported(Fact.BALL_SLOWED):
            self.run.report(Fact.BALL_SLOWED)
            evidence.append(Evidence(Fact.BALL_SLOWED, t_us, {"ball_rev_s": round(speed, 3)}))
        return evidence + self._forecasts(chain, speed or 0, t_us) if chain.last_us == t_us else evidence

    def _forecasts(self, chain: Chain, speed_rev_s: float, t_us: int) -> list[Evidence]:
        run, laps = self.run, self.tracker.laps_suggested(chain)
        short = not run.has_reported(Fact.VOID_FORESEEN) and laps < self._min_laps
        slow = not run.has_reported(Fact.LEAVING_FORESEEN) and speed_rev_s < LEFT_REV_S_MAX
        found = forecast(chain, self._habit) if short or slow else None
        if found is None:
            return []
        laps, evidence = laps + found.laps_most, []
        if short and laps < self._min_laps:
            run.report(Fact.VOID_FORESEEN)
            evidence.append(Evidence(Fact.VOID_FORESEEN, t_us, {"laps_at_most": round(laps, 2), **_leaving(found)}))
        if slow and found.leaves_us is not None and found.leaves_us - t_us < SOON_US:
            run.report(Fact.LEAVING_FORESEEN)
            evidence.append(Evidence(Fact.LEAVING_FORESEEN, t_us, _leaving(found)))
        return evidence


def _leaving(found: Forecast) -> Figures:
    figures: Figures = {"ball_rev_s": round(found.speed_rev_s, 3)}
    if found.leaves_us and found.earliest_us and found.latest_us:
        figures |= {
            "leaves_us": found.leaves_us,
            "leaves_earliest_us": found.earliest_us,
            "leaves_latest_us": found.latest_us,
        }
    return figures
