"""The terms of the law: where a table stands, what can be proven or asked for, why a coup is void, and who said it."""

from __future__ import annotations

from enum import Enum, unique
from typing import Literal, NamedTuple, Self, TypeAlias

StateName: TypeAlias = Literal[
    "closed",
    "faites_vos_jeux",
    "ball_running",
    "rien_ne_va_plus",
    "ball_on_obstacle",
    "awaiting_chef",
    "operations",
    "rien_va",
    "suspended",
]
"""How docs/interfaces.md names the states of a table."""

Bets: TypeAlias = Literal["open", "closed", "locked"]
"""Whether bets are taken; `locked`: none is added or withdrawn (N5)."""
VoidRule: TypeAlias = Literal["N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8"]
"""The rules of docs/rulebook.md that make a coup void."""
ObjectLevel: TypeAlias = Literal["unknown", "clear", "present"]
"""Whether a foreign object is in the cylinder (N6). Unknown is neither yes nor no (docs/rulebook.md 7)."""
LastCoup: TypeAlias = Literal["next", "this", "played"]
"""Which coup is la dernière, once it is announced (A5): the next one, the one at hand, or one that was played."""


class Named(Enum):
    """Members whose value is their name alone: what is stored stays what it is when the rest of them changes. The rest
    is what the class declares, in that order."""

    def __new__(cls, name: str, *rest: object) -> Self:
        """The first word of a member is its name."""
        member = object.__new__(cls)
        member._value_ = name
        for attribute, value in zip(cls.__annotations__, rest, strict=True):
            setattr(member, attribute, value)
        return member


@unique
class State(Named):
    """Where the table stands: its name, its name in messages, and what it means for the bets (docs/rulebook.md 6)."""

    wire_name: StateName
    bets: Bets

    CLOSED = "closed", "closed", "closed"
    """No game is on."""
    FAITES_VOS_JEUX = "faites_vos_jeux", "faites_vos_jeux", "open"
    """The launch is awaited."""
    BETS_CLOSED_EARLY = "bets_closed_early", "rien_ne_va_plus", "closed"
    """The chef said "rien ne va plus" before the launch, which is still awaited."""
    BALL_RUNNING = "ball_running", "ball_running", "open"
    """Launched; late bets are at the chef's discretion."""
    RIEN_NE_VA_PLUS = "rien_ne_va_plus", "rien_ne_va_plus", "closed"
    """Launched, and "rien ne va plus" was said."""
    BALL_ON_OBSTACLE = "ball_on_obstacle", "ball_on_obstacle", "locked"
    """Off the track for longer than a fall takes, and in no pocket."""
    AWAITING_CHEF = "awaiting_chef", "awaiting_chef", "closed"
    """The number is out; the chef must answer for what no sensor has proven of it (R3b) or of its run."""
    OPERATIONS = "operations", "operations", "closed"
    """The number is out and is being paid."""
    RIEN_VA = "rien_va", "rien_va", "closed"
    """The coup was void: "tout va" is owed."""
    RIEN_VA_OPERATIONS_OWED = "rien_va_operations_owed", "rien_va", "closed"
    """Launched before the operations were done: they and "tout va" are owed."""
    SUSPENDED = "suspended", "suspended", "closed"
    """Play is suspended, by the direction or by a breakdown."""


@unique
class Fact(Named):
    """What has been proven, or asked for: its name, and what it is in plain words."""

    text: str

    LAUNCHED = "launched", "a ball runs"
    WEAK_LAUNCH = "weak_launch", "a pass or two on the track, then the ball lies elsewhere, or nowhere"
    LAUNCH_AWAITED = "launch_awaited", 'no ball has run within a minute of "rien ne va plus"'
    LAUNCH_FAILED = "launch_failed", "the wheel reports that its launch failed"
    STRAY_PULSE = "stray_pulse", "a beam pulsed for nothing"
    SAME_DIRECTION = "same_direction", "the ball turns with the rotor"
    OPPOSITE_DIRECTION = "opposite_direction", "the ball turns against the rotor"
    BALL_SLOWED = "ball_slowed", "the ball has slowed to the set speed"
    VOID_FORESEEN = "void_foreseen", "the ball will leave the track before its laps"
    LEAVING_FORESEEN = "leaving_foreseen", "the ball will soon leave the track"
    LEFT_TRACK = "left_track", "the ball left the track, its laps proven"
    LEFT_TRACK_SHORT = "left_track_short", "the ball left the track, too few laps proven"
    LEFT_TRACK_UNPROVEN = "left_track_unproven", "the ball left the track, its laps suggested and not proven"
    FALL_OVERDUE = "fall_overdue", "no pocket yet, longer than a fall takes"
    NUMBER_SEEN = "number_seen", "a reader sees the ball in a pocket"
    NUMBER = "number", "the ball came to rest in a pocket, its run proven"
    NUMBER_UNPROVEN = "number_unproven", "the ball came to rest in a pocket, its run not proven"
    NUMBER_UNCONFIRMED = "number_unconfirmed", "the ball came to rest in a pocket, proven as far as these sensors can"
    NUMBER_NOT_PROVEN = (
        "number_not_proven",
        "the ball was seen in a pocket, and nothing can prove that it rested there",
    )
    NUMBER_OVERTAKEN = (
        "number_overtaken",
        "a ball that was launched while another number awaits the chef lies in a pocket",
    )
    NUMBER_CORRECTED = "number_corrected", "the wheel takes its number back, or reports another for the same game"
    BALL_MOVED = "ball_moved", "the ball lies in another pocket, no launch was seen"
    BALL_CARRIED = "ball_carried", "the ball lies in another pocket, and may have been taken from the one where it lay"
    BALL_TAKEN = "ball_taken", "the ball was taken from its pocket"
    BALL_IN_PLACE = "ball_in_place", "the ball lies in the pocket of the last number"
    ROTOR_STOPPED_RUNNING = "rotor_stopped_running", "the rotor stopped while the ball ran"
    ROTOR_STOPPED_BEFORE_DROP = (
        "rotor_stopped_before_drop",
        "the rotor stopped, the ball off the track and in no pocket",
    )
    ROTOR_STOPPED_IN_FALL = (
        "rotor_stopped_in_fall",
        "the rotor stopped, and the ball may lie in a pocket that no reader has met yet",
    )
    ROTOR_WRONG_WAY = "rotor_wrong_way", "a fair wheel turns the other way"
    OBJECT_IN = "object_in", "a foreign object is in the cylinder"
    OBJECT_OUT = "object_out", "the cylinder is clear"
    OBJECT_UNKNOWN = "object_unknown", "nobody knows whether the cylinder is clear"
    SENSOR_FAULT = "sensor_fault", "a sensor or its link failed"
    SENSOR_SPARED = "sensor_spared", "a sensor failed that the coup at hand can do without"
    SENSOR_MENDED = "sensor_mended", "a sensor or its link works again"
    SENSOR_TROUBLE = "sensor_trouble", "something is wrong with a sensor or its line"
    LEFT_OUT_WORKS = "left_out_works", "a sensor that is left out works again"
    DOOR_OPENED = "door_opened", "the door of the cabinet is open"
    DOOR_CLOSED = "door_closed", "the door of the cabinet is closed"
    LAUNCH_UNSEEN = "launch_unseen", "a ball runs, its launch was not seen"
    UNOBSERVED_COUP = "unobserved_coup", "the wheel counted a coup that it never reported"
    WHEEL_VOID = "wheel_void", "the wheel declares its own game void"
    WHEEL_STOPPED = "wheel_stopped", "the wheel has stopped its game"
    RESTARTED = "restarted", "the controller was restarted"
    STOOD_STILL = "stood_still", "the machine, or the disk of the journal, stood still"
    BOULER_DUE = "bouler_due", "the bouler has spun for his time"
    OPEN = "open", "open"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus", "rien ne va plus"
    RIEN_VA = "rien_va", "rien va"
    CONFIRM = "confirm", "confirm"
    TOUT_VA = "tout_va", "tout va"
    OPERATIONS_DONE = "operations_done", "operations done"
    LAST_COUP = "last_coup", "la dernière"
    LAST_COUP_OFF = "last_coup_off", "la dernière taken back"
    CLOSE = "close", "end of play"
    SUSPEND = "suspend", "suspend"
    RESUME = "resume", "resume"
    BOULER = "bouler", "another bouler"
    LATE_BET = "late_bet", "late bet"
    RULING = "ruling", "ruling"


@unique
class Cause(Named):
    """Why a coup is void: its name in messages, and what it is in a few words, for a board."""

    rule: VoidRule
    """That voids it; the article is the house's (`houses.Profile`)."""
    text: str

    SAME_DIRECTION = "same_direction", "N1", "the ball turned with the rotor"
    EARLY_LAUNCH = "early_launch", "N2", "launched before the operations were done"
    TOO_FEW_LAPS = "too_few_laps", "N3", "too few laps"
    ROTOR_STOPPED_RUNNING = "rotor_stopped_running", "N4", "the rotor stopped while the ball ran"
    ROTOR_STOPPED_BEFORE_DROP = "rotor_stopped_before_drop", "N5", "the rotor stopped before the ball fell"
    FOREIGN_OBJECT = "foreign_object", "N6", "a foreign object in the cylinder"
    CHEF = "chef", "N7", "declared by the chef"
    BREAKDOWN = "breakdown", "N8", "a breakdown"


@unique
class Case(Named):
    """Which of the five cases of C11 the chef names when he declares a coup void (N7): its name in messages."""

    rules: tuple[VoidRule, ...]
    """Those of docs/rulebook.md that the case is; C11 has both stops of the rotor in one case."""
    text: str

    SAME_DIRECTION = "same_direction", ("N1",), "the ball turns with the rotor"
    EARLY_LAUNCH = "early_launch", ("N2",), "launched before the operations were done"
    TOO_FEW_LAPS = "too_few_laps", ("N3",), "too little push for its laps"
    ROTOR_STOPPED = "rotor_stopped", ("N4", "N5"), "the rotor stopped before the ball fell into a number"
    FOREIGN_OBJECT = "foreign_object", ("N6",), "a foreign object fell into the cylinder"


_PROBATION = "wait until the line to the sensors has been good for some seconds"
_BUSY = "reduce what else the computer does, or mend a line that bounces"


@unique
class Trouble(Named):
    """What is wrong with a sensor or with the line to the sensors: its name in messages and logs, what it is, and what
    mends it, in plain words. Where several are so, the first of them says most.

    Five of them are silence, of different kinds: nothing is heard, garbage is heard, no answer comes, the board is
    refused, events are missing. The last ones (`is_warning`) stop no play.
    """

    text: str
    mend: str

    NOTHING_HEARD = (
        "nothing_heard",
        "nothing is heard from the sensor board",
        "check the power and the cable of the sensor board",
    )
    CLOCK_RAN_BACK = (
        "clock_ran_back",
        "the clock of the sensor board ran backwards",
        "switch the sensor board off and on, and report its firmware",
    )
    REFUSED_VERSION = (
        "refused_version",
        "the sensor board does not speak this version of the protocol",
        "install firmware of this version on the sensor board",
    )
    REFUSED_SERIAL = (
        "refused_serial",
        "another sensor board is connected than the configured one",
        "connect the configured sensor board, or correct its serial number in the configuration",
    )
    REFUSED_CONFIGURATION = (
        "refused_configuration",
        "the sensor board is set up in another way than the configuration says",
        "set the sensor board up as configured, or correct its checksum in the configuration",
    )
    REFUSED_LAYOUT = (
        "refused_layout",
        "the sensor board has other sensors than the configuration",
        "correct the numbers of beams, readers and ticks in the configuration, or on the sensor board",
    )
    GARBAGE_HEARD = (
        "garbage_heard",
        "what is heard from the sensor board can't be read",
        "check the cable of the sensor board, and the speed of its line in the configuration",
    )
    EVENTS_MISSING = (
        "events_missing",
        "events of the sensor board are missing, and do not come when they are asked for again",
        "check the cable of the sensor board, which loses what is sent",
    )
    NO_ANSWER = (
        "no_answer",
        "the sensor board is heard, and answers nothing",
        "check the wire that leads to the sensor board, then switch the board off and on",
    )
    EVENTS_LOST = "events_lost", "the sensor board could not keep all events until they were fetched", _PROBATION
    BOARD_RESTARTED = "board_restarted", "the sensor board started anew", _PROBATION
    EDGES_MISSED = "edges_missed", "the sensor board was too slow for what its sensors saw", _PROBATION
    CLOCK_STEPPED = "clock_stepped", "the clock of the sensor board jumped", _PROBATION
    EDGES_LOST = "edges_lost", "more edges came on the pins than the computer could read", _BUSY
    EDGES_LATE = "edges_late", "edges on the pins were told too late to count", _BUSY
    PINS_BEHIND = "pins_behind", "the computer looks at the pins too seldom", _BUSY
    MISDATED = "misdated", "the sensor board gave an event a time at which it can't have been", _PROBATION
    SLIPPED = (
        "slipped",
        "where the pockets stand is not known: the encoder has slipped on the rotor, or the ball was moved unseen",
        "lay the ball in a pocket, let the rotor turn, and resume with the number of that pocket",
    )
    BLIND = "blind", "it did not see a ball that the others saw", "clean it, align it and check its wire"
    CHATTERS = "chatters", "it reports more often than a ball can pass", "clean it, align it and check its wire"
    LINE_DAMAGED = (
        "line_damaged",
        "the line to the sensor board damages what it carries",
        "check the cable of the sensor board and its plugs",
    )
    CLOCK_DRIFTS = (
        "clock_drifts",
        "the clock of the sensor board goes too fast or too slow",
        "check the time server of the computer, and replace the sensor board if it goes on",
    )

    @property
    def is_warning(self) -> bool:
        """Whether what the sensors report is whole all the same: laps, pockets and their order are right."""
        return self in (Trouble.LINE_DAMAGED, Trouble.CLOCK_DRIFTS)


@unique
class Awaited(Enum):
    """What a table waits for: its code in messages. Every language has a phrase for each. What must come first stands
    first."""

    NO_LAUNCH = "no_launch"
    """The ball was taken from its pocket, and a launch now is void (N2)."""
    BLOCK_BALL = "block_ball"
    """The ball of a void coup is stopped while it runs, before it enters a pocket (C11)."""
    CLEAR_OBJECT = "clear_object"
    """A foreign object is taken out of the cylinder (N6)."""
    REPAIR = "repair"
    """The failing sensors work again (N8)."""
    START_WHEEL = "start_wheel"
    """A wheel that has stopped its own game is started again (N8)."""
    BALL_AT_REST = "ball_at_rest"
    """A ball that runs or falls comes to rest; until then nobody is asked to bet."""
    CLEAR_OBSTACLE = "clear_obstacle"
    """A ball that left the track, and was seen at rest nowhere, is taken off the obstacle where it may lie."""
    OBJECT_LEVEL = "object_level"
    """The object sensor reports whether the cylinder is clear (docs/rulebook.md 7)."""
    PUT_BACK = "put_back"
    """The ball is put in the pocket of the last number (docs/rulebook.md 3)."""
    TURN_ROTOR = "turn_rotor"
    """The rotor turns, so that a reader can see where the ball lies."""
    DIRECTION = "direction"
    """The direction suspended play, and nobody else goes on (A6)."""
    TOUT_VA = "tout_va"
    OPERATIONS_DONE = "operations_done"
    OPEN = "open"
    LAUNCH = "launch"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus"
    NUMBER = "number"
    FALL_OR_STOP = "fall_or_stop"
    """The ball falls from its obstacle, or the rotor stops (N5)."""
    CONFIRM = "confirm"
    """The chef confirms the number, or declares the coup void."""
    RESUME = "resume"


SENSED = frozenset({Awaited.BALL_AT_REST, Awaited.OBJECT_LEVEL, Awaited.NUMBER, Awaited.FALL_OR_STOP})
"""What comes by itself: nobody has to do anything for it."""


class Person(NamedTuple):
    """Who said something, and why. `user`: the sender's name at the broker; `role`: his role there. None where it did
    not come from there."""

    by: str
    reason: str
    user: str | None = None
    role: str | None = None
