"""A ball that was launched and has not come to rest, of whichever coup, or of none: where it is, as far as is known.

A run is forgotten when it belongs to no coup; its ball goes on running and falling all the same. While it does, nobody
may be asked to bet (docs/rulebook.md 6).
"""

from __future__ import annotations

from enum import Enum, unique

import msgspec

FALL_US_MAX = 30_000_000
"""No fall is awaited for longer, however slowly the rotor turns its pockets past a reader."""
HEAD_RUN_US_MAX = 120_000_000
"""No ball runs for two minutes. A head that reports one for longer sees something else."""


@unique
class Whereabouts(Enum):
    """Where a launched ball is."""

    AT_REST = "at rest"  # no launched ball is on its way, or nobody has seen one
    ON_TRACK = "on the track"
    FALLING = "falling"  # off the track for no longer than a fall takes, and not seen at rest
    UNSEEN = "unseen"  # off the track for longer, and seen in no pocket: on an obstacle, or in a hand


class Loose(msgspec.Struct):
    """What is remembered of a ball from its launch (by a head) or its last pass (by beams) until it is seen at rest.

    `until_us`: until when it may run or fall by itself; None while no ball is loose. `is_unseen`: it was not seen until
    then.
    """

    until_us: int | None = None
    is_unseen: bool = False

    @property
    def due_us(self) -> int | None:
        """When it should have been seen at rest; None when that is over, or no ball is loose."""
        return None if self.is_unseen else self.until_us

    def wait(self, until_us: int) -> None:
        """It is on its way, and until then it will be at rest."""
        self.until_us, self.is_unseen = until_us, False

    def miss(self) -> None:
        """It was not seen at rest in time."""
        self.is_unseen = True

    def settle(self) -> None:
        """It rests, or is out of play."""
        self.until_us, self.is_unseen = None, False
