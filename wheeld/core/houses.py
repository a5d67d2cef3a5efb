"""The four tables of rulebook 5: a house and a game give the wheel's type, the articles, the words and the language."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from wheeld.core.messages.phrases import PHRASES, Language, Phrases

WheelType: TypeAlias = Literal["french", "fair"]


class Profile(msgspec.Struct, frozen=True):
    """One house's game. `wheel` decides whether the rotor may turn either way (A7)."""

    house: str
    game: str
    wheel: WheelType
    language: Language

    @property
    def phrases(self) -> Phrases:
        """The ritual words that this table uses."""
        return PHRASES[self.language]


_ALL = (
    Profile(house="campione", game="roulette", wheel="french", language="fr"),
    Profile(house="campione", game="fair", wheel="fair", language="it"),
    Profile(house="venezia", game="roulette-francese", wheel="french", language="fr"),
    Profile(house="venezia", game="fair", wheel="fair", language="it"),
)

PROFILES: dict[tuple[str, str], Profile] = {(profile.house, profile.game): profile for profile in _ALL}
