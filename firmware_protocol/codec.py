"""Frames on the wire: COBS, a CRC-32 and a zero byte between them. What they mean is in `messages`.

Specification: `README.md` beside this file. Built-ins do all work per byte: a loop in Python over the bytes of a
115200-baud line costs ten to twenty times as much.
"""

from __future__ import annotations

import zlib
from typing import Literal, TypeAlias

from cobs import cobs  # type: ignore[import-untyped]

Rejection: TypeAlias = Literal["too_long", "cobs", "crc", "short"]

DELIMITER = b"\x00"
CRC_BYTES = 4
MESSAGE_BYTES_MAX = 249
"""With its CRC a frame is 253 bytes: below 254 COBS has one form only, and encoded it fits a 256-byte buffer."""
ENCODED_BYTES_MAX = MESSAGE_BYTES_MAX + CRC_BYTES + 1
"""COBS adds exactly one byte to anything shorter than 254; the delimiter is not counted."""


class FrameError(ValueError):
    """These bytes are no frame, for `cause`: the line damaged them, or the sender is no board."""

    def __init__(self, cause: Rejection) -> None:
        super().__init__(f"not a frame: {cause}")
        self.cause = cause


def encode_frame(message: bytes) -> bytes:
    """The bytes on the wire for `message` (1…249 bytes), delimiter included.

    Raises ValueError when the message is empty or too long: the caller is at fault.
    """
    if not 1 <= len(message) <= MESSAGE_BYTES_MAX:
        raise ValueError(f"a message has 1 to {MESSAGE_BYTES_MAX} bytes, this one {len(message)}")
    encoded: bytes = cobs.encode(message + _crc(message))
    return encoded + DELIMITER


def decode_frame(encoded: bytes) -> bytes:
    """The message in one frame without its delimiter; the CRC is checked. Raises FrameError."""
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

    Holds at most one unfinished frame. What is no frame is dropped and counted by cause in `rejected`; the next
    delimiter begins a new frame, so a fault costs only the frames it touches. Empty frames are not counted: a sender
    may send delimiters wherever it wants to clear the line.
    """

    def __init__(self) -> None:
        self.rejected: dict[str, int] = {"too_long": 0, "cobs": 0, "crc": 0, "short": 0}
        self._tail = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """The messages completed by `data`, checked and without their CRC, oldest first."""
        *frames, self._tail = (self._tail + data).split(DELIMITER)
        if frames and self._skipping:
            del frames[0]
            self._skipping = False
        self._bound_tail()
        return [message for frame in frames if frame and (message := self._open(frame)) is not None]

    def reset(self) -> None:
        """Drop the unfinished frame: the line was closed, and what follows belongs to another connection."""
        self._tail, self._skipping = b"", False

    def _bound_tail(self) -> None:
        if len(self._tail) > ENCODED_BYTES_MAX and not self._skipping:
            self.rejected["too_long"] += 1
            self._skipping = True
        if self._skipping:
            self._tail = b""

    def _open(self, frame: bytes) -> bytes | None:
        try:
            return decode_frame(frame)
        except FrameError as error:
            self.rejected[error.cause] += 1
            return None
