"""The events that a session reports about a Cammegh wheel. The numbers in brackets are sections of docs/wheels.md.

`host_ns` is the time on the host's monotonic clock at which the line of the event was read. `spin` is the number that
the wheel gives to the game.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from firmware_protocol.cammegh.status import Direction, Flags, StateCode

VoidReason: TypeAlias = Literal["void_game", "ball_not_detected", "launch_failed", "no_number"]


class Event(msgspec.Struct, frozen=True):
    """The base of all events."""

    host_ns: int


# --- events of the line to the wheel ---------------------------------------------------------------------------------


class Connected(Event, frozen=True):
    """The first status line of this session was read. If a game is running, its earlier lines are missing (1.2)."""

    state: StateCode
    spin: int
    last_number: int | None


class Silent(Event, frozen=True):
    """No status line came for the configured time. Lines come every 500 ms, or as answers to polls (1.2, 1.6)."""

    since_ns: int


class LinesAgain(Event, frozen=True):
    """A status line came again, after `silent_ns` without one."""

    silent_ns: int


# --- events of the game ----------------------------------------------------------------------------------------------


class GameState(Event, frozen=True):
    """The state that the wheel shows has changed (1.3)."""

    state: StateCode
    spin: int


class BallSeen(Event, frozen=True):
    """A run of the ball begins. State 3 means that the ball has made one revolution in the rim (1.3)."""

    spin: int


class BallDirection(Event, frozen=True):
    """Two lines in a row show the same directions, and the direction of the ball is new in this run or has changed.
    Only the extended mode has directions (1.6, field 9)."""

    spin: int
    ball: Direction
    rotor: Direction


class Laps(Event, frozen=True):
    """Two lines in a row show at least `laps` laps of this run, more than before (1.6, field 8).

    After a silence two lines must show the laps again. `laps` 0 takes back the laps that were reported before, because
    the count changed in a way that is impossible for a ball.
    """

    spin: int
    laps: int


class BallOffTrack(Event, frozen=True):
    """The ball has left the track: state 7 of a SlingShot 2 with option 32 (1.3)."""

    spin: int


class Number(Event, frozen=True):
    """The number on which two lines agree (1.5). A run has at most one such event. If a void was reported before, the
    void stays.

    `whole`: the lines of the whole run were read, from before the launch through states 3 and 4, without a silence.
    """

    number: int
    spin: int
    whole: bool


class NumberDisagrees(Event, frozen=True):
    """This run has no number (1.5). The bare number and the status line differ, or one of them did not come.

    Or two lines showed another number after the number was reported. Then `bare` is the reported number, and `status`
    the new number.
    """

    spin: int
    bare: int | None
    status: int | None


class WheelVoid(Event, frozen=True):
    """The game is void, or it ended without a number. A run has at most one such event.

    `void_game`: bit 8 of a Mercury 360 (1.4). `ball_not_detected`: bit 1 of a SlingShot 2 during 5 s of state 4.
    `launch_failed`: bit 8 of a SlingShot 2 after the first 3 s of state 3 (1.4, guide 4.1). `no_number`: after the
    ball ran, a state without a number followed.
    """

    spin: int
    why: VoidReason
    flags: Flags


class UnobservedCoup(Event, frozen=True):
    """Games were played whose lines were not read (1.8). The event does not say how many, or with which results.

    Either the spin number changed without a result, or a result came without a run. If a result came without a run,
    both spin numbers are the same.
    """

    from_spin: int
    to_spin: int
    number_before: int | None
    number_after: int | None


class WheelRestarted(Event, frozen=True):
    """The last number is blank again, so the wheel was switched off and on (1.2). A game in progress is lost."""

    from_spin: int
    to_spin: int


# --- events of warnings and sensors ----------------------------------------------------------------------------------


class Warned(Event, frozen=True):
    """The warning bits have changed (1.4). `flags` is empty if no warning is left."""

    flags: Flags


class SensorFault(Event, frozen=True):
    """Bit 4: a sensor has failed, or on a SlingShot 2 the motor or the encoder (1.4)."""


class SensorMended(Event, frozen=True):
    """Two lines without bit 4 came after a `SensorFault`."""


class RotorSpeed(Event, frozen=True):
    """The speed field of each line. `rpm` is None if the field shows `000` without a speed of 40 rpm or less before it:
    the rotor stands still, or turns at more than 99.9 rpm (1.8). So if the rotor stood still when the host began to
    listen, `rpm` is None until the rotor turns."""

    rpm: float | None
    rotor: Direction


# --- events of commands and settings ---------------------------------------------------------------------------------


class SelfTestCode(Event, frozen=True):
    """A SlingShot 2 reports the result of its self-test, `*F n` (1.7). 0 means good."""

    code: int
    meaning: str


class CommandConfirmed(Event, frozen=True):
    """The wheel has accepted a setting: its value is `found`."""

    command: str
    found: str


class CommandIgnored(Event, frozen=True):
    """The wheel has ignored a setting, though it may have answered OK (1.8). The setting still is `found`."""

    command: str
    found: str


class CommandAnswered(Event, frozen=True):
    """The wheel has answered a request."""

    command: str
    reply: str


class CommandRefused(Event, frozen=True):
    """The wheel refused a command (1.7). `NO`: unknown, or already set. `BUSY`: only possible between games."""

    command: str
    reply: str


class CommandUnanswered(Event, frozen=True):
    """A command was not answered in time."""

    command: str


class Misconfigured(Event, frozen=True):
    """The settings of the wheel differ from the configuration: `setting` should be `expected` and is `found`
    (1.6, 1.7)."""

    setting: str
    expected: str
    found: str
