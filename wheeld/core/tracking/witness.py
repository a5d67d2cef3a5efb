"""The witness of a wheel with sensors of its own: beams, an encoder, and readers that meet the ball in its pocket.

The witness says what happened and when it was evident; it decides nothing.
"""

from __future__ import annotations

from wheeld.core.law.facts import Fact
from wheeld.core.messages.payloads import Figures
from wheeld.core.observations import (
    Observation,
    Sighting,
)
from wheeld.core.pockets import ROTOR_ORDER
from wheeld.core.setting import TableSetting
from wheeld.core.tracking import margin
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.pocket import PocketTracker, Seen
from wheeld.core.tracking.track import REST_US, TrackWitness
from wheeld.core.tracking.witness_state import ObserverState

PICKED_UP_TURNS = 1.3
"""Unseen for so much longer than a reader needs to meet it, the ball lies in no pocket: a hand has it, or it runs."""
FILLED_SIGHTINGS, FILLED_BEFORE = 3, 2
"""A pocket seen filled so often while the ball runs holds something else, and so often before the ball is called in
it, perhaps: one sighting may be a glint."""
STILL_THERE = 2
"""Sightings in the old pocket after a pulse: one may be the bounce of a ball that ran, two are a ball that did not."""


class SensorWitness(TrackWitness):
    """Everything that watches one wheel, side by side."""

    def __init__(self, setting: TableSetting, state: ObserverState | None = None) -> None:
        super().__init__(setting, state)
        self.reading = PocketTracker(setting.readers_deg, setting.sightings_to_call, self.state.reading)

    @property
    def sightings(self) -> list[Seen]:
        """The latest consecutive ones in one pocket."""
        return self.reading.state.streak

    @property
    def counters(self) -> dict[str, int]:
        """What was seen and counts for nothing, since the start."""
        ball = self.ball.state
        return {
            "stray_pulses": ball.strays,
            "double_pulses": ball.doubles,
            "unplaced_sightings": self.reading.state.unplaced,
        }

    def lies_in(self, pocket_index: int, now_us: int) -> bool:
        """Whether the readers see the ball in that pocket."""
        return self.reading.lies_in(pocket_index, self.rotor, now_us)

    def _placed(self, seen: Observation) -> list[Evidence]:
        return self._sighting(seen) if isinstance(seen, Sighting) else super()._placed(seen)

    # --- the ball elsewhere -------------------------------------------------------------------------------------------

    def _place_unknown(self) -> None:
        self.reading.restart()

    def _launched(self) -> list[Evidence]:
        self.state.filled, self.state.glimpsed = {}, []
        self.reading.state.lying = None
        return super()._launched()

    def _passed(self, t_us: int) -> list[Evidence]:
        """Pockets that readers saw filled before a pass of the running ball: it was not the ball that they saw.

        Another ball, or dirt: its number would be told for the running ball's (N8).
        """
        state = self.state
        self.reading.restart()
        for pocket in state.glimpsed:
            state.filled[pocket] = state.filled.get(pocket, 0) + 1
        state.glimpsed = []
        filled = [pocket for pocket, count in state.filled.items() if count == FILLED_SIGHTINGS]
        if not filled or not self.ball.launched:
            return []
        state.filled[filled[0]] += 1  # told once
        what = f"readers see the pocket of {ROTOR_ORDER[filled[0]]} filled while the ball runs"
        return [Evidence(Fact.SENSOR_FAULT, t_us, {"sensor": "reader", "what": what})]

    def _gone_due_us(self) -> int | None:
        """Before a launch is proven, not while the readers may still meet the ball where it lay."""
        overdue_us, seen_us = super()._gone_due_us(), self.reading.state.last_us
        if overdue_us is None or self.ball.launched or seen_us is None:
            return overdue_us
        turn_us = self.reading.turn_us(self.rotor, self.rotor.state.last_tick_us or seen_us)
        return max(overdue_us, seen_us + round(PICKED_UP_TURNS * turn_us))

    def _no_fall_until_us(self, left_us: int) -> int:
        """Longer than a fall takes, and than a reader needs to meet the ball; each sighting puts it off."""
        seen_us = self.reading.state.last_us or 0
        wait_us = round(1.5 * self.reading.turn_us(self.rotor, self.rotor.state.last_tick_us or left_us))
        return max(super()._no_fall_until_us(left_us), seen_us) + wait_us

    # --- pocket -------------------------------------------------------------------------------------------------------

    def _sighting(self, seen: Sighting) -> list[Evidence]:
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

    def _lies(self, lay_in: int | None, t_us: int, *, called: bool) -> list[Evidence]:
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
        return [*told, Evidence(Fact.BALL_MOVED, t_us, {**_placed(streak), **came_from})]

    def _number(self, t_us: int, streak: list[Seen]) -> Evidence:
        filled = self.state.filled.get(streak[-1].pocket_index, 0) >= FILLED_BEFORE
        whole = self.state.opposite and not filled and self.ball.laps_proven >= self._setting.min_laps - 1e-6
        figures: Figures = {**self._run(), **_placed(streak)}
        if not whole:
            return Evidence(Fact.NUMBER_UNPROVEN, t_us, figures)
        over = margin.laps_over(self.ball.laps_proven, self._setting.min_laps)
        return Evidence(
            Fact.NUMBER, t_us, figures, min(over, margin.direction(self.ball.lead()), margin.pocket(streak))
        )


def _placed(streak: list[Seen]) -> Figures:
    last = streak[-1]
    return {
        "number": ROTOR_ORDER[last.pocket_index],
        "pocket_index": last.pocket_index,
        "first_sighting_us": streak[0].t_us,
    }
