"""The wheel heads that can be read, one row for each product. Only this file and the makers' packages name products."""

from __future__ import annotations

from functools import partial

import msgspec


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a commercial wheel head can do, and which module reads its line.

    `name` is for people. `reader`: the package that reads the lines of its maker. `counts_laps`: it reports the ball's
    laps (R2). Every head reports which way the ball runs (R1). `says_opposite`: it reports this only by its phase
    `closing`, which means that the ball runs against the rotor. `launches`: it turns its rotor and launches by itself.
    While such a head is idle, it plays no game until people start it.

    `run_after_us`: the shortest time from a launch until the head sees the run. `run_within_us`: the longest time from
    a launch until its report is received. `number_within_us`: the longest time from the ball's last pass to the number.
    """

    name: str
    reader: str
    counts_laps: bool = True
    says_opposite: bool = False
    launches: bool = False
    run_after_us: int
    run_within_us: int
    number_within_us: int


_CAMMEGH = partial(
    Head,
    reader="wheeld.sources.head.cammegh",
    run_after_us=333_000,
    run_within_us=2_000_000,
    number_within_us=30_000_000,
)
"""These heads report a run after its first lap. After the hardest throw, this lap takes a third of a second. The line
comes up to half a second later (docs/wheels.md 1.3). In 159 recorded games the number came at most 32 s after
`closing`: about 25 s after the ball left the track (1.3, 1.8)."""
HEADS: dict[str, Head] = {
    "mercury-360": _CAMMEGH(name="Mercury 360"),
    "slingshot-2": _CAMMEGH(name="SlingShot 2", counts_laps=False, says_opposite=True, launches=True),
}
"""The heads. Each key is the product's name in the configuration and in logs. A Mercury's extended lines report laps
and the ball's direction. No line of a SlingShot 2 reports them (docs/wheels.md 1.3, 1.6, 1.7)."""
