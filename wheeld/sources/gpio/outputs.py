"""Lamps and buzzer: what they show for each state of the table, and how their pins are set."""

from __future__ import annotations

from typing import NamedTuple

from wheeld.ports import Pins
from wheeld.sources.gpio.setting import GpioSetting

BUZZ_NS = 700_000_000
"""Long enough to be heard at a table, and too short to disturb people."""
BETS_OPEN = ("faites_vos_jeux", "ball_running")
"""While the ball runs the chef may still take a bet, until "rien ne va plus" (A3)."""
NULL = ("rien_va", "suspended")


class Shown(NamedTuple):
    """What is lit. The buzzer sounds when the lamp is switched on."""

    lamp: bool
    bets_closed: bool


def shown(state: str) -> Shown:
    """Return what is lit: the lamp if the coup is void or play is suspended, "bets closed" if no bet is allowed."""
    return Shown(lamp=state in NULL, bets_closed=state not in BETS_OPEN)


class Outputs:
    """Lamp, buzzer and "bets closed" of one table, as far as they are wired. Raises PinsError."""

    def __init__(self, setting: GpioSetting, pins: Pins) -> None:
        """Switch everything off until the first state is shown."""
        self._pins = pins
        self._pin_of = {"lamp": setting.lamp, "buzzer": setting.buzzer, "bets_closed": setting.bets_closed}
        self._lit: dict[str, bool] = {}
        self._buzz_until_ns = 0
        self._was_null: bool | None = None
        self.dark()

    def show(self, state: str, now_ns: int) -> None:
        """Show that the table is in `state` at `now_ns`. Must be called every few milliseconds."""
        now = shown(state)
        if now.lamp and self._was_null is False:
            self._buzz_until_ns = now_ns + BUZZ_NS
        self._was_null = now.lamp
        self._set("lamp", on=now.lamp)
        self._set("bets_closed", on=now.bets_closed)
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
