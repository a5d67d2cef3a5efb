"""The host's side of the exchange with one sensor board, without I/O: it converts bytes and times to events and bytes.

The board numbers its events and keeps them in a ring. This session reports them once each, in strict order of number.
It requests missing events again, and tells the board which events are stored. `host_ns` is the host's monotonic clock,
always passed as an argument.

How to use it: call `receive` with the bytes from the line, and `tick` at `next_tick_ns`. After each of these calls
write `data_to_send()` to the line at once. Call `reconnected` each time a line was opened. Call `acknowledge` when
events are stored. If events were never acknowledged, the board sends them again to the next host process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum, unique

from firmware_protocol import messages as m
from firmware_protocol.codec import DELIMITER, FrameDecoder, encode_frame
from firmware_protocol.event_stream import EventStream
from firmware_protocol.host_events import (
    BoardReset,
    Identified,
    LostEvents,
    Observed,
    Pin,
    Position,
    Refused,
    SelfTested,
    SessionEvent,
    SyncSample,
    Watermark,
)
from firmware_protocol.wire import MessageError, decode_from_board, encode

__all__ = [
    "BoardReset",
    "HostSession",
    "Identified",
    "LostEvents",
    "Observed",
    "Position",
    "Refused",
    "SelfTested",
    "SessionEvent",
    "SyncSample",
    "Watermark",
]  # fmt: skip

HELLO_RETRY_NS = 250_000_000
"""The wait for an answer before the next hello. An answer usually comes sooner. If the board's output buffer is full,
the answer comes later (4 kB at 115200 baud: 350 ms), but the buffer is full only if the host has not read the line."""
REFUSED_RETRY_NS = 2_000_000_000
"""After this time a refused board is asked again, because someone may have connected the right board."""
REPLAY_RETRY_NS_MIN = 40_000_000
"""A host that reads every 20 ms cannot see an answer earlier. After a second without the missing events the line counts
as silent, so on a damaged line the host needs many attempts within that second."""
REPLAY_RETRY_NS_MAX = 250_000_000
"""The longest wait, used until a round trip was measured, and while buffers are full. A shorter wait would cost too
much: after each request the board sends all missing events again."""
REPLAY_ROUND_TRIPS = 2
"""A request is repeated after this many measured round trips. By then the answer had time to pass through the
buffers."""
ACK_INTERVAL_NS = 200_000_000
"""Acknowledgements only limit how many events a new host process receives again, so five a second are enough (100
B/s)."""
SYNC_INTERVAL_NS = 1_000_000_000
"""The time between samples. In a second, two crystals that differ by 100 ppm drift apart by 100 µs: about the error of
one sample."""
SYNC_BURST = 8
"""The number of samples that are taken quickly after a hello. The best of these samples dates the first coup well
enough."""
SYNC_BURST_INTERVAL_NS = 50_000_000
"""This is longer than a round trip at 115200 baud, so that no sample waits behind another."""
SELF_TEST_RETRY_NS = 1_000_000_000
"""After this time the request is repeated. The board has half a second for the test."""

COUNTERS = (
    "hellos",  # hello messages that this session sent
    "events",  # events that this session reported
    "duplicate_events",  # events that came again
    "early_frames",  # `Events` messages that came while earlier events were missing
    "replay_requests",  # requests for missing events that this session sent
    "before_identity",  # messages of a board that is not accepted
    "other_boot",  # messages of the board from another boot than the accepted one
    "unasked",  # answers that this session did not ask for
    "unknown_type",  # frames without a valid message in them: the board's program has an error
    "length",
    "value",
)
_NO_BOOT = -1


@unique
class BoardState(Enum):
    """The state of the board, as the session sees it."""

    UNKNOWN = "unknown"
    """No board has answered yet. The hello is repeated."""
    REFUSED = "refused"
    """A board answered, but must not be used. It is asked again later. Its messages are counted and dropped."""
    ACCEPTED = "accepted"
    """The board answered and its messages are used."""
    DOUBTFUL = "doubtful"
    """The accepted board may have reset or been replaced, so it is asked again. Messages of its boot are still used."""


@unique
class Task(Enum):
    """A task that the session does when it is due."""

    HELLO = "hello"
    REPLAY = "replay"
    ACK = "ack"
    ASK_TIME = "ask_time"
    SELF_TEST = "self_test"


def _after(token: int) -> int:
    return (token + 1) % 2**32


class HostSession:
    """One session. It continues after lost bytes, after an unplugged cable, and after a reset of the board.

    `hello_token`: 32 bits that the previous host process did not use, so that an answer to that process does not look
    like an answer to this one. `board_serial`, `config_hash`: a board with other values is refused. `resume_at`: the
    position that a previous process reached, or an earlier position. Acknowledged events are skipped in any case.
    """

    def __init__(
        self,
        hello_token: int,
        *,
        board_serial: str | None = None,
        config_hash: str | None = None,
        resume_at: Position | None = None,
    ) -> None:
        self.identity: m.Identity | None = None
        """The accepted board. None while no board is accepted."""
        self.heard_ns: int | None = None
        """When the latest message of any board came. None before the first message."""
        self._state = BoardState.UNKNOWN
        self._pins: dict[Pin, str | None] = {"board_serial": board_serial, "config_hash": config_hash}
        self._boot_id = resume_at.boot_id if resume_at else _NO_BOOT
        self._stream = EventStream(resume_at.next_seq if resume_at else 0)
        self._hello_token = self._test_token = hello_token
        self._next_seq_at_hello: int | None = None
        """The next expected event at the time of the first unanswered hello."""
        self._safe_seq = 0
        """The caller has acknowledged every event before this number."""
        self._ack_after_ns = 0
        self._replay_from: int | None = None
        self._replay_begun = False
        """The board has begun to answer the latest request, so the next events begin with the missing one."""
        self._round_trip_ns: int | None = None
        self._sync_sent_ns: int | None = None
        self._sync_burst = 0
        self._due_ns: dict[Task, int] = {Task.HELLO: 0}
        self._decoder = FrameDecoder()
        self._counts: Counter[str] = Counter()
        self._outgoing = bytearray()

    @property
    def heartbeat(self) -> m.Heartbeat | None:
        """The latest heartbeat of this boot, for statistics."""
        return self._stream.heartbeat

    @property
    def position(self) -> Position | None:
        """How far the events have been reported. None before the first board."""
        return None if self._boot_id == _NO_BOOT else Position(self._boot_id, self._stream.next_seq)

    @property
    def is_accepted(self) -> bool:
        """Whether the board has answered the latest hello, and is used."""
        return self._state is BoardState.ACCEPTED

    @property
    def misses_events(self) -> bool:
        """Whether events are missing that were requested again."""
        return self._replay_from is not None and self._replay_from == self._stream.next_seq

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is due."""
        return min(self._due_ns.values())

    @property
    def counters(self) -> dict[str, int]:
        """The counts since this session began, by the names of `COUNTERS`, and the damaged frames by cause."""
        counted = {"events": self._stream.reported, "duplicate_events": self._stream.duplicates}
        return {**dict.fromkeys(COUNTERS, 0), **self._counts, **counted, **self._decoder.rejected}

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the line now. Each byte is returned only once."""
        data = bytes(self._outgoing)
        self._outgoing.clear()
        return data

    def tick(self, host_ns: int) -> None:
        """Send what is due at `host_ns`: hello, replay request, acknowledgement, time request, self-test."""
        for task in [task for task, due_ns in self._due_ns.items() if due_ns <= host_ns]:
            del self._due_ns[task]
            match task:
                case Task.HELLO:
                    # Send the hello after a delimiter, which ends a frame that was sent only in part.
                    self._counts["hellos"] += 1
                    if self._next_seq_at_hello is None:
                        self._next_seq_at_hello = self._stream.next_seq
                    self._outgoing += DELIMITER
                    self._send(m.Hello(self._hello_token))
                    self._due_ns[Task.HELLO] = host_ns + HELLO_RETRY_NS
                case Task.REPLAY:
                    self._send_replay(host_ns)
                case Task.ACK:
                    self._send(m.Ack(self._boot_id, self._safe_seq))
                    self._ack_after_ns = host_ns + ACK_INTERVAL_NS
                case Task.ASK_TIME:
                    # Ask for the board's time. The token is the host time, so all requests of this host have different
                    # tokens.
                    self._sync_sent_ns = host_ns
                    self._send(m.SyncRequest(host_ns))
                    self._sync_burst = max(0, self._sync_burst - 1)
                    self._due_ns[Task.ASK_TIME] = host_ns + (
                        SYNC_BURST_INTERVAL_NS if self._sync_burst else SYNC_INTERVAL_NS
                    )
                case _:
                    if self.identity is not None:
                        self._send(m.SelfTestRequest(self._test_token))
                    self._due_ns[Task.SELF_TEST] = host_ns + SELF_TEST_RETRY_NS

    def receive(self, data: bytes, host_ns: int) -> list[SessionEvent]:
        """Return the events in `data`, which was read from the line at `host_ns`."""
        events: list[SessionEvent] = []
        for frame in self._decoder.feed(data):
            try:
                message = decode_from_board(frame)
            except MessageError as error:
                self._counts[error.fault] += 1
            else:
                self.heard_ns = host_ns
                events.extend(self._message(message, host_ns))
        return events

    def reconnected(self, host_ns: int) -> None:
        """Drop unfinished frames and ask for the identity: the line was opened, perhaps with another board on it."""
        self._decoder.reset()
        self._outgoing.clear()
        self._state = BoardState.UNKNOWN if self.identity is None else BoardState.DOUBTFUL
        self._due_ns[Task.HELLO] = host_ns

    def acknowledge(self, position: Position) -> None:
        """Remember that every event before `position` is stored. A position of an earlier boot is ignored.

        Raises ValueError if the caller acknowledges events that were never reported.
        """
        if self.identity is None or position.boot_id != self._boot_id:
            return
        if position.next_seq > self._stream.next_seq:
            raise ValueError(f"the caller acknowledged {position}, but only {self.position} was reported")
        if position.next_seq > self._safe_seq:
            self._safe_seq = position.next_seq
            self._due_ns.setdefault(Task.ACK, self._ack_after_ns)

    def request_self_test(self) -> None:
        """Ask the board to test every sensor. Repeats this until `SelfTested` is reported or the board is refused."""
        self._test_token = _after(self._test_token)
        self._due_ns[Task.SELF_TEST] = 0

    # --- messages of the board ---------------------------------------------------------------------------------------

    def _message(self, message: m.FromBoard, host_ns: int) -> Iterator[SessionEvent]:
        if isinstance(message, m.Identity):
            yield from self._identity(message, host_ns)
        elif self.identity is None:
            self._counts["before_identity"] += 1
        elif message.boot_id != self._boot_id:
            self._counts["other_boot"] += 1
            self._doubt(host_ns)
        else:
            match message:
                case m.Events() if self._stream.is_early(message):
                    self._counts["early_frames"] += 1
                    self._request_replay(host_ns)
                case m.Events():
                    yield from self._stream.take(message)
                case m.Heartbeat():
                    yield from self._heartbeat(message, host_ns)
                case m.SyncReply():
                    if message.token != self._sync_sent_ns:
                        self._counts["unasked"] += 1
                        return
                    self._sync_sent_ns = None
                    self._round_trip_ns = host_ns - message.token
                    yield SyncSample(message.token, host_ns, message.board_rx_us, message.board_tx_us)
                case _:
                    if message.token != self._test_token or Task.SELF_TEST not in self._due_ns:
                        self._counts["unasked"] += 1
                        return
                    del self._due_ns[Task.SELF_TEST]
                    yield SelfTested(message.board_us, message.sensors)

    def _identity(self, identity: m.Identity, host_ns: int) -> Iterator[SessionEvent]:
        if self._state is BoardState.ACCEPTED or identity.token != self._hello_token:
            self._counts["unasked"] += 1
            return
        self._hello_token = _after(self._hello_token)
        found: dict[Pin, str] = {"board_serial": identity.serial, "config_hash": identity.config_hash}
        refusals = [
            Refused(what, expected, found[what])
            for what, expected in self._pins.items()
            if expected is not None and expected != found[what]
        ]
        if identity.version != m.VERSION:
            refusals = [Refused("version", str(m.VERSION), f"{identity.version_min}…{identity.version_max}")]
        if refusals:
            self.identity, self._state = None, BoardState.REFUSED
            self._due_ns = {Task.HELLO: host_ns + REFUSED_RETRY_NS}
            yield refusals[0]
        else:
            del self._due_ns[Task.HELLO]
            # Accept the board. If it has fewer events than had arrived before the hello, the board has reset, even if
            # its boot id is the same.
            old_boot_id = self._boot_id
            if identity.boot_id != old_boot_id or identity.next_seq < (self._next_seq_at_hello or 0):
                self._boot_id = identity.boot_id
                self._stream.begin_boot(identity.acked_seq)
                self._safe_seq = identity.acked_seq
                self._due_ns.pop(Task.ACK, None)
                if old_boot_id != _NO_BOOT:
                    yield BoardReset(old_boot_id, identity.boot_id)
            self.identity, self._state = identity, BoardState.ACCEPTED
            self._stream.next_seq = max(self._stream.next_seq, identity.acked_seq)
            self._next_seq_at_hello = self._replay_from = self._round_trip_ns = None
            yield Identified(identity)
            yield from self._stream.skip_lost(identity.oldest_seq)
            self._sync_burst = SYNC_BURST
            self._due_ns[Task.ASK_TIME] = host_ns

    def _heartbeat(self, beat: m.Heartbeat, host_ns: int) -> Iterator[SessionEvent]:
        yield from self._stream.skip_lost(beat.oldest_seq)
        # The board has fewer events than were reported: frames came in the wrong order, or the board reset and kept its
        # boot id.
        if beat.next_seq < self._stream.next_seq:
            self._doubt(host_ns)
        else:
            yield from self._stream.take_heartbeat(beat)
        if beat.sent_seq > self._stream.next_seq:
            self._request_replay(host_ns)
        elif beat.sent_seq == self._replay_from:
            self._replay_begun = True
        if beat.acked_seq < self._safe_seq:
            self._due_ns.setdefault(Task.ACK, self._ack_after_ns)

    def _doubt(self, host_ns: int) -> None:
        """Ask an accepted board for its identity again, unless this request was already sent."""
        if self._state is BoardState.ACCEPTED:
            self._state = BoardState.DOUBTFUL
            self._due_ns[Task.HELLO] = host_ns

    # --- messages of the host ----------------------------------------------------------------------------------------

    def _send(self, message: m.FromHost) -> None:
        self._outgoing += encode_frame(encode(message))

    def _request_replay(self, host_ns: int) -> None:
        """Ask for a replay at once for each new gap, and when the answer to the last request was damaged. In other
        cases `tick` repeats the request after a delay."""
        if self._replay_from != self._stream.next_seq or self._replay_begun:
            self._replay_from = self._stream.next_seq
            self._send_replay(host_ns)

    def _send_replay(self, host_ns: int) -> None:
        if self._replay_from != self._stream.next_seq:
            self._replay_from = None
            return
        self._counts["replay_requests"] += 1
        self._replay_begun = False
        self._send(m.Replay(self._boot_id, self._stream.next_seq))
        answer_ns = REPLAY_RETRY_NS_MAX if self._round_trip_ns is None else REPLAY_ROUND_TRIPS * self._round_trip_ns
        self._due_ns[Task.REPLAY] = host_ns + min(max(answer_ns, REPLAY_RETRY_NS_MIN), REPLAY_RETRY_NS_MAX)
