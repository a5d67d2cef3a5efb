"""How late edges of the kernel's lines are dated and reported: the figures of `firmware_protocol/gpio.md`."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.gpio.bench import ON_LINES, Player, chip
from tests.gpio.test_contract import MS, A, B, turning
from wheeld.ports import PinsError
from wheeld.sources.gpio import provider
from wheeld.sources.gpio.rpi import KERNEL_ERROR_NS, RpiPins, open_pins

pytestmark = pytest.mark.skipif(not ON_LINES, reason="`make test-gpio` boots a kernel that has such lines")

EDGES = 2_000


def spread(late_ns: list[int]) -> dict[str, int]:
    """The distribution, in microseconds."""
    late_ns = sorted(late_ns)
    names = {"min": 0, "median": len(late_ns) // 2, "p99": len(late_ns) * 99 // 100, "max": len(late_ns) - 1}
    return {name: late_ns[index] // 1_000 for name, index in names.items()}


def test_the_kernel_dates_an_edge_when_it_happens() -> None:
    pins = open_pins("rpi-lgpio", chip().number)
    assert isinstance(pins, RpiPins)
    called_ns: list[int] = []

    def noted_ns() -> int:
        called_ns.append(time.monotonic_ns())
        return called_ns[-1]

    pins._monotonic_ns = noted_ns
    try:
        for pin in (A, B):
            pins.listen(pin, "down")
        edges = [*turning(range(EDGES + 1), step_ns=2 * MS, index=None)]
        player = Player(edges)
        player.start()
        pulled_ns = player.pulled_ns()
        time.sleep(0.1)
        taken = pins.take()
    finally:
        pins.close()
    assert taken.lost == 0
    assert [(edge.pin, edge.level) for edge in taken.edges] == [(edge.pin, edge.level) for edge in edges]
    stamps = [edge.at_ns for edge in taken.edges]
    figures: dict[str, Any] = {
        "edges": len(stamps),
        "pull to kernel stamp, µs": spread([stamp - pulled for stamp, pulled in zip(stamps, pulled_ns, strict=True)]),
        "kernel stamp to callback, µs": spread(
            [called - at_ns for called, at_ns in zip(called_ns, stamps, strict=True)]
        ),
    }
    Path(os.environ["WHEELD_GPIO_OUT"], "figures.json").write_text(json.dumps(figures, ensure_ascii=False, indent=1))
    assert figures["pull to kernel stamp, µs"]["min"] >= 0
    # The median: sometimes the player is interrupted between reading the clock and pulling the line.
    assert figures["pull to kernel stamp, µs"]["median"] * 1_000 <= KERNEL_ERROR_NS


def test_a_pin_that_is_not_there_is_an_error_with_its_number() -> None:
    pins = open_pins("rpi-lgpio", chip().number)
    try:
        with pytest.raises(PinsError, match="pin 50 cannot be used: "):
            pins.listen(50, "up")
        with pytest.raises(PinsError, match="pin 51 cannot be used: "):
            pins.drive(51, level=True)
    finally:
        pins.close()
        pins.close()


def test_a_chip_that_is_not_there_is_an_error() -> None:
    with pytest.raises(PinsError, match="the chip cannot be used"):
        open_pins("rpi-lgpio", 77)


def test_the_package_that_is_not_there_is_named() -> None:
    assert provider.installed() == {"rpi-lgpio"}
    with pytest.raises(PinsError, match=r"RPi\.GPIO (is not installed|does not work with .+): remove `provider` from"):
        open_pins("rpi", None)
