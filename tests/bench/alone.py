"""What costs time without a live wheel: commands, replay, the journal as it grows, and the waits of the rules."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from hw_sim import log as sim_log
from hw_sim.evening import Evening, script
from hw_sim.events import Sighting
from tests.broker.feed import Feed
from tests.journal.journals import NOW, OWNER, RawSigner, open_reader, open_writer
from wheeld.core.observations import Observation
from wheeld.core.step import CoupLog, joined
from wheeld.journal.verify import verify
from wheeld.replay import replay

SIGNER = RawSigner(bytes(32))
EVIDENCE = bytes(range(256)) * 8
AT_ONCE, AGAIN = 100, 10_000
"""Coups that are stored together while the journal is made, or messages that a resend reads at a time; and how many are
sent again."""


def took_s(work: Callable[[], object]) -> float:
    """Seconds on the clock."""
    began_ns = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - began_ns) / 1e9


def command_s(*arguments: str) -> float:
    """How long Python takes for this command line, its start included."""
    return took_s(lambda: subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True))


class Replayed(NamedTuple):
    """Seconds to decide an evening, and to decode the same lines alone."""

    observations: int
    replay_s: float
    decode_s: float


def replayed(lines: Sequence[bytes]) -> Replayed:
    """One pass each."""
    decoder: msgspec.json.Decoder[Observation] = msgspec.json.Decoder(Observation)
    decode_s = took_s(lambda: [decoder.decode(line) for line in lines[1:]])
    return Replayed(len(lines) - 1, took_s(lambda: list(replay(lines))), decode_s)


def evening(coups: int, *, ticks: int = 148, readers: int = 3) -> Evening:
    """The first evening of valid coups that is drawn with such a wheel."""
    seed = 0
    while True:
        drawn = script(["valid"] * coups, seed=seed)
        if drawn.header["rotor_ticks"] == ticks and len(drawn.header["readers_deg"]) == readers:
            return drawn
        seed += 1


def lines_of(drawn: Evening) -> list[bytes]:
    """Its observation log."""
    return list(sim_log.lines(drawn.header, drawn.events()))


def waits_s(drawn: Evening) -> tuple[float, float]:
    """From the first sighting of the ball at rest to the result, and to the sighting that R3 needs: the third, or the
    second by the same reader. The medians over the evening, in the wheel's own time."""
    outputs = map(msgspec.json.decode, replay(lines_of(drawn)))
    results = [one["t"] for one in outputs if one["topic"] == "result"]
    outs = [outcome["out_t"] for outcome in drawn.truth]
    seen = [event for event in drawn.events() if isinstance(event, Sighting)]
    needed = [_needed_us([event for event in seen if event.t_us >= out]) for out in outs]
    pairs = list(zip(outs, results, needed, strict=True))
    return median(result - out for out, result, _ in pairs) / 1e6, median(last - out for out, _, last in pairs) / 1e6


def _needed_us(seen: Sequence[Sighting]) -> int:
    readers = [event.reader for event in seen]
    return next(event.t_us for n, event in enumerate(seen) if n == 2 or event.reader in readers[:n])


class Grown(NamedTuple):
    """Of a journal with so many coups: seconds to open it and for one step; records that are verified and messages that
    are sent again, a second."""

    open_s: float
    append_s: float
    verify_rate: float
    resend_rate: float


def grown(path: Path, coups: int) -> Grown:
    """Make such a journal, with a signed feed, and measure it."""
    feed = Feed()
    with closing(open_writer(path, signer=SIGNER)) as journal:
        journal.database.execute("PRAGMA synchronous = OFF")  # until it is made
        for first in range(1, coups + 1, AT_ONCE):
            logs = [CoupLog(coup, "result", EVIDENCE) for coup in range(first, min(first + AT_ONCE, coups + 1))]
            journal.append(joined([feed.step("table", "table", "result", evidence=log) for log in logs]), NOW)
            journal.mark_sent([one.id for one in journal.reader.owed(0, 3 * AT_ONCE)], await_settlement=False)
        journal.seal(by="bench", why="made", at_utc_us=NOW)
    opened = []
    open_s = took_s(lambda: opened.append(open_writer(path, signer=SIGNER, owner=OWNER)))
    with closing(opened[0]) as journal:
        again = min(feed.seq, AGAIN)
        append_s = median(took_s(lambda: journal.append(feed.step("table"), NOW)) for _ in range(100))
        resend_s = took_s(lambda: [journal.again(seq, AT_ONCE) for seq in range(1, again + 1, AT_ONCE)])
    with closing(open_reader(path)) as reader:
        verified = []
        verify_s = took_s(lambda: verified.append(verify(reader)))
    assert verified[0].faults == []
    return Grown(open_s, append_s, verified[0].records / verify_s, again / resend_s)
