"""Parse one line of a Cammegh wheel by its exact form, or reject it.

    *X;S;NNN;WW;F;RRR;D                        SlingShot 2; Mercury 360 in advanced mode, perhaps with a `;` at the end
    *X;S;NNN;WW;F;RRR;D;aaaa;rr;b;ttttt;pp     Mercury 360 in extended mode
    NN                                         the bare winning number
    *S   *N   *Wnn                             Mercury 360 in basic mode
    *Y;b;nnn   *Y;b;nnn;dd                     bonus lines, not used
    *c text                                    the answer to command `c`

Source: docs/wheels.md 1.2 to 1.7.
"""

from __future__ import annotations

import re
from enum import Enum, unique
from typing import Literal, TypeAlias

import msgspec

Direction: TypeAlias = Literal["cw", "ccw"]
LineFault: TypeAlias = Literal["malformed", "value", "shape"]
FAULTS: tuple[LineFault, ...] = ("malformed", "value", "shape")

DOUBLE_ZERO = 37
"""The number for `00`. The wheel's numbers 38 and 39 are "000" and "0000". No line contains 37 itself."""
_PADDED = r"[ 0-9][0-9]"
_ADVANCED = rf"\*X;([0-9]);([0-9]{{3}});({_PADDED}|  );([0-9A-F]);([0-9]{{3}});([01])"
# Field 10 grows by some 40,000 in a game, so it may need more than five digits. Field 7 had four digits in all recorded
# lines.
_EXTENDED = rf"([0-9A-F]{{4}});([0-9A-F]{{2}});([01]);([0-9A-F]{{5,8}});({_PADDED}|\?\?)"
_BARE = re.compile(_PADDED)
_BASIC = re.compile(rf"\*(?:([SN])|W({_PADDED}))")
_BONUS = re.compile(r"\*Y;[1-6];[0-9]{3}(?:;[0-9]{2})?")
_SENSOR_VIEW = re.compile(r"\* (SP[0-3]) ([0-9]{1,2}\.[0-9])")
_REPLY = re.compile(r"\*(bs|bn|[ -~]) (\S.*)")


@unique
class Product(Enum):
    """The product. The same digits mean different things in the two products."""

    MERCURY_360 = "mercury-360"
    SLINGSHOT_2 = "slingshot-2"


@unique
class StateCode(Enum):
    """The state of the game (docs/wheels.md 1.3)."""

    START = "start"
    PLACE_BETS = "place_bets"
    BALL_IN_RIM = "ball_in_rim"
    NO_MORE_BETS = "no_more_bets"
    WINNING_NUMBER = "winning_number"
    TABLE_CLOSED = "table_closed"
    BALL_OFF_TRACK = "ball_off_track"
    DEALER_LOCK = "dealer_lock"


@unique
class Flag(Enum):
    """A warning bit by its meaning (docs/wheels.md 1.4)."""

    BALL_NOT_DETECTED = "ball_not_detected"
    ROTOR_SPEED = "rotor_speed"
    SAME_DIRECTION = "same_direction"
    SENSOR_FAULT = "sensor_fault"
    LAUNCH_FAILED = "launch_failed"
    VOID_GAME = "void_game"


Flags: TypeAlias = frozenset[Flag]

_COMMON_STATES = dict(enumerate(list(StateCode)[:6], start=1))
_STATES = {
    Product.SLINGSHOT_2: {**_COMMON_STATES, 7: StateCode.BALL_OFF_TRACK},
    Product.MERCURY_360: {**_COMMON_STATES, 7: StateCode.DEALER_LOCK},
}
_BITS = {
    Product.SLINGSHOT_2: (Flag.BALL_NOT_DETECTED, Flag.SAME_DIRECTION, Flag.SENSOR_FAULT, Flag.LAUNCH_FAILED),
    Product.MERCURY_360: (Flag.ROTOR_SPEED, Flag.SAME_DIRECTION, Flag.SENSOR_FAULT, Flag.VOID_GAME),
}
_FLAGS = {
    product: {f"{sum_:X}": frozenset(flag for bit, flag in enumerate(bits) if sum_ & 1 << bit) for sum_ in range(16)}
    for product, bits in _BITS.items()
}
_STATUS = {
    Product.SLINGSHOT_2: re.compile(_ADVANCED),
    Product.MERCURY_360: re.compile(rf"{_ADVANCED}(?:;(?:{_EXTENDED})?)?"),
}
SPIN_MAX = {Product.SLINGSHOT_2: 256, Product.MERCURY_360: 255}
"""The highest number of a game. The number after it is 1."""


class LineError(ValueError):
    """The text is not a line of this wheel. `fault`: a broken `*X`, a value out of range, or an unknown form."""

    def __init__(self, fault: LineFault) -> None:
        super().__init__(f"not a line of this wheel: {fault}")
        self.fault = fault


class Extended(msgspec.Struct, frozen=True):
    """The fields that the extended mode adds. `raw_7` and `raw_10` are not documented, so they are kept unchanged."""

    laps: int
    """Revolutions of the ball. In state 5 the count is back at 0."""
    ball: Direction
    pocket: int | None
    """The wheel's "pocket position", None until the wheel knows it."""
    raw_7: str
    raw_10: str


class Status(msgspec.Struct, frozen=True):
    """One `*X` line."""

    state: StateCode
    spin: int
    """The number of the game since power-on, from 1."""
    number: int | None
    """The last winning number, None before the first."""
    flags: Flags
    rotor_decirpm: int
    """The rotor's speed in 0.1 rpm, as on the line. 0 may also mean any speed above 99.9 rpm."""
    rotor: Direction
    extended: Extended | None = None


class BareNumber(msgspec.Struct, frozen=True):
    """The winning number on a line of its own."""

    number: int


class Basic(msgspec.Struct, frozen=True):
    """A line of basic mode: its kind, one of three, and the number in `*W`."""

    kind: Literal["S", "N", "W"]
    number: int | None = None


class Bonus(msgspec.Struct, frozen=True):
    """A line of the bonus game."""


class HeadReply(msgspec.Struct, frozen=True):
    """The answer to a command: its letter (as sent, upper or lower case) and the text after the blank."""

    key: str
    text: str


Line: TypeAlias = Status | BareNumber | Basic | Bonus | HeadReply


def spin_after(product: Product, spin: int) -> int:
    """Return the spin number that follows `spin`."""
    return 1 if spin >= SPIN_MAX[product] else spin + 1


def parse(line: str, product: Product, *, pockets: int = 37) -> Line:
    """Parse `line`, which has no line end. `pockets`, 37 to 40, decides which numbers are accepted.

    Raises LineError.
    """
    if line.startswith("*X"):
        return _status(line, product, pockets)
    if _BARE.fullmatch(line):
        return BareNumber(_number(line, pockets))
    if product is Product.MERCURY_360 and (basic := _BASIC.fullmatch(line)):
        kind, number = basic.groups()
        return Basic("S" if kind == "S" else "N") if number is None else Basic("W", _number(number, pockets))
    if _BONUS.fullmatch(line):
        return Bonus()
    if reply := _SENSOR_VIEW.fullmatch(line) or _REPLY.fullmatch(line):
        return HeadReply(reply[1], reply[2])
    raise LineError("shape")


def _status(line: str, product: Product, pockets: int) -> Status:
    match = _STATUS[product].fullmatch(line)
    if match is None:
        raise LineError("malformed")
    state, spin, number, flags, speed, rotor, *rest = match.groups()
    if int(state) not in _STATES[product] or int(spin) > SPIN_MAX[product]:
        raise LineError("value")
    extended = None
    if rest and rest[0] is not None:
        raw_7, laps, ball, raw_10, pocket = rest
        lies_in = None if pocket == "??" else int(pocket)
        extended = Extended(int(laps, 16), _direction(ball), lies_in, raw_7, raw_10)
    return Status(
        _STATES[product][int(state)],
        int(spin),
        None if number == "  " else _number(number, pockets),
        _FLAGS[product][flags],
        int(speed),
        _direction(rotor),
        extended,
    )


def _direction(digit: str) -> Direction:
    return "ccw" if digit == "1" else "cw"


def _number(text: str, pockets: int) -> int:
    """Parse a number: ` 0` is zero, and `00` is double zero, which a wheel with 37 pockets does not have."""
    number = DOUBLE_ZERO if text == "00" else int(text)
    if number >= pockets or text == str(DOUBLE_ZERO):
        raise LineError("value")
    return number
