"""What sensors saw: the observation log, format 1 (docs/observation-log.md), and its lines as structures in memory.

There is one structure for each kind of line. `t_us` is always the sensing clock, in integer microseconds since the
log's header. Angles are degrees clockwise, seen from above. Some kinds belong to this program only, and other programs
skip them as unknown: `time` (nothing older will come), `clock` (UTC at a sensing time), `standstill`, `restart`, and
the reports of a commercial wheel head (`head_…`). A head's report has the time at which the host received its line.

This module also describes each kind of sensor for all other modules: `Sensed` is what a sensor of our own saw, and
`SENSOR_KINDS` has the properties of each kind.
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
    "acknowledge",
    "late_bet",
    "ruling",
]
RuledAs: TypeAlias = Literal["stands", "void", "number", "other"]
"""How the direction rules on a coup: the verdict stands, it is void, it has another number, or as its reason says."""

Source: TypeAlias = Literal["sensors", "head"]
"""What reports the rotor, the ball or the pocket: sensors of our own on a board or on pins, or the wheel's head."""
Unproven: TypeAlias = Literal["void", "chef"]
"""What becomes of a coup if these sensors cannot prove all that a valid coup needs (R1, R2)."""
HeadPhase: TypeAlias = Literal["idle", "ready", "running", "closing", "off_track", "number", "locked"]
HeadWarned: TypeAlias = Literal[
    "ball_not_detected", "same_direction", "sensors", "launch_failed", "rotor_speed", "void_game", "no_number"
]
StoodStill: TypeAlias = Literal["machine", "journal"]

DOOR = "door"
"""The cabinet's door, as the name of something that has a level."""

OBJECT = "object"
"""The sensor for foreign objects."""
PLACE = "rotor/place"
"""The place of the pockets, as the name of something that may fail. An encoder or a ball in a known pocket shows it."""


class SensorKind(NamedTuple):
    """The properties of a kind of sensor. A sensor's name begins with its kind: "beam/2", "object". `text`: what people
    call the sensor, or all sensors of the kind. `numbered_text`: what they call one of several. `has_level`: it reports
    its level. `may_be_left_out`: a person may decide to go on without it (docs/rulebook.md 6)."""

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
    """Return the kind of a sensor. Raise KeyError if no sensor has that name."""
    return SENSOR_KINDS[sensor if sensor in SENSOR_KINDS else sensor.partition("/")[0]]


LINE_BYTES_MAX = 65_536
"""A header with a whole snapshot is about 8 kB. A line of nearly this length is not one of ours."""


class _Line(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True, forbid_unknown_fields=True, gc=False):
    t_us: int = msgspec.field(name="t")


class Sensed(_Line, frozen=True):
    """What a sensor of our own saw. `named`: the format of the sensor's name. `is_rare`: a sensor that works reports
    less often than `ChatterGuard` allows."""

    named: ClassVar[str]
    is_rare: ClassVar[bool] = True

    @property
    def sensor(self) -> str:
        """The sensor's name, as in a `SensorState`."""
        return self.named.format(self)

    @property
    def stands(self) -> bool | None:
        """The sensor's level from now on. None if the sensor only reports that something passed."""
        return None


class Rotor(Sensed, frozen=True, tag="rotor"):
    """An encoder edge: the rotor has just entered sector `tick` (absolute, 0…ticks-1) while it turns in `direction`."""

    tick: int
    direction: Direction
    named: ClassVar[str] = "rotor"
    is_rare: ClassVar[bool] = False


class BallPass(Sensed, frozen=True, tag="ball"):
    """Something crossed beam number `beam` of the track."""

    beam: int
    named: ClassVar[str] = "beam/{0.beam}"


class Sighting(Sensed, frozen=True, tag="pocket"):
    """The ball, which lies in a pocket, passed under reader number `reader`."""

    reader: int
    named: ClassVar[str] = "reader/{0.reader}"


class ForeignObject(Sensed, frozen=True, tag="object"):
    """The cylinder's object sensor sees a body that is not the ball, or no longer sees it."""

    present: bool
    named: ClassVar[str] = OBJECT

    @property
    def stands(self) -> bool:
        """Whether the sensor sees a body."""
        return self.present


class Level(_Line, frozen=True, tag="level"):
    """The level of `sensor` at this moment (docs/rulebook.md 7): `object`, `beam/N`, `reader/N`, `button/NAME` or
    `door`. `active`: a body is in the cylinder, something blocks the beam or the reader, the button is held, the
    cabinet is open. Each change of the door is reported in this way too."""

    sensor: str
    active: bool


class SensorState(_Line, frozen=True, tag="sensor"):
    """Self-test: whether `sensor` works. Names: `beam/N`, `reader/N`, `rotor`, `object`, `link`; of a wheel head `head`
    for its line, `head/sensors` for its sensors. `what`: what is wrong, if known. The sensor may work in spite of
    it."""

    sensor: str
    ok: bool
    what: Trouble | None = None


class Command(_Line, frozen=True, tag="command"):
    """What a person or the table system asked for. `coup`: if given, it must be the present one. `by`: the person, as
    named by the sender. `user`, `role`: the sender's name and role at the broker, None for a button. `case`: the case
    of C11 that "rien va" names. `number`: the number that the chef confirms, if it is not the one that was seen (R3b).
    `without`: the names of the sensors that `resume` leaves out. `until_us`: the latest moment at which it can have
    been said. It is given if only a range is known, which begins at `t_us` (docs/rulebook.md 7). `accepted`: whether a
    late bet was accepted. `about`, `ruled_as`: the coup on which the direction rules, and the ruling. `announced`:
    `who` spins next, not now."""

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
    announced: bool = False

    @property
    def latest_us(self) -> int:
        """The latest moment at which it can have been said. It is later than `t_us` only if the word is in doubt."""
        return self.t_us if self.until_us is None else self.until_us

    @property
    def person(self) -> Person:
        """The person who said it, and the reason given."""
        return Person(self.by, self.reason, self.user, self.role)


class HeadGame(_Line, frozen=True, tag="head_game"):
    """The phase of its game that the wheel reports, and the wheel's own number of the game.

    `idle`: its table is closed. `ready`: no ball runs. `running`: the ball runs. `closing`: no more bets. `off_track`:
    the ball has left the track. `number`: the game has its number. `locked`: a dealer has locked it.
    """

    phase: HeadPhase
    spin: int


class HeadBall(_Line, frozen=True, tag="head_ball"):
    """The wheel's own sensors report whether the ball runs, its laps, and its direction as soon as two lines agree.

    `laps` and `direction` None: this wheel, or this line, does not report them. `laps` 0: earlier reports of laps do
    not count.
    """

    runs: bool
    direction: Direction | None = None
    laps: int | None = None


class HeadRotor(_Line, frozen=True, tag="head_rotor"):
    """The rotor's speed and direction, as often as the head reports them. `rpm` None: the rotor turns, or may turn, too
    fast for the head's field. 0: it does not turn, as far as the field can show."""

    rpm: float | None
    direction: Direction


class HeadNumber(_Line, frozen=True, tag="head_number"):
    """The winning number of game `spin`. `number` None: the wheel's own lines contradict each other.

    `whole` False: the reader of the line did not receive this game from its launch on.
    """

    number: int | None
    spin: int
    whole: bool = True


class HeadWarning(_Line, frozen=True, tag="head_warning"):
    """The names of all present warnings. Empty: all warnings have ended. `void`: the game is over without a number, by
    the wheel's own report or by its maker's rule. If a sensor of the wheel fails, a `SensorState` (`head/sensors`)
    comes too."""

    warnings: tuple[HeadWarned, ...] = ()
    void: bool = False


class HeadJump(_Line, frozen=True, tag="head_jump"):
    """The wheel has counted the games from `from_spin` to `to_spin` without reporting them. If both are equal, a number
    came without a run."""

    from_spin: int
    to_spin: int


HeadReport: TypeAlias = HeadGame | HeadBall | HeadRotor | HeadNumber | HeadWarning | HeadJump
"""Any report of a wheel head."""


class ClockReading(_Line, frozen=True, tag="clock"):
    """At sensing time `t_us` UTC was `utc_us` (µs since 1970), with an error of at most `error_us`. A second of the
    sensing clock is `1 + rate_ppb / 1e9` real seconds."""

    utc_us: int
    error_us: int
    rate_ppb: int = 0


class TimePassed(_Line, frozen=True, tag="time"):
    """Every observation older than `t_us` has been reported. Up to this time, an absence is certain."""


class Standstill(_Line, frozen=True, tag="standstill"):
    """`what` stood still from `t_us` until `to_us`. A `machine` (stopped, starved) received no words in that time, and
    what sensors kept came afterwards. While the `journal` (its disk) stood still, words and sensors were received, but
    what followed was stored and published late. `slept_us`: for how long the machine was also suspended. Then its clock
    did not run either, and nothing was observed."""

    to_us: int = msgspec.field(name="to")
    what: StoodStill = "machine"
    slept_us: int = msgspec.field(default=0, name="slept")


class Heard(_Line, frozen=True, tag="heard"):
    """All words that people said until `until_us` have been received. Later words may still be on their way. None: no
    word is on its way, and none will be delayed until the next observation of this kind."""

    until_us: int | None = msgspec.field(default=None, name="until")


class Restarted(_Line, frozen=True, tag="restart"):
    """The controller was restarted here: nothing was observed from its last message until now. `away_until_us`: what
    follows up to this time happened during its absence. The sensors kept it, but people's words were not received."""

    away_until_us: int = msgspec.field(name="away_until", default=0)


class End(_Line, frozen=True, tag="end"):
    """The end of the log, and of the time that it covers."""


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
"""Kinds that come often and by themselves. They change what is published only if a fact follows from them."""
LEVELS = (ForeignObject, Level, SensorState, Heard, *HeadReport.__args__)
"""Kinds that report the present state of something. If a command was taken while their source was silent, they come
late, and then hold from now on. A fault that is dated late is better than one that is never known or seems to last."""
