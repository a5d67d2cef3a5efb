"""Open questions: what the sensors have begun to show, and not proven yet.

Between the first sign of a fact and its proof some time passes: a launch is proven up to a lap after it was made, a
number up to a rotor turn after the ball came to rest. Meanwhile the question is open. What is dated after the first
sign waits for the answer where the answer could change its meaning (`law.waiting` says which, and for how long).
"""

from __future__ import annotations

from enum import Enum, unique
from typing import NamedTuple


@unique
class Topic(Enum):
    """What is not known yet."""

    LAUNCH = "was a ball launched?"
    """Pulses came, too few to prove a launch."""
    UNREPORTED = "was a ball launched, and its head has not reported it yet?"
    """A head reports a launch only a lap later."""
    REST = "is that pocket the number?"
    """A reader saw the ball in a pocket, not often enough to prove the number (R3)."""
    MOMENT = "when was it said?"
    """At some moment of a standstill, and nothing says at which."""
    UNHEARD = "did a person say something before that?"
    """The network is cut, and words may be on their way (N7)."""


class Question(NamedTuple):
    """One open question: since when the answer may be yes, and until when it is open; without an answer until then the
    answer is no. `wait_us`, where there is no such time: how long each word waits for the answer."""

    topic: Topic
    since_us: int
    until_us: int | None = None
    wait_us: int = 0

    def ends_us(self, t_us: int) -> int:
        """Until when what is dated `t_us` waits for the answer."""
        return t_us + self.wait_us if self.until_us is None else self.until_us
