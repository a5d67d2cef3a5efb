"""The witness of a commercial wheel head that reports conclusions: Cammegh's Mercury 360 and SlingShot 2.

The number is the head's. The ball and the rotor are the head's too, or those of beams and an encoder of our own, as the
setting says: beams with a SlingShot 2 prove what none of its lines can. A ball that one of them saw run and the other
did not is never a result. What the head says against a coup voids it, also where beams watch the ball.
"""

from __future__ import annotations

from wheeld.core.law.facts import Fact
from wheeld.core.messages.payloads import Figures
from wheeld.core.observations import (
    Direction,
    HeadBall,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadRotor,
    HeadWarning,
    Observation,
    SensorState,
)
from wheeld.core.pockets import index_of
from wheeld.core.setting import HEADS, TableSetting
from wheeld.core.table_state import HeadGameKept
from wheeld.core.tracking import margin
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.head_rotor import HeadRotorTracker
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.pocket import Seen
from wheeld.core.tracking.track import REST_US, TrackWitness
from wheeld.core.tracking.witness_state import HeadRun, ObserverState

FIRST_LAP_US = 333_000
"""The head says `running` after one revolution (1.3): by the hardest throw the ball was launched so long before."""
LAUNCH_LATE_US = 2_000_000
"""And so long by the slowest, its line half a second later: what is said in between is said of a running ball."""
RUNS = ("running", "closing", "off_track")
"""Phases in which a ball runs, or falls."""
BEAMS_LATE_US = 3_000_000
"""The head says `running` after one revolution (1.3), and its line comes half a second later: by then beams that see
have proven the launch, however slow the ball. Else they missed it, and the head's word begins the coup."""
HEAD_EARLY_US = 500_000
"""The head's word, a revolution after the launch, may at most be so much before the first pass that beams did not miss:
one line. A run that it tells of sooner, or later than `BEAMS_LATE_US` after that pass, is another one (1.2, 1.3)."""
NUMBER_US = 30_000_000
"""From the last pass to the head's number: it wants to see the ball in its pocket for some turns. Of 159 recorded games
none took more than 32 s from `closing`, which comes 3.5 laps, about 7 s, before the ball leaves (1.3, 1.8)."""


class HeadWitness(TrackWitness):
    """What a wheel head tells, with beams and encoder of our own beside it where there are some."""

    _fall_us = NUMBER_US

    def __init__(self, setting: TableSetting, state: ObserverState | None = None) -> None:
        super().__init__(setting, state)
        assert setting.head is not None, "a setting without a head has another witness"
        self._head = HEADS[setting.head]
        self._ball_by_head, self._rotor_by_head = setting.ball == "head", setting.rotor == "head"
        self.head_rotor = HeadRotorTracker(self.state.head.rotor)

    # --- what the table may ask ---------------------------------------------------------------------------------------

    @property
    def sightings(self) -> list[Seen]:
        """None: no reader looks."""
        return []

    @property
    def counters(self) -> dict[str, int]:
        """Pulses that count for nothing."""
        return {"stray_pulses": self.ball.state.strays, "double_pulses": self.ball.state.doubles}

    def lies_in(self, pocket_index: int, now_us: int) -> bool | None:  # noqa: ARG002  a head does not see where it lies
        """False while a ball runs; else nobody knows, and the chef's word serves."""
        return False if self._run_on.on or self.ball.state.on_track else None

    @property
    def launch_late_us(self) -> int:
        """How much later than the launch a head alone may tell of it."""
        return LAUNCH_LATE_US if self._ball_by_head else 0

    @property
    def head_game(self) -> HeadGameKept | None:
        """Where the head's games stand, as heard last; to be known after a restart."""
        head = self.state.head
        if head.phase is None:
            return head.before
        over = self._run_on.on or (head.told_number is not None and head.told_number[0] == head.spin)
        return HeadGameKept(head.spin, over)

    def rotor_rpm(self, now_us: int) -> float | None:
        """By the encoder, or as reported last."""
        return self.head_rotor.rpm(now_us) if self._rotor_by_head else super().rotor_rpm(now_us)

    def disown(self) -> None:
        """The run going on is of no coup to come."""
        super().disown()
        self._run_on.disowned = True

    def new_game(self) -> None:
        """A run that the head still reports is of no coup to come."""
        super().new_game()
        self._run_on.disowned = True

    def idle(self, now_us: int) -> bool:
        """Whether what was observed lately matters to no coup to come."""
        return super().idle(now_us) and not self._run_on.on

    def deadline_us(self) -> int | None:
        """That of the beams, and of a run that only the head has seen."""
        due = (super().deadline_us(), self._unseen_by_beams_us())
        return min((us for us in due if us is not None), default=None)

    def expire(self, now_us: int) -> list[Evidence]:
        """What is evident because nothing came until `now_us`."""
        due_us = self._unseen_by_beams_us()
        told = self._begun() if due_us is not None and due_us <= now_us else []
        return told + super().expire(now_us)

    def _placed(self, seen: Observation) -> list[Evidence]:
        """What the head's reports prove, of more than the place."""
        match seen:
            case HeadGame():
                return self._game(seen)
            case HeadBall():
                return self._ball(seen)
            case HeadRotor():
                return self._rotor_report(seen)
            case HeadNumber():
                return self._number(seen)
            case HeadWarning():
                return self._warned(seen)
            case HeadJump():
                return self._jump(seen)
            case _:
                return []

    # --- the run, by whoever watches it -------------------------------------------------------------------------------

    @property
    def _run_on(self) -> HeadRun:
        """The run that the head reports; one that is not `on` is none."""
        return self.state.head.run

    @property
    def launched_us(self) -> int | None:
        """By the beams' first pass, or the head's first word."""
        if not self._ball_by_head:
            return super().launched_us
        return self._run_on.began_us if self._run_on.on else None

    @property
    def ball_way(self) -> Direction | None:
        """Measured by beams, or as the head says."""
        return self._run_on.ball_way if self._ball_by_head else super().ball_way

    @property
    def on_track(self) -> bool:
        """Until a SlingShot 2 says otherwise, or the beams."""
        return not self._run_on.off_track if self._ball_by_head else super().on_track

    @property
    def rotor_way(self) -> Direction | None:
        """Of the encoder; or as two lines agree since the head's own word of the run, however late its lines come."""
        if not self._rotor_by_head:
            return super().rotor_way
        since_us = self._by_head_us
        return None if since_us is None else self.head_rotor.way_since(since_us)

    @property
    def _by_head_us(self) -> int | None:
        """Since when the head reports the run going on."""
        return self._run_on.began_us if self._run_on.on else None

    @property
    def rotor_stands(self) -> bool:
        """By the encoder, or in the latest report."""
        return self.head_rotor.stands if self._rotor_by_head else super().rotor_stands

    def _stop_due_us(self) -> int | None:
        """An encoder's silence; a head that is silent is a fault."""
        return None if self._rotor_by_head else super()._stop_due_us()

    def _stop_margin(self) -> Margin | None:
        return None if self._rotor_by_head else super()._stop_margin()

    def _direction_margin(self) -> Margin | None:
        return None if self._ball_by_head else super()._direction_margin()

    def _run(self) -> Figures:
        run = self._run_on
        if not self._ball_by_head:
            return super()._run()
        return {"spin": run.spin} if run.laps is None else {"spin": run.spin, "laps_proven": run.laps}

    def _launched(self) -> list[Evidence]:
        """Beams prove it. When the head's word has begun this coup already, it is the same one."""
        told = super()._launched()
        self.head_rotor.arm()
        if self._run_on.told:
            return []
        self._run_on.told = self._run_on.on
        return told

    def _fall_overdue(self, now_us: int) -> Evidence:
        """A head says that a ball runs after one revolution: of a run of some laps it must have told."""
        few = self.ball.laps_proven < self._setting.min_laps - 1e-6
        if self._run_on.on or few or self.state.head.over_us >= (self.launched_us or 0):
            return super()._fall_overdue(now_us)
        return Evidence(Fact.SENSOR_FAULT, now_us, {"sensor": "head", "what": "the wheel saw no ball run"})

    # --- the head's reports -------------------------------------------------------------------------------------------

    def _game(self, seen: HeadGame) -> list[Evidence]:
        head, run = self.state.head, self._run_on
        before, head.phase, head.spin = head.phase, seen.phase, seen.spin
        told = self._gone_on(seen)
        if seen.phase not in RUNS:
            return told if seen.phase == "number" else told + self._over(seen.t_us, "no number came")
        told += [] if run.on else self._begins(seen.t_us, from_launch=before == "ready")
        run = self._run_on
        run.from_launch &= seen.spin == run.spin
        run.off_track |= seen.phase == "off_track"
        if seen.phase == "closing" and self._ball_by_head and self._head.opposite_by_state:
            told += self._opposite_by_state(seen.t_us)
        return told + self._same_direction(seen.t_us)

    def _gone_on(self, seen: HeadGame) -> list[Evidence]:
        """At the first word after a restart: games that it played meanwhile nobody heard (1.8)."""
        before, self.state.head.before = self.state.head.before, None
        if before is None or before.goes_on_with(seen.spin):
            return []
        return [Evidence(Fact.UNOBSERVED_COUP, seen.t_us, {"from_spin": before.spin, "to_spin": seen.spin})]

    def _ball(self, seen: HeadBall) -> list[Evidence]:
        head, run = self.state.head, self._run_on
        if not seen.runs:
            run.off_track = run.on
            return []
        told: list[Evidence] = []
        if not run.on:
            if head.phase not in (None, "ready", *RUNS):
                return []
            told = self._begins(seen.t_us, from_launch=head.phase == "ready")
            run = self._run_on
        if seen.laps is not None:
            run.count(seen.laps)
        if seen.direction is not None and seen.direction != run.ball_way:
            run.ball_way = seen.direction
            self.state.directions_told &= not self._ball_by_head
        return told + self._directions(seen.t_us) + self._same_direction(seen.t_us)

    def _begins(self, t_us: int, *, from_launch: bool) -> list[Evidence]:
        """The head says that a ball runs. Beams of our own speak first, where there are some."""
        self.state.head.run = HeadRun(on=True, began_us=t_us, spin=self.state.head.spin, from_launch=from_launch)
        self.head_rotor.arm()
        if not self._ball_by_head:
            # A run that the beams saw end before is another one: its launch was told, this one's was not.
            self._run_on.told = self.ball.launched and (self.ball.state.on_track or self._ended_lately(t_us))
            return []
        self._forget_told()
        return self._begun()

    def _ended_lately(self, t_us: int) -> bool:
        """Whether the head may only now speak of the run that beams saw last: weak, or its line late."""
        return self.last_pass_us is not None and t_us - self.last_pass_us <= BEAMS_LATE_US

    def _begun(self) -> list[Evidence]:
        """Tell the launch that the head reports, if that has not been done."""
        run = self._run_on
        if run.told or not run.on:
            return []
        run.told = True
        fact = Fact.LAUNCHED if run.from_launch else Fact.LAUNCH_UNSEEN
        launched_us = max(0, run.began_us - FIRST_LAP_US)
        return [Evidence(fact, launched_us, {"spin": run.spin, "said_by": "head"})]

    def _unseen_by_beams_us(self) -> int | None:
        """When beams that have not seen the head's ball have missed it."""
        run = self._run_on
        return run.began_us + BEAMS_LATE_US if run.on and not run.told else None

    def _opposite_by_state(self, t_us: int) -> list[Evidence]:
        """R1 as a SlingShot 2 concludes it: its state 4 is a ball that runs opposite to the rotor (1.3)."""
        rotor = self.rotor_way
        if self.state.directions_told or rotor is None:
            return []
        self.state.directions_told = self.state.opposite = True
        figures: Figures = {"rotor_direction": rotor, "said_by": "head", **self._run()}
        return [Evidence(Fact.OPPOSITE_DIRECTION, t_us, figures)]

    def _rotor_report(self, seen: HeadRotor) -> list[Evidence]:
        if not self._rotor_by_head:
            return []
        moved_us, since_us = self.head_rotor.state.moved_us, self._by_head_us
        surprise = self.head_rotor.report(seen)
        if since_us is None:
            return []
        # Turned round before the launch was reported, it had stopped before it: N4 was not armed yet.
        armed = surprise == "stopped" or self.head_rotor.state.since_us > since_us
        told = self._rotor_stopped(moved_us) if surprise is not None and armed else []
        told += self._directions(seen.t_us) + self._same_direction(seen.t_us)
        if self.state.head.phase == "closing" and self._ball_by_head and self._head.opposite_by_state:
            told += self._opposite_by_state(seen.t_us)
        return told

    def _warned(self, seen: HeadWarning) -> list[Evidence]:
        head, run = self.state.head, self._run_on
        head.same_direction = "same_direction" in seen.warnings
        told = self._same_direction(seen.t_us)
        if seen.void and not run.void:
            run.void = run.on
            figures: Figures = {"warnings": " ".join(seen.warnings), "spin": head.spin}
            told += [*self._begun(), Evidence(Fact.WHEEL_VOID, seen.t_us, figures)]
        return told

    def _same_direction(self, t_us: int) -> list[Evidence]:
        """N1 by the head's own flag, which before the ball runs is about a launch that failed (1.8); or, where beams
        watch the ball, by the direction that it tells: its word against a coup counts though they saw otherwise."""
        head, run = self.state.head, self._run_on
        contrary = not self._ball_by_head and run.ball_way is not None and run.ball_way == self.rotor_way
        if not (head.same_direction or contrary) or run.same_direction or not run.on:
            return []
        run.same_direction = True
        self.state.directions_told, self.state.opposite = True, False
        figures: Figures = {"said_by": "head", **self._run()}
        return [*self._begun(), Evidence(Fact.SAME_DIRECTION, t_us, figures)]

    def _jump(self, seen: HeadJump) -> list[Evidence]:
        self.state.head.run, self.state.head.told_number = HeadRun(), None
        figures: Figures = {"from_spin": seen.from_spin, "to_spin": seen.to_spin}
        return [Evidence(Fact.UNOBSERVED_COUP, seen.t_us, figures)]

    def _sensor(self, seen: SensorState) -> list[Evidence]:
        """While the head's line is silent anything may happen: what it says afterwards begins anew."""
        if seen.sensor == "head" and not seen.ok:
            head = self.state.head
            head.phase, head.run, head.same_direction = None, HeadRun(), False
            self.head_rotor.forget()
        return super()._sensor(seen)

    # --- the number ---------------------------------------------------------------------------------------------------

    def _over(self, t_us: int, what: str) -> list[Evidence]:
        """The head's game ends without a number that can be believed."""
        run = self._run_on
        told = self._begun()
        if run.on and not run.void:
            told.append(Evidence(Fact.WHEEL_VOID, t_us, {"what": what, "spin": run.spin}))
        if run.on:
            self.state.head.over_us = t_us
        self.state.head.run = HeadRun()
        return told

    def _number(self, seen: HeadNumber) -> list[Evidence]:
        head = self.state.head
        before, head.told_number = head.told_number, (seen.spin, seen.number)
        if not self._run_on.on and before is not None and before[0] == seen.spin:
            return [] if before == head.told_number else [self._corrected(seen, before[1])]
        if seen.number is None:
            return self._over(seen.t_us, "its own lines disagree about the number")
        told = [*self._begun(), *self._called(seen, seen.number)]
        head.run = HeadRun()
        super().disown()  # still on its track by the beams, it must not be a launch once more
        self.state.left_us = None
        return told

    def _corrected(self, seen: HeadNumber, before: int | None) -> Evidence:
        """Another number for a game that had one, or none any more: neither can be believed (N8)."""
        figures: Figures = {"spin": seen.spin}
        for name, number in (("number", seen.number), ("told_before", before)):
            if number is not None:
                figures[name] = number
        return Evidence(Fact.NUMBER_CORRECTED, seen.t_us, figures)

    def _called(self, seen: HeadNumber, number: int) -> list[Evidence]:
        """R3 by the head, with what is proven of its run."""
        run, needed = self._run_on, self._setting.min_laps
        laps = run.laps if self._ball_by_head else self.ball.laps_proven
        short = laps is None or laps < needed - 1e-6
        open_rows = [row for row, is_open in (("R1", not self.state.opposite), ("R2", short)) if is_open]
        figures: Figures = {**self._run(), "number": number, "pocket_index": index_of(number)}
        if not self._whole(seen):
            return [Evidence(Fact.NUMBER_UNPROVEN, seen.t_us, figures)]
        if not open_rows:
            return [Evidence(Fact.NUMBER, seen.t_us, figures, self._number_margin())]
        figures["unproven"] = " ".join(open_rows)
        confirmable = self._setting.unproven == "chef" and set(open_rows) <= set(self._setting.lacks)
        if confirmable and laps is None:
            return [Evidence(Fact.NUMBER_UNCONFIRMED, seen.t_us, figures)]
        # A head that counts laps tells them for good with its number: it can't be said before the ball lies there (N3).
        few = [Evidence(Fact.LEFT_TRACK_SHORT, seen.t_us, self._run())] if laps is not None and short else []
        return [*few, Evidence(Fact.NUMBER_UNPROVEN, seen.t_us, figures)]

    def _whole(self, seen: HeadNumber) -> bool:
        """Whether the head, and the beams where there are some, have seen this one run from launch to number (N8)."""
        run = self._run_on
        by_head = run.on and run.from_launch and run.spin == seen.spin and seen.whole
        turned = not self._rotor_by_head or self.head_rotor.seen_turning
        by_beams = self._ball_by_head or self._same_run(seen.t_us)
        return by_head and turned and by_beams and not (run.disowned or run.same_direction or run.void)

    def _same_run(self, number_us: int) -> bool:
        """Whether beams saw the head's own run from launch to leaving, and the number came once it could rest."""
        ball, first_us, last_us = self.ball.state, self.launched_us, self.last_pass_us
        if first_us is None or last_us is None or ball.on_track or ball.disowned:
            return False
        began = first_us - HEAD_EARLY_US <= self._run_on.began_us <= min(first_us + BEAMS_LATE_US, last_us)
        return began and number_us >= last_us + REST_US

    def _number_margin(self) -> Margin | None:
        """Of what beams measured; a head gives conclusions, and no measure of how sure they are."""
        if self._ball_by_head:
            return None
        over = margin.laps_over(self.ball.laps_proven, self._setting.min_laps)
        return min(over, margin.direction(self.ball.lead()))
