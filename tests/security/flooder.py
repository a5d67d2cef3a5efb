"""Floods a topic of a broker over TLS: raw MQTT 3.1.1 packets in batches, for no client library is fast enough. QoS 1.

`python -m tests.security.flooder PORT CA CERTIFICATE KEY TOPIC PER_S SECONDS KIND` prints how many it sent.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

from wheeld.broker.tls import TlsFiles

BATCH_S = 0.01
"""So many seconds' worth of packets are sent at once."""
WRONG_COUP = 1_000_000
"""The table refuses what is said of another coup than the present one: a flood must not stop the play beside it."""


def payload_of(kind: str, number: int) -> bytes:
    """What one message holds."""
    if kind == "ack":
        return b'{"seq":%d}' % (number % 3)
    if kind == "garbage":
        return b"[" * 200
    asked: dict[str, object] = {"id": f"flood-{number}", "by": "flood", "reason": "a flood"}
    asked |= {"from_seq": 1} if kind == "resend" else {"coup": WRONG_COUP}
    asked |= {"who": "Anna"} if kind == "bouler" else {}
    return json.dumps(asked).encode()


def _length(size: int) -> bytes:
    return bytes((size,)) if size < 0x80 else bytes((size & 0x7F | 0x80, size >> 7))


def _packet(first: int, body: bytes) -> bytes:
    return bytes((first,)) + _length(len(body)) + body


def _text(text: bytes) -> bytes:
    return struct.pack(">H", len(text)) + text


def _publish(topic: bytes, payload: bytes, number: int) -> bytes:
    return _packet(0x32, _text(topic) + struct.pack(">H", number % 65_535 + 1) + payload)


def _drain(connection: socket.socket) -> None:
    """Read what the broker confirms, or it would stop reading."""
    try:
        while connection.recv(1 << 16):
            pass
    except (BlockingIOError, ssl.SSLWantReadError):
        return
    raise ConnectionError("the broker ended the connection")


def flood(port: int, files: TlsFiles, topic: str, per_s: int, seconds: float, payload: Callable[[int], bytes]) -> int:
    """Send that many messages a second for so long, or as many as the broker takes; returns how many it were."""
    name, host = topic.encode(), "127.0.0.1"
    with (
        socket.create_connection((host, port)) as plain,
        files.context().wrap_socket(plain, server_hostname=host) as connection,
    ):
        connection.sendall(_packet(0x10, _text(b"MQTT") + b"\x04\x02\x00\x3c" + _text(b"flooder")))
        connection.recv(4)
        began_s, next_due, sent, size = time.monotonic(), 0, 0, round(per_s * BATCH_S)
        while (passed_s := time.monotonic() - began_s) < seconds:
            batch_due = int(passed_s / BATCH_S)
            if batch_due < next_due:
                time.sleep(BATCH_S / 4)
                continue
            # After a stall of this computer it makes up for a tenth of a second at most: more were another flood.
            next_due = max(next_due, batch_due - 10) + 1
            connection.setblocking(True)
            connection.sendall(b"".join(_publish(name, payload(sent + each), sent + each) for each in range(size)))
            connection.setblocking(False)
            _drain(connection)
            sent += size
    return sent


if __name__ == "__main__":
    _port, _ca, _certificate, _key, _topic, _per_s, _seconds, _kind = sys.argv[1:]
    _files = TlsFiles(Path(_ca), Path(_certificate), Path(_key))
    _payload = lambda number: payload_of(_kind, number)  # noqa: E731
    sys.stdout.write(str(flood(int(_port), _files, _topic, int(_per_s), float(_seconds), _payload)))
