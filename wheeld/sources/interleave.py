"""Two sources at one wheel: puts the observations of the second among those of the first, by time.

The first source (the board, the GPIO) keeps the sensing clock. The second (the wheel's own head) is dated on that clock
by its host time, and waits until the first has reported a later time. While the first is silent the table's time stands
still, and the second waits: a coup that is observed by half only is void anyway (N8).
"""

from __future__ import annotations

from collections import deque

import msgspec

from wheeld.core.observations import HeadRotor, Observation
from wheeld.sources.sensing import Batch, HandOn

WAITING_MAX = 10_000
"""Reports of a head come twice a second: more than an hour of a first source that is silent."""


class Interleaver:
    """Puts what `second` got among the batches of the first source, by time; at equal times the first comes first."""

    def __init__(self) -> None:
        self._waiting: deque[Observation] = deque()
        self._newest_us = 0
        self.dropped = 0

    def onto(self, hand_on: HandOn) -> HandOn:
        """`hand_on`, for batches of the first source: puts before each observation what the second observed earlier."""

        async def handing_on(batch: Batch) -> None:
            observations: list[Observation] = []
            for seen in batch.observations:
                while self._waiting and self._waiting[0].t_us < seen.t_us:
                    observations.append(self._waiting.popleft())
                observations.append(seen)
            await hand_on(Batch(observations, batch.position))

        return handing_on

    def second(self, seen: Observation) -> None:
        """Take an observation of the second source.

        It never goes before an earlier one of its own, though the clock that dates it may have been corrected back.
        """
        self._newest_us = max(self._newest_us, seen.t_us)
        if seen.t_us < self._newest_us:
            seen = msgspec.structs.replace(seen, t_us=self._newest_us)
        if len(self._waiting) == WAITING_MAX:
            self._drop()
        self._waiting.append(seen)

    def _drop(self) -> None:
        """Drop the oldest of those that repeat themselves; a state that is reported only once must not be lost."""
        self.dropped += 1
        oldest = next((at for at, seen in enumerate(self._waiting) if isinstance(seen, HeadRotor)), 0)
        del self._waiting[oldest]
