"""The 37 pockets and every fact of a number that the regulations pay on (rulebook A8 and 5). No amounts here."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Colour: TypeAlias = Literal["rouge", "noir"]
Parity: TypeAlias = Literal["pair", "impair"]
Half: TypeAlias = Literal["manque", "passe"]

# fmt: off
ROTOR_ORDER = (
    0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10,
    5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26,
)
"""Pockets clockwise from zero: VF, table of neighbours."""

RED = frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
"""V lists the red numbers; the others but zero are black."""

SECTORS = {
    "serie_5_8": frozenset({5, 8, 10, 11, 13, 16, 23, 24, 27, 30, 33, 36}),
    "voisins_du_zero": frozenset({0, 2, 3, 4, 7, 12, 15, 18, 19, 21, 22, 25, 26, 28, 29, 32, 35}),
    "orphelins": frozenset({1, 6, 9, 14, 17, 20, 31, 34}),
    "nassa": frozenset({0, 3, 12, 15, 19, 26, 32, 35}),
    "zero_spiel": frozenset({0, 3, 12, 15, 26, 32, 35}),
}
"""C17 and V: each announced sector and the numbers that win in it."""
# fmt: on

POCKETS = len(ROTOR_ORDER)
POCKET_DEG = 360 / POCKETS
_INDEX = {number: index for index, number in enumerate(ROTOR_ORDER)}


class NumberFacts(msgspec.Struct, frozen=True):
    """What one number is. Zero has no colour, parity, half, dozen or column."""

    number: int
    pocket_index: int
    colour: Colour | None
    parity: Parity | None
    half: Half | None
    dozen: int | None
    column: int | None
    sectors: tuple[str, ...]
    final: int
    neighbours: tuple[int, int, int, int]


def index_of(number: int) -> int:
    """Place of `number` on the rotor, clockwise from zero; KeyError when there is no such number."""
    return _INDEX[number]


def neighbours(number: int) -> tuple[int, int, int, int]:
    """Two numbers before it and two after it on the rotor, clockwise."""
    at = index_of(number)
    before2, before1, after1, after2 = (ROTOR_ORDER[(at + step) % POCKETS] for step in (-2, -1, 1, 2))
    return before2, before1, after1, after2


def facts_of(number: int) -> NumberFacts:
    """Everything the regulations pay on for `number` (0…36)."""
    zero = number == 0
    return NumberFacts(
        number=number,
        pocket_index=index_of(number),
        colour=None if zero else "rouge" if number in RED else "noir",
        parity=None if zero else "impair" if number % 2 else "pair",
        half=None if zero else "manque" if number <= 18 else "passe",
        dozen=None if zero else (number - 1) // 12 + 1,
        column=None if zero else (number - 1) % 3 + 1,
        sectors=tuple(name for name, numbers in SECTORS.items() if number in numbers),
        final=number % 10,
        neighbours=neighbours(number),
    )
