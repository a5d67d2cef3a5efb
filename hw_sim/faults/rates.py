"""How often each fault strikes."""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, fields, replace

GROSS_PER_H = 1 / 2_000
"""A table plays some 2,000 hours in half a year, and a fault that needs a technician strikes about once in that time. A
coup of a campaign takes about a hundredth of an hour, so each such fault strikes once in 200,000 coups."""
JITTER_US_MAX = 250
"""The most by which an edge may be early or late. This is less than a tenth of the shortest time in a sector (592 ticks
at 20 rpm: 5 ms), so edges keep their order."""
DRIFT_PPM_MAX = 100.0
"""The largest drift. A crystal with a larger error is broken, and the host reports it when it compares the clocks."""
LIKELY_MAX = 0.5
"""The largest probability of a fault, with any factor. A sensor that is wrong more often would be another fault."""


@dataclass(frozen=True)
class Rates:
    """One field for each fault. The defaults are those of an ordinary, well-kept table. If the name of a field has no
    unit, it is the share of the passes, falls, … that the fault strikes. 0 switches the fault off."""

    missed: float = 0.003
    """The share of the passes that the beam does not see."""
    doubled: float = 0.005
    """The share of the passes for which the beam pulses twice."""
    stray_per_h: float = 6.0
    """How often in an hour one of the beams pulses without a ball."""
    stuck_on_per_h: float = GROSS_PER_H
    """Something covers a beam."""
    stuck_off_per_h: float = GROSS_PER_H
    """A beam sees nothing."""
    chatter_per_h: float = GROSS_PER_H
    """A beam pulses again and again."""
    late_sensor_per_h: float = GROSS_PER_H
    """A beam or a reader reports late."""
    dead_reader_per_h: float = GROSS_PER_H
    """A reader sees nothing."""
    dead_readers_per_h: float = GROSS_PER_H
    """No reader sees anything."""
    bounce: float = 0.25
    """The share of the falls in which a reader sees the ball once or twice before the ball rests."""
    touch: float = 0.5
    """If the ball touches a pocket that is at a reader, and leaves it again, the reader sees the ball with this
    probability."""
    lost_tick: float = 0.001
    """The share of the encoder's edges that are lost."""
    jitter_us: float = 60.0
    """Sigma of the time error of the encoder's edges, never more than JITTER_US_MAX."""
    slip_per_h: float = GROSS_PER_H
    """The encoder's disc slips on its axle."""
    drift_ppm: float = 20.0
    """How much the sensing clock may be fast or slow this evening. The data sheet of a crystal gives 20."""
    clock_step_per_h: float = 0.01
    """The host's UTC is set: by an operator, or by NTP after a long time without a network."""
    reset_per_h: float = GROSS_PER_H
    """The sensor board resets."""
    lost_frame_per_h: float = GROSS_PER_H
    """Frames are lost: the board does not keep them until the host asks for them again."""
    repeated_frame_per_h: float = 0.1
    """Frames are sent twice, because their acknowledgement did not arrive."""
    late_frame_per_h: float = GROSS_PER_H
    """All observations of a frame have the time of the frame."""

    def times(self, factor: float) -> Rates:
        """Return all rates times `factor`, each at most its limit: LIKELY_MAX for a probability, JITTER_US_MAX for the
        sigma of the jitter, DRIFT_PPM_MAX for the drift."""
        limits = {"jitter_us": float(JITTER_US_MAX), "drift_ppm": DRIFT_PPM_MAX}
        limits |= {name: math.inf for name in vars(self) if name.endswith("_per_h")}
        return Rates(**{name: min(rate * factor, limits.get(name, LIKELY_MAX)) for name, rate in vars(self).items()})

    def only(self, kinds: frozenset[str]) -> Rates:
        """Return the same rates for these kinds, and 0 for all others."""
        return replace(self, **{FIELDS[kind]: 0.0 for kind in KINDS if kind not in kinds})

    def of(self, kind: str) -> float:
        """Return the rate of one kind."""
        rate: float = getattr(self, FIELDS[kind])
        return rate


FIELDS: dict[str, str] = {re.sub("_(per_h|us|ppm)$", "", field.name): field.name for field in fields(Rates)}
"""For each kind of fault, the name of its field in `Rates`: the kind, and the unit if the rate has one."""
KINDS: tuple[str, ...] = tuple(FIELDS)
"""The names of the faults."""
GROSS = frozenset(kind for kind in KINDS if Rates().of(kind) == GROSS_PER_H)
"""The faults that need a technician."""


SWARM = {0.0: 0.355, 1.0: 0.52, 3.0: 0.11, 10.0: 0.015}
"""For each factor of a fault's rate: the probability that an evening has this factor. The mean factor is 1. So over
many evenings each fault strikes as often as with factor 1, but in groups, and while other faults are off."""


def swarm(rng: random.Random, rates: Rates) -> Rates:
    """Draw the rates of one evening: each fault is independently off, ordinary, or much more frequent."""
    ways = [rates.times(factor) for factor in SWARM]
    drawn = rng.choices(ways, list(SWARM.values()), k=len(KINDS))
    return Rates(**{FIELDS[kind]: way.of(kind) for kind, way in zip(KINDS, drawn, strict=True)})
