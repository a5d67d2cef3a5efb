"""Sensor faults, added to a clean evening afterwards. The truth of its coups stays as it was.

The fault model. `Rates` holds the rates and their defaults. Faults strike at any time, in any scenario.

**Beams.** A beam misses a pass, or pulses a second time up to 15 ms later, while the ball still covers it. It pulses
without a ball: a sleeve, a flash. Something covers it: it pulses once and then not at all for 5 to 60 s. It sees
nothing for as long: a lamp is dead, a plug is loose. One in ten of these goes unnoticed for eight coups. A beam, or a
reader, is late for as long: it reports all that it sees 5 to 40 ms later. A contact chatters: pulses 3 to 50 ms apart,
for up to 5 s.

**Readers.** A reader, or all of them, are dead for as long. A reader sees the ball before the ball rests: in pockets
that the ball touches and leaves again, if such a pocket stands before the reader at that time; and in a part of the
falls once or twice at any time, because a reader cannot tell a ball that flies past from one that lies in a pocket.

**Self-tests.** The self-test finds a stuck or dead sensor in half of the cases, up to 2 s late, and reports it until
it is repaired. In the other half nothing reports it. A chattering beam passes its self-test.

**Encoder.** An edge is lost; all edges jitter. The disc slips: from then on every sector is wrong by the same two
to 40, in either direction, until somebody references the encoder again (here at the end of the scenario).

**Board and cable.** The board resets: nothing is observed for 0.3 to 2 s. Frames are lost: nothing for 20 to 60 ms.
The daemon's link layer reports both in the same way, as a fault of the link from the last frame received until the
next one; so does a log. Events in between are lost, with two exceptions that the board reports afterwards, because it
sees their state and not only their instant: an object in the cylinder, and self-tests. Commands of people arrive: they
do not use this cable.

Frames arrive twice, late, or in another order. The link layer numbers them, drops the ones that it had and waits for
the missing ones. So a log, which is always in time order, shows little of it: lines that stand twice; and, for a board
that dates a frame and not its edges, observations of 20 to 60 ms that all have the time of the last one. Among these
the observations of one sensor stay in order; those of different sensors are in any order.

**Clocks.** The sensing clock is fast or slow by up to 100 ppm, constant for the whole evening. The host's UTC steps:
`clock` lines give UTC before and after, and no verdict may depend on them.

No fault strikes a link while it is down in the clean evening, nor a sensor while it is down there. Commands stay as
they were. The deadlines of a coup are those of the clean evening.
"""

from __future__ import annotations

from hw_sim.faults.effects import Strike
from hw_sim.faults.faulty_evening import FaultyEvening, add_faults
from hw_sim.faults.rates import GROSS, JITTER_US_MAX, KINDS, Rates, swarm

__all__ = ["GROSS", "JITTER_US_MAX", "KINDS", "FaultyEvening", "Rates", "Strike", "add_faults", "swarm"]
