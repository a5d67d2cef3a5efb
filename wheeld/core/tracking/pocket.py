"""Where the ball lies by readers: their sightings placed by the rotor's angle, until several agree (R3)."""

from __future__ import annotations

from math import fsum

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import Sighting
from wheeld.core.pockets import POCKET_DEG, ROTOR_ORDER
from wheeld.core.setting import TableSetting
from wheeld.core.tracking import margin
from wheeld.core.tracking.ball import FALL_US, FALL_US_MIN, REST_US
from wheeld.core.tracking.beams import BallFromBeams
from wheeld.core.tracking.evidence import Evidence, Figures
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.pick_up import widest_gap_deg
from wheeld.core.tracking.questions import Question, Topic
from wheeld.core.tracking.rotor import RotorFromEncoder
from wheeld.core.tracking.run import Phase
from wheeld.core.tracking.sighting import OFF_CENTRE_MAX, Seen

SAME_PASS_US = 50_000
"""One reader can't meet the ball in two pockets sooner: at 25 rpm they come 65 ms apart."""
HALF_TURN_DEG = 180.0
"""One reader meets a lying ball once a turn. If it sees the ball in the same pocket again within half a turn, this is
the same pass. For a number, the sightings must span this much of a turn (R3): three within a few degrees may be one
bounce."""
PLACED_SIGHTINGS = 2
PLACED_TURNS = 2.2
"""The ball lies in a pocket when readers saw it there twice, and a reader has missed it at most once since then
(docs/rulebook.md 3, before "tout va")."""
SIGHTINGS_KEPT = 8
"""Of one streak this many are kept: a ball may lie in its pocket for minutes."""
PICKED_UP_TURNS = 1.3
"""In times that a reader needs to meet a lying ball. If no reader sees the ball for this long, it lies in no pocket: a
hand has it, or it runs."""
PROOF_TURNS = 1.5
"""Docs/rulebook.md 6: so long a sighting may take to prove to be the number."""
PROOF_US_MAX = 25_000_000
"""That much at 3.6 turns a minute; nobody plays with a slower rotor: a hand is stopping it."""
TURNS_US = 500_000
"""An encoder of 37 sectors shows at 4 turns a minute that the rotor turns."""
FILLED_SIGHTINGS, FILLED_BEFORE = 3, 2
"""How often readers see one pocket filled while the ball runs; one sighting may be a glint. After `FILLED_SIGHTINGS`
times it holds something else. After `FILLED_BEFORE` times it may hold something else, and a number called in it is not
proven."""
PASSES_FROM_UNKNOWN = 2
"""Where the ball lay before was not known: it may lie where it lay. One pulse may be a stray then, two passes that
agree are a launch."""
RESTED_US = 500_000
"""A ball that bounces leaves a pocket sooner: one that readers met there again so long after lies in it."""
AGREE_POCKETS = 0.3
"""Sightings of one lying ball are no farther from each other, whatever the angle at which its pocket stands."""
RETURNS = 2
"""No fallen ball comes back to a pocket that it left. Seen there again once it may have been a glint that came between;
so often they are two balls."""
BLIND_TURNS = 5
"""A reader that works misses a lying ball a few times in a hundred."""
STILL_THERE = 2
"""This many sightings in the old pocket after a pulse show that the ball did not run. One alone may be the bounce of a
ball that ran."""


class PocketState(msgspec.Struct):
    """What is remembered of the sightings.

    `streak`: the latest consecutive sightings in one pocket. `streak_length`: how many there were in all.
    `met`: the pockets where the fallen ball was seen, in order, and `returns`: how often it was seen again in one that
    it had left. `saw`: readers have met a ball since the latest launch, and `sees`: they had met it before that, where
    it lay. `proof_due_us`: until when they should have proven a number. `called`: this streak has called its
    pocket. `lying`: where the ball was last known to lie: the pocket that was called, or the one that a person answered
    for. At a start it is the pocket of the last number, where the ball belongs. None since a launch. `last_us`:
    when the latest sighting came that counted. `latest`: the latest sighting of each reader. `filled`: how often each
    pocket was seen filled while the ball ran. `glimpsed`: the pockets that were seen filled since the ball's latest
    pass. `glimpse`: the one sighting of the ball in a pocket where no reader met it again. `at_pass`: how far the
    rotor had turned at the ball's latest pass, in degrees, and its speed in degrees a second. `rested_in`: the first
    pocket where readers saw that the fallen ball had stopped bouncing. `adrift`: None while it is known where the
    pockets stand; else the latest sightings that agree since that is not known. `missed`: how often other readers
    have met a lying ball again since this one met it. `unplaced`: how many sightings count for nothing.
    """

    streak: list[Seen] = msgspec.field(default_factory=list)
    streak_length: int = 0
    met: list[int] = msgspec.field(default_factory=list)
    returns: int = 0
    saw: bool = False
    sees: bool = False
    proof_due_us: int = 0
    lying: int | None = None
    called: bool = False
    last_us: int | None = None
    latest: dict[int, Seen] = msgspec.field(default_factory=dict)
    filled: dict[int, int] = msgspec.field(default_factory=dict)
    glimpsed: list[int] = msgspec.field(default_factory=list)
    glimpse: list[Seen] = msgspec.field(default_factory=list)
    at_pass: tuple[float, float] | None = None
    rested_in: int | None = None
    adrift: list[Seen] | None = None
    missed: dict[int, int] = msgspec.field(default_factory=dict)
    unplaced: int = 0


class PocketTracker:
    """Calls a pocket when `needed` consecutive sightings agree, or one reader sees the ball there again a whole turn
    later (R3). All state is in `state`."""

    def __init__(self, readers_deg: tuple[float, ...], needed: int, state: PocketState | None = None) -> None:
        self._readers_deg = readers_deg
        self._needed = needed
        self.leave_out(frozenset())
        self.state = state or PocketState()

    def leave_out(self, readers: frozenset[int]) -> None:
        """From now on these readers report nothing."""
        self._left = [reader for reader in range(len(self._readers_deg)) if reader not in readers]
        self.widest_deg = widest_gap_deg(self._readers_deg, readers)

    @property
    def pocket(self) -> int | None:
        """Index of the pocket where the ball was seen last, however few times; None before."""
        return self.state.streak[-1].pocket_index if self.state.streak else None

    @property
    def is_at_rest(self) -> bool:
        """Whether readers met the ball in that pocket for longer than it bounces."""
        agreeing = self._agreeing
        return bool(agreeing) and agreeing[-1].t_us - agreeing[0].t_us >= RESTED_US

    @property
    def _agreeing(self) -> list[Seen]:
        """The latest sightings of a ball in one place, whether or not it is known which pocket that is."""
        return self.state.streak if self.state.adrift is None else self.state.adrift

    @property
    def number(self) -> int | None:
        """The number of that pocket."""
        return None if self.pocket is None else ROTOR_ORDER[self.pocket]

    def sighting(self, t_us: int, reader: int, rotor: RotorFromEncoder) -> bool:
        """Take one sighting in; True when it is the one that calls a pocket."""
        state = self.state
        placed = rotor.pocket_under(self._readers_deg[reader], t_us)
        if placed is None or (abs(placed[1]) > OFF_CENTRE_MAX and state.adrift is None):
            state.unplaced += 1
            return False
        seen = Seen(t_us, reader, placed[0], round(placed[1], 3), round(placed[2], 2))
        state.saw = True
        if state.adrift is not None:
            agree = state.adrift and abs(_pockets_apart(seen, state.adrift[0])) <= AGREE_POCKETS
            state.adrift = [*state.adrift[-SIGHTINGS_KEPT + 1 :], seen] if agree else [seen]
            return False
        before = state.latest.get(reader)
        if before is not None and _same_pass(before, seen, rotor.state.begun_us):
            return False
        if before is not None and before.pocket_index == seen.pocket_index:
            self._note_missed(before.t_us)
        state.latest[reader] = seen
        return self._count(seen, rotor)

    def _note_missed(self, since_us: int) -> None:
        """A reader has met the lying ball again, a whole turn later: so should every other one, meanwhile."""
        state = self.state
        for reader in self._left:
            met = state.latest.get(reader)
            has_met = met is not None and met.t_us >= since_us
            state.missed[reader] = 0 if has_met else state.missed.get(reader, 0) + 1

    def lies_in(self, pocket_index: int, rotor: RotorFromEncoder, now_us: int) -> bool:
        """Whether the ball lies in that pocket now. While the rotor stands no reader can say that it was taken out."""
        state = self.state
        if self.pocket != pocket_index or state.streak_length < PLACED_SIGHTINGS:
            return False
        interval_us = self.turn_us(rotor, rotor.state.last_tick_us or now_us)
        return rotor.state.stopped or now_us <= state.streak[-1].t_us + PLACED_TURNS * interval_us

    def off_by(self, pocket_index: int, rotor: RotorFromEncoder, now_us: int) -> float | None:
        """By how many pockets, clockwise, readers see the ball elsewhere than in that pocket; None unless they see it
        lie still now."""
        seen = self._agreeing
        interval_us = self.turn_us(rotor, rotor.state.last_tick_us or now_us)
        is_fresh = bool(seen) and (rotor.state.stopped or now_us <= seen[-1].t_us + PLACED_TURNS * interval_us)
        if not is_fresh or _turned_deg(seen[0], seen[-1], rotor.state.begun_us) < HALF_TURN_DEG:
            return None
        named = Seen(now_us, 0, pocket_index, 0.0, 0.0)
        # The mean is taken from the first one: half a wheel away some lie 18.4 pockets clockwise, others as many back.
        return _pockets_apart(seen[0], named) + fsum(_pockets_apart(each, seen[0]) for each in seen) / len(seen)

    @property
    def sight(self) -> Margin:
        """How many of the readers meet the ball where it lies: not those that missed it in the latest whole turn."""
        others = len(self._left) - 1
        return margin.sight(sum(self.state.missed.get(reader, 0) < max(1, others) for reader in self._left), others + 1)

    def newly_blind(self) -> list[int]:
        """The readers that have missed a lying ball in `BLIND_TURNS` turns of the rotor, each named once. A reader
        without others that would see the ball is never named."""
        missed, limit = self.state.missed, BLIND_TURNS * (len(self._left) - 1)
        blind = sorted(reader for reader, times in missed.items() if times == limit > 0)
        missed.update(dict.fromkeys(blind, limit + 1))
        return blind

    def restart(self) -> None:
        """Begin a new streak: the ball is elsewhere, and earlier sightings do not prove where it will lie."""
        self.state.streak = []
        self.state.streak_length = 0
        self.state.called = False

    def turn_us(self, rotor: RotorFromEncoder, t_us: int) -> int:
        """Longest time between two sightings of a lying ball at the rotor's speed; 5 s when that isn't known."""
        rpm = rotor.rpm(t_us)
        if not rpm:
            return 5_000_000
        return round(self.widest_deg / (rpm * 6) * 1e6)

    def _count(self, seen: Seen, rotor: RotorFromEncoder) -> bool:
        state = self.state
        state.last_us = seen.t_us
        if self.pocket != seen.pocket_index:
            self.restart()
        if not state.streak:
            state.glimpse = []
            state.proof_due_us = seen.t_us + min(PROOF_US_MAX, round(PROOF_TURNS * 60e6 / (rotor.rpm(seen.t_us) or 1)))
        state.streak = [*state.streak[-SIGHTINGS_KEPT + 1 :], seen]
        state.streak_length += 1
        if state.called or not self._is_proven(rotor.state.begun_us):
            return False
        state.called = True
        state.lying = seen.pocket_index
        return True

    def _is_proven(self, begun_us: int) -> bool:
        """Whether the streak proves its pocket. A reader that is in it twice saw the ball there again a whole turn
        later (`_same_pass`): a ball that bounces, or lies on an obstacle, can't be seen so."""
        streak = [seen for seen in self.state.streak if seen.t_us >= begun_us]  # nobody knows how far it turned before
        first, last = streak[0], streak[-1]
        again = any(seen.reader == last.reader for seen in streak[:-1])
        spanned = self._needed == 1 or _turned_deg(first, last, begun_us) >= HALF_TURN_DEG
        is_enough = len(streak) >= min(self._needed, SIGHTINGS_KEPT)
        return again or (is_enough and spanned)


class PocketFromReaders:
    """The pocket where the ball comes to rest, by readers of our own, beside beams and an encoder."""

    def __init__(self, setting: TableSetting, state: PocketState, ball: BallFromBeams, rotor: RotorFromEncoder) -> None:
        self._min_laps, self._chef_answers = setting.min_laps, "R2" in setting.confirmable
        self._proven = Fact.NUMBER_UNCONFIRMED if setting.confirm_numbers else Fact.NUMBER
        self.state = state
        self.tracker = PocketTracker(setting.readers_deg, setting.sightings_to_call, state)
        self._ball, self._pulses, self._rotor, self._run = ball, ball.tracker, rotor, ball.run
        self.leave_out = self.tracker.leave_out

    @property
    def sightings(self) -> list[Seen]:
        """The latest consecutive ones in one pocket."""
        return self.state.streak

    @property
    def counters(self) -> dict[str, int]:
        """Sightings that no pocket was found for, since the start."""
        return {"unplaced_sightings": self.state.unplaced}

    def lies_in(self, pocket_index: int, now_us: int) -> bool:
        """Whether the readers see the ball in that pocket."""
        return self.tracker.lies_in(pocket_index, self._rotor, now_us)

    def place(self, now_us: int) -> int | None:
        """The pocket where the readers see the ball."""
        place = self.tracker.pocket
        return place if place is not None and self.lies_in(place, now_us) else None

    @property
    def is_at_rest(self) -> bool:
        """Whether readers see the ball lie still: it bounces no more."""
        return self.state.called or self.tracker.is_at_rest

    def rest_question(self) -> Question | None:
        """Since the first sighting of the latest ones in one pocket, until it should have been proven.

        Also while the run's end is not known yet: if the ball's latest pass was a stray, it may lie there. Each pass
        ends the question.
        """
        run, state = self._run, self.state
        if run.phase not in (Phase.ON_TRACK, Phase.OFF_TRACK) or not state.streak or state.called:
            return None
        if run.has_reported(Fact.NUMBER_NOT_PROVEN) or self._began_before((run.last_us or 0) + REST_US):
            return None
        return Question(Topic.REST, state.streak[0].t_us, state.proof_due_us)

    def proof_due_us(self) -> int | None:
        """Until when sightings should prove the number; None while the ball may be on the track yet, or unseen."""
        rest = self.rest_question() if self._run.phase is Phase.OFF_TRACK else None
        return None if rest is None else rest.until_us

    def give_up(self) -> list[Evidence]:
        """The number that was seen, not proven, if its run was."""
        if self.proof_due_us() is None:
            return []
        return [self._not_proven(self.state.streak)]

    @property
    def was_glimpsed(self) -> bool:
        """Whether one sighting showed the ball, and none after it."""
        return bool(self.state.glimpse)

    def may_hold_unseen(self, stopped_us: int) -> bool:
        """Whether some pocket has not passed a reader since the ball was at rest at the latest. How far the rotor had
        turned by then follows from its speed at the last pass; a hand can only have slowed it since."""
        if not (self.state.sees or self.state.saw):
            return True  # readers that have not met the ball where it lay would not meet it now
        left_us, at_pass = self._run.last_us or 0, self.state.at_pass
        if stopped_us <= left_us + FALL_US_MIN or self._run.has_reported(Fact.FALL_OVERDUE):
            return False
        if at_pass is None or self._rotor.state.begun_us > left_us:
            return True
        turned_deg = abs(self._rotor.turned_deg - at_pass[0])
        return turned_deg - abs(at_pass[1]) * FALL_US / 1e6 < self.tracker.widest_deg

    def miss_proof(self, now_us: int) -> list[Evidence]:
        """The proof should be complete. A ball that only one sighting shows, and that readers did not see again while
        the rotor turned, does not lie there: it bounced on, or a hand has it."""
        rotor, streak = self._rotor.state, self.state.streak
        is_turning = now_us - (rotor.last_tick_us or 0) < TURNS_US and rotor.begun_us <= streak[-1].t_us
        if len(streak) == 1 and is_turning:
            self.state.glimpse = streak
            self.tracker.restart()
            return []
        return self.give_up()

    def _not_proven(self, sightings: list[Seen]) -> Evidence:
        self._run.report(Fact.NUMBER_NOT_PROVEN)
        number = self._number(sightings)
        if number.fact is Fact.NUMBER_UNPROVEN:
            return number
        unproven = (*str(number.figures.get("unproven", "")).split(), "R3")
        figures: Figures = {**number.figures, "unproven": " ".join(unproven)}
        return msgspec.structs.replace(number, fact=Fact.NUMBER_NOT_PROVEN, figures=figures)

    def _of_no_pocket(self) -> Evidence:
        """The ball rested in another pocket before, and people saw it there; or there are two. Which number counts, if
        any does, the chef says (R3b)."""
        evidence = self._not_proven(self.state.streak)
        figures = {name: value for name, value in evidence.figures.items() if name not in ("number", "pocket_index")}
        return msgspec.structs.replace(evidence, figures=figures)

    def begin_run(self) -> None:
        """A launch was proven: the ball lies in no pocket, and none was seen filled yet."""
        self.state.filled, self.state.glimpsed, self.state.glimpse = {}, [], []
        self.state.lying = self.state.rested_in = None
        self.state.met, self.state.returns = [], 0
        self.state.sees, self.state.saw = self.state.saw, False
        self.tracker.restart()

    def forget_place(self) -> None:
        """The ball is known to be elsewhere, or the pockets are: where it was seen lying proves nothing."""
        self.tracker.restart()

    def lose_place(self) -> None:
        """Nobody knows any more where the pockets stand: until a person says in which of them the ball lies, sightings
        prove nothing."""
        self.tracker.restart()
        self.state.adrift, self.state.latest, self.state.lying = [], {}, None

    def off_by(self, pocket_index: int, now_us: int) -> float | None:
        """By how many pockets readers see the ball lie elsewhere than there; None unless they see it lie still."""
        return self.tracker.off_by(pocket_index, self._rotor, now_us)

    def find_place(self, pocket_index: int, now_us: int) -> float:
        """A person says that the ball, which readers see lie still, lies in that pocket: the pockets stand so. By how
        many the encoder showed another one."""
        off = self.off_by(pocket_index, now_us)
        assert off is not None, "they see it"
        self._rotor.shift(-off * POCKET_DEG)
        self.tracker.restart()
        self._pulses.forget()
        self.state.adrift, self.state.latest, self.state.lying = None, {}, pocket_index
        return off

    def take_word(self, pocket_index: int) -> None:
        """A person answers for it that the ball lies there. Readers that called another pocket since the launch know
        better, unless they see it there now."""
        if self.state.lying is None or self.tracker.pocket == pocket_index:
            self.state.lying = pocket_index

    def note_pass(self, t_us: int) -> list[Evidence]:
        """A pocket that readers saw filled again and again before passes of the running ball holds something else.

        Another ball, or dirt: its number would be called in place of the running ball's (N8).
        """
        state = self.state
        state.at_pass = self._rotor.fit(t_us)
        self.tracker.restart()
        for pocket in state.glimpsed:
            state.filled[pocket] = state.filled.get(pocket, 0) + 1
        state.glimpsed = []
        filled = [pocket for pocket, count in state.filled.items() if count == FILLED_SIGHTINGS]
        if not filled:
            return []
        state.filled[filled[0]] += 1  # reported once
        figures: Figures = {"sensor": "reader", "what": "filled_pocket", "filled_number": ROTOR_ORDER[filled[0]]}
        return [Evidence(Fact.SENSOR_FAULT, t_us, figures)]

    def gone_from_us(self, overdue_us: int) -> int:
        """Not while the readers may still meet the ball where it lay."""
        seen_us = self.state.last_us
        if seen_us is None:
            return overdue_us
        turn_us = self.tracker.turn_us(self._rotor, self._rotor.state.last_tick_us or seen_us)
        return max(overdue_us, seen_us + round(PICKED_UP_TURNS * turn_us))

    def fall_due_us(self, left_us: int) -> int:
        """The wait is longer than a fall, and longer than a reader needs to meet the ball. Each sighting makes it
        later."""
        wait_us = round(1.5 * self.tracker.turn_us(self._rotor, self._rotor.state.last_tick_us or left_us))
        return max(left_us + FALL_US, self.state.last_us or 0) + wait_us

    def fall_overdue(self, now_us: int) -> Evidence:
        """The ball rests on an obstacle, perhaps (N5); or a hand took it from the pocket where it was seen (R3b)."""
        if self.state.glimpse:
            return self._not_proven(self.state.glimpse)
        return Evidence(Fact.FALL_OVERDUE, now_us, {"left_track_us": self._run.last_us or 0})

    def take(self, seen: Sighting) -> list[Evidence]:
        """What one sighting proves."""
        run, state = self._run, self.state
        lay_in, before_us, is_launched = state.lying, state.last_us, run.launched_us is not None
        bounces_until_us = (run.last_us or 0) + REST_US
        if is_launched and (seen.t_us < bounces_until_us or self._began_before(bounces_until_us)):
            self.tracker.restart()
        called = self.tracker.sighting(seen.t_us, seen.reader, self._rotor)
        if state.adrift is not None:
            return []
        if run.phase is Phase.OFF_TRACK and state.rested_in is None and self.tracker.is_at_rest:
            state.rested_in = self.tracker.pocket
        if run.phase is Phase.ON_TRACK and state.last_us != before_us and state.streak:
            state.glimpsed.append(state.streak[-1].pocket_index)
        if not is_launched:
            return self._at_rest(lay_in, seen.t_us, called=called)
        counted = state.last_us == seen.t_us and self._is_open
        pocket = self.tracker.pocket
        if counted and pocket is not None and pocket not in state.met[-1:]:
            state.returns += pocket in state.met
            state.met.append(pocket)
            if state.returns >= RETURNS and not run.has_reported(Fact.NUMBER_NOT_PROVEN):
                return [self._of_no_pocket()]
        if not called:
            return [Evidence(Fact.NUMBER_SEEN, seen.t_us, self._sighted())] if counted else []
        evidence = self._ball.leave() if run.phase is Phase.ON_TRACK else []
        is_another = state.rested_in not in (None, self.tracker.pocket) or state.returns > 0
        if is_another and not run.has_reported(Fact.NUMBER_NOT_PROVEN):
            return [*evidence, self._of_no_pocket()]
        evidence.append(self._number(state.streak))
        self._pulses.forget()
        return evidence

    def _began_before(self, t_us: int) -> bool:
        return bool(self.state.streak) and self.state.streak[0].t_us < t_us

    def _at_rest(self, lay_in: int | None, t_us: int, *, called: bool) -> list[Evidence]:
        """A sighting while no run is known. The ball where it lay: pulses since were strays. Elsewhere: it was
        launched, or moved by a hand."""
        streak = self.state.streak
        if self.tracker.pocket == lay_in:
            self._pulses.rest(t_us)
            since_us = self._run.last_us or 0
            if sum(sighting.t_us > since_us for sighting in streak) >= STILL_THERE:
                self._pulses.forget()
            return []
        if not called:
            return []
        evidence = []
        began_us = streak[0].t_us
        passes = self._pulses.few_passes(began_us)
        if passes is not None and len(passes.passes) >= (PASSES_FROM_UNKNOWN if lay_in is None else 1):
            evidence.append(self._ball.weak_launch(began_us))
        self._pulses.forget()
        came_from: Figures = {} if lay_in is None else {"from_pocket_index": lay_in}
        return [*evidence, Evidence(Fact.BALL_MOVED, t_us, {**_placed(streak), **came_from})]

    @property
    def _is_open(self) -> bool:
        """Whether the ball is off the track, and its number is not proven yet."""
        return self._run.phase is Phase.OFF_TRACK and not self.state.called

    def _sighted(self) -> Figures:
        """What the readers saw, for a panel."""
        last = self.state.streak[-1]
        return {
            "number": ROTOR_ORDER[last.pocket_index],
            "pocket_index": last.pocket_index,
            "reader": last.reader,
            "sightings": self.state.streak_length,
        }

    def _number(self, streak: list[Seen]) -> Evidence:
        """The number, dated by the first sighting of those that prove it (R3)."""
        t_us = streak[0].t_us
        placed, record = _placed(streak), self._pulses.record()
        figures: Figures = {**record.figures, **placed}
        filled = self.state.filled.get(streak[-1].pocket_index, 0) >= FILLED_BEFORE
        is_short = record.is_short_of(self._min_laps)
        by_chef = is_short and self._chef_answers and record.may_have(self._min_laps)
        if filled or not self._run.opposite or (is_short and not by_chef):
            return Evidence(Fact.NUMBER_UNPROVEN, t_us, figures)
        if by_chef:
            figures |= {"unproven": "R2", "laps_at_most": round(record.laps_at_most or 0, 2)}
            sure = margin.least(margin.direction(record.lead_passes or 0), margin.pocket(streak))
            return Evidence(Fact.NUMBER_UNCONFIRMED, t_us, figures, sure)
        sure = margin.least(
            margin.run(record.laps, self._min_laps, record.lead_passes),
            margin.pocket(streak),
            self._pulses.sight,
            self.tracker.sight,
        )
        return Evidence(self._proven, t_us, figures, sure)


def _placed(streak: list[Seen]) -> Figures:
    last = streak[-1]
    return {
        "number": ROTOR_ORDER[last.pocket_index],
        "pocket_index": last.pocket_index,
        "first_sighting_us": streak[0].t_us,
    }


def _pockets_apart(one: Seen, other: Seen) -> float:
    """How many pockets `one` lies clockwise of `other`, half of the wheel at most."""
    half = len(ROTOR_ORDER) / 2
    return (one.pocket_index + one.offset - other.pocket_index - other.offset + half) % len(ROTOR_ORDER) - half


def _same_pass(before: Seen, seen: Seen, begun_us: int) -> bool:
    """Whether one reader saw one pass twice."""
    if seen.t_us - before.t_us < SAME_PASS_US:
        return True
    return seen.pocket_index == before.pocket_index and _turned_deg(before, seen, begun_us) < HALF_TURN_DEG


def _turned_deg(before: Seen, seen: Seen, begun_us: int) -> float:
    """How far the rotor turned between two sightings; a whole turn when it stood still in between, as nobody knows."""
    return abs(seen.turned_deg - before.turned_deg) if before.t_us >= begun_us else 360.0
