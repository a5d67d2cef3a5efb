"""Notifies systemd that the daemon is ready, alive or stopping: one datagram each, as in the sd_notify protocol.

Source: sd_notify(3) and sd_watchdog_enabled(3). This is too little code for a library, and an error in it must never
end the daemon.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping

import structlog

READ_S_MAX = 5.0
"""How long `failed` waits for systemd. It reads within milliseconds, unless it is busy, as during a boot."""


class ServiceNotifier:
    """Sends datagrams to the socket named by `NOTIFY_SOCKET`. Does nothing if that is not set."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        # systemd writes an abstract address with a leading @. The kernel expects a leading NUL.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        # `watchdog_s` is the watchdog's period. It is None if systemd does not watch this process.
        period, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", str(os.getpid()))
        is_watched = period.isascii() and period.isdigit() and int(period) != 0 and pid == str(os.getpid())
        self.watchdog_s = int(period) / 1e6 if is_watched else None
        self._log = structlog.get_logger("notify")

    @property
    def has_manager(self) -> bool:
        """Whether a service manager receives the notifications."""
        return bool(self._address)

    def ready(self, status: str) -> None:
        """Report that start-up is finished. `status`: the text that `systemctl status` shows."""
        self._send(f"READY=1\nSTATUS={_line(status)}")

    def status(self, status: str) -> None:
        """Set the text that `systemctl status` shows."""
        self._send(f"STATUS={_line(status)}")

    def failed(self, why: str) -> None:
        """Set the text that `systemctl status` shows, and return when systemd has read it, or after `READ_S_MAX`.

        A process calls this before it ends, because systemd ignores what it reads from a process that has ended. As in
        sd_notify_barrier(3), systemd closes the file that comes with `BARRIER=1` when it has read all that was sent
        before.
        """
        self.stopping()  # otherwise the unit would still be active until the process has ended
        self.status(why)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._send("BARRIER=1", theirs.fileno())
            ours.settimeout(READ_S_MAX)
            with contextlib.suppress(TimeoutError):
                ours.recv(1)

    def alive(self) -> None:
        """Feed the watchdog. Call this at least every `watchdog_s`, better twice in that time."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """Report that the daemon has begun an orderly stop."""
        self._send("STOPPING=1")

    def reloading(self) -> None:
        """Report that the daemon starts again in the same process. `ready` follows."""
        self._send("RELOADING=1")

    def _send(self, text: str, *files: int) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as endpoint:
                # The daemon must not wait for a service manager that does not read.
                endpoint.settimeout(0)
                endpoint.connect(self._address)
                socket.send_fds(endpoint, [text.encode()], files)
        except OSError as error:
            self._log.warning("notify.failed", why=str(error), then="continuing without it")


def _line(text: str) -> str:
    """Return the text on one line. A line break would begin another assignment."""
    return " ".join(text.split())
