"""The cable between board and host, and its faults.

The fault model: a cut (no byte passes in either direction until the repair), lost bytes, bytes that arrive with another
value, and bytes that neither end sent. Each of the last three faults has a rate and is drawn from a seed. No fault
depends on the meaning of the bytes.
"""

from __future__ import annotations

import random

NOISE_BYTES_MAX = 8
"""The longest burst of noise: about as many bytes as pass in a millisecond at 115200 baud. A person who touches a
connector causes such a burst."""


class Cable:
    """Carries bytes, with the same faults in both directions. `drop`, `noise` and `damage` are probabilities for each
    byte. These three and `cut` may be set at any time."""

    def __init__(self, seed: int = 0, *, drop: float = 0.0, noise: float = 0.0, damage: float = 0.0) -> None:
        self.cut = False
        self.drop = drop
        self.noise = noise
        self.damage = damage
        self._rng = random.Random(seed)  # noqa: S311  the places of the faults need not be secret

    def carry(self, data: bytes) -> bytes:
        """Return the bytes that arrive at the other end if `data` is sent."""
        if self.cut:
            return b""
        if not self.drop and not self.noise and not self.damage:
            return data
        arrived = bytearray()
        for byte in data:
            if self._rng.random() < self.noise:
                arrived += self._rng.randbytes(self._rng.randint(1, NOISE_BYTES_MAX))
            if self._rng.random() < self.drop:
                continue
            arrived.append(byte ^ self._rng.randint(1, 255) if self._rng.random() < self.damage else byte)
        return bytes(arrived)
