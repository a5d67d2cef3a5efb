"""Observation logs with every kind of damage: replayed, or refused with the line; no verdict is invented."""

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
from wheeld.core.step import SEQUENCED
from wheeld.exits import Exit
from wheeld.feed.message import GENESIS, read_message
from wheeld.replay import LogError, LogReplay, replay

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


def test_a_log_is_replayed_or_refused_with_its_line(
    how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    outcomes: Counter[str] = Counter()
    for where, data in drawn("logs", seed, how_many("logs"), TOKENS):
        for lenient in (False, True):
            try:
                outcomes[_outcome(data.splitlines(keepends=True), lenient=lenient)] += 1
            except Exception as error:
                error.add_note(f"{where}, {lenient=}: {data[:2000]!r}")
                raise
    counted(f"{outcomes.total():,} logs replayed: {dict(outcomes)}, 0 tracebacks")
    assert outcomes["replayed"]
    assert outcomes["refused"]


def _outcome(lines: Iterable[bytes], *, lenient: bool) -> str:
    replayed, fault = _run(LogReplay(lenient=lenient, facts=lenient), lines)
    _check_feed(replayed)
    if fault is None:
        return "replayed"
    assert fault.line >= 1
    assert fault.problem
    return "refused"


def _check_feed(replayed: Iterable[bytes]) -> None:
    """The messages before an error are a feed that subscribers would accept, with numbers of a wheel."""
    last: dict[str, str] = {}
    for line in replayed:
        decoded = msgspec.json.decode(line)
        if decoded["topic"] not in SEQUENCED:
            continue
        payload = msgspec.json.decode(line, type=_ReplayLine).payload
        root = f"wheel/v1/{decoded['payload']['site']}/{decoded['payload']['table']}"
        message = read_message(decoded["topic"], bytes(payload), root=root)
        assert message.prev == last.get("hash", message.prev if message.seq > 1 else GENESIS)
        last["hash"] = message.hash
        if decoded["topic"] == "result":
            assert decoded["payload"]["number"] in range(37)


class _ReplayLine(msgspec.Struct):
    payload: msgspec.Raw


def test_a_damaged_line_changes_no_other_verdict(
    evening: list[bytes], how_many: Callable[[str], int], seed: str, counted: Callable[[str], None]
) -> None:
    """Strict: the messages before the damaged line, and the number of the line. Lenient: as without the line."""
    whole = list(replay(evening))
    tried: Counter[str] = Counter()
    for number in range(how_many("evenings with a damaged line")):
        rng = random.Random(f"evening {seed}/{number}")
        place = rng.randrange(1, len(evening))
        damaged = Mutator(rng, evening, TOKENS).draw().replace(b"\n", b"")
        lines = [*evening[:place], damaged, *evening[place + 1 :]]
        replayed, fault = _run(LogReplay(), lines)
        if fault is None or fault.line > place + 1:
            # Good in itself; a later one may then be too early.
            tried["still a line"] += 1
            continue
        assert fault.line == place + 1, f"seed {seed}/{number}: {damaged!r}"
        assert replayed == whole[: len(replayed)], f"seed {seed}/{number}: {damaged!r}"
        without = list(replay([*evening[:place], *evening[place + 1 :]]))
        assert list(replay(lines, lenient=True)) == without, f"seed {seed}/{number}: {damaged!r}"
        tried["malformed"] += 1
    counted(f"{tried.total()} evenings with a damaged line: {dict(tried)}, 0 verdicts changed by a malformed line")
    assert tried["malformed"]


def _run(replay_run: LogReplay, lines: Iterable[bytes]) -> tuple[list[bytes], LogError | None]:
    replayed: list[bytes] = []
    try:
        replayed.extend(replay_run.run(lines))
    except LogError as wrong:
        return replayed, wrong
    return replayed, None


def test_the_command_ends_with_its_exit_code(
    tmp_path: Path, how_many: Callable[[str], int], seed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plain, gzip, and gzip that was damaged or cut; with text and with JSON as output."""
    path, codes = tmp_path / "log", Counter[int]()
    for number, (where, data) in enumerate(_files(seed, how_many("log files"))):
        path.write_bytes(data)
        options = (["--jsonl"], ["--lenient", "--facts"], [], ["--lenient", "--jsonl"])[number % 4]
        try:
            codes[main(["replay", str(path), *options])] += 1
        except BaseException as error:
            error.add_note(f"{where} {options}: {data[:2000]!r}")
            raise
        printed = capsys.readouterr()
        if options == ["--jsonl"]:
            assert all(json.loads(line)["topic"] for line in printed.out.splitlines())
        assert "Traceback" not in printed.err
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
