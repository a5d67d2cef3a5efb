"""Pins by the name in the configuration. If one does not work that is an error; no other is tried."""

from __future__ import annotations

from collections.abc import Callable

from wheeld.ports import Pins, PinsError
from wheeld.sources.gpio.provider import Provider
from wheeld.sources.gpio.rpi import open_rpi

OpenPins = Callable[[int | None], Pins]

PROVIDERS: dict[Provider, OpenPins] = {
    "rpi": lambda chip: open_rpi("rpi", chip),
    "rpi-lgpio": lambda chip: open_rpi("rpi-lgpio", chip),
}


def open_pins(name: Provider, chip: int | None) -> Pins:
    """The pins of that provider, of chip number `chip` where it can choose; raises PinsError."""
    if name not in PROVIDERS:
        raise PinsError(f"no provider of pins is called {name!r}; there are {', '.join(PROVIDERS)}")
    return PROVIDERS[name](chip)
