"""The houses, as data: what the game of each asks, says and calls its rules.

A new jurisdiction is a new `Profile`, with its `Phrases` and its `Announcements`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from wheeld.core.messages.phrases import FRENCH, IN_FRENCH, ITALIAN, Announcements, Phrases
from wheeld.core.pockets import SINGLE_ZERO, PocketLayout

WheelType: TypeAlias = Literal["french", "fair"]
"""A french rotor may turn either way, coup by coup; a fair one turns one configured way (A7)."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One house's game.

    `articles`: the house's article for each rule of docs/rulebook.md that has one, "N2" or, for a section, "3".
    `min_laps`: the fewest full laps of a valid coup (R2). `phrases`: what the table says; `announcements`: how its
    numbers are called (R4).
    """

    house: str
    game: str
    wheel: WheelType
    pockets: PocketLayout
    min_laps: int
    articles: Mapping[str, str]
    phrases: Phrases
    announcements: Announcements

    def cited(self, rules: tuple[str, ...], text: str) -> str:
        """`text` after the rules that it rests on, each with the house's article: "N2, Art. 11: …"."""
        return f"{'; '.join(map(self._rule, rules))}: {text}" if rules else text

    def _rule(self, rule: str) -> str:
        name = f"rulebook {rule}" if rule.isdecimal() else rule
        return f"{name}, {self.articles[rule]}" if rule in self.articles else name


_ARTICLES = {
    **dict.fromkeys(("R1", "R2"), "Art. 10"),
    **dict.fromkeys(("R3", "R3b"), "Art. 11"),
    **dict.fromkeys(("N1", "N2", "N3", "N4", "N5", "N6", "N7"), "Art. 11"),
    "N8": "Art. 15",
    "3": "Art. 11",
    "A2": "Art. 12",
    "A3": "Art. 9",
    "A4": "Art. 13",
    "A5": "Art. 14",
    "A6": "Art. 15",
}
"""Those of Campione's roulette, which every table cites so far."""

_ROULETTE = Profile(
    house="campione",
    game="roulette",
    wheel="french",
    pockets=SINGLE_ZERO,
    min_laps=3,
    articles=_ARTICLES,
    phrases=FRENCH,
    announcements=IN_FRENCH,
)
_FAIR = msgspec.structs.replace(_ROULETTE, game="fair", wheel="fair", phrases=ITALIAN)
_ALL = (
    _ROULETTE,
    _FAIR,
    msgspec.structs.replace(_ROULETTE, house="venezia", game="roulette-francese"),
    msgspec.structs.replace(_FAIR, house="venezia"),
)

PROFILES: dict[tuple[str, str], Profile] = {(profile.house, profile.game): profile for profile in _ALL}
