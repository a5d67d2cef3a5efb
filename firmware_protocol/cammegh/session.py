"""The host's side of one Cammegh wheel, without I/O. It parses lines, sends requests at start-up, polls, and detects
silence.

How to use it: call `tick` at `next_tick_ns`, from the start, even without a port. Call `opened` each time the port was
opened, and `receive` with all bytes from the line. Call `receive` before `tick`, so that a host that was delayed reads
its lines before it reports silence. After each call write `data_to_send()`. `host_ns` is monotonic time, always passed
as an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from firmware_protocol.cammegh import commands
from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.commands import END, CommandQueue
from firmware_protocol.cammegh.game import Game
from firmware_protocol.cammegh.lines import LineDecoder
from firmware_protocol.cammegh.run import LINE_NS
from firmware_protocol.cammegh.status import (
    FAULTS,
    BareNumber,
    Basic,
    HeadReply,
    Line,
    LineError,
    Product,
    Status,
    parse,
)

# This class sets the protocol level of a Mercury 360 to `extended` (docs/wheels.md 1.6). No answer to the command is
# documented, so only the lines themselves prove the level. A restarted box returns to `advanced`, so the command is
# repeated while lines of another level come.

EXTENDED = "*m2 2 2"
LEVEL_LINES = 4
"""After this many lines the wheel has either followed `*m2 2 2` or ignored it."""
LEVEL_NS = 10_000_000_000
"""The command is sent again after this time, because someone may have restarted the box."""
Level: TypeAlias = Literal["basic", "advanced", "extended"]


class ProtocolLevel:
    """Asks for the extended level and reports whether the wheel has it.

    `wanted`: False if no command may be sent. `outgoing`: the buffer for the bytes to send.
    """

    def __init__(self, outgoing: bytearray, *, wanted: bool) -> None:
        self.current: Level | None = None
        """The level of the latest line."""
        self._outgoing = outgoing
        self._wanted = wanted
        self._again_ns = 0
        self._lines: int | None = None
        """The number of lines of another level since the command. None while the lines have the wanted level."""

    def ask(self, host_ns: int) -> None:
        """Send the command for the extended level, if it is wanted."""
        if self._wanted:
            self._outgoing += EXTENDED.encode("ascii") + END
            self._again_ns, self._lines = host_ns + LEVEL_NS, 0

    def line(self, level: Level, host_ns: int) -> Iterator[e.Event]:
        """Process a line of `level`."""
        self.current = level
        if not self._wanted:
            return
        if level == "extended":
            if self._lines is not None:
                yield e.CommandConfirmed(host_ns, EXTENDED, level)
            self._lines = None
        elif self._lines is not None and self._lines < LEVEL_LINES:
            self._lines += 1
            if self._lines == LEVEL_LINES:
                yield e.CommandIgnored(host_ns, EXTENDED, level)
        elif host_ns >= self._again_ns:
            self.ask(host_ns)


POLL_NS_MIN = 100_000_000
"""The shortest time between polls that the wheel allows (docs/wheels.md 1.2)."""
SILENCE_NS = 2_000_000_000
"""After this time without a line, three lines are missing, and the wheel counts as silent. A SlingShot 2 also counts as
silent in the few seconds after power-on in which it sends nothing."""
WAKE_NS = 5_000_000_000
"""The time between commands to a silent wheel. Answers, and the silence after power-on, take less time."""
MODE_NO_BARE_NUMBER = 16
MODE_AUTOMATIC = 128
_KINDS = ("status", "bare", "reply", "bonus", "basic")


class Setup(msgspec.Struct, frozen=True):
    """How the wheel is wired and set, according to the configuration.

    `writable`: True on port 1; False on a port for displays (2 and 3), to which nothing is sent. `bare_number`: the
    port sends the winning number on a line of its own; always False on ports 2 and 3, and with mode +16. `poll_ns`: the
    time between requests for a line; 0 if the wheel sends lines by itself. `extended`: put a Mercury 360 into extended
    mode, and do this again whenever it leaves that mode. `pockets`: 37 to 40. Raises ValueError if values contradict
    each other, or if one is out of range.
    """

    product: Product
    writable: bool = True
    bare_number: bool = True
    poll_ns: int = 0
    extended: bool = True
    pockets: int = 37
    silence_ns: int = SILENCE_NS

    def __post_init__(self) -> None:
        if self.poll_ns and (self.poll_ns < POLL_NS_MIN or not self.writable):
            raise ValueError(
                f"a wheel is polled on port 1 only, and not more often than every {POLL_NS_MIN // 1_000_000} ms"
            )
        if self.bare_number and not self.writable:
            raise ValueError("ports 2 and 3 send no bare number")
        if self.silence_ns <= 2 * self.poll_ns:
            raise ValueError("the silence time-out must be longer than two polls")
        if not 37 <= self.pockets <= 40:
            raise ValueError("a wheel has 37 to 40 pockets")


class CammeghSession:
    """One wheel, for as long as the host process runs. The port may be closed and opened again."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.version: str | None = None
        """The firmware version of a SlingShot 2. None until it has answered."""
        self.mode: int | None = None
        """The mode bits of a SlingShot 2. None until it has answered."""
        is_mercury = setup.product is Product.MERCURY_360
        self._decoder = LineDecoder()
        self._game = Game(setup.product, bare_number=setup.bare_number, automatic=not setup.poll_ns)
        self._commands = CommandQueue()
        self._outgoing = bytearray()
        self._level = ProtocolLevel(self._outgoing, wanted=is_mercury and setup.writable and setup.extended)
        self._asks_slingshot = setup.writable and not is_mercury
        self._counts: Counter[str] = Counter(dict.fromkeys((*_KINDS, *FAULTS), 0))
        self._heard_ns: int | None = None
        self._is_silent = False
        self._backlog_lines = 0
        self._wake_ns = 0
        self._poll_ns = 0

    @property
    def level(self) -> Level | None:
        """The protocol level of the latest line. A SlingShot 2 has only one level."""
        return self._level.current

    @property
    def counters(self) -> dict[str, int]:
        """The counts since this session began: lines by kind, and rejected lines by cause."""
        return {**self._counts, **self._decoder.rejected, **self._game.counters, **self._commands.counts}

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is due."""
        if self._heard_ns is None:
            return 0
        due = [self._wake_ns if self._is_silent else self._heard_ns + self.setup.silence_ns]
        if self.setup.poll_ns:
            due.append(self._poll_ns)
        if self._commands.next_tick_ns is not None:
            due.append(self._commands.next_tick_ns)
        return min(due)

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the line now. Each byte is returned only once."""
        data = bytes(self._outgoing)
        self._outgoing.clear()
        return data

    def opened(self, host_ns: int) -> None:
        """Remember that the port was opened, for the first time or again: begin to listen, and send the start-up
        requests.

        An open port does not prove that a wheel is there: a silence continues, and is counted from the last line.
        """
        self._decoder.reset()
        self._outgoing.clear()
        self._commands.reset()
        self._game.interrupted()
        self._silence_from_ns(host_ns)
        self._poll_ns = host_ns
        self._level.ask(host_ns)
        if self._asks_slingshot:
            self._commands.add(commands.VERSION, commands.OVERVIEW)

    def receive(self, data: bytes, host_ns: int) -> list[e.Event]:
        """Return the events in `data`, which was read from the line at `host_ns`."""
        lines: list[Line] = []
        for text in self._decoder.feed(data):
            try:
                lines.append(parse(text, self.setup.product, pockets=self.setup.pockets))
            except LineError as error:
                self._counts[error.fault] += 1
        self._backlog_lines = sum(isinstance(line, Status) for line in lines)
        return [event for line in lines for event in self._line(line, host_ns)]

    def tick(self, host_ns: int) -> list[e.Event]:
        """Do what is due at `host_ns`: polls, commands, time-outs."""
        events = list(self._check_silence(host_ns))
        if self._is_silent and host_ns >= self._wake_ns:
            self._wake_ns = host_ns + WAKE_NS
            # If the setup wants extended or automatic lines, send the commands for them again.
            self._level.ask(host_ns)
            if self._asks_slingshot and not self.setup.poll_ns and self._commands.next_tick_ns is None:
                self._commands.add(commands.AUTOMATIC_STATUS)
        data, unanswered = self._commands.tick(host_ns)
        self._outgoing += data
        if self.setup.poll_ns and host_ns >= self._poll_ns:
            self._outgoing += b"*X" + END
            self._poll_ns = host_ns + self.setup.poll_ns
        return events + unanswered

    # --- lines of the wheel ------------------------------------------------------------------------------------------

    def _line(self, line: Line, host_ns: int) -> Iterator[e.Event]:
        match line:
            case Status():
                self._counts["status"] += 1
                held_up_ns = 0 if self.setup.poll_ns else self._backlog_lines * LINE_NS
                yield from self._check_silence(host_ns, held_up_ns)
                events = list(self._game.status(line, host_ns))
                if not self._game.holds_a_line:  # a line that waits for a second one does not end a silence
                    if self._is_silent:
                        yield e.LinesAgain(host_ns, host_ns - self._silence_from_ns(host_ns))
                    self._is_silent, self._heard_ns = False, host_ns
                yield from events
                yield from self._level.line("extended" if line.extended else "advanced", host_ns)
            case BareNumber():
                self._counts["bare"] += 1
                yield from self._game.bare(line, host_ns)
            case HeadReply():
                self._counts["reply"] += 1
                if line.key == "S" and line.text.startswith("V"):
                    self.version = line.text
                elif line.key == "O" and len(words := line.text.split()) == 4 and all(word.isdigit() for word in words):
                    yield from self._have_mode(int(words[3]), host_ns)
                yield from commands.self_test(line, host_ns)
                yield from self._commands.answer(line, host_ns)
            case Basic():
                self._counts["basic"] += 1
                yield from self._level.line("basic", host_ns)
            case _:  # this is a bonus line
                self._counts["bonus"] += 1

    def _have_mode(self, mode: int, host_ns: int) -> Iterator[e.Event]:
        """Compare the mode in the answer to `*O` with the configuration, if the mode is new."""
        before, self.mode = self.mode, mode
        if before == mode:
            return
        has_bare = not mode & MODE_NO_BARE_NUMBER
        if has_bare != self.setup.bare_number:
            yield e.Misconfigured(host_ns, "bare number", str(self.setup.bare_number), str(has_bare))
        if not (self.setup.poll_ns or mode & MODE_AUTOMATIC):
            yield e.Misconfigured(host_ns, "automatic status", "True", "False")

    # --- silence -----------------------------------------------------------------------------------------------------

    def _check_silence(self, host_ns: int, held_up_ns: int = 0) -> Iterator[e.Event]:
        """Report a silence. `held_up_ns`: how long the oldest line waited because the host did not read: 500 ms for
        each line that waited."""
        since_ns = self._silence_from_ns(host_ns)
        if not self._is_silent and host_ns - since_ns - held_up_ns >= self.setup.silence_ns:
            self._is_silent, self._wake_ns = True, host_ns
            self._game.interrupted()
            yield e.Silent(host_ns, since_ns)

    def _silence_from_ns(self, host_ns: int) -> int:
        """Return the time of the last status line. Before the first line, return the first `host_ns` that was given."""
        if self._heard_ns is None:
            self._heard_ns = host_ns
        return self._heard_ns
