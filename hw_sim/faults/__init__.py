"""Sensor faults, which are added to a clean evening afterwards. The truth of its coups does not change.

The fault model: `Rates` contains the rates and their defaults. Faults strike at any time, in any scenario.

**Beams.** A beam misses a pass, or pulses a second time up to 15 ms later, while the ball still covers it. A sleeve or
a flash makes it pulse without a ball. If something covers it, it pulses once and then not at all for 5 to 60 s. With a
dead lamp or a loose plug it sees nothing for 5 to 60 s. Nobody notices one in ten of these faults for eight coups. A
beam or a reader is late for an equally long time: it reports all that it sees 5 to 40 ms later. A contact chatters for
up to 5 s: it pulses every 3 to 50 ms.

**Readers.** One reader, or all readers, are dead for the same times. A reader sees the ball before it rests: in a
pocket that the ball touches and leaves again, if the pocket is at the reader at that time. In some of the falls it also
sees the ball once or twice at any time, because it cannot distinguish a flying ball from one that lies in a pocket.

**Self-tests.** The self-test finds a stuck or dead sensor in half of the cases, up to 2 s late, and reports it until
it is repaired. In the other half nothing reports it. A chattering beam passes its self-test.

**Encoder.** An edge is lost. All edges jitter. The disc slips: then every sector is wrong by the same number, 2 to 40,
in either direction, until a person corrects this (here at the end of the scenario).

**Board and cable.** When the board resets, nothing is observed for 0.3 to 2 s. When frames are lost, nothing is
observed for 20 to 60 ms. The daemon's link layer and a log report both in the same way: as a fault of the link, from
the last frame received until the next one. Events in between are lost, except an object in the cylinder and self-tests.
The board reports these two afterwards, because they are states and not moments. Commands of people arrive, because they
do not use this cable.

Frames arrive twice, late, or in another order. The link layer checks their numbers, drops repeated frames and waits for
missing ones. So a log, which is always in time order, shows only two effects. The first: lines are repeated. The
second, if a board dates a frame and not its edges: all observations of 20 to 60 ms have the time of the last one. Then
the observations of one sensor stay in order, and those of different sensors are in any order.

**Clocks.** The sensing clock is fast or slow by up to 100 ppm, constant for the whole evening. The host's UTC steps:
`clock` lines give UTC before and after, and no verdict may depend on them.

No fault strikes a link or a sensor that already fails in the clean evening. Commands do not change. The deadlines of a
coup are those of the clean evening.
"""

from __future__ import annotations

from hw_sim.faults.effects import Strike
from hw_sim.faults.faulty_evening import FaultyEvening, add_faults
from hw_sim.faults.rates import GROSS, JITTER_US_MAX, KINDS, Rates, swarm

__all__ = ["GROSS", "JITTER_US_MAX", "KINDS", "FaultyEvening", "Rates", "Strike", "add_faults", "swarm"]
