"""Which sensors see: which fail, which are left out, and how often each missed the ball.

Only sensors that see give evidence. An absence proves something only if such a sensor would have reported the thing. A
sensor's source reports that the sensor fails. People are warned if only one beam misses runs, or if a reader misses a
lying ball. The place of the pockets (`PLACE`) fails if the encoder slips or a ball lies where nothing put it.

A person may leave a failing sensor out (docs/rulebook.md 6). Then its reports have no effect, and the setting is as for
a table that never had this sensor: fewer beams prove fewer laps, fewer readers see the ball less often. The checks of
the configuration decide whether the other sensors are enough.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from wheeld.core.catalogue import Text
from wheeld.core.facts import Fact, Trouble
from wheeld.core.names import sensor_text, sensor_texts
from wheeld.core.observations import BallPass, Observation, Sighting, kind_of
from wheeld.core.setting import TableSetting
from wheeld.core.tracking.evidence import Evidence

READERS = "reader"
"""The name under which `missed` counts for all readers together."""
OF_EDGES = frozenset({"link", "rotor"})
"""While one of these fails, edges of the encoder are lost."""
BEAMS_LEFT_MIN = 3
"""One beam of four or more may be left out (docs/rulebook.md 6). With only two left, a missed pass hides half a lap."""
BEAMS_MIN = 2
"""With one beam there is no hop from one beam to the next."""
SILENT_RUNS = 2
"""A beam is reported when it saw nothing of this many runs. One run may end before the ball reaches the beam."""
BLIND_TURNS = 5
"""A reader is reported when it missed a lying ball in this many turns. A good reader misses it a few times in 100."""


class Sight(msgspec.Struct):
    """What is remembered of all sensors, each by its name.

    `failing`: the failing sensors, each with what is wrong, if known. `left_out`: the sensors that a person has left
    out. `missed`: how often in a row a sensor has not seen what it should have seen. For a beam: in how many runs. For
    a reader: how often other readers saw the lying ball again. For all `READERS`: how many launches since a reader last
    saw the ball.
    """

    failing: dict[str, Trouble | None] = msgspec.field(default_factory=dict)
    left_out: list[str] = msgspec.field(default_factory=list)
    missed: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def unused(self) -> list[str]:
        """The sensors from which no evidence is drawn."""
        return sorted({*self.failing, *self.left_out})

    @property
    def faults(self) -> tuple[str, ...]:
        """The sensors that fail and are not left out."""
        return tuple(sensor for sensor in self.failing if sensor not in self.left_out)

    def numbers_left(self, kind: str, count: int) -> list[int]:
        """Return the numbers of the sensors in use, out of `count` sensors of the kind "beam" or "reader"."""
        unused = numbers_of(kind, self.unused)
        return [number for number in range(count) if number not in unused]

    def forget_unused(self) -> None:
        """Forget what unused sensors missed, so that it does not count when they are used again."""
        for sensor in self.unused:
            self.missed.pop(sensor, None)

    def can_spare(self, setting: TableSetting, sensor: str) -> bool:
        """Whether a coup can be judged without this failing sensor, and without all other unused sensors."""
        return sensor.startswith(("beam/", "reader/")) and objection(setting, self.unused) is None

    # --- what a sensor should have seen -------------------------------------------------------------------------------

    def note(self, sensor: str, *, saw: bool) -> int:
        """Note whether the sensor saw the ball, as it should have. Return how often in a row it has now missed it."""
        self.missed[sensor] = times = 0 if saw else self.missed.get(sensor, 0) + 1
        return times

    def note_run(self, beams: Collection[int], met: Collection[int], t_us: int) -> list[Evidence]:
        """Note a run across all these beams. Report a beam if only this beam missed this run and the run before."""
        if len({*beams} - {*met}) > 1:
            return []
        return [
            blind_sensor(f"beam/{beam}", t_us)
            for beam in sorted(beams)
            if self.note(f"beam/{beam}", saw=beam in met) == SILENT_RUNS
        ]

    def note_sighting(self, reader: int) -> None:
        """Remember that this reader saw the ball. If it keeps missing the ball later, this is reported again."""
        self.note(READERS, saw=True)
        self.note(f"reader/{reader}", saw=True)

    def note_turn(self, readers: Collection[int], met: Collection[int], t_us: int) -> list[Evidence]:
        """Remember that a reader saw a lying ball again. Report readers that keep missing the ball at each turn."""
        limit = BLIND_TURNS * (len(readers) - 1)
        return [
            blind_sensor(f"reader/{reader}", t_us)
            for reader in sorted(readers)
            if self.note(f"reader/{reader}", saw=reader in met) == limit > 0
        ]

    def part_of_readers(self, readers: Collection[int]) -> float:
        """Return the fraction of readers that see the lying ball: all except those that missed it in the latest
        turn."""
        others = max(1, len(readers) - 1)
        return sum(self.missed.get(f"reader/{reader}", 0) < others for reader in readers) / len(readers)

    def note_launch(self) -> None:
        """Count one more launch since the readers last saw the ball."""
        if READERS in self.missed:
            self.note(READERS, saw=False)

    @property
    def has_met_ball(self) -> bool:
        """Whether readers saw the ball since the launch before the latest one. If not, they would not see it now."""
        return self.missed.get(READERS, 2) < 2


def blind_sensor(sensor: str, t_us: int) -> Evidence:
    """Return the trouble of a sensor that missed a ball that others saw. Play goes on, but people should check it."""
    return Evidence(Fact.SENSOR_TROUBLE, t_us, {"sensor": sensor, "what": Trouble.BLIND.value})


def numbers_of(kind: str, sensors: Collection[str]) -> frozenset[int]:
    """Return the numbers of the sensors of this `kind`, "beam" or "reader"."""
    return frozenset(int(sensor.partition("/")[2]) for sensor in sensors if sensor.startswith(f"{kind}/"))


def sensor_of(seen: Observation) -> str:
    """Return the name of the beam or reader that reported this. It is empty for everything else."""
    return seen.sensor if isinstance(seen, BallPass | Sighting) else ""


def without(setting: TableSetting, sensors: Collection[str]) -> TableSetting:
    """Return the setting of a table without these beams and readers."""
    beams, readers = numbers_of("beam", sensors), numbers_of("reader", sensors)
    return msgspec.structs.replace(
        setting,
        beams_deg=tuple(deg for number, deg in enumerate(setting.beams_deg) if number not in beams),
        readers_deg=tuple(deg for number, deg in enumerate(setting.readers_deg) if number not in readers),
    )


def objection(setting: TableSetting, sensors: Sequence[str]) -> Text | None:
    """Return why play cannot go on without these sensors. None if it can."""
    for sensor in sensors:
        if not kind_of(sensor).may_be_left_out:
            return Text("nothing else reports what this sensor reports: {sensor}", {"sensor": sensor_text(sensor)})
    rest = without(setting, sensors)
    if len(rest.beams_deg) < min(BEAMS_LEFT_MIN, len(setting.beams_deg)):
        return Text(
            "{left} beams would remain, but the table needs {needed} to go on",
            {"left": len(rest.beams_deg), "needed": BEAMS_LEFT_MIN},
        )
    if rest.check():
        return Text("the table cannot go on without any of these: {sensors}", {"sensors": sensor_texts(sensors)})
    return None


def still_left_out(setting: TableSetting, sensors: Sequence[str]) -> list[str]:
    """Return the sensors that stay left out after a restart. The configuration may have changed: if the table cannot go
    on without them, all of them are used again."""
    known = [sensor for sensor in sensors if sensor in setting.sensors]
    return [] if objection(setting, known) else known
