"""The terms of the law: the states of a table, the facts, the causes of a void, and the persons who say things."""

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
"""The names of the states of a table, as in docs/interfaces.md."""

Bets: TypeAlias = Literal["open", "closed", "locked"]
"""Whether bets are taken. `locked`: no bet may be added or withdrawn (N5)."""
VoidRule: TypeAlias = Literal["N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8"]
"""The rules of docs/rulebook.md that make a coup void."""
ObjectLevel: TypeAlias = Literal["unknown", "clear", "present"]
"""Whether a foreign object is in the cylinder (N6). `unknown` means neither yes nor no (docs/rulebook.md 7)."""
LastCoup: TypeAlias = Literal["next", "this", "played"]
"""Which coup is la dernière (A5): the next coup or the present one. `played`: la dernière was played."""


class Named(Enum):
    """An enumeration in which the value of a member is a name, and other attributes come after it. So a stored value
    stays valid when an attribute changes. The class declares the attributes in the order of a member's values."""

    def __new__(cls, name: str, *rest: object) -> Self:
        """Make a member. `name` is its value, and `rest` has its other attributes."""
        member = object.__new__(cls)
        member._value_ = name
        for attribute, value in zip(cls.__annotations__, rest, strict=True):
            setattr(member, attribute, value)
        return member


@unique
class State(Named):
    """A state of the table: its name, its name in messages, and what it means for the bets (docs/rulebook.md 6)."""

    wire_name: StateName
    bets: Bets

    CLOSED = "closed", "closed", "closed"
    """The table is closed to play."""
    FAITES_VOS_JEUX = "faites_vos_jeux", "faites_vos_jeux", "open"
    """Bets are open. The launch is awaited."""
    BETS_CLOSED_EARLY = "bets_closed_early", "rien_ne_va_plus", "closed"
    """The chef said "rien ne va plus" before the launch. The launch is still awaited."""
    BALL_RUNNING = "ball_running", "ball_running", "open"
    """The ball was launched. The chef decides about late bets."""
    RIEN_NE_VA_PLUS = "rien_ne_va_plus", "rien_ne_va_plus", "closed"
    """The ball was launched, and "rien ne va plus" was said."""
    BALL_ON_OBSTACLE = "ball_on_obstacle", "ball_on_obstacle", "locked"
    """The ball left the track longer ago than a fall takes, and readers see it in no pocket."""
    AWAITING_CHEF = "awaiting_chef", "awaiting_chef", "closed"
    """The number is out. The chef must confirm what no sensor has proven of the number (R3b) or of the ball's run."""
    OPERATIONS = "operations", "operations", "closed"
    """The number is out. The croupiers take and pay bets."""
    RIEN_VA = "rien_va", "rien_va", "closed"
    """The coup was void. "Tout va" is owed."""
    RIEN_VA_OPERATIONS_OWED = "rien_va_operations_owed", "rien_va", "closed"
    """The ball was launched before the operations were done. The operations and "tout va" are owed."""
    SUSPENDED = "suspended", "suspended", "closed"
    """Play is suspended, by the direction or by a breakdown."""


@unique
class Fact(Named):
    """A fact that was proven, or that a person asked for: its name, and a description in plain words."""

    text: str

    LAUNCHED = "launched", "a ball runs"
    WEAK_LAUNCH = "weak_launch", "a pass or two on the track, then readers see the ball in another pocket, or in none"
    LAUNCH_AWAITED = "launch_awaited", 'no ball has run within a minute of "rien ne va plus"'
    LAUNCH_FAILED = "launch_failed", "the wheel reports that its launch failed"
    STRAY_PULSE = "stray_pulse", "a beam reported a pulse that no ball made"
    SAME_DIRECTION = "same_direction", "the ball turns with the rotor"
    OPPOSITE_DIRECTION = "opposite_direction", "the ball turns against the rotor"
    BALL_SLOWED = "ball_slowed", "the ball has slowed to the set speed"
    VOID_FORESEEN = "void_foreseen", "the ball will leave the track before its laps"
    LEAVING_FORESEEN = "leaving_foreseen", "the ball will soon leave the track"
    LEFT_TRACK = "left_track", "the ball left the track, its laps proven"
    LEFT_TRACK_SHORT = "left_track_short", "the ball left the track, too few laps proven"
    LEFT_TRACK_UNPROVEN = "left_track_unproven", "the ball left the track, its laps likely, but not proven"
    FALL_OVERDUE = "fall_overdue", "the ball left the track longer ago than a fall takes, and no pocket is known yet"
    NUMBER_SEEN = "number_seen", "a reader sees the ball in a pocket"
    NUMBER = "number", "the ball came to rest in a pocket, its run proven"
    NUMBER_UNPROVEN = "number_unproven", "the ball came to rest in a pocket, its run not proven"
    NUMBER_UNCONFIRMED = "number_unconfirmed", "the ball came to rest in a pocket; these sensors can prove no more"
    NUMBER_NOT_PROVEN = "number_not_proven", "the ball was seen in a pocket, and nothing proves that it rested there"
    NUMBER_OVERTAKEN = "number_overtaken", "while a number awaits the chef, a ball launched later lies in a pocket"
    NUMBER_CORRECTED = "number_corrected", "the wheel takes its number back, or reports another for the same game"
    BALL_MOVED = "ball_moved", "the ball lies in another pocket, and no launch was seen"
    BALL_CARRIED = "ball_carried", "the ball lies in another pocket, and may have been taken from the one where it lay"
    BALL_TAKEN = "ball_taken", "the ball was taken from its pocket"
    BALL_IN_PLACE = "ball_in_place", "the ball lies in the pocket of the last number"
    ROTOR_STOPPED_RUNNING = "rotor_stopped_running", "the rotor stopped while the ball ran"
    ROTOR_STOPPED_BEFORE_DROP = (
        "rotor_stopped_before_drop",
        "the rotor stopped after the ball had left the track and before it lay in a pocket",
    )
    ROTOR_STOPPED_IN_FALL = (
        "rotor_stopped_in_fall",
        "the rotor stopped, and the ball may lie in a pocket that no reader has seen yet",
    )
    ROTOR_WRONG_WAY = "rotor_wrong_way", "a fair wheel turns the other way"
    OBJECT_IN = "object_in", "a foreign object is in the cylinder"
    OBJECT_OUT = "object_out", "the cylinder is clear"
    OBJECT_UNKNOWN = "object_unknown", "nobody knows whether the cylinder is clear"
    SENSOR_FAULT = "sensor_fault", "a sensor or its link failed"
    SENSOR_SPARED = "sensor_spared", "a sensor failed, and the present coup can be proven without it"
    SENSOR_TROUBLE = "sensor_trouble", "something is wrong with a sensor or its line"
    LEFT_OUT_WORKS = "left_out_works", "a sensor that is left out works again"
    DOOR_OPENED = "door_opened", "the door of the cabinet is open"
    DOOR_CLOSED = "door_closed", "the door of the cabinet is closed"
    LAUNCH_UNSEEN = "launch_unseen", "a ball runs, and its launch was not seen"
    UNOBSERVED_COUP = "unobserved_coup", "the wheel counted a coup that it never reported"
    WHEEL_VOID = "wheel_void", "the wheel declares its own game void"
    WHEEL_STOPPED = "wheel_stopped", "the wheel has stopped its game"
    RESTARTED = "restarted", "the controller was restarted"
    STOOD_STILL = "stood_still", "the computer, or the disk of the journal, stood still"
    BOULER_DUE = "bouler_due", "the bouler's time is over"
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
    ACKNOWLEDGE = "acknowledge", "the next bouler is acknowledged"
    LATE_BET = "late_bet", "late bet"
    RULING = "ruling", "ruling"


@unique
class Cause(Named):
    """Why a coup is void: the cause's name in messages, and a description in a few words for a display."""

    rule: VoidRule
    """The rule that makes the coup void. `houses.Profile` has the article of the house for it."""
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
    """One of the five cases of C11. The chef may name it when he declares a coup void (N7). Messages have its value."""

    rules: tuple[VoidRule, ...]
    """The rules of docs/rulebook.md that this case covers. C11 puts both stops of the rotor into one case."""
    text: str

    SAME_DIRECTION = "same_direction", ("N1",), "the ball turns with the rotor"
    EARLY_LAUNCH = "early_launch", ("N2",), "launched before the operations were done"
    TOO_FEW_LAPS = "too_few_laps", ("N3",), "the ball got too little push for its laps"
    ROTOR_STOPPED = "rotor_stopped", ("N4", "N5"), "the rotor stopped before the ball fell into a number"
    FOREIGN_OBJECT = "foreign_object", ("N6",), "a foreign object fell into the cylinder"


_PROBATION = "wait until the line to the sensors has been good for some seconds"
_FIRMWARE = "switch the sensor board off and on, and report its firmware"
_BUSY = "stop other programs on the computer, or repair a line with too many edges"


@unique
class Trouble(Named):
    """What is wrong with a sensor or with the line to the sensors: its name in messages and logs, a description, and
    how to mend it, in plain words. If there are several troubles, the first in this list explains the most. The last
    four are warnings (`is_warning`): they do not stop play."""

    text: str
    mend: str

    NOTHING_HEARD = "nothing_heard", "the sensor board sends nothing", "check the power and cable of the sensor board"
    CLOCK_RAN_BACK = "clock_ran_back", "the clock of the sensor board ran backwards", _FIRMWARE
    REFUSED_VERSION = (
        "refused_version",
        "the sensor board does not speak this version of the protocol",
        "install firmware of this version on the sensor board",
    )
    REFUSED_SERIAL = (
        "refused_serial",
        "the connected sensor board is not the configured one",
        "connect the configured sensor board, or correct its serial number in the configuration",
    )
    REFUSED_CONFIGURATION = (
        "refused_configuration",
        "the settings of the sensor board are not those of the configuration",
        "set the sensor board up as configured, or correct its checksum in the configuration",
    )
    REFUSED_LAYOUT = (
        "refused_layout",
        "the sensor board has other sensors than the configuration",
        "correct the numbers of beams, readers and ticks in the configuration, or on the sensor board",
    )
    GARBAGE_HEARD = (
        "garbage_heard",
        "the sensor board sends data that nobody can read",
        "check the cable of the sensor board, and the speed of its line in the configuration",
    )
    EVENTS_MISSING = (
        "events_missing",
        "events of the sensor board are missing, and the board does not send them again",
        "check the cable of the sensor board: it loses data",
    )
    NO_ANSWER = (
        "no_answer",
        "the sensor board sends data, but answers no request",
        "check the wire that leads to the sensor board, then switch the board off and on",
    )
    NO_EVENTS = "no_events", "the sensor board answers, but does not send what its sensors see", _FIRMWARE
    EVENTS_LOST = "events_lost", "the sensor board could not keep all events until they were fetched", _PROBATION
    BOARD_RESTARTED = "board_restarted", "the sensor board restarted", _PROBATION
    EDGES_MISSED = "edges_missed", "the sensor board was too slow for the edges of its sensors", _PROBATION
    CLOCK_STEPPED = "clock_stepped", "the clock of the sensor board jumped", _PROBATION
    EDGES_LOST = "edges_lost", "more edges came on the pins than the computer could read", _BUSY
    EDGES_LATE = "edges_late", "edges on the pins were reported too late to count", _BUSY
    PINS_BEHIND = "pins_behind", "the computer reads the pins too rarely", _BUSY
    MISDATED = "misdated", "the sensor board gave an event an impossible time", _PROBATION
    SLIPPED = (
        "slipped",
        "nobody knows where the pockets are: the encoder slipped, the ball was moved, or a reader is out of place",
        "lay the ball in a pocket, let the rotor turn, and resume with its number; if it comes again: `wheeld doctor`",
    )
    BLIND = "blind", "the sensor did not see a ball that others saw", "clean it, align it and check its wire"
    CHATTERS = "chatters", "the sensor reports more often than a ball can pass", "clean it, align it and check its wire"
    LINE_DAMAGED = (
        "line_damaged",
        "the line to the sensor board damages data",
        "check the cable of the sensor board and its plugs",
    )
    CLOCK_DRIFTS = (
        "clock_drifts",
        "the clock of the sensor board goes too fast or too slow",
        "check the time server of the computer; if the trouble stays, replace the sensor board",
    )
    LEVEL_WITHOUT_EVENT = (
        "level_without_event",
        "a sensor has changed, and the sensor board does not say when",
        _FIRMWARE,
    )
    HEARTBEAT_INTERVAL = "heartbeat_interval", "the sensor board sends heartbeats too often or too rarely", _FIRMWARE

    @property
    def is_warning(self) -> bool:
        """Whether the sensors' reports are complete in spite of this trouble, so that laps and pockets are right."""
        return self in (self.LINE_DAMAGED, self.CLOCK_DRIFTS, self.LEVEL_WITHOUT_EVENT, self.HEARTBEAT_INTERVAL)


@unique
class Awaited(Enum):
    """What a table waits for, in this order, as codes in messages. Every language has a phrase for each code."""

    NO_LAUNCH = "no_launch"
    """The ball was taken from its pocket. A launch now would be void (N2)."""
    BLOCK_BALL = "block_ball"
    """Somebody must stop the running ball of a void coup before it enters a pocket (C11)."""
    CLEAR_OBJECT = "clear_object"
    """Somebody must take a foreign object out of the cylinder (N6)."""
    REPAIR = "repair"
    """The failing sensors must work again (N8)."""
    START_WHEEL = "start_wheel"
    """Somebody must start a wheel again that has stopped its own game (N8)."""
    BALL_AT_REST = "ball_at_rest"
    """A ball that runs or falls must come to rest. Before that, nobody may open the bets."""
    CLEAR_OBSTACLE = "clear_obstacle"
    """A ball left the track, and no reader saw it at rest. Somebody must take it off the obstacle where it may lie."""
    OBJECT_LEVEL = "object_level"
    """The object sensor must report whether the cylinder is clear (docs/rulebook.md 7)."""
    PUT_BACK = "put_back"
    """Somebody must put the ball into the pocket of the last number (docs/rulebook.md 3)."""
    TURN_ROTOR = "turn_rotor"
    """The rotor must turn, so that a reader can see where the ball lies."""
    DIRECTION = "direction"
    """The direction suspended play. Only the direction may resume or end it (A6)."""
    TOUT_VA = "tout_va"
    OPERATIONS_DONE = "operations_done"
    OPEN = "open"
    LAUNCH = "launch"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus"
    NUMBER = "number"
    FALL_OR_STOP = "fall_or_stop"
    """The ball must fall from its obstacle, or the rotor must stop (N5)."""
    CONFIRM = "confirm"
    """The chef must confirm the number, or declare the coup void."""
    RESUME = "resume"


SENSED = frozenset({Awaited.BALL_AT_REST, Awaited.OBJECT_LEVEL, Awaited.NUMBER, Awaited.FALL_OR_STOP})
"""The codes of what comes by itself. No person has to do anything for it."""


class Person(NamedTuple):
    """The person who said something (`by`), and the reason given. `user` and `role`: the sender's name and role at the
    broker. Both are None if the word did not come through the broker."""

    by: str
    reason: str
    user: str | None = None
    role: str | None = None
