"""Lines of a real kernel: a `gpio-sim` chip whose lines somebody pulls, from outside the program that hears them.

    python -m hw_sim.gpio_sim CHIP

reads edges, a line each, `AT_NS PIN LEVEL`, and an empty line; says `ready`; reads when AT_NS 0 is on the host's
monotonic clock; plays; and says when each line was truly pulled, a line each, on that clock too.

The chip is made through configfs, which takes root and a kernel that has gpio-sim (`make test-gpio` builds one).
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
"""A sleep ends some tenths of a millisecond late; that does not add up."""
PULL = {True: b"pull-up", False: b"pull-down"}


class SimChip:
    """A live chip named `name`; made by `make`, found again by its name from another process."""

    def __init__(self, name: str) -> None:
        device = CONFIGFS / name
        label = (device / "bank0" / "chip_name").read_text().strip()
        self.number = int(label.removeprefix("gpiochip"))
        self._lines = PLATFORM / (device / "dev_name").read_text().strip() / label
        self._pulls: dict[int, int] = {}

    @staticmethod
    def make(name: str, lines: int) -> SimChip:
        """A new chip of so many lines. Raises OSError."""
        device = CONFIGFS / name
        (device / "bank0").mkdir(parents=True)
        (device / "bank0" / "num_lines").write_text(str(lines))
        (device / "live").write_text("1")
        return SimChip(name)

    def pull(self, pin: int, *, level: bool) -> None:
        """From outside, against whatever resistor the line has."""
        if pin not in self._pulls:
            self._pulls[pin] = os.open(self._lines / f"sim_gpio{pin}" / "pull", os.O_WRONLY)
        os.pwrite(self._pulls[pin], PULL[level], 0)

    def level(self, pin: int) -> bool:
        """What is put out, or what is pulled."""
        return (self._lines / f"sim_gpio{pin}" / "value").read_text().strip() == "1"

    def play(self, edges: Iterable[Edge]) -> Iterator[int]:
        """Pull each line at its time; yields when that truly was, in host monotonic ns.

        What comes too late (the machine stood still) makes all that follows as late: no wheel catches up.
        """
        late_ns = 0
        for edge in edges:
            while (ahead_ns := edge.at_ns + late_ns - time.monotonic_ns()) > 0:
                time.sleep(ahead_ns / 1e9)
            late_ns -= min(0, ahead_ns + LATE_NS)
            yield time.monotonic_ns()
            self.pull(edge.pin, level=edge.level)


def main() -> None:
    """Play standard input."""
    chip = SimChip(sys.argv[1])
    fields = [line.split() for line in iter(sys.stdin.readline, "\n")]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    base_ns = int(sys.stdin.readline())
    pulled = list(chip.play(Edge(int(pin), level == "1", base_ns + int(at_ns)) for at_ns, pin, level in fields))
    sys.stdout.write("".join(f"{at_ns}\n" for at_ns in pulled))


if __name__ == "__main__":
    main()
