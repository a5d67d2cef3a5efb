"""What the table remembers: its place in the law, the coup at hand, and the chain of what it has published."""

from __future__ import annotations

import msgspec

from wheeld.core.facts import State
from wheeld.core.messages import Bets, Figures, LastVoid
from wheeld.core.seal import GENESIS

NUMBERS_KEPT = 20
"""`board` shows the last twenty numbers (interfaces)."""
BOULER_US = 30 * 60 * 1_000_000
"""C13: a bouler customarily spins for half an hour."""


class Coup(msgspec.Struct):
    """What the result of the coup at hand will say of its run. Times: sensing clock."""

    launched_us: int | None = None
    bets_closed_us: int | None = None
    left_track_us: int | None = None
    directions: Figures = {}


class Ledger(msgspec.Struct):
    """Everything durable of one table. It is stored with every step that changes it, and read back at a restart.

    `coup` counts launches for ever; `decided` says that coup `coup` has had its verdict. `last_coup`: la dernière is
    announced; `closing`: it was played. `ready_us`: sensing time since when a launch means what it means now (0 after
    a restart). `object_present` outlives a restart, for the sensor tells changes only.
    """

    state: State = State.CLOSED
    resume_to: State = State.CLOSED
    since_utc_us: int = 0
    ready_us: int = 0
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
