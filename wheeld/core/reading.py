"""Where the ball lies: sightings of the readers joined with the rotor's angle, until several agree (R3)."""

from __future__ import annotations

import msgspec

from wheeld.core.pockets import ROTOR_ORDER
from wheeld.core.rotor import RotorTracker

OFF_CENTRE_MAX = 0.40
"""In pockets: nearer to a wall than this the ball isn't lying in a pocket, or the rotor isn't where it is thought."""
SAME_PASS_US = 250_000
"""One reader can't meet the same pocket again sooner: that would be 240 rpm."""
SIGHTINGS_KEPT = 8


class Seen(msgspec.Struct, frozen=True):
    """One sighting placed on the rotor; `offset` in pockets from the centre."""

    t_us: int
    reader: int
    pocket_index: int
    offset: float


class ReadingState(msgspec.Struct):
    """`streak`: the latest consecutive sightings in one pocket. `lying`: the pocket last called, or at a
    start the one of the last number, where the ball belongs."""

    streak: list[Seen] = msgspec.field(default_factory=list)
    streak_length: int = 0
    lying: int | None = None
    called: bool = False
    last_us: int | None = None
    pass_us: dict[int, int] = msgspec.field(default_factory=dict)
    unplaced: int = 0


class PocketReading:
    """Calls a pocket when `needed` consecutive sightings agree. All state is in `state`."""

    def __init__(self, readers_deg: tuple[float, ...], needed: int, state: ReadingState | None = None) -> None:
        self._readers_deg = readers_deg
        self._needed = needed
        self.state = state or ReadingState()

    @property
    def pocket(self) -> int | None:
        """Index of the pocket where the ball was seen last, however few times; None before."""
        return self.state.streak[-1].pocket_index if self.state.streak else None

    @property
    def number(self) -> int | None:
        """The number of that pocket."""
        return None if self.pocket is None else ROTOR_ORDER[self.pocket]

    def sighting(self, t_us: int, reader: int, rotor: RotorTracker) -> bool:
        """Take one sighting in; True when it is the one that calls a pocket."""
        state = self.state
        before_us = state.pass_us.get(reader)
        if before_us is not None and t_us - before_us < SAME_PASS_US:
            return False
        state.pass_us[reader] = t_us
        placed = rotor.pocket_under(self._readers_deg[reader], t_us)
        if placed is None or abs(placed[1]) > OFF_CENTRE_MAX:
            state.unplaced += 1
            return False
        return self._count(Seen(t_us, reader, placed[0], round(placed[1], 3)))

    def restart(self) -> None:
        """The ball is known to be elsewhere: what was seen before proves nothing of where it will lie."""
        self.state.streak = []
        self.state.streak_length = 0
        self.state.called = False

    def turn_us(self, rotor: RotorTracker, t_us: int) -> int:
        """Longest time between two sightings of a lying ball at the rotor's speed; 5 s when that isn't known."""
        rpm = rotor.rpm(t_us)
        if not rpm:
            return 5_000_000
        angles = sorted(self._readers_deg)
        gaps = [after - before for before, after in zip(angles, [*angles[1:], angles[0] + 360], strict=True)]
        return round(max(gaps) / (rpm * 6) * 1e6)

    def _count(self, seen: Seen) -> bool:
        state = self.state
        state.last_us = seen.t_us
        if self.pocket != seen.pocket_index:
            self.restart()
        state.streak = [*state.streak[-SIGHTINGS_KEPT + 1 :], seen]
        state.streak_length += 1
        if state.called or state.streak_length < self._needed:
            return False
        state.called = True
        state.lying = seen.pocket_index
        return True
