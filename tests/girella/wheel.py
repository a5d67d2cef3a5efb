"""The other end of the line: games of this maker's wheel, as its head reports them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from tests.girella.reader import sum_of

ROTOR_US = 250_000
LAP_US = 300_000


class Game(msgspec.Struct, frozen=True):
    """One game; `number` None: the ball is taken out. `rpm`: of the rotor from the third lap on."""

    number: int | None = 17
    laps: int = 6
    ball: str = "cw"
    rpm: float = 21.5
    fails: bool = False
    damaged: bool = False
    silent: bool = False


def line(*fields: object) -> bytes:
    """With its sum."""
    text = ",".join(map(str, fields))
    return f"{text}*{sum_of(text)}\n".encode()


def said(number: int, game: Game) -> Iterator[tuple[int, bytes]]:
    """What the head says of game `number`, and when; after it people have time."""
    yield 0, line("BET", number)
    launched_us = 5_000_000
    yield launched_us, line("RUN", number, game.ball)
    for lap in range(1, game.laps + 1):
        text = line("LAP", lap)
        yield launched_us + lap * LAP_US, text.replace(b"*", b"+") if game.damaged and lap == 2 else text
    if game.fails:
        yield launched_us + 2 * LAP_US, line("BAD", 1)
    gone_us = launched_us + (game.laps + 1) * LAP_US
    yield gone_us, line("OFF", number)
    if game.number is not None:
        yield gone_us + 3_000_000, line("WIN", number, game.number)
    if game.fails:
        yield gone_us + 3_500_000, line("BAD", 0)
    yield from _rotor(game, launched_us + 3 * LAP_US, gone_us)


def _rotor(game: Game, changes_us: int, gone_us: int) -> Iterator[tuple[int, bytes]]:
    for at_us in range(0, gone_us + 6_000_000, ROTOR_US):
        yield at_us, line("ROT", game.rpm if changes_us <= at_us < gone_us + 2_000_000 else 21.5, "ccw")


class Wheel:
    """All games, one after the other."""

    def __init__(self, games: Iterable[Game]) -> None:
        self._lines: list[tuple[int, bytes]] = []
        self._now_us = begins_us = 0
        for number, game in enumerate(games, 1):
            lines = sorted(said(number, game), key=lambda each: each[0])
            if game.silent:
                lines = [each for each in lines if not 5_700_000 <= each[0] < 9_500_000]
            self._lines += [(begins_us + at_us, text) for at_us, text in lines]
            begins_us = self._lines[-1][0] + ROTOR_US
        self.data = b""

    @property
    def wants_us(self) -> int:
        return self._lines[0][0]

    @property
    def over(self) -> bool:
        return not self._lines

    def advance(self, now_us: int) -> None:
        self._now_us = now_us

    def data_to_send(self) -> bytes:
        data = b""
        while self._lines and self._lines[0][0] <= self._now_us:
            data += self._lines.pop(0)[1]
        return data

    def receive(self, data: bytes) -> None:
        assert data == b"", "it takes no commands"
