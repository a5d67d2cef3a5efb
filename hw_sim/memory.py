"""What the people at a simulated table remember while the simulator, or the host, starts again.

Nobody tells a simulator on a serial line where the table stands. So after a restart its people do what any state asks
for: they put the ball where it may belong, and press every button that may be awaited. A table that does not await one
refuses it, and nothing comes of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from hw_sim.events import SimEvent
from hw_sim.exits import BadDataError, writing
from hw_sim.live_table import LiveTable
from hw_sim.table import Outcome, SimTable

NUMBERS_KEPT = 6
"""A host may be away for some coups, and then the table's last number is one of before."""
HELD_S = 8.0
"""One reader has missed a ball in a hand by then, at 12 turns a minute: so it is seen that a hand brings it back."""
LINE_S = 12.0
"""Longer than a line that was down is on trial, at five times the speed of life."""


class Memory:
    """The numbers of which one is the table's last, newest last; with a `path` they outlive the simulator."""

    def __init__(self, path: Path | None) -> None:
        """Raises BadDataError for a file that holds something else."""
        self._path = path
        self.numbers: list[int] = []
        if path is not None and path.exists():
            try:
                self.numbers = msgspec.json.decode(path.read_bytes(), type=list[int])
            except msgspec.DecodeError as wrong:
                raise BadDataError(f"{path}: no numbers of a simulated table: {wrong}") from wrong

    def keep(self, before: int | None, outcomes: Sequence[Outcome]) -> None:
        """A scenario is played: the last number may be the one `before`, or one that comes out in it.

        Raises FileError.
        """
        results = [outcome["number"] for outcome in outcomes if outcome["kind"] == "result"]
        newest_first = dict.fromkeys(reversed([*self.numbers, before, *results]))
        known = [number for number in newest_first if number is not None]
        self.numbers = known[:NUMBERS_KEPT][::-1]
        if self._path is not None:
            fresh = self._path.with_suffix(".new")
            with writing():
                fresh.write_bytes(msgspec.json.encode(self.numbers))
                fresh.replace(self._path)


def _bring(table: SimTable, number: int) -> None:
    table.lift_ball()
    table.now_s += HELD_S
    table.put_ball_back(number)


def begin_again(live: LiveTable, numbers: Sequence[int]) -> Iterator[SimEvent]:
    """The people bring a table of which they know nothing but these `numbers` to "faites vos jeux".

    They give up a number that awaits the chef, and take back a last coup that was announced: without a look at the
    table they would not know that it closed.
    """
    yield from live.wait(LINE_S)
    for word in ("rien_va", "operations_done", "last_coup_off", "open"):
        yield from live.command(word)
    for number in numbers:
        yield from live.play(partial(_bring, number=number))
        yield from live.command("resume")
        yield from live.command("tout_va")
    for word in ("resume", "operations_done", "open"):
        yield from live.command(word)
