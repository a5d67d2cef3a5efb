"""Rules for `[gpio]`, which depend on the beams, readers and ticks of the wheel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from wheeld.core.catalogue import Part, Text
from wheeld.core.setting import TableSetting
from wheeld.sources.gpio.encoder import PERIOD
from wheeld.sources.gpio.setting import SENSORS, SWITCHES, GpioSetting

Wrong: TypeAlias = tuple[str, Text]
"""A key of the section, and what is wrong with it."""


def gpio_rules(gpio: GpioSetting, table: TableSetting, *, has_board: bool) -> Iterator[Iterator[Wrong]]:
    """Yield the rules. Each yields what is wrong. `has_board`: the file has `[sensors]` too."""
    yield _used_twice(gpio)
    yield _chip(gpio)
    yield _who_sees(gpio, table, has_board=has_board)
    if not has_board:
        yield _encoder_pins(gpio, table)
        yield _encoder(gpio, table)
        yield _pins(gpio, table, "beam_pins", "beams_deg")
        yield _pins(gpio, table, "reader_pins", "readers_deg")


def _chip(gpio: GpioSetting) -> Iterator[Wrong]:
    if gpio.provider != "rpi-lgpio" and gpio.chip is not None:
        line = {"line": 'provider = "rpi-lgpio"'}
        yield "chip", Text("does not apply to the original RPi.GPIO: leave it out, or set {line}", line)


def _who_sees(gpio: GpioSetting, table: TableSetting, *, has_board: bool) -> Iterator[Wrong]:
    """Yield a problem if a part of the wheel has two sources, or no source."""
    seeing = [
        key for key in ("encoder", *SENSORS, *SWITCHES) if getattr(gpio, key) is not None and getattr(gpio, key) != ()
    ]
    by_head = [part for part in ("rotor", "ball") if getattr(table, part) == "head"]
    if has_board:
        yield from _one_too_many(Text("the board of [sensors]"), seeing)
    elif len(by_head) == 2:
        yield from _one_too_many("[head]", [key for key in seeing if key not in SWITCHES])
    elif gpio.encoder is not None and "rotor" in by_head:
        line = {"line": 'wheel.rotor = "sensors"'}
        yield "encoder", Text("cannot be used here: [head] reports the rotor; remove this key, or set {line}", line)
    elif gpio.encoder is None and "rotor" not in by_head:
        useless = [key for key in seeing if key != "door_pin"]
        for key in useless:
            yield key, Text("cannot be used without an encoder: set encoder")
        if not useless:
            what = Text("is missing; give it, because there is no [sensors], and something must see the wheel")
            yield "encoder", what


def _used_twice(gpio: GpioSetting) -> Iterator[Wrong]:
    used = list(gpio.used())
    times = Counter(pin for _, pin in used)
    seen: set[int] = set()
    for key, pin in used:
        if times[pin] > 1 and pin in seen:
            first = next(other for other, same in used if same == pin)
            yield (
                key,
                Text("pin {pin} is used already, by {key}; give each key a pin of its own", {"pin": pin, "key": first}),
            )
        seen.add(pin)


def _one_too_many(who: Text | str, keys: list[str]) -> Iterator[Wrong]:
    for key in keys[:1]:
        yield key, Text("cannot be used here: {who} sees this wheel already; remove one of the two", {"who": who})


def _sees(gpio: GpioSetting, table: TableSetting) -> bool:
    """Return whether pins observe this wheel. With an encoder, pins observe rotor and ball. If a head reports the
    rotor, pins may observe the ball alone. A wheel that pins observe must have all its sensors on pins."""
    if gpio.encoder is not None:
        return table.rotor != "head"
    return table.rotor == "head" and table.ball != "head"


def _pins(gpio: GpioSetting, table: TableSetting, key: str, angles_key: str) -> Iterator[Wrong]:
    if not _sees(gpio, table):
        return
    pins, angles = len(getattr(gpio, key)), len(getattr(table, angles_key))
    if pins != angles:
        counted: dict[str, Part] = {"pins": pins, "key": f"wheel.{angles_key}", "angles": angles}
        what = Text(
            "has {pins} pins, but {key} has {angles} angles; give one pin for each angle, in the same order", counted
        )
        yield key, what


def _encoder_pins(gpio: GpioSetting, table: TableSetting) -> Iterator[Wrong]:
    if _sees(gpio, table) and gpio.encoder is None and gpio.encoder_pins is not None:
        yield "encoder_pins", Text("cannot be used without an encoder: set encoder, or remove this key")
    if _sees(gpio, table) and gpio.encoder is not None and gpio.encoder_pins is None:
        yield "encoder_pins", Text("is missing; expected the GPIO numbers of its lines A, B and Z")


def _encoder(gpio: GpioSetting, table: TableSetting) -> Iterator[Wrong]:
    if not _sees(gpio, table) or gpio.encoder is None:
        return
    ticks = table.rotor_ticks
    if gpio.encoder == "quadrature" and ticks % PERIOD:
        line = {"line": f"wheel.rotor_ticks = {ticks}"}
        what = Text("is quadrature, which has four ticks in each period; {line} is not a multiple of four", line)
        yield "encoder", what
    if gpio.index_tick >= ticks:
        limits = {"value": gpio.index_tick, "most": ticks - 1}
        yield "index_tick", Text("{value} is not within 0…{most}, which follows from wheel.rotor_ticks", limits)
