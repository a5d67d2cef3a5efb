"""What a Cammegh session tells, each with its source in wheels.md.

`host_ns` is the host's monotonic clock when the line was read that brought it. `spin` is the wheel's number of the
game.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from firmware_protocol.cammegh.status import Direction, Flags, Product, State

Witness: TypeAlias = Literal["flag", "directions"]
VoidReason: TypeAlias = Literal["void_game", "ball_not_detected", "launch_failed", "no_number"]
StopSign: TypeAlias = Literal["slowed", "reversed"]


class Event(msgspec.Struct, frozen=True):
    """Any of them."""

    host_ns: int


class Connected(Event, frozen=True):
    """The first status line of this session: where the wheel stands. A game in progress was not seen to begin (1.2)."""

    product: Product
    state: State
    spin: int
    last_number: int | None


class Silent(Event, frozen=True):
    """No status line for the set time; lines come every 500 ms, or answer polls (1.2, 1.6)."""

    since_ns: int


class Heard(Event, frozen=True):
    """Status lines again, after `silent_ns` without one."""

    silent_ns: int


class GameState(Event, frozen=True):
    """The wheel says another state than before (1.3)."""

    state: State
    before: State
    spin: int


class Warned(Event, frozen=True):
    """The warning bits have changed; empty: all gone (1.4). Conclusions from them are events of their own."""

    flags: Flags
    state: State
    spin: int


class BallSeen(Event, frozen=True):
    """A run of the ball begins: state 3, one revolution in the rim (1.3).

    `ball` is that one line's word, None without the extended mode. `from_launch`: the line before said that no ball
    ran; False when the beginning was not heard.
    """

    spin: int
    ball: Direction | None
    rotor: Direction
    from_launch: bool


class BallDirection(Event, frozen=True):
    """Two lines in a row agree on both directions, the ball's new in this run or other than before; extended mode only
    (1.6, field 9)."""

    spin: int
    ball: Direction
    rotor: Direction


class SameDirection(Event, frozen=True):
    """The ball runs with the rotor: by the wheel's bit 2 in state 3 or 4 (1.4), or by two lines' directions (1.6)."""

    spin: int
    by: Witness


class Laps(Event, frozen=True):
    """So many laps stand in two lines in a row: the latched most of this run over states 3 and 4 (1.6, field 8).
    After a silence it is borne out anew. Never from a count that did not begin with the run, at 3 or less, or after it
    leapt further than a ball runs. 0: what was told of this run is taken back: its count did what no ball can do."""

    spin: int
    laps: int


class BallLeaving(Event, frozen=True):
    """State 4, no more bets: within 3.5 revolutions of the end on a SlingShot 2, slower than parameter 66 on a Mercury.

    `opposite`: True when two lines' directions say so, or a SlingShot 2, whose state 4 means that (1.3); False after
    `SameDirection`; None when nobody says.
    """

    spin: int
    laps: int | None
    opposite: bool | None


class BallOffTrack(Event, frozen=True):
    """State 7 of a SlingShot 2 with option 32: the ball is no longer in the track (1.3)."""

    spin: int


class Number(Event, frozen=True):
    """The number, with its witnesses (1.5). At most one a run; a void that was told before stays one.

    `laps`: the latched most, None when no line carried laps, or when the count was none a ball can make (see `Laps`).
    `whole`: heard from before the launch through states 3 and 4 without a silence. `pocket`: the wheel's pocket
    position, as it stood.
    """

    number: int
    spin: int
    laps: int | None
    ball: Direction | None
    rotor: Direction
    pocket: int | None
    whole: bool


class NumberDisagrees(Event, frozen=True):
    """Bare number and status line differ, or one of them never came; or the number changed after it was told, in state
    5 (two lines say so, bare or not) or between games: then `bare` is what had been accepted and `status` the new one.
    This run has no number (1.5)."""

    spin: int
    bare: int | None
    status: int | None


class LaunchFailed(Event, frozen=True):
    """Bit 8 of a SlingShot 2 in state 2: no ball flies, the controller tries again under the same spin number (1.8)."""

    spin: int
    flags: Flags


class WheelVoid(Event, frozen=True):
    """The game is void, or over without a number; at most once a run.

    `void_game`: bit 8 of a Mercury 360 (1.4). `ball_not_detected`: bit 1 of a SlingShot 2 for 5 s of state 4;
    `launch_failed`: its bit 8 later than 3 s into state 3 (1.4, guide 4.1). `no_number`: the ball ran, then came
    `state`.
    """

    spin: int
    why: VoidReason
    flags: Flags
    state: State


class UnobservedCoup(Event, frozen=True):
    """Games were played that nobody here heard: the spin number moved on without a result, or a result without a run
    (then both spins are the same). How many, and what came, is not concluded (1.8)."""

    from_spin: int
    to_spin: int
    number_before: int | None
    number_after: int | None


class WheelRestarted(Event, frozen=True):
    """The last number has gone blank: the wheel was switched off and on (1.2). What ran before is lost."""

    from_spin: int
    to_spin: int


class RotorSpeed(Event, frozen=True):
    """The speed field of each line. `rpm` None: the field says `000` and no reading of 40 rpm or less came before it,
    so the rotor stands or turns at more than 99.9 rpm (1.8): no proof that it turns. It is None in every line of a game
    whose rotor already stood when the host began to listen."""

    rpm: float | None
    rotor: Direction


class RotorStopped(Event, frozen=True):
    """The rotor stood while the ball ran: two lines of `000` after a slow one, or two with the other direction (1.8).
    Only between states 3 and 5; a SlingShot 2 stops in state 2 of each game."""

    spin: int
    by: StopSign


class SensorFault(Event, frozen=True):
    """Bit 4: sensors, on a SlingShot 2 also motor or encoder, have failed (1.4)."""

    state: State
    spin: int


class SensorMended(Event, frozen=True):
    """Two lines without bit 4 after a `SensorFault`."""

    state: State
    spin: int


class SelfTestCode(Event, frozen=True):
    """`*F n` of a SlingShot 2 that tests itself (1.7): 0 is good."""

    code: int
    meaning: str


class CommandConfirmed(Event, frozen=True):
    """The wheel reads back what was set: `found`."""

    command: str
    found: str


class CommandIgnored(Event, frozen=True):
    """The wheel reads back something else than what was set, whatever it had answered (1.8)."""

    command: str
    found: str


class CommandAnswered(Event, frozen=True):
    """The answer to a command that nothing can be read back of."""

    command: str
    reply: str


class CommandRefused(Event, frozen=True):
    """`NO`: unknown, or already so; `BUSY`: only when idle (1.7)."""

    command: str
    reply: str


class CommandUnanswered(Event, frozen=True):
    """No answer in time."""

    command: str


class Misconfigured(Event, frozen=True):
    """The wheel is set up otherwise than this session was told: `setting` is `expected` and was `found` (1.6, 1.7)."""

    setting: str
    expected: str
    found: str
