"""Observations: each line of the observation log, format 1 (docs/observation-log.md), as a structure in memory.

There is one structure for each kind of line. `t_us` is a time of the sensing clock, in whole microseconds since the
`started` of the log's header. Angles are degrees clockwise, seen from above. Other programs skip the kinds that only
this program knows: `time` (nothing older will come), `clock` (UTC at a sensing time), `standstill`, `heard`, `restart`,
and the reports of a commercial wheel head (`head_…`). A head's report has the time at which the host received its line.

This module also describes the sensors: `Sensed` is what a sensor of our own saw, and `SENSOR_KINDS` has the properties
of each kind of sensor.
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
"""How the direction rules on a coup: its verdict stands, it is void, it has another number, or see the reason."""

Source: TypeAlias = Literal["sensors", "head"]
"""What reports the rotor, the ball or the pocket: sensors of our own on a board or on pins, or the wheel's head."""
Unproven: TypeAlias = Literal["void", "chef"]
"""What happens to a coup if the table's sensors cannot prove R1 and R2: it is void, or the chef confirms it."""
HeadPhase: TypeAlias = Literal["idle", "ready", "running", "closing", "off_track", "number", "locked"]
HeadWarned: TypeAlias = Literal[
    "ball_not_detected", "same_direction", "sensors", "launch_failed", "rotor_speed", "void_game", "no_number"
]
StoodStill: TypeAlias = Literal["machine", "journal"]

DOOR = "door"
"""The name of the cabinet's door, which has a level as a sensor has."""

OBJECT = "object"
"""The name of the sensor for foreign objects."""
PLACE = "rotor/place"
"""The place of the pockets on the rotor. It may fail like a sensor: then nobody knows where the pockets are."""


class SensorKind(NamedTuple):
    """The properties of a kind of sensor. A sensor's name begins with its kind: "beam/2", "object". `text`: what people
    call the sensor, or all sensors of the kind. `numbered_text`: what people call one sensor, if there are several.
    `has_level`: it reports its level. `may_be_left_out`: a person may leave it out (docs/rulebook.md 6)."""

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
    """Return the kind of a sensor. Raises KeyError if no sensor has that name."""
    return SENSOR_KINDS[sensor if sensor in SENSOR_KINDS else sensor.partition("/")[0]]


LINE_BYTES_MAX = 65_536
"""The longest line that is read. Ours are much shorter: a header with a complete snapshot has about 8 kB."""


class _Line(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True, forbid_unknown_fields=True, gc=False):
    t_us: int = msgspec.field(name="t")


class Sensed(_Line, frozen=True):
    """What a sensor of our own saw. `named`: the format of the sensor's name. `is_rare`: a working sensor rarely
    reports such things, so `ChatterGuard` limits how often it may report them."""

    named: ClassVar[str]
    is_rare: ClassVar[bool] = True

    @property
    def sensor(self) -> str:
        """The sensor's name, the same as in a `SensorState`."""
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
    """The level of `sensor` at this moment (docs/rulebook.md 7). `sensor`: `object`, `beam/N`, `reader/N`,
    `button/NAME` or `door`. `active`: a body is in the cylinder, something blocks the beam or the reader, the button is
    held, or the door is open. A change of the door, too, is reported as a `Level`."""

    sensor: str
    active: bool


class SensorState(_Line, frozen=True, tag="sensor"):
    """Whether `sensor` works: `beam/N`, `reader/N`, `rotor`, `object` or `link`; of a wheel head, its line (`head`) or
    its sensors (`head/sensors`). `what`: what is wrong, if known. A sensor that works may have a trouble too."""

    sensor: str
    ok: bool
    what: Trouble | None = None


class Command(_Line, frozen=True, tag="command"):
    """What a person or the table system asked for. `coup`: if given, it must be the present coup. `by`: the person whom
    the sender names. `user`, `role`: the sender's name and role at the broker, None for a button. `case`: the case of
    C11 that "rien va" names. `number`: the number that the chef confirms, if it is not the one that was seen (R3b); or
    the number that a ruling gives, or in whose pocket the ball lies (`resume`, `open`). `without`: the names of the
    sensors to leave out (`resume`, `open`). `until_us`: if it is in doubt when this was said, it was said between
    `t_us` and this time (docs/rulebook.md 7). `accepted`: whether a late bet was accepted. `about`, `ruled_as`: the
    coup on which the direction rules, and the ruling. `announced`: `who` is the next bouler, not the present one."""

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
        """The latest time at which the command may have been given: `until_us` if the time is in doubt, or `t_us`."""
        return self.t_us if self.until_us is None else self.until_us

    @property
    def person(self) -> Person:
        """The person who gave the command, and the reason given."""
        return Person(self.by, self.reason, self.user, self.role)


class HeadGame(_Line, frozen=True, tag="head_game"):
    """The phase of the wheel's game, as the wheel reports it. `spin`: the wheel's own number for the game.

    `idle`: the table is closed. `ready`: no ball runs. `running`: the ball runs. `closing`: no more bets. `off_track`:
    the ball has left the track. `number`: the game has its number. `locked`: a dealer has locked the wheel.
    """

    phase: HeadPhase
    spin: int


class HeadBall(_Line, frozen=True, tag="head_ball"):
    """What the wheel's own sensors report of the ball: whether it runs, its laps, and its direction, as soon as two
    lines agree on it. `laps` and `direction` are None if this wheel, or this line, does not report them. `laps` 0:
    earlier reports of laps do not count."""

    runs: bool
    direction: Direction | None = None
    laps: int | None = None


class HeadRotor(_Line, frozen=True, tag="head_rotor"):
    """The rotor's speed and direction, as often as the head reports them. `rpm` None: the head's line cannot show how
    fast the rotor turns, because it turns, or may turn, too fast. 0: it stands still, or turns too slowly to show."""

    rpm: float | None
    direction: Direction


class HeadNumber(_Line, frozen=True, tag="head_number"):
    """The winning number of game `spin`. `number` None: the wheel's own lines contradict each other. `whole` False: not
    all lines of this game were received from its launch on."""

    number: int | None
    spin: int
    whole: bool = True


class HeadWarning(_Line, frozen=True, tag="head_warning"):
    """The names of all present warnings. Empty: all warnings have ended. `void`: the game is over without a number, as
    the wheel reports or as its maker's rule says. If a sensor of the wheel fails, a `SensorState` (`head/sensors`)
    comes too."""

    warnings: tuple[HeadWarned, ...] = ()
    void: bool = False


class HeadJump(_Line, frozen=True, tag="head_jump"):
    """The wheel has counted the games from `from_spin` to `to_spin`, but did not report them. If both are equal, the
    wheel reported a number without a run."""

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
    """All observations older than `t_us` have been reported. It is certain that nothing else was seen before `t_us`."""


class Standstill(_Line, frozen=True, tag="standstill"):
    """`what` stood still from `t_us` until `to_us`. If the `machine` stood still (stopped, or too busy), no words were
    received in that time, and what the sensors kept came afterwards. If the `journal` (its disk) stood still, words and
    observations were received, but what followed from them was stored and published late. `slept_us`: for how long the
    machine was also suspended: during that time its clock stood still, and nothing was observed."""

    to_us: int = msgspec.field(name="to")
    what: StoodStill = "machine"
    slept_us: int = msgspec.field(default=0, name="slept")


class Heard(_Line, frozen=True, tag="heard"):
    """All words that people said until `until_us` have been received. Later words may still be on their way. `until_us`
    None: no word is on its way, and until the next `Heard` no word is delayed."""

    until_us: int | None = msgspec.field(default=None, name="until")


class Restarted(_Line, frozen=True, tag="restart"):
    """The daemon was restarted: it observed nothing from its last message until now. `away_until_us`: what is observed
    before this time happened while no daemon ran. The sensors kept it, but people's words were not received."""

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
"""Kinds of observations that come often. They change what is published only if a fact follows from them."""
LEVELS = (ForeignObject, Level, SensorState, Heard, *HeadReport.__args__)
"""Kinds that report the present state of something. If they come late, because a command was taken while their source
was silent, they count from now on. It is better to date a fault late than not to know that it began, or ended."""
