"""The electronics of a wheel head: status lines, bare numbers and replies. They use no I/O and no clock.

Call `advance` with the time, then send the bytes of `data_to_send`. Give `receive` the bytes that the host writes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hw_sim.cammegh.cable import LineCable
from hw_sim.cammegh.coups import HeadCoup, HeadPhase, Model

LINE_US = 500_000
"""Time between two status lines."""
REPLY_US = (25_000, 195_000)
"""The shortest and the longest time from a command to its reply, as recorded at a real head."""
POWER_ON_SILENCE_LINES = 8
"""For how many lines a wheel sends nothing after it is switched on."""
SPINS = {Model.SLINGSHOT_2: 256, Model.MERCURY_360: 255}
PARAMETERS = {"d": "15", "s": "14.0 17.50000", "t": "4000", "r": "28000 32000", "h": "60", "g": "0", "m": "2"}
LEVELS = ("advanced", "basic", "extended")
BARE_OFF, AUTOMATIC = 16, 128
FIXED = {"S": "V2.50", "V": "V2.50 simulated SlingShot 2", "R": "OK", "K": "OK", "u": "OK", "F": "BUSY"}
"""Replies that are always the same."""


@dataclass(frozen=True)
class HeadSetup:
    """The setup of a head. `port`: 1 takes commands and sends bare numbers, 2 does neither. `ignores`: parameters that
    it does not change, although it replies OK. `bonus`: whether it sends bonus lines. `first_spin`: the first game's
    number."""

    mode: int = 1158
    port: int = 1
    ignores: str = ""
    bonus: bool = False
    first_spin: int = 1


class SimHead:
    """Plays `coups`. The coups that are over are in `truth`."""

    def __init__(
        self,
        model: Model,
        coups: Iterator[HeadCoup],
        rng: random.Random,
        setup: HeadSetup | None = None,
        cable: LineCable | None = None,
    ) -> None:
        setup = setup or HeadSetup()
        self.model = model
        self.setup = setup
        self.mode = setup.mode
        self.over = False
        """Whether there are no more coups. Then the head repeats the last status."""
        self.truth: list[HeadCoup] = []
        self.parameters = dict(PARAMETERS)
        self.level = "advanced"
        self.received_commands: list[str] = []
        """All received commands, in order."""
        self.automatic = bool(setup.mode & AUTOMATIC)
        self.last_number: int | None = None
        self.spin = setup.first_spin
        self._coups = coups
        self._rng = rng
        self._cable = cable or LineCable(rng)
        self._lines = self._play()
        self._now_us = 0
        self._next_line_us = LINE_US
        self._status: tuple[HeadPhase, int, int | None] | None = None
        self._powered = True
        self._arriving: list[tuple[int, bytes]] = []
        self._typed = b""

    @property
    def wants_us(self) -> int:
        """The time of the next status line or the next arrival of bytes."""
        return min([self._next_line_us, *(due_us for due_us, _ in self._arriving)])

    def advance(self, now_us: int) -> None:
        """Play up to `now_us`."""
        while self._next_line_us <= now_us:
            self._now_us = self._next_line_us
            self._next_line_us += LINE_US
            self.over = next(self._lines, True) is not None
        self._now_us = max(self._now_us, now_us)

    def data_to_send(self) -> bytes:
        """Return the bytes that have arrived at the host by now."""
        due = [data for due_us, data in self._arriving if due_us <= self._now_us]
        self._arriving = [(due_us, data) for due_us, data in self._arriving if due_us > self._now_us]
        return b"".join(due)

    def receive(self, data: bytes) -> None:
        """Take the bytes that the host writes."""
        *commands, self._typed = re.split(rb"[\r\n]", self._typed + data)
        for command in commands:
            if not command or self.setup.port != 1:
                continue
            text = command.decode("latin-1")
            self.received_commands.append(text)
            if self.model is Model.SLINGSHOT_2:
                if (answer := self._slingshot(text)) is not None:
                    self._send(answer, self._rng.randint(*REPLY_US))
            elif text == "*X":
                self._send_status()
            elif level := re.fullmatch(r"\*m ?([012]) \1 \1", text):
                self.level = LEVELS[int(level[1])]

    # --- the game ----------------------------------------------------------------------------------------------------

    def _play(self) -> Iterator[None]:
        for coup in self._coups:
            coup.spin = self.spin
            harmed = self._cable.harmed
            for phase in coup.phases:
                yield from self._stand(phase, coup)
            coup.delivered = self._cable.harmed == harmed
            self.truth.append(coup)
            if coup.number is not None:
                self.spin = self.spin % SPINS[self.model] + 1
            if coup.power_cycle:
                yield from self._power_cycle()

    def _stand(self, phase: HeadPhase, coup: HeadCoup) -> Iterator[None]:
        for line in range(phase.lines):
            if phase.state == 5 and line == 0:
                self.last_number, coup.number_us = coup.number, self._now_us
                if self.setup.port == 1 and not self.mode & BARE_OFF:
                    self._send(f"{coup.number:2d}" if self.level != "basic" else f"*W{coup.number:2d}")
            self._status = (phase, line, coup.number if phase.state == 5 else None)
            if self.setup.bonus and self._rng.random() < 0.02:
                self._send(self._rng.choice(("*Y;1;123", "*Y;6;010;30", "*Y;1;999;00")))
            if self.automatic and self.level != "basic":
                self._send_status()
            yield

    def _power_cycle(self) -> Iterator[None]:
        self.spin, self.last_number, self._status = 1, None, None
        self.level = LEVELS[0]
        for _ in range(POWER_ON_SILENCE_LINES):
            yield

    def _send_status(self) -> None:
        if self._status is None:
            return
        phase, line, fallen = self._status
        tenths = round(phase.rpm_at(line) * 10)
        last = "  " if self.last_number is None else f"{self.last_number:2d}"
        speed = 0 if tenths > 999 else tenths  # the field has three digits, and shows 000 for a higher speed
        text = f"*X;{phase.state};{self.spin:03d};{last};{phase.flags:X};{speed:03d};{phase.rotor}"
        if self.level == "extended":
            field_7 = "0122" if phase.state == 5 else "0022"
            ticks = 0xB099 + self._now_us // 1000 % 0xF0000
            pocket = "??" if fallen is None else f"{fallen:2d}"
            text += f";{field_7};{phase.laps_at(line):02X};{phase.ball};{ticks:05X};{pocket}"
        self._send(text)

    def _send(self, text: str, after_us: int = 0) -> None:
        due_us, data = self._cable.carry(text.encode("latin-1") + b"\r\n", self._now_us)
        self._arriving.append((due_us + after_us, data))

    # --- commands ----------------------------------------------------------------------------------------------------

    def _slingshot(self, command: str) -> str | None:
        word = re.fullmatch(r"\*(.)(?: (.+))?", command)
        if word is None or word[1] == " ":
            # The real head reads *Tr as *T, answers OK and changes nothing.
            return f"*{command[1:2]} OK" if command[1:2] == "T" else f"*{command[1:2] or ' '} NO"
        key, rest = word[1], word[2] or ""
        if key == "X":
            self._send_status()
            return None
        if key == "q":
            self.automatic = rest == "1"
            return None
        if key == "T":
            return self._parameter(rest)
        answer, state = FIXED.get(key, "NO"), self._status[0].state if self._status else 6
        if key == "O":
            answer = f"{state} {int(self.automatic)} {self.parameters['h']} {self.mode}"
        elif key == "P":
            answer = "NO" if self._powered is (rest == "1") else "OK"
            self._powered = rest == "1"
        elif key == "o":
            self.mode = int(rest) if rest and state == 6 else self.mode
            answer = str(self.mode) if state == 6 else "BUSY"
        return f"*{key} {answer}"

    def _parameter(self, rest: str) -> str:
        key, _, values = rest.partition(" ")
        if rest == "f":  # this command stores the parameters
            return "*T OK"
        if key.lower() not in self.parameters:
            return "*T OK" if values else "*T NO"
        if not values:
            return f"*T {key.lower()} {self.parameters[key.lower()]}"
        if key not in self.setup.ignores:
            self.parameters[key] = values
        return "*T OK"
