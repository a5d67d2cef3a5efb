"""Which pin is what. The configuration judges it; here it is taken as good."""

from __future__ import annotations

import msgspec

from wheeld.ports import Pull
from wheeld.sources.gpio.encoder import Kind


class EncoderPins(msgspec.Struct, frozen=True, kw_only=True):
    """The three lines of the encoder, what it is, and in which sector Z stands."""

    kind: Kind
    a: int
    b: int
    z: int
    index_tick: int = 0
    active_low: bool = False


class GpioSetting(msgspec.Struct, frozen=True, kw_only=True):
    """Every pin by the chip's number, at its place in the wheel's order; `buttons` by the command that they give."""

    rotor_ticks: int
    encoder: EncoderPins | None = None
    beams: tuple[int, ...] = ()
    readers: tuple[int, ...] = ()
    object_pin: int | None = None
    sensors_active_low: bool = True
    buttons: dict[str, int] = {}
    buttons_active_low: bool = True
    pull: Pull = "up"
    debounce_ns: int = 20_000_000
    shortest_pulse_ns: int = 200_000
    beam_blocked_ns_max: int = 2_000_000_000
    lamp: int | None = None
    buzzer: int | None = None
    bets_closed: int | None = None

    @property
    def observes(self) -> bool:
        """Whether it sees the wheel; otherwise it has buttons and lamps only, beside another source."""
        return self.encoder is not None or bool(self.beams) or self.object_pin is not None
