"""What a sensor saw: the observation log, format 1 (docs/observation-log.md), and the same things in memory.

One structure a line kind; `t_us` is always the sensing clock, integer microseconds since the log's header.
Angles are degrees clockwise seen from above. Some kinds are this program's own and mean nothing to others, who skip
them as unknown: `time` (nothing more will come that is older), `clock` (what the sensing clock reads in UTC),
`standstill`, `restart`, and what a commercial wheel head reports (`head_…`). A head's report is dated by the host's
receipt of its line.

What all others must know of a kind of sensor stands here too: `Sensed` is what one of our own saw, `SENSOR_KINDS` what
is said of each kind.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple, TypeAlias

import msgspec

from wheeld.core.catalogue import translatable
from wheeld.core.facts import Case, Person, Trouble

Direction: TypeAlias = Literal["cw", "ccw"]
CommandName: TypeAlias = Literal[
    "open",
    "operations_done",
    "rien_ne_va_plus",
    "rien_va",
    "confirm",
    "tout_va",
    "last_coup",
    "last_coup_off",
    "close",
    "suspend",
    "resume",
    "bouler",
    "late_bet",
    "ruling",
]
RuledAs: TypeAlias = Literal["stands", "void", "number", "other"]
"""What the direction rules of a coup: as it was published, void, another number, or what its reason says."""

Source: TypeAlias = Literal["sensors", "head"]
"""What reports the rotor, the ball or the pocket: sensors of our own on a board or on pins, or the wheel's head."""
Unproven: TypeAlias = Literal["void", "chef"]
"""What becomes of a coup of which these sensors cannot prove all that a valid coup needs (R1, R2)."""
HeadPhase: TypeAlias = Literal["idle", "ready", "running", "closing", "off_track", "number", "locked"]
HeadWarned: TypeAlias = Literal[
    "ball_not_detected", "same_direction", "sensors", "launch_failed", "rotor_speed", "void_game", "no_number"
]
StoodStill: TypeAlias = Literal["machine", "journal"]

DOOR = "door"
"""The cabinet's door, among the names of what has a level."""

OBJECT = "object"
"""The sensor for foreign objects."""
PLACE = "rotor/place"
"""Where the pockets stand, among the names of what may fail: an encoder shows it, and a ball in a known pocket."""


class SensorKind(NamedTuple):
    """What is said of a kind of sensor, which the name of each begins with: "beam/2", "object". `text`: what people
    call it, or all of them; `numbered_text`: one of several. `has_level`: it tells how it stands. `may_be_left_out`: a
    person may go on without it (docs/rulebook.md 6)."""

    text: str
    numbered_text: str = ""
    has_level: bool = False
    may_be_left_out: bool = False


SENSOR_KINDS: dict[str, SensorKind] = {
    "rotor": SensorKind(translatable("the rotor's sensor")),
    PLACE: SensorKind(translatable("the place of the pockets")),
    "beam": SensorKind("", translatable("beam {number}"), has_level=True, may_be_left_out=True),
    "reader": SensorKind(
        translatable("the readers"), translatable("reader {number}"), has_level=True, may_be_left_out=True
    ),
    OBJECT: SensorKind(translatable("the object sensor"), has_level=True, may_be_left_out=True),
    "link": SensorKind(translatable("the line to the sensors")),
    "head": SensorKind(translatable("the wheel head")),
    "head/sensors": SensorKind(translatable("the wheel head's sensors")),
}


def kind_of(sensor: str) -> SensorKind:
    """Of which kind it is. Raises KeyError for a name that no sensor has."""
    return SENSOR_KINDS[sensor if sensor in SENSOR_KINDS else sensor.partition("/")[0]]


LINE_BYTES_MAX = 65_536
"""A header with a whole snapshot is about 8 kB; anything near this is not a line of ours."""


class _Line(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True, forbid_unknown_fields=True):
    t_us: int = msgspec.field(name="t")


class Sensed(_Line, frozen=True):
    """What a sensor of our own saw. `named`: how its name is made. `is_rare`: while it works it reports less
    often than `ChatterGuard` allows."""

    named: ClassVar[str]
    is_rare: ClassVar[bool] = True

    @property
    def sensor(self) -> str:
        """Its name, as in a `SensorState`."""
        return self.named.format(self)

    @property
    def stands(self) -> bool | None:
        """How it stands from now on; None of one that only sees something pass."""
        return None


class Rotor(Sensed, frozen=True, tag="rotor"):
    """An encoder edge: the rotor has just entered sector `tick` (absolute, 0…ticks-1) turning `direction`."""

    tick: int
    direction: Direction
    named: ClassVar[str] = "rotor"
    is_rare: ClassVar[bool] = False


class BallPass(Sensed, frozen=True, tag="ball"):
    """Something crossed beam number `beam` of the track."""

    beam: int
    named: ClassVar[str] = "beam/{0.beam}"


class Sighting(Sensed, frozen=True, tag="pocket"):
    """The ball, lying in a pocket, passed under reader number `reader`."""

    reader: int
    named: ClassVar[str] = "reader/{0.reader}"


class ForeignObject(Sensed, frozen=True, tag="object"):
    """The cylinder's object sensor sees a body that is not the ball, or no longer does."""

    present: bool
    named: ClassVar[str] = OBJECT

    @property
    def stands(self) -> bool:
        """Whether it sees one."""
        return self.present


class Level(_Line, frozen=True, tag="level"):
    """How `sensor` stands at this moment (docs/rulebook.md 7): `object`, `beam/N`, `reader/N`, `button/NAME` or `door`.
    `active`: a body is in the cylinder, something is before the beam or the reader, the button is held, the cabinet is
    open. Of the door each change is told so too."""

    sensor: str
    active: bool


class SensorState(_Line, frozen=True, tag="sensor"):
    """Self-test: `sensor` works, or does not: `beam/N`, `reader/N`, `rotor`, `object`, `link`; of a wheel head `head`,
    its line, and `head/sensors`, its own. `what` is wrong with it, where that is known; it may work all the same."""

    sensor: str
    ok: bool
    what: Trouble | None = None


class Command(_Line, frozen=True, tag="command"):
    """What a person or the table system asked for; `coup`, when given, must be the current one. `by`: the person, as
    the sender says. `user`, `role`: the sender's name and role at the broker, None for a button. `case`: which case of
    C11 "rien va" names. `number`: the one that the chef confirms, where it is not the one that was seen (R3b).
    `without`: the sensors that `resume` leaves out, by name. `until_us`: the latest moment at which it can have been
    said, where that is not known better than from `t_us` on (docs/rulebook.md 7). `accepted`: what became of a late
    bet. `about`, `ruled_as`: on which coup the direction rules, and what.
    """

    name: CommandName
    by: str
    reason: str = ""
    who: str | None = None
    id: str | None = None
    coup: int | None = None
    case: Case | None = None
    number: int | None = None
    without: tuple[str, ...] = ()
    until_us: int | None = msgspec.field(default=None, name="until")
    user: str | None = None
    role: str | None = None
    accepted: bool | None = None
    about: int | None = None
    ruled_as: RuledAs | None = None

    @property
    def latest_us(self) -> int:
        """The latest moment at which it can have been said: later than `t_us` only of a word that is in doubt."""
        return self.t_us if self.until_us is None else self.until_us

    @property
    def person(self) -> Person:
        """Who said it, and why."""
        return Person(self.by, self.reason, self.user, self.role)


class HeadGame(_Line, frozen=True, tag="head_game"):
    """Where the wheel reports its game to be, and its own number of the game.

    `idle`: its table is closed. `ready`: no ball runs. `running`: the ball runs. `closing`: no more bets. `off_track`:
    the ball has left the track. `number`: the game has its number. `locked`: a dealer has locked it.
    """

    phase: HeadPhase
    spin: int


class HeadBall(_Line, frozen=True, tag="head_ball"):
    """The ball by the wheel's own sensors: whether it runs, which way once two lines agree, and its laps so far.

    `laps` and `direction` None: this wheel, or this line, does not report them. `laps` 0 takes back what was counted.
    """

    runs: bool
    direction: Direction | None = None
    laps: int | None = None


class HeadRotor(_Line, frozen=True, tag="head_rotor"):
    """The rotor's speed and direction, as often as the head reports them. `rpm` None: it turns too fast for the head's
    field, or may; 0: it stands, as far as the field can show."""

    rpm: float | None
    direction: Direction


class HeadNumber(_Line, frozen=True, tag="head_number"):
    """The winning number of game `spin`; `number` None: the wheel's own lines disagree about it.

    `whole` False: the line's reader has not received this game from its launch on.
    """

    number: int | None
    spin: int
    whole: bool = True


class HeadWarning(_Line, frozen=True, tag="head_warning"):
    """The warnings that stand now, by name; none: all are gone. `void`: the game is over without a number, by the
    wheel's own report or by its maker's rule. A sensor of its own that fails is also a `SensorState` (`head/sensors`).
    """

    warnings: tuple[HeadWarned, ...] = ()
    void: bool = False


class HeadJump(_Line, frozen=True, tag="head_jump"):
    """The wheel has counted games from `from_spin` to `to_spin` without reporting them. Equal: a number came and
    no run."""

    from_spin: int
    to_spin: int


HeadReport: TypeAlias = HeadGame | HeadBall | HeadRotor | HeadNumber | HeadWarning | HeadJump
"""Whatever a wheel head can report."""


class ClockReading(_Line, frozen=True, tag="clock"):
    """At sensing time `t_us` it was `utc_us` (µs since 1970), give or take `error_us`; a second of the sensing clock
    is `1 + rate_ppb / 1e9` real ones."""

    utc_us: int
    error_us: int
    rate_ppb: int = 0


class TimePassed(_Line, frozen=True, tag="time"):
    """Every observation older than `t_us` has been reported; absences up to here are real."""


class Standstill(_Line, frozen=True, tag="standstill"):
    """From `t_us` until `to_us` `what` stood still. A `machine` (stopped, starved) heard nobody, and what sensors kept
    came afterwards. While the `journal` (its disk) stood still people and sensors were heard, and what followed was
    stored and published late. `slept_us`: for how long the machine was suspended besides; its clock stood too, and
    nothing was observed."""

    to_us: int = msgspec.field(name="to")
    what: StoodStill = "machine"
    slept_us: int = msgspec.field(default=0, name="slept")


class Heard(_Line, frozen=True, tag="heard"):
    """Everybody has been heard who spoke until `until_us`; what was said later may still be on its way. None: nothing
    is on its way any more, and nothing is from now on until the next of these."""

    until_us: int | None = msgspec.field(default=None, name="until")


class Restarted(_Line, frozen=True, tag="restart"):
    """The controller was restarted here: nothing was observed from its last message until now. `away_until_us`: what
    follows up to then happened while it was away; the sensors kept it, and nobody heard what people said."""

    away_until_us: int = msgspec.field(name="away_until", default=0)


class End(_Line, frozen=True, tag="end"):
    """Nothing more; time ran to here."""


Observation: TypeAlias = (
    Rotor
    | BallPass
    | Sighting
    | ForeignObject
    | Level
    | SensorState
    | Command
    | HeadReport
    | ClockReading
    | TimePassed
    | Standstill
    | Heard
    | Restarted
    | End
)

FREQUENT = {Rotor, BallPass, TimePassed}
"""Kinds that come often and by themselves: they change what is published only through a fact."""
LEVELS = (ForeignObject, Level, SensorState, Heard, *HeadReport.__args__)
"""Kinds that say how something stands. When a person's command came first while their source was silent, they are late,
and hold from now on: a fault that stayed, or was never known, would be worse than one dated late."""
