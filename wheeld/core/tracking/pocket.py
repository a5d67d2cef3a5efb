"""Where the ball lies: sightings of the readers joined with the rotor's angle, until several agree (R3)."""

from __future__ import annotations

import msgspec

from wheeld.core.pockets import ROTOR_ORDER
from wheeld.core.tracking.rotor import RotorTracker

OFF_CENTRE_MAX = 0.40
"""In pockets: nearer to a wall than this the ball isn't lying in a pocket, or the rotor isn't where it is thought."""
SAME_PASS_US = 50_000
"""One reader can't meet the ball in two pockets sooner: at 25 rpm they come 65 ms apart."""
HALF_TURN_DEG = 180.0
"""One reader meets a lying ball once a turn: in the same pocket again within half a turn is the same pass. And R3:
several readers' sightings make about one rotor turn; three in a few degrees may be one bounce."""
PLACED_SIGHTINGS = 2
PLACED_TURNS = 2.2
"""Seen twice in a pocket, and missed by a reader at most once since, the ball lies there (C11, before "tout va")."""
SIGHTINGS_KEPT = 8


class Seen(msgspec.Struct, frozen=True):
    """One sighting placed on the rotor; `offset` in pockets from the centre, `turned_deg` the rotor's own angle."""

    t_us: int
    reader: int
    pocket_index: int
    offset: float
    turned_deg: float


class PocketState(msgspec.Struct):
    """`streak`: the latest consecutive sightings in one pocket. `lying`: the pocket last called, or at a
    start the one of the last number, where the ball belongs."""

    streak: list[Seen] = msgspec.field(default_factory=list)
    streak_length: int = 0
    lying: int | None = None
    called: bool = False
    last_us: int | None = None
    latest: dict[int, Seen] = msgspec.field(default_factory=dict)
    unplaced: int = 0


class PocketTracker:
    """Calls a pocket when `needed` consecutive sightings agree. All state is in `state`."""

    def __init__(self, readers_deg: tuple[float, ...], needed: int, state: PocketState | None = None) -> None:
        self._readers_deg = readers_deg
        self._needed = needed
        self._widest_deg = _widest_gap_deg(readers_deg)
        self.state = state or PocketState()

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
        placed, fitted = rotor.pocket_under(self._readers_deg[reader], t_us), rotor.fit(t_us)
        if placed is None or fitted is None or abs(placed[1]) > OFF_CENTRE_MAX:
            state.unplaced += 1
            return False
        seen = Seen(t_us, reader, placed[0], round(placed[1], 3), round(fitted[0], 2))
        before = state.latest.get(reader)
        if before is not None and _same_pass(before, seen, rotor.state.begun_us):
            return False
        state.latest[reader] = seen
        return self._count(seen, rotor.state.begun_us)

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

    def _count(self, seen: Seen, begun_us: int) -> bool:
        state = self.state
        state.last_us = seen.t_us
        if self.pocket != seen.pocket_index:
            self.restart()
        state.streak = [*state.streak[-SIGHTINGS_KEPT + 1 :], seen]
        state.streak_length += 1
        spanned = _turned_deg(state.streak[0], seen, begun_us) >= HALF_TURN_DEG
        if state.called or state.streak_length < self._needed or (self._needed > 1 and not spanned):
            return False
        state.called = True
        state.lying = seen.pocket_index
        return True


def _same_pass(before: Seen, seen: Seen, begun_us: int) -> bool:
    """Whether one reader saw one pass twice."""
    if seen.t_us - before.t_us < SAME_PASS_US:
        return True
    return seen.pocket_index == before.pocket_index and _turned_deg(before, seen, begun_us) < HALF_TURN_DEG


def _turned_deg(before: Seen, seen: Seen, begun_us: int) -> float:
    """How far the rotor turned between two sightings; a whole turn when it stood still in between, as nobody knows."""
    return abs(seen.turned_deg - before.turned_deg) if before.t_us >= begun_us else 360.0


def _widest_gap_deg(angles_deg: tuple[float, ...]) -> float:
    angles = sorted(angles_deg)
    return max(after - before for before, after in zip(angles, [*angles[1:], angles[0] + 360], strict=True))
