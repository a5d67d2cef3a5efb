"""What may happen at a table within three seconds, in any order, each proven early or late, played to a `Table`.

A *history* is a place to begin (where the table stands), sensors that prove early or late, and some happenings, each at
its own instant. The wheel is that of `evening`: the rotor turns evenly until a hand stops it at once.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from tests.core.evening import CLOCKWISE, FRENCH, Evening, ball_passes, other
from tests.number_proof import Met, proven_us
from wheeld.core.observations import (
    BallPass,
    Command,
    CommandName,
    ForeignObject,
    Observation,
    Rotor,
    SensorState,
    Sighting,
    TimePassed,
)
from wheeld.core.setting import TableSetting
from wheeld.core.table import Table

Place: TypeAlias = Literal["faites_vos_jeux", "operations", "rien_va", "closed", "suspended", "falling", "on_obstacle"]
PLACES: tuple[Place, ...] = get_args(Place)
"""Where the window begins: a state that awaits a launch, or would suffer from one; `falling`: the ball of a coup has
left the track, and no reader has met it yet; `on_obstacle`: not even after longer than a fall takes (N5)."""
OFF_TRACK: tuple[Place, ...] = ("falling", "on_obstacle")
COMMANDS: tuple[CommandName, ...] = (
    "open",
    "rien_ne_va_plus",
    "rien_va",
    "confirm",
    "tout_va",
    "operations_done",
    "last_coup",
    "suspend",
    "resume",
    "close",
)
AT_THE_WHEEL = ("object_in", "object_out", "stop", "fault")
OF_A_FALL = ("rest", "bounce", "lift")

LAPS, LAUNCH_REV_S = 5.0, 2.2
"""A short coup: its run takes less than three seconds."""
FALL_US = 2_300_000
"""From the last pass to the window of a falling ball: as little as a fall takes; what readers meet sooner bounces."""
OBSTACLE_US = 7_000_000
"""So long after the last pass, and two turns of the rotor more, a ball that no reader has met rests on an obstacle."""
IN_HAND_US = 60_000
"""The ball is taken from its pocket so long before its first pass."""
NUMBER, LAST_NUMBER = 9, 17
TURNS_AFTER, SECONDS_AFTER = 4, 3.0
"""So long after the ball rests, or after the last happening, everything is proven that can be."""


class Happening(NamedTuple):
    """What happens, and when: µs since the window began."""

    name: str
    after_us: int


class Proofs(NamedTuple):
    """What makes proofs early or late. `missed_pass`: which pass of the launch the beams miss, and `missed_sighting`
    which sighting of the ball at rest; 0: none. The first, which dates the evidence, is never missed. `is_quiet`: no
    heartbeat says that time passes, so that an absence is noticed only with the next observation."""

    beams: int
    readers: int
    rpm: int
    missed_pass: int = 0
    missed_sighting: int = 0
    is_quiet: bool = False


class History(NamedTuple):
    """Where the table stands, what its sensors are like, and what happens in the window."""

    place: Place
    proofs: Proofs
    happenings: tuple[Happening, ...]


def names_at(place: Place) -> tuple[str, ...]:
    """All that may happen there: a ball that falls comes to rest, anywhere else one is launched."""
    return (*(OF_A_FALL if place in OFF_TRACK else ("launch",)), *AT_THE_WHEEL, *COMMANDS)


def can_follow(names: Sequence[str]) -> bool:
    """Whether these can happen in this order: a ball is lifted where it rests, and bounces before that."""
    return all(name != "lift" or "rest" in names[:place] for place, name in enumerate(names)) and not (
        "bounce" in names and "rest" in names[: names.index("bounce")]
    )


class Dated(NamedTuple):
    """A happening by its evidence: the first pass, the first sighting, the last tick, or when it was said. `left_track`
    is the last pass of the ball, `seen` the first sighting of the ball at rest."""

    name: str
    t_us: int


@dataclass(frozen=True)
class Played:
    """What came of a history: the evidence in its order, and the verdicts and the state that were published.

    `published_us`: of each verdict. `number`: where the ball came to rest; `seen`: where a reader met it last.
    `proven_us`: when the sightings proved the number, and `proof_turns`: how many turns after the first of them.
    `left_track_us`: the last pass, where it was before the window.
    """

    evidence: tuple[Dated, ...]
    verdicts: tuple[tuple[str, Any], ...]
    published_us: tuple[int, ...]
    state: str
    number: int
    seen: int
    proven_us: int | None
    proof_turns: float
    left_track_us: int | None


def setting_of(proofs: Proofs) -> TableSetting:
    """Two beams stand 100° apart, more of them evenly, and readers evenly. Few ticks keep a history quick."""
    beams_deg = (0.0, 100.0) if proofs.beams == 2 else tuple(360 / proofs.beams * n for n in range(proofs.beams))
    readers_deg = tuple(30 + 360 / proofs.readers * n for n in range(proofs.readers))
    return msgspec.structs.replace(FRENCH, rotor_ticks=37, beams_deg=beams_deg, readers_deg=readers_deg)


class Beginning(NamedTuple):
    """An evening at the beginning of the window, and its table there, to be begun again as often as wanted; when the
    ball had its last pass, if it is off the track."""

    evening: Evening
    snapshot: dict[str, Any]
    left_track_us: int | None


@functools.cache
def begun(place: Place, beams: int, readers: int, rpm: int) -> Beginning:
    """A table that stands there, the ball met in its pocket at least twice, or falling."""
    evening = Evening(setting_of(Proofs(beams, readers, rpm)), rpm=rpm)
    evening.wait(3 * 60 / rpm)
    if place != "closed":
        evening.say("open")
    match place:
        case "operations":
            evening.run()
            evening.fall(8)
            evening.wait(2 * 60 / rpm)
        case "rien_va":
            evening.void_by_chef()
            evening.wait(60 / rpm)
        case "suspended":
            evening.say("suspend")
        case "falling" | "on_obstacle":
            evening.run(rev_s=LAUNCH_REV_S, laps=LAPS)
            evening.until(evening.now_us + (FALL_US if place == "falling" else OBSTACLE_US + round(120e6 / rpm)))
    snapshot = evening.table.header().snapshot
    assert snapshot is not None, "the header of a table holds all of it"
    passes = [seen.t_us for seen in evening.seen if isinstance(seen, BallPass)]
    return Beginning(evening, snapshot, passes[-1] if place in OFF_TRACK else None)


def play(history: History) -> Played:
    """Play the window, and all that follows from it."""
    proofs = history.proofs
    beginning = begun(history.place, proofs.beams, proofs.readers, proofs.rpm)
    window = _Window(beginning.evening, proofs)
    for happening in history.happenings:
        window.add(happening)
    window.end()
    evening = copy.copy(beginning.evening)
    evening.table = Table.resume(evening.setting, boot_id="test", snapshot=beginning.snapshot)
    evening.seen, evening.published, evening.replies, evening.evidence = [], [], [], []
    for seen in window.observations():
        evening.observe(seen)
    met = window.met()
    proof_us = proven_us(met)
    return Played(
        evidence=window.evidence(),
        verdicts=tuple(evening.verdicts()),
        published_us=tuple(m.payload["t_us"] for m in evening.published if m.topic in ("result", "void")),
        state=evening.state,
        number=window.number,
        seen=window.number if met or not window.stays else window.stays[-1].number,
        proven_us=proof_us,
        left_track_us=beginning.left_track_us,
        proof_turns=0.0 if proof_us is None else (proof_us - met[0].t_us) / window.turn_us,
    )


@dataclass
class _Stay:
    """The ball lies in the pocket of `number`, while `to_us` is `from_us` for as long as there is to see."""

    number: int
    from_us: int
    to_us: int


@dataclass
class _Window:
    """All that is observed from the beginning of the window on; only a stop or a missed sighting hides something."""

    evening: Evening
    proofs: Proofs
    number: int = NUMBER
    stays: list[_Stay] = field(default_factory=list)
    direct: list[Observation] = field(default_factory=list)
    dated: list[Dated] = field(default_factory=list)
    stop_us: int | None = None
    rest: _Stay | None = None
    end_us: int = 0

    def __post_init__(self) -> None:
        self.begun_us = self.evening.now_us
        self.turn_us = round(60e6 / self.proofs.rpm)
        if self.evening.lying is not None:
            self.stays.append(_Stay(self.evening.lying, self.begun_us, self.begun_us))

    def add(self, happening: Happening) -> None:
        """Let it happen; happenings come in the order of their times."""
        name, t_us = happening.name, self.begun_us + happening.after_us
        match name:
            case "launch":
                self._launch(t_us)
            case "rest":
                self.number = self._next_pocket(t_us)
                self._come_to_rest(t_us)
            case "bounce":
                self._bounce(t_us)
            case "lift":
                assert self.rest is not None, "a ball in motion is not lifted here"
                self.rest.to_us = t_us
            case "stop":
                self.stop_us = t_us
            case _:
                self._observed(name, t_us)
        if name not in ("rest", "bounce", "stop"):
            self.dated.append(Dated(name, t_us))
        self.end_us = max(self.end_us, t_us)

    def end(self) -> None:
        """Time passes until everything is proven that can be. The ball stays where nobody took it."""
        self.end_us += TURNS_AFTER * self.turn_us + round(SECONDS_AFTER * 1e6)
        for stay in self.stays:
            if stay.to_us == stay.from_us:
                stay.to_us = self.end_us

    def observations(self) -> list[Observation]:
        """All that the sensors and the people report, in order."""
        seen: list[Observation] = [*self.direct, *self._edges(), *self._sightings()]
        first = self.begun_us // 100_000 + 1
        beats = range(first, self.end_us // 100_000 + 1)
        seen += [TimePassed(beat * 100_000) for beat in (beats[-1:] if self.proofs.is_quiet else beats)]
        return sorted(seen, key=lambda each: each.t_us)

    def evidence(self) -> tuple[Dated, ...]:
        """The happenings, each by its evidence, in that order."""
        dated = list(self.dated)
        if self.stop_us is not None:
            dated.append(Dated("stop", self._edges()[-1].t_us))
        if met := self.met():
            dated.append(Dated("seen", met[0].t_us))
        return tuple(sorted(dated, key=lambda each: each.t_us))

    def met(self) -> list[Met]:
        """How readers met the ball at rest."""
        since_us = self.end_us if self.rest is None else self.rest.from_us
        return [
            Met(seen.t_us, seen.reader, seen.t_us / self.turn_us) for seen in self._sightings() if seen.t_us > since_us
        ]

    # --- the ball -----------------------------------------------------------------------------------------------------

    def _launch(self, t_us: int) -> None:
        """Released so that its first pass comes at `t_us`; it runs its laps, falls and comes to rest."""
        for stay in self.stays:
            stay.to_us = max(stay.from_us, t_us - IN_HAND_US)
        passes = ball_passes(
            self.evening.setting.beams_deg, other("ccw"), start_us=0, rev_s=LAUNCH_REV_S, laps=LAPS, from_deg=359.0
        )
        passes = [BallPass(t_us + seen.t_us - passes[0].t_us, seen.beam) for seen in passes]
        if self.proofs.missed_pass:
            del passes[self.proofs.missed_pass]
        self.direct += passes
        self.dated.append(Dated("left_track", passes[-1].t_us))
        self._come_to_rest(passes[-1].t_us + FALL_US)

    def _come_to_rest(self, t_us: int) -> None:
        self.rest = _Stay(self.number, t_us, t_us)
        self.stays.append(self.rest)
        self.end_us = max(self.end_us, t_us)

    def _bounce(self, t_us: int) -> None:
        """One reader meets it once, in a pocket that it leaves again."""
        number = self._next_pocket(t_us)
        met_us = self._meetings(number, t_us)[0].t_us
        self.stays.append(_Stay(number, t_us, met_us + 1))
        self.dated.append(Dated("bounce", met_us))

    def _next_pocket(self, t_us: int) -> int:
        """The number whose pocket comes to a reader first after `t_us`."""
        used = {LAST_NUMBER, *(stay.number for stay in self.stays)}
        return min(
            (number for number in CLOCKWISE if number not in used),
            key=lambda number: self._meetings(number, t_us)[0].t_us,
        )

    def _observed(self, name: str, t_us: int) -> None:
        match name:
            case "object_in" | "object_out":
                self.direct.append(ForeignObject(t_us, present=name == "object_in"))
            case "fault":
                self.direct.append(SensorState(t_us, "object", ok=False))
            case _:
                command = msgspec.convert({"kind": "command", "t": t_us, "name": name, "by": "chef"}, type=Command)
                if name == "confirm":
                    command = msgspec.structs.replace(command, reason="all saw it", coup=self.evening.table.coup)
                self.direct.append(command)

    # --- what the sensors see of it -----------------------------------------------------------------------------------

    def _edges(self) -> list[Rotor]:
        edges = self.evening._edges(self.end_us if self.stop_us is None else self.stop_us)
        return sorted((edge for edge in edges if isinstance(edge, Rotor)), key=lambda edge: edge.t_us)

    def _sightings(self) -> list[Sighting]:
        """Of every stay; of the last one the sensors miss one, if they are to."""
        found: list[Sighting] = []
        for stay in self.stays:
            until_us = stay.to_us if self.stop_us is None else min(stay.to_us, self.stop_us)
            meetings = [met for met in self._meetings(stay.number, stay.from_us) if met.t_us < until_us]
            if stay is self.rest and self.proofs.missed_sighting:
                del meetings[self.proofs.missed_sighting : self.proofs.missed_sighting + 1]
            found += meetings
        return found

    def _meetings(self, number: int, from_us: int) -> list[Sighting]:
        """How readers would meet a ball in the pocket of `number` from then on, the rotor turning."""
        evening = copy.copy(self.evening)
        evening._angle_deg += evening._turn_deg_s * (from_us - evening.now_us) / 1e6
        evening.now_us, evening.lying = from_us, number
        met = evening._sightings(max(self.end_us, from_us) + 2 * self.turn_us)
        return sorted((each for each in met if isinstance(each, Sighting)), key=lambda each: each.t_us)
