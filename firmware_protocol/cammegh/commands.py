"""Commands of a SlingShot 2, sent one at a time, and the answers that prove what the wheel did with them.

A wheel answers OK even to settings that it ignores (docs/wheels.md 1.8). So after a setting the wheel is asked for the
value, and only this answer counts.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator

import msgspec

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.status import HeadReply

ANSWER_NS = 1_000_000_000
"""The longest wait for an answer. The recorded answers took 25 to 200 ms."""
END = b"\r"

_REFUSALS = ("NO", "BUSY")
SELF_TEST = {
    0: "good", 1: "hardware", 2: "no ball", 3: "no ball position", 4: "ball direction", 5: "motor", 6: "encoder",
    7: "clockwise game", 8: "anticlockwise game", 100: "time-out",
    **{10 + sensor: f"sensor {sensor} stuck on" for sensor in (1, 2, 3)},
    **{20 + sensor: f"sensor {sensor} stuck off" for sensor in (1, 2, 3)},
}  # fmt: skip


class Setting(msgspec.Struct, frozen=True):
    """A command that sets something to `value`. The answer to it is not used: a request after it asks for the value."""

    command: str
    value: str


class Exchange(msgspec.Struct, frozen=True):
    """One request to the wheel, and the form of the answer, a regular expression.

    A `setting` is sent before the request. The group in `answer` is then the value that the wheel has.
    """

    question: str
    answer: str
    setting: Setting | None = None

    @property
    def command(self) -> str:
        """The name of this exchange in events and log lines."""
        return self.setting.command if self.setting else self.question

    @property
    def key(self) -> str:
        """The letter with which the answer begins."""
        return self.question[1]

    @property
    def to_send(self) -> bytes:
        """The bytes to send on the line."""
        commands = (self.setting.command, self.question) if self.setting else (self.question,)
        return b"".join(command.encode("ascii") + END for command in commands)


VERSION = Exchange("*S", r"V\d+\.\d+")
OVERVIEW = Exchange("*O", r"\d+ \d+ \d+ \d+")
"""Asks for the state, whether `*X` comes by itself, the games in an hour, and the mode. `*o` gives the mode too, but
its answer during a game is BUSY."""
AUTOMATIC_STATUS = Exchange("*O", r"\d+ (\d+) \d+ \d+", Setting("*q 1", "1"))
"""Makes the wheel send `*X` without requests."""


class CommandQueue:
    """Sends the queued exchanges one at a time, and reports how each exchange ended."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(unasked=0)
        self._queue: deque[Exchange] = deque()
        self._current: Exchange | None = None
        self._due_ns = 0

    @property
    def next_tick_ns(self) -> int | None:
        """When `tick` is due. None if no exchange is open or queued."""
        return self._due_ns if self._current or self._queue else None

    def add(self, *exchanges: Exchange) -> None:
        """Add exchanges to the queue."""
        self._queue.extend(exchanges)

    def reset(self) -> None:
        """Drop all exchanges. The port was opened again, so earlier requests will not be answered."""
        self._queue.clear()
        self._current = None

    def tick(self, host_ns: int) -> tuple[bytes, list[e.Event]]:
        """Return the bytes to send now, and an event if a command was not answered in time."""
        events: list[e.Event] = []
        if self._current and host_ns >= self._due_ns:
            events.append(e.CommandUnanswered(host_ns, self._current.command))
            self._end(host_ns)
        if self._current or not self._queue:
            return b"", events
        self._current = self._queue.popleft()
        self._due_ns = host_ns + ANSWER_NS
        return self._current.to_send, events

    def answer(self, reply: HeadReply, host_ns: int) -> Iterator[e.Event]:
        """Report how this reply ends the current command. Count a reply that answers no command."""
        asked = self._current
        if asked is None or reply.key != asked.key:
            self.counts["unasked"] += 1
        elif reply.text in _REFUSALS:
            self._end(host_ns)
            yield e.CommandRefused(host_ns, asked.command, reply.text)
        elif match := re.fullmatch(asked.answer, reply.text):
            self._end(host_ns)
            if asked.setting is None:
                yield e.CommandAnswered(host_ns, asked.command, match[0])
            else:
                is_set = int(match[1]) == int(asked.setting.value)
                yield (e.CommandConfirmed if is_set else e.CommandIgnored)(host_ns, asked.command, match[1])
        else:
            self.counts["unasked"] += 1

    def _end(self, host_ns: int) -> None:
        self._current = None
        self._due_ns = host_ns


def self_test(reply: HeadReply, host_ns: int) -> Iterator[e.Event]:
    """Report the code of a self-test if `reply` contains one."""
    if reply.key == "F" and reply.text.isdigit():
        code = int(reply.text)
        yield e.SelfTestCode(host_ns, code, SELF_TEST.get(code, "unknown"))
