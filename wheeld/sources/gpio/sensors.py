"""What the edges of each sensor mean. Pure: edges in, observations out, each sensor with its own horizon.

A sensor that is blocked for longer than a ball can block it is reported as not working until it is free again. A ball
on the track is past a beam in some tens of milliseconds, a hand that holds it before the launch takes a second or two;
a ball in a pocket is past a reader when the rotor has gone on by more than a pocket, however long that takes.
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
"""The slowest ball that stays on the track, at 1 m/s, takes 22 ms past a thin beam; four times that for a wide one."""
POCKET_NS_MAX = 500_000_000
"""A ball in a pocket of a rotor at 3 rpm takes 260 ms. Slower still, the middle of the pulse says little."""
POCKETS_BLOCKED_MAX = 3.0
"""The ball and the pocket's walls fill one pocket, and the rotor's angle is known to a tick."""
OBJECT_DEBOUNCE_NS = 5_000_000
"""A coin that bounces through the cylinder must be reported within 50 ms (N6), a spark of a few milliseconds not."""
OBJECT_CHATTER_NS_MAX = 20_000_000
"""A line that goes up and down for longer is no spark: either a body or a loose wire, and one cannot know which. To
report a body that is not there costs a coup; not to report one that is there may cost a wrong number."""


DOOR_CHATTER_NS_MAX = 1_000_000_000
"""A door's contact that goes up and down for longer is open: nobody knows that it is closed."""


class Sensor(Protocol):
    """One line, or the three of the encoder."""

    @property
    def repeats(self) -> int:
        """How often a level came again, which shows a lost edge; so far."""
        ...

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """The line is `on` (active) or off at `at_ns`, whatever it did before; returns its level, if it is certain."""
        ...

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """The line is `on` (active) or off from `at_ns` on; returns what that means."""
        ...

    def until(self, now_ns: int) -> list[Observation]:
        """No other edge came up to `now_ns`; returns what that means."""
        ...

    def horizon_ns(self, now_ns: int) -> int:
        """No observation still to come is dated before this."""
        ...


class EncoderLine:
    """One of the encoder's three lines."""

    def __init__(self, encoder: Encoder, line: Line, us: Callable[[int], int]) -> None:
        self._encoder, self._line, self._us = encoder, line, us

    @property
    def repeats(self) -> int:
        """None: the encoder reports its own faults, as `rotor`."""
        return 0

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:  # noqa: ARG002  as other sensors
        """A rotor has no level. One that turns gives its next edge at once."""
        self._encoder.stand(self._line, level=on)
        return []

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """A step, or Z."""
        return [*self._encoder.edge(self._line, self._us(at_ns), level=on)]

    def until(self, now_ns: int) -> list[Observation]:  # noqa: ARG002  as other sensors
        """A rotor that stands is no observation: the core concludes it from the time."""
        return []

    def horizon_ns(self, now_ns: int) -> int:
        """An edge is reported at once."""
        return now_ns


class _Beam:
    """A light barrier; `ok` is what was last reported of it, and `_told_blocked` that it was told to be blocked."""

    name: str

    def __init__(self, pulse: Blockage, us: Callable[[int], int]) -> None:
        self.pulse, self._us = pulse, us
        self.ok = True
        self._told_blocked = False

    @property
    def repeats(self) -> int:
        """Of its pulse."""
        return self.pulse.repeats

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Blocked or free; one that is blocked may be stuck."""
        self.pulse.stand(at_ns, blocked=on)
        self._told_blocked = on
        return [Level(t_us=self._us(at_ns), sensor=self.name, active=on), *self._works_again(at_ns, on=on)]

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Blocked or free."""
        middle_ns = self.pulse.edge(at_ns, blocked=on)
        if again := self._works_again(at_ns, on=on):
            return again
        seen = [] if middle_ns is None else [self._passed(self._us(middle_ns))]
        if self._told_blocked and not on:
            self._told_blocked = False
            seen.append(Level(t_us=self._us(at_ns), sensor=self.name, active=False))
        return seen

    def until(self, now_ns: int) -> list[Observation]:
        """Blocked for too long is a fault, reported once."""
        since_ns = self.pulse.since_ns
        stuck_ns = None if since_ns is None or not self.ok else self._stuck_ns(since_ns, now_ns)
        if stuck_ns is None:
            return []
        self.ok = False
        return [SensorState(t_us=self._us(stuck_ns), sensor=self.name, ok=False)]

    def horizon_ns(self, now_ns: int) -> int:
        """The middle of a pulse that has not ended."""
        return self.pulse.horizon_ns(now_ns)

    def _works_again(self, at_ns: int, *, on: bool) -> list[Observation]:
        """One that was stuck is free."""
        if on or self.ok:
            return []
        self.ok, self._told_blocked = True, False
        return [SensorState(t_us=self._us(at_ns), sensor=self.name, ok=True)]

    def _passed(self, t_us: int) -> Observation:
        raise NotImplementedError

    def _stuck_ns(self, since_ns: int, now_ns: int) -> int | None:
        raise NotImplementedError


class Beam(_Beam):
    """Beam `number` of the track; blocked for more than `blocked_ns_max` it is stuck."""

    def __init__(self, number: int, setting: GpioSetting, us: Callable[[int], int]) -> None:
        super().__init__(Blockage(setting.min_pulse_ns, BALL_NS_MAX), us)
        self.name = f"beam/{number}"
        self._number, self._blocked_ns_max = number, setting.beam_blocked_ns_max

    def _passed(self, t_us: int) -> Observation:
        return BallPass(t_us=t_us, beam=self._number)

    def _stuck_ns(self, since_ns: int, now_ns: int) -> int | None:
        """When it was stuck, which does not depend on how often this is called."""
        stuck_ns = since_ns + self._blocked_ns_max
        return stuck_ns if stuck_ns <= now_ns else None


class Reader(_Beam):
    """Reader `number` of the pockets; blocked for more than some pockets of the rotor's travel it is stuck."""

    def __init__(
        self, number: int, setting: GpioSetting, us: Callable[[int], int], encoder: Encoder, pockets: PocketLayout
    ) -> None:
        super().__init__(Blockage(setting.min_pulse_ns, POCKET_NS_MAX), us)
        self.name = f"reader/{number}"
        self._number, self._encoder = number, encoder
        self._ticks_max = POCKETS_BLOCKED_MAX * encoder.ticks / pockets.count
        self._from_ticks = 0.0

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Blocked or free, and where the rotor is."""
        self._from_ticks = self._encoder.travel_ticks
        return super().stand(at_ns, on=on)

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Blocked or free, and where the rotor was."""
        if on and self.pulse.since_ns is None:
            self._from_ticks = self._encoder.travel_ticks
        return super().edge(at_ns, on=on)

    def _passed(self, t_us: int) -> Observation:
        return Sighting(t_us=t_us, reader=self._number)

    def _stuck_ns(self, since_ns: int, now_ns: int) -> int | None:  # noqa: ARG002  the ball may lie there for hours
        travel_ticks = abs(self._encoder.travel_ticks - self._from_ticks)
        return now_ns if travel_ticks > self._ticks_max else None


class _Switch:
    """What a contact's changes mean."""

    def __init__(self, contact: Contact, us: Callable[[int], int]) -> None:
        self._contact, self._us = contact, us

    @property
    def repeats(self) -> int:
        """Of its contact."""
        return self._contact.repeats

    def edge(self, at_ns: int, *, on: bool) -> list[Observation]:
        """An edge, or a bounce."""
        return self._observed(self._contact.edge(at_ns, on=on))

    def until(self, now_ns: int) -> list[Observation]:
        """What has lasted by now."""
        return self._observed(self._contact.until(now_ns))

    def horizon_ns(self, now_ns: int) -> int:
        """The edge that has not lasted yet."""
        return self._contact.horizon_ns(now_ns)

    def _observed(self, changes: list[tuple[int, bool]]) -> list[Observation]:
        return [seen for at_ns, on in changes for seen in self._meaning(self._us(at_ns), on=on)]

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        raise NotImplementedError


class ObjectSwitch(_Switch):
    """The cylinder's object sensor. The first level that lasts is how it stands, each later one a change."""

    def __init__(self, contact: Contact, us: Callable[[int], int]) -> None:
        super().__init__(contact, us)
        self._is_told = False

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Its level is told when it has lasted."""
        self._contact.stand(at_ns, on=on, settled=False)
        self._is_told = False
        return []

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        if self._is_told:
            return [ForeignObject(t_us=t_us, present=on)]
        self._is_told = True
        return [Level(t_us=t_us, sensor="object", active=on)]


class DoorSwitch(_Switch):
    """The switch of the cabinet's door, on while it is open: how it stands is all that it tells."""

    @property
    def repeats(self) -> int:
        """None: a lost edge of the door is no fault of what sees the wheel, and its level is told when it lasts."""
        return 0

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Its level is told when it has lasted."""
        self._contact.stand(at_ns, on=on, settled=False)
        return []

    def _meaning(self, t_us: int, *, on: bool) -> list[Observation]:
        return [Level(t_us=t_us, sensor=DOOR, active=on)]


class ButtonLine(_Switch):
    """A button: its press is the command, its release nothing, and one that is held at first was not pressed."""

    def __init__(self, contact: Contact, us: Callable[[int], int], name: CommandName) -> None:
        super().__init__(contact, us)
        self._name = name
        self._told_held = False

    def stand(self, at_ns: int, *, on: bool) -> list[Observation]:
        """Held or not."""
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
    """Each with its pin. Readers need the encoder."""
    for number, pin in enumerate(setting.beam_pins):
        yield pin, Beam(number, setting, us)
    for number, pin in enumerate(setting.reader_pins):
        assert encoder is not None, "the configuration says so"
        yield pin, Reader(number, setting, us, encoder, pockets)


def switches(setting: GpioSetting, us: Callable[[int], int]) -> Iterator[tuple[int, Sensor, bool]]:
    """Each button and each switch with its pin, and whether it is on while that is low."""
    for name, pin in setting.buttons.items():
        yield pin, ButtonLine(Contact(setting.debounce_ns, on=None), us, name), setting.buttons_active_low
    if setting.object_pin is not None:
        contact = Contact(OBJECT_DEBOUNCE_NS, on=None, chatter_ns_max=OBJECT_CHATTER_NS_MAX)
        yield setting.object_pin, ObjectSwitch(contact, us), setting.sensors_active_low
    if setting.door_pin is not None:
        contact = Contact(setting.debounce_ns, on=None, chatter_ns_max=DOOR_CHATTER_NS_MAX)
        yield setting.door_pin, DoorSwitch(contact, us), setting.door_active_low
