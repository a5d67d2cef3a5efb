"""Pins through the module `RPi.GPIO`, which the original or rpi-lgpio provides.

With rpi-lgpio, the kernel dates each edge in the interrupt, by the host's monotonic clock. The module lgpio passes this
date on, but rpi-lgpio drops it. So edges are requested from lgpio, on the lines that rpi-lgpio has claimed. With the
original, an edge gets the host time at which the callback runs. The callback gets no level, so it reads the level at
that time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wheeld.ports import Edge, PinsError, Pull, Taken
from wheeld.sources.gpio import provider
from wheeld.sources.gpio.intake import Intake
from wheeld.sources.gpio.provider import Provider

KERNEL_ERROR_NS = 1_000_000
"""How long an interrupt may wait for other interrupts, and for code that must not be interrupted. Measured: 0.2 ms."""
CALLBACK_ERROR_NS = 5_000_000
"""The time until a callback runs: the interrupt, a wake-up, and the interpreter's lock, which threads hold for 5 ms."""
STAMP_AGE_NS_MAX = 60_000_000_000
"""No edge waits for a minute. If its date is older, it is of another clock: kernels before 5.7 use the time of day."""


def open_pins(wanted: Provider | None, chip: int | None) -> RpiPins:
    """Open the pins of chip number `chip` (None: the Pi's own) through `wanted` (None: the installed one). Raises
    PinsError, which says what to do."""
    machine = provider.this_machine()
    if provider.choose(wanted, provider.installed(), machine) == "rpi":
        return RpiPins(_imported("RPi.GPIO"))
    if machine.revision is not None:
        os.environ.setdefault("RPI_LGPIO_REVISION", f"{machine.revision:x}")
    if chip is not None:
        os.environ["RPI_LGPIO_CHIP"] = str(chip)
    import tempfile  # noqa: PLC0415  it loads modules for archives, and most wheels have no pins

    # The import of lgpio makes a named pipe in the working directory, and a service may write only in a temporary one.
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="wheeld-") as scratch:
        os.environ.pop("LG_WD", None)
        os.chdir(scratch)
        try:
            return RpiPins(_imported("RPi.GPIO"), _imported("lgpio"))
        finally:
            os.chdir(before)


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except (ImportError, RuntimeError, NotImplementedError, OSError) as wrong:
        raise PinsError(f"{name} cannot be used here: {wrong}") from wrong


class RpiPins:
    """`Pins` of the module `gpio` (`RPi.GPIO`). `lgpio`: the module that it uses if rpi-lgpio provides it."""

    def __init__(self, gpio: Any, lgpio: Any = None, *, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._gpio, self._lgpio, self._monotonic_ns = gpio, lgpio, monotonic_ns
        self._intake = Intake()
        self._callbacks: list[Any] = []
        self._driven: set[int] = set()
        self._is_open = True
        with _as_pins_error("the chip"):
            gpio.setwarnings(False)  # noqa: FBT003  the module defines it so
            gpio.setmode(gpio.BCM)
        if lgpio is not None and getattr(gpio, "_chip", None) is None:
            raise PinsError("this rpi-lgpio does not show the chip that it opened; version 0.6 does")

    @property
    def error_ns(self) -> int:
        """How far the date of an edge may be wrong. The kernel's date is better than the date of a callback."""
        return CALLBACK_ERROR_NS if self._lgpio is None else KERNEL_ERROR_NS

    def listen(self, pin: int, pull: Pull) -> bool:
        """Claim the pin, and request edges in both directions. Read the level only then, so that no edge is missed."""
        gpio = self._gpio
        pulls = {"up": gpio.PUD_UP, "down": gpio.PUD_DOWN, "off": gpio.PUD_OFF}
        with _as_pins_error(f"pin {pin}"):
            gpio.setup(pin, gpio.IN, pull_up_down=pulls[pull])
            if self._lgpio is None:
                gpio.add_event_detect(pin, gpio.BOTH, callback=self._called)
            else:
                gpio.add_event_detect(pin, gpio.BOTH)
                edges = self._lgpio.BOTH_EDGES
                self._callbacks.append(self._lgpio.callback(gpio._chip, pin, edges, self._alerted))
            return bool(gpio.input(pin))

    def level(self, pin: int) -> bool:
        """Read the pin."""
        with _as_pins_error(f"pin {pin}"):
            return bool(self._gpio.input(pin))

    def drive(self, pin: int, *, level: bool) -> None:
        """Set the pin. Claim it at the first call."""
        gpio = self._gpio
        with _as_pins_error(f"pin {pin}"):
            if pin not in self._driven:
                gpio.setup(pin, gpio.OUT, initial=level)
                self._driven.add(pin)
            # The first call needs this too: only `output` reports that the chip has no such pin.
            gpio.output(pin, level)

    def take(self) -> Taken:
        """Return what the callbacks have added."""
        return self._intake.take()

    def close(self) -> None:
        """Cancel the callbacks, then release every pin."""
        if not self._is_open:
            return
        self._is_open = False
        for callback in self._callbacks:
            callback.cancel()
        self._gpio.cleanup()

    def _called(self, pin: int) -> None:
        """Add an edge. Called on the thread of the original."""
        at_ns = self._monotonic_ns()
        self._intake.put(Edge(pin, bool(self._gpio.input(pin)), at_ns))

    def _alerted(self, _chip: int, pin: int, level: int, at_ns: int) -> None:
        """Add an edge. Called on the thread of lgpio."""
        if not 0 <= self._monotonic_ns() - at_ns < STAMP_AGE_NS_MAX:
            self._intake.lose()
        else:
            self._intake.put(Edge(pin, bool(level), at_ns))


@contextmanager
def _as_pins_error(what: str) -> Iterator[None]:
    """Convert every error of the module to a PinsError, with a text for the person who wired the pins."""
    try:
        yield
    except Exception as wrong:  # lgpio raises its own class, which is derived directly from Exception
        raise PinsError(f"{what} cannot be used: {wrong}") from wrong
