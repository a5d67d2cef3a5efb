"""What the table remembers: its place in the law, the coup at hand, and the chain of what it has published."""

from __future__ import annotations

import msgspec

from wheeld.core.facts import Bets, State
from wheeld.core.law.registers import LaunchRegister
from wheeld.core.messages.chain import GENESIS
from wheeld.core.messages.payloads import LastVoid
from wheeld.core.tracking.evidence import Figures
from wheeld.core.tracking.head_game import HeadGameKept
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.sighting import Seen

NUMBERS_KEPT = 20
"""`board` shows the last twenty numbers (docs/interfaces.md)."""
BOULER_US = 30 * 60 * 1_000_000
"""A4: a bouler customarily spins for half an hour."""


class Called(msgspec.Struct, frozen=True):
    """A number that came out, with what the result says of it; `laps` and `rotor_rpm` None where nothing reports them.

    `t_us`: when its proof was complete. `unproven`: the rules (R1, R2) that the chef must answer for.
    """

    number: int
    t_us: int
    laps: float | None
    rotor_rpm: float | None
    sightings: list[Seen]
    margin: Margin | None
    unproven: tuple[str, ...]


class Coup(msgspec.Struct):
    """What the result of the coup at hand will say of its run. Times: sensing clock.

    `called`: the number that awaits the chef.
    """

    launched_us: int | None = None
    bets_closed_us: int | None = None
    left_track_us: int | None = None
    directions: Figures = {}
    called: Called | None = None


class TableState(msgspec.Struct):
    """Everything durable of one table. It is stored with every step that changes it, and read back at a restart.

    `resume_to`: where `resume` leads. `since_at`: since when it is in `state`, in UTC. `launches`: see `registers`.
    `coup` is the number of the latest coup. A coup is numbered when bets open; a launch without open bets has a number
    too (see `begin_coup`). Numbers never begin anew. `decided` says that coup `coup` has had its verdict. `last_coup`:
    la dernière is announced; `closing`: it was played. `object_present` is kept for a restart, because the sensor
    reports changes only. `head_game`: where a head's games stood. `view`: what was last published of the table.
    """

    state: State = State.CLOSED
    resume_to: State = State.CLOSED
    since_at: str = ""
    launches: LaunchRegister = msgspec.field(default_factory=lambda: LaunchRegister.starting_in(State.CLOSED))
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
    bouler_due_reported: bool = False
    current: Coup = msgspec.field(default_factory=Coup)
    view: tuple[str, Bets, int | None, bool, str | None, str] | None = None

    def begin_coup(self) -> None:
        """Number the next coup, unless the one at hand still awaits its launch."""
        if self.decided:
            self.coup += 1
            self.decided = False
            self.current = Coup()

    def come_out(self, number: int) -> None:
        """A number came out: it leads the board, and la dernière is played if it was announced."""
        self.last_number = number
        self.numbers = [number, *self.numbers][:NUMBERS_KEPT]
        if self.last_coup:
            self.last_coup, self.closing = False, True
