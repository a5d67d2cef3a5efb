"""The cable between board and host, and what can be wrong with it.

The fault model: cut (nothing passes, either way, until mended), bytes that vanish, bytes that come from nowhere. Each
at its own rate, drawn from a seed; a fault never looks at what the bytes mean.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

NOISE_BYTES_MAX = 8
"""One burst of noise: what a connector that is being touched gives in a millisecond at 115200 baud."""


class Cable:
    """Carries bytes, both ways alike. `drop` and `noise` are probabilities a byte; set them, and `cut`, at any time."""

    def __init__(self, seed: int = 0, *, drop: float = 0.0, noise: float = 0.0) -> None:
        self.cut = False
        self.drop = drop
        self.noise = noise
        self._rng = random.Random(seed)  # noqa: S311  where a fault falls is no secret

    def carry(self, data: bytes) -> bytes:
        """What arrives at the other end of `data`."""
        if self.cut:
            return b""
        if not self.drop and not self.noise:
            return data
        return b"".join(self._disturbed(data))

    def _disturbed(self, data: bytes) -> Iterator[bytes]:
        for at in range(len(data)):
            if self._rng.random() < self.noise:
                yield self._rng.randbytes(self._rng.randint(1, NOISE_BYTES_MAX))
            if self._rng.random() >= self.drop:
                yield data[at : at + 1]
