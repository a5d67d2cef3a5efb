"""Replays observation logs, format 1 (docs/observation-log.md), line by line, in the same `Table` as the live wheel.
The first functions check strictly what a log may contain. They raise CheckError with what is wrong."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, get_args

import msgspec

from wheeld.core.catalogue import Catalogue, Part, Text
from wheeld.core.instants import ClockState, from_text
from wheeld.core.messages.chain import GENESIS, SEQ_MAX
from wheeld.core.observations import (
    DOOR,
    LINE_BYTES_MAX,
    SENSOR_KINDS,
    ClockReading,
    Command,
    CommandName,
    End,
    HeadReport,
    HeadRotor,
    Heard,
    Level,
    Observation,
    Rotor,
    Sensed,
    SensorState,
    Standstill,
)
from wheeld.core.setting import Header, TableSetting, from_header
from wheeld.core.step import Step
from wheeld.core.table import NOTHING, Table
from wheeld.core.table_state import TableState
from wheeld.text_error import TextError

T_US_MAX = 10 * 366 * 86_400_000_000
"""Ten years. No sensing clock runs for longer, and dates after a longer time would be outside the calendar."""
UTC_US_MAX = from_text("3000-01-01T00:00:00Z")
RATE_PPB_MAX = 100_000_000_000
"""No sensing clock runs a hundred times too fast. Even then, dates ten years later would be in the calendar."""
SPIN_MAX, HEAD_LAPS_MAX, HEAD_RPM_MAX = 999, 255, 99.9
"""The largest values in a head's report. If a head counts its games to higher numbers, the module that reads it must
number them again from the beginning."""
KNOWN_KEYS = {
    str(kind.__struct_config__.tag): {"kind", *(field.encode_name for field in msgspec.structs.fields(kind))}
    for kind in get_args(Observation)
}
"""The keys of each kind of observation. Other kinds and keys are skipped and counted, as the format requires."""
_BOOT_NAMESPACE = uuid.UUID("2b1c1a52-0f5f-5d0c-8a3e-6c1d0a7f4b11")


class CheckError(TextError, ValueError):
    """A value that no log can contain. The text names members and values as the log writes them."""


def check_snapshot(snapshot: dict[str, Any], setting: TableSetting, now_us: int) -> None:
    """Raise CheckError if the next message of a table with this snapshot could not continue a feed, or would have no
    date in the calendar."""
    table_state = msgspec.convert(snapshot["table_state"], TableState)
    clock = msgspec.convert(snapshot["clock"], ClockState)
    _check_range(Text("snapshot's {key}", {"key": "seq"}), table_state.seq, SEQ_MAX)
    if not re.fullmatch("[0-9a-f]{64}", table_state.prev) or (table_state.seq == 0) != (table_state.prev == GENESIS):
        chained: dict[str, Part] = {"prev": repr(table_state.prev[:64]), "seq": table_state.seq}
        raise CheckError(Text("the snapshot's prev {prev} is not the hash of seq {seq}", chained))
    for numbers in (table_state.numbers, [table_state.last_number or 0]):
        for number in numbers:
            _check_range(Text("snapshot's {key}", {"key": "number"}), number, setting.profile.pockets.count)
    _check_range(Text("snapshot's {key}", {"key": "now_us"}), now_us, T_US_MAX)
    _check_clock(clock.utc_us, clock.rate_ppb)


def check_line(seen: Observation, setting: TableSetting, *, last_us: int) -> None:
    """Raise CheckError if a line does not fit the header, or is older than the line before it."""
    if seen.t_us < last_us and not isinstance(seen, Command):
        raise CheckError(
            Text(
                "t {t} is older than the line before it ({before}): lines must be in the order of their times",
                {"t": seen.t_us, "before": last_us},
            )
        )
    if seen.t_us > T_US_MAX:
        raise CheckError(
            Text("t {t} is more than ten years: it must be in microseconds since the header", {"t": seen.t_us})
        )
    match seen:
        case Rotor():
            if not 0 <= seen.tick < setting.rotor_ticks:
                limits: dict[str, Part] = {"name": "tick", "value": seen.tick, "most": setting.rotor_ticks - 1}
                raise CheckError(Text("{name} {value}: the header allows 0…{most}", limits))
        case ClockReading():
            _check_clock(seen.utc_us, seen.rate_ppb)
            _check_range("error_us", seen.error_us, UTC_US_MAX)
        case Sensed() | SensorState() | Level():
            _check_sensor(seen, setting)
        case Command() | Standstill() | Heard():
            _check_span(seen)
        case _ if isinstance(seen, HeadReport):
            _check_head(seen, setting)


def _check_span(seen: Command | Standstill | Heard) -> None:
    """Raise CheckError if the end is before the beginning or too late, or if a command other than `rien_va` names a
    case."""
    if isinstance(seen, Heard):
        _check_range("until", seen.until_us or 0, T_US_MAX + 1)
        return
    if isinstance(seen, Command) and seen.case is not None and seen.name != "rien_va":
        named = {"case": repr(seen.case.value), "command": seen.name}
        raise CheckError(Text("case {case} in {command}: only rien_va names a case", named))
    if isinstance(seen, Standstill):
        _check_range("slept", seen.slept_us, T_US_MAX)
    name, end_us = ("until", seen.until_us) if isinstance(seen, Command) else ("to", seen.to_us)
    if end_us is not None and not seen.t_us <= end_us <= T_US_MAX:
        times: dict[str, Part] = {"name": name, "end": end_us, "t": seen.t_us}
        raise CheckError(Text("{name} {end} is before t {t}, or more than ten years after the header", times))


def _check_head(seen: HeadReport, setting: TableSetting) -> None:
    """Raise CheckError if no head could report this."""
    if setting.head is None:
        raise CheckError(Text("this is a head's report, but the header names no head"))
    limits = {"spin": SPIN_MAX + 1, "laps": HEAD_LAPS_MAX + 1, "number": setting.profile.pockets.count}
    for name, most in (limits | dict.fromkeys(("from_spin", "to_spin"), SPIN_MAX + 1)).items():
        _check_range(name, getattr(seen, name, 0) or 0, most)
    if isinstance(seen, HeadRotor) and not 0 <= (seen.rpm or 0) <= HEAD_RPM_MAX:
        beyond = {"name": "rpm", "value": str(seen.rpm), "most": f"{HEAD_RPM_MAX:g}"}
        raise CheckError(Text("{name} {value} is not within 0…{most}", beyond))


def _check_sensor(seen: Sensed | SensorState | Level, setting: TableSetting) -> None:
    """Raise CheckError if the header does not have this sensor, or if this is the level of a sensor that has no
    level."""
    sensor = seen.sensor
    kind, _, name = sensor.partition("/")
    is_level = isinstance(seen, Level)
    if is_level and (sensor == DOOR or (kind == "button" and name in get_args(CommandName))):
        return
    if is_level and not (kind in SENSOR_KINDS and SENSOR_KINDS[kind].has_level):
        levelled = {"sensor": repr(sensor), "levelled": "object, beam/N, reader/N, button/NAME", "last": "door"}
        raise CheckError(Text("level of {sensor}: only {levelled} and {last} have a level", levelled))
    if sensor not in setting.sensors:
        known = {"sensor": repr(sensor), "names": ", ".join(setting.sensors)}
        raise CheckError(Text("sensor {sensor}: the header has {names}", known))


def check_calendar(name: str, utc_us: int) -> int:
    """Return `utc_us`. Raise CheckError if it is outside the calendar: the years 1970 to 2999."""
    if not 0 <= utc_us < UTC_US_MAX:
        dated: dict[str, Part] = {"name": name, "value": utc_us}
        raise CheckError(Text("{name}, {value} µs since 1970, is not in the years 1970 to 2999", dated))
    return utc_us


def _check_clock(utc_us: int, rate_ppb: int) -> None:
    """Raise CheckError for a clock reading that would lead to dates outside the calendar."""
    check_calendar("utc_us", utc_us)
    _check_range("rate_ppb", abs(rate_ppb), RATE_PPB_MAX + 1)


def _check_range(name: Part, value: int, most: int) -> None:
    if not 0 <= value < most:
        limits: dict[str, Part] = {"name": name, "value": value, "most": most - 1}
        raise CheckError(Text("{name} {value} is not within 0…{most}", limits))


class LogError(TextError, ValueError):
    """The log is wrong. `line`: the number of the wrong line, from 1. `problem`: what is wrong, in English."""

    def __init__(self, line: int, problem: Text | str) -> None:
        super().__init__(Text("line {line}: {problem}", {"line": line, "problem": problem}))
        self.line = line
        self.problem = problem if isinstance(problem, str) else Catalogue("en").say_text(problem)


class OutputLine(msgspec.Struct, frozen=True):
    """One line of output: a message or a reply that the daemon would publish, or a fact. `t`: the sensing time, µs."""

    t: int
    topic: str
    payload: msgspec.Raw


class _Kind(msgspec.Struct):
    kind: str


_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""The errors that a wrong line may cause when it is read. RecursionError comes from thousands of nested brackets."""
_header = msgspec.json.Decoder(Header)
_kind = msgspec.json.Decoder(_Kind)
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_observation: msgspec.json.Decoder[Observation] = msgspec.json.Decoder(Observation)


class LogReplay:
    """The replay of one log. `counters`: how many kinds (`unknown`), keys (`unknown_keys`) and, with `lenient`,
    `malformed` lines were skipped; after the log also `Table.counters`. With `facts`, the output also has each fact to
    which the law was applied."""

    def __init__(self, *, lenient: bool = False, facts: bool = False) -> None:
        self._lenient, self._facts = lenient, facts
        self.counters: Counter[str] = Counter()

    def run(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines of output, each a JSON object, without their newlines.

        Raises LogError for a wrong line. With `lenient`, malformed lines after the header are skipped and counted.
        """
        numbered = enumerate(lines, start=1)
        number, first = next(numbered, (1, b""))
        table, opening, is_resumed = _begin(number, first)
        apply = _blaming_snapshot(table.apply) if is_resumed else table.apply
        yield from self._output(opening)
        last_us = table.now_us
        for number, line in numbered:
            try:
                seen = self._read(line)
                if seen is None:
                    continue
                check_line(seen, table.setting, last_us=last_us)
            except _UNREADABLE as problem:
                if not self._lenient:
                    raise LogError(number, _told(problem)) from problem
                self.counters["malformed"] += 1
                continue
            last_us = seen.t_us
            step = apply(seen)
            if step is not NOTHING:
                yield from self._output(step)
            if isinstance(seen, End):
                break
        self.counters.update(table.counters)

    def _output(self, step: Step) -> Iterator[bytes]:
        if self._facts:
            for applied in step.facts:
                fact, state = applied.fact, applied.state.value
                shown = {"evidence_us": applied.evidence_us, "figures": applied.figures}
                payload = msgspec.json.encode({"fact": fact.value, "text": fact.text, "state": state, **shown})
                yield msgspec.json.encode(OutputLine(applied.t_us, "fact", msgspec.Raw(payload)))
        yield from output_lines(step)

    def _read(self, line: bytes) -> Observation | None:
        """Return the observation of one line, or the known part of one that has keys of a later version. None if this
        version does not know its kind. Raises one of `_UNREADABLE`."""
        if len(line) > LINE_BYTES_MAX:
            raise CheckError(Text("longer than {most} bytes: not an observation", {"most": LINE_BYTES_MAX}))
        try:
            return _observation.decode(line)
        except msgspec.ValidationError:
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
    """Yield everything that the daemon would publish for this log, in order. The same log gives the same bytes."""
    return LogReplay(lenient=lenient).run(lines)


def output_lines(step: Step) -> Iterator[bytes]:
    """Yield a step's messages and replies as output lines."""
    for message in step.messages:
        yield msgspec.json.encode(OutputLine(message.t_us, message.topic, msgspec.Raw(message.payload)))
    for reply in step.replies:
        if reply.id is None:
            continue
        yield msgspec.json.encode(OutputLine(reply.t_us, "reply", msgspec.Raw(reply.payload)))


def _begin(number: int, line: bytes) -> tuple[Table, Step, bool]:
    """Make the header's table, at its beginning or from its snapshot. The bool says whether there is a snapshot."""
    try:
        header = _header.decode(line)
        started_utc_us = check_calendar("started", from_text(header.started))
        setting = from_header(header)
        if problems := setting.check():
            wrong = [Text("{first}: {second}", {"first": key, "second": problem}) for key, problem in problems]
            raise CheckError(
                reduce(lambda one, next_: Text("{first}; {second}", {"first": one, "second": next_}), wrong)
            )
        boot_id = header.boot_id or uuid.uuid5(_BOOT_NAMESPACE, line.decode().strip()).hex
        if header.snapshot is not None:
            table = Table.resume(setting, boot_id=boot_id, snapshot=header.snapshot)
            check_snapshot(header.snapshot, setting, table.now_us)
            return table, Step(), True
        return *Table.start(setting, boot_id=boot_id, started_utc_us=started_utc_us), False
    except (*_UNREADABLE, LookupError, ArithmeticError) as problem:
        told = Text("not a header of a table: {problem}", {"problem": _told(problem)})
        raise LogError(number, told) from problem


def _told(problem: Exception) -> Text | str:
    """Return what is wrong, for people. Texts of the decoder and of Python are not translated."""
    return problem.text if isinstance(problem, TextError) else str(problem)


def _blaming_snapshot(apply: Callable[[Observation], Step]) -> Callable[[Observation], Step]:
    """Wrap `apply` of a table from a snapshot. An error of `apply` then means that the snapshot is wrong: the checks of
    the header do not find every fault."""

    def applied(seen: Observation) -> Step:
        try:
            return apply(seen)
        except (*_UNREADABLE, LookupError, ArithmeticError) as problem:
            told = Text("its snapshot is not a state of a table: {problem}", {"problem": _told(problem)})
            raise LogError(1, told) from problem

    return applied
