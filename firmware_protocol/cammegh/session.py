"""The host's side of one Cammegh wheel, without I/O. What it concludes stands in the package's page.

How to drive it: `tick` from the start, with a port or without; `opened` when the port was (re)opened; `receive` with
all that the line gives, then `tick` when `next_tick_ns` has come, in that order, so that a host that was held up hears
before it complains of silence. After each, write `data_to_send()`. `host_ns` is monotonic and always an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from firmware_protocol.cammegh import commands
from firmware_protocol.cammegh import events as e
from firmware_protocol.cammegh.commands import END, Asker, Exchange
from firmware_protocol.cammegh.game import Game
from firmware_protocol.cammegh.laps import LINE_NS
from firmware_protocol.cammegh.lines import LineDecoder
from firmware_protocol.cammegh.status import (
    FAULTS,
    BareNumber,
    Basic,
    Direction,
    Line,
    LineError,
    Product,
    Reply,
    Status,
    parse,
)

POLL_NS_MIN = 100_000_000
"""The wheel wants so long between polls (1.2)."""
SILENCE_NS = 2_000_000_000
"""Three lines missing. A SlingShot 2 that is switched on says nothing for a few seconds, and that is silence too."""
WAKE_NS = 5_000_000_000
"""A silent wheel is asked so often to speak: longer than it takes to answer, and than it is silent after power-on."""
LEVEL_LINES = 4
"""So many lines after `*m2 2 2` the wheel has understood it, or never will."""
LEVEL_NS = 10_000_000_000
"""Then it is asked again: someone may have restarted the box."""
EXTENDED = "*m2 2 2"
MODE_NO_BARE_NUMBER = 16
MODE_AUTOMATIC = 128
Level = Literal["basic", "advanced", "extended"]


class Setup(msgspec.Struct, frozen=True):
    """How the wheel is wired and set, as the configuration says it.

    `writable`: port 1; False on a port for displays (2 and 3), where nothing is sent. `bare_number`: this port gives
    the winning number on a line of its own; always False on ports 2 and 3, and with mode +16. `poll_ns`: 0, lines come
    by themselves; else ask so often. `extended`: put a Mercury 360 into extended mode, and insist. `pockets`: 37 to 40.
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
            raise ValueError(f"a wheel is polled on port 1, at most every {POLL_NS_MIN // 1_000_000} ms")
        if self.bare_number and not self.writable:
            raise ValueError("ports 2 and 3 give no bare number")
        if self.silence_ns <= 2 * self.poll_ns:
            raise ValueError("the silence time-out must be longer than two polls")
        if not 37 <= self.pockets <= 40:
            raise ValueError("a wheel has 37 to 40 pockets")


class CammeghSession:
    """One wheel, for as long as the host process lives; it survives the port being closed and opened."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.version: str | None = None
        """The firmware of a SlingShot 2, once it has told."""
        self.mode: int | None = None
        """The mode bits of a SlingShot 2, once it has told."""
        self.level: Level | None = None
        """The protocol level of the latest line; a SlingShot 2 has one only."""
        self._decoder = LineDecoder()
        self._game = Game(setup.product, bare_number=setup.bare_number, automatic=not setup.poll_ns)
        self._asker = Asker()
        self._counts: Counter[str] = Counter(dict.fromkeys(("status", "bare", "reply", "bonus", "basic", *FAULTS), 0))
        self._outgoing = bytearray()
        self._heard_ns: int | None = None
        self._silent = False
        self._backlog = 0
        self._wake_ns = 0
        self._poll_ns = 0
        self._level_ns = 0
        self._level_lines: int | None = None

    @property
    def counters(self) -> dict[str, int]:
        """Since this session began: lines by kind, and what was rejected, by cause."""
        return {**self._counts, **self._decoder.rejected, **self._game.counts, **self._asker.counts}

    @property
    def next_tick_ns(self) -> int:
        """When `tick` is wanted next."""
        heard_ns = self._heard_ns
        if heard_ns is None:
            return 0
        due = [self._wake_ns if self._silent else heard_ns + self.setup.silence_ns]
        if self.setup.poll_ns:
            due.append(self._poll_ns)
        if self._asker.next_tick_ns is not None:
            due.append(self._asker.next_tick_ns)
        return min(due)

    def data_to_send(self) -> bytes:
        """What to write to the line now; asking twice gives nothing twice."""
        data = bytes(self._outgoing)
        self._outgoing.clear()
        return data

    def opened(self, host_ns: int) -> None:
        """The port was opened, now or anew: begin to listen, and ask what is to be known.

        An open port is no wheel: silence goes on, and is counted from the last line, whatever is opened.
        """
        self._decoder.reset()
        self._outgoing.clear()
        self._asker.forget()
        self._game.interrupted()
        self._count_silence_from_ns(host_ns)
        self._poll_ns = host_ns
        self._level_ns = host_ns
        self._ask_to_begin(host_ns)

    def receive(self, data: bytes, host_ns: int) -> list[e.Event]:
        """What `data`, read from the line at `host_ns`, has to tell."""
        lines = [line for text in self._decoder.feed(data) if (line := self._parse(text)) is not None]
        self._backlog = sum(isinstance(line, Status) for line in lines)
        return [event for line in lines for event in self._hear(line, host_ns)]

    def tick(self, host_ns: int) -> list[e.Event]:
        """Do what is due at `host_ns`: polls, commands, time-outs."""
        told = list(self._notice_silence(host_ns))
        if self._silent and host_ns >= self._wake_ns:
            self._wake_ns = host_ns + WAKE_NS
            self._ask_to_speak(host_ns)
        sent, unanswered = self._asker.tick(host_ns)
        self._outgoing += sent
        if self.setup.poll_ns and host_ns >= self._poll_ns:
            self._outgoing += b"*X" + END
            self._poll_ns = host_ns + self.setup.poll_ns
        return told + unanswered

    # What a caller may ask of a SlingShot 2

    def set_parameter(self, key: str, *values: float | str) -> None:
        """Set `*T` parameter `key` and read it back: `CommandConfirmed` or `CommandIgnored`."""
        self._ask(commands.parameter(key, values))

    def set_mode(self, bits: int) -> None:
        """Set the mode and read it back; refused while a game is on."""
        self._ask(commands.mode(bits))

    def store_parameters(self) -> None:
        """Keep the parameters over a power-off (`*T f`)."""
        self._ask(Exchange("*T f", "OK"))

    def power(self, *, on: bool) -> None:
        """Open or close the table; the rotor moves."""
        self._ask(Exchange(f"*P {int(on)}", "OK"))

    def start_game(self) -> None:
        """`*K`; the wheel plays."""
        self._ask(Exchange("*K", "OK|CAM"))

    def launch(self, rotor: Direction) -> None:
        """Start a game by hand (mode 2), the rotor that way: the ball flies. Anticlockwise from firmware 2.52 on."""
        self._ask(Exchange(f"*u {1 if rotor == 'cw' else 3}", "OK"))

    def reset_game(self) -> None:
        """`*R`, after a void: a SlingShot 2 spins again, a Mercury 360 goes to state 1 without a known answer."""
        self._ask(Exchange("*R", "OK" if self._is_slingshot else ""), mercury=True)

    def _ask(self, exchange: Exchange, *, mercury: bool = False) -> None:
        if not self.setup.writable:
            raise ValueError("this port is for displays: the wheel hears nothing here")
        if not (mercury or self._is_slingshot):
            raise ValueError(f"a Mercury 360 has no command {exchange.command}")
        self._asker.ask(exchange)

    @property
    def _is_slingshot(self) -> bool:
        return self.setup.product is Product.SLINGSHOT_2

    # What the wheel says

    def _parse(self, text: str) -> Line | None:
        try:
            return parse(text, self.setup.product, pockets=self.setup.pockets)
        except LineError as error:
            self._counts[error.fault] += 1
            return None

    def _hear(self, line: Line, host_ns: int) -> Iterator[e.Event]:
        match line:
            case Status():
                self._counts["status"] += 1
                yield from self._hear_status(line, host_ns)
            case BareNumber():
                self._counts["bare"] += 1
                yield from self._game.bare(line, host_ns)
            case Reply():
                self._counts["reply"] += 1
                yield from self._hear_reply(line, host_ns)
            case Basic():
                self._counts["basic"] += 1
                yield from self._have_level("basic", host_ns)
            case _:  # a bonus line
                self._counts["bonus"] += 1

    def _hear_status(self, status: Status, host_ns: int) -> Iterator[e.Event]:
        held_up_ns = 0 if self.setup.poll_ns else self._backlog * LINE_NS
        yield from self._notice_silence(host_ns, held_up_ns)
        told = list(self._game.status(status, host_ns))
        if not self._game.holds_a_line:  # a line that nothing bears out yet is as good as silence
            if self._silent:
                yield e.Heard(host_ns, host_ns - self._count_silence_from_ns(host_ns))
            self._silent, self._heard_ns = False, host_ns
        yield from told
        yield from self._have_level("extended" if status.extended else "advanced", host_ns)

    def _notice_silence(self, host_ns: int, held_up_ns: int = 0) -> Iterator[e.Event]:
        """`held_up_ns`: so much of the time was the host's own: the lines of it were waiting, one every 500 ms."""
        since_ns = self._count_silence_from_ns(host_ns)
        if not self._silent and host_ns - since_ns - held_up_ns >= self.setup.silence_ns:
            self._silent, self._wake_ns = True, host_ns
            self._game.interrupted()
            yield e.Silent(host_ns, since_ns)

    def _count_silence_from_ns(self, host_ns: int) -> int:
        """When the last status line came; before the first, when this session was first told the time."""
        if self._heard_ns is None:
            self._heard_ns = host_ns
        return self._heard_ns

    def _hear_reply(self, reply: Reply, host_ns: int) -> Iterator[e.Event]:
        if reply.key == "S" and reply.text.startswith("V"):
            self.version = reply.text
        elif reply.key == "O" and len(words := reply.text.split()) == 4:
            yield from self._have_mode(words, host_ns)
        yield from commands.self_test(reply, host_ns)
        sent, told = self._asker.hear(reply, host_ns)
        self._outgoing += sent
        yield from told

    def _have_mode(self, words: list[str], host_ns: int) -> Iterator[e.Event]:
        """What `*O` tells of state, protocol, games an hour and mode, against what the configuration says."""
        if not all(word.isdigit() for word in words):
            return
        known, self.mode = self.mode, int(words[3])
        if known == self.mode:
            return
        has_bare = not self.mode & MODE_NO_BARE_NUMBER
        if has_bare != self.setup.bare_number:
            yield e.Misconfigured(host_ns, "bare number", str(self.setup.bare_number), str(has_bare))
        if not (self.setup.poll_ns or self.mode & MODE_AUTOMATIC):
            yield e.Misconfigured(host_ns, "automatic status", "True", "False")

    # What is asked without being told to

    def _ask_to_begin(self, host_ns: int) -> None:
        if not self.setup.writable:
            return
        if self._is_slingshot:
            self._queue((commands.VERSION, commands.OVERVIEW))
        elif self.setup.extended:
            self._ask_level(host_ns)

    def _ask_to_speak(self, host_ns: int) -> None:
        """The wheel is silent; where lines should come by themselves, say so again."""
        if not self.setup.writable:
            return
        if not self._is_slingshot:
            if self.setup.extended:
                self._ask_level(host_ns)
        elif not self.setup.poll_ns and self._asker.next_tick_ns is None:
            self._queue((commands.automatic_status(),))

    def _queue(self, exchanges: Iterable[Exchange]) -> None:
        for exchange in exchanges:
            self._asker.ask(exchange)

    def _ask_level(self, host_ns: int) -> None:
        self._outgoing += EXTENDED.encode("ascii") + END
        self._level_ns, self._level_lines = host_ns + LEVEL_NS, 0

    def _have_level(self, level: Level, host_ns: int) -> Iterator[e.Event]:
        """Only the lines themselves prove that a Mercury 360 is in extended mode."""
        self.level = level
        if self._is_slingshot or not (self.setup.writable and self.setup.extended):
            return
        if level == "extended":
            if self._level_lines is not None:
                yield e.CommandConfirmed(host_ns, EXTENDED, level)
            self._level_lines = None
        elif self._level_lines is not None and self._level_lines < LEVEL_LINES:
            self._level_lines += 1
            if self._level_lines == LEVEL_LINES:
                yield e.CommandIgnored(host_ns, EXTENDED, level)
        elif host_ns >= self._level_ns:
            self._ask_level(host_ns)
