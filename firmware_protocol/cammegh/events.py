"""What a session reports of a Cammegh wheel. The numbers in brackets are sections of docs/wheels.md.

`host_ns` is the host's monotonic clock when the line behind the event was read. `spin` is the wheel's number of the
game.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from firmware_protocol.cammegh.status import Direction, Flags, StateCode

VoidReason: TypeAlias = Literal["void_game", "ball_not_detected", "launch_failed", "no_number"]


class Event(msgspec.Struct, frozen=True):
    """Any of them."""

    host_ns: int


# The line


class Connected(Event, frozen=True):
    """The first status line of this session. The beginning of a game in progress was not heard (1.2)."""

    state: StateCode
    spin: int
    last_number: int | None


class Silent(Event, frozen=True):
    """No status line for the configured time; lines come every 500 ms, or answer polls (1.2, 1.6)."""

    since_ns: int


class LinesAgain(Event, frozen=True):
    """Status lines again, after `silent_ns` without one."""

    silent_ns: int


# The game


class GameState(Event, frozen=True):
    """The wheel shows another state than before (1.3)."""

    state: StateCode
    spin: int


class BallSeen(Event, frozen=True):
    """A run of the ball begins: state 3, one revolution in the rim (1.3)."""

    spin: int


class BallDirection(Event, frozen=True):
    """Two lines in a row show the same directions, and the ball's is new in this run or has changed. Only in extended
    mode (1.6, field 9)."""

    spin: int
    ball: Direction
    rotor: Direction


class Laps(Event, frozen=True):
    """Two lines in a row show at least so many laps of this run, more than before (1.6, field 8).

    After a silence the laps must be shown by two lines again. 0 takes back the laps reported before: the count did what
    the laps of a ball cannot do.
    """

    spin: int
    laps: int


class BallOffTrack(Event, frozen=True):
    """State 7 of a SlingShot 2 with option 32: the ball is no longer in the track (1.3)."""

    spin: int


class Number(Event, frozen=True):
    """The number on which two lines agree (1.5). At most one a run; a void reported before it remains.

    `whole`: every part of the run was heard, from before the launch through states 3 and 4, without a silence.
    """

    number: int
    spin: int
    whole: bool


class NumberDisagrees(Event, frozen=True):
    """This run has no number (1.5): bare number and status line differ, or one of them did not come.

    Or the number changed after it was reported, in two lines: then `bare` is the reported one, `status` the new one.
    """

    spin: int
    bare: int | None
    status: int | None


class WheelVoid(Event, frozen=True):
    """The game is void, or over without a number; at most once a run.

    `void_game`: bit 8 of a Mercury 360 (1.4). `ball_not_detected`: bit 1 of a SlingShot 2 for 5 s of state 4;
    `launch_failed`: its bit 8 later than 3 s into state 3 (1.4, guide 4.1). `no_number`: the ball ran, then came a
    state without a number.
    """

    spin: int
    why: VoidReason
    flags: Flags


class UnobservedCoup(Event, frozen=True):
    """Games were played whose lines were not read (1.8). How many, and their numbers, is not concluded.

    Either the spin number moved on without a result, or a result came without a run: then both spins are the same.
    """

    from_spin: int
    to_spin: int
    number_before: int | None
    number_after: int | None


class WheelRestarted(Event, frozen=True):
    """The last number is blank again: the wheel was switched off and on (1.2). What ran before is lost."""

    from_spin: int
    to_spin: int


# Warnings and sensors


class Warned(Event, frozen=True):
    """The warning bits have changed; empty: none is left (1.4)."""

    flags: Flags


class SensorFault(Event, frozen=True):
    """Bit 4: sensors, on a SlingShot 2 also motor or encoder, have failed (1.4)."""


class SensorMended(Event, frozen=True):
    """Two lines without bit 4 after a `SensorFault`."""


class RotorSpeed(Event, frozen=True):
    """The speed field of each line. `rpm` None: the field shows `000` and no speed of 40 rpm or less came before it,
    so the rotor stands or turns at more than 99.9 rpm (1.8). It is None in every line of a game whose rotor already
    stood when the host began to listen."""

    rpm: float | None
    rotor: Direction


# Commands and settings


class SelfTestCode(Event, frozen=True):
    """`*F n` of a SlingShot 2 that tests itself (1.7): 0 is good."""

    code: int
    meaning: str


class CommandConfirmed(Event, frozen=True):
    """The wheel has what was set: it shows `found`."""

    command: str
    found: str


class CommandIgnored(Event, frozen=True):
    """The wheel does not have what was set, whatever it had answered (1.8): it shows `found`."""

    command: str
    found: str


class CommandAnswered(Event, frozen=True):
    """The answer to a question."""

    command: str
    reply: str


class CommandRefused(Event, frozen=True):
    """`NO`: unknown, or already so; `BUSY`: only between games (1.7)."""

    command: str
    reply: str


class CommandUnanswered(Event, frozen=True):
    """No answer in time."""

    command: str


class Misconfigured(Event, frozen=True):
    """The wheel is set up otherwise than the configuration says: `setting` should be `expected` and is `found`
    (1.6, 1.7)."""

    setting: str
    expected: str
    found: str
