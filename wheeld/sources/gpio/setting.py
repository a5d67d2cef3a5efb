"""`[gpio]`: what is wired to which pin of the computer itself. `firmware_protocol/gpio.md` describes it.

The configuration file has exactly these keys. `wheeld/config` checks whether they fit together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from wheeld.core.catalogue import translatable
from wheeld.core.observations import CommandName
from wheeld.ports import Pull
from wheeld.sources.gpio.encoder import Kind
from wheeld.sources.gpio.provider import Provider

PIN_MAX = 53
"""The last line of the Pi's chip."""

_Pin: TypeAlias = Annotated[
    int,
    Meta(ge=0, le=PIN_MAX, description=translatable("a GPIO number, 0 to {most}"), extra={"parts": {"most": PIN_MAX}}),
]
_PinList: TypeAlias = Annotated[
    tuple[_Pin, ...], Meta(description=translatable("a list of GPIO numbers, like [5, 6, 13, 19]"))
]
_Three: TypeAlias = Annotated[
    tuple[_Pin, _Pin, _Pin],
    Meta(description=translatable("the GPIO numbers of the encoder's lines A, B and Z, like [17, 27, 22]")),
]


def _wired(title: str, example: int) -> Meta:
    """Describe the key of a pin that need not be wired."""
    return Meta(title=title, examples=[example], extra={"left_out": "not wired"})


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
"""Commands that a button may give, each with a key `button_…`. A button gives no values, and these commands need no
values."""
SENSORS = ("encoder_pins", "beam_pins", "reader_pins")
"""Keys of the sensors that have several pins."""
SWITCHES = ("object_pin", "door_pin")
"""Keys of sensors with two levels. No head observes these, so a wheel with a head may have pins for them."""
OUTPUTS = ("lamp", "buzzer", "bets_closed")


class GpioSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Pins by the numbers of the chip, in the order of the wheel's sensors. They observe the wheel if an `encoder`,
    beams, an object sensor or the cabinet's door is wired. If not, they are only for the buttons and lamps of a wheel
    with another source."""

    provider: Annotated[
        Provider | None,
        Meta(
            title=translatable("the only library that may read the pins"),
            examples=["rpi-lgpio"],
            extra={"left_out": "the installed one"},
        ),
    ] = None
    chip: Annotated[
        Annotated[int, Meta(ge=0, le=255, description=translatable("the number of /dev/gpiochipN, 0 to 255"))] | None,
        Meta(
            title='which chip has the pins; only with `provider = "rpi-lgpio"`',
            examples=[0],
            extra={"left_out": "the Pi's own"},
        ),
    ] = None
    encoder: Annotated[
        Kind | None,
        Meta(
            title=translatable("how the encoder counts: four ticks for each period, or one tick for each slot"),
            examples=["quadrature"],
            extra={"left_out": "no encoder"},
        ),
    ] = None
    encoder_pins: Annotated[
        _Three | None,
        Meta(
            title=translatable("the pins of the encoder; needed with `encoder`"),
            examples=[(17, 27, 22)],
            extra={"left_out": "not wired"},
        ),
    ] = None
    index_tick: Annotated[
        int,
        Meta(
            ge=0,
            title="the rotor's sector when Z passes",
            description=translatable("a tick of the encoder, 0 to the last"),
            examples=[12],
        ),
    ] = 0
    beam_pins: Annotated[
        _PinList,
        Meta(
            title=translatable("the pins of the beams, one for each of `wheel.beams_deg`, in the same order"),
            examples=[(5, 6, 13, 19)],
        ),
    ] = ()
    reader_pins: Annotated[
        _PinList,
        Meta(
            title=translatable("the pins of the readers, one for each of `wheel.readers_deg`, in the same order"),
            examples=[(16, 20, 21)],
        ),
    ] = ()
    object_pin: Annotated[_Pin | None, _wired("the pin of the sensor for foreign objects (N6)", 26)] = None
    door_pin: Annotated[_Pin | None, _wired("the pin of the switch at the cabinet's door", 12)] = None
    button_rien_va: Annotated[_Pin | None, _wired('the pin of the button "rien va": the coup is void', 23)] = None
    button_tout_va: Annotated[_Pin | None, _wired('the pin of the button "tout va"', 24)] = None
    button_operations_done: Annotated[_Pin | None, _wired('the pin of the button "operations done"', 25)] = None
    button_open: Annotated[_Pin | None, _wired('the pin of the button "open"', 8)] = None
    button_rien_ne_va_plus: Annotated[_Pin | None, _wired('the pin of the button "rien ne va plus"', 7)] = None
    button_last_coup: Annotated[_Pin | None, _wired('the pin of the button "la dernière"', 9)] = None
    button_last_coup_off: Annotated[_Pin | None, _wired('the pin of the button "la dernière" taken back', 10)] = None
    button_close: Annotated[_Pin | None, _wired('the pin of the button "close"', 11)] = None
    button_suspend: Annotated[_Pin | None, _wired('the pin of the button "suspend"', 4)] = None
    button_resume: Annotated[_Pin | None, _wired('the pin of the button "resume"', 14)] = None
    lamp: Annotated[
        _Pin | None, _wired("the pin of the lamp that is lit while the coup is void or play is suspended", 18)
    ] = None
    buzzer: Annotated[_Pin | None, _wired("the pin of the buzzer that sounds when the lamp is lit", 15)] = None
    bets_closed: Annotated[_Pin | None, _wired("the pin that is high while no bet may be placed", 3)] = None
    pull: Annotated[
        Pull, Meta(title="the resistor of every input, which decides what an open contact reads", examples=["down"])
    ] = "up"
    encoder_active_low: Annotated[bool, Meta(title="whether the encoder's lines are inverted", examples=[True])] = False
    sensors_active_low: Annotated[
        bool,
        Meta(title="whether a beam, a reader or the object sensor is active while its pin is low", examples=[False]),
    ] = True
    buttons_active_low: Annotated[
        bool, Meta(title="whether a button is pressed while its pin is low", examples=[False])
    ] = True
    door_active_low: Annotated[
        bool,
        Meta(
            title="whether the door is open while its pin is low; false: while it is high, as with a cut wire",
            examples=[True],
        ),
    ] = False
    debounce_ms: Annotated[
        float,
        Meta(
            ge=1,
            le=200,
            title="how long a button must stay pressed, and the door open or closed, to count",
            description=translatable("milliseconds, 1 to 200"),
            examples=[30],
        ),
    ] = 20.0
    min_pulse_us: Annotated[
        float,
        Meta(
            ge=0,
            le=2000,
            title="a pulse of a beam or a reader that is shorter than this is no ball",
            description=translatable("microseconds, 0 to 2000"),
            examples=[100],
        ),
    ] = 200.0
    beam_blocked_s_max: Annotated[
        float,
        Meta(
            ge=0.2,
            le=60,
            title="a beam or reader that stays active for longer is a fault",
            description=translatable("seconds, 0.2 to 60"),
            examples=[3],
        ),
    ] = 2.0

    @property
    def observes(self) -> bool:
        """Whether the pins observe the wheel."""
        has_switch = any(getattr(self, key) is not None for key in SWITCHES)
        return self.encoder is not None or bool(self.beam_pins) or has_switch

    @property
    def buttons(self) -> dict[CommandName, int]:
        """The pins of the buttons, by command."""
        pins: dict[CommandName, int | None] = {name: getattr(self, f"button_{name}") for name in BUTTONS}
        return {name: pin for name, pin in pins.items() if pin is not None}

    def used(self) -> Iterator[tuple[str, int]]:
        """Yield every wired pin with its key, in the order of the keys."""
        for key in SENSORS:
            yield from ((key, pin) for pin in getattr(self, key) or ())
        for key in (*SWITCHES, *(f"button_{name}" for name in BUTTONS), *OUTPUTS):
            if (pin := getattr(self, key)) is not None:
                yield key, pin
