"""Observation logs, format 1: read strictly, judged by the same object as the live wheel, told line by line."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

import msgspec

from wheeld.core.instants import from_text
from wheeld.core.messages import Figures, reply_payload
from wheeld.core.observations import (
    LINE_BYTES_MAX,
    BallPass,
    ClockReading,
    Command,
    End,
    Header,
    Observation,
    Rotor,
    SensorState,
    Sighting,
)
from wheeld.core.setting import TableSetting, from_header
from wheeld.core.step import Judged, Step
from wheeld.core.table import NOTHING, Table

KNOWN_KEYS = {
    str(kind.__struct_config__.tag): {"kind", *(field.encode_name for field in msgspec.structs.fields(kind))}
    for kind in get_args(Observation)
}
"""The keys of each kind. Any other kind or key is skipped and counted, as the format asks."""
T_US_MAX = 10 * 366 * 86_400_000_000
"""Ten years on one sensing clock: more is no sensing time, and dates made of it would leave the calendar."""
UTC_US_MAX = from_text("3000-01-01T00:00:00Z")
_BOOT_NAMESPACE = uuid.UUID("2b1c1a52-0f5f-5d0c-8a3e-6c1d0a7f4b11")


class LogError(ValueError):
    """The log is not what it should be: `line` (from 1) and what is wrong with it."""

    def __init__(self, line: int, problem: str) -> None:
        self.line, self.problem = line, problem
        super().__init__(f"line {line}: {problem}")


class Told(msgspec.Struct, frozen=True):
    """One line of output: a message that the daemon would publish."""

    t: int
    topic: str
    payload: msgspec.Raw


class FactPayload(msgspec.Struct, frozen=True):
    """One fact as the law took it: its name and words, the state it led to, and its evidence."""

    fact: str
    text: str
    state: str
    evidence_us: int
    figures: Figures


class _Kind(msgspec.Struct):
    kind: str


_header = msgspec.json.Decoder(Header)
_kind = msgspec.json.Decoder(_Kind)
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_observation: msgspec.json.Decoder[Observation] = msgspec.json.Decoder(Observation)


class Replay:
    """One log being replayed. `counters`: `unknown` kinds and `unknown_keys` skipped, `malformed` lines skipped when
    lenient, `late`. With `facts`, what the law was told stands between the messages."""

    def __init__(self, *, lenient: bool = False, facts: bool = False) -> None:
        self._lenient, self._facts = lenient, facts
        self.counters: Counter[str] = Counter()

    def run(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the output, a JSON object a line without its newline.

        LogError names the line at fault. When lenient, malformed lines after the header are counted and skipped.
        """
        numbered = enumerate(lines, start=1)
        number, first = next(numbered, (1, b""))
        table, opening = _begin(number, first)
        yield from self._told(opening)
        beams, ticks = len(table.setting.beams_deg), table.setting.rotor_ticks
        readers = len(table.setting.readers_deg)
        last_us = table.now_us
        for number, line in numbered:
            try:
                seen = self._read(line)
                if seen is not None:
                    _within(seen, beams=beams, readers=readers, ticks=ticks, last_us=last_us)
            except (ValueError, RecursionError) as problem:  # brackets in brackets, thousands deep
                if not self._lenient:
                    raise LogError(number, str(problem)) from problem
                self.counters["malformed"] += 1
                continue
            if seen is None:
                continue
            last_us = seen.t_us
            step = table.apply(seen)
            if step is not NOTHING:
                yield from self._told(step)
            if isinstance(seen, End):
                break
        self.counters.update(table.counters)

    def _told(self, step: Step) -> Iterator[bytes]:
        if self._facts:
            for judged in step.facts:
                yield _fact_line(judged)
        yield from told(step)

    def _read(self, line: bytes) -> Observation | None:
        """One line; None when its kind is not ours to read."""
        if len(line) > LINE_BYTES_MAX:
            message = f"longer than {LINE_BYTES_MAX} bytes: not an observation"
            raise ValueError(message)
        try:
            return _observation.decode(line)
        except msgspec.ValidationError:
            return self._read_in_part(line)

    def _read_in_part(self, line: bytes) -> Observation | None:
        """A line with keys or a kind that a later version knows: what is ours of it. ValueError when it is wrong."""
        kind = _kind.decode(line).kind
        if kind not in KNOWN_KEYS:
            self.counters["unknown"] += 1
            return None
        members = _keys.decode(line)
        ours = {key: value for key, value in members.items() if key in KNOWN_KEYS[kind]}
        seen = _observation.decode(msgspec.json.encode(ours))
        self.counters["unknown_keys"] += len(members) - len(ours)
        return seen


def replay(lines: Iterable[bytes], *, lenient: bool = False) -> Iterator[bytes]:
    """Everything that the daemon would publish for this log, in order; the same log gives the same bytes."""
    return Replay(lenient=lenient).run(lines)


def told(step: Step) -> Iterator[bytes]:
    """A step's messages and replies as output lines."""
    for message in step.messages:
        yield msgspec.json.encode(Told(message.t_us, message.topic, msgspec.Raw(message.payload)))
    for reply in step.replies:
        if reply.id is None:
            continue
        yield msgspec.json.encode(Told(reply.t_us, "reply", msgspec.Raw(reply_payload(reply))))


def _fact_line(judged: Judged) -> bytes:
    fact, state = judged.fact, judged.state
    payload = FactPayload(fact.name.lower(), fact.value, state.value, judged.evidence_us, judged.figures)
    return msgspec.json.encode(Told(judged.t_us, "fact", msgspec.Raw(msgspec.json.encode(payload))))


def _begin(number: int, line: bytes) -> tuple[Table, Step]:
    """The table that the header describes, from its beginning or from the snapshot it holds."""
    try:
        header = _header.decode(line)
        started_utc_us = _calendar("started", from_text(header.started))
        setting = from_header(header)
        _refuse(setting)
        boot_id = header.boot_id or uuid.uuid5(_BOOT_NAMESPACE, line.decode().strip()).hex
        if header.snapshot is not None:
            return Table.resume(setting, boot_id=boot_id, snapshot=header.snapshot), Step()
        return Table.start(setting, boot_id=boot_id, started_utc_us=started_utc_us)
    except (ValueError, RecursionError) as problem:
        raise LogError(number, f"not a header that a table can be made of: {problem}") from problem


def _refuse(setting: TableSetting) -> None:
    problems = setting.check()
    if problems:
        raise ValueError("; ".join(f"{key}: {problem}" for key, problem in problems))


def _within(seen: Observation, *, beams: int, readers: int, ticks: int, last_us: int) -> None:
    """ValueError when a line is about a sensor that the header does not have, or goes back in time."""
    if seen.t_us < last_us and not isinstance(seen, Command):
        message = f"t {seen.t_us} is older than the line before it ({last_us}): lines stand in time order"
        raise ValueError(message)
    if seen.t_us > T_US_MAX:
        message = f"t {seen.t_us} is more than ten years: microseconds since the header are meant"
        raise ValueError(message)
    match seen:
        case Rotor():
            _among("tick", seen.tick, ticks)
        case BallPass():
            _among("beam", seen.beam, beams)
        case Sighting():
            _among("reader", seen.reader, readers)
        case ClockReading():
            _calendar("utc_us", seen.utc_us)
        case SensorState():
            _named(seen.sensor, {"beam": beams, "reader": readers})


def _among(name: str, value: int, most: int) -> None:
    if not 0 <= value < most:
        message = f"{name} {value}: the header has 0…{most - 1}"
        raise ValueError(message)


def _named(sensor: str, most: dict[str, int]) -> None:
    """ValueError unless the header has that sensor."""
    kind, _, place = sensor.partition("/")
    if sensor not in ("rotor", "object", "link") and not (place.isdecimal() and int(place) < most.get(kind, 0)):
        message = f"sensor {sensor!r}: beam/N, reader/N, rotor, object or link, with N as in the header"
        raise ValueError(message)


def _calendar(name: str, utc_us: int) -> int:
    if not 0 <= utc_us < UTC_US_MAX:
        message = f"{name} {utc_us} is not between the years 1970 and 3000, in microseconds"
        raise ValueError(message)
    return utc_us
