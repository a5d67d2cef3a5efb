"""The run of the ball and the turning of the rotor, from beams and an encoder: what they prove, fact by fact.

Where the ball comes to rest is another's part: readers (`witness`) or a wheel head (`head`). Absences (a rotor that
stopped, a ball that is gone, a fall that is overdue) become facts when their deadline passes on the sensing clock.
"""

from __future__ import annotations

from wheeld.core.law.facts import Fact
from wheeld.core.messages.payloads import Figures
from wheeld.core.observations import (
    BallPass,
    Direction,
    ForeignObject,
    Observation,
    Restarted,
    Rotor,
    SensorState,
)
from wheeld.core.setting import TableSetting
from wheeld.core.table_state import HeadGameKept
from wheeld.core.tracking import margin
from wheeld.core.tracking.ball import FEW_US, BallTracker
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.forecast import LEFT_REV_S_MAX, Forecast
from wheeld.core.tracking.forecast import forecast as forecast_of
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.rotor import STOP_SILENCE_US, RotorTracker
from wheeld.core.tracking.witness_state import ObserverState, saw_object, saw_sensor

FALL_US = 6_000_000
"""From the last pass to rest in a pocket: 2.5–5 s in every recorded evening."""
REST_US = 2_000_000
"""From the last pass to rest no ball takes less (2.5 s in every recorded evening): seen sooner, it bounces."""
SOON_US = 4_000_000
"""When leaving is told: early enough to be of use, late enough to be right within a second."""


class TrackWitness:
    """What beams and encoder tell. What follows for the place of the ball, a subclass adds.

    A subclass whose ball or rotor is watched by something else says so by the properties.
    """

    def __init__(self, setting: TableSetting, state: ObserverState | None = None) -> None:
        self._setting = setting
        self.state = state or ObserverState()
        self.only_later = False
        # A head that tells of the rotor needs no encoder: no edge comes then.
        self.rotor = RotorTracker(setting.rotor_ticks or 1, self.state.rotor)
        self.ball = BallTracker(setting.beams_deg, self.state.ball)

    def snapshot(self) -> ObserverState:
        """The whole state, to store and to go on from."""
        self.state.ball = self.ball.state
        return self.state

    @property
    def object_present(self) -> bool:
        """Whether a foreign object lies in the cylinder."""
        return self.state.object_present

    @property
    def faults(self) -> tuple[str, ...]:
        """The sensors that fail, by name."""
        return tuple(self.state.faults)

    @property
    def launched_us(self) -> int | None:
        """When the run going on began; None while there is none."""
        return self.ball.state.launched_us

    @property
    def ball_way(self) -> Direction | None:
        """Which way the ball runs, once that is sure."""
        return self.ball.state.direction

    @property
    def on_track(self) -> bool:
        """Whether the ball of the run going on is still on its track."""
        return self.ball.state.on_track

    @property
    def last_pass_us(self) -> int | None:
        """When the ball was last seen running."""
        return self.ball.last_us

    @property
    def rotor_way(self) -> Direction | None:
        """Which way the rotor turns; None while it stands, or is not known."""
        return None if self.rotor_stands else self.rotor.direction

    @property
    def rotor_stands(self) -> bool:
        """Whether it is known to stand, or not known to turn."""
        return self.rotor.state.stopped

    @property
    def launch_late_us(self) -> int:
        """How much later than the launch it may be told of, with nothing to foretell it: beams' pulses do."""
        return 0

    @property
    def head_game(self) -> HeadGameKept | None:
        """None: there is no head."""
        return None

    def rotor_rpm(self, now_us: int) -> float | None:
        """The rotor's speed without sign, turns per minute; None when not known."""
        return self.rotor.rpm(now_us)

    def object_since(self, t_us: int) -> bool:
        """Whether a foreign object was in the cylinder at any time from `t_us` on."""
        return self.state.object_present or self.state.object_last_us >= t_us

    def passes_pending(self) -> bool:
        """Whether pulses came that may yet prove a launch."""
        return not self.ball.launched and self.ball.first_us is not None and not self.ball.state.waiting

    def new_game(self) -> None:
        """The table is ready for a launch: a run that ended in somebody's hand must not hide the next one."""
        if self.launched_us is not None:
            self.disown()

    def disown(self) -> None:
        """The run going on is of no coup to come: it must not hide the next launch."""
        if self.ball.state.on_track:
            self.ball.state.disowned = True
        else:
            self.ball.forget()

    def idle(self, now_us: int) -> bool:
        """Whether what was observed lately matters to no coup to come."""
        last_us = self.ball.last_us
        return not self.ball.state.on_track and (last_us is None or now_us - last_us > FEW_US)

    def deadline_us(self) -> int | None:
        """When the next absence would be a fact; None while nothing is awaited."""
        due = (self._stop_due_us(), self._gone_due_us(), self._fall_due_us())
        return min((us for us in due if us is not None), default=None)

    def expire(self, now_us: int) -> list[Evidence]:
        """What is evident because nothing came until `now_us`."""
        told: list[Evidence] = []
        gone_us, stop_us, fall_us = self._gone_due_us(), self._stop_due_us(), self._fall_due_us()
        if gone_us is not None and gone_us <= now_us:
            told += self._gone()
        if stop_us is not None and stop_us <= now_us:
            told += self._rotor_stopped()
            self.rotor.stand()
        if fall_us is not None and fall_us <= now_us:
            self.state.overdue_told = True
            told.append(self._fall_overdue(now_us))
        return told

    def observe(self, seen: Observation) -> list[Evidence]:
        """What one observation proves; commands and clock readings prove nothing."""
        self.only_later = False
        match seen:
            case Rotor():
                return self._rotor(seen)
            case BallPass():
                return self._pulse(seen)
            case ForeignObject():
                return saw_object(self.state, seen)
            case SensorState():
                return self._sensor(seen)
            case Restarted():
                return [Evidence(Fact.RESTARTED, seen.t_us)]
            case _:
                return self._placed(seen)

    # --- what a subclass adds -----------------------------------------------------------------------------------------

    def _placed(self, seen: Observation) -> list[Evidence]:  # noqa: ARG002  readers look at it, or a head
        """Where the ball lies, by whatever tells of that."""
        return []

    def _sensor(self, seen: SensorState) -> list[Evidence]:
        return saw_sensor(self.state, seen)

    _fall_us = FALL_US

    def _place_unknown(self) -> None:
        """The ball is known to be elsewhere, or the pockets are: where it was seen lying proves nothing."""

    def _passed(self, t_us: int) -> list[Evidence]:  # noqa: ARG002  only readers date what they saw by it
        """The running ball passed a beam: what that says of where it was thought to lie."""
        return []

    def _no_fall_until_us(self, left_us: int) -> int:
        """Until when the ball, off the track since `left_us`, may yet be on its ordinary way into a pocket."""
        return left_us + self._fall_us

    # --- rotor --------------------------------------------------------------------------------------------------------

    def _rotor(self, seen: Rotor) -> list[Evidence]:
        last_us = self.rotor.state.last_tick_us
        self.only_later = not self.rotor.state.stopped
        surprise = self.rotor.tick(seen)
        if surprise == "slipped":
            return self._slipped(seen.t_us)
        launched_us = self.launched_us
        if launched_us is None:
            return []
        # Turned round before the first pass, it had stopped before the launch: N4 was not armed yet.
        while_it_ran = self.rotor.state.opposite_us > launched_us
        told = self._rotor_stopped(last_us) if surprise == "turned_back" and while_it_ran else []
        return told + self._directions(seen.t_us)

    def _slipped(self, t_us: int) -> list[Evidence]:
        """The encoder lost its place: until someone has seen to it no pocket can be told (N8)."""
        self._place_unknown()
        return [Evidence(Fact.SENSOR_FAULT, t_us, {"sensor": "rotor", "what": "the encoder slipped"})]

    def _stop_due_us(self) -> int | None:
        """Armed, silence counts from the launch at the earliest: a bouler may spin both at once."""
        launched_us = self.launched_us
        if launched_us is None:
            return self.rotor.stop_deadline_us()
        if self.state.rotor_told:
            return None
        return max(self.rotor.state.last_tick_us or launched_us, launched_us) + STOP_SILENCE_US

    def _rotor_stopped(self, last_us: int | None = None) -> list[Evidence]:
        if self.launched_us is None or self.state.rotor_told:
            return []
        self.state.rotor_told = True
        last_us = last_us or self.rotor.state.last_tick_us
        if last_us is None:
            what = "it has told of nothing yet: whether the rotor turns is not known"
            return [Evidence(Fact.SENSOR_FAULT, self.launched_us, {"sensor": "rotor", "what": what})]
        last_pass_us = self.last_pass_us or 0
        running = self.on_track or last_pass_us > last_us
        fact = Fact.ROTOR_STOPPED_RUNNING if running else Fact.ROTOR_STOPPED_BEFORE_DROP
        figures: Figures = {"last_tick_us": last_us, "last_pass_us": last_pass_us}
        return [Evidence(fact, last_us, figures, self._stop_margin())]

    def _stop_margin(self) -> Margin | None:
        return margin.rotor(self.rotor.tick_interval_us() or 0, STOP_SILENCE_US)

    def _directions(self, t_us: int) -> list[Evidence]:
        """R1, as soon as both directions are known; on a fair wheel the rotor's own first."""
        ball, rotor = self.ball_way, self.rotor_way
        if self.launched_us is None or rotor is None:
            return []
        wanted = self._setting.rotor_direction
        if wanted is not None and rotor != wanted and not self.state.rotor_told:
            self.state.rotor_told = True
            return [Evidence(Fact.ROTOR_WRONG_WAY, t_us, {"rotor_direction": rotor, "configured": wanted})]
        if ball is None or self.state.directions_told:
            return []
        if ball == rotor and self.rotor.state.opposite_ticks:
            return []  # a hand may just have turned it round: its next edges tell, and N1 can't be taken back
        return [self._directions_known(t_us, ball, rotor)]

    def _directions_known(self, t_us: int, ball: Direction, rotor: Direction) -> Evidence:
        self.state.directions_told, self.state.opposite = True, ball != rotor
        fact = Fact.OPPOSITE_DIRECTION if self.state.opposite else Fact.SAME_DIRECTION
        figures: Figures = {"ball_direction": ball, "rotor_direction": rotor, **self._run()}
        return Evidence(fact, self.ball.first_us or t_us, figures, self._direction_margin())

    def _direction_margin(self) -> Margin | None:
        return margin.direction(self.ball.lead())

    # --- ball ---------------------------------------------------------------------------------------------------------

    def _pulse(self, seen: BallPass) -> list[Evidence]:
        strays = self.ball.state.strays
        told: list[Evidence] = []
        if self.ball.pulse(seen.t_us, seen.beam) or self.ball.again():
            told += self._passed(seen.t_us)
        if self.ball.state.strays > strays:
            told.append(Evidence(Fact.STRAY_PULSE, seen.t_us, {"beam": seen.beam}))
        if self.ball.launch():
            told += self._launched()
        if self.ball.decide_direction() is not None:
            self.state.directions_told = False
        return told + self._directions(seen.t_us) + self._slowed(seen.t_us) + self._foreseen(seen.t_us)

    def _launched(self) -> list[Evidence]:
        self._forget_told()
        self._place_unknown()
        return [Evidence(Fact.LAUNCHED, self.ball.first_us or 0, self._run())]

    def _forget_told(self) -> None:
        """A run begins: nothing has been told of it yet."""
        state = self.state
        state.directions_told = state.opposite = state.rotor_told = state.slowed_told = state.overdue_told = False
        state.void_foreseen = state.leaving_foreseen = False
        state.left_us = None

    def _slowed(self, t_us: int) -> list[Evidence]:
        limit, speed = self._setting.auto_rien_ne_va_plus_rev_s, self.ball.speed_rev_s
        if limit is None or speed is None or speed > limit or self.state.slowed_told or not self.ball.launched:
            return []
        self.state.slowed_told = True
        return [Evidence(Fact.BALL_SLOWED, t_us, {"ball_rev_s": round(speed, 3)})]

    def _foreseen(self, t_us: int) -> list[Evidence]:
        """What the run's slowing foretells, once each: that it will be too short, and when the ball leaves."""
        run, state, needed = self.ball.run, self.state, self._setting.min_laps
        if run is None or run.last_us != t_us or (state.void_foreseen and state.leaving_foreseen):
            return []
        short = not state.void_foreseen and self.ball.laps_suggested < needed
        slow = not state.leaving_foreseen and (run.speed_rev_s() or 0) < LEFT_REV_S_MAX
        forecast = forecast_of(run, state.habit) if short or slow else None
        if forecast is None:
            return []
        laps, told = self.ball.laps_suggested + forecast.laps_most, []
        if short and laps < needed:
            state.void_foreseen = True
            told.append(Evidence(Fact.VOID_FORESEEN, t_us, {"laps_at_most": round(laps, 2), **_leaving(forecast)}))
        if slow and forecast.leaves_us is not None and forecast.leaves_us - t_us < SOON_US:
            state.leaving_foreseen = True
            told.append(Evidence(Fact.LEAVING_FORESEEN, t_us, _leaving(forecast)))
        return told

    def _gone(self) -> list[Evidence]:
        """No pass in time: the ball left the track, or was none; passes too few to tell wait for a pocket."""
        if self.ball.launched:
            disowned = self.ball.state.disowned
            told = [self._left()]
            if disowned:
                self.ball.forget()
            return told
        if self.ball.weak() and not self.rotor_stands:
            self._place_unknown()
            return [self._weak_launch()]
        self.ball.leave()
        return []

    def _gone_due_us(self) -> int | None:
        """When a ball that no beam meets any more is gone."""
        return self.ball.overdue_us()

    def _weak_launch(self) -> Evidence:
        sure = margin.passes(self.ball.few_passes(self.ball.last_us or 0))
        told = Evidence(Fact.WEAK_LAUNCH, self.ball.first_us or 0, self._run(), sure)
        self.ball.forget()
        return told

    def _left(self) -> Evidence:
        self.ball.leave()
        self.state.left_us = self.ball.last_us
        run = self.ball.run
        assert run is not None, "only a launched ball leaves"
        self.state.habit.learn(run.passes)
        needed = self._setting.min_laps
        if self.ball.laps_proven >= needed - 1e-6:
            return Evidence(Fact.LEFT_TRACK, self.ball.last_us or 0, self._run())
        suggested = margin.laps_under(self.ball.laps_suggested, needed)
        return Evidence(Fact.LEFT_TRACK_SHORT, self.ball.last_us or 0, self._run(), suggested)

    def _fall_due_us(self) -> int | None:
        left_us = self.state.left_us
        if left_us is None or self.ball.state.on_track or self.state.overdue_told or not self.ball.launched:
            return None
        return self._no_fall_until_us(left_us)

    def _fall_overdue(self, now_us: int) -> Evidence:
        return Evidence(Fact.FALL_OVERDUE, now_us, {"left_track_us": self.state.left_us or 0})

    def _run(self) -> Figures:
        return {
            "laps_proven": int(self.ball.laps_proven * 100 + 1e-6) / 100,
            "first_pass_us": self.ball.first_us or 0,
            "last_pass_us": self.ball.last_us or 0,
        }


def _leaving(forecast: Forecast) -> Figures:
    figures: Figures = {"ball_rev_s": round(forecast.speed_rev_s, 3)}
    if forecast.leaves_us and forecast.earliest_us and forecast.latest_us:
        figures |= {
            "leaves_us": forecast.leaves_us,
            "leaves_earliest_us": forecast.earliest_us,
            "leaves_latest_us": forecast.latest_us,
        }
    return figures
