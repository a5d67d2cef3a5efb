"""The pockets of a wheel, and the facts of a number that bets are paid on (docs/rulebook.md A8 and 5). The amounts that
bets pay are not in this module.

`PocketLayout` is the structure. `SINGLE_ZERO` is the French layout with 37 pockets, `DOUBLE_ZERO` the American one with
38. A house's profile names its layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Colour: TypeAlias = Literal["rouge", "noir"]
Parity: TypeAlias = Literal["pair", "impair"]
Half: TypeAlias = Literal["manque", "passe"]
Label: TypeAlias = Literal["00"]
LABELS: Mapping[int, Label] = {37: "00"}
"""What is printed in a pocket, if it is not the number. The pocket "00" has number 37, because no cloth has a 37."""
Pair: TypeAlias = tuple[int, int]
"""Two numbers that are neighbours on the cloth. They name a finale à cheval."""


def label_of(number: int) -> str:
    """Return what is printed in the pocket of a number. It is the same on every wheel that has the number."""
    return LABELS.get(number, str(number))


def number_of(label: str | int) -> int:
    """Return the number of the pocket with this label, or a number as it is. Raises ValueError if no pocket has it."""
    if isinstance(label, int):
        return label
    named = {text: number for number, text in LABELS.items()}
    number = named[label] if label in named else int(label) if label.isdecimal() else -1
    if number < 0 or label_of(number) != label:
        raise ValueError(f"{label!r} is printed in no pocket")
    return number


class NumberFacts(msgspec.Struct, frozen=True):
    """The facts of one number, and the `label` that is printed in its pocket. A zero has no colour, parity, half, dozen
    or column.

    `finals_plein`: the finale en plein that wins with this number: its last digit. `finals_cheval`: the finales à
    cheval that win with this number, each with the pair that names it.
    """

    number: int
    label: str
    pocket_index: int
    colour: Colour | None
    parity: Parity | None
    half: Half | None
    dozen: int | None
    column: int | None
    sectors: tuple[str, ...]
    finals_plein: tuple[int, ...]
    finals_cheval: tuple[Pair, ...]
    neighbours: tuple[int, int, int, int]


class PocketLayout:
    """The pockets of one kind of wheel.

    `order`: the numbers clockwise from zero. `index_of`: the place of each number in `order`. `count`: how many pockets
    there are. `pocket_deg`: the width of a pocket. `printed`: a short text of what is printed in the pockets. `facts`:
    the facts of each number. `finals_across`: the finales à cheval of two numbers side by side in a row of the cloth.
    `finals_down`: those of two numbers one below the other. Without finales à cheval there is no finale en plein.
    """

    def __init__(
        self,
        order: tuple[int, ...],
        red: frozenset[int],
        sectors: Mapping[str, frozenset[int]],
        finals_across: tuple[Pair, ...],
        finals_down: tuple[Pair, ...],
    ) -> None:
        self.order, self.count, self.pocket_deg = order, len(order), 360 / len(order)
        self.index_of = {number: index for index, number in enumerate(order)}
        named = [LABELS[number] for number in order if number in LABELS]
        self.printed = ", ".join((f"0…{max({*order} - {*LABELS})}", *named))
        # A finale across (V) has each number that ends in one of the two digits, also a number that has no partner in
        # its row. A finale down has the pair, and each pair that is 10, 20, … higher, if both numbers are on the cloth.
        finals = {pair: frozenset(number for number in order if number % 10 in pair) for pair in finals_across}
        for upper, lower in finals_down:
            tens = range(0, len(order) - lower, 10)
            finals[upper, lower] = frozenset(number + ten for ten in tens for number in (upper, lower))
        self.facts: dict[int, NumberFacts] = {}
        half = max({*order} - {*LABELS}) // 2
        for at, number in enumerate(order):
            zero = number == 0 or number in LABELS
            before2, before1, after1, after2 = (order[(at + step) % len(order)] for step in (-2, -1, 1, 2))
            self.facts[number] = NumberFacts(
                number=number,
                label=label_of(number),
                pocket_index=at,
                colour=None if zero else "rouge" if number in red else "noir",
                parity=None if zero else "impair" if number % 2 else "pair",
                half=None if zero else "manque" if number <= half else "passe",
                dozen=None if zero else (number - 1) // 12 + 1,
                column=None if zero else (number - 1) % 3 + 1,
                sectors=tuple(name for name, numbers in sectors.items() if number in numbers),
                finals_plein=(number % 10,) if finals else (),
                finals_cheval=tuple(pair for pair, numbers in finals.items() if number in numbers),
                neighbours=(before2, before1, after1, after2),
            )


# fmt: off
SINGLE_ZERO = PocketLayout(
    # The order is clockwise from zero, as in the table of neighbours in VF.
    order=(
        0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10,
        5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26,
    ),
    # The red numbers are those that V lists. All other numbers except zero are black.
    red=frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}),
    # These are the numbers of each sector that can be announced (C17 and V).
    sectors={
        "serie_5_8": frozenset({5, 8, 10, 11, 13, 16, 23, 24, 27, 30, 33, 36}),
        "voisins_du_zero": frozenset({0, 2, 3, 4, 7, 12, 15, 18, 19, 21, 22, 25, 26, 28, 29, 32, 35}),
        "orphelins": frozenset({1, 6, 9, 14, 17, 20, 31, 34}),
        "nassa": frozenset({0, 3, 12, 15, 19, 26, 32, 35}),
        "zero_spiel": frozenset({0, 3, 12, 15, 26, 32, 35}),
    },
    # These finales à cheval are accepted (C17 and V).
    finals_across=((0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (7, 8), (8, 9)),
    finals_down=((0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8), (6, 9), (7, 10), (8, 11), (9, 12)),
)
DOUBLE_ZERO = PocketLayout(
    # The order is clockwise from zero. Each odd number is opposite the next even number, as on every American rotor.
    order=(
        0, 28, 9, 26, 30, 11, 7, 20, 32, 17, 5, 22, 34, 15, 3, 24, 36, 13, 1,
        37, 27, 10, 25, 29, 12, 8, 19, 31, 18, 6, 21, 33, 16, 4, 23, 35, 14, 2,
    ),
    red=frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}),
    sectors={},
    finals_across=(),
    finals_down=(),
)
# fmt: on
