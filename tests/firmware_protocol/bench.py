"""What the session tests share: an identity to vary and frames to hand to the session."""

from __future__ import annotations

from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.host import HostSession, Identified, SessionEvent
from firmware_protocol.wire import decode_from_host, encode


class Bench:
    """A session with its line on the desk: what the board says goes in as messages, what the host says comes out so."""

    def __init__(self, session: HostSession) -> None:
        self.session = session
        self.now_ns = 0
        self._decoder = FrameDecoder()

    def board_says(self, *messages: m.FromBoard) -> list[SessionEvent]:
        return self.session.receive(b"".join(encode_frame(encode(one)) for one in messages), self.now_ns)

    def host_says(self, after_ns: int = 0) -> list[m.FromHost]:
        self.now_ns += after_ns
        self.session.tick(self.now_ns)
        return [decode_from_host(frame) for frame in self._decoder.feed(self.session.data_to_send())]

    def identify(self, identity: m.Identity) -> list[SessionEvent]:
        """Answer the hello that the session has just said, and let the first time request go by."""
        events = self.board_says(identity)
        assert Identified(identity) in events
        self.host_says()
        return events


def identity_of(**changes: object) -> m.Identity:
    fields: dict[str, object] = {
        "token": 7,
        "version": 1,
        "version_min": 1,
        "version_max": 1,
        "boot_id": 5,
        "oldest_seq": 0,
        "acked_seq": 0,
        "next_seq": 0,
        "serial": "WB-0001",
        "firmware": "1.0.0",
        "config_hash": "00112233aabbccdd",
        "ring_events": 768,
        "top_rate": 512,
        "layout": m.Layout(4, 3, 148, True),
    }
    return m.Identity(**(fields | changes))  # type: ignore[arg-type]


def balls(first_seq: int, count: int, boot_id: int = 5) -> m.Events:
    """Events whose time and beam follow from their number."""
    return m.Events(boot_id, first_seq, tuple(timed_ball(seq) for seq in range(first_seq, first_seq + count)))


def timed_ball(seq: int) -> m.TimedEvent:
    return m.TimedEvent(1000 * seq, m.BallPass(seq % 4))


def beat(board_us: int, next_seq: int, boot_id: int = 5, **changes: int) -> m.Heartbeat:
    fields: dict[str, Any] = {"oldest_seq": 0, "acked_seq": 0, "sent_seq": next_seq} | changes
    return m.Heartbeat(boot_id, board_us, next_seq=next_seq, **fields)


def fresh_bench() -> Bench:
    """A session that has said hello with token 7."""
    bench = Bench(HostSession(7))
    assert bench.host_says() == [m.Hello(7)]
    return bench
