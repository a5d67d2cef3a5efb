"""What the tests of the Cammegh wheels share: lines in, events out, a session at a simulated head in virtual time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.session import CammeghSession, Setup
from firmware_protocol.cammegh.status import Product
from hw_sim.cammegh.cable import CLEAN, CableRates, LineCable
from hw_sim.cammegh.coups import KINDS, Drawing, Model
from hw_sim.cammegh.head import HeadSetup, SimHead

CAPTURES = Path(__file__).parents[3] / "shared" / "captures"
"""Lines of real wheels; no part of the project."""
SLINGSHOT = Setup(Product.SLINGSHOT_2)
MERCURY = Setup(Product.MERCURY_360)
DISPLAY = Setup(Product.SLINGSHOT_2, writable=False, bare_number=False)
LINE_NS = 500_000_000
E = TypeVar("E", bound=e.Event)


class Desk:
    """A session to which lines are read one by one, 500 ms apart."""

    def __init__(self, setup: Setup) -> None:
        self.session = CammeghSession(setup)
        self.now_ns = 0
        self.events: list[e.Event] = []
        self.session.opened(0)

    def hear(self, *lines: str, apart_ns: int = LINE_NS) -> list[e.Event]:
        """The events of these lines, without the rotor's speed."""
        events: list[e.Event] = []
        for line in lines:
            self.now_ns += apart_ns
            events += self.session.receive(line.encode("latin-1") + b"\r\n", self.now_ns)
        self.events += events
        return [event for event in events if not isinstance(event, e.RotorSpeed)]

    def tick(self, after_ns: int = 0) -> list[e.Event]:
        self.now_ns += after_ns
        return self.session.tick(self.now_ns)

    def sent(self) -> bytes:
        return self.session.data_to_send()


def of(kind: type[E], events: Iterable[e.Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def status(  # one *X line
    state: int, spin: int = 11, number: int | None = 34, flags: str = "0", rpm: float = 15.0, rotor: int = 1
) -> str:
    last = "  " if number is None else f"{number:2d}"
    return f"*X;{state};{spin:03d};{last};{flags};{round(rpm * 10):03d};{rotor}"


def extended(  # one *X line of a Mercury in extended mode
    state: int, laps: int = 0, *, ball: int = 0, rotor: int = 1, spin: int = 11, number: int = 34, flags: str = "0"
) -> str:
    pocket = f"{number:2d}" if state == 5 else "??"
    return f"{status(state, spin, number, flags, rotor=rotor)};0022;{laps:02X};{ball};0B099;{pocket}"


def head(
    model: Model,
    seed: int,
    coups: int,
    *,
    kinds: Sequence[str] = (),
    rates: CableRates = CLEAN,
    setup: HeadSetup | None = None,
) -> SimHead:
    """A simulated head that plays so many coups, and a good one to end with: what ended before it is then known."""
    rng = random.Random(f"cammegh {seed}")
    drawing = Drawing(model, rng)
    drawn = itertools.islice(drawing.coups(list(kinds or KINDS[model])), coups)
    last = (drawing.coup("valid") for _ in range(1))
    return SimHead(model, itertools.chain(drawn, last), rng, setup, LineCable(random.Random(seed), rates))


def listen(head: SimHead, session: CammeghSession) -> list[e.Event]:
    """All events of the session until the head has no more coups."""
    session.opened(0)
    events: list[e.Event] = []
    now_us = 0
    while not head.over:
        now_us = max(now_us, min(head.wants_us, -(-session.next_tick_ns // 1000)))
        head.advance(now_us)
        data = head.data_to_send()
        if data:
            events += session.receive(data, now_us * 1000)
        events += session.tick(now_us * 1000)
        head.receive(session.data_to_send())
    return events
