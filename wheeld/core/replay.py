"""Replays observation logs, format 1 (docs/observation-log.md): read strictly, and decided by the same object as the
live wheel."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import get_args

import msgspec

from wheeld.core.catalogue import Catalogue, Text
from wheeld.core.instants import from_text
from wheeld.core.log_checks import CheckError, check_calendar, check_line, check_snapshot
from wheeld.core.observations import (
    LINE_BYTES_MAX,
    End,
    Observation,
)
from wheeld.core.setting import Header, from_header
from wheeld.core.step import Step
from wheeld.core.table import NOTHING, Table
from wheeld.core.text_error import TextError

KNOWN_KEYS = {
    str(kind.__struct_config__.tag): {"kind", *(field.encode_name for field in msgspec.structs.fields(kind))}
    for kind in get_args(Observation)
}
"""The keys of each kind. Any other kind or key is skipped and counted, as the format asks."""
_BOOT_NAMESPACE = uuid.UUID("2b1c1a52-0f5f-5d0c-8a3e-6c1d0a7f4b11")


class LogError(TextError, ValueError):
    """The log is not what it should be: `line` (from 1) and what is wrong with it, the problem in English."""

    def __init__(self, line: int, problem: Text | str) -> None:
        super().__init__(Text("line {line}: {problem}", {"line": line, "problem": problem}))
        self.line = line
        self.problem = problem if isinstance(problem, str) else Catalogue("en").say_text(problem)


class OutputLine(msgspec.Struct, frozen=True):
    """One line of output: a message that the daemon would publish, or a fact."""

    t: int
    topic: str
    payload: msgspec.Raw


class _Kind(msgspec.Struct):
    kind: str


_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What a line that is none may raise; the last one of brackets in brackets, thousands deep."""
_header = msgspec.json.Decoder(Header)
_kind = msgspec.json.Decoder(_Kind)
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_observation: msgspec.json.Decoder[Observation] = msgspec.json.Decoder(Observation)


class Replay:
    """One log being replayed. `counters`: `unknown` kinds and `unknown_keys` skipped, `malformed` lines skipped when
    lenient, `late`. With `facts`, each fact that the law was applied to stands between the messages."""

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
        """One line; None when its kind is not ours to read."""
        if len(line) > LINE_BYTES_MAX:
            raise CheckError(Text("longer than {most} bytes: not an observation", {"most": LINE_BYTES_MAX}))
        try:
            return _observation.decode(line)
        except msgspec.ValidationError:
            return self._read_in_part(line)

    def _read_in_part(self, line: bytes) -> Observation | None:
        """A line with keys or a kind that a later version knows: what is ours of it. `_UNREADABLE` when it is wrong."""
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


def output_lines(step: Step) -> Iterator[bytes]:
    """A step's messages and replies as output lines."""
    for message in step.messages:
        yield msgspec.json.encode(OutputLine(message.t_us, message.topic, msgspec.Raw(message.payload)))
    for reply in step.replies:
        if reply.id is None:
            continue
        yield msgspec.json.encode(OutputLine(reply.t_us, "reply", msgspec.Raw(reply.payload)))


def _begin(number: int, line: bytes) -> tuple[Table, Step, bool]:
    """The table that the header describes, from its beginning or, then True, from the snapshot it holds."""
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
        told = Text("not a header that a table can be made of: {problem}", {"problem": _told(problem)})
        raise LogError(number, told) from problem


def _told(problem: Exception) -> Text | str:
    """What is wrong, for people; what the decoder and Python say is shown as they say it."""
    return problem.text if isinstance(problem, TextError) else str(problem)


def _blaming_snapshot(apply: Callable[[Observation], Step]) -> Callable[[Observation], Step]:
    """`apply` of a table that was made of a snapshot. A failure is the snapshot's fault: it can't be checked whole."""

    def applied(seen: Observation) -> Step:
        try:
            return apply(seen)
        except (*_UNREADABLE, LookupError, ArithmeticError) as problem:
            told = Text("its snapshot is no state of a table: {problem}", {"problem": _told(problem)})
            raise LogError(1, told) from problem

    return applied
