"""From observations, and from time passing, to facts: the trackers side by side, and what joins them.

The witness says what happened and when it was evident; it decides nothing. Absences (a rotor that stopped, a ball that
is gone, a fall that is overdue) become facts when their deadline passes on the sensing clock.
"""

from __future__ import annotations

import msgspec

from wheeld.core import margin
from wheeld.core.ball import FEW_US, BallState, BallTracker
from wheeld.core.facts import Fact
from wheeld.core.foresight import LEFT_REV_S_MAX, Forecast, Habit, foresee
from wheeld.core.margin import Margin
from wheeld.core.messages import Figures
from wheeld.core.observations import (
    BallPass,
    ForeignObject,
    Observation,
    Restarted,
    Rotor,
    SensorState,
    Sighting,
)
from wheeld.core.pockets import ROTOR_ORDER
from wheeld.core.reading import PocketReading, ReadingState, Seen
from wheeld.core.rotor import STOP_SILENCE_US, RotorState, RotorTracker
from wheeld.core.setting import TableSetting

FALL_US = 6_000_000
"""From the last pass to rest in a pocket: 2.5–5 s in every recorded evening; then a reader must still meet it."""
PICKED_UP_TURNS = 1.3
"""Unseen for so much longer than a reader needs to meet it, the ball lies in no pocket: a hand has it, or it runs."""
SOON_US = 4_000_000
"""When leaving is told: early enough to be of use, late enough to be right within a second."""
REST_US = 2_000_000
"""From the last pass to rest no ball takes less (2.5 s in every recorded evening): seen sooner, it bounces."""
FILLED_SIGHTINGS, FILLED_BEFORE = 3, 2
"""A pocket seen filled so often while the ball runs holds something else, and so often before the ball is called in
it, perhaps: one sighting may be a glint."""
STILL_THERE = 2
"""Sightings in the old pocket after a pulse: one may be the bounce of a ball that ran, two are a ball that did not."""


class Testimony(msgspec.Struct, frozen=True):
    """One fact, the sensing time at which it was evident, the few figures that show it, and how sure it is."""

    fact: Fact
    evidence_us: int
    figures: Figures = {}
    margin: Margin | None = None


class WitnessState(msgspec.Struct):
    """All that the trackers remember, and what has been told of the run in progress."""

    rotor: RotorState = msgspec.field(default_factory=RotorState)
    ball: BallState = msgspec.field(default_factory=BallState)
    reading: ReadingState = msgspec.field(default_factory=ReadingState)
    object_present: bool = False
    object_last_us: int = -1
    faults: list[str] = msgspec.field(default_factory=list)
    left_us: int | None = None
    directions_told: bool = False
    opposite: bool = False
    rotor_told: bool = False
    slowed_told: bool = False
    void_foreseen: bool = False
    leaving_foreseen: bool = False
    filled: dict[int, int] = msgspec.field(default_factory=dict)
    glimpsed: list[int] = msgspec.field(default_factory=list)
    habit: Habit = msgspec.field(default_factory=Habit)
    overdue_told: bool = False


class Witness:
    """Everything that watches one wheel."""

    def __init__(self, setting: TableSetting, state: WitnessState | None = None) -> None:
        self._setting = setting
        self.state = state or WitnessState()
        self.only_later = False
        """Whether the latest observation can but have put deadlines off, as most encoder edges do."""
        self.rotor = RotorTracker(setting.rotor_ticks, self.state.rotor)
        self.ball = BallTracker(setting.beams_deg, self.state.ball)
        self.reading = PocketReading(setting.readers_deg, setting.sightings_to_call, self.state.reading)

    def snapshot(self) -> WitnessState:
        """The whole state, to store and to go on from."""
        self.state.ball = self.ball.state
        return self.state

    def observe(self, seen: Observation) -> list[Testimony]:
        """What one observation proves; commands and clock readings prove nothing."""
        self.only_later = False
        match seen:
            case Rotor():
                return self._rotor(seen)
            case BallPass():
                return self._pulse(seen)
            case Sighting():
                return self._sighting(seen)
            case ForeignObject():
                return self._object(seen)
            case SensorState():
                return self._sensor(seen)
            case Restarted():
                return [Testimony(Fact.RESTARTED, seen.t_us)]
            case _:
                return []

    def object_since(self, t_us: int) -> bool:
        """Whether a foreign object was in the cylinder at any time from `t_us` on."""
        return self.state.object_present or self.state.object_last_us >= t_us

    def passes_pending(self) -> bool:
        """Whether pulses came that may yet prove a launch."""
        return not self.ball.launched and self.ball.first_us is not None and not self.ball.state.waiting

    def new_game(self) -> None:
        """The table is ready for a launch: a run that ended in somebody's hand must not hide the next one."""
        if self.ball.launched:
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

    def expire(self, now_us: int) -> list[Testimony]:
        """What is evident because nothing came until `now_us`."""
        told: list[Testimony] = []
        gone_us, stop_us, fall_us = self._gone_due_us(), self._stop_due_us(), self._fall_due_us()
        if gone_us is not None and gone_us <= now_us:
            told += self._gone()
        if stop_us is not None and stop_us <= now_us:
            told += self._rotor_stopped()
            self.rotor.stand()
        if fall_us is not None and fall_us <= now_us:
            self.state.overdue_told = True
            told.append(Testimony(Fact.FALL_OVERDUE, now_us, {"left_track_us": self.state.left_us or 0}))
        return told

    # --- rotor --------------------------------------------------------------------------------------------------------

    def _rotor(self, seen: Rotor) -> list[Testimony]:
        last_us = self.rotor.state.last_tick_us
        self.only_later = not self.rotor.state.stopped
        surprise = self.rotor.tick(seen)
        if surprise == "slipped":
            return self._slipped(seen.t_us)
        if not self.ball.launched:
            return []
        # Turned round before the first pass, it had stopped before the launch: N4 was not armed yet.
        while_it_ran = self.rotor.state.opposite_us > (self.ball.state.launched_us or 0)
        told = self._rotor_stopped(last_us) if surprise == "turned_back" and while_it_ran else []
        return told + self._directions(seen.t_us)

    def _slipped(self, t_us: int) -> list[Testimony]:
        """The encoder lost its place: until someone has seen to it no pocket can be told (N8)."""
        self.reading.restart()
        return [Testimony(Fact.SENSOR_FAULT, t_us, {"sensor": "rotor", "what": "the encoder slipped"})]

    def _stop_due_us(self) -> int | None:
        """Armed, silence counts from the launch at the earliest: a bouler may spin both at once."""
        if not self.ball.launched:
            return self.rotor.stop_deadline_us()
        if self.state.rotor_told:
            return None
        launched_us = self.ball.state.launched_us or 0
        return max(self.rotor.state.last_tick_us or launched_us, launched_us) + STOP_SILENCE_US

    def _rotor_stopped(self, last_us: int | None = None) -> list[Testimony]:
        if not self.ball.launched or self.state.rotor_told:
            return []
        self.state.rotor_told = True
        last_us = last_us or self.rotor.state.last_tick_us or 0
        last_pass_us = self.ball.last_us or 0
        running = self.ball.state.on_track or last_pass_us > last_us
        fact = Fact.ROTOR_STOPPED_RUNNING if running else Fact.ROTOR_STOPPED_BEFORE_DROP
        figures: Figures = {"last_tick_us": last_us, "last_pass_us": last_pass_us}
        return [Testimony(fact, last_us, figures, margin.rotor(self.rotor.tick_interval_us() or 0, STOP_SILENCE_US))]

    def _directions(self, t_us: int) -> list[Testimony]:
        """R1, as soon as both directions are known; on a fair wheel the rotor's own first."""
        ball, rotor = self.ball.state.direction, self.rotor.direction
        if not self.ball.launched or self.rotor.state.stopped or rotor is None:
            return []
        wanted = self._setting.rotor_direction
        if wanted is not None and rotor != wanted and not self.state.rotor_told:
            self.state.rotor_told = True
            return [Testimony(Fact.ROTOR_WRONG_WAY, t_us, {"rotor_direction": rotor, "configured": wanted})]
        if ball is None or self.state.directions_told:
            return []
        if ball == rotor and self.rotor.state.opposite_ticks:
            return []  # a hand may just have turned it round: its next edges tell, and N1 can't be taken back
        self.state.directions_told, self.state.opposite = True, ball != rotor
        fact = Fact.OPPOSITE_DIRECTION if self.state.opposite else Fact.SAME_DIRECTION
        figures: Figures = {"ball_direction": ball, "rotor_direction": rotor, **self._run()}
        return [Testimony(fact, self.ball.first_us or t_us, figures, margin.direction(self.ball.lead()))]

    # --- ball ---------------------------------------------------------------------------------------------------------

    def _pulse(self, seen: BallPass) -> list[Testimony]:
        strays = self.ball.state.strays
        told: list[Testimony] = []
        if self.ball.pulse(seen.t_us, seen.beam) or self.ball.again():
            self.reading.restart()
            told += self._filled(seen.t_us)
        if self.ball.state.strays > strays:
            told.append(Testimony(Fact.STRAY_PULSE, seen.t_us, {"beam": seen.beam}))
        if self.ball.launch():
            told.append(self._launched())
        if self.ball.decide_direction() is not None:
            self.state.directions_told = False
        return told + self._directions(seen.t_us) + self._slowed(seen.t_us) + self._foreseen(seen.t_us)

    def _filled(self, t_us: int) -> list[Testimony]:
        """Pockets that readers saw filled before a pass of the running ball: it was not the ball that they saw.

        Another ball, or dirt: its number would be told for the running ball's (N8).
        """
        state = self.state
        for pocket in state.glimpsed:
            state.filled[pocket] = state.filled.get(pocket, 0) + 1
        state.glimpsed = []
        filled = [pocket for pocket, count in state.filled.items() if count == FILLED_SIGHTINGS]
        if not filled or not self.ball.launched:
            return []
        state.filled[filled[0]] += 1  # told once
        what = f"readers see the pocket of {ROTOR_ORDER[filled[0]]} filled while the ball runs"
        return [Testimony(Fact.SENSOR_FAULT, t_us, {"sensor": "reader", "what": what})]

    def _launched(self) -> Testimony:
        state = self.state
        state.filled, state.glimpsed = {}, []
        state.directions_told = state.opposite = state.rotor_told = state.slowed_told = state.overdue_told = False
        state.void_foreseen = state.leaving_foreseen = False
        state.left_us = None
        self.reading.restart()
        self.reading.state.lying = None
        return Testimony(Fact.LAUNCHED, self.ball.first_us or 0, self._run())

    def _slowed(self, t_us: int) -> list[Testimony]:
        limit, speed = self._setting.auto_rien_ne_va_plus_rev_s, self.ball.speed_rev_s
        if limit is None or speed is None or speed > limit or self.state.slowed_told or not self.ball.launched:
            return []
        self.state.slowed_told = True
        return [Testimony(Fact.BALL_SLOWED, t_us, {"ball_rev_s": round(speed, 3)})]

    def _foreseen(self, t_us: int) -> list[Testimony]:
        """What the run's slowing foretells, once each: that it will be too short, and when the ball leaves."""
        run, state, needed = self.ball.run, self.state, self._setting.min_laps
        if run is None or run.last_us != t_us or (state.void_foreseen and state.leaving_foreseen):
            return []
        short = not state.void_foreseen and self.ball.laps_suggested < needed
        slow = not state.leaving_foreseen and (run.speed_rev_s() or 0) < LEFT_REV_S_MAX
        forecast = foresee(run, state.habit) if short or slow else None
        if forecast is None:
            return []
        laps, told = self.ball.laps_suggested + forecast.laps_most, []
        if short and laps < needed:
            state.void_foreseen = True
            told.append(Testimony(Fact.VOID_FORESEEN, t_us, {"laps_at_most": round(laps, 2), **_leaving(forecast)}))
        if slow and forecast.leaves_us is not None and forecast.leaves_us - t_us < SOON_US:
            state.leaving_foreseen = True
            told.append(Testimony(Fact.LEAVING_FORESEEN, t_us, _leaving(forecast)))
        return told

    def _gone(self) -> list[Testimony]:
        """No pass in time: the ball left the track, or was none; passes too few to tell wait for a pocket."""
        if self.ball.launched:
            disowned = self.ball.state.disowned
            told = [self._left()]
            if disowned:
                self.ball.forget()
            return told
        if self.ball.weak() and not self.rotor.state.stopped:
            self.reading.restart()
            return [self._weak_launch()]
        self.ball.leave()
        return []

    def _gone_due_us(self) -> int | None:
        """Before a launch is proven, not while the readers may still meet the ball where it lay."""
        overdue_us, seen_us = self.ball.overdue_us(), self.reading.state.last_us
        if overdue_us is None or self.ball.launched or seen_us is None:
            return overdue_us
        turn_us = self.reading.turn_us(self.rotor, self.rotor.state.last_tick_us or seen_us)
        return max(overdue_us, seen_us + round(PICKED_UP_TURNS * turn_us))

    def _weak_launch(self) -> Testimony:
        sure = margin.passes(self.ball.few_passes(self.ball.last_us or 0))
        told = Testimony(Fact.WEAK_LAUNCH, self.ball.first_us or 0, self._run(), sure)
        self.ball.forget()
        return told

    def _left(self) -> Testimony:
        self.ball.leave()
        self.state.left_us = self.ball.last_us
        run = self.ball.run
        assert run is not None, "only a launched ball leaves"
        self.state.habit.learn(run.passes)
        needed = self._setting.min_laps
        if self.ball.laps_proven >= needed - 1e-6:
            return Testimony(Fact.LEFT_TRACK, self.ball.last_us or 0, self._run())
        suggested = margin.laps_under(self.ball.laps_suggested, needed)
        return Testimony(Fact.LEFT_TRACK_SHORT, self.ball.last_us or 0, self._run(), suggested)

    def _fall_due_us(self) -> int | None:
        """Longer than a fall takes, and than a reader needs to meet the ball; each sighting puts it off."""
        left_us = self.state.left_us
        if left_us is None or self.ball.state.on_track or self.state.overdue_told or not self.ball.launched:
            return None
        seen_us = self.reading.state.last_us or 0
        wait_us = round(1.5 * self.reading.turn_us(self.rotor, self.rotor.state.last_tick_us or left_us))
        return max(left_us + FALL_US, seen_us) + wait_us

    def _run(self) -> Figures:
        return {
            "laps_proven": int(self.ball.laps_proven * 100 + 1e-6) / 100,
            "first_pass_us": self.ball.first_us or 0,
            "last_pass_us": self.ball.last_us or 0,
        }

    # --- pocket -------------------------------------------------------------------------------------------------------

    def _sighting(self, seen: Sighting) -> list[Testimony]:
        lay_in, before_us = self.reading.state.lying, self.reading.state.last_us
        if self.ball.launched and seen.t_us < (self.ball.last_us or 0) + REST_US:
            self.reading.restart()
        called = self.reading.sighting(seen.t_us, seen.reader, self.rotor)
        if self.ball.state.on_track and self.reading.state.last_us != before_us and self.reading.pocket is not None:
            self.state.glimpsed.append(self.reading.pocket)
        if not self.ball.launched:
            return self._lies(lay_in, seen.t_us, called=called)
        if not called:
            return []
        told = [self._left()] if self.ball.state.on_track else []
        told.append(self._number(seen.t_us, self.reading.state.streak))
        self.ball.forget()
        self.state.left_us = None
        return told

    def _lies(self, lay_in: int | None, t_us: int, *, called: bool) -> list[Testimony]:
        """No run is known: the ball where it lay shows pulses to be strays, elsewhere it was launched or moved."""
        if self.reading.pocket == lay_in:
            self.ball.at_rest(t_us)
            since_us = self.ball.last_us or 0
            if sum(sighting.t_us > since_us for sighting in self.reading.state.streak) >= STILL_THERE:
                self.ball.forget()
            return []
        if not called:
            return []
        told = []
        streak = self.reading.state.streak
        began_us = streak[0].t_us
        if lay_in is not None and (self.ball.last_us or 0) <= began_us and self.ball.few_passes(began_us):
            told.append(self._weak_launch())
        self.ball.forget()
        came_from: Figures = {} if lay_in is None else {"from_pocket_index": lay_in}
        return [*told, Testimony(Fact.BALL_MOVED, t_us, {**_placed(streak), **came_from})]

    def _number(self, t_us: int, streak: list[Seen]) -> Testimony:
        filled = self.state.filled.get(streak[-1].pocket_index, 0) >= FILLED_BEFORE
        whole = self.state.opposite and not filled and self.ball.laps_proven >= self._setting.min_laps - 1e-6
        figures: Figures = {**self._run(), **_placed(streak)}
        if not whole:
            return Testimony(Fact.NUMBER_UNPROVEN, t_us, figures)
        over = margin.laps_over(self.ball.laps_proven, self._setting.min_laps)
        return Testimony(
            Fact.NUMBER, t_us, figures, min(over, margin.direction(self.ball.lead()), margin.pocket(streak))
        )

    # --- object and sensors -------------------------------------------------------------------------------------------

    def _object(self, seen: ForeignObject) -> list[Testimony]:
        if seen.present == self.state.object_present:
            return []
        self.state.object_present = seen.present
        self.state.object_last_us = seen.t_us
        return [Testimony(Fact.OBJECT_IN if seen.present else Fact.OBJECT_OUT, seen.t_us)]

    def _sensor(self, seen: SensorState) -> list[Testimony]:
        """A sensor that fails or works again, each told once."""
        faults = self.state.faults
        if seen.ok == (seen.sensor not in faults):
            return []
        if seen.ok:
            faults.remove(seen.sensor)
            return [Testimony(Fact.SENSOR_MENDED, seen.t_us, {"sensor": seen.sensor})]
        faults.append(seen.sensor)
        return [Testimony(Fact.SENSOR_FAULT, seen.t_us, {"sensor": seen.sensor})]


def _leaving(forecast: Forecast) -> Figures:
    figures: Figures = {"ball_rev_s": round(forecast.speed_rev_s, 3)}
    if forecast.leaves_us and forecast.earliest_us and forecast.latest_us:
        figures |= {
            "leaves_us": forecast.leaves_us,
            "leaves_earliest_us": forecast.earliest_us,
            "leaves_latest_us": forecast.latest_us,
        }
    return figures


def _placed(streak: list[Seen]) -> Figures:
    last = streak[-1]
    return {
        "number": ROTOR_ORDER[last.pocket_index],
        "pocket_index": last.pocket_index,
        "first_sighting_us": streak[0].t_us,
    }
