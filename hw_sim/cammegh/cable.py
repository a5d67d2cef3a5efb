"""The cable between wheel and host, with its faults. The rate of a fault is its probability for one line."""

from __future__ import annotations

import random
from dataclasses import dataclass

HELD_UP_US_MAX = 5_000_000
"""The longest time for which other work blocks the host: the time of ten lines."""


@dataclass(frozen=True)
class CableRates:
    """The rates of faults. `torn`: bytes in the line are lost. `merged`: its line break is lost. `held_up`: the host
    reads nothing for up to 5 s, then all. `absent`: no host for up to 40 s. `noise`: random bytes before the line."""

    torn: float = 0.0
    merged: float = 0.0
    held_up: float = 0.0
    absent: float = 0.0
    noise: float = 0.0


CLEAN = CableRates()
ROUGH = CableRates(torn=0.03, merged=0.02, held_up=0.01, absent=0.001, noise=0.01)


class LineCable:
    """Carries lines. `harmed` counts the lines that did not arrive unchanged."""

    def __init__(self, rng: random.Random, rates: CableRates = CLEAN) -> None:
        self.harmed = 0
        self._rng = rng
        self._rates = rates
        self._held_until_us = 0
        self._absent_until_us = 0

    def carry(self, line: bytes, now_us: int) -> tuple[int, bytes]:
        """Return the time in µs at which `line` arrives, and the bytes that are left of it."""
        rng, rates = self._rng, self._rates
        if rng.random() < rates.held_up and now_us >= self._held_until_us:
            self._held_until_us = now_us + rng.randint(600_000, HELD_UP_US_MAX)
        if rng.random() < rates.absent:
            self._absent_until_us = now_us + rng.randint(2_500_000, 40_000_000)
        if now_us < self._absent_until_us:
            self.harmed += 1
            return now_us, b""
        sent = line
        if rng.random() < rates.torn:
            start = rng.randrange(len(line))
            line = line[:start] + line[start + rng.randint(1, 6) :]
        if rng.random() < rates.merged:
            line = line.removesuffix(b"\n").removesuffix(b"\r")
        if rng.random() < rates.noise:
            line = bytes(rng.randrange(256) for _ in range(rng.randint(1, 4))) + line
        self.harmed += line != sent
        return max(now_us, self._held_until_us), line
