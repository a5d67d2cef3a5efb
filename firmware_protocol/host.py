"""The host's side of the conversation with one sensor board, without I/O: bytes and times in, events and bytes out.

The board numbers its events and keeps them in a ring; this session hands them on in strict order of number, once each,
asks again for what is missing and says which are safe. `host_ns` is the host's monotonic clock, always an argument.

How to drive it: call `receive` with whatever the line gave and `tick` when `next_tick_ns` has come; after either, write
`data_to_send()` to the line at once. When a line was (re)opened call `reconnected`. Call `acknowledge` when events are
safe for good: what was never acknowledged comes again to the next host process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec

from firmware_protocol import messages as m
from firmware_protocol.codec import DELIMITER, FrameDecoder, encode_frame
from firmware_protocol.wire import MessageError, decode_from_board, encode

HELLO_RETRY_NS = 250_000_000
"""Longer than an answer takes behind a full output buffer (4 kB at 115200 baud are 350 ms only when nobody read)."""
REFUSED_RETRY_NS = 2_000_000_000
"""A refused board is asked again: someone may have put the right one on the cable."""
REPLAY_RETRY_NS = 250_000_000
"""A request is repeated only after the answer to the first had time to come through the same buffers."""
ACK_INTERVAL_NS = 200_000_000
"""Acknowledgements only bound what a new host process gets again; five a second cost 100 B/s."""
SYNC_INTERVAL_NS = 1_000_000_000
"""Two crystals 100 ppm apart drift 100 µs in a second, the size of one sample's error."""
SYNC_BURST = 8
"""After a hello as many samples come quickly: the best of eight dates the first coup well enough."""
SYNC_BURST_INTERVAL_NS = 50_000_000
"""Wider than a round trip at 115200 baud, so that samples do not queue behind each other."""
SELF_TEST_RETRY_NS = 1_000_000_000
"""The board has half a second for the test."""


COUNTERS = (
    "hellos",
    "events",
    "duplicate_events",
    "early_frames",
    "replay_requests",
    "before_identity",
    "other_boot",
    "unasked",
    "unknown_type",
    "length",
    "value",
)
_NO_BOOT = -1
Pin: TypeAlias = Literal["version", "board_serial", "config_hash"]


class Identified(msgspec.Struct, frozen=True):
    """The board answered and is one that we want; its events follow."""

    identity: m.Identity


class Refused(msgspec.Struct, frozen=True):
    """The board answered and is not to be used: `what` differs from what was asked for. Nothing of it is handed on."""

    what: Pin
    expected: str
    found: str


class Observed(msgspec.Struct, frozen=True):
    """Event number `seq`, dated by the board."""

    seq: int
    board_us: int
    event: m.Event


class Watermark(msgspec.Struct, frozen=True):
    """Every event before `board_us` has been handed on."""

    board_us: int


class SyncSample(msgspec.Struct, frozen=True):
    """One exchange of times: sent and received on the host's clock, received and answered on the board's."""

    host_sent_ns: int
    host_received_ns: int
    board_rx_us: int
    board_tx_us: int


class Gap(msgspec.Struct, frozen=True):
    """Events `first_seq` to `last_seq` are lost for ever: the ring overwrote them before they arrived here."""

    first_seq: int
    last_seq: int


class BoardReset(msgspec.Struct, frozen=True):
    """The board has started anew (or is another one): its clock and numbers begin again, and events of the former boot
    that had not arrived are lost, how many nobody knows."""

    old_boot_id: int
    new_boot_id: int


class SelfTested(msgspec.Struct, frozen=True):
    """The answer to `request_self_test`."""

    board_us: int
    sensors: tuple[m.SensorReport, ...]


SessionEvent: TypeAlias = Identified | Refused | Observed | Watermark | SyncSample | Gap | BoardReset | SelfTested


class Position(msgspec.Struct, frozen=True):
    """How far the events are in: `next_seq` of boot `boot_id` is awaited. To be kept by whoever wants exactly-once
    across restarts of the host."""

    boot_id: int
    next_seq: int


def _after(token: int) -> int:
    return (token + 1) % 2**32


class HostSession:
    """One conversation that survives lost bytes, a cable pulled and put back, and a board that resets.

    `hello_token`: 32 bits that the former host process did not use, so that an answer to it is not taken for ours.
    `board_serial`, `config_hash`: refuse any board but this one, set up so. `resume_at`: where a former process
    stood, or earlier; what was acknowledged is passed over anyway.
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
        """The board as it last introduced itself, None while none is accepted."""
        self.heartbeat: m.Heartbeat | None = None
        """The latest heartbeat of this boot, for statistics."""
        self._pins: dict[Pin, str | None] = {"board_serial": board_serial, "config_hash": config_hash}
        self._boot_id = resume_at.boot_id if resume_at else _NO_BOOT
        self._next_seq = resume_at.next_seq if resume_at else 0
        self._hello_token = self._test_token = hello_token
        self._hello_seq: int | None = None
        self._safe_seq = 0
        self._ack_after_ns = 0
        self._replay_from: int | None = None
        self._waiting: m.Heartbeat | None = None
        self._watermark_us = -1
        self._sync_sent_ns: int | None = None
        self._sync_burst = 0
        self._due_ns: dict[Callable[[int], None], int] = {self._say_hello: 0}
        self._decoder = FrameDecoder()
        self._counts: Counter[str] = Counter()
        self._outgoing = bytearray()

    @property
    def position(self) -> Position | None:
        """How far the events are in; None before the first board."""
        return None if self._boot_id == _NO_BOOT else Position(self._boot_id, self._next_seq)

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is wanted next."""
        return min(self._due_ns.values())

    @property
    def counters(self) -> dict[str, int]:
        """Since this session began: events and duplicates, requests made, and what was refused, by cause."""
        return {**dict.fromkeys(COUNTERS, 0), **self._counts, **self._decoder.rejected}

    def data_to_send(self) -> bytes:
        """What to write to the line now; asking twice gives nothing twice."""
        data = bytes(self._outgoing)
        self._outgoing.clear()
        return data

    def tick(self, host_ns: int) -> None:
        """Do what is due at `host_ns`: hello, replay request, acknowledgement, time request, self-test."""
        for action in [action for action, due_ns in self._due_ns.items() if due_ns <= host_ns]:
            del self._due_ns[action]
            action(host_ns)

    def receive(self, data: bytes, host_ns: int) -> list[SessionEvent]:
        """What `data`, read from the line at `host_ns`, has to tell."""
        told: list[SessionEvent] = []
        for frame in self._decoder.feed(data):
            try:
                message = decode_from_board(frame)
            except MessageError as error:
                self._counts[error.fault] += 1
            else:
                told.extend(self._hear(message, host_ns))
        return told

    def reconnected(self, host_ns: int) -> None:
        """The line was opened anew: what was half read or half said is void, and another board may be there."""
        self._decoder.reset()
        self._outgoing.clear()
        self._due_ns[self._say_hello] = host_ns

    def acknowledge(self, position: Position) -> None:
        """Every event before `position` is safe for good. A position of a former boot means nothing any more."""
        if self.identity is None or position.boot_id != self._boot_id:
            return
        if position.next_seq > self._next_seq:
            raise ValueError(f"{position} is ahead of what was handed on, {self.position}")
        if position.next_seq > self._safe_seq:
            self._safe_seq = position.next_seq
            self._due_ns.setdefault(self._send_ack, self._ack_after_ns)

    def request_self_test(self) -> None:
        """Ask the board to test every sensor; asked again until `SelfTested` comes or the board is refused."""
        self._test_token = _after(self._test_token)
        self._due_ns[self._ask_self_test] = 0

    def _send(self, message: m.FromHost) -> None:
        self._outgoing += encode_frame(encode(message))

    # What the board says

    def _hear(self, message: m.FromBoard, host_ns: int) -> Iterator[SessionEvent]:
        if isinstance(message, m.Identity):
            yield from self._hear_identity(message, host_ns)
        elif self.identity is None:
            self._counts["before_identity"] += 1
        elif message.boot_id != self._boot_id:
            self._counts["other_boot"] += 1
            self._due_ns.setdefault(self._say_hello, host_ns)
        else:
            yield from self._hear_known_board(message, host_ns)

    def _hear_known_board(
        self, message: m.Events | m.Heartbeat | m.SyncReply | m.SelfTestResult, host_ns: int
    ) -> Iterator[SessionEvent]:
        match message:
            case m.Events():
                yield from self._hear_events(message, host_ns)
            case m.Heartbeat():
                yield from self._hear_heartbeat(message, host_ns)
            case m.SyncReply():
                yield from self._hear_sync(message, host_ns)
            case _:
                yield from self._hear_self_test(message)

    def _hear_identity(self, identity: m.Identity, host_ns: int) -> Iterator[SessionEvent]:
        if self._say_hello not in self._due_ns or identity.token != self._hello_token:
            self._counts["unasked"] += 1
            return
        self._hello_token = _after(self._hello_token)
        refusal = self._refusal(identity)
        if refusal:
            self.identity = None
            self._due_ns = {self._say_hello: host_ns + REFUSED_RETRY_NS}
            yield refusal
        else:
            del self._due_ns[self._say_hello]
            yield from self._accept(identity, host_ns)

    def _refusal(self, identity: m.Identity) -> Refused | None:
        if identity.version != m.VERSION:
            return Refused("version", str(m.VERSION), f"{identity.version_min}…{identity.version_max}")
        found: dict[Pin, str] = {"board_serial": identity.serial, "config_hash": identity.config_hash}
        for what, expected in self._pins.items():
            if expected is not None and expected != found[what]:
                return Refused(what, expected, found[what])
        return None

    def _accept(self, identity: m.Identity, host_ns: int) -> Iterator[SessionEvent]:
        """A board that answers with fewer events than we had when we asked has reset, even under the same boot id."""
        old_boot_id = self._boot_id
        if identity.boot_id != old_boot_id or identity.next_seq < (self._hello_seq or 0):
            self._begin_boot(identity)
            if old_boot_id != _NO_BOOT:
                yield BoardReset(old_boot_id, identity.boot_id)
        self.identity = identity
        self._next_seq = max(self._next_seq, identity.acked_seq)
        self._hello_seq = self._replay_from = None
        yield Identified(identity)
        yield from self._skip_lost(identity.oldest_seq)
        self._sync_burst = SYNC_BURST
        self._due_ns[self._ask_time] = host_ns

    def _begin_boot(self, identity: m.Identity) -> None:
        self._boot_id = identity.boot_id
        self._next_seq = identity.acked_seq
        self._safe_seq = identity.acked_seq
        self.heartbeat = self._waiting = None
        self._watermark_us = -1
        self._due_ns.pop(self._send_ack, None)

    def _hear_events(self, message: m.Events, host_ns: int) -> Iterator[SessionEvent]:
        known = self._next_seq - message.first_seq
        if known < 0:
            self._counts["early_frames"] += 1
            self._request_replay(host_ns)
            return
        self._counts["duplicate_events"] += len(message.events[:known])
        for timed in message.events[known:]:
            yield Observed(self._next_seq, timed.board_us, timed.event)
            self._counts["events"] += 1
            self._next_seq += 1
            yield from self._release_watermark()

    def _hear_heartbeat(self, beat: m.Heartbeat, host_ns: int) -> Iterator[SessionEvent]:
        yield from self._skip_lost(beat.oldest_seq)
        if beat.next_seq < self._next_seq:  # late on a line that reorders, or a reset under the same boot id: ask
            self._due_ns.setdefault(self._say_hello, host_ns)
        elif beat.board_us > (self._waiting.board_us if self._waiting else self._watermark_us):
            self.heartbeat = self._waiting = beat
            yield from self._release_watermark()
        if beat.sent_seq > self._next_seq:
            self._request_replay(host_ns)
        if beat.acked_seq < self._safe_seq:
            self._due_ns.setdefault(self._send_ack, self._ack_after_ns)

    def _hear_sync(self, reply: m.SyncReply, host_ns: int) -> Iterator[SessionEvent]:
        if reply.token != self._sync_sent_ns:
            self._counts["unasked"] += 1
            return
        self._sync_sent_ns = None
        yield SyncSample(reply.token, host_ns, reply.board_rx_us, reply.board_tx_us)

    def _hear_self_test(self, result: m.SelfTestResult) -> Iterator[SessionEvent]:
        if result.token != self._test_token or self._ask_self_test not in self._due_ns:
            self._counts["unasked"] += 1
            return
        del self._due_ns[self._ask_self_test]
        yield SelfTested(result.board_us, result.sensors)

    def _skip_lost(self, oldest_seq: int) -> Iterator[SessionEvent]:
        first_seq = self._next_seq
        if oldest_seq > first_seq:
            self._next_seq = oldest_seq
            yield Gap(first_seq, oldest_seq - 1)
            yield from self._release_watermark()

    def _release_watermark(self) -> Iterator[SessionEvent]:
        if self._waiting and self._waiting.next_seq <= self._next_seq:
            self._watermark_us = self._waiting.board_us
            self._waiting = None
            yield Watermark(self._watermark_us)

    # What the host says

    def _say_hello(self, host_ns: int) -> None:
        """A delimiter first: whatever stands half sent on the line ends here."""
        self._counts["hellos"] += 1
        self._hello_seq = self._next_seq if self._hello_seq is None else self._hello_seq
        self._outgoing += DELIMITER
        self._send(m.Hello(self._hello_token))
        self._due_ns[self._say_hello] = host_ns + HELLO_RETRY_NS

    def _request_replay(self, host_ns: int) -> None:
        """Once for each place where something is missing; the repetition is paced."""
        if self._replay_from != self._next_seq:
            self._replay_from = self._next_seq
            self._send_replay(host_ns)

    def _send_replay(self, host_ns: int) -> None:
        if self._replay_from != self._next_seq:
            self._replay_from = None
            return
        self._counts["replay_requests"] += 1
        self._send(m.Replay(self._boot_id, self._next_seq))
        self._due_ns[self._send_replay] = host_ns + REPLAY_RETRY_NS

    def _send_ack(self, host_ns: int) -> None:
        self._send(m.Ack(self._boot_id, self._safe_seq))
        self._ack_after_ns = host_ns + ACK_INTERVAL_NS

    def _ask_time(self, host_ns: int) -> None:
        """The token is the time itself: no two requests of this host share one, whichever process made them."""
        self._sync_sent_ns = host_ns
        self._send(m.SyncRequest(host_ns))
        self._sync_burst = max(0, self._sync_burst - 1)
        self._due_ns[self._ask_time] = host_ns + (SYNC_BURST_INTERVAL_NS if self._sync_burst else SYNC_INTERVAL_NS)

    def _ask_self_test(self, host_ns: int) -> None:
        if self.identity is not None:
            self._send(m.SelfTestRequest(self._test_token))
        self._due_ns[self._ask_self_test] = host_ns + SELF_TEST_RETRY_NS
