"""What the table remembers: its place in the law, the coup at hand, and the chain of what it has published."""

from __future__ import annotations

import msgspec

from wheeld.core.law.facts import State
from wheeld.core.messages.chain import GENESIS
from wheeld.core.messages.payloads import Bets, Figures, LastVoid
from wheeld.core.observations import Command
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.pocket import Seen

NUMBERS_KEPT = 20
"""`board` shows the last twenty numbers (interfaces)."""
STOOD_KEPT = 8
"""Words that people can say while a lap proves a launch."""
BOULER_US = 30 * 60 * 1_000_000
"""C13: a bouler customarily spins for half an hour."""


class Called(msgspec.Struct, frozen=True):
    """A number that came out, with what the result says of it; `laps` and `rotor_rpm` None where nobody told them.

    `unproven`: the rulebook's rows of Art. 10 that the chef must answer for.
    """

    number: int
    t_us: int
    laps: float | None
    rotor_rpm: float | None
    sightings: list[Seen]
    margin: Margin | None
    unproven: tuple[str, ...]


class Coup(msgspec.Struct):
    """What the result of the coup at hand will say of its run. Times: sensing clock. `called`: awaits the chef."""

    launched_us: int | None = None
    bets_closed_us: int | None = None
    left_track_us: int | None = None
    directions: Figures = {}
    called: Called | None = None


class HeadGameKept(msgspec.Struct, frozen=True):
    """The number of a wheel head's latest game, and whether it may be over: then the next number is no surprise."""

    spin: int
    over: bool

    def goes_on_with(self, spin: int) -> bool:
        """Whether no other game was played before the one with this number. They begin anew at 0 or 1 (wheels 1.2)."""
        return spin == self.spin or (self.over and spin in (self.spin + 1, 0, 1))


class Stood(msgspec.Struct):
    """Since when, on the sensing clock, a launch has meant what it means in `state`."""

    since_us: int
    state: State


class TableState(msgspec.Struct):
    """Everything durable of one table. It is stored with every step that changes it, and read back at a restart.

    `coup` counts launches for ever; `decided` says that coup `coup` has had its verdict. `last_coup`: la dernière is
    announced; `closing`: it was played. `stood`: what a launch meant lately, latest last (a launch is proven after it
    was made). `null_us`: a ball seen first before then is that of a coup that the chef declared null. Both begin anew
    at a restart. `object_present` outlives it, for the sensor tells changes only. `null_asked`: the chef declared null
    a coup whose ball only a head sees, and it had not said so yet. `head_game`: where a head's games stood.
    """

    state: State = State.CLOSED
    resume_to: State = State.CLOSED
    since_utc_us: int = 0
    stood: list[Stood] = msgspec.field(default_factory=list)
    null_us: int = 0
    null_asked: Command | None = None
    head_game: HeadGameKept | None = None
    coup: int = 0
    decided: bool = True
    seq: int = 0
    prev: str = GENESIS
    last_number: int | None = None
    numbers: list[int] = msgspec.field(default_factory=list)
    last_void: LastVoid | None = None
    last_coup: bool = False
    closing: bool = False
    object_present: bool = False
    bouler: str | None = None
    bouler_since_utc_us: int | None = None
    bouler_due_told: bool = False
    current: Coup = msgspec.field(default_factory=Coup)
    view: tuple[str, Bets, int | None, bool, str | None, str] | None = None

    @property
    def ready_us(self) -> int:
        """Sensing time since when a launch means what it means now."""
        return self.stood[-1].since_us if self.stood else 0

    def stand(self, now_us: int) -> None:
        """From now on a launch means what it means in the present state."""
        self.stood = [*self.stood[-STOOD_KEPT + 1 :], Stood(now_us, self.state)]

    def stood_in(self, t_us: int) -> State:
        """What a launch at `t_us` meant: a state that means the same."""
        before = [stood.state for stood in self.stood if stood.since_us <= t_us]
        return before[-1] if before else self.stood[0].state

    def begin_coup(self) -> None:
        """Number the next coup, unless the one at hand still awaits its launch."""
        if self.decided:
            self.coup += 1
            self.decided = False
            self.current = Coup()

    def end_coup(self) -> None:
        """The coup at hand has its verdict."""
        self.decided = True

    def come_out(self, number: int) -> None:
        """A number came out: it leads the board, and la dernière is played if it was announced."""
        self.last_number = number
        self.numbers = [number, *self.numbers][:NUMBERS_KEPT]
        if self.last_coup:
            self.last_coup, self.closing = False, True

    @property
    def bets(self) -> Bets:
        """Rulebook 6: open, locked on the obstacle, closed otherwise."""
        if self.state in (State.FAITES_VOS_JEUX, State.BALL_RUNNING):
            return "open"
        return "locked" if self.state is State.BALL_ON_OBSTACLE else "closed"
