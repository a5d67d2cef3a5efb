"""Sensors that lie, laid over a clean evening afterwards; the truth of the coups stays what it was.

The fault model. Rates and their defaults are in `Rates`; faults strike anywhere, whatever is being played.

**Beams.** A beam misses a pass, or pulses a second time up to 15 ms later, while the ball still shades it. It pulses
for nothing: a sleeve, a flash. Something covers it: it pulses once and then no more, for 5 to 60 s. It sees nothing
for as long: a lamp died, a plug is loose. A contact chatters: pulses 3 to 50 ms apart, for up to 5 s.

**Readers.** A reader is dead for 5 to 60 s. It catches the ball before that rests: in pockets that the ball touches
and leaves again, if they then stand before the reader; and in a part of the falls once or twice at any moment, for
ivory that flies past looks like ivory that lies.

**Self-tests.** What is stuck or dead is found by its self-test half the time, up to 2 s late, and told until it is
mended; else the sensor just lies. A chattering beam passes its test.

**Encoder.** An edge is lost; all edges jitter. The disc slips: from a moment on, every sector is wrong by the same
one to three, either way, until somebody references it anew (here at the end of the scenario).

**Board and cable.** The board begins anew: for 0.3 to 2 s nothing is observed. Frames are lost: nothing for 20 to 60
ms. The daemon's link layer tells both alike, as a fault of the link from what was heard last until something is heard
again, and so does a log. What happened in between is gone; only a body that lies in the cylinder, and self-tests, are
told afterwards, because the board sees their state and not only their instant. People are heard: they speak by other
ways.

Frames come twice, late, or in another order. The link layer numbers them, drops what it had and waits for what is
missing, so a log, which is always in time order, shows little of it: lines that stand twice, and, for a board that
dates a frame and not its edges, the observations of 20 to 60 ms that all bear the last one's time. Among these each
sensor's own stay in order; of different sensors any may come first.

**Clocks.** The sensing clock is fast or slow by up to 100 ppm, the same all evening. The host's UTC steps: `clock`
lines say what UTC was before and after, and no verdict may depend on them.

A link that is down in the clean evening carries no faults, a sensor that is down there none of its own. People speak
as they did. A coup's deadlines are those of the clean evening.
"""

from __future__ import annotations

from hw_sim.faults.effects import Strike
from hw_sim.faults.faulty_evening import FaultyEvening, add_faults
from hw_sim.faults.rates import GROSS, JITTER_US_MAX, KINDS, Rates, swarm

__all__ = ["GROSS", "JITTER_US_MAX", "KINDS", "FaultyEvening", "Rates", "Strike", "add_faults", "swarm"]
