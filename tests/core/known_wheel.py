"""A wheel whose truth is known: each thing that happens at it goes to docs/rulebook.md too, and the table is held to
that.

The world is `evening.py`'s, with sensors that never fail by themselves. What happens is an *event*: the facts that a
spectator sees, in order. After it every verdict, reply, state and bet that the table has published must be what the
rulebook lets follow. Where it is silent several games are possible; the table's choices narrow them down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from tests.core.evening import FALL_S, START_UTC_US, WATCHED_S, WATCHED_US, Evening, PublishedMessage, Way, other
from tests.core.rulebook_model import RESULT, Game, Happening, Said
from wheeld.core.facts import Fact
from wheeld.core.messages.chain import GENESIS, verify_link
from wheeld.core.observations import BallPass, CommandName
from wheeld.core.setting import TableSetting
from wheeld.core.step import SEQUENCED
from wheeld.replay import replay

Event: TypeAlias = tuple[Happening, ...]
Ball: TypeAlias = Literal["pocket", "hand", "track", "obstacle"]
COMMANDS = frozenset(list(Fact)[list(Fact).index(Fact.OPEN) :])
"""What people ask: the list of facts has it last."""
SAME_EITHER_WAY = ("rien_ne_va_plus", "last_coup", "last_coup_off", "bouler")
"""Words that mean the same before a launch and after it."""
RESTART_US = 60_000_000
STOP_S = 2.2
"""After so long without an edge the rotor is known to stand."""
SEEN_S = 8.0
"""After so long without a sighting or a pass the ball is in no pocket, and off the track."""
PROVEN_PASSES = 7
"""Four beams: three passes prove the launch (rulebook 6), five the direction (N1: the pass that completes a lap)."""


@dataclass(frozen=True)
class Line:
    """One way on that the rulebook allows."""

    game: Game
    verdicts: tuple[str, ...] = ()
    dones: tuple[bool, ...] = ()
    states: tuple[str, ...] = ()

    def then(self, happening: Happening) -> Iterator[Line]:
        fact = happening.fact if isinstance(happening, Said) else happening
        for way in self.game.ways(happening):
            verdict = () if way.verdict is None else (str(getattr(way.verdict, "value", way.verdict)),)
            done = (not way.refused,) if fact in COMMANDS else ()
            states = (*self.states, way.game.state)
            yield Line(way.game, (*self.verdicts, *verdict), (*self.dones, *done), states)


class KnownWheel:
    """One table from its first start, its world, and every game that the rulebook thinks may be on."""

    def __init__(self, setting: TableSetting) -> None:
        self.setting = setting
        self.evening = Evening(setting)
        self.ball: Ball = "hand" if setting.last_number is None else "pocket"
        self.last_number = setting.number_before
        self.turning, self.object_in = True, False
        self.faults: set[str] = set()
        self.gap_us = 0
        """Until when nobody watched the wheel, by its own time."""
        self.was_unwatched = False
        """Whether nobody watched the wheel at some time: what has moved the ball then is not known (section 7)."""
        self.games = {Game()}
        self.table: dict[str, Any] = {}
        self.verdict_of: dict[int, str] = {}
        self.seq, self.chain = 0, GENESIS
        self.read, self.replied = 0, 0
        self.evening.wait(SEEN_S)
        self.happens((Fact.RESTARTED,))

    # --- the comparison -----------------------------------------------------------------------------------------------

    def happens(self, *events: Event, number: int | None = None) -> None:
        """One of `events` is the truth; what the table has published since the last one must follow from it."""
        messages = self.evening.published[self.read :]
        verdicts = tuple(self._verdict(one, number) for one in messages if one.topic in ("result", "void"))
        tables = [one.payload for one in messages if one.topic == "table"]
        if verdicts and (self.faults or any(table["failing"] for table in tables)):
            # Those that the coup could spare, and a place that is lost: they stop play after its verdict.
            events = (*events, *((*event, Fact.SENSOR_FAULT) for event in events))
        dones = tuple(reply.done for reply in self.evening.replies[self.replied :])
        # The same state again says that something else of it has changed: a ball that was taken, a sensor.
        both = zip([self.table, *tables], tables, strict=False)
        states = [after["state"] for before, after in both if before.get("state") != after["state"]]
        self.table = tables[-1] if tables else self.table
        allowed = [line for event in events for line in _lines_after([Line(game) for game in self.games], event)]
        fitting = {
            line.game
            for line in allowed
            if (line.verdicts, line.dones) == (verdicts, dones) and self._stands(line.game) and _within(states, line)
        }
        assert fitting, (
            f"{' | '.join(str([fact.name for fact in event]) for event in events)}: published {verdicts} {dones} "
            f"{states}, stands in {self.evening.state}; the rulebook: {allowed}"
        )
        self.games = fitting
        self._check_feed(messages)
        self.read, self.replied = len(self.evening.published), len(self.evening.replies)

    def _verdict(self, one: PublishedMessage, number: int | None) -> str:
        """Its name; a result must be of the number, of a whole coup, and no coup has a verdict twice."""
        coup = one.payload["coup"]
        assert coup not in self.verdict_of, f"coup {coup} was {self.verdict_of[coup]}, and is {one.topic} now"
        assert coup > max(self.verdict_of, default=0)
        self.verdict_of[coup] = one.topic
        if one.topic == "void":
            return str(one.payload["cause"])
        assert one.payload["number"] == number
        assert one.payload["laps"] >= self.setting.min_laps
        assert one.payload["ball_direction"] != one.payload["rotor_direction"]
        self.last_number = number
        return RESULT

    def _stands(self, game: Game) -> bool:
        table = self.table
        shown = (table["state"], table["bets"], table["last_number"])
        expected = (game.state, game.bets, self.last_number)
        return shown == expected and table["last_coup"] in game.la_derniere and self.evening.state == game.state

    def _check_feed(self, messages: list[PublishedMessage]) -> None:
        """`seq` has no gaps, and each message carries the hash of the one before, across restarts."""
        for one in messages:
            if one.topic in SEQUENCED:
                self.seq += 1
                assert one.payload["seq"] == self.seq
                self.chain = verify_link(one.bytes, self.chain)

    def check_evidence(self) -> None:
        """The latest coup's evidence replays to the bytes of its verdict."""
        if self.evening.evidence:
            evidence = self.evening.evidence[-1]
            replayed = [msgspec.json.decode(line, type=_Output) for line in replay(evidence.log.splitlines())]
            (verdict,) = [
                one.bytes
                for one in self.evening.published
                if one.topic == evidence.verdict and one.payload["coup"] == evidence.coup
            ]
            assert verdict in [bytes(one.payload) for one in replayed]

    # --- what is true -------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """Whether a coup may be running."""
        return any(game.running for game in self.games)

    @property
    def in_place(self) -> bool:
        """Whether the ball lies where C11 wants it; at the first coup it may lie anywhere."""
        return self.last_number is None or (self.ball == "pocket" and self.evening.lying == self.last_number)

    @property
    def place_lost(self) -> bool:
        """Whether the table says that nobody knows where the pockets are: a person names the ball's (§7)."""
        return "rotor/place" in self.table.get("failing", [])

    def launch_event(self) -> Event:
        """An object that lies in the cylinder is there before the number is out (N6)."""
        return (Fact.LAUNCHED, Fact.OBJECT_IN) if self.object_in else (Fact.LAUNCHED,)

    def command_fact(self, name: CommandName) -> Happening:
        """What this command is, as things stand."""
        fact = Fact[name.upper()]
        match name:
            case "tout_va" | "operations_done" if self.object_in:
                return Said(fact, "cleared")
            case "tout_va" if not self.in_place:
                return Said(fact, "in_place")
            case "open" | "resume" if self.faults:
                return Said(fact, "sensors_work")
            case "resume" | "open" | "tout_va" if self.track:
                return Said(fact, "at_rest")
        return fact

    # --- what happens -------------------------------------------------------------------------------------------------

    def say(self, name: CommandName) -> None:
        if name == "tout_va" and self.track and not self.in_place:
            return  # it would wait while the ball runs on
        if name in ("open", "resume") and self.place_lost:
            self.evening.say(name, number=self.evening.lying)
            self.happens((Fact[name.upper()],), (Said(Fact[name.upper()], "sensors_work"),))
        else:
            fact = self.command_fact(name)
            self.evening.say(name, who="Bianchi" if name == "bouler" else None)
            self.happens((fact,))

    def launch(self, laps: float, *, against: bool) -> None:
        """A launch, until its direction is known."""
        passes = self._launch(laps, against=against)
        self.evening.until(passes[PROVEN_PASSES - 1].t_us)
        self.happens((*self.launch_event(), self._direction(against=against)))

    def launch_as_they_speak(self, names: list[CommandName]) -> None:
        """Two passes, then commands, then the proof: the table learns of the launch at the proof, and takes all in the
        order in which it happened. Words that mean the same before a launch and after it may be taken before. So may
        "rien va" once bets are closed: it makes the coup void before its launch, and no object meets a void coup."""
        names = [name for name in names if name != "tout_va"]  # it would wait for the ball
        launch, passes = self.launch_event(), self._launch(5.0, against=True)
        self.evening.until(passes[1].t_us)
        voids = len(self.verdict_of)
        for name in names:
            self.evening.ask(name)
        words = [self.command_fact(name) for name in names]
        self.evening.until(passes[PROVEN_PASSES - 1].t_us)
        way = self._direction(against=True)
        same = next((n for n, name in enumerate(names) if name not in SAME_EITHER_WAY), len(names))
        events = [(*words[:n], *launch, *words[n:], way) for n in range(same + 1)]
        said = " ".join((self.table["state"], *names))
        if self.object_in and "rien_va" in said.partition("rien_ne_va_plus")[2].split():
            events.append((Fact.LAUNCHED, *words, way))
        self.happens(*events)
        assert len(self.verdict_of) <= voids + 1, "one launch is one coup"

    def launch_weakly(self, passes: int, into: int) -> None:
        """A pass or two, and the ball lies in another pocket."""
        evening = self.evening
        evening.lying, self.ball = None, "pocket"
        evening.wait(1)
        evening.plan(*(BallPass(evening.now_us + 100_000 + 400_000 * n, n) for n in range(passes)))
        evening.wait(1)
        self._land(into)
        self.happens((Fact.WEAK_LAUNCH, Fact.BALL_MOVED))

    def fall(self, into: int) -> None:
        """The ball runs its laps, leaves the track, and comes to rest."""
        numbers = [Fact.NUMBER if self.whole else Fact.NUMBER_UNPROVEN]
        if self.whole and self.was_unwatched:  # if the ball was met elsewhere since
            numbers.append(Fact.NUMBER_UNCONFIRMED)
        left = self._leave() if self.ball == "track" else ()
        self._land(into)
        self.happens(*((*left, number) for number in numbers), number=into)

    def hang(self) -> None:
        """The ball runs its laps, and rests on an obstacle."""
        event = self._leave()
        self.ball = "obstacle"
        self.evening.wait(20)
        self.happens((*event, Fact.FALL_OVERDUE))

    def wait(self, seconds: float) -> None:
        """Time passes; a ball on the track stays there."""
        end_us = self.evening.now_us + round(seconds * 1e6)
        self.evening.until(min(end_us, max(self.left_us - 200_000, self.evening.now_us)) if self.track else end_us)
        self.happens(())

    def take(self) -> None:
        """A hand takes the ball out, or stops it."""
        self.evening._planned.clear()
        self.evening.lying, self.ball = None, "hand"
        self.evening.wait(SEEN_S)
        self.happens(())

    def put(self, into: int) -> None:
        """A hand lays the ball in a pocket."""
        self.ball = "pocket"
        self._see(into)
        self.happens(*self._place_after_hand())

    @property
    def may_stop(self) -> bool:
        """Whether the rotor turns, and a ball on the track is still there when its stop is known. A ball on an obstacle
        that no reader has met before is another test's (N5)."""
        if self.ball == "obstacle" and self.last_number is None:
            return False
        return self.turning and not (self.track and self.evening.now_us + STOP_S * 1e6 >= self.left_us)

    def stop(self) -> None:
        """The rotor stops."""
        self.evening.turn(0)
        self.turning = False
        self.evening.wait(STOP_S)
        if self.track:
            self.happens((Fact.ROTOR_STOPPED_RUNNING,))
        else:
            self.happens((Fact.ROTOR_STOPPED_BEFORE_DROP,))

    def turn(self, way: Way) -> None:
        """The bouler turns it again, either way."""
        self.evening.turn(20, way)
        self.turning = True
        self.evening.wait(SEEN_S)
        self.happens(())

    def chip(self, *, present: bool) -> None:
        self.object_in = present
        self.evening.drop(present=present)
        self.happens((Fact.OBJECT_IN if present else Fact.OBJECT_OUT,))

    def sensor(self, name: str, *, ok: bool) -> None:
        (self.faults.discard if ok else self.faults.add)(name)
        self.evening.sensor(name, ok=ok)
        self.was_unwatched = self.was_unwatched or name in ("link", "rotor")
        if name == "link":
            self.gap_us = self.evening.now_us
        if ok:
            self.happens(())
        elif self.runs and self._can_spare(name):
            self.happens((Fact.SENSOR_SPARED,))
        else:
            self.happens((Fact.SENSOR_FAULT,))

    def _can_spare(self, name: str) -> bool:
        """§6, N8: one beam of four, or any when the ball has left the track; one reader, while another works."""
        kind, _, _ = name.partition("/")
        failing = sum(sensor.startswith(kind) for sensor in self.faults)
        if kind == "reader":
            return failing < len(self.setting.readers_deg)
        return kind == "beam" and (self.ball != "track" or len(self.setting.beams_deg) - failing >= 3)

    def restart(self) -> None:
        """The controller starts again with what its journal holds; meanwhile a hand stops the ball that ran."""
        before = self.evening
        self.evening = Evening(
            self.setting,
            memory=before.memory,
            way=before.way,
            started_utc_us=START_UTC_US + before.now_us + RESTART_US,
        )
        self.gap_us, self.was_unwatched = 0, True
        self.ball = "pocket" if self.ball == "pocket" else "hand"
        self.turning, self.read, self.replied = True, 0, 0
        self.evening.lying = before.lying if self.ball == "pocket" else None
        self.happens((Fact.RESTARTED,))
        for name in sorted(self.faults):
            self.sensor(name, ok=False)
        self.evening.wait(SEEN_S)
        self.happens(*self._place_after_hand())

    # --- the ball -----------------------------------------------------------------------------------------------------

    @property
    def track(self) -> bool:
        return self.ball == "track"

    def _launch(self, laps: float, *, against: bool) -> list[BallPass]:
        if self.evening.now_us - self.gap_us < WATCHED_US:
            self.evening.wait(WATCHED_S)  # else the ball may have run before anybody watched (N8)
        way = other(self.evening.way) if against else self.evening.way
        passes = self.evening.launch(way, laps=laps)
        self.ball, self.left_us, self.whole = "track", passes[-1].t_us, against and laps >= self.setting.min_laps + 1
        self.short = laps < self.setting.min_laps
        return passes

    def _direction(self, *, against: bool) -> Fact:
        if self.evening.way != (self.setting.rotor_direction or self.evening.way):
            return Fact.ROTOR_WRONG_WAY
        return Fact.OPPOSITE_DIRECTION if against else Fact.SAME_DIRECTION

    def _leave(self) -> Event:
        self.evening.until(self.left_us)
        return (Fact.LEFT_TRACK_SHORT if self.short else Fact.LEFT_TRACK,)

    def _land(self, into: int) -> None:
        self.ball = "pocket"
        self.evening.wait(FALL_S)
        self._see(into)

    def _place_after_hand(self) -> tuple[Event, ...]:
        """What a hand did with the ball. At the first coup no pocket is its own; moved, it may be either. How long it
        was away decides whether it was seen to be taken."""
        moved: tuple[Event, ...] = ((Fact.BALL_MOVED,), (Fact.BALL_CARRIED,))
        if self.last_number is None:
            return (Fact.BALL_IN_PLACE,), *moved
        return ((Fact.BALL_IN_PLACE,),) if self.in_place or self.ball == "hand" else moved

    def _see(self, into: int) -> None:
        self.evening.lying = into
        turns = 2.5 if "reader/0" in self.faults else 1.5  # two readers meet it less often
        self.evening.wait(turns * 3)


class _Output(msgspec.Struct):
    topic: str
    payload: msgspec.Raw


def _lines_after(lines: list[Line], event: Event) -> list[Line]:
    for fact in event:
        lines = [after for line in lines for after in line.then(fact)]
    return lines


def _within(states: list[str], line: Line) -> bool:
    """What was published passes through the event's states in their order; of several facts at once the last counts."""
    coming = iter(line.states)
    return all(any(state == passed for passed in coming) for state in states if states)
