"""Lamps and buzzer: what they show for each state of the table, and how their pins are set."""

from __future__ import annotations

from wheeld.ports import Pins
from wheeld.sources.gpio.setting import GpioSetting

BUZZ_NS = 700_000_000
"""How long the buzzer sounds: people at the table hear it, and it does not disturb them."""
BETS_OPEN = ("faites_vos_jeux", "ball_running")
"""The states in which "bets closed" is off. While the ball runs, bets are taken until "rien ne va plus" (A3)."""
LAMP_LIT = ("rien_va", "suspended")
"""The states in which the lamp is lit. When it is switched on, the buzzer sounds."""


class Outputs:
    """Lamp, buzzer and "bets closed" of one table, as far as they are wired. All are off until the first state is
    shown. Raises PinsError."""

    def __init__(self, setting: GpioSetting, pins: Pins) -> None:
        self._pins = pins
        self._pin_of = {"lamp": setting.lamp, "buzzer": setting.buzzer, "bets_closed": setting.bets_closed}
        self._lit: dict[str, bool] = {}
        self._buzz_until_ns = 0
        self._was_lit: bool | None = None
        self.dark()

    def show(self, state: str, now_ns: int) -> None:
        """Show that the table is in `state` at `now_ns`. Must be called often, because it ends the buzzer's sound."""
        is_lit = state in LAMP_LIT
        if is_lit and self._was_lit is False:
            self._buzz_until_ns = now_ns + BUZZ_NS
        self._was_lit = is_lit
        self._set("lamp", on=is_lit)
        self._set("bets_closed", on=state not in BETS_OPEN)
        self._set("buzzer", on=now_ns < self._buzz_until_ns)

    def dark(self) -> None:
        """Switch everything off."""
        for name in self._pin_of:
            self._set(name, on=False)

    def _set(self, name: str, *, on: bool) -> None:
        pin = self._pin_of[name]
        if pin is not None and self._lit.get(name) is not on:
            self._pins.drive(pin, level=on)
            self._lit[name] = on
