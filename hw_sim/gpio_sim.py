"""GPIO lines of a real kernel: a `gpio-sim` chip. One process pulls its lines, and another process reads them.

    python -m hw_sim.gpio_sim CHIP

reads edges, one on each line (`AT_NS PIN LEVEL`), up to an empty line, and prints `ready`. Then it reads the time of
AT_NS 0 on the host's monotonic clock and plays the edges. At the end it prints when it played each edge, on that clock.

The chip is made through configfs, which needs root and a kernel with gpio-sim (`make test-gpio` builds such a kernel).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from wheeld.ports import Edge

CONFIGFS = Path("/sys/kernel/config/gpio-sim")
PLATFORM = Path("/sys/devices/platform")
LATE_NS = 1_000_000
"""If an edge is later than this, the edges after it are delayed, too. Shorter delays are usual: a sleep ends some
tenths of a millisecond late."""
PULL = {True: b"pull-up", False: b"pull-down"}


class SimChip:
    """A live chip named `name`. `make` creates it. Another process finds it by its name."""

    def __init__(self, name: str) -> None:
        device = CONFIGFS / name
        label = (device / "bank0" / "chip_name").read_text().strip()
        self.number = int(label.removeprefix("gpiochip"))
        self._lines = PLATFORM / (device / "dev_name").read_text().strip() / label
        self._pulls: dict[int, int] = {}

    @staticmethod
    def make(name: str, lines: int) -> SimChip:
        """Create a chip with `lines` lines. Raises OSError."""
        device = CONFIGFS / name
        (device / "bank0").mkdir(parents=True)
        (device / "bank0" / "num_lines").write_text(str(lines))
        (device / "live").write_text("1")
        return SimChip(name)

    def pull(self, pin: int, *, level: bool) -> None:
        """Pull the line to a level from outside, against its resistor."""
        if pin not in self._pulls:
            self._pulls[pin] = os.open(self._lines / f"sim_gpio{pin}" / "pull", os.O_WRONLY)
        os.pwrite(self._pulls[pin], PULL[level], 0)

    def level(self, pin: int) -> bool:
        """Return the level of an output, or the level to which an input is pulled."""
        return (self._lines / f"sim_gpio{pin}" / "value").read_text().strip() == "1"

    def play(self, edges: Iterable[Edge]) -> Iterator[int]:
        """Pull each line at its time. Yields the real time of each edge, in host monotonic ns.

        If an edge is late because the computer stood still, all later edges get the same delay. After a delay, a real
        wheel would not be faster either.
        """
        late_ns = 0
        for edge in edges:
            while (ahead_ns := edge.at_ns + late_ns - time.monotonic_ns()) > 0:
                time.sleep(ahead_ns / 1e9)
            late_ns -= min(0, ahead_ns + LATE_NS)
            yield time.monotonic_ns()
            self.pull(edge.pin, level=edge.level)


def main() -> None:
    """Play the edges of standard input."""
    chip = SimChip(sys.argv[1])
    fields = [line.split() for line in iter(sys.stdin.readline, "\n")]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    base_ns = int(sys.stdin.readline())
    pulled = list(chip.play(Edge(int(pin), level == "1", base_ns + int(at_ns)) for at_ns, pin, level in fields))
    sys.stdout.write("".join(f"{at_ns}\n" for at_ns in pulled))


if __name__ == "__main__":
    main()
