"""Two sources at one wheel, one history: what the second saw, put among the first one's observations by time.

The first source (the board, the GPIO) keeps the sensing clock and says how far it has told; the second (a wheel's own
head) is dated on that clock by its host time, and waits until the first has told beyond. While the first is silent the
table stands still, and so does the second: a coup of which half is unseen is void anyway (N8).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import msgspec

from wheeld.core.observations import HeadRotor, Observation
from wheeld.sources.sensing import Batch

WAITING_MAX = 10_000
"""Reports of a head come twice a second: more than an hour of a first source that is silent."""


class Interleaver:
    """Puts what `second` gave among the batches of the first source, by time; at equal times the first comes first."""

    def __init__(self) -> None:
        self._waiting: deque[Observation] = deque()
        self._given_us = 0
        self.dropped = 0

    def onto(self, hand_on: Callable[[Batch], Awaitable[None]]) -> Callable[[Batch], Awaitable[None]]:
        """`hand_on`, for batches of the first source: before each observation stands what the second saw earlier."""

        async def handing_on(batch: Batch) -> None:
            observations: list[Observation] = []
            for seen in batch.observations:
                while self._waiting and self._waiting[0].t_us < seen.t_us:
                    observations.append(self._waiting.popleft())
                observations.append(seen)
            await hand_on(Batch(observations, batch.position))

        return handing_on

    def second(self, seen: Observation) -> None:
        """Something that the second source saw; never put before what it gave earlier, though the estimate of the clock
        that dates it was corrected back meanwhile."""
        self._given_us = max(self._given_us, seen.t_us)
        if seen.t_us < self._given_us:
            seen = msgspec.structs.replace(seen, t_us=self._given_us)
        if len(self._waiting) == WAITING_MAX:
            self._drop()
        self._waiting.append(seen)

    def _drop(self) -> None:
        """The oldest of those that only repeat themselves; what says once how something stands must not get lost."""
        self.dropped += 1
        oldest = next((at for at, seen in enumerate(self._waiting) if isinstance(seen, HeadRotor)), 0)
        del self._waiting[oldest]
