"""The health of a wheel as tiles, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from wheeld.broker.payloads import Health
from wheeld.core.catalogue import Catalogue
from wheeld.core.names import sensor_text
from wheeld.page.wheel import WheelView
from wheeld.page.words import WORDS

HASH_SHOWN = 12
"""How many characters of a hash are shown. A person compares them with the journal."""
OWED_LOOK = 10
CLOCK_ERROR_US_LOOK = 10_000
HOT_C_LOOK = 80.0
"""Above this temperature a person should look. The alerts (docs/metrics/wheeld-alerts.yml) have the same limit."""
OLD_S_LOOK, OLD_S_WRONG = 30, 90
"""If the newest message `health` is older than these times, its tile is "look" or "wrong". A new `health` comes every
ten seconds."""

Level: TypeAlias = Literal["wrong", "look", "good"]
LEVELS: tuple[Level, ...] = ("wrong", "look", "good")


class Tile(NamedTuple):
    """One tile. `said` is the `level` as a word, for people who cannot see colours. It is empty if the level is "good".
    `mend` says what to do, if that is known."""

    name: str
    level: Level
    said: str
    value: str
    mend: str = ""


def sensor_name(sensor: str, catalogue: Catalogue) -> str:
    """Return the sensor's name for people. A sensor of a later version keeps its technical name."""
    try:
        return catalogue.say_text(sensor_text(sensor))
    except LookupError:
        return sensor


def tiles(wheel: WheelView, catalogue: Catalogue, now_s: float) -> list[Tile]:
    """Return all tiles of the wheel, the worst first. Tiles of the same level are in the order of `all`."""
    found = [*_Tiles(wheel, catalogue, now_s).all()]
    return sorted(found, key=lambda tile: LEVELS.index(tile.level))


class _Tiles:
    def __init__(self, wheel: WheelView, catalogue: Catalogue, now_s: float) -> None:
        self._wheel, self._catalogue, self._now_s = wheel, catalogue, now_s

    def all(self) -> Iterator[Tile]:
        """Yield all tiles."""
        wheel, health = self._wheel, self._wheel.health
        if health is None:
            yield self._tile("health", "look", self._say("no_health"))
        else:
            yield from self._sensors(health)
        yield self._tile("broker", "good" if wheel.is_reached else "wrong", self._say_if(wheel.is_reached, "reached"))
        if health is not None:
            yield self._tile("outbox", "look" if health.outbox_depth > OWED_LOOK else "good", str(health.outbox_depth))
            clock, error_us = [self._say_if(bool(health.clock.synchronised), "synchronised")], health.clock.error_us
            if error_us is not None:
                clock.append(self._say("clock_error", error=self._catalogue.decimal(round(error_us / 1e3, 1))))
            is_right = health.clock.synchronised and (error_us is None or error_us <= CLOCK_ERROR_US_LOOK)
            yield self._tile("clock", "good" if is_right else "look", ", ".join(clock))
            if health.temperatures_c:
                hottest = max(health.temperatures_c.values())
                level: Level = "look" if hottest > HOT_C_LOOK else "good"
                yield self._tile("temperature", level, f"{self._catalogue.decimal(hottest)} °C")
            if (heard_s := wheel.heard_s) is not None:
                age_s = round(self._now_s - heard_s)
                level = "wrong" if age_s > OLD_S_WRONG else "look" if age_s > OLD_S_LOOK else "good"
                yield self._tile("reported", level, self._say("ago", count=age_s))
        feed = [each for each in (wheel.result, wheel.void, wheel.ruling, wheel.table) if each is not None]
        if feed:
            newest = max(feed, key=lambda message: message.seq)
            digest = newest.hash if isinstance(newest.hash, str) else ""
            yield self._tile("journal", "good", self._say("head_of", seq=newest.seq, hash=digest[:HASH_SHOWN]))

    def _say(self, key: str, **parts: object) -> str:
        return self._catalogue.say(WORDS[key], **parts)

    def _say_if(self, is_so: bool, key: str) -> str:  # noqa: FBT001  it chooses the word or its negation
        return self._say(key if is_so else f"not_{key}")

    def _tile(self, key: str, level: Level, value: str) -> Tile:
        return self._named(self._say(key), level, value)

    def _named(self, name: str, level: Level, value: str, mend: str = "") -> Tile:
        return Tile(name, level, "" if level == "good" else self._say(f"level_{level}"), value, mend)

    def _sensors(self, health: Health) -> Iterator[Tile]:
        """Yield one tile for each trouble of a sensor, and one tile for all other sensors. The message `table` reports
        failures sooner than `health`."""
        table = self._wheel.table
        failing, without = ((), ()) if table is None else (table.failing, table.without)
        works = {**health.sensors, **dict.fromkeys(without, True), **dict.fromkeys(failing, False)}
        well = [name for name, is_well in works.items() if is_well and name not in (*without, *health.troubles)]
        for name in (name for name in {**works, **health.troubles} if name not in well):
            level: Level = "look" if name in without or works.get(name, True) else "wrong"
            called, troubles = sensor_name(name, self._catalogue), health.troubles.get(name, ())
            for each in troubles:
                yield self._named(called, level, self._catalogue.say(each.text), self._catalogue.say(each.mend))
            if not troubles:
                yield self._named(called, level, self._say("left_out" if level == "look" else "fails"))
        if well:
            yield self._tile("sensors", "good", self._say("all_work" if len(well) == len(works) else "others_work"))
