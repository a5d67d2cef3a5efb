"""What the observer asks of its three parts, whichever sensors or head they are made of."""

# ruff: noqa: ARG002  what a part does by default looks at nothing

from __future__ import annotations

from typing import Protocol

from wheeld.core.observations import Direction
from wheeld.core.tracking.evidence import Evidence
from wheeld.core.tracking.margin import Margin
from wheeld.core.tracking.questions import Question
from wheeld.core.tracking.run import Run, RunRecord
from wheeld.core.tracking.sighting import Seen


class BallPart(Protocol):
    """The ball on its track: `BallFromBeams` or `BallFromHead`."""

    @property
    def run(self) -> Run:
        """The run in progress; the same structure always, cleared when a run is over."""
        ...

    @property
    def counters(self) -> dict[str, int]:
        """Pulses that count for nothing, since the start."""
        ...

    def record(self) -> RunRecord:
        """What was measured of the run."""
        ...

    def disown(self) -> None:
        """The run in progress belongs to no coup to come: it must not hide the next launch."""
        ...


class RotorPart(Protocol):
    """The turning rotor: `RotorFromEncoder` or `RotorFromHead`. What only edges show is not known, unless a part says
    otherwise."""

    @property
    def direction(self) -> Direction | None:
        """Which way it turns; None while it stands, or is not known."""
        ...

    @property
    def is_standing(self) -> bool:
        """Whether it is known to stand, or not known to turn."""
        ...

    @property
    def may_turn_back(self) -> bool:
        """Whether the latest edges show that it may just have been turned round."""
        return False

    @property
    def was_seen_turning(self) -> bool:
        """Whether it was observed to turn since the launch."""
        ...

    def rpm(self, at_us: int) -> float | None:
        """Speed without sign, turns per minute; None when not known."""
        ...

    def angle_deg(self, at_us: int) -> float | None:
        """Where the middle of pocket zero stands, degrees clockwise, 0 to 360; None when not known."""
        return None

    def stop_margin(self) -> Margin | None:
        """How sure a stop is; None where that is not measured."""
        return None


class PocketPart(Protocol):
    """The pocket where the ball lies: `PocketFromReaders` or `PocketFromHead`. What only readers see and remember is
    nothing, unless a part says otherwise."""

    @property
    def sightings(self) -> list[Seen]:
        """The latest consecutive ones in one pocket; none where no reader looks."""
        return []

    @property
    def counters(self) -> dict[str, int]:
        """Sightings that count for nothing, since the start."""
        return {}

    def lies_in(self, pocket_index: int, now_us: int) -> bool | None:
        """Whether the ball lies in that pocket now; None where nothing watches that."""
        ...

    def place(self, now_us: int) -> int | None:
        """Index of the pocket where the ball is seen to lie now; None where it is not seen, or nothing watches it."""
        return None

    def rest_question(self) -> Question | None:
        """Whether the pocket where the ball was seen is the number, while that is open (R3)."""
        return None

    def proof_due_us(self) -> int | None:
        """Until when sightings should prove the number of a ball that left the track; None where none awaits that."""
        return None

    @property
    def was_glimpsed(self) -> bool:
        """Whether the fallen ball was seen once in a pocket, where no reader met it again."""
        return False

    def may_hold_unseen(self, stopped_us: int) -> bool:
        """Whether the ball may have come to rest before the rotor stopped, in a pocket that no reader has met."""
        return False

    def miss_proof(self, now_us: int) -> list[Evidence]:
        """The sightings should have proven the number by now, and have not."""
        return []

    def give_up(self) -> list[Evidence]:
        """The proof of the number can't be completed: what is evident of it then (R3b)."""
        return []

    def begin_run(self) -> None:
        """A launch was proven: the ball lies nowhere."""
        return

    def forget_place(self) -> None:
        """The ball is known to be elsewhere, or the pockets are: where it was seen lying proves nothing."""
        return

    def take_word(self, pocket_index: int) -> None:
        """A person answers for it that the ball lies in that pocket."""
        return

    def note_pass(self, t_us: int) -> list[Evidence]:
        """The running ball passed a beam: what that shows of where it was thought to lie."""
        return []

    def gone_from_us(self, overdue_us: int) -> int:
        """From when on a ball that no beam has met by `overdue_us`, its launch not proven, counts as gone."""
        return overdue_us

    def fall_due_us(self, left_us: int) -> int:
        """Until when a ball off the track since `left_us` may be on its ordinary way into a pocket."""
        ...

    def fall_overdue(self, now_us: int) -> Evidence:
        """What is evident when it was not seen in one by then."""
        ...
