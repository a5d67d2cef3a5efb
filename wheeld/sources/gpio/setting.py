"""`[gpio]`: which pin of the computer itself is wired to what. `firmware_protocol/gpio.md` is its page.

The configuration file has exactly these keys; the configuration validates what they mean together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.core.observations import CommandName
from wheeld.ports import Pull
from wheeld.sources.gpio.encoder import Kind
from wheeld.sources.gpio.provider import Provider

PIN_MAX = 53
"""The last line of the Pi's chip."""

_Pin: TypeAlias = Annotated[int, Meta(ge=0, le=PIN_MAX, description=f"a GPIO number, 0 to {PIN_MAX}")]
_PinList: TypeAlias = Annotated[tuple[_Pin, ...], Meta(description="a list of GPIO numbers, like [5, 6, 13, 19]")]
_Three: TypeAlias = Annotated[
    tuple[_Pin, _Pin, _Pin], Meta(description="the GPIO numbers of the encoder's lines A, B and Z, like [17, 27, 22]")
]

BUTTONS: tuple[CommandName, ...] = (
    "rien_va",
    "tout_va",
    "operations_done",
    "open",
    "rien_ne_va_plus",
    "last_coup",
    "last_coup_off",
    "close",
    "suspend",
    "resume",
)
"""Commands that a button may give, each with a key `button_…`: all that need no member, a button has none to give."""
OUTPUTS = ("lamp", "buzzer", "bets_closed")


class GpioSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Pins by the chip's numbers, at their place in the wheel's order. With an `encoder`, beams, an object sensor or
    the cabinet's door they see the wheel; without, they are buttons and lamps beside another source."""

    provider: Provider
    chip: Annotated[int, Meta(ge=0, le=255, description="the number of /dev/gpiochipN, 0 to 255")] | None = None
    encoder: Kind | None = None
    encoder_pins: _Three | None = None
    index_tick: Annotated[int, Meta(ge=0, description="a tick of the encoder, 0 or more")] = 0
    """The sector in which the line Z has its mark."""
    beam_pins: _PinList = ()
    reader_pins: _PinList = ()
    object_pin: _Pin | None = None
    door_pin: _Pin | None = None
    button_rien_va: _Pin | None = None
    button_tout_va: _Pin | None = None
    button_operations_done: _Pin | None = None
    button_open: _Pin | None = None
    button_rien_ne_va_plus: _Pin | None = None
    button_last_coup: _Pin | None = None
    button_last_coup_off: _Pin | None = None
    button_close: _Pin | None = None
    button_suspend: _Pin | None = None
    button_resume: _Pin | None = None
    lamp: _Pin | None = None
    buzzer: _Pin | None = None
    bets_closed: _Pin | None = None
    pull: Pull = "up"
    encoder_active_low: bool = False
    sensors_active_low: bool = True
    buttons_active_low: bool = True
    door_active_low: bool = False
    """False: the contact is closed to ground while the door is closed, so that a cut wire is an open door."""
    debounce_ms: Annotated[float, Meta(ge=1, le=200, description="milliseconds, 1 to 200")] = 20.0
    min_pulse_us: Annotated[float, Meta(ge=0, le=2000, description="microseconds, 0 to 2000")] = 200.0
    beam_blocked_s_max: Annotated[float, Meta(ge=0.2, le=60, description="seconds, 0.2 to 60")] = 2.0

    @property
    def observes(self) -> bool:
        """Whether it sees the wheel."""
        has_switch = self.object_pin is not None or self.door_pin is not None
        return self.encoder is not None or bool(self.beam_pins) or has_switch

    @property
    def buttons(self) -> dict[CommandName, int]:
        """Pins by the command that they give."""
        pins: dict[CommandName, int | None] = {name: getattr(self, f"button_{name}") for name in BUTTONS}
        return {name: pin for name, pin in pins.items() if pin is not None}

    @property
    def debounce_ns(self) -> int:
        """`debounce_ms` in nanoseconds."""
        return round(self.debounce_ms * 1e6)

    @property
    def min_pulse_ns(self) -> int:
        """`min_pulse_us` in nanoseconds."""
        return round(self.min_pulse_us * 1e3)

    @property
    def beam_blocked_ns_max(self) -> int:
        """`beam_blocked_s_max` in nanoseconds."""
        return round(self.beam_blocked_s_max * 1e9)

    def used(self) -> Iterator[tuple[str, int]]:
        """Every pin that is wired, with its key, in the order of the keys."""
        for key in ("encoder_pins", "beam_pins", "reader_pins"):
            yield from ((key, pin) for pin in getattr(self, key) or ())
        for key in ("object_pin", "door_pin", *(f"button_{name}" for name in BUTTONS), *OUTPUTS):
            if (pin := getattr(self, key)) is not None:
                yield key, pin
