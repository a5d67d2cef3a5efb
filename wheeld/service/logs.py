"""The log: one JSON object for each line on standard error. For journald, each line begins with its priority.

With the priority, `journalctl -p warning` finds what matters. Source: sd-daemon(3) for the prefixes, systemd.exec(5)
for JOURNAL_STREAM. What a library gives to `logging`, a warning of Python and an uncaught error become lines of the
same form: the event `library`, with the library's name.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from types import TracebackType

import msgspec
import structlog

_PRIORITIES = {"critical": b"<2>", "error": b"<3>", "warning": b"<4>", "info": b"<6>", "debug": b"<7>"}


def log_to_stderr(level: str) -> None:
    """Log directly to standard error. Through `logging`, a line would take four times as long."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            # Show no values of variables, because some are passwords, keys and sessions.
            structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(
                serializer=_to_journal if is_journal(sys.stderr.fileno(), os.environ) else _to_json
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
    )
    logging.root.handlers = [_Libraries()]
    logging.root.setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    sys.excepthook = _tell_uncaught
    threading.excepthook = _tell_uncaught_in_thread
    sys.unraisablehook = _tell_unraisable


class _Libraries(logging.Handler):
    """Writes each message of a library as a line of our log: the event `library`, with its name and the message."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # the arguments do not fit the message: log both as they are
            text = f"{record.msg} {record.args}"
        log = structlog.get_logger("library")
        log.log(record.levelno, "library", library=record.name, text=text, exc_info=record.exc_info or None)


def _tell_uncaught(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    structlog.get_logger("library").critical(
        "library", library="python", text="an unexpected error ends the program", exc_info=error
    )


def _tell_uncaught_in_thread(seen: threading.ExceptHookArgs) -> None:
    name = "?" if seen.thread is None else seen.thread.name
    text = f"an unexpected error ends the thread {name}"
    structlog.get_logger("library").error("library", library="python", text=text, exc_info=seen.exc_value)


def _tell_unraisable(seen: sys.UnraisableHookArgs) -> None:
    text = f"{seen.err_msg or 'an error is lost in'}: {seen.object!r}"
    structlog.get_logger("library").error("library", library="python", text=text, exc_info=seen.exc_value)


def is_journal(fd: int, environment: Mapping[str, str]) -> bool:
    """Return whether the file at `fd` is the stream to journald that systemd opened, and was not redirected."""
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
