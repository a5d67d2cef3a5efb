"""Observation logs with every kind of damage: judged, or refused with their line; no verdict that was not there."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.core.evening import Evening
from tests.core.test_replay import HEADER, lines_of
from tests.faults.fuzz_mutate import Mutator, drawn, kept
from wheeld.cli.main import main
from wheeld.core.replay import LogError, Replay, replay
from wheeld.core.step import SEQUENCED
from wheeld.exits import Exit
from wheeld.feed.message import GENESIS, read_message

TOKENS = (
    b'{"t":5,"kind":"ball","beam":2}\n', b'"kind":"end"', b'"kind":"restart"', b'"kind":"time"', b'"snapshot":{}',
    b'"kind":"clock","utc_us":9223372036854775807,"error_us":-1,"rate_ppb":-1000000000', b'"started":"0001-01-01"',
    b'"rotor_ticks":37', b'"beams_deg":[0,1e308]', b'"sensor":"beam/\xd9\xa3"', b'"sensor":"link"', b'"format":2',
)  # fmt: skip


@pytest.fixture(scope="module")
def evening() -> list[bytes]:
    """A valid coup, one that is void, and another."""
    evening = Evening().open()
    evening.coup(22)
    evening.say("operations_done")
    evening.void_by_chef()
    evening.say("tout_va")
    evening.coup(0)
    return [HEADER, *(line + b"\n" for line in lines_of(evening))]


def test_a_log_is_judged_or_refused_with_its_line(
    how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    outcomes: Counter[str] = Counter()
    for where, data in drawn("logs", seed, how_many("logs"), TOKENS):
        for lenient in (False, True):
            try:
                outcomes[_judged(data.splitlines(keepends=True), lenient=lenient)] += 1
            except Exception as error:
                error.add_note(f"{where}, {lenient=}: {data[:2000]!r}")
                raise
    counted(f"{outcomes.total():,} logs judged: {dict(outcomes)}, 0 tracebacks")
    assert outcomes["judged"]
    assert outcomes["refused"]


def _judged(lines: Iterable[bytes], *, lenient: bool) -> str:
    told, fault = _run(Replay(lenient=lenient, facts=lenient), lines)
    _check_feed(told)
    if fault is None:
        return "judged"
    assert fault.line >= 1
    assert fault.problem
    return "refused"


def _check_feed(told: Iterable[bytes]) -> None:
    """Whatever came out before an error is a feed that subscribers would believe, with numbers of a wheel."""
    last: dict[str, str] = {}
    for line in told:
        said = msgspec.json.decode(line)
        if said["topic"] not in SEQUENCED:
            continue
        payload = msgspec.json.decode(line, type=_Told).payload
        root = f"wheel/v1/{said['payload']['site']}/{said['payload']['table']}"
        message = read_message(said["topic"], bytes(payload), root=root)
        assert message.prev == last.get("hash", message.prev if message.seq > 1 else GENESIS)
        last["hash"] = message.hash
        if said["topic"] == "result":
            assert said["payload"]["number"] in range(37)


class _Told(msgspec.Struct):
    payload: msgspec.Raw


def test_damage_takes_nothing_back_and_adds_nothing(
    evening: list[bytes], how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """Strict: what was told before the damaged line, and the line's number. Lenient: as if it had not been there."""
    whole = list(replay(evening))
    tried: Counter[str] = Counter()
    for number in range(how_many("evenings with a damaged line")):
        rng = random.Random(f"evening {seed}/{number}")
        place = rng.randrange(1, len(evening))
        damaged = Mutator(rng, evening, TOKENS).draw().replace(b"\n", b"")
        lines = [*evening[:place], damaged, *evening[place + 1 :]]
        told, fault = _run(Replay(), lines)
        if fault is None or fault.line > place + 1:
            # Good in itself; a later one may then be too early.
            tried["still a line"] += 1
            continue
        assert fault.line == place + 1, f"seed {seed}/{number}: {damaged!r}"
        assert told == whole[: len(told)], f"seed {seed}/{number}: {damaged!r}"
        without = list(replay([*evening[:place], *evening[place + 1 :]]))
        assert list(replay(lines, lenient=True)) == without, f"seed {seed}/{number}: {damaged!r}"
        tried["malformed"] += 1
    counted(f"{tried.total()} evenings with a damaged line: {dict(tried)}, 0 verdicts changed by a malformed line")
    assert tried["malformed"]


def _run(judge: Replay, lines: Iterable[bytes]) -> tuple[list[bytes], LogError | None]:
    told: list[bytes] = []
    try:
        told.extend(judge.run(lines))
    except LogError as wrong:
        return told, wrong
    return told, None


def test_the_command_ends_with_its_exit_code(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain, gzip, and gzip that was damaged or cut; told to people and to programs."""
    path, codes = tmp_path / "log", Counter[int]()
    for number, (where, data) in enumerate(_files(seed, how_many("log files"))):
        path.write_bytes(data)
        options = (["--jsonl"], ["--lenient", "--facts"], [], ["--lenient", "--jsonl"])[number % 4]
        try:
            codes[main(["replay", str(path), *options])] += 1
        except BaseException as error:
            error.add_note(f"{where} {options}: {data[:2000]!r}")
            raise
        said = capsys.readouterr()
        if options == ["--jsonl"]:
            assert all(json.loads(line)["topic"] for line in said.out.splitlines())
        assert "Traceback" not in said.err
    assert set(codes) == {Exit.OK, Exit.BAD_DATA}


def _files(seed: str, count: int) -> Iterator[tuple[str, bytes]]:
    yield from kept("logs").items()
    for where, data in drawn("logs", f"files {seed}", count, TOKENS):
        rng = random.Random(where)
        packed = bytearray(gzip.compress(data, mtime=0))
        if rng.random() < 0.7:
            packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
        cut = packed[: rng.randrange(1, len(packed))]
        yield where, rng.choice((data, data, bytes(packed), bytes(cut)))
