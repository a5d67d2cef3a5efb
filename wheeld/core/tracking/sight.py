"""What each sensor sees, as a level: whether it works, whether it counts, and what it has missed.

Evidence is drawn only from sensors that see, and an absence proves something only where a sensor that sees would have
shown it. A sensor is known to fail by its source, or by what it should have seen: a beam that the known run crossed,
a reader under which the known ball passed, the encoder's place (`PLACE`) by a ball that lies where nothing has brought
it.

A person may leave a failing one out (docs/rulebook.md 6). From then on what it reports counts for nothing, and the
setting in effect is that of a table which never had it: fewer beams prove fewer laps, fewer readers see the ball less
often. Whether the rest can do without it is decided by the checks of the configuration.
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
"""All readers together, among the names of what may miss the ball."""
OF_EDGES = frozenset({"link", "rotor"})
"""While one of these fails, edges of the encoder are missing."""
BEAMS_LEFT_MIN = 3
"""One beam of four or more may be left out (docs/rulebook.md 6): with two, a single missed pass hides half a run."""
BEAMS_MIN = 2
"""One beam shows no hop from one to the next."""
SILENT_RUNS = 2
"""One run may end before a beam that is about to fail is met again; in the next one it is named."""
BLIND_TURNS = 5
"""A reader that works misses a lying ball a few times in a hundred."""


class Sight(msgspec.Struct):
    """What is remembered of all sensors, each by its name.

    `failing`: those that fail, and what is wrong with them, where that is known. `left_out`: those that a person has
    left out. `missed`: how often in a row each has not seen what it should have seen. Of a beam runs are counted. Of a
    reader it is counted how often another one met the lying ball again, and of all `READERS` the launches between which
    none of them met it.
    """

    failing: dict[str, Trouble | None] = msgspec.field(default_factory=dict)
    left_out: list[str] = msgspec.field(default_factory=list)
    missed: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def unused(self) -> list[str]:
        """Those of which no evidence is drawn."""
        return sorted({*self.failing, *self.left_out})

    @property
    def faults(self) -> tuple[str, ...]:
        """Those that fail and are not left out."""
        return tuple(sensor for sensor in self.failing if sensor not in self.left_out)

    def numbers_left(self, kind: str, count: int) -> list[int]:
        """Of `count` sensors of that kind, "beam" or "reader", those of which evidence is drawn."""
        unused = numbers_of(kind, self.unused)
        return [number for number in range(count) if number not in unused]

    def forget_unused(self) -> None:
        """What those missed that are not used counts for nothing when they are used again."""
        for sensor in self.unused:
            self.missed.pop(sensor, None)

    def can_spare(self, setting: TableSetting, sensor: str) -> bool:
        """Whether a coup can be judged without this one, which fails, and all others that are not used."""
        return sensor.startswith(("beam/", "reader/")) and objection(setting, self.unused) is None

    # --- what it should have seen -------------------------------------------------------------------------------------

    def note(self, sensor: str, *, saw: bool) -> int:
        """It should have seen the ball, and did or did not: how often in a row it has missed it by now."""
        self.missed[sensor] = times = 0 if saw else self.missed.get(sensor, 0) + 1
        return times

    def note_run(self, beams: Collection[int], met: Collection[int], t_us: int) -> list[Evidence]:
        """A run that crossed all these beams is over: the one that alone saw nothing of it again."""
        if len({*beams} - {*met}) > 1:
            return []
        return [
            blind_sensor(f"beam/{beam}", t_us)
            for beam in sorted(beams)
            if self.note(f"beam/{beam}", saw=beam in met) == SILENT_RUNS
        ]

    def note_turn(self, readers: Collection[int], met: Collection[int], t_us: int) -> list[Evidence]:
        """A reader has met a lying ball again: those under which it must have passed too, and that saw nothing."""
        limit = BLIND_TURNS * (len(readers) - 1)
        return [
            blind_sensor(f"reader/{reader}", t_us)
            for reader in sorted(readers)
            if self.note(f"reader/{reader}", saw=reader in met) == limit > 0
        ]

    def part_of_readers(self, readers: Collection[int]) -> float:
        """Which part of the readers meets the ball where it lies: not those that missed it in the latest turn."""
        others = max(1, len(readers) - 1)
        return sum(self.missed.get(f"reader/{reader}", 0) < others for reader in readers) / len(readers)

    def note_launch(self) -> None:
        """A ball was launched: what the readers have met before is of another time."""
        if READERS in self.missed:
            self.note(READERS, saw=False)

    @property
    def has_met_ball(self) -> bool:
        """Whether readers have met the ball since the launch before the latest. If not, they would not meet it now."""
        return self.missed.get(READERS, 2) < 2


def blind_sensor(sensor: str, t_us: int) -> Evidence:
    """It alone saw nothing where the others saw the ball: play goes on, and somebody looks at it."""
    return Evidence(Fact.SENSOR_TROUBLE, t_us, {"sensor": sensor, "what": Trouble.BLIND.value})


def numbers_of(kind: str, sensors: Collection[str]) -> frozenset[int]:
    """The numbers of those sensors that are of `kind`, "beam" or "reader"."""
    return frozenset(int(sensor.partition("/")[2]) for sensor in sensors if sensor.startswith(f"{kind}/"))


def sensor_of(seen: Observation) -> str:
    """The name of the beam or reader that reported this; empty for everything else."""
    return seen.sensor if isinstance(seen, BallPass | Sighting) else ""


def without(setting: TableSetting, sensors: Collection[str]) -> TableSetting:
    """The setting of a table that never had these sensors."""
    beams, readers = numbers_of("beam", sensors), numbers_of("reader", sensors)
    return msgspec.structs.replace(
        setting,
        beams_deg=tuple(deg for number, deg in enumerate(setting.beams_deg) if number not in beams),
        readers_deg=tuple(deg for number, deg in enumerate(setting.readers_deg) if number not in readers),
    )


def objection(setting: TableSetting, sensors: Sequence[str]) -> Text | None:
    """Why the rest cannot do without these sensors of the table; None if it can."""
    for sensor in sensors:
        if not kind_of(sensor).may_be_left_out:
            return Text("nothing else reports what this sensor reports: {sensor}", {"sensor": sensor_text(sensor)})
    rest = without(setting, sensors)
    if len(rest.beams_deg) < min(BEAMS_LEFT_MIN, len(setting.beams_deg)):
        return Text(
            "{left} beams would be left, and {needed} are needed to go on without the others",
            {"left": len(rest.beams_deg), "needed": BEAMS_LEFT_MIN},
        )
    if rest.check():
        return Text("the table cannot go on without all of these: {sensors}", {"sensors": sensor_texts(sensors)})
    return None


def still_left_out(setting: TableSetting, sensors: Sequence[str]) -> list[str]:
    """Which of the sensors that were left out before a restart still are. The configuration may be another one now:
    if it cannot do without them, all of them are used again."""
    known = [sensor for sensor in sensors if sensor in setting.sensors]
    return [] if objection(setting, known) else known
