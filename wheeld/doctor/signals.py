"""Counts what each sensor reported while a technician watched."""

from __future__ import annotations

from collections import Counter, deque

from wheeld.core.observations import (
    DOOR,
    OBJECT,
    BallPass,
    Command,
    Direction,
    HeadBall,
    HeadGame,
    HeadNumber,
    HeadReport,
    HeadRotor,
    Level,
    Observation,
    Rotor,
    Sensed,
    SensorState,
    Sighting,
)
from wheeld.core.pockets import PocketLayout
from wheeld.core.tracking.beams import DOUBLE_PULSE_US
from wheeld.core.tracking.rotor import RotorFromEncoder

KEPT_MAX = 200_000
"""How many of the latest edges, pulses and sightings are kept: half an hour of a busy wheel, about 20 MB."""

MEDIAN_SIGMA = 0.6745
"""In a normal distribution, the median distance of a value from the mean, in sigma."""


class Signals:
    """Counts the observations of one wheel. `ticks`: the sectors of its encoder, 0 if it has none.

    `kept` contains the latest observations, from which angles are learned. `dropped` counts those that were too old.
    """

    def __init__(self, ticks: int, pockets: PocketLayout) -> None:
        self.ticks, self.pockets = ticks, pockets
        self.first_us: int | None = None
        self.last_us = 0
        self.pulses: Counter[int] = Counter()
        self.doubles: Counter[int] = Counter()
        self.sightings: Counter[int] = Counter()
        self.edges: Counter[Direction] = Counter()
        self.skipped_edges = 0
        self.ticks_seen: set[int] = set()
        self.buttons: Counter[str] = Counter()
        self.faults: dict[str, bool] = {}
        self.stands: dict[str, bool] = {}
        """By name, whether the sensor or the button is active, or the door is open, as it was reported last."""
        self.kept = deque[Rotor | BallPass | Sighting](maxlen=KEPT_MAX)
        self.dropped = 0
        self.phase = ""
        self.head_rpm: float | None = None
        self.head_laps = 0
        self.head_numbers: list[int] = []
        self.rotor_rpm: tuple[float, float] | None = None
        """The rotor's slowest and fastest speed while a sensor saw the ball, or while a head reported the speed."""
        self._rotor = RotorFromEncoder(ticks, pockets) if ticks else None
        self._pulse_us: dict[int, int] = {}
        self._edge: Rotor | None = None

    @property
    def seconds(self) -> float:
        """Return how long the sensors were watched, on the sensing clock."""
        return 0.0 if self.first_us is None else (self.last_us - self.first_us) / 1e6

    @property
    def rpm(self) -> float | None:
        """Return the rotor's speed now. None while the rotor stands still, or while its speed is unknown."""
        return self.head_rpm if self._rotor is None else self._rotor.rpm(self.last_us)

    @property
    def jitter_us(self) -> float:
        """Return by how much the encoder's edges are early or late (sigma)."""
        return 0.0 if self._rotor is None else self._rotor.state.jitter_us / MEDIAN_SIGMA

    @property
    def active(self) -> set[str]:
        """Return the sensors and buttons that are reported as blocked or held. The object sensor is left out."""
        return {sensor for sensor, stands in self.stands.items() if stands and sensor not in (OBJECT, DOOR)}

    @property
    def direction(self) -> Direction | None:
        """Return the direction in which the rotor turns, or last turned."""
        return None if self._rotor is None else self._rotor.direction

    def take(self, seen: Observation) -> None:
        """Count one observation."""
        self.first_us = seen.t_us if self.first_us is None else self.first_us
        self.last_us = max(self.last_us, seen.t_us)
        match seen:
            case Rotor():
                self._turned(seen)
            case BallPass():
                self.pulses[seen.beam] += 1
                before_us = self._pulse_us.get(seen.beam, -DOUBLE_PULSE_US)
                self.doubles[seen.beam] += seen.t_us - before_us < DOUBLE_PULSE_US
                self._pulse_us[seen.beam] = seen.t_us
            case Sighting():
                self.sightings[seen.reader] += 1
            case Level() | Sensed(stands=bool()):
                self.stands[seen.sensor] = seen.active if isinstance(seen, Level) else bool(seen.stands)
            case SensorState():
                self.faults[seen.sensor] = not seen.ok
            case Command():
                self.buttons[seen.name] += 1
            case HeadGame() | HeadBall() | HeadRotor() | HeadNumber():
                self._reported(seen)
        if isinstance(seen, Rotor | BallPass | Sighting):
            self.dropped += len(self.kept) == self.kept.maxlen
            self.kept.append(seen)
        if isinstance(seen, BallPass | Sighting | HeadRotor) and (rpm := self.rpm) is not None:
            slowest, fastest = self.rotor_rpm or (rpm, rpm)
            self.rotor_rpm = min(rpm, slowest), max(rpm, fastest)

    def _reported(self, seen: HeadReport) -> None:
        match seen:
            case HeadGame(phase=phase):
                self.phase = phase
            case HeadBall(laps=laps):
                self.head_laps = max(self.head_laps, laps or 0)
            case HeadRotor(rpm=rpm):
                self.head_rpm = rpm
            case HeadNumber(number=int(number)):
                self.head_numbers.append(number)

    def _turned(self, seen: Rotor) -> None:
        self.edges[seen.direction] += 1
        self.ticks_seen.add(seen.tick)
        before, self._edge = self._edge, seen
        if self._rotor is None:
            return
        if before is not None and before.direction == seen.direction:
            step = (seen.tick - before.tick) % self.ticks
            self.skipped_edges += min(step, self.ticks - step) - 1 if step else 0
        self._rotor.tick(seen)
