"""The log: one JSON object a line on standard error, and for journald its priority before it.

With the priority `journalctl -p warning` finds what matters. Source: sd-daemon(3) for the prefixes, systemd.exec(5)
for JOURNAL_STREAM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import msgspec
import structlog

_PRIORITIES = {"critical": b"<2>", "error": b"<3>", "warning": b"<4>", "info": b"<6>", "debug": b"<7>"}


def log_to_stderr(level: str) -> None:
    """Log directly to standard error: through `logging` a line would cost four times as much."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(
                serializer=_to_journal if is_journal(sys.stderr.fileno(), os.environ) else _to_json
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
    )


def is_journal(fd: int, environment: Mapping[str, str]) -> bool:
    """Whether the file at `fd` is the stream to journald that systemd made, and was not redirected since."""
    stream = environment.get("JOURNAL_STREAM", "")
    try:
        status = os.fstat(fd)
    except OSError:
        return False
    return stream == f"{status.st_dev}:{status.st_ino}"


def _to_json(event: object, **_: object) -> bytes:
    return msgspec.json.encode(event, enc_hook=str)


def _to_journal(event: dict[str, object], **_: object) -> bytes:
    return _PRIORITIES[str(event["level"])] + _to_json(event)
