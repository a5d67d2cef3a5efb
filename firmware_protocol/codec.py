"""Frames on the wire: COBS, a CRC-32, and a zero byte between frames. `messages` defines what they contain.

The specification is `README.md` in this directory. Built-in functions do all work on single bytes: a loop in Python
over the bytes of a 115200-baud line takes ten to twenty times as long.
"""

from __future__ import annotations

import zlib
from typing import Literal, TypeAlias

from cobs import cobs  # type: ignore[import-untyped]

Rejection: TypeAlias = Literal["too_long", "cobs", "crc", "short"]

DELIMITER = b"\x00"
CRC_BYTES = 4
MESSAGE_BYTES_MAX = 249
"""With the CRC this is 253 bytes. Below 254 bytes COBS has only one form, and an encoded frame fits 256 bytes."""
ENCODED_BYTES_MAX = MESSAGE_BYTES_MAX + CRC_BYTES + 1
"""COBS adds exactly one byte to data shorter than 254 bytes. The delimiter is not counted."""


class FrameError(ValueError):
    """The bytes are not a frame, because of `cause`. The line damaged them, or the sender is not a board."""

    def __init__(self, cause: Rejection) -> None:
        super().__init__(f"not a frame: {cause}")
        self.cause = cause


def encode_frame(message: bytes) -> bytes:
    """Return the bytes on the wire for `message` (1 to 249 bytes), with the delimiter.

    Raises ValueError if the message is empty or too long, which is an error of the caller.
    """
    if not 1 <= len(message) <= MESSAGE_BYTES_MAX:
        raise ValueError(f"a message has 1 to {MESSAGE_BYTES_MAX} bytes, this one {len(message)}")
    encoded: bytes = cobs.encode(message + _crc(message))
    return encoded + DELIMITER


def decode_frame(encoded: bytes) -> bytes:
    """Check the CRC and return the message in one frame, which has no delimiter here. Raises FrameError."""
    if len(encoded) > ENCODED_BYTES_MAX:
        raise FrameError("too_long")
    try:
        body: bytes = cobs.decode(encoded)
    except cobs.DecodeError as error:
        raise FrameError("cobs") from error
    message, crc = body[:-CRC_BYTES], body[-CRC_BYTES:]
    if not message:
        raise FrameError("short")
    if crc != _crc(message):
        raise FrameError("crc")
    return message


def _crc(message: bytes) -> bytes:
    return zlib.crc32(message).to_bytes(CRC_BYTES, "little")


class FrameDecoder:
    """Finds the messages in a stream of bytes that arrives in slices of any size.

    The decoder holds at most one unfinished frame. Bytes that are not a frame are dropped and counted by cause in
    `rejected`. The next delimiter begins a new frame, so a fault loses only the frames that it damages. Empty frames
    are not counted, because a sender may send extra delimiters to clear the line.
    """

    def __init__(self) -> None:
        self.rejected: dict[str, int] = {"too_long": 0, "cobs": 0, "crc": 0, "short": 0}
        self._tail = b""
        self._skipping = self._may_be_cut = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that `data` completes, checked and without their CRC, oldest first."""
        *frames, self._tail = (self._tail + data).split(DELIMITER)
        if frames and self._skipping:
            del frames[0]
            self._skipping = False
        if len(self._tail) > ENCODED_BYTES_MAX and not self._skipping:
            self.rejected["too_long"] += 1
            self._skipping = True
        if self._skipping:
            self._tail = b""
        messages: list[bytes] = []
        for frame in filter(None, frames):
            try:
                messages.append(decode_frame(frame))
            except FrameError as error:
                self.rejected[error.cause] += not self._may_be_cut
            self._may_be_cut = False
        return messages

    def reset(self) -> None:
        """Drop the unfinished frame. The line was closed, so the next bytes belong to another connection. They may
        begin within a frame: it is no fault of the line that this one cannot be read."""
        self._tail, self._skipping, self._may_be_cut = b"", False, True
