"""Observation logs, format 1: read strictly, applied by the same object as the live wheel, told line by line."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

import msgspec

from wheeld.core.instants import ClockState, from_text
from wheeld.core.messages.chain import GENESIS
from wheeld.core.messages.payloads import Figures, reply_payload
from wheeld.core.observations import (
    LINE_BYTES_MAX,
    BallPass,
    ClockReading,
    Command,
    End,
    HeadBall,
    Header,
    HeadGame,
    HeadJump,
    HeadNumber,
    HeadReport,
    HeadRotor,
    HeadWarning,
    Observation,
    Rotor,
    SensorState,
    Sighting,
)
from wheeld.core.setting import TableSetting, from_header
from wheeld.core.step import AppliedFact, Step
from wheeld.core.table import NOTHING, Table
from wheeld.core.table_state import TableState

KNOWN_KEYS = {
    str(kind.__struct_config__.tag): {"kind", *(field.encode_name for field in msgspec.structs.fields(kind))}
    for kind in get_args(Observation)
}
"""The keys of each kind. Any other kind or key is skipped and counted, as the format asks."""
T_US_MAX = 10 * 366 * 86_400_000_000
"""Ten years on one sensing clock: more is no sensing time, and dates made of it would leave the calendar."""
UTC_US_MAX = from_text("3000-01-01T00:00:00Z")
RATE_PPB_MAX = 100_000_000_000
"""A sensing clock a hundred times as fast as life, as none is: ten years of it stay in the calendar."""
SPIN_MAX, HEAD_LAPS_MAX, HEAD_RPM_MAX = 999, 255, 99.9
"""As many as the fields of a head's line can say (wheels.md 1.2, 1.6)."""
SEQ_MAX = 2**53
"""JSON readers agree on whole numbers up to here."""
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
        table, opening, is_resumed = _begin(number, first)
        judge = _trusting_no_snapshot(table.apply) if is_resumed else table.apply
        yield from self._told(opening)
        last_us = table.now_us
        for number, line in numbered:
            try:
                seen = self._read(line)
                if seen is not None:
                    _within(seen, table.setting, last_us=last_us)
            except (ValueError, RecursionError) as problem:  # brackets in brackets, thousands deep
                if not self._lenient:
                    raise LogError(number, str(problem)) from problem
                self.counters["malformed"] += 1
                continue
            if seen is None:
                continue
            last_us = seen.t_us
            step = judge(seen)
            if step is not NOTHING:
                yield from self._told(step)
            if isinstance(seen, End):
                break
        self.counters.update(table.counters)

    def _told(self, step: Step) -> Iterator[bytes]:
        if self._facts:
            for applied in step.facts:
                yield _fact_line(applied)
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


def _fact_line(applied: AppliedFact) -> bytes:
    fact, state = applied.fact, applied.state
    payload = FactPayload(fact.name.lower(), fact.value, state.value, applied.evidence_us, applied.figures)
    return msgspec.json.encode(Told(applied.t_us, "fact", msgspec.Raw(msgspec.json.encode(payload))))


def _begin(number: int, line: bytes) -> tuple[Table, Step, bool]:
    """The table that the header describes, from its beginning or, then True, from the snapshot it holds."""
    try:
        header = _header.decode(line)
        started_utc_us = _calendar("started", from_text(header.started))
        setting = from_header(header)
        _refuse(setting)
        boot_id = header.boot_id or uuid.uuid5(_BOOT_NAMESPACE, line.decode().strip()).hex
        if header.snapshot is not None:
            table = Table.resume(setting, boot_id=boot_id, snapshot=header.snapshot)
            _refuse_snapshot(header.snapshot, setting, table.now_us)
            return table, Step(), True
        return *Table.start(setting, boot_id=boot_id, started_utc_us=started_utc_us), False
    except (ValueError, LookupError, ArithmeticError, RecursionError) as problem:
        raise LogError(number, f"not a header that a table can be made of: {problem}") from problem


def _refuse_snapshot(snapshot: dict[str, Any], setting: TableSetting, now_us: int) -> None:
    """ValueError for a snapshot whose next message would be none of a feed, or of no day in the calendar."""
    table_state = msgspec.convert(snapshot["table_state"], TableState)
    clock = msgspec.convert(snapshot["clock"], ClockState)
    _counts("snapshot's seq", table_state.seq, SEQ_MAX)
    if not re.fullmatch("[0-9a-f]{64}", table_state.prev) or (table_state.seq == 0) != (table_state.prev == GENESIS):
        message = f"the snapshot's prev {table_state.prev[:64]!r} is not the hash of seq {table_state.seq}"
        raise ValueError(message)
    for numbers in (table_state.numbers, [table_state.last_number or 0]):
        for number in numbers:
            _counts("snapshot's number", number, len(setting.profile.pockets.order))
    _counts("snapshot's now_us", now_us, T_US_MAX)
    _refuse_clock(clock.utc_us, clock.error_us, clock.rate_ppb)


def _trusting_no_snapshot(apply: Callable[[Observation], Step]) -> Callable[[Observation], Step]:
    """What a table that was made of a snapshot cannot judge is the snapshot's fault: it is as deep as the table."""

    def judge(seen: Observation) -> Step:
        try:
            return apply(seen)
        except (ValueError, LookupError, ArithmeticError) as problem:
            raise LogError(1, f"its snapshot is no state of a table: {problem}") from problem

    return judge


def _refuse(setting: TableSetting) -> None:
    problems = setting.check()
    if problems:
        raise ValueError("; ".join(f"{key}: {problem}" for key, problem in problems))


def _within(seen: Observation, setting: TableSetting, *, last_us: int) -> None:
    """ValueError when a line is about a sensor that the header does not have, or goes back in time."""
    if seen.t_us < last_us and not isinstance(seen, Command):
        message = f"t {seen.t_us} is older than the line before it ({last_us}): lines stand in time order"
        raise ValueError(message)
    if seen.t_us > T_US_MAX:
        message = f"t {seen.t_us} is more than ten years: microseconds since the header are meant"
        raise ValueError(message)
    match seen:
        case Rotor():
            _among("tick", seen.tick, setting.rotor_ticks)
        case BallPass():
            _among("beam", seen.beam, len(setting.beams_deg))
        case Sighting():
            _among("reader", seen.reader, len(setting.readers_deg))
        case ClockReading():
            _refuse_clock(seen.utc_us, seen.error_us, seen.rate_ppb)
        case SensorState():
            _named(seen.sensor, setting)
        case HeadGame() | HeadBall() | HeadRotor() | HeadNumber() | HeadWarning() | HeadJump():
            _of_head(seen, setting)


def _of_head(seen: HeadReport, setting: TableSetting) -> None:
    """ValueError when no head can have reported that."""
    if setting.head is None:
        message = "a head's report, and the header names no head"
        raise ValueError(message)
    match seen:
        case HeadGame():
            _counts("spin", seen.spin, SPIN_MAX + 1)
        case HeadBall(laps=int()):
            _counts("laps", seen.laps or 0, HEAD_LAPS_MAX + 1)
        case HeadRotor(rpm=float()) if not 0 <= (seen.rpm or 0) <= HEAD_RPM_MAX:
            message = f"rpm {seen.rpm} is not within 0…{HEAD_RPM_MAX:g}"
            raise ValueError(message)
        case HeadNumber():
            _counts("spin", seen.spin, SPIN_MAX + 1)
            _counts("number", seen.number or 0, len(setting.profile.pockets.order))
        case HeadJump():
            _counts("from_spin", seen.from_spin, SPIN_MAX + 1)
            _counts("to_spin", seen.to_spin, SPIN_MAX + 1)


def _among(name: str, value: int, most: int) -> None:
    if not 0 <= value < most:
        message = f"{name} {value}: the header has 0…{most - 1}"
        raise ValueError(message)


def _named(sensor: str, setting: TableSetting) -> None:
    """ValueError unless the header has that sensor."""
    most = {"beam": len(setting.beams_deg), "reader": len(setting.readers_deg)}
    once = ("rotor", "object", "link", *(("head", "head/sensors") if setting.head is not None else ()))
    kind, _, place = sensor.partition("/")
    if sensor not in once and not (place.isdecimal() and int(place) < most.get(kind, 0)):
        message = f"sensor {sensor!r}: beam/N, reader/N, {', '.join(once)}, with N as in the header"
        raise ValueError(message)


def _calendar(name: str, utc_us: int) -> int:
    if not 0 <= utc_us < UTC_US_MAX:
        message = f"{name} {utc_us} is not between the years 1970 and 3000, in microseconds"
        raise ValueError(message)
    return utc_us


def _refuse_clock(utc_us: int, error_us: int, rate_ppb: int) -> None:
    """ValueError for a reading that dates beyond the calendar could be made of."""
    _calendar("utc_us", utc_us)
    _counts("error_us", error_us, UTC_US_MAX)
    _counts("rate_ppb", abs(rate_ppb), RATE_PPB_MAX + 1)


def _counts(name: str, value: int, most: int) -> None:
    if not 0 <= value < most:
        message = f"{name} {value} is not within 0…{most - 1}"
        raise ValueError(message)
