"""What `[gpio]` must mean, at a wheel of so many beams, readers and ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from wheeld.core.setting import TableSetting
from wheeld.sources.gpio.encoder import PERIOD
from wheeld.sources.gpio.setting import GpioSetting

SEEING = ("encoder", "encoder_pins", "beam_pins", "reader_pins", "object_pin", "door_pin")
Wrong: TypeAlias = tuple[str, str]
"""A key of the section, and what is wrong with it."""


def gpio_problems(gpio: GpioSetting, table: TableSetting, *, has_board: bool) -> Iterator[Wrong]:
    """What is wrong with it. `has_board`: there is `[sensors]` too."""
    yield from _used_twice(gpio)
    if gpio.provider == "rpi" and gpio.chip is not None:
        yield "chip", "does not apply to the original RPi.GPIO, which has the Pi's own chip only"
    seeing = [key for key in SEEING if getattr(gpio, key) is not None and getattr(gpio, key) != ()]
    by_head = [part for part in ("rotor", "ball") if getattr(table, part) == "head"]
    if has_board:
        yield from _one_too_many("the board of [sensors]", seeing)
    elif len(by_head) == 2:
        # No head watches for foreign objects (N6), or a cabinet's door: pins may.
        yield from _one_too_many("[head]", [key for key in seeing if key not in ("object_pin", "door_pin")])
    elif gpio.encoder is not None and "rotor" in by_head:
        yield "encoder", 'is one too many: [head] reports the rotor; take it out, or set wheel.rotor = "sensors"'
    elif gpio.encoder is None and "rotor" not in by_head:
        yield from _no_encoder([key for key in seeing if key != "door_pin"])
    else:
        yield from _incomplete(gpio, table)


def _used_twice(gpio: GpioSetting) -> Iterator[Wrong]:
    used = list(gpio.used())
    times = Counter(pin for _, pin in used)
    seen: set[int] = set()
    for key, pin in used:
        if times[pin] > 1 and pin in seen:
            first = next(other for other, same in used if same == pin)
            yield key, f"pin {pin} is taken already, by {first}"
        seen.add(pin)


def _one_too_many(who: str, keys: list[str]) -> Iterator[Wrong]:
    for key in keys[:1]:
        yield key, f"is one too many: {who} sees this wheel already; take out one of the two"


def _no_encoder(seeing: list[str]) -> Iterator[Wrong]:
    for key in seeing:
        yield key, "cannot be used without an encoder: set encoder"
    if not seeing:
        yield "encoder", "is missing; expected since there is no [sensors], and something must see the wheel"


def _incomplete(gpio: GpioSetting, table: TableSetting) -> Iterator[Wrong]:
    """Pins that see the wheel: all that the wheel has must be wired."""
    if gpio.encoder is not None:
        yield from _encoder(gpio, table.rotor_ticks)
    elif gpio.encoder_pins is not None:
        yield "encoder_pins", "belong to no encoder: set encoder, or take them out"
    for key, where, angles in (
        ("beam_pins", "wheel.beams_deg", len(table.beams_deg)),
        ("reader_pins", "wheel.readers_deg", len(table.readers_deg)),
    ):
        pins = len(getattr(gpio, key))
        if pins != angles:
            yield key, f"has {pins} pins where {where} has {angles} angles; one for each, in the same order"


def _encoder(gpio: GpioSetting, rotor_ticks: int) -> Iterator[Wrong]:
    if gpio.encoder_pins is None:
        yield "encoder_pins", "is missing; expected the GPIO numbers of its lines A, B and Z"
    if gpio.encoder == "quadrature" and rotor_ticks % PERIOD:
        yield "encoder", f"is quadrature, with four ticks a period; wheel.rotor_ticks = {rotor_ticks} is no multiple"
    if gpio.index_tick >= rotor_ticks:
        yield "index_tick", f"{gpio.index_tick} is not within 0…{rotor_ticks - 1}, as wheel.rotor_ticks has it"
