"""Where the ball lies: sightings of the readers joined with the rotor's angle, until several agree (R3)."""

from __future__ import annotations

import msgspec

from wheeld.core.pockets import ROTOR_ORDER
from wheeld.core.rotor import RotorTracker

OFF_CENTRE_MAX = 0.40
"""In pockets: nearer to a wall than this the ball isn't lying in a pocket, or the rotor isn't where it is thought."""
SAME_PASS_US = 250_000
"""One reader can't meet a ball again sooner; nor in the same pocket before the rotor made half a turn."""
SPAN_TURNS = 0.5
"""R3: several readers' sightings make about one rotor turn; three in a few degrees may be one bounce."""
PLACED_SIGHTINGS = 2
PLACED_TURNS = 2.2
"""Seen twice in a pocket, and missed by a reader at most once since, the ball lies there (C11, before "tout va")."""
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
        self._widest_deg = _widest_gap_deg(readers_deg)
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
        half_turn_us = self._turns_us(rotor, t_us, SPAN_TURNS)
        if placed[0] == self.pocket and before_us is not None and t_us - before_us < half_turn_us:
            return False
        return self._count(Seen(t_us, reader, placed[0], round(placed[1], 3)), half_turn_us)

    def lies_in(self, pocket_index: int, rotor: RotorTracker, now_us: int) -> bool:
        """Whether the ball lies in that pocket now. While the rotor stands no reader can say that it was taken out."""
        state = self.state
        if self.pocket != pocket_index or state.streak_length < PLACED_SIGHTINGS:
            return False
        interval_us = self.turn_us(rotor, rotor.state.last_tick_us or now_us)
        return rotor.state.stopped or now_us <= state.streak[-1].t_us + PLACED_TURNS * interval_us

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
        return round(self._widest_deg / (rpm * 6) * 1e6)

    def _turns_us(self, rotor: RotorTracker, t_us: int, turns: float) -> int:
        """How long the rotor takes for `turns`; 0 when its speed isn't known."""
        rpm = rotor.rpm(t_us)
        return round(turns / rpm * 60e6) if rpm else 0

    def _count(self, seen: Seen, span_us: int) -> bool:
        state = self.state
        state.last_us = seen.t_us
        if self.pocket != seen.pocket_index:
            self.restart()
        state.streak = [*state.streak[-SIGHTINGS_KEPT + 1 :], seen]
        state.streak_length += 1
        spanned = self._needed == 1 or seen.t_us - state.streak[0].t_us >= span_us
        if state.called or state.streak_length < self._needed or not spanned:
            return False
        state.called = True
        state.lying = seen.pocket_index
        return True


def _widest_gap_deg(angles_deg: tuple[float, ...]) -> float:
    angles = sorted(angles_deg)
    return max(after - before for before, after in zip(angles, [*angles[1:], angles[0] + 360], strict=True))
