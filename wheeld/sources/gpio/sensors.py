"""Converts the edges of each sensor to observations. No I/O. Each sensor has its own horizon (see `debounce`).

A sensor that is blocked for longer than a ball can block it is reported as not working until it is free again. A ball
on the track passes a beam in some tens of milliseconds. A hand that holds the ball before the launch may block the beam
for a second or two. A ball in a pocket has passed a reader when the rotor has turned by more than a pocket, however
long that takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from wheeld.core.observations import (
    DOOR,
    BallPass,
    Command,
    CommandName,
    ForeignObject,
    Level,
    Observation,
    SensorState,
    Sighting,
)
from wheeld.core.pockets import PocketLayout
from wheeld.sources.gpio.debounce import Blockage, Contact
from wheeld.sources.gpio.encoder import Encoder, Line
from wheeld.sources.gpio.setting import GpioSetting

BALL_NS_MAX = 100_000_000
"""The slowest ball that stays on the track, at 1 m/s, blocks a thin beam for 22 ms, and a wide one for 90 ms."""
POCKET_NS_MAX = 500_000_000
"""A ball in a pocket passes a reader in 260 ms at 3 rpm. If the rotor is slower, the middle of the pulse is not
accurate."""
POCKETS_BLOCKED_MAX = 3.0
"""By how many pockets the rotor may turn while a reader is blocked. The ball and the pocket's walls fill one pocket."""
OBJECT_DEBOUNCE_NS = 5_000_000
"""A coin that bounces through the cylinder must be reported within 50 ms (N6). A spark of a few ms is not an object."""
OBJECT_CHATTER_NS_MAX = 20_000_000
"""A line that changes for longer than this shows no spark, but an object or a loose wire. Nobody knows which, so it is
reported as an object. A false report costs a coup. A missing report may cause a wrong number."""

DOOR_CHATTER_NS_MAX = 1_000_000_000
"""If the contact of a door changes for longer than this, the door counts as open, because it may be open."""


class Sensor(Protocol):
    """The sensor on one line, or one of the three lines of the encoder."""

    @property
    def repeats(self) -> int:
        """How often a level was repeated so far. Each repeat shows a lost edge."""
        ...

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Set the line on (active) or off at `at_ns`, whatever came before. Return its level if that is certain now."""
        ...

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Process an edge: the line is on (active) or off from `at_ns` on. Return the observations."""
        ...

    def until(self, now_ns: int) -> list[Observation]:
        """Process the time up to `now_ns`, in which no other edge came. Return the observations."""
        ...

    def horizon_ns(self, now_ns: int) -> int:
        """Return the earliest possible time of any later observation."""
        ...


class EncoderLine:
    """One of the encoder's three lines."""

    def __init__(self, encoder: Encoder, line: Line, us: Callable[[int], int]) -> None:
        self._encoder, self._line, self._us = encoder, line, us

    @property
    def repeats(self) -> int:
        """Always 0, because the encoder reports its own faults as `rotor`."""
        return 0

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:  # noqa: ARG002  `Sensor` requires this argument
        """Set the level of the line. Return nothing, because the core knows no level of an encoder."""
        self._encoder.stand(self._line, level=on)
        return []

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Process a step or an edge of Z."""
        return [*self._encoder.edge(self._line, self._us(at_ns), level=on)]

    def until(self, now_ns: int) -> list[Observation]:  # noqa: ARG002  `Sensor` requires this argument
        """Return nothing: from the time without edges, the core concludes that the rotor stands still."""
        return []

    def horizon_ns(self, now_ns: int) -> int:
        """Return `now_ns`, because an edge is reported at once."""
        return now_ns


class _Beam:
    """A light barrier. `ok`: it works, as last reported. `_told_blocked`: it was reported as blocked."""

    name: str

    def __init__(self, setting: GpioSetting, longest_ns: int, us: Callable[[int], int]) -> None:
        self.pulse, self._us = Blockage(round(setting.min_pulse_us * 1e3), longest_ns), us
        self.ok = True
        self._told_blocked = False

    @property
    def repeats(self) -> int:
        """How often the line repeated a level so far. Each repeat shows a lost edge."""
        return self.pulse.repeats

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Set the beam to blocked or free and report its level. A blocked beam may be stuck."""
        self.pulse.stand(at_ns, blocked=on)
        self._told_blocked = on
        return [Level(t_us=self._us(at_ns), sensor=self.name, active=on), *self._works_again(at_ns, on=on)]

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Process an edge to blocked or free."""
        middle_ns = self.pulse.edge(at_ns, blocked=on)
        if again := self._works_again(at_ns, on=on):
            return again
        seen = [] if middle_ns is None else [self._passed(self._us(middle_ns))]
        if self._told_blocked and not on:
            self._told_blocked = False
            seen.append(Level(t_us=self._us(at_ns), sensor=self.name, active=False))
        return seen

    def until(self, now_ns: int) -> list[Observation]:
        """If the beam is blocked for too long, report once that it fails."""
        since_ns = self.pulse.since_ns
        stuck_ns = None if since_ns is None or not self.ok else self._stuck_ns(since_ns, now_ns)
        if stuck_ns is None:
            return []
        self.ok = False
        return [SensorState(t_us=self._us(stuck_ns), sensor=self.name, ok=False)]

    def horizon_ns(self, now_ns: int) -> int:
        """Return the earliest possible middle of an unfinished pulse, or `now_ns`."""
        return self.pulse.horizon_ns(now_ns)

    def _works_again(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Report that the beam works again, if it was stuck and is now free."""
        if on or self.ok:
            return []
        self.ok, self._told_blocked = True, False
        return [SensorState(t_us=self._us(at_ns), sensor=self.name, ok=True)]

    def _passed(self, t_us: int) -> Observation:
        raise NotImplementedError

    def _stuck_ns(self, since_ns: int, now_ns: int) -> int | None:
        raise NotImplementedError


class Beam(_Beam):
    """Beam `number` of the track. It is stuck if it is blocked for more than `blocked_ns_max`."""

    def __init__(self, number: int, setting: GpioSetting, us: Callable[[int], int]) -> None:
        super().__init__(setting, BALL_NS_MAX, us)
        self.name = f"beam/{number}"
        self._number, self._blocked_ns_max = number, round(setting.beam_blocked_s_max * 1e9)

    def _passed(self, t_us: int) -> Observation:
        return BallPass(t_us=t_us, beam=self._number)

    def _stuck_ns(self, since_ns: int, now_ns: int) -> int | None:
        """Return the time at which the beam became stuck. The time does not depend on how often this is called."""
        stuck_ns = since_ns + self._blocked_ns_max
        return stuck_ns if stuck_ns <= now_ns else None


class Reader(_Beam):
    """Reader `number` of the pockets. It is stuck if it stays blocked while the rotor turns by more than
    `POCKETS_BLOCKED_MAX` pockets."""

    def __init__(
        self, number: int, setting: GpioSetting, us: Callable[[int], int], encoder: Encoder, pockets: PocketLayout
    ) -> None:
        super().__init__(setting, POCKET_NS_MAX, us)
        self.name = f"reader/{number}"
        self._number, self._encoder = number, encoder
        self._ticks_max = POCKETS_BLOCKED_MAX * encoder.ticks / pockets.count
        self._from_ticks = 0.0

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Set the reader to blocked or free, and store the position of the rotor."""
        self._from_ticks = self._encoder.travel_ticks
        return super().stand(at_ns, on=on)

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Process an edge to blocked or free. Store the position of the rotor when a pulse begins."""
        if on and self.pulse.since_ns is None:
            self._from_ticks = self._encoder.travel_ticks
        return super().edge(at_ns, on=on)

    def _passed(self, t_us: int) -> Observation:
        return Sighting(t_us=t_us, reader=self._number)

    def _stuck_ns(self, since_ns: int, now_ns: int) -> int | None:  # noqa: ARG002  the ball may lie there for hours
        travel_ticks = abs(self._encoder.travel_ticks - self._from_ticks)
        return now_ns if travel_ticks > self._ticks_max else None


class _Switch:
    """Converts the changes of a contact to observations."""

    def __init__(self, contact: Contact, us: Callable[[int], int]) -> None:
        self._contact, self._us = contact, us

    @property
    def repeats(self) -> int:
        """How often the contact repeated a level so far. Each repeat shows a lost edge."""
        return self._contact.repeats

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Process an edge, which may be a bounce."""
        return self._observed(self._contact.edge(at_ns, on=on))

    def until(self, now_ns: int) -> list[Observation]:
        """Report a change that has lasted long enough."""
        return self._observed(self._contact.until(now_ns))

    def horizon_ns(self, now_ns: int) -> int:
        """Return the time of the edge that has not lasted long enough yet, or `now_ns`."""
        return self._contact.horizon_ns(now_ns)

    def _observed(self, changes: list[tuple[int, bool]]) -> list[Observation]:
        return [seen for at_ns, on in changes for seen in self._meaning(self._us(at_ns), on=on)]

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        raise NotImplementedError


class ObjectSwitch(_Switch):
    """The object sensor. The first level that lasts is reported as a `Level`, each later level as a `ForeignObject`."""

    def __init__(self, contact: Contact, us: Callable[[int], int]) -> None:
        super().__init__(contact, us)
        self._is_told = False

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Set the level, which is reported when it has lasted."""
        self._contact.stand(at_ns, on=on, settled=False)
        self._is_told = False
        return []

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        if self._is_told:
            return [ForeignObject(t_us=t_us, present=on)]
        self._is_told = True
        return [Level(t_us=t_us, sensor="object", active=on)]


class DoorSwitch(_Switch):
    """The switch of the cabinet's door, which is on while the door is open. It reports only levels."""

    @property
    def repeats(self) -> int:
        """Always 0: a lost edge of the door's switch is not a fault of the wheel's sensors."""
        return 0

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Set the level, which is reported when it has lasted."""
        self._contact.stand(at_ns, on=on, settled=False)
        return []

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        return [Level(t_us=t_us, sensor=DOOR, active=on)]


class ButtonLine(_Switch):
    """A button. A press is a command, a release is not. A button that is held at the start was not pressed."""

    def __init__(self, contact: Contact, us: Callable[[int], int], name: CommandName) -> None:
        super().__init__(contact, us)
        self._name = name
        self._told_held = False

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Report whether the button is held."""
        self._contact.stand(at_ns, on=on, settled=True)
        self._told_held = on
        return [Level(t_us=self._us(at_ns), sensor=f"button/{self._name}", active=on)]

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        if on:
            return [Command(t_us=t_us, name=self._name, by="button")]
        was_told, self._told_held = self._told_held, False
        return [Level(t_us=t_us, sensor=f"button/{self._name}", active=False)] if was_told else []


def beams_and_readers(
    setting: GpioSetting, us: Callable[[int], int], encoder: Encoder | None, pockets: PocketLayout
) -> Iterator[tuple[int, Beam | Reader]]:
    """Yield each beam and reader with its pin. Readers need the encoder."""
    for number, pin in enumerate(setting.beam_pins):
        yield pin, Beam(number, setting, us)
    for number, pin in enumerate(setting.reader_pins):
        assert encoder is not None, "the configuration is checked for this"
        yield pin, Reader(number, setting, us, encoder, pockets)


def switches(setting: GpioSetting, us: Callable[[int], int]) -> Iterator[tuple[int, Sensor, bool]]:
    """Yield each button and switch with its pin, and whether it is on while the pin is low."""
    debounce_ns = round(setting.debounce_ms * 1e6)
    for name, pin in setting.buttons.items():
        yield pin, ButtonLine(Contact(debounce_ns, on=None), us, name), setting.buttons_active_low
    if setting.object_pin is not None:
        contact = Contact(OBJECT_DEBOUNCE_NS, on=None, chatter_ns_max=OBJECT_CHATTER_NS_MAX)
        yield setting.object_pin, ObjectSwitch(contact, us), setting.sensors_active_low
    if setting.door_pin is not None:
        contact = Contact(debounce_ns, on=None, chatter_ns_max=DOOR_CHATTER_NS_MAX)
        yield setting.door_pin, DoorSwitch(contact, us), setting.door_active_low
