"""The terms of the law: where a table stands, what can be proven or asked for, why a coup is void."""

from __future__ import annotations

from enum import Enum, unique
from typing import Literal, Self, TypeAlias

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
LastCoup: TypeAlias = Literal["next", "this", "played"]
"""Which coup is la dernière, once it is announced (A5): the next one, the one at hand, or one that was played."""


class Named(Enum):
    """Members whose value is their name alone: what is stored stays what it is when the rest of them changes."""

    def __new__(cls, name: str, *_: object) -> Self:
        """The first word of a member is its name."""
        member = object.__new__(cls)
        member._value_ = name
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

    def __init__(self, name: str, wire_name: StateName, bets: Bets) -> None:  # noqa: ARG002  see `Named`
        """Beside its name: that of messages, and what it means for the bets."""
        self.wire_name, self.bets = wire_name, bets


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
    NUMBER_CORRECTED = "number_corrected", "the wheel takes its number back, or reports another for the same game"
    BALL_MOVED = "ball_moved", "the ball lies in another pocket, no launch was seen"
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
    OBJECT_OUT = "object_out", "the cylinder is clear again"
    SENSOR_FAULT = "sensor_fault", "a sensor or its link failed"
    SENSOR_MENDED = "sensor_mended", "a sensor or its link works again"
    LEFT_OUT_WORKS = "left_out_works", "a sensor that is left out works again"
    LAUNCH_UNSEEN = "launch_unseen", "a ball runs, its launch was not seen"
    UNOBSERVED_COUP = "unobserved_coup", "the wheel counted a coup that it never reported"
    WHEEL_VOID = "wheel_void", "the wheel declares its own game void"
    RESTARTED = "restarted", "the controller was restarted"
    BOULER_DUE = "bouler_due", "the bouler has spun for his time"
    OPEN = "open", "open"
    OPEN_FAULTY = "open_faulty", "open, a sensor still failing"
    OPEN_OWED = "open_owed", "open, tout va still owed"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus", "rien ne va plus"
    RIEN_VA = "rien_va", "rien va"
    CONFIRM = "confirm", "confirm"
    CONFIRM_UNNAMED = "confirm_unnamed", "confirm, no number seen and none given"
    TOUT_VA = "tout_va", "tout va, the ball in its pocket"
    TOUT_VA_LAST = "tout_va_last", "tout va, the ball in its pocket, la dernière was played"
    TOUT_VA_MISPLACED = "tout_va_misplaced", "tout va, the ball not seen in its pocket"
    TOUT_VA_UNSEEN = "tout_va_unseen", "tout va, no reader has seen the ball"
    TOUT_VA_OBJECT = "tout_va_object", "tout va, a foreign object in the cylinder"
    OPERATIONS_DONE = "operations_done", "operations done"
    OPERATIONS_DONE_LAST = "operations_done_last", "operations done, la dernière was that coup"
    OPERATIONS_DONE_OBJECT = "operations_done_object", "operations done, a foreign object in the cylinder"
    LAST_COUP = "last_coup", "la dernière"
    LAST_COUP_OFF = "last_coup_off", "la dernière taken back"
    CLOSE = "close", "close"
    SUSPEND = "suspend", "suspend"
    RESUME = "resume", "resume"
    RESUME_FAULTY = "resume_faulty", "resume, a sensor still failing"
    RESUME_RUNNING = "resume_running", "resume, a ball still running"
    BOULER = "bouler", "another bouler"
    BOULER_EARLY = "bouler_early", "another bouler, before the time of the present one is over"
    UNCHANGED = "unchanged", "what is so already is asked for again"

    def __init__(self, name: str, text: str) -> None:  # noqa: ARG002  see `Named`
        """Beside its name: what it is in plain words."""
        self.text = text


@unique
class Cause(Named):
    """Why a coup is void: its name in messages."""

    rule: VoidRule
    """That voids it; the article is the house's (`houses.Profile`)."""

    SAME_DIRECTION = "same_direction", "N1"
    EARLY_LAUNCH = "early_launch", "N2"
    TOO_FEW_LAPS = "too_few_laps", "N3"
    ROTOR_STOPPED_RUNNING = "rotor_stopped_running", "N4"
    ROTOR_STOPPED_BEFORE_DROP = "rotor_stopped_before_drop", "N5"
    FOREIGN_OBJECT = "foreign_object", "N6"
    CHEF = "chef", "N7"
    BREAKDOWN = "breakdown", "N8"

    def __init__(self, name: str, rule: VoidRule) -> None:  # noqa: ARG002  see `Named`
        """Beside its name: the rule."""
        self.rule = rule


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

    def __init__(self, name: str, rules: tuple[VoidRule, ...], text: str) -> None:  # noqa: ARG002  see `Named`
        """Beside its name: its rules, and what it is in plain words."""
        self.rules, self.text = rules, text


@unique
class Awaited(Enum):
    """What a table waits for: its code in messages. Every language has a phrase for each."""

    NO_LAUNCH = "no_launch"
    """The ball was taken from its pocket, and a launch now is void (N2)."""
    CLEAR_OBJECT = "clear_object"
    """A foreign object is taken out of the cylinder (N6)."""
    REPAIR = "repair"
    """The failing sensors work again (N8)."""
    PUT_BACK = "put_back"
    """The ball is put in the pocket of the last number (docs/rulebook.md 3)."""
    TURN_ROTOR = "turn_rotor"
    """The rotor turns, so that a reader can see where the ball lies."""
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
