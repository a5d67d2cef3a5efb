"""Millions of malformed frames for decoder, session and board, each checked by an oracle that shares no code with them.

What may come out of a stream is known without decoding it: the pieces between its zero bytes that a sender really sent,
and nothing else (`Draw.sent`). What a message with a good CRC means is given by `fuzz_specification`. By hand, with the
seed that a failure names:

    .venv/bin/python -m tests.faults.fuzz_frames 1/0 100000
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections import Counter

import msgspec
from structlog.testing import capture_logs

from firmware_protocol import host
from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder
from firmware_protocol.host import HostSession
from firmware_protocol.wire import MessageError, decode_from_board, encode
from tests.faults.fuzz_frames_drawn import BATCH, Draw, Sender, framed
from tests.faults.fuzz_specification import fault_of, record_of, records_of
from tests.sources.scripted_board import SETTING, TABLE
from wheeld.core.observations import ClockReading, Observation, SensorState, TimePassed
from wheeld.sources.board.board import Board
from wheeld.sources.clock import UtcPair

BATCHES = 200
"""Batches for one decoder, session and board: enough for clocks to be compared and lost again."""
STEP_NS = 30_000_000
UTC_US = 1_800_000_000_000_000
REFUSED = ("too_long", "cobs", "crc", "short", "unknown_type", "length", "value")
"""The counters of refused frames."""


class Tally(msgspec.Struct):
    """The counts of one run."""

    malformed: Counter[str] = msgspec.field(default_factory=Counter)
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    accepted: int = 0
    escapes: int = 0
    observed: int = 0
    identified: int = 0
    bytes: int = 0
    seconds: float = 0.0
    grown_kb: int = 0


class Receivers:
    """One decoder, one session and one board on the same line; the output of every batch is checked."""

    def __init__(self, seed: str, tally: Tally) -> None:
        self.rng = random.Random(seed)
        self.tally = tally
        self.draw = Draw(self.rng)
        self.sender = Sender(self.rng)
        self.now_ns = 0
        self.decoder = FrameDecoder()
        self.session = HostSession(self.rng.getrandbits(32))
        self.board = Board(SETTING, TABLE, hello_token=self.rng.getrandbits(32), host_ns=0)
        self._boot_id = -1
        self._next_seq: int | None = None
        self._watermark_us = -1
        self._events = 0

    def batch(self) -> None:
        """Time passes, the host asks, the board answers among malformed frames, and everything is checked."""
        self.now_ns += STEP_NS
        self.session.tick(self.now_ns)
        self._check_observations(self.board.tick(self.now_ns))
        for requester in (self.session, self.board):
            self.sender.receive(requester.data_to_send())
        stream = self.draw.stream(self.sender)
        self.tally.bytes += len(stream)
        before, session_before, board_before = (self._refusals(one) for one in (self.decoder, self.session, self.board))
        slices = self._slices(stream)
        messages = self._check_decoder(stream, [message for data in slices for message in self.decoder.feed(data)])
        events, refused = self._check_wire(messages)
        self._check_session([event for data in slices for event in self.session.receive(data, self.now_ns)], events)
        utc = UtcPair(self.now_ns, UTC_US + self.now_ns // 1000, 1)
        self._check_observations([seen for data in slices for seen in self.board.receive(data, self.now_ns, utc)])
        if self.board.position is not None:
            self.board.acknowledge(self.board.position)
        pieces = len([piece for piece in stream.split(b"\0") if piece])
        assert self._refusals(self.decoder) - before + len(messages) == pieces, "a piece that was not counted"
        for one, earlier in ((self.session, session_before), (self.board, board_before)):
            assert self._refusals(one) - earlier == pieces - len(messages) + refused, "a frame that was not counted"

    def _refusals(self, one: FrameDecoder | HostSession | Board) -> int:
        counts = one.rejected if isinstance(one, FrameDecoder) else one.counters
        return sum(counts.get(cause, 0) for cause in REFUSED)

    def _slices(self, stream: bytes) -> list[bytes]:
        """The stream as a line may give it: whole, byte by byte, or in slices of any size."""
        way = self.rng.random()
        if way < 0.2:
            return [stream]
        most = 3 if way < 0.22 else 700
        slices, start = [], 0
        while start < len(stream):
            size = 1 + int(self.rng.random() * most)
            slices.append(stream[start : start + size])
            start += size
        return slices

    def _check_decoder(self, stream: bytes, messages: list[bytes]) -> list[bytes]:
        """Exactly what was sent came out, in order. A frame whose CRC-32 fits by chance is counted and accepted."""
        sent = self.draw.sent
        pieces = stream.split(b"\0")
        expected = [sent[piece] for piece in pieces if piece in sent]
        if messages != expected:
            escaped = [message for message in messages if message not in set(expected)]
            rest = [message for message in messages if message not in set(escaped)]
            assert rest == expected, f"{len(messages)} messages out, {len(expected)} were sent whole"
            for message in escaped:
                assert framed(message) in pieces, f"invented: {message.hex()}"
            self.tally.escapes += len(escaped)
        return messages

    def _check_wire(self, messages: list[bytes]) -> tuple[set[tuple[int, ...]], int]:
        """The specification and the decoder agree on each message; an accepted one gives the same bytes again.

        Returns the events in accepted messages, (boot id, number, board time, kind, value, index), and how many
        messages are refused.
        """
        events: set[tuple[int, ...]] = set()
        refused = 0
        for message in messages:
            fault = fault_of(message)
            decoded = _decoded(message)
            if fault is not None or isinstance(decoded, str):
                assert decoded == fault, f"{message.hex()}: {decoded}, by the specification {fault}"
                self.tally.refused[fault or ""] += 1
                refused += 1
                continue
            assert encode(decoded) == message, f"{message.hex()}: encodes to other bytes"
            self.tally.accepted += 1
            events.update(records_of(message))
        return events, refused

    def _check_session(self, outcomes: list[host.SessionEvent], sent: set[tuple[int, ...]]) -> None:
        """Each event was in a frame of this boot with its number; numbers go up one by one, or over a reported gap."""
        for event in outcomes:
            match event:
                case host.BoardReset() | host.Identified():
                    self._next_seq, self._watermark_us = None, -1
                    if isinstance(event, host.Identified):
                        self.tally.identified += 1
                        self._boot_id = event.identity.boot_id
                case host.LostEvents():
                    assert self._next_seq in (None, event.first_seq)
                    self._next_seq = event.last_seq + 1
                case host.Observed():
                    self._check_observed(event, sent)
                case host.Watermark():
                    assert event.board_us > self._watermark_us
                    self._watermark_us = event.board_us
                case host.SyncSample():
                    assert event.board_rx_us <= event.board_tx_us
                    assert event.host_sent_ns <= self.now_ns

    def _check_observed(self, event: host.Observed, sent: set[tuple[int, ...]]) -> None:
        assert self._next_seq in (None, event.seq), f"number {event.seq}, {self._next_seq} was awaited"
        self._next_seq = event.seq + 1
        record = (self._boot_id, event.seq, event.board_us, *record_of(event.event))
        assert record in sent, f"nobody sent {event} in boot {self._boot_id}"
        self.tally.observed += 1

    def _check_observations(self, seen: list[Observation]) -> None:
        """Without the board's own (clock readings, its link) no more observations come out than events went in."""
        own = (TimePassed, ClockReading, SensorState)
        self._events += sum(not isinstance(observation, own) for observation in seen)
        assert self._events <= self.board.counters["events"]


def _decoded(message: bytes) -> m.FromBoard | str:
    """The decoded message, or the fault for which it is refused."""
    try:
        return decode_from_board(message)
    except MessageError as error:
        return error.fault


def play(seed: str, frames: int) -> Tally:
    """Play at least so many malformed frames, `BATCHES` batches at a time. AssertionError: a wrong output."""
    tally = Tally()
    started_s = time.perf_counter()
    turn, warm_kb = 0, 0
    while tally.malformed.total() < frames:
        with capture_logs() as logs:
            _play_batches(f"{seed}/{turn}", tally, frames)
        assert len(logs) < BATCHES * BATCH / 10, f"seed {seed}/{turn}: {len(logs)} log lines: a board can fill the log"
        turn += 1
        if turn == 4:
            warm_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tally.grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - warm_kb if warm_kb else 0
    tally.seconds = time.perf_counter() - started_s
    return tally


def _play_batches(seed: str, tally: Tally, frames: int) -> None:
    receivers = Receivers(seed, tally)
    for number in range(BATCHES):
        try:
            receivers.batch()
        except Exception as error:
            error.add_note(f"seed {seed}, batch {number}")
            raise
        if tally.malformed.total() + receivers.draw.malformed.total() >= frames:
            break
    tally.malformed += receivers.draw.malformed
    tally.refused += Counter(receivers.decoder.rejected)
    assert len(receivers.board.counters) < 50
    assert len(receivers.board.sensors) <= 34, "a sensor's name that no board has"


def summary(tallies: list[Tally]) -> str:
    """The counts of several runs, in one line."""
    whole = Tally()
    for tally in tallies:
        whole.malformed += tally.malformed
        whole.refused += tally.refused
        whole.accepted += tally.accepted
        whole.escapes += tally.escapes
        whole.observed += tally.observed
    seconds = max(tally.seconds for tally in tallies)
    total = whole.malformed.total()
    return (
        f"{total:,} malformed frames in {seconds:.0f} s ({total / seconds:,.0f}/s): 0 crashes, 0 inventions, "
        f"{whole.escapes} CRC-32 escapes ({total / 2**32:.4f} expected at most), refused {dict(whole.refused)}, "
        f"well formed out of place or intact {whole.accepted:,}, events taken {whole.observed:,}, "
        f"memory +{max(tally.grown_kb for tally in tallies)} kB; kinds {dict(whole.malformed)}"
    )


if __name__ == "__main__":
    sys.stdout.write(summary([play(sys.argv[1], int(sys.argv[2]))]) + "\n")
