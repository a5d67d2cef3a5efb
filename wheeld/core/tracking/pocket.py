"""Where the ball lies, as readers see it. The rotor's angle shows in which pocket each sighting was. When several
sightings agree, the pocket is proven (R3)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.observations import PLACE, Sighting
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.ball import Ball, Phase
from wheeld.core.tracking.beams import FALL_US, FALL_US_MIN, REST_US, BallFromBeams
from wheeld.core.tracking.evidence import OFF_CENTRE_MAX, Evidence, Figures, Margin, Question, Seen, Topic
from wheeld.core.tracking.rotor import RotorFromEncoder
from wheeld.core.tracking.sight import Sight

SAME_PASS_US = 50_000
"""If two sightings of a reader are closer than this, they are of one pass: at 25 rpm pockets come 65 ms apart."""
HALF_TURN_DEG = 180.0
"""One reader sees a lying ball once in a turn. If it sees the ball in the same pocket again within half a turn, it is
the same pass. The sightings that prove a number must be this far apart (R3): three close together may be one bounce."""
PLACED_SIGHTINGS = 2
PLACED_TURNS = 2.2
"""Readers see the ball in a pocket if they saw it there `PLACED_SIGHTINGS` times, the last time at most `PLACED_TURNS`
times `turn_us` ago: a reader may miss it once (docs/rulebook.md 3, before "tout va")."""
SIGHTINGS_KEPT = 8
"""How many consecutive sightings are kept: a ball may lie in its pocket for minutes."""
PICKED_UP_TURNS = 1.3
"""If no reader sees the ball for this many times `turn_us`, it lies in no pocket: a hand has it, or it runs."""
PROOF_TURNS = 1.5
"""How many turns the proof of a number by sightings may take (docs/rulebook.md 6)."""
PROOF_US_MAX = 25_000_000
"""The time of `PROOF_TURNS` turns at 3.6 turns a minute. Nobody plays with a slower rotor: a hand is stopping it."""
TURNS_US = 500_000
"""At 4 turns a minute, even an encoder with the fewest sectors shows within this time that the rotor turns."""
FILLED_SIGHTINGS, FILLED_BEFORE = 3, 2
"""Readers may see a pocket filled while the ball runs. One sighting may be a reflection. After `FILLED_SIGHTINGS` of
them something else is in the pocket. After `FILLED_BEFORE` this may be so, and its number is not proven."""
PASSES_FROM_UNKNOWN = 2
"""If it is not known where the ball lay before, it may have lain in this pocket all the time. Then a single pulse may
be a stray, and only two passes that agree are a launch."""
RESTED_US = 500_000
"""A ball that bounces leaves a pocket sooner than this. If readers see it there again later, it lies in the pocket."""
AGREE_POCKETS = 0.3
"""The places in which readers see one lying ball differ by no more than this, in pockets."""
STILL_THERE = 2
"""If readers see the ball in its old pocket this often after a pulse, no ball ran. One sighting may be a bounce."""


class SightingsState(msgspec.Struct):
    """What is remembered of the sightings.

    `streak`: the latest consecutive sightings in one pocket; while the place of the pockets is not known, in one place
    of the rotor. `proof_due_us`: until when it should prove a number. None if it has proven one. `latest`: for each
    reader, its latest sighting that counted. `filled`: the pockets that were seen filled while the ball ran, each with
    the time. `at_pass`: how far the rotor had turned at the ball's latest pass, in degrees, and its speed in degrees a
    second. `between`: the latest consecutive sightings between the same two pockets.
    """

    streak: list[Seen] = msgspec.field(default_factory=list)
    proof_due_us: int | None = None
    latest: dict[int, Seen] = msgspec.field(default_factory=dict)
    filled: list[tuple[int, int]] = msgspec.field(default_factory=list)
    at_pass: tuple[float, float] | None = None
    between: list[Seen] = msgspec.field(default_factory=list)

    @property
    def last_us(self) -> int | None:
        """The time of the latest sighting that counted."""
        return max((seen.t_us for seen in self.latest.values()), default=None)


class PocketTracker:
    """Finds the pocket where the ball rests. The pocket is proven when `needed` consecutive sightings agree, or when
    one reader sees the ball there again a whole turn later (R3). Everything that it remembers is in `state`.
    `unplaced`: how many sightings had no effect, since the start."""

    def __init__(
        self,
        readers_deg: tuple[float, ...],
        needed: int,
        rotor: RotorFromEncoder,
        state: SightingsState | None = None,
        sight: Sight | None = None,
    ) -> None:
        self._readers_deg = readers_deg
        self._needed, self._rotor = needed, rotor
        self.state, self._sight = state or SightingsState(), sight or Sight()
        self.unplaced = 0
        self.blind: list[Evidence] = []
        self.use([*range(len(readers_deg))])

    def use(self, readers: list[int]) -> None:
        """Use only these readers from now on."""
        self._left = readers
        self.widest_deg = widest_gap_deg([self._readers_deg[reader] for reader in readers])

    @property
    def is_placed(self) -> bool:
        """Whether the place of the pockets is known."""
        return PLACE not in self._sight.failing

    @property
    def sightings(self) -> list[Seen]:
        """The latest consecutive sightings in one pocket. Empty while the place of the pockets is not known."""
        return self.state.streak if self.is_placed else []

    @property
    def pocket(self) -> int | None:
        """The index of the pocket where the ball was last seen, even if only once. None if it was not seen."""
        return self.state.streak[-1].pocket_index if self.state.streak and self.is_placed else None

    @property
    def is_called(self) -> bool:
        """Whether the latest sightings have proven their pocket."""
        return bool(self.sightings) and self.state.proof_due_us is None

    @property
    def is_at_rest(self) -> bool:
        """Whether readers have seen the ball in one pocket for longer than a ball bounces there."""
        streak = self.state.streak
        return bool(streak) and streak[-1].t_us - streak[0].t_us >= RESTED_US

    @property
    def is_between(self) -> bool:
        """Whether for two turns all readers have seen the ball between the same two pockets, where no ball can lie.
        Then the pockets are not where the encoder shows them. A bouncing ball is seen between different pockets."""
        return len(self.state.between) > 2 * len(self._left)

    def sighting(self, t_us: int, reader: int) -> bool:
        """Take one sighting. Return whether this sighting proves a pocket."""
        state = self.state
        placed, self.blind = self._rotor.pocket_under(self._readers_deg[reader], t_us), []
        if placed is None:
            self.unplaced += 1
            return False
        seen = Seen(t_us, reader, placed[0], round(placed[1], 3), round(placed[2], 2))
        if abs(placed[1]) > OFF_CENTRE_MAX and self.is_placed:
            self.unplaced += 1
            state.between = self._agreeing(state.between, seen)
            return False
        state.between = []
        self._sight.note_sighting(reader)
        if not self.is_placed:
            state.streak = self._agreeing(state.streak, seen)[-SIGHTINGS_KEPT:]
            return False
        before, begun_us = state.latest.get(reader), self._rotor.state.begun_us
        if before is not None and _same_pass(before, seen, begun_us):
            return False
        if (
            before is not None
            and before.pocket_index == seen.pocket_index
            and _turned_deg(before, seen, begun_us) < 3 * HALF_TURN_DEG  # otherwise a hand may have taken the ball
        ):
            met = {each for each in self._left if each in state.latest and state.latest[each].t_us >= before.t_us}
            self.blind = self._sight.note_turn(self._left, met, t_us)
        state.latest[reader] = seen
        if self.pocket != seen.pocket_index:
            self.restart()
        if not state.streak:
            state.proof_due_us = t_us + min(PROOF_US_MAX, round(PROOF_TURNS * 60e6 / (self._rotor.rpm(t_us) or 1)))
        state.streak = [*state.streak[-SIGHTINGS_KEPT + 1 :], seen]
        if state.proof_due_us is None or not self._is_proven(begun_us):
            return False
        state.proof_due_us = None
        return True

    def _agreeing(self, before: list[Seen], seen: Seen) -> list[Seen]:
        """Return the latest consecutive sightings in one place of the rotor, the last of them `seen`."""
        return [*before, seen] if before and abs(self._pockets_apart(seen, before[0])) <= AGREE_POCKETS else [seen]

    def _is_fresh(self, now_us: int) -> bool:
        """Whether the latest sighting shows where the ball is now. While the rotor stands still, it counts at any age:
        no reader could notice that the ball is taken out."""
        is_standing, streak = self._rotor.state.stopped, self.state.streak
        return is_standing or now_us <= streak[-1].t_us + PLACED_TURNS * self.turn_us(now_us)

    def lies_in(self, pocket_index: int, now_us: int) -> bool:
        """Whether the readers see the ball in this pocket now."""
        is_there = self.pocket == pocket_index and len(self.state.streak) >= PLACED_SIGHTINGS
        return is_there and self._is_fresh(now_us)

    def place(self, now_us: int) -> int | None:
        """Return the index of the pocket where the readers see the ball now. None if there is no such pocket."""
        pocket = self.pocket
        return pocket if pocket is not None and self.lies_in(pocket, now_us) else None

    def off_by(self, pocket_index: int, now_us: int) -> float | None:
        """Return how many pockets clockwise of this pocket readers see the ball. None if they see no ball lie still."""
        seen, begun_us = self.state.streak, self._rotor.state.begun_us
        if not seen or not self._is_fresh(now_us) or _turned_deg(seen[0], seen[-1], begun_us) < HALF_TURN_DEG:
            return None
        named = Seen(now_us, 0, pocket_index, 0.0, 0.0)
        # The mean is relative to the first sighting: half a wheel from `named`, nearby places may have opposite signs.
        first = self._pockets_apart(seen[0], named)
        return first + fsum(self._pockets_apart(each, seen[0]) for each in seen) / len(seen)

    def restart(self) -> None:
        """Forget the consecutive sightings: the ball is elsewhere, and they do not prove where it will lie."""
        self.state.streak = []

    def turn_us(self, t_us: int) -> int:
        """Return the longest time between sightings of a lying ball, at the rotor's speed. 5 s if no speed is known."""
        rpm = self._rotor.rpm(self._rotor.state.last_tick_us or t_us)
        return round(self.widest_deg / (rpm * 6) * 1e6) if rpm else 5_000_000

    def _is_proven(self, begun_us: int) -> bool:
        """Whether the streak proves its pocket. If one reader is in it twice, that reader saw the ball there again a
        whole turn later (`_same_pass`). A ball that bounces, or lies on an obstacle, can't be seen in this way."""
        streak = [seen for seen in self.state.streak if seen.t_us >= begun_us]  # how the rotor turned before is unknown
        first, last = streak[0], streak[-1]
        again = any(seen.reader == last.reader for seen in streak[:-1])
        spanned = self._needed == 1 or _turned_deg(first, last, begun_us) >= HALF_TURN_DEG
        is_enough = len(streak) >= min(self._needed, SIGHTINGS_KEPT)
        return again or (is_enough and spanned)

    def _pockets_apart(self, one: Seen, other: Seen) -> float:
        """Return how many pockets `one` lies clockwise of `other`, at most half of the wheel."""
        count = self._rotor.pockets.count
        return (one.pocket_index + one.offset - other.pocket_index - other.offset + count / 2) % count - count / 2


class PocketFromReaders(PocketTracker):
    """The pocket part of a table with readers: concludes, with beams and an encoder, where the ball comes to rest."""

    def __init__(
        self,
        setting: TableSetting,
        state: SightingsState,
        ball: Ball,
        beams: BallFromBeams,
        rotor: RotorFromEncoder,
        sight: Sight,
    ) -> None:
        super().__init__(setting.readers_deg, setting.sightings_to_call, rotor, state, sight)
        self._min_laps, self._chef_answers = setting.min_laps, "R2" in setting.confirmable
        self._proven = Fact.NUMBER_UNCONFIRMED if setting.confirm_numbers else Fact.NUMBER
        self.ball, self._beams, self._run = ball, beams, beams.run

    @property
    def counters(self) -> dict[str, int]:
        """How many sightings could not be placed in a pocket, since the start."""
        return {"unplaced_sightings": self.unplaced}

    def rest_question(self) -> Question | None:
        """Return the question whether the ball rests in its pocket. It is open from the first of the latest sightings
        there until they should have proven the pocket. It is also open while the ball is not known to have left the
        track: its latest pass may have been a stray. Each pass ends the question."""
        run, state = self._run, self.state
        if run.phase not in (Phase.ON_TRACK, Phase.OFF_TRACK) or not self.sightings:
            return None
        if run.has_reported(Fact.NUMBER_NOT_PROVEN) or self._began_before((run.last_us or 0) + REST_US):
            return None
        return None if state.proof_due_us is None else Question(Topic.REST, state.streak[0].t_us, state.proof_due_us)

    def proof_due_us(self) -> int | None:
        """Return the time by which sightings should prove the number. None while the ball may run, or is not seen."""
        rest = self.rest_question() if self._run.phase is Phase.OFF_TRACK else None
        return None if rest is None else rest.until_us

    def give_up(self) -> list[Evidence]:
        """Return the number that was seen, as not proven: nothing can prove it any more. Empty if none was seen."""
        return [] if self.proof_due_us() is None else [self._not_proven(self.state.streak)]

    def may_hold_unseen(self, stopped_us: int) -> bool:
        """Whether the ball may lie in a pocket that has not passed a reader since the ball was certainly at rest. How
        far the rotor had turned by then is known from the rotor's speed at the last pass: since then a hand can only
        have slowed the rotor."""
        if not self._sight.has_met_ball:
            return True  # readers that have not seen the lying ball lately would not see it now
        left_us, at_pass = self._run.last_us or 0, self.state.at_pass
        if stopped_us <= left_us + FALL_US_MIN or self._run.has_reported(Fact.FALL_OVERDUE):
            return False
        if at_pass is None or self._rotor.state.begun_us > left_us:
            return True
        turned_deg = abs(self._rotor.turned_deg - at_pass[0])
        return turned_deg - abs(at_pass[1]) * FALL_US / 1e6 < self.widest_deg

    def miss_proof(self, now_us: int) -> list[Evidence]:
        """Conclude that the proof of a number did not come in time. If only one sighting shows the ball, and readers
        did not see it again while the rotor turned, it does not lie there: it bounced away, or a hand has it."""
        rotor, streak = self._rotor.state, self.state.streak
        is_turning = now_us - (rotor.last_tick_us or 0) < TURNS_US and rotor.begun_us <= streak[-1].t_us
        if len(streak) == 1 and is_turning:
            self.ball.glimpse = streak[0]
            self.restart()
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

    def begin_run(self) -> None:
        """Begin a run, because a launch was proven. Earlier sightings do not count for it."""
        self.state.filled = []
        self._sight.note_launch()
        self.restart()

    def lose_place(self) -> None:
        """Treat the place of the pockets as unknown. From now on sightings prove nothing, until a person names the
        pocket in which the ball lies."""
        self.restart()
        self.state.latest, self.state.between, self.ball.pocket = {}, [], None

    def find_place(self, pocket_index: int, now_us: int) -> float:
        """Take the place of the pockets from a person's word: the ball, which readers see lie still, lies in this
        pocket. Return how many pockets away from it the encoder showed the ball."""
        off = self.off_by(pocket_index, now_us)
        assert off is not None, "readers see the ball"
        self._rotor.shift(-off * self._rotor.pockets.pocket_deg)
        self.restart()
        self._beams.forget()
        self.state.latest = {}
        self.ball.rest()
        self.ball.take_word(pocket_index, pocket_index, by_eye=True)
        return off

    def note_pass(self, t_us: int) -> list[Evidence]:
        """Note a pass. If readers saw a pocket filled several times before this pass, something else is in the pocket:
        another ball, or dirt. Its number could be published in place of the running ball's number. So it is a fault
        (N8)."""
        state, run = self.state, self._run
        state.at_pass = self._rotor.fit(t_us)
        self.restart()
        if run.has_reported(Fact.SENSOR_FAULT):
            return []
        filled = next((pocket for _, pocket in state.filled if self._times_filled(pocket) >= FILLED_SIGHTINGS), None)
        if filled is None:
            return []
        run.report(Fact.SENSOR_FAULT)
        figures: Figures = {
            "sensor": "reader",
            "what": "filled_pocket",
            "filled_number": self._rotor.pockets.order[filled],
        }
        return [Evidence(Fact.SENSOR_FAULT, t_us, figures)]

    def _times_filled(self, pocket: int) -> int:
        """Return how often readers saw this pocket filled before the latest pass of the running ball."""
        last_us = self._run.last_us or 0
        return sum(at_us < last_us and at == pocket for at_us, at in self.state.filled)

    def gone_from_us(self, overdue_us: int) -> int:
        """Return the time at which a suspected launch is over: not before readers had time to see the ball where it
        lay. `overdue_us`: when its next pass is overdue."""
        seen_us = self.state.last_us
        if seen_us is None:
            return overdue_us
        turn_us = self.turn_us(seen_us)
        return max(overdue_us, seen_us + round(PICKED_UP_TURNS * turn_us))

    def fall_due_us(self, left_us: int) -> int:
        """Return the deadline of a fall that began at `left_us`. It leaves time for the fall, and then for a reader to
        see the ball. Each sighting makes it later."""
        wait_us = round(1.5 * self.turn_us(left_us))
        return max(left_us + FALL_US, self.state.last_us or 0) + wait_us

    def fall_overdue(self, now_us: int) -> Evidence:
        """Conclude that the ball may rest on an obstacle (N5); or, if it was seen in a pocket once, that a hand took it
        from this pocket (R3b)."""
        if self.ball.glimpse is not None:
            return self._not_proven([self.ball.glimpse])
        return Evidence(Fact.FALL_OVERDUE, now_us)

    def take(self, seen: Sighting) -> list[Evidence]:
        """Return what one sighting proves. Note where the ball is seen to lie, and whether it is at rest."""
        if self.is_called:
            self.ball.carried = False
        evidence = self._concluded(seen)
        self.ball.see(self.sightings)
        if (self.is_called or self.is_at_rest) and self._run.phase is not Phase.ON_TRACK:
            self.ball.rest()
        return [*evidence, *self.blind]

    def _concluded(self, seen: Sighting) -> list[Evidence]:
        run, state, ball = self._run, self.state, self.ball
        lay_in, is_launched = ball.pocket, run.launched_us is not None
        bounces_until_us = (run.last_us or 0) + REST_US
        if is_launched and (seen.t_us < bounces_until_us or self._began_before(bounces_until_us)):
            self.restart()
        called = self.sighting(seen.t_us, seen.reader)
        pocket, latest = self.pocket, state.latest.get(seen.reader)
        if not self.is_placed:
            return []
        is_counted = latest is not None and latest.t_us == seen.t_us
        if is_counted and len(state.streak) == 1:
            ball.glimpse = None
        if called:
            ball.pocket = pocket
        if not is_launched:
            return self._at_rest(lay_in, seen.t_us, called=called)
        if pocket is None:
            return []
        if run.phase is Phase.ON_TRACK and is_counted:
            state.filled.append((seen.t_us, pocket))
        return self._in_run(seen.t_us, pocket, is_counted=is_counted, called=called)

    def _in_run(self, t_us: int, pocket: int, *, is_counted: bool, called: bool) -> list[Evidence]:
        """Return what a sighting in a run proves. The ball has fallen, even if its run seemed to continue."""
        run, ball, is_on_track = self._run, self.ball, self._run.phase is Phase.ON_TRACK
        if not is_on_track and ball.rested_in is None and self.is_at_rest:
            ball.rested_in = pocket
        is_open = is_counted and not is_on_track and not self.is_called
        are_two = is_open and ball.meet(pocket) and ball.are_two
        is_doubtful = are_two or (called and ball.was_elsewhere(pocket))
        is_of_none = is_doubtful and not run.has_reported(Fact.NUMBER_NOT_PROVEN)
        if not called and not is_of_none:
            if not is_open:
                return []
            last, sightings = self.state.streak[-1], len(self.state.streak)
            figures: Figures = {"number": self._rotor.pockets.order[last.pocket_index]}
            figures |= {"pocket_index": last.pocket_index, "reader": last.reader, "sightings": sightings}
            return [Evidence(Fact.NUMBER_SEEN, t_us, figures)]
        evidence = self._beams.leave() if is_on_track else []
        if is_of_none:
            # The chef decides which number counts, if any (R3b): either the ball rested in another pocket before, where
            # people saw it, or there are two balls.
            asked = self._not_proven(self.state.streak)
            figures = {name: value for name, value in asked.figures.items() if name not in ("number", "pocket_index")}
            return [*evidence, msgspec.structs.replace(asked, figures=figures)]
        evidence.append(self._number(self.state.streak))
        self._beams.forget()
        return evidence

    def _began_before(self, t_us: int) -> bool:
        return bool(self.state.streak) and self.state.streak[0].t_us < t_us

    def _at_rest(self, lay_in: int | None, t_us: int, *, called: bool) -> list[Evidence]:
        """Return what a sighting proves while no run is known. If the ball is in the pocket where it lay (`lay_in`),
        pulses since then were strays. If it is elsewhere, it was launched, or a hand moved it."""
        streak, ball = self.state.streak, self.ball
        if ball.doubt == "unmet" and self.pocket == ball.before_gap is not None:
            ball.doubt = None
        if self.pocket == lay_in:
            self._beams.rest(t_us)
            since_us = self._run.last_us or 0
            if sum(sighting.t_us > since_us for sighting in streak) >= STILL_THERE:
                self._beams.forget()
            # After a gap, a hand put the ball back where it lay: this shows that the pockets are in the same place.
            was_brought = called and ball.carried and ball.doubt is not None
            return [Evidence(Fact.BALL_MOVED, t_us, self._placed(streak))] if was_brought else []
        if not called:
            return []
        ball.note_elsewhere()
        evidence = []
        began_us = streak[0].t_us
        passes = self._beams.few_passes(began_us)
        if passes is not None and len(passes.passes) >= (PASSES_FROM_UNKNOWN if lay_in is None else 1):
            evidence.append(self._beams.weak_launch(began_us))
        self._beams.forget()
        came_from: Figures = {} if lay_in is None else {"from_pocket_index": lay_in}
        return [*evidence, Evidence(Fact.BALL_MOVED, t_us, {**self._placed(streak), **came_from})]

    def _placed(self, streak: list[Seen]) -> Figures:
        last = streak[-1]
        return {
            "number": self._rotor.pockets.order[last.pocket_index],
            "pocket_index": last.pocket_index,
            "first_sighting_us": streak[0].t_us,
        }

    def _number(self, streak: list[Seen]) -> Evidence:
        """Return the number, with the time of the first of the sightings that prove it (R3)."""
        t_us = streak[0].t_us
        placed, record = self._placed(streak), self._beams.record()
        figures: Figures = {**record.figures, **placed}
        filled = self._times_filled(streak[-1].pocket_index) >= FILLED_BEFORE
        is_short = record.is_short_of(self._min_laps)
        by_chef = is_short and self._chef_answers and record.may_have(self._min_laps)
        if filled or not self._run.opposite or (is_short and not by_chef):
            return Evidence(Fact.NUMBER_UNPROVEN, t_us, figures)
        if by_chef:
            figures |= {"unproven": "R2", "laps_at_most": round(record.laps_at_most or 0, 2)}
            sure = min(Margin.direction(record.lead_passes or 0), Margin.pocket(streak))
            return Evidence(Fact.NUMBER_UNCONFIRMED, t_us, figures, sure)
        run = Margin.run(record.laps, self._min_laps, record.lead_passes)
        by_beams, strange = self._beams.quality()
        sure = Margin.number(run, streak, (by_beams, self._sight.part_of_readers(self._left)), strange)
        if self.ball.doubt == "astray":
            return Evidence(Fact.NUMBER_UNCONFIRMED, t_us, figures | {"unproven": "R3"}, sure)
        return Evidence(self._proven, t_us, figures, sure)


def widest_gap_deg(readers_deg: Sequence[float]) -> float:
    """Return the widest angle between two neighbours among these readers. For a single reader it is a whole turn."""
    angles = sorted(readers_deg)
    return max(after - before for before, after in zip(angles, [*angles[1:], angles[0] + 360], strict=True))


def _same_pass(before: Seen, seen: Seen, begun_us: int) -> bool:
    """Whether two sightings of one reader are of the same pass of the ball."""
    if seen.t_us - before.t_us < SAME_PASS_US:
        return True
    return seen.pocket_index == before.pocket_index and _turned_deg(before, seen, begun_us) < HALF_TURN_DEG


def _turned_deg(before: Seen, seen: Seen, begun_us: int) -> float:
    """Return how far the rotor turned between two sightings, in degrees. If it stood still, nobody knows: 360."""
    return abs(seen.turned_deg - before.turned_deg) if before.t_us >= begun_us else 360.0
