"""Commands of a SlingShot 2, sent one at a time, and the answers that prove what the wheel did with them.

A wheel says OK to settings that it ignores (docs/wheels.md 1.8). So after a setting the wheel is asked for its value,
and only that value counts.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator

import msgspec

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.status import HeadReply

ANSWER_NS = 1_000_000_000
"""Answers on record took 25 to 200 ms."""
END = b"\r"

_REFUSALS = ("NO", "BUSY")
SELF_TEST = {
    0: "good", 1: "hardware", 2: "no ball", 3: "no ball position", 4: "ball direction", 5: "motor", 6: "encoder",
    7: "clockwise game", 8: "anticlockwise game", 100: "time-out",
    **{10 + sensor: f"sensor {sensor} stuck on" for sensor in (1, 2, 3)},
    **{20 + sensor: f"sensor {sensor} stuck off" for sensor in (1, 2, 3)},
}  # fmt: skip


class Setting(msgspec.Struct, frozen=True):
    """A command that sets something to `value`. It has no answer of its own: the question after it shows the value."""

    command: str
    value: str


class Exchange(msgspec.Struct, frozen=True):
    """One question and the form of its answer, a regular expression.

    With a `setting`, that is sent first, and the group of `answer` is the value that the wheel then has.
    """

    question: str
    answer: str
    setting: Setting | None = None

    @property
    def command(self) -> str:
        """What events and log lines call this exchange."""
        return self.setting.command if self.setting else self.question

    @property
    def key(self) -> str:
        """The letter with which the answer begins."""
        return self.question[1]

    @property
    def to_send(self) -> bytes:
        """The bytes for the line."""
        commands = (self.setting.command, self.question) if self.setting else (self.question,)
        return b"".join(command.encode("ascii") + END for command in commands)


VERSION = Exchange("*S", r"V\d+\.\d+")
OVERVIEW = Exchange("*O", r"\d+ \d+ \d+ \d+")
"""State, whether `*X` is sent, games an hour, mode. `*o` shows the mode too, but answers BUSY during a game."""
AUTOMATIC_STATUS = Exchange("*O", r"\d+ (\d+) \d+ \d+", Setting("*q 1", "1"))
"""Makes the wheel send `*X` by itself."""


class CommandQueue:
    """Sends the queued exchanges one at a time and reports how each ended."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(unasked=0)
        self._queue: deque[Exchange] = deque()
        self._current: Exchange | None = None
        self._due_ns = 0

    @property
    def next_tick_ns(self) -> int | None:
        """When `tick` is due, None when there is nothing to ask."""
        return self._due_ns if self._current or self._queue else None

    def add(self, *exchanges: Exchange) -> None:
        """Queue them."""
        self._queue.extend(exchanges)

    def reset(self) -> None:
        """The port was opened again: no answer will come to what was asked before."""
        self._queue.clear()
        self._current = None

    def tick(self, host_ns: int) -> tuple[bytes, list[e.Event]]:
        """What to send now, and the command that was not answered in time."""
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
        """How the current exchange ended with this reply; a reply to nothing that was asked is counted."""
        asked = self._current
        if asked is None or reply.key != asked.key:
            self.counts["unasked"] += 1
        elif reply.text in _REFUSALS:
            self._end(host_ns)
            yield e.CommandRefused(host_ns, asked.command, reply.text)
        elif match := re.fullmatch(asked.answer, reply.text):
            self._end(host_ns)
            yield _ended(asked, match, host_ns)
        else:
            self.counts["unasked"] += 1

    def _end(self, host_ns: int) -> None:
        self._current = None
        self._due_ns = host_ns


def _ended(asked: Exchange, match: re.Match[str], host_ns: int) -> e.Event:
    if asked.setting is None:
        return e.CommandAnswered(host_ns, asked.command, match[0])
    is_set = int(match[1]) == int(asked.setting.value)
    return (e.CommandConfirmed if is_set else e.CommandIgnored)(host_ns, asked.command, match[1])


def self_test(reply: HeadReply, host_ns: int) -> Iterator[e.Event]:
    """The code of a self-test, when `reply` is one."""
    if reply.key == "F" and reply.text.isdigit():
        code = int(reply.text)
        yield e.SelfTestCode(host_ns, code, SELF_TEST.get(code, "unknown"))
