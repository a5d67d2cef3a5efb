"""The terms of the law: where a table stands, what can be proven or asked for, why a coup is void."""

from __future__ import annotations

from enum import Enum, unique
from typing import Literal, TypeAlias

StateName: TypeAlias = Literal[
    "closed",
    "faites_vos_jeux",
    "ball_running",
    "rien_ne_va_plus",
    "ball_on_obstacle",
    "operations",
    "rien_va",
    "suspended",
]
"""How docs/interfaces.md names the states of a table."""


Bets: TypeAlias = Literal["open", "closed", "locked"]
"""Whether bets are taken; `locked`: none is added or withdrawn (N5)."""


@unique
class State(Enum):
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
    AWAITING_CHEF = "awaiting_chef", "rien_ne_va_plus", "closed"
    """The number is out; the chef must answer for what no sensor of this table proves of its run."""
    OPERATIONS = "operations", "operations", "closed"
    """The number is out and is being paid."""
    RIEN_VA = "rien_va", "rien_va", "closed"
    """The coup was void: "tout va" is owed."""
    RIEN_VA_OPERATIONS_OWED = "rien_va_operations_owed", "rien_va", "closed"
    """Launched before the operations were done: they and "tout va" are owed."""
    SUSPENDED = "suspended", "suspended", "closed"
    """Play is suspended, by the direction or by a breakdown."""

    def __new__(cls, name: str, wire_name: StateName, bets: Bets) -> State:
        """The value is the name alone."""
        state = object.__new__(cls)
        state._value_ = name
        state.wire_name, state.bets = wire_name, bets
        return state


@unique
class Fact(Enum):
    """What has been proven, or asked for: its name, and what it is in plain words."""

    text: str

    LAUNCHED = "launched", "a ball runs"
    WEAK_LAUNCH = "weak_launch", "a pass or two on the track, then the ball lies elsewhere, or nowhere"
    LAUNCHED_BEFORE = "launched_before", "a ball runs, launched before the table came to its present state"
    STRAY_PULSE = "stray_pulse", "a beam pulsed for nothing"
    LAUNCHED_IDLE = "launched_idle", "a ball runs, launched while no game was on"
    LAUNCHED_NULL = "launched_null", "a ball ran, of a coup that is void already or of no game"
    LAUNCHED_OVER_OBJECT = "launched_over_object", "a ball runs, a foreign object lies in the cylinder"
    SAME_DIRECTION = "same_direction", "the ball turns with the rotor"
    OPPOSITE_DIRECTION = "opposite_direction", "the ball turns against the rotor"
    BALL_SLOWED = "ball_slowed", "the ball has slowed to the set speed"
    VOID_FORESEEN = "void_foreseen", "the ball will leave the track before its laps"
    LEAVING_FORESEEN = "leaving_foreseen", "the ball will soon leave the track"
    LEFT_TRACK = "left_track", "the ball left the track, its laps proven"
    LEFT_TRACK_SHORT = "left_track_short", "the ball left the track, too few laps proven"
    FALL_OVERDUE = "fall_overdue", "no pocket yet, longer than a fall takes"
    NUMBER = "number", "the ball came to rest in a pocket, its run proven"
    NUMBER_UNPROVEN = "number_unproven", "the ball came to rest in a pocket, its run not proven"
    NUMBER_UNCONFIRMED = "number_unconfirmed", "the ball came to rest in a pocket, proven as far as these sensors can"
    NUMBER_CORRECTED = "number_corrected", "the wheel takes its number back, or reports another for the same game"
    BALL_MOVED = "ball_moved", "the ball lies in another pocket, no launch was seen"
    BALL_IN_PLACE = "ball_in_place", "the ball lies in the pocket of the last number"
    ROTOR_STOPPED_RUNNING = "rotor_stopped_running", "the rotor stopped while the ball ran"
    ROTOR_STOPPED_BEFORE_DROP = (
        "rotor_stopped_before_drop",
        "the rotor stopped, the ball off the track and in no pocket",
    )
    ROTOR_WRONG_WAY = "rotor_wrong_way", "a fair wheel turns the other way"
    OBJECT_IN = "object_in", "a foreign object is in the cylinder"
    OBJECT_OUT = "object_out", "the cylinder is clear again"
    SENSOR_FAULT = "sensor_fault", "a sensor or its link failed"
    SENSOR_MENDED = "sensor_mended", "a sensor or its link works again"
    LAUNCH_UNSEEN = "launch_unseen", "a ball runs, its launch was not seen"
    UNOBSERVED_COUP = "unobserved_coup", "the wheel counted a coup that it never reported"
    WHEEL_VOID = "wheel_void", "the wheel declares its own game void"
    RESTARTED = "restarted", "the controller was restarted"
    BOULER_DUE = "bouler_due", "the bouler has spun for his time"
    OPEN = "open", "open"
    OPEN_FAULTY = "open_faulty", "open, a sensor still failing"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus", "rien ne va plus"
    CHEF_VOID = "chef_void", "rien va"
    CHEF_VOID_AT_LAUNCH = "chef_void_at_launch", "rien va, passes seen, the launch not yet proven"
    CONFIRM = "confirm", "confirm"
    TOUT_VA = "tout_va", "tout va, the ball in its pocket"
    TOUT_VA_LAST = "tout_va_last", "tout va, the ball in its pocket, la dernière was played"
    TOUT_VA_MISPLACED = "tout_va_misplaced", "tout va, the ball not seen in its pocket"
    TOUT_VA_OBJECT = "tout_va_object", "tout va, a foreign object in the cylinder"
    OPERATIONS_DONE = "operations_done", "operations done"
    OPERATIONS_DONE_LAST = "operations_done_last", "operations done, la dernière was that coup"
    OPERATIONS_DONE_OBJECT = "operations_done_object", "operations done, a foreign object in the cylinder"
    LAST_COUP = "last_coup", "la dernière"
    CLOSE = "close", "close"
    SUSPEND = "suspend", "suspend"
    RESUME = "resume", "resume"
    RESUME_FAULTY = "resume_faulty", "resume, a sensor still failing"
    BOULER = "bouler", "another bouler"

    def __new__(cls, name: str, text: str) -> Fact:
        """The value is the name alone: stored facts stay what they are when the text changes."""
        fact = object.__new__(cls)
        fact._value_ = name
        fact.text = text
        return fact


@unique
class Cause(Enum):
    """Why a coup is void: its name in messages."""

    rule: str
    """That voids it; the article is the house's (`houses.Profile`)."""

    SAME_DIRECTION = "same_direction", "N1"
    EARLY_LAUNCH = "early_launch", "N2"
    TOO_FEW_LAPS = "too_few_laps", "N3"
    ROTOR_STOPPED_RUNNING = "rotor_stopped_running", "N4"
    ROTOR_STOPPED_BEFORE_DROP = "rotor_stopped_before_drop", "N5"
    FOREIGN_OBJECT = "foreign_object", "N6"
    CHEF = "chef", "N7"
    BREAKDOWN = "breakdown", "N8"

    def __new__(cls, name: str, rule: str) -> Cause:
        """The value is the name alone."""
        cause = object.__new__(cls)
        cause._value_ = name
        cause.rule = rule
        return cause
