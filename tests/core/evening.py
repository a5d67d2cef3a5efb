"""A wheel for unit tests, made by hand: observations by the log's conventions, given to a `Table` as they come.

The rotor turns evenly; the ball loses a fixed share of its speed each lap, so that its passes have a closed form.
Time moves only by `until` and `wait`, which pass on all that the sensors see up to there, and a heartbeat every 100 ms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import msgspec

from wheeld.core.observations import (
    BallPass,
    Command,
    CommandName,
    ForeignObject,
    Observation,
    Rotor,
    RuledAs,
    SensorState,
    Sighting,
    TimePassed,
)
from wheeld.core.setting import TableSetting
from wheeld.core.step import CoupLog, Reply, Step
from wheeld.core.table import Table
from wheeld.core.tracking.observer import Observer
from wheeld.core.tracking.pocket import PocketFromReaders

Way = Literal["cw", "ccw"]
# fmt: off
CLOCKWISE = (0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10,
             5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26)
# fmt: on
START_UTC_US = 1_795_197_600_000_000  # 2026-11-20T18:00:00Z
HEARTBEAT_US = 100_000
SLOWING_PER_LAP = 0.08
FALL_S = 3.0

FRENCH = TableSetting(
    site="campione",
    table="campione-03",
    house="campione",
    game="roulette",
    wheel="french",
    rotor_ticks=148,
    beams_deg=(0, 90, 180, 270),
    readers_deg=(30, 150, 270),
    min_laps=3,
    last_number=17,
    language="en",
)


def other(way: Way) -> Way:
    return "ccw" if way == "cw" else "cw"


def ball_passes(
    beams_deg: tuple[float, ...], way: Way, *, start_us: int, rev_s: float, laps: float, from_deg: float = 10.0
) -> list[BallPass]:
    """Every pass of a ball that slows down from `rev_s`, until it has run `laps`."""
    found = []
    for beam, beam_deg in enumerate(beams_deg):
        first = ((beam_deg - from_deg) * (1 if way == "cw" else -1)) % 360 / 360
        for lap in range(math.ceil(laps)):
            run = first + lap
            if run <= laps:
                after_s = (math.exp(SLOWING_PER_LAP * run) - 1) / (SLOWING_PER_LAP * rev_s)
                found.append(BallPass(start_us + round(after_s * 1e6), beam))
    return sorted(found, key=lambda seen: seen.t_us)


@dataclass(frozen=True)
class PublishedMessage:
    """One message, and the sensing time of the observation that it answers."""

    t_us: int
    topic: str
    bytes: bytes
    payload: dict[str, Any]


class Asked(TypedDict, total=False):
    """What a command says beside its name; by the chef where it does not say by whom."""

    by: str
    user: str
    role: str
    reason: str
    who: str | None
    coup: int | None
    number: int | None
    without: tuple[str, ...]
    accepted: bool
    announced: bool
    about: int
    ruled_as: RuledAs


WATCHED_US = 2_500_000
WATCHED_S = 3.0
"""One turn of the rotor at its usual rate."""


class Evening:
    """One table from its start. `seen`: all observations that it was given; `published`: all its messages."""

    def __init__(
        self,
        setting: TableSetting = FRENCH,
        *,
        memory: bytes | None = None,
        rpm: float = 20.0,
        way: Way = "ccw",
        started_utc_us: int = START_UTC_US,
    ) -> None:
        self.setting, self.now_us = setting, 0
        self.seen: list[Observation] = []
        self.published: list[PublishedMessage] = []
        self.replies: list[Reply] = []
        self._asked = 0
        self.evidence: list[CoupLog] = []
        self.memory = memory
        self.lying: int | None = setting.number_before
        self._planned: list[Observation] = []
        self._angle_deg = 3.0
        self._turn_deg_s = 0.0
        self._slipped_ticks = 0
        self.table, opening = Table.start(setting, boot_id="test", started_utc_us=started_utc_us, memory=memory)
        self._keep(0, opening)
        self.turn(rpm, way)

    # --- what happens at the wheel ------------------------------------------------------------------------------------

    def turn(self, rpm: float, way: Way = "ccw") -> None:
        """From now on the rotor turns so."""
        self._turn_deg_s = rpm * 6 * (1 if way == "cw" else -1)

    def slip(self, ticks: int) -> None:
        """The encoder's disc turns on its axle, clockwise by so many of its sectors."""
        self._slipped_ticks += ticks

    @property
    def turn_rpm(self) -> float:
        """Turns a minute, clockwise positive."""
        return self._turn_deg_s / 6

    @property
    def way(self) -> Way:
        return "cw" if self._turn_deg_s > 0 else "ccw"

    def launch(self, way: Way | None = None, *, rev_s: float = 1.8, laps: float = 10.0) -> list[BallPass]:
        """The bouler takes the ball and launches it now, against the rotor; the passes to come. After a start he lets
        the wheel be watched for longer than a ball that runs already could hide (N8)."""
        if self.now_us < WATCHED_US:
            self.wait(WATCHED_S)
        self.lying = None
        passes = ball_passes(
            self.setting.beams_deg, way or other(self.way), start_us=self.now_us, rev_s=rev_s, laps=laps
        )
        self.plan(*passes)
        return passes

    def plan(self, *coming: Observation) -> None:
        """What will be seen besides, each at its own time."""
        self._planned += coming

    def until(self, t_us: int) -> None:
        """Give the table all that is seen up to `t_us`."""
        coming = [seen for seen in self._planned if seen.t_us <= t_us]
        self._planned = [seen for seen in self._planned if seen.t_us > t_us]
        coming += [*self._edges(t_us), *self._sightings(t_us), *self._heartbeats(t_us)]
        for seen in sorted(coming, key=lambda seen: seen.t_us):
            self.observe(seen)
        self._angle_deg += self._turn_deg_s * (t_us - self.now_us) / 1e6
        self.now_us = t_us

    def wait(self, seconds: float) -> None:
        self.until(self.now_us + round(seconds * 1e6))

    def observe(self, seen: Observation) -> Step:
        self.seen.append(seen)
        step = self.table.apply(seen)
        due_us = self.table.next_deadline_us
        assert due_us is None or due_us >= seen.t_us, f"time would never pass the deadline at {due_us}, after {seen}"
        self._keep(seen.t_us, step)
        return step

    def say(self, name: CommandName, **asked: Unpack[Asked]) -> Reply:
        """A command now, and its answer, for which the person waits."""
        self.ask(name, **asked)
        answers = self._asked
        while len(self.replies) < answers:
            self.wait(0.1)
        return self.replies[answers - 1]

    def ask(self, name: CommandName, **asked: Unpack[Asked]) -> None:
        """A command now; its answer may come later."""
        said: Asked = {"by": "chef", **asked}
        self.observe(Command(self.now_us, name, id=f"id-{self._asked}", **said))
        self._asked += 1

    def drop(self, *, present: bool = True) -> Step:
        """A foreign object falls into the cylinder, or is taken out."""
        return self.observe(ForeignObject(self.now_us, present))

    def sensor(self, name: str, *, ok: bool) -> Step:
        return self.observe(SensorState(self.now_us, name, ok))

    # --- larger pieces ------------------------------------------------------------------------------------------------

    def open(self) -> Evening:
        """Two seconds of an idle wheel, and the table is opened."""
        self.wait(2)
        assert self.say("open").done
        return self

    def run(self, way: Way | None = None, *, rev_s: float = 1.8, laps: float = 10.0) -> int:
        """A launch and its whole run on the track; the time of the last pass."""
        passes = self.launch(way, rev_s=rev_s, laps=laps)
        self.until(passes[-1].t_us)
        return self.now_us

    def fall(self, number: int) -> None:
        """From the last pass into a pocket, and seen there for a rotor turn and a half."""
        self.wait(FALL_S)
        self.lying = number
        self.wait(1.5 * 360 / abs(self._turn_deg_s))

    def coup(self, number: int) -> dict[str, Any]:
        """A valid coup from "faites vos jeux" to its result; "rien ne va plus" in the middle of the run."""
        before = len(self.of("result"))
        passes = self.launch()
        self.until(passes[len(passes) // 2].t_us)
        self.say("rien_ne_va_plus")
        self.until(passes[-1].t_us)
        self.fall(number)
        (result,) = self.of("result")[before:]
        return result

    def void_by_chef(self) -> None:
        """A running ball is declared null, blocked, and put back."""
        self.launch(laps=5)
        self.wait(1.5)
        assert self.say("rien_va").done
        self._planned.clear()
        self.put_back()

    def put_back(self) -> None:
        """The ball is laid in the pocket of the last number, and seen there."""
        self.lying = self.table.header().number_before
        self.wait(1.5 * 360 / abs(self._turn_deg_s))

    # --- what was published -------------------------------------------------------------------------------------------

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [message.payload for message in self.published if message.topic == topic]

    def notices(self) -> list[str]:
        return [notice["notice"] for notice in self.of("notice")]

    def verdicts(self) -> list[tuple[str, Any]]:
        """("result", number) or ("void", cause), in order."""
        named = {"result": "number", "void": "cause"}
        return [
            (message.topic, message.payload[named[message.topic]])
            for message in self.published
            if message.topic in named
        ]

    def last(self, topic: str) -> PublishedMessage:
        return [message for message in self.published if message.topic == topic][-1]

    @property
    def state(self) -> str:
        return self.table.state

    @property
    def observer(self) -> Observer:
        """What the table observes with, for tests that look inside."""
        return self.table.observer

    @property
    def readers(self) -> PocketFromReaders:
        """Its pocket part, of a wheel with readers."""
        assert isinstance(self.observer.pocket, PocketFromReaders)
        return self.observer.pocket

    def _keep(self, t_us: int, step: Step) -> None:
        self.published += [
            PublishedMessage(t_us, m.topic, m.payload, msgspec.json.decode(m.payload)) for m in step.messages
        ]
        self.replies += step.replies
        self.evidence += step.coup_logs
        self.memory = step.memory or self.memory

    # --- the sensors --------------------------------------------------------------------------------------------------

    def _edges(self, t_us: int) -> list[Observation]:
        """Encoder edges: clockwise the angle then is `tick` steps, counter-clockwise `tick` + 1 steps."""
        if not self._turn_deg_s:
            return []
        ticks, way = self.setting.rotor_ticks, self.way
        step_deg, end_deg = 360 / ticks, self._angle_deg + self._turn_deg_s * (t_us - self.now_us) / 1e6
        low, high = sorted((self._angle_deg, end_deg))
        borders = range(math.floor(low / step_deg) + 1, math.ceil(high / step_deg))
        return [
            Rotor(self._when(border * step_deg), (border - (way == "ccw") + self._slipped_ticks) % ticks, way)
            for border in borders
        ]

    def _sightings(self, t_us: int) -> list[Observation]:
        """The lying ball stands clockwise of pocket zero by its place on the rotor."""
        if self.lying is None or not self._turn_deg_s:
            return []
        found: list[Observation] = []
        turn_us = 360 / abs(self._turn_deg_s) * 1e6
        for reader, reader_deg in enumerate(self.setting.readers_deg):
            ahead_deg = reader_deg - self._angle_deg - CLOCKWISE.index(self.lying) * 360 / 37
            first_us = self.now_us + (ahead_deg / self._turn_deg_s * 1e6) % turn_us
            count = math.ceil((t_us - first_us) / turn_us)
            found += [Sighting(round(first_us + turn * turn_us), reader) for turn in range(count)]
        return found

    def _heartbeats(self, t_us: int) -> list[Observation]:
        first = self.now_us // HEARTBEAT_US + 1
        return [TimePassed(beat * HEARTBEAT_US) for beat in range(first, t_us // HEARTBEAT_US + 1)]

    def _when(self, angle_deg: float) -> int:
        return self.now_us + round((angle_deg - self._angle_deg) / self._turn_deg_s * 1e6)
