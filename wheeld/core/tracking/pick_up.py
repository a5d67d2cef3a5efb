"""Whether the ball was taken from its pocket while the rotor turns: no reader meets it any more (docs/rulebook.md 6).

A lying ball is met by a reader at least once while the rotor turns by the widest gap between two readers. So this is
measured in degrees of the rotor, not in time: a rotor that is spun up shows it sooner, and one that stands shows
nothing. From the pick-up one reader needs at most 5.5 s at 12 turns a minute, and 3.3 s at 20; three readers need 2.1 s
and 1.3 s.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wheeld.core.facts import Fact
from wheeld.core.pockets import PocketLayout
from wheeld.core.tracking.evidence import Evidence, Seen
from wheeld.core.tracking.rotor import RotorState

SLACK_POCKETS = 2
"""Beyond the gap: a reader sees the ball up to half a pocket early or late, and an edge comes up to a pocket after it.
A reader that misses the ball once gives a warning that was not needed. That costs a look; a warning that is missing
costs a coup."""
LYING_SIGHTINGS = 2
"""Seen so often in one pocket, the ball lies there: one sighting may be a bounce."""


class PickUpState(msgspec.Struct):
    """What is remembered of a ball at rest.

    `lies_in`: the pocket where readers saw it lie; None while it is not known to lie. `unseen_deg`: how far the rotor
    has turned since the latest sighting, or since it began to turn. `taken`: it was taken, and not seen since.
    `carried`: since it was last known where it lies it was taken, or may have been: nobody watched.
    """

    lies_in: int | None = None
    unseen_deg: float = 0.0
    taken: bool = False
    carried: bool = False

    def forget(self) -> None:
        """A ball runs: it lies nowhere."""
        self.lies_in, self.taken, self.carried = None, False, False


class PickUp:
    """Follows a ball at rest. All state is in `state`."""

    def __init__(
        self, readers_deg: tuple[float, ...], pockets: PocketLayout, rotor: RotorState, state: PickUpState
    ) -> None:
        self._readers_deg, self._pockets, self._rotor, self.state = readers_deg, pockets, rotor, state
        self.use([*range(len(readers_deg))])

    def use(self, readers: list[int]) -> None:
        """From now on only these readers report."""
        slack_deg = SLACK_POCKETS * self._pockets.pocket_deg
        self._limit_deg = widest_gap_deg([self._readers_deg[reader] for reader in readers]) + slack_deg

    def see(self, sightings: list[Seen]) -> None:
        """A reader saw the ball; `sightings`: the latest ones in one pocket."""
        state = self.state
        state.unseen_deg, state.taken = 0.0, False
        if len(sightings) >= LYING_SIGHTINGS:
            state.lies_in = sightings[-1].pocket_index

    def turn(self, t_us: int) -> list[Evidence]:
        """The rotor has turned on, to an edge at `t_us`: the ball is taken when a reader should have met it."""
        state, points = self.state, self._rotor.points
        if state.lies_in is None or points[-1][0] != t_us:
            return []  # as at most edges; the rotor may also rattle at one border
        # At its first edge a rotor that stood, or turned back, may be anywhere between the readers.
        state.unseen_deg = 0.0 if len(points) < 2 else state.unseen_deg + abs(points[-1][1] - points[-2][1])
        if state.unseen_deg <= self._limit_deg:
            return []
        number = self._pockets.order[state.lies_in]
        state.lies_in, state.taken, state.carried = None, True, True
        return [Evidence(Fact.BALL_TAKEN, t_us, {"number": number})]


def widest_gap_deg(readers_deg: Sequence[float]) -> float:
    """The widest angle between two neighbours of these readers; a whole turn of one alone."""
    angles = sorted(readers_deg)
    return max(after - before for before, after in zip(angles, [*angles[1:], angles[0] + 360], strict=True))
