"""Where the one ball of the table is, by all that was seen and said: one state, whichever sensors show it.

A run is forgotten when it belongs to no coup; its ball goes on running and falling all the same. While it does, nobody
may be asked to bet (docs/rulebook.md 6).

A lying ball is met by a reader at least once while the rotor turns by the widest gap between two readers. So whether it
was taken is measured in degrees of the rotor, not in time: a rotor that is spun up shows it sooner, and one that stands
shows nothing. From the pick-up one reader needs at most 5.5 s at 12 turns a minute, and 3.3 s at 20; three readers need
2.1 s and 1.3 s.
"""

from __future__ import annotations

from enum import Enum, unique

import msgspec

from wheeld.core.tracking.evidence import Seen

FALL_US_MAX = 30_000_000
"""No fall is awaited for longer, however slowly the rotor turns its pockets past a reader."""
HEAD_RUN_US_MAX = 120_000_000
"""No ball runs for two minutes. A head that reports one for longer sees something else."""
SLACK_POCKETS = 2
"""Beyond the gap: a reader sees the ball up to half a pocket early or late, and an edge comes up to a pocket after it.
A reader that misses the ball once gives a warning that was not needed. That costs a look; a warning that is missing
costs a coup."""
LYING_SIGHTINGS = 2
"""Seen so often in one pocket, the ball lies there: one sighting may be a bounce."""
RETURNS = 2
"""No fallen ball comes back to a pocket that it left. Seen there again once it may have been a glint that came between;
so often they are two balls."""


@unique
class Where(Enum):
    """Where the ball is."""

    LIES = "lies"  # no launched ball is on its way, or nobody has seen one
    TAKEN = "taken"  # from the pocket where readers saw it lie, and they have not seen it since
    RUNS = "runs"  # on the track
    FALLS = "falls"  # off the track for no longer than a fall takes, and not seen at rest
    UNSEEN = "unseen"  # off the track for longer, and seen in no pocket: on an obstacle, or in a hand


class Ball(msgspec.Struct):
    """What is remembered of it.

    `until_us`: until when a ball that falls, or runs by a head's report, will be at rest; None of any other.
    `pocket`: where it was last known to lie: the pocket that readers have proven, or the one that a person answered
    for. At a start it is the pocket of the last number, where the ball belongs. None since a launch. `carried`: since
    then it was taken from there, or may have been, because nobody watched.

    `seen_in`: the pocket where readers saw it lie; None while they have not. `unseen_deg`: how far the rotor has turned
    since the latest sighting, or since it began to turn.

    Of a fallen ball, `met`: the pockets where readers saw it, in order. `rested_in`: the first of them where they saw
    that it bounced no more. `glimpse`: the one sighting in a pocket where no reader met it again.
    """

    where: Where = Where.LIES
    until_us: int | None = None
    pocket: int | None = None
    carried: bool = False
    seen_in: int | None = None
    unseen_deg: float = 0.0
    met: list[int] = msgspec.field(default_factory=list)
    rested_in: int | None = None
    glimpse: Seen | None = None

    # --- its run and its fall -----------------------------------------------------------------------------------------

    def launch(self) -> None:
        """A launch was proven: it lies in no pocket."""
        self.pocket = self.seen_in = self.rested_in = self.glimpse = None
        self.met, self.carried = [], False

    def run(self, until_us: int | None = None) -> None:
        """It is on the track."""
        self.where, self.until_us = Where.RUNS, until_us

    def fall(self, until_us: int | None) -> None:
        """It is off the track, or nobody sees any more whether it is on it; until then it will be at rest."""
        self.where, self.until_us = Where.FALLS, until_us

    def miss(self) -> None:
        """It was not seen at rest in time: it lies on an obstacle, or a hand has it."""
        self.where, self.until_us = Where.UNSEEN, None

    def settle(self) -> None:
        """No fallen ball is on its way any more: a person answers for it, or another is launched next."""
        if self.where in (Where.FALLS, Where.UNSEEN):
            self.rest()

    def rest(self) -> None:
        """It rests, or its run was none."""
        self.where, self.until_us = Where.LIES, None

    def meet(self, pocket: int) -> bool:
        """Readers saw the fallen ball there; True if they saw it elsewhere, or nowhere, before."""
        if pocket in self.met[-1:]:
            return False
        self.met.append(pocket)
        return True

    @property
    def returns(self) -> int:
        """How often the fallen ball was seen again in a pocket that it had left."""
        return len(self.met) - len({*self.met})

    @property
    def are_two(self) -> bool:
        """Whether two balls were seen to fall."""
        return self.returns >= RETURNS

    def was_elsewhere(self, pocket: int | None) -> bool:
        """Whether the fallen ball rested in another pocket before, or came back to one that it had left."""
        return self.rested_in not in (None, pocket) or self.returns > 0

    # --- at rest ------------------------------------------------------------------------------------------------------

    def see(self, sightings: list[Seen]) -> None:
        """A reader saw it; `sightings`: the latest ones in one pocket. A ball that was seen is in no hand."""
        self.unseen_deg = 0.0
        if self.where is Where.TAKEN:
            self.rest()
        if len(sightings) >= LYING_SIGHTINGS:
            self.seen_in = sightings[-1].pocket_index

    def turn(self, points: list[tuple[int, float]], limit_deg: float) -> int | None:
        """The rotor has turned on to the last of these points, and some reader meets a lying ball within `limit_deg`.
        The pocket from which the ball was taken, once one should have met it."""
        # At its first edge a rotor that stood, or turned back, may be anywhere between the readers.
        self.unseen_deg = 0.0 if len(points) < 2 else self.unseen_deg + abs(points[-1][1] - points[-2][1])
        if self.unseen_deg <= limit_deg:
            return None
        pocket, self.seen_in = self.seen_in, None
        self.carried = True
        self.where = Where.TAKEN if self.where is Where.LIES else self.where  # one that falls bounced on
        return pocket

    def take_word(self, pocket: int, seen_in: int | None) -> None:
        """A person answers for it that it lies there. Readers that called another pocket since the launch know better,
        unless they see it there now (`seen_in`). A ball that is on its way lies there no more."""
        if self.where in (Where.LIES, Where.TAKEN) and (self.pocket is None or seen_in == pocket):
            self.pocket = pocket
