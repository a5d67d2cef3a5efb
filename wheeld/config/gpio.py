"""`[gpio]`: which pin of the computer itself is wired to what. `firmware_protocol/gpio.md` is its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.sources.gpio.setting import EncoderPins, GpioSetting

PIN_MAX = 53
"""The last line of the Pi's chip."""
PERIOD = 4
"""Ticks of a quadrature encoder's period."""

Pin: TypeAlias = Annotated[int, Meta(ge=0, le=PIN_MAX, description=f"a GPIO number, 0 to {PIN_MAX}")]
_PinList: TypeAlias = Annotated[tuple[Pin, ...], Meta(description="a list of GPIO numbers, like [5, 6, 13, 19]")]
_Three: TypeAlias = Annotated[
    tuple[Pin, Pin, Pin], Meta(description="the GPIO numbers of the encoder's lines A, B and Z, like [17, 27, 22]")
]

Wrong: TypeAlias = tuple[str, str]
"""A key of the section, and what is wrong with it."""

BUTTONS = ("rien_va", "tout_va", "operations_done", "open", "rien_ne_va_plus", "last_coup")
"""Commands that a button may give, each with a key `button_…`."""
OUTPUTS = ("lamp", "buzzer", "bets_closed")


class GpioSection(msgspec.Struct, frozen=True, kw_only=True):
    """`[gpio]`: pins by the chip's numbers. With an `encoder` it sees the wheel; without, it is buttons and lamps."""

    provider: Literal["rpi", "rpi-lgpio"]
    chip: Annotated[int, Meta(ge=0, le=255, description="the number of /dev/gpiochipN, 0 to 255")] | None = None
    encoder: Literal["quadrature", "slots"] | None = None
    encoder_pins: _Three | None = None
    index_tick: Annotated[int, Meta(ge=0, description="a tick of the encoder, 0 or more")] = 0
    beam_pins: _PinList = ()
    reader_pins: _PinList = ()
    object_pin: Pin | None = None
    button_rien_va: Pin | None = None
    button_tout_va: Pin | None = None
    button_operations_done: Pin | None = None
    button_open: Pin | None = None
    button_rien_ne_va_plus: Pin | None = None
    button_last_coup: Pin | None = None
    lamp: Pin | None = None
    buzzer: Pin | None = None
    bets_closed: Pin | None = None
    pull: Literal["up", "down", "off"] = "up"
    encoder_active_low: bool = False
    sensors_active_low: bool = True
    buttons_active_low: bool = True
    debounce_ms: Annotated[float, Meta(ge=1, le=200, description="milliseconds, 1 to 200")] = 20.0
    min_pulse_us: Annotated[float, Meta(ge=0, le=2000, description="microseconds, 0 to 2000")] = 200.0
    beam_blocked_s_max: Annotated[float, Meta(ge=0.2, le=60, description="seconds, 0.2 to 60")] = 2.0

    @property
    def buttons(self) -> dict[str, int]:
        """Pins by command."""
        pins = {name: getattr(self, f"button_{name}") for name in BUTTONS}
        return {name: pin for name, pin in pins.items() if pin is not None}

    def setting(self, rotor_ticks: int) -> GpioSetting:
        """What the edges need of it."""
        return GpioSetting(
            rotor_ticks=rotor_ticks,
            encoder=self._encoder(),
            beams=self.beam_pins,
            readers=self.reader_pins,
            object_pin=self.object_pin,
            sensors_active_low=self.sensors_active_low,
            buttons=self.buttons,
            buttons_active_low=self.buttons_active_low,
            pull=self.pull,
            debounce_ns=round(self.debounce_ms * 1e6),
            shortest_pulse_ns=round(self.min_pulse_us * 1e3),
            beam_blocked_ns_max=round(self.beam_blocked_s_max * 1e9),
            lamp=self.lamp,
            buzzer=self.buzzer,
            bets_closed=self.bets_closed,
        )

    def _encoder(self) -> EncoderPins | None:
        if self.encoder is None or self.encoder_pins is None:
            return None
        a, b, z = self.encoder_pins
        low = self.encoder_active_low
        return EncoderPins(kind=self.encoder, a=a, b=b, z=z, index_tick=self.index_tick, active_low=low)

    def used(self) -> Iterator[tuple[str, int]]:
        """Every pin that is wired, with its key, in the order of the keys."""
        for key in ("encoder_pins", "beam_pins", "reader_pins"):
            yield from ((key, pin) for pin in getattr(self, key) or ())
        for key in ("object_pin", *(f"button_{name}" for name in BUTTONS), *OUTPUTS):
            if (pin := getattr(self, key)) is not None:
                yield key, pin


def judge(
    gpio: GpioSection, *, beams: int, readers: int, rotor_ticks: int, has_board: bool, by_head: tuple[str, ...] = ()
) -> Iterator[Wrong]:
    """What is wrong with it, as (key, what), at a wheel of so many beams, readers and ticks.

    `has_board`: `[sensors]` is there too. `by_head`: what the wheel's own head tells, of `rotor` and `ball`.
    """
    yield from _twice(gpio)
    if gpio.provider == "rpi" and gpio.chip is not None:
        yield "chip", "is nothing to the original RPi.GPIO, which knows the Pi's own chip only"
    seeing = [
        key for key in ("encoder", "encoder_pins", "beam_pins", "reader_pins", "object_pin") if getattr(gpio, key)
    ]
    if has_board or len(by_head) == 2:
        # No head watches for foreign objects (N6): a beam of ours may.
        who, spare = ("the board of [sensors]", seeing) if has_board else ("[head]", [*set(seeing) - {"object_pin"}])
        for key in spare[:1]:
            yield key, f"is one too many: {who} sees this wheel already; take out one of the two"
        return
    if gpio.encoder is not None and "rotor" in by_head:
        yield "encoder", 'is one too many: [head] tells of the rotor; take it out, or say wheel.rotor = "sensors"'
    elif gpio.encoder is None and "rotor" not in by_head:
        for key in seeing:
            yield key, "sees nothing without an encoder: say what encoder is"
        if not seeing:
            yield "encoder", "is missing; expected since there is no [sensors], and something must see the wheel"
        return
    if gpio.encoder is None and gpio.encoder_pins is not None:
        yield "encoder_pins", "are of no encoder: say what encoder is, or take them out"
    yield from _complete(gpio, beams, readers, rotor_ticks)


def _twice(gpio: GpioSection) -> Iterator[Wrong]:
    used = list(gpio.used())
    times = Counter(pin for _, pin in used)
    told: set[int] = set()
    for key, pin in used:
        if times[pin] > 1 and pin in told:
            first = next(other for other, same in used if same == pin)
            yield key, f"pin {pin} is taken already, by {first}"
        told.add(pin)


def _complete(gpio: GpioSection, beams: int, readers: int, rotor_ticks: int) -> Iterator[Wrong]:
    if gpio.encoder is not None:
        yield from _encoder(gpio, rotor_ticks)
    for key, where, angles in (("beam_pins", "wheel.beams_deg", beams), ("reader_pins", "wheel.readers_deg", readers)):
        pins = len(getattr(gpio, key))
        if pins != angles:
            yield key, f"has {pins} pins where {where} has {angles} angles; one for each, in the same order"


def _encoder(gpio: GpioSection, rotor_ticks: int) -> Iterator[Wrong]:
    if gpio.encoder_pins is None:
        yield "encoder_pins", "is missing; expected the GPIO numbers of its lines A, B and Z"
    if gpio.encoder == "quadrature" and rotor_ticks % PERIOD:
        yield (
            "encoder",
            f"of quadrature has four ticks a period; wheel.rotor_ticks = {rotor_ticks} is no multiple",
        )
    if gpio.index_tick >= rotor_ticks:
        yield "index_tick", f"{gpio.index_tick} is not within 0…{rotor_ticks - 1}, as wheel.rotor_ticks has it"
