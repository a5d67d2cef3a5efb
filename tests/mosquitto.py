"""A real mosquitto on a random loopback port, for tests. It is required: without it these tests fail, not skip."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from hw_sim import child
from hw_sim.broker import program

free_port = child.free_port
READY_S_MAX = 20.0
"""A broker starts in milliseconds; on a loaded machine in a few seconds."""


class Mosquitto:
    """One broker that can be started, stopped, killed and started again on the same port. Keeps nothing on disk.

    `log_type`: what it logs; all of a flood would cost more than the flood. `environment`: what it has besides ours.
    """

    def __init__(
        self, directory: Path, *extra: str, log_type: str = "all", environment: Mapping[str, str] | None = None
    ) -> None:
        self.port = free_port()
        self.log: list[str] = []
        self._config = directory / f"mosquitto-{self.port}.conf"
        self._extra, self._log_type, self._environment = extra, log_type, environment or {}
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._ready = threading.Event()
        self.configure(*extra)

    def configure(self, *extra: str) -> None:
        """Write the configuration; `extra` lines may name an acl_file, a password_file or another listener."""
        lines = [
            "log_dest stderr",
            f"log_type {self._log_type}",
            *([] if "persistence true" in extra else ["persistence false"]),
            *(["user root"] if os.geteuid() == 0 else []),
            *([] if any(line.startswith("password_file") for line in extra) else ["allow_anonymous true"]),
            f"listener {self.port} 127.0.0.1",
            *extra,
        ]
        self._config.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def start(self) -> Self:
        """Start it and return when it listens."""
        self._ready.clear()
        self._process = subprocess.Popen(
            [program(), "-c", str(self._config)],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=os.environ | self._environment,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        if not self._ready.wait(READY_S_MAX) or self._process.poll() is not None:
            self.kill()
            raise AssertionError("mosquitto did not start:\n" + "\n".join(self.log))
        return self

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """An orderly end."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Gone in the middle of whatever it did."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Connections stay, nothing answers any more; `kill` and `resume` still work."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """End a pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def reload(self) -> None:
        """Read access lists and passwords again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.log.append(line.rstrip())
            if line.rstrip().endswith("running"):
                self._ready.set()
        self._ready.set()  # It ended: the waiting test reads the log.

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait(READY_S_MAX)
        if self._reader is not None:
            self._reader.join(READY_S_MAX)
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._process = None
