"""What is told on the socket: lines of JSON, the first `about`, then frames and, after each void coup, its axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from wheeld.core.observations import (
    BallPass,
    Command,
    Observation,
    Rotor,
    Sensed,
    SensorState,
    TimePassed,
)
from wheeld.core.pockets import label_of
from wheeld.core.setting import TableSetting
from wheeld.core.step import CoupLog
from wheeld.monitor.glance import Glance

ROTOR_EVERY_US = 250_000
"""Of an axis: the rotor's speed so often. It has a tenth of a second's worth of a hand's hardest braking in it."""

Mark: TypeAlias = tuple[int, str, int]
"""Something that a sensor saw: sensing time, which kind, and which number of that kind, or how it stands."""
Note: TypeAlias = tuple[int, str, str]
"""Something with words: sensing time, which kind, and the words."""


class About(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="about"):
    """The wheel: its pockets clockwise from zero, each with what is printed in it and its colour ("vert": none), and
    where its sensors stand, degrees clockwise."""

    site: str
    table: str
    pockets: tuple[int, ...]
    labels: tuple[str, ...]
    colours: tuple[str, ...]
    beams_deg: tuple[float, ...]
    readers_deg: tuple[float, ...]
    object_sensor: bool
    head: str | None


class Frame(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="frame"):
    """The wheel now, and what its beams and readers have seen since the last frame."""

    glance: Glance
    seen: tuple[Mark, ...]


class Axis(msgspec.Struct, frozen=True, kw_only=True, tag_field="line", tag="axis"):
    """The evidence of a coup that was void, on one axis of sensing time. `rpm`: the rotor's speed, clockwise
    positive."""

    coup: int
    from_us: int
    to_us: int
    marks: tuple[Mark, ...]
    notes: tuple[Note, ...]
    rpm: tuple[tuple[int, float], ...]


def about(setting: TableSetting) -> About:
    """The line that everybody gets first."""
    pockets = setting.profile.pockets
    return About(
        site=setting.site,
        table=setting.table,
        pockets=pockets.order,
        labels=tuple(map(label_of, pockets.order)),
        colours=tuple(pockets.facts[number].colour or "vert" for number in pockets.order),
        beams_deg=setting.beams_deg,
        readers_deg=setting.readers_deg,
        object_sensor=setting.object_sensor,
        head=setting.head,
    )


def marks(observations: Iterable[Observation]) -> Iterator[Mark]:
    """What all sensors but the encoder saw."""
    for seen in observations:
        if isinstance(seen, Sensed) and seen.is_rare:
            kind, _, number = seen.sensor.partition("/")
            yield seen.t_us, kind, int(number or seen.stands or 0)


def axis(coup_log: CoupLog, rotor_ticks: int) -> Axis:
    """The evidence of one coup. Takes some milliseconds: call it on a thread."""
    decode = msgspec.json.Decoder(Observation).decode
    seen = [decode(line) for line in coup_log.log.splitlines()[1:]]
    begun = next((each.t_us for each in seen if isinstance(each, BallPass)), seen[0].t_us if seen else 0)
    shown = [each for each in seen if not isinstance(each, TimePassed)]
    return Axis(
        coup=coup_log.coup,
        from_us=begun,
        to_us=max((each.t_us for each in seen), default=0),
        marks=tuple(marks(each for each in shown if each.t_us >= begun)),
        notes=tuple(_notes(each for each in shown if each.t_us >= begun)),
        rpm=tuple(_speeds([each for each in shown if isinstance(each, Rotor) and each.t_us >= begun], rotor_ticks)),
    )


def _notes(observations: Iterable[Observation]) -> Iterator[Note]:
    for seen in observations:
        match seen:
            case Command(t_us=t_us, name=name, by=by):
                yield t_us, "word", f"{by}: {name}"
            case SensorState(t_us=t_us, sensor=sensor, ok=ok):
                yield t_us, "works" if ok else "fails", sensor
            case _:
                pass


def _speeds(edges: list[Rotor], ticks: int) -> Iterator[tuple[int, float]]:
    """Mean speeds between edges that are `ROTOR_EVERY_US` apart or a little more."""
    first: Rotor | None = None
    turned = 0
    for edge in edges:
        if first is None:
            first = edge
            continue
        turned += 1 if edge.direction == "cw" else -1
        if (passed_us := edge.t_us - first.t_us) >= ROTOR_EVERY_US:
            yield edge.t_us, round(turned / ticks / passed_us * 60e6, 1)
            first, turned = edge, 0
