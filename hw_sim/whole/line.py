"""The serial line between a simulated device and the daemon's computer: power, plug, wires, and the kernel's buffer."""

from __future__ import annotations

from collections.abc import Callable

from hw_sim.board import SimBoard
from hw_sim.events import SimEvent
from hw_sim.whole.heads import WatchedHead
from hw_sim.whole.timeline import Timeline

BUFFER_BYTES = 4096
"""How many unread bytes the kernel keeps. Further bytes wait in the board."""
LEAST_ROOM_BYTES = 1024
TRAVEL_US = 500


class SimLine:
    """A board or a head, and its line. `wake` wakes a daemon with an open port: bytes came, or the line changed."""

    def __init__(self, timeline: Timeline, board: SimBoard | WatchedHead) -> None:
        self._timeline = timeline
        self.board = board
        self.cable = board.cable
        self.has_power = self.is_plugged = True
        self.hears = self.speaks = True
        """Whether the board receives the host's bytes, and whether the host receives the board's bytes."""
        self.wake: Callable[[], None] | None = None
        self.waiting = bytearray()
        self._planned_us = -1
        self._plan()

    @property
    def is_there(self) -> bool:
        """Whether the computer sees the board's port."""
        return self.has_power and self.is_plugged

    @property
    def is_blind(self) -> bool:
        """Whether no bytes from the board reach the host."""
        return not self.is_there or self.cable.cut or not self.speaks

    def open(self, wake: Callable[[], None]) -> None:
        """Open the port for the daemon. Bytes that came before are lost."""
        self.waiting.clear()
        self.wake = wake
        self._send()

    def write(self, data: bytes) -> None:
        """Take the bytes that the daemon writes."""
        if self.is_there and self.hears:
            self._timeline.at(self._timeline.now_us + TRAVEL_US, lambda: self._arrive(data))

    def read(self) -> bytes:
        """Return the bytes in the kernel's buffer. There may be none."""
        data = bytes(self.waiting)
        self.waiting.clear()
        if len(data) > BUFFER_BYTES - LEAST_ROOM_BYTES:
            self._plan()  # the board has waited for room
        return data

    def feed(self, event: SimEvent) -> None:
        """Pass on an event that happens at the wheel now."""
        self.board.feed(event)
        self._plan()

    # --- faults ------------------------------------------------------------------------------------------------------

    def power(self, *, on: bool) -> None:
        """Cut the board's power, or restore it. With the power the board starts again. Its unsent data is lost."""
        if on and not self.has_power:
            self.board.advance(self._timeline.now_us)
            self.board.reset()
        self.has_power, self.board.silent = on, not on
        self._changed()

    def plug(self, *, is_plugged: bool) -> None:
        """Pull the plug of the line, or put it back. The board keeps its power, which does not come over the line."""
        self.is_plugged = is_plugged
        self._changed()

    def _changed(self) -> None:
        self.waiting.clear()
        if self.wake is not None:
            self.wake()
        self._plan()

    # --- bytes -------------------------------------------------------------------------------------------------------

    def _arrive(self, data: bytes) -> None:
        if self.is_there:
            self.board.advance(self._timeline.now_us)
            self.board.receive(data)
            self._send()

    def _plan(self) -> None:
        """Schedule `_send` for when the board next has something to send."""
        if not self.is_there:
            return
        due_us = max(self.board.wants_us, self._timeline.now_us)
        if due_us < self._planned_us or self._planned_us < self._timeline.now_us:
            self._planned_us = due_us
            self._timeline.at(due_us, self._send)

    def _send(self) -> None:
        if not self.is_there:
            return
        now_us = self._timeline.now_us
        if self._planned_us <= now_us:
            self._planned_us = -1
        self.board.advance(now_us)
        room = BUFFER_BYTES - len(self.waiting)
        if room >= LEAST_ROOM_BYTES:
            data = self.board.data_to_send(room)
            if data and self.speaks:
                self.waiting += data
                if self.wake is not None:
                    self.wake()
            self._plan()
