"""A board that a test scripts, joined to the `Board` under test on one virtual time, in place of a firmware."""

from __future__ import annotations

import random

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder, encode_frame
from firmware_protocol.host import Position
from firmware_protocol.wire import decode_from_host, encode
from tests.core.evening import FRENCH
from wheeld.core.observations import ClockReading, Level, Observation, TimePassed
from wheeld.core.setting import TableSetting
from wheeld.sources.board.board import Board
from wheeld.sources.board.setting import BoardSetting
from wheeld.sources.clock import UtcPair

UTC_AT_0_US = 1_800_000_000_000_000
LAYOUT = m.Layout(beams=4, readers=3, rotor_ticks=148, object_sensor=True)
SETTING = BoardSetting(port="/dev/ttyACM0")
TABLE = FRENCH
"""Four beams, three readers, 148 ticks, as the board's layout."""


class Bench:
    """Host and board side by side. `seen` is all that came of it, in order; times are host milliseconds from 0.

    `mute`: the board sends nothing. `mute_beats`: it sends no heartbeats, else one each `beat_ms`. `withholds`: it
    sends no events. `deaf_to`: kinds of request it does not answer. `lost`: all that it sends is lost; `loses`: kinds
    of message that are lost. `wraps_us`: its clock begins again there. `drift_ppm`: how much too fast its clock is.
    `noise`: bytes that mean nothing come all the time, drawn from it.
    """

    def __init__(
        self,
        setting: BoardSetting = SETTING,
        table: TableSetting = TABLE,
        *,
        board_started_ms: int = -60_000,
        resume_at: Position | None = None,
    ) -> None:
        self.host_ms = 0
        self.table = table
        self.seen: list[Observation] = []
        self.board = Board(setting, table, hello_token=7, host_ns=0, resume_at=resume_at)
        self.mute = self.lost = self.mute_beats = self.withholds = False
        self.beat_ms = 100
        self.ring_events = 768
        self.standing = m.Levels(object="clear")
        self.deaf_to: tuple[type[m.FromHost], ...] = ()
        self.loses: tuple[type[m.FromBoard], ...] = ()
        self.wraps_us: int | None = None
        self.drift_ppm = 0
        self.noise: random.Random | None = None
        self.layout = LAYOUT
        self.serial = "B-1"
        self.sensors = [m.SensorReport("beam", 0, ok=True), m.SensorReport("object", 0, ok=True)]
        self.acked: list[int] = []
        self.boot(1, board_started_ms)

    def boot(self, boot_id: int, started_ms: int | None = None) -> None:
        """The board starts anew: its clock and its event numbers begin again."""
        self.boot_id = boot_id
        self.started_ms = self.host_ms if started_ms is None else started_ms
        self.ring: list[m.TimedEvent] = []
        self.oldest_seq = 0
        self.sent_seq = 0
        self.missed_edges = 0
        self._decoder = FrameDecoder()

    @property
    def board_us(self) -> int:
        age_ms = self.host_ms - self.started_ms
        true_us = age_ms * 1_000 + age_ms * self.drift_ppm // 1_000
        return true_us if self.wraps_us is None else true_us % self.wraps_us

    def event(self, event: m.Event, *, ago_ms: int = 0) -> None:
        """Something is sensed; it leaves with the next run."""
        self.ring.append(m.TimedEvent(self.board_us - ago_ms * 1_000, event))

    def run(self, ms: int) -> None:
        """Let time pass, 10 ms a step."""
        for _ in range(0, ms, 10):
            self.host_ms += 10
            self._keep(self.board.tick(self.host_ms * 1_000_000))
            self._board_receives(self.board.data_to_send())
            self._send_events()
            if self.noise is not None:
                self._hear(self.noise.randbytes(10))
            if self.host_ms % self.beat_ms == 0 and not self.mute_beats:
                numbers = self.oldest_seq, 0, self.sent_seq, self.next_seq
                beat = m.Heartbeat(
                    self.boot_id, self.board_us, *numbers, missed_edges=self.missed_edges, levels=self.standing
                )
                self.send(beat)

    @property
    def next_seq(self) -> int:
        return self.oldest_seq + len(self.ring)

    def send(self, message: m.FromBoard) -> None:
        """One message of the board reaches the host now."""
        if self.mute or self.lost or isinstance(message, self.loses):
            return
        self._hear(encode_frame(encode(message)))

    def _hear(self, data: bytes) -> None:
        host_ns = self.host_ms * 1_000_000
        utc = UtcPair(host_ns, UTC_AT_0_US + self.host_ms * 1_000, 1)
        self._keep(self.board.receive(data, host_ns, utc))

    def plain(self) -> list[Observation]:
        """What was observed, without the passing of time, the clock's readings, and how everything stands."""
        return [seen for seen in self.seen if not isinstance(seen, TimePassed | ClockReading | Level)]

    def levels(self) -> list[Level]:
        """How everything stands, as it was told."""
        return [seen for seen in self.seen if isinstance(seen, Level)]

    def _keep(self, observations: list[Observation]) -> None:
        for seen in observations:
            assert not self.seen or seen.t_us >= self.seen[-1].t_us, f"{seen} after {self.seen[-1]}"
            self.seen.append(seen)
        position = self.board.position
        if observations and position is not None:
            self.board.acknowledge(position)

    def _send_events(self) -> None:
        if self.mute or self.withholds:
            return
        start = self.sent_seq - self.oldest_seq
        for first in range(start, len(self.ring), m.EVENTS_MAX):
            whole = self.ring[first : first + m.EVENTS_MAX]
            frame = [timed for timed in whole if timed.board_us >= whole[0].board_us]
            self.send(m.Events(self.boot_id, self.oldest_seq + first, tuple(frame)))
        self.sent_seq = self.next_seq

    def _board_receives(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            message = decode_from_host(frame)
            if not isinstance(message, self.deaf_to):
                self._answer(message)

    def _answer(self, message: m.FromHost) -> None:
        match message:
            case m.Hello(token):
                self.send(
                    m.Identity(
                        token=token, version=1, version_min=1, version_max=1, boot_id=self.boot_id,
                        oldest_seq=self.oldest_seq, acked_seq=self.oldest_seq, next_seq=self.next_seq,
                        serial=self.serial, firmware="1.0", config_hash="0123456789abcdef",
                        ring_events=self.ring_events, top_rate=512, layout=self.layout,
                    )
                )  # fmt: skip
            case m.SyncRequest(token):
                self.send(m.SyncReply(self.boot_id, token, self.board_us, self.board_us))
            case m.SelfTestRequest(token):
                self.send(m.SelfTestResult(self.boot_id, token, self.board_us, tuple(self.sensors)))
            case m.Replay(_, from_seq):
                self.sent_seq = from_seq
            case m.Ack(_, next_seq):
                self.acked.append(next_seq)
