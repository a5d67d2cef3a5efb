"""Commands, one at a time: their answers, and the read-back that alone proves a setting (wheels.md 1.7, 1.8).

A SlingShot 2 said OK to `*Tr 23000 23000`, where a blank is missing, and kept its old values. So after a setting the
wheel is asked what it now has, and only that counts.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence

import msgspec

from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.status import Reply

ANSWER_NS = 1_000_000_000
"""Answers on record took 25 to 200 ms."""
COMMANDS_MAX = 32
"""More than any start-up asks; a caller that queues more does not look at the answers."""
END = b"\r"

_OK = "OK"
_REFUSALS = ("NO", "BUSY")
SELF_TEST = {
    0: "good", 1: "hardware", 2: "no ball", 3: "no ball position", 4: "ball direction", 5: "motor", 6: "encoder",
    7: "clockwise game", 8: "anticlockwise game", 100: "time-out",
    **{10 + sensor: f"sensor {sensor} stuck on" for sensor in (1, 2, 3)},
    **{20 + sensor: f"sensor {sensor} stuck off" for sensor in (1, 2, 3)},
}  # fmt: skip


class ReadBack(msgspec.Struct, frozen=True):
    """`command` asks for what was set; in its answer the group of `answer` must say `wanted`."""

    command: str
    answer: str
    wanted: str


class Exchange(msgspec.Struct, frozen=True):
    """One command. `answer`: the answer's form as a regular expression; empty: none is documented, none is awaited."""

    command: str
    answer: str = ""
    read_back: ReadBack | None = None


def _key(command: str) -> str:
    return command[1]


def parameter(key: str, values: Sequence[float | str]) -> Exchange:
    """Set `*T` parameter `key` (one lower-case letter). A value that is text goes as it stands."""
    wanted = " ".join(map(str, values))
    if not (re.fullmatch("[a-z]", key) and re.fullmatch(r"[\d. -]+", wanted)):
        raise ValueError(f"a parameter is one lower-case letter and figures, not {key!r} {wanted!r}")
    return Exchange(f"*T {key} {wanted}", _OK, ReadBack(f"*T {key.upper()}", f"{key} (.+)", wanted))


def mode(bits: int) -> Exchange:
    """Set the mode. Refused (`BUSY`) while a game is on."""
    return Exchange(f"*o {bits}", r"\d+", ReadBack("*O", r"\d+ \d+ \d+ (\d+)", str(bits)))


def automatic_status() -> Exchange:
    """Have `*X` come by itself. No answer is documented."""
    return Exchange("*q 1", read_back=ReadBack("*O", r"\d+ (\d+) \d+ \d+", "1"))


VERSION = Exchange("*S", r"V\d+\.\d+")
OVERVIEW = Exchange("*O", r"\d+ \d+ \d+ \d+")
"""State, whether `*X` is sent, games an hour, mode. `*o` tells the mode too, but says BUSY during a game."""


def same_values(wanted: str, found: str) -> bool:
    """Whether both list the same figures: the wheel writes `17.50000` for what was set as `17.5`."""
    return [_figure(word) for word in wanted.split()] == [_figure(word) for word in found.split()]


def _figure(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


class Asker:
    """Sends what is queued, one command at a time, and tells how each ended."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(unasked=0)
        self._queue: deque[Exchange] = deque()
        self._asked: Exchange | None = None
        self._reading: ReadBack | None = None
        self._due_ns = 0

    @property
    def next_tick_ns(self) -> int | None:
        """When `tick` is wanted, None when nothing is asked."""
        return self._due_ns if self._asked or self._queue else None

    def ask(self, exchange: Exchange) -> None:
        """Queue it. Raises ValueError when too much is queued already."""
        if len(self._queue) >= COMMANDS_MAX:
            raise ValueError(f"{COMMANDS_MAX} commands wait already")
        self._queue.append(exchange)

    def forget(self) -> None:
        """The port was opened anew: what was asked before will not be answered."""
        self._queue.clear()
        self._asked = self._reading = None

    def tick(self, host_ns: int) -> tuple[bytes, list[e.Event]]:
        """What to send now, and what was not answered in time."""
        told: list[e.Event] = []
        if self._asked and host_ns >= self._due_ns:
            told.append(e.CommandUnanswered(host_ns, self._asked.command))
            self._end(host_ns)
        sent = b""
        while self._queue and self._asked is None:
            self._asked = self._queue.popleft()
            sent += self._say(self._asked.command, host_ns)
            if not self._asked.answer:
                sent += self._go_on(self._asked, host_ns)
        return sent, told

    def hear(self, reply: Reply, host_ns: int) -> tuple[bytes, list[e.Event]]:
        """What to send after this answer, and what it concludes."""
        asked = self._asked
        question, form = self._expected()
        if asked is None or reply.key != _key(question):
            return self._unasked()
        if reply.text in _REFUSALS:
            self._end(host_ns)
            return b"", [e.CommandRefused(host_ns, asked.command, reply.text)]
        match = re.fullmatch(form, reply.text)
        if match is None:
            return self._unasked()
        if self._reading:
            wanted = self._reading.wanted
            self._end(host_ns)
            return b"", [self._judge(asked.command, wanted, match[1], host_ns)]
        told: list[e.Event] = [] if asked.read_back else [e.CommandAnswered(host_ns, asked.command, reply.text)]
        return self._go_on(asked, host_ns), told

    def _expected(self) -> tuple[str, str]:
        if self._reading:
            return self._reading.command, self._reading.answer
        return (self._asked.command, self._asked.answer) if self._asked else ("", "")

    def _unasked(self) -> tuple[bytes, list[e.Event]]:
        self.counts["unasked"] += 1
        return b"", []

    def _judge(self, command: str, wanted: str, found: str, host_ns: int) -> e.Event:
        confirmed = same_values(wanted, found)
        return (e.CommandConfirmed if confirmed else e.CommandIgnored)(host_ns, command, found)

    def _go_on(self, asked: Exchange, host_ns: int) -> bytes:
        """The command is through: read back, or be done."""
        if asked.read_back is None:
            self._end(host_ns)
            return b""
        self._reading = asked.read_back
        return self._say(asked.read_back.command, host_ns)

    def _say(self, command: str, host_ns: int) -> bytes:
        self._due_ns = host_ns + ANSWER_NS
        return command.encode("ascii") + END

    def _end(self, host_ns: int) -> None:
        self._asked = self._reading = None
        self._due_ns = host_ns


def self_test(reply: Reply, host_ns: int) -> Iterator[e.Event]:
    """The code of a self-test, if `reply` is one."""
    if reply.key == "F" and reply.text.isdigit():
        code = int(reply.text)
        yield e.SelfTestCode(host_ns, code, SELF_TEST.get(code, "unknown"))
