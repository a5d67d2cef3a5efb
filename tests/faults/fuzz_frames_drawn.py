"""The bytes on the line: a board that answers the host, among frames that are malformed in every way there is.

Messages are packed here from the tables of firmware_protocol/README.md, so that this code does not share a fault of
`wire`.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable

from cobs import cobs  # type: ignore[import-untyped]

from firmware_protocol import messages as m
from firmware_protocol.codec import FrameDecoder
from firmware_protocol.wire import decode_from_host
from tests.faults.fuzz_specification import SIZES

BATCH = 128
"""Malformed frames between two looks at the clock."""
BOOT = 5
RING = struct.pack("<HH", 768, 512)
LAYOUT = struct.pack("<BBHBB", 4, 3, 148, 1, 1)
TYPES = (0x81, 0x82, 0x83, 0x84, 0x85)
BODY_MAX = 248
"""249 bytes of message, less its type."""


def framed(message: bytes, crc: int | None = None) -> bytes:
    """The message as a sender puts it on the wire, without the delimiter; with another CRC when one is given."""
    check = zlib.crc32(message) if crc is None else crc
    encoded: bytes = cobs.encode(message + check.to_bytes(4, "little"))
    return encoded


class Sender:
    """A working board: it answers each request, and sends events one after the other."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.boot_id, self.seq, self.now_us = BOOT, 0, 0
        self.answers: list[bytes] = []
        self._decoder = FrameDecoder()

    def receive(self, data: bytes) -> None:
        """Take requests of the host; they are answered in the next stream."""
        for frame in self._decoder.feed(data):
            message = decode_from_host(frame)
            if isinstance(message, m.Hello):
                self.answers.append(self.identity(message.token))
            elif isinstance(message, m.SyncRequest):
                now = struct.pack("<QQ", self.now_us + 1000, self.now_us + 1040)
                self.answers.append(b"\x84" + struct.pack("<IQ", self.boot_id, message.token) + now)
            elif isinstance(message, m.SelfTestRequest):
                head = struct.pack("<IIQ", self.boot_id, message.token, self.now_us)
                self.answers.append(b"\x85" + head + struct.pack("<BBH", 0, self.rng.random() < 0.9, 1))

    def identity(self, token: int) -> bytes:
        """An Identity; sometimes of a board that has just started again, or that has another layout."""
        draw = self.rng.random()
        if draw < 0.05:
            self.boot_id, self.seq, self.now_us = self.boot_id + 1, 0, 0
        head = struct.pack("<IBBBIQQQ", token, draw < 0.98, 1, 1, self.boot_id, 0, 0, self.seq)
        layout = LAYOUT if draw < 0.95 else struct.pack("<BBHBB", 4, 3, 147, 1, 1)
        return b"\x81" + head + b"WB-0001".ljust(16, b"\0") + b"1.0.0".ljust(16, b"\0") + bytes(8) + RING + layout

    def next_messages(self) -> list[bytes]:
        """Messages of the next 30 ms: answers, events, a heartbeat."""
        self.now_us += 30_000
        messages, self.answers = self.answers, []
        if self.rng.random() < 0.7:
            messages.append(self.events(1 + int(self.rng.random() * 28)))
        if self.rng.random() < 0.5:
            numbers = self.boot_id, self.now_us, 0, 0, self.seq, self.seq, 0, 0, 0
            levels = 0, 0, 0, int(self.rng.random() * 3), int(self.rng.random() * 3)
            messages.append(b"\x83" + struct.pack("<IQQQQQIIIHHHBB", *numbers, *levels))
        return messages

    def events(self, count: int) -> bytes:
        """The next events."""
        body = struct.pack("<IQQ", self.boot_id, self.seq, self.now_us - 30_000)
        for place in range(count):
            body += struct.pack("<I", place * 1000) + self._event()
        self.seq += count
        return b"\x82" + body

    def _event(self) -> bytes:
        kind = 1 + int(self.rng.random() * 8)
        value = int(self.rng.random() * {1: 2, 4: 2, 5: 4, 6: 4, 7: 9, 8: 2}.get(kind, 1))
        return struct.pack("<BBH", kind, value, int(self.rng.random() * {1: 148, 2: 4, 3: 3}.get(kind, 1)))


class Draw:
    """Draws streams. `sent` has what was really sent in the last stream: piece between delimiters → message."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sent: dict[bytes, bytes] = {}
        self.malformed: Counter[str] = Counter()
        other = Sender(rng)
        other.boot_id = BOOT - 1
        self._old = [one for _ in range(40) for one in (other.identity(3), *other.next_messages())]
        self._base: list[bytes] = self._old
        self._ways: list[Callable[[Sender], bytes | None]] = [
            self._flip, self._overwrite, self._cut, self._merge, self._insert, self._crc, self._splice, self._noise,
            self._oversize, self._short, self._unknown, self._length, self._senseless, self._extreme, self._jump,
            self._replay,
        ]  # fmt: skip

    def stream(self, sender: Sender) -> bytes:
        """The sender's messages among `BATCH` malformed frames, ended by a delimiter."""
        intact = sender.next_messages()
        self._base = [*intact, *self.rng.choices(self._old, k=8)]
        # Damage beside a frame may leave it whole: an inserted delimiter, a cut between two.
        self.sent = {framed(message): message for message in self._base}
        waiting = [self._intact(message) + b"\0" for message in intact]
        random_ = self.rng.random
        frames = []
        drawn = 0
        while drawn < BATCH:
            way = self._ways[int(random_() * len(self._ways))]
            frame = way(sender)
            if frame is not None:
                drawn += 1
                self.malformed[way.__name__[1:]] += 1
                frames.append(frame)
            if waiting and random_() < 0.1:
                frames.append(waiting.pop(0))
        return b"".join((*frames, *waiting, b"\0"))

    # --- a line that damages ------------------------------------------------------------------------------------
    # A whole frame with its delimiter comes back, or None when the damage happened to change nothing.

    def _flip(self, _: Sender) -> bytes:
        frame = bytearray(self._frame())
        for at in self.rng.sample(range(len(frame) * 8), 1 + int(self.rng.random() * 4)):
            frame[at >> 3] ^= 1 << (at & 7)
        return bytes(frame)

    def _overwrite(self, _: Sender) -> bytes | None:
        frame = self._frame()
        start, size = self._part(frame, 4)
        changed = frame[:start] + self.rng.randbytes(size) + frame[start + size :]
        return None if changed == frame else changed

    def _cut(self, _: Sender) -> bytes:
        frame = self._frame()
        start, size = self._part(frame, len(frame))
        return frame[:start] + frame[start + size :]

    def _merge(self, _: Sender) -> bytes:
        return self._frame()[:-1] + self._frame()

    def _insert(self, _: Sender) -> bytes:
        frame = self._frame()
        start, size = self._part(frame, 8)
        return frame[:start] + self.rng.randbytes(size) + frame[start:]

    def _crc(self, _: Sender) -> bytes:
        message = self._message()
        return framed(message, zlib.crc32(message) ^ (1 + self.rng.getrandbits(32)) % 2**32) + b"\0"

    def _splice(self, _: Sender) -> bytes | None:
        one, other = self._frame(), self._frame()
        spliced = one[: int(self.rng.random() * len(one))] + other[int(self.rng.random() * len(other)) :]
        return None if spliced in (one, other) else spliced

    def _noise(self, _: Sender) -> bytes:
        return self.rng.randbytes(1 + int(self.rng.random() * 400)) + b"\0"

    def _oversize(self, _: Sender) -> bytes:
        """A good frame, but longer than any message may be."""
        return framed(self._message() + bytes([7]) * (BODY_MAX + 1)) + b"\0"

    def _short(self, _: Sender) -> bytes:
        """Only a CRC, or less than a CRC: four zero bytes are the CRC-32 of no bytes."""
        encoded: bytes = cobs.encode(bytes(int(self.rng.random() * 5)))
        return encoded + b"\0"

    # --- a sender that is wrong: the CRC is right ---------------------------------------------------------------

    def _unknown(self, _: Sender) -> bytes:
        kind = self.rng.getrandbits(8)
        return self._good_frame(bytes([kind ^ 0x20 if kind in TYPES else kind]) + self.rng.randbytes(self._size()))

    def _length(self, _: Sender) -> bytes:
        message = self._message()
        by = 1 + int(self.rng.random() * 12)
        return self._good_frame(
            message + self.rng.randbytes(by) if self.rng.random() < 0.5 else message[:-by] or message[:1]
        )

    def _senseless(self, _: Sender) -> bytes:
        kind = self.rng.choice(TYPES)
        size = SIZES.get(kind) or (20 if kind == 0x82 else 16) + self._size() // 8 * 8
        return self._good_frame(bytes([kind]) + self.rng.randbytes(min(size, BODY_MAX)))

    def _extreme(self, _: Sender) -> bytes:
        """One to eight bytes of a good message are all ones, all zeros, or anything."""
        message = self._message()
        start, size = self._part(message, 8)
        fill = self.rng.choice((b"\xff" * size, bytes(size), self.rng.randbytes(size)))
        return self._good_frame(message[:start] + fill + message[start + size :])

    def _jump(self, sender: Sender) -> bytes:
        """Events of this boot whose number or time is far away."""
        seq, at_us = (self.rng.getrandbits(int(self.rng.random() * 64)) for _ in range(2))
        if self.rng.random() < 0.5:
            seq = max(0, sender.seq - 200) + int(self.rng.random() * 400)
        record = bytes(4) + struct.pack("<BBH", 2, 0, int(self.rng.random() * 4))
        return self._good_frame(b"\x82" + struct.pack("<IQQ", sender.boot_id, seq, at_us) + record)

    def _replay(self, _: Sender) -> bytes:
        """A message that was good once: of another boot, or an answer to another hello."""
        return self._good_frame(self.rng.choice(self._old))

    # --- parts --------------------------------------------------------------------------------------------------

    def _message(self) -> bytes:
        return self._base[int(self.rng.random() * len(self._base))]

    def _frame(self) -> bytes:
        return framed(self._message()) + b"\0"

    def _intact(self, message: bytes) -> bytes:
        frame = framed(message)
        self.sent[frame] = message
        return frame

    def _good_frame(self, message: bytes) -> bytes:
        """A frame with the right CRC: it comes out of the decoder, though its message may be refused later."""
        return self._intact(message[: BODY_MAX + 1]) + b"\0"

    def _size(self) -> int:
        return int(self.rng.random() * 230)

    def _part(self, data: bytes, most: int) -> tuple[int, int]:
        start = int(self.rng.random() * len(data))
        return start, 1 + int(self.rng.random() * min(most, len(data) - start))
