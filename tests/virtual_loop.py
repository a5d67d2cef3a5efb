"""An event loop on virtual time: where it would wait, time has passed."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, Protocol, cast


class Time(Protocol):
    """What passes while nobody has anything to do."""

    def now_s(self) -> float: ...

    def pass_s(self, seconds: float | None, woken: Callable[[], object]) -> None:
        """Let so much time pass (None: without end), or less, to where `woken` is true."""
        ...


class Skipping:
    """Time in which nothing happens by itself."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def now_s(self) -> float:
        return self._now_s

    def pass_s(self, seconds: float | None, woken: Callable[[], object]) -> None:
        if seconds is None:
            raise AssertionError("everybody waits, and nothing will ever happen")
        self._now_s += seconds


class _Selector(selectors.SelectSelector):
    """Waits in virtual time; there are no files to wait for."""

    waits: Callable[[float | None], None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self.waits(timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Signals come by `raise_signal`; another thread has no way in."""

    def __init__(self, time: Time | None = None) -> None:
        selector = _Selector()
        super().__init__(selector)
        self.time_source: Time = time or Skipping()
        self._handlers: dict[int, Callable[[], object]] = {}
        ready = cast("Any", self)._ready
        selector.waits = lambda timeout: self.time_source.pass_s(timeout, lambda: ready)

    def time(self) -> float:
        return self.time_source.now_s()

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:  # type: ignore[override]
        self._handlers[sig] = lambda: callback(*args)

    def raise_signal(self, number: int) -> None:
        """As if the process got it; one that nobody handles yet is lost."""
        self.call_soon(self._handlers.get(number, lambda: None))

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any, **more: Any) -> asyncio.Handle:  # type: ignore[override]
        return self.call_soon(callback, *args, **more)
