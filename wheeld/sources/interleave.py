"""Merges the observations of a second source into those of the first source of a wheel, by time.

The first source (a board or pins) keeps the sensing clock. Observations of the second source (the wheel's own head) are
dated on that clock by their host time. They wait until the first source has reported a later time. While the first
source is silent, the table's time does not advance: a coup that only one source observed is void in any case (N8).
"""

from __future__ import annotations

from collections import deque

import msgspec

from wheeld.core.observations import HeadRotor, Observation
from wheeld.sources.sensing import Batch, HandOn

WAITING_MAX = 10_000
"""A head reports twice a second, so this is enough for more than an hour of silence of the first source."""


class Interleaver:
    """Merges the observations that `second` gets into the batches of the first source, by time. At equal times the
    observations of the first source come first."""

    def __init__(self) -> None:
        self._waiting: deque[Observation] = deque()
        self._newest_us = 0
        self.dropped = 0

    def onto(self, hand_on: HandOn) -> HandOn:
        """Return a function for the batches of the first source. It adds the earlier observations of the second source
        to each batch, and passes it to `hand_on`."""

        async def handing_on(batch: Batch) -> None:
            observations: list[Observation] = []
            for seen in batch.observations:
                while self._waiting and self._waiting[0].t_us < seen.t_us:
                    observations.append(self._waiting.popleft())
                observations.append(seen)
            await hand_on(Batch(observations, batch.position))

        return handing_on

    def second(self, seen: Observation) -> None:
        """Take an observation of the second source. If the clock was corrected backwards, the observation gets the time
        of the newest observation of the second source."""
        self._newest_us = max(self._newest_us, seen.t_us)
        if seen.t_us < self._newest_us:
            seen = msgspec.structs.replace(seen, t_us=self._newest_us)
        if len(self._waiting) == WAITING_MAX:
            # Drop the oldest report of the rotor, because such reports come again. A state that is reported only once
            # must not be lost.
            self.dropped += 1
            del self._waiting[next((at for at, each in enumerate(self._waiting) if isinstance(each, HeadRotor)), 0)]
        self._waiting.append(seen)
