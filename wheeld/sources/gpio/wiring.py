"""The sensors of one wheel: which sensor is on which pin, and its state at the start."""

from __future__ import annotations

from collections.abc import Callable

from wheeld.core.observations import Observation
from wheeld.core.pockets import PocketLayout
from wheeld.ports import Edge, Pins
from wheeld.sources.gpio.encoder import Encoder, Line
from wheeld.sources.gpio.sensors import EncoderLine, Sensor, beams_and_readers, switches
from wheeld.sources.gpio.setting import GpioSetting


class Wiring:
    """The sensors of one wheel with these `pockets`. The wheel's encoder has `rotor_ticks` a turn. `us` converts host
    time to sensing time.

    Raises PinsError.
    """

    def __init__(
        self,
        setting: GpioSetting,
        pins: Pins,
        us: Callable[[int], int],
        *,
        pockets: PocketLayout,
        rotor_ticks: int,
        host_ns: int,
    ) -> None:
        self._setting, self._pins, self._us, self._start_ns = setting, pins, us, host_ns
        self._encoder: Encoder | None = None
        self._sensors: dict[int, tuple[Sensor, bool]] = {}
        self.first: list[Observation] = []
        """The levels of all sensors at the start."""
        if setting.encoder is not None and setting.encoder_pins is not None:
            self._encoder = encoder = Encoder(setting.encoder, rotor_ticks, setting.index_tick)
            lines: tuple[Line, Line, Line] = ("a", "b", "z")
            for line, pin in zip(lines, setting.encoder_pins, strict=True):
                self._wire(pin, EncoderLine(encoder, line, self._us), active_low=setting.encoder_active_low)
        watching = [*beams_and_readers(setting, us, self._encoder, pockets)]
        self._beams = [beam for _, beam in watching]
        for pin, beam in watching:
            self._wire(pin, beam, active_low=setting.sensors_active_low)
        for pin, switch, active_low in switches(setting, us):
            self._wire(pin, switch, active_low=active_low)

    @property
    def health(self) -> dict[str, bool]:
        """Whether each sensor works, as far as this can be observed."""
        rotor = {} if self._encoder is None else {"rotor": self._encoder.ok}
        return {**{beam.name: beam.ok for beam in self._beams}, **rotor}

    @property
    def pulse_widths_us(self) -> dict[str, tuple[int, int]]:
        """The widths of the narrowest and the widest pulse that counted, for each beam and reader with pulses."""
        widths = {beam.name: beam.pulse.widths_ns for beam in self._beams}
        return {name: (each[0] // 1_000, each[1] // 1_000) for name, each in widths.items() if each is not None}

    @property
    def counters(self) -> dict[str, int]:
        """How many faults of the encoder, and how many pulses of a wrong length, there were since the start."""
        return {
            "encoder_violations": 0 if self._encoder is None else self._encoder.violations,
            "pulses_too_short": sum(beam.pulse.too_short for beam in self._beams),
            "pulses_too_long": sum(beam.pulse.too_long for beam in self._beams),
        }

    @property
    def repeats(self) -> int:
        """How often a level was repeated so far. Each repeat shows a lost edge."""
        return sum(sensor.repeats for sensor, _ in self._sensors.values())

    def edge(self, edge: Edge) -> list[Observation]:
        """Return what the sensor observed before the edge, and what the edge means, in order of time."""
        sensor, active_low = self._sensors[edge.pin]
        return [*sensor.until(edge.at_ns), *sensor.edge(edge.at_ns, on=edge.level is not active_low)]

    def until(self, now_ns: int) -> list[Observation]:
        """Process the time up to `now_ns`, in which no other edge came."""
        return [seen for sensor, _ in self._sensors.values() for seen in sensor.until(now_ns)]

    def horizon_ns(self, now_ns: int) -> int:
        """Return the earliest possible time of any later observation. Edges were processed up to `now_ns`."""
        return min((sensor.horizon_ns(now_ns) for sensor, _ in self._sensors.values()), default=now_ns)

    def forget(self, t_us: int) -> list[Observation]:
        """Forget the rotor's position: it was found by counting edges, and edges were lost."""
        return [] if self._encoder is None else [*self._encoder.forget(t_us)]

    def stand(self, at_ns: int, level: Callable[[int], bool]) -> list[Observation]:
        """Set all sensors except the encoder to the `level` of their pins at `at_ns`, because edges were lost."""
        return [
            seen
            for pin, (sensor, active_low) in self._sensors.items()
            if not isinstance(sensor, EncoderLine)
            for seen in sensor.stand(at_ns, on=level(pin) is not active_low)
        ]

    def _wire(self, pin: int, sensor: Sensor, *, active_low: bool) -> None:
        """Claim the pin, and set the sensor to the level of the pin."""
        is_on = self._pins.listen(pin, self._setting.pull) is not active_low
        self.first += sensor.stand(self._start_ns, on=is_on)
        self._sensors[pin] = sensor, active_low
